"""Positions in a text, and splices into it: what the edits of every format are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hookctl.values import NamedTuple

BREAK = re.compile(r"\r\n|\r|\n")


class Splice(NamedTuple):
    """A span of the text, and the text that replaces it."""

    start: int
    end: int
    text: str = ""


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text with all splices made; they must not overlap, and may come in any order."""
    parts = []
    copied = 0
    for splice in sorted(splices, key=lambda splice: splice.start):
        parts += [text[copied : splice.start], splice.text]
        copied = splice.end
    parts.append(text[copied:])
    return "".join(parts)


def line_start(text: str, offset: int) -> int:
    """Where the line of an offset begins; between \\r and \\n it is still the line before."""
    newline = text.rfind("\n", 0, offset)
    carriage = text.rfind("\r", 0, offset)
    if carriage > newline and text.startswith("\r\n", carriage):
        carriage = text.rfind("\r", 0, carriage)
    return max(newline, carriage) + 1


def line_stop(text: str, offset: int) -> int:
    """Where the line of an offset ends, before its line break."""
    line_break = BREAK.search(text, offset)
    return line_break.start() if line_break else len(text)


def leading_blanks(text: str) -> str:
    """The spaces and tabs that a text begins with."""
    return text[: len(text) - len(text.lstrip(" \t"))]


def position_of(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both from 1; a byte order mark takes no column."""
    breaks = list(BREAK.finditer(text, 0, offset))
    bom_length = int(text.startswith("\ufeff") and offset > 0)
    start = breaks[-1].end() if breaks else bom_length
    return len(breaks) + 1, offset - start + 1
