"""Do the limit and the host's cap fit together, and which scope's values are in effect?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hookctl import scopes
from hookctl.checks import Finding, Scene
from hookctl.hosts import read_cap
from hookctl.masking import masked, masked_text
from hookctl.packs import guard
from hookctl.scopes import Source


def check(scene: Scene) -> Iterator[Finding]:
    """The env values of every scope that the host reads from the project, or from the working folder."""
    found = scene.sources
    yield from _switches(scene, found)
    yield from _knobs(scene, found)
    if scene.guard is None or guard.settings_from(scene.guard.settings).mode == "off":
        return
    env = scene.host.data["environment"]["path"]
    keys = guard.LIMIT_KEY, scene.host.data["cap"]["key"]
    limit, cap = (scopes.winner(found, (*env, key)) for key in keys)
    for key, source in zip(keys, (limit, cap), strict=True):
        yield from _masked(scene, found, source, key)
    limit_text = scopes.text(limit, (*env, guard.LIMIT_KEY))
    blocks = guard.limit_of(limit_text, guard.live_configuration(scene.guard).get("max_stop_blocks"))
    if limit and not guard.is_limit(limit_text):
        message = f"{guard.LIMIT_KEY}={masked_text(limit_text)!r} is not a whole number; the hook takes {blocks}"
        yield scene.find("limit_invalid", "warning", message, "Write it as a decimal number.", limit.path)
    yield from _cap(scene, cap, blocks)


def _masked(scene: Scene, found: list[Source], source: Source | None, key: str) -> Iterator[Finding]:
    """Another scope's value is in effect, and it is another value."""
    order = scene.host.data["scopes"]["precedence"]
    if source is None or order.index(source.scope) >= order.index(scene.place.scope):
        return
    path = (*scene.host.data["environment"]["path"], key)
    own = next((one for one in found if one.scope == scene.place.scope), None)
    value = scopes.text(source, path)
    if own is None or scopes.text(own, path) != value:
        shown = f"{key}={masked_text(value)!r} of {source.scope} scope"
        message = f"{shown} is in effect here, not the one of {scene.place.scope} scope"
        yield scene.find("masked", "warning", message, f"Change it in {source.path}.", source.path)


def _cap(scene: Scene, source: Source | None, limit: int) -> Iterator[Finding]:
    key = scene.host.data["cap"]["key"]
    text = scopes.text(source, (*scene.host.data["environment"]["path"], key))
    path = source.path if source else scene.path
    cap = read_cap(scene.host, text)
    if source and not re.fullmatch(r"-?[0-9]+", text):
        message = f"{key}={masked_text(text)!r} is not a whole number; {scene.host.title} reads it as {cap:g}"
        yield scene.find("cap_invalid", "warning", message, "Write it as a decimal number.", path)
    if cap <= 0:
        message = f"{key}={text!r} switches {scene.host.title}'s own cap off; only the guard ends a chain of blocks"
        yield scene.find("cap_off", "warning", message, f"Set it to {guard.cap_for(str(limit))}.", path)
    elif limit <= 0:
        blocks = f"{min(cap, guard.CEILING):g} blocks"
        message = f"{guard.LIMIT_KEY} is {limit}, so the guard has no limit of its own; it lets go at {blocks}"
        yield scene.find("no_limit", "warning", message, f"Set {guard.LIMIT_KEY} to 1 or more.", path)
    elif cap < limit:
        message = f"the cap is {cap:g} and the limit {limit}: the guard lets go after {cap:g} blocks already"
        yield scene.find("cap_below_limit", "warning", message, f"Set {key} to {guard.cap_for(str(limit))}.", path)


def _switches(scene: Scene, found: list[Source]) -> Iterator[Finding]:
    """Hooks switched off from another scope; checks/settings.py looks at the scene's own file."""
    disable, managed_only = (scene.host.data["switches"][name] for name in ("disable", "managed_only"))
    for source in found:
        if source.scope != scene.place.scope and source.document.get((disable,)) is True:
            message = f"{disable} is true in {source.scope} scope, so no hook runs here"
            yield scene.find("hooks_disabled", "error", message, f"Change it in {source.path}.", source.path)
        if source.scope == "managed" and source.document.get((managed_only,)) is True:
            message = f"{managed_only} is true, so hooks of {scene.place.scope} scope do not run"
            yield scene.find("managed_only", "error", message, "Ask whoever manages this machine.", source.path)


def _knobs(scene: Scene, found: list[Source]) -> Iterator[Finding]:
    """The host hands its env on to the hook, which obeys it before its own configuration."""
    path = tuple(scene.host.data["environment"]["path"])
    for source in found:
        env = source.document.get(path)
        for name in sorted(env) if isinstance(env, dict) else ():
            if name.startswith("HOOKCTL_"):
                value = scopes.text(source, (*path, name))
                off = guard.switches_off(name, value)
                message = f"{name}={masked(value, name)!r} of {source.scope} scope "
                message += "switches the guard off" if off else "is in effect, whatever the hook's configuration says"
                level = "error" if off else "warning"
                yield scene.find("hook_environment", level, message, f"Remove it from {source.path}.", source.path)
