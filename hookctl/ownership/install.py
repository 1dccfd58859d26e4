"""A pack comes into a settings file, and leaves it: what it wants there, decided by the engine."""

import json
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from hookctl import __version__
from hookctl.documents import MISSING, formats
from hookctl.errors import FAILED, UNREADABLE, USAGE, HookctlError
from hookctl.hosts import Host, ask_client, detected, load, loading, settings_path, shapes
from hookctl.model import OURS, WRAP, Action, Claim, Consent, DropHook, PackRecord, Path, Wanted
from hookctl.ownership import engine, store
from hookctl.ownership.draft import Draft, file_action
from hookctl.ownership.own_files import Files, install_files, merge_config, read_own
from hookctl.ownership.plan import Drafts, Job, Plan, plan_jobs
from hookctl.ownership.sources import Sources, current_of
from hookctl.ownership.store import Records
from hookctl.packs import CLAUDE, MANIFEST, PROTOCOL, Pack, guard
from hookctl.packs.choices import (
    Choice,
    Request,
    Settings,
    choose,
    remarks,
    require_portable,
    settings_from,
)
from hookctl.settings import switches
from hookctl.settings.targets import (
    GUARD,
    OWN,
    RULES,
    Target,
    active_file,
    all_files,
    config_name,
    own_top,
    pack_folder,
    repository_above,
)
from hookctl.system import files, interpreter
from hookctl.system.files import content_digest
from hookctl.system.packages import HOOK, version_of


def plan_install(sources: Sources, pack: Pack, targets: Iterable[Target], choice: Choice) -> Plan:
    """Plan the install of a pack in these targets."""
    jobs = [Install(target, pack, choice) for target in targets]
    projects = [job.target.project for job in jobs if job.target.shared]
    plan = plan_jobs(sources, jobs, projects, install=True, force=choice.force)
    if plan.empty:
        return plan
    # Refused where another user could change the settings, or what the hooks run.
    from hookctl.system.owners import find_fault, require_safe  # late: most find nothing to do

    ways = [file.target.path for file in plan.files]
    ways += [change.path for change in plan.changes if change.settings]
    paths = [change.path for change in plan.changes if not change.settings]
    installed = [file.packs[pack.name] for file in plan.files if pack.name in file.packs]
    paths += [one.folder for one in installed]
    paths += [one.settings.get("python", "") for one in installed]
    paths += [packages.path for packages in plan.packages]
    require_safe(*filter(None, paths), ways=ways)
    for file in plan.files:
        is_open = file.old is not None and os.stat(file.path).st_mode & 0o022
        if is_open and (fault := find_fault(file.target.path)):
            text = f"{fault.path} {fault.reason}, so another user could run commands as you"
            file.warn("loose_mode", f"{text}: `{fault.fix}`")
    return plan


