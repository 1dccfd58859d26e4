"""The runs of hooks as a table: the ones that took most time first."""

from __future__ import annotations

from collections.abc import Mapping

from hookctl.output.lines import table
from hookctl.receipts.model import HookName, Runs

_OPTIONAL = ("HOST", "FAILED", "BYTES")  # left out where they would say the same of every hook


def list_runs(runs: Mapping[HookName, Runs]) -> list[str]:
    """A row for each hook."""
    by_time = sorted(runs, key=lambda name: (-runs[name].ms, name))
    rows = [_describe(name, runs[name]) for name in by_time]
    titles = []
    for title in rows[0]:
        values = {row[title] for row in rows}
        if title not in _OPTIONAL or len(values) > 1 or (title != "HOST" and values != {"0"}):
            titles.append(title)
    return table([titles, *([row[title] for title in titles] for row in rows)])


def show_ms(ms: float | None) -> str:
    """A time as people read it."""
    if ms is None:
        return "-"
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


def _describe(name: HookName, runs: Runs) -> dict[str, str]:
    return {
        "HOOK": name.id,
        "HOST": name.host,
        "EVENT": name.event,
        "RUNS": str(runs.runs),
        "FAILED": str(runs.failures),
        "MEDIAN": show_ms(runs.median_ms),
        "P95": show_ms(runs.p95_ms),
        "BYTES": str(runs.bytes),
    }
