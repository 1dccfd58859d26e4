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
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and so would whoever comes after
    os.execv("/bin/sh", ["/bin/sh", "-c", command])


def run(command):
    """Run the other hook with our stdin; signals go on to it. Where it cannot be begun, become it."""
    try:
        child = begin(command)
    except Exception:
        become(command)
    data = bytearray()
    feeder = threading.Thread(target=feed, args=(child.stdin, data), daemon=True)
    child.stdin = None  # the thread's
    feeder.start()
    out, err = output(child)
    feeder.join(GRACE)
    return Outcome(child.returncode, out, err, b"" if feeder.is_alive() else bytes(data))


def begin(command):
    """The other hook's process, with our signals going on to it."""
    child, early = None, []

    def send_on(number, _):
        if child:
            child.send_signal(number)
        else:
            early.append(number)

    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, send_on)
    child = start(command)
    for number in early:
        child.send_signal(number)
    return child


def start(command):
    """The other hook's process, marked as a child of ours."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        ["/bin/sh", "-c", command],
        bufsize=0,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=dict(os.environ, HOOKCTL_CHILD="1"),
        close_fds=False,
    )


def feed(pipe, data):
    """Give the other hook our stdin as it comes, and remember as much of it as the hook itself would read."""
    wanted = True
    try:
        for piece in iter(lambda: os.read(0, CHUNK), b""):
            if len(data) <= INPUT_LIMIT:
                data += piece
            wanted = wanted and write(pipe.fileno(), piece)
    except OSError:
        pass
    pipe.close()


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
