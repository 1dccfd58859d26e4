"""Functions of the guard's programs, each called alone, where something is odd or missing."""

from __future__ import annotations

import json
import os
import posix
import pwd
import stat
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.templates.lab import Lab
from tests.templates.modules import module


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "lab")


# Values


# Files and folders


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


# Whose work it is


def stop_of(tmp_path: Path, **fields: Any) -> SimpleNamespace:
    """What a stop of the session S1 has, as far as the owner is asked for."""
    settings = SimpleNamespace(claim=True, owner="", run_dir=str(tmp_path), work_hours=12)
    host = SimpleNamespace(process="")
    call = SimpleNamespace(session="S1", settings=settings, host=host, host_name="claude", process="")
    call.task_path, call.task_owner = str(tmp_path / "task.json"), ""
    call.now, call.folder, call.project_folder = time.time(), str(tmp_path), str(tmp_path)
    vars(call).update(fields)
    call.holder = module("work").Holder(call)
    return call


@pytest.mark.parametrize(("since", "is_free"), [(4_102_444_801, True), (1_800_000_060, False)])
def test_a_claim_from_the_future_holds_nobody(tmp_path: Path, since: int, is_free: bool) -> None:
    call = stop_of(tmp_path)
    call.now = 1_800_000_000
    (tmp_path / "taken").write_text(json.dumps({"session": "somebody", "t": since}))
    assert module("work").Holder(call).is_free(call) is is_free


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


# The wrapper


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
