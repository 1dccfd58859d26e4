"""hookctl supervise: runs an agent as a child, and starts it again where it did not mean to end."""

import shutil
from collections.abc import Sequence
from functools import partial

from hookctl import clock
from hookctl import work as work_files
from hookctl.errors import FAILED, OK, UNREADABLE, HookctlError, usage_error
from hookctl.model import Result
from hookctl.output.lines import amount, say
from hookctl.system import guard_module
from hookctl.system.folders import Folders
from hookctl.system.processes import Guardian
from hookctl.work import RunFiles

_LONGEST_PAUSE = 300.0  # seconds
_LOOK = 1.0  # seconds between two looks at the marks during a pause
_WILLED = (0, 129, 130, 143)  # a person's HUP, INT and TERM, as a shell has them


HELP = """
command -- COMMAND...  The agent, as you would start it.
respawns --max-respawns N>=0  How often to start it again.
duration --for TIME  How long the run lasts, such as 8h, at most 7d; default: what is left of one
    that is going on, or 12h.

Exit code: the agent's, 128 + N for signal N; 0 if STOP or CONCLUDE ended it

Examples:
  hookctl supervise --for 8h -- claude -p "go on with the plan"
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
    if not shutil.which(command[0]):  # said before a run begins for it
        message = f"{command[0]} cannot be started: no such program, or it may not be run"
        hint = "Give the command as you would type it, behind `--`."
        raise HookctlError("command", message, hint=hint, exit_code=UNREADABLE)
    run_files = work_files.find(folders, work_files.find_project(folders, project))
    with work_files.alone(run_files.folder):
        end = work_files.end_of_run(run_files, duration)
        work_files.begin(run_files, end)
        say(f"a run of {run_files.project} until {clock.local(end)}: STOP and CONCLUDE are cleared")
        with Guardian() as guardian:
            return _run(folders, run_files, command, respawns, guardian)


def _run(
    folders: Folders, run_files: RunFiles, command: Sequence[str], most: int, guardian: Guardian
) -> Result:
    respawns, reason = 0, ""
    while not reason:
        old = work_files.find_crumb(run_files.folder)
        try:
            note = partial(work_files.note, run_files.folder, respawns)
            status, by_person = guardian.run(command, note)
        except OSError as error:  # an interpreter that is missing, or the program has gone since
            work_files.disarm(run_files)
            message = f"{command[0]} cannot be started: {error.strerror}; the run has ended"
            hint = "Make the program run by itself, then supervise it again."
            raise HookctlError("command", message, hint=hint, exit_code=FAILED) from None
        reason = _why_not(folders, run_files, status, old, by_person=by_person)
        if not reason and respawns >= most:
            work_files.disarm(run_files)
            reason = f"it was started again {amount(respawns, 'time')}, and no run goes on now"
        pause = min(2.0 ** (respawns + 1), _LONGEST_PAUSE)
        if not reason:
            say(f"it ended with {status}; started again in {clock.age(pause)}")
        while not reason and pause > 0:
            guardian.rest(min(_LOOK, pause))
            pause -= _LOOK
            reason = _why_not(folders, run_files, status, old, by_person=guardian.wants_end)
        if not reason:
            respawns += 1
            with work_files.locked(run_files):
                work_files.free(run_files)  # the session that held the work is gone
    say(f"not started again: {reason} (exit code {status})")  # stdout is the agent's
    end = work_files.read_end(run_files)
    if end is not None and work_files.is_armed(run_files) and not run_files.mark:
        say(f"the run goes on until {clock.local(end)}; `hookctl run stop` ends it")
    data = {"status": status, "respawns": respawns, "reason": reason}
    return Result(data, exit_code=OK if run_files.mark else status)


def _why_not(
    folders: Folders, run_files: RunFiles, status: int, old: float, *, by_person: bool
) -> str:
    """Why the child is not started again, which had not meant to end; empty if it may be.

    `old` is the breadcrumb that lay there before the child.
    """
    run_files.now = clock.now(folders.environ)
    is_done = guard_module("work").read_task(run_files)[1] == 0  # no task is not done
    rows = (
        (run_files.mark, f"{run_files.mark} is set"),
        (by_person, "it was interrupted"),
        (not work_files.is_armed(run_files), "the run has ended"),
        # The guard kept this agent going until then.
        (work_files.find_crumb(run_files.folder) not in (0, old), ""),
        (status in _WILLED, "it ended by itself"),
        (is_done, "no work is left"),
    )
    return next((reason for applies, reason in rows if applies), "")
