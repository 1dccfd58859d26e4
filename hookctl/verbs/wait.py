"""hookctl run wait: one call that blocks until the work is done, instead of polling."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from hookctl import clock, report
from hookctl.errors import FAILED, OK, TIMED_OUT
from hookctl.model import Result
from hookctl.packs import run_files as work_files
from hookctl.packs.run_files import RunFiles
from hookctl.system.folders import Folders

DEFAULT_TIMEOUT = "100s"  # agents end a command of their own after two minutes
_PAUSE = 1.0  # seconds between two looks at a small file
_TELL_AFTER = 5.0  # seconds until progress is shown
_CODES = {"done": OK, "stopped": OK, "stalled": FAILED, "timeout": TIMED_OUT}


class Look(NamedTuple):
    """The state of a run's files: remaining work, signs of progress, and STOP or CONCLUDE."""

    remaining: int
    heartbeat: str = ""
    mark: str = ""

    @property
    def task(self) -> str:
        """The values whose change is progress, as one text."""
        return json.dumps([self.remaining, self.heartbeat])


class Ended(NamedTuple):
    """How a wait ended: done, stopped, stalled or timeout."""

    outcome: str
    last: Look
    unmoved: float  # seconds since the work moved, as measured


class Clock(NamedTuple):
    """The time in seconds, and a pause."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def wait(
    folders: Folders, timeout: str, stall: str, project: str, timer: Clock | None = None
) -> Result:
    """Wait until no work is left or it is stopped, it stands still, or the time is up.

    Exit codes: 0 done or stopped, 1 it has not moved for `stall`, 124 the time is up. How long it
    has not moved is kept from one call to the next, since an agent's calls are shorter than that.
    """
    most = clock.seconds(stall) if stall else None
    run_files = work_files.find(folders, work_files.find_project(folders, project))
    timer = timer or Clock()
    begin = timer.now()

    def look() -> Look:
        seen = _look(run_files)
        if timer.now() - begin > _TELL_AFTER:
            report.progress(f"{seen.remaining} remaining")
        return seen

    def measure(seen: Look) -> float:
        now = run_files.now + timer.now() - begin
        return work_files.measure_stillness(run_files, seen.task, now) if stall else 0.0

    ended = watch(look, measure, clock.seconds(timeout or DEFAULT_TIMEOUT), most, timer)
    waited = timer.now() - begin
    data: dict[str, Any] = {
        "outcome": ended.outcome,
        "remaining": ended.last.remaining,
        "seconds": round(waited, 1),
    }
    if stall:
        data["unmoved_seconds"] = round(ended.unmoved, 1)
    text = _describe(ended, stall, clock.age(waited), run_files)
    return Result(data, text, exit_code=_CODES[ended.outcome])


def watch(
    look: Callable[[], Look],
    measure: Callable[[Look], float],
    timeout: float,
    stall: float | None,
    timer: Clock,
) -> Ended:
    """Look again and again until there is a reason to end the wait.

    `measure` says for how many seconds the work has been as it is seen now.
    """
    begin = timer.now()
    last = look()
    moved_at = begin - measure(last)
    while True:
        now = timer.now()
        left = begin + timeout - now
        if stall is not None:
            left = min(left, moved_at + stall - now)
        outcome = _find_outcome(
            last, left, has_stalled=stall is not None and now - moved_at >= stall
        )
        if outcome:
            return Ended(outcome, last, now - moved_at)
        timer.sleep(min(_PAUSE, left))
        seen = look()
        if seen != last:
            last, moved_at = seen, timer.now() - measure(seen)


def _find_outcome(last: Look, left: float, *, has_stalled: bool) -> str:
    """Why the wait ends now; empty if it goes on."""
    if last.mark:
        return "stopped"
    if last.remaining == 0:
        return "done"
    if has_stalled:
        return "stalled"
    return "" if left > 0 else "timeout"


def _look(run_files: RunFiles) -> Look:
    return Look(*work_files.read_progress(run_files), run_files.mark)


def _describe(ended: Ended, stall: str, waited: str, run_files: RunFiles) -> tuple[str, ...]:
    remaining = f"{ended.last.remaining} remaining"
    unmoved = f"nothing moved for {clock.age(ended.unmoved)}"
    if ended.outcome == "done":
        if not run_files.needs_work and work_files.is_armed(run_files):
            return ("no work is left to wait for, but the run goes on",)
        return ("no work is left",)
    if ended.outcome == "stopped":
        return (f"{ended.last.mark} is set, {remaining}",)
    if ended.outcome == "stalled":
        advice = f"do not wait again: see what hangs; {run_files.reported_by} starts again"
        return (f"{remaining}, and {unmoved}", advice)
    if stall:
        remaining += f", {unmoved} of {stall}"
    return (f"{remaining}; waited {waited}", "wait again, or do something else")
