"""Dispatch: a tool call that is repeated too often is refused, always with the same words.

After dispatch_end refusals of one call in a session the host is asked to end its turn, where it can
do that. A person's prompt starts again, and so does another call that runs; a new window does not.
"""

from .call import event_call, is_disabled, read_clock, read_own_call, read_turn, start_timer
from .files import KIB, digest, digest_bytes, dump, first_text, save_object
from .hosts import printable, say
from .state import RING_LIMIT, UNCOUNTED, Session, log, open_state, read_session

MOST_KEYS = 16 * KIB  # even if dispatch_max_keys is higher
FILE_LIMIT = 64 * MOST_KEYS  # dispatch.json
EVERY = 100  # refused calls that one line of the log stands for, at most
LONGEST_ID = 64  # of a tool call
ENTRY = [str, int, dict, str]  # of a session; 0.2.0 had no fourth
ENDED = (
    "hookctl guard: asked the client to end the turn, since the same call of %s was refused %s. "
    "Send a prompt to go on."
)


def on_dispatch(call):
    """Refuse a listed tool's call that was made too often; ignore everything else."""
    read_own_call(call)
    if is_disabled(call.locked):
        return
    if not call.readable or call.host is None:
        log(call, "allow", "config_error" if call.readable else "no_input", UNCOUNTED)
        return
    name, arguments = event_call(call.payload)
    if not is_counted(call, name, arguments):
        return
    key = digest(dump([name, arguments]))
    path, stored = open_counts(call)
    state, is_refused, is_new = count_call(call, stored, key)
    refusals, went_on = 0, False
    if call.settings.dispatch_end > 0:
        state["refused"], refusals, went_on = count_refusals(call, stored, key, is_refused, is_new)
    is_last = is_new and refusals == call.settings.dispatch_end > 0
    if is_last and state["trips"] > state["told"]:
        state["telling"] = state["trips"]
    start_timer(0)  # a call that is counted is answered too
    save_object(path, state)  # if that fails, the call runs
    if is_refused:
        refuse(call, name, refusals)
    call.answered = True
    if went_on:
        log(call, "counted", "went_on", UNCOUNTED)
    if "telling" in state:
        tell(call, path, state)
    if is_last:
        decision = "end" if call.host.refuse_end else "counted"
        log(call, decision, "dispatch_refused", UNCOUNTED)


def refuse(call, name, refusals):
    """Refuse the call, and ask for the end of the turn if that was often and the host has it."""
    if 0 < call.settings.dispatch_end <= refusals and call.host.refuse_end:
        times = "once" if refusals == 1 else str(refusals) + " times"
        say(call.host.refuse_end, ENDED % (printable(name), times))
    else:
        say(call.host.refuse, call.settings.dispatch_reason)


def is_counted(call, name, arguments):
    """Are calls of this tool counted here, and can they be refused?"""
    settings = call.settings
    listed = name and (name in settings.dispatch_tools or "*" in settings.dispatch_tools)
    if (
        not listed
        or arguments is None
        or settings.dispatch_max <= 0
        or settings.dispatch_window_s <= 0
    ):
        return False
    if not call.host.refuse:
        return False
    return bool(call.session) or settings.dispatch_scope == "project"


def open_counts(call):
    """The state file with the counts, and what is stored in it; locked."""
    own = session_of_counts(call)
    return open_state(call, own + ".calls" if own else "dispatch.json", FILE_LIMIT)


def session_of_counts(call):
    """The session whose calls are counted by themselves, as a hash; empty: those of a project."""
    return digest(call.session) if call.settings.dispatch_scope == "session" else ""


def count_call(call, stored, key):
    """Count this call: the new state, is the call one too many, and was it not counted before?

    A window allows dispatch_max identical calls from the first on. A call that several
    registrations ask about is counted once, as a stop is. The log tells of a window's first
    refusal, then of every hundred, and of the rest when a window is over.
    """
    call.now = read_clock(call.locked)  # another process may have begun a window while we waited
    known = read_windows(stored)
    windows = {name: known[name] for name in known if not is_over(known[name][0], call)}
    start, count = windows.get(key, (call.now, 0))
    if not is_open(start, call):
        start, count = call.now, 0
    asked, counted_before = note_registration(call, stored)
    if not counted_before:
        count += 1
    refused = count > call.settings.dispatch_max
    trips = read_count(stored, "trips", 0)
    told = count_told(call.folder, session_of_counts(call), stored)
    is_new = refused and not counted_before
    since, until = note_times(call, stored, trips > told, is_new)
    trips += is_new
    is_first = count == call.settings.dispatch_max + 1
    is_due = is_first or len(windows) < len(known) or trips - told >= EVERY
    windows = make_room({**windows, key: [start, count]}, key, call)
    state = {"w": windows, "trips": trips, "told": told, "asked": asked}
    state.update(since=since, until=until)
    if is_due and trips > told:
        state["telling"] = trips
    return state, refused, not counted_before


def note_times(call, stored, has_untold, is_new):
    """The times of the first and the last refused call that are not in the log yet."""
    now = int(call.now)
    since = read_count(stored, "since", now) if has_untold else now
    return since, now if is_new else read_count(stored, "until", now)


def tell(call, path, state):
    """Log the refused calls that are due.

    The state names them before the line is written, and notes the line afterwards. So after a kill
    at any point, the next call neither loses them nor logs them twice.
    """
    trips = state.pop("telling")
    line = dict(UNCOUNTED, refusals=trips - state["told"], trips=trips)
    for name in ("since", "until"):  # when these calls came, if not at the time of the line
        if state[name] != int(call.now):
            line[name] = state[name]
    log(call, "refuse", "dispatch_refused", line)
    save_object(path, dict(state, told=trips))


