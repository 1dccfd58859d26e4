"""What `hookctl doctor --fix` does: put right what is ours, and nothing that the operator has.

A file that cannot be read or written is passed over: doctor says why, and the others are mended all the same.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from functools import partial

from hookctl import engine, packs
from hookctl.documents import MISSING
from hookctl.errors import HookctlError
from hookctl.hosts import reading, shapes
from hookctl.ledger import committed
from hookctl.ledger.committed import Records
from hookctl.model import (
    Action,
    Current,
    Decision,
    DropElement,
    EditElement,
    Entry,
    HookEntry,
    PackRecord,
    Wanted,
)
from hookctl.packs import guard, wrapping
from hookctl.packs.choices import LIMIT_KEY, MODES, Settings, settings_from
from hookctl.packs.programs import load_programs
from hookctl.packs.wrapping import wraps
from hookctl.planner.approvals import Approvals, written_hooks
from hookctl.planner.draft import Draft, finish, settle
from hookctl.planner.plan import Plan, assemble
from hookctl.planner.repair_files import repair_files
from hookctl.settings.sources import Sources
from hookctl.settings.targets import GUARD, Target, pack_folder, require_inside
from hookctl.system import files, interpreter
from hookctl.system.folders import Folders


def plan_repair(sources: Sources, targets: Iterable[Target]) -> Plan:
    """What mending these settings files, their records and the files that they run would do."""
    folders = sources.folders
    targets = [target for target in targets if not target.project or os.path.isdir(target.project)]
    records, readable = _records(folders, targets)
    drafts = []
    for target in readable:
        with contextlib.suppress(HookctlError):
            draft = settle(sources, records, target, partial(_decide, records))
            if draft.actions or draft.file_actions:
                drafts.append(draft)
    approvals = Approvals(sources, records, drafts)
    for draft in drafts:
        for pack in draft.packs if draft.commands else ():
            approvals.install(draft, pack, ask=False)
    return assemble(
        folders, records, [finish(records, draft) for draft in approvals.drafts], install=True
    )


def _records(folders: Folders, targets: list[Target]) -> tuple[Records, list[Target]]:
    """The records of all ledgers that can be read, and the places whose ledger is among them."""
    records, hopeless = committed.read(folders), set()
    for project in dict.fromkeys(target.project for target in targets if target.shared):
        try:
            records |= committed.read(folders, [project])
        except HookctlError:
            hopeless.add(project)
    return records, [
        target for target in targets if not (target.shared and target.project in hopeless)
    ]


def _decide(records: Records, draft: Draft) -> None:
    """Decide what is to be mended in one settings file, and in the files that it runs."""
    target = draft.target
    if target.project:
        require_inside(target.project, target.path)
    reading.require(target.host, draft.before)
    if draft.record is not None and draft.record.scope != target.scope:
        return
    orphan = _orphan(records, draft)
    current = draft.look([want for _, wants in orphan.values() for want in wants])
    draft.made_anew = draft.was_written_since and engine.wiped(draft.own_entries(), current)
    _repair_entries(draft, current, orphan)
    repair_files(draft)
    draft.adds_files = True
    draft.commands = written_hooks(target, draft.own_entries())


# Entries


def _repair_entries(
    draft: Draft, current: Current, orphan: Mapping[str, tuple[str, list[Wanted]]]
) -> None:
    """Wiped entries, doubled ones, a Python that is gone; nothing in a read-only file."""
    python, commands = _new_commands(draft)
    visible = entries = draft.own_entries()
    if engine.wiped(entries, current):
        if draft.target.shared and not _are_all_ours(draft):
            return
        entries = tuple(_wishing(entry, commands) for entry in entries)
    decision = _recalled(engine.repair(entries, current, orphan), current, commands)
    if (
        decision.edits
        and draft.snapshot.data is not None
        and files.is_read_only(draft.snapshot.path)
    ):
        draft.packs = dict(draft.record.packs) if draft.record else {}
        return
    if commands and any(_calls(entry, commands) for entry in decision.entries):
        page = draft.packs[GUARD]
        draft.packs[GUARD] = page._replace(settings={**page.settings, "python": python})
    draft.take(decision, visible)


def _are_all_ours(draft: Draft) -> bool:
    """Whether a committed ledger, a stranger's word, wants nothing but the guard's own entries and programs again."""
    known = draft.packs.get(GUARD)
    if known is None or set(draft.packs) != {GUARD}:
        return False
    for name, ours in load_programs(wrapper=False).all.items():
        if files.read(os.path.join(known.folder, name)).data not in (None, ours):
            return False
    settings = settings_from(known.settings)
    limit = guard.wanted_limit(settings)
    wants = guard.wants(settings, draft.target, packs.load(GUARD), known.folder, limit)
    good = [(want.path, want.value) for want in wants]
    entries = [
        entry for entry in draft.own_entries() if entry.kind != "container" and not wraps(entry.id)
    ]
    return all(
        (entry.path, claim.value) in good for entry in entries for claim in entry.owners.values()
    )


def _new_commands(draft: Draft) -> tuple[str, dict[str, str]]:
    """Another Python and the guard's commands with it, by their id; none where the one that they name is there."""
    page = draft.packs.get(GUARD)
    settings = settings_from(page.settings) if page else Settings(mode="off")
    wrapped = {}
    for entry in draft.own_entries():
        if wraps(entry.id):
            wrapped[entry.id] = wrapping.original_of(entry.written["command"])
    if (
        page is None
        or not (settings.events or wrapped)
        or draft.target.shared
        or interpreter.runs(settings.python)
    ):
        return "", {}
    python, _ = draft.sources.python()
    wants = guard.wants(
        settings.with_python(python), draft.target, packs.load(GUARD), page.folder, ""
    )
    found = {want.id: want.value["command"] for want in wants if want.id}
    for id, original in wrapped.items():
        if original is not None:
            found[id] = wrapping.command(original, draft.target, page.folder, python)
    return python, found


