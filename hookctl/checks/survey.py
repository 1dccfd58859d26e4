"""The whole of doctor: reads hookctl's own record, and asks every rule about each host."""

import contextlib
import errno
import glob
import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, product
from typing import Any

from hookctl import clock, hosts, receipts
from hookctl.checks import UNRECORDED, Finding, finding, from_error, from_lost
from hookctl.checks.file import (
    FILE_RULES,
    MISSING,
    OVERRIDES,
    RULES_OF_PROJECT,
    RULES_OF_TEXTS,
    File,
    find_effect,
    show_setting,
)
from hookctl.errors import HookctlError
from hookctl.hosts import Client, Host, ask_client
from hookctl.hosts.loading import read_status, why_disarmed
from hookctl.masking import masked_text
from hookctl.ownership import store
from hookctl.ownership.execute import read_journal
from hookctl.packs import choices, run_packs
from hookctl.packs.guard import lacks
from hookctl.packs.runner import find_event, protocol_event
from hookctl.settings import switches
from hookctl.settings.targets import RULES, Target, rules_target
from hookctl.survey import model
from hookctl.survey.machine import Machine, read_records, read_settings
from hookctl.survey.programs import REPAIR, Programs
from hookctl.system import files, project
from hookctl.system.folders import Folders
from hookctl.system.packages import HOOK
from hookctl.work import (
    describe_owner,
    find_work,
    is_armed,
    locate,
    read_end,
    read_task,
)

_ENOUGH = 3  # sessions without a line, or failed runs, before anything is said
_AT_WORK = 300  # seconds since a session was written to in which it may not have stopped yet
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class HostHere:
    """A host as it starts in the working folder."""

    def __init__(self, machine: Machine, host: Host, files: Sequence[File]) -> None:
        self.machine, self.host = machine, host
        self.files = files  # that have or may have something of ours
        # Its hooks, and the files of which it takes nothing.
        self.hooks, self.lost = read_settings(machine, host)
        if not machine.alone:  # else no script of it is compiled: it may come from a stranger
            self.hooks = list(map(Programs(machine).add_fault, self.hooks))
        user = machine.active_file(host, "user")[1]
        # What it reads, the winning files first.
        self.sources = machine.sources(host, user, machine.start_of(host))
        self.variables = {**machine.environ, **switches.variables(self.sources)}
        # Those that the host starts, or will once a person has approved them.
        self.running = [
            hook for hook in self.hooks if all(one.state in model.WAITING for one in hook.obstacles)
        ]
        self.guards = []  # the files whose guard works on a stop here
        is_off = choices.is_true(self.variables.get("HOOKCTL_DISABLE", ""))
        guarded = {file.path: file for file in files if file.guard}
        for hook in () if is_off else self.running:
            file, is_stop = guarded.get(hook.file), hook.event == host.events.get("stop")
            if file is None or hook.own_id != switches.STOP or not is_stop:
                continue
            mode = choices.read_settings(file.config, self.variables).mode
            is_there = file.fault is None or file.fault.code != MISSING
            if is_there and mode != "off" and not why_disarmed(host, hook.fields, blocks=True):
                self.guards.append(file)

    @cached_property
    def client(self) -> Client:
        """The host's own program, asked for its version."""
        return ask_client(self.host, self.machine.folders)

    def find(self, code: str, /, path: str = "", level: str = "", **values: Any) -> Finding:
        """A finding of the list about this host."""
        return finding(code, self.host.name, path, level, host=self.host, **values)


def check_lost(here: HostHere) -> Iterator[Finding]:
    """Other files that the host reads, of which it takes nothing, or with which it stops."""
    for lost in here.lost:
        if lost.path not in [file.path for file in here.files]:
            level = "error" if lost.stops_client else "warning"
            yield from_lost(lost, level, here.host.name)


def check_client(here: HostHere) -> Iterator[Finding]:
    """What the client's version lacks."""
    # Without a record hookctl was not asked about this client.
    for file in [file for file in here.files if file.record]:
        client = here.client
        known = lacks(file.host, client.version, file.settings, file.document)
        for level, does, since in known if client.version else ():
            values = {"client": client, "does": does, "since": f" to {since} or later"}
            yield file.find("client_old", client.path, level, **values)


