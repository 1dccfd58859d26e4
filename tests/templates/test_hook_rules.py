"""The hook's rules one by one: what no sequence of stops shows."""

import fcntl
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from .lab import PYTHON, TABLE, WAKE_TEXT, Lab, letter, name_of, spoil
from .modules import module

# --- the answer ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["claude", "opencode", "cursor"])  # the form of every other host: test_every_host.py
def test_a_block_says_what_remains_and_nothing_to_do_is_silent(lab: Lab, host: str) -> None:
    lab.host = host
    assert lab.call("stop") == ""
    lab.task(remaining=2)
    reason = "Work remains (2). Continue with the next step. "
    reason += "To wait for something, run one command that blocks until it is there; do not poll. "
    reason += f"If less remains, set `remaining` in {lab.run}/task.json. "
    reason += f"If this work is not yours, make the file {lab.run}/STOP: then no session here is held."
    expected = {"followup_message": reason} if host == "cursor" else {"decision": "block", "reason": reason}
    assert json.loads(lab.call("stop", conversation_id="other", session_id="")) == expected


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["stop"],
        ["stop", "--host"],
        ["pre-compact", "--host", "claude"],
        ["stop", "--to", "claude"],
        ["stop", "--config", "claude"],
    ],
)
def test_unknown_events_hosts_and_arguments_answer_nothing(lab: Lab, arguments: list[str]) -> None:
    lab.task(remaining=2)
    done = lab.run_command([PYTHON, "-I", "-S", str(lab.hook), *arguments])
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not lab.state.exists()


def test_a_closed_stdout_is_no_fault(lab: Lab) -> None:
    lab.task(remaining=2)
    read, write = os.pipe()
    os.close(read)
    with open(write, "wb") as broken:
        done = subprocess.run(
            lab.command("stop"),
            input=json.dumps(lab.payload).encode(),
            stdout=broken,
            stderr=subprocess.PIPE,
            env=lab.environment,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")


# --- input, session, flag --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stdin",
    [
        b"",
        b"{nope",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"{} x",
        b'{"session_id": 5}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b" " * 17_000_000,
    ],
    ids=lambda text: repr(text[:9]),
)
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


def test_the_hosts_variable_names_the_session_that_the_payload_does_not(lab: Lab) -> None:
    """Which variable is whose: tests/test_wire.py."""
    lab.config(claim=False).task(remaining=2)
    lab.environment["CLAUDE_CODE_SESSION_ID"] = "S9"
    assert lab.stop() + lab.stop(session_id="") == "BB"
    assert sorted(path.stem for path in lab.folder.glob("*.json")) == sorted([name_of("S1"), name_of("S9")])
    del lab.environment["CLAUDE_CODE_SESSION_ID"]
    assert (lab.stop(session_id=""), lab.stop(session_id=None)) == ("A", "A")


@pytest.mark.parametrize("session", ["../../../x", "a/b\0c", "\ud800", "x" * 100_000, "..", "\n"])
def test_a_hostile_session_id_stays_inside_the_state_folder(lab: Lab, session: str) -> None:
    lab.task(remaining=2)
    before = lab.tree()
    assert lab.stop(session_id=session) == "B"
    assert [path for path in lab.tree() if lab.state not in path.parents] == [*before, lab.state]
    for path in lab.state.rglob("*"):
        assert set(path.name) <= set("0123456789abcdef.guardeventsjsonlockproject") and len(path.name) < 30


@pytest.mark.parametrize(
    ("flag", "active"),
    [("true", True), ("false", False), ("on", True), ("no", False), (1, True), (0, False), (None, False)],
)
def test_the_flag_counts_by_its_meaning(lab: Lab, flag: object, active: bool) -> None:
    lab.config(honor_stop_hook_active=True).task(remaining=2)
    assert lab.stop(None, stop_hook_active=flag) == ("A" if active else "B")
    assert lab.stop(None, stopHookActive=flag) == ("A" if active else "B")


