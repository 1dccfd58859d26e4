"""A kill between any two steps of a writing run: the next run ends as if nothing had happened."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hookctl import files, folders, interpreter, ledger
from hookctl.__main__ import run
from tests.conftest import put

THEIRS = b'{\n    "model": "m",   "hooks": {"Stop": []},\n\n  "env": { "A": "1" }\n}'
INSTALL, UNINSTALL = ("install", "--host", "claude"), ("uninstall", "--host", "claude")
UPGRADE = (*INSTALL, "--set", "max_stop_blocks=9", "--set", "latch=false")
PROJECT = ("--scope", "project")
STRIDE = int(os.environ.get("HOOKCTL_TEST_STRIDE", "3"))  # 1 kills at every single step, everywhere
_KILLED = 9
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No disk to wait for, and no interpreter to look for."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    monkeypatch.setattr(interpreter, "choose", lambda environ: ("/usr/bin/python3", ""))


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


def quiet(*arguments: str) -> int:
    """Run the command in this process; what it prints is nobody's business."""
    keep = os.dup(1), os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    try:
        return run(list(arguments))
    finally:
        for number, handle in zip((1, 2), keep, strict=True):
            os.dup2(handle, number)
            os.close(handle)
        os.close(null)


# Everything that a run may touch, kept and put back


class Tree(NamedTuple):
    """Every folder, link and file below one folder, hard links as such."""

    modes: dict[str, int]
    links: dict[str, str]
    data: dict[str, bytes]
    same: dict[str, str]  # a file to the first of its names


def tree(top: Path) -> Tree:
    modes: dict[str, int] = {}
    links, data, same, seen = {}, {}, {}, {}
    for folder, inner, names in os.walk(top):
        inner.sort()
        for name in (*inner, *sorted(names)):
            path = os.path.join(folder, name)
            about = os.lstat(path)
            if stat.S_ISLNK(about.st_mode):
                links[path] = os.readlink(path)
                continue
            modes[path] = stat.S_IMODE(about.st_mode)
            if stat.S_ISREG(about.st_mode):
                data[path] = Path(path).read_bytes()
                if about.st_nlink > 1:
                    same[path] = seen.setdefault(about.st_ino, path)
    return Tree(modes, links, data, same)


def put_back(top: Path, kept: Tree) -> None:
    for path in top.iterdir():
        path.unlink() if path.is_symlink() or path.is_file() else shutil.rmtree(path)
    for path, mode in kept.modes.items():
        if path not in kept.data:
            os.mkdir(path)
        elif kept.same.get(path, path) == path:
            Path(path).write_bytes(kept.data[path])
        else:
            os.link(kept.same[path], path)
        os.chmod(path, mode)
    for path, target in kept.links.items():
        os.symlink(target, path)
    os.chdir(top / "work")


def outcome(top: Path) -> Any:
    """What a run leaves, the backups and the lock apart; no ledger is an empty one."""
    found = tree(top)
    state = str(top / "state")
    own = [path for path in found.modes if path.startswith((f"{state}/backups", f"{state}/lock"))]
    for part in (found.modes, found.data):
        for path in own:
            part.pop(path, None)
    book = ledger.load(folders.here().ledger)
    found.data.pop(f"{state}/ledger.json", None)
    for path in (state, f"{state}/ledger.json"):
        found.modes.pop(path, None)
    return found, book


def temporary(top: Path) -> list[str]:
    found = [path for path in tree(top).modes if not path.endswith("/.hookctl")]  # that folder is a project's
    return [path for path in found if path.endswith(".hookctl") or "pending" in path or "journal" in path]


# The cases


def settings_at(top: Path, kind: str) -> Path:
    """A settings file of this kind; the name under which the host reads it."""
    path = top / ("work" if "project" in kind else "home") / ".claude" / "settings.json"
    path.parent.mkdir()
    if "absent" in kind:
        path.parent.rmdir()
    elif kind == "link":
        put(top / "dotfiles" / "claude.json", THEIRS).chmod(0o640)
        path.symlink_to("../../dotfiles/claude.json")
    else:
        put(path, THEIRS).chmod(0o644)
        if kind == "hard link":
            (top / "dotfiles").mkdir()
            os.link(path, top / "dotfiles" / "claude.json")
    return path


def prepared(top: Path, kind: str, verb: tuple[str, ...]) -> Path:
    path = settings_at(top, kind)
    if verb[0] == "uninstall" or "--set" in verb:
        assert quiet(*first(verb)) == 0
    return path


def first(verb: tuple[str, ...]) -> tuple[str, ...]:
    """The install of the same scope."""
    return (*INSTALL, *(PROJECT if "project" in verb else ()))


def last(verb: tuple[str, ...]) -> tuple[str, ...]:
    """The uninstall of the same scope."""
    return (*UNINSTALL, *(PROJECT if "project" in verb else ()))


def reached(top: Path, start: Tree, *commands: tuple[str, ...]) -> Any:
    """The outcome of these commands, one after the other, without a kill."""
    put_back(top, start)
    for command in commands:
        assert quiet(*command) == 0
    return outcome(top)


