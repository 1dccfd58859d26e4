"""The ledger's record of a settings file: which one it is before a run, and what it says after."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping

from hookctl.documents import MISSING, Document
from hookctl.errors import USAGE, HookctlError
from hookctl.hosts import shapes
from hookctl.ledger import store
from hookctl.ledger.store import Records
from hookctl.model import Entry, PackRecord, Record
from hookctl.packs import guard
from hookctl.planner.own_files import own_top
from hookctl.planner.sources import Sources
from hookctl.settings.targets import GUARD, Target, top
from hookctl.system import files


def find_record(
    sources: Sources, records: Records, target: Target, snapshot: files.Snapshot, document: Document
) -> tuple[str, Record | None, str]:
    """The key and record of a settings file, and the configuration of an unrecorded guard in it.

    A file that was moved is known by the configuration that its hooks have. Where its project is
    gone, it is known by the bytes of our last write, or by commands of ours.
    """
    key, record = store.find_record(records, target.path)
    orphaned = ""
    if record is None:
        if records.projects.get(key) and not target.shared:
            # The project's own ledger may have the file, at another scope.
            _require_same_scope(sources.records([records.projects[key]]).get(key), target)
        orphaned = _find_orphan(sources.folders.data, document, target)
        users = _users_of(records, orphaned) if orphaned else []
        moved = [user for user in users if not os.path.lexists(user)]
        moved = moved or _find_moved(records, target, snapshot)
        if moved:
            key, record = moved[0], records[moved[0]]
        if moved or users:
            orphaned = ""
    _require_same_scope(record, target)
    if record is not None:
        record = _follow_project(record, target)
        if record.disabled:
            from hookctl.ledger.disabled import with_returned  # late: few have anything disabled

            record = with_returned(target.host, record, document)
    return key, record, orphaned


def _find_orphan(data: str, document: Document, target: Target) -> str:
    """The configuration below our data folder that a guard's hook in the file has, or ''."""
    root = {} if document.value is MISSING else document.value
    for hook in shapes.elements(target.host.shape, root):
        event = hook.id.partition("/")[2]
        path = guard.config_path(str(hook.fields.get("command")), hook.id, event, target)
        if path.startswith(f"{data}/"):
            return path
    return ""


def _users_of(records: Mapping[str, Record], config: str) -> list[str]:
    """The keys of the records whose guard has this configuration."""
    return [
        key
        for key, record in records.items()
        if GUARD in record.packs and record.packs[GUARD].config == config
    ]


def _find_moved(
    records: Mapping[str, Record], target: Target, snapshot: files.Snapshot
) -> list[str]:
    """The key of the only record whose file may have been moved here; none for several."""
    if target.shared:
        return []
    missing = {}
    for key, record in records.items():
        is_alike = (record.host, record.scope) == (target.host.name, target.scope)
        if is_alike and _is_missing(key, record):
            missing[key] = record
    candidates = []
    for key, record in missing.items():
        if snapshot.sha and record.sha256_after == snapshot.sha:
            candidates.append(key)
    if not candidates:
        candidates = [
            key for key, record in missing.items() if store.has_our_command(target.path, record)
        ]
    return candidates if len(candidates) == 1 else []


def _is_missing(key: str, record: Record) -> bool:
    if os.path.lexists(key):
        return False
    return not os.path.isdir(record.project)


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
