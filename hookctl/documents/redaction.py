"""What of a JSON text may be shown: the places where a mask goes, and all else stays byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from hookctl.documents.scan import BREAK, Scan
from hookctl.masking import MASK, Fill, flag_of

_TOKENS = r'"(?:[^"\\]|\\.)*+"|[\[\]{}:,]|[^\s\[\]{}:,"]+'
Splice = tuple[int, int, str]  # start, end and what goes there
Mask = Callable[[str, Fill], str]


class Piece(NamedTuple):
    """A key, a scalar or a comment, and the keys above it."""

    kind: str  # key | scalar | comment
    start: int
    end: int
    keys: tuple[str, ...]


class _Level:
    """An object or array that is open, and which key the next value in it stands under."""

    def __init__(self, is_object: bool) -> None:
        self.is_object = self.wants_key = is_object
        self.key: str | None = None  # in an array: the flag of a command whose value comes next
        self.ended = -1  # where the value of the key ended


def masks(found: Scan, secret: Callable[[str], bool], text: Mask | None) -> Iterator[Splice]:
    """Every scalar under a secret key; with `text` also every comment there, and what it masks in the other texts."""
    loose: list[tuple[int, int]] = []
    for piece in pieces(found):
        source = found.text[piece.start : piece.end]
        hidden = any(map(secret, piece.keys))
        if piece.kind == "scalar" and hidden:
            yield piece.start, piece.end, f'"{MASK}"'
        elif text and piece.kind == "comment" and hidden:
            yield piece.start, piece.end, line_by_line(source)
        elif text and piece.kind == "comment":
            loose.append((piece.start, piece.end))
        elif text and source.startswith('"'):
            plain = json.loads(source)
            shown = text(plain, lambda _: MASK)
            if shown != plain:
                yield piece.start, piece.end, json.dumps(shown, ensure_ascii=False)
    for start, end in joined(found.text, loose):
        if text:
            yield start, end, text(found.text[start:end], line_by_line)


def pieces(found: Scan) -> Iterator[Piece]:
    """Keys, scalars and comments in the order of the text."""
    levels: list[_Level] = []
    spots = [(match.start(), match.end(), False) for match in re.finditer(_TOKENS, found.shadow)]
    for start, end, is_comment in sorted([*spots, *((*span, True) for span in found.comments)]):
        token, level = found.shadow[start:end], levels[-1] if levels else None
        if is_comment:
            yield Piece("comment", start, end, _above_comment(levels, found.text, start))
        elif token in "{[":
            levels.append(_Level(token == "{"))
        elif token in "}]":
            levels.pop()
            _end_value(levels, end, None)
        elif level and token == ",":
            level.wants_key = level.is_object
        elif level and level.wants_key:
            level.key, level.wants_key, level.ended = json.loads(token), False, -1
            yield Piece("key", start, end, ())
        elif token != ":":
            yield Piece("scalar", start, end, tuple(inner.key for inner in levels if inner.key is not None))
            _end_value(levels, end, json.loads(token) if token.startswith('"') else None)


def _end_value(levels: list[_Level], end: int, value: str | None) -> None:
    if levels:
        levels[-1].ended = end
        if not levels[-1].is_object:
            levels[-1].key = flag_of(value) or None


def _above_comment(levels: list[_Level], text: str, at: int) -> tuple[str, ...]:
    """The keys above a comment; behind a value, that value's key as long as its line goes on."""
    keys = [level.key for level in levels if level.key is not None]
    last = levels[-1] if levels else None
    over = last and last.key is not None and last.ended >= 0 and BREAK.search(text, last.ended, at)
    return tuple(keys[:-1] if over else keys)


def joined(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Comments with nothing between them are one: a member that is commented out may take several lines."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and not text[joined[-1][1] : start].strip():
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def line_by_line(hidden: str) -> str:
    """As many lines as before, so that a diff keeps its numbers, with the marks of comments."""
    lines = re.split(f"({BREAK.pattern})", hidden)
    marked = r"^(\s*(?://|#|/\*|\*(?![*/]))?\s*)[^\s].*?(\s*\*/)?$"
    return "".join(re.sub(marked, rf"\1{MASK}\2", line) for line in lines)
