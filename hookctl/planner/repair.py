"""What `hookctl doctor --fix` does: it repairs what is ours and keeps the operator's changes.

A file that cannot be read or written is skipped: doctor says why, and the others are fixed.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from hookctl import engine, packs
from hookctl.documents import MISSING
from hookctl.errors import HookctlError
from hookctl.hosts import loading, shapes
from hookctl.hosts.shapes import split_words
from hookctl.ledger.store import Records
from hookctl.model import (
    WRAP,
    Action,
    Current,
    Decision,
    DropHook,
    EditHook,
    Entry,
    HookEntry,
    PackRecord,
    Wanted,
)
from hookctl.packs import guard, wrapping
from hookctl.packs.choices import LIMIT_KEY, MODES, Settings, settings_from
from hookctl.packs.model import MISSING as GONE
from hookctl.packs.model import STALE, run_packs
from hookctl.packs.programs import load_programs
from hookctl.planner.approvals import Approvals
from hookctl.planner.draft import Draft, make_draft, plan_file
from hookctl.planner.plan import Plan, assemble_plan
from hookctl.planner.repair_files import repair_files
from hookctl.planner.runtime_files import is_in_conflict
from hookctl.planner.sources import Sources
from hookctl.settings.targets import (
    GUARD,
    Target,
    pack_folder,
    read_inside,
    require_inside,
)
from hookctl.system import files, interpreter, project


def plan_repair(sources: Sources, targets: Iterable[Target]) -> Plan:
    """Plan the repair of these settings files, their records and the files that they run."""
    existing = []
    for target in targets:
        if not target.project or not sources.once(project.is_away, target.project):
            existing.append(target)
    records, readable = _read_records(sources, existing)
    drafts = []
    for target in readable:
        with contextlib.suppress(HookctlError):
            draft = make_draft(sources, records, target, partial(_decide_on_file, records))
            if draft.actions or draft.file_actions or _runner_needs_repair(sources, records, draft):
                drafts.append(draft)
    approvals = Approvals(sources, records, drafts)
    for draft in drafts:
        for pack in draft.packs:
            approvals.install(draft, pack)
    plans = [plan_file(records, draft) for draft in approvals.drafts]
    return assemble_plan(sources, records, plans, install=True)


def _runner_needs_repair(sources: Sources, records: Records, draft: Draft) -> bool:
    """Whether the runner of the file's packs is not whole, and not by anybody's edit."""
    if draft.record is None or not run_packs(draft.record):
        return False
    from hookctl.packs.runner_faults import find_fault  # late: few have packs
    from hookctl.planner.runner_files import list_files, runtime_folder

    target, folders, host = draft.target, sources.folders, draft.host.name
    folder, project = runtime_folder(folders, target), target.project if target.shared else ""
    expected = list_files(records, project, folders.state)
    read = partial(read_inside, project) if project else files.read
    key, is_merged = ("runner", folder, host), partial(is_in_conflict, target)
    fault = sources.once(find_fault, folder, expected, host, read, is_merged, key=key)
    return fault is not None and fault.kind in (GONE, STALE)


def _read_records(sources: Sources, targets: list[Target]) -> tuple[Records, list[Target]]:
    """The records of all ledgers that can be read, and the targets with one of these."""
    records, unreadable = sources.records(), set()
    for root in dict.fromkeys(target.project for target in targets if target.shared):
        try:
            records.add(sources.records([root]))
        except HookctlError:
            unreadable.add(root)
    readable = []
    for target in targets:
        if not target.shared or target.project not in unreadable:
            readable.append(target)
    return records, readable


def _decide_on_file(records: Records, draft: Draft) -> None:
    """Decide what is repaired in one settings file, and in the files that it runs."""
    target = draft.target
    if target.project:
        require_inside(target.project, target.path)
    loading.require(target.host, draft.before)
    if draft.record is not None and draft.record.scope != target.scope:
        return
    if draft.has_stranded_hooks:  # an install puts them where the host reads them
        return
    version, wants = _adopt_orphan(records, draft)
    orphan = {GUARD: (version, wants)} if version else {}
    current = draft.read_current(wants)
    draft.is_recreated = draft.was_written_since and engine.is_wiped(draft.pack_entries(), current)
    _repair_entries(draft, current, orphan)
    repair_files(draft)
    draft.adds_files = True


# Entries


def _repair_entries(
    draft: Draft, current: Current, orphan: Mapping[str, tuple[str, list[Wanted]]]
) -> None:
    """Repair wiped and doubled entries and a missing Python; change nothing in a read-only file."""
    python, commands = _renewed_commands(draft)
    pythons, of_packs = _renewed_commands_of_packs(draft)
    commands = {**commands, **of_packs}
    visible = entries = draft.pack_entries()
    if engine.is_wiped(entries, current):
        if draft.target.shared and not _has_only_the_guard(draft):
            return
        entries = tuple(_with_claimed_command(entry, commands) for entry in entries)
    decision = engine.repair(entries, current, orphan)
    decision = _with_renewed_commands(decision, current, commands)
    if (decision.edits or draft.placeholders) and _is_read_only(draft):
        draft.packs = dict(draft.record.packs) if draft.record else {}
        return
    if commands.keys() - of_packs:
        pythons[GUARD] = python
    for name in {_pack_of(entry) for entry in decision.entries if _has_command(entry, commands)}:
        pack_record = draft.packs[name]
        settings = {**pack_record.settings, "python": pythons[name]}
        draft.packs[name] = pack_record._replace(settings=settings)
    draft.apply_decision(decision, visible)


def _is_read_only(draft: Draft) -> bool:
    if draft.snapshot.data is None:
        return False
    return draft.sources.once(files.is_read_only, draft.snapshot.path)


def _has_only_the_guard(draft: Draft) -> bool:
    """Whether a committed ledger, which is not trusted, claims only what the guard brings."""
    known = draft.packs.get(GUARD)
    if known is None or set(draft.packs) != {GUARD}:
        return False
    for name, data in load_programs(wrapper=False).all.items():
        path = os.path.join(known.folder, name)
        if draft.sources.once(files.read, path).data not in (None, data):
            return False
    settings = settings_from(known.settings)
    limit = guard.wanted_limit(settings)
    wraps = bool(_wrapped_originals(draft))
    pack = packs.load(GUARD)
    wants = guard.wants(settings, draft.target, pack, known.folder, limit, wraps=wraps)
    wanted = [(want.path, want.value) for want in wants]
    for entry in draft.pack_entries():
        if entry.kind == "container" or entry.id.startswith(WRAP):
            continue
        for claim in entry.owners.values():
            if (entry.path, claim.value) not in wanted:
                return False
    return True


def _renewed_commands(draft: Draft) -> tuple[str, dict[str, str]]:
    """A Python and the guard's commands with it, by their id; none while the old ones run."""
    guard_record = draft.packs.get(GUARD)
    if guard_record is None or draft.target.shared:
        return "", {}
    settings = settings_from(guard_record.settings)
    originals = _wrapped_originals(draft)
    has_hooks = bool(settings.events or originals)
    is_usable = draft.sources.once(interpreter.is_usable, settings.python)
    if not has_hooks or (is_usable and not _runs_elsewhere(draft, guard_record.folder)):
        return "", {}
    python = settings.python if is_usable else draft.sources.python()[0]
    folder, pack = guard_record.folder, packs.load(GUARD)
    settings = settings.with_python(python)
    wants = guard.wants(settings, draft.target, pack, folder, "", wraps=bool(originals))
    commands = {want.id: want.value["command"] for want in wants if want.id}
    for id, original in originals.items():
        if original is not None:
            commands[id] = wrapping.command(original, draft.target, folder, python)
    return python, commands


