"""A stop: gates that let the agent go, then the mode, then chains that other hooks force, then the reminder."""

import posix

from .answers import answer
from .call import Expired, read_call, read_input
from .files import open_to_replace
from .log import UNCOUNTED, log
from .policies import (
    gate,
    is_concluded,
    is_forced_loop,
    is_given_up,
    is_waiting,
    needs_reminder,
    settle,
    silent_gate,
    verdict,
)
from .progress import observe, read_task
from .state import answer_once, open_session
from .values import digest

# Of these calls a supervisor hears nothing.
NOT_OURS = ("no_input", "config_error", "off", "child", "subagent", "not_owner", "inactive")


class Decision:
    """What is decided, why, which numbers to speak of, and the line in the log (None: another registration's)."""

    def __init__(self, decision, code, blocks=0, remaining=-1, line=UNCOUNTED):
        self.decision, self.code, self.blocks, self.remaining = decision, code, blocks, remaining
        self.line = line


def on_stop(event, host):
    """Answer a stop, and log it."""
    call = read_call(event, host, read_input)
    try:
        decided = decide(call)
    except (Exception, Expired):
        decided = Decision("allow", "state_error")
    if decided.line:
        leave_breadcrumb(call, decided.code)
    answer(call, decided.decision, decided.code, decided.blocks, decided.remaining)
    if decided.line:
        log(call, decided.decision, decided.code, decided.line)


def decide(call):
    """The decision on a stop."""
    code = silent_gate(call)
    if code:
        return Decision("allow", code)
    code, concluded = gate(call), is_concluded(call)
    if is_waiting(call) and not concluded:
        return Decision("allow", code or "background")
    if is_given_up(call):
        return Decision("allow", code or "allowed")
    heartbeat, remaining = read_task(call)
    try:
        path, state = open_session(call)
    except BlockingIOError:
        wished = call.keepalive or (call.settings.mode == "breaker" and remaining > 0)
        lost = "release" if wished and not code and not concluded else "allow"
        return Decision(lost, "lock_timeout", 0, remaining)
    line, saved = answer_once(
        call, path, state, lambda: decide_anew(call, state, code, heartbeat, remaining)
    )
    decision, code, blocks, remaining = state.said
    if decision == "block" and not saved:
        decision, code = "allow" if code == "nudged" else "release", "state_error"
    return Decision(decision, code, blocks, remaining, line)


def decide_anew(call, state, gate_code, heartbeat, remaining):
    """Bring the session up to this stop and decide, in `state.said`; the line for the log."""
    progress = observe(call, state, heartbeat, remaining)
    decision, code, blocks = "allow", gate_code, 0
    if not gate_code:
        decision, code, blocks = verdict(call, state, remaining)
    if decision == "allow" and is_forced_loop(call, state):
        decision, code = "end", "stop_loop"
    if decision == "allow" and needs_reminder(call, state, code):
        decision, code = "block", "nudged"
    line = {"blocks": blocks or state.blocks, "attempts": state.attempts, "progress": progress}
    settle(call, state, decision, code)
    state.said = [decision, code, blocks, remaining]
    return line


def leave_breadcrumb(call, code):
    """RESPAWN_REQUESTED, for a supervisor: a chain is being forced on, and does not end of its own will."""
    if not call.keepalive or code in NOT_OURS:
        return
    path = call.folder + "/RESPAWN_REQUESTED"
    try:
        if code == "blocked" and call.active:
            text = str(int(call.now)) + " " + digest(call.session) + "\n"
            posix.write(open_to_replace(path), text.encode())
        elif code in ("stop", "conclude", "nudged") or not call.active:
            posix.unlink(path)
    except OSError:
        pass
