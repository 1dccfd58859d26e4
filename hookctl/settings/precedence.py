"""Which scope's settings are in effect: a host merges several files, and some win over others."""

from __future__ import annotations

import glob
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

from hookctl.documents import MISSING, Document
from hookctl.errors import HookctlError
from hookctl.hosts import Host, load, managed_layout, reading, variants
from hookctl.hosts.shapes import event_maps
from hookctl.model import Path
from hookctl.settings.targets import Read, active_file, all_files, read_settings, variant_of_file
from hookctl.system import files
from hookctl.system.folders import Folders
from hookctl.values import NamedTuple


class Source(NamedTuple):
    """A settings file of some scope that the host reads."""

    scope: str
    path: str
    document: Document
    host: Host  # in the variant that this file stands in


def sources(
    folders: Folders, host: Host, user: str, start: str, read: Read = read_settings
) -> list[Source]:
    """The files that the host reads when started in a folder, the winning ones first.

    `user` is the path of the user's settings file.
    """
    readable_files = list(_read_files(folders, host, user, start, read))
    if host.scope_rules.first_only:
        return readable_files[:1]
    return readable_files


def _read_files(
    folders: Folders, host: Host, user: str, start: str, read: Read
) -> Iterator[Source]:
    for scope in host.scope_rules.precedence:
        for variant, path in _find_files(folders, host, scope, user, start, read):
            try:
                snapshot, document = read(path, variant.format)
                if scope != "user" and snapshot.path == files.real(user):
                    continue  # in HOME, the project's settings file is the user's own
            except HookctlError:
                continue
            if snapshot.data is None or reading.refusal(variant, document) is not None:
                continue
            if isinstance(document.value, dict):
                yield Source(scope, path, document, variant)


def _find_files(
    folders: Folders, host: Host, scope: str, user: str, start: str, read: Read
) -> list[tuple[Host, str]]:
    """The settings files of a scope, each with the host's variant that matches its layout."""
    if scope == "user":
        return _with_neighbours(folders, variant_of_file(host, user, read), user, scope, "", read)
    if scope == "managed":
        return [(managed_layout(host, path), path) for path in _managed_files(host)]
    if scope not in host.scopes:
        return []
    variant, path = active_file(host, scope, folders.environ, start, read)
    return _with_neighbours(folders, variant, path, scope, start, read)


def _managed_files(host: Host) -> list[str]:
    """The settings files of an administrator on this platform, the winning ones first."""
    patterns = host.managed_files.get(sys.platform, [])
    paths = []
    for pattern in reversed(patterns):
        paths += sorted(glob.glob(pattern), reverse=True)
    return paths


def _with_neighbours(
    folders: Folders, host: Host, path: str, scope: str, start: str, read: Read
) -> list[tuple[Host, str]]:
    """A settings file, and what the host reads beside it."""
    result = [(host, path)]
    if host.has_variants:
        candidates = all_files(load(host.name), scope, folders.environ, start, read)
        if _merges_variants(host) and path in [other for _, other in candidates]:
            for variant, other in candidates:
                if other != path:
                    result.append((variant, other))
    beside = host.files_beside
    if beside:
        pattern = os.path.join(glob.escape(os.path.dirname(path)), beside)
        for other in sorted(glob.glob(pattern)):
            if other != path:
                result.append((host, other))
    return result


def _merges_variants(host: Host) -> bool:
    """Whether the host reads the files of several variants together."""
    return any(where != "wrapped" for where, _ in variants(host))


def winner(found: list[Source], path: Path) -> Source | None:
    """The file whose value at this path is in effect."""
    for source in found:
        if source.document.get(path) is not MISSING:
            return source
    return None


def stronger(found: list[Source], scope: str, path: Path) -> Source | None:
    """The file of a stronger scope whose other value is in effect instead of this scope's."""
    source = winner(found, path)
    if source is None:
        return None
    order = source.host.scope_rules.precedence
    if order.index(source.scope) >= order.index(scope):
        return None
    for other in found:
        is_set = other.scope == scope and other.document.get(path) is not MISSING
        if is_set and text(other, path) == text(source, path):
            return None
    return source


def text(source: Source | None, path: Path) -> str:
    """An env value as the host passes it on; '' where there is none."""
    value: Any = source.document.get(path) if source else ""
    return value if isinstance(value, str) else json.dumps(value)


def hidden_events(found: list[Source], source: Source) -> set[str]:
    """The events of a file that the host takes from another file of the same scope instead."""
    overlays = [variant.variant for where, variant in variants(source.host) if where == "overlays"]
    hidden: set[str] = set()
    for other in found:
        is_neighbour = other.scope == source.scope and other.path != source.path
        if is_neighbour and other.host.variant in overlays:
            for _, events in event_maps(other.host.shape, other.document.value):
                hidden.update(events)
    return hidden
