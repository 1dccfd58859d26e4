"""The ledger's record of a settings file: which one it is before a run, and what it says after."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping

from hookctl.documents import Document
from hookctl.errors import USAGE, HookctlError
from hookctl.ledger import store
from hookctl.ledger.store import Records
from hookctl.model import Entry, PackRecord, Record
from hookctl.planner.own_files import own_top
from hookctl.planner.sources import Sources
from hookctl.settings.targets import Target, top
from hookctl.system import files


def find_record(
    sources: Sources, records: Records, target: Target, document: Document
) -> tuple[str, Record | None]:
    """The key and record of a settings file; one that was moved is known by commands of ours."""
    key, record = store.find_record(records, target.path)
    if record is None:
        if records.projects.get(key) and not target.shared:
            # The project's own ledger may have the file, at another scope.
            _require_same_scope(sources.records([records.projects[key]]).get(key), target)
        moved = _find_moved(records, target)
        if len(moved) == 1:
            key, record = moved[0], records[moved[0]]
    _require_same_scope(record, target)
    if record is not None:
        record = _follow_project(record, target)
        if record.disabled:
            from hookctl.ledger.disabled import with_returned  # late: few have anything disabled

            record = with_returned(target.host, record, document)
    return key, record


def _find_moved(records: Mapping[str, Record], target: Target) -> list[str]:
    """The keys of records whose file is gone, with commands that the target's file has."""
    found = []
    for key, record in records.items() if not target.shared else ():
        is_alike = (record.host, record.scope) == (target.host.name, target.scope)
        is_gone = not os.path.lexists(key) and not os.path.isdir(record.project)
        if is_alike and is_gone and store.has_our_command(target.path, record):
            found.append(key)
    return found


def _require_same_scope(record: Record | None, target: Target) -> None:
    """Refuse a second scope: in a home that is a project too, one file would be at two scopes."""
    if record is not None and record.scope != target.scope:
        message = f"this is installed at {record.scope} scope already"
        hint = f"Use --scope {record.scope}, or uninstall it there first."
        raise HookctlError("usage", message, path=target.path, hint=hint, exit_code=USAGE)


def _follow_project(record: Record, target: Target) -> Record:
    """The record with the paths of the project as it lies now."""
    if record.project == target.project:
        return record
    old, new = top(record.project), top(target.project)
    created_dirs = []
    for folder in record.created_dirs:
        if folder.startswith(old):
            folder = new + folder.removeprefix(old)
        created_dirs.append(folder)
    return record._replace(project=target.project, created_dirs=tuple(created_dirs))


def first_record(
    target: Target,
    snapshot: files.Snapshot,
    after: bytes | None,
    entries: tuple[Entry, ...],
    packs: dict[str, PackRecord],
) -> Record:
    """The record of a settings file that had none."""
    is_created = snapshot.data is None and after is not None
    created_dirs: Iterable[str] = ()
    if is_created:
        created_dirs = files.missing_folders(os.path.dirname(snapshot.path))
    return Record(
        host=target.host.name,
        scope=target.scope,
        format=target.host.format,
        created_file=is_created,
        created_dirs=tuple(created_dirs),
        packs=packs,
        sha256_before=snapshot.sha,
        sha256_after=files.digest(after),
        entries=entries,
        known_as=target.path,
        project=target.project,
    )


def next_record(
    record: Record,
    target: Target,
    snapshot: files.Snapshot,
    after: bytes | None,
    entries: tuple[Entry, ...],
    packs: dict[str, PackRecord],
    *,
    is_recreated: bool,
) -> Record:
    """The record after a write.

    With `is_recreated`, the file was made again without our entries: it counts as if we had never
    written it.
    """
    if is_recreated and snapshot.data is not None:
        record = _as_never_written(record, snapshot)
    result = record._replace(packs=packs, entries=entries, known_as=target.path)
    if snapshot.data == after:
        return result
    if snapshot.data is None and after is not None:
        missing = files.missing_folders(os.path.dirname(snapshot.path))
        created_dirs = _join_unique(missing, record.created_dirs)
        result = result._replace(created_file=True, created_dirs=created_dirs)
    before = _first_digest(record, snapshot, is_recreated=is_recreated)
    return result._replace(sha256_before=before, sha256_after=files.digest(after))


def _as_never_written(record: Record, snapshot: files.Snapshot) -> Record:
    created_dirs = []
    for folder in record.created_dirs:
        if not snapshot.path.startswith(f"{folder}/"):
            created_dirs.append(folder)
    return record._replace(
        created_file=False, created_dirs=tuple(created_dirs), sha256_before="", sha256_after=""
    )


def _first_digest(record: Record, snapshot: files.Snapshot, *, is_recreated: bool) -> str:
    """The digest of the bytes before our first write, or '' if another program wrote since."""
    # A clone knows no hashes, but has our entries; else only adopted values are on record.
    has_only_adopted = all(entry.mode == "adopted" for entry in record.entries)
    was_never_written = record.sha256_before == record.sha256_after and has_only_adopted
    if is_recreated or was_never_written:
        return snapshot.sha
    if snapshot.sha != record.sha256_after:
        return ""
    return record.sha256_before


def with_own_folders(
    sources: Sources,
    records: Mapping[str, Record],
    target: Target,
    record: Record,
    *,
    lost: bool = False,
) -> Record:
    """The record with hookctl's own folders that are made now, or that another install made.

    The last record to go removes them. A folder that hookctl did not make is in no record, and
    stays. With `lost`, the ledger did not know our files: then their topmost folder is ours too.
    """
    topmost = own_top(sources.folders, target)
    made_before = []
    for other in records.values():
        for folder in other.created_dirs:
            if f"{topmost}/".startswith(f"{folder}/"):
                made_before.append(folder)
    ours = [topmost] if lost else []
    made_now = files.missing_folders(topmost)
    created_dirs = _join_unique(record.created_dirs, made_before, made_now, ours)
    return record._replace(created_dirs=created_dirs)


def with_folders_above(
    sources: Sources, records: Mapping[str, Record], target: Target, record: Record, path: str
) -> Record:
    """The record with the folders above its file that another install made.

    The last record to go removes them.
    """
    others = list(records.values())
    if target.project and not target.shared:
        with contextlib.suppress(HookctlError):  # a broken ledger must not stop this
            others += sources.records([target.project]).values()
    project_prefix = top(target.project)
    above = []
    for other in others:
        for folder in other.created_dirs:
            if folder.startswith(project_prefix) and path.startswith(f"{folder}/"):
                above.append(folder)
    return record._replace(created_dirs=_join_unique(record.created_dirs, above))


def _join_unique(*lists: Iterable[str]) -> tuple[str, ...]:
    """The names of all lists in order, each once."""
    return tuple(dict.fromkeys(name for names in lists for name in names))