def _renewed_commands_of_packs(draft: Draft) -> tuple[dict[str, str], dict[str, str]]:
    """The Python of each pack whose commands the runner runs, and those that have to be renewed."""
    pythons: dict[str, str] = {}
    commands: dict[str, str] = {}
    run = run_packs(draft.record) if draft.record and not draft.target.shared else []
    for entry in draft.pack_entries() if run else ():
        if entry.kind != "element" or _pack_of(entry) not in run:
            continue
        from hookctl.packs.runner import find_programs, renew_command  # late: few have packs
        from hookctl.planner.runner_files import runtime_folder

        known, command = draft.packs[_pack_of(entry)], entry.written["command"]
        python = str(known.settings.get("python", ""))
        is_usable = draft.sources.once(interpreter.is_usable, python)
        if is_usable and not guard.lost_program(command):
            continue
        pythons[_pack_of(entry)] = python = python if is_usable else draft.sources.python()[0]
        runtime = runtime_folder(draft.folders, draft.target)
        programs = find_programs(draft.target, known.folder, runtime, python)
        renewed = renew_command(entry.id, command, draft.host, programs)
        if renewed:
            commands[entry.id] = renewed
    return pythons, commands


def _pack_of(entry: Entry) -> str:
    """The pack that an entry's command belongs to."""
    return GUARD if GUARD in entry.owners else entry.id.partition("/")[0]


def _runs_elsewhere(draft: Draft, folder: str) -> bool:
    """Whether a hook of the guard runs a missing program in the guard's former folder."""
    for entry in draft.pack_entries():
        if GUARD in entry.owners and entry.kind == "element":
            program = guard.lost_program(entry.written["command"])
            if program and os.path.dirname(program) != folder:
                return True
    return False


def _wrapped_originals(draft: Draft) -> dict[str, str | None]:
    """The original command of each wrapped hook, by id; None if it cannot be read back."""
    originals = {}
    for entry in draft.pack_entries():
        if entry.id.startswith(WRAP):
            originals[entry.id] = wrapping.original_of(entry.written["command"])
    return originals


