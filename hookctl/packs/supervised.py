"""The supervisor of a project: the file that says which agent it started, and how often again."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from typing import Any

from hookctl.errors import FAILED, HookctlError
from hookctl.events import read_object
from hookctl.system import files
from hookctl.system.package_data import guard_module

BREADCRUMB = "RESPAWN_REQUESTED"
_NAME = "supervised"


@contextlib.contextmanager
def locked(path: str, seconds: float, message: str, hint: str, code: str) -> Iterator[None]:
    """Hold a lock of the guard's; an error where another process has it for so long."""
    files.make_folders(os.path.dirname(path), files.PRIVATE)
    try:
        handle = guard_module("state").lock(path, seconds)
    except BlockingIOError:
        raise HookctlError(code, message, path=path, hint=hint, exit_code=FAILED) from None
    except OSError as error:
        raise files.cannot_write(path, error) from None
    try:
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def alone(state: str) -> Iterator[None]:
    """Be the only supervisor of the project; `supervised` where another one, or its agent, lives.

    A kill leaves no lock behind. The agent that a killed supervisor started may live on.
    """
    path, code = os.path.join(state, f"{_NAME}.lock"), "supervised"
    hint = "Wait until it ends, or `hookctl run stop` and end it."
    with locked(path, 0, "another supervisor of this project is running", hint, code):
        process = str(_read(state).get("process", ""))
        if guard_module("work").is_gone(process) is False:
            pid = process.partition(" ")[0]
            message = f"the agent of a supervisor that was ended still runs: {pid}"
            raise HookctlError(code, message, path=path, hint=hint, exit_code=FAILED)
        yield


def find_crumb(state: str) -> int:
    """When the breadcrumb was written, in nanoseconds; 0 if there is none."""
    try:
        return os.lstat(os.path.join(state, BREADCRUMB)).st_mtime_ns
    except OSError:
        return 0


def note(state: str, respawns: int, pid: int = 0) -> None:
    """Write down how often the agent was started again, and which process it is now."""
    record = {**_read(state), "respawns": respawns}
    if pid:
        record["process"] = guard_module("work").describe_process(str(pid))
    files.write_own(os.path.join(state, _NAME), json.dumps(record).encode())


def read_respawns(state: str) -> int:
    """How often a supervisor started its agent again in this run; 0 if there was none."""
    respawns = _read(state).get("respawns")
    return respawns if type(respawns) is int else 0


def _read(state: str) -> dict[str, Any]:
    return read_object(os.path.join(state, _NAME))
