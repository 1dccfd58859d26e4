"""Prompt and tool events, for hosts whose stop does not tell about prompts and tool calls."""

from .answers import word_answer
from .call import read_call, read_input
from .files import exists
from .owner import touch_work
from .policies import reason_to_ignore, reason_to_skip
from .progress import begin_turn, is_blocked
from .state import Session, open_session, save_session
from .tools import count_call, event_call, is_required
from .transcript import is_wake_up, last_prompt, read_tail
from .values import digest, dump, first_text


def on_prompt(event, host):
    """Remember a prompt until a stop shows if it began a turn; with an id it begins one now."""
    call = read_call(event, host, read_input)
    text = first_text(call.payload, "prompt", "message")
    turn = first_text(call.payload, "prompt_id", "turn_id")
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


def on_tool(event, host):
    """Count a tool call that has run; a new turn's id begins that turn."""
    call = read_call(event, host, read_input)
    if is_unneeded(call):
        return
    path, state = open_session(call)
    turn = first_text(call.payload, "prompt_id", "turn_id")
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
    return bool(reason_to_ignore(call)) and not exists(call.beside + "/wrap.py")


def keep_work(call, state):
    """Note that the session is at work, if the guard looks after it."""
    if not reason_to_ignore(call):
        touch_work(call, state)
