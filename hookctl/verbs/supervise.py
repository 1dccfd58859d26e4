"""hookctl supervise: runs an agent as a child, and starts it again where it did not mean to end."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Sequence
from typing import NamedTuple

from hookctl import clock, report
from hookctl.errors import FAILED, OK, UNREADABLE, HookctlError, usage_error
from hookctl.model import Result
from hookctl.output.lines import amount
from hookctl.packs import run_files as work_files
from hookctl.packs import supervised, whose_work
from hookctl.packs.run_files import RunFiles
from hookctl.system.folders import Folders
from hookctl.system.processes import Ended, Guardian

_LONGEST_PAUSE = 300.0  # seconds
_LOOK = 1.0  # seconds between two looks at the marks during a pause
_TWICE_WITHIN = 10  # seconds between two failures after which a third start would not help
_WILLED = (0, 129, 130, 143)  # a person's HUP, INT and TERM, as a shell has them


class Seen(NamedTuple):
    """What decides, once the child has ended, whether it is started again."""

    mark: str  # STOP or CONCLUDE, where it is there
    is_armed: bool
    has_crumb: bool  # the guard kept this agent going until then
    by_person: bool  # a person ended it
    has_failed: bool = False
    has_work: bool = True  # no task says that nothing is left
    failed_before: bool = False  # a moment ago

    @property
    def ended_against_will(self) -> bool:
        """Whether the agent did not mean to end."""
        return self.has_crumb or (self.has_failed and self.has_work)


HELP = """
command -- COMMAND...  The agent, as you would start it.
respawns --max-respawns N>=0  How often to start it again.
duration --for TIME  How long the run lasts, such as 8h, at most 7d; default: what is left of one
    that is going on, or 12h.

Exit code: the agent's, 128 + N for signal N; 0 if STOP or CONCLUDE ended it

Examples:
  hookctl supervise --for 8h -- claude -p "go on with the plan"
  hookctl supervise --max-respawns 2 -- codex exec go-on
"""


def supervise(
    folders: Folders,
    command: Sequence[str] = (),
    respawns: int = 5,
    duration: str = "",
    project: str = "",
) -> Result:
    """Run the command, and start it again while its run goes on and it was cut off."""
    if not command:
        hint = 'Name it behind `--`: `hookctl supervise -- claude -p "go on"`.'
        raise usage_error("which command?", hint)
    _require_program(command[0])
    run_files = work_files.find(folders, work_files.find_project(folders, project))
    with supervised.alone(run_files.state):
        end = work_files.end_of_run(run_files, duration)
        work_files.begin(run_files, end)
        until = clock.local(end)
        report.say(f"a run of {run_files.project} until {until}: STOP and CONCLUDE are cleared")
        with Guardian() as guardian:
            return _run(folders, run_files, command, respawns, guardian)


def _require_program(name: str) -> None:
    """Refuse a command that is not there before a run begins for it."""
    if shutil.which(name):
        return
    is_there = os.path.sep in name and os.path.lexists(name)
    why = "it may not be run" if is_there else "there is no such program"
    hint = "Give the command as you would type it, behind `--`."
    message = f"{name} cannot be started: {why}"
    raise HookctlError("command", message, hint=hint, exit_code=UNREADABLE)


def _run(
    folders: Folders, run_files: RunFiles, command: Sequence[str], most: int, guardian: Guardian
) -> Result:
    respawns, last_failure = 0, float("-inf")
    while True:
        old = supervised.find_crumb(run_files.state)
        ended = _run_once(run_files, command, guardian, respawns)
        seen = _look(folders, run_files, ended, old)
        if seen.has_failed:
            now = time.monotonic()
            seen = seen._replace(failed_before=now - last_failure <= _TWICE_WITHIN)
            last_failure = now
        reason = why_not(seen, respawns, most)
        if not reason:
            pause = pause_before(respawns + 1)
            report.say(f"{describe(ended)}; started again in {clock.age(pause)}")
            seen = _pause(folders, run_files, guardian, pause, ended, old)
            reason = why_not(seen, respawns, most)
        if reason:
            return _end(run_files, seen, ended, respawns, reason)
        respawns += 1
        with whose_work.locked(run_files):
            whose_work.free(run_files)  # the session that held the work is gone


def _run_once(
    run_files: RunFiles, command: Sequence[str], guardian: Guardian, respawns: int
) -> Ended:
    """Run the child to its end, and note its process."""

    def started(pid: int) -> None:
        supervised.note(run_files.state, pid, respawns)

    try:
        return guardian.run(command, started)
    except OSError as error:  # an interpreter that is missing, or the program has gone since
        work_files.disarm(run_files)
        message = f"{command[0]} cannot be started: {error.strerror}; the run has ended"
        hint = "Make the program run by itself, then supervise it again."
        raise HookctlError("command", message, hint=hint, exit_code=FAILED) from None


def why_not(seen: Seen, respawns: int, most: int) -> str:
    """Why the child is not started again; empty if it is."""
    if seen.mark:
        return f"{seen.mark} is set"
    if seen.by_person:
        return "it was interrupted"
    if not seen.is_armed:
        return "the run has ended"
    if not seen.ended_against_will:
        return "no work is left" if seen.has_failed else "it ended by itself"
    if respawns >= most:
        return f"it was started again {amount(respawns, 'time')}, and no run goes on now"
    if seen.failed_before:
        return f"it failed twice within {_TWICE_WITHIN} s, and no run goes on now"
    return ""


def describe(ended: Ended) -> str:
    """How the child ended, in words."""
    if ended.signal:
        return f"it was killed by signal {ended.signal}"
    return f"it ended with {ended.status}"


def pause_before(respawn: int) -> float:
    """The seconds before a respawn, counted from 1."""
    return min(2.0**respawn, _LONGEST_PAUSE)


def _look(folders: Folders, run_files: RunFiles, ended: Ended, old: int) -> Seen:
    """What decides now; `old` is the breadcrumb that lay there before the child."""
    now = run_files._replace(now=clock.now(folders.environ))
    return Seen(
        now.mark,
        work_files.is_armed(now),
        supervised.find_crumb(now.state) not in (0, old),
        ended.by_person,
        has_failed=ended.status not in _WILLED,
        has_work=not work_files.is_done(now),
    )


def _pause(
    folders: Folders,
    run_files: RunFiles,
    guardian: Guardian,
    seconds: float,
    ended: Ended,
    old: int,
) -> Seen:
    """Wait before a respawn, unless a mark, the end of the run or a signal comes first."""
    while True:
        guardian.rest(min(_LOOK, seconds))
        seconds -= _LOOK
        seen = _look(folders, run_files, ended._replace(by_person=guardian.wants_end), old)
        if seconds <= 0 or seen.mark or seen.by_person or not seen.is_armed:
            return seen


def _end(run_files: RunFiles, seen: Seen, ended: Ended, respawns: int, reason: str) -> Result:
    has_given_up = not seen.mark and not seen.by_person and seen.is_armed
    if has_given_up and seen.ended_against_will:
        work_files.disarm(run_files)
    data = {"status": ended.status, "respawns": respawns, "reason": reason}
    lines = [f"not started again: {reason} (exit code {ended.status})"]
    end = work_files.read_end(run_files)
    if end is not None and seen.is_armed and not seen.mark:
        lines.append(f"the run goes on until {clock.local(end)}; `hookctl run stop` ends it")
    for line in lines:
        report.say(line)  # stdout is the agent's
    return Result(data, exit_code=OK if seen.mark else ended.status)
