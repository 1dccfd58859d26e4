"""The few elements of the page. Text is escaped here, and nowhere else."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

from hookctl.masking import by_look, plain


class Html(str):
    """A text that is HTML already."""

    __slots__ = ()


class Column(NamedTuple):
    """A column of a table."""

    title: str
    is_number: bool = False
    repeats: bool = True  # whether a narrow screen shows the title before each value


def text(value: str) -> Html:
    """A text as HTML shows it, without what looks like a secret, and with ~ for the home folder.

    What is HTML already stays.
    """
    if isinstance(value, Html):
        return value
    home = os.path.expanduser("~")
    if home != "/":
        value = value.replace(f"{home}/", "~/")
    return Html(escape(by_look(plain(value))))


def element(name: str, *inside: str, **attributes: str) -> Html:
    """An element; an attribute named `class_` is `class`, and `data_title` is `data-title`."""
    shown = _attributes(attributes)
    return Html(f"<{name}{shown}>{''.join(map(text, inside))}</{name}>")


def _attributes(attributes: Mapping[str, str]) -> str:
    pairs = []
    for name, value in attributes.items():
        if value:
            pairs.append(f' {name.rstrip("_").replace("_", "-")}="{text(value)}"')
    return "".join(pairs)


def lines(parts: Iterable[str]) -> Html:
    """Parts below each other."""
    return Html("\n".join(map(text, parts)))


def prose(value: str) -> Html:
    """A sentence; what stands in backticks is code."""
    return Html(re.sub("`([^`]+)`", r"<code>\1</code>", text(value)))


def table(
    caption: str, columns: Sequence[Column], rows: Iterable[Sequence[str]], kind: str = "rows"
) -> Html:
    """A table, which a narrow screen shows as a list; a screen reader reads its caption.

    The roles keep it a table where the style makes blocks of its cells.
    """
    heads = []
    for column in columns:
        number = "number" if column.is_number else ""
        heads.append(element("th", column.title, scope="col", role="columnheader", class_=number))
    body = []
    for row in rows:
        cells = []
        for column, cell in zip(columns, row, strict=True):
            number = "number" if column.is_number else ""
            title = column.title if column.repeats else ""
            cells.append(element("td", cell, role="cell", class_=number, data_title=title))
        body.append(element("tr", *cells, role="row"))
    head = element("tr", *heads, role="row")
    return element(
        "table",
        element("caption", caption, class_="hidden"),
        element("thead", head, role="rowgroup"),
        element("tbody", lines(body), role="rowgroup"),
        class_=kind,
        role="table",
    )
