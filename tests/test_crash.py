"""A kill between any two steps of a writing run: the next run ends as if nothing had happened."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookctl.ownership.execute import recover
from hookctl.system import files, folders
from tests.conftest import put
from tests.disk import (
    DISABLE,
    ENABLE,
    INSTALL,
    PROJECT,
    STRUCK,
    THEIRS,
    UNINSTALL,
    UPGRADE,
    data_of,
    first,
    last,
    opposite,
    outcome,
    prepared,
    put_back,
    quiet,
    reached,
    temporary,
    tree,
)

pytestmark = pytest.mark.usefixtures("fixed_python")

STRIDE = int(os.environ.get("HOOKCTL_TEST_STRIDE", "53"))  # 1 kills at every single step, everywhere
_KILLED = 9
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


# Killing
class _Stream:
    """A file whose every write may be the last, and may be cut in the middle."""

    def __init__(self, stream: Any, step: Callable[[], None]) -> None:
        self._stream, self._step = stream, step

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, data: bytes) -> None:
        for part in (data[: len(data) // 2], data[len(data) // 2 :]):
            self._step()
            self._stream.write(part)
            self._stream.flush()

    def truncate(self) -> None:
        self._step()
        self._stream.truncate()


def killed(arguments: tuple[str, ...], at: int) -> bool:
    """Run the command in a child that dies right before its step number `at`; whether it came to that."""
    child = os.fork()
    if child == 0:
        try:
            _die_at(at)
            os._exit(quiet(*arguments))
        except BaseException:
            os._exit(99)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, _KILLED)
    return status == _KILLED


def _die_at(last: int) -> None:
    count = 0

    def step() -> None:
        nonlocal count
        count += 1
        if count == last:
            os._exit(_KILLED)

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if real is not os_open or arguments[1] & _WRITING:
                step()
            return real(*arguments, **options)

        return call

    os_open = os.open
    for name in ("open", "replace", "rename", "link", "unlink", "mkdir", "rmdir", "fchmod", "fchown", "fsync"):
        setattr(os, name, counted(getattr(os, name)))
    files.open = lambda *call: _Stream(open(*call), step)  # type: ignore[attr-defined]  # noqa: SIM115


CASES = [
    *((kind, verb, min(STRIDE, 19) if (kind, verb) == ("existing", INSTALL) else STRIDE) for kind, verb in STRUCK),
    *(("absent project", (*verb, *PROJECT), STRIDE) for verb in (INSTALL, UNINSTALL)),
    ("project", (*UPGRADE, *PROJECT), STRIDE),
    *(("hooks", verb, min(STRIDE, 7)) for verb in (DISABLE, ENABLE)),
]


def is_laid(own: Path, host: str) -> bool:
    """Whether a launcher is in this folder of hookctl's, with the guard that it names and its configuration."""
    named = re.findall(rb'"(runtime/guard_\w+)"', data_of(own / "hook.py") or b"")
    return [(own / name.decode() / "stop.py").exists() for name in named] == [True] and bool(
        data_of(own / "guard" / f"{host}.json")
    )


@pytest.mark.parametrize(("kind", "verb", "stride"), CASES, ids=[f"{k}-{v[0]}-{len(v)}" for k, v, _ in CASES])
def test_the_run_after_a_kill_ends_as_if_nothing_had_happened(
    kind: str, verb: tuple[str, ...], stride: int, isolated: Path
) -> None:
    path = prepared(isolated, kind, verb)
    start, old = tree(isolated), data_of(path)
    done = reached(isolated, start, verb)
    new = data_of(path)
    back = opposite(verb)
    either = [reached(isolated, start, verb, back), reached(isolated, start, back)]
    assert old != new
    host = first(verb)[2]
    own = isolated / "work" / ".hookctl" if "project" in kind else isolated / "data"
    at = 1
    put_back(isolated, start)
    while killed(verb, at):
        left, data = tree(isolated), data_of(path)
        assert data in (old, new), f"step {at}"
        assert b"hookctl=" not in (data or b"") or is_laid(own, host), f"step {at}: registered without its program"
        assert quiet("status") == 0
        assert quiet(*verb) == 0
        assert (at, outcome(isolated)) == (at, done)
        assert (at, temporary(isolated)) == (at, [])
        put_back(isolated, left)
        if at % 10 == 0:
            assert quiet("doctor", "--host", host) in (0, 1)
        assert quiet(*back) == 0
        assert outcome(isolated) in either, f"step {at}"
        assert (at, temporary(isolated)) == (at, [])
        put_back(isolated, start)
        at += stride
    assert at > 40
    assert outcome(isolated) == done


