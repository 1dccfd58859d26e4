"""hookctl verify: run a command until it succeeds, and recheck before reporting failure."""

import math
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

from hookctl import clock
from hookctl.errors import FAILED, TIMED_OUT, HookctlError, usage_error
from hookctl.masking import masked
from hookctl.model import Result
from hookctl.output.lines import amount, progress
from hookctl.system.folders import Folders
from hookctl.system.processes import Keeper

HOLDS, NOT_YET, BROKEN, TIMEOUT = "holds", "incomplete", "broken", "timeout"

HELP = """
command -- COMMAND...  The check: exit code 0 passes, 1 to 125 is not yet.
--rechecks N>=0  How often to run it at most; 0 means 1.
--grace S  Seconds between two runs, or a time such as 2m.
--timeout S  Seconds in total, or a time such as 30m; default: no limit.

Exit codes:
  0    it passed
  1    incomplete: it failed every time
  4    broken: it cannot be started, was killed, or exited with 126 or more
  124  out of time; it and its children are ended
  130  interrupted; the same

Examples:
  hookctl verify --rechecks 5 --grace 30 --timeout 10m -- ./deployed.sh
  hookctl verify -- sh -c 'test -s report.md && ! grep -q TODO report.md'
"""


def verify(
    folders: Folders,
    command: Sequence[str] = (),
    rechecks: int = 3,
    grace: str = "15",
    timeout: str = "",
) -> Result:
    """Run the verifier until it succeeds, or the rechecks or the time run out."""
    if not any(command[:1]):
        raise usage_error("which command?", "Name it behind `--`: `hookctl verify -- pytest -q`.")
    seconds_in_all = _seconds(timeout) if timeout else math.inf
    if seconds_in_all <= 0:
        raise usage_error(f"no time for a run: {timeout}", "Leave --timeout out for no limit.")
    looks, pause = max(1, rechecks), _seconds(grace)
    # The guard ignores an agent that the verifier starts.
    environ = {**folders.environ, "HOOKCTL_CHILD": "1"}
    name, begin, number = command[0], time.monotonic(), 0
    end = begin + seconds_in_all
    verdict, status, fault = NOT_YET, None, ""
    with Keeper() as keeper:
        while verdict == NOT_YET and number < looks:
            if number:
                rest = max(0.0, min(pause, end - time.monotonic()))
                progress(f"recheck {number + 1} of {looks} in {clock.age(rest)}")
                keeper.rest(rest)
                if keeper.wants_end:
                    raise KeyboardInterrupt
            left = end - time.monotonic()
            if number and left <= 0:
                verdict = TIMEOUT
            else:
                number += 1
                verdict, status, fault = _check_outcome(keeper, command, environ, left)
    signal_name = _name_signal(status) if status is not None and status < 0 else None
    at = f"at look {number} of {looks}"
    data = {
        "verdict": verdict,
        "looks": number,
        "command": masked(list(command)),
        "exit_status": None if signal_name else status,
        "signal": signal_name,
        "rechecks": rechecks,
        "grace": pause,
        "timeout": seconds_in_all if timeout else None,
        "seconds": round(time.monotonic() - begin, 3),
    }
    if verdict == HOLDS:
        return Result(data, (f"holds: {name} said so {at}",))
    if verdict == NOT_YET:
        line = f"incomplete: {name} failed {amount(number, 'time')} (exit status {status})"
        return Result(data, (line,), exit_code=FAILED)
    if verdict == TIMEOUT:
        message = f"out of time after {seconds_in_all:g} s, {at}: {name} did not hold"
        hint = "Give it more with --timeout."
        error = HookctlError("timeout", message, hint=hint, exit_code=TIMED_OUT)
    else:
        hint = "It must end with 0 (it holds) or 1 to 125 (not yet)."
        error = HookctlError("broken_contract", f"{name} {fault}", hint=hint)
    return Result(data, errors=(error.as_dict(),), exit_code=error.exit_code)


def _seconds(text: str) -> float:
    """The seconds of a duration; a bare number is seconds."""
    return clock.seconds(text if text[-1:].isalpha() else f"{text.strip()}s")


def _check_outcome(
    keeper: Keeper, command: Sequence[str], environ: dict[str, str], seconds: float
) -> tuple[str, int | None, str]:
    """Run the verifier once: the verdict, its exit status (below 0 for a signal), and its fault."""
    try:
        status = keeper.run(command, environ, 2 if sys.stderr else subprocess.DEVNULL, seconds)
    except TimeoutError:
        return TIMEOUT, None, ""
    except OSError as error:
        return BROKEN, None, f"cannot be started ({error.strerror})"
    if status == 0:
        return HOLDS, status, ""
    if status < 0:
        return BROKEN, status, f"was ended by {_name_signal(status)}"
    # A shell returns 126 and 127 if it cannot run a command, and more if a signal ended it.
    if status > 125:
        return BROKEN, status, f"ended with exit status {status}, which is no answer"
    return NOT_YET, status, ""


def _name_signal(status: int) -> str:
    try:
        return signal.Signals(-status).name
    except ValueError:  # a real-time one
        return f"signal {-status}"
