"""What an install of a pack does: the pack's wants in a file, decided by the engine.

A pack that is not built in is shown and agreed to first, and only that very content is planned.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from hookctl import engine
from hookctl.documents import formats
from hookctl.errors import FAILED, USAGE, HookctlError
from hookctl.hosts import Host, load, loading
from hookctl.ledger.store import Records
from hookctl.model import Action, Claim, PackRecord, Wanted
from hookctl.packs.choices import Choice, Permission, Request, Settings, choose
from hookctl.packs.model import Pack
from hookctl.packs.programs import load_programs
from hookctl.planner.content import guard_content
from hookctl.planner.draft import Draft, file_action
from hookctl.planner.notices import add_notices
from hookctl.planner.own_files import Files, install_files, own_top, read_own, uninstall_files
from hookctl.planner.plan import Plan, assemble_plan
from hookctl.planner.records import make_draft
from hookctl.planner.sources import Sources, look
from hookctl.settings.targets import GUARD, OWN, RULES, Target, all_files, repository_above
from hookctl.system import files
from hookctl.system.packages import HOOK, version_of

if TYPE_CHECKING:  # late: most calls are about the guard
    from hookctl.planner.consent import Review


def plan_install(
    sources: Sources,
    pack: Pack,
    targets: Iterable[Target],
    choice: Choice,
    looking: Callable[[Target], None] | None = None,
) -> Plan:
    """Plan the install of a pack in these targets; `looking` gets each target before it is read."""
    targets = tuple(targets)
    projects = [target.project for target in targets if target.shared]
    records = sources.records(projects)
    drafts: list[Draft] = []
    paths = [files.real(target.path) for target in targets]
    decide = partial(_decide_on_file, records, drafts, paths, pack, choice)
    for target in targets:
        if looking:
            looking(target)
        try:
            if target.host.variants:  # another broken file helps decide where our hooks go
                host, environ = load(target.host.name), sources.folders.environ
                near = all_files(host, target.scope, environ, target.project, sources.read)
                for variant, path in near:
                    if path != target.path and os.path.lexists(path):
                        sources.read(path, variant.format)
            drafts.append(make_draft(sources, records, target, decide))
        except HookctlError as error:
            error.path = error.path or target.path
            if len(targets) > 1:
                error.say_unwritten()
            raise
    with_approvals = drafts
    if sources.has_disabled or any(draft.host.trust.gate for draft in drafts):
        from hookctl.planner.approvals import Approvals  # late: few hosts ask for an approval

        approvals = Approvals(sources, records, drafts)
        for draft in drafts:
            if not draft.conflicts and pack.name in draft.packs:
                approvals.install(draft, pack.name)
        if choice.enables and sources.has_disabled:
            from hookctl.planner.disable import forget  # late: few have anything disabled

            forget(drafts, (pack.name,), approvals.open_beside)
        with_approvals = approvals.drafts
    rules_drafts = _decide_on_rules(sources, records, drafts, pack, choice)
    every = [*with_approvals, *rules_drafts]
    plan = assemble_plan(records, every, install=True, force=choice.force)
    if choice.enables and sources.has_disabled:
        from hookctl.planner.disable import with_book  # late: few have anything disabled

        plan = with_book(sources, plan, with_approvals)
    if not plan.empty and not plan.conflicts:
        _require_safe_paths(plan, drafts, pack)
    return plan


def _decide_on_rules(
    sources: Sources, records: Records, drafts: list[Draft], pack: Pack, choice: Choice
) -> list[Draft]:
    """The drafts of the files with instructions in which a block comes, changes or goes."""
    guards = [draft.packs[GUARD] for draft in drafts if GUARD in draft.packs]
    has_blocks = any(record.format == RULES for record in records.values())
    if not (has_blocks or pack.rules or any(one.settings.get("rules") is True for one in guards)):
        return []
    from hookctl.planner.rules import RulesBlocks  # late: most installs have no rules

    rules = RulesBlocks(sources, records, drafts)
    for draft in drafts:
        rules.install(draft, pack, choice)
    return rules.drafts


def _require_safe_paths(plan: Plan, drafts: list[Draft], pack: Pack) -> None:
    """Refuse where another user could change the settings, or what the hooks run."""
    from hookctl.system.owners import require_safe  # late: most calls find nothing to do

    ways = [draft.target.path for draft in drafts]
    ways += [change.path for change in plan.changes if change.settings]
    paths = [change.path for change in plan.changes if not change.settings]
    for draft in drafts:
        if pack.name in draft.packs:
            installed = draft.packs[pack.name]
            paths += [installed.folder, installed.settings.get("python", "")]
    paths += [packages.path for packages in plan.packages]
    require_safe(*filter(None, paths), ways=ways)


def check_request(pack: Pack, request: Request) -> None:
    """Refuse options that this pack does not take, before any file is read."""
    if pack.name == GUARD:
        choose(Settings(), request)
    elif request.option:
        message = f"{request.option} is for the guard, not for {pack.name}"
        hint = f"Change {pack.source}, or leave {request.option} out."
        raise HookctlError("usage", message, hint=hint, exit_code=USAGE)


def find_lacking(hosts: Iterable[Host], request: Request) -> Iterator[HookctlError]:
    """The hosts of these for which --allow-run can do nothing, and what a person can do instead."""
    for host in hosts if request.allow_run else ():
        if host.permission.path:
            continue
        way = "Allow `hookctl run` in its own settings."
        if host.permission.instead:
            way = f"`{host.permission.instead}` lets its agent write .hookctl/run/task.json."
        message = f"--allow-run has no effect for {host.title}: its settings have no list for that"
        yield HookctlError("no_effect", message, hint=way, exit_code=FAILED)


def _require_own_file(records: Records, drafts: list[Draft], draft: Draft) -> None:
    """Refuse a file that two hosts read as their own: their hooks and keys differ."""
    path, title = draft.snapshot.path, draft.host.title
    others = {other.snapshot.path: other.host.name for other in drafts}
    if draft.known is not None:
        others[path] = draft.known.host
    if draft.snapshot.links > 1:
        others |= {key: record.host for key, record in records.items()}
    for other, name in others.items():
        if name != draft.host.name and files.is_same(other, path):
            message = f"this is the settings file of {load(name).title} and of {title}"
            hint = f"Give {title} a file of its own ({draft.target.path}), or install for one."
            raise HookctlError("shared_file", message, path=path, hint=hint, exit_code=FAILED)


def _decide_on_file(
    records: Records,
    drafts: list[Draft],
    targets: Collection[str],
    pack: Pack,
    choice: Choice,
    draft: Draft,
) -> None:
    target = draft.target
    _require_own_file(records, drafts, draft)
    loading.require(target.host, draft.before)
    if choice.enables and draft.disabled:
        from hookctl.planner.disable import without_packs  # late: few have anything disabled

        draft.disabled = without_packs(draft.disabled, (pack.name,))
    draft.drop_stranded_hooks(pack.name)
    if pack.name == GUARD:
        wants, brought, record = guard_content(draft, records, pack, choice)
    else:
        from hookctl.planner.pack_content import pack_content  # late: most are the guard

        wants, brought, record = pack_content(draft, pack, choice)
        has_rules_only = bool(pack.rules) and not pack.has_hooks
        if not wants and not has_rules_only and pack.name not in draft.packs:
            return  # a message says why nothing of it belongs here
    if target.shared:
        _require_reachable_programs(target, wants)
    if draft.disabled:
        wants = _without_disabled(draft, pack, wants)
    if not choice.enables and draft.sources.has_disabled:
        from hookctl.planner.disable import list_switched_off  # late, too

        draft.kept += list_switched_off(draft, pack.name)
    visible = draft.pack_entries()
    current = look(draft.host, draft.document, wants, visible)
    # A committed ledger is a stranger's: entries of other packs are written again only if
    # this machine has written them before.
    others = not target.shared or bool(draft.known and draft.known.sha256_after)
    decision = engine.install(
        visible, current, pack.name, pack.version, wants, force=choice.force, others=others
    )
    draft.apply_decision(decision, visible)
    draft.is_recreated = draft.was_written_since and engine.is_wiped(visible, current)
    if draft.conflicts:
        return
    loading.require(target.host, draft.document)  # an edit may stand behind a comment without end
    _install_files(draft, records, targets, pack, record, brought)
    former = () if pack.name == GUARD else _renew_former(draft, pack, record)
    draft.packs[pack.name] = record._replace(former=former)
    draft.not_loaded = loading.reason_not_loaded(draft.host, draft.document)
    add_notices(draft, pack)


def _require_reachable_programs(target: Target, wants: list[Wanted]) -> None:
    """Refuse a project below the top of its repository where the host's hooks start from there."""
    repository = repository_above(target)
    project = f"{target.host.environment.in_command}/{OWN}/"
    commands = [want.value["command"] for want in wants if want.id]
    if repository and any(project in command for command in commands):
        message = f"{target.host.title} takes the top of the repository for the project"
        hint = f"Install with --project {shlex.quote(repository)}, or with --scope user."
        path = target.project
        raise HookctlError("nested_folder", message, path=path, hint=hint, exit_code=FAILED)


