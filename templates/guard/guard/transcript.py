"""The end of the host's record of a session: tool calls, and who began the turn."""

import posix
import time

from .files import KIB, open_file
from .tools import is_required
from .values import digest, first_text, parse

TAIL_LIMIT = 256 * KIB
WAITS = (0.01, 0.02, 0.03, 0)  # seconds between two looks at a transcript that is being written
MARKS = (
    b'"tool_use"',
    b'"function_call"',
    b'"custom_tool_call"',
    b'"user"',
)  # one is in every line that matters
# A prompt that quotes these words has a backslash before the quotes.
WAKE_UPS = (
    b'"task-notification"',
    b'"task_notification"',
    b':"<task-notification>',
    b': "<task-notification>',
    b':"<system_notification>',  # Copilot, in its prompt event
)


class Entry:
    """A line of the transcript: its bytes, what they say, and whether they came since the last stop."""

    def __init__(self, line, values, is_new):
        self.line, self.values, self.is_new = line, values, is_new


def read_tail(path, state, words):
    """The entries at the end of the transcript that matter.

    The host writes it while the hook starts; it is given a moment for `words`: in a chain the last ones, since the
    tool calls of the turn come before them, and else a new prompt's id.
    """
    try:
        fd = open_file(path, posix.O_RDONLY)
    except (OSError, ValueError):
        return []
    data, offset, size = wait_for(fd, state, words)
    if size < state.tx:  # another file
        state.tx, state.ring = 0, []
    lines = data.split(b"\n")
    entries = entries_of(lines, offset, state.tx)
    state.tx = size if is_whole(lines[-1]) else size - len(lines[-1])
    return entries


def wait_for(fd, state, words):
    """The end of the file once it has these words after the last stop, or after a moment; its offset, the size."""
    for wait in WAITS:
        size = posix.fstat(fd).st_size
        offset = max(0, size - TAIL_LIMIT)
        data = posix.pread(fd, TAIL_LIMIT, offset)
        if words in data[max(0, state.tx - offset) :]:
            break
        time.sleep(wait)
    return data, offset, size


def entries_of(lines, offset, read_so_far):
    """The entries in these lines, the first of which begins at an offset in the file."""
    entries = []
    for line in lines:
        values = values_of(line)
        if values and not values.get("isSidechain"):
            entries.append(Entry(line, values, offset >= read_so_far))
        offset += len(line) + 1
    return entries


def values_of(line):
    """What a line says; None if it does not matter, or is cut by the window."""
    if line[-1:] != b"}" or not any(mark in line for mark in MARKS):
        return None
    try:
        return parse(line, "replace")
    except ValueError:
        return None


def is_whole(line):
    """Whether the last line is an entry; else it is empty, or the rest of it is still to come."""
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
    """Is this a user's entry? Stop hooks' feedback (isMeta) and tool results are none; Droid marks its own so."""
    user = entry.values.get("type") == "user" or b'"interactionMode"' in entry.line
    return user and not entry.values.get("isMeta") and b'"tool_result"' not in entry.line


def last_prompt(entries, turn=""):
    """The user's entry that began a turn, as its line; the last one where none has the turn's id."""
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
    """The end of what the agent said, as bytes that stand in the transcript unescaped; empty if there are none."""
    words = first_text(payload, "last_assistant_message").strip()[-24:]
    if words.isascii() and words.isprintable() and not set(words) & set('"\\'):
        return words.encode()
    return b""


def new_prompt(payload, state):
    """The id of a prompt that is new to a known session, as bytes: the entry that has it says who prompted."""
    turn = first_text(payload, "prompt_id")
    if state.turn and turn and digest(turn) != state.turn:
        return turn.encode("utf-8", "replace")
    return b""
