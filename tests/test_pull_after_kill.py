"""A `git pull` that brings another ledger between a kill and the next run: the run waits, and nothing is lost."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hookctl.ownership.execute import recover
from hookctl.system import files, folders
from tests.conftest import Hookctl, Outcome, put

pytestmark = pytest.mark.usefixtures("fixed_python")

PROJECT = ("--host", "claude", "--scope", "project")
BELL = '[pack]\nname = "bell"\nversion = "1"\nprotocol = "host"\n[files]\ninclude = ["ring.sh"]\n[env]\nBELL = "1"\n'
THEIRS = {"env": {"BELL": "1"}}


class Killed(BaseException):
    """Stands for a signal."""


class Clone:
    """A project, in which a teammate's bell is what the pull brings: its wish is in the settings already."""

    def __init__(self, isolated: Path, hookctl: Hookctl, patch: pytest.MonkeyPatch) -> None:
        self.root, self.run, self.patch = isolated / "work", hookctl, patch
        self.ledger = self.root / ".hookctl" / "ledger.json"
        self.settings = put(self.root / ".claude" / "settings.json", json.dumps(THEIRS))
        put(isolated / "bell" / "ring.sh", "")
        self.bell = str(put(isolated / "bell" / "pack.toml", BELL))

    def pulled(self) -> bytes:
        """The ledger as a teammate has it who installed the bell in what is committed; its files are here already."""
        with self.patch.context() as patch:
            patch.setenv("HOOKCTL_STATE_DIR", str(self.root.parent / "theirs"))
            assert self.run("install", self.bell, *PROJECT).code == 0
        return self.ledger.read_bytes()

    def files(self) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in self.root.rglob("*") if path.is_file() and path != self.ledger}

    def killed(self, at: str, *command: str) -> None:
        """Run a command that dies right before it writes the file of this name."""
        replace = files.replace

        def until(old: files.Snapshot, *arguments: Any, **options: Any) -> None:
            if os.path.basename(old.path) == at:
                raise Killed
            replace(old, *arguments, **options)

        with self.patch.context() as patch, pytest.raises(Killed):
            patch.setattr(files, "replace", until)
            self.run(*command)

    def page(self) -> Any:
        page = json.loads(self.ledger.read_bytes())["files"][".claude/settings.json"]
        assert (page["entries"].pop(), page["packs"].pop("")) == ("end", "end")
        return page

    def written(self) -> dict[str, Any]:
        return {entry["path"][-1]: entry["written"] for entry in self.page()["entries"] if entry["kind"] == "leaf"}


@pytest.fixture
def clone(isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> Clone:
    return Clone(isolated, hookctl, monkeypatch)


def ok(outcome: Outcome) -> Outcome:
    assert outcome.code == 0, outcome
    return outcome


def recovered() -> list[str]:
    """Carry the interrupted run to its end, and nothing else."""
    return recover(folders.here())


UPGRADE = ("install", *PROJECT, "--set", "max_stop_blocks=9", "--set", "latch=no")
LEAVE = ("uninstall", "--scope", "project")


def with_the_bell(clone: Clone) -> bytes:
    """What is committed with the guard, and the ledger with the bell besides, which the pull brings later."""
    ok(clone.run("install", *PROJECT))
    committed = clone.ledger.read_bytes()
    pulled = clone.pulled()
    clone.ledger.write_bytes(committed)
    return pulled


@pytest.mark.parametrize(
    ("command", "at"),
    [(UPGRADE, "claude.json"), (UPGRADE, "settings.json"), (UPGRADE, "ledger.json"), (LEAVE, "ledger.json")],
)
def test_the_run_waits_until_the_ledger_that_it_has_read_is_back(
    clone: Clone, command: tuple[str, ...], at: str
) -> None:
    """Whatever the pull brought stays, and nothing of the run is lost."""
    pulled = with_the_bell(clone)
    committed = clone.ledger.read_bytes()
    clone.killed(at, *command)
    journal = (clone.root.parent / "state" / "journal.json").read_bytes()
    for text in (pulled, b"<<<<<<< ours\n", b'{"ledger_version": 3, "files": {}}'):
        clone.ledger.write_bytes(text)
        before = clone.files()
        for verb in (command, ("doctor", "--fix")):
            outcome = clone.run(*verb)
            assert (outcome.code, "git checkout ORIG_HEAD" in outcome.out + outcome.err) == (1, True), outcome
        assert (clone.files(), clone.ledger.read_bytes()) == (before, text)
        assert (clone.root.parent / "state" / "journal.json").read_bytes() == journal
    clone.ledger.write_bytes(committed)
    recovered()
    if command == UPGRADE:
        assert clone.written()["MAX_STOP_BLOCKS"] == "9"
        ok(clone.run("uninstall", "--scope", "project"))
    assert json.loads(clone.settings.read_bytes()) == THEIRS
    assert not clone.ledger.exists()
