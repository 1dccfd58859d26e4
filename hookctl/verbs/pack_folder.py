"""The new folder that a pack or a plugin is written to, and the name that a pack may have."""

from __future__ import annotations

import os
import re

from hookctl import packs
from hookctl.errors import HookctlError, usage_error
from hookctl.system.folders import Folders

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


def new_folder(folders: Folders, path: str, hint: str = "Name a new folder with -o DIR.") -> str:
    """The absolute path of a folder that is to be made; an error if anything is there."""
    folder = os.path.normpath(os.path.join(folders.cwd, path))
    if os.path.lexists(folder):
        raise HookctlError("exists", "this is there already", path=folder, hint=hint, exit_code=2)
    return folder


def require_name(name: str, hint: str) -> None:
    """Refuse a name that no pack of a person's own can have."""
    if not _NAME.fullmatch(name) or name in packs.names():
        raise usage_error(f"a pack cannot be called {name!r}", hint)
