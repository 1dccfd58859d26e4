"""Judges the limit, the host cap, and the variables that reach the hook."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from hookctl.checks import own_hooks
from hookctl.checks.codes import Finding
from hookctl.checks.facts import FileFacts, Layer, value_of
from hookctl.hosts import read_cap
from hookctl.masking import masked
from hookctl.model import Path
from hookctl.packs import guard
from hookctl.packs.choices import DEFAULT_LIMIT, LIMIT_KEY, settings_from
from hookctl.packs.guard_options import value_in_effect
from hookctl.settings import effective
from hookctl.settings.effective import Source, Value
from hookctl.values import NamedTuple

_SLACK = 3  # blocks of other hooks that the cap has room for, beyond the guard's own


class _Limits(NamedTuple):
    """The guard's limit and the host cap, both in blocks; 0 or less means none."""

    key: str  # of the cap; empty where nothing of ours sets it
    path: str  # where the cap stands, or would
    limit: int
    cap: float
    attempts: bool  # whether the limit counts attempts to stop, one more than blocks
    wanted: str  # what the cap should be
    best: float  # the blocks that the host takes then
    named: str  # what sets the cap, the operator's own setting too

    @property
    def blocks(self) -> int:
        return self.limit - self.attempts

    @property
    def fix(self) -> str:
        """The one thing to do about a cap, whatever is wrong with it."""
        return f"Set {self.named} to {self.wanted}."


def judge(file: FileFacts) -> Iterator[Finding]:
    """The limit and the cap that are in effect in the project, or in the working folder."""
    if file.guard is None or settings_from(file.guard.settings).mode == "off" or file.is_alone:
        return
    layers, environ, config = file.reaching, file.environ, file.config.value if file.config else {}
    sources = [layer.source for layer in layers]
    mode = value_in_effect("mode", config, {})
    keys = [LIMIT_KEY] if mode == "breaker" else []
    if file.host.cap_key:
        keys.append(file.host.cap_key)
    for key in keys:
        yield from _judge_masked(file, sources, key)
    limit, cap = value_of(layers, environ, LIMIT_KEY), effective.cap(file.host, sources, environ)
    blocks = guard.limit_of(limit.text, config.get("max_stop_blocks"))
    if limit.is_set and not guard.is_limit(limit.text):
        message = f"{shown(LIMIT_KEY, limit.text)} is not a whole number; the hook uses {blocks}"
        yield file.find("limit_invalid", message, f"Set {LIMIT_KEY} to a whole number.", limit.path)
    limits = _gather_limits(file, mode, blocks, cap, config.get("count") == "attempts")
    if file.host.cap:
        yield from _judge_cap_number(file, limits, cap)
    if mode == "keepalive":
        yield from _judge_keepalive(file, limits, cap.text, config.get("keepalive_cap"))
    elif mode == "breaker":
        yield from _judge_end(file, limits, cap.text)
        yield from _judge_high_cap(file, limits, cap.text)


def _gather_limits(file: FileFacts, mode: str, blocks: int, cap: Value, attempts: bool) -> _Limits:
    host = file.host
    wanted = guard.UNLIMITED_CAP if mode == "keepalive" else guard.cap_for(str(blocks))
    wanted = str(min(int(wanted), host.cap.get("most", int(wanted))))
    key = host.cap_key or host.cap.get("field", "")
    return _Limits(
        key,
        cap.path or file.path,
        blocks,
        read_cap(host, cap.text),
        attempts,
        wanted,
        read_cap(host, wanted if key else cap.text),
        key or ".".join(host.cap.get("setting", ())),
    )


def _judge_keepalive(
    file: FileFacts, limits: _Limits, text: str, own_cap: Any
) -> Iterator[Finding]:
    """A host's cap under which keepalive cannot do what it is for."""
    wanted = (
        own_cap
        if type(own_cap) is int and 0 < own_cap < guard.ARMED_CEILING
        else guard.ARMED_CEILING
    )
    if limits.cap <= 0:
        yield from _judge_cap_off(file, limits, text)
    elif limits.cap < wanted:
        message = (
            f"the host cap is {limits.cap:g}: keepalive lets the agent stop after "
            f"{limits.cap:g} blocks in a row, not {wanted}"
        )
        settable = limits.cap < limits.best or (limits.named and not limits.key)
        fix = limits.fix if settable else f"Nothing to do: {file.host.title} allows no more."
        yield file.find("cap_below_limit", message, fix, limits.path)


