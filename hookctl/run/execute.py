"""A run: make the changes of a plan and record them, or undo them all."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Mapping

from hookctl.errors import FAILED, HookctlError
from hookctl.ledger import store
from hookctl.model import Change, Record
from hookctl.run.journal import (
    Journal,
    Step,
    close_journal,
    make_pending_folder,
    write_journal,
    write_pending_bytes,
)
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
