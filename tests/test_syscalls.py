"""Every system call that changes a file, killed right before it or failing: whole files, and the next run completes."""

from __future__ import annotations

import contextlib
import functools
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hookctl.system import files, folders, interpreter
from tests import syscalls
from tests.conftest import Hookctl, put
from tests.disk import (
    DISABLE,
    ENABLE,
    INSTALL,
    LIST,
    RESTORE,
    STRUCK,
    UNINSTALL,
    Tree,
    data_of,
    opposite,
    outcome,
    prepared,
    put_back,
    quiet,
    reached,
    temporary,
    tree,
)
from tests.syscalls import KILL, Call, Ended

STRIDE = int(os.environ.get("HOOKCTL_TEST_STRIDE", "401"))  # 1 strikes every call with every fault
FAULTS = (KILL, "EIO", "ENOSPC", "EROFS", "EACCES")
CASES = [
    *STRUCK, ("existing", RESTORE), *[(kind, verb) for kind in ("existing", "link") for verb in (DISABLE, ENABLE)],
    *[("list", (*verb, *LIST)) for verb in (DISABLE, ENABLE)],
]  # fmt: skip
# While every later call of these fails too, nothing can be said or read any more.
NEEDED = ("write", "openat")
REMOVING = ("unlink", "unlinkat", "rmdir")

