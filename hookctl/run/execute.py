"""A run: make the changes of a plan and record them, or undo them all."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from hookctl.errors import FAILED, HookctlError
from hookctl.ledger import store
from hookctl.ledger.codec import check_record, dump_object, from_json, parse_object, refusals
from hookctl.model import Change, Record
from hookctl.system import backups, files
from hookctl.system.files import Changed
from hookctl.system.folders import Folders
from hookctl.system.packages import Packages, provide, sweep


def execute(
    folders: Folders,
    changes: tuple[Change, ...],
    records: Mapping[str, Record | None],
    rmdirs: tuple[str, ...] = (),
    packages: tuple[Packages, ...] = (),
) -> None:
    """Make the changes in their order, between new packages and old ones; update the ledger.

    Raises Changed, with everything rolled back, where another program wrote meanwhile.
    """
    undoing: list[Change] = []  # what puts each changed file back
    created: list[str] = []
    kept: dict[str, list[str]] = {}
    with contextlib.ExitStack() as locks:
        try:
            make_pending_folder(folders)
            if packages:  # said before anything is there
                paths = tuple(package.path for package in packages)
                made = tuple(folder for path in paths for folder in files.missing_folders(path))
                write_journal(folders, Journal((), {}, made, packages=paths))
            for one in packages:
                kept[one.path] = provide(one, locks, created)
            write_pending_bytes(folders, changes)
            _back_up_settings(folders, changes, records)
            steps = []
            for each in changes:
                old, new = files.digest(each.before), files.digest(each.after)
                steps.append(Step(each.path, old, new, each.mode, each.settings, each.chmod))
            journal = Journal(tuple(steps), dict(records), rmdirs, packages=tuple(kept))
            write_journal(folders, journal)
            for change in changes:
                created += files.make_parent_folders(change.path, change.mode)
                undoing.append(apply_change(change))
            save_records(folders, records)
        except (Changed, HookctlError) as error:
            _undo(undoing, error)
            _end(folders, changes, kept, sorted(created, key=len, reverse=True))
            raise
        _end(folders, changes, kept, rmdirs)


def _end(
    folders: Folders,
    changes: tuple[Change, ...],
    packages: Mapping[str, list[str]],
    rmdirs: Iterable[str],
) -> None:
    unswept = [folder for folder, kept in packages.items() if not sweep(folder, kept)]
    remaining = tuple(rmdirs) if unswept else files.remove_folders(rmdirs)
    close_journal(folders, changes, remaining, unswept)


def _back_up_settings(
    folders: Folders, changes: tuple[Change, ...], records: Mapping[str, Record | None]
) -> None:
    before = records_before(folders, records)
    for change in changes:
        if not change.settings or change.before is None:
            continue
        new = records.get(change.path)
        first = new is not None and new.sha256_before == files.digest(change.before)
        _, old = store.find_record(before, change.path)
        data = store.dump_record(folders, old) if old else None
        backups.back_up(folders, change.path, change.before, first=first, record=data)


def apply_change(change: Change) -> Change:
    """Write one file of a run; returns the change that undoes it."""
    back = change._replace(before=change.after, after=change.before)
    links = 1
    with contextlib.suppress(OSError):
        status = os.stat(change.path)
        links = status.st_nlink
        back = back._replace(mode=stat.S_IMODE(status.st_mode))
        if change.chmod is not None:
            back = back._replace(chmod=back.mode)
    old = files.Snapshot(change.path, change.before, links)
    files.replace(old, change.after, mode=change.mode, chmod=change.chmod)
    return back


def _undo(undoing: list[Change], error: Exception) -> None:
    """Put the files back; raises `partial` where one cannot be: the next run completes it."""
    stuck = []
    if isinstance(error, HookctlError) and error.code == "torn":  # neither old nor new bytes
        stuck.append(error.path)
    for change in reversed(undoing):
        try:
            apply_change(change)
        except (Changed, HookctlError):
            stuck.append(change.path)
    if stuck:
        names = "\n".join(f"  written, not put back: {path}" for path in stuck)
        message = f"only a part was written, because of another file ({error})\n{names}"
        hint = "Fix the cause and run the command again."
        raise HookctlError("partial", message, hint=hint, exit_code=FAILED) from None


def records_before(folders: Folders, records: Mapping[str, Record | None]) -> dict[str, Record]:
    """The records before the run; a project's ledger is written last, so it still has its own."""
    stored = store.load(folders)
    before = {key: record for key, record in stored.items() if record.scope != "project"}
    projects = set()
    for key in records:
        for record in (stored.get(key), records[key]):
            if record is not None and record.scope == "project":
                projects.add(record.project)
    for project in projects:
        # Where its ledger is missing or cannot be trusted, nothing is known of the project.
        with contextlib.suppress(HookctlError):
            before |= store.read(folders, [project])
    return before