# A variable in a .env file, and its value.
_GIVEN = r"^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*['\"]?([^\r\n'\"]*)"


def check_env_files(here: HostHere) -> Iterator[Finding]:
    """Variables that a project brings for hooks in a file which the host gives to them."""
    machine, ours = here.machine, [file for file in here.files if file.record]
    folders = [machine.alone] if machine.alone else project.upwards(machine.folders.cwd)
    for folder in folders if ours else ():
        for name in here.host.environment.files:
            path, text = os.path.join(folder, name), b""
            with contextlib.suppress(HookctlError):
                text = machine.reader.snapshot(path).data or b""
            given = re.findall(_GIVEN, text.decode("utf-8", "replace"), re.MULTILINE)
            for variable, value in dict(given).items():
                is_limit = variable == choices.LIMIT_KEY
                effect = find_effect(ours[0], variable, value, "project") or OVERRIDES * is_limit
                level = "warning" if effect == OVERRIDES else "error"
                values = {"setting": show_setting(variable, value), "place": name, "effect": effect}
                if effect:
                    yield here.find("hook_environment", path, level, **values)
        if folder == machine.cwd_project:
            return


# What keeps a hook of ours from running, by the state that it has then, and how bad that is where
# the client is there.
_CODES = {
    model.OFF: ("hook_disabled", "error"),
    model.NOT_APPROVED: ("not_approved", "error"),
    model.FOLDER_UNTRUSTED: ("not_trusted", "warning"),
    model.HIDDEN: ("not_read", "warning"),
    model.NO_TOOL: ("matcher_misses", "warning"),
}


def check_hooks(here: HostHere) -> Iterator[Finding]:
    """Our hooks that do not run: switched off, not approved, or in a file that is not read."""
    found: dict[tuple[str, model.Obstacle], list[str]] = {}
    running = {hook.own_id for hook in here.running}
    disabled = {id for file in here.files for id in file.disabled_ids}
    for hook in here.hooks:
        for obstacle in hook.obstacles if hook.own_id else ():
            is_elsewhere = obstacle.state == model.HIDDEN and hook.own_id in running
            is_wanted = obstacle.state == model.OFF and hook.own_id in disabled
            if obstacle.state in _CODES and not is_elsewhere and not is_wanted:
                found.setdefault((hook.file, obstacle), []).append(hook.own_id)
    for (path, obstacle), ids in found.items():
        code, level = _CODES[obstacle.state]
        if obstacle.state == model.OFF and obstacle.is_shared:
            code = "hooks_disabled"
        if obstacle.state in (model.NOT_APPROVED, model.FOLDER_UNTRUSTED) and not here.client.path:
            level = "info"  # nobody can approve anything in a client that is not there
        hooks, fix = ", ".join(dict.fromkeys(ids)), obstacle.fix or "See `hookctl hooks`"
        values = {"hooks": hooks, "reason": obstacle.reason, "fix": fix[0].upper() + fix[1:]}
        yield here.find(code, path, level, **values)


# Does the host really call the hook? Judged by the guard's log, and sessions without a line in it.


def check_silence(here: HostHere) -> Iterator[Finding]:
    """The newest sessions of the host, where none left a line in the guard's log."""
    machine, pattern = here.machine, here.host.transcripts
    everywhere = [file for file in here.guards if file.target.scope == "user"]
    if not everywhere or not pattern:
        return  # a guard of one project says nothing about sessions elsewhere
    written = [files.written_at(file.guard.config) for file in everywhere if file.guard]
    since, ended = max(moment or 0.0 for moment in written), []
    config = glob.escape(hosts.config_folder(here.host, machine.environ))
    for path in glob.iglob(pattern.format(config=config)):  # by name and date only
        name, at = os.path.splitext(os.path.basename(path))[0], files.written_at(path)
        if at is not None and since < at < machine.now - _AT_WORK and _SESSION.fullmatch(name):
            ended.append((at, project.session_hash(name)))
    newest = sorted(ended, reverse=True)[:_ENOUGH]
    lines = receipts.read(machine.folders.state) if len(newest) == _ENOUGH else []
    logged = {line.get("session") for line in lines if line.get("event") != receipts.WRAPPED}
    if len(newest) == _ENOUGH and logged.isdisjoint(session for _, session in newest):
        seen = f"{_ENOUGH} sessions ended since, the last at {clock.local(newest[0][0])}"
        yield here.find("hook_silent", everywhere[0].path, id=switches.STOP, seen=seen)


