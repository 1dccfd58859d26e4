"""The one way to write a foreign file: links, modes, races, and what stays behind when something fails."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookctl.errors import HookctlError
from hookctl.system import files, folders
from hookctl.system.files import Changed
from tests.conftest import put

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No home is needed here, and no disk to wait for."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    return tmp_path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return put(tmp_path / "folder" / "settings.json", b"old")


def replace(path: Path, data: bytes | None, **options: Any) -> None:
    files.replace(files.read(str(path)), data, **options)


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def refused(code: str, call: Callable[..., Any], *arguments: Any) -> HookctlError:
    with pytest.raises(HookctlError) as caught:
        call(*arguments)
    assert caught.value.code == code
    return caught.value


@pytest.mark.parametrize("kind", ["fifo", "folder", "device", "socket"])
def test_anything_but_a_regular_file_is_refused_and_never_opened(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        os.mknod(path, stat.S_IFSOCK | 0o600)
    assert refused("unreadable", files.read, str(path)).exit_code == 4


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    refused("unreadable", files.read, str(tmp_path / "a"))
    assert "symbolic link loop" in refused("unreadable", files.real, str(tmp_path / "a")).message
    refused("unreadable", files.read, str(tmp_path / "a" / "settings.json"))


def test_a_huge_file_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path / "x", b"")
    os.truncate(path, files.LIMIT + 1)
    refused("unparsable", files.read, str(path))
    os.truncate(path, files.LIMIT)
    assert len(files.read(str(path)).data or b"") == files.LIMIT


@pytest.mark.parametrize("code", [errno.EACCES, errno.ESTALE])
def test_a_file_that_cannot_be_read_says_so(target: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    fail(monkeypatch, "open", code)
    assert "read access" in refused("unreadable", files.read, str(target)).hint


def test_a_new_file_is_private_unless_told_otherwise(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        replace(tmp_path / "a", b"new")
        replace(tmp_path / "b", b"new", mode=0o644)
    finally:
        os.umask(before)
    assert (mode(tmp_path / "a"), mode(tmp_path / "b")) == (0o600, 0o644)


def test_extended_attributes_are_kept_where_there_are_any(target: Path) -> None:
    try:
        os.setxattr(target, "user.note", b"theirs")
    except (OSError, AttributeError):
        pytest.skip("no extended attributes here")
    replace(target, b"new")
    assert os.getxattr(target, "user.note") == b"theirs"


def test_attributes_that_cannot_be_kept_stop_nothing(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fail(monkeypatch, "fchown", errno.EPERM)
    if hasattr(os, "listxattr"):
        fail(monkeypatch, "listxattr", errno.ENOTSUP)
    replace(target, b"new")
    assert target.read_bytes() == b"new"


# What may not be written
def written_at(path: Path) -> tuple[int, int, int, int]:
    """What changes with each write, and not with a reading, as the time of the last access does."""
    status = path.stat()
    return status.st_ino, status.st_mode, status.st_mtime_ns, status.st_ctime_ns


@pytest.mark.parametrize("data", [b"new", None])
@pytest.mark.parametrize("bits", [0o444, 0o555])
def test_a_read_only_file_is_refused_and_not_touched(target: Path, data: bytes | None, bits: int) -> None:
    target.chmod(bits)
    before, listed = written_at(target), names(target.parent)
    error = refused("read_only", replace, target, data)
    assert (error.exit_code, error.path) == (1, str(target))
    assert written_at(target) == before
    assert (target.read_bytes(), names(target.parent)) == (b"old", listed)


def test_a_file_that_was_changed_since_is_left_alone(target: Path) -> None:
    old = files.read(str(target))
    target.write_bytes(b"theirs")
    for data in (b"new", None):
        with pytest.raises(Changed):
            files.replace(old, data)
    assert target.read_bytes() == b"theirs"
    assert names(target.parent) == ["settings.json"]


@pytest.mark.parametrize("data", [b"new", None])
def test_a_file_that_was_removed_since_does_not_come_back(target: Path, data: bytes | None) -> None:
    old = files.read(str(target))
    target.unlink()
    with pytest.raises(Changed):
        files.replace(old, data)
    assert names(target.parent) == []


def test_a_link_that_now_leads_elsewhere_is_noticed(target: Path, tmp_path: Path) -> None:
    old = files.read(str(target))
    other = put(tmp_path / "other", b"old")
    target.unlink()
    target.symlink_to(other)
    with pytest.raises(Changed):
        files.replace(old, b"new")
    assert other.read_bytes() == b"old"


@pytest.mark.parametrize("step", ["write", "fchmod", "fsync"])
@pytest.mark.parametrize("foreign", [b"theirs", None])
def test_a_write_between_reading_and_replacing_is_never_lost(
    target: Path, monkeypatch: pytest.MonkeyPatch, step: str, foreign: bytes | None
) -> None:
    def interfere() -> None:
        target.unlink() if foreign is None else target.write_bytes(foreign)

    before(monkeypatch, step, interfere)
    with pytest.raises(Changed):
        replace(target, b"new")
    assert (target.read_bytes() if target.exists() else None) == foreign
    assert names(target.parent) == (["settings.json"] if foreign else [])


@pytest.mark.parametrize("step", ["fsync", "link"])
def test_a_new_file_never_takes_the_place_of_one_that_appeared_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    target = tmp_path / "folder" / "settings.json"
    target.parent.mkdir()
    before(monkeypatch, step, lambda: target.write_bytes(b"theirs"))
    with pytest.raises(Changed):
        replace(target, b"new")
    assert target.read_bytes() == b"theirs"
    assert names(target.parent) == ["settings.json"]


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS])
def test_a_file_system_without_hard_links_gets_the_new_file_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    fail(monkeypatch, "link", code)
    replace(tmp_path / "settings.json", b"new")
    assert (tmp_path / "settings.json").read_bytes() == b"new"
    assert names(tmp_path) == ["settings.json"]


# Something fails
def before(monkeypatch: pytest.MonkeyPatch, step: str, act: Callable[[], object]) -> None:
    """Do something right before the first call of an os function (`write`: of the temporary file's opening)."""
    name = "open" if step == "write" else step
    real, done = getattr(os, name), []

    def wrapped(*arguments: Any, **options: Any) -> Any:
        writes = name != "open" or arguments[1] & os.O_CREAT
        if writes and not done:
            done.append(True)
            act()
        return real(*arguments, **options)

    monkeypatch.setattr(os, name, wrapped)


def fail(monkeypatch: pytest.MonkeyPatch, name: str, code: int, *, writing: bool = False) -> None:
    """Every call of an os function raises this error; with `writing` only an open that makes a file."""
    real = getattr(os, name)

    def wrapped(*arguments: Any, **options: Any) -> Any:
        if writing and not arguments[1] & os.O_CREAT:
            return real(*arguments, **options)
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, name, wrapped)


