"""A stop: reasons to allow it, then the mode, then chains of other hooks, then the reminder."""

import posix

from .call import Expired, read_own_call, reason_to_ignore
from .files import digest, open_to_replace, read_line
from .hosts import answer, describe_failure
from .progress import is_blocked, name_task, observe
from .settings import HIGHEST_CEILING
from .state import UNCOUNTED, answer_once, log, open_session
from .work import (
    CRUMB,
    is_armed,
    is_concluded,
    read_task,
    reason_to_allow,
    take_work,
    word_crumb,
)

# Calls that leave no breadcrumb for a supervisor.
NOT_OURS = ("no_input", "config_error", "off", "child", "subagent", "not_owner")
# What ends a chain, or asks for a last word: the agent need not be started again.
ENDED = ("stop", "conclude", "nudged", "tripped", "ceiling")
# Where the agent may be reminded of a tool before it stops.
LAST_WORDS = ("no_work", "stale", "conclude", "allowed", "tripped")
# What the host itself waits for, in its words.
WAITS = ("background_tasks", "session_crons", "crons", "backgroundTasks", "sessionCrons")


class Decision:
    """The decision, why, the numbers to mention, and the log line (None: already logged)."""

    def __init__(self, decision, code, blocks=0, remaining=-1, line=UNCOUNTED):
        self.decision, self.code, self.blocks, self.remaining = decision, code, blocks, remaining
        self.line = line


def on_stop(call):
    """Answer a stop, and log it."""
    read_own_call(call)
    try:
        decided = decide(call)
    except (Exception, Expired) as error:
        call.failure = error
        decided = Decision("allow", "state_error")
    if decided.line:
        leave_breadcrumb(call, decided.code)
    answer(call, decided.decision, decided.code, decided.blocks, decided.remaining)
    call.answered = True
    if decided.line:
        if decided.line.pop("went_on", False):
            log(call, "counted", "went_on", UNCOUNTED)
        line = dict(decided.line, **describe_failure(call)) if call.failure else decided.line
        log(call, name_decision(call, decided.decision), decided.code, line)


def name_decision(call, decision):
    """The log's name of a decision: a chain that the host cannot end is only counted."""
    is_unheard = decision == "end" and not (call.host and call.host.end)
    return "counted" if is_unheard else decision


def decide(call):
    """Decide a stop."""
    code = reason_to_ignore(call)
    if code:
        return Decision("allow", code)
    if not call.ends_turn:
        return Decision("allow", "allowed", line=None)
    if call.keepalive and is_armed(call):
        call.ceiling = HIGHEST_CEILING
    heartbeat, remaining = read_task(call)
    code, concluded = reason_to_allow(call, remaining), is_concluded(call)
    if is_waiting(call) and not concluded:
        return Decision("allow", code or "background")
    if is_given_up(call):
        return Decision("allow", code or "allowed")
    try:
        path, state = open_session(call)
    except OSError as error:
        wants_block = call.keepalive or (call.settings.mode == "breaker" and remaining > 0)
        is_released = wants_block and not code and not concluded
        decision = "release" if is_released else "allow"
        if type(error) is BlockingIOError:
            return Decision(decision, "lock_timeout", 0, remaining)
        call.failure = error
        return Decision(decision, "state_error", 0, remaining)

    def decide_now():
        return decide_anew(call, state, code, heartbeat, remaining)

    line, saved = answer_once(call, path, state, decide_now)
    decision, code, blocks, remaining = state.said
    if not saved and decision != "end":
        is_released = decision == "release" or code == "blocked"
        decision, code = "release" if is_released else "allow", "state_error"
    return Decision(decision, code, blocks, remaining, line)


def decide_anew(call, state, gate_code, heartbeat, remaining):
    """Update the session and decide this stop in `state.said`; the line for the log."""
    was_reminded = state.said[1:2] == ["nudged"]
    progress = observe(call, state, heartbeat, remaining)
    went_on = call.active and call.host.end and state.said[:1] == ["end"]
    decision, code, blocks = "allow", gate_code, 0
    if not gate_code:
        decision, code, blocks = decide_by_mode(call, state, remaining)
    if decision == "block":
        decision, code, blocks = hold_work(call, blocks)
    if call.holder and code not in ("not_owner", "stale"):
        state.work = int(call.now)
    reason = reason_to_end(call, state) if decision == "allow" else None
    if reason:
        decision, code = "end", reason
        blocks = call.ceiling if code == "ceiling" else 0
    if needs_reminder(call, state, code):
        decision, code = "block", "nudged"
    line = {"blocks": blocks or state.blocks, "attempts": state.attempts, "progress": progress}
    # A prompt, or STOP, means that a person wants something else.
    if was_reminded and state.nudges and not state.terminal and gate_code != "stop":
        line["ignored"] = state.ignored = True
    if went_on:
        line["went_on"] = True
    settle(call, state, decision, code)
    state.said = [decision, code, blocks, remaining]
    return line


