"""What the guard decides about a stop: who may stop at once, mode and limits, the reminder."""

from .files import env, exists, read_line
from .owner import Holder, is_bystander, is_stale
from .tools import name_task
from .values import is_true

LATEST = 2.5e11  # seconds; no time is later


def is_disabled(locked):
    """Does HOOKCTL_DISABLE switch the guard off? Never if it is locked."""
    return not locked and is_true(env("HOOKCTL_DISABLE"))


def reason_to_skip(call):
    """Why no part of the hook can use this call, or None."""
    if is_disabled(call.locked):
        return "off"
    if not call.readable or not call.session:
        return "no_input"
    return "config_error" if call.host is None else None


def reason_to_ignore(call):
    """Why the hook ignores this call, or None."""
    code = reason_to_skip(call)
    if code:
        return code
    if call.settings.mode == "off":
        return "off"
    if not call.locked and any(is_true(env(name)) for name in call.settings.child_env):
        return "child"
    if call.subagent:
        return "subagent"
    return None


def reason_to_allow(call, remaining):
    """Why the agent may stop whatever remains, or None."""
    wants_block = call.keepalive or (call.settings.mode == "breaker" and remaining > 0)
    call.holder = Holder(call) if wants_block else None
    is_of_another = call.holder.is_other(call) if call.holder else is_bystander(call)
    if is_of_another:
        return "not_owner"
    if (call.keepalive or call.settings.require_arm) and not is_armed(call):
        return "inactive"
    if exists(call.settings.run_dir + "/STOP"):
        return "stop"
    if wants_block and not call.keepalive and is_stale(call) and not is_armed(call):
        return "stale"
    return None


def is_armed(call):
    """Is a run of this project active (`hookctl run start`), and its time not over?"""
    text = read_line(call.project_folder + "/ACTIVE")
    try:
        return call.now < float(text) < LATEST and text.isascii() and "_" not in text
    except ValueError:
        return False


def is_concluded(call):
    """Has somebody asked to conclude the work?"""
    return exists(call.settings.run_dir + "/CONCLUDE")


def is_waiting(call):
    """Does the host itself wait for a background task?"""
    if not call.settings.yield_on_background:
        return False
    for name in ("background_tasks", "session_crons", "crons"):
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
    return apply_limits(call, state, tripped, call.ceiling)


def apply_limits(call, state, tripped, ceiling):
    """Block unless a limit is reached: (decision, code, blocks to mention)."""
    if state.open:
        return "allow", "open", 0
    if state.total > ceiling:
        return "allow", "ceiling", 0
    if tripped:
        return "release", "tripped", state.blocks
    if call.host.cap <= state.host:
        return "release", "host_cap", state.host
    if state.total >= ceiling:
        return "release", "ceiling", ceiling
    return "block", "blocked", state.blocks + 1


def is_forced_loop(call, state):
    """Do other hooks force this chain on without progress, or up to the host's cap?"""
    settings = call.settings
    watched = settings.end_foreign_chains and not (call.keepalive and is_armed(call))
    if not watched and settings.mode != "guard":
        return False
    idle = 0 < settings.max_stop_blocks <= state.streak and (call.active or state.streak > 1)
    at_the_cap = call.active and call.host.cap == state.host and state.said[:1] != ["block"]
    return idle or at_the_cap


def needs_reminder(call, state, code):
    """Must the agent be reminded of a tool before it may stop?"""
    settings = call.settings
    if code not in ("no_work", "stale", "conclude", "allowed"):
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
