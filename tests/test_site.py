"""The documentation site: every page is in it, its build is strict, and it needs nothing from elsewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
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


def source_of(page: str) -> Path:
    """The file that a page is built from."""
    return ROOT / OUTSIDE[page] if page in OUTSIDE else ROOT / "docs" / page


def test_every_page_is_in_the_navigation_once() -> None:
    documents = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(PAGES) == sorted([*documents, *OUTSIDE]), "add the page to nav in mkdocs.yml"


@pytest.mark.parametrize("page", PAGES)
def test_no_table_stands_in_a_list(page: str) -> None:
    """A code-hosting site shows one there; mkdocs ends the list with it."""
    assert not re.findall(r"(?m)^ +\|.*$", source_of(page).read_text())


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


def article(site: Path, page: str) -> str:
    """What the page itself says, without the navigation around it."""
    name = page.removesuffix(".md")
    html = (site / "index.html" if name == "index" else site / name / "index.html").read_text()
    return re.search(r"<article.*?</article>", html, re.DOTALL)[0]


@pytest.mark.parametrize("page", PAGES)
def test_lists_tables_and_code_look_as_on_a_code_hosting_site(site: Path, page: str) -> None:
    fence = r"^ *```.*?^ *```$"
    text, html = source_of(page).read_text(), article(site, page)
    prose = re.sub(fence, "", text, flags=re.MULTILINE | re.DOTALL)
    assert html.count("<li>") == len(re.findall(r"^ *(?:[-*]|\d+\.) ", prose, re.MULTILINE))
    assert html.count("<table>") == len(re.findall(r"^\|[ :|-]+\|$", prose, re.MULTILINE))
    assert html.count("<pre") == len(re.findall(fence, text, re.MULTILINE | re.DOTALL))


def test_the_site_fetches_nothing_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        html = path.read_text()
        fetched = re.findall(r"<(?:script|img|link|iframe|source)\b[^>]*?\b(?:src|href)=\"([^\"]*)", html)
        assert fetched, path
        assert not [url for url in fetched if "//" in url], path
        assert "fonts.g" not in html, path


def test_links_out_of_the_folder_lead_to_the_site_s_own_copies(site: Path) -> None:
    home, readme = article(site, "index.md"), (ROOT / "README.md").read_text()
    copies = {"SECURITY.md": "security-policy/", "CHANGELOG.md": "changelog/", "LICENSE": "files/LICENSE.txt"}
    linked = [copies[name] for name in copies if f"]({name})" in readme]
    assert linked
    for name in linked:
        assert f'href="{name}"' in home
        assert (site / name).exists()


def test_the_search_knows_every_page(site: Path) -> None:
    index = (site / "search" / "search_index.json").read_text()
    for page in PAGES:
        location = "" if page == "index.md" else page.removesuffix(".md") + "/"
        assert f'"location":"{location}"' in index