def hold_work(call, blocks):
    """Block if the work is this session's, or becomes it now: (decision, code, blocks)."""
    try:
        code = take_work(call)
    except BlockingIOError:
        code = "lock_timeout"
    if code == "not_owner":
        return "allow", code, 0
    return ("release", code, blocks - 1) if code else ("block", "blocked", blocks)


def leave_breadcrumb(call, code):
    """Write RESPAWN_REQUESTED while the guard keeps the agent going, so a supervisor knows."""
    if not call.keepalive or code in NOT_OURS:
        return
    path = call.project_folder + CRUMB
    try:
        if code == "blocked" and call.active:
            posix.write(open_to_replace(path), word_crumb(call).encode())
        elif code == "inactive":  # outside a run: only the session whose run has ended takes it
            if digest(call.session) in read_line(path):
                posix.unlink(path)
        elif code in ENDED or not call.active:
            posix.unlink(path)
    except OSError:
        pass


def is_waiting(call):
    """Does the host itself wait for a background task?"""
    if not call.settings.yield_on_background:
        return False
    for name in WAITS:
        if type(call.payload.get(name)) is list and call.payload[name]:
            return True
    return call.payload.get("fullyIdle") is False


def is_given_up(call):
    """Did a person cancel the turn, or did it fail?"""
    return call.payload.get("status") in call.host.given_up


def decide_by_mode(call, state, remaining):
    """What the mode wants, within its limits: (decision, code, blocks to mention)."""
    settings = call.settings
    if is_concluded(call):
        return "allow", "conclude", 0
    if settings.mode == "guard":
        return "allow", "allowed", 0
    if remaining <= 0 and not call.keepalive:
        return "allow", "no_work", 0
    if settings.honor_stop_hook_active and call.active:
        return "allow", "honor_active", 0
    tripped = 0 < call.limit <= getattr(state, settings.count)
    return apply_limits(call, state, tripped)


def apply_limits(call, state, tripped):
    """Block unless a limit is reached: (decision, code, blocks to mention)."""
    if state.open:
        return "allow", "open", 0
    if state.total > call.ceiling:
        return "allow", "ceiling", 0
    if tripped:
        return "release", "tripped", state.blocks
    if call.host.cap <= state.host:
        return "release", "host_cap", state.host
    if state.total >= call.ceiling:
        return "release", "ceiling", call.ceiling
    return "block", "blocked", state.blocks + 1


def reason_to_end(call, state):
    """Why a chain that other hooks force is to end, or None: no progress, or one force too many."""
    settings = call.settings
    if not settings.end_foreign_chains and settings.mode != "guard":
        return None
    idle = 0 < settings.max_stop_blocks <= state.streak and (call.active or state.streak > 1)
    forced = call.active and not is_blocked(state)
    if idle or (forced and call.host.cap == state.host):
        return "stop_loop"
    return "ceiling" if forced and state.total >= call.ceiling else None


def needs_reminder(call, state, code):
    """Must the agent be reminded of a tool before it may stop?"""
    settings = call.settings
    if code not in LAST_WORDS:
        return False
    if not settings.required_tools or state.terminal or state.nudges >= settings.max_nudges:
        return False
    scope = settings.required_scope_env
    task = name_task(settings)
    if scope and (not task or scope == call.host.reminds_where or task == state.task):
        return False
    if state.open or (settings.honor_stop_hook_active and call.active):
        return False
    return state.host < call.host.cap and state.total < call.ceiling


def settle(call, state, decision, code):
    """Change the session's counters as the decision requires."""
    if decision == "block":
        state.total += 1
        state.nudges += code == "nudged"
        state.blocks += code != "nudged"
    elif decision != "allow":
        state.streak = 0
        state.trips += 1
    if decision == "end" and call.host.end:
        state.host = 0  # the turn is over
    if decision == "release":
        state.blocks = state.attempts = 0
        state.open = call.settings.latch and code in ("tripped", "host_cap")
        if code == "ceiling":
            state.total = call.ceiling + 1
