"""What an install put into a JSON file, found by the judge of edits: the operator's text is the rest, byte for byte."""

from __future__ import annotations

from typing import NamedTuple

from tests.documents.judge import BLANKS, Node, comments, line_ends, nodes, read


class Added(NamedTuple):
    """A member or element that is new: the keys that lead to it, and its span."""

    path: tuple[str | int, ...]
    start: int
    end: int


def added(before: bytes, after: bytes) -> list[tuple[tuple[str | int, ...], str]]:
    """Everything new with its text; fails unless the rest is the text of before, blanks around our own left out."""
    old, new = before.decode(), after.decode()
    was, now = nodes(old), nodes(new)
    assert now is not None and read(new) != ("empty",)
    found = [Added((), now.start, now.end)] if was is None else _added(old, new, was, now, ())
    _require_the_rest(old, new, found)
    assert [old[a:b] for a, b in comments(old)] == [new[a:b] for a, b in comments(new)], "a comment is lost"
    kinds, grown = line_ends(old), line_ends(new)
    assert len(kinds) > 1 or grown <= (kinds or {"\n"}), f"line ends {kinds} became {grown}"
    return [(one.path, new[one.start : one.end]) for one in found]


def _added(old: str, new: str, was: Node, now: Node, path: tuple[str | int, ...]) -> list[Added]:
    assert was.kind == now.kind, f"{path} is of another kind"
    if was.kind == "scalar":
        assert old[was.start : was.end] == new[now.start : now.end], f"{path} has another value"
        return []
    count = len(was.values)
    assert now.keys[: len(was.keys)] == was.keys and len(now.values) >= count, f"{path} lost something, or its order"
    keys: list[str | int] = [*now.keys] if was.kind == "object" else [*range(len(now.values))]
    found = []
    for key, old_node, new_node in zip(keys, was.values, now.values, strict=False):
        found += _added(old, new, old_node, new_node, (*path, key))
    more = zip(keys[count:], now.starts[count:], now.values[count:], strict=True)
    return found + [Added((*path, key), start, node.end) for key, start, node in more]


def _require_the_rest(old: str, new: str, found: list[Added]) -> None:
    """Walk through both: only what was found is new, a comma for each, and blanks right beside it."""
    at = cut = commas = 0
    spans = sorted((one.start, one.end) for one in found)
    while cut < len(new):
        if spans and _only_blanks_until(new, cut, spans[0][0]):
            cut, at = spans.pop(0)[1], _behind_blanks(old, at)
            cut = _behind_blanks(new, cut)
        elif at < len(old) and old[at] == new[cut]:
            at, cut = at + 1, cut + 1
        else:
            assert new[cut] == ",", f"{new[cut : cut + 20]!r} stands where {old[at : at + 20]!r} was"
            cut, commas = cut + 1, commas + 1
    assert old[at:] == "", f"{old[at:]!r} is lost"
    assert commas <= len(found), "more commas than there is new"


def _only_blanks_until(text: str, at: int, end: int) -> bool:
    return at <= end and text[at:end].strip(BLANKS) == ""


def _behind_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in BLANKS:
        at += 1
    return at
