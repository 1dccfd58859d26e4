"""hookctl log: what the guard decided, in order, filtered, and as it comes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookctl import events
from hookctl.system.project import session_hash

from .conftest import Hookctl, Outcome, put

NOW = 1_700_000_000


def event(t: Any = NOW, **fields: Any) -> dict[str, Any]:
    about = {"host": "claude", "session": session_hash("S1"), "event": "stop", "decision": "allow", "code": "no_work"}
    return {"t": t, **about, "blocks": 0, "attempts": 1, "progress": None, **fields}


@pytest.fixture
def guard(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the guard keeps its logs."""
    monkeypatch.setenv("HOOKCTL_NOW", str(NOW))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield isolated / "state" / "guard"
    monkeypatch.undo()
    time.tzset()


def write(path: Path, *events: Any) -> Path:
    return put(path, "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in events))


def times(outcome: Outcome) -> list[float]:
    assert outcome.code == 0, outcome
    return [event["t"] for event in outcome.data["events"]]


CODES = (
    "no_input", "config_error", "off", "child", "subagent", "not_owner", "inactive", "stop", "stale", "conclude",
    "background", "no_work", "blocked", "tripped", "open", "honor_active", "host_cap", "ceiling", "stop_loop",
    "went_on", "nudged", "state_error", "lock_timeout", "dispatch_refused", "allowed",
)  # fmt: skip


def test_every_code_of_the_hook_is_told_in_words_of_its_own(hookctl: Hookctl, guard: Path) -> None:
    assert tuple(events.CODES) == CODES
    write(guard / "x" / "events.jsonl", *(event(code=code, blocks=None, attempts=None) for code in CODES))
    lines = hookctl("log").out.splitlines()
    told = [line.partition(": ")[2] for line in lines]
    assert len(set(told)) == len(CODES)
    assert all(len(words.split()) >= 3 for words in told)


def test_the_hook_says_nothing_that_log_does_not_know() -> None:
    root = Path(__file__).parents[1]
    modules = [
        path for path in (root / "templates" / "guard").rglob("*.py") if path.name not in ("answer.py", "payload.py")
    ]
    source = "\n".join(path.read_text() for path in modules)  # without the words of the runner
    decided = set(re.findall(rf'"(?:{"|".join(events.DONE)})", "(\w+)"', source))
    assert {"tripped", "blocked", "no_work"} <= decided <= set(events.CODES)
    documented = re.findall(r"\[([a-z_]+)\](?!\()", (root / "docs" / "guard.md").read_text())
    assert {"off", "not_owner"} <= set(documented) <= set(events.CODES)


GARBAGE = [
    "", "{", "[]", "5", "null", '"t"', "{}", '{"t": null}', '{"t": "soon"}', '{"t": NaN}', '{"t": 1e400}',
    '{"t": -Infinity}', '{"t": 1e18}', '{"t": -5}', '{"t": []}', '{"t": 1, "code": 5}', '{"t": 1, "event": null}',
    '{"t": 1, "decision": {"a": 1}}', '{"t": 1, "host": []}', "[" * 100_000, '{"t": ' + "9" * 5000 + "}",
    '{"t": 1, "blocks": NaN}', '{"t": 1, "x": [1e999]}',
]  # fmt: skip


def test_lines_that_are_none_of_the_guards_are_passed_over(hookctl: Hookctl, guard: Path) -> None:
    write(guard / "x" / "events.jsonl", event(1), *GARBAGE, event(2))
    with (guard / "x" / "events.jsonl").open("ab") as stream:
        stream.write(b"\xff\xfe\x00\n" + json.dumps(event(3)).encode() + b"\r\n" + b'{"t": 4, "torn')
    outcome = hookctl("log", "--json")
    assert times(outcome) == [1, 2, 3]
    json.loads(outcome.out, parse_constant=pytest.fail)
    assert len(hookctl("log").out.splitlines()) == 3


# As it comes.


class Follower:
    """hookctl log --follow, as a process."""

    def __init__(self, *options: str) -> None:
        command = [sys.executable, "-m", "hookctl", "log", "--follow", *options]
        self.running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def line(self) -> str:
        assert self.running.stdout
        return self.running.stdout.readline().rstrip("\n")

    def end(self) -> tuple[int, str, str]:
        self.running.send_signal(signal.SIGINT)
        out, err = self.running.communicate(timeout=20)
        return self.running.returncode, out, err


def append(path: Path, *events: Any) -> None:
    with path.open("a") as stream:
        stream.writelines(json.dumps(line) + "\n" for line in events)


def test_follow_shows_what_comes_each_line_once_and_ends_with_130(guard: Path) -> None:
    path = write(guard / "x" / "events.jsonl", event(NOW, code="first"))
    follower = Follower()
    assert " first: " in follower.line()
    time.sleep(1.5)  # so that it looks while nothing is new
    append(path, event(NOW, code="second"), event(NOW, code="second"))  # equal lines are two stops
    assert " second: " in follower.line()
    assert " second: " in follower.line()
    path.rename(path.with_name("events.jsonl.1"))
    write(path, event(NOW, code="second"), event(NOW + 1, code="last"))
    assert " second: " in follower.line()
    assert " last: " in follower.line()
    code, out, err = follower.end()
    assert (code, out) == (130, "")
    assert err == "\nhookctl: interrupted\n"


def test_follow_filters_and_speaks_json(guard: Path) -> None:
    other = session_hash("S2")
    path = write(guard / "x" / "events.jsonl", event(NOW - 9999), event(NOW, session=other), event(NOW - 1))
    follower = Follower("--json", "--session", "S1", "--since", "1h")
    assert json.loads(follower.line())["t"] == NOW - 1
    append(path, event(NOW, session=other), event(NOW))
    assert json.loads(follower.line())["t"] == NOW
    assert follower.end()[:2] == (130, "")


def test_follow_survives_many_rotations(guard: Path) -> None:
    """Each line once, whatever is renamed or gone while it looks."""
    path = write(guard / "x" / "events.jsonl", event(0))
    follower = Follower("--json")
    assert json.loads(follower.line())["t"] == 0
    for t in range(1, 5):
        path.rename(path.with_name("events.jsonl.1"))
        write(path, event(t))
        assert json.loads(follower.line())["t"] == t
    path.with_name("events.jsonl.1").unlink()
    append(path, event(9))
    assert json.loads(follower.line())["t"] == 9
    assert follower.end()[:2] == (130, "")


def test_follow_ends_where_nobody_reads_it_any_more(guard: Path) -> None:
    path = write(guard / "x" / "events.jsonl", event(code="first"))
    follower = Follower()
    assert " first: " in follower.line()
    assert follower.running.stdout and follower.running.stderr
    follower.running.stdout.close()
    append(path, event(code="second"))
    assert follower.running.wait(20) == 0
    assert follower.running.stderr.read() == ""
    follower.running.stderr.close()


# Runs of hooks.

RUN = {"bytes": 0, "event": "PreToolUse", "host": "claude", "id": "p/x", "kind": "run", "ms": 23, "outcome": "deny",
       "session": session_hash("S1"), "status": 0, "t": NOW}  # fmt: skip


def run(**fields: Any) -> str:
    return json.dumps({**RUN, **fields}, sort_keys=True, separators=(",", ":"))


def test_follow_shows_runs_as_they_come_over_full_files(guard: Path) -> None:
    path = write(guard / "x" / "runs.jsonl", run(ms=1))
    follower = Follower("--runs")
    assert follower.line().endswith("p/x: 1 ms")
    write(guard / "x" / "events.jsonl", event(NOW, code="between"))
    assert " between: " in follower.line()
    path.rename(path.with_name("runs.jsonl.1"))
    write(path, run(ms=2, bytes=9))
    assert follower.line().endswith("p/x: 2 ms, 9 bytes of context")
    assert follower.end()[0] == 130
    follower = Follower("--json", "--since", "1h")
    assert [json.loads(follower.line()).get("ms") for _ in range(3)] == [None, 1, 2]
    assert follower.end()[0] == 130
