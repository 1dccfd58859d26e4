"""hookctl verify: one blocking call that runs a verifier until it holds, looking again before it says no."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from hookctl import clock, report
from hookctl.errors import FAILED, TIMED_OUT, UNREADABLE, USAGE, HookctlError
from hookctl.masking import masked, masked_text
from hookctl.model import Result
from hookctl.system.folders import Folders
from hookctl.system.processes import Keeper

HOLDS, NOT_YET, BROKEN, TIMEOUT = "holds", "incomplete", "broken", "timeout"
_LARGEST_NO = 125  # a shell says 126 and 127 where it could not run a command, and more where a signal ended it
_KEPT, _SHOWN = 64 * 1024, 8 * 1024  # bytes and characters of the verifier's last output
_DRAIN = 0.5  # seconds for output that is still in the pipe when the verifier has ended


class Request(NamedTuple):
    """What was asked on the command line, times still as text."""

    command: tuple[str, ...]
    rechecks: int = 3
    grace: str = "15"
    timeout: str = ""


class Policy(NamedTuple):
    """How often and how long."""

    looks: int
    grace: float  # seconds before the next look
    timeout: float  # seconds in all


class Look(NamedTuple):
    """How one run of the verifier ended."""

    verdict: str
    status: int | None = None  # below 0 for a signal; None: it did not start, or was ended by us
    fault: str = ""
    output: str = ""


def watch(
    policy: Policy,
    look: Callable[[float], Look],
    rest: Callable[[int, float], None],
    now: Callable[[], float],
) -> tuple[Look, int]:
    """Look until it holds, a contract is broken, the looks or the time are used up; the last look, and which it was.

    `look` gets the time that is left, `rest` the number of the coming look and the time until then.
    """
    end = now() + policy.timeout
    number = 1
    while True:
        seen = look(end - now())
        if seen.verdict != NOT_YET or number >= policy.looks:
            return seen, number
        rest(number + 1, max(0.0, min(policy.grace, end - now())))
        if now() >= end:
            return seen._replace(verdict=TIMEOUT), number
        number += 1


def verify(folders: Folders, request: Request, *, as_json: bool) -> Result:
    """Run the verifier until it holds, or it is sure that it does not."""
    policy = _policy(request)
    environ = {
        **folders.environ,
        "HOOKCTL_CHILD": "1",
    }  # an agent that the verifier starts is none of the guard's
    begin = time.monotonic()
    with Keeper() as keeper:

        def look(seconds: float) -> Look:
            with _sink(as_json) as (output, tail):
                seen = _look(lambda: keeper.run(request.command, environ, output, seconds))
            return seen._replace(output=tail())

        def rest(number: int, seconds: float) -> None:
            report.progress(f"recheck {number} of {policy.looks} in {clock.age(seconds)}")
            keeper.sleep(seconds)

        seen, number = watch(policy, look, rest, time.monotonic)
    data = _data(request, policy, seen, number, time.monotonic() - begin)
    return _result(
        {**data, "output": seen.output} if as_json else data,
        request.command[0],
        policy,
        seen,
        number,
    )


def _policy(request: Request) -> Policy:
    if not any(request.command[:1]):
        raise _usage("which command?", "Name it behind `--`: `hookctl verify -- pytest -q`.")
    timeout = _seconds(request.timeout) if request.timeout else math.inf
    if timeout <= 0:
        raise _usage(
            f"nothing can be verified in {request.timeout}", "Leave --timeout out for no limit."
        )
    return Policy(max(1, request.rechecks), _seconds(request.grace), timeout)


def _seconds(text: str) -> float:
    return clock.seconds(text if text[-1:].isalpha() else f"{text.strip()}s")


def _look(run: Callable[[], int]) -> Look:
    """What the end of a run means."""
    try:
        status = run()
    except TimeoutError:
        return Look(TIMEOUT)
    except OSError as error:
        return Look(BROKEN, fault=f"cannot be started ({error.strerror})")
    if status == 0:
        return Look(HOLDS, status)
    if status < 0:
        return Look(BROKEN, status, f"was ended by {_signal(status)}")
    if status > _LARGEST_NO:
        return Look(BROKEN, status, f"ended with exit status {status}, which is no answer")
    return Look(NOT_YET, status)


def _signal(status: int) -> str:
    try:
        return signal.Signals(-status).name
    except ValueError:  # a real-time one
        return f"signal {-status}"


@contextlib.contextmanager
def _sink(kept: bool) -> Iterator[tuple[int, Callable[[], str]]]:
    """Where the verifier's output goes, and afterwards its end: to our stderr, or into memory, and little stays."""
    if not kept:
        yield (2 if sys.stderr else subprocess.DEVNULL), lambda: ""
        return
    reading, writing = os.pipe()
    end = bytearray()

    def drain() -> None:
        with open(reading, "rb", buffering=0) as stream:
            while piece := stream.read(_KEPT):
                end.extend(piece)
                del end[:-_KEPT]

    thread = threading.Thread(target=drain, daemon=True)
    thread.start()
    try:
        yield writing, lambda: _shown(bytes(end))
    finally:
        os.close(writing)
        thread.join(_DRAIN)  # what the verifier left running may hold the pipe for ever


def _shown(output: bytes) -> str:
    """The last lines, masked before they are cut: half a secret is not seen to be one."""
    return masked_text(output.decode("utf-8", "replace"))[-_SHOWN:]


def _data(
    request: Request, policy: Policy, seen: Look, number: int, seconds: float
) -> dict[str, Any]:
    return {
        "verdict": seen.verdict,
        "looks": number,
        "command": masked(list(request.command)),
        "exit_status": seen.status if seen.status is not None and seen.status >= 0 else None,
        "signal": _signal(seen.status) if seen.status is not None and seen.status < 0 else None,
        "rechecks": request.rechecks,
        "grace": policy.grace,
        "timeout": policy.timeout if math.isfinite(policy.timeout) else None,
        "seconds": round(seconds, 3),
    }


def _result(data: dict[str, Any], name: str, policy: Policy, seen: Look, number: int) -> Result:
    if seen.verdict == HOLDS:
        return Result(data, (f"holds: {name} said so at look {number} of {policy.looks}",))
    if seen.verdict == NOT_YET:
        times = "once" if number == 1 else f"{number} times"
        return Result(
            data,
            (f"incomplete: {name} said no {times} (exit status {seen.status})",),
            exit_code=FAILED,
        )
    if seen.verdict == TIMEOUT:
        message = f"out of time after {policy.timeout:g} s, at look {number} of {policy.looks}: {name} did not hold"
        hint = "Give it more with --timeout, or leave that out for no limit."
        error = HookctlError("timeout", message, hint=hint, exit_code=TIMED_OUT)
    else:
        hint = "A verifier ends with 0 (it holds) or 1 to 125 (not yet). For a line of shell: `-- sh -c 'LINE'`."
        error = HookctlError(
            "broken_contract", f"{name} {seen.fault}", hint=hint, exit_code=UNREADABLE
        )
    return Result(data, errors=(error.as_dict(),), exit_code=error.exit_code)


def _usage(message: str, hint: str) -> HookctlError:
    return HookctlError("usage", message, hint=hint, exit_code=USAGE)
