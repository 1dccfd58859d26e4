"""Writing values as YAML: quoted like JSON, which every YAML reader accepts."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from hookctl.documents import BREAK
from hookctl.documents.yaml_nodes import MERGE, STRING, Node, Tree

_TAG = "tag:yaml.org,2002:"
_PLAIN_KEY = r"(?!(?i:y|n|yes|no|on|off|true|false|null)$)[A-Za-z_][A-Za-z0-9_-]*"
# Characters that JSON allows in a string and YAML forbids, or reads as a line break.
_ESCAPED = "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]"


class Style(NamedTuple):
    """The layout of a file."""

    line_end: str = "\n"
    unit: int = 2  # blanks by which a mapping inside a mapping is indented
    dash: int = 2  # blanks by which a list inside a mapping is indented; 0 in some files


class Source(NamedTuple):
    """A source text from an earlier raw(), to be written again."""

    text: str
    node: Node

    @property
    def lines(self) -> list[str]:
        """Its lines; those of a value on its key's line lose their common indentation."""
        first, *more = BREAK.split(self.text)
        if self.stands_alone:
            return [first, *more]
        depth = common_indent(more)
        return [first, *(line[depth:] for line in more)]

    @property
    def stands_alone(self) -> bool:
        """Whether it needs lines below its key."""
        return self.node.kind in ("map", "seq") and not self.node.flow


def indent_of(line: str) -> int:
    """The number of blanks that a line begins with."""
    return len(line) - len(line.lstrip(" "))


def common_indent(lines: list[str]) -> int:
    """The smallest indentation of these lines, blank ones left out."""
    return min((indent_of(line) for line in lines if line.strip()), default=0)


def tree_of(value: Any) -> Tree:
    """A value as a node's tree; KeyError or ValueError for what YAML does not have."""
    if isinstance(value, Source):
        return value.node.tree()
    if isinstance(value, dict):
        pairs = tuple((tree_of(key), tree_of(inner)) for key, inner in value.items())
        return ("map", "", "", pairs)
    if isinstance(value, list | tuple):
        items = tuple((None, tree_of(inner)) for inner in value)
        return ("seq", "", "", items)
    if isinstance(value, str):
        return ("scalar", "", STRING, value)
    kinds = {bool: "bool", int: "int", float: "float", type(None): "null"}
    return ("scalar", "", _TAG + kinds[type(value)], scalar(value))


def scalar(value: Any) -> str:
    """A scalar's text."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if isinstance(value, float) and "e" in text and "." not in text:
        return text.replace("e", ".0e")  # without a point it is a string in YAML 1.1
    return re.sub(_ESCAPED, lambda match: f"\\u{ord(match[0]):04x}", text)


def is_null(node: Node) -> bool:
    """Whether a node is null, however it is written, and has no anchor."""
    return node.kind == "scalar" and node.tag == "tag:yaml.org,2002:null" and not node.anchor


def key_text(key: str) -> str:
    """A key's text, without quotes if every reader reads it as a string."""
    return key if re.fullmatch(_PLAIN_KEY, key) else scalar(key)


def flow(value: Any) -> str:
    """The value on one line."""
    if isinstance(value, dict):
        members = [f"{key_text(key)}: {flow(inner)}" for key, inner in value.items()]
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)


def block(value: Any, column: int, style: Style) -> list[str]:
    """The lines of a collection that is not empty, each with its indentation."""
    if isinstance(value, Source):
        return indented(value.lines, column)
    lines = []
    if isinstance(value, dict):
        for key, inner in value.items():
            lines += member(key, inner, column, style)
    else:
        for inner in value:
            lines += member(None, inner, column, style)
    return lines


def member(key: str | None, value: Any, column: int, style: Style) -> list[str]:
    """The lines of a mapping's member, or of a sequence's item."""
    pad = " " * column
    if key is None and needs_lines(value):
        first, *more = block(value, column + 2, style)
        return [f"{pad}- {first.lstrip(' ')}", *more]
    head = f"{pad}-" if key is None else f"{pad}{key_text(key)}:"
    if needs_lines(value):
        depth = style.dash if is_list(value) else style.unit
        return [head, *block(value, column + depth, style)]
    first, *more = inline_lines(value)
    return [f"{head} {first}", *indented(more, column + style.unit)]


def inline_lines(value: Any) -> list[str]:
    """The lines of a value that begins on its key's line."""
    if isinstance(value, Source):
        return value.lines
    return [flow(value)]


def needs_lines(value: Any) -> bool:
    """Whether a new value is written in lines of its own."""
    if isinstance(value, Source):
        return value.stands_alone
    return isinstance(value, dict | list | tuple) and bool(value)


def is_list(value: Any) -> bool:
    """Whether a new value that needs lines is a list."""
    if isinstance(value, Source):
        return value.node.kind == "seq"
    return not isinstance(value, dict)


def indented(lines: list[str], column: int) -> list[str]:
    """Lines with more indentation, blank ones as they are."""
    return [" " * column + line if line.strip() else line for line in lines]


def is_merge(node: Node | None) -> bool:
    """Whether a key merges another mapping into this one (<<)."""
    return node is not None and node.tag == MERGE