def _judge_cap_off(file: FileFacts, limits: _Limits, text: str) -> Iterator[Finding]:
    if limits.key:  # else the host never had a cap
        message = (
            f"{shown(limits.key, text)} switches the cap of {file.host.title} off; only the "
            "guard ends a chain of blocks"
        )
        yield file.find("cap_off", message, limits.fix, limits.path)


def is_at_fault(file: FileFacts, path: Path) -> bool:
    """Whether this path holds the cap, and a finding about the cap already names its fix."""
    key = file.host.cap_key
    if not key or path != (*file.host.env_path, key):
        return False
    codes = [finding.code for finding in judge(file) if finding.path == file.path]
    return any(code.startswith("cap_") for code in codes)


def _judge_masked(file: FileFacts, sources: list[Source], key: str) -> Iterator[Finding]:
    """Another scope's value is in effect, and it is another value."""
    path = file.host.env_leaf(key)
    source = effective.stronger(sources, file.target.scope, path) if path else None
    if source is not None and path is not None:
        value = shown(key, effective.text(source, path))
        message = f"{value} of {source.scope} scope is in effect here"
        message += f", not the value of {file.target.scope} scope"
        yield file.find("masked", message, f"Change it in {source.path}.", source.path)


def _judge_cap_number(file: FileFacts, limits: _Limits, cap: Value) -> Iterator[Finding]:
    off = "field" in file.host.cap and cap.text == file.host.cap["off"]
    if cap.is_set and not off and not re.fullmatch(r"-?[0-9]+", cap.text):
        text = shown(limits.named, cap.text)
        message = f"{text} is not a whole number; {file.host.title} reads it as {limits.cap:g}"
        yield file.find("cap_invalid", message, limits.fix, limits.path)


def _judge_end(file: FileFacts, limits: _Limits, text: str) -> Iterator[Finding]:
    """What ends a chain of blocks first, if it is not the guard's limit."""
    limit, cap, path = limits.limit, limits.cap, limits.path
    if cap <= 0:
        yield from _judge_cap_off(file, limits, text)
    if limit <= 0 and (cap > 0 or not limits.key):
        blocks = f"{min(cap if cap > 0 else guard.CEILING, guard.CEILING):g} blocks"
        message = (
            f"{LIMIT_KEY} is {limit}, so the guard has no limit of its own; it lets the agent "
            f"stop after {blocks}"
        )
        yield file.find("no_limit", message, f"Set {LIMIT_KEY} to 1 or more.", path)
    elif 0 < cap < limits.blocks:
        yield _report_low_cap(file, limits)
    elif 0 < cap < min(limits.blocks + _SLACK, limits.best):
        room = "nothing" if cap == limits.blocks else f"only {cap - limits.blocks:g}"
        message = (
            f"the host cap is {cap:g} and the limit {limit}, which leaves {room} for blocks of "
            "other hooks: "
        )
        message += (
            f"{file.host.title} counts those too, so the guard may let the agent stop before "
            "its limit"
        )
        yield file.find(
            "cap_tight",
            message,
            limits.fix,
            path,
            level="warning" if cap == limits.blocks else "info",
        )


def _report_low_cap(file: FileFacts, limits: _Limits) -> Finding:
    cap, limit, most = limits.cap, limits.limit, limits.best
    message = (
        f"the host cap is {cap:g} and the limit {limit}: the guard lets the agent stop after "
        f"{cap:g} blocks"
    )
    if most >= limits.blocks:
        return file.find("cap_below_limit", message, limits.fix, limits.path)
    fix = (
        f"`{file.install} --set {LIMIT_KEY}={most:g}` sets the limit to what {file.host.title} "
        "allows."
    )
    if limits.named and not limits.key:
        fix = f"{limits.fix.removesuffix('.')}, or {LIMIT_KEY} to {most:g}."
    # Nobody asked for the default.
    level = "info" if limit == DEFAULT_LIMIT and cap == most else "warning"
    return file.find("cap_below_limit", message, fix, limits.path, level=level)


