"""Reading JSON with comments and trailing commas with the standard library's scanner.

The *shadow* is the text with blanks in place of everything that strict JSON does not allow. It has
the text's length, so an offset into one is valid in the other; the scanner reads the shadow, and
edits are made in the text.
"""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Any

from hookctl.documents.text import position_of
from hookctl.errors import HookctlError
from hookctl.model import LIMIT
from hookctl.values import NamedTuple

# The comparison tree: an object is a tuple of pairs, so that order and duplicates count; an array
# is a list; a number is its source text as bytes, so that 1.0, 1e3 and 20 digits stay themselves;
# everything else is the plain value.
Tree = Any

_STRING = r'"[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*+"'
# Most files are strict JSON, so these are compiled only when they are used.
_COMMENTS = _STRING + r'|(?P<match>//[^\r\n]*|/\*.*?\*/)|(?P<open>"|/\*)'
_COMMAS = _STRING + r'|(?P<match>,)(?=[ \t\r\n]*[}\]])|(?P<open>")'
_CONSTANTS = _STRING + r"|(?P<match>NaN|-?Infinity)"
# A child with a scalar and the comma after it, the beginning of a nested child, or the bracket.
_GAP, _NEXT = r"[ \t\r\n]*+", r"[ \t\r\n]*+(?:,[ \t\r\n]*+)?"
_SCALAR = rf"(?:{_STRING}|[^ \t\r\n\"\[\]{{}},:]++)"
_MEMBERS = rf"{_STRING}{_GAP}:{_GAP}(?:(?P<scalar>{_SCALAR}){_NEXT}|(?P<nested>))|(?P<close>\}})"
_ELEMENTS = rf"(?P<scalar>{_SCALAR}){_NEXT}|(?P<nested>)(?=[\[{{])|(?P<close>\])"
_TOKENS = (
    rf"(?P<key>{_STRING}(?={_GAP}:))|(?P<string>{_STRING})|(?P<open>[\[{{])|(?P<close>[\]}}])"
    r"|(?P<comma>,)|(?P<word>[^ \t\r\n\"\[\]{},:]++)"
)
_COLONS = _STRING + r"(?P<colon>[ \t\r\n]*:[ \t]*)?"
CONFLICT = r"^\ufeff?(?:<{7}|={7}|>{7})(?: |\r?$)"
# What JavaScript takes for blank, and JSON does not.
_ODD_BLANK = "[\\v\\f\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]"
_BLANKS = re.compile(r"[ \t\r\n]*")
_AGAIN = "Fix it, then run the command again."
DEPTH = 100  # levels of any document, so that no walk over one exhausts the stack


class Scan(NamedTuple):
    """A text that was read: its shadow, its tree, its comments and trailing commas."""

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
    """An object or an array, and where its children begin; child() reads the rest on demand."""

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
            key, key_end = _DECODER.raw_decode(shadow, start)
            colon = skip_blanks(shadow, key_end)
            value = skip_blanks(shadow, colon + 1)
        _, end = _DECODER.raw_decode(shadow, value)
        return Child(key, start, value, end)


class _Constant(Exception):
    """NaN or Infinity, which the standard library reads and JSON does not have."""


def _refuse_constant(name: str) -> None:
    raise _Constant(f"{name} is not a number in JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=tuple,
    parse_int=str.encode,
    parse_float=str.encode,
    parse_constant=_refuse_constant,
)


def decode(data: bytes, where: str) -> str:
    """The bytes as text, line ends untouched; not_utf8, with the position, if they are not."""
    if len(data) > LIMIT:
        message, hint = "the file is larger than 16 MiB", "Check that it is the right file."
        raise HookctlError("unparsable", message, path=where, hint=hint)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(data, error.start, where) from None


def _not_utf8(data: bytes, offset: int, where: str) -> HookctlError:
    before = data[:offset].decode("utf-8")
    line, column = position_of(before, len(before))
    name = "UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "not UTF-8"
    message, hint = f"the file is {name}", "Save it as UTF-8, then run the command again."
    return HookctlError("not_utf8", message, path=where, line=line, column=column, hint=hint)


def scan(text: str, where: str, *, comments: bool, trailing_commas: bool) -> Scan:
    """Read a text; unparsable, with the position, if it is not one JSON document in this dialect.

    RecursionError escapes where it is nested too deeply.
    """
    is_collecting = gc.isenabled()
    gc.disable()  # a large document is a lot of small tuples, none of them garbage
    try:
        strict = _scan_strict(text)
        if strict:
            return strict
        return _scan_lenient(text, comments=comments, trailing_commas=trailing_commas)
    except json.JSONDecodeError as error:
        raise _unparsable(text, where, error) from None
    finally:
        if is_collecting:
            gc.enable()