@pytest.mark.parametrize("is_sub", [True, False])
@pytest.mark.parametrize("way", ["droid's transcript", "droid's field", "hermes"])
def test_a_subagent_that_stops_as_a_session_of_its_own_may_stop_too(lab: Lab, way: str, is_sub: bool) -> None:
    lab.host = way[: -len("'s transcript")] if "transcript" in way else way.removesuffix("'s field")
    first = {"type": "session_start", "title": "a" * 9000, **({"callingSessionId": "M"} if is_sub else {})}
    transcript = lab.root / "own.jsonl"
    transcript.write_text(json.dumps(first if "transcript" in way else {}) + '\n{"callingSessionId": "no"}\n')
    fields = {
        "droid's transcript": {"transcript_path": str(transcript)},
        "droid's field": {"transcript_path": str(transcript), **({"calling_session_id": "M"} if is_sub else {})},
        "hermes": {"extra": {"platform": "subagent" if is_sub else "cli", "attempt": 0}},
    }[way]
    lab.task(remaining=2)
    lab.stop(None if way == "hermes" else False, session_id="S9", **fields)
    assert lab.codes() == ["subagent" if is_sub else "blocked"]


# --- knobs -----------------------------------------------------------------------------------------------------------


BROKEN = [
    *["{", "[]", "null", "", "\xff", '{"mode": "off"} x', '{"reason": "' + "x" * 65536 + '"}'],
    *[
        '{"hosts": {}}',
        '{"hosts": {"claude": 1}}',
        '{"hosts": []}',
        '{"hosts": null}',
        '{"hosts": {"claude": {"block": 3}}}',
    ],
]


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: repr(text[:40]))
def test_a_broken_configuration_lets_go_and_is_logged_at_a_stop_and_a_tool_call(lab: Lab, text: str) -> None:
    lab.task(remaining=2)
    lab.configuration.write_bytes(text.encode("latin-1"))
    lab.environment.update(
        HOOKCTL_DEBUG="1", HOOKCTL_DISPATCH_TOOLS="*", HOOKCTL_DISPATCH_MAX="1"
    )  # no error is swallowed
    assert (lab.stop(), lab.codes()) == ("A", ["config_error"])
    assert [lab.call(event, tool_name="B", tool_input={}) for event in ("prompt", "post-tool", "pre-tool")] == [""] * 3
    assert lab.attempts("a", 2) == "AA"
    assert lab.codes() == ["config_error"] * 4


WRONG_ENTRIES: list[dict] = [
    *({name: 3} for name in ("block", "release", "end", "refuse", "project", "session", "cap", "payload")),
    *({name: None} for name in ("block", "cap", "payload", "also_run_by")),
    *({"payload": {name: 3}} for name in ("tells_forced", "transcript", "attempts", "given_up", "same_event")),
    *({"payload": {name: 3}} for name in ("reasons_as_prompts", "turn_of_each_call")),
    *({"payload": {name: [{}]}} for name in ("attempts", "given_up", "same_event")),
    *({"cap": {"default": 8, name: value}} for name, value in (("key", 3), ("most", "9"), ("counts_anew", 1))),
    *({"cap": {"default": 8, "overrides_last": value}} for value in ("yes", [])),
    *({"cap": {"key": "X", "default": value}} for value in ("8", None, True)),
    {"cap": {"key": "X"}},
    *({"also_run_by": value} for value in (3, {"other": 3}, {"other": {}}, {"other": {"variable": 3}})),
    *({"also_run_by": {"other": {name: [{}]}}} for name in ("with", "without", "with_any")),
    *({"also_run_by": {"other": {name: "ab"}}} for name in ("with", "without", "with_any")),
]


@pytest.mark.parametrize("wrong", WRONG_ENTRIES, ids=json.dumps)
def test_a_hosts_words_of_the_wrong_type_are_noticed(wrong: dict) -> None:
    table = {**TABLE, "claude": {**TABLE["claude"], **wrong}}
    assert module("hosts").find_host(table, "claude", {}) is None


