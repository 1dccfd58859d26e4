"""What an uninstall of packs does."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from functools import partial
from typing import NamedTuple

from hookctl import engine
from hookctl.documents import MISSING, formats
from hookctl.errors import HookctlError
from hookctl.hosts import Host, shapes
from hookctl.ledger import store
from hookctl.ledger.store import Records
from hookctl.masking import masked, masked_text
from hookctl.model import WRAP, Action, DropHook, Entry, PackRecord, Record, Wanted
from hookctl.packs import guard
from hookctl.packs.choices import settings_from
from hookctl.packs.model import Pack
from hookctl.planner.approvals import Approvals
from hookctl.planner.draft import Draft, make_draft, plan_file
from hookctl.planner.hook_env import update_other_packs
from hookctl.planner.own_files import (
    folders_of_others,
    own_top,
    uninstall_files,
    unrecorded_guard,
)
from hookctl.planner.plan import Plan, assemble_plan
from hookctl.planner.rules import RulesBlocks
from hookctl.planner.sources import Sources
from hookctl.planner.wraps import unwrap_hooks
from hookctl.settings.targets import GUARD, Target, config_name, pack_folder
from hookctl.system import files


class Leaving(NamedTuple):
    """A settings file that packs leave, and the key of its record where it is known by that."""

    target: Target
    packs: tuple[str, ...]
    key: str = ""


def plan_uninstall(
    sources: Sources,
    leaving: Iterable[Leaving],
    loaded: Mapping[str, Pack],
    projects: Iterable[str] = (),
    *,
    stops: bool = False,
) -> Plan:
    """Plan to take packs out of settings files.

    `loaded` are the packs whose own file can be read: their hooks are known without a record. What
    is refused is named in the plan and stays; with `stops` it ends the command.
    """
    records = sources.records(projects)
    drafts: list[Draft] = []
    unread: list[HookctlError] = []
    left: list[Leaving] = []
    staying = dict(records)  # the last one to leave a folder of files removes them
    for removal in leaving:
        try:
            draft = _draft_without_packs(sources, records, staying, removal, loaded)
        except HookctlError as error:
            if stops:
                raise
            unread.append(error)
            continue
        drafts.append(draft)
        left.append(removal)
        if draft.key in staying:
            staying[draft.key] = staying[draft.key]._replace(packs=draft.packs)
    approvals = Approvals(sources, records, drafts)
    if sources.has_disabled:
        from hookctl.planner.disable import forget  # late: few have anything disabled

        for draft, removal in zip(drafts, left, strict=True):
            try:
                forget([draft], removal.packs, approvals.open_beside)
            except HookctlError as error:
                approvals.unread.append(error)
    for draft, removal in zip(drafts, left, strict=True):
        approvals.uninstall(draft, removal.packs)
    rules = RulesBlocks(sources, records, drafts)
    for draft, removal in zip(drafts, left, strict=True):
        rules.uninstall(draft, removal.packs, loaded)
    plans = [plan_file(records, draft) for draft in (*approvals.drafts, *rules.drafts)]
    plan = assemble_plan(sources, records, plans, install=False)
    if sources.has_disabled:
        from hookctl.planner.disable import with_book  # late, too

        plan = with_book(sources, plan, approvals.drafts)
    return plan._replace(unread=(*unread, *approvals.unread, *rules.unread))


def _draft_without_packs(
    sources: Sources,
    records: Records,
    staying: Mapping[str, Record],
    removal: Leaving,
    loaded: Mapping[str, Pack],
) -> Draft:
    """The draft of one settings file without the packs; an error says what to remove by hand."""
    target = removal.target
    decide = partial(_decide_on_file, records, staying, removal.packs, loaded)
    key, record = store.find_record(records, target.path)
    if removal.key and key != removal.key:
        # Another record's file stands where this one's was: there is nothing left to edit.
        draft = _draft_of_missing_file(sources, target, removal.key, records[removal.key])
        decide(draft)
        return draft
    try:
        sources.read(target.path, target.host.format)
    except HookctlError as error:
        entries = record.entries if record else ()
        raise _with_manual_steps(error, target.host, entries, removal.packs) from None
    return make_draft(sources, records, target, decide)


def _draft_of_missing_file(sources: Sources, target: Target, key: str, record: Record) -> Draft:
    document = formats.parse(target.host.format, b"", where=key)
    return Draft(sources, target, files.Snapshot(key, None), document, key, record)


def _decide_on_file(
    records: Records,
    others: Mapping[str, Record],
    packs: tuple[str, ...],
    loaded: Mapping[str, Pack],
    draft: Draft,
) -> None:
    """Take the packs out, the last one in the file first, and then their files."""
    known = dict(draft.packs)
    if draft.disabled:
        _drop_disabled(draft, packs)
    if GUARD in packs:
        unwrap_hooks(draft)
    for name in reversed(packs):
        draft.drop_stranded_hooks(name)
        wants = _wants_of(records, draft, loaded.get(name))
        try:
            _take_out(draft, name, wants)
        except HookctlError as error:
            raise _with_manual_steps(error, draft.host, draft.entries, packs) from None
        draft.packs.pop(name, None)
    update_other_packs(draft)
    draft.kept += _describe_placeholders(draft)
    _remove_files(records, others, packs, known, draft)


def _drop_disabled(draft: Draft, packs: tuple[str, ...]) -> None:
    """Take what is disabled of these packs off the record; in the file there is nothing of it."""
    from hookctl.planner.disable import without_packs  # late: few have anything disabled

    rest = without_packs(draft.disabled, packs)
    for entry in draft.disabled:
        if entry not in rest and entry.kind != "container":
            states, owners = ("disabled", "free", "it was disabled"), tuple(entry.owners)
            draft.actions.append(Action("drop", entry.path, entry.kind, entry.id, *states, owners))
    draft.disabled = rest


def _wants_of(records: Records, draft: Draft, pack: Pack | None) -> list[Wanted]:
    """The pack's entries for this file: they identify its hooks where the ledger is lost."""
    if pack is None:
        return []
    known = draft.packs.get(pack.name)
    if pack.name != GUARD:
        from hookctl.packs.runner import find_programs  # late: most are the guard
        from hookctl.packs.wants import wants as pack_wants

        python = str(known.settings.get("python", "")) if known else ""
        folder = known.folder if known else pack_folder(draft.folders, draft.target, pack.name)
        top = own_top(draft.folders, draft.target)
        programs = find_programs(draft.target, folder, top, python)
        wants, _ = pack_wants(pack, draft.host, programs)
        return wants
    settings = guard.everything(settings_from(known.settings if known else {}))
    config = (known and known.config) or _unrecorded_config(records, draft)
    return guard.wants(settings, draft.target, pack, config, guard.wanted_limit(settings))


