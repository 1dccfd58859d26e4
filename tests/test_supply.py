"""Where hookctl and what it needs come from: advice names a source that is ours, dependencies have no known holes."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from hookctl import __version__, hosts
from hookctl.ownership import codec
from hookctl.packs import programs
from tests.e2e.clients import CLIENTS, FILE

ROOT = Path(__file__).parents[1]


def test_nothing_advises_a_name_that_nobody_owns_on_the_index() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("hookctl/**/*.py")]
    for page in pages:
        for word in ("install hookctl", "install 'hookctl", 'install "hookctl', "pipx run hookctl", "uvx hookctl"):
            assert word not in page.read_text(), page


LOCKED = ROOT / "requirements" / "locked.txt"
ONE_FILE = LOCKED.with_name("onefile.txt")


def locked(path: Path = LOCKED) -> dict[str, str]:
    """The locked packages, and their versions."""
    pins = re.findall(r"(?m)^([a-z0-9-]+)==(\S+)", path.read_text())
    return dict(pins)


def test_the_one_file_has_the_tested_versions_but_where_they_are_compiled() -> None:
    pins = locked(ONE_FILE)
    assert pins.pop("jsonschema") == "4.17.3" and pins.pop("pyrsistent")
    assert pins.items() <= locked().items()


def test_the_locked_list_has_versions_and_hashes_and_nothing_else() -> None:
    for line in (LOCKED.read_text() + ONE_FILE.read_text()).splitlines():
        pin = r"[a-z0-9-]+==[0-9][0-9A-Za-z.]*( ; [a-z_]+ [<>=]+ '[a-z0-9.]+')? \\"
        assert re.fullmatch(rf"{pin}|    --hash=sha256:[0-9a-f]{{64}}( \\)?", line), line
    for block in re.split(r"(?m)^(?=\S)", LOCKED.read_text() + ONE_FILE.read_text())[1:]:
        assert "--hash=" in block, block


def test_the_locked_list_has_every_dependency_in_its_range() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["yaml"]]
    for text in wanted:
        name, bounds = re.match(r"([A-Za-z0-9-]+)(.*)", text).groups()  # type: ignore[union-attr]
        version = numbers(locked()[name.lower()])
        for sign, bound in re.findall(r"(>=|<)([0-9.]+)", bounds):
            assert version >= numbers(bound) if sign == ">=" else version < numbers(bound), text


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def test_no_floor_admits_a_known_hole() -> None:
    """PyYAML: CVE-2020-14343."""
    floor = re.search(r'"PyYAML>=([0-9.]+)', (ROOT / "pyproject.toml").read_text())
    assert floor and numbers(floor[1]) >= numbers("5.4")


# `hookctl/__init__.py` has the version; everything else that names it, or a first version, agrees.
COLLECTION = ROOT / "ansible"
NUMBER = r"\d+\.\d+\.\d+"


def test_the_guard_the_collection_and_the_changelogs_have_hookctls_version() -> None:
    galaxy = yaml.safe_load((COLLECTION / "galaxy.yml").read_text())
    released = yaml.safe_load((COLLECTION / "changelogs" / "changelog.yaml").read_text())["releases"]
    top = re.search(rf"(?m)^## ({NUMBER}) ", (ROOT / "CHANGELOG.md").read_text())
    named = {
        "hookctl/packs/guard.toml": programs.load_pack("guard").version,
        "ansible/galaxy.yml": galaxy["version"],
        "ansible/changelogs/changelog.yaml": max(released, key=numbers),
        "CHANGELOG.md": top and top[1],
    }
    assert named == dict.fromkeys(named, __version__)


def test_the_records_name_a_hookctl_that_there_is_as_the_first_that_reads_them() -> None:
    schema = json.loads((ROOT / "schemas" / "ledger.schema.json").read_text())["properties"]
    assert schema["needs"]["const"] == codec.NEEDS
    assert schema["ledger_version"]["const"] == codec.VERSION
    assert numbers(codec.NEEDS) <= numbers(__version__)


# The documentation site: every page is in it, its build is strict, and it needs nothing from elsewhere.
OUTSIDE = {"index.md": "README.md", "changelog.md": "CHANGELOG.md", "security-policy.md": "SECURITY.md"}
REQUIRED = os.environ.get("HOOKCTL_DOCS") == "require"


def pages_of_nav(entries: list) -> list[str]:
    """The pages below these entries of mkdocs.yml's nav."""
    pages = []
    for entry in entries:
        for value in entry.values():
            pages += pages_of_nav(value) if isinstance(value, list) else [value]
    return pages


PAGES = pages_of_nav(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])


def test_every_page_is_in_the_navigation_once() -> None:
    documents = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(PAGES) == sorted([*documents, *OUTSIDE]), "add the page to nav in mkdocs.yml"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as mkdocs builds it, without a warning."""
    if not REQUIRED and not all(importlib.util.find_spec(name) for name in ("mkdocs", "material")):
        pytest.skip("mkdocs is not here: pip install '.[docs]', or HOOKCTL_DOCS=require")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_site_fetches_nothing_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        html = path.read_text()
        fetched = re.findall(r"<(?:script|img|link|iframe|source)\b[^>]*?\b(?:src|href)=\"([^\"]*)", html)
        assert fetched, path
        assert not [url for url in fetched if "//" in url], path
        assert "fonts.g" not in html, path


@pytest.mark.parametrize("name", CLIENTS)
def test_the_tests_were_run_with_the_version_that_the_host_s_data_names(name: str) -> None:
    seen = hosts.load(name).client.seen
    assert (seen, CLIENTS[name]["sure"]) == (CLIENTS[name]["version"], "run")


def test_no_other_file_beside_it_names_a_client_s_version() -> None:
    versions = re.compile("|".join(rf"(?<![\w.]){re.escape(about['version'])}(?![\w.])" for about in CLIENTS.values()))
    files = [path for path in FILE.parent.rglob("*.*") if path.suffix in (".py", ".toml") and path != FILE]
    assert len(files) > 80
    assert {path.name: found for path in files if (found := versions.findall(path.read_text()))} == {}
