"""The totals of the log: a line counts once, however often the log was turned over, and whoever was killed."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookctl import events

from .lab import Lab
from .modules import module

rotation = module("rotation")
HOSTS = st.sampled_from(["claude", "codex"])
LINES = st.builds(
    lambda host, code, more: {"t": 5, "host": host, "event": "stop", "decision": "allow", "code": code, **more},
    HOSTS,
    st.sampled_from(["no_work", "blocked", "dispatch_refused"]),
    st.sampled_from([{}, {"ignored": True}, {"refusals": 7}, {"refusals": "x"}, {"refusals": -4}]),
)
ODD = st.sampled_from([b"", b"{}", b"[1]", b"no json", b'{"host": 5}', b'{"host": "a b", "event": "", "code": "c"}'])


def expected(lines: list[dict[str, object]]) -> Counter[tuple[str, events.Kind]]:
    """By a count of its own, line by line."""
    counts: Counter[tuple[str, events.Kind]] = Counter()
    for line in lines:
        kind = events.Kind(str(line["host"]), "stop", "allow", str(line["code"]))
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
        assert events.count_all(str(folder.parents[1])) == expected(lines)


def test_a_hook_that_turns_the_log_over_keeps_what_goes(lab: Lab) -> None:
    lab.stop()
    log = lab.folder / "events.jsonl"
    line = log.read_bytes()
    for _ in range(3):
        log.write_bytes(line + b"x" * 256 * 1024)
        lab.stop()
    counts = events.count_all(str(lab.state))
    assert sum(counts.values()) == 3 + 1, "three in the files that were full, and the last"
    assert sorted(path.name for path in lab.folder.glob("*") if "." not in path.name[16:17]) == sorted(
        ["events.jsonl", "events.jsonl.1", "project", "totals.json"]
    )
