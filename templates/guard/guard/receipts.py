"""A receipt for each run of a hook: one line of runs.jsonl, and exact totals for each hook.

No prompt, argument or output is kept.
"""

import posix

from .files import KIB, dump, exists, make_folder, open_file, parse

LOG_LIMIT = 1024 * KIB
FILE, TOTALS = "runs.jsonl", "run-totals.json"
# Upper ends of the buckets in milliseconds; the twelfth holds all that took longer.
BUCKETS = (10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000)
FAILED = ("failed", "timeout")
HOOK = ("host", "event", "id")
BEGIN = b'{"bytes":'  # of every receipt: its keys are sorted, and no text in it has this


def write_receipt(folder, line):
    """Add the line; begin a new file if this one is full. OSError if it cannot be written."""
    make_folder(folder)
    path = folder + "/" + FILE
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
    from .rotation import rotate

    try:
        rotate(folder, room, describe_log())
    except OSError:
        return  # another process was faster


def describe_log():
    """The file of receipts, its totals, and how a line is counted."""
    from .rotation import Log

    return Log(FILE, TOTALS, add_run, 2 * LOG_LIMIT)


def last_part(data):
    """The receipt at the end of a line of the file.

    One that was cut short, by a kill or a full disk, has no end: the next one follows it.
    """
    return data[max(0, data.rfind(BEGIN)) :]


def read_run(data):
    """What counts of a line: the hook as it stands in the totals, and the run's values.

    None for a line that counts for nothing.
    """
    try:
        line = parse(last_part(data))
    except ValueError:
        return None
    names = [line.get(name) for name in HOOK]
    if any(type(name) is not str or not name or " " in name for name in names):
        return None
    ms, size, at = (line.get(name) for name in ("ms", "bytes", "t"))
    if type(ms) is not int or type(size) is not int or min(ms, size) < 0 or line.get("fired"):
        return None
    if type(at) is not int or at < 0:  # an odd clock costs no run
        at = 0
    return " ".join(names), ms, size, at, line.get("outcome") in FAILED


def add_run(counts, data):
    """Count a line of the file."""
    run = read_run(data)
    if run is not None:
        count_run(counts, run)


def count_run(counts, run):
    """Count a run by its hook: runs, failures, milliseconds, bytes, its bucket; and when it was."""
    hook, ms, size, at, has_failed = run
    bucket = sum(ms > end for end in BUCKETS)
    counted = {"runs": 1, "failures": int(has_failed), "ms": ms, "bytes": size, f"le{bucket}": 1}
    for name, number in counted.items():
        if number:
            counts[hook + " " + name] = counts.get(hook + " " + name, 0) + number
    if at > counts.get(hook + " t", 0):
        counts[hook + " t"] = at
