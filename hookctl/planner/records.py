"""The ledger's record of a settings file: which one it is before a run, and what it says after."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hookctl.documents import Document
from hookctl.errors import USAGE, HookctlError
from hookctl.ledger import store
from hookctl.ledger.store import Records
from hookctl.model import Record
from hookctl.planner.own_files import own_top
from hookctl.planner.sources import Sources
from hookctl.settings.targets import Target, top
from hookctl.system import files

if TYPE_CHECKING:
    from hookctl.planner.draft import Draft


def find_record(
    sources: Sources, records: Records, target: Target, sha: str, document: Document
) -> tuple[str, Record | None]:
    """The key and record of a settings file; one that was moved is known by what we left in it."""
    key, record = store.find_record(records, target.path)
    if record is None:
        if records.projects.get(key) and not target.shared:
            # The project's own ledger may have the file, at another scope.
            _require_same_scope(sources.records([records.projects[key]]).get(key), target)
        moved = _find_moved(records, target, sha)
        if len(moved) == 1:
            key, record = moved[0], records[moved[0]]
    _require_same_scope(record, target)
    if record is not None:
        if record.project != target.project:  # which was moved
            old, new = top(record.project), top(target.project)
            dirs = [
                re.sub(f"^{re.escape(old)}", lambda _: new, each) for each in record.created_dirs
            ]
            record = record._replace(project=target.project, created_dirs=tuple(dirs))
        if record.disabled:
            from hookctl.ledger.disabled import with_returned  # late: few have anything disabled

            record = with_returned(target.host, record, document)
    return key, record


def _find_moved(records: Mapping[str, Record], target: Target, sha: str) -> list[str]:
    """The keys of records whose file is gone, with the bytes or commands of the target's file."""
    found = []
    for key, record in records.items() if not target.shared else ():
        is_alike = (record.host, record.scope) == (target.host.name, target.scope)
        is_gone = not os.path.lexists(key) and not os.path.isdir(record.project)
        if not is_alike or not is_gone:
            continue
        if (sha and record.sha256_after == sha) or store.has_our_command(target.path, record):
            found.append(key)
    return found


def _require_same_scope(record: Record | None, target: Target) -> None:
    """Refuse a second scope: in a home that is a project too, one file would be at two scopes."""
    if record is not None and record.scope != target.scope:
        message = f"this is installed at {record.scope} scope already"
        hint = f"Use --scope {record.scope}, or uninstall it there first."
        raise HookctlError("usage", message, path=target.path, hint=hint, exit_code=USAGE)


def next_record(draft: Draft, after: bytes | None) -> Record:
    """The record of a settings file after a write."""
    target, snapshot, known = draft.target, draft.snapshot, draft.known
    record = known or Record(target.host.name, target.scope, target.host.format)
    if draft.is_recreated and snapshot.data is not None:  # as if we had never written it
        dirs = [each for each in record.created_dirs if not draft.path.startswith(f"{each}/")]
        record = record._replace(created_file=False, created_dirs=tuple(dirs))
        record = record._replace(sha256_before="", sha256_after="")
    record = record._replace(
        packs=draft.packs, entries=draft.entries, known_as=target.path, project=target.project
    )
    if known and snapshot.data == after:
        return record
    if snapshot.data is None and after is not None:
        missing = files.missing_folders(os.path.dirname(snapshot.path))
        created_dirs = dict.fromkeys((*missing, *record.created_dirs))
        record = record._replace(created_file=True, created_dirs=tuple(created_dirs))
    # Of the bytes before our first write. A clone knows no hashes, but has our entries; else only
    # adopted values are on record.
    before = snapshot.sha
    has_only_adopted = all(entry.mode == "adopted" for entry in known.entries) if known else True
    is_unwritten = known is None or (known.sha256_before == known.sha256_after and has_only_adopted)
    if known and not draft.is_recreated and not is_unwritten:
        before = known.sha256_before if snapshot.sha == known.sha256_after else ""
    return record._replace(sha256_before=before, sha256_after=files.digest(after))


def with_made_folders(records: Mapping[str, Record], draft: Draft, record: Record) -> Record:
    """The record with hookctl's own folders, and those above its file, that an install made.

    The last record to go removes them. A folder that hookctl did not make is in no record, and
    stays.
    """
    # Something was ours that the ledger did not know: then our topmost folder is, too.
    was_lost = any(action.action == "take-back" for action in draft.actions)
    if not draft.adds_files or not (draft.changes or was_lost or draft.known is None):
        return record
    target, others = draft.target, list(records.values())
    is_new = draft.known is None and record.created_file
    if is_new and target.project and not target.shared:
        with contextlib.suppress(HookctlError):  # a broken ledger must not stop this
            others += draft.sources.records([target.project]).values()
    topmost, above = own_top(draft.folders, target), list[str]()
    made = list[str]()
    for folder in [folder for other in others for folder in other.created_dirs]:
        if (
            is_new
            and folder.startswith(top(target.project))
            and draft.path.startswith(f"{folder}/")
        ):
            above.append(folder)
        if f"{topmost}/".startswith(f"{folder}/"):
            made.append(folder)
    made += files.missing_folders(topmost)
    made += [topmost] if was_lost else []
    created_dirs = dict.fromkeys((*record.created_dirs, *above, *made))
    return record._replace(created_dirs=tuple(created_dirs))