def _without_disabled(draft: Draft, pack: Pack, wanted: list[Wanted]) -> list[Wanted]:
    """The wants without what `hookctl disable` took out: that stays so, and is reported.

    What the pack wants there now is noted, so that `enable` can say that it is another thing.
    """
    disabled = {entry.id or entry.path: entry for entry in draft.disabled}
    names = {want.id or want.path for want in wanted}
    for name, entry in list(disabled.items()):
        if entry.owners.keys() == {pack.name} and name not in names:
            del disabled[name]
            states = ("disabled", "free", "the pack does not want it any more", (pack.name,))
            draft.actions.append(Action("drop", entry.path, entry.kind, entry.id, *states))
    reason = f"disabled; `hookctl enable {pack.name}` puts it back"
    wants = []
    for want in wanted:
        entry = disabled.get(want.id or want.path)
        if entry is None or entry.kind == "container":
            wants.append(want)
            continue
        claim = Claim(want.value, pack.version, want.merge)
        owners = {**entry.owners, pack.name: claim}
        disabled[want.id or want.path] = entry._replace(owners=owners)
        states = ("disabled", "disabled", reason, tuple(owners))
        draft.kept.append(Action("keep", want.path, want.kind, want.id, *states))
    draft.disabled = tuple(disabled.values())
    return wants


