"""What the guard keeps: of each session one locked file, of each project a log.

The log has one line for each stop, with numbers and hashes only. Refused calls share lines; each
says how many it stands for.
"""

import fcntl
import posix
import time

from .files import (
    FILE_LIMIT,
    KIB,
    digest,
    dump,
    exists,
    make_folder,
    open_file,
    read_object,
    save_object,
)

RING_LIMIT = 32
SWEEP_AFTER = 30 * 24 * 3600
PAUSE = 0.005  # seconds between two looks at a lock that is held

SESSION = {
    "blocks": 0,  # since progress
    "attempts": 0,  # stops since progress
    "total": 0,  # blocks of all hooks since the last human prompt; above the ceiling after it
    "open": False,  # the latch: a release stays open until there is progress
    "nudges": 0,  # since the last human prompt
    "terminal": False,  # a required tool was called since then
    "called": False,  # a required tool was called since the last stop
    "task": "",  # for which one was called, as a hash of the variable that names it
    "ignored": False,  # a reminder was, since the last human prompt
    "asked": False,  # prompts come as events
    "prompt": "",  # the last one since the last stop; with a trailing blank: not a person's
    "prompts": 0,  # how many came as events without an id of their turn
    "latest": "",  # the last of these, in the same form
    "loops": 0,  # how often the host had gone on for a hook
    "trips": 0,
    "soft": 0,  # soft progress since the last hard one
    "streak": 0,  # stops in a row without progress, forced by any hook
    "host": 0,  # blocks in a row as the host counts them
    "hb": "",  # the heartbeat's hash
    "rem": -1,  # how much work remained
    "tx": 0,  # how far the transcript was read
    "acts": 0,  # tool calls that count
    "acts_seen": -1,  # the same at the last stop; -1 before the first
    "ran": False,  # any tool call since the last stop
    "ledger": False,  # tool calls come as events
    "ring": [],  # the last tool calls
    "turn": "",
    "stop": "",  # the last stop, which of our registrations answered it, and how
    "by": [],
    "said": [],
    "work": 0,  # when this session was last at work that was not stale
    "t": 0,
}
COUNTERS = ("blocks", "attempts", "total", "nudges", "soft", "streak", "host", "acts")
LOG_LIMIT = 256 * KIB
UNCOUNTED = {"blocks": None, "attempts": None, "progress": None}


class Session:
    """A session's values under the names above."""

    def __init__(self, stored=None):
        self.__dict__.update(SESSION, ring=[], by=[], said=[])
        self.__dict__.update(keep_usable(stored or {}))


def keep_usable(stored):
    """The values of the right type; none at all if a counter is below 0: we never write that."""
    values = {}
    for name, value in stored.items():
        if type(value) is type(SESSION.get(name)):
            values[name] = value
    if any(values.get(name, 0) < 0 for name in COUNTERS):
        return {}
    return values


def open_state(call, name, limit=FILE_LIMIT):
    """Path and content of a state file, locked until the process ends; else BlockingIOError."""
    make_folder(call.folder)
    path = call.folder + "/" + name
    lock(path + ".lock", call.lock_s)
    try:
        return path, read_object(path, limit)
    except FileNotFoundError:
        sweep(call)
    except (OSError, ValueError):
        pass
    return path, {}


def lock(path, seconds):
    """Lock a file until the process ends, or its number is closed; else BlockingIOError."""
    # Truncating updates its time.
    fd = open_file(path, posix.O_RDWR | posix.O_CREAT | posix.O_TRUNC)
    end = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return fd
        except BlockingIOError:
            if time.monotonic() >= end:
                posix.close(fd)
                raise
            time.sleep(PAUSE)


def lock_claim(call):
    """Lock the project's claim until the process ends; BlockingIOError after some time."""
    make_folder(call.project_folder)
    lock(call.project_folder + "/taken.lock", call.lock_s)


def open_session(call, suffix=".json"):
    """Path and values of this call's session, locked."""
    path, stored = open_state(call, digest(call.session) + suffix)
    return path, Session(stored)


def read_session(folder, hash):
    """The values of a session as its events have left them; not locked."""
    try:
        return Session(read_object(folder + "/" + hash + ".json"))
    except (OSError, ValueError):
        return Session()


def answer_once(call, path, state, decide):
    """Decide a stop in `state.said`, unless another of our registrations has decided it.

    Returns the line for the log (None if another has decided), and whether the answer is saved.
    """
    line, asked_by = None, digest(call.config_path)
    if state.stop != call.key or asked_by in state.by:  # a new stop, or one equal to the last
        line = decide()
        state.stop, state.by = call.key, []
    state.by.append(asked_by)
    try:
        save_session(path, state, call.now)
    except OSError as error:
        call.failure = error
        return line, False
    return line, True


def save_session(path, state, now):
    """Write the session's values; OSError if that fails."""
    state.t = int(now)
    del state.ring[:-RING_LIMIT]
    save_object(path, vars(state))


def sweep(call):
    """Remove files of sessions that were not used for a month."""
    now = min(call.now, time.time())
    for name in posix.listdir(call.folder):
        path = call.folder + "/" + name
        try:
            if name[16:17] == "." and now - posix.lstat(path).st_mtime > SWEEP_AFTER:
                posix.unlink(path)
        except OSError:
            pass  # another hook sweeps too


def log(call, decision, code, line):
    """Write a line; begin a new file if this one is full."""
    line = dict(
        line, t=int(call.now), host=call.host_name, event=call.event, decision=decision, code=code
    )
    line["session"] = digest(call.session) if call.session else None
    data = (dump(line) + "\n").encode()
    folder = call.folder if call.named else call.guard
    try:
        append(folder, data, call.named and call.project)
    except OSError:  # perhaps there is still room in the folder above
        append(call.guard, data)


def append(folder, data, project=""):
    """Add a line to the log in a folder."""
    path = folder + "/events.jsonl"
    make_folder(folder, project)
    if exists(path) and posix.lstat(path).st_size + len(data) > LOG_LIMIT:
        from .rotation import rotate

        rotate(folder, LOG_LIMIT - len(data))
    posix.write(open_file(path, posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT), data)