class Install(Job):
    """A pack comes into a settings file, or is brought up to date there."""

    def __init__(self, target: Target, pack: Pack, choice: Choice) -> None:
        self.target, self.pack, self.choice = target, pack, choice

    def decide(self, drafts: Drafts) -> Draft:
        """Have the engine decide on what the pack wants."""
        target, pack, choice = self.target, self.pack, self.choice
        draft = drafts.open(target)
        _require_own_files(drafts, draft, target)
        loading.require(target.host, draft.before)
        if choice.force:
            draft.show_disabled([pack.name])
        draft.drop_stranded_hooks(pack.name)
        if pack.name == GUARD:
            wants, brought, record = guard_content(draft, pack, choice)
        else:
            wants, brought, record = pack_content(draft, pack, choice)
            has_rules_only = bool(pack.rules) and not pack.all_hooks
            if not wants and not has_rules_only and pack.name not in draft.packs:
                return draft  # a message says why nothing of it belongs here
            if pack.replaces:
                from hookctl.ownership.replace import take_out  # late: few packs name any

                record = take_out(draft, drafts, pack, record, force=choice.force)
        if target.shared:
            _require_reachable_programs(target, wants)
        if draft.taken:
            wants = _without_disabled(draft, pack, wants)
        if not choice.force and draft.records.disabled:
            from hookctl.ownership.disable import list_switched_off  # late, too

            draft.actions += list_switched_off(draft, pack.name)
        visible = draft.pack_entries()
        current = current_of(draft.host, draft.document, wants, visible)
        # A committed ledger is a stranger's: entries of other packs are written again only if
        # this machine has written them before.
        others = not target.shared or bool(draft.known and draft.known.sha256_after)
        decision = engine.install(
            visible,
            current,
            pack.name,
            wants,
            force=choice.force,
            others=others,
            restores=choice.restores,
        )
        if decision.conflicts:
            raise _error_of_conflicts(draft, decision.conflicts)
        draft.apply_decision(decision, visible)
        draft.is_recreated = draft.was_written_since and engine.is_wiped(visible, current)
        loading.require(target.host, draft.document)  # a comment may not end
        install_files(draft, record.folder, brought)
        if draft.host.format in formats.PROGRAMS:
            draft.document = draft.document.renewed()
            if draft.is_edited and not draft.edits:  # else its lines about hooks name the file
                reason = "its code was an earlier version's"
                draft.actions.append(file_action("replace-file", draft.path, reason))
        former = () if pack.name == GUARD else _list_former(draft, pack, record)
        draft.packs[pack.name] = record._replace(former=former)
        _tell_notices(draft, pack)
        return draft

    def follow(self, draft: Draft, drafts: Drafts) -> None:
        """Say what waits for an approval; enable what is to come back, and write the rules."""
        if self.pack.name not in draft.packs:
            return
        new = draft.packs[self.pack.name]
        for path, record in drafts.records.items() if self.pack.name != GUARD else ():
            old = record.packs.get(self.pack.name)
            is_left = old and old.folder == new.folder and path not in drafts.opened
            if is_left and old.consent.digest not in ("", new.consent.digest):
                text = f"{load(record.host).title} runs these files too, with the hooks of "
                text += f"{self.pack.name} {old.version}: install this one with "
                text += f"--host {record.host} --scope {record.scope} too"
                draft.warn("other_version", text)
        if draft.host.trust.gate:
            from hookctl.ownership import approvals  # late: few hosts ask for an approval

            approvals.install(draft, drafts, self.pack.name)
        if self.choice.force and draft.records.disabled:
            from hookctl.ownership.disable import forget  # late: few have anything disabled

            forget(draft, drafts, (self.pack.name,))
        has_blocks = any(record.format == RULES for record in drafts.records.values())
        is_guard = self.pack.name == GUARD
        if has_blocks or ("rules" in draft.packs[GUARD].settings if is_guard else self.pack.rules):
            from hookctl.ownership import rules  # late: most installs have no rules

            rules.install(draft, drafts, self.pack, self.choice)


def check_request(pack: Pack, request: Request) -> None:
    """Refuse options that this pack does not take, before any file is read."""
    if pack.name == GUARD:
        choose(Settings(), request)
    elif request.option:
        message = f"{request.option} is for the guard, not for {pack.name}"
        change = f"Change {pack.source}, or leave" if pack.source else "Leave"
        hint = f"{change} {request.option} out."
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


def _require_own_files(drafts: Drafts, draft: Draft, target: Target) -> None:
    """Refuse a file that two hosts read as their own: their hooks and keys differ.

    Another file of the host, which helps decide where our hooks go, may not be broken.
    """
    path, host, read = draft.snapshot.path, target.host, drafts.sources.read
    place = target.scope, draft.folders.environ, target.project
    for variant, other in all_files(load(host.name), *place, read) if host.variants else ():
        if other != target.path and os.path.lexists(other):
            read(other, variant.format)
    others = {other.snapshot.path: other.host.name for other in drafts.asked}
    if draft.known is not None:
        others[path] = draft.known.host
    for other, name in others.items():
        if name != host.name and files.is_same(other, path):
            message = f"this is the settings file of {load(name).title} and of {host.title}"
            hint = f"Give {host.title} a file of its own ({target.path}), or install for one."
            raise HookctlError("shared_file", message, path=path, hint=hint, exit_code=FAILED)


