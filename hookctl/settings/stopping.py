"""Files of which a host takes nothing, and those with which its client does not even start."""

from __future__ import annotations

import os
from collections.abc import Iterator

from hookctl.errors import HookctlError
from hookctl.hosts import Host, loading
from hookctl.hosts.loading import CLIENT, HOST, Unreadable
from hookctl.settings import approval, effective
from hookctl.settings.targets import Read
from hookctl.system.folders import Folders


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
    if host.folder_trust.reads:
        return False
    return approval.is_untrusted(host, scope, start, folders.environ, read)
