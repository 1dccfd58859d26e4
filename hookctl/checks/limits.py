"""Judges the limit, the host cap, and the variables that reach the hook."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from hookctl.checks.codes import Finding
from hookctl.checks.facts import FileFacts, Layer, value_of
from hookctl.hosts import read_cap
from hookctl.masking import masked
from hookctl.model import Path
from hookctl.packs import guard
from hookctl.packs.choices import DEFAULT_LIMIT, LIMIT_KEY
from hookctl.packs.guard_options import is_true, switches_off, value_in_effect, whole_number
from hookctl.packs.risks import loads_code
from hookctl.settings import effective
from hookctl.settings.effective import Source, Value

_SLACK = 3  # blocks of other hooks that the cap has room for, beyond the guard's own


class _Limits(NamedTuple):
    """The guard's limit and the host cap, both in blocks; 0 or less means none."""

    key: str  # of the cap; empty where nothing of ours sets it
    path: str  # where the cap stands, or would
    limit: int
    blocks: int  # the same without the last attempt to stop, where it counts these
    cap: float
    text: str  # of the cap, as it is set
    wanted: str  # what the cap should be
    best: float  # the blocks that the host takes then
    named: str  # what sets the cap, the operator's own setting too
    ceiling: int  # blocks between two prompts

    @property
    def allowed(self) -> str:
        """The blocks that the cap allows, in words."""
        return f"{self.cap:g} block{'' if self.cap == 1 else 's'}"

    @property
    def step(self) -> str:
        """The one fix for a wrong cap, as the start of a sentence."""
        return f"Set {self.named} to {self.wanted}"

    @property
    def fix(self) -> str:
        """The fix as a sentence."""
        return f"{self.step}."


def judge(file: FileFacts) -> Iterator[Finding]:
    """The limit and the cap that are in effect in the project, or in the working folder."""
    if file.settings is None or file.settings.mode == "off" or file.is_alone:
        return
    if effective.STOP in file.disabled_ids:
        return
    layers, environ = file.reaching, file.workplace.environ
    config = file.config.value if file.config else {}
    sources = [layer.source for layer in layers]
    mode = value_in_effect("mode", config, {})
    for key in (LIMIT_KEY if mode == "breaker" else "", file.host.cap_key):
        yield from _judge_masked(file, sources, key)
    limit, cap = value_of(layers, environ, LIMIT_KEY), effective.cap(file.host, sources, environ)
    blocks = guard.limit_of(limit.text, config.get("max_stop_blocks"))
    theirs = whole_number(value_of(layers, environ, str(config.get("limit_env", ""))).text)
    if theirs and theirs > 0:  # another system's limit wins
        blocks = theirs
    if limit.is_set and whole_number(limit.text) is None:
        setting = shown(LIMIT_KEY, limit.text)
        values = {"setting": setting, "blocks": blocks, "key": LIMIT_KEY}
        yield file.find("limit_invalid", limit.path, **values)
    limits = _gather_limits(file, mode, blocks, cap, config)
    off = "field" in file.host.cap and cap.text == file.host.cap["off"]
    if file.host.cap and cap.is_set and not off and not re.fullmatch(r"-?[0-9]+", cap.text):
        setting = shown(limits.named, cap.text)
        yield file.find("cap_invalid", limits.path, setting=setting, limits=limits)
    if mode in ("breaker", "keepalive") and limits.cap <= 0 and limits.key:
        setting = shown(limits.key, cap.text)  # without a key the host never had a cap
        yield file.find("cap_off", limits.path, setting=setting, limits=limits)
    if file.has_other_mode:
        return  # the cap is that of the mode on record, and the finding about the mode has the fix
    if mode == "keepalive":
        yield from _judge_keepalive(file, limits, config.get("keepalive_cap"))
    elif mode == "breaker":
        yield from _judge_end(file, limits)
        yield from _judge_high_cap(file, limits)


def _gather_limits(file: FileFacts, mode: str, limit: int, cap: Value, config: Any) -> _Limits:
    host = file.host
    wanted = guard.UNLIMITED_CAP if mode == "keepalive" else guard.cap_for(limit)
    wanted = str(min(int(wanted), host.cap.get("most", int(wanted))))
    key = host.cap_key or host.cap.get("field", "")
    return _Limits(
        key=key,
        path=cap.path or file.path,
        limit=limit,
        blocks=limit - (config.get("count") == "attempts"),
        cap=read_cap(host, cap.text),
        text=cap.text,
        wanted=wanted,
        best=read_cap(host, wanted if key else cap.text),
        named=key or ".".join(host.cap.get("setting", ())),
        ceiling=max(1, value_in_effect("ceiling", config, {})),
    )


def _judge_keepalive(file: FileFacts, limits: _Limits, own_cap: Any) -> Iterator[Finding]:
    """A host cap that ends a keepalive run too early."""
    wanted = guard.ARMED_CEILING
    if type(own_cap) is int and 0 < own_cap < wanted:
        wanted = own_cap
    if 0 < limits.cap < wanted:
        can_be_set = limits.cap < limits.best or (limits.named and not limits.key)
        entry = "cap_below_limit.keepalive" if can_be_set else "cap_below_limit.keepalive-most"
        yield file.find(entry, limits.path, limits=limits, wanted=wanted)


def is_at_fault(file: FileFacts, path: Path) -> bool:
    """Whether this path holds the cap, and a finding about the cap already names its fix."""
    key = file.host.cap_key
    if not key or path != (*file.host.env_path, key):
        return False
    codes = [finding.code for finding in judge(file) if finding.path == file.path]
    return any(code.startswith("cap_") for code in codes)


