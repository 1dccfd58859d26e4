"""Another tool's Stop hook, with an end to its denials: `wrap.py EVENT --host HOST COMMAND`, the host's JSON on stdin.

No hook can overrule another's block, and some hosts have no way to end a turn. So this one runs the other hook's
COMMAND and passes on what it says, byte for byte, but lets the agent go at the n-th denial without progress
(MAX_STOP_BLOCKS), and from then on until there is progress or a human prompt. Progress, limits, state and log are the
guard's own; with HOOKCTL_DISABLE=1 the other hook runs by itself. A denial that cannot be counted is not passed on.
"""

import contextlib
import os
import signal

from . import other_hook
from .answers import say
from .call import INPUT_LIMIT, Expired, launchers_folder, read_call, read_config
from .denials import Judgement, is_denial, judge
from .dialects import Host
from .files import enter, env
from .log import log
from .start import tell
from .values import is_true, parse

LET_GO = "hookctl guard: let go of the agent %s. Send a prompt to go on."
WHY = {
    "no_input": "although the hook that it wraps denied the stop: the session is not known",
    "tripped": "at denial %s of the hook that it wraps, without progress",
    "host_cap": "after %s denials of the hook that it wraps, since the host would override the next one",
    "ceiling": "after %s denials of the hook that it wraps, since the last prompt",
    "lock_timeout": "although the hook that it wraps denied the stop: another process holds the count",
    "state_error": "although the hook that it wraps denied the stop: the count cannot be saved",
}


def prepare(words):
    """What runs the other hook, loaded with all that it needs."""

    event, _, host, command = words

    def run():
        status = 0
        try:
            status = run_other(event, host, command)
        except BaseException as error:
            tell(error)
        os._exit(status)

    return run


def run_other(event, host, command):
    """Run the other hook and pass on what it says, except a denial that it is time to stop at; its exit status."""
    if is_true(env("HOOKCTL_DISABLE")):
        other_hook.become(command)
    outcome = other_hook.run(command)
    if is_denial(marks_of(host), outcome) and is_let_go(event, host, command, outcome.data):
        return 0
    other_hook.write(1, outcome.out)
    other_hook.write(2, outcome.err)
    return outcome.status if outcome.status >= 0 else 128 - outcome.status


def marks_of(host):
    """How the host tells a denial, out of the table in config.json; empty where that does not say it."""
    marks = read_config(launchers_folder(enter(".")))
    for name in ("hosts", host, "denials"):
        marks = marks.get(name) if type(marks) is dict else None
    return marks if type(marks) is dict else {}


def is_let_go(event, host, command, data):
    """Whether the agent goes in spite of a denial, after saying so where the host has words for it."""
    call, judgement = None, Judgement("release", "state_error")
    try:
        call = read_call(
            event, host, lambda: (data, payload_of(data))
        )  # from here on it has the hook's time
        call.host = call.host or Host(host, {})
        judgement = judge(call, command)
    except (Exception, Expired):
        pass
    signal.setitimer(signal.ITIMER_REAL, 0)
    # In the words of the host that runs it: not always the one it is told.
    if judgement.decision == "release" and call and call.host and call.host.release:
        say(call.host.release, LET_GO % WHY[judgement.code].replace("%s", str(judgement.number)))
    if call and judgement.line:
        write_line(call, judgement)
    return judgement.decision != "block"


def write_line(call, judgement):
    """Log a judgement."""
    call.event = "wrap"
    with contextlib.suppress(OSError):
        log(call, judgement.decision, judgement.code, judgement.line)


def payload_of(data):
    """The object that the host sent, or None."""
    try:
        return parse(data, "replace") if len(data) <= INPUT_LIMIT else None
    except ValueError:
        return None
