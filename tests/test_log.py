"""hookctl log: what the guard decided, in order, filtered, and as it comes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from hookctl.receipts import CODES, DONE, RECENT, HookName, read, read_runs
from hookctl.system import guard_module, project
from hookctl.system.project import session_hash
from tests.conftest import Hookctl, Outcome, put
from tests.test_cli_contract import check_envelope
from tests.test_every_hook import Machine, machine  # noqa: F401 (a fixture)

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


def test_the_hook_says_nothing_that_log_does_not_know() -> None:
    root = Path(__file__).parents[1]
    modules = [
        path for path in (root / "templates" / "guard").rglob("*.py") if path.name not in ("answer.py", "payload.py")
    ]
    source = "\n".join(path.read_text() for path in modules)  # without the words of the runner
    decided = set(re.findall(rf'"(?:{"|".join(DONE)})", "(\w+)"', source))
    assert {"tripped", "blocked", "no_work"} <= decided <= set(CODES)
    documented = re.findall(r"\[([a-z_]+)\](?!\()", (root / "docs" / "guard.md").read_text())
    assert {"off", "not_owner"} <= set(documented) <= set(CODES)


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
    append(path, event(NOW, code="second"))
    assert " second: " in follower.line()
    path.rename(path.with_name("events.jsonl.1"))
    write(path, event(NOW + 1, code="last"))
    assert " last: " in follower.line()
    code, out, err = follower.end()
    assert (code, out) == (130, "")
    assert err == "\nhookctl: interrupted\n"


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
    assert follower.line().endswith("p/x: (ms 1)")
    write(guard / "x" / "events.jsonl", event(NOW, code="between"))
    assert " between: " in follower.line()
    path.rename(path.with_name("runs.jsonl.1"))
    write(path, run(ms=2, bytes=9))
    assert follower.line().endswith("p/x: (ms 2, bytes 9)")
    assert follower.end()[0] == 130
    follower = Follower("--json", "--since", "1h")
    assert [json.loads(follower.line()).get("ms") for _ in range(3)] == [None, 1, 2]
    assert follower.end()[0] == 130


# hookctl stats: the guard's decisions in numbers, for people and for Prometheus.
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
    assert "(refusals 92" in hookctl("log").out


def write_runs(isolated: Path, *runs: dict[str, Any], project: str = "a" * 16) -> Path:
    return receipts(
        isolated / "state", *(run(**{"t": T, "outcome": "none", **fields}) for fields in runs), project=project
    )


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
    check_envelope(hookctl("stats", "--json"), "stats")
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


# Receipts as hookctl reads them: exact numbers by hook, medians, and what becomes of odd lines.
HOOK = HookName("claude", "PreToolUse", "p/x")


def receipts(state: Path, *lines: str, project: str = "a" * 16, file: str = "runs.jsonl") -> Path:
    return put(state / "guard" / project / file, "".join(f"{text}\n" for text in lines))


def turn_over(folder: Path) -> None:
    guard_module("receipts").turn_over(str(folder), -1)


@pytest.mark.parametrize("odd", [{"fired": True}, {"ms": "3"}, {"id": "a b"}, {"host": ""}, {"bytes": -1}])
def test_lines_that_do_not_count(tmp_path: Path, odd: dict[str, Any]) -> None:
    receipts(tmp_path, run(**odd), "{", "", "[]", run())
    assert read_runs(str(tmp_path))[HOOK].runs == 1
    assert len(read_runs(str(tmp_path))) == 1


@pytest.mark.parametrize("torn", ['{"bytes":0,"event":"PreTo', "\0\0\0", '{"bytes":0', run()[:-1], "{"])
def test_a_torn_line_does_not_take_the_next_one_along(tmp_path: Path, torn: str) -> None:
    path = receipts(tmp_path, run(ms=1))
    path.write_text(path.read_text() + torn + run(ms=8) + "\n" + run(ms=9) + "\n")
    assert read_runs(str(tmp_path))[HOOK].ms == 18
    assert [event["ms"] for event in read(str(tmp_path), has_runs=True)] == [1, 8, 9]
    for _ in range(2):
        turn_over(path.parent)
        receipts(tmp_path)
    assert read_runs(str(tmp_path))[HOOK].ms == 18


MS = st.integers(0, 40_000)
STEPS = st.lists(st.one_of(MS, st.sampled_from(["turn", "killed", "late"])), max_size=40)


@settings(deadline=None, max_examples=80, suppress_health_check=list(HealthCheck))
@given(steps=STEPS)
def test_every_run_counts_once_whatever_turns_the_file_over(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Any]
) -> None:
    state = tmp_path_factory.mktemp("state")
    folder = receipts(state).parent
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
                    file.write(run(ms=ms, t=number) + "\n")
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
    receipts(tmp_path, *(run(ms=60) for _ in range(RECENT + 5)))
    runs = read_runs(str(tmp_path))[HOOK]
    assert (runs.runs, runs.median_ms, len(runs.failed)) == (100 + RECENT + 5, 60, RECENT)


# The page of `hookctl report`: what it tells, that it loads nothing, and which files it never writes over.
TODAY = 1_790_000_000
VOID = ("meta",)


class Parsed(HTMLParser):
    """The page by its elements: sure that each is closed, and in its order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.attributes.append((tag, {name: value or "" for name, value in attributes}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip() and self.open[-1] != "style":
            self.texts.append(" ".join(data.split()))

    def select(self, tag: str, **wanted: str) -> list[dict[str, str]]:
        return [
            each
            for name, each in self.attributes
            if name == tag and all(each.get(key.rstrip("_")) == value for key, value in wanted.items())
        ]


def squeezed(words: str, home: str) -> str:
    """Words without blanks, marks of code and the home folder, which the page shows in its own way."""
    return re.sub(r"[\s`]", "", words.replace(home, "~"))


def receipt(id: str, ms: int, size: int = 0, **more: Any) -> str:
    return run(**{"id": id, "ms": ms, "bytes": size, "t": TODAY - 60, "outcome": "ok", "session": None, **more})


def decision(number: int, word: str, code: str, **more: Any) -> str:
    line = {"t": TODAY - 3600 * number, "host": "claude", "session": "s", "event": "stop", "decision": word}
    return json.dumps({**line, "code": code, "blocks": 1, **more})


@pytest.fixture
def told(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log and receipts; the folder that has them."""
    monkeypatch.setenv("HOOKCTL_NOW", str(TODAY))
    folder = isolated / "state" / "guard" / "work-0123456789"
    runs = [receipt("lint/check", 40 + number, 100) for number in range(30)]
    runs += [receipt("lint/check", 900, outcome="failed", status=1)]
    runs += [receipt("memory/tell", 2500, 12_000, host="gemini", event="SessionStart")] * 4
    put(folder / "runs.jsonl", "\n".join(runs) + "\n")
    lines = [decision(number, "block", "blocked") for number in range(1, 40)]
    lines += [decision(number, "allow", "no_work") for number in range(1, 80, 3)]
    lines += [decision(5, "refuse", "dispatch_refused", refusals=12), decision(4, "release", "tripped")]
    put(folder / "events.jsonl", "\n".join(lines) + "\n")
    return folder


def page(hookctl: Hookctl, *options: str) -> tuple[str, Parsed, dict[str, Any]]:
    outcome = hookctl("report", *options, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    path = Path(outcome.data["file"])
    assert path.stat().st_mode & 0o777 == 0o600
    text = path.read_text()
    return text, Parsed(text), outcome.data


def test_the_page_of_a_machine_with_nine_hosts_has_every_hook_with_its_state_and_place(
    hookctl: Hookctl,
    machine: Machine,  # noqa: F811
    told: Path,
) -> None:
    listed = hookctl("hooks", "--json").data
    text, parsed, data = page(hookctl)
    assert data["hooks"] == len(listed["hooks"]) >= 60
    home = str(machine.home)
    shown = squeezed(" ".join(parsed.texts), home)
    assert home not in text
    for hook in listed["hooks"]:
        place = f"{hook['file']}:{hook['line']}"
        for words in (place, *hook["reason"].split("; also: "), hook["fix"], hook["matcher"][:59]):
            assert squeezed(words, home) in shown, words
    assert squeezed(f"its hooks are not known: {listed['unreadable'][0]['message']}", home) in shown
    meant = ("runs", "off", "hidden", "disabled", "twice")
    broken = [hook for hook in listed["hooks"] if hook["state"] not in meant]
    findings = hookctl("doctor", "--json").data["findings"]
    odd = [finding for finding in findings if finding["level"] != "info"]
    assert data["attention"] == len(broken) + len(odd) + len(listed["unreadable"]) > len(broken) > 10
    for finding in odd:
        assert squeezed(finding["message"], home) in shown
    running = sum(hook["state"] == "runs" for hook in listed["hooks"])
    assert squeezed(f"{running} of {len(listed['hooks'])} hooks will run", home) in shown
    assert "memory/tell gemini SessionStart 4 0 2.5 s 2.5 s 48000" in parsed.texts


def test_it_loads_nothing_and_runs_nothing(hookctl: Hookctl, machine: Machine, told: Path) -> None:  # noqa: F811
    text, parsed, _ = page(hookctl)
    names = {name for name, _ in parsed.attributes}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "form", "base", "audio", "video"}
    for _, attributes in parsed.attributes:
        assert not {"src", "srcset", "action", "background", "poster"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]
        assert attributes.get("href", "#").startswith("#")
    assert "url(" not in text and "@import" not in text
    policy = parsed.select("meta", **{"http-equiv": "Content-Security-Policy"})
    assert [each["content"] for each in policy] == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_a_text_from_elsewhere_is_a_text_and_no_secret_is_shown(
    hookctl: Hookctl, isolated: Path, settings: Path, told: Path
) -> None:
    secret = "sk-ant-api03-" + "A1b2C3d4" * 5
    hostile = "</style></code><script>alert(1)</script> &lt; \u202e\x1b[31m"
    hooks = [{"type": "command", "command": text} for text in (hostile, f"curl -H 'x-api-key: {secret}' example.org")]
    put(settings, json.dumps({"hooks": {"PreToolUse": [{"matcher": f'"><svg onload=x>{secret}', "hooks": hooks}]}}))
    text, parsed, _ = page(hookctl)
    assert "<script" not in text and not parsed.select("script")
    assert secret not in text and "A1b2C3d4" not in text
    assert "</style></code><script>alert(1)</script>" in " ".join(parsed.texts)
    assert not parsed.select("svg", onload="x")
    assert "\u202e" not in text and "\x1b" not in text


def test_an_older_page_is_replaced_and_no_other_file(hookctl: Hookctl, isolated: Path) -> None:
    outcome = hookctl("report")
    path = isolated / "work" / "hookctl-report.html"
    assert (outcome.code, outcome.out.split(":")[0]) == (0, str(path))
    assert hookctl("report", "-o", str(path)).code == 0
    path.write_text("<p>mine")
    refused = hookctl("report")
    assert (refused.code, path.read_text()) == (1, "<p>mine")
    assert "this file is not a hookctl report" in refused.err
    assert hookctl("report", "-o", "there/is/none.html").code == 2
    assert hookctl("report", "-o", str(isolated)).code == 2
    link = isolated / "work" / "linked.html"
    link.symlink_to(isolated / "elsewhere.html")
    assert hookctl("report", "-o", "linked.html").code == 0
    assert link.is_symlink() and (isolated / "elsewhere.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("target", ["gone", "empty"])
def test_a_link_that_somebody_left_here_is_not_written_through(hookctl: Hookctl, isolated: Path, target: str) -> None:
    put(isolated / "home/empty", "")
    Path("hookctl-report.html").symlink_to(isolated / "home" / target)
    refused = hookctl("report")
    assert (refused.code, "this file is not a hookctl report" in refused.err) == (1, True)
    assert not (isolated / "home/gone").exists() and (isolated / "home/empty").read_text() == ""
