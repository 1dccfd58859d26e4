"""Plots as SVG without a text: the words beside them say the same for everybody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hookctl.page.html import Html, element, lines

_MOST = 20  # bars
_HEIGHT = 100.0


class Bar(NamedTuple):
    """A bar: its name, its length, and the length in words."""

    name: str
    length: float
    said: str


def bars(items: Sequence[Bar]) -> Html:
    """Horizontal bars with their names and lengths in words, the longest first."""
    items = sorted(items, key=lambda bar: -bar.length)
    longest = max((bar.length for bar in items), default=0) or 1
    shown = [_bar(bar, 100 * bar.length / longest) for bar in items[:_MOST]]
    parts: list[str] = [element("ul", lines(shown), class_="bars")]
    if len(items) > _MOST:
        rest = len(items) - _MOST
        parts.append(element("p", f"And {rest} more, which the table has.", class_="soft"))
    return lines(parts)


def _bar(bar: Bar, percent: float) -> Html:
    rect = Html(f'<rect class="c1" width="{percent:.2f}" height="10"/>')
    words = element("div", element("span", bar.name), element("span", bar.said))
    return element("li", words, _svg(rect, "0 0 100 10"))


def _svg(content: str, box: str, kind: str = "") -> Html:
    plot = Html(content)
    return element(
        "svg", plot, class_=kind, viewBox=box, preserveAspectRatio="none", aria_hidden="true"
    )


def stacks(columns: Sequence[Sequence[int]], classes: Sequence[str]) -> Html:
    """Columns side by side, each a stack of numbers in these classes, from the bottom upwards."""
    highest = max(map(sum, columns), default=0) or 1
    rects = []
    for x, column in enumerate(columns):
        top = _HEIGHT
        for number, kind in zip(column, classes, strict=True):
            height = _HEIGHT * number / highest
            top -= height
            if number:
                rects.append(
                    f'<rect class="{kind}" x="{x + 0.06:.2f}" y="{top:.2f}" width="0.88" '
                    f'height="{height:.2f}"/>'
                )
    return _svg("".join(rects), f"0 0 {max(len(columns), 1)} {_HEIGHT:.0f}", "plot")
