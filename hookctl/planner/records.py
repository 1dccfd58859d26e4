"""The ledger's record of a settings file: which one it is before a run, and what it says after it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

from hookctl.documents import Document
from hookctl.errors import USAGE, HookctlError
from hookctl.ledger import committed, store
from hookctl.ledger.committed import Records
from hookctl.model import Entry, PackRecord, Record
from hookctl.planner import runtime_files
from hookctl.settings.targets import Target, top
from hookctl.system import files
from hookctl.system.folders import Folders


def find_record(
    folders: Folders, records: Records, target: Target, snapshot: files.Snapshot, document: Document
) -> tuple[str, Record | None, str]:
    """The record of a settings file and its key; without one, the folder that an orphan of ours in it runs from.

    The folder names the record too: it is that of a settings file which is not where it was any more. So do the bytes
    that our last write left, and commands of ours, where the file's project is gone.
    """
    key, record = store.find_record(records, target.path)
    if record is not None:
        _require_same_scope(record, target)
        return key, _moved(record, target), ""
    project = "" if target.shared else records.projects.get(key, "")
    own = committed.read(folders, [project]).get(key) if project else None
    if own is not None:
        _require_same_scope(own, target)
    folder = runtime_files.folder_of_orphan(folders, document, target)
    for other, known in records.items():
        if (
            folder
            and not os.path.lexists(other)
            and any(pack.folder == folder for pack in known.packs.values())
        ):
            _require_same_scope(known, target)
            return other, _moved(known, target), ""
    other = _moved_from(records, target, snapshot)
    if other:
        return other, _moved(records[other], target), ""
    taken = any(
        pack.folder == folder for known in records.values() for pack in known.packs.values()
    )
    return key, None, "" if taken else folder


def _moved_from(records: Mapping[str, Record], target: Target, snapshot: files.Snapshot) -> str:
    """The key of the only record whose settings file may have been moved here; empty if there is none, or several."""
    if target.shared:
        return ""
    gone = {
        key: record
        for key, record in records.items()
        if (record.host, record.scope) == (target.host.name, target.scope) and _is_gone(key, record)
    }
    candidates = [
        key for key, record in gone.items() if snapshot.sha and record.sha256_after == snapshot.sha
    ]
    if not candidates:
        candidates = [
            key for key, record in gone.items() if store.has_our_command(target.path, record)
        ]
    return candidates[0] if len(candidates) == 1 else ""


def _is_gone(key: str, record: Record) -> bool:
    return not os.path.lexists(key) and not os.path.isdir(record.project)


def _require_same_scope(record: Record, target: Target) -> None:
    """In a home that is a project too, one file would be two scopes' at once."""
    if record.scope != target.scope:
        message = f"this is installed at {record.scope} scope already"
        hint = f"Use --scope {record.scope}, or uninstall it there first."
        raise HookctlError("usage", message, path=target.path, hint=hint, exit_code=USAGE)


def _moved(record: Record, target: Target) -> Record:
    """The record of a project that lies somewhere else now; the folders that we made in it have gone along."""
    if record.project == target.project:
        return record
    old, new = top(record.project), top(target.project)
    dirs = tuple(
        new + folder.removeprefix(old) if folder.startswith(old) else folder
        for folder in record.created_dirs
    )
    return record._replace(project=target.project, created_dirs=dirs)


def first_record(
    target: Target,
    snapshot: files.Snapshot,
    after: bytes | None,
    entries: tuple[Entry, ...],
    packs: dict[str, PackRecord],
) -> Record:
    """The record of a settings file that had none."""
    created = snapshot.data is None and after is not None
    return Record(
        host=target.host.name,
        scope=target.scope,
        format=target.host.format,
        created_file=created,
        created_dirs=tuple(files.missing_folders(os.path.dirname(snapshot.path)))
        if created
        else (),
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
    anew: bool,
) -> Record:
    """The record after a write; the first backup stays good only while nobody else writes in between.

    With `anew`, somebody made the file again without anything of ours: it is theirs, and as if never written by us.
    """
    if anew and snapshot.data is not None:
        dirs = tuple(
            folder for folder in record.created_dirs if not snapshot.path.startswith(f"{folder}/")
        )
        record = record._replace(
            created_file=False, created_dirs=dirs, sha256_before="", sha256_after=""
        )
    result = record._replace(packs=packs, entries=entries, known_as=target.path)
    if snapshot.data == after:
        return result
    # Nothing of ours was ever written: only adopted values. (A clone knows no hashes, but has our entries.)
    none_ours = all(entry.mode == "adopted" for entry in record.entries)
    before = record.sha256_before
    if anew or (record.sha256_before == record.sha256_after and none_ours):
        before = snapshot.sha
    elif snapshot.sha != record.sha256_after:
        before = ""
    if snapshot.data is None and after is not None:
        dirs = dict.fromkeys(
            (*files.missing_folders(os.path.dirname(snapshot.path)), *record.created_dirs)
        )
        result = result._replace(created_file=True, created_dirs=tuple(dirs))
    return result._replace(sha256_before=before, sha256_after=files.digest(after))


def with_own_folders(
    folders: Folders,
    records: Mapping[str, Record],
    target: Target,
    record: Record,
    *,
    lost: bool = False,
) -> Record:
    """The record with the folders around hookctl's own files that are made now, or that another install made.

    The last record to go removes them; one that somebody else has made is in no record, and stays. With `lost`, the
    ledger did not know what lies there and is ours: then so is the folder that is for nothing else.
    """
    top_folder = runtime_files.own_top(folders, target)
    others = (
        folder
        for known in records.values()
        for folder in known.created_dirs
        if f"{top_folder}/".startswith(f"{folder}/")
    )
    ours = [top_folder] if lost else []
    made = dict.fromkeys((*record.created_dirs, *others, *files.missing_folders(top_folder), *ours))
    return record._replace(created_dirs=tuple(made))


def with_folders_above(
    folders: Folders, records: Mapping[str, Record], target: Target, record: Record, path: str
) -> Record:
    """The record with the folders above its file that another install made: the last record to go removes them."""
    known, inside = list(records.values()), top(target.project)
    if target.project and not target.shared:
        with contextlib.suppress(HookctlError):  # a stranger's ledger is no reason to stop
            known += committed.read(folders, [target.project]).values()
    made = [folder for other in known for folder in other.created_dirs]
    above = [
        folder for folder in made if folder.startswith(inside) and path.startswith(f"{folder}/")
    ]
    return record._replace(created_dirs=tuple(dict.fromkeys((*record.created_dirs, *above))))
