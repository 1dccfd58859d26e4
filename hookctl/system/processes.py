"""Runs commands as children: checks and hooks, whose process group ends in time, and an agent.

The agent keeps the terminal, and signals that ask us to end reach it.
"""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from hookctl.errors import OUT_OF_DESCRIPTORS

LIMIT = 1 << 20  # bytes that are kept of each output
_GRACE = 2.0  # seconds between TERM and KILL
_PAUSE = 0.02
_LOOK = 0.2  # seconds between two looks at a child
_DRAIN = 0.3  # seconds for what a command has said last
_ANSWER = 3.0  # seconds in which an agent ends that takes Ctrl-C for its end
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Noting:
    """While it is entered, a signal to end is only noted, unless it is ignored as under nohup."""

    is_ending = False

    def __enter__(self) -> Self:
        self._handlers_before: dict[signal.Signals, Any] = {}
        for number in _ENDING:
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                self._handlers_before[number] = signal.signal(number, self._note_signal)
        return self

    def _note_signal(self, number: int, *_: Any) -> None:
        self.is_ending = True

    def __exit__(self, *_: object) -> None:
        for number, handler in self._handlers_before.items():
            signal.signal(number, handler)

    @property
    def wants_end(self) -> bool:
        """Whether a signal to end came."""
        return self.is_ending

    def rest(self, seconds: float) -> None:
        """Let time pass; a signal to end ends it at once."""
        end = time.monotonic() + seconds
        while not self.wants_end and time.monotonic() < end:
            time.sleep(min(_LOOK, max(0.0, end - time.monotonic())))


class Output(NamedTuple):
    """How a command ended, and what it printed."""

    status: int | None = None  # 128 + N for signal N; None where it took too long, or did not run
    ms: int = 0
    out: str = ""
    err: str = ""
    is_cut: bool = False  # it printed more than is kept


def ask(command: Sequence[str], environ: Mapping[str, str] | None, seconds: float) -> Output:
    """What a program prints that needs no input; no status where it does not run to its end."""
    try:
        # In /: a version manager's shim starts what the working folder's files name.
        done = subprocess.run(
            command,
            capture_output=True,
            timeout=seconds,
            stdin=subprocess.DEVNULL,
            cwd="/",
            env=environ,
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        if getattr(error, "errno", 0) in OUT_OF_DESCRIPTORS:  # it says nothing about the program
            raise
        return Output()
    out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    return Output(done.returncode, 0, out, err)


class Keeper(Noting):
    """Runs commands and waits for them; a signal to end ends the wait with KeyboardInterrupt."""

    def run(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        output: int,
        seconds: float,
        *,
        errors: int | None = None,
        cwd: str | None = None,
        prepare: Callable[[], None] | None = None,
    ) -> int:
        """Run a command without a shell, a terminal or input; its status, negative for a signal.

        `prepare` runs in the child before it. Raises TimeoutError, and another OSError where it
        cannot be started; then, and after an interrupt, no process of its group is left.
        """
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output if errors is None else errors,
            env=environ,
            start_new_session=True,
            cwd=cwd,
            preexec_fn=prepare,
        )
        return self._keep(process, seconds)

    def talk(
        self,
        command: Sequence[str],
        data: bytes,
        environ: Mapping[str, str],
        folder: str,
        seconds: float,
    ) -> Output:
        """Run a command with a text on stdin, and keep what it prints last up to a size.

        After a normal end children in the background live on, and what they hold open is not
        waited for. Raises as `run` does, but not at the limit of time.
        """
        begin = time.monotonic()
        process = subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environ,
            start_new_session=True,
            cwd=folder,
        )
        out, err, status = bytearray(), bytearray(), None
        _start(_feed, process.stdin, data)
        readers = [_start(_drain, process.stdout, out), _start(_drain, process.stderr, err)]
        with contextlib.suppress(TimeoutError):
            status = self._keep(process, seconds)
        ms = int((time.monotonic() - begin) * 1000)
        for reader in readers:
            reader.join(_DRAIN)
        if status is not None and status < 0:
            status = 128 - status
        texts = [text[-LIMIT:].decode("utf-8", "replace") for text in (out, err)]
        return Output(status, ms, *texts, max(len(out), len(err)) > LIMIT)

    def _keep(self, process: subprocess.Popen[bytes], seconds: float) -> int:
        """The status of a child; nothing of it is left where the wait ends before it does."""
        end = time.monotonic() + seconds
        waiting = _start(process.wait)  # with a time limit it would look again and again
        try:
            while not self.is_ending:
                left = max(0.0, end - time.monotonic())
                waiting.join(min(_LOOK, left))
                if process.returncode is not None:
                    return int(process.returncode)
                if not left:
                    raise TimeoutError
            raise KeyboardInterrupt
        except BaseException:
            deadline = time.monotonic() + _GRACE
            # It may have ended by itself, or be another user's, which we may not end.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGTERM)
                while time.monotonic() < deadline:
                    time.sleep(_PAUSE)
                    os.killpg(process.pid, 0)
                os.killpg(process.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE)
            raise


def _start(work: Callable[..., Any], *arguments: Any) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    return thread


def _feed(pipe: Any, data: bytes) -> None:
    """Write all of it, unless the command ends before it has read it."""
    rest = memoryview(data)
    with contextlib.suppress(OSError), pipe:
        while rest:
            rest = rest[pipe.write(rest) :]


def _drain(pipe: Any, kept: bytearray) -> None:
    """Read to the end, and keep the last of it."""
    with pipe:
        for piece in iter(lambda: pipe.read(1 << 16), b""):
            kept += piece
            if len(kept) > 4 * LIMIT:
                del kept[: -2 * LIMIT]


class Guardian(Noting):
    """Runs one child after another while it is entered; nothing of it is left where we are killed.

    Ctrl-C reaches the child by itself, which is to answer it; SIGTERM and SIGHUP are passed on.
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._interrupted_at = self._ended_at = float("-inf")

    def _note_signal(self, number: int, *_: Any) -> None:
        if number == signal.SIGINT:
            self._interrupted_at = time.monotonic()
            return
        self.is_ending = True
        if self._child is not None:
            with contextlib.suppress(ProcessLookupError):
                self._child.send_signal(number)

    def run(self, command: Sequence[str], started: Callable[[int], None]) -> tuple[int, bool]:
        """Run a command to its end; `started` gets its process id. OSError where none starts.

        Returns its status as a shell has it, and whether we were asked to end it.
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
        return (128 - status if status < 0 else status), self.is_ending or interrupted

    @property
    def wants_end(self) -> bool:
        """Whether a signal to end came since the last child ended."""
        return self.is_ending or self._interrupted_at > self._ended_at
