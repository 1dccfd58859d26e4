"""Files with which a host's client does not start, whatever stands in the others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from hookctl.errors import HookctlError
from hookctl.hosts import Host, loading
from hookctl.hosts.loading import CLIENT, HOST
from hookctl.settings import approval, effective
from hookctl.settings.targets import Read
from hookctl.system.folders import Folders


class Stopping(NamedTuple):
    """A file that keeps the client from starting."""

    path: str
    line: int
    reason: str  # a sentence
    code: str  # of the finding about it
    fix: str


def find_fatal_files(
    folders: Folders, host: Host, user: str, start: str, read: Read
) -> Iterator[Stopping]:
    """The files of a host that stop its client when it is started in a folder.

    `user` is the path of the user's settings file. Those of a folder that it does not trust are
    not read.
    """
    for scope in host.scope_rules.precedence:
        layouts = [*host.layouts(), *filter(None, [host.beside])]
        if scope == "managed" and host.managed:
            layouts = host.managed.layouts()
        costs = [cost for layout in layouts for cost in layout.loading.costs]
        if not any(cost.endswith((HOST, CLIENT)) for cost in costs):
            continue  # no file is read for nothing
        is_read = host.folder_trust.reads
        if not is_read and approval.is_untrusted(host, scope, start, folders.environ, read):
            continue
        for variant, path in effective.find_files(folders, host, scope, user, start, read):
            stopping = _read_file(variant, path, read) if os.path.lexists(path) else None
            if stopping:
                yield stopping


def _read_file(host: Host, path: str, read: Read) -> Stopping | None:
    """A file with the fault that stops all, if it has one."""
    try:
        document = read(path, host.format)[1]
        refusal = loading.refusal(host, document)
    except HookctlError as error:
        refusal = error
    if refusal:
        line, what, code, fix = refusal.line, refusal.message, refusal.code, refusal.hint
        reach = loading.reach_of(host, "text")
    else:
        fault = loading.read(host, document).whole
        if fault is None or fault.reach not in (HOST, CLIENT):
            return None
        line, reach = document.position(fault.path)[0], fault.reach
        what = f"{document.name_of(fault.path)} {fault.reason}".strip()
        code, fix = fault.code, fault.fix
    if refusal and reach != CLIENT:
        return None
    where = f"line {line} of {path}" if line else path
    return Stopping(
        path, line, f"{loading.cost(host, reach)}, because of {where}: {what}", code, fix
    )
