"""Plots as SVG without a text: the words beside them say the same for everybody."""

from __future__ import annotations

from collections.abc import Sequence

from hookctl.page.html import Html, element, lines

_MOST = 20  # bars
_HEIGHT = 100.0


def bars(items: Sequence[tuple[str, float, str]]) -> Html:
    """Horizontal bars with names, lengths, and these in words; the longest first."""
    items = sorted(items, key=lambda bar: -bar[1])
    longest = max((length for _, length, _ in items), default=0) or 1
    shown = []
    for name, length, said in items[:_MOST]:
        rect = Html(f'<rect class="c1" width="{100 * length / longest:.2f}" height="10"/>')
        words = element("div", element("span", name), element("span", said))
        shown.append(element("li", words, _svg(rect, "0 0 100 10")))
    parts: list[str] = [element("ul", lines(shown), class_="bars")]
    if len(items) > _MOST:
        rest = len(items) - _MOST
        parts.append(element("p", f"And {rest} more, which the table has.", class_="soft"))
    return lines(parts)


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
