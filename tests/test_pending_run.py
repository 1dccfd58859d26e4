"""A run that was killed: status names it, dry runs wait for its end, writing verbs carry it there before they look."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookctl.ownership import run, store
from hookctl.system import folders
from tests.conftest import Hookctl, put
from tests.disk import PROJECT, quiet, tree
from tests.test_crash import killed

THEIRS = '{\n   "model": "m"\n}\n'
GUARD = ("install", "--host", "claude")
pytestmark = pytest.mark.usefixtures("fixed_python")


def journal() -> dict[str, Any]:
    path = Path(folders.here().journal)
    return json.loads(path.read_bytes()) if path.exists() else {}


def killed_midway(command: tuple[str, ...]) -> Iterator[int]:
    """The command, killed at several points where its journal tells what it was about to do."""
    seen, at = set[str](), 1
    while killed(command, at):
        steps = journal().get("steps", [])
        # One point for each state of the disk that matters: which of the files are written by then.
        done = str([Path(step["path"]).exists() for step in steps])
        if steps and done not in seen:
            seen.add(done)
            yield at
            undo_everything()
        elif steps:
            undo_everything()
        at += 29
    assert seen


def undo_everything() -> None:
    assert quiet("doctor", "--fix") in (0, 1)
    assert quiet("uninstall", "--all", "--yes") == 0


def left(isolated: Path) -> list[str]:
    """What of ours is left outside the state folder, where backups and the log stay."""
    found = [path for top in ("home", "work", "data") for path in (isolated / top).rglob("*")]
    return [str(path) for path in found if path.is_file()]


# Reading verbs


DRY = [
    ("plan", "--host", "claude", "--set", "MAX_STOP_BLOCKS=7"),
    ("uninstall", "--host", "claude", "--dry-run"),
    ("uninstall", "--all", "--dry-run"),
    ("install", "--host", "claude", "--host", "qwen", "--dry-run"),
]


@pytest.mark.parametrize("verb", DRY, ids=" ".join)
def test_a_dry_run_says_that_the_interrupted_run_comes_first(
    verb: tuple[str, ...], isolated: Path, hookctl: Hookctl
) -> None:
    for at in killed_midway(GUARD):
        before = tree(isolated)
        steps = [os.path.normpath(os.path.join(folders.here().state, step["path"])) for step in journal()["steps"]]
        missing = [path for path in steps if not Path(path).exists()]
        outcome = hookctl(*verb, "--json")
        (error,) = outcome.result["errors"]
        assert (at, outcome.code, error["code"]) == (at, 1, "interrupted_run")
        assert error["message"].splitlines()[1:] == [f"  {path}" for path in missing or [folders.here().ledger]]
        assert "doctor --fix" in error["hint"]
        assert tree(isolated) == before  # nothing was written
        quiet("doctor", "--fix")
        assert (at, hookctl(*verb).code) == (at, 0)


def test_status_names_the_files_of_the_run(settings: Path, hookctl: Hookctl) -> None:
    for _ in killed_midway(GUARD):
        outcome = hookctl("status", "--json")
        assert settings.exists() or str(settings) in outcome.data["pending"]
        before = tree(settings.parents[2])
        said = hookctl("status")
        assert tree(settings.parents[2]) == before
        assert settings.exists() or str(settings) in said.err
        assert "doctor --fix" in said.err
    assert hookctl("status", "--json").data["pending"] == []


# Writing verbs


COMMANDS = {
    "opencode": ("install", "--host", "opencode"),
    "project": (*GUARD, *PROJECT),
    "local": (*GUARD, "--scope", "local"),
    "several": ("install", "--host", "codex", "--host", "claude", "--host", "gemini"),
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("how", ["all", "scope"])
def test_uninstall_after_a_killed_install_leaves_nothing(name: str, how: str, isolated: Path, hookctl: Hookctl) -> None:
    command = COMMANDS[name]
    back = ("uninstall", "--all", "--yes")
    if how == "scope":
        back = ("uninstall", *(command[command.index("--scope") :] if "--scope" in command else ()))
    for at in killed_midway(command):
        done = hookctl(*back)
        assert (at, done.code, left(isolated)) == (at, 0, []), done


@pytest.mark.parametrize("verb", ["install", "restore", "doctor --fix", "run"])
def test_every_writing_verb_ends_the_run_first(verb: str, settings: Path, isolated: Path, hookctl: Hookctl) -> None:
    put(settings, THEIRS)
    arguments = {
        "install": ["install", "--host", "claude"],
        "restore": ["restore", str(settings)],
        "doctor --fix": ["doctor", "--fix"],
        "run": ["run", "remaining", "1", "--project", str(isolated / "work")],
    }[verb]
    for at in killed_midway(GUARD):
        done = hookctl(*arguments)
        assert (at, folders.here().has_unfinished_run()) == (at, False)
        assert "interrupted run" in done.err
        assert "knows of no guard" not in done.out + done.err
        if verb == "restore":
            assert (done.code, settings.read_text()) == (0, THEIRS), done


def test_a_run_that_is_killed_while_this_one_waits_is_ended_before_this_one_looks(
    settings: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_lock, pending = run._open_lock, list[bool]()

    def kill_then_open(*arguments: Any) -> int:
        monkeypatch.setattr(run, "_open_lock", open_lock)
        for at in range(20, 400, 9):
            assert killed(GUARD, at)
            if journal().get("steps"):
                break
        pending.append(folders.here().has_unfinished_run())
        return open_lock(*arguments)

    assert quiet("install", "--host", "qwen") == 0
    monkeypatch.setattr(run, "_open_lock", kill_then_open)
    assert hookctl("uninstall").code == 0
    assert pending == [True] and store.load(folders.here()) == {}
    assert not settings.exists()
