"""What putting back an earlier text of a settings file does: the ledger keeps up with it in the same transaction."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from hookctl import engine, hosts, packs
from hookctl.documents import Document, formats
from hookctl.errors import HookctlError
from hookctl.ledger import committed, store
from hookctl.model import Action, Current, Entry, Record
from hookctl.packs import guard
from hookctl.planner import runtime_files
from hookctl.planner.draft import Draft, finish
from hookctl.planner.plan import Plan, assemble
from hookctl.settings.sources import Sources, look
from hookctl.settings.targets import GUARD, Target, find, of_page, standing
from hookctl.system import files, project
from hookctl.system.backups import Backup
from hookctl.system.files import Snapshot
from hookctl.system.folders import Folders


def plan_restore(sources: Sources, path: str, backup: Backup) -> Plan:
    """What putting a backup back does to the file, to the ledger, and to files of packs that it has no more."""
    folders, record_then = sources.folders, store.parse_record(backup.page)
    try:
        records = committed.read(folders, [project.find(os.path.dirname(path), folders.environ)])
    except (
        HookctlError
    ):  # a stranger's ledger that is none must not keep anybody from an earlier text
        records, record_then = committed.read(folders), None
    key, record = store.find_record(records, path)
    target = _target(folders, records, key, record or record_then, path)
    snapshot = files.read(target.path)
    draft = Draft(sources, target, snapshot, _document(snapshot.data, target), key, record)
    _decide(records, draft, backup.data, record_then)
    return assemble(folders, records, [finish(records, draft)], install=False)


def _decide(
    records: Mapping[str, Record], draft: Draft, data: bytes, record_then: Record | None
) -> None:
    """Keep what the restored text has of ours on record, and take out the files of packs that it has not."""
    record = draft.record
    known = _as_known_then(record, record_then, draft.snapshot) if record_then else record
    current = _live(data, draft.target, known)
    kept = _entries(draft.target, known, current)
    staying = _standing(kept, current)
    kept = tuple(
        entry for entry in kept if entry.kind == "container" or entry.owners.keys() & staying
    )
    kept = tuple(
        entry._replace(owners={p: w for p, w in entry.owners.items() if p in staying})
        for entry in kept
    )
    in_use = {
        pack.folder
        for name, other in records.items()
        if name != draft.key
        for pack in other.packs.values()
    }
    for name, pack in draft.packs.items():
        if name not in staying:
            draft.use_files(runtime_files.uninstall(draft.folders, draft.target, pack, in_use))
    result = None
    if known and staying:
        result = known._replace(
            packs={n: pack for n, pack in known.packs.items() if n in staying}, entries=kept
        )
        if record_then is None:
            # Who wrote it is not known: the text from before our first write is not what an uninstall may put back.
            result = result._replace(sha256_before="", sha256_after=files.digest(data))
    elif record:
        draft.rmdirs += record.created_dirs
    draft.actions += _actions(record, kept, current)
    draft.messages += [*_orphans(current, kept), *_without_files(record, result)]
    draft.entries = kept
    draft.restore(data, result)


def _standing(entries: tuple[Entry, ...], current: Current) -> set[str]:
    """The packs of which something that we wrote stands in the text; what they only adopted does not keep a pack."""
    ours = [entry for entry in entries if entry.kind != "container" and entry.mode == "owned"]
    elements = {owner for entry in ours if entry.id for owner in entry.owners}
    values = [
        entry for entry in ours if engine.state(entry, current, entry.path, entry.id) == "owned"
    ]
    return elements | {owner for entry in values for owner in entry.owners}


def _target(
    folders: Folders, records: Mapping[str, Record], key: str, record: Record | None, path: str
) -> Target:
    if record is not None:
        return of_page(
            hosts.load(record.host),
            record,
            store.current_path(records, key) if key in records else path,
        )
    root = project.find(os.path.dirname(path), folders.environ)
    for host in map(hosts.load, hosts.names()):
        for scope in host.scopes:
            _, settings = standing(host, scope, folders.environ, root)
            if store.real_path(settings) == key:
                return find(host, scope, folders, root if scope != "user" else "")
    # Nothing of ours is installed there: whose it is makes no difference any more.
    return Target(hosts.load(hosts.names()[0]), "user", path)


def _document(data: bytes | None, target: Target) -> Document:
    try:
        return formats.parse(target.host.format, data or b"", where=target.path)
    except HookctlError:
        return formats.parse(target.host.format, b"", where=target.path)


def _live(data: bytes, target: Target, record: Record | None) -> Current:
    """What the text has of ours; nothing where it cannot be read."""
    try:
        document = formats.parse(target.host.format, data, where=target.path)
        return look(target.host, document, (), record.entries if record else ())
    except HookctlError:
        return Current({}, {}, ())


def _as_known_then(now: Record | None, then: Record, there: Snapshot) -> Record:
    """The page that lies beside the backup, with what does not go back in time: where things are, packs as chosen."""
    if now is None:  # uninstalled since: what stands there now is somebody else's
        dirs = tuple(folder for folder in then.created_dirs if not os.path.isdir(folder))
        return then._replace(
            created_file=then.created_file and there.data is None, created_dirs=dirs
        )
    packs = {name: now.packs.get(name, page) for name, page in then.packs.items()}
    return then._replace(
        packs=packs,
        created_file=now.created_file,
        created_dirs=now.created_dirs,
        known_as=now.known_as,
        project=now.project,
    )


def _stands(entry: Entry, current: Current) -> bool:
    at = engine.state(entry, current, entry.path, entry.id)
    return at != "missing" and (at != "adopted" or entry.path in current.values)


def _entries(target: Target, record: Record | None, current: Current) -> tuple[Entry, ...]:
    """The entries that the text has."""
    ours = [entry for entry in (record.entries if record else ()) if entry.kind != "container"]
    kept = [_as_of_then(target, entry, current) for entry in ours if _stands(entry, current)]
    for container in record.entries if record else ():
        above = container.path
        if container.kind == "container" and any(
            entry.path[: len(above)] == above for entry in kept
        ):
            kept.append(container)
    return tuple(kept)


def _actions(
    record: Record | None, kept: tuple[Entry, ...], current: Current
) -> tuple[Action, ...]:
    """A line for each entry that is not ours any more, and for each that is again."""
    before, after = (
        {entry.id or entry.path: entry for entry in entries if entry.kind != "container"}
        for entries in (record.entries if record else (), kept)
    )
    actions = []
    for entry in (entry for name, entry in before.items() if name not in after):
        at = engine.state(entry, current, entry.path, entry.id)
        reason = (
            "it was not ours then"
            if _stands(entry, current)
            else "the restored text does not have it"
        )
        actions.append(
            Action(
                "drop", entry.path, entry.kind, entry.id, at, "free", reason, tuple(entry.owners)
            )
        )
    for entry in (entry for name, entry in after.items() if name not in before):
        at = engine.state(entry, current, entry.path, entry.id)
        owners = tuple(entry.owners)
        actions.append(
            Action(
                "take-back",
                entry.path,
                entry.kind,
                entry.id,
                "free",
                at,
                "it was ours then",
                owners,
            )
        )
    return tuple(actions)


def _as_of_then(target: Target, entry: Entry, current: Current) -> Entry:
    """An element of an earlier form of ours is ours as it was then; else it would pass for an edit."""
    if not entry.id.startswith(f"{GUARD}/"):
        return entry
    fields = next(element.fields for element in current.elements if element.id == entry.id)
    hook = next(
        (hook for hook in packs.load(GUARD).hooks if f"{GUARD}/{hook.id}" == entry.id), None
    )
    forms = guard.command_forms(entry.id, hook.event, target.host) if hook else ""
    if forms and re.fullmatch(forms, str(fields.get("command"))):
        return entry._replace(written={**entry.written, "command": fields["command"]})
    return entry


def _orphans(current: Current, kept: tuple[Entry, ...]) -> tuple[str, ...]:
    known = {entry.id for entry in kept}
    ids = sorted({element.id for element in current.elements if element.id not in known})
    if not ids:
        return ()
    return (
        f"the restored text has {', '.join(ids)}, which is not installed any more; `hookctl doctor` says more",
    )


def _without_files(record: Record | None, result: Record | None) -> tuple[str, ...]:
    """Packs that were uninstalled since come back with their registrations only."""
    known = record.packs if record else {}
    names = [
        name
        for name, page in (result.packs if result else {}).items()
        if name not in known and page.files
    ]
    return tuple(
        f"{name} is registered again, without its files: install or uninstall it" for name in names
    )
