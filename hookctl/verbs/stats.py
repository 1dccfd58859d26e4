"""hookctl stats: how often the guard decided what, and the runs of each hook; also for machines."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any

from hookctl import clock, receipts
from hookctl.errors import usage_error
from hookctl.model import Line, Result
from hookctl.output.lines import labelled, show_ms, table
from hookctl.receipts import HookName, Kind, Runs, read_runs
from hookctl.system import guard_module
from hookctl.system.folders import Folders
from hookctl.system.project import named, state_folder

_REFUSED, _WENT_ON = "dispatch_refused", "went_on"
_DECISIONS = {word: done for word, done in receipts.DONE.items() if word != "refuse"}
_OTHERS = {  # than stops
    "trips": "calls refused",
    "ended": "turns asked to end",
    "went_on": "went on all the same",
    "nudges": "reminders",
    "ignored": "reminders ignored",
    "state_errors": "state not saved",
}
_METRICS = {
    "decisions": "Decisions of the guard on stops and wrapped hooks, by reason.",
    "trips": "Tool calls that the guard refused because they came too often.",
    "ignored": "Reminders to call a tool after which the agent stopped again without that call.",
}
_HOOK_METRICS = {  # each with the field that has its number
    "hook_runs": ("Runs of hooks.", "runs"),
    "hook_failures": ("Runs of hooks that failed or ran out of time.", "failures"),
    "hook_context_bytes": ("Bytes that hooks put into the model's context.", "bytes"),
}
_DURATION = "hookctl_hook_duration_seconds"
_NUMBERS = ("runs", "failures", "ms", "median_ms", "p95_ms", "bytes", "last_run")


Tally = tuple[str, Kind, int]  # how often the guard decided in one way in one project, by its hash

HELP = """
--prometheus  Print the totals as metrics for its textfile folder.

Examples:
  hookctl stats --since 7d
  hookctl stats --prometheus > hookctl.tmp && mv hookctl.tmp hookctl.prom
