"""Judges the limit, the host cap, and the variables that reach the hook."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hookctl.checks.codes import Finding
from hookctl.checks.file import File
from hookctl.checks.host import HostHere
from hookctl.errors import HookctlError
from hookctl.hosts import read_cap
from hookctl.masking import masked
from hookctl.packs import guard
from hookctl.packs.choices import DEFAULT_LIMIT, LIMIT_KEY
from hookctl.packs.guard_options import (
    is_true,
    schema,
    switches_off,
    value_in_effect,
    whole_number,
)
from hookctl.packs.risks import loads_code
from hookctl.settings import effective
from hookctl.system import project


def judge(file: File) -> Iterator[Finding]:
    """The limit and the cap that are in effect in the project, or in the working folder."""
    if file.settings is None or file.settings.mode == "off":
        return
    if effective.STOP in file.disabled_ids:
        return
    config = file.config.value
    limit = effective.variable(file.reaching, file.machine.environ, LIMIT_KEY)
    if limit.is_set and whole_number(limit.text) is None:
        wrong = f"{shown(LIMIT_KEY, limit.text)} is not a whole number; the hook ignores it"
        yield file.find("config_invalid", limit.path, wrong=wrong)
    mode = value_in_effect("mode", config, {})
    # Another mode than on record has a finding of its own; the cap is that of the one on record.
    if mode in ("breaker", "keepalive") and not file.has_other_mode:
        yield from _judge_cap(file, mode, config, limit.text)


def _judge_cap(file: File, mode: str, config: Any, text: str) -> Iterator[Finding]:
    """A host cap that lets the agent stop before the guard would, where something can be done."""
    host, sources, environ = file.host, file.reaching, file.machine.environ
    limit = guard.limit_of(text, config.get("max_stop_blocks"))
    named = str(config.get("limit_env", ""))
    theirs = whole_number(effective.variable(sources, environ, named).text) if named else 0
    if theirs and theirs > 0:  # another system's limit wins
        limit = theirs
    wanted, blocks = guard.cap_for(limit), limit - (config.get("count") == "attempts")
    if mode == "keepalive":
        own = config.get("keepalive_cap")
        is_own = type(own) is int and 0 < own < guard.ARMED_CEILING
        wanted, blocks = guard.UNLIMITED_CAP, own if is_own else guard.ARMED_CEILING
    value = effective.cap(host, sources, environ)
    cap, key = read_cap(host, value.text), host.cap_key or host.cap.get("field", "")
    wanted = str(min(int(wanted), host.cap.get("most", int(wanted))))
    best = read_cap(host, wanted) if key else cap  # the blocks that the host takes then
    named = key or ".".join(host.cap.get("setting", ()))
    is_theirs = bool(named) and not key  # a setting that hookctl leaves to the person
    is_asked = is_theirs if mode == "keepalive" else limit != DEFAULT_LIMIT
    if not 0 < cap < blocks or not (cap < best or is_asked):
        return  # else the host allows no more, and nobody asked for it
    fix = f"Set {named} to {wanted}."
    if best < blocks and mode == "breaker" and not is_theirs:
        fix = f"`{file.install} --set {LIMIT_KEY}={best:g}` asks for what {host.title} allows."
    yield file.find("cap_below_limit", value.path or file.path, cap=cap, blocks=blocks, fix=fix)


# Variables that reach the hook: from the env of every scope, and from the shell.

# Not settings of the guard, but they change its state folder and its clock.
_MOVING = ("HOOKCTL_STATE_DIR", "HOOKCTL_NOW")
_ELSEWHERE = ("max_stop_blocks", "state_dir", "$schema", "hosts")  # without variables
_SYSTEM_FOLDERS = ("/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/local/bin")
_GIVEN = r"^[ \t]*(?:export[ \t]+)?(HOOKCTL_[A-Z0-9_]+|MAX_STOP_BLOCKS)[ \t]*="  # in a .env file
_OVERRIDES = "overrides the hook's configuration"


def judge_environment(file: File) -> Iterator[Finding]:
    """The guard's variables in settings files, which override the hook's configuration."""
    ours = {entry.path[-1] for entry in file.entries if not entry.id}
    known = {*_list_variables(file), *_MOVING}
    for source in file.sources:
        env, place = effective.variables([source]), f"{source.scope} scope"
        effects = _find_ended(env) if source.scope == "project" else {}
        for name in filter(loads_code, env.keys() - ours if file.target.shared else ()):
            effects[name] = "lets every program that the agent starts, hooks too, load other code"
        for name, effect in sorted(effects.items()):
            yield report_variable(file, source.path, name, effect, place)
        for name in sorted(known & env.keys() - effects.keys()):
            effect = _find_effect(file, name, env[name])
            level = "warning" if effect == _OVERRIDES else "error"
            if effect:
                setting = shown(name, env[name])
                yield report_variable(file, source.path, setting, effect, place, level)
    given = effective.variable(file.reaching, {}, "PATH")
    if file.target.shared and given.source:
        effect = _find_fault_of_path(given.text, file.target.project)
        if effect:
            yield report_variable(file, given.path, "PATH", effect, f"{given.source.scope} scope")


def judge_shell(file: File) -> Iterator[Finding]:
    """The variables of this shell that switch the guard off, where no settings file sets them."""
    environ = file.machine.environ
    for name in sorted(_list_variables(file) & environ.keys()) if file.guard else ():
        effect = _find_effect(file, name, environ[name])
        is_set = effective.variable(file.reaching, environ, name).source
        if effect not in ("", _OVERRIDES) and not is_set:
            setting, place = shown(name, environ[name]), "this shell"
            found = report_variable(file, place, setting, effect, place)
            yield found._replace(path="")  # no file is at fault


def judge_env_files(here: HostHere) -> Iterator[Finding]:
    """Variables for the guard that a project brings in a file which the host gives to hooks."""
    machine = here.machine
    for folder in project.upwards(machine.folders.cwd) if here.guards else ():
        for name in here.host.environment.files:
            path, text = os.path.join(folder, name), b""
            with contextlib.suppress(HookctlError):
                text = machine.reader.snapshot(path).data or b""
            given = re.findall(_GIVEN, text.decode("utf-8", "replace"), re.MULTILINE)
            if given:
                setting, place = ", ".join(dict.fromkeys(given)), os.path.basename(path)
                yield report_variable(here, path, setting, _OVERRIDES, place, "warning")
        if folder == machine.cwd_project:
            return


def report_variable(
    place_of: File | HostHere,
    path: str,
    setting: str,
    effect: str,
    place: str,
    level: str = "error",
) -> Finding:
    """The finding about a variable that reaches the hook from a file, or from this shell."""
    values = {"setting": setting, "place": place, "effect": effect}
    return place_of.find("hook_environment", path, level, **values)


def _list_variables(file: File) -> set[str]:
    """The variables that the hook takes as settings, and those that switch it off."""
    names = {f"HOOKCTL_{name.upper()}" for name in schema() if name not in _ELSEWHERE}
    return {"HOOKCTL_DISABLE", *names, *_list_child_variables(file)}


def _list_child_variables(file: File) -> list[str]:
    names: list[str] = value_in_effect("child_env", file.config.value, {})
    return names


def _find_effect(file: File, name: str, value: str) -> str:
    """What a variable of the guard's does to it; '' if nothing."""
    off = off_by_variable(name, value, file.config.value)
    return off or ("" if name in _list_child_variables(file) else _OVERRIDES)


