"""A new file for a log that is full, and totals of the lines that go with the oldest file.

Lines stand in events.jsonl, then in events.jsonl.1, then only in the counts of totals.json; those
of runs.jsonl alike.
"""

import fcntl
import posix

from .files import KIB, open_file, parse, read_file, read_object, save_object

MOST = 1024 * KIB  # that is read of an old file, or of the totals
KINDS = ("host", "event", "decision", "code")


class Log:
    """A log's file and totals, and the function that adds one of its lines to counts.

    `most` is what is read of its old file: more than its limit, which calls at once may exceed.
    """

    def __init__(self, file, totals, add_line, most=MOST):
        self.file, self.totals, self.add_line, self.most = file, totals, add_line, most


def rotate(folder, room, log=None):
    """Move a log away if it is longer than `room` bytes; only one process does at a time."""
    log = log or EVENTS
    path = folder + "/" + log.file
    fd = open_file(path, posix.O_RDWR)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = posix.fstat(fd)
        is_full = status.st_ino == posix.lstat(path).st_ino and status.st_size > room
        if is_full and (keep_totals(folder, log) or status.st_size > log.most):
            posix.rename(path, path + ".1")
    except (BlockingIOError, FileNotFoundError):
        pass
    finally:
        posix.close(fd)


def identify(status):
    """A file that was counted; its name may pass to another."""
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"


def counted_size(totals, status):
    """How many bytes of a file are in the totals already.

    A call that had opened the log before it was moved away may add a line after it was counted. No
    two old files in a row are the same inode, since the first is there until the second has its
    place.
    """
    words = (totals["file"] if type(totals["file"]) is str else "").split(" ")
    size = int(words[1]) if len(words) == 3 and words[1].isdecimal() else 0
    return size if words[0] == str(status.st_ino) and size <= status.st_size else 0


def keep_totals(folder, log=None):
    """Add the lines of the oldest file to the totals, once, even if we are killed right after.

    False if the totals cannot be written: then no line is to go.
    """
    log = log or EVENTS
    try:
        fd = open_file(folder + "/" + log.file + ".1", posix.O_RDONLY)
    except (OSError, ValueError):
        return True
    status = posix.fstat(fd)
    data = posix.read(fd, min(status.st_size, log.most))
    posix.close(fd)
    totals, file = read_totals(folder, log), identify(status)
    if totals["file"] != file:
        counts = totals["counts"]
        for line in data[counted_size(totals, status) :].splitlines():
            log.add_line(counts, line)
        try:
            save_object(folder + "/" + log.totals, {"file": file, "counts": counts})
        except OSError:
            return False
    return True


def has_line(folder, session, trips):
    """Does the log have the line with this number of refused calls, of this session if given?"""
    for name in ("/events.jsonl", "/events.jsonl.1"):
        try:
            data = read_file(folder + name, MOST)
        except (OSError, ValueError):
            continue
        for part in data.splitlines():
            if b'"trips"' in part and is_line_of(part, session, trips):
                return True
    return False


def is_line_of(data, session, trips):
    """Is this the line with this number of refused calls, of this session if one is given?"""
    try:
        line = parse(data)
    except ValueError:
        return False
    return line.get("trips") == trips and session in ("", line.get("session"))


def read_totals(folder, log=None):
    """The counts by their names, and the file that was added last."""
    try:
        stored = read_object(folder + "/" + (log or EVENTS).totals, MOST)
    except (OSError, ValueError):
        stored = {}
    counts = {}
    if type(stored.get("counts")) is dict:
        for name, count in stored["counts"].items():
            if type(count) is int and count > 0:
                counts[name] = count
    return {"file": stored.get("file"), "counts": counts}


def add_line(counts, data):
    """Count a line of the log; a refusal stands for several calls."""
    try:
        line = parse(data)
    except ValueError:
        return
    kinds = [line.get(kind) for kind in KINDS]
    if any(type(kind) is not str or not kind or " " in kind for kind in kinds):
        return
    number = line.get("refusals", 1)
    if type(number) is int and number > 0:
        add(counts, " ".join(kinds), number)
    if line.get("ignored") is True:
        add(counts, kinds[0] + " " + kinds[1] + " ignored", 1)


def add(counts, name, number):
    """Count more of one kind."""
    counts[name] = counts.get(name, 0) + number


EVENTS = Log("events.jsonl", "totals.json", add_line)