"""


def stats(
    folders: Folders, since: str = "", of_project: str = "", prometheus: bool = False
) -> Result:
    """The counts in every project, or in the named one; with a time those of the log alone."""
    if since and prometheus:
        raise usage_error("--prometheus prints totals", "Leave --since out.")
    only = os.path.basename(state_folder(folders.state, named(of_project))) if of_project else ""
    earliest = clock.moment(since, clock.now(folders.environ)) if since else None
    found = receipts.count(folders.state, earliest)
    tallies = sorted((name, kind, n) for (name, kind), n in found.items() if only in ("", name))
    runs = read_runs(folders.state, only, earliest)
    hooks = [
        {**name._asdict(), **{number: getattr(found, number) for number in _NUMBERS}}
        for name, found in runs.items()
    ]
    data = {**_add_up(tallies), "hosts": {}, "projects": {}, "hooks": hooks}
    paths = receipts.project_paths(folders.state)
    for name in sorted({kind.host for _, kind, _ in tallies if kind.host}):
        data["hosts"][name] = _add_up(one for one in tallies if one[1].host == name)
    for name in sorted({project for project, _, _ in tallies}):
        counts = _add_up(one for one in tallies if one[0] == name)
        data["projects"][name] = {**counts, "path": paths.get(name)}
    if prometheus:
        return Result(data, tuple(_export(tallies, runs)))
    text: list[str | Line] = [*labelled(_rows(data), indent=0)] if tallies else []
    text += [""] if tallies and runs else []
    rows = [["HOOK", "HOST", "EVENT", "RUNS", "FAILED", "MEDIAN", "P95", "BYTES"]]
    for hook in sorted(hooks, key=lambda hook: (-hook["ms"], hook["id"])):  # the longest first
        spans = show_ms(hook["median_ms"]), show_ms(hook["p95_ms"])
        counts = str(hook["runs"]), str(hook["failures"])
        rows.append([hook["id"], hook["host"], hook["event"], *counts, *spans, str(hook["bytes"])])
    text += table(rows) if runs else []
    return Result(data, tuple(text or ["there are no decisions and no runs"]))


def _add_up(tallies: Iterable[Tally]) -> dict[str, Any]:
    decisions: dict[str, Counter[str]] = {word: Counter() for word in _DECISIONS}
    counts: Counter[str] = Counter()
    for _, kind, count in tallies:
        is_refusal = kind.code == _REFUSED
        counts[f"{kind.code} {kind.decision}" if is_refusal else kind.code] += count
        is_stop = kind.event in ("stop", receipts.WRAPPED) and not is_refusal
        if is_stop and kind.code not in (receipts.IGNORED, _WENT_ON) and kind.decision in decisions:
            decisions[kind.decision][kind.code] += count
    return {
        "stops": sum(sum(reasons.values()) for reasons in decisions.values()),
        "decisions": {word: dict(sorted(reasons.items())) for word, reasons in decisions.items()},
        "trips": counts[f"{_REFUSED} refuse"],
        "ended": counts[f"{_REFUSED} end"],
        "went_on": counts[_WENT_ON],
        "nudges": counts["nudged"],
        "ignored": counts[receipts.IGNORED],
        "state_errors": counts["state_error"] + counts["lock_timeout"],
    }


def _rows(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "stops", str(data["stops"])
    for word, label in _DECISIONS.items():
        reasons = sorted(data["decisions"][word].items(), key=lambda pair: (-pair[1], pair[0]))
        listed = ", ".join(f"{code} {count}" for code, count in reasons)
        if reasons:
            yield f"  {label}", f"{sum(count for _, count in reasons)}: {listed}"
    for name, label in _OTHERS.items():
        if data[name]:
            yield label, str(data[name])


def _export(tallies: list[Tally], runs: Mapping[HookName, Runs]) -> Iterator[str]:
    """The text format of Prometheus, for the textfile folder of its node exporter.

    Runs of hooks are told by host, event and id, and never with a command.
    """
    samples: dict[str, Counter[str]] = {name: Counter() for name in _METRICS}
    for project, kind, number in tallies:
        metric, labels = "decisions", {"project": project, "host": kind.host}
        if kind.code == _REFUSED and kind.decision == "refuse":
            metric, labels = "trips", {"project": project}
        elif kind.code == receipts.IGNORED:
            metric = "ignored"
        else:
            labels |= {"event": kind.event, "decision": kind.decision, "code": kind.code}
        samples[metric][_write_labels(labels)] += number
    for metric, description in _METRICS.items():
        yield from _write_counter(metric, description, sorted(samples[metric].items()))
    of_hooks = [(_write_labels(name._asdict()), found) for name, found in runs.items()]
    for metric, (description, field) in _HOOK_METRICS.items():
        counts = [(labels, getattr(found, field)) for labels, found in of_hooks]
        yield from _write_counter(metric, description, counts)
    yield f"# HELP {_DURATION} How long the runs of hooks took."
    yield f"# TYPE {_DURATION} histogram"
    # The upper ends of the buckets; the last one has none.
    ends = [f"{end / 1000:g}" for end in guard_module("receipts").BUCKETS] + ["+Inf"]
    for written, found in of_hooks:
        for end, number in zip(ends, accumulate(found.buckets), strict=True):
            yield f'{_DURATION}_bucket{{{written},le="{end}"}} {number}'
        yield f"{_DURATION}_sum{{{written}}} {found.ms / 1000:.3f}"
        yield f"{_DURATION}_count{{{written}}} {sum(found.buckets)}"


def _write_counter(
    metric: str, description: str, counts: Iterable[tuple[str, int]]
) -> Iterator[str]:
    yield f"# HELP hookctl_{metric}_total {description}"
    yield f"# TYPE hookctl_{metric}_total counter"
    for labels, count in counts:
        yield f"hookctl_{metric}_total{{{labels}}} {count}"


def _write_labels(values: Mapping[str, str]) -> str:
    pairs = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]
    return ",".join(pairs)
