"""hookctl run wait: one call that blocks until the work is done, so that nobody has to poll."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import NamedTuple

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


class Request(NamedTuple):
    """What was asked on the command line, still as text."""

    timeout: str = DEFAULT_TIMEOUT
    stall: str = ""  # empty: work may stand still
    project: str = ""


class Look(NamedTuple):
    """What the files of a run say: how much is left, what moves with it, and STOP or CONCLUDE."""

    remaining: int
    heartbeat: str = ""
    mark: str = ""


class Clock(NamedTuple):
    """The time in seconds, and a pause."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def wait(folders: Folders, request: Request, timer: Clock | None = None) -> Result:
    """Wait until no work is left or it is stopped, it stands still, or the time is up.

    Exit codes: 0 done or stopped, 1 it has not moved for `stall`, 124 the time is up.
    """
    timeout = clock.seconds(request.timeout)
    stall = clock.seconds(request.stall) if request.stall else None
    run_files = work_files.find(folders, work_files.find_project(folders, request.project))
    timer = timer or Clock()
    begin = timer.now()

    def look() -> Look:
        seen = _look(run_files)
        if timer.now() - begin > _TELL_AFTER:
            report.progress(f"{seen.remaining} remaining")
        return seen

    outcome, last = watch(look, timeout, stall, timer)
    waited = timer.now() - begin
    data = {"outcome": outcome, "remaining": last.remaining, "seconds": round(waited, 1)}
    text = _describe(outcome, last, request, clock.age(waited))
    return Result(data, (text,), exit_code=_CODES[outcome])


def watch(
    look: Callable[[], Look], timeout: float, stall: float | None, timer: Clock
) -> tuple[str, Look]:
    """How the wait ended (done, stopped, stalled or timeout), and what was seen last."""
    begin = moved_at = timer.now()
    last = look()
    while True:
        if last.mark:
            return "stopped", last
        if last.remaining == 0:
            return "done", last
        now = timer.now()
        left = begin + timeout - now
        if stall is not None:
            if now - moved_at >= stall:
                return "stalled", last
            left = min(left, moved_at + stall - now)
        if now >= begin + timeout:
            return "timeout", last
        timer.sleep(min(_PAUSE, left))
        seen = look()
        if seen != last:
            last, moved_at = seen, timer.now()


def _look(run_files: RunFiles) -> Look:
    heartbeat = json.dumps(work_files.read_task(run_files).get("heartbeat"))
    return Look(work_files.read_count(run_files), heartbeat, run_files.mark)


def _describe(outcome: str, last: Look, request: Request, waited: str) -> str:
    texts = {
        "done": "no work is left",
        "stopped": f"{last.mark} is set, {last.remaining} remaining",
        "stalled": f"{last.remaining} remaining, and nothing moved for {request.stall}",
        "timeout": f"{last.remaining} remaining after {waited}; wait again, or do something else",
    }
    return texts[outcome]
