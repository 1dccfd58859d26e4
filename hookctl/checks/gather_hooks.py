"""Gathers the facts about all hooks that a host runs here, and about the work in hand."""

from __future__ import annotations

import glob
import os
import re
import shutil
from collections.abc import Iterator, Mapping

from hookctl import clock
from hookctl.checks import run_folder, scripts
from hookctl.checks.facts import (
    FoundHook,
    GuardRegistration,
    HostFacts,
    Layer,
    Run,
    WaitingWork,
)
from hookctl.checks.gather_guard import describe_registration
from hookctl.checks.machine import Machine, written_at
from hookctl.checks.scripts import NOT_EXECUTABLE, Script
from hookctl.errors import HookctlError
from hookctl.hosts import Host, loading
from hookctl.model import Path
from hookctl.packs import guard
from hookctl.packs.guard_options import is_true, value_in_effect
from hookctl.packs.run_files import RunFiles, confine_variables, locate, parse
from hookctl.packs.whose_work import describe_owner, find_work
from hookctl.packs.wrapping import original_of
from hookctl.settings import effective
from hookctl.settings.targets import GUARD
from hookctl.system import project

_NONE: dict[str, str] = {}
_GUARD_VARIABLE = r"^[ \t]*(?:export[ \t]+)?(HOOKCTL_[A-Z0-9_]+|MAX_STOP_BLOCKS)[ \t]*="


def add_hooks(machine: Machine, facts: HostFacts) -> HostFacts:
    """The facts with the hooks that the host runs here, and everything needed to judge them."""
    facts = facts._replace(
        running=tuple(_find_running(facts)),
        missing_scripts=_find_missing_scripts(machine, facts.layers),
    )
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


def _find_running(facts: HostFacts) -> Iterator[FoundHook]:
    """All hooks that the host runs: those of no scope whose hooks are switched off."""
    for layer in facts.layers:
        scope, path = layer.source.scope, layer.source.path
        is_off = effective.disabling_scope(scope, path, facts.switch_layers)
        for hook in () if is_off else layer.hooks:
            if hook.event not in layer.hidden:
                yield hook


def _find_guards(machine: Machine, facts: HostFacts) -> Iterator[GuardRegistration]:
    """The guards that the host runs on the stop event, and that do something there."""
    real_paths = {layer.source.path: layer.real_path for layer in facts.layers}
    by_real_path = {file.real_path: file for file in reversed(facts.files)}
    is_disabled = is_true(facts.variables.get("HOOKCTL_DISABLE", ""))
    for hook in () if is_disabled else facts.running:
        is_guard = hook.id == effective.STOP and hook.event == facts.host.events.get("stop")
        if not is_guard or loading.why_disarmed(facts.host, hook.event, hook.fields, blocks=True):
            continue
        registration = describe_registration(
            machine, hook, by_real_path.get(real_paths[hook.source.path])
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
    registered = {registration.hook.source.scope for registration in facts.guards}
    if not pattern or "user" not in registered:
        return
    for path in glob.iglob(pattern.format(config=glob.escape(facts.config_folder))):
        at = written_at(path)
        if at is not None:
            yield os.path.splitext(os.path.basename(path))[0], at


def _find_missing_scripts(
    machine: Machine, layers: tuple[Layer, ...]
) -> dict[tuple[str, Path], Script]:
    """The scripts of other tools' and packs' hooks that are missing or cannot be run."""
    missing = {}
    home = machine.environ["HOME"]
    for layer in layers:
        source, folder = layer.source, machine.start_of(layer.source.host)
        for hook in layer.hooks:
            command = hook.command
            if hook.id.startswith(f"{GUARD}/") or guard.read(command)[1]:
                command = original_of(command) or ""  # another tool's hook that ours wraps
            for script in find_scripts(home, source.host, source.scope, command, folder):
                broken = find_broken(script, machine.environ, source.host)
                if broken:
                    missing[hook.source.path, hook.path] = broken
                    break
    return missing


def find_scripts(
    home: str, host: Host, scope: str, command: str, folder: str, more: Mapping[str, str] = _NONE
) -> list[Script]:
    """The scripts of a command, where the host is started in this folder.

    `more` has further variables that are known.
    """
    variables, start = {"HOME": home, **more}, ""
    if scope in ("project", "local"):
        if host.environment.project:  # the folder whose settings these are
            variables[host.environment.project] = folder
        if host.environment.starts_there:
            start = folder
    return scripts.find_scripts(command, variables, start) if command else []


def find_broken(script: Script, environ: Mapping[str, str], host: Host) -> Script | None:
    """The script with what keeps it from being run; None if no obstacle is seen."""
    if _is_missing(script.path):
        return script
    if not script.is_started or not os.path.isfile(script.path):
        return None
    if not os.access(script.path, os.X_OK) and not host.handlers.makes_executable:
        return script._replace(status=script.status and 126, problem=NOT_EXECUTABLE)
    interpreter_name = find_interpreter(script.path)
    if os.path.isabs(interpreter_name):
        is_there = not _is_missing(interpreter_name)
    else:
        is_there = shutil.which(interpreter_name, path=environ.get("PATH", "")) is not None
    if not interpreter_name or is_there:
        return None
    return script._replace(problem=f"needs {interpreter_name}, which is not there")


def find_interpreter(path: str) -> str:
    """The interpreter that a script's first line names, or ''."""
    try:
        with open(path, "rb") as file:
            line = file.readline(256).decode("utf-8", "replace")
    except (OSError, ValueError):  # ValueError: no file can have this name
        return ""
    words = line[2:].split() if line.startswith("#!") else []
    if words and os.path.basename(words[0]) == "env" and not _is_missing(words[0]):
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return words[0] if words else ""


def _is_missing(path: str) -> bool:
    """Whether nothing is there; a path that cannot be looked at counts as there."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


# The work in hand.


def _locate_run(machine: Machine, facts: HostFacts, registration: GuardRegistration) -> RunFiles:
    """The work in hand of the current project, as this guard reads it."""
    root = machine.cwd_project
    named = machine.environ.get(facts.host.environment.project, "")
    if os.path.isdir(named):
        root = project.find(named, machine.environ)
    variables = _variables_for_run(facts, root)
    state = project.state_folder(machine.folders.state, root)
    is_brought = registration.hook.source.scope == "project"
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
