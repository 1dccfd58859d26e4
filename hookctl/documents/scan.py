"""Reading JSON with comments and trailing commas by the standard library's scanner, with exact offsets.

The *shadow* is the text with everything blanked that strict JSON does not allow. It has the text's length, so an
offset into the one is valid in the other; the scanner reads the shadow, and edits are made in the text.
"""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from hookctl.documents.text import position_of
from hookctl.errors import HookctlError
from hookctl.model import LIMIT

# The comparison tree: an object is a tuple of pairs, so that order and duplicates count; an array is a list; a number
# is its source text as bytes, so that 1.0, 1e3 and 20 digits stay themselves; the rest is what JSON makes of it.
Tree = Any

_STRING = r'"[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*+"'
# Most files are strict JSON: these are compiled only when they are used.
_COMMENTS = _STRING + r'|(?P<found>//[^\r\n]*|/\*.*?\*/)|(?P<open>"|/\*)'
_COMMAS = _STRING + r'|(?P<found>,)(?=[ \t\r\n]*[}\]])|(?P<open>")'
_CONSTANTS = _STRING + r"|(?P<found>NaN|-?Infinity)"
# A child with a scalar up to the next one, the beginning of a child with more in it, or the closing bracket.
_GAP, _NEXT = r"[ \t\r\n]*+", r"[ \t\r\n]*+(?:,[ \t\r\n]*+)?"
_SCALAR = rf"(?:{_STRING}|[^ \t\r\n\"\[\]{{}},:]++)"
_MEMBERS = rf"{_STRING}{_GAP}:{_GAP}(?:(?P<scalar>{_SCALAR}){_NEXT}|(?P<nested>))|(?P<close>\}})"
_ELEMENTS = rf"(?P<scalar>{_SCALAR}){_NEXT}|(?P<nested>)(?=[\[{{])|(?P<close>\])"
_COLONS = _STRING + r"(?P<colon>[ \t\r\n]*:[ \t]*)?"
CONFLICT = r"^\ufeff?(?:<{7}|={7}|>{7})(?: |\r?$)"
_BLANKS = re.compile(r"[ \t\r\n]*")
_AGAIN = "Fix it, then run the command again."


class Scan(NamedTuple):
    """A text that was read: its shadow, its tree, and what strict JSON does not allow."""

    text: str
    shadow: str
    start: int  # of the root value; -1 in an empty document
    end: int
    tree: Tree
    comments: tuple[tuple[int, int], ...] = ()
    commas: frozenset[int] = frozenset()  # trailing ones


class Child(NamedTuple):
    """A member of an object or an element of an array."""

    key: str | int
    start: int  # of the key, or of the element
    value: int
    end: int


class Container:
    """An object or an array, and where each of its children begins; what else is asked of one is read when asked."""

    def __init__(self, shadow: str, start: int, close: int, starts: list[int]) -> None:
        self.start = start  # of the opening bracket
        self.close = close  # of the closing bracket
        self.starts = starts
        self._shadow = shadow

    def child(self, index: int) -> Child:
        """The member or element at an index; negative ones count from the end."""
        shadow, start = self._shadow, self.starts[index]
        key: str | int = index
        value = start
        if shadow[self.start] == "{":
            key, behind = _DECODER.raw_decode(shadow, start)
            value = skip(shadow, skip(shadow, behind) + 1)
        _, end = _DECODER.raw_decode(shadow, value)
        return Child(key, start, value, end)


class _Constant(Exception):
    """NaN or Infinity, which the standard library reads and JSON does not have."""


def _no_constant(name: str) -> None:
    raise _Constant(f"{name} is not a number in JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=tuple,
    parse_int=str.encode,
    parse_float=str.encode,
    parse_constant=_no_constant,
)


