"""A receipt for every run: exact lines, no secret, and totals that lose nothing over full logs, kills and crowds."""

import json
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from hookctl.receipts import read_runs
from hookctl.system import guard_module

from .lab import name_of, never_falling, own_programs, run_and_kill
from .runner_bench import HOSTS, SHELLS, Bench, decide, nested

PRE = "PreToolUse"
LINE = {"kind": "run", "t": 1, "host": "droid", "session": "a" * 16, "event": PRE, "id": "p/x", "ms": 3, "status": 0,
        "outcome": "none", "bytes": 0}  # fmt: skip


def call(bench: Bench, host: str = "droid") -> dict[str, Any]:
    return bench.tool_call(host, SHELLS[host], {"command": "rm secret-argument"})


@pytest.mark.parametrize("host", HOSTS)
def test_a_receipts_line(bench: Bench, host: str) -> None:
    bench.environment["HOOKCTL_NOW"] = "1000"
    payload = call(bench, host)
    (receipt,) = bench.run(host, PRE, payload, "echo no >&2; sleep 0.1; exit 2").receipts
    assert 100 <= receipt.pop("ms") < 10_000
    assert (bench.state / "guard" / name_of(bench.project) / "project").read_text() == str(bench.project)
    assert receipt == {
        "kind": "run",
        "t": 1000,
        "host": host,
        "session": name_of(payload.get("session_id") or payload["sessionId"]),
        "event": PRE,
        "id": "p/x",
        "status": 2,
        "outcome": "deny",
        "bytes": 0,
    }
    assert bench.folder.joinpath("runs.jsonl").stat().st_mode & 0o777 == 0o600
    assert bench.folder.name == name_of(bench.project)


@pytest.mark.parametrize(
    ("host", "event", "answer", "size"),
    [
        ("claude", PRE, nested(additionalContext="é" * 5), 10),
        ("gemini", "UserPromptSubmit", "é" * 5 + "\n", 10),
        ("claude", "SessionStart", "12345\n", 5),
        ("claude", PRE, decide("deny", additionalContext="kept"), 4),
        ("hermes", PRE, nested(additionalContext="dropped"), 0),
        ("codex", PRE, decide("deny", additionalContext="dropped"), 0),
        ("droid", "PostToolUse", {"decision": "block", "reason": "feedback"}, 0),
    ],
)
def test_bytes_are_those_of_the_context(bench: Bench, host: str, event: str, answer: Any, size: int) -> None:
    (receipt,) = bench.say(host, event, answer).receipts
    assert receipt["bytes"] == size


def test_nothing_of_prompts_arguments_and_outputs_is_kept(bench: Bench) -> None:
    bench.environment["TOKEN"] = "secret-variable"
    command = "echo secret-output; echo secret-error >&2; exit {n}"
    for number in (0, 1, 2):
        options = ("--env", "A=secret-env", "--matcher", "Bash|secret-matcher")
        bench.run("droid", PRE, call(bench), command.replace("{n}", str(number)), *options)
        bench.run("gemini", "UserPromptSubmit", bench.payload("gemini", "UserPromptSubmit", prompt="secret-prompt"),
                  command.replace("{n}", str(number)))  # fmt: skip
    bench.run("droid", PRE, call(bench), "cat")
    bench.run("droid", PRE, b"secret-noise", "cat")
    written = [path for path in bench.state.rglob("*") if path.is_file()]
    assert written
    for path in written:
        assert b"secret" not in path.read_bytes()
        assert b"5b1f0c9e" not in path.read_bytes(), "sessions are hashed"


def test_calls_at_once_over_many_full_files_and_kills_are_counted_exactly(bench: Bench) -> None:
    """Each call has a hook of its own, so that each is accounted for: it has one receipt, or one at most if killed."""
    own_programs(bench.top)
    for path in bench.top.glob("runtime/*/receipts.py"):
        text = path.read_text()
        assert "LOG_LIMIT = 1024 * KIB" in text
        path.write_text(text.replace("LOG_LIMIT = 1024 * KIB", "LOG_LIMIT = 8 * KIB"))
    chance = random.Random(11)
    calls = [(number, chance.uniform(0.0, 0.08) if chance.random() < 0.3 else None) for number in range(200)]
    payload = call(bench)

    def one(number: int, kill_after: float | None) -> None:
        words = bench.command("droid", PRE, "exit 1" if number % 2 else ":")
        words[words.index("p/x")] = f"p/{number}"
        run_and_kill(words, bench.environment, payload, kill_after)

    def counted() -> int:
        return sum(runs.runs for runs in read_runs(str(bench.state)).values())

    with never_falling(counted, 0.02), ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda arguments: one(*arguments), calls))
    assert (bench.folder / "run-totals.json").exists(), "files were turned over twice at least"
    found = {name.id: runs for name, runs in read_runs(str(bench.state)).items()}
    for number, kill_after in calls:
        runs = found.pop(f"p/{number}", None)
        assert kill_after is not None or runs, f"the receipt of call {number} is lost"
        if runs:
            assert (runs.runs, runs.failures, sum(runs.buckets)) == (1, number % 2, 1)
    assert found == {}


BUCKETS = [(0, 0), (10, 0), (11, 1), (25, 1), (1000, 6), (1001, 7), (30_000, 10), (30_001, 11), (10**9, 11)]


@pytest.mark.parametrize(("ms", "bucket"), BUCKETS)
def test_twelve_buckets_of_time(ms: int, bucket: int) -> None:
    counts: dict[str, int] = {}
    line = {**LINE, "ms": ms, "outcome": "timeout", "bytes": 7}
    guard_module("receipts").add_run(counts, json.dumps(line).encode())
    name = f"droid {PRE} p/x"
    expected = {"runs": 1, "failures": 1, "ms": ms, "bytes": 7, f"le{bucket}": 1, "t": 1}
    assert counts == {f"{name} {key}": value for key, value in expected.items() if value}
