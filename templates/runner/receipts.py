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


def write_receipt(call, line):
    """Add the line; begin a new file if this one is full. OSError if it cannot be written."""
    folder = call.folder
    make_folder(folder, call.project)
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
    """What find_run says of a line of the file."""
    try:
        return find_run(parse(last_part(data)))
    except ValueError:
        return None


def find_run(line):
    """The hook of a receipt as the totals name it, and the receipt; None if it does not count."""
    names = [line.get(name) for name in HOOK]
    for name in names:
        if type(name) is not str or not name or " " in name:
            return None
    ms, size = line.get("ms"), line.get("bytes")
    if type(ms) is not int or type(size) is not int or min(ms, size) < 0 or line.get("fired"):
        return None
    if type(line.get("t")) is not int or line["t"] < 0:  # an odd clock costs no run
        line["t"] = 0
    return " ".join(names), line


def add_run(counts, data):
    """Count a line of the file."""
    run = read_run(data)
    if run is not None:
        count_run(counts, *run)


def count_run(counts, hook, line):
    """Count a run by its hook: runs, failures, milliseconds, bytes, its bucket; and when it was."""
    bucket = 0
    while bucket < len(BUCKETS) and line["ms"] > BUCKETS[bucket]:
        bucket += 1
    counted = {"runs": 1, "failures": int(line.get("outcome") in FAILED), f"le{bucket}": 1}
    counted.update(ms=line["ms"], bytes=line["bytes"])
    for name, number in counted.items():
        if number:
            counts[hook + " " + name] = counts.get(hook + " " + name, 0) + number
    if line["t"] > counts.get(hook + " t", 0):
        counts[hook + " t"] = line["t"]
