"""Reading TOML: tomllib says what a text means, and the scan where everything stands in it.

The scan takes a text that tomllib has read, so it judges nothing; and what tomllib says of the result of an edit
decides whether the places were the right ones.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any, NamedTuple

from hookctl.documents.scan import CONFLICT, too_deep
from hookctl.documents.text import position_of
from hookctl.errors import HookctlError

Keys = tuple[str, ...]

STRING = (
    r'"""(?s:[^"\\]++|\\.|"(?!""))*+"""(?:"{0,2})'
    r"|'''(?s:[^']++|'(?!''))*+'''(?:'{0,2})"
    r'|"(?:[^"\\\r\n]++|\\.)*+"'
    r"|'[^'\r\n]*+'"
)
_PART = r"(?:\"(?:[^\"\\\r\n]++|\\.)*+\"|'[^'\r\n]*+'|[^\s.=\[\]\"'#,{}]+)"
_KEYS = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_HEADER = re.compile(rf"\[(?P<array>\[?)[ \t]*(?P<keys>{_KEYS})[ \t]*\]\]?")
_NAME = re.compile(rf"(?P<keys>{_KEYS})[ \t]*=[ \t]*")
_SCALAR = re.compile(STRING + r"|\d{4}-\d\d-\d\d[Tt ]\d\d:[^\s,\]}#]*|[^\s,\[\]{}#]+")
_COMMENT = re.compile(STRING + r"|(?P<comment>#[^\r\n]*)")
_GAP = re.compile(r"[ \t\r\n]*(?:#[^\r\n]*[ \t\r\n]*)*")

_DEPTH = 100  # levels; it keeps every walk over a document away from the end of the stack
# tomllib takes a square of the time for a long dotted key.
_LONG = rf"(?m)(?:^|[{{,])[ \t\[]*(?P<key>(?:{_PART}[ \t]*+\.[ \t]*+){{{_DEPTH}}})"
_NAN = float("nan")  # always the same one, so that documents with it can be compared
_PLACE = r" \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$"
_TWICE = (
    "Cannot overwrite",
    "Cannot declare",
    "Cannot redefine",
    "Cannot mutate",
    "Duplicate inline table key",
)

# What a node is. A dotted table is one that only keys such as a.b = 1 make; it has no header and no brackets.
TABLE, TABLES, DOTTED, INLINE, ARRAY, SCALAR = (
    "table",
    "tables",
    "dotted",
    "inline",
    "array",
    "scalar",
)


def read(text: str, where: str) -> dict[str, Any]:
    """What a text means; unparsable with its place where it is not TOML."""
    long = re.search(_LONG, text)
    if long:
        line, column = position_of(text, long.start("key"))
        message, hint = "this key has too many parts", "Is it the right file?"
        raise HookctlError("unparsable", message, path=where, line=line, column=column, hint=hint)
    try:
        plain = tomllib.loads(text.removeprefix("\ufeff"), parse_float=_float)
    except ValueError as error:
        raise _unparsable(text, where, str(error)) from None
    except RecursionError:
        raise too_deep(text, where) from None
    if _depth(plain) > _DEPTH:
        raise too_deep(text, where)
    return plain


def _float(text: str) -> float:
    return _NAN if text.endswith("nan") else float(text)


def _depth(plain: Any) -> int:
    """How many levels a value has; counted in a loop, since a long dotted key makes more than the stack holds."""
    levels, inner = 0, [plain]
    while inner := [value for value in inner if isinstance(value, dict | list)]:
        levels += 1
        inner = [
            below
            for value in inner
            for below in (value.values() if isinstance(value, dict) else value)
        ]
    return levels


def _unparsable(text: str, where: str, said: str) -> HookctlError:
    """What is wrong, in plain words and with the likeliest cause."""
    found, conflict = re.search(_PLACE, said), re.search(CONFLICT, text, re.MULTILINE)
    line, column = position_of(text, len(text))
    if found and found["line"]:
        line, column = int(found["line"]), int(found["column"])
    message, hint = (
        f"not valid TOML: {re.sub(_PLACE, '', said)}",
        "Fix it, then run the command again.",
    )
    if conflict:
        line, column = position_of(text, conflict.start())
        message, hint = (
            "the file has merge-conflict marks",
            "Resolve the conflict, then run the command again.",
        )
    elif "\0" in text:
        line, column = position_of(text, text.index("\0"))
        message = "the file has zero bytes: it is UTF-16, or was damaged in a crash"
        hint = "Restore it, or save it as UTF-8."
    elif said.startswith(_TWICE):
        message = f"a key or table stands here a second time, which TOML does not allow ({re.sub(_PLACE, '', said)})"
    elif found and not found["line"]:
        message, hint = (
            "the file ends in the middle",
            "Restore what is missing, then run the command again.",
        )
    return HookctlError("unparsable", message, path=where, line=line, column=column, hint=hint)


class Piece:
    """A header, a key with its value, or an element of an array: what an edit can take out as one."""

    def __init__(
        self, start: int, end: int, home: Node | None, names: Keys, key: tuple[int, int] | None
    ) -> None:
        self.start, self.end = start, end
        self.home = home  # the table or the brackets that it stands in; None: it is a header
        self.names = names  # all names from the root on, without the indexes of arrays
        self.key = key  # where the key's own text is
        self.comma = -1  # behind it, where there is one


class Node:
    """A value or a table of any kind, and what is in it."""

    def __init__(
        self, kind: str, start: int = -1, *, home: Node | None = None, prefix: Keys = ()
    ) -> None:
        self.kind = kind
        self.start = self.end = start  # of a value
        self.children: Any = [] if kind in (TABLES, ARRAY) else {}
        self.pieces: list[
            Piece
        ] = []  # what makes it: its headers, or the one key or element that it is the value of
        self.body: list[
            Piece
        ] = []  # what stands directly below its header, or between its brackets
        self.home, self.prefix = (
            home,
            prefix,
        )  # of a dotted table: where its keys stand, and how they begin

    def inner(self, key: str | int) -> Node | None:
        """The child of that name or at that index."""
        if isinstance(self.children, dict):
            return self.children.get(key) if isinstance(key, str) else None
        return (
            self.children[key] if isinstance(key, int) and 0 <= key < len(self.children) else None
        )

    def all_pieces(self) -> list[Piece]:
        """Its own pieces and those of the tables below."""
        found = list(self.pieces)
        if self.kind in (TABLE, TABLES, DOTTED):
            for child in self.children.values() if self.kind != TABLES else self.children:
                found += child.all_pieces()
        return found


class Scan(NamedTuple):
    """The root table, the statements in their order, and the spans of the comments."""

    root: Node
    statements: list[Piece]
    comments: list[tuple[int, int]]


def comments_of(text: str) -> list[tuple[int, int]]:
    """The spans of the comments."""
    return [match.span() for match in _COMMENT.finditer(text) if match["comment"]]


def names_of(source: str) -> Keys:
    """The names in a key's source text, which may be dotted and quoted."""
    if '"' not in source and "'" not in source:
        return tuple(part.strip(" \t") for part in source.split("."))
    table, names = tomllib.loads(f"{source} = 0"), []
    while isinstance(table, dict):
        [(name, table)] = table.items()
        names.append(name)
    return tuple(names)


def scan(text: str) -> Scan:
    """Find everything in a text that tomllib has read."""
    root, statements = Node(TABLE), []
    section, above = root, ()
    at = _gap(text, int(text.startswith("\ufeff")))
    while at < len(text):
        header = _HEADER.match(text, at)
        if header:
            above = names_of(header["keys"])
            piece = Piece(at, header.end(), None, above, header.span("keys"))
            section = _opened(root, above, is_array=bool(header["array"]))
            section.pieces.append(piece)
        else:
            piece = _member(text, at, section, section, above)
        statements.append(piece)
        at = _gap(text, piece.end)
    return Scan(root, statements, comments_of(text))


def _opened(root: Node, names: Keys, *, is_array: bool) -> Node:
    """The table that a header opens."""
    holder = root
    for name in names[:-1]:
        holder = holder.children.setdefault(name, Node(TABLE))
        holder = holder.children[-1] if holder.kind == TABLES else holder
    if not is_array:
        return holder.children.setdefault(names[-1], Node(TABLE))
    array = holder.children.setdefault(names[-1], Node(TABLES))
    array.children.append(Node(TABLE))
    return array.children[-1]


def _member(text: str, at: int, holder: Node, home: Node, above: Keys) -> Piece:
    """Read a key and its value, below a header or in an inline table."""
    match = _NAME.match(text, at)
    assert match, "this is no key"
    names = names_of(match["keys"])
    value = _value(text, match.end(), above + names)
    piece = Piece(at, value.end, home, above + names, match.span("keys"))
    for length, name in enumerate(names[:-1], 1):
        holder = holder.children.setdefault(name, Node(DOTTED, home=home, prefix=names[:length]))
    holder.children[names[-1]] = value
    value.pieces.append(piece)
    home.body.append(piece)
    return piece


def _value(text: str, start: int, names: Keys) -> Node:
    if text[start] not in "[{":
        node = Node(SCALAR, start)
        node.end = _SCALAR.match(text, start).end()  # type: ignore[union-attr]  # tomllib found a value there
        return node
    node = Node(INLINE if text[start] == "{" else ARRAY, start)
    at = _gap(text, start + 1)
    while text[at] not in "]}":
        if node.kind == INLINE:
            piece = _member(text, at, node, node, names)
        else:
            element = _value(text, at, names)
            piece = Piece(at, element.end, node, names, None)
            element.pieces.append(piece)
            node.children.append(element)
            node.body.append(piece)
        at = _gap(text, piece.end)
        if text[at] == ",":
            piece.comma = at
            at = _gap(text, at + 1)
    node.end = at + 1
    return node


def _gap(text: str, at: int) -> int:
    """The next offset that is neither blank nor in a comment."""
    return _GAP.match(text, at).end()  # type: ignore[union-attr]  # it matches everywhere
