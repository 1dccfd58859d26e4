"""Do the limit and the host's cap fit together, and which scope's values are in effect?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from hookctl import effects, scopes
from hookctl.checks import Finding, Scene
from hookctl.checks.environment import shown
from hookctl.documents import MISSING
from hookctl.effects import Value
from hookctl.hosts import read_cap
from hookctl.model import Path
from hookctl.packs import guard
from hookctl.packs.settings import DEFAULT_LIMIT, LIMIT_KEY, settings_from
from hookctl.scopes import Source

_SLACK = 3  # blocks of other hooks that the cap has room for, beyond the guard's own


class _Limits(NamedTuple):
    """How many blocks the guard gives without progress, and how many in a row the host takes; 0 or less: no end."""

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


def check(scene: Scene) -> Iterator[Finding]:
    """The limit and the cap that are in effect in the project, or in the working folder."""
    if scene.guard is None or settings_from(scene.guard.settings).mode == "off":
        return
    found, environ, config = scene.reaching, scene.folders.environ, guard.live_configuration(scene.guard)
    mode = guard.mode_of(config, {})
    for key in filter(None, (LIMIT_KEY if mode == "breaker" else "", scene.host.cap_key)):
        yield from _masked(scene, found, key)
    limit, cap = effects.variable(found, environ, LIMIT_KEY), effects.cap(scene.host, found, environ)
    blocks = guard.limit_of(limit.text, config.get("max_stop_blocks"))
    if limit.there and not guard.is_limit(limit.text):
        message = f"{shown(LIMIT_KEY, limit.text)} is not a whole number; the hook takes {blocks}"
        yield scene.find("limit_invalid", "warning", message, "Write it as a decimal number.", limit.path)
    limits = _limits(scene, mode, blocks, cap, config.get("count") == "attempts")
    if scene.host.cap:
        yield from _number(scene, limits, cap)
    if mode == "keepalive":
        yield from _kept_alive(scene, limits, cap.text, config.get("keepalive_cap"))
    elif mode == "breaker":
        yield from _ends(scene, limits, cap.text)
        yield from _lifted(scene, limits, cap.text)


def _limits(scene: Scene, mode: str, blocks: int, cap: Value, attempts: bool) -> _Limits:
    host = scene.host
    wanted = guard.UNLIMITED_CAP if mode == "keepalive" else guard.cap_for(str(blocks))
    wanted = str(min(int(wanted), host.cap.get("most", int(wanted))))
    key = host.cap_key or host.cap.get("field", "")
    return _Limits(
        key, cap.path or scene.path, blocks, read_cap(host, cap.text), attempts, wanted,
        read_cap(host, wanted if key else cap.text), key or ".".join(host.cap.get("setting", ())),
    )  # fmt: skip


def _kept_alive(scene: Scene, limits: _Limits, text: str, own: Any) -> Iterator[Finding]:
    """A host's cap under which keepalive cannot do what it is for."""
    wanted = own if type(own) is int and 0 < own < guard.ARMED_CEILING else guard.ARMED_CEILING
    if limits.cap <= 0:
        yield from _switched_off(scene, limits, text)
    elif limits.cap < wanted:
        message = f"the cap is {limits.cap:g}: keepalive lets go after {limits.cap:g} blocks in a row, not {wanted}"
        settable = limits.cap < limits.best or (limits.named and not limits.key)
        fix = limits.fix if settable else f"Nothing: {scene.host.title} grants no more."
        yield scene.find("cap_below_limit", "warning", message, fix, limits.path)


def _switched_off(scene: Scene, limits: _Limits, text: str) -> Iterator[Finding]:
    if limits.key:  # else the host never had a cap
        message = f"{shown(limits.key, text)} switches the cap of {scene.host.title} itself off; only the guard is left"
        yield scene.find("cap_off", "warning", message, limits.fix, limits.path)


def at_fault(scene: Scene, path: Path) -> bool:
    """Whether what stands at a path of this file is the cap, and something is said of it that has its own fix."""
    return bool(scene.host.cap_key) and path == (*scene.host.env_path, scene.host.cap_key) and any(
        finding.path == scene.path and finding.code.startswith("cap_") for finding in check(scene)
    )


