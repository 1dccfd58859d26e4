"""The settings file moves, or links to it come and go: what the ledger knows of it goes along."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put


def install(hookctl: Hookctl, *options: str) -> None:
    outcome = hookctl("install", "--host", "claude", *options)
    assert outcome.code == 0, outcome


def uninstall(hookctl: Hookctl, *options: str) -> None:
    outcome = hookctl("uninstall", *options)
    assert outcome.code == 0, outcome


# A project at local scope, with a pack of somebody's


BELL = """\
[pack]
name = "bell"
version = "1"
protocol = "host"

[files]
include = ["ring.sh"]

[env]
BELL = "1"
"""
HOOK = '[[hooks]]\nevent = "stop"\ncommand = "{command}"\n'
COMMANDS = {"its own file": "{files}/ring.sh", "any": "true", "none": ""}


@pytest.fixture(params=COMMANDS)
def pack(request: pytest.FixtureRequest, isolated: Path) -> str:
    """A pack whose hook runs its file, any command, or that has no hook at all."""
    put(isolated / "bell" / "ring.sh", "")
    command = COMMANDS[request.param]
    return str(put(isolated / "bell" / "pack.toml", BELL + (HOOK.replace("{command}", command) if command else "")))


def local(project: Path) -> Path:
    return project / ".claude" / "settings.local.json"


def in_project(project: Path) -> tuple[str, ...]:
    return ("--scope", "local", "--project", str(project))


@pytest.mark.parametrize("first", ["install", "uninstall", "all"])
def test_a_pack_is_found_after_its_project_moved(isolated: Path, hookctl: Hookctl, pack: str, first: str) -> None:
    old, new = isolated / "old", isolated / "new"
    put(local(old), '{"env": { }}')
    install(hookctl, pack, *in_project(old))
    old.rename(new)
    if first != "uninstall":
        assert hookctl("install", pack, "--host", "claude", *in_project(new), "--json").data["actions"] == []
        assert list(json.loads((isolated / "state" / "ledger.json").read_text())["files"]) == [str(local(new))]
        assert len(list((isolated / "data").rglob("ring.sh"))) == 1
    uninstall(hookctl, *(("--all", "--json") if first == "all" else ("bell", *in_project(new))))
    assert local(new).read_text() == '{"env": { }}'
    assert not (isolated / "data").exists()
    assert json.loads((isolated / "state" / "ledger.json").read_text())["files"] == {}


def test_a_copy_of_a_project_does_not_take_the_page_of_one_that_is_there(isolated: Path, hookctl: Hookctl) -> None:
    pack = str(put(isolated / "bell.toml", BELL.replace('[files]\ninclude = ["ring.sh"]\n', "")))
    old, new = isolated / "old", isolated / "new"
    put(local(old), '{"env": {"A": "1"}}')
    install(hookctl, pack, *in_project(old))
    put(local(new), local(old).read_bytes())
    local(old).unlink()  # the next install puts it back, and that is in the ledger
    install(hookctl, pack, *in_project(new))
    assert str(local(old)) in json.loads((isolated / "state" / "ledger.json").read_text())["files"]
