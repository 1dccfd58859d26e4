"""The host's own program on this machine, and the version that it prints."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from hookctl import hosts
from hookctl.hosts import Host
from hookctl.system import owners, project
from hookctl.system.folders import Folders
from hookctl.system.processes import ask

_SECONDS = 15  # for a client to say its version


class Client(NamedTuple):
    """The host's own program."""

    path: str  # empty if there is none on PATH
    version: str  # empty if it did not say


def ask_client(host: Host, folders: Folders) -> Client:
    """A host's own program, and the version that it prints; one of the project's is not started."""
    program = hosts.client(host, folders.environ)
    is_asked = program and host.client.asks_version and not owners.find_fault(program)
    here = project.look(folders.cwd, folders.environ) if is_asked else ""
    if not is_asked or project.is_inside(here, program, folders.home):
        return Client(program, "")
    said = ask([os.path.abspath(program), *host.client.version_args], None, _SECONDS)
    version = re.search(r"[0-9]+(?:\.[0-9]+)+", said.out)
    return Client(program, version[0] if version else "")
