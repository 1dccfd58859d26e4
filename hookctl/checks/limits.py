"""Judges the limit, the host cap, and the variables that reach the hook."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator

from hookctl.checks.codes import Finding
from hookctl.checks.file import File
from hookctl.checks.host import HostHere
from hookctl.errors import HookctlError
from hookctl.hosts import read_cap
from hookctl.masking import masked
from hookctl.packs import guard
from hookctl.packs.choices import (
    DEFAULT_LIMIT,
    LIMIT_KEY,
    is_true,
    read_settings,
    schema,
    whole_number,
)
from hookctl.packs.listing import loads_code
from hookctl.settings import effective
from hookctl.system import project


def judge(file: File) -> Iterator[Finding]:
    """The limit and the cap that are in effect in the project, or in the working folder."""
    if not file.settings or file.settings.mode == "off" or effective.STOP in file.disabled_ids:
        return
    limit = effective.variable(file.reaching, file.machine.environ, LIMIT_KEY)
    if limit.is_set and whole_number(limit.text) is None:
        wrong = f"{shown(LIMIT_KEY, limit.text)} is not a whole number; the hook ignores it"
        yield file.find("config_invalid", limit.path, wrong=wrong)
    mode = read_settings(file.config.value, {}).mode
    # Another mode than on record has a finding of its own; the cap is that of the one on record.
    if mode in ("breaker", "keepalive") and not file.has_other_mode:
        yield from _judge_cap(file, mode)


def _judge_cap(file: File, mode: str) -> Iterator[Finding]:
    """A host cap that lets the agent stop before the guard would, where something can be done."""
    host, environ = file.host, file.machine.environ
    options = read_settings(file.config.value, {**environ, **effective.variables(file.reaching)})
    limit, wanted = options.max_stop_blocks, guard.cap_for(host, mode, options.max_stop_blocks)
    blocks = options.keepalive_cap if options.keepalive_cap > 0 else guard.ARMED_CEILING
    if mode == "breaker":
        blocks = limit - (options.count == "attempts")
    value = effective.cap(host, file.reaching, environ)
    cap, key = read_cap(host, value.text), host.cap_key or host.cap.get("field", "")
    best = read_cap(host, wanted) if key else cap  # the blocks that the host takes then
    setting = "" if key else ".".join(host.cap.get("setting", ()))  # which is left to the person
    is_asked = bool(setting) if mode == "keepalive" else limit != DEFAULT_LIMIT
    if not 0 < cap < blocks or not (cap < best or is_asked):
        return  # else the host allows no more, and nobody asked for it
    fix = f"Set {key or setting} to {wanted}."
    if best < blocks and mode == "breaker" and not setting:
        fix = f"`{file.install} --set {LIMIT_KEY}={best:g}` asks for what {host.title} allows."
    yield file.find("cap_below_limit", value.path or file.path, cap=cap, blocks=blocks, fix=fix)


# Variables that reach the hook: from the env of every scope, and from the shell.

_STATE = ("HOME", "XDG_STATE_HOME", "HOOKCTL_STATE_DIR")  # they move the guard's state
_NO_SETTINGS = ("max_stop_blocks", "state_dir")  # of the guard, which have no such variable
_SYSTEM_FOLDERS = ("/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/local/bin")
_GIVEN = r"^[ \t]*(?:export[ \t]+)?(HOOKCTL_[A-Z0-9_]+|MAX_STOP_BLOCKS)[ \t]*="  # in a .env file
OVERRIDES = "overrides the hook's configuration"


def judge_environment(file: File) -> Iterator[Finding]:
    """The variables that change what the guard does, or what a project's hooks are run with."""
    ours = {entry.path[-1] for entry in file.entries if not entry.id}
    for source in file.sources:
        for name, value in sorted(effective.variables([source]).items()):
            effect = "" if name in ours else find_effect(file, name, value, source.scope)
            if effect:
                level = "warning" if effect == OVERRIDES else "error"
                values = {"setting": shown(name, value), "place": f"{source.scope} scope"}
                yield file.find("hook_environment", source.path, level, effect=effect, **values)
    environ, place = file.machine.environ, "this shell"
    names = {"HOOKCTL_DISABLE", "HOOKCTL_MODE", *_list_child_variables(file)}
    for name in sorted(names & environ.keys()) if file.guard else ():
        effect = find_effect(file, name, environ[name], "")
        is_set = effective.variable(file.reaching, environ, name).source
        if effect not in ("", OVERRIDES) and not is_set:
            values = {"setting": shown(name, environ[name]), "place": place, "effect": effect}
            found = file.find("hook_environment", place, **values)
            yield found._replace(path="")  # no file is at fault


def find_effect(file: File, name: str, value: str, scope: str) -> str:
    """What a variable of a scope, or of this shell (''), does to the hooks; '' if nothing."""
    is_child = name in _list_child_variables(file)
    if (is_child or name == "HOOKCTL_DISABLE") and is_true(value):
        return "switches the guard off"
    if name == "HOOKCTL_MODE" and value.strip() == "off":
        return "sets the guard's mode to off, so it never blocks a stop"
    if scope == "project" and name in _STATE and value.strip():
        return "moves the guard's state, perhaps to where it cannot be kept"
    if scope == "project" and name == "HOOKCTL_NOW" and value.strip():
        return "stops the guard's clock"
    if file.target.shared and scope and name == "PATH":
        return _find_fault_of_path(value, file.target.project)
    if file.target.shared and scope and loads_code(name):
        return "lets every program that the agent starts, hooks too, load other code"
    setting = name.removeprefix("HOOKCTL_")
    is_setting = setting != name and not is_child and setting.lower() not in _NO_SETTINGS
    is_known = is_setting and (setting in ("STATE_DIR", "NOW") or setting.lower() in schema())
    return OVERRIDES if is_known else ""


def _list_child_variables(file: File) -> list[str]:
    names: list[str] = read_settings(file.config.value, {}).child_env
    return names


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
                values = {"setting": setting, "place": place, "effect": OVERRIDES}
                yield here.find("hook_environment", path, "warning", **values)
        if folder == machine.cwd_project:
            return


def shown(name: str, value: str) -> str:
    """A variable with its value, quoted as in a settings file, secrets masked."""
    return f"{name}={json.dumps(masked(value, name), ensure_ascii=False)}"


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
