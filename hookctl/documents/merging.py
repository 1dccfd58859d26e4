"""Makes the difference between two texts in a third one, which was edited meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

_MOST = 2000  # lines that differ; comparing more takes too long


def merge(ancestor: str, edited: str, wanted: str, *, is_first: bool = True) -> str | None:
    """The edited text with the change from the ancestor to the wanted text, line by line.

    Where somebody has put other lines into the same place, the new ones stand before or behind
    them. None where somebody has edited the very lines, or both lines around an insertion.
    """
    old, new = ancestor.splitlines(keepends=True), wanted.splitlines(keepends=True)
    mine = edited.splitlines(keepends=True)
    hunks, places = _changes(old, new), _places(old, mine)
    if hunks is None or places is None:
        return None
    places |= {-1: -1, len(old): len(mine)}
    merged: list[str] = []
    copied = 0
    for first, last, replacement in hunks:
        if first < last:
            start, end = places.get(first, -1), places.get(last - 1, -2) + 1
        else:
            start = end = _between(places.get(first - 1), places.get(first), is_first=is_first)
        if start < copied or mine[start:end] != old[first:last] or end - start != last - first:
            return None
        merged += [*mine[copied:start], *replacement]
        copied = end
    return "".join([*merged, *mine[copied:]])


def _between(above: int | None, below: int | None, *, is_first: bool) -> int:
    """Where an insertion goes between two lines, of which one may be gone; -1 if both are."""
    if below is not None and (above is None or not is_first):
        return below
    return -1 if above is None else above + 1


def _changes(old: list[str], new: list[str]) -> list[tuple[int, int, list[str]]] | None:
    """The spans of the old lines that change, each with its new lines."""
    blocks = _equal_spans(old, new)
    if blocks is None:
        return None
    hunks = []
    done_old = done_new = 0
    for start_old, start_new, size in [*blocks, (len(old), len(new), 0)]:
        if (done_old, done_new) != (start_old, start_new):
            hunks.append((done_old, start_old, new[done_new:start_new]))
        done_old, done_new = start_old + size, start_new + size
    return hunks


def _places(old: list[str], mine: list[str]) -> dict[int, int] | None:
    """Where each old line stands in the edited text, if it does."""
    blocks = _equal_spans(old, mine)
    if blocks is None:
        return None
    return dict(_pairs(blocks))


def _pairs(blocks: list[tuple[int, int, int]]) -> Iterator[tuple[int, int]]:
    for start_old, start_mine, size in blocks:
        for number in range(size):
            yield start_old + number, start_mine + number


def _equal_spans(old: list[str], new: list[str]) -> list[tuple[int, int, int]] | None:
    """The spans that two texts have in common; None where too much between them differs."""
    shorter, head, tail = min(len(old), len(new)), 0, 0
    while head < shorter and old[head] == new[head]:
        head += 1
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    inner_old, inner_new = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(inner_old), len(inner_new)) > _MOST:
        return None
    blocks = [(0, 0, head)] if head else []
    matcher = SequenceMatcher(None, inner_old, inner_new, autojunk=False)
    for block in matcher.get_matching_blocks():
        if block.size:
            blocks.append((head + block.a, head + block.b, block.size))
    if tail:
        blocks.append((len(old) - tail, len(new) - tail, tail))
    return blocks
