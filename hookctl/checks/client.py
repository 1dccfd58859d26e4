"""Is the client there, and is its version one that the facts about it hold for?"""

from __future__ import annotations

import re
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
        names = hosts.commands(scene.host)
        message = f"{' or '.join(names)} is not on PATH, so its version is not known"
        yield scene.find("client_missing", "info", message, path=names[0])
        return
    if not about.get("asks_version", True):
        message = f"the version of {about['package']} is not known: {about['command']} has one of its own"
        yield scene.find("client_unknown", "info", message, path=program)
        return
    version = _version(program, about["version_args"])
    if not version:
        message = "the client did not say its version"
        yield scene.find("client_unknown", "info", message, path=program)
    elif "minimum" in about and _numbers(version) < _numbers(about["minimum"]):
        message = f"version {version} is below {about['minimum']}: {about['minimum_reason']}"
        yield scene.find("client_old", "warning", message, f"Upgrade {scene.host.title}.", program)
    elif _numbers(version) > _numbers(about["seen"]):
        message = f"version {version} is newer than {about['seen']}, {_known(scene)}"
        yield scene.find("client_newer", "info", message, path=program)
    elif "minimum" not in about and _numbers(version) < _numbers(about["seen"]):
        message = f"version {version} is older than {about['seen']}, {_known(scene)}"
        yield scene.find("client_older", "info", message, path=program)


def _known(scene: Scene) -> str:
    proven = scene.host.data["sure"] == "proven"
    return "the one that hookctl was proven on" if proven else "the one that hookctl knows from documents"


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
