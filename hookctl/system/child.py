"""An agent as a child of ours: it keeps the terminal, and signals that ask us to end reach it."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from types import FrameType

from hookctl.values import NamedTuple

_ANSWER = 3.0  # seconds in which an agent ends that takes Ctrl-C for its end
_ENDING = (signal.SIGTERM, signal.SIGHUP)


class Ended(NamedTuple):
    """How a child ended."""

    status: int  # as a shell has it: 128 + N for signal N
    by_person: bool  # somebody asked us to end: by a signal, or by Ctrl-C
    signal: int = 0  # that killed it


class Guardian:
    """Runs one child after another while it is entered; nothing of it is left where we are killed.

    Ctrl-C reaches the child by itself, since it is in our process group; it is the child's to
    answer. SIGTERM and SIGHUP are passed on.
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._before: dict[signal.Signals, object] = {}
        self.is_ending = False  # SIGTERM or SIGHUP came
        self._interrupted_at = self._ended_at = float("-inf")

    def __enter__(self) -> Guardian:
        for number in (*_ENDING, signal.SIGINT):
            if signal.getsignal(number) not in (signal.SIG_IGN, None):  # ignored, as under nohup
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _note(self, number: int, _: FrameType | None) -> None:
        if number == signal.SIGINT:
            self._interrupted_at = time.monotonic()
            return
        self.is_ending = True
        if self._child is not None:
            with contextlib.suppress(ProcessLookupError):
                self._child.send_signal(number)

    def run(self, command: Sequence[str], started: Callable[[int], None]) -> Ended:
        """Run a command to its end; `started` gets its process id.

        Raises OSError where it cannot be started.
        """
        begin = time.monotonic()
        self._child = subprocess.Popen(command)
        try:
            started(self._child.pid)
            if self.is_ending:  # the signal came before there was a child
                self._child.terminate()
            status = self._child.wait()
        finally:
            self._child = None
            self._ended_at = time.monotonic()
        # Only Ctrl-C tells us of a person where the child ends by it: at once, or by that signal.
        is_prompt = status > 0 and self._ended_at - self._interrupted_at < _ANSWER
        is_by_signal = self._interrupted_at > begin and status in (-signal.SIGINT, 130)
        interrupted = is_by_signal or (self._interrupted_at > begin and is_prompt)
        by_person = self.is_ending or interrupted
        if status < 0:
            return Ended(128 - status, by_person, -status)
        return Ended(status, by_person)

    def rest(self, seconds: float) -> None:
        """Let time pass; Ctrl-C or another signal to end ends it at once."""
        end = time.monotonic() + seconds
        while not self.wants_end and time.monotonic() < end:
            time.sleep(min(0.1, max(0.0, end - time.monotonic())))

    @property
    def wants_end(self) -> bool:
        """Whether a signal to end came since the last child ended.

        An earlier Ctrl-C was that child's to answer.
        """
        return self.is_ending or self._interrupted_at > self._ended_at