def test_the_task_file_and_the_run_folder_can_lie_elsewhere(lab: Lab) -> None:
    (lab.project / "plan.json").write_text('{"remaining": 3}')
    lab.config(task_file="plan.json")
    assert lab.stop() == "B"
    lab.config(run_dir="runs")
    (lab.project / "runs").mkdir()
    (lab.project / "runs" / "task.json").write_text('{"remaining": 3}')
    assert lab.stop() == "B"
    elsewhere = lab.root / "elsewhere"
    elsewhere.mkdir()
    lab.environment["HOOKCTL_RUN_DIR"] = str(elsewhere)
    assert lab.stop() == "A"
    (elsewhere / "task.json").write_text('{"remaining": 3}')
    assert lab.stop() == "B"


# --- the project and the state folder --------------------------------------------------------------------------------


def project_of(lab: Lab) -> str:
    (folder,) = [path for path in lab.state.glob("guard/*") if path.is_dir()]
    return folder.name


def test_the_hosts_variable_comes_before_the_payload_and_the_payload_before_the_process(lab: Lab) -> None:
    other = lab.root / "other"
    other.mkdir()
    lab.environment["CLAUDE_PROJECT_DIR"] = str(other)
    lab.stop()
    assert project_of(lab) == name_of(other)
    shutil.rmtree(lab.state)
    lab.environment["CLAUDE_PROJECT_DIR"] = str(lab.root / "gone")
    lab.stop()
    assert project_of(lab) == name_of(lab.project)
    shutil.rmtree(lab.state)
    lab.stop(cwd=5, working_dir=str(other))
    assert project_of(lab) == name_of(other)
    shutil.rmtree(lab.state)
    lab.stop(cwd="")
    assert project_of(lab) == name_of(lab.root)
    assert (lab.state / "guard" / "events.jsonl").exists()


# --- the host's cap, the ceiling -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "blocks"),
    [
        *[("3", 3), (" 3 ", 3), ("3.7", 3), ("3abc", 3), ("+3", 3), ("3e", 3), ("1", 1), ("1_0", 1), ("1e1", 10)],
        *[(None, 8), ("", 8), ("abc", 8), (".5", 8), ("Infinity", 8), ("1e400", 8), ("\u0663", 8)],
        *[("0", None), ("-1", None), ("0x3", None), ("0.5", None), ("-0", None)],
    ],
)
def test_the_cap_is_read_as_the_host_reads_it(
    monkeypatch: pytest.MonkeyPatch, value: str | None, blocks: int | None
) -> None:
    dialects = module("hosts")
    monkeypatch.setattr(dialects, "env", lambda name: value or "")
    limit, counts_anew = dialects.read_cap(TABLE["claude"]["cap"])
    assert (limit, counts_anew) == (blocks or dialects.NO_CAP, True)


# --- human prompts and wake-ups --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"text": WAKE_TEXT},
        {"text": "x", "origin": {"kind": "task-notification"}},
        {"text": "x", "turnOrigin": "task_notification"},
    ],
)
def test_a_wake_up_gives_nothing_back(lab: Lab, fields: dict) -> None:
    lab.config(max_stop_blocks=2, end_foreign_chains=False).task(remaining=2)
    lab.asks("do it")
    assert lab.stops("011", prompt_id="p") == "BBR"
    lab.asks(**fields)
    lab.asks("Stop hook feedback:\ngo on", isMeta=True)
    lab.append({"type": "user", "message": {"content": [{"type": "tool_result", "content": "x"}]}})
    lab.append({"type": "user", "isSidechain": True, "message": {"content": "a subagent's"}})
    assert lab.stops("01", prompt_id="w") == "AA"
    lab.asks('a human who quotes "task-notification" and "<task-notification>"')
    assert lab.stops("0", prompt_id="q") == "B"


