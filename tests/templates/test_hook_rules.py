"""The hook's rules one by one: what no sequence of stops shows."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.documents.table import read_table
from tests.texts import all_of

from .lab import PYTHON, TABLE, WAKE_TEXT, Lab, letter, name_of
from .modules import module


def test_a_block_says_what_remains_and_nothing_to_do_is_silent(lab: Lab) -> None:
    assert lab.call("stop") == ""
    lab.task(remaining=2)
    reason = "Work remains (2). Continue with the next step. "
    reason += "To wait for something, run one command that blocks until it is there; do not poll. "
    reason += f"If less remains, set `remaining` in {lab.run}/task.json. "
    reason += f"If this work is not yours, make the file {lab.run}/STOP: then no session here is held."
    assert json.loads(lab.call("stop")) == {"decision": "block", "reason": reason}


@pytest.mark.parametrize("words", ["", "stop", "stop --host", "pre-compact --host claude", "stop --to claude",
                                   "stop --config claude"])  # fmt: skip
def test_unknown_events_hosts_and_arguments_answer_nothing(lab: Lab, words: str) -> None:
    lab.task(remaining=2)
    done = lab.run_command([PYTHON, "-I", "-S", str(lab.hook), *words.split()])
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not lab.state.exists()


def test_a_closed_stdout_is_no_fault(lab: Lab) -> None:
    lab.task(remaining=2)
    read, write = os.pipe()
    os.close(read)
    with open(write, "wb") as broken:
        done = subprocess.run(
            lab.command("stop"), input=json.dumps(lab.payload).encode(), stdout=broken, stderr=subprocess.PIPE,
            env=lab.environment, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "stdin",
    [b"", b"{nope", b"[]", b"null", b"\xff\xfe", b"{} x", b'{"session_id": 5}', b"[" * 100_000, b'{"a":' * 100_000,
     b" " * 17_000_000],
    ids=lambda text: repr(text[:9]),
)  # fmt: skip
def test_unusable_input_lets_go_and_is_logged_beside_the_projects(lab: Lab, stdin: bytes) -> None:
    lab.task(remaining=2)
    assert lab.raw("stop", stdin) == ""
    (line,) = [json.loads(text) for text in (lab.state / "guard" / "events.jsonl").read_text().splitlines()]
    assert (line["decision"], line["code"], line["session"]) == ("allow", "no_input", None)


def test_input_just_below_the_limit_is_read_and_just_above_is_not(lab: Lab) -> None:
    lab.task(remaining=2)
    text = json.dumps({**lab.payload, "last_assistant_message": ""}).encode()
    limit = 16 * 1024 * 1024
    assert letter(lab.raw("stop", text + b" " * (limit - len(text)))) == "B"
    assert letter(lab.raw("stop", text + b" " * (limit - len(text) + 1))) == "A"


def test_a_byte_order_mark_and_broken_utf8_are_read_over(lab: Lab) -> None:
    lab.task(remaining=2)
    text = json.dumps({**lab.payload, "last_assistant_message": "@"}).encode()
    assert letter(lab.raw("stop", b"\xef\xbb\xbf" + text.replace(b"@", b"\xff"))) == "B"


def test_stdin_that_never_ends_does_not_hold_the_agent(lab: Lab) -> None:
    lab.config(lock_ms=0).task(remaining=2)
    process = subprocess.Popen(lab.command("stop"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=lab.environment)
    begin = time.monotonic()
    assert process.wait(timeout=10) == 0
    assert time.monotonic() - begin < 3
    assert process.stdin and process.stdout
    process.stdin.close()
    assert process.stdout.read() == b""
    process.stdout.close()
    assert lab.codes() == ["no_input"]


def test_a_blocked_alarm_is_no_way_to_hang(lab: Lab) -> None:
    def block() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])

    begin = time.monotonic()
    command, environ = lab.command("stop"), lab.environment
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environ, preexec_fn=block, cwd=lab.root) as child:
        assert child.wait(20) == 0
    assert time.monotonic() - begin < 15


@pytest.mark.parametrize("session", ["../../../x", "a/b\0c", "\ud800", "x" * 100_000, "..", "\n"])
def test_a_hostile_session_id_stays_inside_the_state_folder(lab: Lab, session: str) -> None:
    lab.task(remaining=2)
    before = lab.tree()
    assert lab.stop(session_id=session) == "B"
    assert [path for path in lab.tree() if lab.state not in path.parents] == [*before, lab.state]
    for path in lab.state.rglob("*"):
        assert set(path.name) <= set("0123456789abcdef.guardeventsjsonlockproject") and len(path.name) < 30


@pytest.mark.parametrize("is_sub", [True, False])
def test_a_droids_subagent_that_stops_as_a_session_of_its_own_may_stop_too(lab: Lab, is_sub: bool) -> None:
    """By its transcript; by its payload: scenarios/every-host.txt."""
    lab.host, transcript = "droid", lab.root / "own.jsonl"
    first = {"type": "session_start", "title": "a" * 9000, **({"callingSessionId": "M"} if is_sub else {})}
    transcript.write_text(json.dumps(first) + '\n{"callingSessionId": "no"}\n')
    lab.task(remaining=2)
    lab.stop(session_id="S9", transcript_path=str(transcript))
    assert lab.codes() == ["subagent" if is_sub else "blocked"]


@all_of("wrong", [row[0] for row in read_table("wrong-tables", Path(__file__).parent / "rows")])
def test_a_hosts_words_of_the_wrong_type_are_noticed(wrong: str) -> None:
    table = {**TABLE, "claude": {**TABLE["claude"], **json.loads(wrong)}}
    assert module("hosts").find_host(table, "claude", {}) is None


def test_the_hosts_variable_comes_before_the_payload_and_the_payload_before_the_process(lab: Lab) -> None:
    other = lab.root / "other"
    other.mkdir()
    fields: dict[str, Any]
    for variable, fields, project in (
        (other, {}, other),
        ("gone", {}, lab.project),
        ("gone", {"cwd": 5, "working_dir": str(other)}, other),
        ("gone", {"cwd": ""}, lab.root),
    ):
        shutil.rmtree(lab.state, ignore_errors=True)
        lab.environment["CLAUDE_PROJECT_DIR"] = str(lab.root / variable)
        lab.stop(**fields)
        assert [path.name for path in lab.state.glob("guard/*") if path.is_dir()] == [name_of(project)]
    assert (lab.state / "guard" / "events.jsonl").exists()


@pytest.mark.parametrize(("host", "blocks", "values"), read_table("caps", Path(__file__).parent / "rows"))
def test_the_cap_is_read_as_the_host_reads_it(
    monkeypatch: pytest.MonkeyPatch, host: str, blocks: str, values: str
) -> None:
    dialects, limit = module("hosts"), json.loads(blocks)
    for value in json.loads(values):
        monkeypatch.setattr(dialects, "env", lambda name, value=value: value)
        expected = (dialects.NO_CAP if limit is None else limit, host == "claude")
        assert dialects.read_cap(TABLE[host]["cap"]) == expected, value


def test_the_ring_holds_the_last_32_calls_and_a_repeated_one_stays_longer(lab: Lab) -> None:
    for number in (*range(32), 0, 32):
        lab.call("post-tool", tool_name="Bash", tool_input=number)
    assert (lab.session()["acts"], len(lab.session()["ring"])) == (33, 32)
    lab.call("post-tool", tool_name="Bash", tool_input=0)
    assert lab.session()["acts"] == 33
    lab.call("post-tool", tool_name="Bash", tool_input=1)
    assert lab.session()["acts"] == 34


def test_a_line_of_which_the_rest_is_still_to_come_is_read_when_it_is_whole(lab: Lab) -> None:
    lab.config(max_stop_blocks=1).task(remaining=2)
    lab.says()
    assert lab.stop() == "B"
    before = lab.transcript.read_bytes()
    lab.calls("new")
    line = lab.transcript.read_bytes()[len(before) :]
    lab.transcript.write_bytes(before + line[:-9])
    assert lab.stop(True) == "R"
    lab.transcript.write_bytes(before + line)
    assert lab.stop(True) == "B"


def test_another_payload_is_another_stop(lab: Lab) -> None:
    lab.config(max_stop_blocks=1).task(remaining=2)
    other = lab.second()
    assert lab.stop() + lab.stop(False, other, transcript_path="x") == "BR"


def test_a_folder_that_has_answered_begins_a_new_stop(lab: Lab) -> None:
    lab.config(max_stop_blocks=1).task(remaining=2)
    other = lab.second()
    assert lab.stop() + lab.stop(False, other) + lab.stop(False, other) + lab.stop() == "BBRR"
    assert lab.session()["trips"] == 1


def test_the_log_has_one_line_a_stop_with_exactly_these_keys(lab: Lab) -> None:
    lab.environment["HOOKCTL_NOW"] = "1763755200.9"
    lab.task(remaining=2, heartbeat=1)
    lab.stop()
    lab.task(remaining=2, heartbeat=2)
    lab.stop(True)
    session = name_of("S1")
    common = {"t": 1763755200, "host": "claude", "session": session, "event": "stop"}
    assert lab.log() == [
        {**common, "decision": "block", "code": "blocked", "blocks": 1, "attempts": 1, "progress": None},
        {**common, "decision": "block", "code": "blocked", "blocks": 1, "attempts": 1, "progress": "hard"},
    ]


def test_sessions_that_nobody_touched_for_a_month_are_swept(lab: Lab) -> None:
    for session in ("old", "young", "younger than a month"):
        lab.stop(session_id=session)
    folder = next(lab.state.glob("guard/*"))
    (folder / "RESPAWN_REQUESTED").touch()
    (folder / "dispatch.json").touch()
    (folder / "ACTIVE").touch()
    old = name_of("old")
    for path in folder.iterdir():
        age = 30 * 24 * 3600 + (60 if path.name.startswith(old) or path.name.startswith(("R", "d", "A")) else -60)
        os.utime(path, (time.time() - age,) * 2)
    kept = {path.name for path in folder.iterdir() if not path.name.startswith(old)}
    lab.stop(session_id="young")
    assert list(folder.glob(old + "*"))
    lab.stop(session_id="new")
    assert {path.name for path in folder.iterdir()} > kept
    assert not list(folder.glob(old + "*"))


def test_a_held_lock_is_waited_for_and_then_let_go(lab: Lab) -> None:
    lab.config(lock_ms=300).task(remaining=2)
    lab.stop()
    with open(f"{lab.session_file()}.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        begin = time.monotonic()
        assert lab.stop(True) == "R"
        assert 0.3 <= time.monotonic() - begin < 1.3
        assert "another process holds its state; work remains (2)" in lab.call("stop")
        lab.task(remaining=0)
        assert lab.call("post-tool", tool_name="B") + lab.call("prompt") == ""
    assert lab.codes()[1:] == ["lock_timeout"] * 3  # two stops and a tool call that has run
    assert lab.session()["blocks"] == 1


@pytest.mark.parametrize(
    ("mode", "mark", "answer"),
    [
        *[("breaker", "", "R"), ("breaker", "CONCLUDE", "A"), ("breaker", "STOP", "A"), ("breaker", "OWNER", "A")],
        *[("keepalive", "", "R"), ("keepalive", "STOP", "A"), ("guard", "", "A")],
    ],
)
def test_a_held_lock_is_spoken_of_where_the_agent_was_to_go_on(lab: Lab, mode: str, mark: str, answer: str) -> None:
    lab.config(mode=mode, lock_ms=50).task(remaining=0 if mode == "keepalive" else 2)
    lab.arm()
    lab.stop()
    if mark:
        lab.mark(mark, "S9")
    with open(f"{lab.session_file()}.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert (lab.stop(True), lab.codes()[-1]) == (answer, "lock_timeout")


def test_forty_at_once_are_counted_exactly(lab: Lab) -> None:
    lab.config(lock_ms=5000, max_stop_blocks=10, end_foreign_chains=False).task(remaining=2)
    with ThreadPoolExecutor(40) as pool:
        answers = list(pool.map(lambda number: lab.call("post-tool", tool_name="Bash", tool_input=number), range(40)))
        assert (answers, lab.session()["acts"]) == ([""] * 40, 40)
        letters = sorted(pool.map(lambda _: lab.stop(), range(40)))
    assert "".join(letters) == "A" * 29 + "B" * 10 + "R"
    assert len(lab.log()) == 40


def test_nothing_is_written_through_a_planted_link(lab: Lab) -> None:
    victim = lab.root / "victim"
    victim.write_text("precious")
    lab.task(remaining=3)
    assert lab.stop() == "B"
    (state,) = lab.folder.glob("*.json")
    state.with_name(state.name + ".tmp").symlink_to(victim)
    assert lab.stop(True) == "B"
    assert victim.read_text() == "precious"
    for name in (f"{state.name}.lock", "events.jsonl"):
        (lab.folder / name).unlink()
        (lab.folder / name).symlink_to(victim)
        assert lab.stop(True) in ("A", "B", "R")
        assert victim.read_text() == "precious"
        (lab.folder / name).unlink()


# A transcript that is still being written while the hook reads it.

# In front of the hook: what the host writes while the hook sleeps for the first time.
LATE = """
import time
slept = []
def late(_):
    slept or open({path!r}, "a").write({text!r})
    slept.append(1)
