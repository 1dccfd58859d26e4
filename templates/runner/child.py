"""A command in a process group of its own, with a limit of time, and what it prints."""

import _signal
import posix
import select
import time

CHUNK = 1 << 16
OUTPUT_LIMIT = 1 << 24  # bytes of stdout that are read as an answer
ERROR_LIMIT = 1 << 16  # bytes of stderr that may become a reason
GRACE_S = 0.3  # from the request to end to the kill
LONGEST_WAIT_S = 3600  # at one time; a longer one could be too much for the system
LOOK_S = 0.05  # between two looks at a group that was asked to end
ENDING = (_signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP)


BELL = []  # a descriptor that can be read when a child has ended


class Result:
    """How a command ended: its status (128 + N for a signal), its output, and whether in time."""

    def __init__(self, status, out, err, timed_out=False, overflow=False):
        self.status, self.out, self.err = status, out, err
        self.timed_out, self.overflow = timed_out, overflow


class Interrupted(BaseException):
    """The host asks this process to end."""


class Stream:
    """One of the command's outputs: what is kept of it, and whether more came."""

    def __init__(self, fd, limit):
        self.fd, self.limit, self.data, self.overflow = fd, limit, bytearray(), False

    def read(self):
        """Take what is there; False at the end."""
        try:
            piece = posix.read(self.fd, CHUNK)
        except BlockingIOError:
            return True
        room = self.limit - len(self.data)
        self.data += piece[:room]
        self.overflow = self.overflow or len(piece) > room
        return bool(piece)

    def drain(self):
        """Take what is there already, up to the limit, and wait for nothing."""
        while len(self.data) < self.limit:
            before = len(self.data)
            if not self.read() or len(self.data) == before:
                return


def run_command(command, data, environ, seconds):
    """Run a command of sh with these bytes on stdin; at the limit its group is ended.

    After a normal end children in the background live on, and what they hold open is not waited
    for. OSError where it cannot be started.
    """
    if not BELL:
        BELL.append(watch_children(ENDING))
    stdin, to_stdin = open_pipe(1)
    out, out_of_child = open_pipe(0)
    err, err_of_child = open_pipe(0)
    _signal.pthread_sigmask(_signal.SIG_BLOCK, ENDING)  # until we know whom to end
    child = spawn(command, environ, (stdin, out_of_child, err_of_child))
    for fd in (stdin, out_of_child, err_of_child):
        posix.close(fd)
    streams = [Stream(out, OUTPUT_LIMIT), Stream(err, ERROR_LIMIT)]
    end = time.monotonic() + seconds
    try:
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGCHLD, *ENDING))
        status = converse(child, to_stdin, data, streams, BELL[0], end)
    except Interrupted:
        end_group(child)
        raise
    timed_out = status is None
    if timed_out:
        status = end_group(child)
    for stream in streams:
        stream.drain()
    for fd in (to_stdin, out, err):  # there may be many calls
        close(fd)
    return Result(
        exit_status(status), *(bytes(stream.data) for stream in streams), timed_out,
        streams[0].overflow,
    )  # fmt: skip


def watch_children(ending):
    """A descriptor that can be read when a child has ended, or when `ending` asks us to end."""
    bell, ring = posix.pipe()
    for fd in (bell, ring):
        posix.set_blocking(fd, False)
    _signal.set_wakeup_fd(ring)
    _signal.signal(_signal.SIGCHLD, lambda *_: None)
    for number in ending:
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, interrupt)
    return bell


def interrupt(*_):
    raise Interrupted


def close(fd):
    try:
        posix.close(fd)
    except OSError:
        return  # it is closed


def open_pipe(ours):
    """The two ends of a pipe, of which ours, 0 to read and 1 to write, never waits."""
    ends = posix.pipe()
    posix.set_blocking(ends[ours], False)
    return ends


def spawn(command, environ, fds):
    """Start /bin/sh with the command; its number, which is that of its group."""
    actions = [(posix.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(fds)]
    return posix.posix_spawn(
        "/bin/sh",
        ["/bin/sh", "-c", command],
        environ,
        file_actions=actions,
        setpgroup=0,
        setsigmask=[],
        setsigdef=[_signal.SIGPIPE, *ENDING],
    )


def converse(child, to_stdin, data, streams, bell, end):
    """Feed and read the command until it has ended; its wait status, or None at the limit."""
    rest, poll = memoryview(data), select.poll()
    poll.register(bell, select.POLLIN)
    readers = {stream.fd: stream for stream in streams}
    for fd in readers:
        poll.register(fd, select.POLLIN)
    poll.register(to_stdin, select.POLLOUT)
    while True:
        left = end - time.monotonic()
        if left <= 0:
            return None
        for fd, _ in poll.poll(min(left, LONGEST_WAIT_S) * 1000):
            if fd == bell:
                posix.read(bell, CHUNK)
            elif fd == to_stdin:
                rest = feed(fd, rest)
                if not rest:
                    poll.unregister(fd)
                    posix.close(fd)
            elif not readers[fd].read():
                poll.unregister(fd)
        done, status = posix.waitpid(child, posix.WNOHANG)
        if done:
            return status


def feed(fd, rest):
    """Write what the pipe takes; what is left, nothing where the command does not read."""
    try:
        return rest[posix.write(fd, rest[:CHUNK]) :]
    except BlockingIOError:
        return rest
    except OSError:
        return b""


def end_group(child):
    """Ask the command's group to end, then kill it; the command's wait status."""
    send(child, _signal.SIGTERM)
    end = time.monotonic() + GRACE_S
    while time.monotonic() < end:
        done, status = posix.waitpid(child, posix.WNOHANG)
        if done:
            send(child, _signal.SIGKILL)  # those that it left behind
            return status
        time.sleep(LOOK_S)
    send(child, _signal.SIGKILL)
    return posix.waitpid(child, 0)[1]


def send(group, number):
    try:
        posix.killpg(group, number)
    except OSError:
        return  # it has ended


def exit_status(status):
    """The exit status behind a wait status; 128 + N for signal N, as sh has it."""
    if posix.WIFSIGNALED(status):
        return 128 + posix.WTERMSIG(status)
    return posix.WEXITSTATUS(status)
