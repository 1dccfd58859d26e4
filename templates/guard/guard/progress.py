"""What happened since the last stop: turns, tool calls and progress.

The end of the host's transcript tells of tool calls, and of who began the turn.
"""

import posix
import time

from .call import read_turn
from .files import KIB, digest, dump, env, first_text, open_file, parse

TAIL_LIMIT = 256 * KIB
WAITS = (0.01, 0.02, 0.03, 0)  # seconds between two looks at a transcript that is being written
# Every line that matters has one of these.
MARKS = (b'"tool_use"', b'"function_call"', b'"custom_tool_call"', b'"user"')
# A prompt that quotes these words has a backslash before the quotes.
WAKE_UPS = (
    b'"task-notification"',
    b'"task_notification"',
    b':"<task-notification>',
    b': "<task-notification>',
    b':"<system_notification>',  # Copilot, in its prompt event
)


def observe(call, state, heartbeat, remaining):
    """Update turn, progress and counters for this stop; the progress: hard, soft or None."""
    if type(call.loops) is int:  # some hosts send a count instead of a flag
        call.active, state.loops = call.loops > state.loops, call.loops
    entries = read_tail(call.transcript, state, find_expected_words(call, state))
    count_calls(call, state, entries)
    own_block = is_blocked(state)  # our own block forced this stop, and no other hook did
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
    turn = read_turn(call.payload) or first_text(call.payload, "prompt")
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
        if call.active and state.total < call.ceiling:  # another hook forced it
            state.total += 1


def is_required(settings, name):
    """Is this a required tool, by its name alone or behind a server's name?"""
    if type(name) is not str:
        return False
    if name == "exec_command" and "Bash" in settings.required_tools:
        return True  # Codex: one name in its transcript, another for hooks
    return any(
        name == tool or name.endswith(("__" + tool, "." + tool)) for tool in settings.required_tools
    )


def name_task(settings):
    """The task that a required tool is called for, as a hash; empty if no variable names one."""
    scope = settings.required_scope_env
    task = env(scope).strip() if scope else ""
    return digest(task) if task else ""


def count_call(state, name, arguments, novelty):
    """Count a tool call; with `novelty`, not if it is among the last ones."""
    call = digest(dump([name, arguments]))
    known = call in state.ring
    state.ring = [other for other in state.ring if other != call] + [call]
    if not (known and novelty and arguments is not None):
        state.acts += 1


class Entry:
    """A line of the transcript: its bytes, its values, and if it is newer than the last stop."""

    def __init__(self, line, values, is_new):
        self.line, self.values, self.is_new = line, values, is_new


def read_tail(path, state, words):
    """The entries at the end of the transcript that matter.

    The host may still write it, so this waits a moment for `words`: in a chain the agent's last
    words, since the tool calls of the turn come before them; else the id of a new prompt.
    """
    try:
        fd = open_file(path, posix.O_RDONLY)
    except (OSError, ValueError):
        return []
    data, offset, size = wait_for(fd, state, words)
    if size < state.tx:  # another file
        state.tx, state.ring = 0, []
    lines = data.split(b"\n")
    entries = parse_entries(lines, offset, state.tx)
    state.tx = size if is_whole(lines[-1]) else size - len(lines[-1])
    return entries


def wait_for(fd, state, words):
    """Wait for these words after the last stop; the end of the file, its offset, and the size."""
    for wait in WAITS:
        size = posix.fstat(fd).st_size
        offset = max(0, size - TAIL_LIMIT)
        data = posix.pread(fd, TAIL_LIMIT, offset)
        if words in data[max(0, state.tx - offset) :]:
            break
        time.sleep(wait)
    return data, offset, size


def parse_entries(lines, offset, read_so_far):
    """The entries in these lines; the first line begins at `offset` in the file."""
    entries = []
    for line in lines:
        values = parse_line(line)
        if values and not values.get("isSidechain"):
            entries.append(Entry(line, values, offset >= read_so_far))
        offset += len(line) + 1
    return entries


def parse_line(line):
    """The values in a line; None if it does not matter, or is cut off."""
    if line[-1:] != b"}" or not any(mark in line for mark in MARKS):
        return None
    try:
        return parse(line, "replace")
    except ValueError:
        return None


def is_whole(line):
    """Is the last line complete? Else it is empty, or the host is still writing it."""
    try:
        parse(line, "replace")
    except ValueError:
        return False
    return True


def tool_calls(entry):
    """Name and arguments of every tool call in an entry."""
    values = entry.values
    if type(values.get("payload")) is dict:  # Codex
        values = values["payload"]
    kind, message = values.get("type", "assistant"), values.get("message")
    if kind in ("function_call", "custom_tool_call"):
        yield values.get("name"), values.get("arguments", values.get("input"))
    if (
        kind in ("assistant", "message")
        and type(message) is dict
        and type(message.get("content")) is list
    ):
        for item in message["content"]:
            if type(item) is dict and item.get("type") == "tool_use":
                yield item.get("name"), item.get("input")


def is_prompt(entry):
    """Is this a user's prompt? Feedback of stop hooks (isMeta) and tool results are not."""
    is_user = entry.values.get("type") == "user" or b'"interactionMode"' in entry.line  # Droid
    return is_user and not entry.values.get("isMeta") and b'"tool_result"' not in entry.line


def last_prompt(entries, turn=""):
    """The line of the prompt that began a turn; the last prompt if none has the turn's id."""
    prompts = [entry.line for entry in entries if is_prompt(entry)]
    if turn:
        for line in prompts:
            if turn.encode("utf-8", "replace") in line:
                return line
    return prompts[-1] if prompts else b""


def is_wake_up(line):
    """Did a background task begin this turn?"""
    return any(mark in line for mark in WAKE_UPS)


def called_since_prompt(settings, entries):
    """Was a required tool called since the last prompt of a person?"""
    called = False
    for entry in entries:
        if is_prompt(entry) and not is_wake_up(entry.line):
            called = False
        called = called or any(is_required(settings, name) for name, _ in tool_calls(entry))
    return called


def last_words(payload):
    """The end of the agent's last message, if JSON does not escape it; else empty."""
    words = first_text(payload, "last_assistant_message").strip()[-24:]
    if words.isascii() and words.isprintable() and not set(words) & set('"\\'):
        return words.encode()
    return b""


def new_prompt(payload, state):
    """The id of a new prompt in a known session, as bytes; its entry says who prompted."""
    turn = first_text(payload, "prompt_id")
    if state.turn and turn and digest(turn) != state.turn:
        return turn.encode("utf-8", "replace")
    return b""
