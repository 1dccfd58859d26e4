"""Another tool's hook as a process: its input, its signals, and what it says."""

import os
import signal
import subprocess
import threading

from .call import INPUT_LIMIT

CHUNK = 1 << 16
GRACE = 1.0  # seconds that what the other hook left running may hold its output open
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Outcome:
    """Exit status, stdout and stderr of the other hook, and what our stdin had."""

    def __init__(self, status, out, err, data):
        self.status, self.out, self.err, self.data = status, out, err, data


def write(fd, data):
    """Whether somebody took all of it."""
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(fd, rest) :]
    except OSError:
        return False
    return True


def become(command):
    """Become the other hook."""
    signal.signal(
        signal.SIGPIPE, signal.SIG_DFL
    )  # Python ignores it, and so would whoever comes after
    os.execv("/bin/sh", ["/bin/sh", "-c", command])


def run(command):
    """Run the other hook with our stdin; signals go on to it. Where it cannot be begun, become it."""
    data = bytearray()
    try:
        child, feeder = begin(command, data)
    except Exception:
        become(command)
    out, err = output(child)
    feeder.join(GRACE)
    return Outcome(child.returncode, out, err, b"" if feeder.is_alive() else bytes(data))


def begin(command, data):
    """The other hook's process, with our signals going on to it, and the thread that feeds it and fills `data`.

    The process comes last: until then nothing of our stdin is read, and no hook runs twice.
    """
    child, early = None, []

    def send_on(number, _):
        if child:
            child.send_signal(number)
        else:
            early.append(number)

    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, send_on)
    source, sink = os.pipe()
    begun = threading.Event()
    feeder = threading.Thread(target=feed, args=(begun, sink, data), daemon=True)
    feeder.start()
    child = start(command, source)
    os.close(source)
    begun.set()
    for number in early:
        child.send_signal(number)
    return child, feeder


def start(command, source):
    """The other hook's process, marked as a child of ours."""
    return subprocess.Popen(
        ["/bin/sh", "-c", command],
        bufsize=0,
        stdin=source,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ, HOOKCTL_CHILD="1"),
        close_fds=False,
    )


def feed(begun, pipe, data):
    """Give the other hook our stdin as it comes, and remember as much of it as the hook itself would read."""
    begun.wait()
    wanted = True
    try:
        for piece in iter(lambda: os.read(0, CHUNK), b""):
            if len(data) <= INPUT_LIMIT:
                data += piece
            wanted = wanted and write(pipe, piece)
    except OSError:
        pass
    os.close(pipe)


def output(child):
    """What it says until it has ended; what it leaves running may hold its output open longer, as long as it likes."""
    ended = False
    while True:
        try:
            return child.communicate(timeout=GRACE)
        except subprocess.TimeoutExpired as error:
            if ended:
                return error.output or b"", error.stderr or b""
            ended = child.poll() is not None
