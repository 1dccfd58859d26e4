"""A receipt for each run of a hook: one line of runs.jsonl, and exact totals for each hook.

No prompt, argument or output is kept.
"""

import posix

from .files import KIB, dump, exists, make_folder, open_file, parse

LOG_LIMIT = 1024 * KIB
# Upper ends of the buckets in milliseconds; the twelfth holds all that took longer.
BUCKETS = (10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000)
FAILED = ("failed", "timeout")


def write_receipt(folder, line):
    """Add the line; begin a new file if this one is full. OSError if it cannot be written."""
    make_folder(folder)
    path = folder + "/runs.jsonl"
    data = (dump(line) + "\n").encode()
    if exists(path) and posix.lstat(path).st_size + len(data) > LOG_LIMIT:
        turn_over(folder, LOG_LIMIT - len(data))
    fd = open_file(path, posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT)
    try:
        posix.write(fd, data)
    finally:
        posix.close(fd)


def turn_over(folder, room):
    """Begin a new file if the log is longer than `room` bytes."""
    from .rotation import Log, rotate

    try:
        rotate(folder, room, Log("runs.jsonl", "run-totals.json", add_run, 2 * LOG_LIMIT))
    except OSError:
        return  # another process was faster


def add_run(counts, data):
    """Count a line by host, event and hook: runs, failures, milliseconds, bytes and its bucket."""
    try:
        line = parse(data)
    except ValueError:
        return
    names = [line.get(name) for name in ("host", "event", "id")]
    if any(type(name) is not str or not name or " " in name for name in names):
        return
    ms, size = line.get("ms"), line.get("bytes")
    if type(ms) is not int or type(size) is not int or min(ms, size) < 0 or line.get("fired"):
        return
    hook = " ".join(names)
    failed = line.get("outcome") in FAILED
    bucket = sum(ms > end for end in BUCKETS)
    counted = {"runs": 1, "failures": int(failed), "ms": ms, "bytes": size, f"le{bucket}": 1}
    for name, number in counted.items():
        if number:
            counts[hook + " " + name] = counts.get(hook + " " + name, 0) + number