pytestmark = pytest.mark.usefixtures("strace", "quick")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every interpreter is asked once; and every run says the same time."""
    monkeypatch.setattr(interpreter, "ask", _ask)
    monkeypatch.setenv("HOOKCTL_NOW", "1800000000")


_ask = functools.cache(interpreter.ask)


class Stage(NamedTuple):
    """A prepared case: what a command may touch before it, and what it and its opposite come to undisturbed."""

    top: Path
    path: Path
    verb: tuple[str, ...]
    back: tuple[str, ...]
    start: Tree
    before: Any
    done: Any
    old: bytes | None
    new: bytes | None
    modes: set[int]  # that the file may have
    undone: list[Any]  # what `back` comes to, after the command or without it


def staged(top: Path, kind: str, verb: tuple[str, ...]) -> Stage:
    path, back = prepared(top, kind, verb), opposite(verb)
    start, before, old, modes = tree(top), outcome(top), data_of(path), modes_of(path)
    done = reached(top, start, verb)
    new, modes = data_of(path), modes | modes_of(path)
    undone = [reached(top, start, verb, back), reached(top, start, back)]
    assert old != new
    return Stage(top, path, verb, back, start, before, done, old, new, modes, undone)


def modes_of(path: Path) -> set[int]:
    return {path.stat().st_mode} if path.exists() else set()


def fresh(stage: Stage) -> None:
    """Everything as it was before the command, and an extended attribute, where there are any."""
    put_back(stage.top, stage.start)
    with contextlib.suppress(OSError):
        os.setxattr(stage.path, "user.theirs", b"1")


def changing(stage: Stage, log: Path) -> list[Call]:
    """The calls of the command that change a file."""
    fresh(stage)
    return [call for call in syscalls.recorded(stage.top, log, *stage.verb) if call.changes]


def chosen(calls: list[Call], faults: tuple[str, ...], stride: int, turn: int) -> Iterator[tuple[Call, str]]:
    """Of every sort of call some with some of the faults, in turn; with a stride of 1 all with all.

    All sorts in the first turn, and every fifth one in each of the others.
    """
    for number, name in enumerate(dict.fromkeys(call.name for call in calls)):
        if stride > 1 and turn and (number + turn) % 5:
            continue
        pairs = [(call, fault) for call in calls if call.name == name for fault in faults]
        yield from pairs[turn % min(stride, len(pairs)) :: stride]


@pytest.mark.parametrize(("kind", "verb"), CASES, ids=[f"{k}-{'-'.join(v[:2])}-{len(v)}" for k, v in CASES])
def test_a_run_that_is_struck_leaves_whole_files_and_the_next_one_completes_it(
    kind: str, verb: tuple[str, ...], isolated: Path, tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    stage, log = staged(isolated, kind, verb), tmp_path_factory.mktemp("log") / "log"
    met, wrong = 0, []
    for call, fault in chosen(changing(stage, log), FAULTS, STRIDE, CASES.index((kind, verb))):
        fresh(stage)
        done = syscalls.struck(stage.top, log, call, fault, *stage.verb)
        met += bool(done.met)
        wrong += [f"{done.met}, {fault}: {what}" for what in faults_of(stage, fault, done)]
    assert (met > 0, wrong) == (True, [])


@pytest.mark.parametrize(("kind", "verb"), [("existing", INSTALL), ("absent", UNINSTALL)], ids="{0[0]}".format)
def test_a_disk_that_stays_broken_leaves_whole_files_and_the_run_after_it_was_mended_completes(
    kind: str, verb: tuple[str, ...], isolated: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    stage, log = staged(isolated, kind, verb), tmp_path_factory.mktemp("log") / "log"
    met, wrong = 0, []
    calls = [call for call in changing(stage, log) if call.name not in NEEDED]
    for call, fault in chosen(calls, ("EIO",), max(1, STRIDE // 4), 0):
        fresh(stage)
        done = syscalls.struck(stage.top, log, call, fault, *stage.verb, lasting=True)
        met += bool(done.met)
        faults = faults_of(stage, fault, done, lasting=call.name == "rename")
        wrong += [f"{done.met}, {fault}: {what}" for what in faults]
    assert (met > 0, wrong) == (True, [])


def faults_of(stage: Stage, fault: str, done: Ended, lasting: bool = False) -> Iterator[str]:
    """What is not as it should be after a run that was struck, and after the next one."""
    if not done.met:
        return
    left = tree(stage.top)
    if data_of(stage.path) not in (stage.old, stage.new):
        yield f"the file is torn: {data_of(stage.path)!r}"
    if not modes_of(stage.path) <= stage.modes:
        yield f"the file has the mode {stage.path.stat().st_mode:o}"
    if fault != KILL:
        yield from _faults_of_an_error(stage, done.met, done, lasting)
    for command, ends in ((stage.verb, [stage.done]), (stage.back, stage.undone)):
        if quiet("status") or quiet(*command):
            yield f"{command[0]} after it fails"
        if outcome(stage.top) not in ends or temporary(stage.top):
            yield f"{command[0]} after it does not end as if nothing had happened: {temporary(stage.top)}"
        put_back(stage.top, left)


def _faults_of_an_error(stage: Stage, call: Call, done: Ended, lasting: bool) -> Iterator[str]:
    """The run either went through all the same, or said why not and left nothing behind."""
    whole, partial = (stage.before if done.code else stage.done), "only a part was written" in done.said
    if done.code not in (0, 1) or "unexpected" in done.said:
        yield f"exit code {done.code}: {done.said}"
    if done.code and not any(path in done.said for path in (str(stage.top), "~/")):
        yield f"it names no file: {done.said!r}"
    # Then what was to be removed may be there still.
    if partial or lasting or _removes(call):
        data = stage.old if done.code else stage.new
        if not partial and (outcome(stage.top)[1] != whole[1] or data_of(stage.path) != data):
            yield "the ledger and the file disagree"
    elif outcome(stage.top) != whole or temporary(stage.top):
        yield f"exit code {done.code}, but the files are not as they should be then: {temporary(stage.top)}"


def _removes(call: Call) -> bool:
    """Whether it removes something; a package is renamed to a temporary name first."""
    return call.name in REMOVING or (call.name == "rename" and call.paths[1].endswith(".hookctl"))


# A foreign write between any two system calls of a run: it is kept, or it fell into the window that is stated.
Write = Callable[[Path, bytes], None]


def renaming(path: Path, data: bytes) -> None:
    """As careful programs do it."""
    os.replace(put(path.with_suffix(".theirs"), data), path)


def numbered(data: bytes | None, number: int) -> bytes:
    """The document with `n` set to the number, and all its other values."""
    return json.dumps({**json.loads(data or b"{}"), "n": number}, indent=2).encode()


STRIDE_OF_INTERLEAVING = int(os.environ.get("HOOKCTL_TEST_STRIDE", "211"))  # 1 writes between any two calls
WRITES = [put, renaming]  # as most editors and hosts do it, and as careful programs do
CASES_OF_INTERLEAVING = [*STRUCK[:3], ("existing", RESTORE), *STRUCK[3:6]]


def cases_with_writes() -> Iterator[Any]:
    """Every case with both ways to write; with a stride the first case with both, the others with one in turn."""
    for number, (kind, verb) in enumerate(CASES_OF_INTERLEAVING):
        for turn, write in enumerate(WRITES):
            if STRIDE_OF_INTERLEAVING == 1 or number == 0 or number % len(WRITES) == turn:
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
    within = window if STRIDE_OF_INTERLEAVING == 1 else window[:1] + window[-1:]
    for call in dict.fromkeys([*run.moments[::STRIDE_OF_INTERLEAVING], before, *within, run.calls[end]]):
        done = run.stopped(call, write)
        assert done.code == 0, f"{call}: {done.said}"
        assert ours(run) == (verb[0] == "install"), f"{call}: {done.said}"
        assert temporary(isolated) == [], call
        if not run.kept(call):
            lost.append(call)
    assert not set(lost) - set(window), "lost outside the window"


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize(("verb", "code"), [(INSTALL, "entries_wiped"), (UNINSTALL, "ledger_missing")])
def test_a_run_that_somebody_overwrites_from_memory_is_reported_and_repaired(
    verb: tuple[str, ...], code: str, write: Write, isolated: Path, hookctl: Hookctl,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    run, installs = Run(isolated, tmp_path_factory.mktemp("log") / "log", "existing", verb), verb == INSTALL
    old, end = run.start.data[str(run.path)], run.written()
    later = [call for call in run.calls[end:] if call in run.moments]
    looks = [call for call in later if call.name == "read"]
    # Of an install: nobody can tell of what is written behind its last look.
    seen = later[: later.index(looks[-1])] if installs else later
    for call in dict.fromkeys([*seen[::STRIDE_OF_INTERLEAVING], *(looks[-2:-1] if installs else ())]):
        done = run.stopped(call, write, old)
        assert done.code == 0
        assert not installs or call in looks or "wrote it right after hookctl" in done.said, call
        assert ours(run) != installs and run.kept(call), call
        findings = hookctl("doctor", "--host", "claude", "--json").data["findings"]
        assert [f["level"] for f in findings if f["code"] == code] == ["error"]
        assert quiet(*verb) == 0
        assert ours(run) == installs and run.kept(call), call
        if installs:
            assert quiet(*UNINSTALL) == 0
            assert json.loads(data_of(run.path) or b"") == json.loads(numbered(old, run.calls.index(call)))