def _error_of_conflicts(draft: Draft, conflicts: Mapping[Path, Mapping[str, Any]]) -> HookctlError:
    texts = []
    for path, values in conflicts.items():
        key = str(path[-1])
        claims = [f"{pack} wants {engine.show(value, key)}" for pack, value in values.items()]
        texts.append(f"{'.'.join(map(str, path))}: {', '.join(claims)}")
    hint = (
        "Take it over with --force, give both the same value or merge rule "
        "(the guard's: --set), or uninstall one of the packs."
    )
    return HookctlError("conflict", "; ".join(texts), path=draft.path, hint=hint, exit_code=FAILED)


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
            claim = Claim(want.value, want.merge)
            entry = entry._replace(owners={**entry.owners, pack.name: claim})
            states = ("disabled", "disabled", reason, tuple(entry.owners))
            draft.actions.append(Action("keep", want.path, want.kind, want.id, *states))
        elif name in draft.taken and entry.owners.keys() == {pack.name}:
            states = ("disabled", "free", "the pack does not want it any more", (pack.name,))
            draft.actions.append(Action("drop", entry.path, entry.kind, entry.id, *states))
            continue
        entries.append(entry)
    draft.entries = tuple(entries)
    return [*wants.values()]


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
    return known.former if version in ("", __version__) else ()


class Uninstall(Job):
    """Packs leave a settings file, which may be known by the key of its record alone.

    `loaded` are the packs whose own file can be read: their hooks are known without a record.
    """

    def __init__(
        self, target: Target, packs: tuple[str, ...], key: str, loaded: Mapping[str, Pack]
    ) -> None:
        self.target, self.packs, self.key, self.loaded = target, packs, key, loaded

    def decide(self, drafts: Drafts) -> Draft:
        """Take the packs out, the last one in the file first."""
        target, key, records = self.target, self.key, drafts.records
        if not key or key == store.find_record(records, target.path)[0]:
            draft = drafts.open(target)
        else:  # another record's file stands where this one's was: there is nothing to edit
            nothing = formats.parse(target.host.format, b"", where=key)
            snapshot = files.Snapshot(key, None)
            draft = Draft(drafts.sources, records, target, snapshot, nothing, key, records[key])
        known = dict(draft.packs)
        draft.show_disabled(self.packs)
        if GUARD in self.packs:
            from hookctl.ownership.wraps import unwrap_hooks  # late: few installs wrap a hook

            unwrap_hooks(draft)
        config = find_config(draft) if GUARD in self.packs else ""
        for name in reversed(self.packs):
            draft.drop_stranded_hooks(name)
            wants = _wants_of(draft, self.loaded.get(name), config)
            # Without a record only our hooks are known; without hooks any shape will do.
            ids = {hook.id for hook in shapes.elements(draft.host.shape, draft.document.value)}
            is_orphan = draft.known is None and any(want.id in ids for want in wants)
            visible, sought = draft.pack_entries(), wants if is_orphan else ()
            current = current_of(draft.host, draft.document, sought, visible, null_is_nothing=True)
            draft.apply_decision(engine.uninstall(visible, current, name, wants), visible)
            draft.packs.pop(name, None)
        dropped = [edit.element for edit in draft.edits if isinstance(edit, DropHook)]
        for hook in dropped if draft.host.shape.positions else ():
            if draft.document.get(hook.path[:-2]) is not MISSING:
                reason = f"an empty place stays, since {draft.host.title} trusts the hooks behind "
                reason += "it by their position"
                states = ("owned", "free", reason)
                draft.actions.append(Action("keep", hook.path, "element", hook.id, *states))
        if GUARD in self.packs and GUARD not in known and draft.edits:
            state = "" if draft.target.shared else draft.folders.state
            values = guard.configuration(Settings(), state, draft.host)
            folder, name = os.path.split(config)
            draft.lost[GUARD] = PackRecord("", {"config": values}, folder, (name,))
            # The record of who made the topmost one is lost.
            draft.rmdirs.append(own_top(draft.folders, draft.target))
        return draft

    def follow(self, draft: Draft, drafts: Drafts) -> None:
        """Take out approvals and rules, and keep nothing of what is disabled."""
        from hookctl.ownership import approvals, rules  # late: an install needs few of them

        steps = [partial(approvals.uninstall, draft, drafts, name) for name in self.packs]
        leave = partial(rules.leave, draft, drafts)
        steps += [partial(leave, name, self.loaded.get(name)) for name in self.packs]
        if draft.records.disabled:
            from hookctl.ownership import disable, replace  # late: few have anything disabled

            steps.insert(0, partial(disable.forget, draft, drafts, self.packs))
            steps.insert(1, partial(replace.give_back, draft, drafts))
        for step in steps:
            try:
                step()
            except HookctlError as error:
                message = f"{error.message}; what is hookctl's stays in it"
                hint = "Fix it, then remove by hand what names hookctl in it."
                drafts.unread.append(error.reworded(message, hint))

    def explain(self, error: HookctlError, records: Records) -> None:
        """Say what to remove by hand: what only these packs have in a file that cannot be read."""
        record = store.find_record(records, self.target.path)[1]
        names = []
        for entry in record.entries if record and error.exit_code == UNREADABLE else ():
            is_ours = entry.kind != "container" and entry.mode == "owned"
            if is_ours and {*entry.owners} <= {*self.packs}:
                names.append(f"hookctl={entry.id}" if entry.id else ".".join(map(str, entry.path)))
        if names:
            error.hint = f"{error.hint} Or remove by hand: {', '.join(names)}.".strip()