def save_records(folders: Folders, records: Mapping[str, Record | None]) -> None:
    """Update the ledger of the state folder, and the backups that depend on it."""
    saved = store.load(folders)
    for path, record in records.items():
        if record is None:
            saved.pop(path, None)
        elif record.scope == "project":
            saved[path] = store.make_stub(record)
        else:
            saved[path] = record
    files.write_own(folders.ledger, store.dump(store.rename(saved, folders.shorten)))
    for path, record in records.items():
        if record is None:
            backups.restart_expiry(folders, path)
    needed = [record.sha256_before for record in saved.values()]
    backups.remove_expired(folders, saved, needed)


_KEY = "journal_version"


class Step(NamedTuple):
    """One file of a pending run, as the journal has it."""

    path: str
    sha_before: str
    sha_after: str
    mode: int
    settings: bool
    chmod: int | None = None


class Journal(NamedTuple):
    """A run that was begun and not finished."""

    steps: tuple[Step, ...]
    records: dict[str, Record | None]  # the ledger's records after the run; None: to be removed
    folders: tuple[str, ...]  # to be removed at the end, if they are empty
    unswept: tuple[str, ...] = ()  # folders in which a temporary file of the run is left
    packages: tuple[str, ...] = ()  # folders in which packages come or go


def read_journal(folders: Folders) -> Journal | None:
    """The run that was interrupted, if there is one."""
    data = files.read(folders.journal).data
    if data is None:
        return None
    hint = "Move it away and run `hookctl doctor`."
    with refusals("the journal of an interrupted run", folders.journal, hint):
        json_object = parse_object(data, _KEY, folders.journal)
        journal = from_json(Journal, json_object, "the journal")
        for record in journal.records.values():
            if record is not None:
                check_record(record)
    return _rename_paths(journal, folders.resolve)


def write_journal(folders: Folders, journal: Journal) -> None:
    stored = _rename_paths(journal, folders.shorten)
    files.write_own(folders.journal, dump_object(_KEY, stored))


def _rename_paths(journal: Journal, change: Callable[[str], str]) -> Journal:
    """The journal with every path of its changed from or to its form on disk."""
    return Journal(
        tuple(step._replace(path=change(step.path)) for step in journal.steps),
        store.rename(journal.records, change),
        tuple(map(change, journal.folders)),
        tuple(map(change, journal.unswept)),
        tuple(map(change, journal.packages)),
    )


def close_journal(
    folders: Folders,
    changes: tuple[Change, ...] = (),
    remaining: Iterable[str] = (),
    packages: Iterable[str] = (),
) -> None:
    """Remove the journal, or keep only what the next run must try again to remove.

    Where not even that can be written the journal stays whole, and the next run completes it.
    """
    parents = dict.fromkeys(os.path.dirname(change.path) for change in changes)
    unswept = tuple(folder for folder in parents if not files.sweep(folder))
    rest = Journal((), {}, tuple(remaining), unswept, tuple(packages))
    is_left = bool(rest.folders or rest.unswept or rest.packages)
    try:
        if not is_left:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(folders.journal)
    except OSError:
        is_left = True  # so that the next run does not repeat the steps
    try:
        if is_left:
            write_journal(folders, rest)
    except HookctlError:
        return
    remove_pending_bytes(folders)


def make_pending_folder(folders: Folders) -> None:
    """Make the folder of pending bytes, before anything else: it tells the next run to clear up."""
    try:
        files.make_folders(folders.pending, files.PRIVATE)
    except OSError as error:
        raise files.cannot_write(folders.pending, error) from None


def write_pending_bytes(folders: Folders, changes: tuple[Change, ...]) -> None:
    """Store the bytes that a run will write, each under its digest, which detects a torn file."""
    pending = {files.digest(change.after): change.after for change in changes}
    try:
        for sha, data in pending.items():
            path = os.path.join(folders.pending, sha)
            if data is not None and files.read_or_none(path) != data:  # an earlier try left it
                files.write_new(path, data, files.PRIVATE)
        files.sync_folder(folders.pending)
    except OSError as error:
        raise files.cannot_write(folders.pending, error) from None


def read_pending_bytes(folders: Folders, sha: str) -> bytes | None:
    """The bytes that an interrupted run would write; None where it would remove the file."""
    if not sha:
        return None
    data = files.read(os.path.join(folders.pending, sha)).data
    if files.digest(data) != sha:
        message, hint = "the bytes of an interrupted run are missing", "Run `hookctl doctor`."
        raise HookctlError("ledger_unreadable", message, path=folders.pending, hint=hint)
    return data


def remove_pending_bytes(folders: Folders) -> None:
    with contextlib.suppress(OSError):
        for name in os.listdir(folders.pending):
            os.unlink(os.path.join(folders.pending, name))
        os.rmdir(folders.pending)
