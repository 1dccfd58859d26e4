"""Which scope's settings are in effect: a host merges several files, and some win over others."""

from __future__ import annotations

import glob
import json
import os
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from hookctl.documents import MISSING, Document
from hookctl.errors import HookctlError
from hookctl.hosts import Host, load, reading, variants
from hookctl.hosts.shapes import event_maps
from hookctl.model import Path
from hookctl.settings.targets import Read, all_files, of_file, read_settings, standing
from hookctl.system import files
from hookctl.system.folders import Folders


class Source(NamedTuple):
    """A settings file of some scope that the host reads."""

    scope: str
    path: str
    document: Document
    host: Host  # in the variant that this file stands in


def sources(
    folders: Folders, host: Host, user: str, start: str, read: Read = read_settings
) -> list[Source]:
    """The files that the host reads when started in a folder, those first whose values win; `user` is the user's."""
    found = list(_read(folders, host, user, start, read))
    return found[:1] if host.scope_rules.first_only else found


def _read(folders: Folders, host: Host, user: str, start: str, read: Read) -> Iterator[Source]:
    for scope in host.scope_rules.precedence:
        for variant, path in _paths(folders, host, scope, user, start, read):
            try:
                there, document = read(path, variant.format)
                if scope != "user" and there.path == files.real(user):
                    continue  # in HOME, the project's settings file is the user's own
            except HookctlError:
                continue
            taken = there.data is not None and reading.refusal(variant, document) is None
            if taken and isinstance(document.value, dict):
                yield Source(scope, path, document, variant)


def _paths(
    folders: Folders, host: Host, scope: str, user: str, start: str, read: Read
) -> list[tuple[Host, str]]:
    if scope == "user":
        return _with_others(folders, (of_file(host, user, read), user), scope, "", read)
    if scope != "managed":
        if scope not in host.scopes:
            return []
        found = standing(host, scope, folders.environ, start, read)
        return _with_others(folders, found, scope, start, read)
    patterns = host.managed_files.get(sys.platform, [])
    matches = [
        path for pattern in reversed(patterns) for path in sorted(glob.glob(pattern), reverse=True)
    ]
    return [(host, path) for path in matches]


def _with_others(
    folders: Folders, file: tuple[Host, str], scope: str, start: str, read: Read
) -> list[tuple[Host, str]]:
    """A settings file, and what the host reads beside it."""
    host, path = file
    every = []
    if host.has_variants:
        every = all_files(load(host.name), scope, folders.environ, start, read)
    merged = any(where != "wrapped" for where, _ in variants(host)) and path in [
        other for _, other in every
    ]
    found = [file, *(one for one in every if merged and one[1] != path)]
    beside = host.files_beside
    if beside:
        pattern = os.path.join(glob.escape(os.path.dirname(path)), beside)
        found += [(host, other) for other in sorted(glob.glob(pattern)) if other != path]
    return found


def winner(found: list[Source], path: Path) -> Source | None:
    """The file whose value at this path is in effect."""
    return next((source for source in found if source.document.get(path) is not MISSING), None)


def text(source: Source | None, path: Path) -> str:
    """An env value as the host hands it on; empty where there is none."""
    value: Any = source.document.get(path) if source else ""
    return value if isinstance(value, str) else json.dumps(value)


def hidden_events(found: list[Source], source: Source) -> set[str]:
    """The events of a file that the host takes from another file of the same scope instead."""
    laid = [variant.variant for where, variant in variants(source.host) if where == "overlays"]
    over = [
        one
        for one in found
        if one.scope == source.scope and one.host.variant in laid and one.path != source.path
    ]
    return {
        event
        for one in over
        for _, events in event_maps(one.host.shape, one.document.value)
        for event in events
    }
