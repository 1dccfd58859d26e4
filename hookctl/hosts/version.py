"""The host's own program on this machine, and the version that it prints."""

from __future__ import annotations

import os
import re
import subprocess
from typing import NamedTuple

from hookctl import hosts
from hookctl.hosts import Host
from hookctl.system import owners, project
from hookctl.system.folders import Folders

_SECONDS = 15  # for a client to say its version


class Client(NamedTuple):
    """The host's own program."""

    path: str  # empty if there is none on PATH
    version: str  # empty if it did not say


def ask_client(host: Host, folders: Folders) -> Client:
    """A host's own program, and the version that it prints; one of the project's is not started."""
    program = hosts.client(host, folders.environ)
    if not program or not host.client.asks_version or owners.find_fault(program):
        return Client(program, "")
    if project.is_inside(project.look(folders.cwd, folders.environ), program, folders.home):
        return Client(program, "")
    call = [os.path.abspath(program), *host.client.version_args]
    try:
        # In /: a version manager's shim starts what the working folder's files name.
        process = subprocess.run(
            call,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
            cwd="/",
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return Client(program, "")
    version = re.search(r"[0-9]+(?:\.[0-9]+)+", process.stdout)
    return Client(program, version[0] if version else "")
