"""What the guard decided, and receipts: how often each hook ran, how it ended, how long it took."""

from __future__ import annotations

import contextlib
import glob
import json
import math
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from hookctl import clock
from hookctl.system import files, guard_module

DONE = {  # each of them as done, after a number
    "allow": "allowed",
    "block": "blocked",
    "release": "released",
    "end": "ended",
    "counted": "not ended",
    "refuse": "refused",
}
CODES = {  # each with its meaning in words
    "no_input": "what the host sent cannot be read, or names no session",
    "config_error": "the guard's configuration cannot be read",
    "off": "the guard is switched off",
    "child": "this agent was started by another one",
    "subagent": "this is a subagent, which the guard does not keep going",
    "not_owner": "the work belongs to another session",
    "inactive": "no run is active",
    "stop": "the file STOP exists",
    "stale": "the work is untouched for longer than `work_hours`",
    "conclude": "the file CONCLUDE exists",
    "background": "the host itself waits for background tasks",
    "no_work": "no work remains",
    "blocked": "there is more to do, so the agent was asked to go on",
    "tripped": "it was asked to go on as often as the limit allows, and nothing moved",
    "open": "the guard had stopped blocking before, and nothing has moved since",
    "honor_active": (
        "the guard had blocked the stop before this one, and does not do so twice in a row"
    ),
    "host_cap": "the host would have overridden the next block",
    "ceiling": "the agent was kept going as often as the ceiling allows since the last prompt",
    "stop_loop": "another hook or a goal forced the agent on without progress",
    "went_on": "the client went on after the guard had asked it to end the turn",
    "nudged": "a tool that must be called was not, so the agent was reminded of it",
    "state_error": "the guard's state cannot be saved",
    "lock_timeout": "another process held the guard's state for too long",
    "dispatch_refused": "the same tool call came too often in a short time",
    "allowed": "the guard has no reason to block it",
}
WRAPPED = "wrap"  # the event of a line about a denial of a wrapped hook
OF_WRAPPED = CODES | {
    "blocked": "the hook that is wrapped denied the stop, and that was passed on",
    "tripped": "the hook that is wrapped denied as often as the limit allows, and nothing moved",
}
IGNORED = "ignored"  # a line with this key tells of a reminder that came to nothing
_UNTOLD = {  # a line that the hook has not written yet; it will know the host
    "host": "",
    "session": None,
    "event": "pre-tool",
    "decision": "refuse",
    "code": "dispatch_refused",
}
_KIND = ("host", "event", "decision", "code")
_TEXTS = (*_KIND, "path", "error", "id", "outcome")
_TOP = "guard"  # the folder above those of the projects
_FILE, _TOTALS = "events.jsonl", "totals.json"
_TRIPS = ("dispatch.json", "*.calls")
_PATIENCE = 1.0  # seconds to wait for a hook that changes what is counted


class Kind(NamedTuple):
    """Decisions that are counted together."""

    host: str
    event: str
    decision: str  # empty: of an ignored reminder
    code: str


Counts = Counter[tuple[str, Kind]]  # by the project's hash; empty where no project was known


def read(state: str, *, has_runs: bool = False, has_untold: bool = False) -> list[dict[str, Any]]:
    """Every line that the guard logged, in order of time; invalid lines are skipped.

    With the receipts of runs, and with the refused calls of each file that are not in the log yet.
    """
    lines = _read_files(find(state, f"{_FILE}*")[::-1])  # within a folder the older one first
    if has_runs:
        template = guard_module("receipts")
        runs = _read_files(find(state, f"{template.FILE}*")[::-1], template.last_part)
        lines += [line for line in runs if line.get("kind") == RUN]
    for name in _TRIPS if has_untold else ():
        for path in find(state, name):
            lines += _read_untold(path)
    return sorted(lines, key=itemgetter("t"))


def read_folder(folder: str) -> list[dict[str, Any]]:
    """The lines of one project, by its state folder."""
    return _read_files([os.path.join(folder, name) for name in (f"{_FILE}.1", _FILE)])


def _read_files(
    paths: Sequence[str], cut: Callable[[bytes], bytes] = bytes
) -> list[dict[str, Any]]:
    """The valid lines of files; `cut` takes from a line what is to be read."""
    events = []
    for path in paths:
        project = os.path.basename(os.path.dirname(path))
        for line in read_lines(path):
            with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
                events.append({**_event(json.loads(cut(line))), "project": project})
    return events


def read_lines(path: str, start: int = 0) -> list[bytes]:
    """The lines of one file from a byte on; none where it cannot be read."""
    return (files.read_or_none(path) or b"")[start:].splitlines()


