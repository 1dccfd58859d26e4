"""Complete an interrupted run: after a kill between any two steps, the next run does this first.

Where another program wrote a file meanwhile, its bytes stay, and the record that fits is kept.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

from hookctl.documents import Document, formats
from hookctl.errors import FAILED, HookctlError
from hookctl.ledger import committed, store
from hookctl.model import INTERRUPTED, Record
from hookctl.run.execute import (
    Journal,
    Step,
    close_journal,
    read_journal,
    read_pending_bytes,
    records_before,
    remove_pending_bytes,
    save_records,
)
from hookctl.system import backups, files, packages
from hookctl.system.files import Changed
from hookctl.system.folders import Folders


def recover(folders: Folders) -> list[str]:
    """Complete an interrupted run, under the lock; returns a line for each settings file."""
    for folder in (folders.state, *backups.backup_folders(folders.state)):
        files.sweep(folder)
    journal = read_journal(folders)
    if journal is None:
        remove_pending_bytes(folders)
        return []
    for folder in journal.unswept:
        files.sweep(folder)
    _require_own_ledgers(folders, journal)
    before = records_before(folders, journal.records)
    removed = _removed_folders(folders, before, journal.records)
    records: dict[str, Record | None] = {}
    for path, record in journal.records.items():
        if not path.startswith(removed):
            records[path] = record
    lines = list[str]()
    unchanged = set[str]()  # the ledgers of projects whose settings are as before the run
    for step in journal.steps:
        files.sweep(os.path.dirname(step.path))
        if step.path in unchanged or step.path.startswith(removed):
            continue
        old, new = before.get(step.path), records.get(step.path)
        snapshot, is_written = _write_step(folders, step, new or old)
        if not step.settings:  # files that hooks run need no line
            continue
        if is_written:
            lines.append(f"{step.path}: an interrupted run was carried to its end")
        elif snapshot.sha != step.sha_after:
            by = "changed by another program after an interrupted run; its bytes stay"
            lines.append(f"{step.path}: {by}")
            if step.path in records:  # a file with approvals only has none in this run
                unchanged |= _choose_record(step, snapshot, old, records)
    unswept = []
    for folder in journal.packages:
        with packages.locked(folder):
            if not packages.sweep(folder):
                unswept.append(folder)
    if journal.steps or records:
        save_records(folders, records)
    remaining = journal.folders if unswept else files.remove_folders(journal.folders)
    close_journal(folders, (), remaining, unswept)
    if not (journal.steps or journal.records):
        return ["what an interrupted run left behind is cleared away"]
    return lines or ["an interrupted run was completed"]


def list_unwritten(folders: Folders) -> tuple[str, ...]:
    """The files that an interrupted run has not written yet; none without such a run."""
    journal = read_journal(folders)
    if journal is None:
        return ()
    unwritten = [step.path for step in journal.steps if not _has_digest(step, step.sha_after)]
    if journal.records and not unwritten:
        return (folders.ledger,)
    return tuple(unwritten)


def _has_digest(step: Step, *digests: str) -> bool:
    return files.digest(files.read_or_none(step.path)) in digests


def _require_own_ledgers(folders: Folders, journal: Journal) -> None:
    """Refuse to go on where a project's ledger was changed since, as by `git pull`."""
    for step in journal.steps:
        is_file = os.path.isfile(step.path) and not os.path.islink(step.path)
        is_as_known = not is_file or _has_digest(step, step.sha_before, step.sha_after)
        if os.path.basename(step.path) != "ledger.json" or is_as_known:
            continue
        message = "an interrupted run was to write this record, which was changed since"
        hint = (
            "Put back what was there (`git checkout ORIG_HEAD -- .hookctl/ledger.json` after a "
            "pull), run `hookctl doctor --fix`, commit, then pull again. "
            f"Or give the run up: move {folders.journal} away, then install again."
        )
        raise HookctlError(INTERRUPTED, message, path=step.path, hint=hint, exit_code=FAILED)


def _choose_record(
    step: Step, snapshot: files.Snapshot, old: Record | None, records: dict[str, Record | None]
) -> set[str]:
    """Keep the record that fits the bytes which another program wrote."""
    new = records[step.path]
    record = new
    old_count, new_count = _count_entries(old, snapshot), _count_entries(new, snapshot)
    if old is None and new_count == 0:
        record = None
    elif old_count > new_count:
        record = old
    if record is new:
        return set()
    # The programs are the run's, even if the settings are not.
    if record is not None and new is not None:
        programs = {name: new.packs.get(name, pack) for name, pack in record.packs.items()}
        record = record._replace(packs=programs)
    records[step.path] = record
    return {committed.ledger_path(known.project) for known in (old, new) if known is not None}


def _removed_folders(
    folders: Folders, before: Mapping[str, Record], records: Mapping[str, Record | None]
) -> tuple[str, ...]:
    """The beginnings of paths in projects and other folders that were removed since."""
    removed = set()
    for key, record in (*before.items(), *records.items()):
        if record:
            removed.add(record.project or store.missing_folder(folders, key, record))
    return tuple(f"{folder}/" for folder in removed if folder and not os.path.isdir(folder))


def _write_step(folders: Folders, step: Step, record: Record | None) -> tuple[files.Snapshot, bool]:
    """Write a step's bytes if the file is as before; returns the file as read, and if it wrote."""
    while True:
        snapshot = files.read(step.path)
        if snapshot.path != step.path:  # a new link leads to a file that was never meant
            return snapshot, False
        if snapshot.sha == step.sha_after:
            if step.chmod is not None:
                files.set_mode(snapshot.path, step.chmod)
            return snapshot, False
        if snapshot.sha != step.sha_before and not _is_torn(folders, snapshot, step, record):
            return snapshot, False
        with contextlib.suppress(Changed):  # by another program, just now: read it again
            files.make_parent_folders(step.path, step.mode)
            data = read_pending_bytes(folders, step.sha_after)
            files.replace(snapshot, data, mode=step.mode, chmod=step.chmod)
            return snapshot, True


def _is_torn(folders: Folders, snapshot: files.Snapshot, step: Step, record: Record | None) -> bool:
    """Whether a kill interrupted our own write in place to a file with several names.

    Such a file has a part of the new bytes, then the old ones. Where putting the old ones back was
    interrupted too, a part of them stands before the new ones.
    """
    if snapshot.links == 1 or snapshot.data is None or not step.settings:
        return False
    old = backups.find_backup(folders.state, step.sha_before)
    new = read_pending_bytes(folders, step.sha_after)
    if old is None or new is None:
        return record is not None and _parse(snapshot, record.format) is None
    start = _common_length(snapshot.data, old)
    end = start + _common_length(snapshot.data[start:], new[start:])
    return snapshot.data[end:] == old[end:]


def _common_length(first: bytes, second: bytes) -> int:
    pairs = enumerate(zip(first, second, strict=False))
    return next((length for length, (a, b) in pairs if a != b), min(len(first), len(second)))


def _parse(snapshot: files.Snapshot, format: str) -> Document | None:
    try:
        return formats.parse(format, snapshot.data or b"", where=snapshot.path)
    except HookctlError:
        return None


def _count_entries(record: Record | None, snapshot: files.Snapshot) -> int:
    document = _parse(snapshot, record.format) if record else None
    if record is None or document is None:
        return 0
    leaves = [entry for entry in record.entries if entry.kind == "leaf"]
    values = [entry for entry in leaves if document.get(entry.path) == entry.written]
    return store.count_commands(snapshot.data, record) + len(values)
