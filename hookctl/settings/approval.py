"""What a host wants approved before it runs a hook, as far as its own files show: the hook itself, and the folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hookctl.documents import MISSING, Document
from hookctl.hosts import Host, codex, config_folder, load, settings_path, shapes
from hookctl.hosts.model import FolderTrust
from hookctl.model import HookEntry, Path
from hookctl.settings.targets import Read, read_settings, readable
from hookctl.settings.words import is_true

UNKNOWN, CHANGED, OFF = (
    "unknown",
    "changed",
    "off",
)  # nobody approved it; since then it was changed; switched off


class Closed(NamedTuple):
    """A hook of a pack that the host passes over until somebody approves it."""

    element: HookEntry
    why: str
    state: Path = ()  # where the host has the word on it


def closed(
    host: Host, path: str, root: Any, environ: Mapping[str, str], read: Read = read_settings
) -> list[Closed]:
    """The hooks of ours in a settings file that wait for an approval, by its path and what it says."""
    about, root = host.trust, {} if root is MISSING else root
    ours = {element.path: element for element in shapes.elements(host.shape, root)}
    if about.config:
        config = _read(host, about.config, "toml", environ, read)
        return list(_unapproved(host, path, root, ours, config))
    return list(_not_agreed(host, root, ours, environ, read)) if about.memory else []


def _unapproved(
    host: Host, path: str, root: Any, ours: Mapping[Path, HookEntry], config: Document | None
) -> Iterator[Closed]:
    """Each hook against the approvals that the host keeps by position."""
    places = {codex.state_path(path, place): element for place, element in ours.items()}
    for state, digest in codex.approvals(host.shape, path, root, ours):
        known = codex.approved(config, state) if config else None
        if config and config.get((*state, "enabled")) is False:
            yield Closed(places[state], OFF, state)
        if known != digest:
            yield Closed(places[state], UNKNOWN if known is None else CHANGED, state)


def _not_agreed(
    host: Host, root: Any, ours: Mapping[Path, HookEntry], environ: Mapping[str, str], read: Read
) -> Iterator[Closed]:
    """Each hook against the commands that were agreed to, unless the host agrees by itself."""
    about = host.trust
    said = about.unasked
    if is_true(environ.get(said.variable, "")) or is_true(str(root.get(said.key))):
        return
    memory = _read(host, about.memory, "json", environ, read)
    listed = memory.get(("approvals",)) if memory else ()
    entries = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    known = [(one.get("event"), one.get("command")) for one in entries]
    for path, handler, _ in shapes.handlers(host.shape, root):
        if path in ours and (shapes.event_of(host.shape, path), handler["command"]) not in known:
            yield Closed(ours[path], UNKNOWN)


def is_untrusted(
    host: Host, scope: str, folder: str, environ: Mapping[str, str], read: Read = read_settings
) -> bool:
    """Whether the host runs no hook of a scope in a folder, since nobody told it to trust that."""
    about = host.folder_trust
    if scope not in about.scopes or not _is_on(host, about, environ, read):
        return False
    document = _read(host, about.file, about.format, environ, read)
    return document is None or not _is_trusted(about, _words(about, document), folder)


def _read(
    host: Host, name: str, format: str, environ: Mapping[str, str], read: Read
) -> Document | None:
    return readable(name.format(config=config_folder(host, environ)), format, read)


def _is_on(host: Host, about: FolderTrust, environ: Mapping[str, str], read: Read) -> bool:
    path = tuple(about.switch)
    if not path:
        return about.on
    host = load(host.name)
    document = readable(settings_path(host, "user", environ), host.format, read)
    said = document.get(path) if document else MISSING
    return said if isinstance(said, bool) else about.on


def _words(about: FolderTrust, document: Document) -> dict[str, Any]:
    """What the host was told of folders."""
    found = document.get(tuple(about.folders))
    words = found if isinstance(found, dict) else {}
    if about.level:
        return {name: one.get(about.level) for name, one in words.items() if isinstance(one, dict)}
    return words


def _is_trusted(about: FolderTrust, words: Mapping[str, Any], folder: str) -> bool:
    """The word on the folder itself, or where folders inside go with it, that of the nearest one."""
    folder, best = os.path.realpath(folder), ("", None)
    for name, word in words.items():
        if "\0" in name:
            continue
        above = os.path.realpath(
            os.path.dirname(name) if (about.parent and word == about.parent) else name
        )
        inside = about.inherited and folder.startswith(f"{above.rstrip('/')}/")
        if (above == folder or inside) and len(name) > len(best[0]):
            best = name, word
    return best[1] in about.trusted
