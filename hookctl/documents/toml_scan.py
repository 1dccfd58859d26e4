"""Reading TOML: tomllib gives the values, and the scan gives the offset of everything.

The scan takes a text that tomllib has read, so it checks nothing. After an edit tomllib reads the
result, which shows whether the offsets were right.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any, NamedTuple

from hookctl.documents import (
    AGAIN,
    BOM,
    DEPTH,
    conflict_in,
    error_at,
    is_too_deep,
    position_of,
    too_deep,
)
from hookctl.documents.toml_dialect import translate
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

# tomllib needs quadratic time for a long dotted key.
_LONG = rf"(?m)(?:^|[{{,])[ \t\[]*(?P<key>(?:{_PART}[ \t]*+\.[ \t]*+){{{DEPTH}}})"
_NAN = float("nan")  # always the same one, so that documents with it can be compared
_PLACE = r" \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$"
_TWICE = (
    "Cannot overwrite",
    "Cannot declare",
    "Cannot redefine",
    "Cannot mutate",
    "Duplicate inline table key",
)

# The kinds of nodes. Only keys such as a.b = 1 make a dotted table: no header, no brackets.
TABLE, TABLES, DOTTED, INLINE, ARRAY, SCALAR = (
    "table",
    "tables",
    "dotted",
    "inline",
    "array",
    "scalar",
)


def read(text: str, where: str) -> dict[str, Any]:
    """The values of a text; unparsable, with the position, if it is not TOML."""
    long_key = re.search(_LONG, text)
    if long_key:
        message, hint = "this key has too many parts", "Check that it is the right file."
        raise error_at("unparsable", text, where, long_key.start("key"), message, hint)
    try:
        plain = _loads(text.removeprefix(BOM))
    except ValueError as error:
        raise _unparsable(text, where, str(error)) from None
    except RecursionError:
        raise too_deep(text, where) from None
    if is_too_deep(plain):
        raise too_deep(text, where)
    return plain


def _loads(text: str) -> dict[str, Any]:
    """The values of a text in TOML 1.0 or 1.1."""
    try:
        return tomllib.loads(text, parse_float=_float)
    except ValueError:
        translation = translate(text, STRING)
        if translation.text == text:
            raise
    try:
        return tomllib.loads(translation.text, parse_float=_float)
    except ValueError as error:
        place = re.search(_PLACE, str(error))
        if place is None or not place["line"]:
            raise
        line, column = translation.place_in_source(int(place["line"]), int(place["column"]))
        reason = re.sub(_PLACE, "", str(error))
        raise ValueError(f"{reason} (at line {line}, column {column})") from None


def _float(text: str) -> float:
    return _NAN if text.endswith("nan") else float(text)


def _unparsable(text: str, where: str, reason: str) -> HookctlError:
    """The error for tomllib's `reason`, in plain words and with the likeliest cause."""
    conflict = conflict_in(text, where)
    if conflict:
        return conflict
    place = re.search(_PLACE, reason)
    reason = re.sub(_PLACE, "", reason)
    line, column = position_of(text, len(text))
    if place and place["line"]:
        line, column = int(place["line"]), int(place["column"])
    message, hint = f"not valid TOML: {reason}", AGAIN
    if "\0" in text:
        line, column = position_of(text, text.index("\0"))
        message = "the file has zero bytes: it is UTF-16, or was damaged in a crash"
        hint = "Restore it, or save it as UTF-8."
    elif reason.startswith(_TWICE):
        message = f"duplicate key or table ({reason})"
    elif place and not place["line"]:
        message = "the file ends in the middle"
        hint = "Restore what is missing, then run the command again."
    return HookctlError("unparsable", message, path=where, line=line, column=column, hint=hint)


class Piece:
    """A header, a key with its value, or an array element: what an edit can remove as one."""

    def __init__(
        self, start: int, end: int, home: Node | None, names: Keys, key: tuple[int, int] | None
    ) -> None:
        self.start, self.end = start, end
        self.home = home  # the table or the brackets around it; None for a header
        self.names = names  # all names from the root on, without the indexes of arrays
        self.key = key  # the span of the key's own text
        self.comma = -1  # the offset of the comma after it


