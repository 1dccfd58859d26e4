"""Gathers the facts about what hooks of hookctl run: the guard's programs, and the packs' files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

from hookctl import events
from hookctl.checks import programs
from hookctl.checks.facts import (
    Configuration,
    FileFacts,
    GuardRegistration,
    Python,
    value_of,
)
from hookctl.documents import CONFLICT
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.ledger import committed
from hookctl.packs import guard
from hookctl.packs.run_files import describe_outside
from hookctl.settings.targets import GUARD, Target
from hookctl.survey.machine import Machine, written_at
from hookctl.survey.model import Hook
from hookctl.system import files, interpreter, owners, project

# Of a decision about another agent than the one that a pack's hook runs for.
_OF_OTHER_AGENTS = ("child", "subagent", "no_input")


def add_programs(machine: Machine, facts: FileFacts) -> FileFacts:
    """The facts with what is wrong with the programs of a file's hooks, and the configuration."""
    read = machine.reader.snapshot
    if facts.guard:
        config = configuration(facts.guard.config, read)
        explain_conflict(facts.target, config.error)
        facts = facts._replace(config=config)
    if not facts.elements and not facts.packs:
        return facts
    fault = programs.find_fault(
        machine.folders, machine.records, facts.target, read, commands_of(facts)
    )
    known = [fault.path] if fault else []
    lost = {}
    for hook in facts.elements:
        path = guard.read(str(hook.fields.get("command")))[1]  # no absolute one at project scope
        if os.path.isabs(path) and not os.path.isfile(path) and path not in known:
            lost[hook.id] = path
    return facts._replace(fault=fault, lost_programs=lost)


def add_guard(machine: Machine, facts: FileFacts) -> FileFacts:
    """The facts with each program of the guard, their Python, and the guard's log."""
    target, settings = facts.target, facts.settings
    config = facts.config
    assert config is not None
    facts = facts._replace(
        python=_find_python(machine, target, settings.python)
        if settings and settings.events
        else None,
        log=tuple(_find_stops(machine, facts.host.name)),
    )
    if target.shared:
        outside = tuple(describe_outside(config.value, target.project, machine.environ))
        path_python = first_python(value_of(facts.reaching, {}, "PATH").text, target.project)
        config = config._replace(outside=outside)
        facts = facts._replace(config=config, path_python=path_python)
    return facts


def commands_of(facts: FileFacts) -> list[str]:
    """The commands of hookctl's recorded hooks that stand in a file."""
    known = {entry.id for entry in facts.entries}
    return [str(hook.fields.get("command")) for hook in facts.elements if hook.id in known]


def configuration(path: str, read: Callable[[str], files.Snapshot]) -> Configuration:
    """The guard's configuration at a path, which is '' where it has none."""
    if not path:
        return Configuration(path, False, {}, None)
    try:
        data = read(path).data
        if data is None:
            return Configuration(path, False, {}, None)
        value = JsonDocument.parse(data, where=path, comments=False, trailing_commas=False).value
        if not isinstance(value, dict):
            raise HookctlError("wrong_shape", "it is not a JSON object")
    except HookctlError as error:
        return Configuration(path, True, {}, error)
    return Configuration(path, True, value, None)


def explain_conflict(target: Target, error: HookctlError | None) -> None:
    """Let the error of a merge conflict in a project say how to resolve it."""
    if error and error.message == CONFLICT and target.shared:
        with contextlib.suppress(HookctlError):  # of the ledger, which has its own finding
            error.hint = committed.conflict_fix(target.project, error.path) or error.hint


def _find_python(machine: Machine, target: Target, path: str) -> Python:
    """The interpreter that runs a launcher, asked for its version if it can be started.

    `path` is that on record.
    """
    if target.shared:  # the shared command runs whatever python3 is on PATH
        path = interpreter.python3(machine.environ, target.project) or "python3"
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        return Python(path, False, None)
    fault = owners.find_fault(path)
    if fault:
        return Python(path, True, None, fault)
    answer = interpreter.ask(path)
    return Python(path, True, answer[1] if answer else None)


def first_python(path: str, project: str) -> str:
    """The first python3 on a PATH, as a hook that is started in the project finds it; or ''."""
    for folder in path.split(":") if path else ():
        program = os.path.join(project, folder, "python3")
        if os.path.lexists(program):
            return program
    return ""


def _find_stops(machine: Machine, host: str) -> Iterator[dict[str, Any]]:
    """The log lines of a host, without those of wrapped hooks."""
    for line in machine.log():
        if line.get("host") == host and line.get("event") != events.WRAPPED:
            yield line


def describe_registration(
    machine: Machine, hook: Hook, facts: FileFacts | None
) -> GuardRegistration | None:
    """A hook of the guard's on a stop, and what it runs; None where its program is not there.

    `facts` are of its file, if known.
    """
    pack_record = facts.guard if facts else None
    target = facts.target if facts else Target(hook.within.host, hook.scope, hook.file)
    command, read = str(hook.fields["command"]), machine.reader.snapshot
    if pack_record:
        config = pack_record.config
    else:
        config = guard.config_path(command, hook.own_id, "stop", target)
    try:
        if not config or not read(guard.launcher_of(config)).data:
            return None
    except HookctlError:
        return None
    since = written_at(config) if os.path.isfile(config) else None
    return GuardRegistration(hook, configuration(config, read).value, since)


def add_packs(machine: Machine, facts: FileFacts) -> FileFacts:
    """The facts with the installed files of the other packs, and what ran of them."""
    faults = {}
    for name, pack_record in sorted(facts.packs.items()):
        if name == GUARD:
            continue
        fault = programs.find_pack_fault(pack_record, machine.reader.snapshot)
        if fault:
            faults[name] = fault
    facts = facts._replace(pack_faults=faults)
    if not facts.run_packs:
        return facts
    python = str(facts.packs[facts.run_packs[0]].settings.get("python", ""))
    facts = facts._replace(runner_python=_find_python(machine, facts.target, python))
    return _add_runs(machine, facts)


def _add_runs(machine: Machine, facts: FileFacts) -> FileFacts:
    """The facts with the runs of packs' hooks, and the stops that show that their event came."""
    log_folder = ""
    if facts.target.project:
        state = project.state_folder(machine.folders.state, facts.target.project)
        log_folder = os.path.basename(state)
    stops = []
    for line in _find_stops(machine, facts.host.name):
        is_here = log_folder in ("", line["project"])
        if is_here and line.get("event") == "stop" and line.get("code") not in _OF_OTHER_AGENTS:
            stops.append(line["t"])
    return facts._replace(runs=machine.runs(log_folder), stops=tuple(stops))
