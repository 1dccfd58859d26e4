"""Where hookctl and what it needs come from: advice names a source that is ours, dependencies have no known holes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_nothing_advises_a_name_that_nobody_owns_on_the_index() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("hookctl/**/*.py")]
    for page in pages:
        for word in ("install hookctl", "install 'hookctl", 'install "hookctl', "pipx run hookctl", "uvx hookctl"):
            assert word not in page.read_text(), page


LOCKED = ROOT / "requirements" / "locked.txt"


def locked() -> dict[str, str]:
    """The locked packages, and their versions."""
    pins = re.findall(r"(?m)^([a-z0-9-]+)==(\S+)", LOCKED.read_text())
    return dict(pins)


def test_the_locked_list_has_versions_and_hashes_and_nothing_else() -> None:
    for line in LOCKED.read_text().splitlines():
        pin = r"[a-z0-9-]+==[0-9][0-9A-Za-z.]*( ; [a-z_]+ [<>=]+ '[a-z0-9.]+')? \\"
        assert re.fullmatch(rf"{pin}|    --hash=sha256:[0-9a-f]{{64}}( \\)?", line), line
    for block in re.split(r"(?m)^(?=\S)", LOCKED.read_text())[1:]:
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
