"""hookctl stats: how often the guard decided what, and the runs of each hook.

Also for a monitoring system.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hookctl import clock, events
from hookctl.errors import usage_error
from hookctl.events import Kind
from hookctl.model import Line, Result
from hookctl.output.lines import amount, labelled, table, tilde
from hookctl.output.runs import list_runs
from hookctl.receipts import metrics
from hookctl.receipts.model import HookName, Runs
from hookctl.receipts.reading import read_runs
from hookctl.system.folders import Folders
from hookctl.system.project import named, state_folder

_STOPS = ("stop", events.WRAPPED)
_REFUSED, _WENT_ON = "dispatch_refused", "went_on"
_DECISIONS = {word: done for word, done in events.DONE.items() if word != "refuse"}
_METRICS = {
    "decisions": "Decisions of the guard on stops and wrapped hooks, by reason.",
    "trips": "Tool calls that the guard refused because they came too often.",
    "ignored": "Reminders to call a tool after which the agent stopped again without that call.",
}


class Tally(NamedTuple):
    """How often the guard decided in one way in one project."""

    project: str  # its hash
    kind: Kind
    number: int


HELP = """
--since TIME  Only newer entries of the log: 7d, 2h.
--prometheus  Print the totals as metrics for its textfile folder.

Examples:
  hookctl stats --since 7d
  hookctl stats --project . --json
  hookctl stats --prometheus > hookctl.tmp && mv hookctl.tmp hookctl.prom