def _wants_of(draft: Draft, pack: Pack | None, config: str) -> list[Wanted]:
    """The pack's entries for this file: they identify its hooks where the ledger is lost."""
    if pack is None:
        return []
    known = draft.packs.get(pack.name)
    if pack.name != GUARD:
        from hookctl.packs import runner  # late: most are the guard

        python = str(known.settings.get("python", "")) if known else ""
        folder = known.folder if known else pack_folder(draft.folders, draft.target, pack.name)
        top = own_top(draft.folders, draft.target)
        programs = runner.find_programs(draft.target, folder, top, python)
        return runner.wants(pack, draft.host, programs)[0]
    settings = guard.everything(settings_from(known.settings if known else {}))
    return guard.wants(settings, draft.target, pack, config)


def _tell_notices(draft: Draft, pack: Pack) -> None:
    """Say what keeps hooks of a pack from running in a file, and what else is to be known there."""
    folders, host, read, target = draft.folders, draft.host, draft.sources.read, draft.target
    fault = loading.find_fault(host, target.scope, draft.path, draft.document)
    if fault and draft.document.value is not MISSING:
        draft.warn("not_loaded", f"{draft.before.where}: {fault.text}")
    start, user = target.project or folders.cwd, target.path
    if target.scope != "user":
        user = active_file(host, "user", folders.environ, read=read)[1]
    for stopping in switches.find_fatal_files(folders, host, user, start, read):
        if stopping.path != target.path:
            draft.warn("not_loaded", stopping.sentence)
    scopes = switches.list_scopes(host, start, folders.environ, read)
    found = switches.find(folders, host, user, start, scopes, read)
    off = switches.find_stopping(found, target.scope, target.path)
    if off:
        text = f"{off.said} {off.where}, so no hook of {pack.name} runs here"
        draft.warn("hooks_disabled", text)
    if pack.name != GUARD and pack.all_hooks:
        if draft.is_edited and not host.scope_rules.first_only:
            _tell_of_second(draft, pack)
        if not host.runner.get("sub_agents", True):
            where = f"{pack.name} works in the main agent of {host.title}"
            draft.warn("sub_agents", f"{where}: its sub-agents do not ask it")
    is_start_only = target.scope != "user" and host.scope_rules.start_folder_only
    if is_start_only or (target.shared and host.environment.project_is_start):
        where = f"{pack.name} works in {target.project}, not in the folders below it"
        text = f"{host.title} looks only where it is started: {where}"
        draft.warn("start_folder", text, level="info")
    if draft.is_edited:
        _tell_of_edit(draft)


def _tell_of_second(draft: Draft, pack: Pack) -> None:
    """Say where a pack is in a project and beside it; a guard that is there twice counts once."""
    target, host = draft.target, draft.host.name
    for record in store.read_known(draft.folders)[0].values():
        is_near = target.scope == "user" or record.project in ("", target.project)
        is_same = record.host == host and pack.name in record.packs
        if is_same and is_near and target.shared != (record.scope == "project"):
            where = f" in {record.project}" if record.project else ""
            text = f"{pack.name} is at {record.scope} scope{where} too, so its hooks run twice"
            own = record.scope if target.shared else target.scope  # the team keeps its own
            fix = f"hookctl uninstall {pack.name} --host {host} --scope {own}"
            draft.warn("pack_twice", f"{text}; `{fix}` leaves the other one alone")