def _with_claimed_command(entry: Entry, commands: Mapping[str, str]) -> Entry:
    """The entry, with its pack's claim to it naming the new command."""
    if entry.id not in commands:
        return entry
    claim = entry.owners[_pack_of(entry)]
    claim = claim._replace(value={**claim.value, "command": commands[entry.id]})
    return entry._replace(owners={**entry.owners, _pack_of(entry): claim})


def _with_renewed_commands(
    decision: Decision, current: Current, commands: Mapping[str, str]
) -> Decision:
    """The decision, with new commands in our unedited hooks."""
    removed = [edit.element for edit in decision.edits if isinstance(edit, DropHook)]
    edits, entries, actions = list(decision.edits), [], list(decision.actions)
    for entry in decision.entries:
        hook = _find_unedited(entry, current, removed) if entry.id in commands else None
        if hook:
            fields = {"command": commands[entry.id]}
            reason = "its Python was gone"
            if guard.lost_program(entry.written["command"]):
                reason = "its program was not there"
            edits.append(EditHook(hook, fields))
            entry = _with_claimed_command(entry, commands)
            entry = entry._replace(written={**entry.written, **fields})
            actions.append(_describe_new_command(entry, reason))
        entries.append(entry)
    return decision._replace(edits=tuple(edits), entries=tuple(entries), actions=tuple(actions))


def _describe_new_command(entry: Entry, reason: str) -> Action:
    return Action(
        action="replace",
        path=entry.path,
        kind="element",
        id=entry.id,
        from_state="owned",
        to_state="owned",
        reason=reason,
        owners=tuple(entry.owners),
    )


def _find_unedited(entry: Entry, current: Current, removed: list[HookEntry]) -> HookEntry | None:
    """The hook of an entry, if it still has the command that we wrote and stays."""
    command = entry.written["command"]
    for hook in current.elements:
        is_same = hook.id == entry.id and hook.fields.get("command") == command
        if is_same and hook not in removed:
            return hook
    return None


def _has_command(entry: Entry, commands: Mapping[str, str]) -> bool:
    return entry.id in commands and entry.written["command"] == commands[entry.id]


# A guard without a record


def _adopt_orphan(records: Records, draft: Draft) -> tuple[str, list[Wanted]]:
    """Record a guard whose hook is in the file but not in the ledger; its version and wants.

    This is row 15 of the ownership table. The version is '' where there is no such guard.
    """
    if GUARD in draft.packs:
        return "", []
    pack = packs.load(GUARD)
    for hook in _guard_hooks(draft):
        folder = _folder_of_hook(draft, hook)
        if folder and _is_free_folder(records, draft, folder):
            python = _python_in(str(hook.fields.get("command")), draft.target)
            guard_record = _new_guard_record(folder, python, pack.version)
            draft.packs[GUARD] = guard_record
            settings, limit = settings_from(guard_record.settings), _current_limit(draft)
            return pack.version, guard.wants(settings, draft.target, pack, folder, limit)
    return "", []


def _guard_hooks(draft: Draft) -> list[HookEntry]:
    root = {} if draft.document.value is MISSING else draft.document.value
    ids = _events_by_id()
    return [hook for hook in shapes.elements(draft.host.shape, root) if hook.id in ids]


def _events_by_id() -> dict[str, str]:
    """The event of each of the guard's hooks."""
    return {f"{GUARD}/{hook.id}": hook.event for hook in packs.load(GUARD).hooks}


def _folder_of_hook(draft: Draft, hook: HookEntry) -> str:
    """The folder that a guard's hook runs from, or ''."""
    command, event = str(hook.fields.get("command")), _events_by_id()[hook.id]
    return os.path.dirname(guard.hook_path(command, hook.id, event, draft.target))


def _is_free_folder(records: Records, draft: Draft, folder: str) -> bool:
    """Whether a folder is one that hookctl makes, and no other registration's."""
    if draft.target.shared:
        return folder == pack_folder(draft.folders, draft.target, GUARD, {}, "")
    if os.path.dirname(folder) != os.path.join(draft.folders.data, GUARD):
        return False
    for record in records.values():
        for pack_record in record.packs.values():
            if pack_record.folder == folder:
                return False
    return True


def _python_in(command: str, target: Target) -> str:
    """The interpreter that a command of the guard names, or ''."""
    for id, event in _events_by_id().items():
        match = re.fullmatch(guard.command_forms(id, event, target.host), command)
        if match:
            return "".join(split_words(match["python"] or ""))
    return ""


def _new_guard_record(folder: str, python: str, version: str) -> PackRecord:
    """A record from what is in the folder; unknown settings stay in config.json."""
    mode = guard.current_configuration(PackRecord("", {}, folder)).get("mode")
    if mode not in MODES or mode == "off":
        mode = Settings().mode
    settings: dict[str, Any] = {"mode": mode, "knobs": {}, "python": python, "config": {}}
    return PackRecord(version, settings, folder)


def _current_limit(draft: Draft) -> str:
    path = draft.target.host.env_leaf(LIMIT_KEY)
    value = draft.document.get(path) if path else ""
    return value if isinstance(value, str) else ""
