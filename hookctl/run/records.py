"""The records of a run: those before it, and the ledger after it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from hookctl.errors import HookctlError
from hookctl.ledger import store
from hookctl.model import Record
from hookctl.system import backups, files
from hookctl.system.folders import Folders


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