def _judge_masked(file: FileFacts, sources: list[Source], key: str) -> Iterator[Finding]:
    """A different value of another scope is in effect."""
    path = file.host.env_leaf(key) if key else None
    source = effective.stronger(sources, file.target.scope, path) if path else None
    if source is not None and path is not None:
        setting = shown(key, effective.text(source, path))
        yield file.find("masked", source.path, setting=setting, source=source)


def _judge_end(file: FileFacts, limits: _Limits) -> Iterator[Finding]:
    """Whether something else than the guard's limit ends a chain of blocks first."""
    cap, path = limits.cap, limits.path
    if limits.limit <= 0 and (cap > 0 or not limits.key):
        blocks = min(cap if cap > 0 else limits.ceiling, limits.ceiling)
        yield file.find("no_limit", path, key=LIMIT_KEY, limits=limits, blocks=blocks)
    elif 0 < cap < limits.blocks:
        yield _report_low_cap(file, limits)
    elif 0 < cap < min(limits.blocks + _SLACK, limits.best):
        room, level = f"only {cap - limits.blocks:g}", "info"
        if cap == limits.blocks:
            room, level = "nothing", "warning"
        yield file.find("cap_tight", path, level, limits=limits, room=room)


def _report_low_cap(file: FileFacts, limits: _Limits) -> Finding:
    if limits.best >= limits.blocks:
        return file.find("cap_below_limit", limits.path, limits=limits)
    is_theirs = limits.named and not limits.key
    entry = "cap_below_limit.both" if is_theirs else "cap_below_limit.most"
    # The default was not asked for.
    is_default = limits.limit == DEFAULT_LIMIT and limits.cap == limits.best
    level = "info" if is_default else "warning"
    return file.find(entry, limits.path, level, limits=limits, key=LIMIT_KEY)


def _judge_high_cap(file: FileFacts, limits: _Limits) -> Iterator[Finding]:
    """A cap that is not ours and far above the guard's: perhaps left from keepalive."""
    path = (*file.host.env_path, limits.key)
    ours = [entry.written for entry in file.entries if entry.path == path]
    is_high = limits.limit > 0 and limits.cap > limits.ceiling
    if file.host.cap_key and is_high and limits.text not in ours:
        yield file.find("cap_high", limits.path, limits=limits)


# Variables that reach the hook: from the env of every scope, and from the shell.

# Not settings of the guard, but they change its state folder and its clock.
_MOVING = ("HOOKCTL_STATE_DIR", "HOOKCTL_NOW")
_ELSEWHERE = ("max_stop_blocks", "state_dir", "$schema", "hosts")  # without variables
_SYSTEM_FOLDERS = ("/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/local/bin")


def judge_environment(file: FileFacts) -> Iterator[Finding]:
    """The guard's variables in settings files, which override the hook's configuration."""
    known = {*_list_variables(file), *_MOVING}
    for layer in file.layers:
        ended = _find_ended(layer) if layer.source.scope == "project" else {}
        for name, effect in ended.items():
            entry, path = "hook_environment.project", layer.source.path
            yield file.find(entry, path, name=name, effect=effect)
        for name in sorted(known & layer.env.keys() - ended.keys()):
            yield from _judge_variable(file, name, layer.env[name], layer.source)
    ours = {entry.path[-1] for entry in file.entries if not entry.id}
    for layer in file.layers if file.target.shared else ():
        for name in sorted(filter(loads_code, layer.env.keys() - ours)):
            yield file.find("hook_environment.loader", layer.source.path, name=name)
    path = value_of(file.reaching, {}, "PATH")
    if file.target.shared and path.is_set:
        effect = _find_fault_of_path(path.text, file.path_python, file.target.project)
        if effect:
            yield file.find("hook_environment.path", path.path, effect=effect)


def judge_shell(file: FileFacts) -> Iterator[Finding]:
    """The guard's variables in this shell, which apply where no settings file sets them."""
    environ, layers = file.workplace.environ, file.reaching
    if file.guard is None:
        return
    for name in sorted(_list_variables(file) & environ.keys()):
        if not value_of(layers, environ, name).source:
            yield from _judge_variable(file, name, environ[name], None)
    for name in (LIMIT_KEY, file.host.cap_key):
        value = value_of(layers, environ, name)
        if value.source and name in environ and environ[name] != value.text:
            setting, scope = shown(name, environ[name]), value.source.scope
            yield file.find("shell_shadowed", value.path, setting=setting, scope=scope)


def _list_variables(file: FileFacts) -> set[str]:
    """The variables that the hook takes as settings, and those that switch it off."""
    names = {f"HOOKCTL_{name.upper()}" for name in file.workplace.schema if name not in _ELSEWHERE}
    return {"HOOKCTL_DISABLE", *names, *_list_child_variables(file)}


def _list_child_variables(file: FileFacts) -> list[str]:
    names: list[str] = value_in_effect("child_env", file.config and file.config.value, {})
    return names


def _judge_variable(
    file: FileFacts, name: str, value: str, source: Source | None
) -> Iterator[Finding]:
    """A variable of a settings file, or of this shell."""
    off = off_by_variable(name, value, file.config.value if file.config else None)
    if name in _list_child_variables(file) and not off:
        return
    setting, effect = shown(name, value), off or "overrides the hook's configuration"
    if source:
        level = "error" if off else "warning"
        values = {"setting": setting, "scope": source.scope, "effect": effect}
        yield file.find("hook_environment", source.path, level, **values)
    else:
        level = "error" if off else "info"
        values = {"setting": setting, "name": name, "effect": effect}
        # No file is at fault.
        yield file.find("hook_environment.shell", "", level, **values)._replace(path="")


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
                return f"the guard would run {python}, a program of the project itself"
            return ""
    return "there is no python3, so the guard does nothing"
