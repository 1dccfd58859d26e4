"""The end of the host's transcript of a session: tool calls, and who began the turn."""

import posix
import time

from .files import KIB, open_file
from .tools import is_required
from .values import digest, first_text, parse

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
