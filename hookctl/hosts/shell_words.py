"""Splits a command into words as sh does, in time that grows with its length alone."""

from __future__ import annotations

import re

_PIECE = (
    r"(?s)(?P<blank>[ \t\r\n]++)|(?P<plain>[^ \t\r\n'\"\\]++)|'(?P<single>[^']*+)'"
    r"|\"(?P<double>(?:[^\"\\]|\\.)*+)\"|\\(?P<escaped>.)"
)


def split_words(command: str) -> list[str]:
    """The same as shlex.split, which copies a long word again for each of its characters.

    Raises ValueError for a quote without an end.
    """
    words: list[list[str]] = []
    is_between, offset = True, 0
    match_piece = re.compile(_PIECE).match
    while offset < len(command):
        piece = match_piece(command, offset)
        if piece is None:
            raise ValueError("a quote has no end")
        offset = piece.end()
        if piece["blank"]:
            is_between = True
            continue
        if is_between:
            words.append([])
            is_between = False
        text = piece[piece.lastgroup or 0]
        words[-1].append(re.sub(r'\\([\\"])', r"\1", text) if piece["double"] else text)
    return ["".join(parts) for parts in words]
