"""Could somebody else change what runs as you? The modes of settings, hooks and hookctl's own folders."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from hookctl.checks import Finding, Scene
from hookctl.packs.settings import settings_from

_TRUSTED = (0,)  # root may change everything anyway


def check(scene: Scene) -> Iterator[Finding]:
    """The settings file, what its hooks run, and hookctl's state."""
    for path in dict.fromkeys(_paths(scene)):
        loose = _loose(path)
        if loose:
            message = f"{loose}, so somebody else could run commands as you"
            yield scene.find("loose_mode", "warning", message, "`chmod o-w`, or make it your own.", path)


def _paths(scene: Scene) -> Iterator[str]:
    if scene.document is not None:
        yield scene.path
    for page in scene.record.packs.values() if scene.record else ():
        yield from (os.path.join(page.folder, name) for name in page.files)
    if scene.guard:
        yield scene.folders.state
        yield settings_from(scene.guard.settings).python or scene.folders.state


def _loose(path: str) -> str:
    """What is wrong with the rights of a file or of a folder above it; empty if all is well, or nothing is there."""
    try:
        path = os.path.realpath(path)
        if os.stat(path).st_uid not in (*_TRUSTED, os.geteuid()):
            return f"{path} belongs to another user"
        while path != os.path.dirname(path):
            mode = os.stat(path).st_mode
            if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
                return f"{path} is writable by everybody"
            path = os.path.dirname(path)
    except (OSError, ValueError):
        pass
    return ""
