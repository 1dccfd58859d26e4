"""Judges the limit, the host cap, and the variables that reach the hook."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from hookctl.checks.codes import Finding
from hookctl.checks.facts import FileFacts, HostFacts, value_of
from hookctl.hosts import read_cap
from hookctl.masking import masked
from hookctl.packs import guard
from hookctl.packs.choices import DEFAULT_LIMIT, LIMIT_KEY
from hookctl.packs.guard_options import is_true, switches_off, value_in_effect, whole_number
from hookctl.packs.risks import loads_code
from hookctl.settings import effective
from hookctl.survey.model import Layer


def judge(file: FileFacts) -> Iterator[Finding]:
    """The limit and the cap that are in effect in the project, or in the working folder."""
    if file.settings is None or file.settings.mode == "off" or file.is_alone:
        return
    if effective.STOP in file.disabled_ids:
        return
    config = file.config.value if file.config else {}
    limit = value_of(file.reaching, file.workplace.environ, LIMIT_KEY)
    if limit.is_set and whole_number(limit.text) is None:
        wrong = f"{shown(LIMIT_KEY, limit.text)} is not a whole number; the hook ignores it"
        yield file.find("config_invalid", limit.path, wrong=wrong)
    mode = value_in_effect("mode", config, {})
    # Another mode than on record has a finding of its own; the cap is that of the one on record.
    if mode in ("breaker", "keepalive") and not file.has_other_mode:
        yield from _judge_cap(file, mode, config, limit.text)


def _judge_cap(file: FileFacts, mode: str, config: Any, text: str) -> Iterator[Finding]:
    """A host cap that lets the agent stop before the guard would, where something can be done."""
    host, layers, environ = file.host, file.reaching, file.workplace.environ
    limit = guard.limit_of(text, config.get("max_stop_blocks"))
    theirs = whole_number(value_of(layers, environ, str(config.get("limit_env", ""))).text)
    if theirs and theirs > 0:  # another system's limit wins
        limit = theirs
    wanted, blocks = guard.cap_for(limit), limit - (config.get("count") == "attempts")
    if mode == "keepalive":
        own = config.get("keepalive_cap")
        is_own = type(own) is int and 0 < own < guard.ARMED_CEILING
        wanted, blocks = guard.UNLIMITED_CAP, own if is_own else guard.ARMED_CEILING
    value = effective.cap(host, [layer.source for layer in layers], environ)
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
_OVERRIDES = "overrides the hook's configuration"


def judge_environment(file: FileFacts) -> Iterator[Finding]:
    """The guard's variables in settings files, which override the hook's configuration."""
    known = {*_list_variables(file), *_MOVING}
    ours = {entry.path[-1] for entry in file.entries if not entry.id}
    for layer in file.layers:
        path, place = layer.source.path, f"{layer.source.scope} scope"
        effects = _find_ended(layer) if layer.source.scope == "project" else {}
        for name in filter(loads_code, layer.env.keys() - ours if file.target.shared else ()):
            effects[name] = "lets every program that the agent starts, hooks too, load other code"
        for name, effect in sorted(effects.items()):
            yield report_variable(file, path, name, effect, place)
        for name in sorted(known & layer.env.keys() - effects.keys()):
            effect = _find_effect(file, name, layer.env[name])
            level = "warning" if effect == _OVERRIDES else "error"
            if effect:
                yield report_variable(
                    file, path, shown(name, layer.env[name]), effect, place, level
                )
    given = value_of(file.reaching, {}, "PATH")
    if file.target.shared and given.source:
        effect = _find_fault_of_path(given.text, file.path_python, file.target.project)
        if effect:
            yield report_variable(file, given.path, "PATH", effect, f"{given.source.scope} scope")


def judge_shell(file: FileFacts) -> Iterator[Finding]:
    """The variables of this shell that switch the guard off, where no settings file sets them."""
    environ = file.workplace.environ
    for name in sorted(_list_variables(file) & environ.keys()) if file.guard else ():
        effect = _find_effect(file, name, environ[name])
        if effect not in ("", _OVERRIDES) and not value_of(file.reaching, environ, name).source:
            found = report_variable(
                file, "this shell", shown(name, environ[name]), effect, "this shell"
            )
            yield found._replace(path="")  # no file is at fault


def judge_env_files(facts: HostFacts) -> Iterator[Finding]:
    """Variables for the guard that a project brings in a file which the host gives to hooks."""
    for path, names in facts.env_files.items():
        place, setting = os.path.basename(path), ", ".join(names)
        yield report_variable(facts, path, setting, _OVERRIDES, place, "warning")


def report_variable(
    facts: FileFacts | HostFacts,
    path: str,
    setting: str,
    effect: str,
    place: str,
    level: str = "error",
) -> Finding:
    """The finding about a variable that reaches the hook from a file, or from this shell."""
    values = {"setting": setting, "place": place, "effect": effect}
    return facts.find("hook_environment", path, level, **values)


def _list_variables(file: FileFacts) -> set[str]:
    """The variables that the hook takes as settings, and those that switch it off."""
    names = {f"HOOKCTL_{name.upper()}" for name in file.workplace.schema if name not in _ELSEWHERE}
    return {"HOOKCTL_DISABLE", *names, *_list_child_variables(file)}


def _list_child_variables(file: FileFacts) -> list[str]:
    names: list[str] = value_in_effect("child_env", file.config and file.config.value, {})
    return names


def _find_effect(file: FileFacts, name: str, value: str) -> str:
    """What a variable of the guard's does to it; '' if nothing."""
    off = off_by_variable(name, value, file.config.value if file.config else None)
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


def _find_ended(layer: Layer) -> dict[str, str]:
    """The variables of a project's settings that stop the guard for every user, and how.

    Where the state is moved to, it can perhaps be kept on one machine and not on another.
    """
    ended = {}
    for name, text in layer.env.items():
        if switches_off(name, text) or not text.strip():
            continue  # the first one is reported by another judge
        if name in ("HOME", "XDG_STATE_HOME", "HOOKCTL_STATE_DIR"):
            ended[name] = "moves the guard's state, perhaps to where it cannot be kept"
        elif name == "HOOKCTL_NOW":
            ended[name] = "stops the guard's clock"
    return ended


def _find_fault_of_path(value: str, python: str, project: str) -> str:
    """Why a project's hook finds no python3, or the project's own, on this PATH; or ''.

    `python` is the first one on it here, if any. Every clone shares the settings, so a folder where
    systems have their programs counts as one with python3.
    """
    if "$" in value or "~" in value:  # some hosts put variables in
        return ""
    for folder in value.split(":"):
        if folder.rstrip("/") in _SYSTEM_FOLDERS:
            return ""
        if python and os.path.join(project, folder, "python3") == python:
            if os.path.normpath(python).startswith(f"{project}/"):
                return f"lets the guard run {python}, a program of the project itself"
            return ""
    return "has no python3, so the guard does nothing"