def _scan_strict(text: str) -> Scan | None:
    """The fast way: nearly every file is strict JSON, and then its own shadow."""
    try:
        return _read(text, _without_bom(text))
    except json.JSONDecodeError:
        return None


def _scan_lenient(text: str, *, comments: bool, trailing_commas: bool) -> Scan:
    """Two passes: one pattern for both would look for the bracket through comments."""
    shadow = _without_bom(text)
    comment_spans: list[tuple[int, int]] = []
    commas: list[int] = []
    if comments:
        comment_spans = list(_spans_outside_strings(_COMMENTS, shadow))
        shadow = _blank_out(shadow, comment_spans)
    if trailing_commas and re.search(r",[ \t\r\n]*[}\]]", shadow):
        for comma, _ in _spans_outside_strings(_COMMAS, shadow):
            if _follows_value(shadow, comma):
                commas.append(comma)
        shadow = _blank_out(shadow, [(comma, comma + 1) for comma in commas])
    scanned = _read(text, shadow)
    return scanned._replace(comments=tuple(comment_spans), commas=frozenset(commas))


def _spans_outside_strings(pattern: str, shadow: str) -> Iterator[tuple[int, int]]:
    """The matches outside strings, up to an unclosed string: nothing after it can be read."""
    for match in re.finditer(pattern, shadow, re.DOTALL):
        if match.lastgroup == "open":
            return
        if match.lastgroup:
            yield match.span()


def _follows_value(shadow: str, offset: int) -> bool:
    while offset and shadow[offset - 1] in " \t\r\n":
        offset -= 1
    return offset > 0 and shadow[offset - 1] not in "[{,:"


def _without_bom(text: str) -> str:
    return " " + text[1:] if text.startswith("\ufeff") else text


def _blank_out(shadow: str, spans: list[tuple[int, int]]) -> str:
    """The shadow with blanks for everything in these spans except line breaks."""
    not_break = re.compile(r"[^\r\n]")
    parts = []
    copied = 0
    for start, end in spans:
        parts += [shadow[copied:start], not_break.sub(" ", shadow[start:end])]
        copied = end
    parts.append(shadow[copied:])
    return "".join(parts)


def _read(text: str, shadow: str) -> Scan:
    start = skip_blanks(shadow, 0)
    if start == len(shadow):
        return Scan(text, shadow, -1, -1, None)
    try:
        tree, end = _DECODER.raw_decode(shadow, start)
    except _Constant as error:
        constant, _ = next(_spans_outside_strings(_CONSTANTS, shadow))
        raise json.JSONDecodeError(str(error), shadow, constant) from None
    after = skip_blanks(shadow, end)
    if after < len(shadow):
        raise json.JSONDecodeError("Extra data", shadow, after)
    has_many = shadow.count("[") + shadow.count("{") > DEPTH  # few documents need a closer look
    if has_many and is_too_deep(tree):
        raise RecursionError
    return Scan(text, shadow, start, end, tree)


def skip_blanks(shadow: str, offset: int) -> int:
    """The next offset that is not blank."""
    return _BLANKS.match(shadow, offset).end()  # type: ignore[union-attr]  # it matches everywhere


def is_too_deep(value: Any) -> bool:
    """Whether a plain value, or a tree, has more levels than a document may have.

    In a loop, for it may have any number.
    """
    levels, containers = 0, [value]
    while containers and levels <= DEPTH:
        levels += 1
        below: list[Any] = []
        for container in containers:
            below += _values_in(container)
        containers = [inner for inner in below if isinstance(inner, dict | list | tuple)]
    return levels > DEPTH


def _values_in(container: Any) -> Iterable[Any]:
    if isinstance(container, dict):
        return container.values()
    if isinstance(container, tuple):  # an object of a tree
        return map(itemgetter(1), container)
    return container if isinstance(container, list) else ()


def too_deep(text: str, where: str) -> HookctlError:
    """The error for a document that is nested deeper than one may be."""
    line, column = position_of(text, _find_deep_nesting(text))
    message, hint = "it is nested too deeply", "Check that it is the right file."
    return HookctlError("unparsable", message, path=where, line=line, column=column, hint=hint)


