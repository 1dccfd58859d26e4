"""Where an administrator's settings for all users of a machine are."""

from __future__ import annotations

import sys

from hookctl.errors import FAILED, HookctlError, nearest, usage_error
from hookctl.hosts import Host, load, names

PLATFORMS = {"linux": "linux", "macos": "darwin"}  # our word: Python's
OWNER, MODE = "root", "0644"
_NAME = "50-hookctl"


def require_platform(name: str) -> str:
    """A known platform; without a name it is that of this machine."""
    if not name:
        return "macos" if sys.platform == "darwin" else "linux"
    if name not in PLATFORMS:
        hint = f"{nearest(name, list(PLATFORMS))}Platforms: {', '.join(PLATFORMS)}."
        raise usage_error(f"unknown platform {name!r}", hint)
    return name


def find(host: Host, platform: str, pack: str) -> tuple[str, bool]:
    """The file for a pack, and whether it stands beside others and is not merged into the only one.

    no_managed_scope (exit code 1) where hookctl knows of none.
    """
    patterns = host.managed_files.get(PLATFORMS[platform], [])
    if not patterns:
        able = [name for name in names() if load(name).managed_files.get(PLATFORMS[platform])]
        message = f"hookctl knows of no managed settings of {host.title} on {platform}"
        hint = f"Install at user or project scope. Hosts that have some: {', '.join(able)}."
        raise HookctlError("no_managed_scope", message, hint=hint, exit_code=FAILED)
    for pattern in patterns:
        if "*" in pattern:
            name = _NAME if pack == "guard" else f"{_NAME}-{pack}"
            return pattern.replace("*", name), True
    return patterns[-1], False
