"""The geometry of a text, and splices into it: what every format's edits are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

BREAK = re.compile(r"\r\n|\r|\n")


class Splice(NamedTuple):
    """What goes where a span of the text stands."""

    start: int
    end: int
    text: str = ""


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text with all splices made; they do not overlap, and their order does not matter."""
    parts, at = [], 0
    for start, end, new in sorted(splices, key=lambda splice: splice.start):
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def line_start(text: str, offset: int) -> int:
    """Where the line of an offset begins; one between \\r and \\n is still on the line before."""
    newline, carriage = text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)
    if carriage > newline and text.startswith("\r\n", carriage):
        carriage = text.rfind("\r", 0, carriage)
    return max(newline, carriage) + 1


def line_stop(text: str, offset: int) -> int:
    """Where the line of an offset ends, before its line break."""
    found = BREAK.search(text, offset)
    return found.start() if found else len(text)


def position_of(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both from 1; a byte order mark takes no column."""
    breaks = list(BREAK.finditer(text, 0, offset))
    start = breaks[-1].end() if breaks else int(text.startswith("\ufeff") and offset > 0)
    return len(breaks) + 1, offset - start + 1
