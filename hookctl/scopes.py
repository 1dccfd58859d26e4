"""Which scope's settings are in effect: a host merges several files, and some win over others."""

from __future__ import annotations

import glob
import json
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from hookctl import files
from hookctl.documents import MISSING
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.folders import Folders
from hookctl.hosts import Host, settings_path
from hookctl.model import Path


class Source(NamedTuple):
    """A settings file of some scope that the host reads."""

    scope: str
    path: str
    document: JsonDocument


def sources(folders: Folders, host: Host, user: str, start: str) -> list[Source]:
    """The files that the host reads when started in a folder, those first whose values win; `user` is the user's."""
    return list(_read(folders, host, user, start))


def _read(folders: Folders, host: Host, user: str, start: str) -> Iterator[Source]:
    for scope in host.data["scopes"]["precedence"]:
        for path in _paths(folders, host, scope, user, start):
            try:
                there = files.read(path)
                if scope != "user" and there.path == files.real(user):
                    continue  # in HOME, the project's settings file is the user's own
                document = JsonDocument.parse(there.data or b"", where=path)
            except HookctlError:
                continue
            ignored = document.fault is not None and not (host.comments and host.trailing_commas)
            if there.data is not None and isinstance(document.value, dict) and not ignored:
                yield Source(scope, path, document)


def _paths(folders: Folders, host: Host, scope: str, user: str, start: str) -> list[str]:
    if scope == "user":
        return [user]
    if scope != "managed":
        return [settings_path(host, scope, folders.environ, start)]
    patterns = host.data["files"]["managed"].get(sys.platform, [])
    return [path for pattern in reversed(patterns) for path in sorted(glob.glob(pattern), reverse=True)]


def winner(found: list[Source], path: Path) -> Source | None:
    """The file whose value at this path is in effect."""
    return next((source for source in found if source.document.get(path) is not MISSING), None)


def text(source: Source | None, path: Path) -> str:
    """An env value as the host hands it on; empty where there is none."""
    value: Any = source.document.get(path) if source else ""
    return value if isinstance(value, str) else json.dumps(value)
