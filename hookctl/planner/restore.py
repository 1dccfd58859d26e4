"""What putting back an earlier text of a settings file does: the ledger keeps up with it in the same transaction."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from hookctl import engine, files, hosts, ledger, packs, project, project_ledger, runtime_files
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.folders import Folders
from hookctl.live import look
from hookctl.model import Action, Decision, Entry, Live, Record
from hookctl.packs import guard
from hookctl.places import GUARD, SCOPES, Place, find, of_page
from hookctl.planner import FilePlan, Plan, assemble


def plan_restore(folders: Folders, path: str, data: bytes) -> Plan:
    """What giving the file these bytes does to it, to the ledger, and to files of packs that it has no more."""
    try:
        records = project_ledger.read(folders, [project.find(os.path.dirname(path), folders.environ)])
    except HookctlError:  # a stranger's ledger that is none must not keep anybody from an earlier text
        records = project_ledger.read(folders)
    key, record = ledger.page_of(records, path)
    place = _place(folders, records, key, record, path)
    snapshot = files.read(place.path)
    live = _live(data, place, record)
    kept, actions = _entries(place, record, live)
    left = _standing(kept, live)
    kept = tuple(entry for entry in kept if entry.kind == "container" or entry.owners.keys() & left)
    kept = tuple(entry._replace(owners={p: w for p, w in entry.owners.items() if p in left}) for entry in kept)
    gone = {name: page for name, page in (record.packs if record else {}).items() if name not in left}
    others = {page.folder for name, other in records.items() if name != key for page in other.packs.values()}
    runtime = [runtime_files.uninstall(folders, place, page, others) for page in gone.values()]
    result = None
    if record and left:
        stay = {name: page for name, page in record.packs.items() if name in left}
        # Whoever wrote in between, the text from before our first write is not what an uninstall may put back now.
        result = record._replace(packs=stay, entries=kept, sha256_before="", sha256_after=files.digest(data))
    plan = FilePlan(
        place, _document(snapshot.data, place.path), data, snapshot.path, snapshot.data, result,
        Decision(entries=kept, actions=actions, kept=tuple(line for one in runtime for line in one.kept)),
        tuple(change for one in runtime for change in one.changes),
        tuple(action for one in runtime for action in one.actions), key,
        tuple(folder for one in runtime for folder in one.rmdirs), _orphans(live, kept),
    )  # fmt: skip
    return assemble(folders, records, [plan], install=False)


def _standing(entries: tuple[Entry, ...], live: Live) -> set[str]:
    """The packs of which something that we wrote stands in the text; what they only adopted does not keep a pack."""
    ours = [entry for entry in entries if entry.kind != "container" and entry.mode == "owned"]
    elements = {owner for entry in ours if entry.id for owner in entry.owners}
    values = [entry for entry in ours if engine.state(entry, live, entry.path, entry.id) == "owned"]
    return elements | {owner for entry in values for owner in entry.owners}


def _place(folders: Folders, records: Mapping[str, Record], key: str, record: Record | None, path: str) -> Place:
    if record is not None:
        return of_page(hosts.load(record.host), record, ledger.place_of(records, key))
    root = project.find(os.path.dirname(path), folders.environ)
    for host in map(hosts.load, hosts.names()):
        for scope in SCOPES:
            settings = hosts.settings_path(host, scope, folders.environ, root)
            if ledger.target_of(settings) == key:
                return find(host, scope, folders, root if scope != "user" else "")
    # Nothing of ours is installed there: whose it is makes no difference any more.
    return Place(hosts.load(hosts.names()[0]), "user", path)


def _document(data: bytes | None, path: str) -> JsonDocument:
    try:
        return JsonDocument.parse(data or b"", where=path)
    except HookctlError:
        return JsonDocument.parse(b"", where=path)


def _live(data: bytes, place: Place, record: Record | None) -> Live:
    """What the text has of ours; nothing where it cannot be read."""
    try:
        return look(JsonDocument.parse(data, where=place.path), (), record.entries if record else ())
    except HookctlError:
        return Live({}, {}, ())


def _entries(place: Place, record: Record | None, live: Live) -> tuple[tuple[Entry, ...], tuple[Action, ...]]:
    """The entries that the text has, and a line for each that it has not."""
    kept: list[Entry] = []
    actions = []
    ours = [entry for entry in (record.entries if record else ()) if entry.kind != "container"]
    for entry in ours:
        at = engine.state(entry, live, entry.path, entry.id)
        if at == "missing" or (at == "adopted" and entry.path not in live.values):
            owners = tuple(entry.owners)
            reason = "the restored text does not have it"
            actions.append(Action("drop", entry.path, entry.kind, entry.id, at, "free", reason, owners))
        else:
            kept.append(_as_of_then(place, entry, live))
    for container in record.entries if record else ():
        above = container.path
        if container.kind == "container" and any(entry.path[: len(above)] == above for entry in kept):
            kept.append(container)
    return tuple(kept), tuple(actions)


def _as_of_then(place: Place, entry: Entry, live: Live) -> Entry:
    """An element of an earlier form of ours is ours as it was then; else it would pass for an edit."""
    if not entry.id.startswith(f"{GUARD}/"):
        return entry
    fields = next(element.fields for element in live.elements if element.id == entry.id)
    hook = next((hook for hook in packs.load(GUARD).hooks if f"{GUARD}/{hook.id}" == entry.id), None)
    forms = guard.command_forms(entry.id, hook.event, place.host) if hook else ""
    if forms and re.fullmatch(forms, str(fields.get("command"))):
        return entry._replace(written={**entry.written, "command": fields["command"]})
    return entry


def _orphans(live: Live, kept: tuple[Entry, ...]) -> tuple[str, ...]:
    known = {entry.id for entry in kept}
    ids = sorted({element.id for element in live.elements if element.id not in known})
    if not ids:
        return ()
    return (f"the restored text has {', '.join(ids)}, which is not installed any more; `hookctl doctor` says more",)