@pytest.mark.parametrize("event", ["prompt", "post-tool"])
@pytest.mark.parametrize("gate", ["off", "child", "subagent", "no session", "broken configuration"])
def test_prompt_and_tool_events_keep_to_the_gates(lab: Lab, event: str, gate: str) -> None:
    fields = {"subagent": {"agent_id": "a"}, "no session": {"session_id": ""}}.get(gate, {})
    if gate == "off":
        lab.config(mode="off")
    elif gate == "child":
        lab.environment["HOOKCTL_CHILD"] = "1"
    elif gate == "broken configuration":
        lab.configuration.write_text("{")
    assert lab.call(event, prompt="x", tool_name="Bash", tool_input={}, **fields) == ""
    assert not lab.state.exists()


# --- tool calls ------------------------------------------------------------------------------------------------------


def test_the_ring_holds_the_last_32_calls_and_a_repeated_one_stays_longer(lab: Lab) -> None:
    for number in (*range(32), 0, 32):
        lab.call("post-tool", tool_name="Bash", tool_input=number)
    assert (lab.session()["acts"], len(lab.session()["ring"])) == (33, 32)
    lab.call("post-tool", tool_name="Bash", tool_input=0)
    assert lab.session()["acts"] == 33
    lab.call("post-tool", tool_name="Bash", tool_input=1)
    assert lab.session()["acts"] == 34


@pytest.mark.parametrize(
    "line",
    [
        '"tool_use"',
        'null "tool_use"',
        '["tool_use"]',
        '{"message": ["tool_use"]}',
        '{"message": {"content": {"type": "tool_use"}}}',
        '{"message": {"content": [null, "tool_use", {"type": null}, [{"type": "tool_use"}]]}}',
        '{"type": "api-request-blob", "message": {"content": [{"type": "tool_use", "name": "B", "input": {}}]}}',
        '{"isSidechain": true, "message": {"content": [{"type": "tool_use", "name": "B", "input": {}}]}}',
        '{"message": {"content": [{"type": "tool_use", "name": "B", "inp',
        '{"message": "tool_use", "payload": {"message": 5}}',
        '{"message": {"content": 5, "x": "tool_use"}}',
        '{"payload": "tool_use", "x": {}}',
        '{"text": "{\\"type\\": \\"tool_use\\"}"}',
        '{"type": "function_call_output", "x": "function_call"}',
        "[" * 100_000 + '"tool_use"}',
    ],
)
def test_what_only_looks_like_a_call_is_none(lab: Lab, line: str) -> None:
    lab.config(max_stop_blocks=1).task(remaining=2)
    lab.says()
    assert lab.stop() == "B"
    lab.append(line)
    assert lab.stop(True) == "R"


