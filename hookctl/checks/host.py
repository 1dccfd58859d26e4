"""Judges a host as it starts here: what it reads and runs, the hooks of others, work in hand."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from hookctl import clock, events, hosts
from hookctl.checks import codes
from hookctl.checks.codes import Finding, finding
from hookctl.checks.file import File, read_config
from hookctl.errors import HookctlError
from hookctl.hosts import Host
from hookctl.hosts.loading import read_status, why_disarmed
from hookctl.hosts.version import Client, ask_client
from hookctl.masking import masked_text
from hookctl.model import WRAP
from hookctl.packs import guard
from hookctl.packs.abilities import lacks
from hookctl.packs.choices import is_true, value_in_effect
from hookctl.packs.protocol import protocol_event
from hookctl.settings import effective
from hookctl.settings.targets import Target
from hookctl.survey import model
from hookctl.survey.gathering import read_settings
from hookctl.survey.machine import Machine
from hookctl.survey.model import Hook, Obstacle
from hookctl.survey.programs import REPAIR, Programs
from hookctl.system import files, project
from hookctl.system.packages import HOOK, PACKAGES
from hookctl.work.run_files import RunFiles, find_fault, is_armed, locate, read_end
from hookctl.work.whose_work import Work, describe_owner, find_work

_OFF = "HOOKCTL_DISABLE"
_ENOUGH = 3  # sessions without a line before anything is said
_AT_WORK = 300  # seconds since a session was written to in which it may not have stopped yet
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Guard(NamedTuple):
    """The guard's hook on a stop that runs here, and what it runs."""

    hook: Hook
    path: str  # of its configuration
    config: dict[str, Any]  # what that says
    mode: str  # in effect


class HostHere:
    """A host as it starts in the working folder."""

    def __init__(self, machine: Machine, host: Host, files: Sequence[File]) -> None:
        self.machine, self.host = machine, host
        self.files = files  # that have or may have something of ours
        reading, programs = read_settings(machine, [host]), Programs(machine, compiles=False)
        self.hooks = [programs.add_fault(hook) for hook in reading.hooks]
        self.lost = reading.lost  # files of which it takes nothing
        user = machine.active_file(host, "user")[1]
        # What it reads, the winning files first.
        self.sources = machine.sources(host, user, machine.start_of(host))
        self.variables = {**machine.environ, **effective.variables(self.sources)}
        # Those that the host starts, or will once a person has approved them.
        self.running = [hook for hook in self.hooks if hook.is_started or hook.is_waiting]
        self.guards = list(self._find_guards())

    @cached_property
    def client(self) -> Client:
        """The host's own program, asked for its version."""
        return ask_client(self.host, self.machine.folders)

    def _find_guards(self) -> Iterator[Guard]:
        """The guards that the host runs on the stop event, and that do something there."""
        read, is_off = self.machine.reader.snapshot, is_true(self.variables.get(_OFF, ""))
        files = {file.path: file for file in self.files}
        for hook in () if is_off else self.running:
            is_guard = hook.own_id == effective.STOP and hook.event == self.host.events.get("stop")
            if not is_guard or why_disarmed(self.host, hook.fields, blocks=True):
                continue
            file = files.get(hook.file)
            target = file.target if file else Target(hook.within.host, hook.scope, hook.file)
            path = file.guard.config if file and file.guard else ""
            path = path or guard.config_path(
                str(hook.fields["command"]), hook.own_id, "stop", target
            )
            config, is_there = read_config(path, read).value, False
            with contextlib.suppress(HookctlError):
                is_there = bool(path and read(guard.launcher_of(path)).data)
            mode = str(value_in_effect("mode", config, self.variables))
            if is_there and mode != "off":
                yield Guard(hook, path, config, mode)

    def find(self, code: str, /, path: str = "", level: str = "", **values: Any) -> Finding:
        """A finding of the list about this host."""
        return finding(code, self.host.name, path, level, host=self.host, **values)


def judge_lost(here: HostHere) -> Iterator[Finding]:
    """Other files that the host reads, of which it takes nothing, or with which it stops."""
    known = {file.path for file in here.files}
    for lost in here.lost:
        if lost.path not in known:
            level = "error" if lost.stops_client else "warning"
            fix = lost.fix or "Fix that place, or remove it."
            yield Finding(lost.code, level, lost.text, here.host.name, lost.path, fix)


