"""What happened since the last stop: turns, tool calls and progress."""

from .files import read_object
from .tools import count_call, is_required, name_task
from .transcript import (
    called_since_prompt,
    is_wake_up,
    last_prompt,
    last_words,
    new_prompt,
    read_tail,
    tool_calls,
)
from .values import digest, dump, first_text, whole_number


def read_task(call):
    """The heartbeat as a hash ("": none), and how much work remains (-1: unknown).

    The task may name its owner too, where a setting says in which field.
    """
    try:
        task = read_object(call.task_path)
    except (OSError, ValueError):
        task = {}
    names = call.task_names
    call.task_owner = first_text(task, names.get("owner", ""))
    heartbeat = task.get(names.get("heartbeat", "heartbeat"))
    remaining = task.get(names.get("remaining", "remaining"))
    if type(remaining) is str:
        remaining = whole_number(remaining)
    if type(remaining) is not int:
        remaining = -1
    return "" if heartbeat is None else digest(dump(heartbeat)), remaining


def observe(call, state, heartbeat, remaining):
    """Update turn, progress and counters for this stop; the progress: hard, soft or None."""
    if type(call.loops) is int:  # some hosts send a count instead of a flag
        call.active, state.loops = call.loops > state.loops, call.loops
    entries = read_tail(call.transcript, state, find_expected_words(call, state))
    count_calls(call, state, entries)
    own_block = is_blocked(state)  # our own block forced this stop: nobody else did
    own_block = see_prompt(call, state, entries, own_block)
    if own_block and call.loops is None and not call.host.tells_forced:
        call.active = True
    called = state.called or called_since_prompt(call.settings, entries)
    state.terminal, state.called = state.terminal or called, False
    if called:
        state.task = name_task(call.settings)
    progress = progress_since(call, state, heartbeat, remaining)
    count_stop(call, state, progress, own_block)
    state.hb, state.rem, state.acts_seen, state.ran = heartbeat, remaining, state.acts, False
    return progress


def is_blocked(state):
    """Was our last answer in this turn a block?"""
    return state.said[:1] == ["block"]


def find_expected_words(call, state):
    """The words to wait for in the transcript before it is read."""
    words = b""
    if call.settings.required_tools or (call.active and state.attempts):
        words = last_words(call.payload)
    return words or new_prompt(call.payload, state)


def count_calls(call, state, entries):
    """Count the tool calls since the last stop, unless they come as events."""
    for entry in entries:
        if entry.is_new:
            for name, arguments in tool_calls(entry):
                state.ran = True
                if is_required(call.settings, name):
                    state.task = name_task(call.settings)
                if not state.ledger:
                    count_call(state, name, arguments, call.settings.action_novelty)


def see_prompt(call, state, entries, own_block):
    """Begin a new turn if a prompt came; whether our own block still forced this stop."""
    turn = first_text(call.payload, "prompt_id", "turn_id", "prompt")
    line = last_prompt(entries, first_text(call.payload, "prompt_id"))
    repeated = own_block and call.host.reasons_as_prompts
    if not (turn or call.active or state.asked or repeated):  # the transcript tells prompts apart
        if call.flag is not None:
            state.streak = 0
        turn = line.decode("utf-8", "replace")
    see_turn(call, state, digest(turn) if turn else "", line)
    return is_blocked(state)


def see_turn(call, state, turn, line):
    """Begin a new turn if this stop is its first; `turn` is empty if the host has no turn ids.

    Some hosts send the reason of a block to the agent as a prompt, or count it as a turn. So a stop
    that our own block forced begins no turn, nor does a prompt before a stop that the host calls
    forced.
    """
    own_block, prompt, state.prompt = is_blocked(state), state.prompt, ""
    told = prompt and (prompt[:16] == turn if turn else not call.active)
    if turn and turn != state.turn:
        if own_block and call.active:
            state.turn = turn
        else:
            begin_turn(state, turn, not is_wake_up(line))
    elif told:
        begin_turn(state, turn, prompt[16:] == "")
    elif type(call.loops) is int and not (turn or call.active or own_block or state.asked):
        begin_turn(state, turn, True)  # a count that has not risen: no hook made the host go on


def begin_turn(state, turn, human):
    """Reset the counters of a turn, and after a person's prompt also those of the prompt."""
    state.turn, state.streak, state.stop, state.said = turn, 0, "", []
    if human:
        state.blocks = state.attempts = state.total = state.soft = state.nudges = 0
        state.open = state.terminal = state.ignored = False


def progress_since(call, state, heartbeat, remaining):
    """The progress since the last stop; reset the counters that it resets."""
    settings = call.settings
    moved = "heartbeat" in settings.progress and heartbeat != state.hb
    fell = "remaining" in settings.progress and 0 <= remaining < state.rem
    acted = "action" in settings.progress and state.acts > state.acts_seen
    if state.acts_seen < 0:
        return None  # the first stop is the baseline
    if (moved or fell) and settings.locked:  # no file of a project ends the watch over chains
        state.streak = 0 if acted else state.streak
        state.open = False
        return "hard"
    if moved or fell:
        state.soft, state.streak, state.open = 0, 0, False
        return "hard"
    if not acted:
        return None
    state.streak = 0
    if settings.mode == "breaker" and 0 < settings.max_soft_resets <= state.soft:
        return None
    state.soft, state.open = state.soft + 1, False
    return "soft"


def count_stop(call, state, progress, own_block):
    """Count this stop in our way and in the host's way."""
    if progress or (call.settings.chain_reset == "fresh" and not call.active):
        state.blocks = state.attempts = 0
    begins_anew = state.ran and call.host.counts_anew
    state.host = state.host + 1 if call.active and not begins_anew else 0
    state.attempts += 1
    if not own_block:
        state.streak += 1
