"""What putting back an earlier text of a settings file does: to the file, and to the ledger."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from hookctl import engine, hosts, packs
from hookctl.documents import Document, formats
from hookctl.errors import HookctlError
from hookctl.ledger import store
from hookctl.ledger.store import Records
from hookctl.model import Action, Current, Entry, Hooks, Record
from hookctl.packs import guard
from hookctl.planner.draft import Draft, plan_file
from hookctl.planner.own_files import folders_of_others, uninstall_files
from hookctl.planner.plan import Plan, assemble_plan
from hookctl.planner.sources import Sources, look
from hookctl.settings.targets import GUARD, Target, active_file, find, target_of_record
from hookctl.system import files, project
from hookctl.system.backups import Backup


def plan_restore(sources: Sources, path: str, backup: Backup) -> Plan:
    """Plan to put a backup back, with its record, and without files of packs that it has not."""
    folders = sources.folders
    record_then = store.parse_record(folders, backup.page)
    try:
        records = sources.records([_project_of(sources, path)])
    except HookctlError:
        # A broken ledger of a project must not prevent a restore.
        records, record_then = sources.records(), None
    key, record = store.find_record(records, path)
    target = _find_target(sources, records, key, record or record_then, path)
    snapshot = files.read_settled(target.path)
    document = _parse_or_empty(snapshot.data, target)
    draft = Draft(sources, target, snapshot, document, key, record)
    _decide_on_file(records, draft, backup.data, record_then)
    return assemble_plan(sources, records, [plan_file(records, draft)], install=False)


def _decide_on_file(
    records: Records, draft: Draft, data: bytes, record_then: Record | None
) -> None:
    """Record what the restored text has of ours, and remove the files of packs that it has not."""
    record = draft.record
    known = _with_todays_facts(draft, record_then) if record_then else record
    current = _read_current(data, draft.target, known)
    entries = _entries_in_text(draft.target, known, current)
    remaining = _remaining_packs(entries, current)
    entries = _entries_of_packs(entries, remaining)
    in_use = folders_of_others(draft.sources, records, records, draft.target, draft.key)
    for name, pack_record in draft.packs.items():
        if name not in remaining:
            draft.add_runtime(uninstall_files(draft.sources, draft.target, pack_record, in_use))
    result = None
    if known and remaining:
        result = _restored_record(known, entries, remaining)
        if record_then is None:
            # The author of this text is unknown: an uninstall must not restore earlier bytes.
            result = result._replace(sha256_before="", sha256_after=files.digest(data))
    elif record:
        draft.rmdirs += record.created_dirs
    draft.actions += _describe_changes(record, entries, current)
    draft.tell("orphan_hook", *_report_orphans(current, entries))
    draft.tell("hook_missing", *_report_missing_files(record, result))
    draft.entries = entries
    draft.restore(data, result)


def _restored_record(known: Record, entries: tuple[Entry, ...], remaining: set[str]) -> Record:
    packs = {name: known.packs[name] for name in known.packs if name in remaining}
    return known._replace(packs=packs, entries=entries)


def _remaining_packs(entries: tuple[Entry, ...], current: Current) -> set[str]:
    """The packs that wrote entries of the text; adopted values do not count."""
    remaining: set[str] = set()
    for entry in entries:
        if entry.kind == "container" or entry.mode != "owned":
            continue
        if entry.id or _state_in_text(entry, current) == "owned":
            remaining.update(entry.owners)
    return remaining


def _entries_of_packs(entries: tuple[Entry, ...], remaining: set[str]) -> tuple[Entry, ...]:
    """The entries that these packs own, with no other owner, and all containers."""
    kept = []
    for entry in entries:
        owners = {pack: claim for pack, claim in entry.owners.items() if pack in remaining}
        if owners or entry.kind == "container":
            kept.append(entry._replace(owners=owners))
    return tuple(kept)


def _project_of(sources: Sources, path: str) -> str:
    return project.find(os.path.dirname(path), sources.folders.environ)


def _find_target(
    sources: Sources, records: Mapping[str, Record], key: str, record: Record | None, path: str
) -> Target:
    """The target that a settings file is: by its record, or else by its path."""
    if record is not None:
        now = store.current_path(records, key) if key in records else path
        return target_of_record(hosts.load(record.host), record, now)
    folders, root = sources.folders, _project_of(sources, path)
    for host in map(hosts.load, hosts.names()):
        for scope in host.scopes:
            _, settings = active_file(host, scope, folders.environ, root)
            if store.real_path(settings) == key:
                return find(host, scope, folders, "" if scope == "user" else root)
    # Nothing of ours is installed there, so any host will do.
    return Target(hosts.load(hosts.names()[0]), "user", path)


def _parse_or_empty(data: bytes | None, target: Target) -> Document:
    try:
        return formats.parse(target.host.format, data or b"", where=target.path)
    except HookctlError:
        return formats.parse(target.host.format, b"", where=target.path)


def _read_current(data: bytes, target: Target, record: Record | None) -> Current:
    """What the text has of ours; nothing where it cannot be read."""
    try:
        document = formats.parse(target.host.format, data, where=target.path)
        return look(target.host, document, (), _entries_of(record))
    except HookctlError:
        return Current({}, {}, Hooks())


def _entries_of(record: Record | None) -> tuple[Entry, ...]:
    return record.entries if record else ()


def _with_todays_facts(draft: Draft, then: Record) -> Record:
    """The earlier record with today's facts: current paths, and packs as chosen now."""
    now, is_there = draft.record, os.path.isdir
    if now is None:
        # It was uninstalled since: what exists now is not ours.
        created_dirs = [folder for folder in then.created_dirs if not is_there(folder)]
        created_file = then.created_file and draft.snapshot.data is None
        return then._replace(created_file=created_file, created_dirs=tuple(created_dirs))
    return then._replace(
        packs={name: now.packs.get(name, then.packs[name]) for name in then.packs},
        created_file=now.created_file,
        created_dirs=now.created_dirs,
        known_as=now.known_as,
        project=now.project,
    )