def _tell_of_edit(draft: Draft) -> None:
    """Say what a new file or a required key does, and what the client is too old for."""
    target, host = draft.target, draft.host
    if draft.old is None:
        environ = draft.folders.environ
        user_file = settings_path(host, "user", environ)
        if target.project and host.scope_rules.first_only and os.path.exists(user_file):
            text = f"{host.title} then reads no hook of {user_file} in this project: "
            draft.warn("user_file_hidden", text + "it reads only the first file there is")
        # The agent may not be installed at all, or lie where hookctl does not look.
        if target.scope == "user" and not detected(host, environ):
            text = f"{host.title} was not found here; its settings are written all the same"
            draft.warn("client_missing", text, level="info")
    missing = [key for key in host.registration.top if draft.before.get((key,)) is MISSING]
    if missing and loading.reach_of(host, "bare") != loading.NOWHERE:
        handlers = shapes.handlers(host.shape, draft.before.value)
        events = dict.fromkeys(shapes.event_of(host.shape, path) for path, _, _ in handlers)
        if events:
            text = f"also wakes hooks that {host.title} has not run without it: {', '.join(events)}"
            draft.warn("hooks_woken", f"{' and '.join(missing)} {text}")
    if not host.client.since:
        return
    ask = partial(ask_client, host, draft.folders)
    version = draft.sources.once(("version", host.name), ask).version
    known = draft.packs.get(GUARD)
    settings = settings_from(known.settings) if known else None
    for level, does, since in guard.lacks(host, version, settings, draft.before) if version else ():
        if level != "info":
            text = f"{host.title} {version} {does}: upgrade it to {since} or later"
            draft.warn("client_old", text)


# What a pack puts in one target: hooks, env values, files, and the settings on record.

Content = tuple[list[Wanted], Files, PackRecord]


def guard_content(draft: Draft, pack: Pack, choice: Choice) -> Content:
    """The guard with its recorded or newly chosen settings; hooks that it wraps are edited here."""
    known, folder = draft.packs.get(GUARD), pack_folder(draft.folders, draft.target, GUARD)
    hooks = shapes.elements(draft.host.shape, draft.document.value)
    config = former = find_config(draft)
    if os.path.dirname(former) != folder:
        config = os.path.join(folder, config_name(draft.target, draft.records, draft.key))
    value = draft.document.get(tuple(draft.host.cap.get("setting", ())))
    cap = str(value) if type(value) is int else ""  # the operator's, over which ours would win
    settings = _choose_settings(draft, choice, known, cap)
    wraps_any = False
    ids = [*(hook.id for hook in hooks), *(entry.id for entry in draft.entries)]
    if choice.settings.wrap is not None or any(id.startswith(WRAP) for id in ids):
        from hookctl.ownership.wraps import wrap_hooks  # late: few installs wrap a hook

        text = "" if choice.reset and choice.settings.wrap is None else choice.settings.wrap
        wraps_any = wrap_hooks(draft, text, config, settings.python, force=choice.force)
    state = "" if draft.target.shared else draft.folders.state
    wanted_config = guard.configuration(settings, state, draft.host, wraps=wraps_any)
    wants: list[Wanted] = []
    files: dict[str, tuple[bytes, bool | None]] = {}
    if settings.events or wraps_any:
        written = known.settings.get("config", {}) if known else {}
        snapshot = read_own(draft.sources, draft.target, config)
        if snapshot.data is None:  # 0.2.0 had it elsewhere
            snapshot = read_own(draft.sources, draft.target, former)
        data, kept = merge_config(
            config, snapshot, written, wanted_config, draft.host, force=choice.force
        )
        draft.actions += kept
        files[os.path.basename(config)] = (data or b"", None)
        value = None if draft.host.env_path else json.loads(data or b"{}").get("max_stop_blocks")
        limit = str(value) if type(value) is int else ""
        wants = guard.wants(settings, draft.target, pack, config, limit, cap, wraps=wraps_any)
    recorded: dict[str, Any] = {
        "mode": settings.mode,
        "knobs": settings.options,
        "python": settings.python,
        "config": wanted_config,
    }
    had_rules = known is not None and known.settings.get("rules") is True
    has_rules = choice.settings.rules or (had_rules and not choice.reset)
    chosen = {"preset": settings.preset, "allow_run": settings.allow_run, "rules": has_rules}
    recorded |= {name: value for name, value in chosen.items() if value}
    names = tuple(sorted(files))
    return wants, files, PackRecord(pack.version, recorded, folder, names, source=pack.source)


