"""`hookctl/__init__.py` has the version; everything else that names it, or a first version, agrees."""

from __future__ import annotations

import json
import re
from pathlib import Path

import yaml

from hookctl import __version__, packs
from hookctl.ownership import codec

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


def test_the_records_name_a_hookctl_that_there_is_as_the_first_that_reads_them() -> None:
    schema = json.loads((ROOT / "schemas" / "ledger.schema.json").read_text())["properties"]
    assert schema["needs"]["const"] == codec.NEEDS
    assert schema["ledger_version"]["const"] == codec.VERSION
    assert numbers(codec.NEEDS) <= numbers(__version__)