def test_a_wake_up_is_known_as_one_although_the_host_writes_it_down_late(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quick turn: the hook of its stop runs before the entry that says who began it is in the transcript."""
    progress, sessions = module("progress"), module("state")
    call = module("call").Call("stop")
    call.active, call.flag, call.loops, call.transcript = False, False, None, str(lab.transcript)
    call.host = module("hosts").Host("claude", TABLE["claude"])
    call.settings = module("settings").Settings({})
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            lab.asks(WAKE_TEXT, promptId="w")

    def observe(prompt: str, state: object) -> None:
        call.payload = {"prompt_id": prompt}
        progress.observe(call, state, "", 2)

    monkeypatch.setattr(time, "sleep", wait)
    state = sessions.Session({"blocks": 3, "open": True})
    lab.asks(promptId="p")
    observe("p", state)
    assert (state.open, waits) == (False, []), "nothing is waited for at the first stop of a session"
    state.blocks, state.open = 3, True
    observe("w", state)
    assert (state.blocks, state.open, len(waits)) == (3, True, 2)
    observe("w", state)
    assert len(waits) == 2
    lab.asks("go on", promptId="q")
    observe("q", state)
    assert (state.blocks, state.open, len(waits)) == (0, False, 2)


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


# --- one stop, several registrations ---------------------------------------------------------------------------------


def test_another_payload_is_another_stop(lab: Lab) -> None:
    lab.config(max_stop_blocks=1).task(remaining=2)
    other = lab.second()
    assert lab.stop() + lab.stop(False, other, transcript_path="x") == "BR"


def test_a_folder_that_has_answered_begins_a_new_stop(lab: Lab) -> None:
    lab.config(max_stop_blocks=1).task(remaining=2)
    other = lab.second()
    assert lab.stop() + lab.stop(False, other) + lab.stop(False, other) + lab.stop() == "BBRR"
    assert lab.session()["trips"] == 1


# --- files -----------------------------------------------------------------------------------------------------------


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
        lab.mark("CONCLUDE")
        assert lab.stop(True) == "A"
        lab.task(remaining=0)
        assert lab.call("post-tool", tool_name="B") + lab.call("prompt") == ""
    assert lab.codes()[1:] == ["lock_timeout"] * 4  # three stops and a tool call that has run
    assert lab.session()["blocks"] == 1


@pytest.mark.parametrize(
    ("mode", "mark", "answer"),
    [
        ("breaker", "", "R"),
        ("breaker", "CONCLUDE", "A"),
        ("breaker", "STOP", "A"),
        ("breaker", "OWNER", "A"),
        ("keepalive", "", "R"),
        ("keepalive", "STOP", "A"),
        ("guard", "", "A"),
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


# --- hostile and broken files ----------------------------------------------------------------------------------------


HOWS = ["fifo", "zero", "loop", "folder", "noise", "nul", "deep", "digits"]


@pytest.mark.parametrize("how", [how for how in HOWS if how != "digits"])
def test_a_spoilt_configuration_lets_go(lab: Lab, how: str) -> None:
    lab.task(remaining=2)
    lab.configuration.unlink()
    spoil(lab.configuration, how)
    assert (lab.stop(), lab.codes()) == ("A", ["config_error"])


@pytest.mark.parametrize("how", HOWS)
def test_a_spoilt_transcript_is_no_progress(lab: Lab, how: str) -> None:
    lab.config(max_stop_blocks=1).task(remaining=2)
    spoil(lab.transcript, how)
    assert lab.stops("01", transcript_path=str(lab.transcript)) == "BR"


@pytest.mark.parametrize("how", ["noise", "nul", "deep", "digits"])
def test_a_spoilt_session_starts_over_and_stays_bounded(lab: Lab, how: str) -> None:
    lab.config(max_stop_blocks=2).task(remaining=2)
    assert lab.stop() == "B"
    path = lab.session_file()
    spoil(path, how)
    assert lab.stops("111") == "BBR"


def test_a_temporary_file_that_is_a_link_is_replaced(lab: Lab) -> None:
    lab.task(remaining=2)
    lab.stop()
    temporary, target = Path(f"{lab.session_file()}.tmp"), lab.root / "theirs"
    target.write_text("theirs")
    temporary.symlink_to(target)
    assert lab.stops("1") == "B"
    assert (target.read_text(), temporary.is_symlink()) == ("theirs", False)


@pytest.mark.parametrize("where", ["state", "guard", "project", "lock", "events"])
@pytest.mark.parametrize("how", ["file", "fifo", "loop"])
def test_a_spoilt_state_folder_lets_go(lab: Lab, where: str, how: str) -> None:
    lab.task(remaining=2)
    folder = lab.state / "guard" / name_of(lab.project)
    lock = folder / (name_of("S1") + ".json.lock")
    path = {
        "state": lab.state,
        "guard": lab.state / "guard",
        "project": folder,
        "lock": lock,
        "events": folder / "events.jsonl",
    }[where]
    path.parent.mkdir(parents=True, exist_ok=True)
    if how != "file":
        spoil(path, how)
    elif where in ("lock", "events"):
        path.mkdir()
    else:
        path.write_text("a file")
    assert lab.stop() == ("B" if where == "events" else "R"), "said to a person"
    logged = [json.loads(line) for log in lab.state.glob("guard/**/events.jsonl") if log.is_file()
              for line in log.read_text().splitlines()]  # fmt: skip
    if where == "events":
        assert [line["code"] for line in logged] == ["blocked"]
    elif where in ("lock", "project"):
        assert [line["code"] for line in logged] == ["state_error"]
        assert logged[0]["error"] and str(path) in logged[0]["path"]
    else:
        assert logged == [], "nowhere to write it"


# How far the hook goes along with a number that others chose.


@pytest.mark.parametrize(
    ("value", "blocks"),
    [
        *[("0", 7), ("-5", 0), ("1", 0), ("2", 1), ("4", 3), ("x", 7), ("", 7)],
        *[("100", 99), ("101", 99), ("5000", 99)],
    ],
)
def test_qwens_cap_is_read_as_it_reads_it(lab: Lab, value: str, blocks: int) -> None:
    lab.config(max_stop_blocks=0).task(remaining=1)
    lab.environment["QWEN_CODE_STOP_HOOK_BLOCK_CAP"] = value
    lab.host = "qwen"
    flags = "0" + "1" * blocks
    if blocks > 10:
        assert lab.stop() == "B"
        lab.edit(host=blocks - 2)  # as many blocks later
        flags = "11"
    assert lab.stops(flags) == "B" * (len(flags) - 1) + "R"
    assert lab.codes()[-1] == "host_cap"


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


def written_late(lab: Lab, name: str) -> None:
    before = lab.transcript.read_text()
    lab.calls("late", name=name)
    lab.says("the very last words")
    text = lab.transcript.read_text()[len(before) :]
    lab.transcript.write_text(before)
    lab.hook.write_text(LATE.format(path=str(lab.transcript), text=text) + lab.hook.read_text())


def test_a_call_that_is_written_late_in_a_chain_is_progress(lab: Lab) -> None:
    lab.config(max_stop_blocks=1).task(remaining=2)
    lab.says("first")
    assert lab.stop() == "B"
    written_late(lab, "Bash")
    assert lab.stop(True, last_assistant_message="the very last words") == "B"


def test_a_required_call_that_is_written_late_is_seen_at_the_first_stop(lab: Lab) -> None:
    lab.config(required_tools=["finish"])
    lab.says("first")
    written_late(lab, "finish")
    assert lab.stop(last_assistant_message="the very last words") == "A"


@pytest.mark.parametrize(("before", "active"), [("", False), ("", True), ("B", False)])
def test_nobody_waits_at_the_first_stop_of_a_chain(lab: Lab, before: str, active: bool) -> None:
    """There is nothing to compare with: what was called before is the baseline."""
    lab.task(remaining=2)
    lab.says("first")
    assert lab.stops("0" * len(before)) == before
    size = lab.transcript.stat().st_size
    written_late(lab, "Bash")
    assert lab.stop(active, last_assistant_message="the very last words") == "B"
    assert lab.transcript.stat().st_size == size


# The nudge: one reminder before the agent leaves without having called a required tool.


UNSCOPED: dict[str, Any] = {"required_tools": ["kanban_complete"]}

REQUIRED_NAMES = ("kanban_complete", "mcp__board__kanban_complete", "mcp__a__b__kanban_complete", "a.b.kanban_complete")
OTHER_NAMES = (
    *("my_kanban_complete", "mykanban_complete", "board-kanban_complete", "board/kanban_complete"),
    *("kanban_complete2", "kanban_complete.board", "mcp__kanban_complete__x", "Kanban_Complete", "complete", ""),
)


@pytest.mark.parametrize("how", ["event", "transcript"])
def test_a_required_tool_is_known_by_its_whole_name_or_its_end(lab: Lab, how: str) -> None:
    """All other names at once, then each required one in a session of its own."""
    lab.config(**UNSCOPED)
    call_tools(lab, how, "S1", OTHER_NAMES)
    assert lab.stop() == "B"
    for name in REQUIRED_NAMES:
        lab.transcript.unlink(missing_ok=True)
        call_tools(lab, how, name, [name])
        assert lab.stop(session_id=name) == "A", name


def call_tools(lab: Lab, how: str, session: str, names: Iterable[str]) -> None:
    """Let a session call these tools; the hook learns it by an event or from the transcript."""
    for name in names:
        if how == "event":
            lab.call("post-tool", session_id=session, tool_name=name, tool_input={"id": 1})
        else:
            lab.calls("x", name=name)
