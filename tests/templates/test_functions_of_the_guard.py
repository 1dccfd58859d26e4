"""Functions of the guard's programs, each called alone, where something is odd or missing."""

from __future__ import annotations

import json
import os
import posix
import pwd
import runpy
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.templates.lab import TEMPLATES, Lab
from tests.templates.modules import module
from tests.templates.wraps import Wrapped


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "lab")


# Values


@pytest.mark.parametrize(
    ("words", "kept"), [("done", b"done"), ('say "x"', b""), ("caf\u00e9", b""), ("a\tb", b""), (None, b"")]
)
def test_last_words_that_json_would_escape_are_none(words: object, kept: bytes) -> None:
    assert module("progress").last_words({"last_assistant_message": words}) == kept


def test_a_line_break_in_a_text_is_no_json() -> None:
    with pytest.raises(ValueError, match="control character"):
        module("files").parse(b'{"a": "1\n2"}')


def test_of_too_many_refused_calls_those_refused_most_often_are_kept() -> None:
    dispatch = module("dispatch")
    counts = {str(number): number for number in range(dispatch.RING_LIMIT + 1)}
    kept = dispatch.drop_lowest(counts)
    assert counts.items() - kept.items() == {("0", 0)}


@pytest.mark.parametrize(("word", "denied"), [("deny", True), ("allow", False)])
def test_an_answer_is_a_denial_by_the_words_of_the_host(word: str, denied: bool) -> None:
    outcome = SimpleNamespace(status=0, out=f'{{"permission": "{word}"}}'.encode(), err=b"")
    assert module("wrapped").is_denial({"words": {"permission": "deny"}}, outcome) is denied


# Files and folders


def test_what_cannot_be_swept_stays_and_the_rest_goes(tmp_path: Path) -> None:
    state, folder = module("state"), tmp_path / "sessions"
    folder.mkdir()
    stuck, old, new = (folder / f"{digit * 16}.json" for digit in "012")
    stuck.mkdir()
    old.write_text("{}")
    new.write_text("{}")
    long_ago = time.time() - 2 * state.SWEEP_AFTER
    for path in (stuck, old):
        os.utime(path, (long_ago, long_ago))
    state.sweep(SimpleNamespace(now=time.time(), folder=str(folder)))
    assert sorted(folder.iterdir()) == [stuck, new]


def test_an_old_log_of_a_mebibyte_is_counted_whole(tmp_path: Path) -> None:
    rotation = module("rotation")
    line = json.dumps({"host": "claude", "event": "stop", "decision": "allow", "code": "no_work"})
    (tmp_path / "events.jsonl.1").write_text(f"{line:1023}\n" * 1024)
    assert rotation.keep_totals(str(tmp_path))
    assert rotation.read_totals(str(tmp_path))["counts"] == {"claude stop allow no_work": 1024}


def test_without_home_and_without_an_entry_there_is_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.delenv("HOME")
    assert module("call").home_folder() == pwd.getpwuid(os.getuid()).pw_dir
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    with pytest.raises(KeyError):
        module("call").home_folder()


def test_a_locked_guard_has_its_state_where_no_variable_says(monkeypatch: pytest.MonkeyPatch) -> None:
    project = module("call")
    monkeypatch.setenv("XDG_STATE_HOME", "/elsewhere")
    assert project.default_state_dir("/home/u") == "/elsewhere/hookctl"
    assert project.default_state_dir("/home/u", locked=True).startswith(pwd.getpwuid(os.getuid()).pw_dir + "/")


@pytest.mark.parametrize(("file", "folder"), [("hook.py", "/start"), ("./hook.py", "/start/."), ("/at/hook.py", "/at")])
def test_the_launchers_folder_is_absolute(file: str, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[module("call").__package__], "__file__", file, raising=False)
    assert module("call").launchers_folder("/start") == folder


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


def test_work_without_a_file_is_not_stale(tmp_path: Path) -> None:
    call = stop_of(tmp_path)
    assert not module("work").is_stale(call)
    (tmp_path / "task.json").write_text("{}")
    call.now += 13 * 3600
    assert module("work").is_stale(call)


@pytest.mark.parametrize(("since", "is_free"), [(4_102_444_801, True), (1_800_000_060, False)])
def test_a_claim_from_the_future_holds_nobody(tmp_path: Path, since: int, is_free: bool) -> None:
    call = stop_of(tmp_path)
    call.now = 1_800_000_000
    (tmp_path / "taken").write_text(json.dumps({"session": "somebody", "t": since}))
    assert module("work").Holder(call).is_free(call) is is_free


def test_of_two_sessions_the_one_that_locks_first_takes_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = module("work")
    call = stop_of(tmp_path)
    other = {"session": "another", "owner": "", "t": int(call.now)}
    monkeypatch.setattr(owner, "lock_claim", lambda _: owner.save_object(str(tmp_path / "taken"), other))
    assert owner.take_work(call) == "not_owner"
    assert owner.read_claim(call) == other


def test_without_proc_no_process_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: str) -> str:
        raise FileNotFoundError

    owner = module("work")
    monkeypatch.setattr(owner, "posix", SimpleNamespace(**{**vars(posix), "readlink": missing}))
    assert owner.name_machine() == ""
    assert owner.describe_process(str(os.getpid())) == ""
    assert owner.is_gone("1 2 3:4") is None


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


def test_a_signal_that_was_ignored_stays_so_in_the_other_hook(lab: Lab) -> None:
    wrapped = Wrapped(lab, "kill -HUP $$; echo lives")
    for action, out in ((signal.SIG_IGN, b"lives\n"), (signal.SIG_DFL, b"")):
        done = subprocess.run(
            wrapped.words(), env=lab.environment, stdin=subprocess.DEVNULL, capture_output=True, check=False,
            preexec_fn=lambda action=action: signal.signal(signal.SIGHUP, action),
        )  # fmt: skip
        assert done.stdout == out


def test_a_signal_before_the_other_hook_starts_is_sent_on_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    other_hook, sent = module("wrapped"), []
    before = {number: signal.getsignal(number) for number in other_hook.SIGNALS}

    def start(*_: object) -> SimpleNamespace:
        os.kill(os.getpid(), signal.SIGTERM)
        return SimpleNamespace(send_signal=sent.append)

    monkeypatch.setattr(other_hook, "start", start)
    try:
        _, feeder = other_hook.begin("true", bytearray())
        feeder.join(5)
    finally:
        for number, action in before.items():
            signal.signal(number, action)
    assert (sent, feeder.is_alive()) == ([signal.SIGTERM], False)


def test_input_that_cannot_be_read_is_none_for_the_other_hook(lab: Lab) -> None:
    wrapped = Wrapped(lab, "wc -c")
    with (lab.root / "input").open("wb") as stdin:  # for writing alone
        done = subprocess.run(wrapped.words(), env=lab.environment, stdin=stdin, capture_output=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, b"0")


def test_a_program_that_is_imported_runs_nothing() -> None:
    assert runpy.run_path(str(TEMPLATES / "hook.py"), run_name="imported")["FOLDER"] == str(TEMPLATES)
