"""Tells whether a signal came to the whole group of processes, and so to the traced command too."""

import _signal
import posix
import time

AT_ONCE_S = 0.1


class Sentry:
    """A process beside the command, which tells whether a signal came to the whole group.

    It is made while every signal is blocked, so each that came to it is still pending when it is
    asked.
    """

    def __init__(self, fds):
        self._ask = self._hear = self._process = -1
        self._when = {}  # each signal came to the group last
        try:
            question, self._ask = posix.pipe()
            self._hear, answer = posix.pipe()
        except OSError:  # then every signal is passed on
            return
        self._process = fork()
        if self._process == 0:
            self._stand(question, answer, fds)
        close(question)
        close(answer)

    def _stand(self, question, answer, fds):
        try:
            for fd in (0, 1, 2, self._ask, self._hear, *fds):
                close(fd)
            while posix.read(question, 1):
                pending = _signal.sigpending()
                for number in pending:
                    _signal.sigwait([number])
                posix.write(answer, bytes([len(pending), *pending]))
        finally:
            posix._exit(0)

    def has_got(self, number):
        """Did the group get a signal?

        Two that come at once may be one here and two to the asking process, so what was true just
        now is still true.
        """
        wait_for_group()
        now = time.monotonic()
        for each in self._ask_what_came():
            self._when[each] = now
        return now - self._when.get(number, -AT_ONCE_S) < AT_ONCE_S

    def _ask_what_came(self):
        """The signals that came to this process since it was asked last."""
        try:
            posix.write(self._ask, b"?")
            (length,) = posix.read(self._hear, 1)
            return posix.read(self._hear, length) if length else b""
        except (OSError, ValueError):  # it was killed
            return b""

    def leave(self):
        close(self._ask)
        close(self._hear)
        if self._process > 0:
            posix.kill(self._process, _signal.SIGKILL)
            posix.waitpid(self._process, 0)


def wait_for_group():
    """Wait until the whole group has a signal that one of it has got.

    The kernel changes no group, not even into the same, while it goes through one.
    """
    try:
        posix.setpgid(0, posix.getpgid(0))
    except OSError:
        return  # this process leads its session; it has waited all the same


def fork():
    """Start a process like this one: 0 in it, and -1 where there may be no more of them."""
    try:
        return posix.fork()
    except OSError:
        return -1


def close(fd):
    try:
        posix.close(fd)
    except OSError:
        return
