"""Decisions of the guard: how many of which kind over time, and why."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hookctl import clock, events
from hookctl.page.html import Column, Html, element, lines, table
from hookctl.page.model import Content
from hookctl.page.plots import stacks

_COLUMNS = (
    Column("Decision", repeats=False),
    Column("Reason", repeats=False),
    Column("Times", is_number=True),
)
_MOST = 60  # columns of the plot
_CLASSES = {word: f"c{number}" for number, word in enumerate(events.DECISIONS, 1)}


def decisions(content: Content) -> Html:
    """The plot over time, its legend, and a table by reason."""
    if not content.decisions:
        when = "in that time" if content.since else "yet"
        return element("p", f"The guard has decided nothing {when}.")
    first, last = content.decisions[0]["t"], content.decisions[-1]["t"]
    columns = _count_by_time(content.decisions, first, last)
    plot = stacks(columns, [*_CLASSES.values()])
    highest = f"at most {max(map(sum, columns))} in one column"
    said = [clock.local(first), highest, clock.local(last)]
    ends = element("div", *(element("span", each) for each in said), class_="ends")
    totals: Counter[str] = Counter()
    reasons: Counter[tuple[str, str]] = Counter()
    for event in content.decisions:
        totals[event["decision"]] += _number(event)
        reason = events.reason_of(event) or event.get("code", "")
        reasons[event["decision"], reason] += _number(event)
    legend = []
    for word, kind in _CLASSES.items():
        if totals[word]:
            mark = element("span", class_=kind)
            legend.append(element("li", mark, f"{events.DONE[word]} {totals[word]}"))
    rows = []
    for (word, reason), number in reasons.most_common():
        rows.append([events.DONE[word], reason, str(number)])
    shown = element("figure", plot, ends, element("ul", *legend, class_="legend"))
    return lines([shown, table("Decisions by reason", _COLUMNS, rows)])


def _count_by_time(
    decisions: tuple[dict[str, Any], ...], first: float, last: float
) -> list[list[int]]:
    """How many decisions of each kind lie in each of some equal spans of time."""
    count = min(_MOST, max(1, len(decisions)))
    span = (last - first) / count or 1
    columns = [[0] * len(_CLASSES) for _ in range(count)]
    kinds = [*_CLASSES]
    for event in decisions:
        column = min(int((event["t"] - first) / span), count - 1)
        columns[column][kinds.index(event["decision"])] += _number(event)
    return columns


def _number(event: dict[str, Any]) -> int:
    """How many decisions a line stands for: refused calls may share one."""
    number = event.get("refusals", 1)
    return number if type(number) is int and number > 0 else 1


def count(content: Content) -> int:
    """How many decisions the page tells of."""
    return sum(map(_number, content.decisions))
