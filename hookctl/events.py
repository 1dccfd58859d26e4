"""The guard's log: one line for each decision, in a folder for each project."""

from __future__ import annotations

import contextlib
import glob
import json
import os
from collections import Counter
from typing import Any, NamedTuple

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
IGNORED = "ignored"  # a line with this key tells of a reminder that came to nothing
_KIND = ("host", "event", "decision", "code")
_TEXTS = (*_KIND, "path", "error")
_TOP = "guard"  # the folder above those of the projects
_TOTALS = "totals.json"
_TRIPS = ("dispatch.json", "*.calls")


class Kind(NamedTuple):
    """Decisions that are counted together."""

    host: str
    event: str
    decision: str  # empty: of an ignored reminder
    code: str


Counts = Counter[tuple[str, Kind]]  # by the project's hash; empty where no project was known


def read(state: str) -> list[dict[str, Any]]:
    """Every line that the hook logged, in order of time; invalid lines are skipped."""
    events = []
    for path in _paths(state):
        events += _read_file(path)
    return sorted(events, key=lambda event: event["t"])


def read_folder(folder: str) -> list[dict[str, Any]]:
    """The same of one project, by its state folder."""
    events = []
    for name in ("events.jsonl.1", "events.jsonl"):
        events += _read_file(os.path.join(folder, name))
    return sorted(events, key=lambda event: event["t"])


def _read_file(path: str) -> list[dict[str, Any]]:
    """The valid lines of one file."""
    try:
        data = files.read(path).data or b""
    except HookctlError:
        return []
    events = []
    project = os.path.basename(os.path.dirname(path))
    for line in data.splitlines():
        try:
            events.append({**_event(json.loads(line)), "project": project})
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
    return events


def count_since(state: str, earliest: float) -> Counts:
    """How often the hook decided in which way, by the lines of the log since a moment."""
    counts: Counts = Counter()
    for event in read(state):
        if event["t"] >= earliest:
            _add(counts, event)
    return counts


def count_all(state: str) -> Counts:
    """The same since the beginning: lines that the log no longer has are in its totals."""
    counts: Counts = Counter()
    added = []
    for path in _find(state, _TOTALS):
        totals = _read_object(path)
        added.append((os.path.dirname(path), totals.get("file")))
        _add_totals(counts, _project_of(path), totals.get("counts"))
    for path in _paths(state):
        if (os.path.dirname(path), _identify(path)) not in added:
            for event in _read_file(path):
                _add(counts, event)
    for name in _TRIPS:
        for path in _find(state, name):
            _add_untold(counts, path)
    return counts


def _add(counts: Counts, event: dict[str, Any]) -> None:
    """Count a line; that of refusals stands for several calls."""
    host, name, decision, code = (str(event.get(field, "")) for field in _KIND)
    project = event["project"] if event["project"] != _TOP else ""
    number = event.get("refusals", 1)
    if type(number) is int and number > 0:
        counts[project, Kind(host, name, decision, code)] += number
    if event.get(IGNORED) is True:
        counts[project, Kind(host, name, "", IGNORED)] += 1


def _add_totals(counts: Counts, project: str, stored: Any) -> None:
    """Add what the hook counted before it dropped lines; see templates/guard/guard/rotation.py."""
    for name, number in stored.items() if isinstance(stored, dict) else ():
        words = name.split(" ")
        if len(words) == 3:
            words.insert(2, "")
        if len(words) == 4 and type(number) is int and number > 0:
            counts[project, Kind(*words)] += number


def _add_untold(counts: Counts, path: str) -> None:
    """Add the refused calls that the log will tell of later."""
    state = _read_object(path)
    trips = state.get("trips")
    told = state.get("told", trips)
    if type(trips) is int and type(told) is int and trips > told:
        counts[_project_of(path), Kind("", "pre-tool", "refuse", "dispatch_refused")] += (
            trips - told
        )


def _read_object(path: str) -> dict[str, Any]:
    """The object in a file of the hook's; empty if there is none."""
    try:
        value = json.loads(files.read(path).data or b"{}")
    except (HookctlError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _identify(path: str) -> str:
    """How the hook names a file that it has counted; its name may pass to another."""
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return ""
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"


def _project_of(path: str) -> str:
    name = os.path.basename(os.path.dirname(path))
    return "" if name == _TOP else name


def _find(state: str, name: str) -> list[str]:
    """The files of this name in the folders of all projects, and in the one above them."""
    top = glob.escape(os.path.join(state, _TOP))
    return sorted(glob.glob(os.path.join(top, "**", name), recursive=True))


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
    return _find(state, "events.jsonl*")[::-1]


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