def count_told(folder, session, stored):
    """The number of refused calls in the log; a killed call may have written its line."""
    told = read_count(stored, "told", read_count(stored, "trips", 0))
    telling = read_count(stored, "telling", told)
    if telling > told:
        from .rotation import has_line

        if has_line(folder, session, telling):
            return telling
    return told


def read_count(stored, name, default):
    """A stored number."""
    return stored[name] if type(stored.get(name)) is int else default


def note_registration(call, stored):
    """The registrations that asked, with this one; and whether another asked about this call."""
    mine = call.key + digest(call.config_path)
    asked = stored.get("asked") if type(stored.get("asked")) is list else []
    asked = [ask for ask in asked if type(ask) is str]
    of_other_calls = [ask for ask in asked if ask[:16] != call.key]
    if mine in asked:  # it asks again: about a new call, equal to the last
        asked = of_other_calls
    return [*asked, mine][-RING_LIMIT:], asked != of_other_calls


def read_windows(stored):
    """The stored windows: start and count, by the hash of the call."""
    windows = {}
    if type(stored.get("w")) is dict:
        for key, window in stored["w"].items():
            if type(window) is list and tuple(map(type, window)) in ((int, int), (float, int)):
                windows[key] = window
    return windows


def is_open(start, call):
    """Is a window that began then still open?"""
    return 0 <= call.now - start < call.settings.dispatch_window_s


def is_over(start, call):
    """Is a window that began then over? One in the future (a clock was set back) is not."""
    return call.now - start >= call.settings.dispatch_window_s


def make_room(windows, key, call):
    """If there are too many windows, drop all that are not open, then the oldest."""
    room = min(max(call.settings.dispatch_max_keys, 1), MOST_KEYS) - 1
    others = [name for name in windows if name != key]
    if len(others) > room:
        others.sort(key=lambda name: (is_open(windows[name][0], call), windows[name][0], name))
        others = [name for name in others[len(others) - room :] if is_open(windows[name][0], call)]
    return {name: windows[name] for name in [*others, key]}


def count_refusals(call, stored, key, is_refused, is_new):
    """What to store of each session, how often this one was refused this call, and did it go on?

    It went on if the model was asked again after a call that was to end its turn.
    """
    sessions = read_sessions(stored)
    name = digest(call.session + " " + call.agent)
    last_turn, _, counts, asked = sessions.pop(name, ("", 0, {}, ""))
    went_on = has_gone_on(call, asked) if asked and is_new else None
    if went_on is not None:
        asked = ""
    turn = last_turn
    if is_refused:
        turn = find_turn(call, last_turn)
        if turn != last_turn:
            counts = {}
        counts[key] = counts.get(key, 0) + is_new
        if is_new and counts[key] == call.settings.dispatch_end and call.host.refuse_end:
            asked = first_text(call.payload, "tool_use_id")[:LONGEST_ID]
    else:
        counts = {key: counts[key]} if key in counts else {}
    if counts or asked:
        sessions[name] = [turn, int(call.now), drop_lowest(counts), asked]
    while len(sessions) > RING_LIMIT:
        del sessions[min(sessions, key=lambda other: sessions[other][1])]
    return sessions, counts.get(key, 0) if is_refused else 0, went_on


def read_sessions(stored):
    """The stored sessions: the turn, the time, the refusals of each call by its hash, and the call
    that asked for the end of the turn.
    """
    sessions = {}
    if type(stored.get("refused")) is dict:
        for name, entry in stored["refused"].items():
            if type(entry) is list and [*map(type, entry)] in (ENTRY, ENTRY[:3]):
                counts = {key: count for key, count in entry[2].items() if type(count) is int}
                sessions[name] = [*entry[:2], counts, *(entry[3:] or [""])]
    return sessions


def has_gone_on(call, asked):
    """Did the model reply again after this call, before any prompt? None: not known yet.

    Calls of one reply come one after another, so only the transcript of a host that names its
    replies can tell; and it may be written a moment later.
    """
    from .progress import is_prompt, read_tail

    reply = ""
    for entry in read_tail(call.transcript, Session(), b""):
        if reply and is_prompt(entry):
            return False
        message = entry.values.get("message")
        if type(message) is not dict or message.get("role") != "assistant":
            continue
        name = first_text(message, "id")
        if asked.encode("utf-8", "replace") in entry.line:
            reply = name
        elif reply and name != reply:
            return True
    return None


def drop_lowest(counts):
    """At most so many calls: those that were refused most often."""
    highest = sorted(counts, key=lambda key: (-counts[key], key))
    return {key: counts[key] for key in highest[:RING_LIMIT]}


def find_turn(call, known):
    """A name for this turn; `known` if no person has sent a prompt since that one."""
    from .progress import is_wake_up, last_prompt, read_tail

    payload = call.payload
    extra = payload.get("extra") if type(payload.get("extra")) is dict else {}  # Hermes
    turn = read_turn(payload) or first_text(extra, "turn_id")
    if turn and known in ("", digest(turn)):
        return digest(turn)
    state = read_session(call.folder, digest(call.session))
    if state.prompts and not turn:
        is_own = state.latest[16:] == ""
        return str(state.prompts) if is_own or not known else known
    words = turn.encode("utf-8", "replace")
    line = last_prompt(read_tail(call.transcript, Session(), words), turn)
    if known and is_wake_up(line):
        return known
    return digest(turn) if turn else digest_bytes(line)
