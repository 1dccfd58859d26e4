"""What a host refuses to run: hooks and folders that nobody approved, and files of no use to it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from hookctl.documents import MISSING, Document
from hookctl.errors import HookctlError
from hookctl.hosts import Host, codex, config_folder, loading, shapes
from hookctl.hosts.loading import CLIENT, HOST, Unreadable
from hookctl.hosts.model import Table
from hookctl.model import Path
from hookctl.settings import effective, switches
from hookctl.settings.targets import Read, read_settings, readable
from hookctl.system.folders import Folders

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
    return document is None or not _is_trusted(trust, document, folder)


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


def _is_trusted(trust: Table, document: Document, folder: str) -> bool:
    """Whether the folder is trusted, or the nearest folder above where trust is inherited."""
    listed = document.get(tuple(trust.folders))
    folders = listed.items() if isinstance(listed, dict) else ()
    levels: dict[str, Any] = {}
    for name, said in sorted(folders, key=lambda item: item[0] not in trust.trusted):
        if trust.lists:  # a word has its folders; of two words the trusting one, only of real paths
            for path in said if isinstance(said, list) else ():
                is_path = isinstance(path, str) and "\0" not in path
                if is_path and path == os.path.realpath(path):
                    levels.setdefault(path, name)
        elif not trust.level:
            levels[name] = said
        elif isinstance(said, dict):
            levels[name] = said.get(trust.level)
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


# Files of which a host takes nothing


def read_fault(host: Host, scope: str, path: str, read: Read) -> Unreadable | None:
    """Why a host takes nothing from the file at a path; None if it does."""
    try:
        snapshot, document = read(path, host.format)
    except HookctlError as error:
        stops = loading.reach_of(host, "text") == CLIENT
        # What hookctl itself does not read, the host may.
        cost = f"; {loading.cost(host)}" if error.line or stops else ""
        text = f"{error.message}{cost}"
        return Unreadable(path, error.line, text, error.code, error.hint, scope, stops)
    return loading.find_fault(host, scope, path, document) if snapshot.data is not None else None


def find_fatal_files(
    folders: Folders, host: Host, user: str, start: str, read: Read
) -> Iterator[Unreadable]:
    """The files of a host that stop its client when it is started in a folder.

    `user` is the path of the user's settings file.
    """
    usual = [*host.layouts(), *filter(None, [host.beside])]
    for scope in host.scope_rules.precedence:
        is_managed = scope == "managed" and host.managed
        layouts = host.managed.layouts() if is_managed else usual
        costs = [cost for layout in layouts for cost in layout.loading.costs]
        if not any(cost.endswith((HOST, CLIENT)) for cost in costs):
            continue  # no file is read for nothing
        if is_skipped(folders, host, scope, start, read):
            continue
        for variant, path in effective.find_files(folders, host, scope, user, start, read):
            fault = read_fault(variant, scope, path, read) if os.path.lexists(path) else None
            if fault and fault.stops_client:
                yield fault


def is_skipped(folders: Folders, host: Host, scope: str, start: str, read: Read) -> bool:
    """Whether a host does not even read the files of a scope, in a folder without its trust."""
    reads = host.folder_trust.reads
    return not reads and is_untrusted(host, scope, start, folders.environ, read)
