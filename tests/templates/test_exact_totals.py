"""The counts stay exact and never fall: hooks at once, hooks that are killed, a log that is turned over meanwhile."""

import json
import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookctl import receipts

from .lab import Lab, never_falling, run_and_kill
from .modules import module

ONE: dict[str, Any] = {"dispatch_tools": ["Task"], "dispatch_max": 1, "dispatch_window_s": 300, "lock_ms": 5000}
STOP = {"t": 1, "host": "claude", "session": "a" * 16, "event": "stop", "decision": "allow", "code": "no_work"}


def counted(lab: Lab, code: str = "dispatch_refused") -> int:
    counts = receipts.count(str(lab.state))
    return sum(number for (_, kind), number in counts.items() if kind.code == code)


def nearly_full(lab: Lab, room: int) -> int:
    """Fill the log with stops but for some bytes; how many there are."""
    line = json.dumps(STOP) + "\n"
    number = (256 * 1024 - room) // len(line)
    lab.folder.mkdir(parents=True, exist_ok=True)
    (lab.folder / "events.jsonl").write_text(line * number)
    return number


def test_a_runaway_in_parallel_loses_no_count_and_no_decision(lab: Lab) -> None:
    lab.config(**ONE)
    stops = nearly_full(lab, 400)
    with never_falling(lambda: counted(lab), 0.005), ThreadPoolExecutor(6) as pool:
        answers = "".join(pool.map(lambda _: lab.attempt("a"), range(130)))
    assert (answers.count("A"), counted(lab)) == (1, 129)
    assert counted(lab, "no_work") == stops
    lines = [line for line in lab.log() if line["code"] == "dispatch_refused"]
    assert len(lines) <= 4


def test_hooks_at_once_turn_the_log_over_without_losing_a_stop(lab: Lab) -> None:
    stops = nearly_full(lab, 1500)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda number: lab.stop(session_id=f"S{number}"), range(40)))
    assert (lab.folder / "events.jsonl.1").exists()
    assert counted(lab, "no_work") == stops + 40
    nearly_full(lab, 0)
    lab.stop(session_id="last")
    assert (lab.folder / "totals.json").exists()


def test_hooks_that_are_killed_at_any_moment_leave_exact_counts(lab: Lab) -> None:
    lab.config(**{**ONE, "dispatch_window_s": 2})
    chance = random.Random(5)
    begin, before = time.monotonic(), 0
    run_and_kill(lab.command("pre-tool"), lab.environment, lab.payload, None)  # as long as a call takes here
    span = time.monotonic() - begin
    for number in range(60):
        lab.environment["HOOKCTL_NOW"] = str(1000 + number // 3)
        call = {**lab.payload, "tool_name": "Task", "tool_input": {"n": number % 2}}
        run_and_kill(lab.command("pre-tool"), lab.environment, call, chance.uniform(0.0, 3 * span))
        state = lab.folder / "dispatch.json"
        trips = json.loads(state.read_text())["trips"] if state.exists() else 0
        assert counted(lab) == trips >= before
        before = trips
    assert before > 0, "some of them came as far"


# The totals of the log: a line counts once, however often the log was turned over, and whoever was killed.
rotation = module("rotation")
HOSTS = st.sampled_from(["claude", "codex"])
LINES = st.builds(
    lambda host, code, more: {"t": 5, "host": host, "event": "stop", "decision": "allow", "code": code, **more},
    HOSTS,
    st.sampled_from(["no_work", "blocked", "dispatch_refused"]),
    st.sampled_from([{}, {"ignored": True}, {"refusals": 7}, {"refusals": "x"}, {"refusals": -4}]),
)
ODD = st.sampled_from([b"", b"{}", b"[1]", b"no json", b'{"host": 5}', b'{"host": "a b", "event": "", "code": "c"}'])


def expected(lines: list[dict[str, object]]) -> Counter[tuple[str, receipts.Kind]]:
    """By a count of its own, line by line."""
    counts: Counter[tuple[str, receipts.Kind]] = Counter()
    for line in lines:
        kind = receipts.Kind(str(line["host"]), "stop", "allow", str(line["code"]))
        number = line.get("refusals", 1)
        if isinstance(number, int) and number > 0:
            counts["p", kind] += number
        if line.get("ignored"):
            counts["p", kind._replace(decision="", code="ignored")] += 1
    return counts


STEPS = st.lists(st.one_of(LINES, ODD, st.sampled_from(["turn", "killed"])), max_size=40)


@settings(deadline=None, max_examples=120, suppress_health_check=list(HealthCheck))
@given(steps=STEPS)
def test_every_line_is_counted_once(tmp_path_factory: pytest.TempPathFactory, steps: list[object]) -> None:
    folder = tmp_path_factory.mktemp("state") / "guard" / "p"
    folder.mkdir(parents=True)
    log, lines = folder / "events.jsonl", []
    for step in steps:
        if step == "turn" and log.exists():
            rotation.rotate(str(folder), -1)
        elif step == "killed":  # after the totals, before the log was moved
            rotation.keep_totals(str(folder))
        elif not isinstance(step, str):
            data = step if isinstance(step, bytes) else json.dumps(step).encode()
            with log.open("ab") as file:
                file.write(data + b"\n")
            lines += [step] if isinstance(step, dict) else []
        assert receipts.count(str(folder.parents[1])) == expected(lines)
