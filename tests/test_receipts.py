"""Receipts as hookctl reads them: exact numbers by hook, medians, and what becomes of odd lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookctl import hosts
from hookctl.receipts.reading import RECENT, HookName, read_events, read_runs
from hookctl.survey.listing import with_receipts
from hookctl.survey.model import Hook, HookFile
from hookctl.system.package_data import guard_module

from .conftest import put

LINE = {"bytes": 0, "event": "PreToolUse", "host": "claude", "id": "p/x", "kind": "run", "ms": 3, "outcome": "none",
        "session": "a" * 16, "status": 0, "t": 1000}  # fmt: skip
HOOK = HookName("claude", "PreToolUse", "p/x")


def line(**fields: Any) -> str:
    return json.dumps({**LINE, **fields}, sort_keys=True, separators=(",", ":"))


def write(state: Path, *lines: str, project: str = "a" * 16, file: str = "runs.jsonl") -> Path:
    return put(state / "guard" / project / file, "".join(f"{text}\n" for text in lines))


def turn_over(folder: Path) -> None:
    guard_module("receipts").turn_over(str(folder), -1)


def test_the_numbers_of_a_hook(tmp_path: Path) -> None:
    write(tmp_path, line(ms=5, bytes=7), line(ms=40, outcome="failed", t=3000), line(ms=7, outcome="timeout", t=2000))
    write(tmp_path, line(ms=1, id="p/y", event="Stop"), line(), project="b" * 16)
    found = read_runs(str(tmp_path))
    assert list(found) == [HOOK, HookName("claude", "Stop", "p/y")]
    runs = found[HOOK]
    assert (runs.runs, runs.failures, runs.ms, runs.bytes, runs.last_run) == (4, 2, 55, 7, 3000)
    assert (runs.median_ms, runs.p95_ms) == (5, 40)
    assert runs.failed == (False, False, True, True)
    assert read_runs(str(tmp_path), "b" * 16)[HOOK].runs == 1
    assert read_runs(str(tmp_path), since=2000)[HOOK].runs == 2
    assert read_runs(str(tmp_path / "nothing")) == {}


@pytest.mark.parametrize("odd", [{"fired": True}, {"ms": "3"}, {"id": "a b"}, {"host": ""}, {"bytes": -1}])
def test_lines_that_do_not_count(tmp_path: Path, odd: dict[str, Any]) -> None:
    write(tmp_path, line(**odd), "{", "", "[]", line())
    assert read_runs(str(tmp_path))[HOOK].runs == 1
    assert len(read_runs(str(tmp_path))) == 1


@pytest.mark.parametrize("torn", ['{"bytes":0,"event":"PreTo', "\0\0\0", '{"bytes":0', line()[:-1], "{"])
def test_a_torn_line_does_not_take_the_next_one_along(tmp_path: Path, torn: str) -> None:
    path = write(tmp_path, line(ms=1))
    path.write_text(path.read_text() + torn + line(ms=8) + "\n" + line(ms=9) + "\n")
    assert read_runs(str(tmp_path))[HOOK].ms == 18
    assert [event["ms"] for event in read_events(str(tmp_path))] == [1, 8, 9]
    for _ in range(2):
        turn_over(path.parent)
        write(tmp_path)
    assert read_runs(str(tmp_path))[HOOK].ms == 18


MS = st.integers(0, 40_000)
STEPS = st.lists(st.one_of(MS, st.sampled_from(["turn", "killed", "late"])), max_size=40)


@settings(deadline=None, max_examples=80, suppress_health_check=list(HealthCheck))
@given(steps=STEPS)
def test_every_run_counts_once_whatever_turns_the_file_over(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Any]
) -> None:
    state = tmp_path_factory.mktemp("state")
    folder = write(state).parent
    current, old = folder / "runs.jsonl", folder / "runs.jsonl.1"
    template, times = guard_module("receipts"), []
    for number, step in enumerate(steps):
        if step == "turn" and current.exists():
            turn_over(folder)
        elif step == "killed":  # after the totals, before the file was moved
            guard_module("rotation").keep_totals(str(folder), template.describe_log())
        else:  # `late`: a call had opened the file before it was moved
            ms, path = (1, old) if step == "late" else (step, current)
            if isinstance(ms, int):
                with path.open("a") as file:
                    file.write(line(ms=ms, t=number) + "\n")
                times.append(ms)
        runs = read_runs(str(state)).get(HOOK)
        assert (runs.runs if runs else 0, runs.ms if runs else 0) == (len(times), sum(times))
    if runs := read_runs(str(state)).get(HOOK):
        assert sum(runs.buckets) == len(times)


def test_percentiles_are_of_the_runs_whose_receipts_are_there(tmp_path: Path) -> None:
    totals = {f"claude PreToolUse p/x {name}": number for name, number in
              {"runs": 100, "ms": 9000, "le3": 90, "le11": 10, "t": 77}.items()}  # fmt: skip
    put(tmp_path / "guard" / ("a" * 16) / "run-totals.json", json.dumps({"file": "1 2 3", "counts": totals}))
    runs = read_runs(str(tmp_path))[HOOK]
    assert (runs.runs, runs.median_ms, runs.last_run) == (100, None, 77)
    write(tmp_path, *(line(ms=60) for _ in range(RECENT + 5)))
    runs = read_runs(str(tmp_path))[HOOK]
    assert (runs.runs, runs.median_ms, len(runs.failed)) == (100 + RECENT + 5, 60, RECENT)


def test_each_hook_of_the_list_gets_the_runs_of_its_own(tmp_path: Path) -> None:
    def hook(scope: str, own: str, id: str = "0" * 12, host: str = "claude") -> Hook:
        command = f"hook.py run PreToolUse --host {host} --id {own} :"
        event = "BeforeTool" if own else "PreToolUse"  # as the host names it
        file = HookFile(hosts.load(host), scope, "f")
        return Hook(file, (), event, {"command": command}, line=1, own_id=own, id=id)

    write(tmp_path, line(ms=5, bytes=7), line(ms=40, outcome="failed"), line(id="d" * 12))
    write(tmp_path, line(), line(event="Stop"), project="b" * 16)
    hooks = [hook("user", "p/x"), hook("project", "p/x"), hook("user", "p/y"), hook("user", "", "d" * 12),
             hook("user", "p/x", host="qwen"), hook("user", "p/x", "d" * 12)]  # fmt: skip
    found = [hook.receipts for hook in with_receipts(hooks, str(tmp_path), "b" * 16)]
    assert [receipts.runs for receipts in found] == [3, 1, 0, 0, 0, 3]
    first = found[0]
    assert (first.failures, first.median_ms, first.p95_ms, first.bytes, first.last_run) == (1, 5, 40, 7, 1000)