CODES = [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EACCES, errno.EDQUOT]
EXISTING = ["open", "fchmod", "fsync", "replace", "stat"]
NEW = ["open", "fsync", "link"]


@pytest.mark.parametrize("code", CODES, ids=[errno.errorcode[code] for code in CODES])
@pytest.mark.parametrize(("exists", "call"), [(True, c) for c in EXISTING] + [(False, c) for c in NEW])
def test_a_failure_changes_nothing_and_leaves_nothing_behind(
    target: Path, monkeypatch: pytest.MonkeyPatch, exists: bool, call: str, code: int
) -> None:
    if not exists:
        target.unlink()
    old = files.read(str(target))
    with monkeypatch.context() as patch:
        fail(patch, call, code, writing=call == "open")
        with pytest.raises((HookctlError, Changed)) as caught:
            files.replace(old, b"new")
    if call != "stat":  # that one cannot tell whether somebody else was there
        expected = "read_only" if code in (errno.EACCES, errno.EROFS) else "write_failed"
        assert (caught.value.code, caught.value.exit_code) == (expected, 1)
    assert names(target.parent) == (["settings.json"] if exists else [])
    assert not exists or target.read_bytes() == b"old"


# hookctl's own files
@pytest.mark.parametrize("call", ["open", "fsync", "replace"])
def test_a_file_of_our_own_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = put(tmp_path / "state" / "ledger.json", b"one")
    with monkeypatch.context() as patch:
        fail(patch, call, errno.ENOSPC, writing=call == "open")
        refused("write_failed", files.write_own, str(path), b"two")
    assert path.read_bytes() == b"one"
    assert names(path.parent) == ["ledger.json"]


