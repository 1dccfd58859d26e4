"""The files of a project that a merge has left for a person to resolve."""

from __future__ import annotations

import os
import re

from hookctl import hosts
from hookctl.errors import HookctlError
from hookctl.planner.runtime_files import CONFIG
from hookctl.settings.targets import GUARD, OWN, all_files, read_inside
from hookctl.system.folders import Folders

_MARK = re.compile(rb"(?m)^<{7} ")


def list_conflicts(folders: Folders, project: str) -> tuple[list[str], bool]:
    """The settings files and configurations with conflict marks, as `name:line`.

    And whether the record has marks too, which are resolved after them.
    """
    found = []
    for name in hosts.names():
        host = hosts.load(name)
        paths = [os.path.join(project, OWN, GUARD, name, CONFIG)]
        if "project" in host.scopes:
            paths += [path for _, path in all_files(host, "project", folders.environ, project)]
        for path in paths:
            line = _find_mark(project, path)
            if line:
                found.append(f"{os.path.relpath(path, project)}:{line}")
    has_record = bool(_find_mark(project, os.path.join(project, OWN, "ledger.json")))
    return sorted(set(found)), has_record


def _find_mark(project: str, path: str) -> int:
    """The line of the first conflict mark in a file of the project; 0 if there is none."""
    try:
        data = read_inside(project, path).data or b""
    except HookctlError:
        return 0
    mark = _MARK.search(data)
    return data.count(b"\n", 0, mark.start()) + 1 if mark else 0
