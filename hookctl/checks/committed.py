"""Does everyone who clones the project get the hook with the settings that register it?"""

from __future__ import annotations

import os
from collections.abc import Iterator

from hookctl import files
from hookctl.checks import Finding, Scene
from hookctl.errors import HookctlError
from hookctl.places import OWN


def check(scene: Scene) -> Iterator[Finding]:
    """What git is told to ignore, as far as its two plainest files say so; git itself is not run."""
    if not scene.place.shared or not (scene.record or (scene.live and scene.live.elements)):
        return
    settings = os.path.relpath(scene.path, scene.place.project)
    for name in (OWN, os.path.dirname(settings), settings):
        for path in (os.path.join(scene.place.project, ".gitignore"), _exclude(scene.place.project)):
            line = _ignoring(path, name)
            if line:
                message = f"git ignores {name} (line {line}), so no clone gets the hook with its registration"
                yield scene.find("not_committed", "warning", message, "Take that line out, or use --scope local.", path)


def _exclude(project: str) -> str:
    return os.path.join(project, ".git", "info", "exclude")


def _ignoring(path: str, name: str) -> int:
    """The line of an ignore file that names this path itself; 0 if none does, or a later one takes it back."""
    try:
        text = (files.read(path).data or b"").decode("utf-8", "replace")
    except HookctlError:
        return 0
    found = 0
    for number, line in enumerate(text.splitlines(), 1):
        pattern = line.strip()
        taken_back = pattern.startswith("!")
        pattern = pattern.removeprefix("!").removeprefix("/").removesuffix("*").removesuffix("*").removesuffix("/")
        if pattern == name:
            found = 0 if taken_back else number
    return found
