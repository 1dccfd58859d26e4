"""Since when a project's work has not moved, kept across the calls of `hookctl run wait`."""

from __future__ import annotations

import json
import os

from hookctl.events import read_object
from hookctl.system import files

FILE = "unmoved"  # in the project's state folder


def note(state: str, task: str, now: float) -> float:
    """For how many seconds the task has said this; writes down what it had not said before."""
    path = os.path.join(state, FILE)
    digest = files.digest(task.encode("utf-8", "surrogatepass"))
    record = read_object(path)
    since = record.get("since")
    if record.get("digest") == digest and isinstance(since, int | float) and since <= now:
        return now - float(since)
    files.write_own(path, json.dumps({"digest": digest, "since": now}).encode())
    return 0.0