time.sleep = late
"""


def written_late(lab: Lab, *write: Callable[[], object]) -> None:
    before = lab.transcript.read_text()
    for line in write:
        line()
    text = lab.transcript.read_text()[len(before) :]
    lab.transcript.write_text(before)
    lab.hook.write_text(LATE.format(path=str(lab.transcript), text=text) + lab.hook.read_text())


def call_and_words(lab: Lab, name: str) -> list[Callable[[], object]]:
    return [lambda: lab.calls("late", name=name), lambda: lab.says("the very last words")]


@pytest.mark.parametrize(("text", "expected"), [(WAKE_TEXT, "A"), ("go on", "B")])
def test_who_began_a_turn_is_known_although_the_host_writes_it_down_late(lab: Lab, text: str, expected: str) -> None:
    """A quick turn: the hook of its stop runs before the entry that says so is in the transcript."""
    lab.task(remaining=2)
    lab.asks(promptId="p")
    assert lab.stops("0111111", prompt_id="p") == "BBBBBRA"
    written_late(lab, lambda: lab.asks(text, promptId="w"))
    assert lab.stop(prompt_id="w") == expected


def test_a_call_that_is_written_late_in_a_chain_is_progress(lab: Lab) -> None:
    lab.config(max_stop_blocks=1).task(remaining=2)
    lab.says("first")
    assert lab.stop() == "B"
    written_late(lab, *call_and_words(lab, "Bash"))
    assert lab.stop(True, last_assistant_message="the very last words") == "B"


def test_a_required_call_that_is_written_late_is_seen_at_the_first_stop(lab: Lab) -> None:
    lab.config(required_tools=["finish"])
    lab.says("first")
    written_late(lab, *call_and_words(lab, "finish"))
    assert lab.stop(last_assistant_message="the very last words") == "A"


@pytest.mark.parametrize(("before", "active"), [("", False), ("", True), ("B", False)])
def test_nobody_waits_at_the_first_stop_of_a_chain(lab: Lab, before: str, active: bool) -> None:
    """There is nothing to compare with: what was called before is the baseline."""
    lab.task(remaining=2)
    lab.says("first")
    assert lab.stops("0" * len(before)) == before
    size = lab.transcript.stat().st_size
    written_late(lab, *call_and_words(lab, "Bash"))
    assert lab.stop(active, last_assistant_message="the very last words") == "B"
    assert lab.transcript.stat().st_size == size
