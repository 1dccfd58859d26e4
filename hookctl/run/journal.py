"""The journal of a run, and the bytes that the run will write.

It is written before the first file and removed after the ledger. It names each file's bytes before
and after by their SHA-256, and the bytes to write lie beside it, so that an interrupted run can
always be completed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from hookctl.errors import HookctlError
from hookctl.ledger import store
from hookctl.ledger.codec import check_record, dump_object, from_json, parse_object, refusals
from hookctl.model import Change, Record
from hookctl.system import files
from hookctl.system.folders import Folders

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