def data_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


CASES = [
    ("existing", INSTALL, 1),
    ("existing", UPGRADE, STRIDE),
    ("existing", UNINSTALL, STRIDE),
    ("absent", INSTALL, STRIDE),
    ("absent", UNINSTALL, STRIDE),
    ("hard link", INSTALL, STRIDE),
    ("hard link", UPGRADE, STRIDE),
    ("hard link", UNINSTALL, STRIDE),
    ("link", INSTALL, STRIDE),
    ("link", UNINSTALL, STRIDE),
    ("project", (*INSTALL, *PROJECT), STRIDE),
    ("project", (*UPGRADE, *PROJECT), STRIDE),
    ("project", (*UNINSTALL, *PROJECT), STRIDE),
    ("absent project", (*INSTALL, *PROJECT), STRIDE),
    ("absent project", (*UNINSTALL, *PROJECT), STRIDE),
]


@pytest.mark.parametrize(("kind", "verb", "stride"), CASES, ids=[f"{k}-{v[0]}-{len(v)}" for k, v, _ in CASES])
def test_the_run_after_a_kill_ends_as_if_nothing_had_happened(
    kind: str, verb: tuple[str, ...], stride: int, isolated: Path
) -> None:
    path = prepared(isolated, kind, verb)
    start, old = tree(isolated), data_of(path)
    opposite = first(verb) if verb[0] == "uninstall" else last(verb)
    done = reached(isolated, start, verb)
    new = data_of(path)
    either = [reached(isolated, start, verb, opposite), reached(isolated, start, opposite)]
    assert old != new
    program = isolated / "data" / "guard" / "claude-user" / "hook.py"
    if "project" in kind:
        program = isolated / "work" / ".hookctl" / "guard" / "claude" / "hook.py"
    at = 1
    put_back(isolated, start)
    while killed(verb, at):
        left, torn = tree(isolated), data_of(path)
        assert torn in (old, new) or kind == "hard link", f"step {at}"
        assert b"hookctl=" not in (torn or b"") or program.exists(), f"step {at}: registered without its program"
        assert quiet("status") == 0
        assert quiet(*verb) == 0
        assert (at, outcome(isolated)) == (at, done)
        assert (at, temporary(isolated)) == (at, [])
        put_back(isolated, left)
        if at % 10 == 0:
            assert quiet("doctor", "--host", "claude") in (0, 1)
        assert quiet(*opposite) == 0
        assert outcome(isolated) in either, f"step {at}"
        assert (at, temporary(isolated)) == (at, [])
        put_back(isolated, start)
        at += stride
    assert at > 40
    assert outcome(isolated) == done


@pytest.mark.parametrize("verb", [INSTALL, UPGRADE, UNINSTALL], ids=["install", "upgrade", "uninstall"])
@pytest.mark.parametrize("kind", ["existing", "absent", "hard link", "project", "absent project"])
def test_what_somebody_writes_after_a_kill_survives(kind: str, verb: tuple[str, ...], isolated: Path) -> None:
    verb = (*verb, *PROJECT) if "project" in kind else verb
    path = prepared(isolated, kind, verb)
    start, original = tree(isolated), json.loads(THEIRS) if "absent" not in kind else {}
    at = 1
    while killed(verb, at):
        try:
            here = json.loads(data_of(path) or b"{}")
        except ValueError:  # torn in place; a host does not write over what it cannot read
            here = None
        if here is not None:
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
    prepared(isolated, "hard link", verb)
    start = tree(isolated)
    done = reached(isolated, start, verb)
    for first in range(30, 80, 7):
        put_back(isolated, start)
        if not killed(verb, first):
            break
        left, second = tree(isolated), 1
        while killed(verb, second):
            assert quiet(*verb) == 0
            assert outcome(isolated) == done
            put_back(isolated, left)
            second += 5


@pytest.mark.parametrize("extra", [b"", b"\n", b"}\n"])
def test_a_file_torn_in_place_is_told_from_an_edit_even_if_it_parses(extra: bytes, isolated: Path) -> None:
    """The new bytes are shorter here, and what is left of the old ones behind them may be blank."""
    path = isolated / "home" / ".claude" / "settings.json"
    put(path, b'{"env": {"MAX_STOP_BLOCKS": "5", "A": 1}}\n')
    os.link(path, path.with_name("second"))
    assert quiet(*INSTALL, "--force", "--set", "max_stop_blocks=10") == 0
    start = tree(isolated)
    verb = (*INSTALL, "--set", "max_stop_blocks=" + {b"": "11", b"\n": "9", b"}\n": "5"}[extra])
    done, new = reached(isolated, start, verb), path.read_bytes()
    for at in range(1, 200):
        put_back(isolated, start)
        if not killed(verb, at):
            break
        if path.read_bytes() == new + extra:
            assert quiet(*verb) == 0
            assert outcome(isolated) == done
            return
    assert not extra
