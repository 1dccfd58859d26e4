"""What an install of a pack does: what the pack wants in a file, decided by the engine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial

from hookctl import engine
from hookctl.documents import formats
from hookctl.errors import FAILED, USAGE, HookctlError
from hookctl.hosts import load, reading, shapes
from hookctl.ledger import committed, version1
from hookctl.ledger.committed import Records
from hookctl.model import PackRecord, Wanted
from hookctl.packs.choices import Request, Settings, choose
from hookctl.packs.model import Pack
from hookctl.planner import runtime_files
from hookctl.planner.approvals import Approvals, written_hooks
from hookctl.planner.content import Choice, Content, guard_content, pack_content
from hookctl.planner.draft import Draft, finish, settle
from hookctl.planner.notices import notices
from hookctl.planner.plan import Plan, assemble
from hookctl.planner.runtime_files import CONFIG
from hookctl.settings.sources import Sources
from hookctl.settings.targets import GUARD, Target, all_files, pack_folder, require_inside


def plan_install(
    sources: Sources,
    pack: Pack,
    targets: Iterable[Target],
    choice: Choice,
    looking: Callable[[Target], None] | None = None,
) -> Plan:
    """What an install of the pack at these places would do; `looking` hears of each place before it is read."""
    targets = tuple(targets)
    records = committed.read(
        sources.folders, [target.project for target in targets if target.shared]
    )
    decide = partial(_decide, records, pack, choice)
    drafts = []
    for target in targets:
        if looking:
            looking(target)
        _require_the_others_readable(sources, target)
        drafts.append(settle(sources, records, target, decide))
    approvals = Approvals(sources, records, drafts)
    for draft in drafts:
        if not draft.conflicts:
            approvals.install(draft, pack.name, ask=choice.trust)
            for other in draft.packs:
                if other != pack.name:
                    approvals.follow(draft, other)
    return assemble(
        sources.folders,
        records,
        [finish(records, draft) for draft in approvals.drafts],
        install=True,
    )


def check(pack: Pack, request: Request) -> None:
    """Refuse what this pack cannot be told: a slip on the command line is said before anything that a file has."""
    if pack.name == GUARD:
        choose(Settings(), request)
    elif request.option:
        message = f"{request.option} is for the guard, not for {pack.name}"
        hint = f"Change {pack.source}, or leave {request.option} out."
        raise HookctlError("usage", message, hint=hint, exit_code=USAGE)


def _require_the_others_readable(sources: Sources, target: Target) -> None:
    """Refuse where another file of the scope is broken: what it says decides which of them our hooks go into."""
    if not target.host.has_variants:
        return  # such a host has one file a scope
    for other, path in all_files(
        load(target.host.name), target.scope, sources.folders.environ, target.project
    ):
        if path != target.path and os.path.lexists(path):
            sources.read(path, other.format)


def _decide(records: Records, pack: Pack, choice: Choice, draft: Draft) -> None:
    """Decide on one settings file, and on the pack's own files."""
    target = draft.target
    reading.require(target.host, draft.before)
    known = draft.packs.get(pack.name)
    folder = _folder(records, pack, draft)
    if target.shared:
        require_inside(target.project, os.path.join(folder, CONFIG))
    content = (
        guard_content(draft, pack, choice, folder)
        if pack.name == GUARD
        else pack_content(draft, pack, folder)
    )
    wraps_more = bool(draft.edits)
    _decide_on_entries(draft, pack, content, force=choice.force)
    if draft.conflicts:
        return
    runtime = _install_files(draft, pack, content, folder, force=choice.force)
    if target.shared and (choice.trust or wraps_more or draft.adds_hooks):
        _require_own_programs(pack, runtime)
    installed = PackRecord(
        pack.version, content.settings, folder, runtime.written, content.source, content.digest
    )
    draft.packs[pack.name] = (
        version1.unless_it_says_the_same(known, installed) if known else installed
    )
    others = [entry for entry in draft.own_entries() if pack.name not in entry.owners]
    draft.commands = _commands(target, content.wants) | written_hooks(target, others)
    draft.messages = [*notices(draft, pack), *draft.messages]


def _decide_on_entries(draft: Draft, pack: Pack, content: Content, *, force: bool) -> None:
    """What becomes of the hooks and values in the file."""
    current = draft.look(content.wants, content.visible)
    # Of other packs, only what this machine has written before is written again: a committed ledger is a stranger's.
    own = not draft.target.shared or (draft.record is not None and bool(draft.record.sha256_after))
    decision = engine.install(
        content.visible, current, pack.name, pack.version, content.wants, force=force, others=own
    )
    draft.take(decision, content.visible)
    draft.made_anew = draft.was_written_since and engine.wiped(content.visible, current)


def _install_files(
    draft: Draft, pack: Pack, content: Content, folder: str, *, force: bool
) -> runtime_files.Runtime:
    """What becomes of the files that the hooks run, and of the code around the settings where there is any."""
    known = draft.packs.get(pack.name)
    upgrade = known is not None and known.version != pack.version
    runtime = runtime_files.install(
        draft.folders, draft.target, folder, known, content.files, force, upgrade=upgrade
    )
    draft.use_files(runtime)
    draft.adds_files = True
    if draft.host.format == "plugin":
        draft.document = formats.renewed(draft.document)
        if draft.is_edited and not draft.edits:
            path = draft.snapshot.path
            action = runtime_files.file_action(
                "replace-file", path, "its code was an earlier version's"
            )
            draft.file_actions.append((path, action))
    return runtime


def _folder(records: Records, pack: Pack, draft: Draft) -> str:
    """Where the pack's own files lie: where they were, or where an orphan's are, or in a folder of the target's."""
    known = draft.packs.get(pack.name)
    if known and known.folder:
        return known.folder
    if pack.name == GUARD and draft.orphaned:
        return draft.orphaned
    return pack_folder(draft.folders, draft.target, pack.name, records, draft.key)


def _commands(target: Target, wants: list[Wanted]) -> frozenset[tuple[str, str]]:
    shape = target.host.shape
    return frozenset(
        (shapes.event_of(shape, want.path), want.value["command"]) for want in wants if want.id
    )


def _require_own_programs(pack: Pack, runtime: runtime_files.Runtime) -> None:
    """A repository must not bring the program that a registration of ours, new or approved now, runs."""
    if runtime.foreign:
        message = f"{pack.name} would run this file, which hookctl has not written"
        hint = "Look at it, then remove it, or install with --force: either puts ours there."
        raise HookctlError(
            "conflict", message, path=runtime.foreign[0], hint=hint, exit_code=FAILED
        )