class Node:
    """A value or a table of any kind, and its children."""

    def __init__(
        self, kind: str, start: int = -1, *, home: Node | None = None, prefix: Keys = ()
    ) -> None:
        self.kind = kind
        self.start = self.end = start  # of a value
        self.children: Any = [] if kind in (TABLES, ARRAY) else {}
        self.pieces: list[Piece] = []  # its headers, or the one key or element whose value it is
        self.body: list[Piece] = []  # what stands directly below its header or in its brackets
        self.home = home  # of a dotted table: the table that its keys stand in
        self.prefix = prefix  # of a dotted table: the names that its keys begin with

    def child(self, key: str | int) -> Node | None:
        """The child of that name or at that index."""
        if isinstance(key, str):
            return self.children.get(key) if isinstance(self.children, dict) else None
        if isinstance(self.children, list) and 0 <= key < len(self.children):
            return self.children[key]
        return None

    def all_pieces(self) -> list[Piece]:
        """Its own pieces and those of the tables below."""
        pieces = list(self.pieces)
        children = []
        if self.kind in (TABLE, DOTTED):
            children = list(self.children.values())
        elif self.kind == TABLES:
            children = self.children
        for child in children:
            pieces += child.all_pieces()
        return pieces


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
    table, names = _loads(f"{source} = 0"), []
    while isinstance(table, dict):
        [(name, table)] = table.items()
        names.append(name)
    return tuple(names)


def scan(text: str) -> Scan:
    """The offsets of everything in a text that tomllib has read."""
    root, statements = Node(TABLE), []
    section = root
    section_names: Keys = ()
    offset = _skip_gap(text, int(text.startswith(BOM)))
    while offset < len(text):
        header = _HEADER.match(text, offset)
        if header:
            section_names = names_of(header["keys"])
            piece = Piece(offset, header.end(), None, section_names, header.span("keys"))
            section = _open_table(root, section_names, is_array=bool(header["array"]))
            section.pieces.append(piece)
        else:
            piece = _read_member(text, offset, section, section_names)
        statements.append(piece)
        offset = _skip_gap(text, piece.end)
    return Scan(root, statements, comments_of(text))


def _open_table(root: Node, names: Keys, *, is_array: bool) -> Node:
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


def _read_member(text: str, offset: int, home: Node, home_names: Keys) -> Piece:
    """Read a key and its value, below a header or in an inline table."""
    match = _NAME.match(text, offset)
    assert match  # tomllib found a key there
    names = names_of(match["keys"])
    value = _read_value(text, match.end(), home_names + names)
    piece = Piece(offset, value.end, home, home_names + names, match.span("keys"))
    holder = home
    for length, name in enumerate(names[:-1], 1):
        holder = holder.children.setdefault(name, Node(DOTTED, home=home, prefix=names[:length]))
    holder.children[names[-1]] = value
    value.pieces.append(piece)
    home.body.append(piece)
    return piece


def _read_value(text: str, start: int, names: Keys) -> Node:
    if text[start] not in "[{":
        node = Node(SCALAR, start)
        scalar = _SCALAR.match(text, start)
        assert scalar  # tomllib found a value there
        node.end = scalar.end()
        return node
    node = Node(INLINE if text[start] == "{" else ARRAY, start)
    offset = _skip_gap(text, start + 1)
    while text[offset] not in "]}":
        if node.kind == INLINE:
            piece = _read_member(text, offset, node, names)
        else:
            piece = _read_element(text, offset, node, names)
        offset = _skip_gap(text, piece.end)
        if text[offset] == ",":
            piece.comma = offset
            offset = _skip_gap(text, offset + 1)
    node.end = offset + 1
    return node


def _read_element(text: str, offset: int, array: Node, names: Keys) -> Piece:
    element = _read_value(text, offset, names)
    piece = Piece(offset, element.end, array, names, None)
    element.pieces.append(piece)
    array.children.append(element)
    array.body.append(piece)
    return piece


def _skip_gap(text: str, offset: int) -> int:
    """The next offset that is neither blank nor in a comment."""
    return _GAP.match(text, offset).end()  # type: ignore[union-attr]  # it matches everywhere
