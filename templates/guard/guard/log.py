"""The log: one line for each stop in events.jsonl, with numbers and hashes only.

Refused calls share lines; each says how many it stands for.
"""

import posix

from .files import KIB, exists, make_folder, open_file
from .values import digest, dump

LOG_LIMIT = 256 * KIB
UNCOUNTED = {"blocks": None, "attempts": None, "progress": None}


def log(call, decision, code, line):
    """Write a line; begin a new file if this one is full."""
    line = dict(
        line, t=int(call.now), host=call.host_name, event=call.event, decision=decision, code=code
    )
    line["session"] = digest(call.session) if call.session else None
    data = (dump(line) + "\n").encode()
    folder = call.folder if call.named else call.guard
    try:
        append(folder, data)
    except OSError:  # perhaps there is still room in the folder above
        append(call.guard, data)


def append(folder, data):
    """Add a line to the log in a folder."""
    path = folder + "/events.jsonl"
    make_folder(folder)
    if exists(path) and posix.lstat(path).st_size + len(data) > LOG_LIMIT:
        from .rotation import rotate

        rotate(folder, LOG_LIMIT - len(data))
    posix.write(open_file(path, posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT), data)
