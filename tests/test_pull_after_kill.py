"""A `git pull` that brings another ledger between a kill and the next run: nothing of either is lost."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hookctl import transaction
from hookctl.system import files, folders
from tests.conftest import Hookctl, Outcome, put

pytestmark = pytest.mark.usefixtures("fixed_python")

PROJECT = ("--host", "claude", "--scope", "project")
BELL = '[pack]\nname = "bell"\nversion = "1"\n[files]\ninclude = ["ring.sh"]\n[env]\nBELL = "1"\n'
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
    return transaction.recover(folders.here())


UPGRADE = ("install", *PROJECT, "--set", "max_stop_blocks=9", "--set", "latch=no")
KILLED = ["config.json", "settings.json", "ledger.json"]


def with_the_bell(clone: Clone) -> bytes:
    """What is committed with the guard, and the ledger with the bell besides, which the pull brings later."""
    ok(clone.run("install", *PROJECT))
    committed = clone.ledger.read_bytes()
    pulled = clone.pulled()
    clone.ledger.write_bytes(committed)
    return pulled


@pytest.mark.parametrize("at", KILLED)
def test_an_install_is_put_into_the_ledger_that_came_with_the_pull(clone: Clone, at: str) -> None:
    pulled = with_the_bell(clone)
    clone.killed(at, *UPGRADE)
    clone.ledger.write_bytes(pulled)
    assert "whose entries were put into it" in "".join(recovered())
    assert sorted(clone.page()["packs"]) == ["bell", "guard"]
    assert (clone.written()["MAX_STOP_BLOCKS"], clone.written()["BELL"]) == ("9", "1")
    ok(clone.run("install", clone.bell, *PROJECT))  # a teammate's consent is none of this machine's
    assert ok(clone.run(*UPGRADE)).out == ok(clone.run("install", clone.bell, *PROJECT)).out == "nothing to do\n"
    for pack in ("guard", "bell"):
        ok(clone.run("uninstall", pack, "--scope", "project"))
    assert json.loads(clone.settings.read_bytes()) == THEIRS
    assert not clone.ledger.parent.exists()


@pytest.mark.parametrize("at", ["settings.json", "ledger.json"])
def test_an_uninstall_takes_only_its_own_out_of_the_pulled_ledger(clone: Clone, at: str) -> None:
    pulled = with_the_bell(clone)
    clone.killed(at, "uninstall", "--scope", "project")
    clone.ledger.write_bytes(pulled)
    recovered()
    assert list(clone.page()["packs"]) == ["bell"]
    assert list(clone.written()) == ["BELL"]
    assert json.loads(clone.settings.read_bytes()) == THEIRS


def test_an_uninstall_of_all_that_a_pulled_ledger_has_removes_it(clone: Clone) -> None:
    ok(clone.run("install", *PROJECT))
    pulled = json.dumps(json.loads(clone.ledger.read_bytes()), indent=3)
    clone.killed("ledger.json", "uninstall", "--scope", "project")
    clone.ledger.write_text(pulled)
    recovered()
    assert not clone.ledger.parent.exists()
    assert json.loads((clone.root.parent / "state" / "ledger.json").read_bytes())["files"] == {}


def test_a_first_install_joins_the_ledger_that_a_pull_brought_meanwhile(clone: Clone) -> None:
    ok(clone.run("install", clone.bell, *PROJECT))
    pulled = clone.ledger.read_bytes()
    ok(clone.run("uninstall", "bell", "--scope", "project"))
    clone.killed("ledger.json", "install", *PROJECT)
    put(clone.ledger, pulled)
    recovered()
    assert sorted(clone.page()["packs"]) == ["bell", "guard"]


@pytest.mark.parametrize("text", ["<<<<<<< ours\n", '{"ledger_version": 3, "files": {}}'])
def test_a_pulled_ledger_that_cannot_be_read_stops_everything_until_it_is_mended(clone: Clone, text: str) -> None:
    pulled = with_the_bell(clone)
    clone.killed("settings.json", *UPGRADE)
    clone.ledger.write_text(text)
    before = clone.files(), clone.ledger.read_bytes()
    journal = (clone.root.parent / "state" / "journal.json").read_bytes()
    outcome = clone.run(*UPGRADE, "--json")
    error = outcome.result["errors"][0]
    assert (outcome.code, error["path"]) == (4, str(clone.ledger))
    assert "An interrupted run has entries to put into it" in error["hint"]
    assert (clone.files(), clone.ledger.read_bytes()) == before
    assert (clone.root.parent / "state" / "journal.json").read_bytes() == journal
    clone.ledger.write_bytes(pulled)
    recovered()
    assert sorted(clone.page()["packs"]) == ["bell", "guard"] and clone.written()["MAX_STOP_BLOCKS"] == "9"


def test_where_the_pull_brought_the_settings_too_the_pulled_ledger_stays(clone: Clone) -> None:
    ok(clone.run("install", *PROJECT))
    committed = clone.settings.read_bytes(), clone.ledger.read_bytes()
    ok(clone.run("install", *PROJECT, "--set", "max_stop_blocks=7"))
    pulled = clone.settings.read_bytes(), clone.ledger.read_bytes()
    clone.settings.write_bytes(committed[0])
    clone.ledger.write_bytes(committed[1])
    clone.killed("settings.json", *UPGRADE)
    clone.settings.write_bytes(pulled[0])
    clone.ledger.write_bytes(pulled[1])
    outcome = ok(clone.run("install", *PROJECT))
    assert "its bytes stay" in outcome.err
    assert clone.written()["MAX_STOP_BLOCKS"] == "7"