def _state_in_text(entry: Entry, current: Current) -> str:
    return engine.state(entry, current, entry.path, entry.id)


def _is_in_text(entry: Entry, current: Current) -> bool:
    state = _state_in_text(entry, current)
    if state == "adopted":
        return entry.path in current.values
    return state != "missing"


def _entries_in_text(target: Target, record: Record | None, current: Current) -> tuple[Entry, ...]:
    """The entries that the text has, and then the containers that they are in."""
    kept = []
    for entry in _entries_of(record):
        if entry.kind != "container" and _is_in_text(entry, current):
            kept.append(_with_earlier_command(target, entry, current))
    containers = []
    for entry in _entries_of(record):
        if entry.kind == "container" and _contains_any(entry, kept):
            containers.append(entry)
    return (*kept, *containers)


def _contains_any(container: Entry, entries: Iterable[Entry]) -> bool:
    length = len(container.path)
    return any(entry.path[:length] == container.path for entry in entries)


def _describe_changes(
    record: Record | None, kept: tuple[Entry, ...], current: Current
) -> list[Action]:
    """A line for each entry that is not ours any more, and for each that is ours again."""
    before, after = _entries_by_name(_entries_of(record)), _entries_by_name(kept)
    actions = []
    for name, entry in before.items():
        if name not in after:
            reason = "the restored text does not have it"
            if _is_in_text(entry, current):
                reason = "it was not ours then"
            state = _state_in_text(entry, current)
            actions.append(_line("drop", entry, state, "free", reason))
    for name, entry in after.items():
        if name not in before:
            state = _state_in_text(entry, current)
            actions.append(_line("take-back", entry, "free", state, "it was ours then"))
    return actions


def _entries_by_name(entries: Iterable[Entry]) -> dict[object, Entry]:
    """The hooks by their id, since they may move, and the values by their path."""
    return {entry.id or entry.path: entry for entry in entries if entry.kind != "container"}


def _line(action: str, entry: Entry, before: str, after: str, reason: str) -> Action:
    owners = tuple(entry.owners)
    return Action(action, entry.path, entry.kind, entry.id, before, after, reason, owners)


def _with_earlier_command(target: Target, entry: Entry, current: Current) -> Entry:
    """The entry with the command of an earlier version, which must not look like an edit."""
    if not entry.id.startswith(f"{GUARD}/"):
        return entry
    hooks = current.elements.by_id.get(entry.id, [])
    commands = [hook.fields.get("command") for hook in hooks]
    for hook in packs.load(GUARD).hooks:
        if f"{GUARD}/{hook.id}" != entry.id:
            continue
        forms = guard.command_forms(entry.id, hook.event, target.host)
        if forms and re.fullmatch(forms, str(commands[0])):
            return entry._replace(written={**entry.written, "command": commands[0]})
    return entry


def _report_orphans(current: Current, kept: tuple[Entry, ...]) -> list[str]:
    known = {entry.id for entry in kept}
    orphans = sorted({hook.id for hook in current.elements if hook.id not in known})
    if not orphans:
        return []
    return [
        f"the restored text has {', '.join(orphans)}, which is not installed any more; "
        "`hookctl doctor` says more"
    ]


def _report_missing_files(record: Record | None, result: Record | None) -> list[str]:
    """Report that packs uninstalled since come back only as registrations, without their files."""
    known = record.packs if record else {}
    restored = result.packs if result else {}
    messages = []
    for name, pack_record in restored.items():
        if name not in known and pack_record.files:
            messages.append(
                f"{name} is registered again, without its files: install or uninstall it"
            )
    return messages
