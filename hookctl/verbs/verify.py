"""hookctl verify: run a command until it succeeds, and recheck before reporting failure."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from hookctl import clock, report
from hookctl.errors import FAILED, TIMED_OUT, UNREADABLE, HookctlError, usage_error
from hookctl.masking import masked, masked_text
from hookctl.model import Result
from hookctl.system.folders import Folders
from hookctl.system.processes import Keeper

HOLDS, NOT_YET, BROKEN, TIMEOUT = "holds", "incomplete", "broken", "timeout"
# A shell returns 126 and 127 if it cannot run a command, and more if a signal ended it.
_LARGEST_NO = 125
_KEPT, _SHOWN = 64 * 1024, 8 * 1024  # the end of the output, in bytes and in characters
_DRAIN = 0.5  # seconds to read the pipe after the verifier has ended


class Policy(NamedTuple):
    """How often and how long."""

    looks: int
    grace: float  # seconds before the next look
    timeout: float  # seconds in all


class Look(NamedTuple):
    """How one run of the verifier ended."""

    verdict: str
    status: int | None = None  # below 0 for a signal; None: not started, or ended by us
    fault: str = ""
    output: str = ""


def watch(
    policy: Policy,
    look: Callable[[float], Look],
    rest: Callable[[int, float], None],
    now: Callable[[], float],
) -> tuple[Look, int]:
    """Look until there is an answer, or looks or time run out; the last look, and its number.

    `look` gets the remaining seconds, `rest` the number of the next look and the seconds until it.
    """
    end = now() + policy.timeout
    number = 1
    while True:
        last_look = look(end - now())
        if last_look.verdict != NOT_YET or number >= policy.looks:
            return last_look, number
        rest(number + 1, max(0.0, min(policy.grace, end - now())))
        if now() >= end:
            return last_look._replace(verdict=TIMEOUT), number
        number += 1


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
  hookctl verify -- pytest -q
  hookctl verify --rechecks 5 --grace 30 --timeout 10m -- ./deployed.sh
  hookctl verify -- sh -c 'test -s report.md && ! grep -q TODO report.md'
"""


def verify(
    folders: Folders,
    command: Sequence[str] = (),
    rechecks: int = 3,
    grace: str = "15",
    timeout: str = "",
    json: bool = False,
) -> Result:
    """Run the verifier until it succeeds, or the rechecks or the time run out."""
    if not any(command[:1]):
        raise usage_error("which command?", "Name it behind `--`: `hookctl verify -- pytest -q`.")
    seconds_in_all = _seconds(timeout) if timeout else math.inf
    if seconds_in_all <= 0:
        raise usage_error(
            f"nothing can be verified in {timeout}", "Leave --timeout out for no limit."
        )
    policy = Policy(max(1, rechecks), _seconds(grace), seconds_in_all)
    # The guard ignores an agent that the verifier starts.
    environ = {**folders.environ, "HOOKCTL_CHILD": "1"}
    begin = time.monotonic()
    with Keeper() as keeper:

        def look(seconds: float) -> Look:
            with _sink(json) as (output, read_end):
                result = _judge(lambda: keeper.run(command, environ, output, seconds))
            return result._replace(output=read_end())  # only now has all of it arrived

        def rest(number: int, seconds: float) -> None:
            report.progress(f"recheck {number} of {policy.looks} in {clock.age(seconds)}")
            keeper.sleep(seconds)

        last_look, number = watch(policy, look, rest, time.monotonic)
    status, signal_name = last_look.status, None
    if status is not None and status < 0:
        signal_name = _name_signal(status)
        status = None
    data = {
        "verdict": last_look.verdict,
        "looks": number,
        "command": masked(list(command)),
        "exit_status": status,
        "signal": signal_name,
        "rechecks": rechecks,
        "grace": policy.grace,
        "timeout": policy.timeout if timeout else None,
        "seconds": round(time.monotonic() - begin, 3),
    }
    if json:
        data["output"] = last_look.output
    return _make_result(data, command[0], policy, last_look, number)


def _seconds(text: str) -> float:
    """The seconds of a duration; a bare number is seconds."""
    has_unit = text[-1:].isalpha()
    return clock.seconds(text if has_unit else f"{text.strip()}s")


def _judge(run: Callable[[], int]) -> Look:
    """Run the verifier once, and judge how it ended."""
    try:
        status = run()
    except TimeoutError:
        return Look(TIMEOUT)
    except OSError as error:
        return Look(BROKEN, fault=f"cannot be started ({error.strerror})")
    if status == 0:
        return Look(HOLDS, status)
    if status < 0:
        return Look(BROKEN, status, f"was ended by {_name_signal(status)}")
    if status > _LARGEST_NO:
        return Look(BROKEN, status, f"ended with exit status {status}, which is no answer")
    return Look(NOT_YET, status)


def _name_signal(status: int) -> str:
    try:
        return signal.Signals(-status).name
    except ValueError:  # a real-time one
        return f"signal {-status}"


@contextlib.contextmanager
def _sink(kept: bool) -> Iterator[tuple[int, Callable[[], str]]]:
    """A file descriptor for the verifier's output, and a function that returns its end.

    Unless `kept`, the output goes to our stderr, and its end is empty.
    """
    if not kept:
        output = 2 if sys.stderr else subprocess.DEVNULL
        yield output, lambda: ""
        return
    reading, writing = os.pipe()
    end = bytearray()

    def drain() -> None:
        with open(reading, "rb", buffering=0) as stream:
            for piece in iter(lambda: stream.read(_KEPT), b""):
                end.extend(piece)
                del end[:-_KEPT]

    thread = threading.Thread(target=drain, daemon=True)
    thread.start()
    try:
        # Masked before it is cut: half a secret is not recognized.
        yield writing, lambda: masked_text(end.decode("utf-8", "replace"))[-_SHOWN:]
    finally:
        os.close(writing)
        thread.join(_DRAIN)  # a process that the verifier left running may hold the pipe


def _make_result(
    data: dict[str, Any], name: str, policy: Policy, last_look: Look, number: int
) -> Result:
    if last_look.verdict == HOLDS:
        return Result(data, (f"holds: {name} said so at look {number} of {policy.looks}",))
    if last_look.verdict == NOT_YET:
        times = "once" if number == 1 else f"{number} times"
        line = f"incomplete: {name} failed {times} (exit status {last_look.status})"
        return Result(data, (line,), exit_code=FAILED)
    if last_look.verdict == TIMEOUT:
        looks = f"at look {number} of {policy.looks}"
        message = f"out of time after {policy.timeout:g} s, {looks}: {name} did not hold"
        hint = "Give it more with --timeout, or leave that out for no limit."
        error = HookctlError("timeout", message, hint=hint, exit_code=TIMED_OUT)
    else:
        hint = (
            "A verifier ends with 0 (it holds) or 1 to 125 (not yet). "
            "For a line of shell: `-- sh -c 'LINE'`."
        )
        message = f"{name} {last_look.fault}"
        error = HookctlError("broken_contract", message, hint=hint, exit_code=UNREADABLE)
    return Result(data, errors=(error.as_dict(),), exit_code=error.exit_code)
