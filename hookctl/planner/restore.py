"""What putting back an earlier text of a settings file does: to the file, and to the ledger."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

from hookctl import engine, hosts
from hookctl.documents import Document, formats
from hookctl.errors import HookctlError
from hookctl.ledger import store
from hookctl.ledger.store import Records
from hookctl.model import Action, Current, Entry, Hooks, Record
from hookctl.planner.draft import Draft
from hookctl.planner.own_files import folders_of_others, uninstall_files
from hookctl.planner.records import Plan, assemble_plan
from hookctl.planner.sources import Sources, look
from hookctl.settings.targets import Target, active_file, find, target_of_record
from hookctl.system import files, project
from hookctl.system.backups import Backup


def plan_restore(sources: Sources, path: str, backup: Backup) -> Plan:
    """Plan to put a backup back, with its record, and without files of packs that it has not."""
    folders = sources.folders
    record_then = store.parse_record(folders, backup.page)
    try:
        records = sources.records([project.find(os.path.dirname(path), sources.folders.environ)])
    except HookctlError:
        # A broken ledger of a project must not prevent a restore.
        records, record_then = sources.records(), None
    key, record = store.find_record(records, path)
    target = _find_target(sources, records, key, record or record_then, path)
    snapshot = files.read_settled(target.path)
    empty = formats.parse(target.host.format, b"", where=target.path)
    document = _parse(snapshot.data or b"", target) or empty
    draft = Draft(sources, target, snapshot, document, key, record)
    _decide_on_file(records, draft, backup.data, record_then)
    return assemble_plan(records, [draft], install=False)


def _decide_on_file(records: Records, draft: Draft, data: bytes, then: Record | None) -> None:
    """Record what was ours in the restored text, and remove the files of packs that it has not."""
    record, result = draft.known, _with_todays_facts(draft, then) if then else None
    known = (*(record.entries if record else ()), *(result.entries if result else ()))
    current, restored = Current({}, {}, Hooks()), _parse(data, draft.target)
    with contextlib.suppress(HookctlError):
        if restored is not None:
            current = look(draft.host, restored, (), known)
    ids = {hook.id for hook in current.elements}
    if result is None and record and any(entry.id in ids for entry in known):
        # The author of this text is unknown: an uninstall must not restore earlier bytes.
        result = record._replace(sha256_before="", sha256_after=files.digest(data))
    packs_before = record.packs if record else {}
    packs_after = result.packs if result else {}
    in_use = folders_of_others(records, draft.key)
    for name, pack in packs_before.items():
        if name not in packs_after:
            uninstall_files(draft, pack, in_use)
    if record and result is None:
        draft.rmdirs += record.created_dirs
    draft.entries = result.entries if result else ()
    draft.actions += _describe_changes(record, draft.entries, current)
    orphans = sorted(ids - {entry.id for entry in draft.entries})
    if orphans:
        text = f"the restored text has {', '.join(orphans)}, which is not installed any more"
        draft.tell("orphan_hook", f"{text}; `hookctl doctor` says more")
    for name, pack in packs_after.items():
        if name not in packs_before and pack.files:
            text = f"{name} is registered again, without its files: install or uninstall it"
            draft.tell("hook_missing", text)
    draft.restored = data, result


def _find_target(
    sources: Sources, records: Mapping[str, Record], key: str, record: Record | None, path: str
) -> Target:
    """The target that a settings file is: by its record, or else by its path."""
    if record is not None:
        now = store.current_path(records, key) if key in records else path
        return target_of_record(hosts.load(record.host), record, now)
    folders, root = sources.folders, project.find(os.path.dirname(path), sources.folders.environ)
    for host in map(hosts.load, hosts.names()):
        for scope in host.scopes:
            _, settings = active_file(host, scope, folders.environ, root)
            if store.real_path(settings) == key:
                return find(host, scope, folders, "" if scope == "user" else root)
    # Nothing of ours is installed there, so any host will do.
    return Target(hosts.load(hosts.names()[0]), "user", path)


def _parse(data: bytes, target: Target) -> Document | None:
    try:
        return formats.parse(target.host.format, data, where=target.path)
    except HookctlError:
        return None


def _with_todays_facts(draft: Draft, then: Record) -> Record:
    """The earlier record with today's facts: current paths, and packs as chosen now."""
    now, is_there = draft.known, os.path.isdir
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


def _describe_changes(
    record: Record | None, entries: tuple[Entry, ...], current: Current
) -> list[Action]:
    """A line for each entry that is not ours any more, and for each that is ours again."""
    before, after = [
        {entry.id or entry.path: entry for entry in each if entry.kind != "container"}
        for each in (record.entries if record else (), entries)
    ]
    actions = []
    for name, entry in {**before, **after}.items():
        if name in before and name in after:
            continue
        state = engine.state(entry, current, entry.path, entry.id)
        line = ("take-back", "free", state, "it was ours then")
        if name in before:
            is_there = entry.path in current.values if state == "adopted" else state != "missing"
            reason = "it was not ours then" if is_there else "the restored text does not have it"
            line = ("drop", state, "free", reason)
        act, was, to, reason = line
        owners = tuple(entry.owners)
        actions.append(Action(act, entry.path, entry.kind, entry.id, was, to, reason, owners))
    return actions
