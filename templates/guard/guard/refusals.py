"""How often each session was refused one call: dispatch_end ends its turn by that.

A person's prompt begins anew, and so does another call that runs; a new window does not.
"""

from .state import RING_LIMIT, Session, read_session
from .values import digest, digest_bytes, first_text


def count_refusals(call, stored, key, is_refused, is_new):
    """What to store of each session, and how often this one was refused this call by now."""
    sessions = read_sessions(stored)
    name = digest(call.session + " " + call.agent)
    turn, _, counts = sessions.pop(name, ("", 0, {}))
    if is_refused:
        known, turn = turn, find_turn(call, turn)
        counts = counts if turn == known else {}
        counts[key] = counts.get(key, 0) + is_new
    else:
        counts = {key: counts[key]} if key in counts else {}
    if counts:
        sessions[name] = [turn, int(call.now), drop_lowest(counts)]
    while len(sessions) > RING_LIMIT:
        del sessions[min(sessions, key=lambda other: sessions[other][1])]
    return sessions, counts.get(key, 0) if is_refused else 0


def read_sessions(stored):
    """The stored sessions: the turn, the time, and the refusals of each call by its hash."""
    sessions = {}
    if type(stored.get("refused")) is dict:
        for name, entry in stored["refused"].items():
            if type(entry) is list and [*map(type, entry)] == [str, int, dict]:
                counts = {key: count for key, count in entry[2].items() if type(count) is int}
                sessions[name] = [entry[0], entry[1], counts]
    return sessions


def drop_lowest(counts):
    """At most so many calls: those that were refused most often."""
    highest = sorted(counts, key=lambda key: (-counts[key], key))
    return {key: counts[key] for key in highest[:RING_LIMIT]}


def find_turn(call, known):
    """A name for this turn; `known` if no person has sent a prompt since that one."""
    from .transcript import is_wake_up, last_prompt, read_tail

    payload = call.payload
    extra = payload.get("extra") if type(payload.get("extra")) is dict else {}  # Hermes
    turn = first_text(payload, "prompt_id", "turn_id") or first_text(extra, "turn_id")
    if turn and known in ("", digest(turn)):
        return digest(turn)
    state = read_session(call)
    if state.prompts and not turn:
        is_own = state.latest[16:] == ""
        return str(state.prompts) if is_own or not known else known
    words = turn.encode("utf-8", "replace")
    line = last_prompt(read_tail(call.transcript, Session(), words), turn)
    if known and is_wake_up(line):
        return known
    return digest(turn) if turn else digest_bytes(line)
