"""hookctl stats: the guard's decisions in numbers, for people and for Prometheus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from hookctl.system import project
from tests.conftest import Hookctl, put

T = 1_763_755_200


def line(code: str, decision: str = "allow", **more: Any) -> dict[str, Any]:
    return {"t": T, "host": "claude", "session": "a" * 16, "event": "stop", "decision": decision, "code": code, **more}


LINES = [
    line("no_work"), line("no_work", host="codex"), line("blocked", "block"), line("tripped", "release"),
    line("blocked", "block", event="wrap"), line("stop_loop", "end"), line("nudged", "block"),
    line("no_work", ignored=True), line("state_error"),
    line("dispatch_refused", "refuse", event="pre-tool", refusals=1),
    line("dispatch_refused", "refuse", event="pre-tool", refusals=100),
]  # fmt: skip


@pytest.fixture
def logged(isolated: Path) -> Path:
    """A log of a project, and one decision in another."""
    state = isolated / "state" / "guard"
    here = state / Path(project.state_folder("s", str(isolated / "work"))).name
    put(here / "events.jsonl", "".join(json.dumps(entry) + "\n" for entry in LINES))
    put(state / ("f" * 16) / "events.jsonl", json.dumps(line("open", t=T + 3600)) + "\n")
    return here


def metrics(text: str) -> dict[tuple[str, str, str], float]:
    """What the official client reads: name, host and code of each sample."""
    samples: dict[tuple[str, str, str], float] = {}
    for family in text_string_to_metric_families(text):
        assert family.type == "counter" and family.documentation
        for sample in family.samples:
            key = (sample.name, sample.labels.get("host", ""), sample.labels.get("code", ""))
            samples[key] = samples.get(key, 0) + sample.value
    return samples


def test_people_get_the_sums_and_a_row_for_each_host_and_project(logged: Path, hookctl: Hookctl) -> None:
    put(logged.parent / "events.jsonl", json.dumps(line("no_input", session=None)) + "\n")
    assert any(row.startswith("no project ") for row in hookctl("stats").out.splitlines())
    (logged.parent / "events.jsonl").unlink()
    out = hookctl("stats").out
    for expected in (
        "stops       10",
        "  allowed   5: no_work 3, open 1, state_error 1",
        "  blocked   3: blocked 2, nudged 1",
        "  released  1: tripped 1",
        "  ended     1: stop_loop 1",
        "refused     101 tool calls",
        "reminded    1 reminder, 1 ignored",
        "not saved   1: the guard's state could not be written",
    ):
        assert f"{expected}\n" in out, out
    assert [row.split()[:2] for row in out.splitlines() if row.startswith(("claude", "codex"))] == [
        ["claude", "9"], ["codex", "1"],
    ]  # fmt: skip
    assert "f" * 16 in out and "work  " in out, "a known project by its path"


def test_machines_get_the_same(logged: Path, hookctl: Hookctl) -> None:
    data = hookctl("stats", "--json").data
    assert (data["stops"], data["trips"], data["nudges"], data["ignored"], data["state_errors"]) == (10, 101, 1, 1, 1)
    assert data["decisions"]["block"] == {"blocked": 2, "nudged": 1}
    assert sum(page["stops"] for page in data["hosts"].values()) == 10
    assert sum(page["stops"] for page in data["projects"].values()) == 10


def test_one_project_and_a_span_of_time(logged: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hookctl("stats", "--project", ".", "--json").data["stops"] == 9
    monkeypatch.setenv("HOOKCTL_NOW", str(T + 3700))
    assert hookctl("stats", "--since", "30m", "--json").data["stops"] == 1
    monkeypatch.setenv("HOOKCTL_NOW", str(T + 36000))
    assert hookctl("stats", "--since", "30m").out == "the guard has decided nothing in that time\n"


# The log of a project at T: one refused call; then 92 that it does not tell of yet, and their times from T on.
@pytest.mark.parametrize(
    ("since", "until", "span", "trips", "older"),
    [
        (10, 20, "1h", 93, 0),
        (10, 20, "3595s", 92, 0),  # the line is from before
        (10, 20, "3588s", 92, 91),
        (10, 20, "3570s", 0, 0),
        (3599, 3599, "30m", 92, 0),
    ],
)
@pytest.mark.parametrize("is_told", [False, True])
def test_a_span_counts_what_shared_lines_stand_for_or_says_what_it_cannot_know(
    isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch,
    since: int, until: int, span: str, trips: int, older: int, is_told: bool,
) -> None:  # fmt: skip
    folder = isolated / "state" / "guard" / ("f" * 16)
    lines = [line("dispatch_refused", "refuse", event="pre-tool", refusals=1, trips=1)]
    times = {"since": T + since, "until": T + until}
    if is_told:  # later, when the window was over
        later = {**times, "t": T + 3600, "refusals": 92, "trips": 93}
        lines.append({**line("dispatch_refused", "refuse", event="pre-tool"), **later})
    put(folder / "events.jsonl", "".join(json.dumps(entry) + "\n" for entry in lines))
    put(folder / "dispatch.json", json.dumps({"w": {}, "trips": 93, "told": 93 if is_told else 1, **times}))
    monkeypatch.setenv("HOOKCTL_NOW", str(T + 3600))
    data = hookctl("stats", "--since", span, "--json").data
    assert (data["trips"], data.get("trips_perhaps_older", 0)) == (trips, older)
    assert hookctl("stats", "--json").data["trips"] == 93
    shown = hookctl("stats", "--since", span).out
    assert ("at most 92 tool calls: 91 may be from before" in shown) == bool(older)
    refusals = [event["refusals"] for event in hookctl("log", "--json").data["events"]]
    assert refusals == [1, 92]
    assert "(92 calls" in hookctl("log").out


def test_turns_that_refusals_ended_are_counted_apart(logged: Path, hookctl: Hookctl) -> None:
    before = hookctl("stats", "--json").data
    with (logged / "events.jsonl").open("a") as file:
        for decision in ("end", "counted"):
            file.write(json.dumps(line("dispatch_refused", decision, event="pre-tool")) + "\n")
    after = hookctl("stats", "--json").data
    assert (after["ended"], after["trips"], after["stops"]) == (1, before["trips"], before["stops"])
    assert "refused     101 tool calls; 1 turn ended for that\n" in hookctl("stats").out
    assert "the same call was refused so often that the turn was ended" in hookctl("log").out
    samples = metrics(hookctl("stats", "--prometheus").out)
    assert samples["hookctl_trips_total", "", ""] == 101
    assert samples["hookctl_decisions_total", "claude", "dispatch_refused"] == 2


def test_nothing_yet(isolated: Path, hookctl: Hookctl) -> None:
    assert hookctl("stats").out == "the guard has decided nothing yet\n"
    assert metrics(hookctl("stats", "--prometheus").out) == {}


def test_the_official_client_reads_the_metrics_back(logged: Path, hookctl: Hookctl) -> None:
    samples = metrics(hookctl("stats", "--prometheus").out)
    assert samples["hookctl_trips_total", "", ""] == 101
    assert samples["hookctl_ignored_total", "claude", ""] == 1
    assert samples["hookctl_decisions_total", "claude", "blocked"] == 2
    assert samples["hookctl_decisions_total", "codex", "no_work"] == 1
    assert sum(value for (name, _, _), value in samples.items() if name == "hookctl_decisions_total") == 10


def test_a_name_with_odd_letters_is_escaped(logged: Path, hookctl: Hookctl) -> None:
    with (logged / "events.jsonl").open("a") as file:
        file.write(json.dumps(line("no_work", host='a"b\\c\nd')) + "\n")
    samples = metrics(hookctl("stats", "--prometheus").out)
    assert samples["hookctl_decisions_total", 'a"b\\c\nd', "no_work"] == 1


def test_refused_calls_that_the_log_does_not_tell_of_yet_are_counted(logged: Path, hookctl: Hookctl) -> None:
    put(logged / "dispatch.json", '{"w": {}, "trips": 140, "told": 101}')
    put(logged / f"{'b' * 16}.calls", '{"w": {}, "trips": 7, "told": 0}')
    put(logged / f"{'c' * 16}.calls", '{"w": {}, "trips": 7}')  # an older hook told of each
    assert hookctl("stats", "--json").data["trips"] == 101 + 39 + 7
    assert metrics(hookctl("stats", "--prometheus").out)["hookctl_trips_total", "", ""] == 147


def test_totals_survive_the_rotation(logged: Path, hookctl: Hookctl) -> None:
    put(logged / "totals.json", '{"file": "1 2 3", "counts": {"claude stop allow no_work": 5000, "x stop ignored": 4}}')
    data = hookctl("stats", "--json").data
    assert (data["stops"], data["ignored"]) == (5010, 5)


def test_metrics_of_a_span_are_refused(logged: Path, hookctl: Hookctl) -> None:
    done = hookctl("stats", "--prometheus", "--since", "1h")
    assert (done.code, "rates and spans" in done.err) == (2, True)


def test_a_record_that_cannot_be_read_costs_no_number(logged: Path, isolated: Path, hookctl: Hookctl) -> None:
    put(isolated / "state" / "ledger.json", "{{")
    assert hookctl("stats").code == 0


def test_a_simulation_tells_each_refused_call(isolated: Path, hookctl: Hookctl) -> None:
    call = {"event": "pre-tool", "tool_name": "Task", "tool_input": {}}
    put(isolated / "work" / "e.jsonl", "".join(json.dumps({**call, "at": at}) + "\n" for at in (1, 2, 3, 4, 400, 401)))
    done = hookctl("simulate", "e.jsonl", "--dispatch", "Task:1/300", "--json")
    said = [decision["decision"] for decision in done.data["decisions"]]
    assert said == ["allow", "refuse", "refuse", "refuse", "allow", "refuse"]


def test_status_check_tells_of_a_reminder_that_was_ignored(
    logged: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOKCTL_NOW", str(T + 60))
    (logged / "events.jsonl").write_text("")
    assert hookctl("run", "status", "--check").code == 0
    with (logged / "events.jsonl").open("a") as file:
        file.write(json.dumps(line("no_work", ignored=True, t=T + 5)) + "\n")
    done = hookctl("run", "status", "--check")
    assert (done.code, "an agent stopped although the guard had reminded it" in " ".join(done.out.split())) == (1, True)
    assert hookctl("run", "status", "--check", "--json").data["ignored"] is True
    assert "the reminder before it was ignored" in hookctl("log").out
    with (logged / "events.jsonl").open("a") as file:
        file.write(json.dumps(line("no_work", t=T + 6)) + "\n")
    assert hookctl("run", "status", "--check").code == 1, "another stop settles nothing"


def test_hermes_is_said_to_remind_its_own_workers(hookctl: Hookctl) -> None:
    done = hookctl("install", "--host", "hermes", "--preset", "hermes")
    said = " ".join((done.out + done.err).split())
    assert "Hermes: it reminds its own workers, where HERMES_KANBAN_TASK is set, so the guard does not" in said
    assert "asks its hooks only at the end of a turn whose file tools changed a file" in said
    shown = " ".join(hookctl("status").out.split())
    assert "reminds the agent" not in shown
    done = hookctl("install", "--host", "hermes", "--nudge", "close", "--nudge-env", "MINE")
    assert "it reminds its own workers" not in done.out + done.err
