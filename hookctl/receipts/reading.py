"""Reads the receipts of all projects: lines for the log, and exact numbers by hook."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from operator import itemgetter
from typing import Any, NamedTuple

from hookctl import events
from hookctl.system.package_data import guard_module

KIND = "run"  # of a receipt among the lines of the log


Numbers = dict[str, int]  # by the hook's name and what is counted, as the totals have them
Receipts = dict[str, list[dict[str, Any]]]  # by the hook's name


def read_runs(state: str, project: str = "", since: float | None = None) -> dict[HookName, Runs]:
    """The runs of each hook in all projects, or in the one with this hash."""
    numbers: Numbers = {}
    receipts: Receipts = defaultdict(list)
    template = guard_module("receipts")
    names = (template.TOTALS, f"{template.FILE}*")
    for folder in events.folders_with(state, *names):
        if project in ("", os.path.basename(folder)):
            with events.lock_held(os.path.join(folder, template.FILE)):
                _count_folder(numbers, receipts, folder, since)
    runs = {}
    for name in sorted({name.rpartition(" ")[0] for name in numbers}):
        words = name.split(" ")
        if len(words) == len(HookName._fields):
            runs[HookName(*words)] = _make_runs(name, numbers, receipts[name])
    return runs


def read_events(state: str) -> list[dict[str, Any]]:
    """Every receipt as a line of the log, in order of time; invalid lines are skipped."""
    lines = []
    for path in events.find(state, f"{guard_module('receipts').FILE}*")[::-1]:
        for line in events.read_file(path, cut=guard_module("receipts").last_part):
            if line.get("kind") == KIND:
                lines.append(line)
    return sorted(lines, key=lambda line: line["t"])


def marks(state: str) -> list[tuple[str, int, int, int]]:
    """Path, inode, size and time of each file of receipts."""
    return events.marks(state, guard_module("receipts").FILE)


def _count_folder(numbers: Numbers, receipts: Receipts, folder: str, since: float | None) -> None:
    """Add the totals, and the lines that they do not have yet."""
    template = guard_module("receipts")
    totals = guard_module("rotation").read_totals(folder, template.describe_log())
    if since is None:
        for name, number in totals["counts"].items():
            known = numbers.get(name, 0)
            numbers[name] = max(number, known) if name.endswith(" t") else number + known
    for name in (f"{template.FILE}.1", template.FILE):
        path = os.path.join(folder, name)
        lines = events.read_lines(path)
        counted = events.counted_size(totals, path)
        old = len(lines) - len(events.read_lines(path, counted)) if counted else 0
        for number, run in enumerate(map(template.read_run, lines)):
            if run is None or (since is not None and run[1]["t"] < since):
                continue
            hook, receipt = run
            receipts[hook].append(receipt)
            if since is not None or number >= old:
                template.count_run(numbers, hook, receipt)


def _make_runs(name: str, numbers: Numbers, receipts: list[dict[str, Any]]) -> Runs:
    ends, receipts = guard_module("receipts").BUCKETS, sorted(receipts, key=itemgetter("t"))
    return Runs(
        **{word: numbers.get(f"{name} {word}", 0) for word in ("runs", "failures", "ms", "bytes")},
        buckets=tuple(numbers.get(f"{name} le{i}", 0) for i in range(len(ends) + 1)),
        ends=ends,
        last_run=numbers.get(f"{name} t"),
        median_ms=_find_percentile(receipts, 0.5),
        p95_ms=_find_percentile(receipts, 0.95),
        failed=tuple(
            receipt.get("outcome") in guard_module("receipts").FAILED
            for receipt in receipts[-RECENT:]
        ),
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
    ends: tuple[int, ...] = ()  # the upper ends of the buckets in ms; the last bucket has none
    last_run: int | None = None  # seconds since 1970
    median_ms: int | None = None  # of those whose receipts are there
    p95_ms: int | None = None
    failed: tuple[bool, ...] = ()  # whether each of the last of these did, in the order of time