def _judge_high_cap(file: FileFacts, limits: _Limits, text: str) -> Iterator[Finding]:
    """A cap far above what the guard itself gives, that is not ours: a keepalive's, perhaps."""
    path = (*file.host.env_path, limits.key)
    ours = [
        entry.written
        for entry in (file.record.entries if file.record else ())
        if entry.path == path
    ]
    if file.host.cap_key and limits.limit > 0 and limits.cap > guard.CEILING and text not in ours:
        message = (
            f"the host cap is {limits.cap:g}: {file.host.title} itself ends no chain of blocks "
            "before that"
        )
        fix = f"{limits.fix.removesuffix('.')}, unless something needs it."
        yield file.find("cap_high", message, fix, limits.path)


# Variables that reach the hook: from the env of every scope, and from the shell.

# Not settings of the guard, but they change its state folder and its clock.
_MOVING = ("HOOKCTL_STATE_DIR", "HOOKCTL_NOW")
_ELSEWHERE = ("max_stop_blocks", "state_dir", "$schema", "hosts")  # no variables of the guard's own


def judge_environment(file: FileFacts) -> Iterator[Finding]:
    """The guard's variables in settings files, which override the hook's configuration."""
    known = {*_list_child_variables(file), *_list_variables(file), *_MOVING}
    for layer in file.layers:
        ended = _find_ended(layer) if layer.source.scope == "project" else {}
        for name, off in ended.items():
            message = f"{name} {off}"
            yield file.find("hook_environment", message, "Remove it.", layer.source.path, "error")
        for name in sorted(known & layer.env.keys() - ended.keys()):
            where = f"of {layer.source.scope} scope"
            yield from _judge_variable(file, name, layer.env[name], where, layer.source.path)
    yield from _judge_path(file)


def _find_ended(layer: Layer) -> dict[str, str]:
    """The variables of a project's settings that end everybody's guard there, and how."""
    ended = {}
    for name, text in layer.env.items():
        off = own_hooks.ends_guard(name, text)
        if off and not guard.switches_off(name, text):
            ended[name] = off
    return ended


def _judge_path(file: FileFacts) -> Iterator[Finding]:
    """A PATH in settings on which a project's hook, which everybody shares, finds no Python."""
    value = value_of(file.reaching, {}, "PATH")
    if not file.target.shared or not value.is_set:
        return
    fault = own_hooks.fault_of_path(value.text, file.path_python, file.target.project)
    if fault:
        message = f"on the PATH that these settings give to hooks, {fault}"
        yield file.find("hook_environment", message, "Remove it.", value.path, "error")


def judge_shell(file: FileFacts) -> Iterator[Finding]:
    """The guard's variables in this shell, which count where no settings file sets them."""
    environ, layers = file.environ, file.reaching
    if file.guard is None:
        return
    known = {*_list_child_variables(file), *_list_variables(file)}
    for name in sorted(known & environ.keys()):
        if not value_of(layers, environ, name).source:
            yield from _judge_variable(file, name, environ[name], "in this shell", "")
    for name in (LIMIT_KEY, file.host.cap_key):
        value = value_of(layers, environ, name)
        if value.source and name in environ and environ[name] != value.text:
            message = f"{shown(name, environ[name])} in this shell has no effect"
            message += f": {value.source.scope} scope sets it and wins"
            yield file.find("shell_shadowed", message, f"Change it in {value.path}.", value.path)


def _list_variables(file: FileFacts) -> list[str]:
    """The variables that the hook takes as settings, and the one that switches it off."""
    names = [name for name in file.settings_schema if name not in _ELSEWHERE]
    return ["HOOKCTL_DISABLE", *(f"HOOKCTL_{name.upper()}" for name in names)]


def _list_child_variables(file: FileFacts) -> list[str]:
    names: list[str] = value_in_effect("child_env", file.config and file.config.value, {})
    return names


def _judge_variable(
    file: FileFacts, name: str, value: str, where: str, path: str
) -> Iterator[Finding]:
    off = own_hooks.off_by_variable(name, value, file.config.value if file.config else None)
    if name in _list_child_variables(file) and not off:
        return
    effect = off or "overrides the hook's configuration"
    message = f"{shown(name, value)} {where} {effect}"
    fix = f"Remove it from {path}." if path else f"`unset {name}` before the agent is started."
    level = "error" if off else "info"
    if path and not off:
        level = "warning"
    yield Finding("hook_environment", level, message, file.host.name, path, fix)


def shown(name: str, value: str) -> str:
    """A variable with its value, quoted as in a settings file, and nothing secret in it."""
    return f"{name}={json.dumps(masked(value, name), ensure_ascii=False)}"
