"""Reading YAML with exact offsets, by the reader that the hosts use; and writing values as YAML.

PyYAML's events carry the offset of everything, so a text can be edited in place. PyYAML is an
optional extra, imported when the first file is read.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from hookctl.documents import AGAIN, BOM, BREAK, DEPTH, conflict_in, error_at, too_deep
from hookctl.errors import HookctlError

VALUES = 1_000_000  # with every alias written out; comparing two such documents takes a second
STRING = "tag:yaml.org,2002:str"
MERGE = "tag:yaml.org,2002:merge"
_TAG = "tag:yaml.org,2002:"
_PLAIN_KEY = r"(?!(?i:y|n|yes|no|on|off|true|false|null)$)[A-Za-z_][A-Za-z0-9_-]*"
# Characters that JSON allows in a string and YAML forbids, or reads as a line break.
_ESCAPED = "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]"
# Characters that YAML 1.1 does not allow in a file.
_UNPRINTABLE = r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"

# The comparison tree: a mapping is a tuple of pairs, so that order and duplicates count; a scalar
# is its tag and its text, so that 1.0, 0x10 and "10" stay themselves; an alias is its name. Tags
# and anchors count everywhere.
Tree = Any


class Child(NamedTuple):
    """A member of a mapping, or an item of a sequence, which has no key."""

    key: Node | None
    value: Node

    @property
    def start(self) -> int:
        return (self.key or self.value).start


@dataclass(eq=False)
class Node:
    """A value and its span in the text, its anchor and tag included."""

    kind: str  # map | seq | scalar | alias
    start: int
    end: int = -1  # of its last character; of a block collection the end of the last child
    tag: str = ""
    text: str = ""  # a scalar's value; an alias's name
    anchor: str = ""
    flow: bool = False
    block: bool = False  # a scalar in the | or > style, which ends where the next line begins
    children: list[Child] = field(default_factory=list)
    values: int = 1  # in it, itself and what its aliases stand for included

    def find(self, key: str | int) -> list[int]:
        """The indexes of the children under a key; more than one for a duplicate key."""
        if isinstance(key, int):
            is_inside = self.kind == "seq" and 0 <= key < len(self.children)
            return [key] if is_inside else []
        indexes = []
        for index, (name, _) in enumerate(self.children):
            if name and name.tag == STRING and name.text == key:
                indexes.append(index)
        return indexes

    def tree(self) -> Tree:
        """The node's values in a form to compare."""
        if self.kind == "alias":
            return ("alias", self.text)
        if self.kind == "scalar":
            return ("scalar", self.anchor, self.tag, self.text)
        parts = tuple((key and key.tree(), value.tree()) for key, value in self.children)
        return (self.kind, self.anchor, self.tag, parts)


class Reading(NamedTuple):
    """A text that was read: its root (None in an empty document) and its anchors."""

    root: Node | None
    anchors: dict[str, Node]

    def tree(self) -> Tree:
        """The document's tree; None if it is empty."""
        return self.root and self.root.tree()


@cache
def reader(where: str = "") -> Any:
    """PyYAML, or the error that says how to install it."""
    try:
        import yaml  # late: it need not be installed
    except ImportError:
        message = (
            "settings here are YAML, and reading YAML is an optional part of hookctl"
            " that is not installed"
        )
        hint = f"Run `{shlex.quote(sys.executable)} -m pip install PyYAML`, then the command again."
        raise HookctlError("extra_missing", message, path=where, hint=hint) from None
    return yaml


@cache
def _loader() -> Any:
    """The safe loader, in C if there is one, like the hosts'; its errors name the position."""
    yaml = reader()

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        def construct_object(self, node: Any, deep: bool = False) -> Any:
            try:
                return super().construct_object(node, deep)
            except (ValueError, TypeError, LookupError, ArithmeticError) as error:
                problem = f"this value cannot be read ({error})"
                raise yaml.constructor.ConstructorError(
                    None, None, problem, node.start_mark
                ) from None

    return Loader


def load(text: str, where: str) -> Any:
    """The document's plain value, as the host reads it; unparsable if the host cannot."""
    yaml = reader(where)
    try:
        return yaml.load(text.removeprefix(BOM), _loader())
    except RecursionError:  # a long chain of mappings that merge each other
        raise too_deep(text, where) from None
    except yaml.YAMLError as error:
        raise _unparsable(text, where, error) from None


def read(text: str, where: str, anchors: Mapping[str, Node] = MappingProxyType({})) -> Reading:
    """The nodes of a text; unparsable, with the position, if it is not one document.

    Aliases may name `anchors` of the document that the text is a part of.
    """
    yaml = reader(where)
    builder = _Builder(text, where, dict(anchors))
    try:
        for event in yaml.parse(text.removeprefix(BOM), _loader()):
            builder.take(event, yaml)
    except yaml.YAMLError as error:
        raise _unparsable(text, where, error) from None
    root = builder.root
    if root and root.kind == "scalar" and root.start == root.end and not root.anchor:
        root = None
    return Reading(root, builder.anchors)