def _install_files(
    draft: Draft,
    records: Records,
    targets: Collection[str],
    pack: Pack,
    record: PackRecord,
    brought: Files,
) -> None:
    known, names = draft.packs.get(pack.name), set[str]()
    if pack.name != GUARD:
        for key, other_record in records.items():
            other = other_record.packs.get(pack.name)
            if key in (*targets, draft.key) or other is None or other.folder != record.folder:
                continue
            names.update(other.files)
            if other.digest != record.digest:
                text = f"{load(other_record.host).title} runs the same files of {pack.name}, so"
                text += f" other ones from now on; `hookctl upgrade {pack.name}` renews its hooks"
                draft.tell("shared_files", text)
    install_files(draft, record.folder, known, brought, names)
    draft.adds_files = True
    if draft.host.format in formats.PROGRAMS:
        draft.document = draft.document.renewed()
        if draft.is_edited and not draft.edits:  # else its lines about hooks name the file
            reason = "its code was an earlier version's"
            draft.file_actions.append(file_action("replace-file", draft.path, reason))


def _renew_former(draft: Draft, pack: Pack, record: PackRecord) -> tuple[str, ...]:
    """What 0.2.0 laid in another folder, for open sessions; it goes when another version comes."""
    known = draft.packs.get(pack.name)
    if known is None:
        return ()
    if known.folder != record.folder:
        paths = [os.path.join(known.folder, name) for name in known.files]
        return tuple(os.path.relpath(path, record.folder) for path in paths)
    launcher = os.path.join(own_top(draft.folders, draft.target), HOOK)
    version = version_of(read_own(draft.sources, draft.target, launcher).data or b"")
    if known.former and version not in ("", version_of(load_programs().launcher)):
        uninstall_files(draft, known._replace(files=known.former, former=()))
        return ()
    return known.former


# Consent


def agree(
    sources: Sources,
    pack: Pack,
    targets: list[Target],
    choice: Choice,
    permission: Permission,
    command: str,
) -> Review | None:
    """What is agreed to of a pack that is not built in; None where nothing of it fits.

    `command` shows what an install would write. Raises a usage error without consent.
    """
    review = review_of(sources, pack, plan_install(sources, pack, targets, choice))
    if review is not None:
        from hookctl.planner.consent import require_consent  # late: most calls are for the guard

        require_consent(review, permission, command)
    return review


def review_of(sources: Sources, pack: Pack, plan: Plan) -> Review | None:
    """What a plan would install of a pack that is not built in; None where nothing of it fits."""
    has_targets = any(file.record and pack.name in file.record.packs for file in plan.files)
    if plan.conflicts or not has_targets:
        return None
    from hookctl.planner.consent import review  # late: most calls are about the guard

    return review(sources, pack, plan)


def plan_agreed(make_plan: Callable[[], Plan], pack: Pack, review: Review | None) -> Plan:
    """The plan of an install, if it brings just the content that was agreed to."""
    from hookctl.planner.consent import require_digest  # late: most calls are about the guard

    plan = make_plan()
    require_digest(plan, pack, review.digest if review else "")
    return plan
