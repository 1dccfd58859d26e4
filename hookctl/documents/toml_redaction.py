"""What of a TOML text may be shown: the places where a mask goes, and all else stays byte for byte."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from typing import Any

from hookctl.documents.redaction import Mask, joined, line_by_line
from hookctl.documents.redaction import Splice as Place
from hookctl.documents.scan import BREAK
from hookctl.documents.toml_scan import ARRAY, INLINE, SCALAR, TABLES, Keys, Node, Piece, Scan, names_of
from hookctl.documents.toml_text import inline, keys_text
from hookctl.masking import MASK, flag_of


def masks(text: str, found: Scan, secret: Callable[[str], bool], mask: Mask | None) -> Iterator[Place]:
    """Every scalar under a secret key; with `mask` also every comment there, and what it masks in the other texts."""
    keyed = list(found.statements)
    for node, keys in _values(text, found.root, ()):
        source = text[node.start : node.end]
        if node.kind == INLINE:
            keyed += node.body
        elif any(map(secret, keys)):
            yield node.start, node.end, f'"{MASK}"'
        elif mask and source[0] in "\"'":
            plain = _string(source)
            shown = mask(plain, lambda _: MASK)
            if shown != plain:
                yield node.start, node.end, inline(shown)
    if mask:
        yield from _names(text, keyed, mask)
        yield from _comments(text, found, keyed, secret, mask)


def _values(text: str, node: Node, keys: Keys) -> Iterator[tuple[Node, Keys]]:
    """Every scalar and inline table with the keys above it; in an array a flag is the key of the next element."""
    if node.kind in (SCALAR, INLINE):
        yield node, keys
    if node.kind == TABLES:
        for child in node.children:
            yield from _values(text, child, keys)
    elif node.kind == ARRAY:
        flag = ""
        for child in node.children:
            yield from _values(text, child, (*keys, flag) if flag else keys)
            flag = flag_of(_string(text[child.start : child.end]) if child.kind == SCALAR else None)
    else:
        for name, child in node.children.items():
            yield from _values(text, child, (*keys, name))


def _string(source: str) -> Any:
    return tomllib.loads(f"v = {source}")["v"]


def _names(text: str, pieces: list[Piece], mask: Mask) -> Iterator[Place]:
    for piece in pieces:
        assert piece.key
        names = names_of(text[slice(*piece.key)])
        shown = tuple(mask(name, lambda _: MASK) for name in names)
        if shown != names:
            yield (*piece.key, keys_text(shown))


def _comments(
    text: str, found: Scan, keyed: list[Piece], secret: Callable[[str], bool], mask: Mask
) -> Iterator[Place]:
    loose: list[tuple[int, int]] = []
    for (start, end), keys in _comment_keys(text, found, keyed):
        if any(map(secret, keys)):
            yield start, end, line_by_line(text[start:end])
        else:
            loose.append((start, end))
    for start, end in joined(text, loose):
        yield start, end, mask(text[start:end], line_by_line)


def _comment_keys(text: str, found: Scan, keyed: list[Piece]) -> Iterator[tuple[tuple[int, int], Keys]]:
    """Every comment with the keys above it: behind a value on its line that value's, else those of the table."""
    table: Keys = ()
    around: list[tuple[int, Keys]] = []
    pieces = sorted(keyed, key=lambda piece: (piece.start, -piece.end), reverse=True)
    for span in found.comments:
        while pieces and pieces[-1].start < span[0]:
            piece = pieces.pop()
            table = piece.names if piece.home is None else table
            stop = BREAK.search(text, piece.end)
            around.append((stop.start() if stop else len(text), piece.names))
        around = [(end, names) for end, names in around if span[0] < end]
        yield span, around[-1][1] if around else table
