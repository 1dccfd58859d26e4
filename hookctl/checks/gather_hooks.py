"""Gathers the facts about all hooks that a host runs here, and about the work in hand."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator

from hookctl import clock
from hookctl.checks import run_folder
from hookctl.checks.facts import (
    GuardRegistration,
    HostFacts,
    Run,
    WaitingWork,
)
from hookctl.checks.gather_guard import describe_registration
from hookctl.errors import HookctlError
from hookctl.hosts import loading
from hookctl.packs.guard_options import is_true, value_in_effect
from hookctl.packs.run_files import RunFiles, confine_variables, locate, parse
from hookctl.packs.whose_work import describe_owner, find_work
from hookctl.settings import effective
from hookctl.survey.machine import Machine, written_at
from hookctl.system import project

_NONE: dict[str, str] = {}
_GUARD_VARIABLE = r"^[ \t]*(?:export[ \t]+)?(HOOKCTL_[A-Z0-9_]+|MAX_STOP_BLOCKS)[ \t]*="


def add_hooks(machine: Machine, facts: HostFacts) -> HostFacts:
    """The facts with the hooks that the host runs here, and everything needed to judge them."""
    facts = facts._replace(guards=tuple(_find_guards(machine, facts)))
    if not facts.guards:
        return facts
    run_files = _locate_run(machine, facts, facts.guards[0])
    return facts._replace(
        env_files=_find_env_files(machine, facts),
        log=machine.log(),
        sessions=tuple(_find_sessions(facts)),
        run=_read_run(machine, run_files),
    )


def _find_guards(machine: Machine, facts: HostFacts) -> Iterator[GuardRegistration]:
    """The guards that the host runs on the stop event, and that do something there."""
    real_paths = {layer.source.path: layer.real_path for layer in facts.layers}
    by_real_path = {file.real_path: file for file in reversed(facts.files)}
    is_disabled = is_true(facts.variables.get("HOOKCTL_DISABLE", ""))
    for hook in () if is_disabled else facts.running:
        is_guard = hook.own_id == effective.STOP and hook.event == facts.host.events.get("stop")
        if not is_guard or loading.why_disarmed(facts.host, hook.event, hook.fields, blocks=True):
            continue
        registration = describe_registration(
            machine, hook, by_real_path.get(real_paths.get(hook.file, ""))
        )
        if registration:
            mode = str(value_in_effect("mode", registration.config, facts.variables))
            if mode != "off":
                yield registration._replace(mode=mode)


def _find_env_files(machine: Machine, facts: HostFacts) -> dict[str, list[str]]:
    """The files that give its hooks variables of the guard, from the working folder upwards."""
    files: dict[str, list[str]] = {}
    paths: list[str] = []
    for folder in project.upwards(machine.folders.cwd):
        paths += [os.path.join(folder, name) for name in facts.host.environment.files]
        if folder == machine.cwd_project:
            break
    for path in paths:
        text = (_read_bytes(machine, path)[0] or b"").decode("utf-8", "replace")
        given = re.findall(_GUARD_VARIABLE, text, re.MULTILINE)
        if given:
            files[path] = list(dict.fromkeys(given))
    return files


def _find_sessions(facts: HostFacts) -> Iterator[tuple[str, float]]:
    """The host's own sessions, if a guard should see all of them; by name and date only."""
    pattern = facts.host.transcripts
    registered = {registration.hook.scope for registration in facts.guards}
    if not pattern or "user" not in registered:
        return
    for path in glob.iglob(pattern.format(config=glob.escape(facts.config_folder))):
        at = written_at(path)
        if at is not None:
            yield os.path.splitext(os.path.basename(path))[0], at


# The work in hand.


def _locate_run(machine: Machine, facts: HostFacts, registration: GuardRegistration) -> RunFiles:
    """The work in hand of the current project, as this guard reads it."""
    root = machine.cwd_project
    named = machine.environ.get(facts.host.environment.project, "")
    if os.path.isdir(named):
        root = project.find(named, machine.environ)
    variables = _variables_for_run(facts, root)
    state = project.state_folder(machine.folders.state, root)
    is_brought = registration.hook.scope == "project"
    now = facts.workplace.now
    return locate(root, registration.config, variables, state, now, is_brought=is_brought)


def _read_run(machine: Machine, run_files: RunFiles) -> Run:
    """What the files of the work in hand say, and which of them cannot be read."""
    folder, task_path = run_files.folder, run_files.task
    active_path = os.path.join(run_files.state, "ACTIVE")
    faults, task, end = {}, None, None
    try:
        data = machine.reader.snapshot(task_path).data
        task = None if data is None else parse(data, task_path).value
    except HookctlError as error:
        faults[task_path] = error.message
    for path in (os.path.join(folder, run_folder.OWNER), active_path):
        data, error = _read_bytes(machine, path)
        if error:
            faults[path] = error.message
        elif path == active_path and data is not None:
            end = clock.timestamp(data.decode("ascii", "replace").strip())
            if end is None:
                faults[path] = "it does not say when the run ends"
    marks = [name for name in project.MARKS if os.path.lexists(os.path.join(folder, name))]
    work = find_work(run_files)
    return Run(
        task_path=task_path,
        task_names=run_files.fields,
        task=task,
        faults=faults,
        mark=marks[0] if marks else "",
        is_active=end is not None and end > run_files.now,
        work=WaitingWork(
            remaining=work.remaining,
            owner=describe_owner(run_files, work),
            age=run_files.now - work.touched,
            is_stale=work.is_stale,
        ),
    )


def _variables_for_run(facts: HostFacts, root: str) -> dict[str, str]:
    """The guard's variables, without those of a project that lead out of the project."""
    variables = dict(facts.workplace.environ)
    for layer in reversed(facts.layers):
        shared = layer.source.scope == "project"
        variables |= confine_variables(layer.env, root, facts.variables) if shared else layer.env
    return variables


def _read_bytes(machine: Machine, path: str) -> tuple[bytes | None, HookctlError | None]:
    try:
        return machine.reader.snapshot(path).data, None
    except HookctlError as error:
        return None, error