def shown(name: str, value: str) -> str:
    """A variable with its value, quoted as in a settings file, secrets masked."""
    return f"{name}={json.dumps(masked(value, name), ensure_ascii=False)}"


def off_by_variable(name: str, value: str, config: Any) -> str:
    """How a variable keeps the guard from blocking; '' if it does not."""
    is_child = name in value_in_effect("child_env", config, {}) and is_true(value)
    if switches_off(name, value) or is_child:
        return "switches the guard off"
    if name == "HOOKCTL_MODE" and value.strip() == "off":
        return "sets the guard's mode to off, so it never blocks a stop"
    return ""


def _find_ended(env: Mapping[str, str]) -> dict[str, str]:
    """The variables of a project's settings that stop the guard for every user, and how.

    Where the state is moved to, it can perhaps be kept on one machine and not on another.
    """
    ended = {}
    for name, text in env.items():
        if name in ("HOME", "XDG_STATE_HOME", "HOOKCTL_STATE_DIR") and text.strip():
            ended[name] = "moves the guard's state, perhaps to where it cannot be kept"
        elif name == "HOOKCTL_NOW" and text.strip():
            ended[name] = "stops the guard's clock"
    return ended


def _find_fault_of_path(value: str, project: str) -> str:
    """Why a project's hook finds no python3, or the project's own, on this PATH; or ''.

    Every clone shares the settings, so a folder where systems have their programs counts as one
    with python3.
    """
    if "$" in value or "~" in value:  # some hosts put variables in
        return ""
    for folder in value.split(":"):
        python = os.path.normpath(os.path.join(project, folder, "python3"))
        if folder.rstrip("/") in _SYSTEM_FOLDERS:
            return ""
        if os.path.lexists(python):
            is_own = python.startswith(f"{project}/")
            return f"lets the guard run {python}, a program of the project itself" * is_own
    return "has no python3, so the guard does nothing"
