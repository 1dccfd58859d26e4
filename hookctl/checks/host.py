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
from hookctl.hosts.loading import can_block, read_status, why_disarmed
from hookctl.hosts.version import Client, ask_client
from hookctl.masking import masked_text
from hookctl.model import WRAP
from hookctl.packs import guard
from hookctl.packs.abilities import lacks
from hookctl.packs.choices import is_true, value_in_effect
from hookctl.packs.protocol import protocol_event
from hookctl.packs.run_files import RunFiles, is_armed, locate, parse, read_end
from hookctl.packs.whose_work import Work, describe_owner, find_work
from hookctl.settings import effective
from hookctl.settings.targets import Target
from hookctl.survey import model
from hookctl.survey.gathering import read_settings
from hookctl.survey.machine import Machine
from hookctl.survey.model import Hook, Obstacle
from hookctl.survey.programs import REPAIR, Programs
from hookctl.system import files, project
from hookctl.system.packages import HOOK, PACKAGES

_OFF = "HOOKCTL_DISABLE"
_ENOUGH = 3  # sessions without a line before anything is said
_NEWEST = 200  # sessions that are looked at
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
        for hook in () if is_off else self.running:
            is_guard = hook.own_id == effective.STOP and hook.event == self.host.events.get("stop")
            if not is_guard or why_disarmed(self.host, hook.event, hook.fields, blocks=True):
                continue
            target, path = Target(hook.within.host, hook.scope, hook.file), ""
            for file in self.files:
                if file.path == hook.file:
                    target, path = file.target, file.guard.config if file.guard else ""
            command = str(hook.fields["command"])
            path = path or guard.config_path(command, hook.own_id, "stop", target)
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
            where = f"line {lost.line}: " if lost.line else ""
            message = lost.message if lost.message.startswith("line") else where + lost.message
            fix = lost.fix or "Fix that place, or remove it."
            yield Finding(lost.code, level, message, here.host.name, lost.path, fix)


def judge_client(here: HostHere) -> Iterator[Finding]:
    """What the client's version lacks, and whether it did what the guard asked for."""
    recorded = [file for file in here.files if file.record]
    if not recorded:  # hookctl was not asked about this client
        return
    client = here.client
    for file in recorded if client.version else ():
        for level, does, since in lacks(file.host, client.version, file.settings, file.document):
            values = {"client": client, "does": does, "since": f" to {since} or later"}
            yield file.find("client_old", client.path, level, **values)
    lines = stops_of(here.machine, here.host)
    last = max([line["t"] for line in lines if line.get("code") == "went_on"], default=0.0)
    if last > client.since and any(file.guard for file in recorded):
        age = clock.age(here.machine.now - last)
        does = f"went on after the guard asked it to end the turn, last {age} ago"
        yield here.find("client_old", client.path, "warning", client=client, does=does, since="")


def stops_of(machine: Machine, host: Host) -> Iterator[dict[str, Any]]:
    """The lines of the guard's log about a host, without those of wrapped hooks."""
    for line in machine.log():
        if line.get("host") == host.name and line.get("event") != events.WRAPPED:
            yield line


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
    """Sessions of the host that should have left a line in the guard's log, but did not."""
    everywhere = [guard for guard in here.guards if guard.hook.scope == "user"]
    if not everywhere or not here.host.transcripts:
        return  # a guard of one project says nothing about sessions elsewhere
    logged = {str(line.get("session")) for line in stops_of(here.machine, here.host)}
    since = max(files.written_at(guard.path) or 0.0 for guard in everywhere)
    silent: list[float] = []
    for at, name in _list_sessions(here, since):
        if project.session_hash(name) in logged:
            break
        silent.append(at)
    if len(silent) >= _ENOUGH:
        path, fire = everywhere[0].hook.file, "hookctl fire stop --hook guard/stop"
        seen = f"{len(silent)} sessions ended, the last at {clock.local(silent[0])}"
        yield here.find("hook_silent", path, id=effective.STOP, seen=seen, fire=fire)


def _list_sessions(here: HostHere, since: float) -> list[tuple[float, str]]:
    """The newest sessions that ended after a time, by name and date only, newest first."""
    config = hosts.config_folder(here.host, here.machine.environ)
    found = []
    for path in glob.iglob(here.host.transcripts.format(config=glob.escape(config))):
        name, at = os.path.splitext(os.path.basename(path))[0], files.written_at(path)
        if at is not None and since < at < here.machine.now - _AT_WORK and _SESSION.fullmatch(name):
            found.append((at, name))
    return sorted(found, reverse=True)[:_NEWEST]


# Other tools: hooks that may force an agent on without end, and programs that are not there.

# Parts of the commands of tools that keep an agent going from a Stop hook of their own.
_KEEP_GOING = (
    *("nightly hook stop", "story-automator stop-hook"),
    *("ralph-loop", "ralph-wiggum", "ralph-stop", "loop-until-done.py"),
)
_SEEN_FOR = 7 * 24 * 3600  # seconds in which a chain that the guard saw still counts
# What a refusal does at an event, by Claude Code's names.
_WITHOUT_SCRIPT = {
    "PreToolUse": "refuses every call that it is for",
    "PermissionRequest": "refuses every call that it is for",
    "UserPromptSubmit": "refuses every prompt",
    "Stop": "blocks every stop for that",
    "SubagentStop": "blocks every stop for that",
}
_STOPS = ("Stop", "SubagentStop")
_MOST_NAMED = 5  # hooks that a finding names: a file may have thousands


