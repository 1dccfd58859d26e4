"""Reading JSON with comments and trailing commas with the standard library's scanner.

The *shadow* is the text with blanks in place of everything that strict JSON does not allow. Both
have the same length and offsets: the scanner reads the shadow, and edits change the text.
"""

from __future__ import annotations

import gc
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from hookctl.documents import (
    BOM,
    DEPTH,
    STRING,
    Splice,
    is_too_deep,
    last_index,
    spliced,
    too_deep,
    unparsable,
)
from hookctl.errors import HookctlError

# The comparison tree: a number is its source text as bytes, so that 1.0, 1e3 and 20 digits stay
# themselves; of a duplicate key only the first one has its plain name; all else is the plain value.
Tree = Any

# Most files are strict JSON, so these are compiled only when they are used.
_COMMENTS = STRING + r'|(?P<match>//[^\r\n]*|/\*.*?\*/)|(?P<open>"|/\*)'
_COMMAS = STRING + r'|(?P<match>,)(?=[ \t\r\n]*[}\]])|(?P<open>")'
_CONSTANTS = STRING + r"|(?P<match>NaN|-?Infinity)"
HOLE = "\0"  # in a new value: a given source text
_BLANKS = re.compile(r"[ \t\r\n]*")


class Scan(NamedTuple):
    """A text that was read: its shadow, its tree, its comments and trailing commas."""

    text: str
    shadow: str
    start: int  # of the root value; -1 in an empty document
    end: int
    tree: Tree
    comments: tuple[tuple[int, int], ...] = ()
    commas: frozenset[int] = frozenset()  # trailing ones


@dataclass(eq=False)
class Node:
    """A value; what is in it is found when it is asked for."""

    shadow: str
    tree: Tree
    entry: int  # where its key begins, or it
    start: int
    end: int
    holder: Node | None = None
    index: int = 0
    key: str | int = 0

    @cached_property
    def children(self) -> list[Node]:
        """The members or elements, in their order."""
        found: list[Node] = []
        offset = skip_blanks(self.shadow, self.start + 1)
        while self.shadow[offset] not in "}]":
            entry, key = offset, len(found)
            if isinstance(self.tree, dict):
                key, offset = _DECODER.raw_decode(self.shadow, offset)
                offset = skip_blanks(self.shadow, skip_blanks(self.shadow, offset) + 1)
            tree, end = _DECODER.raw_decode(self.shadow, offset)
            found.append(Node(self.shadow, tree, entry, offset, end, self, len(found), key))
            after = skip_blanks(self.shadow, end)
            offset = skip_blanks(self.shadow, after + (self.shadow[after] == ","))
        return found

    def find(self, key: str | int) -> list[Node]:
        """What is under a key, or at an index; more than one for a duplicate key."""
        if not isinstance(self.tree, dict | list):
            return []
        if isinstance(self.tree, list) and isinstance(key, str) and key in self.tree:
            key = last_index(self.tree, key)  # a text in an array is its own key
        return [child for child in self.children if child.key == key]


class _Constant(Exception):
    """NaN or Infinity, which the standard library reads and JSON does not have."""


def _refuse_constant(name: str) -> None:
    raise _Constant(f"{name} is not a number in JSON")


def _members(pairs: list[tuple[str, Tree]]) -> Tree:
    """The tree of an object, in which a name that comes again has its number."""
    members: dict[Any, Tree] = dict(pairs)
    if len(members) == len(pairs):
        return members
    seen: Counter[str] = Counter()
    members = {}
    for name, value in pairs:
        seen[name] += 1
        members[name if seen[name] == 1 else (name, seen[name])] = value
    return members


_DECODER = json.JSONDecoder(
    object_pairs_hook=_members,
    parse_int=str.encode,
    parse_float=str.encode,
    parse_constant=_refuse_constant,
)


def scan(text: str, where: str, *, strict: bool) -> Scan:
    """Read a text, in which comments and trailing commas may be if it need not be strict JSON.

    Unparsable, with the position, if it is not JSON.
    """
    is_collecting = gc.isenabled()
    gc.disable()  # a large document is a lot of small tuples, none of them garbage
    shadow = " " + text[1:] if text.startswith(BOM) else text
    try:
        try:
            return _read(text, shadow)
        except json.JSONDecodeError:  # nearly every file is strict JSON, and its own shadow
            if strict:
                raise
            return _scan_lenient(text, shadow)
    except json.JSONDecodeError as error:
        raise _unparsable(text, where, error) from None
    except RecursionError:
        raise too_deep(text, where) from None
    finally:
        if is_collecting:
            gc.enable()


def _scan_lenient(text: str, shadow: str) -> Scan:
    """Read a text that has comments or trailing commas.

    In two passes, since a single pattern would look for the closing bracket through comments.
    """
    comments = tuple(_spans_outside_strings(_COMMENTS, shadow))
    shadow = _blank_out(shadow, comments)
    commas = []
    if re.search(r",[ \t\r\n]*[}\]]", shadow):
        for span in _spans_outside_strings(_COMMAS, shadow):
            if _follows_value(shadow, span[0]):
                commas.append(span)
        shadow = _blank_out(shadow, commas)
    scanned = _read(text, shadow)
    return scanned._replace(comments=comments, commas=frozenset(start for start, _ in commas))


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


def _blank_out(shadow: str, spans: Iterable[tuple[int, int]]) -> str:
    """The shadow with blanks for everything in these spans except line breaks."""
    not_break = re.compile(r"[^\r\n]")
    splices = []
    for start, end in spans:
        splices.append(Splice(start, end, not_break.sub(" ", shadow[start:end])))
    return spliced(shadow, splices)


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


def strings(shadow: str) -> Iterator[re.Match[str]]:
    """The strings of a text that was read; keys have the group `is_key`."""
    return re.finditer(f"{STRING}(?P<is_key>(?=[ \t\r\n]*+:))?", shadow)


_PLAIN = {
    "Expecting value": "a value is missing here",
    "Expecting property name enclosed in double quotes": "a name in double quotes is expected here",
    "Illegal trailing comma": "a comma is not allowed before the closing bracket",
    "Expecting ',' delimiter": "a comma or the closing bracket is missing here",
    "Expecting ':' delimiter": "a colon is missing here",
    "Extra data": "extra text after the end of the document",
    "Invalid control character at": "line break or control character inside a string",
}


def _unparsable(text: str, where: str, error: json.JSONDecodeError) -> HookctlError:
    """The error for the scanner's, in plain words."""
    # What was scanned is `text` with blanks for comments, and perhaps for trailing commas.
    offset, reason = error.pos, error.msg
    plain = [words for start, words in _PLAIN.items() if reason.startswith(start)]
    message = f"not valid JSON: {plain[0] if plain else reason}"
    at_end = skip_blanks(error.doc, offset) >= len(text) or reason.startswith("Unterminated string")
    if text.startswith("/*", offset):
        message = "this comment has no end, or is not allowed here"
    return unparsable(text, where, offset, message, at_end=at_end)
