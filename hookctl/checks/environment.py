"""What reaches the hook as its environment: the env of every scope, and what the host itself was started with."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence

from hookctl import effects
from hookctl.checks import Finding, Here, Scene, configuration
from hookctl.masking import masked
from hookctl.packs import guard
from hookctl.packs.settings import LIMIT_KEY

# No knobs, but in a settings file they change what the hook does all the same: its state folder, its clock.
_MOVING = ("HOOKCTL_STATE_DIR", "HOOKCTL_NOW")


def variable(here: Here, name: str) -> str:
    """A variable as the hook gets it: from the settings files, else from what the host was started with."""
    return effects.variable(here.sources, here.folders.environ, name).text


def shown(name: str, value: str) -> str:
    """A variable with its value, quoted as in a settings file, and nothing secret in it."""
    return f"{name}={json.dumps(masked(value, name), ensure_ascii=False)}"


def switches_off(name: str, value: str, child_env: Sequence[str]) -> bool:
    """Whether a variable in the hook's environment makes it do nothing."""
    return bool(guard.switches_off(name, value)) or (name in child_env and guard.is_true(value))


def check(scene: Scene) -> Iterator[Finding]:
    """The guard's own variables in the settings files that the host reads: they win over the hook's configuration."""
    known = {*_child_env(scene), *configuration.variables(), *_MOVING}
    for source in scene.sources:
        texts = effects.variables([source])
        for name in sorted(texts):
            if name in known:
                yield from _one(scene, name, texts[name], f"of {source.scope} scope", source.path)


def check_shell(scene: Scene) -> Iterator[Finding]:
    """The same of the environment that hookctl runs in, if the host is started from there; settings files win."""
    environ = scene.folders.environ
    if scene.guard is None:
        return
    found = scene.reaching
    for name in sorted(environ):
        known = name in (*_child_env(scene), *configuration.variables())
        if known and not effects.variable(found, environ, name).source:
            yield from _one(scene, name, environ[name], "in this shell", "")
    for name in filter(None, (LIMIT_KEY, scene.host.cap_key)):
        value = effects.variable(found, environ, name)
        if value.source and name in environ and environ[name] != value.text:
            message = f"{shown(name, environ[name])} in this shell has no effect"
            message += f": {value.source.scope} scope sets it, and wins"
            yield scene.find("shell_shadowed", "info", message, f"Change it in {value.path}.", value.path)


def _one(scene: Scene, name: str, value: str, where: str, path: str) -> Iterator[Finding]:
    children = _child_env(scene)
    off = switches_off(name, value, children)
    if name in children and not off:
        return
    message = f"{shown(name, value)} {where} "
    message += "switches the guard off" if off else "is in effect, whatever the hook's configuration says"
    fix = f"Remove it from {path}." if path else f"`unset {name}` before the agent is started."
    level = "error" if off else "warning" if path else "info"
    yield Finding("hook_environment", level, message, scene.host.name, path, fix)


def _child_env(scene: Scene) -> list[str]:
    """The variables that mark an agent started by another, which the guard leaves alone."""
    configured = guard.live_configuration(scene.guard).get("child_env") if scene.guard else None
    names = configured if isinstance(configured, list) else ["HOOKCTL_CHILD"]
    return [name for name in names if isinstance(name, str) and os.sep not in name]
