"""The runner among broken commands, payloads and folders: in time, status 0, one object or nothing, never silent."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.documents.table import document_of, read_table

from .runner_bench import Bench, is_root
from .wraps import alive as is_alive

HERE = Path(__file__).parent
PRE = "PreToolUse"
STRICT = ("--on-failure", "deny")
NO = 'echo \'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}\''


def call(bench: Bench, host: str = "droid") -> dict[str, Any]:
    return bench.tool_call(host, {"droid": "Execute", "claude": "Bash"}[host], {"command": "rm x"})


def is_refusal(ran: Any) -> bool:
    return (ran.answer or {}).get("hookSpecificOutput", {}).get("permissionDecision") == "deny"


def alive(path: Path) -> bool:
    return is_alive(int(path.read_text()))


NONSENSE = {name: document_of(command).decode() for name, command in read_table("nonsense", HERE / "rows")}


@pytest.mark.parametrize("what", NONSENSE)
def test_nonsense_changes_nothing_unless_it_is_to_refuse(bench: Bench, what: str) -> None:
    ran = bench.run("droid", PRE, call(bench), NONSENSE[what])
    assert (ran.stdout, ran.outcome) == (b"", "failed")
    strict = bench.run("droid", PRE, call(bench), NONSENSE[what], *STRICT)
    assert is_refusal(strict)
    assert strict.outcome == "failed"
    claude = bench.run("claude", PRE, call(bench, "claude"), NONSENSE[what], *STRICT)
    assert is_refusal(claude), "also on the host that speaks the protocol"


@pytest.mark.parametrize(("command", "is_text"), [("head -c 100000000 /dev/zero", False), ("yes", True)])
def test_endless_output_is_cut_off(bench: Bench, command: str, is_text: bool) -> None:
    begin = time.monotonic()
    ran = bench.run("droid", PRE, call(bench), command, "--timeout", "2", *STRICT)
    assert is_refusal(ran)
    assert ran.outcome == ("timeout" if is_text else "failed")
    assert time.monotonic() - begin < 8


STUCK = {
    "sleeps": "sleep 60",
    "ignores TERM": "trap '' TERM; while :; do sleep 1; done",
    "closed its outputs": "exec >&- 2>&-; sleep 60",
    "stopped": "kill -STOP $$",
    "child that ignores TERM": "(trap '' TERM; sleep 60) & wait",
}


@pytest.mark.parametrize("what", STUCK)
def test_a_command_that_never_ends_is_ended_in_time(bench: Bench, what: str) -> None:
    pid = bench.root / "pid"
    begin = time.monotonic()
    ran = bench.run("droid", PRE, call(bench), f"echo $$ > {pid}; {STUCK[what]}", "--timeout", "1", *STRICT)
    assert time.monotonic() - begin < 6
    assert (is_refusal(ran), ran.outcome) == (True, "timeout")
    assert not alive(pid)


MUCH = "head -c 17000000 /dev/zero | tr '\\0' ' '"


@pytest.mark.parametrize(
    "command", [f"{NO}; sleep 60", f"{NO}; {MUCH}", f"{NO}; exit 3", f"{MUCH}; exit 2", "echo x{; exit 2"]
)
def test_a_refusal_outranks_every_failure(bench: Bench, command: str) -> None:
    ran = bench.run("droid", PRE, call(bench), command, "--timeout", "2")
    assert (is_refusal(ran), ran.outcome) == (True, "deny")


def test_no_refusal_is_lost_for_its_length(bench: Bench) -> None:
    """What the hook prints is short enough; for a host each of its characters takes twelve bytes."""
    answer = json.dumps({"decision": "block", "reason": "\U0001f600" * 3_000_000}, ensure_ascii=False)
    for host in ("droid", "opencode", "pi", "claude"):
        ran = bench.say(host, PRE, answer)
        assert (ran.outcome, len(ran.stdout) < 1 << 24) == ("deny", True), host


def test_a_time_out_lets_the_call_go_and_is_told(bench: Bench) -> None:
    ran = bench.run("gemini", PRE, bench.tool_call("gemini", "x", {}), "sleep 60", "--timeout", "0.3")
    assert ran.answer == {"systemMessage": "hookctl: the hook p/x failed: it took too long"}
    assert ran.outcome == "timeout"


def test_children_in_the_background_live_on_and_nobody_waits(bench: Bench) -> None:
    pid = bench.root / "pid"
    begin = time.monotonic()
    ran = bench.run("droid", PRE, call(bench), f"sleep 30 & echo $! > {pid}; {NO}")
    assert time.monotonic() - begin < 5
    assert is_refusal(ran)
    assert alive(pid)
    os.kill(int(pid.read_text()), signal.SIGKILL)


def start(bench: Bench, words: list[str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=bench.environment)


def test_a_host_that_ends_the_runner_ends_the_command(bench: Bench) -> None:
    pid = bench.root / "pid"
    words = bench.command("droid", PRE, f"echo $$ > {pid}.new; mv {pid}.new {pid}; sleep 60", "--timeout", "60")
    with start(bench, words) as process:
        assert process.stdin
        process.stdin.write(json.dumps(call(bench)).encode())
        process.stdin.close()
        while not pid.exists():
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    assert not alive(pid)


def test_a_file_of_the_pack_that_is_gone_is_a_failure(bench: Bench) -> None:
    folder = bench.root / "it's files"
    folder.mkdir()
    (folder / "a.sh").write_text(NO)
    options = ("--files", str(folder), "--file", "a.sh")
    assert is_refusal(bench.run("droid", PRE, call(bench), "sh {files}/a.sh", *options))
    (folder / "a.sh").unlink()
    (folder / "a.sh").symlink_to("gone.sh")
    ran = bench.run("droid", PRE, call(bench), "exit 2", *options)
    assert (ran.stdout, ran.outcome, ran.receipts[0]["status"]) == (b"", "failed", None)
    assert is_refusal(bench.run("droid", PRE, call(bench), "exit 2", *options, *STRICT))


UNREADABLE = {
    "nothing": b"",
    "noise": b"\0\xff{",
    "broken": b'{"tool_name":"Execute"',
    "a list": b'[{"tool_name":"Execute"}]',
    "two": b"{}{}",
    "deep": b'{"a":' + b"[" * 100_000,
    "too large": b'{"tool_name":"Execute","a":"' + b"x" * (17 << 20) + b'"}',
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_a_payload_that_cannot_be_read_counts_as_a_failure(bench: Bench, what: str) -> None:
    ran = bench.run("droid", PRE, UNREADABLE[what], NO)
    assert (ran.stdout, ran.outcome) == (b"", "failed")
    assert is_refusal(bench.run("droid", PRE, UNREADABLE[what], NO, *STRICT))


def test_a_stdin_that_the_host_never_closes_ends_in_time(bench: Bench) -> None:
    words = bench.command("droid", PRE, NO, *STRICT)
    begin = time.monotonic()
    with start(bench, words) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(call(bench)).encode())
        process.stdin.flush()
        assert b'"deny"' in process.stdout.read()
        assert process.wait(10) == 0
    assert time.monotonic() - begin < 12


ODD = [None, 7, -1.5, True, "", "x", "\ud800", [], [1, "a"], {}, {"a": {"b": [None]}}, "{", '{"a": 1}', "9" * 400]
FIELDS = ["session_id", "cwd", "hook_event_name", "transcript_path", "tool_name", "tool_input", "tool_response"]
FIELDS += ["prompt", "message_id", "extra", "toolName", "toolArgs", "working_dir", "message", "mcp_context", "agent_id"]
HOSTS_BY_TURN = ["codex", "gemini", "qwen", "copilot", "opencode", "openhands", "droid", "hermes", "vibe", "claude"]


@pytest.mark.parametrize("host", HOSTS_BY_TURN)
def test_odd_values_in_any_field_never_hide_a_refusal(bench: Bench, host: str) -> None:
    start = HOSTS_BY_TURN.index(host)
    for number, value in enumerate(ODD):
        name = FIELDS[(start + number) % len(FIELDS)]
        odd = {**bench.tool_call(host, "Execute", {"command": "x"}), name: value}
        everywhere = {**dict.fromkeys(FIELDS, value), "cwd": value}
        ran = bench.run(host, PRE, odd if number % 2 else everywhere, "echo no >&2; exit 2", *STRICT)
        assert b"no" in ran.stdout, (host, name, value)
        if number % 3 == start % 3:
            bench.run(host, "PostToolUse", everywhere, "echo no >&2; exit 2")


@pytest.mark.parametrize("depth", [200, 800, 990, 2000, 5000])
def test_deep_nesting_is_asked_about_or_refused(bench: Bench, depth: int) -> None:
    data = json.dumps(call(bench))[:-1].encode() + b',"a":' + b"[" * depth + b"]" * depth + b"}"
    assert is_refusal(bench.run("droid", PRE, data, NO, *STRICT))


@pytest.mark.skipif(is_root(), reason="root may write anywhere")
def test_a_state_folder_that_cannot_be_written_costs_the_receipt_alone(bench: Bench) -> None:
    bench.state.mkdir(mode=0o500)
    assert is_refusal(bench.run("droid", PRE, call(bench), NO))


HOSTS_TABLES = (b"{}", b"[]", b'{"droid":7}', b'{"droid":{"cap":7}}')


@pytest.mark.parametrize("table", [None, b"", b"{", b"[]", *(b'{"hosts":%s}' % hosts for hosts in HOSTS_TABLES)])
def test_without_a_table_nothing_can_be_said(bench: Bench, table: bytes | None) -> None:
    bench.table.unlink()
    if table is not None:
        bench.table.write_bytes(table)
    ran = bench.run("droid", PRE, call(bench), NO, *STRICT)
    assert (ran.stdout, ran.receipts) == (b"", [])
