"""The guard's log: a line for each of its decisions, in each project's folder of the state folder."""

from __future__ import annotations

import glob
import json
import os
from typing import Any

from hookctl import clock, files
from hookctl.errors import HookctlError

_TEXTS = ("host", "event", "decision", "code")


def read(state: str) -> list[dict[str, Any]]:
    """Every line that the hook logged, in the order of time; what is no line of it is passed over."""
    events = []
    pattern = os.path.join(glob.escape(os.path.join(state, "guard")), "**", "events.jsonl*")
    for path in sorted(glob.glob(pattern, recursive=True), reverse=True):
        try:
            data = files.read(path).data or b""
        except HookctlError:
            continue
        project = os.path.basename(os.path.dirname(path))
        for line in data.splitlines():
            try:
                events.append({**_event(json.loads(line)), "project": project})
            except (ValueError, TypeError, KeyError, RecursionError):
                continue
    return sorted(events, key=lambda event: event["t"])


def _event(line: dict[str, Any]) -> dict[str, Any]:
    """A line of the hook's; ValueError, TypeError or KeyError where it is something else."""
    at = float(line["t"])
    json.dumps(line, allow_nan=False)  # a number that is none would make our own JSON unreadable
    if not 0 <= at < clock.END or any(not isinstance(line.get(name, ""), str) for name in _TEXTS):
        raise ValueError
    return {**line, "t": at}
