"""Since when a project's work has not moved, kept across the calls of `hookctl run wait`."""

from __future__ import annotations

import json
import os

from hookctl.errors import HookctlError
from hookctl.system import files
from hookctl.values import NamedTuple

FILE = "unmoved"  # in the project's state folder


class _Record(NamedTuple):
    digest: str = ""  # of what the task said
    since: float = 0.0  # when that was first seen, in epoch seconds


def note(state: str, task: str, now: float) -> float:
    """For how many seconds the task has said this; writes down what it had not said before."""
    digest = files.digest(task.encode("utf-8", "surrogatepass"))
    record = _read(state)
    if record.digest == digest and record.since <= now:
        return now - record.since
    text = json.dumps({"digest": digest, "since": now})
    files.write_own(os.path.join(state, FILE), text.encode())
    return 0.0


def _read(state: str) -> _Record:
    try:
        value = json.loads(files.read(os.path.join(state, FILE)).data or b"{}")
        return _Record(str(value["digest"]), float(value["since"]))
    except (HookctlError, ValueError, TypeError, KeyError, RecursionError):
        return _Record()