def dead() -> int:
    """The id of a process that has just ended."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def leftover(folder: Path, monkeypatch: pytest.MonkeyPatch, pid: int) -> Path:
    """A temporary file as a run of this process id makes it."""
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: pid)
        return put(Path(files.temporary_name(str(folder / "settings.json"))), b"half")


def test_only_temporary_files_of_dead_runs_of_this_machine_and_user_are_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = dead()
    swept = leftover(tmp_path, monkeypatch, gone)
    machine = swept.name.split(".")[-4]
    kept = [
        leftover(tmp_path, monkeypatch, 1),  # alive, and somebody else's
        put(tmp_path / swept.name.replace(machine, "0" * 8), b""),  # another machine's
        put(tmp_path / swept.name.removeprefix("."), b""),
        put(tmp_path / swept.name.removesuffix(".hookctl"), b""),
        put(tmp_path / f".{machine}.{gone}.hookctl", b""),
        put(tmp_path / f".x.{machine}.{gone}.0000.other", b""),
        put(tmp_path / f".x.{machine}.{gone}x.0000.hookctl", b""),
        put(tmp_path / f".x.{machine}.{'9' * 40}.0000.hookctl", b""),
        put(tmp_path / "settings.json", b""),
    ]
    put(tmp_path / swept.name.replace(swept.name[-12:-8], "beef") / "half", b"")  # a folder goes whole
    leftover(tmp_path, monkeypatch, os.getpid())  # goes too: a run sweeps when it writes nothing
    link = tmp_path / f".x.{machine}.{gone}.0000.hookctl"
    link.symlink_to("settings.json")
    assert files.sweep(str(tmp_path))
    assert names(tmp_path) == sorted(path.name for path in [*kept, link])


@AS_ROOT
def test_another_users_temporary_file_is_not_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = leftover(tmp_path, monkeypatch, dead())
    os.chown(path, 1234, 1234)
    assert files.sweep(str(tmp_path)) and path.exists()


# Backups
def own(state: Path) -> folders.Folders:
    return folders.Folders(str(state), str(state), {"HOME": "/home/u"}, str(state))


def test_the_first_backup_and_the_last_ten_are_kept_and_all_are_private(tmp_path: Path) -> None:
    here, state, path = own(tmp_path), str(tmp_path), "/somewhere/settings.json"
    for number in range(15):
        files.back_up(here, path, b"%d" % number, first=number == 0)
    folder = Path(files.backup_folder(here, path))
    assert (folder / "path").read_bytes() == b"/somewhere/settings.json\n"
    stamped = [name for name in names(folder) if name[0].isdigit()]
    assert [(folder / name).read_bytes() for name in stamped] == [b"%d" % number for number in range(5, 15)]
    assert {mode(folder / name) for name in names(folder)} == {0o600}
    assert len(names(folder)) == 12
    assert files.find_backup(state, files.digest(b"0")) == b"0"
    assert files.find_backup(state, files.digest(b"14")) == b"14"
    assert files.find_backup(state, files.digest(b"4")) is None
    assert files.backup_folders(state) == [str(folder)]
