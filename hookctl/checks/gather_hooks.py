"""Gathers the facts about all hooks that a host runs here, and about the work in hand."""

from __future__ import annotations

import glob
import os
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from hookctl import hosts
from hookctl.checks import run_folder, scripts
from hookctl.checks.facts import (
    FoundHook,
    GuardRegistration,
    HostFacts,
    KnownTool,
    Layer,
    Run,
    RunPath,
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
from hookctl.settings import effective, switches
from hookctl.settings.targets import GUARD, OWN
from hookctl.system import project
from hookctl.system.package_data import read_data

_NONE: dict[str, str] = {}
_GUARD_VARIABLE = r"^[ \t]*(?:export[ \t]+)?(HOOKCTL_[A-Z0-9_]+|MAX_STOP_BLOCKS)[ \t]*="


def add_hooks(machine: Machine, facts: HostFacts) -> HostFacts:
    """The facts with the hooks that the host runs here, and everything needed to judge them."""
    registrations = tuple(_find_registrations(machine, facts))
    facts = facts._replace(
        registrations=registrations,
        running=tuple(_find_running(facts)),
        missing_scripts=_find_missing_scripts(machine, facts.layers),
    )
    if any(not hook.id for layer in facts.layers for hook in layer.hooks):
        rows = tomllib.loads(read_data("checks", "continuations.toml").decode())["systems"]
        facts = facts._replace(
            agents=frozenset(machine.load(name).client.command for name in hosts.names()),
            systems=tuple(KnownTool(**row) for row in rows),
        )
    if registrations:
        facts = facts._replace(
            guards=tuple(_find_guards(facts)),
            env_files=_find_env_files(machine, facts),
            log=machine.log(),
            sessions=tuple(_find_sessions(facts)),
        )
    for registration in facts.at_work[:1]:
        run_files = _locate_run(machine, facts, registration)
        facts = facts._replace(run=_read_run(machine, run_files))
    return facts


def _find_registrations(machine: Machine, facts: HostFacts) -> Iterator[GuardRegistration]:
    """Every hook of the guard's on a stop, and what it runs."""
    by_real_path = {file.real_path: file for file in reversed(facts.files)}
    for layer in facts.layers:
        for hook in layer.hooks:
            if hook.id == effective.STOP:
                yield describe_registration(machine, hook, by_real_path.get(layer.real_path))


def _find_running(facts: HostFacts) -> Iterator[FoundHook]:
    """All hooks that the host runs: those of no scope whose hooks are switched off."""
    for layer in facts.layers:
        scope, path = layer.source.scope, layer.source.path
        is_off = switches.find_stopping(facts.switches, scope, path)
        for hook in () if is_off else layer.hooks:
            if hook.event not in layer.hidden:
                yield hook


def _find_guards(facts: HostFacts) -> Iterator[GuardRegistration]:
    """The guard's registrations that the host runs on the stop event, by their entries alone."""
    stop = facts.host.events.get("stop")
    running = [(hook.source.path, hook.path) for hook in facts.running]
    for registration in facts.registrations:
        hook = registration.hook
        if hook.event != stop or (hook.source.path, hook.path) not in running:
            continue
        if not loading.why_disarmed(facts.host, hook.event, hook.fields, blocks=True):
            yield registration._replace(mode=_mode_of(facts, registration))


def _mode_of(facts: HostFacts, registration: GuardRegistration) -> str:
    """The mode of a guard: variables override its configuration; without its program, off."""
    is_disabled = is_true(facts.variables.get("HOOKCTL_DISABLE", ""))
    if not registration.program or is_disabled:
        return "off"
    return str(value_in_effect("mode", registration.config, facts.variables))


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
    registered = {registration.hook.source.scope for registration in facts.registrations}
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


def _read_task(machine: Machine, path: str) -> tuple[Any, HookctlError | None]:
    """The values in the task of the work in hand, or why the hook cannot read it."""
    try:
        data = machine.reader.snapshot(path).data
        return None if data is None else parse(data, path).value, None
    except HookctlError as error:
        return None, error


def _read_run(machine: Machine, run_files: RunFiles) -> Run:
    """The content of the run folder, and the owner of the work."""
    folder, task_path = run_files.folder, run_files.task
    own = os.path.join(run_files.project, OWN)
    owner_path = os.path.join(folder, run_folder.OWNER)
    active_path = os.path.join(run_files.state, "ACTIVE")
    marks = [os.path.join(folder, name) for name in project.MARKS]
    task, task_error = _read_task(machine, task_path)
    owner = _read_bytes(machine, owner_path)[0] or b""
    active, active_error = _read_bytes(machine, active_path)
    work = find_work(run_files)
    return Run(
        own=own,
        folder=folder,
        task_path=task_path,
        task_names=run_files.fields,
        task=task,
        task_error=task_error,
        paths=tuple(_describe_run_paths([own, folder, task_path, *marks, owner_path])),
        owner_path=owner_path,
        owner=owner[:256].decode("utf-8", "replace").strip(),
        owner_since=written_at(owner_path) or 0.0,
        log_folder=os.path.basename(run_files.state),
        active_path=active_path,
        active=b"" if active_error else active,
        work=WaitingWork(
            remaining=work.remaining,
            owner=describe_owner(run_files, work),
            is_fixed=work.holder.fixed,
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


def _describe_run_paths(paths: list[str]) -> Iterator[RunPath]:
    """The paths that exist, with their modes and rights."""
    for path in dict.fromkeys(paths):
        try:
            mode = os.lstat(path).st_mode
        except (OSError, ValueError):
            continue
        yield RunPath(path, mode, os.access(path, os.R_OK), os.access(path, os.X_OK))
