"""Judges a host as it starts in the working folder: what it reads, runs, and does not run."""

from __future__ import annotations

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
from hookctl.hosts import Host, loading
from hookctl.hosts.version import Client, ask_client
from hookctl.ledger import store
from hookctl.packs import guard
from hookctl.packs.abilities import lacks
from hookctl.packs.guard_options import is_true, value_in_effect
from hookctl.settings import effective
from hookctl.settings.targets import Target
from hookctl.survey.gathering import read_settings
from hookctl.survey.machine import Machine, written_at
from hookctl.survey.model import (
    FOLDER_UNTRUSTED,
    HIDDEN,
    NOT_APPROVED,
    OFF,
    Hook,
    Obstacle,
)
from hookctl.survey.programs import Programs
from hookctl.system import project

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
        layers = machine.layers(host, user, machine.start_of(host))
        self.sources = [layer.source for layer in layers]  # the winning ones first
        self.variables = {**machine.environ, **effective.variables(self.sources)}
        # Those that the host starts, or will once a person has approved them.
        self.running = [hook for hook in self.hooks if hook.is_started or hook.is_waiting]
        self.guards = list(self._find_guards())

    @cached_property
    def client(self) -> Client:
        """The host's own program, asked for its version."""
        return ask_client(self.host, self.machine.folders)

    @cached_property
    def now(self) -> float:
        return clock.now(self.machine.environ)

    def _find_guards(self) -> Iterator[Guard]:
        """The guards that the host runs on the stop event, and that do something there."""
        is_disabled = is_true(self.variables.get("HOOKCTL_DISABLE", ""))
        for hook in () if is_disabled else self.running:
            is_guard = hook.own_id == effective.STOP and hook.event == self.host.events.get("stop")
            if not is_guard or loading.why_disarmed(
                self.host, hook.event, hook.fields, blocks=True
            ):
                continue
            path, config = self._read_config_of(hook)
            mode = str(value_in_effect("mode", config, self.variables)) if path else "off"
            if mode != "off":
                yield Guard(hook, path, config, mode)

    def _read_config_of(self, hook: Hook) -> tuple[str, dict[str, Any]]:
        """The guard's configuration that a hook reads, with its path; '' without its program."""
        read, target = self.machine.reader.snapshot, Target(hook.within.host, hook.scope, hook.file)
        path = ""
        for file in self.files:
            if store.real_path(file.path) == store.real_path(hook.file):
                target, path = file.target, file.guard.config if file.guard else ""
        command = str(hook.fields["command"])
        path = path or guard.config_path(command, hook.own_id, "stop", target)
        try:
            is_there = bool(path and read(guard.launcher_of(path)).data)
        except HookctlError:
            is_there = False
        return (path, read_config(path, read).value) if is_there else ("", {})

    def find(self, code: str, /, path: str = "", level: str = "", **values: Any) -> Finding:
        """A finding of the list about this host."""
        return finding(code, self.host.name, path, level, host=self.host, **values)


def report_nothing(host: Host, path: str = "") -> Finding:
    """The finding that a host has nothing of hookctl's."""
    return finding("not_installed", host.name, path, title=host.title, name=host.name)


def judge_nothing(here: HostHere) -> Iterator[Finding]:
    """A host without any of hookctl's entries."""
    if not any(file.record or file.elements for file in here.files):
        yield report_nothing(here.host, here.files[0].path)


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
    for file in here.files:
        if file.record is None:
            continue
        client, said = here.client, []
        if client.version:
            for level, does, since in lacks(
                file.host, client.version, file.settings, file.document
            ):
                said.append((level, does, f" to {since} or later"))
        went_on = [
            line["t"]
            for line in stops_of(here.machine, here.host)
            if file.guard and line.get("code") == "went_on"
        ]
        last = max(went_on, default=0.0)
        if last > client.since:
            age = clock.age(here.now - last)
            does = f"went on after the guard asked it to end the turn, last {age} ago"
            said.append(("warning", does, ""))
        for level, does, since in said:
            yield file.find("client_old", client.path, level, client=client, does=does, since=since)


def stops_of(machine: Machine, host: Host) -> Iterator[dict[str, Any]]:
    """The lines of the guard's log about a host, without those of wrapped hooks."""
    for line in machine.log():
        if line.get("host") == host.name and line.get("event") != events.WRAPPED:
            yield line


# What keeps a hook of ours from running, by the state that it has then, and how bad that is where
# the client is there.
_CODES = {
    OFF: ("hook_disabled", "error"),
    NOT_APPROVED: ("not_approved", "error"),
    FOLDER_UNTRUSTED: ("not_trusted", "warning"),
    HIDDEN: ("not_read", "warning"),
}


def judge_hooks(here: HostHere) -> Iterator[Finding]:
    """Our hooks that do not run: switched off, not approved, or in a file that is not read."""
    found: dict[tuple[str, Obstacle, bool], list[str]] = {}
    running = {hook.own_id for hook in here.running}
    disabled = {id for file in here.files for id in file.disabled_ids}
    for hook in here.hooks:
        for obstacle in (*hook.obstacles, *hook.shared) if hook.own_id else ():
            is_elsewhere = obstacle.state == HIDDEN and hook.own_id in running
            is_wanted = obstacle.state == OFF and hook.own_id in disabled
            if obstacle.state in _CODES and not is_elsewhere and not is_wanted:
                is_shared = obstacle in hook.shared
                found.setdefault((hook.file, obstacle, is_shared), []).append(hook.own_id)
    for (path, obstacle, is_shared), ids in found.items():
        code, level = _CODES[obstacle.state]
        if obstacle.state == OFF and is_shared:
            code = "hooks_disabled"
        if obstacle.state in (NOT_APPROVED, FOLDER_UNTRUSTED) and not here.client.path:
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
    since = max(written_at(guard.path) or 0.0 for guard in everywhere)
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
        name, at = os.path.splitext(os.path.basename(path))[0], written_at(path)
        if at is not None and since < at < here.now - _AT_WORK and _SESSION.fullmatch(name):
            found.append((at, name))
    return sorted(found, reverse=True)[:_NEWEST]
