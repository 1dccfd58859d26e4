"""A run where the lock is held or the disk refuses, and how an interrupted one is completed from its journal."""

from __future__ import annotations

import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from hookctl.errors import HookctlError
from hookctl.model import Change, Claim, Entry, Record
from hookctl.ownership import execute as run
from hookctl.ownership import store
from hookctl.ownership.execute import Journal, Step, list_unwritten, read_journal, recover, write_journal
from hookctl.ownership.run import locked_run
from hookctl.system import files, folders, packages
from hookctl.system.files import Changed
from hookctl.system.folders import Folders
from tests.conftest import put

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
    entries = () if written is None else (Entry(("b",), "leaf", written=written, owners={"pk": Claim(written, "1")}),)
    return Record("claude", "user", "json", entries=entries)._replace(**fields)


def left(here: Folders, path: Path, record: Record | None, *, before: bytes = OLD, **fields: object) -> None:
    """What a run leaves that was killed before this file: the journal, and the bytes to come."""
    os.makedirs(here.pending, exist_ok=True)
    put(Path(here.pending, files.digest(NEW)), NEW)
    step = Step(str(path), files.digest(before), files.digest(NEW), 0o600, True)
    journal = Journal((step,), {str(path): record}, ())._replace(**fields)
    write_journal(here, journal)


def known(here: Folders) -> dict[str, Record]:
    return store.load(here)


# The lock


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
    apply_change, done = run.apply_change, list[Change]()

    def apply(change: Change) -> Change:
        done.append(change)
        if len(done) == 2:
            if foreign:
                foreign.write_text("theirs")
            raise error
        return apply_change(change)

    monkeypatch.setattr(run, "apply_change", apply)


def test_a_run_that_cannot_take_back_a_file_names_it(
    here: Folders, file: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = put(isolated / "home" / "second.json", OLD)
    interrupted_by(Changed(str(second)), file, monkeypatch)
    with pytest.raises(HookctlError) as caught:
        run.execute(here, (change(file), change(second)), {str(file): record()})
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
        run.execute(here, (change(file),), {str(file): record()})
    journal = read_journal(here)
    assert journal is not None
    assert (journal.steps, journal.records) == ((), {})
    assert list_unwritten(here) == ()
    assert recover(here) == ["what an interrupted run left behind is cleared away"]
    assert read_journal(here) is None


# Recovery


def test_bytes_that_are_missing_are_named(here: Folders, file: Path) -> None:
    left(here, file, record())
    Path(here.pending, files.digest(NEW)).unlink()
    with pytest.raises(HookctlError) as caught:
        recover(here)
    assert (caught.value.code, caught.value.path) == ("ledger_unreadable", here.pending)
    assert file.read_bytes() == OLD


@pytest.mark.parametrize(
    ("theirs", "kept"),
    [('{"b": "ours"}', "ours"), ('{"b": "old"}', "old"), ("{}", "ours"), ("no JSON", "ours")],
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


@pytest.mark.parametrize(("data", "is_ours"), [(b'{"a": 1, "b', True), (b"{}", False)])
def test_without_a_backup_only_an_unreadable_file_counts_as_torn(
    data: bytes, is_ours: bool, here: Folders, file: Path
) -> None:
    left(here, file, record())
    file.write_bytes(data)
    os.link(file, file.with_name("second name"))
    recover(here)
    assert file.read_bytes() == (NEW if is_ours else data)


# A folder outside of HOME


def test_a_run_makes_no_folder_outside_of_home_that_was_there_and_is_not_now(here: Folders, isolated: Path) -> None:
    away, kept = isolated / "away" / "settings.json", record("old")
    put(Path(here.ledger), store.dump({str(away): kept}))
    left(here, away, record(), before=b"")
    recover(here)
    assert (away.parent.exists(), known(here)) == (False, {str(away): kept})


def test_a_run_makes_the_folder_outside_of_home_that_it_was_to_make(here: Folders, isolated: Path) -> None:
    path = isolated / "new" / "settings.json"
    made = record(created_dirs=(str(path.parent),))
    os.makedirs(here.pending)
    put(Path(here.pending, files.digest(NEW)), NEW)
    step = Step(str(path), "", files.digest(NEW), 0o600, True)
    write_journal(here, Journal((step,), {str(path): made}, ()))
    recover(here)
    assert (path.read_bytes(), known(here)) == (NEW, {str(path): made})


def test_a_file_that_was_torn_is_named_and_the_others_go_back(
    here: Folders, file: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = put(isolated / "home" / "second.json", OLD)
    torn = HookctlError("torn", "written in part", path=str(second), hint="h", exit_code=1)
    interrupted_by(torn, None, monkeypatch)
    with pytest.raises(HookctlError) as caught:
        run.execute(here, (change(file), change(second)), {str(file): record()})
    assert (caught.value.code, str(second) in caught.value.message) == ("partial", True)
    assert (str(file) in caught.value.message, file.read_bytes()) == (False, OLD)


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
