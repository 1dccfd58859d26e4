"""What takes us out of files: an uninstall, an earlier text put back, the end of 0.2.0's traces."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from functools import partial
from typing import NamedTuple

from hookctl import hosts
from hookctl.documents import MISSING, Document, formats
from hookctl.errors import UNREADABLE, HookctlError
from hookctl.hosts import shapes
from hookctl.model import (
    Action,
    Current,
    Decision,
    DropHook,
    Hooks,
    PackRecord,
    Put,
    Record,
    Wanted,
)
from hookctl.ownership import engine, store
from hookctl.ownership.approvals import Approvals
from hookctl.ownership.codec import parse_object, refusals
from hookctl.ownership.content import find_orphan
from hookctl.ownership.draft import Draft
from hookctl.ownership.own_files import own_top
from hookctl.ownership.records import Plan, assemble_plan, make_draft
from hookctl.ownership.rules import RulesBlocks
from hookctl.ownership.sources import Sources, look
from hookctl.ownership.store import Records
from hookctl.ownership.wraps import unwrap_hooks
from hookctl.packs import guard
from hookctl.packs.choices import Settings, settings_from
from hookctl.packs.model import Pack
from hookctl.settings.targets import (
    GUARD,
    Target,
    active_file,
    config_name,
    find,
    pack_folder,
    require_inside,
    target_of_record,
    variant_of_file,
)
from hookctl.system import files, project
from hookctl.system.files import Backup
from hookctl.system.folders import Folders


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
    drafts: dict[Draft, tuple[str, ...]] = {}  # with the packs that leave
    unread: list[HookctlError] = []
    for target, packs, key in leaving:
        found, record = store.find_record(records, target.path)
        decide = partial(_decide_on_file, records, packs, loaded)
        try:
            if key and key != found:
                # Another record's file stands where this one's was: there is nothing to edit.
                nothing = formats.parse(target.host.format, b"", where=key)
                draft = Draft(
                    sources, target, files.Snapshot(key, None), nothing, key, records[key]
                )
                decide(draft)
            else:
                draft = make_draft(sources, records, target, decide)
        except HookctlError as error:
            if error.exit_code == UNREADABLE:
                _add_manual_steps(error, record, packs)
            if stops:
                raise
            unread.append(error)
            continue
        drafts[draft] = packs
    approvals, rules = Approvals(sources, records, drafts), RulesBlocks(sources, records, drafts)
    if sources.has_disabled:
        from hookctl.ownership.disable import forget  # late: few have anything disabled

        for draft, packs in drafts.items():
            try:
                forget([draft], packs, approvals.open_beside)
            except HookctlError as error:
                approvals.unread.append(error)
    for draft, packs in drafts.items():
        approvals.uninstall(draft, packs)
        rules.uninstall(draft, packs, loaded)
    plan = assemble_plan(records, [*approvals.drafts, *rules.drafts], install=False)
    return plan._replace(unread=(*unread, *approvals.unread, *rules.unread))


def _decide_on_file(
    records: Records, packs: tuple[str, ...], loaded: Mapping[str, Pack], draft: Draft
) -> None:
    """Take the packs out, the last one in the file first."""
    known = dict(draft.packs)
    if draft.taken:
        draft.show_disabled(packs)
    if GUARD in packs:
        unwrap_hooks(draft)
    config = known[GUARD].config if GUARD in known else ""
    if GUARD in packs and not config:
        root = draft.document.value if isinstance(draft.document.value, dict) else {}
        config = find_orphan(draft, records, shapes.elements(draft.host.shape, root))
        folder = pack_folder(draft.folders, draft.target, GUARD)
        config = config or os.path.join(folder, config_name(draft.target, records, draft.key))
    for name in reversed(packs):
        draft.drop_stranded_hooks(name)
        _take_out(draft, name, _wants_of(draft, loaded.get(name), config))
        draft.packs.pop(name, None)
    title = draft.host.title
    reason = f"an empty place stays, since {title} trusts the hooks behind it by their position"
    dropped = [edit.element for edit in draft.edits if isinstance(edit, DropHook)]
    for hook in dropped if draft.host.shape.positions else ():
        if draft.document.get(hook.path[:-2]) is not MISSING:
            line = Action("keep", hook.path, "element", hook.id, "owned", "free", reason)
            draft.kept.append(line)
    if GUARD in packs and GUARD not in known and draft.edits:
        state = "" if draft.target.shared else draft.folders.state
        values = guard.configuration(Settings(), state, draft.host)
        folder, name = os.path.split(config)
        draft.lost[GUARD] = PackRecord("", {"config": values}, folder, (name,))
        # The record of who made the topmost one is lost.
        draft.rmdirs.append(own_top(draft.folders, draft.target))


def _wants_of(draft: Draft, pack: Pack | None, config: str) -> list[Wanted]:
    """The pack's entries for this file: they identify its hooks where the ledger is lost."""
    if pack is None:
        return []
    known = draft.packs.get(pack.name)
    if pack.name != GUARD:
        from hookctl.packs.runner import find_programs  # late: most are the guard
        from hookctl.packs.runner import wants as pack_wants

        python = str(known.settings.get("python", "")) if known else ""
        folder = known.folder if known else pack_folder(draft.folders, draft.target, pack.name)
        top = own_top(draft.folders, draft.target)
        programs = find_programs(draft.target, folder, top, python)
        return pack_wants(pack, draft.host, programs)[0]
    settings = guard.everything(settings_from(known.settings if known else {}))
    return guard.wants(settings, draft.target, pack, config, guard.wanted_limit(settings))