def judge_stops(here: HostHere) -> Iterator[Finding]:
    """Hooks of other tools that are known to block stops, where nothing ends that."""
    event = here.host.events.get("stop")
    hooks = [hook for hook in here.running if not hook.own_id and hook.event == event]
    hooks = [hook for hook in hooks if can_block(here.host, hook.event, hook.fields)]
    if not hooks or effective.blocks(here.host, here.sources, here.machine.environ) > 0:
        return
    if any(_ends_chains(here, guard) for guard in here.guards):
        return
    known = [hook for hook in hooks if any(part in hook.command for part in _KEEP_GOING)]
    for line in here.machine.log() if here.guards else ():
        is_recent = here.machine.now - line["t"] < _SEEN_FOR
        if line["host"] == here.host.name and line["code"] == "stop_loop" and is_recent:
            known = known or hooks
    if known:
        yield _report_chain(here, known)


def _ends_chains(here: HostHere, guard: Guard) -> bool:
    """Whether a guard ends the chains that other hooks force."""
    if not here.host.dialect.end or guard.mode == "guard":
        return bool(here.host.dialect.end)
    return bool(value_in_effect("end_foreign_chains", guard.config, here.variables))


def _report_chain(here: HostHere, hooks: list[Hook]) -> Finding:
    host, fix = here.host, "Remove the hook, unless it ends by itself."
    names = ", ".join(f"{hook.title} (line {hook.line})" for hook in hooks[:_MOST_NAMED])
    if len(hooks) > _MOST_NAMED:
        names += f" and {len(hooks) - _MOST_NAMED} more"
    if host.cap_key:
        fix = f"Set {host.cap_key} to 8."
    elif host.registration.wraps:
        wrap = f"`hookctl install --host {host.name} --wrap TEXT`"
        fix = f"{wrap} limits it, with a part of its command."
    values = {"names": names, "event": host.events["stop"], "fix": fix}
    return here.find("foreign_stop", hooks[0].file, **values)


# Programs that are not there.


def judge_scripts(here: HostHere) -> Iterator[Finding]:
    """Our hooks, and others that then refuse everything, without a program that can be run."""
    told = {file.path for file in here.files if file.fault}
    for hook in here.running:
        for obstacle in hook.obstacles:
            # A pack's files and the interpreter have rules of their own.
            path = obstacle.reason.removesuffix(" is not there")
            is_program = path.endswith(f"/{HOOK}") or f"/{PACKAGES}/" in path
            is_lost = is_program and os.path.isabs(path)
            if obstacle.fix == REPAIR and is_lost and hook.file not in told:
                values = {"whose": hook.own_id, "command": "hookctl doctor --fix"}
                yield here.find("hook_missing", path, **values)
            elif obstacle.state in model.FAILING and obstacle.fix != REPAIR:
                yield from _judge_script(here, hook, obstacle)


def _judge_script(here: HostHere, hook: Hook, obstacle: Obstacle) -> Iterator[Finding]:
    effect, level, remove = "", "warning", "remove the hook"
    if not hook.own_id:
        event = protocol_event(here.host, hook.event)
        does, rules = _WITHOUT_SCRIPT.get(event), here.host.reads.get(event, {})
        said = os.strerror(errno.ENOENT)  # a shell or an interpreter says so
        if not does or read_status(rules, obstacle.status, said) != "refuse":
            return
        effect, level = f": {here.host.title} {does}", "warning" if event in _STOPS else "error"
    elif not hook.own_id.startswith(WRAP):
        remove = f"`hookctl uninstall {hook.owner}`"
    repair = obstacle.fix or "put it back"
    values = {"hook": hook.own_id or f"the hook on line {hook.line}", "remove": remove}
    values |= {"reason": masked_text(obstacle.reason), "effect": effect}
    values["repair"] = repair[0].upper() + repair[1:]
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
    active, owner = os.path.join(state, "ACTIVE"), os.path.join(run_files.folder, "OWNER")
    for path in (run_files.task, owner, active):
        fault = _find_fault(here, run_files, path)
        if fault:
            yield here.find("run_unusable", path, fault=fault)
    work = find_work(run_files)
    # Where the guard may keep an agent at it.
    if work.remaining > 0 and guard.mode != "guard" and here.host.dialect.block:
        yield from _judge_work(here, guard, run_files, work)


def _find_fault(here: HostHere, run_files: RunFiles, path: str) -> str:
    """Why the guard cannot read one of the files of a run; '' if it can, or if it is not there."""
    try:
        data = here.machine.reader.snapshot(path).data
        task = parse(data or b"{}", path).value if path == run_files.task else {}
    except HookctlError as error:
        return error.message
    if not isinstance(task, dict):
        return "it is not a JSON object"
    number = task.get(run_files.fields.get("remaining", "remaining"), 0)
    is_text = isinstance(number, str) and re.fullmatch(r"\s*-?[0-9]{1,18}\s*", number)
    if number is not None and not is_text and type(number) is not int:
        return "`remaining` is not a whole number"
    is_endless = path.endswith("/ACTIVE") and data is not None and read_end(run_files) is None
    return "it does not say when the run ends" if is_endless else ""


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
    for source in here.sources:
        for above in permission.against:
            for rule in permission.rules_in(source.document, above)[:1]:
                why, fix = f"{rule} in {'.'.join(above)} keeps it from that", "Remove that rule."
                yield here.find("must_ask", source.path, why=why, fix=fix)
                return
    *setting, free = permission.never_asks or ("",)
    for source in here.sources:
        is_free = bool(setting) and source.document.get(tuple(setting)) == free
        if is_free or permission.rules_in(source.document, permission.path):
            return
    for file in here.files:
        if file.path == guard.hook.file and permission.path:
            why, fix = "no rule allows `hookctl run`", f"`{file.install} --allow-run`."
            yield file.find("must_ask", why=why, fix=fix)
