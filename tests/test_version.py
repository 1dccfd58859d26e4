"""`hookctl/__init__.py` has the version; everything else that names it, or a first version, agrees."""

from __future__ import annotations

import json
import re
from pathlib import Path

import yaml

from hookctl import __version__, packs
from hookctl.ledger import codec

ROOT = Path(__file__).parents[1]
COLLECTION = ROOT / "ansible"
NUMBER = r"\d+\.\d+\.\d+"


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def test_the_guard_the_collection_and_the_changelogs_have_hookctls_version() -> None:
    galaxy = yaml.safe_load((COLLECTION / "galaxy.yml").read_text())
    released = yaml.safe_load((COLLECTION / "changelogs" / "changelog.yaml").read_text())["releases"]
    top = re.search(rf"(?m)^## ({NUMBER}) ", (ROOT / "CHANGELOG.md").read_text())
    named = {
        "hookctl/packs/guard.toml": packs.load("guard").version,
        "ansible/galaxy.yml": galaxy["version"],
        "ansible/changelogs/changelog.yaml": max(released, key=numbers),
        "CHANGELOG.md": top and top[1],
    }
    assert named == dict.fromkeys(named, __version__)


def test_the_pages_name_the_first_hookctl_that_the_collection_works_with() -> None:
    """What its modules say, which is their own first version too."""
    texts = [path.read_text() for path in (*COLLECTION.glob("plugins/modules/*.py"), COLLECTION / "README.md")]
    texts.append((ROOT / "docs" / "fleet.md").read_text())
    found = [set(re.findall(rf"hookctl (?:>= )?({NUMBER})", text)) for text in texts]
    assert all(found) and len(set.union(*found)) == 1
    assert numbers(found[0].pop()) <= numbers(__version__)


def test_the_records_name_a_hookctl_that_there_is_as_the_first_that_reads_them() -> None:
    schema = json.loads((ROOT / "schemas" / "ledger.schema.json").read_text())["properties"]
    assert schema["needs"]["const"] == codec.NEEDS
    assert schema["ledger_version"]["const"] == codec.VERSION
    assert numbers(codec.NEEDS) <= numbers(__version__)


def test_the_goldens_show_the_guard_of_this_version() -> None:
    """`HOOKCTL_TEST_GOLDEN=write` and `python -m tests.screens --write` make them anew."""
    shown = set()
    for path in (*(ROOT / "tests/stories").glob("*.txt"), *(ROOT / "tests/screens").glob("*.txt")):
        shown |= set(re.findall(rf"(?m)^    guard ({NUMBER}): ", path.read_text()))
    assert shown == {__version__}