def _find_deep_nesting(text: str) -> int:
    """Where the nesting exceeds the levels that a document may have."""
    depth = 0
    for match in re.finditer(_STRING + r"|[\[\]{}]", text):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(match[0], 0)
        if depth > DEPTH:
            return match.start()
    return 0


def odd_in_comment(scanned: Scan) -> tuple[int, str] | None:
    """Offset and kind of what a host cannot read that takes comments out as most programs do.

    They put blanks in place of a comment but keep what is blank already, also what JSON does not
    take for blank; and a `//` comment goes on until the next line feed, whatever stands there.
    """
    text, shadow = scanned.text, scanned.shadow
    for start, end in scanned.comments:
        blank = re.search(_ODD_BLANK, text[start:end])
        if blank:
            return start + blank.start(), f"U+{ord(blank[0]):04X} in a comment"
        if text.startswith("//", start) and text.startswith("\r", end):
            swallowed = re.compile(r"[^\n]*").match(shadow, end)
            assert swallowed is not None  # it matches everywhere
            if swallowed[0].strip(" \t\r"):
                return end, "comment that ends with a carriage return alone"
    return None


def tokens(shadow: str) -> Iterator[re.Match[str]]:
    """The keys, values, brackets and commas of a text that was read, named by their group."""
    return re.finditer(_TOKENS, shadow)


def first_colon(shadow: str) -> str | None:
    """The first key's colon and the blanks around it."""
    for match in re.finditer(_COLONS, shadow, re.DOTALL):
        if match["colon"]:
            return match["colon"]
    return None


def tree_of(text: str) -> Tree:
    """The tree of one value's strict source text."""
    return _DECODER.decode(text)


def contents(shadow: str, start: int, known: list[int]) -> Container:
    """The object or array whose bracket is at `start`; its first children may begin at `known`."""
    starts = known[:-1]
    offset = known[-1] if known else skip_blanks(shadow, start + 1)
    pattern = re.compile(_MEMBERS if shadow[start] == "{" else _ELEMENTS)
    while shadow[offset] not in "}]":
        offset = _add_children(pattern, shadow, offset, starts)
    return Container(shadow, start, offset, starts)


def _add_children(pattern: re.Pattern[str], shadow: str, offset: int, starts: list[int]) -> int:
    """Add to `starts` up to the first nested child; the offset where to go on."""
    for match in pattern.finditer(shadow, offset):
        if match.lastgroup == "close":
            return match.start()
        starts.append(match.start())
        if match.lastgroup == "nested":
            _, end = _DECODER.raw_decode(shadow, match.end())
            after = skip_blanks(shadow, end)
            return skip_blanks(shadow, after + 1) if shadow[after] == "," else after
    raise AssertionError("a container that was read has an end")


_PLAIN = {
    "Expecting value": "a value is missing here",
    "Expecting property name enclosed in double quotes": "a name in double quotes is expected here",
    "Illegal trailing comma": "a comma is not allowed before the closing bracket",
    "Expecting ',' delimiter": "a comma or the closing bracket is missing here",
    "Expecting ':' delimiter": "a colon is missing here",
    "Extra data": "there is something behind the end of the document",
    "Invalid control character at": "a line break or control character stands inside a string",
}


def _unparsable(text: str, where: str, error: json.JSONDecodeError) -> HookctlError:
    """The error for the scanner's, in plain words and with the likeliest cause."""
    offset, reason, shadow = error.pos, error.msg, error.doc
    conflict = re.search(CONFLICT, text, re.MULTILINE)
    is_cut_off = reason.startswith("Unterminated string") or skip_blanks(shadow, offset) >= len(
        shadow
    )
    if conflict:
        offset, message = conflict.start(), "the file has merge-conflict marks"
        hint = "Resolve the conflict, then run the command again."
    elif is_cut_off:
        message = "the file ends in the middle"
        hint = "Restore what is missing, then run the command again."
    elif "\0" in text[offset : offset + 2]:
        message = "the file has zero bytes: it is UTF-16, or was damaged in a crash"
        hint = "Restore it, or save it as UTF-8."
    elif text.startswith("/*", offset):
        message, hint = "this comment has no end, or is not allowed here", _AGAIN
    else:
        message, hint = f"not valid JSON: {_plain_reason(reason)}", _AGAIN
    line, column = position_of(text, offset)
    return HookctlError("unparsable", message, path=where, line=line, column=column, hint=hint)


def _plain_reason(reason: str) -> str:
    for start, plain in _PLAIN.items():
        if reason.startswith(start):
            return plain
    return reason