def _unrecorded_config(records: Records, draft: Draft) -> str:
    """The configuration of a guard without a record."""
    folder = pack_folder(draft.folders, draft.target, GUARD)
    return draft.orphaned or os.path.join(folder, config_name(draft.target, records, draft.key))


def _take_out(draft: Draft, pack: str, wants: list[Wanted]) -> None:
    """Decide what is removed with one pack, and what stays."""
    # Without a record only our hooks are known; without hooks any shape will do.
    root = draft.document.value if isinstance(draft.document.value, dict) else {}
    ids = {hook.id for hook in shapes.elements(draft.host.shape, root)}
    is_orphan = draft.record is None and any(want.id in ids for want in wants)
    visible = draft.pack_entries(wraps=False)
    current = draft.read_current(wants if is_orphan else (), visible, null_is_nothing=True)
    draft.apply_decision(engine.uninstall(visible, current, pack, wants), visible)


def _describe_placeholders(draft: Draft) -> list[Action]:
    """A line for each hook that leaves a placeholder, since the host knows hooks by position."""
    if not draft.host.shape.positions:
        return []
    title = draft.host.title
    reason = f"an empty place stays, since {title} trusts the hooks behind it by their position"
    lines = []
    for edit in draft.edits:
        if not isinstance(edit, DropHook):
            continue
        hook = edit.element
        if draft.document.get(hook.path[:-2]) is not MISSING:
            lines.append(Action("keep", hook.path, "element", hook.id, "owned", "free", reason))
    return lines


def _remove_files(
    records: Records,
    others: Mapping[str, Record],
    packs: tuple[str, ...],
    known: Mapping[str, PackRecord],
    draft: Draft,
) -> None:
    """Remove the packs' files, unless another registration uses them."""
    in_use = folders_of_others(draft.sources, records, others, draft.target, draft.key)
    for name in packs:
        pack_record = known.get(name)
        if pack_record is None and name == GUARD and draft.edits:
            config = _unrecorded_config(records, draft)
            pack_record = unrecorded_guard(draft.folders, draft.target, config)
            # The record of who made the topmost one is lost.
            draft.rmdirs.append(own_top(draft.folders, draft.target))
        if pack_record is not None:
            draft.add_runtime(uninstall_files(draft.sources, draft.target, pack_record, in_use))


def _with_manual_steps(
    error: HookctlError, host: Host, entries: tuple[Entry, ...], packs: tuple[str, ...]
) -> HookctlError:
    """The error with what to remove by hand: what only these packs have in the file."""
    steps = []
    for entry in entries:
        is_only_theirs = entry.owners.keys() <= set(packs)
        if entry.kind != "container" and entry.mode == "owned" and is_only_theirs:
            steps.append(_manual_step(host, entry))
    if steps:
        error.hint = "\n  ".join([f"{error.hint} Or remove by hand:".strip(), *steps])
    return error


def _manual_step(host: Host, entry: Entry) -> str:
    """Where to remove what by hand."""
    if not entry.id:
        container = ".".join(map(str, entry.path[:-1]))
        text = json.dumps(masked({entry.path[-1]: entry.written}))
        return f"in {container}: {text[1:-1]}"
    path, fields = entry.path, entry.written
    registration = host.registration
    if registration.event:  # one list has all hooks
        named = {registration.names.get(name, name): value for name, value in fields.items()}
        path, fields = path[:-1], {registration.event: path[-1], **named}
    where = ".".join(map(str, path))
    step = f"in {where}: {json.dumps(masked(fields), ensure_ascii=False)}"
    if entry.id.startswith(WRAP):
        step += f", and put back {masked_text(entry.before or '')}"
    return step
