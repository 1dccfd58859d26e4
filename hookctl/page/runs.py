"""Time and bytes by hook: two plots, and the table of all numbers."""

from __future__ import annotations

from hookctl.output.lines import amount
from hookctl.output.runs import show_ms
from hookctl.page.html import Column, Html, element, lines, prose, table
from hookctl.page.model import Content
from hookctl.page.plots import bars

_COLUMNS = (
    Column("Hook", repeats=False),
    Column("Runs", is_number=True),
    Column("Failed", is_number=True),
    Column("Median", is_number=True),
    Column("95 of 100 within", is_number=True),
    Column("Together", is_number=True),
    Column("Bytes into the context", is_number=True),
)
_NONE = "There are no receipts yet. The hooks of packs leave one for each run."


def runs(content: Content) -> Html:
    """The plots and the table."""
    if not content.runs:
        return element("p", prose(_NONE))
    times, sizes, rows = [], [], []
    for name, found in sorted(content.runs.items(), key=lambda pair: -pair[1].ms):
        title = f"{name.id} · {content.titles.get(name.host, name.host)}, {name.event}"
        times.append((title, found.ms, show_ms(found.ms)))
        if found.bytes:
            sizes.append((title, found.bytes, amount(found.bytes, "byte")))
        numbers = [found.runs, found.failures]
        spans = [show_ms(found.median_ms), show_ms(found.p95_ms), show_ms(found.ms)]
        rows.append([title, *map(str, numbers), *spans, str(found.bytes)])
    parts = [element("h3", "Time of all runs together"), bars(times)]
    if sizes:
        parts += [element("h3", "Bytes that went into the model's context"), bars(sizes)]
    parts += [element("h3", "All numbers"), table("Runs by hook", _COLUMNS, rows)]
    return lines(parts)
