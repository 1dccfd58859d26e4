"""A command as a child of ours: awaited without polling, and ended with all of its process group."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

_MERCY = 2.0  # seconds between TERM and KILL
_PAUSE = 0.02
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Keeper:
    """Waits for a child, or just waits. Whoever asks us to stop meanwhile raises KeyboardInterrupt out of that wait.

    While it is entered, signals only leave a note. So none can hit between the start of a child and our knowing of it.
    """

    def __init__(self) -> None:
        self._news: queue.SimpleQueue[int | None] = (
            queue.SimpleQueue()
        )  # a child's status; None: we are to stop
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Keeper:
        for number in _ENDING:
            if signal.getsignal(number) not in (signal.SIG_IGN, None):  # nohup means what it says
                self._before[number] = signal.signal(number, lambda *_: self._news.put(None))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        with contextlib.suppress(TimeoutError):
            self._next(seconds)

    def run(
        self, command: Sequence[str], environ: Mapping[str, str], output: int, seconds: float
    ) -> int:
        """Run a command without a shell, a terminal or input; its status, below 0 for a signal.

        TimeoutError where it takes longer, and any other OSError where it cannot be started. No member of its process
        group outlives that, nor an interrupt.
        """
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environ,
            start_new_session=True,
        )
        threading.Thread(target=lambda: self._news.put(process.wait()), daemon=True).start()
        try:
            return self._next(seconds)
        except (TimeoutError, KeyboardInterrupt):
            _end(process.pid)
            with contextlib.suppress(
                subprocess.TimeoutExpired
            ):  # another user's, which we may not end
                process.wait(_MERCY)
            raise

    def _next(self, seconds: float) -> int:
        try:
            status = self._news.get(timeout=min(max(seconds, 0), threading.TIMEOUT_MAX))
        except queue.Empty:
            raise TimeoutError from None
        if status is None:
            raise KeyboardInterrupt
        return status


def _end(group: int) -> None:
    """TERM to a process group, and KILL for what is left of it after a moment."""
    end = time.monotonic() + _MERCY
    with contextlib.suppress(ProcessLookupError, PermissionError):  # it is gone, or not ours to end
        os.killpg(group, signal.SIGTERM)
        while time.monotonic() < end:
            time.sleep(_PAUSE)
            os.killpg(group, 0)
        os.killpg(group, signal.SIGKILL)
