"""Reads the receipts of all projects: lines for the log, and exact numbers by hook."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Mapping
from operator import itemgetter
from types import ModuleType
from typing import Any

from hookctl import events
from hookctl.receipts.model import RECENT, HookName, Run, Runs
from hookctl.system.package_data import guard_module

KIND = "run"  # of a receipt among the lines of the log


class _Count:
    """What is being added up, by the hook's name as the totals have it."""

    def __init__(self, since: float | None) -> None:
        self.since = since
        self.numbers: dict[str, int] = {}
        self.receipts: dict[str, list[dict[str, Any]]] = defaultdict(list)


def read_runs(state: str, project: str = "", since: float | None = None) -> dict[HookName, Runs]:
    """The runs of each hook in all projects, or in the one with this hash.

    With a time only those since then whose receipts are still there; else all that ever were.
    """
    count = _Count(since)
    for folder in _list_folders(state):
        if project in ("", os.path.basename(folder)):
            with events.lock_held(os.path.join(folder, _template().FILE)):
                _count_folder(count, folder)
    names = dict.fromkeys(name.rpartition(" ")[0] for name in count.numbers)
    runs = {}
    for name in sorted(names):
        words = name.split(" ")
        if len(words) == len(HookName._fields):
            runs[HookName(*words)] = _make_runs(name, count)
    return runs


def read_events(state: str) -> list[dict[str, Any]]:
    """Every receipt as a line of the log, in order of time; invalid lines are skipped."""
    lines = []
    for path in events.find(state, f"{_template().FILE}*")[::-1]:
        for line in events.read_file(path, cut=_template().last_part):
            if line.get("kind") == KIND:
                lines.append(line)
    return sorted(lines, key=lambda line: line["t"])


def marks(state: str) -> list[tuple[str, int, int, int]]:
    """Path, inode, size and time of each file of receipts."""
    return events.marks(state, _template().FILE)


def _template() -> ModuleType:
    return guard_module("receipts")


def _list_folders(state: str) -> list[str]:
    """The folders of all projects that have receipts."""
    paths = []
    for name in (_template().TOTALS, f"{_template().FILE}*"):
        paths += events.find(state, name)
    return sorted({os.path.dirname(path) for path in paths})


def _count_folder(count: _Count, folder: str) -> None:
    """Add the totals, and the lines that they do not have yet."""
    template = _template()
    totals = guard_module("rotation").read_totals(folder, template.describe_log())
    if count.since is None:
        _add_totals(count.numbers, totals["counts"])
    for name in (f"{template.FILE}.1", template.FILE):
        path = os.path.join(folder, name)
        lines = events.read_lines(path)
        counted = events.counted_size(totals, path)
        old = len(lines) - len(events.read_lines(path, counted)) if counted else 0
        for number, run in enumerate(_find_runs(lines)):
            if run is None or (count.since is not None and run[1]["t"] < count.since):
                continue
            hook, receipt = run
            count.receipts[hook].append(receipt)
            if count.since is not None or number >= old:
                template.count_run(count.numbers, hook, receipt)


def _find_runs(lines: list[bytes]) -> list[tuple[str, dict[str, Any]] | None]:
    """The hook and receipt in each line; None where there is none.

    To read all lines at once takes half of the time; it is done where each is one receipt.
    """
    template = _template()
    try:
        receipts = json.loads(b"[" + b",".join(lines) + b"]")
    except (ValueError, RecursionError):
        receipts = []
    if len(receipts) == len(lines) and all(type(receipt) is dict for receipt in receipts):
        return [template.find_run(receipt) for receipt in receipts]
    return [template.read_run(line) for line in lines]


def _add_totals(numbers: dict[str, int], totals: Mapping[str, int]) -> None:
    """Add what the runner counted before it dropped lines; a time is the latest."""
    for name, number in totals.items():
        if name.endswith(" t"):
            numbers[name] = max(number, numbers.get(name, 0))
        else:
            numbers[name] = number + numbers.get(name, 0)


def _make_runs(name: str, count: _Count) -> Runs:
    ends, receipts = _template().BUCKETS, sorted(count.receipts[name], key=itemgetter("t"))
    return Runs(
        runs=count.numbers.get(f"{name} runs", 0),
        failures=count.numbers.get(f"{name} failures", 0),
        ms=count.numbers.get(f"{name} ms", 0),
        bytes=count.numbers.get(f"{name} bytes", 0),
        buckets=tuple(count.numbers.get(f"{name} le{i}", 0) for i in range(len(ends) + 1)),
        ends=ends,
        last_run=count.numbers.get(f"{name} t"),
        times=tuple(receipt["ms"] for receipt in receipts),
        recent=tuple(map(_make_run, receipts[-RECENT:])),
    )


def _make_run(receipt: Mapping[str, Any]) -> Run:
    outcome, status = receipt.get("outcome"), receipt.get("status")
    return Run(
        at=receipt["t"],
        ms=receipt["ms"],
        bytes=receipt["bytes"],
        has_failed=outcome in _template().FAILED,
        status=status if type(status) is int else None,
        is_late=outcome == "timeout",
    )
