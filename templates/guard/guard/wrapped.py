"""Another tool's Stop hook with a limit: `wrap.py EVENT --host HOST COMMAND`, JSON on stdin.

No hook can overrule another's block, and some hosts cannot end a turn. So this one runs the other
hook's COMMAND and passes on its output, byte for byte. At the n-th denial without progress
(MAX_STOP_BLOCKS) it lets the agent stop instead, until there is progress or a human prompt.
Progress, limits, state and log are the guard's own. With HOOKCTL_DISABLE=1 the other hook runs by
itself. A denial that cannot be counted is not passed on.
"""

import contextlib
import os
import signal

from . import other_hook
from .answers import describe_failure, say, word_failure
from .call import CEILING, INPUT_LIMIT, Expired, is_locked, launchers_folder, read_call, read_config
from .denials import Judgement, is_denial, judge, read_feedback
from .dialects import Host
from .files import enter
from .log import log
from .policies import is_disabled
from .start import report_error
from .values import parse

RELEASED = "hookctl guard: let the agent stop. %s. Last feedback: %s"
WHY = {
    "no_input": "Stop hook denied, and the session is not known",
    "tripped": "Stop hook denied {times} without progress (limit {limit})",
    "host_cap": "Stop hook denied {times} in a row, and the host overrides that (host cap {cap})",
    "ceiling": "Stop hook denied {times} since the last prompt (limit {ceiling})",
    "lock_timeout": "Stop hook denied, and another process holds the count",
    "state_error": "Stop hook denied, and the count cannot be saved",
}


def prepare(words):
    """The function that runs the other hook; all its modules are loaded."""
    event, _, host, command = words

    def run():
        status = 0
        try:
            status = run_other(event, host, command)
        except BaseException as error:
            report_error(error)
        os._exit(status)

    return run


def run_other(event, host, command):
    """Run the other hook; pass on its output unless a limit is reached; the exit status."""
    beside = launchers_folder(enter("."))
    if is_disabled(is_locked(read_config(beside), beside)):
        other_hook.become(command)
    outcome = other_hook.run(command)
    denied = is_denial(read_denial_marks(host), outcome)
    if denied and is_released(event, host, command, outcome):
        return 0
    other_hook.write(1, outcome.out)
    other_hook.write(2, outcome.err)
    return outcome.status if outcome.status >= 0 else 128 - outcome.status


def read_denial_marks(host):
    """How the host recognizes a denial, from the table in config.json; empty if unknown."""
    marks = read_config(launchers_folder(enter(".")))
    for name in ("hosts", host, "denials"):
        marks = marks.get(name) if type(marks) is dict else None
    return marks if type(marks) is dict else {}


def is_released(event, host, command, outcome):
    """May the agent stop in spite of a denial? Says so, if the host has a form for it."""
    data = outcome.data
    call, judgement = None, Judgement("release", "state_error")
    try:
        call = read_call(event, host, lambda: (data, parse_payload(data)))  # starts the timer
        call.host = call.host or Host(host, {})
        judgement = judge(call, command)
    except (Exception, Expired) as error:
        if call:
            call.failure = error
    signal.setitimer(signal.ITIMER_REAL, 0)
    # In the form of the host that runs this call: not always the one in the arguments.
    if judgement.decision == "release" and call and call.host and call.host.release:
        reason = describe_release(call, judgement)
        say(call.host.release, RELEASED % (reason, read_feedback(outcome) or "none"))
    if call and judgement.line:
        write_line(call, judgement)
    return judgement.decision != "block"


def describe_release(call, judgement):
    """Why the agent may stop although the other hook denied it, with count and limit."""
    number = judgement.number
    values = {
        "times": "once" if number == 1 else str(number) + " times",
        "limit": call.settings.max_stop_blocks,
        "cap": call.host.cap,
        "ceiling": CEILING,
    }
    reason = WHY[judgement.code].format(**values)
    if judgement.code == "state_error" and call.failure:
        reason += " (" + word_failure(call) + ")"
    return reason


def write_line(call, judgement):
    """Log a judgement."""
    call.event = "wrap"
    failure = describe_failure(call) if call.failure else {}
    with contextlib.suppress(OSError):
        log(call, judgement.decision, judgement.code, {**judgement.line, **failure})


def parse_payload(data):
    """The object that the host sent, or None."""
    try:
        return parse(data, "replace") if len(data) <= INPUT_LIMIT else None
    except ValueError:
        return None
