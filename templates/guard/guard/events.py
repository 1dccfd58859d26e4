"""Events beside the stop, on hosts whose stop does not tell of prompts and tool calls."""

from .answers import wording
from .call import read_call, read_input
from .policies import silent_gate
from .progress import begin_turn, is_blocked
from .state import Session, open_session, save_session
from .tools import count_call, event_call, is_required
from .transcript import is_wake_up, last_prompt, read_tail
from .values import digest, dump, first_text


def on_prompt(event, host):
    """Remember a prompt until the next stop, which shows whether it began a turn; one with an id begins it now."""
    call = read_call(event, host, read_input)
    text = first_text(call.payload, "prompt", "message")
    turn = first_text(call.payload, "prompt_id", "turn_id")
    if silent_gate(call) or not (text or turn):
        return
    path, state = open_session(call)
    human = not is_wake_up(dump({"prompt": text}).encode())
    if is_blocked(state) and wording(call, *state.said) in text:
        pass  # what we said ourselves
    elif not turn:
        state.prompt = digest(text) + ("" if human else " ")
    elif not call.host.turn_of_each_call or digest(turn) != state.turn:
        begin_turn(state, digest(turn), human)
    state.asked = True
    save_session(path, state, call.now)


def on_tool(event, host):
    """Count a tool call that has run; one with a new turn's id begins that."""
    call = read_call(event, host, read_input)
    if silent_gate(call):
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
    save_session(path, state, call.now)
