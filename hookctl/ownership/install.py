"""What an install of a pack does: the pack's wants in a file, decided by the engine.

A pack that is not built in is shown and agreed to first, and only that very content is planned.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from hookctl.documents import MISSING, formats
from hookctl.errors import FAILED, USAGE, HookctlError
from hookctl.hosts import Host, detected, load, loading, settings_path, shapes
from hookctl.model import Action, Claim, PackRecord, Wanted
from hookctl.ownership import engine
from hookctl.ownership.content import guard_content
from hookctl.ownership.draft import Draft, file_action
from hookctl.ownership.own_files import Files, install_files, own_top, read_own
from hookctl.ownership.records import Plan, assemble_plan, make_draft
from hookctl.ownership.sources import Sources, look
from hookctl.ownership.store import Records
from hookctl.packs.abilities import lacks
from hookctl.packs.choices import Choice, Permission, Request, Settings, choose, settings_from
from hookctl.packs.model import Pack
from hookctl.packs.programs import load_programs
from hookctl.settings import approval, switches
from hookctl.settings.stopping import find_fatal_files
from hookctl.settings.targets import (
    GUARD,
    OWN,
    RULES,
    Target,
    active_file,
    all_files,
    repository_above,
)
from hookctl.system import files
from hookctl.system.packages import HOOK, version_of

if TYPE_CHECKING:  # late: most calls are about the guard
    from hookctl.ownership.consent import Review


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
            raise
    with_approvals = drafts
    if sources.has_disabled or any(draft.host.trust.gate for draft in drafts):
        from hookctl.ownership.approvals import Approvals  # late: few hosts ask for an approval

        approvals = Approvals(sources, records, drafts)
        for draft in drafts:
            if not draft.conflicts and pack.name in draft.packs:
                approvals.install(draft, pack.name)
        if choice.enables and sources.has_disabled:
            from hookctl.ownership.disable import forget  # late: few have anything disabled

            forget(drafts, (pack.name,), approvals.open_beside)
        with_approvals = approvals.drafts
    rules_drafts = _decide_on_rules(sources, records, drafts, pack, choice)
    every = [*with_approvals, *rules_drafts]
    plan = assemble_plan(records, every, install=True, force=choice.force)
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
    from hookctl.ownership.rules import RulesBlocks  # late: most installs have no rules

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
    if choice.enables:
        draft.show_disabled([pack.name])
    draft.drop_stranded_hooks(pack.name)
    if pack.name == GUARD:
        wants, brought, record = guard_content(draft, records, pack, choice)
    else:
        from hookctl.ownership.pack_content import pack_content  # late: most are the guard

        wants, brought, record = pack_content(draft, pack, choice)
        has_rules_only = bool(pack.rules) and not pack.has_hooks
        if not wants and not has_rules_only and pack.name not in draft.packs:
            return  # a message says why nothing of it belongs here
    if target.shared:
        _require_reachable_programs(target, wants)
    if draft.taken:
        wants = _without_disabled(draft, pack, wants)
    if not choice.enables and draft.sources.has_disabled:
        from hookctl.ownership.disable import list_switched_off  # late, too

        draft.kept += list_switched_off(draft, pack.name)
    visible = draft.pack_entries()
    current = look(draft.host, draft.document, wants, visible)
    force = choice.force
    if choice.restores:
        own = [entry for entry in visible if pack.name in entry.owners]
        states = {engine.state(entry, current, entry.path, entry.id) for entry in own}
        force = force or states == {"missing"}
    # A committed ledger is a stranger's: entries of other packs are written again only if
    # this machine has written them before.
    others = not target.shared or bool(draft.known and draft.known.sha256_after)
    decision = engine.install(
        visible, current, pack.name, pack.version, wants, force=force, others=others
    )
    draft.apply_decision(decision, visible)
    draft.is_recreated = draft.was_written_since and engine.is_wiped(visible, current)
    if draft.conflicts:
        return
    loading.require(target.host, draft.document)  # an edit may stand behind a comment without end
    _install_files(draft, records, targets, pack, record, brought)
    former = () if pack.name == GUARD else _list_former(draft, pack, record)
    draft.packs[pack.name] = record._replace(former=former)
    lost = loading.find_fault(draft.host, target.scope, draft.path, draft.document)
    draft.not_loaded = lost.text if lost and draft.document.value is not MISSING else ""
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
    reason = f"disabled; `hookctl enable {pack.name}` puts it back"
    wants: dict[object, Wanted] = {want.id or want.path: want for want in wanted}
    entries = []
    for entry in draft.entries:
        name = entry.id or entry.path
        want = wants.pop(name, None) if name in draft.taken else None
        if want:
            claim = Claim(want.value, pack.version, want.merge)
            entry = entry._replace(owners={**entry.owners, pack.name: claim})
            states = ("disabled", "disabled", reason, tuple(entry.owners))
            draft.kept.append(Action("keep", want.path, want.kind, want.id, *states))
        elif name in draft.taken and entry.owners.keys() == {pack.name}:
            states = ("disabled", "free", "the pack does not want it any more", (pack.name,))
            draft.actions.append(Action("drop", entry.path, entry.kind, entry.id, *states))
            continue
        entries.append(entry)
    draft.entries = tuple(entries)
    return [*wants.values()]


def _install_files(
    draft: Draft,
    records: Records,
    targets: Collection[str],
    pack: Pack,
    record: PackRecord,
    brought: Files,
) -> None:
    for key, other_record in records.items():
        other = other_record.packs.get(pack.name)
        if key in (*targets, draft.key) or other is None or pack.name == GUARD:
            continue
        if other.folder == record.folder and other.digest != record.digest:
            text = f"{load(other_record.host).title} runs the same files of {pack.name}, so"
            text += f" other ones from now on; `hookctl upgrade {pack.name}` renews its hooks"
            draft.tell("shared_files", text)
    install_files(draft, record.folder, brought)
    draft.adds_files = True
    if draft.host.format in formats.PROGRAMS:
        draft.document = draft.document.renewed()
        if draft.is_edited and not draft.edits:  # else its lines about hooks name the file
            reason = "its code was an earlier version's"
            draft.file_actions.append(file_action("replace-file", draft.path, reason))


def _list_former(draft: Draft, pack: Pack, record: PackRecord) -> tuple[str, ...]:
    """What 0.2.0 laid in another folder, for open sessions; it goes when another version comes."""
    known = draft.packs.get(pack.name)
    if known is None:
        return ()
    if known.folder != record.folder:
        paths = [os.path.join(known.folder, name) for name in known.files]
        return tuple(os.path.relpath(path, record.folder) for path in paths)
    launcher = os.path.join(own_top(draft.folders, draft.target), HOOK)
    version = version_of(read_own(draft.sources, draft.target, launcher).data or b"")
    is_upgraded = version not in ("", version_of(load_programs().launcher))
    return () if is_upgraded else known.former


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
        from hookctl.ownership.consent import require_consent  # late: most calls are for the guard

        require_consent(review, permission, command)
    return review


def review_of(sources: Sources, pack: Pack, plan: Plan) -> Review | None:
    """What a plan would install of a pack that is not built in; None where nothing of it fits."""
    has_targets = any(file.record and pack.name in file.record.packs for file in plan.files)
    if plan.conflicts or not has_targets:
        return None
    from hookctl.ownership.consent import review  # late: most calls are about the guard

    return review(sources, pack, plan)


def plan_agreed(make_plan: Callable[[], Plan], pack: Pack, review: Review | None) -> Plan:
    """The plan of an install, if it brings just the content that was agreed to."""
    from hookctl.ownership.consent import require_digest  # late: most calls are about the guard

    plan = make_plan()
    require_digest(plan, pack, review.digest if review else "")
    return plan


_INFORMATION = ("start_folder", "client_missing")


def add_notices(draft: Draft, pack: Pack) -> None:
    """Tell, before all else, each thing that a person should know about this file."""
    others, draft.messages = draft.messages, []
    for code, text in _list_notices(draft, pack):
        if text:
            draft.tell(code, text, level="info" if code in _INFORMATION else "warning")
    draft.messages += others


def _list_notices(draft: Draft, pack: Pack) -> Iterator[tuple[str, str]]:
    """Code and text of each message; what keeps the file from being read is noted in the draft."""
    folders, host, read, target = draft.folders, draft.host, draft.sources.read, draft.target
    if draft.not_loaded:
        yield "not_loaded", f"{draft.before.where}: {draft.not_loaded}"
    start, user = target.project or folders.cwd, target.path
    if target.scope != "user":
        user = active_file(host, "user", folders.environ, read=read)[1]
    for stopping in find_fatal_files(folders, host, user, start, read):
        if stopping.path != target.path:
            yield "not_loaded", stopping.sentence
            draft.not_loaded = draft.not_loaded or stopping.sentence
    yield "hooks_disabled", _say_switched_off(draft, pack, start, user)
    if draft.old is None and draft.is_edited:
        yield from _tell_of_new_file(draft)
    yield "hooks_woken", _say_woken_hooks(draft)
    if pack.name != GUARD and pack.has_hooks and not host.runner.get("sub_agents", True):
        where = f"{pack.name} works in the main agent of {host.title}"
        yield "sub_agents", f"{where}: its sub-agents do not ask it"
    reason = ""
    if target.scope != "user" and host.scope_rules.start_folder_only:
        reason = f"{host.title} reads {target.scope} settings only where it is started"
    elif target.shared and host.environment.project_is_start:
        reason = f"{host.title} tells a hook where it was started, and not where the project is"
    if reason:
        where = f"{pack.name} works in {target.project}, not in the folders below it"
        yield "start_folder", f"{reason}: {where}"
    version = ""
    if host.client.since and draft.is_edited:
        from hookctl.hosts.version import ask_client  # late: most plans change nothing

        ask = partial(ask_client, host, folders)
        version = draft.sources.once(("version", host.name), ask).version
    known = draft.packs.get(GUARD)
    settings = settings_from(known.settings) if known else None
    for level, does, since in lacks(host, version, settings, draft.before) if version else ():
        if level != "info":
            text = f"{host.title} {version} {does}: upgrade it to {since} or later"
            yield "client_old", text


def _say_switched_off(draft: Draft, pack: Pack, start: str, user: str) -> str:
    """The message about what switches hooks off where the host is started, or ''."""
    folders, host, read, target = draft.folders, draft.host, draft.sources.read, draft.target
    scopes = approval.list_scopes(host, start, folders.environ, read)
    found = switches.find(folders, host, user, start, scopes, read)
    off = switches.find_stopping(found, target.scope, target.path)
    where = f" {off.where}" if off and off.path != target.path else ""
    draft.switched_off = f"{off.said}{where}" if off else ""
    for switch in found:
        if switch.is_off and switch.path == target.path:
            return f"{switch.said} in {draft.before.where}, so no hook runs until that is removed"
    if draft.switched_off:
        return f"{draft.switched_off}, so no hook of {pack.name} runs here"
    return ""


def _say_woken_hooks(draft: Draft) -> str:
    """The message that a required key from this install activates other tools' hooks too."""
    before, host = draft.before.value, draft.host
    if not isinstance(before, dict) or loading.reach_of(host, "bare") == loading.NOWHERE:
        return ""
    missing = [key for key in host.registration.top if key not in before]
    handlers = shapes.handlers(host.shape, before) if missing else []
    if not handlers:
        return ""
    events = dict.fromkeys(shapes.event_of(host.shape, path) for path, _, _ in handlers)
    return (
        f"{' and '.join(missing)} also wakes hooks that {host.title} has not run "
        f"without it: {', '.join(events)}"
    )


def _tell_of_new_file(draft: Draft) -> Iterator[tuple[str, str]]:
    target, host, environ = draft.target, draft.host, draft.folders.environ
    if target.project and host.scope_rules.first_only:
        user_file = settings_path(host, "user", environ)
        if os.path.exists(user_file):
            text = f"{host.title} then reads no hook of {user_file} in this project: "
            yield "user_file_hidden", text + "it reads only the first file there is"
    if os.path.islink(target.path):  # perhaps that disk is not mounted yet
        text = f"{target.path} is a link to {draft.path}, which does not exist"
        yield "dangling_link", f"{text}, so it is made there"
    # The agent may not be installed at all, or lie where hookctl does not look.
    if target.scope == "user" and not detected(host, environ):
        text = f"{host.title} was not found here; its settings are written all the same"
        yield "client_missing", text