# Programs that are not there.

# Events, by Claude Code's names, at which a refusal stops all work, or keeps the agent at it.
_REFUSING = ("PreToolUse", "PermissionRequest", "UserPromptSubmit")
_BLOCKING = ("Stop", "SubagentStop")


def check_scripts(here: HostHere) -> Iterator[Finding]:
    """Hooks without a program that can be run: ours, and others with which the host refuses."""
    said = os.strerror(errno.ENOENT)  # as a shell says
    told = {file.path for file in here.files if file.fault}
    for hook, obstacle in [(each, one) for each in here.running for one in each.obstacles]:
        if obstacle.state not in model.FAILING:
            continue
        if obstacle.fix == REPAIR:
            path = obstacle.reason.removesuffix(" is not there")
            is_launcher = os.path.isabs(path) and path.endswith(f"/{HOOK}")
            if is_launcher and hook.file not in told:
                command = "hookctl doctor --fix"
                yield here.find("hook_missing", path, whose=hook.own_id, command=command)
            continue
        name, effect, level = hook.own_id, "", "warning"
        if not name:
            event = protocol_event(here.host, hook.event)
            rules, is_minded = here.host.reads.get(event, {}), event in (*_REFUSING, *_BLOCKING)
            if not is_minded or read_status(rules, obstacle.status, said) != "refuse":
                continue
            name, level = f"the hook on line {hook.line}", "error" if event in _REFUSING else level
            effect = f", and {here.host.title} then refuses or blocks"
        usual = "Mend it" if obstacle.state == model.NO_COMPILE else "Put it back"
        repair = obstacle.fix[:1].upper() + obstacle.fix[1:] or usual
        values = {"reason": masked_text(obstacle.reason), "effect": effect, "repair": repair}
        yield here.find("script_missing", hook.file, level, hook=name, **values)


def check_receipts(here: HostHere) -> Iterator[Finding]:
    """The hooks of packs that failed each time, as the runner noted."""
    names = {name for file in here.files if file.record for name in run_packs(file.record)}
    hooks = [hook for hook in here.hooks if hook.owner in names]
    if not hooks:
        return
    from hookctl.survey.listing import with_receipts  # late: most have the guard alone

    for hook in with_receipts(here.machine, hooks):
        failed = hook.receipts.failed
        if len(failed) >= _ENOUGH and all(failed):
            values = {"event": find_event(hook.command), "count": len(failed)}
            yield here.find("hook_fails", hook.file, id=hook.own_id, **values)


# The work in hand: can the guard read it, and does it keep an agent at it?


def check_work(here: HostHere) -> Iterator[Finding]:
    """The work of the project that the working folder is in, if a guard reads it."""
    if not here.guards:
        return
    machine, file = here.machine, here.guards[0]
    root, named = machine.cwd_project, machine.environ.get(here.host.environment.project, "")
    if os.path.isdir(named):
        root = project.find(named, machine.environ)
    state = project.state_folder(machine.folders.state, root)
    environ, now = machine.environ, machine.now
    run_files = locate(root, file.config, environ, state, now, is_brought=file.target.shared)
    if fault := read_task(run_files)[1]:
        yield here.find("run_unusable", run_files.task_path, fault=fault)
    active = os.path.join(state, "ACTIVE")
    if os.path.lexists(active) and read_end(run_files) is None:
        yield here.find("run_unusable", active, fault="it does not say when the run ends")
    work, options = find_work(run_files), choices.read_settings(file.config, here.variables)
    # Where the guard may keep an agent at it.
    if work.remaining <= 0 or not here.host.dialect.block or options.mode == "guard":
        return
    level, but, fix = "info", "", ""
    if run_files.mark:
        but, fix = f"; {run_files.mark} lets the agent stop", "`hookctl run start` removes it."
    elif work.is_stale:
        level, but = "warning", "; the guard ignores it by now"
        fix = f"{run_files.reported_by} renews it, 0 ends it."
    elif (options.require_arm or options.mode == "keepalive") and not is_armed(run_files):
        but, fix = "; no run is active, so the agent may stop", "`hookctl run start` starts one."
    age, owner = clock.age(now - work.touched), describe_owner(run_files, work)
    values = {"remaining": work.remaining, "owner": owner, "age": age, "but": but, "fix": fix}
    yield here.find("work_waiting", run_files.task_path, level, **values)
    # Does the host let the agent report without a person, as far as its settings say?
    permission = here.host.permission
    if but or run_files.task_names or not permission.path:  # names: another system writes it
        return
    *setting, free = permission.never_asks or ("",)
    for source in here.sources:
        is_free = bool(setting) and source.document.get(tuple(setting)) == free
        if is_free or here.host.report_rules(source.document, permission.path):
            return
    yield file.find("must_ask")