def find_config(draft: Draft) -> str:
    """The path of the guard's configuration: the recorded one, or that of a hook without record."""
    if GUARD in draft.packs and draft.packs[GUARD].config:
        return draft.packs[GUARD].config
    packs = [record.packs for record in draft.records.values() if GUARD in record.packs]
    in_use = {known[GUARD].config for known in packs}
    for hook in shapes.elements(draft.host.shape, draft.document.value):
        event, command = hook.id.partition("/")[2], str(hook.fields.get("command"))
        path = guard.config_path(command, hook.id, event, draft.target)
        if path.startswith(f"{draft.folders.data}/") and path not in in_use:
            return path
    folder = pack_folder(draft.folders, draft.target, GUARD)
    return os.path.join(folder, config_name(draft.target, draft.records, draft.key))


def _choose_settings(draft: Draft, choice: Choice, known: PackRecord | None, cap: str) -> Settings:
    """The recorded or default settings with this request; remarks on them become messages."""
    base = settings_from(known.settings if known else {})
    if choice.reset:
        base = Settings(python=base.python)
    settings = choose(base, choice.settings)
    draft.warn("settings", *remarks(settings, choice.settings))
    missed, others = guard.limits_for(draft.host, settings, cap)
    draft.warn("host_limits", *others, level="info")
    draft.warn("host_limits", *missed)
    if draft.target.shared:
        require_portable(settings)
    settings.python = choose_python(draft, settings.python)
    return settings


def choose_python(draft: Draft, recorded: str) -> str:
    """The Python that starts our programs: the recorded one while it is usable; '' in a project."""
    if draft.target.shared:
        project, environ = draft.target.project, draft.folders.environ
        ask = partial(interpreter.on_path, environ, project)
        draft.warn("interpreter", *draft.sources.once(("on_path", project), ask))
        return ""
    if recorded and interpreter.is_usable(recorded):
        return recorded
    choose_new = partial(interpreter.choose, draft.folders.environ)
    python, warning = draft.sources.once(("python",), choose_new)
    if warning:
        draft.warn("interpreter", warning)
    return python


def pack_content(draft: Draft, pack: Pack, choice: Choice) -> Content:
    """What the manifest of a pack that is not built in wants, with its files."""
    from hookctl.packs import runner  # late: most calls are about the guard
    from hookctl.packs.listing import risky_env

    folder = pack_folder(draft.folders, draft.target, pack.name)
    known = draft.packs.get(pack.name)
    settings, python = {}, ""
    if runner.needs_runner(pack, draft.host):
        python = choose_python(draft, str(known.settings.get("python", "")) if known else "")
        settings = {PROTOCOL: CLAUDE, "python": python}
    programs = runner.find_programs(
        draft.target, folder, own_top(draft.folders, draft.target), python
    )
    wanted, notes = runner.wants(pack, draft.host, programs)
    source = pack.source or OURS + pack.name
    if draft.target.shared and os.path.isabs(source):
        # Links are resolved, to tell whether it lies in the project.
        source = os.path.realpath(source)
    for record in () if pack.source else draft.records.values():
        other = record.packs.get(pack.name)
        if other and other.folder == folder and other.source != source:
            message = f"another pack is installed as {pack.name}"
            message += f", from {other.source}" * bool(other.source)
            hint = f"To have hookctl's own in its place, `hookctl uninstall {pack.name}` first."
            raise HookctlError("conflict", message, path=folder, hint=hint, exit_code=FAILED)
    if known and known.source not in ("", source):
        draft.warn("source_changed", f"{pack.name} came from {known.source} so far", level="info")
    contents = {name: data for name, (data, _) in pack.contents.items()}
    # The manifest tells what the pack's hooks are to be, in a clone too.
    files = {**pack.contents, MANIFEST: (pack.manifest, None)}
    digest = content_digest(b"", {**contents, MANIFEST: pack.manifest})
    allowed = set(choice.allow_env)
    if known and not choice.reset:
        allowed.update(known.consent.env)
    consent = Consent(
        digest=content_digest(pack.manifest, contents),
        env=tuple(name for name in risky_env(pack) if name in allowed),
        source=source if pack.commit else "",
    )
    surely, perhaps = runner.describe(pack, draft.host, notes)
    draft.warn("not_on_host", *surely)
    if known is None or known.consent.digest != consent.digest:  # told once
        draft.warn("not_on_host", *perhaps, level="info")
    commit = pack.commit
    if known and known.commit and known.consent == consent:
        commit = known.commit  # the repository has moved on, but not the pack
    record = PackRecord(
        version=pack.version,
        settings=settings,
        folder=folder,
        files=tuple(sorted(files)),
        source=source,
        digest=digest,
        consent=consent,
        commit=commit,
    )
    return wanted, files, record
