"""Is the client there, and is its version one that the facts about it hold for?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator

from hookctl import hosts
from hookctl.checks import Finding, Scene

_SECONDS = 15


def check(scene: Scene) -> Iterator[Finding]:
    """The version that the client itself prints."""
    about = scene.host.data["client"]
    program = hosts.client(scene.host, scene.folders.environ)
    if not program:
        message = f"{about['command']} is not on PATH, so its version is not known"
        yield scene.find("client_missing", "info", message, path=about["command"])
        return
    version = _version(program, about["version_args"])
    if not version:
        message = "the client did not say its version"
        yield scene.find("client_unknown", "info", message, path=program)
    elif "minimum" in about and _numbers(version) < _numbers(about["minimum"]):
        message = f"version {version} is below {about['minimum']}: {about['minimum_reason']}"
        yield scene.find("client_old", "warning", message, f"Upgrade {scene.host.title}.", program)
    elif _numbers(version) > _numbers(about["seen"]):
        message = f"version {version} is newer than {about['seen']}, the one that hookctl was proven on"
        yield scene.find("client_newer", "info", message, path=program)


def check_readers(scene: Scene) -> Iterator[Finding]:
    """Other agents here that read the same file, and so run the hook too, as if they were this one."""
    path = scene.folders.environ.get("PATH", os.defpath)
    for reader in scene.host.data.get("also_read_by", ()) if scene.guard else ():
        found = shutil.which(reader["command"], path=path)
        if found and os.path.isabs(found):
            message = f"{reader['title']} reads this file too, and runs the hook as {scene.host.title} would"
            yield scene.find("also_read", "info", message, "Do not install the guard for both in one project.")


def _version(program: str, arguments: list[str]) -> str:
    try:
        run = subprocess.run(
            [program, *arguments], capture_output=True, text=True, timeout=_SECONDS, stdin=subprocess.DEVNULL
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    found = re.search(r"[0-9]+(?:\.[0-9]+)+", run.stdout)
    return found[0] if found else ""


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]