def project_paths(state: str) -> dict[str, str]:
    """The path of each project whose hook has left it, by the hash in the log."""
    paths = {}
    for file in find(state, "project"):
        name = os.path.basename(os.path.dirname(file))
        path = os.fsdecode(files.read_or_none(file) or b"")
        if guard_module("files").digest(path) == name:
            paths[name] = path
    return paths


def count(state: str, earliest: float | None = None) -> Counts:
    """The number of all decisions of each kind: the totals have lines that left the log.

    Since a moment, those of the log alone; of a line with several decisions counts the last.
    """
    rotation, counts = guard_module("rotation"), Counts()
    for folder in folders_with(state, _TOTALS, f"{_FILE}*", *_TRIPS):
        project = "" if os.path.basename(folder) == _TOP else os.path.basename(folder)
        paths = [path for name in _TRIPS for path in _find_in(folder, name)]
        locked = [f"{path}.lock" for path in paths]
        with contextlib.ExitStack() as locks:
            for path in (*locked, os.path.join(folder, _FILE)):
                locks.enter_context(lock_held(path))
            totals = rotation.read_totals(folder)
            numbers = totals["counts"] if earliest is None else {}
            for path in _find_in(folder, f"{_FILE}*"):
                lines = read_lines(path, counted_size(totals, path))
                if earliest is not None:
                    events = [event for event in _read_files([path]) if _is_since(event, earliest)]
                    lines = [json.dumps(event).encode() for event in events]
                for line in lines:
                    rotation.add_line(numbers, line)
            untold = [event for path in paths for event in _read_untold(path)]
        for name, number in numbers.items():
            words = name.split(" ")
            if len(words) == 3:  # of an ignored reminder
                words.insert(2, "")
            if len(words) == 4:
                counts[project, Kind(*words)] += number
        for event in untold:
            if earliest is None or _is_since(event, earliest):
                counts[project, Kind(*(event[field] for field in _KIND))] += number_of(event)
    return counts


def _is_since(event: dict[str, Any], earliest: float) -> bool:
    return bool(event.get("until", event["t"]) >= earliest)


@contextlib.contextmanager
def lock_held(path: str) -> Iterator[None]:
    """Keep the hooks from moving lines while they are counted; after a time, count anyway."""
    import fcntl  # late: Windows has none

    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        yield
        return
    try:
        end = time.monotonic() + _PATIENCE
        with contextlib.suppress(OSError):  # where no lock is possible
            while time.monotonic() < end:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    time.sleep(0.005)
        yield
    finally:
        os.close(file)


def number_of(event: dict[str, Any]) -> int:
    """How many decisions a line stands for: refused calls may share one."""
    number = event.get("refusals", 1)
    return number if type(number) is int and number > 0 else 0


def _read_untold(path: str) -> list[dict[str, Any]]:
    """The refused calls that are not in the log yet, as one line; none if all are."""
    state = read_object(path)
    folder, name = os.path.split(path)
    session = name.partition(".")[0] if name.endswith(".calls") else ""
    trips, told = state.get("trips"), guard_module("dispatch").count_told(folder, session, state)
    if type(trips) is not int or trips <= told:
        return []
    line = {**_UNTOLD, "project": os.path.basename(folder), "refusals": trips - told}
    line["t"] = clock.timestamp(str(state.get("until"))) or 0.0
    line["since"] = int(clock.timestamp(str(state.get("since"))) or 0)
    return [line]


