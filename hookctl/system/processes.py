"""Runs a command as a child: waits without polling, and ends its whole process group."""

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

_GRACE = 2.0  # seconds between TERM and KILL
_PAUSE = 0.02
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Keeper:
    """Waits for a child or for time to pass; a signal to stop ends the wait with KeyboardInterrupt.

    While it is entered, signals are only noted. So none can strike between the start of a child and
    the moment when we know its process id.
    """

    def __init__(self) -> None:
        # A child's status, or None for a signal to stop.
        self._events: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self._handlers_before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Keeper:
        for number in _ENDING:
            if signal.getsignal(number) in (signal.SIG_IGN, None):  # ignored, as under nohup
                continue
            self._handlers_before[number] = signal.signal(number, self._note_signal)
        return self

    def _note_signal(self, *_: Any) -> None:
        self._events.put(None)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number, handler in self._handlers_before.items():
            signal.signal(number, handler)

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        with contextlib.suppress(TimeoutError):
            self._wait(seconds)

    def run(
        self, command: Sequence[str], environ: Mapping[str, str], output: int, seconds: float
    ) -> int:
        """Run a command without a shell, a terminal or input; its status, negative for a signal.

        Raises TimeoutError where it takes longer, and another OSError where it cannot be started.
        After a timeout or an interrupt, no process of its group is left.
        """
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environ,
            start_new_session=True,
        )
        threading.Thread(target=lambda: self._events.put(process.wait()), daemon=True).start()
        try:
            return self._wait(seconds)
        except (TimeoutError, KeyboardInterrupt):
            _end_group(process.pid)
            # It may be another user's process, which we may not end.
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE)
            raise

    def _wait(self, seconds: float) -> int:
        """The status of the child; TimeoutError after that time, KeyboardInterrupt on a signal."""
        try:
            status = self._events.get(timeout=min(max(seconds, 0), threading.TIMEOUT_MAX))
        except queue.Empty:
            raise TimeoutError from None
        if status is None:
            raise KeyboardInterrupt
        return status


def _end_group(group: int) -> None:
    """Send TERM to a process group, and KILL to what is left of it after a moment."""
    deadline = time.monotonic() + _GRACE
    # It may have ended by itself, or be another user's.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGTERM)
        while time.monotonic() < deadline:
            time.sleep(_PAUSE)
            os.killpg(group, 0)
        os.killpg(group, signal.SIGKILL)
