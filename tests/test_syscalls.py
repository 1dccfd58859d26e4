"""Every system call that changes a file, killed right before it or failing: whole files, and the next run completes."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hookctl.system import interpreter
from tests import syscalls
from tests.disk import (
    DISABLE,
    ENABLE,
    INSTALL,
    LIST,
    PLUGIN,
    PROJECT,
    RESTORE,
    UNINSTALL,
    UPGRADE,
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
from tests.syscalls import KILL, Call, Struck

STRIDE = int(os.environ.get("HOOKCTL_TEST_STRIDE", "401"))  # 1 strikes every call with every fault
FAULTS = (KILL, "EIO", "ENOSPC", "EROFS", "EACCES")
CASES = [
    ("existing", INSTALL),
    ("existing", UPGRADE),
    ("existing", UNINSTALL),
    ("existing", RESTORE),
    ("absent", INSTALL),
    ("absent", UNINSTALL),
    ("link", INSTALL),
    ("link", UNINSTALL),
    ("project", (*INSTALL, *PROJECT)),
    ("project", (*UNINSTALL, *PROJECT)),
    ("existing", DISABLE),
    ("existing", ENABLE),
    ("link", DISABLE),
    ("link", ENABLE),
    ("list", ("install", *LIST)),
    ("list", ("uninstall", *LIST)),
    ("list", (*DISABLE, *LIST)),
    ("list", (*ENABLE, *LIST)),
    ("plugin", ("install", *PLUGIN)),
    ("plugin", ("uninstall", *PLUGIN)),
]
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

    All sorts in the first turn, and every second one in each of the others.
    """
    for number, name in enumerate(dict.fromkeys(call.name for call in calls)):
        if stride > 1 and turn and (number + turn) % 2:
            continue
        pairs = [(call, fault) for call in calls if call.name == name for fault in faults]
        yield from pairs[turn % min(stride, len(pairs)) :: stride]


@pytest.mark.parametrize(("kind", "verb"), CASES, ids=[f"{k}-{'-'.join(v[:2])}-{len(v)}" for k, v in CASES])
def test_a_run_that_is_struck_leaves_whole_files_and_the_next_one_completes_it(
    kind: str,
    verb: tuple[str, ...],
    isolated: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage, log = staged(isolated, kind, verb), tmp_path_factory.mktemp("log") / "log"
    met, wrong = 0, []
    for call, fault in chosen(changing(stage, log), FAULTS, STRIDE, CASES.index((kind, verb))):
        fresh(stage)
        done = syscalls.struck(stage.top, log, call, fault, *stage.verb)
        met += bool(done.met)
        wrong += [f"{done.met}, {fault}: {what}" for what in faults_of(stage, fault, done)]
    assert (met > 0, wrong) == (True, [])


@pytest.mark.parametrize(
    ("kind", "verb"), [("existing", INSTALL), ("absent", UNINSTALL)], ids="{0[0]}".format
)
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


def faults_of(stage: Stage, fault: str, done: Struck, lasting: bool = False) -> Iterator[str]:
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


def _faults_of_an_error(stage: Stage, call: Call, done: Struck, lasting: bool) -> Iterator[str]:
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