# For each host as it would be started in the working folder.
HOST_RULES = (
    check_client,
    check_lost,
    check_env_files,
    check_scripts,
    check_hooks,
    check_receipts,
    check_work,
    check_silence,
)


def check(
    folders: Folders, chosen: Sequence[Host], scope: str, *, everywhere: bool
) -> tuple[list[Host], list[Finding], tuple[str, ...]]:
    """Everything about hookctl's record and about these hosts or those in use, each finding once.

    The hosts, the findings, and the projects that are left out.
    """
    known = read_records(folders, everywhere=everywhere)
    machine, found = Machine(folders, known.usable, scope), [*map(from_error, known.errors)]
    wanted = []
    for host in chosen or map(hosts.load, hosts.names()):
        targets = machine.targets(host)
        if chosen or targets:
            wanted.append((host, targets))
    try:
        if journal := read_journal(folders):
            paths = ", ".join(step.path for step in journal.steps)
            found.insert(0, finding("interrupted_run", path=folders.journal, files=paths))
    except HookctlError as error:
        found.insert(0, from_error(error))
    unread = [os.path.dirname(os.path.dirname(error.path)) for error in known.errors]
    for one in chain.from_iterable(_check_host(machine, *host) for host in wanted):
        # What has no record where one cannot be read needs no advice of its own.
        is_of_unread = any(one.path.startswith(f"{folder}/") for folder in unread)
        follows = one.code == UNRECORDED and is_of_unread
        if not follows and not (unread and one.code == "not_installed"):
            found.append(one)
    # A client is named once, however many files it has.
    return [host for host, _ in wanted], list(dict.fromkeys(found)), known.others


def _check_host(machine: Machine, host: Host, targets: Sequence[Target]) -> Iterator[Finding]:
    files = [
        File(machine, target, store.find_record(machine.records, target.path)[1])
        for target in targets
    ]
    if not any(file.record or file.elements for file in files):
        path = files[0].path if files else ""
        yield finding("not_installed", host.name, path, title=host.title, name=host.name)
    for target in filter(None, map(rules_target, targets)):
        record = store.find_record(machine.records, target.path)[1]
        if record:  # hosts that share a file share its blocks, and what is found of them
            layout = hosts.rules_layout(hosts.load(record.host))
            target = Target(layout, target.scope, target.path, target.project)
        if record or machine.reader.names_us(target.path):
            files.append(File(machine, target, record))
    if files:
        yield from ask_rules(machine, host, files)


def ask_rules(machine: Machine, host: Host, files: Sequence[File]) -> Iterator[Finding]:
    """What every rule says of a host and these files; of a project alone, those about its files."""
    of_files, of_host = FILE_RULES, HOST_RULES
    if machine.alone:
        of_files, of_host = RULES_OF_PROJECT, (check_hooks, check_env_files)
    texts = [file for file in files if file.host.format == RULES]
    settings = [file for file in files if file.host.format != RULES]
    for file, check_text in product(texts, RULES_OF_TEXTS):
        yield from check_text(file)
    for file, check_file in product(settings, of_files):
        yield from check_file(file)
    here = HostHere(machine, host, settings)
    for rule in of_host:
        yield from rule(here)