def judge_client(here: HostHere) -> Iterator[Finding]:
    """What the client's version lacks."""
    recorded = [file for file in here.files if file.record]
    if not recorded:  # hookctl was not asked about this client
        return
    client = here.client
    for file in recorded if client.version else ():
        for level, does, since in lacks(file.host, client.version, file.settings, file.document):
            values = {"client": client, "does": does, "since": f" to {since} or later"}
            yield file.find("client_old", client.path, level, **values)


# What keeps a hook of ours from running, by the state that it has then, and how bad that is where
# the client is there.
_CODES = {
    model.OFF: ("hook_disabled", "error"),
    model.NOT_APPROVED: ("not_approved", "error"),
    model.FOLDER_UNTRUSTED: ("not_trusted", "warning"),
    model.HIDDEN: ("not_read", "warning"),
    model.NO_TOOL: ("matcher_misses", "warning"),
}


def judge_hooks(here: HostHere) -> Iterator[Finding]:
    """Our hooks that do not run: switched off, not approved, or in a file that is not read."""
    found: dict[tuple[str, Obstacle, bool], list[str]] = {}
    running = {hook.own_id for hook in here.running}
    disabled = {id for file in here.files for id in file.disabled_ids}
    for hook in here.hooks:
        for obstacle in (*hook.obstacles, *hook.shared) if hook.own_id else ():
            is_elsewhere = obstacle.state == model.HIDDEN and hook.own_id in running
            is_wanted = obstacle.state == model.OFF and hook.own_id in disabled
            if obstacle.state in _CODES and not is_elsewhere and not is_wanted:
                is_shared = obstacle in hook.shared
                found.setdefault((hook.file, obstacle, is_shared), []).append(hook.own_id)
    for (path, obstacle, is_shared), ids in found.items():
        code, level = _CODES[obstacle.state]
        if obstacle.state == model.OFF and is_shared:
            code = "hooks_disabled"
        if obstacle.state in (model.NOT_APPROVED, model.FOLDER_UNTRUSTED) and not here.client.path:
            level = "info"  # nobody can approve anything in a client that is not there
        values = codes.describe_obstacle(obstacle, ids)
        yield here.find(code, path, level, **values)


# Does the host really call the hook? Judged by the guard's log, and sessions without a line in it.


def judge_silence(here: HostHere) -> Iterator[Finding]:
    """The newest sessions of the host, where none left a line in the guard's log."""
    everywhere = [guard for guard in here.guards if guard.hook.scope == "user"]
    if not everywhere or not here.host.transcripts:
        return  # a guard of one project says nothing about sessions elsewhere
    lines = here.machine.log
    logged = {line.get("session") for line in lines if line.get("event") != events.WRAPPED}
    since = max(files.written_at(guard.path) or 0.0 for guard in everywhere)
    newest = _list_sessions(here, since)[:_ENOUGH]
    if len(newest) == _ENOUGH and logged.isdisjoint(project.session_hash(id) for _, id in newest):
        path = everywhere[0].hook.file
        seen = f"{_ENOUGH} sessions ended since, the last at {clock.local(newest[0][0])}"
        yield here.find("hook_silent", path, id=effective.STOP, seen=seen)


def _list_sessions(here: HostHere, since: float) -> list[tuple[float, str]]:
    """The sessions that ended after a time, by name and date only, newest first."""
    config = hosts.config_folder(here.host, here.machine.environ)
    found = []
    for path in glob.iglob(here.host.transcripts.format(config=glob.escape(config))):
        name, at = os.path.splitext(os.path.basename(path))[0], files.written_at(path)
        if at is not None and since < at < here.machine.now - _AT_WORK and _SESSION.fullmatch(name):
            found.append((at, name))
    return sorted(found, reverse=True)


# Programs that are not there.

# Events, by Claude Code's names, at which a refusal stops all work, or keeps the agent at it.
_REFUSING = ("PreToolUse", "PermissionRequest", "UserPromptSubmit")
_BLOCKING = ("Stop", "SubagentStop")


