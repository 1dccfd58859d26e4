"""Do the limit and the host's cap fit together, and which scope's values are in effect?"""

from __future__ import annotations

import glob
import json
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from hookctl import files
from hookctl.checks import Finding, Scene
from hookctl.documents import MISSING
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.hosts import read_cap, settings_path
from hookctl.masking import masked
from hookctl.packs import guard


class Place(NamedTuple):
    """A settings file of some scope that the host reads here."""

    scope: str
    path: str
    document: JsonDocument


def check(scene: Scene) -> Iterator[Finding]:
    """The env values of every scope that the host reads from the working folder."""
    places = list(_places(scene))
    yield from _switches(scene, places)
    yield from _knobs(scene, places)
    if scene.guard is None or guard.settings_from(scene.guard.settings).mode == "off":
        return
    env = scene.host.data["environment"]["path"]
    keys = guard.LIMIT_KEY, scene.host.data["cap"]["key"]
    limit, cap = (_winner(places, (*env, key)) for key in keys)
    for key, place in zip(keys, (limit, cap), strict=True):
        if place and place.scope != "user":
            value = _value(place, (*env, key))
            message = f"{key}={value!r} of {place.scope} scope is in effect here, not the one of user scope"
            yield scene.find("masked", "warning", message, f"Change it in {place.path}.", place.path)
    limit_text = _value(limit, (*env, guard.LIMIT_KEY)) if limit else ""
    blocks = guard.limit_of(limit_text, guard.live_configuration(scene.guard).get("max_stop_blocks"))
    if limit and not guard.is_limit(limit_text):
        message = f"{guard.LIMIT_KEY}={limit_text!r} is not a whole number; the hook takes {blocks}"
        yield scene.find("limit_invalid", "warning", message, "Write it as a decimal number.", limit.path)
    yield from _cap(scene, cap, blocks)


def _cap(scene: Scene, place: Place | None, limit: int) -> Iterator[Finding]:
    key = scene.host.data["cap"]["key"]
    text = _value(place, (*scene.host.data["environment"]["path"], key)) if place else ""
    path = place.path if place else scene.path
    cap = read_cap(scene.host, text)
    if place and not re.fullmatch(r"-?[0-9]+", text):
        message = f"{key}={text!r} is not a whole number; {scene.host.title} reads it as {cap:g}"
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


def _switches(scene: Scene, places: list[Place]) -> Iterator[Finding]:
    """Hooks switched off from another scope than the user's own, which checks/settings.py looks at."""
    disable, managed_only = (scene.host.data["switches"][name] for name in ("disable", "managed_only"))
    for place in places:
        if place.scope != "user" and place.document.get((disable,)) is True:
            message = f"{disable} is true in {place.scope} scope, so no hook runs here"
            yield scene.find("hooks_disabled", "error", message, f"Change it in {place.path}.", place.path)
        if place.scope == "managed" and place.document.get((managed_only,)) is True:
            message = f"{managed_only} is true, so hooks of user scope do not run"
            yield scene.find("managed_only", "error", message, "Ask whoever manages this machine.", place.path)


def _knobs(scene: Scene, places: list[Place]) -> Iterator[Finding]:
    """The host hands its env on to the hook, which obeys it before its own configuration."""
    path = tuple(scene.host.data["environment"]["path"])
    for place in places:
        env = place.document.get(path)
        for name in sorted(env) if isinstance(env, dict) else ():
            if name.startswith("HOOKCTL_"):
                value = _value(place, (*path, name))
                off = guard.switches_off(name, value)
                message = f"{name}={masked(value, name)!r} of {place.scope} scope "
                message += "switches the guard off" if off else "is in effect, whatever the hook's configuration says"
                level = "error" if off else "warning"
                yield scene.find("hook_environment", level, message, f"Remove it from {place.path}.", place.path)


def _places(scene: Scene) -> Iterator[Place]:
    """The readable settings files in the order in which their env values win."""
    for scope in scene.host.data["scopes"]["precedence"]:
        for path in _paths(scene, scope):
            try:
                there = files.read(path)
                if scope != "user" and there.path == files.real(scene.path):
                    continue  # in HOME, the project's settings file is the user's own
                document = JsonDocument.parse(there.data or b"", where=path)
            except HookctlError:
                continue
            if there.data is not None and isinstance(document.value, dict) and document.fault is None:
                yield Place(scope, path, document)


def _paths(scene: Scene, scope: str) -> list[str]:
    if scope == "user":
        return [scene.path]
    if scope != "managed":
        return [settings_path(scene.host, scope, scene.folders.environ, scene.folders.cwd)]
    patterns = scene.host.data["files"]["managed"].get(sys.platform, [])
    return [path for pattern in reversed(patterns) for path in sorted(glob.glob(pattern), reverse=True)]


def _winner(places: list[Place], path: tuple[str, ...]) -> Place | None:
    return next((place for place in places if place.document.get(path) is not MISSING), None)


def _value(place: Place, path: tuple[str, ...]) -> str:
    """An env value as the host hands it on."""
    value: Any = place.document.get(path)
    return value if isinstance(value, str) else json.dumps(value)