def decode(data: bytes, where: str) -> str:
    """The bytes as text, line ends untouched; not_utf8 with its place where they are none."""
    if len(data) > LIMIT:
        raise HookctlError(
            "unparsable", "the file is larger than 16 MiB", path=where, hint="Is it the right file?"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        line, column = position_of(before, len(before))
        name = "UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "not UTF-8"
        message, hint = f"the file is {name}", "Save it as UTF-8, then run the command again."
        raise HookctlError(
            "not_utf8", message, path=where, line=line, column=column, hint=hint
        ) from None


def scan(text: str, where: str, *, comments: bool, trailing_commas: bool) -> Scan:
    """Read a text; unparsable with its place where it is not one document of JSON in this dialect.

    RecursionError escapes: how deep is too deep depends on the caller's own depth.
    """
    collecting = gc.isenabled()
    gc.disable()  # a large document is a lot of small tuples, none of them garbage
    try:
        return _strict(text) or _lenient(text, comments=comments, trailing_commas=trailing_commas)
    except json.JSONDecodeError as error:
        raise _unparsable(text, where, error) from None
    finally:
        if collecting:
            gc.enable()


def _strict(text: str) -> Scan | None:
    """The fast way, since nearly every file is strict JSON and then its own shadow."""
    try:
        return _read(text, _without_bom(text))
    except json.JSONDecodeError:
        return None


def _lenient(text: str, *, comments: bool, trailing_commas: bool) -> Scan:
    """Two passes: one expression for both would look for the bracket through comments and go astray."""
    shadow, spans, commas = _without_bom(text), [], []
    if comments:
        spans = list(_found(_COMMENTS, shadow))
        shadow = _blanked(shadow, spans)
    if trailing_commas and re.search(r",[ \t\r\n]*[}\]]", shadow):
        commas = [
            start for start, _ in _found(_COMMAS, shadow) if _is_behind_a_value(shadow, start)
        ]
        shadow = _blanked(shadow, [(offset, offset + 1) for offset in commas])
    return _read(text, shadow)._replace(comments=tuple(spans), commas=frozenset(commas))


def _found(pattern: str, shadow: str) -> Iterator[tuple[int, int]]:
    """What the pattern finds outside strings, up to one that has no end: nothing behind that can be read anyway."""
    for match in re.finditer(pattern, shadow, re.DOTALL):
        if match.lastgroup == "open":
            return
        if match.lastgroup:
            yield match.span()


def _is_behind_a_value(shadow: str, offset: int) -> bool:
    while offset and shadow[offset - 1] in " \t\r\n":
        offset -= 1
    return offset > 0 and shadow[offset - 1] not in "[{,:"


def _without_bom(text: str) -> str:
    return " " + text[1:] if text.startswith("\ufeff") else text


def _blanked(shadow: str, spans: list[tuple[int, int]]) -> str:
    not_break, parts, at = re.compile(r"[^\r\n]"), [], 0
    for start, end in spans:
        parts += [shadow[at:start], not_break.sub(" ", shadow[start:end])]
        at = end
    return "".join([*parts, shadow[at:]])


def _read(text: str, shadow: str) -> Scan:
    start = skip(shadow, 0)
    if start == len(shadow):
        return Scan(text, shadow, -1, -1, None)
    try:
        tree, end = _DECODER.raw_decode(shadow, start)
    except _Constant as error:
        found = next(_found(_CONSTANTS, shadow))
        raise json.JSONDecodeError(str(error), shadow, found[0]) from None
    behind = skip(shadow, end)
    if behind < len(shadow):
        raise json.JSONDecodeError("Extra data", shadow, behind)
    return Scan(text, shadow, start, end, tree)


def skip(shadow: str, at: int) -> int:
    """The next offset that is not blank."""
    return _BLANKS.match(shadow, at).end()  # type: ignore[union-attr]  # it matches everywhere


def too_deep(text: str, where: str) -> HookctlError:
    """The refusal of what the scanner cannot reach in the stack that is left."""
    line, column = position_of(text, _deep(text))
    message, hint = "it is nested too deeply", "Is it the right file?"
    return HookctlError("unparsable", message, path=where, line=line, column=column, hint=hint)


def _deep(text: str) -> int:
    """Where the nesting goes below a hundred levels; counted in a loop, since recursion is what failed."""
    depth = 0
    for match in re.finditer(_STRING + r"|[\[\]{}]", text):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(match[0], 0)
        if depth > 100:
            return match.start()
    return 0


def first_colon(shadow: str) -> str | None:
    """The first key's colon and the blanks around it."""
    return next(
        (match["colon"] for match in re.finditer(_COLONS, shadow, re.DOTALL) if match["colon"]),
        None,
    )


def tree_of(text: str) -> Tree:
    """The tree of one value's strict source text."""
    return _DECODER.decode(text)


def contents(shadow: str, start: int, known: list[int]) -> Container:
    """What is in the object or array whose bracket stands at `start`; where its first children begin may be `known`."""
    starts = known[:-1]
    at = known[-1] if known else skip(shadow, start + 1)
    pattern = re.compile(_MEMBERS if shadow[start] == "{" else _ELEMENTS)
    while shadow[at] not in "}]":
        at = _next_children(pattern, shadow, at, starts)
    return Container(shadow, start, at, starts)


def _next_children(pattern: re.Pattern[str], shadow: str, at: int, starts: list[int]) -> int:
    """Note where children begin, up to the first that is an object or array; the offset behind that one's comma."""
    for match in pattern.finditer(shadow, at):
        if match.lastgroup == "close":
            return match.start()
        starts.append(match.start())
        if match.lastgroup == "nested":
            _, end = _DECODER.raw_decode(shadow, match.end())
            behind = skip(shadow, end)
            return skip(shadow, behind + 1) if shadow[behind] == "," else behind
    raise AssertionError("a container that was read has an end")


_PLAIN = {
    "Expecting value": "a value is missing here",
    "Expecting property name enclosed in double quotes": "a name in double quotes is expected here",
    "Illegal trailing comma before end of object": "a comma is not allowed before the closing bracket",
    "Illegal trailing comma before end of array": "a comma is not allowed before the closing bracket",
    "Expecting ',' delimiter": "a comma or the closing bracket is missing here",
    "Expecting ':' delimiter": "a colon is missing here",
    "Extra data": "there is something behind the end of the document",
    "Invalid control character at": "a line break or control character stands inside a string",
}


def _unparsable(text: str, where: str, error: json.JSONDecodeError) -> HookctlError:
    """What is wrong, in plain words and with the likeliest cause."""
    offset, said, shadow = error.pos, error.msg, error.doc
    conflict = re.search(CONFLICT, text, re.MULTILINE)
    if conflict:
        offset, message = conflict.start(), "the file has merge-conflict marks"
        hint = "Resolve the conflict, then run the command again."
    elif said.startswith("Unterminated string") or skip(shadow, offset) >= len(shadow):
        message, hint = (
            "the file ends in the middle",
            "Restore what is missing, then run the command again.",
        )
    elif "\0" in text[offset : offset + 2]:
        message = "the file has zero bytes: it is UTF-16, or was damaged in a crash"
        hint = "Restore it, or save it as UTF-8."
    elif text.startswith("/*", offset):
        message, hint = "this comment has no end, or is not allowed here", _AGAIN
    else:
        plain = next((words for start, words in _PLAIN.items() if said.startswith(start)), said)
        message, hint = f"not valid JSON: {plain}", _AGAIN
    line, column = position_of(text, offset)
    return HookctlError("unparsable", message, path=where, line=line, column=column, hint=hint)