def _take_out(draft: Draft, pack: str, wants: list[Wanted]) -> None:
    # Without a record only our hooks are known; without hooks any shape will do.
    root = draft.document.value if isinstance(draft.document.value, dict) else {}
    ids = {hook.id for hook in shapes.elements(draft.host.shape, root)}
    is_orphan = draft.known is None and any(want.id in ids for want in wants)
    visible = draft.pack_entries()
    current = look(
        draft.host, draft.document, wants if is_orphan else (), visible, null_is_nothing=True
    )
    draft.apply_decision(engine.uninstall(visible, current, pack, wants), visible)


def _add_manual_steps(error: HookctlError, record: Record | None, packs: tuple[str, ...]) -> None:
    """Say what to remove by hand: what only these packs have in the file."""
    entries = record.entries if record else ()
    names = []
    for entry in entries:
        if entry.kind != "container" and entry.mode == "owned" and {*entry.owners} <= {*packs}:
            names.append(f"hookctl={entry.id}" if entry.id else ".".join(map(str, entry.path)))
    if names:
        error.hint = f"{error.hint} Or remove by hand: {', '.join(names)}.".strip()


_HINT = "Move it away: the traced hooks run by themselves."


class TracedFile(NamedTuple):
    """A settings file with such hooks."""

    target: Target
    own: dict[str, str]  # the source text of each hook's own command, by the command of 0.2.0


def read_traced(folders: Folders) -> list[TracedFile]:
    """The files with traced hooks; refuses a record that hookctl did not write."""
    path, traced = folders.traces, []
    with refusals("hookctl's record of traced hooks", path, _HINT):
        stored = parse_object(files.read(path).data or b"", "traces_version", path)
        for file in stored["files"].values():
            known_as, project = folders.resolve(file["known_as"]), file.get("project", "")
            host = variant_of_file(hosts.load(file["host"]), known_as)
            target = Target(host, file["scope"], known_as, project and folders.resolve(project))
            own = {hook["command"]: hook["before"] for hook in file["hooks"]}
            traced.append(TracedFile(target, own))
    return traced


def plan_end(sources: Sources, file: TracedFile) -> Plan:
    """Plan to give the hooks of a file their own commands; one that somebody edited stays."""
    if file.target.project:
        require_inside(file.target.project, file.target.path)
    records = sources.records()
    draft = make_draft(sources, records, file.target)
    _end_hooks(draft, file.own)
    return assemble_plan(records, [draft], install=False)


def _end_hooks(draft: Draft, own: dict[str, str]) -> None:
    root = {} if draft.document.value is MISSING else draft.document.value
    edits, actions = [], []
    for path, fields, _ in shapes.handlers(draft.host.shape, root):
        for key in draft.host.registration.commands:
            command = fields.get(key)
            if isinstance(command, str) and command in own:
                edits.append(Put((*path, key), raw=own[command]))
                reason = "traced until now: its own command again"
                actions.append(Action("replace", path, "element", reason=reason))
    draft.apply_decision(Decision(tuple(edits), draft.entries, tuple(actions)), draft.entries)


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
    _decide_to_restore(draft, backup.data, record_then)
    return assemble_plan(records, [draft], install=False)


def _decide_to_restore(draft: Draft, data: bytes, then: Record | None) -> None:
    """Record what was ours in the restored text."""
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
    if record and result is None:
        draft.rmdirs += record.created_dirs
    draft.entries = result.entries if result else ()
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
