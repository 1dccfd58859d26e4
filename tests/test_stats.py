"""hookctl stats: the guard's decisions in numbers, for people and for Prometheus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from prometheus_client.parser import text_string_to_metric_families

from hookctl import events
from hookctl.system import project
from hookctl.system.package_data import asset
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


RUN = {"bytes": 0, "event": "PreToolUse", "host": "claude", "id": "p/x", "kind": "run", "ms": 3, "outcome": "none",
       "session": "a" * 16, "status": 0, "t": T}  # fmt: skip


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
        assert family.type == ("histogram" if "duration" in family.name else "counter") and family.documentation
        for sample in family.samples:
            key = (sample.name, sample.labels.get("host", ""), sample.labels.get("code", ""))
            samples[key] = samples.get(key, 0) + sample.value
    return samples


# The log of a project at T: one refused call; then 92 that it does not tell of yet, and their times from T on.
@pytest.mark.parametrize(
    ("since", "until", "span", "trips"),
    [
        (10, 20, "1h", 93),
        (10, 20, "3595s", 92),  # the line is from before
        (10, 20, "3588s", 92),
        (10, 20, "3570s", 0),
        (3599, 3599, "30m", 92),
    ],
)
@pytest.mark.parametrize("is_told", [False, True])
def test_a_span_counts_what_shared_lines_stand_for_by_the_last_call(
    isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch,
    since: int, until: int, span: str, trips: int, is_told: bool,
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
    assert data["trips"] == trips
    assert hookctl("stats", "--json").data["trips"] == 93
    refusals = [event["refusals"] for event in hookctl("log", "--json").data["events"]]
    assert refusals == [1, 92]
    assert "(92 calls" in hookctl("log").out


def write_runs(isolated: Path, *runs: dict[str, Any], project: str = "a" * 16) -> Path:
    text = "".join(json.dumps({**RUN, **fields}, sort_keys=True, separators=(",", ":")) + "\n" for fields in runs)
    return put(isolated / "state" / "guard" / project / "runs.jsonl", text)


def test_the_official_client_reads_the_runs_of_hooks_back(isolated: Path, hookctl: Hookctl) -> None:
    write_runs(isolated, {"ms": 10}, {"ms": 11, "outcome": "failed"}, {"ms": 40_000, "bytes": 9}, {"fired": True})
    write_runs(isolated, {"ms": 2}, {"host": "qwen", "id": "d" * 12}, project="b" * 16)
    out = hookctl("stats", "--prometheus").out
    found = {}
    for family in text_string_to_metric_families(out):
        for sample in family.samples:
            labels = dict(sample.labels)
            if labels.pop("host", "") == "claude":
                assert (labels.pop("event"), labels.pop("id")) == ("PreToolUse", "p/x")
                found[sample.name.removeprefix("hookctl_hook_"), labels.pop("le", "")] = sample.value
                assert not labels
    ends = ["0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "30", "+Inf"]
    sums = {("duration_seconds_bucket", end): 2 if end == "0.01" else 4 if end == "+Inf" else 3 for end in ends}
    expected = {("runs_total", ""): 4, ("failures_total", ""): 1, ("context_bytes_total", ""): 9,
                ("duration_seconds_sum", ""): 40.023, ("duration_seconds_count", ""): 4}  # fmt: skip
    assert found == {**sums, **expected}
    assert 'hookctl_hook_runs_total{host="qwen",event="PreToolUse",id="dddddddddddd"} 1' in out


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


# What `hookctl stats --json` prints is what its schema says, and the schema takes nothing else.


SCHEMA = jsonschema.Draft202012Validator(json.loads(Path(asset("schemas", "result.schema.json")).read_text()))


def envelope(hookctl: Hookctl) -> Any:
    return json.loads(hookctl("stats", "--json").out)


@pytest.fixture
def everything(isolated: Path) -> Path:
    """A log with every reason in every decision, and refusals."""
    lines = []
    for code in events.CODES:
        for decision in events.DONE:
            kind = {"host": "claude", "event": "stop", "decision": decision, "code": code}
            lines.append({"t": 1, **kind, "ignored": True})
    lines.append({"t": 1, "host": "codex", "event": "pre-tool", "decision": "refuse", "code": "dispatch_refused"})
    folder = isolated / "state" / "guard" / ("a" * 16)
    run = {
        "bytes": 0,
        "event": "Stop",
        "host": "claude",
        "id": "p/x",
        "kind": "run",
        "ms": 3,
        "outcome": "none",
        "t": 1,
    }
    put(folder / "runs.jsonl", json.dumps(run) + "\n")
    return put(folder / "events.jsonl", "".join(json.dumps(x) + "\n" for x in lines))


def test_the_envelope_of_every_reason_and_that_of_none(everything: Path, hookctl: Hookctl) -> None:
    printed = envelope(hookctl)
    assert printed["data"]["stops"] > len(events.CODES)
    SCHEMA.validate(printed)
    assert printed["data"]["hooks"][0]["runs"] == 1
    everything.unlink()
    everything.with_name("runs.jsonl").unlink()
    SCHEMA.validate(envelope(hookctl))
