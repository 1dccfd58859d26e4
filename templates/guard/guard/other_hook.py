"""Another tool's hook as a process: its input, its signals and its output."""

import os
import signal
import subprocess
import threading

from .call import INPUT_LIMIT

CHUNK = 1 << 16
GRACE = 1.0  # seconds to wait for output that a process left behind holds open
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Outcome:
    """Exit status, stdout and stderr of the other hook, and the data from our stdin."""

    def __init__(self, status, out, err, data):
        self.status, self.out, self.err, self.data = status, out, err, data


def write(fd, data):
    """Write all of it; False if nobody reads it."""
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(fd, rest) :]
    except OSError:
        return False
    return True


def become(command):
    """Replace this process by the other hook."""
    # Python ignores this signal, and the other hook would inherit that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execv("/bin/sh", ["/bin/sh", "-c", command])


def run(command):
    """Run the other hook with our stdin and signals; if that fails, become it."""
    data = bytearray()
    try:
        child, feeder = begin(command, data)
    except Exception:
        become(command)
    out, err = collect_output(child)
    feeder.join(GRACE)
    return Outcome(child.returncode, out, err, b"" if feeder.is_alive() else bytes(data))


def begin(command, data):
    """Start the other hook and a thread that feeds it and fills `data`; forward our signals.

    The process starts last: if anything fails before, our stdin is unread and no hook runs twice.
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
    """Start the other hook, marked as our child."""
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
    """Pass our stdin on as it comes, and keep as much of it as the guard itself would read."""
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


def collect_output(child):
    """Its stdout and stderr until it ends; a process that it left behind may hold them open."""
    ended = False
    while True:
        try:
            return child.communicate(timeout=GRACE)
        except subprocess.TimeoutExpired as error:
            if ended:
                return error.output or b"", error.stderr or b""
            ended = child.poll() is not None