"""


def stats(
    folders: Folders, since: str = "", of_project: str = "", prometheus: bool = False
) -> Result:
    """The counts in every project, or in the named one; with a time those of the log alone."""
    if since and prometheus:
        hint = "Leave --since out: a monitoring system makes rates and spans of totals."
        raise usage_error("--prometheus prints totals, which count from the start", hint)
    only, earliest = "", None
    if of_project:
        only = os.path.basename(state_folder(folders.state, named(of_project)))
    if since:
        earliest = clock.moment(since, clock.now(folders.environ))
    if earliest is None:
        found, older = events.count_all(folders.state), 0
    else:  # of which some may lie before the span
        found, older = events.count_since(folders.state, earliest, only)
    tallies = sorted(
        Tally(name, kind, n) for (name, kind), n in found.items() if only in ("", name)
    )
    runs = read_runs(folders.state, only, earliest)
    data = {**_summarize(tallies), "hooks": _list_hooks(runs)}
    paths = events.project_paths(folders.state)
    for name, page in data["projects"].items():
        page["path"] = paths.get(name)
    if older:
        data["trips_perhaps_older"] = older
    if prometheus:
        return Result(data, (*_export(tallies), *metrics.export(runs)))
    text: list[str | Line] = []
    if tallies or not runs:
        text += _show(data, tallies, suffix=" in that time" if since else " yet")
    if runs:
        text += ["", *list_runs(runs)] if text else list_runs(runs)
    return Result(data, tuple(text))


def _list_hooks(runs: Mapping[HookName, Runs]) -> list[dict[str, Any]]:
    """The numbers of each hook."""
    hooks = []
    for name, found in runs.items():
        numbers = {
            "runs": found.runs,
            "failures": found.failures,
            "ms": found.ms,
            "median_ms": found.median_ms,
            "p95_ms": found.p95_ms,
            "bytes": found.bytes,
            "last_run": found.last_run,
        }
        hooks.append({**name._asdict(), **numbers})
    return hooks


def _summarize(tallies: list[Tally]) -> dict[str, Any]:
    """The counts of all of them, in all, by host and by project."""
    hosts = sorted({tally.kind.host for tally in tallies if tally.kind.host})
    projects = sorted({tally.project for tally in tallies})
    by_host = {host: _add_up(t for t in tallies if t.kind.host == host) for host in hosts}
    by_project = {name: _add_up(t for t in tallies if t.project == name) for name in projects}
    return {**_add_up(tallies), "hosts": by_host, "projects": by_project}


def _add_up(tallies: Iterable[Tally]) -> dict[str, Any]:
    decisions: dict[str, Counter[str]] = {word: Counter() for word in _DECISIONS}
    codes: Counter[str] = Counter()
    trips = ignored = ended = went_on = 0
    for _, kind, count in tallies:
        if kind.code == events.IGNORED:
            ignored += count
        elif kind.code == _WENT_ON:
            went_on += count
        elif kind.code == _REFUSED and kind.decision == "end":
            ended += count
        elif kind.code == _REFUSED:
            trips += count * (kind.decision == "refuse")
        else:
            codes[kind.code] += count
            if kind.event in _STOPS and kind.decision in decisions:
                decisions[kind.decision][kind.code] += count
    return {
        "stops": sum(sum(reasons.values()) for reasons in decisions.values()),
        "decisions": {word: dict(sorted(reasons.items())) for word, reasons in decisions.items()},
        "trips": trips,
        "ended": ended,
        "went_on": went_on,
        "nudges": codes["nudged"],
        "ignored": ignored,
        "state_errors": codes["state_error"] + codes["lock_timeout"],
    }


def _show(data: Mapping[str, Any], tallies: list[Tally], *, suffix: str) -> Iterator[str | Line]:
    """The sums, then a row for each host and project where there are several."""
    if not tallies:
        yield f"the guard has decided nothing{suffix}"
        return
    yield from labelled(_rows(data), indent=0)
    if len(data["hosts"]) > 1:
        yield ""
        yield from table(_table("HOST", data["hosts"].items()))
    if len(data["projects"]) > 1:
        pages = []
        for name, page in data["projects"].items():
            pages.append((tilde(page["path"] or name or "no project"), page))
        yield ""
        yield from table(_table("PROJECT", pages))


def _rows(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "stops", str(data["stops"])
    for word, label in _DECISIONS.items():
        reasons = data["decisions"][word]
        if reasons:
            by_count = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
            listed = ", ".join(f"{code} {count}" for code, count in by_count)
            yield f"  {label}", f"{sum(reasons.values())}: {listed}"
    refused = amount(data["trips"], "tool call")
    if "trips_perhaps_older" in data:
        refused = f"at most {refused}: {data['trips_perhaps_older']} may be from before"
    if data["ended"]:
        refused += f"; {amount(data['ended'], 'turn')} asked to end for that"
    yield "refused", refused
    if data["went_on"]:
        yield "went on", f"{amount(data['went_on'], 'turn')} asked to end"
    nudges = amount(data["nudges"], "reminder")
    yield "reminded", f"{nudges}, {data['ignored']} ignored"
    if data["state_errors"]:
        yield "not saved", f"{data['state_errors']}: the guard's state could not be written"


def _table(title: str, pages: Iterable[tuple[str, Mapping[str, Any]]]) -> list[list[str]]:
    rows = [[title, "STOPS", "BLOCKED", "RELEASED", "ENDED", "REFUSED", "IGNORED"]]
    for name, page in pages:
        sums = [sum(page["decisions"][word].values()) for word in ("block", "release", "end")]
        rows.append([name, *map(str, (page["stops"], *sums, page["trips"], page["ignored"]))])
    return rows


def _export(tallies: list[Tally]) -> Iterator[str]:
    """The text format of Prometheus, for the textfile folder of its node exporter."""
    samples: dict[str, Counter[str]] = {name: Counter() for name in _METRICS}
    for tally in tallies:
        name, labels = _sample(tally)
        samples[name][labels] += tally.number
    for name, description in _METRICS.items():
        metric = f"hookctl_{name}_total"
        yield f"# HELP {metric} {description}"
        yield f"# TYPE {metric} counter"
        for labels, count in sorted(samples[name].items()):
            yield f"{metric}{{{labels}}} {count}"


def _sample(tally: Tally) -> tuple[str, str]:
    """The metric that counts, and its labels."""
    kind = tally.kind
    metric, labels = "decisions", {"project": tally.project, "host": kind.host}
    if kind.code == _REFUSED and kind.decision == "refuse":
        metric = "trips"
        del labels["host"]
    elif kind.code == events.IGNORED:
        metric = "ignored"
    else:
        labels |= {"event": kind.event, "decision": kind.decision, "code": kind.code}
    return metric, metrics.write_labels(labels)
