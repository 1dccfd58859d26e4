"""Functions of the guard's programs, each called alone, where something is odd or missing."""

from __future__ import annotations

import os
import posix
import pwd
import stat
from types import SimpleNamespace

import pytest

from tests.templates.modules import module


def test_a_locked_guard_has_its_state_where_no_variable_says(monkeypatch: pytest.MonkeyPatch) -> None:
    project = module("call")
    monkeypatch.setenv("XDG_STATE_HOME", "/elsewhere")
    assert project.default_state_dir("/home/u") == "/elsewhere/hookctl"
    assert project.default_state_dir("/home/u", locked=True).startswith(pwd.getpwuid(os.getuid()).pw_dir + "/")


@pytest.mark.parametrize(("kind", "is_safe"), [(stat.S_IFDIR, True), (stat.S_IFREG, False)])
def test_a_sticky_bit_protects_what_is_in_a_folder_and_no_file(
    kind: int, is_safe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To whoever may write it."""
    files, status = module("files"), SimpleNamespace(st_uid=0, st_mode=kind | 0o1777)
    stubs = {"stat": lambda _: status, "geteuid": lambda: 1234, "access": lambda *_: True}
    monkeypatch.setattr(files, "posix", SimpleNamespace(**{**vars(posix), **stubs}))
    assert files.is_out_of_reach("/x") is is_safe


def held(_: object) -> str:
    raise BlockingIOError


@pytest.mark.parametrize(
    ("take", "said"),
    [
        (held, ("release", "lock_timeout", 2)),
        (lambda _: "not_owner", ("allow", "not_owner", 0)),
        (lambda _: "state_error", ("release", "state_error", 2)),
        (lambda _: "", ("block", "blocked", 3)),
    ],
)
def test_a_block_is_said_only_once_the_work_is_held(
    take: object, said: tuple[str, str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = module("stop")
    monkeypatch.setattr(stop, "take_work", take)
    assert stop.hold_work(None, 3) == said


def test_a_wrapper_that_fails_ends_with_0(monkeypatch: pytest.MonkeyPatch) -> None:
    wrapped, ends = module("wrapped"), []

    def fail(*_: str) -> int:
        raise MemoryError

    monkeypatch.setattr(wrapped, "run_other", fail)
    monkeypatch.setattr(wrapped, "os", SimpleNamespace(_exit=ends.append))
    wrapped.prepare(["stop", "--host", "claude", "true"])()
    assert ends == [0]


def test_a_denial_that_cannot_be_judged_holds_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    wrapped = module("wrapped")
    monkeypatch.setattr(wrapped, "read_call", fail)
    assert wrapped.is_released(("stop", "claude", ""), "true", SimpleNamespace(data=b""))