def _masked(scene: Scene, found: list[Source], key: str) -> Iterator[Finding]:
    """Another scope's value is in effect, and it is another value."""
    path = scene.host.env_leaf(key)
    source = scopes.winner(found, path) if path else None
    order = scene.host.data["scopes"]["precedence"]
    if source is None or path is None or order.index(source.scope) >= order.index(scene.place.scope):
        return
    own = next((one for one in found if one.scope == scene.place.scope), None)
    value = scopes.text(source, path)
    if own is None or own.document.get(path) is MISSING or scopes.text(own, path) != value:
        message = f"{shown(key, value)} of {source.scope} scope is in effect here"
        message += f", not the one of {scene.place.scope} scope"
        yield scene.find("masked", "warning", message, f"Change it in {source.path}.", source.path)


def _number(scene: Scene, limits: _Limits, cap: Value) -> Iterator[Finding]:
    off = "field" in scene.host.cap and cap.text == scene.host.cap["off"]
    if cap.there and not off and not re.fullmatch(r"-?[0-9]+", cap.text):
        text = shown(limits.named, cap.text)
        message = f"{text} is not a whole number; {scene.host.title} reads it as {limits.cap:g}"
        yield scene.find("cap_invalid", "warning", message, limits.fix, limits.path)


def _ends(scene: Scene, limits: _Limits, text: str) -> Iterator[Finding]:
    """What ends a chain of blocks first, if it is not the guard's limit."""
    limit, cap, path = limits.limit, limits.cap, limits.path
    if cap <= 0:
        yield from _switched_off(scene, limits, text)
    if limit <= 0 and (cap > 0 or not limits.key):
        blocks = f"{min(cap if cap > 0 else guard.CEILING, guard.CEILING):g} blocks"
        message = f"{LIMIT_KEY} is {limit}, so the guard has no limit of its own; it lets go at {blocks}"
        yield scene.find("no_limit", "warning", message, f"Set {LIMIT_KEY} to 1 or more.", path)
    elif 0 < cap < limits.blocks:
        yield _below(scene, limits)
    elif 0 < cap < min(limits.blocks + _SLACK, limits.best):
        room = "nothing" if cap == limits.blocks else f"only {cap - limits.blocks:g}"
        message = f"the cap is {cap:g} and the limit {limit}, which leaves {room} for blocks of other hooks: "
        message += f"{scene.host.title} counts those too, and the guard lets go before the host overrides it"
        yield scene.find("cap_tight", "warning" if cap == limits.blocks else "info", message, limits.fix, path)


def _below(scene: Scene, limits: _Limits) -> Finding:
    cap, limit, most = limits.cap, limits.limit, limits.best
    message = f"the cap is {cap:g} and the limit {limit}: the guard lets go after {cap:g} blocks already"
    if most >= limits.blocks:
        return scene.find("cap_below_limit", "warning", message, limits.fix, limits.path)
    fix = f"`{scene.install} --set {LIMIT_KEY}={most:g}` says what {scene.host.title} grants; it grants no more."
    if limits.named and not limits.key:
        fix = f"{limits.fix.removesuffix('.')}, or {LIMIT_KEY} to {most:g}."
    # Nobody asked for the default.
    level = "info" if limit == DEFAULT_LIMIT and cap == most else "warning"
    return scene.find("cap_below_limit", level, message, fix, limits.path)


def _lifted(scene: Scene, limits: _Limits, text: str) -> Iterator[Finding]:
    """A cap far above what the guard itself gives, that is not ours: a keepalive's, perhaps."""
    path = (*scene.host.env_path, limits.key)
    ours = [entry.written for entry in (scene.record.entries if scene.record else ()) if entry.path == path]
    if scene.host.cap_key and limits.limit > 0 and limits.cap > guard.CEILING and text not in ours:
        message = f"the cap is {limits.cap:g}: {scene.host.title} itself ends no chain before that many blocks"
        fix = f"{limits.fix.removesuffix('.')}, unless something needs it."
        yield scene.find("cap_high", "info", message, fix, limits.path)
