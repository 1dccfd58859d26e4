"""A run where the lock is held or the disk refuses, and how an interrupted one is completed from its journal."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookctl.errors import HookctlError
from hookctl.model import Change, Claim, Entry, Record
from hookctl.ownership import execute, run, store
from hookctl.ownership.execute import Journal, Step, read_journal, recover, write_journal
from hookctl.ownership.plan import Plan
from hookctl.ownership.run import list_pending, locked_run
from hookctl.system import files, folders, packages
from hookctl.system.files import Changed
from hookctl.system.folders import Folders
from tests.conftest import Hookctl, Outcome, put
from tests.disk import quiet, tree
from tests.test_crash import killed

OLD, NEW = b'{"a": 1}\n', b'{"a": 1, "b": "ours"}\n'


@pytest.fixture
def here(isolated: Path) -> Folders:
    return folders.here()


@pytest.fixture
def file(isolated: Path) -> Path:
    return put(isolated / "home" / "settings.json", OLD)


def change(path: Path, after: bytes | None = NEW) -> Change:
    return Change(str(path), path.read_bytes() if path.exists() else None, after, settings=True)


def record(written: str | None = "ours", **fields: object) -> Record:
    entries = () if written is None else (Entry(("b",), "leaf", written=written, owners={"pk": Claim(written)}),)
    return Record("claude", "user", "json", entries=entries)._replace(**fields)


def left(here: Folders, path: Path, record: Record | None, *, before: bytes = OLD, **fields: object) -> None:
    """What a run leaves that was killed before this file: the journal with the bytes to come."""
    digests = files.digest(before), files.digest(NEW)
    step = Step(str(path), *digests, mode=0o600, settings=True, after=base64.b64encode(NEW).decode())
    journal = Journal((step,), {str(path): record}, ())._replace(**fields)
    write_journal(here, journal)


def known(here: Folders) -> dict[str, Record]:
    return store.load(here).files


def test_a_lock_that_stays_held_is_an_error(here: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "LOCK_SECONDS", 0)
    with locked_run(here, print), pytest.raises(HookctlError) as caught, locked_run(here, print):
        pass
    assert (caught.value.code, caught.value.exit_code) == ("lock_timeout", 1)


def test_a_lock_that_is_removed_before_it_is_held_is_made_again(here: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else two could hold one each: one that is on the disk, and one that is not."""
    path, flock = os.path.join(here.state, "lock"), fcntl.flock

    def remove_first(handle: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        os.unlink(path)
        flock(handle, how)

    monkeypatch.setattr(fcntl, "flock", remove_first)
    with locked_run(here, print):
        assert os.path.lexists(path)


# Rolling back
def interrupted_by(error: Exception, foreign: Path | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second file fails; before that another program writes the first, if one is given."""
    apply_change, done = execute.apply_change, list[Change]()

    def apply(change: Change) -> Change:
        done.append(change)
        if len(done) == 2:
            if foreign:
                foreign.write_text("theirs")
            raise error
        return apply_change(change)

    monkeypatch.setattr(execute, "apply_change", apply)


def test_a_run_that_cannot_take_back_a_file_names_it(
    here: Folders, file: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = put(isolated / "home" / "second.json", OLD)
    interrupted_by(Changed(str(second)), file, monkeypatch)
    with pytest.raises(HookctlError) as caught:
        execute.execute(here, Plan((), (change(file), change(second)), {str(file): record()}, ()))
    assert (caught.value.code, str(file) in caught.value.message) == ("partial", True)
    assert (file.read_text(), second.read_bytes()) == ("theirs", OLD)
    assert read_journal(here) is not None


# The journal
def test_a_journal_that_cannot_be_removed_has_no_steps(
    here: Folders, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlink = os.unlink

    def refuse(path: str, **options: object) -> None:
        if path == here.journal:
            raise PermissionError
        unlink(path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "unlink", refuse)
        execute.execute(here, Plan((), (change(file),), {str(file): record()}, ()))
    journal = read_journal(here)
    assert journal is not None
    assert (journal.steps, journal.records) == ((), {})
    assert list_pending(here) == ()
    assert recover(here) == ["what an interrupted run left behind is cleared away"]
    assert read_journal(here) is None


def test_bytes_that_are_missing_are_named(here: Folders, file: Path) -> None:
    left(here, file, record())
    journal = json.loads(Path(here.journal).read_bytes())
    del journal["steps"][0]["after"]  # 0.2.0 had them in a folder
    put(Path(here.journal), json.dumps(journal).encode())
    with pytest.raises(HookctlError) as caught:
        recover(here)
    assert (caught.value.code, caught.value.path) == ("ledger_unreadable", here.journal)
    assert file.read_bytes() == OLD


@pytest.mark.parametrize(
    ("theirs", "kept"), [('{"b": "ours"}', "ours"), ('{"b": "old"}', "old"), ("{}", "ours"), ("no JSON", "ours")]
)
def test_the_record_is_kept_that_fits_what_another_program_wrote(
    theirs: str, kept: str, here: Folders, file: Path
) -> None:
    put(Path(here.ledger), store.dump({str(file): record("old")}))
    left(here, file, record())
    file.write_text(theirs)
    (line,) = recover(here)
    assert "changed by another program" in line
    assert (file.read_text(), known(here)[str(file)].entries[0].written) == (theirs, kept)


def test_a_run_makes_no_folder_outside_of_home_that_was_there_and_is_not_now(here: Folders, isolated: Path) -> None:
    away, kept = isolated / "away" / "settings.json", record("old")
    put(Path(here.ledger), store.dump({str(away): kept}))
    left(here, away, record(), before=b"")
    recover(here)
    assert (away.parent.exists(), known(here)) == (False, {str(away): kept})


def test_a_run_of_0_2_0_makes_the_folder_outside_of_home_that_it_was_to_make(here: Folders, isolated: Path) -> None:
    path = isolated / "new" / "settings.json"
    made = record(created_dirs=(str(path.parent),))
    os.makedirs(here.pending)
    put(Path(here.pending, files.digest(NEW)), NEW)
    step = Step(str(path), "", files.digest(NEW), 0o600, True)
    write_journal(here, Journal((step,), {str(path): made}, ()))
    recover(here)
    assert (path.read_bytes(), known(here), os.path.exists(here.pending)) == (NEW, {str(path): made}, False)


def test_what_is_left_to_clear_away_is_tried_again(here: Folders, isolated: Path) -> None:
    folder = isolated / "home" / "folder"
    folder.mkdir()
    name = files.temporary_name(str(isolated / "home" / "settings.json"))
    ended = subprocess.Popen(["true"])
    ended.wait()
    temporary = put(Path(name.replace(f".{os.getpid()}.", f".{ended.pid}.")), "a part")
    journal = Journal((), {}, (str(folder),), (str(isolated / "home"),))
    write_journal(here, journal)
    recover(here)
    assert (folder.exists(), temporary.exists()) == (False, False)
    assert (Path(here.journal).exists(), Path(here.ledger).exists()) == (False, False)


def test_a_file_that_is_written_gets_its_mode_still(here: Folders, file: Path) -> None:
    file.write_bytes(NEW)
    file.chmod(0o644)
    step = Step(str(file), files.digest(OLD), files.digest(NEW), 0o600, True, chmod=0o600)
    left(here, file, record(), steps=(step,))
    recover(here)
    assert (file.stat().st_mode & 0o777, known(here).keys()) == (0o600, {str(file)})


def test_a_project_that_was_removed_comes_not_back(here: Folders, file: Path, isolated: Path) -> None:
    gone = isolated / "gone"
    lost = record(scope="local", project=str(gone))
    left(here, file, record(), records={str(file): record(), str(gone / "settings.json"): lost})
    recover(here)
    assert (known(here).keys(), gone.exists()) == ({str(file)}, False)


# A run that was killed: status names it, dry runs wait for its end, writing verbs carry it there before they look.
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


# Reading verbs
DRY = [
    ("plan", "--host", "claude", "--set", "MAX_STOP_BLOCKS=7"), ("uninstall", "--host", "claude", "--dry-run"),
    ("uninstall", "--all", "--dry-run"), ("install", "--host", "claude", "--host", "qwen", "--dry-run"),
]  # fmt: skip


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
    assert pending == [True] and store.load(folders.here()).files == {}
    assert not settings.exists()


# A `git pull` that brings another ledger between a kill and the next run: the run waits, and nothing is lost.
IN_PROJECT = ("--host", "claude", "--scope", "project")
BELL = '[pack]\nname = "bell"\nversion = "1"\nprotocol = "host"\n[files]\ninclude = ["ring.sh"]\n[env]\nBELL = "1"\n'
BELLS = {"env": {"BELL": "1"}}


class Killed(BaseException):
    """Stands for a signal."""


class Clone:
    """A project, in which a teammate's bell is what the pull brings: its wish is in the settings already."""

    def __init__(self, isolated: Path, hookctl: Hookctl, patch: pytest.MonkeyPatch) -> None:
        self.root, self.run, self.patch = isolated / "work", hookctl, patch
        self.ledger = self.root / ".hookctl" / "ledger.json"
        self.settings = put(self.root / ".claude" / "settings.json", json.dumps(BELLS))
        put(isolated / "bell" / "ring.sh", "")
        self.bell = str(put(isolated / "bell" / "pack.toml", BELL))

    def pulled(self) -> bytes:
        """The ledger as a teammate has it who installed the bell in what is committed; its files are here already."""
        with self.patch.context() as patch:
            patch.setenv("HOOKCTL_STATE_DIR", str(self.root.parent / "theirs"))
            assert self.run("install", self.bell, *IN_PROJECT).code == 0
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


UPGRADE = ("install", *IN_PROJECT, "--set", "max_stop_blocks=9", "--set", "latch=no")
LEAVE = ("uninstall", "--scope", "project")


def with_the_bell(clone: Clone) -> bytes:
    """What is committed with the guard, and the ledger with the bell besides, which the pull brings later."""
    ok(clone.run("install", *IN_PROJECT))
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
    recover(folders.here())
    if command == UPGRADE:
        assert clone.written()["MAX_STOP_BLOCKS"] == "9"
        ok(clone.run("uninstall", "--scope", "project"))
    assert json.loads(clone.settings.read_bytes()) == BELLS
    assert not clone.ledger.exists()
