"""Prompts, tool calls that have run, and the start of a session.

Prompt and tool events are for hosts whose stop does not tell about prompts and tool calls.
"""

from .call import event_call, read_own_call, read_turn, reason_to_ignore, reason_to_skip
from .files import digest, dump, first_text
from .hosts import FILES, fill, fill_own, list_values, say, word_answer
from .progress import (
    begin_turn,
    count_call,
    is_blocked,
    is_required,
    is_wake_up,
    last_prompt,
    read_tail,
)
from .state import Session, open_session, save_session
from .work import is_concluded, read_task, reason_to_allow, touch_work, was_cut_off

LONGEST = 1200  # characters
SAME_RUN = ("compact", "clear")  # the agent itself has not ended
CUT_OFF = "The last run here was cut off, so first look at what is done and what is half done. "
TEXTS = {
    "breaker": "Work remains in this project ({remaining}), and you are kept at it until it is "
    "done. Continue with the next step. As it gets less, {less}. {wait}",
    "keepalive": "A run is going on in this project until the person who started it ends it. "
    "Continue with the next step. {wait}",
}


def on_prompt(call):
    """Remember a prompt until a stop shows if it began a turn; with an id it begins one now."""
    read_own_call(call)
    text = prompt_text(call.payload)
    turn = read_turn(call.payload)
    if is_unneeded(call) or not (text or turn):
        return
    path, state = open_session(call)
    human = not is_wake_up(dump({"prompt": text}).encode())
    if is_blocked(state) and word_answer(call, *state.said) in text:
        pass  # our own text
    elif not turn:
        state.prompt = state.latest = digest(text) + ("" if human else " ")
        state.prompts += 1
    elif not call.host.turn_of_each_call or digest(turn) != state.turn:
        begin_turn(state, digest(turn), human)
    state.asked = True
    keep_work(call, state)
    save_session(path, state, call.now)


def prompt_text(payload):
    """The text of a prompt, which may come in parts."""
    parts = payload.get("prompt")
    if type(parts) is list:
        return "\n".join(first_text(part, "text") for part in parts if type(part) is dict)
    return first_text(payload, "prompt", "message")


def on_tool(call):
    """Count a tool call that has run; a new turn's id begins that turn."""
    read_own_call(call)
    if is_unneeded(call):
        return
    path, state = open_session(call)
    turn = read_turn(call.payload)
    if turn and digest(turn) != state.turn:
        entries = read_tail(call.transcript, Session(vars(state)), b"")
        begin_turn(state, digest(turn), not is_wake_up(last_prompt(entries, turn)))
    name, arguments = event_call(call.payload)
    count_call(state, name, arguments, call.settings.action_novelty)
    if is_required(call.settings, name):
        state.terminal = state.called = True
    state.ran = state.ledger = True
    keep_work(call, state)
    save_session(path, state, call.now)


def is_unneeded(call):
    """Does nothing here count this event?

    In mode off and in a child too, a wrapped hook does, and so do refused calls.
    """
    if reason_to_skip(call) or call.subagent:
        return True
    if call.settings.dispatch_end > 0 and call.settings.dispatch_tools:
        return False
    return bool(reason_to_ignore(call)) and call.config.get("wraps") is not True


def keep_work(call, state):
    """Note that the session is at work, if the guard looks after it."""
    if not reason_to_ignore(call):
        touch_work(call, state)


def on_session_start(call):
    """Tell the agent what work waits; silent if there is none, or another session holds it."""
    read_own_call(call)
    settings = call.settings
    if reason_to_ignore(call) or not settings.guidance or settings.mode not in TEXTS:
        return
    _, remaining = read_task(call)
    if not call.host.context or not (call.keepalive or remaining > 0):
        return
    if reason_to_allow(call, remaining) or is_concluded(call):
        return
    values = list_values(call, 0, remaining)
    if settings.guidance_text:
        text = fill(settings.guidance_text, values)
    else:
        text = TEXTS[settings.mode]
        if remaining <= 0:  # then `hookctl run wait` ends at once
            text = text.replace("{wait}", FILES["{wait}"])
        text = fill_own(call, text, values)
    is_same = call.payload.get("source") in SAME_RUN
    if call.keepalive and not is_same and was_cut_off(call):
        text = CUT_OFF + text
    say(call.host.context, text[:LONGEST])


HANDLERS = {"prompt": on_prompt, "post-tool": on_tool, "session-start": on_session_start}