def judge_scripts(here: HostHere) -> Iterator[Finding]:
    """Hooks without a program that can be run: ours, and others with which the host refuses."""
    told = {file.path for file in here.files if file.fault}
    for hook in here.running:
        for obstacle in hook.obstacles:
            path = obstacle.reason.removesuffix(" is not there")
            is_program = path.endswith(f"/{HOOK}") or f"/{PACKAGES}/" in path
            if obstacle.state in model.FAILING and obstacle.fix != REPAIR:
                yield from _judge_script(here, hook, obstacle)
            elif is_program and os.path.isabs(path) and hook.file not in told:
                values = {"whose": hook.own_id, "command": "hookctl doctor --fix"}
                yield here.find("hook_missing", path, **values)


def _judge_script(here: HostHere, hook: Hook, obstacle: Obstacle) -> Iterator[Finding]:
    name, effect, level, remove = hook.own_id, "", "warning", "remove the hook"
    if not name:
        event = protocol_event(here.host, hook.event)
        rules, said = here.host.reads.get(event, {}), os.strerror(errno.ENOENT)  # as a shell says
        is_minded = event in (*_REFUSING, *_BLOCKING)
        if not is_minded or read_status(rules, obstacle.status, said) != "refuse":
            return
        name, level = f"the hook on line {hook.line}", "error" if event in _REFUSING else level
        effect = f", and {here.host.title} then refuses or blocks"
    elif not name.startswith(WRAP):
        remove = f"`hookctl uninstall {hook.owner}`"
    repair = obstacle.fix or "put it back"
    values = {"hook": name, "reason": masked_text(obstacle.reason), "effect": effect}
    values |= {"repair": repair[0].upper() + repair[1:], "remove": remove}
    yield here.find("script_missing", hook.file, level, **values)


# The work in hand: can the guard read it, and does it keep an agent at it?


def judge_work(here: HostHere) -> Iterator[Finding]:
    """The work of the project that the working folder is in, if a guard reads it."""
    if not here.guards:
        return
    machine, guard = here.machine, here.guards[0]
    root, named = machine.cwd_project, machine.environ.get(here.host.environment.project, "")
    if os.path.isdir(named):
        root = project.find(named, machine.environ)
    state = project.state_folder(machine.folders.state, root)
    is_brought = guard.hook.scope == "project"
    environ, now = machine.environ, machine.now
    run_files = locate(root, guard.config, environ, state, now, is_brought=is_brought)
    if fault := find_fault(run_files):
        yield here.find("run_unusable", run_files.task, fault=fault)
    active = os.path.join(state, "ACTIVE")
    if os.path.lexists(active) and read_end(run_files) is None:
        yield here.find("run_unusable", active, fault="it does not say when the run ends")
    work = find_work(run_files)
    # Where the guard may keep an agent at it.
    if work.remaining > 0 and guard.mode != "guard" and here.host.dialect.block:
        yield from _judge_work(here, guard, run_files, work)


def _judge_work(here: HostHere, guard: Guard, run_files: RunFiles, work: Work) -> Iterator[Finding]:
    """How much work waits and for whom, and what lets the agent stop all the same."""
    must = value_in_effect("require_arm", guard.config, here.variables) is True
    level, but, fix = "info", "", ""
    if run_files.mark:
        but, fix = f"; {run_files.mark} lets the agent stop", "`hookctl run start` removes it."
    elif work.is_stale:
        level, but = "warning", "; the guard ignores it by now"
        fix = f"{run_files.reported_by} renews it, 0 ends it."
    elif (must or guard.mode == "keepalive") and not is_armed(run_files):
        but, fix = "; no run is active, so the agent may stop", "`hookctl run start` starts one."
    age, owner = clock.age(here.machine.now - work.touched), describe_owner(run_files, work)
    values = {"remaining": work.remaining, "owner": owner, "age": age, "but": but, "fix": fix}
    yield here.find("work_waiting", run_files.task, level, **values)
    if not but and not run_files.fields:  # else another system writes it
        yield from _judge_permission(here, guard)


def _judge_permission(here: HostHere, guard: Guard) -> Iterator[Finding]:
    """Whether the host lets the agent report without a person, as far as its settings say."""
    permission = here.host.permission
    *setting, free = permission.never_asks or ("",)
    for source in here.sources:
        is_free = bool(setting) and source.document.get(tuple(setting)) == free
        if is_free or permission.rules_in(source.document, permission.path):
            return
    for file in here.files:
        if file.path == guard.hook.file and permission.path:
            yield file.find("must_ask")
