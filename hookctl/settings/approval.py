"""The approvals that a host requires before it runs a hook: of the hook, and of the folder.

The host's own files show it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from hookctl.documents import MISSING, Document
from hookctl.hosts import Host, codex, config_folder, shapes
from hookctl.hosts.model import Table
from hookctl.model import Path
from hookctl.settings import switches
from hookctl.settings.targets import Read, read_settings, readable

UNKNOWN = "nobody has approved it"
CHANGED = "it was changed since it was approved"
OFF = "off"  # the operator switched it off


def closed(
    host: Host, path: str, root: Any, environ: Mapping[str, str], read: Read = read_settings
) -> dict[Path, str]:
    """Why the host skips hooks of a settings file until they are approved, by their paths."""
    trust, root = host.trust, {} if root is MISSING else root
    found: dict[Path, str] = {}
    if trust.config:
        config = _read_host_file(host, trust.config, "toml", environ, read)
        for position, digest in codex.approvals(host.shape, root):
            state = codex.state_path(path, position)
            approved = config.get((*state, "trusted_hash")) if config else MISSING
            if config and config.get((*state, "enabled")) is False:
                found[position] = OFF
            elif approved is MISSING:
                found[position] = UNKNOWN
            elif digest and str(approved) != digest:
                found[position] = CHANGED
    asks = Table("switches", trust.unasked)  # else the host agrees by itself
    if trust.memory and not switches.read_gate(asks, host, environ, read):
        memory = _read_host_file(host, trust.memory, "json", environ, read)
        approvals = memory.get(("approvals",)) if memory else []
        agreed = []
        for agreement in approvals if isinstance(approvals, list) else ():
            if isinstance(agreement, dict):
                agreed.append((agreement.get("event"), agreement.get("command")))
        for position, handler, _ in shapes.handlers(host.shape, root):
            event = shapes.event_of(host.shape, position)
            if (event, handler.get("command")) not in agreed:
                found[position] = UNKNOWN
    return found


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
    by_name = {}
    for name, level in levels.items():
        if not name or "\0" in name or level is None:
            continue
        means_parent = bool(trust.parent) and level == trust.parent
        path = os.path.realpath(os.path.dirname(name) if means_parent else name)
        if path == folder or (trust.inherited and folder.startswith(f"{path.rstrip('/')}/")):
            by_name[name] = level
    return by_name.get(max(by_name, key=len, default="")) in trust.trusted
