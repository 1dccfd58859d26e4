"""Runs a command with a text on stdin, within a time, and keeps what it prints up to a size."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hookctl.system.processes import Noting

LIMIT = 1 << 20  # bytes that are kept of each output
_CHUNK = 1 << 16
_LOOK = 0.01  # seconds between two looks at the command
_GRACE = 0.3  # seconds between TERM and KILL


class Output(NamedTuple):
    """How a command ended, and what it printed."""

    status: int | None  # 128 + N for signal N; None where it was ended at the limit
    seconds: float
    out: bytes
    err: bytes
    is_cut: bool = False  # it printed more than is kept


class Runner(Noting):
    """Runs one command after another while it is entered; Ctrl-C ends the command, then us.

    Signals are only noted, so none can strike between the start of a command and the moment when
    we know its process id.
    """

    def __init__(self) -> None:
        self._is_asked_to_end = False

    def _note_signal(self, number: int, *_: Any) -> None:
        self._is_asked_to_end = True

    def run(
        self,
        words: Sequence[str],
        data: bytes,
        environ: Mapping[str, str],
        folder: str,
        seconds: float,
    ) -> Output:
        """Run a command in a process group of its own, which is ended at the limit of time.

        After a normal end children in the background live on, and what they hold open is not
        waited for. Raises OSError where it cannot be started, and KeyboardInterrupt on a signal.
        """
        begin = time.monotonic()
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environ,
            cwd=folder,
            start_new_session=True,
        )
        talk = _Talk(process, data)
        try:
            has_ended = self._wait(process, talk, begin + seconds)
        except BaseException:
            _end(process)
            raise
        finally:
            talk.close()
        if not has_ended:
            _end(process)
        status = process.returncode
        if status is not None and status < 0:
            status = 128 - status
        outputs = (bytes(talk.out.data), bytes(talk.err.data))
        taken = time.monotonic() - begin
        is_cut = talk.out.is_cut or talk.err.is_cut
        return Output(status if has_ended else None, taken, *outputs, is_cut)

    def _wait(self, process: subprocess.Popen[bytes], talk: _Talk, end: float) -> bool:
        """Talk with a command to its end; False at the limit of time."""
        while True:
            if self._is_asked_to_end:
                raise KeyboardInterrupt
            left = end - time.monotonic()
            if left <= 0:
                return False
            talk.go_on(min(left, _LOOK))
            if process.poll() is not None:
                talk.drain()
                return True


class _Kept:
    """An output of a command: what is kept of it, and whether more came."""

    def __init__(self) -> None:
        self.data, self.is_cut = bytearray(), False

    def add(self, piece: bytes) -> None:
        room = LIMIT - len(self.data)
        self.data += piece[:room]
        self.is_cut = self.is_cut or len(piece) > room


class _Talk:
    """What goes into a command and comes out of it, without waiting for either."""

    def __init__(self, process: subprocess.Popen[bytes], data: bytes) -> None:
        assert process.stdin and process.stdout and process.stderr
        self.out, self.err = _Kept(), _Kept()
        self._rest = memoryview(data)
        self._pipes = (process.stdin, process.stdout, process.stderr)
        self._stdin = process.stdin
        self._selector = selectors.DefaultSelector()
        for pipe in self._pipes:
            os.set_blocking(pipe.fileno(), False)
        self._selector.register(process.stdin, selectors.EVENT_WRITE)
        self._selector.register(process.stdout, selectors.EVENT_READ, self.out)
        self._selector.register(process.stderr, selectors.EVENT_READ, self.err)

    def go_on(self, seconds: float) -> None:
        """Write and read what can be at once; wait at most so long for that."""
        if not self._selector.get_map():
            time.sleep(seconds)
            return
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                self._feed()
            elif not self._read(key.fd, key.data):
                self._selector.unregister(key.fileobj)

    def drain(self) -> None:
        """Read what is there already."""
        for key in [*self._selector.get_map().values()]:
            if key.data is None:
                continue
            while not key.data.is_cut and self._read(key.fd, key.data, at_once=True):
                pass

    def close(self) -> None:
        """Close everything; a command that lives on has nobody to talk to."""
        self._selector.close()
        for pipe in self._pipes:
            with contextlib.suppress(OSError):
                pipe.close()

    def _feed(self) -> None:
        try:
            written = os.write(self._stdin.fileno(), self._rest[:_CHUNK])
            self._rest = self._rest[written:]
        except BlockingIOError:
            return
        except OSError:  # it does not read
            self._rest = self._rest[:0]
        if not self._rest:
            self._selector.unregister(self._stdin)
            with contextlib.suppress(OSError):
                self._stdin.close()

    def _read(self, fd: int, kept: _Kept, *, at_once: bool = False) -> bool:
        """Read a piece; False at the end, and `at_once` also where nothing is there."""
        try:
            piece = os.read(fd, _CHUNK)
        except BlockingIOError:
            return not at_once
        kept.add(piece)
        return bool(piece)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command and what it has started: TERM, and after a moment KILL."""
    _send(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE)
    _send(process.pid, signal.SIGKILL)  # those that it left behind
    process.wait()


def _send(group: int, number: int) -> None:
    # It may have ended, or be another user's.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