def read_object(path: str) -> dict[str, Any]:
    """The object in a file of the hook's or of ours; empty if there is none."""
    try:
        value = json.loads(files.read_or_none(path) or b"{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def counted_size(totals: dict[str, Any], path: str) -> int:
    """How many bytes of a file the hook has counted in the totals of its folder."""
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return 0
    return int(guard_module("rotation").counted_size(totals, status))


def find(state: str, name: str) -> list[str]:
    """The files of this name in the folders of all projects, and in the one above them."""
    return _find_in(os.path.join(state, _TOP), os.path.join("**", name))


def folders_with(state: str, *names: str) -> list[str]:
    """The folders of all projects that have a file of one of these names."""
    paths = [path for name in names for path in find(state, name)]
    return sorted({os.path.dirname(path) for path in paths})


def _find_in(folder: str, name: str) -> list[str]:
    return sorted(glob.glob(os.path.join(glob.escape(folder), name), recursive=True))


def marks(state: str) -> list[tuple[str, int, int, int]]:
    """Path, inode, size and time of each log file; they change when a log changes."""
    marks = []
    for path in [*find(state, f"{_FILE}*"), *find(state, f"{guard_module('receipts').FILE}*")]:
        with contextlib.suppress(OSError):
            status = os.stat(path)
            marks.append((path, status.st_ino, status.st_size, status.st_mtime_ns))
    return marks


def _event(line: dict[str, Any]) -> dict[str, Any]:
    """A checked line of the log; ValueError, TypeError or KeyError if it is invalid."""
    moment = float(line["t"])
    json.dumps(line, allow_nan=False)  # NaN would make our own JSON unreadable
    for time_of_call in (moment, line.get("since", moment), line.get("until", moment)):
        if not 0 <= float(time_of_call) < clock.END:
            raise ValueError
    for name in _TEXTS:
        if not isinstance(line.get(name, ""), str):
            raise ValueError
    return {**line, "t": moment}


# Receipts: the runner writes one for each run of a hook, and counts the lines that leave its files.

RUN = "run"  # of a receipt among the lines of the log


Numbers = dict[str, int]  # by the hook's name and what is counted, as the totals have them
Receipts = dict[str, list[dict[str, Any]]]  # by the hook's name


def read_runs(state: str, project: str = "", since: float | None = None) -> dict[HookName, Runs]:
    """The runs of each hook in all projects, or in the one with this hash."""
    numbers: Numbers = {}
    receipts: Receipts = defaultdict(list)
    template = guard_module("receipts")
    for folder in folders_with(state, template.TOTALS, f"{template.FILE}*"):
        if project in ("", os.path.basename(folder)):
            with lock_held(os.path.join(folder, template.FILE)):
                _count_runs(numbers, receipts, folder, since)
    names = sorted({name.rpartition(" ")[0] for name in numbers})
    hooks = {name: name.split(" ") for name in names if name.count(" ") == 2}
    return {HookName(*hooks[name]): _make_runs(name, numbers, receipts[name]) for name in hooks}


def _count_runs(numbers: Numbers, receipts: Receipts, folder: str, since: float | None) -> None:
    """Add the totals, and the lines that they do not have yet."""
    template = guard_module("receipts")
    totals = guard_module("rotation").read_totals(folder, template.describe_log())
    if since is None:
        for name, number in totals["counts"].items():
            known = numbers.get(name, 0)
            numbers[name] = max(number, known) if name.endswith(" t") else number + known
    for name in (f"{template.FILE}.1", template.FILE):
        path = os.path.join(folder, name)
        lines = read_lines(path)
        old = len(lines) - len(read_lines(path, counted_size(totals, path)))
        for number, run in enumerate(map(template.read_run, lines)):
            if run and (since is None or run[1]["t"] >= since):
                receipts[run[0]].append(run[1])
                if since is not None or number >= old:
                    template.count_run(numbers, *run)


def _make_runs(name: str, numbers: Numbers, receipts: list[dict[str, Any]]) -> Runs:
    template, receipts = guard_module("receipts"), sorted(receipts, key=itemgetter("t"))
    return Runs(
        **{word: numbers.get(f"{name} {word}", 0) for word in ("runs", "failures", "ms", "bytes")},
        buckets=tuple(numbers.get(f"{name} le{i}", 0) for i in range(len(template.BUCKETS) + 1)),
        last_run=numbers.get(f"{name} t"),
        median_ms=_find_percentile(receipts, 0.5),
        p95_ms=_find_percentile(receipts, 0.95),
        failed=tuple(one.get("outcome") in template.FAILED for one in receipts[-RECENT:]),
    )


def _find_percentile(receipts: list[dict[str, Any]], share: float) -> int | None:
    times = sorted(receipt["ms"] for receipt in receipts)
    return times[math.ceil(share * len(times)) - 1] if times else None


# The last of them say how a hook is now; the first fifty may be from before it was repaired.
RECENT = 10


class HookName(NamedTuple):
    """What the runs of one hook have in common."""

    host: str
    event: str  # Claude Code's name of it
    id: str  # PACK/ID


class Runs(NamedTuple):
    """All runs of one hook."""

    runs: int = 0
    failures: int = 0
    ms: int = 0  # of all of them together
    bytes: int = 0
    buckets: tuple[int, ...] = ()  # how many took how long
    last_run: int | None = None  # seconds since 1970
    median_ms: int | None = None  # of those whose receipts are there
    p95_ms: int | None = None
    failed: tuple[bool, ...] = ()  # whether each of the last of these did, in the order of time
