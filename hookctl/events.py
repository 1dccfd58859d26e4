"""The guard's log: one line for each decision, in a folder for each project."""

from __future__ import annotations

import contextlib
import glob
import json
import os
from typing import Any

from hookctl import clock
from hookctl.errors import HookctlError
from hookctl.system import files

DECISIONS = ("allow", "block", "release", "end", "counted", "refuse")
CODES = {  # each with what it says of the moment
    "no_input": "what the host sent cannot be read, or names no session",
    "config_error": "the guard's configuration cannot be read",
    "off": "the guard is switched off",
    "child": "this agent was started by another one",
    "subagent": "this is a subagent, which nobody keeps from its end",
    "not_owner": "the work belongs to another session",
    "inactive": "no run is going on",
    "stop": "STOP is there",
    "stale": "nobody has touched the work for as long as `work_hours` says",
    "conclude": "CONCLUDE is there",
    "background": "the host itself waits for background tasks",
    "no_work": "no work remains",
    "blocked": "there is more to do, so the agent was asked to go on",
    "tripped": "it was asked to go on as often as the limit allows, and nothing moved",
    "open": "the guard had stopped blocking before, and nothing has moved since",
    "honor_active": (
        "the guard had blocked the stop before this one, and does not do so twice in a row"
    ),
    "host_cap": "the host would have overridden the next block",
    "ceiling": "no prompt buys more blocks than these",
    "stop_loop": "another hook forced the agent on without progress, so its turn was ended",
    "nudged": "a tool that must be called was not, so the agent was reminded of it",
    "state_error": "the guard's state cannot be saved",
    "lock_timeout": "another process held the guard's state for too long",
    "dispatch_refused": "the same tool call came too often in a short time, so it was not run",
    "allowed": "the guard had nothing against it",
}
COUNTED = "another hook forced the agent on without progress; the host cannot end its turn"
WRAPPED = "wrap"  # the event of a line about a denial of a wrapped hook
OF_WRAPPED = CODES | {
    "blocked": "the hook that is wrapped denied the stop, and that was passed on",
    "tripped": "the hook that is wrapped denied as often as the limit allows, and nothing moved",
}
_TEXTS = ("host", "event", "decision", "code")


def read(state: str) -> list[dict[str, Any]]:
    """Every line that the hook logged, in order of time; invalid lines are skipped."""
    events = []
    for path in _paths(state):
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


def marks(state: str) -> list[tuple[str, int, int, int]]:
    """Path, inode, size and time of each log file; they change when a log changes."""
    marks = []
    for path in _paths(state):
        with contextlib.suppress(OSError):
            status = os.stat(path)
            marks.append((path, status.st_ino, status.st_size, status.st_mtime_ns))
    return marks


def _paths(state: str) -> list[str]:
    """Every log file; within a folder the older one first."""
    pattern = os.path.join(glob.escape(os.path.join(state, "guard")), "**", "events.jsonl*")
    return sorted(glob.glob(pattern, recursive=True), reverse=True)


def _event(line: dict[str, Any]) -> dict[str, Any]:
    """A checked line of the log; ValueError, TypeError or KeyError if it is invalid."""
    moment = float(line["t"])
    json.dumps(line, allow_nan=False)  # NaN would make our own JSON unreadable
    if not 0 <= moment < clock.END:
        raise ValueError
    for name in _TEXTS:
        if not isinstance(line.get(name, ""), str):
            raise ValueError
    return {**line, "t": moment}