class _Builder:
    """Builds the nodes of one document from the reader's events."""

    def __init__(self, text: str, where: str, anchors: dict[str, Node]) -> None:
        self.root: Node | None = None
        self.anchors = anchors
        self._text = text
        self._where = where
        self._shift = int(text.startswith(BOM))  # the reader counts without it
        self._documents = 0
        self._open: list[Node] = []  # the collections around the next node
        self._keys: list[Node | None] = []  # of each open mapping: the key of the next value

    def take(self, event: Any, yaml: Any) -> None:
        start, end = event.start_mark.index + self._shift, event.end_mark.index + self._shift
        if isinstance(event, yaml.AliasEvent):
            self._add_alias(Node("alias", start, end, text=event.anchor))
        elif isinstance(event, yaml.ScalarEvent):
            is_block = event.style in ("|", ">")
            anchor = event.anchor or ""
            tag = _resolved_tag(event, yaml)
            self._add(Node("scalar", start, end, tag, event.value, anchor, block=is_block))
        elif isinstance(event, yaml.CollectionStartEvent):
            kind = "map" if isinstance(event, yaml.MappingStartEvent) else "seq"
            anchor, flow = event.anchor or "", bool(event.flow_style)
            self._add(Node(kind, start, tag=event.tag or "", anchor=anchor, flow=flow))
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close_collection(end)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                message, hint = "a second document begins here", "Make it one document."
                raise error_at("unparsable", self._text, self._where, start, message, hint)

    def _add_alias(self, node: Node) -> None:
        if node.text not in self.anchors:
            message = "there is no anchor of this name"
            raise error_at("unparsable", self._text, self._where, node.start, message, AGAIN)
        target = self.anchors[node.text]
        if any(target is holder for holder in self._open):
            raise self._unsupported(node, f"the value &{node.text} contains itself")
        node.values = target.values
        self._add(node)

    def _unsupported(self, node: Node, message: str) -> HookctlError:
        hint = "Write the value out instead of the alias, then run the command again."
        return error_at("unsupported_yaml", self._text, self._where, node.start, message, hint)

    def _add(self, node: Node) -> None:
        """Add a node to the innermost open collection, as a key or as a value."""
        if node.anchor:
            self.anchors[node.anchor] = node
        if not self._open:
            self.root = node
        elif self._open[-1].kind == "map" and self._keys[-1] is None:
            self._keys[-1] = node
        else:
            self._open[-1].children.append(Child(self._keys[-1], node))
            self._keys[-1] = None
        if node.kind in ("map", "seq"):
            self._open.append(node)
            self._keys.append(None)
            if len(self._open) > DEPTH:
                raise too_deep(self._text, self._where)

    def _close_collection(self, end: int) -> None:
        """End the innermost collection; a block one ends with its last child, not at its event."""
        node = self._open.pop()
        self._keys.pop()
        node.values += sum(child.value.values for child in node.children)
        if node.values > VALUES:
            raise self._unsupported(node, f"its aliases make more than {VALUES:,} values of it")
        node.end = end if node.flow or not node.children else node.children[-1].value.end


@cache
def _resolver() -> Any:
    return reader().resolver.Resolver()


def _resolved_tag(event: Any, yaml: Any) -> str:
    """A scalar's tag: the written one, else the one that the reader finds from its text."""
    if event.tag in (None, "!"):
        return _resolver().resolve(yaml.ScalarNode, event.value, event.implicit)
    return event.tag


def _unparsable(text: str, where: str, error: Any) -> HookctlError:
    """The error for the reader's, in its words and with the likeliest cause."""
    conflict = conflict_in(text, where)
    if conflict:
        return conflict
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:  # a forbidden character; the reader gives its position in bytes
        character = re.compile(_UNPRINTABLE).search(text, int(text.startswith(BOM)))
        offset = character.start() if character else 0
        message = f"the character U+{ord(text[offset]):04X} is not allowed in YAML"
        return error_at("unparsable", text, where, offset, message, AGAIN)
    offset = mark.index + text.startswith(BOM)
    kind = "not valid YAML"
    if isinstance(error, reader().constructor.ConstructorError):
        kind = "no reader takes this"
    hint = AGAIN
    if text.startswith("\t", offset):
        hint = "Indent with blanks, then run the command again."
    reason = error.problem or error.context or "it cannot be read"
    reason = re.sub(r"[ ,]*(['\"]).{2,}\1", "", reason)  # a name of theirs
    return error_at("unparsable", text, where, offset, f"{kind}: {reason}", hint)


# Writing


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
