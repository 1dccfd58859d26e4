"""A foreign write between any two system calls of a run: it is kept, or it fell into the window that is stated."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookctl.system import files, folders, interpreter
from tests import syscalls
from tests.conftest import Hookctl
from tests.disk import INSTALL, RESTORE, UNINSTALL, UPGRADE, Tree, data_of, prepared, put_back, quiet, temporary, tree
from tests.foreign import Write, numbered, renaming, truncating
from tests.syscalls import Call

STRIDE = int(os.environ.get("HOOKCTL_TEST_STRIDE", "211"))  # 1 writes between any two calls
WRITES = [truncating, renaming]
CASES = [
    ("existing", INSTALL),
    ("existing", UPGRADE),
    ("existing", UNINSTALL),
    ("existing", RESTORE),
    ("absent", INSTALL),
    ("absent", UNINSTALL),
    ("link", INSTALL),
]
_ask = functools.cache(interpreter.ask)

pytestmark = pytest.mark.usefixtures("strace", "quick")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every interpreter is asked once."""
    monkeypatch.setattr(interpreter, "ask", _ask)


def cases_with_writes() -> Iterator[Any]:
    """Every case with both ways to write; with a stride the first case with both, the others with one in turn."""
    for number, (kind, verb) in enumerate(CASES):
        for turn, write in enumerate(WRITES):
            if STRIDE == 1 or number == 0 or number % len(WRITES) == turn:
                yield pytest.param(kind, verb, write, id=f"{kind}-{verb[0]}-{len(verb)}-{write.__name__}")


class Run:
    """A command that will be stopped again and again at one of its calls, from the same start."""

    def __init__(self, top: Path, log: Path, kind: str, verb: tuple[str, ...]) -> None:
        self.top, self.log, self.verb = top, log, verb
        self.path = prepared(top, kind, verb)
        self.real = Path(os.path.realpath(self.path))
        self.start: Tree = tree(top)
        self.calls = syscalls.recorded(top, log, *verb)
        near = str(self.real.parent)
        self.moments = [call for call in self.calls if call.changes or call.paths[-1].startswith(near)]
        put_back(top, self.start)

    def written(self) -> int:
        """The place among all calls of the one that puts the settings file in its place, or takes it away."""
        ways = ("rename", "link", "unlink")
        return next(n for n, c in enumerate(self.calls) if c.name in ways and c.paths[-1] == str(self.real))

    def window(self) -> list[Call]:
        """The calls after which a write may be lost: from the last look at the bytes to the rename or removal.

        A new file has none, since a link never replaces one.
        """
        end = self.written()
        if self.calls[end].name == "link":
            return []
        looks = [n for n, call in enumerate(self.calls[:end]) if call.name == "openat" and not call.changes]
        assert {call.paths for call in self.calls[looks[-1] : end]} == {(str(self.real),)}
        return self.calls[looks[-1] : end]

    def stopped(self, call: Call, write: Write, data: bytes | None = None) -> syscalls.Ended:
        """The command from its start; somebody writes the data, or what is there with `n` set, after the call."""
        number = self.calls.index(call)
        for _ in range(3):
            put_back(self.top, self.start)
            done = syscalls.stopped(
                self.log, call, lambda: write(self.real, numbered(data or data_of(self.path), number)), *self.verb
            )
            if done:
                return done
        raise AssertionError(f"{call} has another number in each run")

    def kept(self, call: Call) -> bool:
        """Whether what was written after the call is there, in the backups if the command is to replace it."""
        number = self.calls.index(call)
        texts = [data_of(self.path) or b"{}"]
        if self.verb == RESTORE:
            texts += [backup.data for backup in files.read_backups(folders.here(), str(self.real)).values()]
        return any(json.loads(text).get("n") == number for text in texts)


def ours(run: Run) -> bool:
    return b"hookctl=guard/stop" in (data_of(run.path) or b"")


@pytest.mark.parametrize(("kind", "verb", "write"), list(cases_with_writes()))
def test_a_write_between_any_two_calls_is_kept_outside_the_window(
    kind: str, verb: tuple[str, ...], write: Write, isolated: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run = Run(isolated, tmp_path_factory.mktemp("log") / "log", kind, verb)
    window, end = run.window(), run.written()
    assert len(window) < 8
    before = [call for call in run.calls[:end] if call.changes][-1]  # the last look begins after it
    lost = []
    for call in dict.fromkeys([*run.moments[::STRIDE], before, *window, run.calls[end]]):
        done = run.stopped(call, write)
        assert done.code == 0, f"{call}: {done.said}"
        assert ours(run) == (verb[0] == "install"), f"{call}: {done.said}"
        assert temporary(isolated) == [], call
        if not run.kept(call):
            lost.append(call)
    assert not set(lost) - set(window), "lost outside the window"


@pytest.mark.parametrize("write", WRITES)
def test_an_install_that_somebody_overwrites_from_memory_is_reported_and_repaired(
    write: Write, isolated: Path, hookctl: Hookctl, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run = Run(isolated, tmp_path_factory.mktemp("log") / "log", "existing", INSTALL)
    old, end = run.start.data[str(run.path)], run.written()
    later = [call for call in run.calls[end:] if call in run.moments]
    looks = [call for call in later if call.name == "read"]
    seen = later[: later.index(looks[-1])]  # nobody can tell of what is written behind the last look
    for call in dict.fromkeys([*seen[::STRIDE], looks[-2]]):
        done = run.stopped(call, write, old)
        assert done.code == 0
        assert (call in looks) or "wrote it right after hookctl" in done.said, call
        assert not ours(run) and run.kept(call), call
        findings = hookctl("doctor", "--host", "claude", "--json").data["findings"]
        assert [f["level"] for f in findings if f["code"] == "entries_wiped"] == ["error"]
        assert quiet(*INSTALL) == 0
        assert ours(run) and run.kept(call)
        assert quiet(*UNINSTALL) == 0
        assert json.loads(data_of(run.path) or b"") == json.loads(numbered(old, run.calls.index(call)))


@pytest.mark.parametrize("write", WRITES)
def test_an_uninstall_that_somebody_overwrites_from_memory_is_reported_and_repaired(
    write: Write, isolated: Path, hookctl: Hookctl, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run = Run(isolated, tmp_path_factory.mktemp("log") / "log", "existing", UNINSTALL)
    old, end = run.start.data[str(run.path)], run.written()
    later = [call for call in run.calls[end:] if call in run.moments]
    for call in later[::STRIDE]:
        done = run.stopped(call, write, old)
        assert done.code == 0
        assert ours(run) and run.kept(call), call
        findings = hookctl("doctor", "--host", "claude", "--json").data["findings"]
        assert [f["level"] for f in findings if f["code"] == "ledger_missing"] == ["error"]
        assert quiet(*UNINSTALL) == 0
        assert not ours(run) and run.kept(call), call