@pytest.mark.parametrize("verb", [INSTALL, UPGRADE, UNINSTALL], ids=["install", "upgrade", "uninstall"])
@pytest.mark.parametrize("kind", ["existing", "absent", "project", "absent project"])
def test_what_somebody_writes_after_a_kill_survives(kind: str, verb: tuple[str, ...], isolated: Path) -> None:
    verb = (*verb, *PROJECT) if "project" in kind else verb
    path = prepared(isolated, kind, verb)
    start, original = tree(isolated), json.loads(THEIRS) if "absent" not in kind else {}
    at = 1
    while killed(verb, at):
        here = json.loads(data_of(path) or b"{}")
        put(path, json.dumps({**here, "theirs": at}, indent=2))
        for command in (verb, first(verb)):
            assert quiet(*command) == 0
            assert json.loads(path.read_bytes())["theirs"] == at
        assert "hookctl=guard/stop" in path.read_text()
        assert quiet(*last(verb)) == 0
        assert (at, json.loads(path.read_bytes())) == (at, {**original, "theirs": at})
        assert temporary(isolated) == []
        put_back(isolated, start)
        at += 2 * STRIDE
    assert at > 40


def test_an_empty_file_that_somebody_makes_after_a_killed_install_is_theirs(isolated: Path) -> None:
    path = prepared(isolated, "absent", INSTALL)
    start, at = tree(isolated), 1
    while killed(INSTALL, at):
        if not path.exists():
            put(path, b"{}")
            assert quiet(*UNINSTALL) == 0
            assert (at, data_of(path)) == (at, b"{}")
        put_back(isolated, start)
        at += STRIDE


@pytest.mark.parametrize("verb", [INSTALL, UNINSTALL], ids=["install", "uninstall"])
def test_a_second_kill_while_an_interrupted_run_is_carried_on_is_mended_too(
    verb: tuple[str, ...], isolated: Path
) -> None:
    prepared(isolated, "existing", verb)
    start = tree(isolated)
    done = reached(isolated, start, verb)
    begun = 30
    while True:
        put_back(isolated, start)
        if not killed(verb, begun):
            break
        left, second = tree(isolated), 1 + begun % 7
        while killed(verb, second):
            assert quiet(*verb) == 0
            assert outcome(isolated) == done
            put_back(isolated, left)
            second += STRIDE
        begun += 3 * STRIDE
    assert begun > 60


def failing(arguments: tuple[str, ...], *faults: tuple[str, str]) -> int:
    """Run the command in a child in which, for each of these, every call of os for such a path fails."""
    child = os.fork()
    if child == 0:
        try:
            for name, pattern in faults:
                _fail(name, pattern)
            os._exit(quiet(*arguments))
        except BaseException:
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _fail(name: str, pattern: str) -> None:
    real: Callable[..., Any] = getattr(os, name)

    def call(path: str, *rest: Any, **options: Any) -> Any:
        if re.search(pattern, str(path)):
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        return real(path, *rest, **options)

    setattr(os, name, call)


@pytest.mark.parametrize(
    ("verb", "name", "pattern"),
    [
        (INSTALL, "unlink", r"data/\.hook\.py"),
        (INSTALL, "unlink", r"guard/\.claude\.json"),
        (INSTALL, "unlink", r"home/\.claude/\.settings\.json"),
        (INSTALL, "unlink", r"state/journal\.json"),
        (UNINSTALL, "unlink", r"state/journal\.json"),
        (UNINSTALL, "rename", r"runtime/guard_\w+$"),
        (UNINSTALL, "rmdir", "data/runtime"),
        (UNINSTALL, "rmdir", "data/guard"),
        (UNINSTALL, "rmdir", r"home/\.claude"),
    ],
)
def test_what_a_run_could_not_clear_away_goes_with_the_next_one(
    verb: tuple[str, ...], name: str, pattern: str, isolated: Path
) -> None:
    path = prepared(isolated, "absent", verb)
    start = tree(isolated)
    done, new = reached(isolated, start, verb), data_of(path)
    put_back(isolated, start)
    assert failing(verb, (name, pattern)) == 0
    assert outcome(isolated) != done
    assert data_of(path) == new
    assert quiet(*verb) == 0
    assert outcome(isolated) == done
    assert temporary(isolated) == []


@pytest.mark.parametrize("kind", ["existing", "absent"])
def test_a_run_that_was_done_is_not_carried_on_because_its_journal_is_there(kind: str, isolated: Path) -> None:
    path = prepared(isolated, kind, INSTALL)
    old = data_of(path)
    assert failing(INSTALL, ("unlink", r"state/journal\.json")) == 0
    if old is None:
        path.unlink()
    else:
        path.write_bytes(old)
    recover(folders.here())
    assert data_of(path) == old
    assert not folders.here().has_unfinished_run()
