"""The approvals that a host requires before it runs a hook: of the hook, and of the folder.

The host's own files show it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hookctl.documents import MISSING, Document
from hookctl.hosts import Host, codex, config_folder, shapes
from hookctl.hosts.model import Table
from hookctl.model import HookEntry, Path
from hookctl.settings import switches
from hookctl.settings.targets import Read, read_settings, readable

UNKNOWN = "unknown"  # it was never approved
CHANGED = "changed"  # it was changed since it was approved
OFF = "off"  # the operator switched it off


class Closed(NamedTuple):
    """A hook of a pack that the host skips until it is approved."""

    element: HookEntry
    why: str
    state: Path = ()  # where the host keeps its approval


def closed(
    host: Host,
    path: str,
    root: Any,
    environ: Mapping[str, str],
    read: Read = read_settings,
    elements: Iterable[HookEntry] | None = None,
) -> list[Closed]:
    """The hooks in a settings file, ours if no others are given, that wait for an approval."""
    trust, root = host.trust, {} if root is MISSING else root
    elements = shapes.elements(host.shape, root) if elements is None else elements
    hooks = {hook.path: hook for hook in elements}
    if trust.config:
        config = _read_host_file(host, trust.config, "toml", environ, read)
        return list(_find_unapproved(host, path, root, hooks, config))
    if trust.memory:
        return list(_find_not_agreed(host, root, hooks, environ, read))
    return []


def _find_unapproved(
    host: Host, path: str, root: Any, hooks: Mapping[Path, HookEntry], config: Document | None
) -> Iterator[Closed]:
    by_state = {codex.state_path(path, position): hook for position, hook in hooks.items()}
    for state, digest in codex.approvals(host.shape, path, root, hooks):
        hook = by_state[state]
        approved = codex.approved(config, state) if config else None
        if config and config.get((*state, "enabled")) is False:
            yield Closed(hook, OFF, state)
        if approved is None:
            yield Closed(hook, UNKNOWN, state)
        elif digest and approved != digest:
            yield Closed(hook, CHANGED, state)


def _find_not_agreed(
    host: Host, root: Any, hooks: Mapping[Path, HookEntry], environ: Mapping[str, str], read: Read
) -> Iterator[Closed]:
    """Compare each hook with the commands that were agreed to, unless the host agrees by itself."""
    if switches.read_gate(Table("switches", host.trust.unasked), host, environ, read):
        return
    memory = _read_host_file(host, host.trust.memory, "json", environ, read)
    approvals = memory.get(("approvals",)) if memory else []
    agreed = []
    for agreement in approvals if isinstance(approvals, list) else ():
        if isinstance(agreement, dict):
            agreed.append((agreement.get("event"), agreement.get("command")))
    for path, handler, _ in shapes.handlers(host.shape, root):
        event = shapes.event_of(host.shape, path)
        if path in hooks and (event, handler.get("command")) not in agreed:
            yield Closed(hooks[path], UNKNOWN)


def is_untrusted(
    host: Host, scope: str, folder: str, environ: Mapping[str, str], read: Read = read_settings
) -> bool:
    """Whether the host runs no hook of a scope in a folder, because the folder is not trusted."""
    trust = host.folder_trust
    if scope not in trust.scopes:
        return False
    is_off = switches.read_gate(Table("switches", trust.switch), host, environ, read)
    if is_off or (is_off is None and not trust.on):
        return False
    document = _read_host_file(host, trust.file, trust.format, environ, read)
    return document is None or not _is_trusted(trust, _trust_levels(trust, document), folder)


def list_scopes(
    host: Host, folder: str, environ: Mapping[str, str], read: Read = read_settings
) -> list[str]:
    """The scopes whose settings count in a folder; a project's do where the host trusts it."""
    scopes = ["", "managed", "user", "project", "local"]  # the first is that of variables
    trust = host.folder_trust.scopes
    if "project" in trust and is_untrusted(host, "project", folder, environ, read):
        return scopes[:3]
    return scopes


def _read_host_file(
    host: Host, name: str, format: str, environ: Mapping[str, str], read: Read
) -> Document | None:
    return readable(name.format(config=config_folder(host, environ)), format, read)


def _trust_levels(trust: Table, document: Document) -> dict[str, Any]:
    folders = document.get(tuple(trust.folders))
    if not isinstance(folders, dict):
        return {}
    levels: dict[str, Any] = {}
    for name, said in sorted(folders.items(), key=lambda item: item[0] not in trust.trusted):
        if trust.lists:  # a word has its folders; of two words the trusting one, only of real paths
            for folder in said if isinstance(said, list) else ():
                is_path = isinstance(folder, str) and "\0" not in folder
                if is_path and folder == os.path.realpath(folder):
                    levels.setdefault(folder, name)
        elif not trust.level:
            levels[name] = said
        elif isinstance(said, dict):
            levels[name] = said.get(trust.level)
    return levels


def _is_trusted(trust: Table, levels: Mapping[str, Any], folder: str) -> bool:
    """Whether the folder is trusted, or the nearest folder above where trust is inherited."""
    folder = os.path.realpath(folder)
    nearest_name, nearest_level = "", None
    for name, level in levels.items():
        if "\0" in name or level is None:
            continue
        means_parent = bool(trust.parent) and level == trust.parent
        subject = os.path.dirname(name) if means_parent else name
        path = os.path.realpath(subject)
        is_inside = trust.inherited and folder.startswith(f"{path.rstrip('/')}/")
        if (path == folder or is_inside) and len(name) > len(nearest_name):
            nearest_name, nearest_level = name, level
    return nearest_level in trust.trusted