def _wishing(entry: Entry, commands: Mapping[str, str]) -> Entry:
    if entry.id not in commands:
        return entry
    claim = entry.owners[GUARD]
    claim = claim._replace(value={**claim.value, "command": commands[entry.id]})
    return entry._replace(owners={**entry.owners, GUARD: claim})


def _recalled(decision: Decision, current: Current, commands: Mapping[str, str]) -> Decision:
    """The decision with new commands in the elements of ours that still have the old one, word for word."""
    going = [edit.element for edit in decision.edits if isinstance(edit, DropElement)]
    edits, entries, actions = list(decision.edits), [], list(decision.actions)
    for entry in decision.entries:
        element = _still_ours(entry, current, going) if entry.id in commands else None
        if element:
            command = {"command": commands[entry.id]}
            edits.append(EditElement(element, command))
            entry = _wishing(entry, commands)._replace(written={**entry.written, **command})
            states = ("owned", "owned", "its Python was gone")
            actions.append(
                Action("replace", entry.path, "element", entry.id, *states, tuple(entry.owners))
            )
        entries.append(entry)
    return decision._replace(edits=tuple(edits), entries=tuple(entries), actions=tuple(actions))


def _still_ours(entry: Entry, current: Current, going: list[HookEntry]) -> HookEntry | None:
    command = entry.written["command"]
    same = (
        e
        for e in current.elements
        if e.id == entry.id and e.fields.get("command") == command and e not in going
    )
    return next(same, None)


def _calls(entry: Entry, commands: Mapping[str, str]) -> bool:
    return entry.id in commands and entry.written["command"] == commands[entry.id]


def _python_of(command: str, target: Target) -> str:
    """The interpreter that a command of the guard's names."""
    for hook in packs.load(GUARD).hooks:
        match = re.fullmatch(
            guard.command_forms(f"{GUARD}/{hook.id}", hook.event, target.host), command
        )
        if match:
            return "".join(shlex.split(match["python"] or ""))
    return ""


def _orphan(records: Records, draft: Draft) -> dict[str, tuple[str, list[Wanted]]]:
    """The guard, where one of its hooks stands in the file and the ledger has no page of it (row 15)."""
    if GUARD in draft.packs:
        return {}
    root = {} if draft.document.value is MISSING else draft.document.value
    pack = packs.load(GUARD)
    events = {f"{GUARD}/{hook.id}": hook.event for hook in pack.hooks}
    for element in shapes.elements(draft.target.host.shape, root):
        command = str(element.fields.get("command"))
        hook = (
            guard.hook_path(command, element.id, events[element.id], draft.target)
            if element.id in events
            else ""
        )
        if hook and _is_own_folder(records, draft, os.path.dirname(hook)):
            page = _new_page(
                draft, os.path.dirname(hook), _python_of(command, draft.target), pack.version
            )
            settings, limit = settings_from(page.settings), _limit(draft)
            draft.packs[GUARD] = page
            return {
                GUARD: (pack.version, guard.wants(settings, draft.target, pack, page.folder, limit))
            }
    return {}


def _is_own_folder(records: Records, draft: Draft, folder: str) -> bool:
    """Whether a registration's folder is one that hookctl makes, and no other registration's."""
    if draft.target.shared:
        return folder == pack_folder(draft.folders, draft.target, GUARD, {}, "")
    taken = {page.folder for record in records.values() for page in record.packs.values()}
    return (
        os.path.dirname(folder) == os.path.join(draft.folders.data, GUARD) and folder not in taken
    )


def _new_page(draft: Draft, folder: str, python: str, version: str) -> PackRecord:
    """A page from what is there; the knobs that were chosen are not known any more, and stay in config.json."""
    found = guard.current_configuration(PackRecord("", {}, folder)).get("mode")
    chosen = found if found in MODES and found != "off" else Settings().mode
    return PackRecord(
        version, {"mode": chosen, "knobs": {}, "python": python, "config": {}}, folder
    )


def _limit(draft: Draft) -> str:
    path = draft.target.host.env_leaf(LIMIT_KEY)
    value = draft.document.get(path) if path else ""
    return value if isinstance(value, str) else ""
