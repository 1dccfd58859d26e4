"""Reading YAML with exact offsets, by the reader that the hosts use; and writing values as YAML.

PyYAML's events carry the offset of everything, so a text can be edited in place. PyYAML is an
optional extra, imported when the first file is read.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from hookctl.documents import AGAIN, BOM, BREAK, DEPTH, error_at, too_deep, unparsable
from hookctl.errors import HookctlError

VALUES = 1_000_000  # with every alias written out; comparing two such documents takes a second
STRING = "tag:yaml.org,2002:str"
NULL = "tag:yaml.org,2002:null"
MERGE = "tag:yaml.org,2002:merge"  # of a key << that merges another mapping
_PLAIN_KEY = r"(?!(?i:y|n|yes|no|on|off|true|false|null)$)[A-Za-z_][A-Za-z0-9_-]*"
# Characters that JSON allows in a string and YAML forbids, or reads as a line break.
_ESCAPED = "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]"
# Characters that YAML 1.1 does not allow in a file.
_UNPRINTABLE = r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"


@dataclass(eq=False)
class Node:
    """A value and its span in the text, its anchor and tag included."""

    kind: str  # map | seq | scalar | alias
    start: int
    end: int = -1  # of its last character; of a block collection the end of the last child
    tag: str = ""  # of a scalar
    text: str = ""  # a scalar's value
    flow: bool = False
    block: bool = False  # a scalar in the | or > style, which ends where the next line begins
    key: Node | None = None  # of a member of a mapping
    holder: Node | None = None
    index: int = 0  # among the holder's children
    children: list[Node] = field(default_factory=list)
    values: int = 1  # in it, itself and what its aliases stand for included

    def find(self, key: str | int) -> list[Node]:
        """The children under a key; more than one for a duplicate key."""
        if isinstance(key, int):
            is_inside = self.kind == "seq" and 0 <= key < len(self.children)
            return [self.children[key]] if is_inside else []
        named = [one for one in self.children if one.key and one.key.tag == STRING]
        return [one for one in named if one.key and one.key.text == key]

    @property
    def entry(self) -> int:
        """Where its key begins, or it."""
        return self.key.start if self.key else self.start

    @property
    def is_in_lines(self) -> bool:
        """Whether it is a block collection."""
        return bool(self.children) and not self.flow


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


def read(text: str, where: str) -> tuple[Node | None, Any]:
    """The root node, None in an empty document, and the plain value, as the host reads it.

    Unparsable, with the position, if the host cannot read it.
    """
    yaml = reader(where)
    builder = _Builder(text, where)
    try:
        for event in yaml.parse(text.removeprefix(BOM), _loader()):
            builder.take(event, yaml)
        value = yaml.load(text.removeprefix(BOM), _loader())
    except RecursionError:  # a long chain of mappings that merge each other
        raise too_deep(text, where) from None
    except yaml.YAMLError as error:
        raise _unparsable(text, where, error) from None
    root = builder.root
    if root and root.kind == "scalar" and root.start == root.end:
        root = None
    return root, value


class _Builder:
    """Builds the nodes of one document from the reader's events."""

    def __init__(self, text: str, where: str) -> None:
        self.root: Node | None = None
        self._anchors: dict[str, Node] = {}
        self._text, self._where = text, where
        self._shift = int(text.startswith(BOM))  # the reader counts without it
        self._open: list[Node] = []  # the collections around the next node
        self._keys: list[Node | None] = []  # of each open mapping: the key of the next value

    def take(self, event: Any, yaml: Any) -> None:
        start, end = event.start_mark.index + self._shift, event.end_mark.index + self._shift
        if isinstance(event, yaml.AliasEvent):
            self._add(self._alias(Node("alias", start, end), event.anchor), "")
        elif isinstance(event, yaml.ScalarEvent):
            tag = event.tag
            if tag in (None, "!"):
                tag = _resolver().resolve(yaml.ScalarNode, event.value, event.implicit)
            is_block = event.style in ("|", ">")
            self._add(Node("scalar", start, end, tag, event.value, block=is_block), event.anchor)
        elif isinstance(event, yaml.CollectionStartEvent):
            kind = "map" if isinstance(event, yaml.MappingStartEvent) else "seq"
            self._add(Node(kind, start, flow=bool(event.flow_style)), event.anchor)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close_collection(end)

    def _alias(self, node: Node, name: str) -> Node:
        """An alias with the size of its anchor's value; one without an anchor is refused later."""
        target = self._anchors.get(name, node)
        if any(target is holder for holder in self._open):
            raise self._unsupported(node, f"the value &{name} contains itself")
        node.values = target.values
        return node

    def _unsupported(self, node: Node, message: str) -> HookctlError:
        hint = "Write the value out instead of the alias, then run the command again."
        return error_at("unsupported_yaml", self._text, self._where, node.start, message, hint)

    def _add(self, node: Node, anchor: str) -> None:
        """Add a node to the innermost open collection, as a key or as a value."""
        if anchor:
            self._anchors[anchor] = node
        if not self._open:
            self.root = node
        elif self._open[-1].kind == "map" and self._keys[-1] is None:
            self._keys[-1] = node
        else:
            node.holder, node.key = self._open[-1], self._keys[-1]
            node.index = len(node.holder.children)
            node.holder.children.append(node)
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
        node.values += sum(child.values for child in node.children)
        if node.values > VALUES:
            raise self._unsupported(node, f"its aliases make more than {VALUES:,} values of it")
        node.end = node.children[-1].end if node.is_in_lines else end


@cache
def _resolver() -> Any:
    return reader().resolver.Resolver()


def _unparsable(text: str, where: str, error: Any) -> HookctlError:
    """The error for the reader's, in its words."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:  # a forbidden character; the reader gives its position in bytes
        character = re.compile(_UNPRINTABLE).search(text, int(text.startswith(BOM)))
        offset = character.start() if character else 0
        message = f"the character U+{ord(text[offset]):04X} is not allowed in YAML"
        return unparsable(text, where, offset, message)
    offset = mark.index + text.startswith(BOM)
    kind = "not valid YAML"
    if isinstance(error, reader().constructor.ConstructorError):
        kind = "no reader takes this"
    hint = AGAIN
    if text.startswith("\t", offset):
        hint = "Indent with blanks, then run the command again."
    reason = error.problem or error.context or "it cannot be read"
    reason = re.sub(r"[ ,]*(['\"]).{2,}\1", "", reason)  # a name of theirs
    return unparsable(text, where, offset, f"{kind}: {reason}", hint)


# Writing


class Style(NamedTuple):
    """How many blanks a collection is indented by below its key."""

    unit: int = 2  # a mapping
    dash: int = 2  # a list; 0 in some files


class Lines(NamedTuple):
    """A value to be written, as the lines that it has at the left margin."""

    kind: str  # map | seq, in lines below its key; scalar for a value on the line of its key
    lines: list[str]


def source_lines(text: str, root: Node | None) -> Lines:
    """A source text as lines; those of a value on its key's line lose their common indentation."""
    first, *more = BREAK.split(text)
    if root and root.is_in_lines:
        return Lines(root.kind, [first, *more])
    depth = common_indent(more)
    return Lines("scalar", [first, *(line[depth:] for line in more)])


def written(value: Any, style: Style) -> Lines:
    """A value as lines; TypeError or ValueError for what YAML does not have."""
    if isinstance(value, Lines):
        return value
    if not isinstance(value, dict | list) or not value:
        return Lines("scalar", [flow(value)])
    lines = []
    pairs = value.items() if isinstance(value, dict) else ((None, inner) for inner in value)
    for key, inner in pairs:
        lines += member(key, written(inner, style), style)
    return Lines("map" if isinstance(value, dict) else "seq", lines)


def member(key: str | None, value: Lines, style: Style) -> list[str]:
    """The lines of a mapping's member, or of a sequence's item."""
    head = "-" if key is None else f"{key_text(key)}:"
    first, *more = value.lines
    if value.kind == "scalar":
        return [f"{head} {first}", *indented(more, style.unit)]
    if key is None:
        return [f"{head} {first}", *indented(more, 2)]
    return [head, *indented(value.lines, style.dash if value.kind == "seq" else style.unit)]


def indent_of(line: str) -> int:
    """The number of blanks that a line begins with."""
    return len(line) - len(line.lstrip(" "))


def common_indent(lines: list[str]) -> int:
    """The smallest indentation of these lines, blank ones left out."""
    return min((indent_of(line) for line in lines if line.strip()), default=0)


def indented(lines: list[str], column: int) -> list[str]:
    """Lines with more indentation, blank ones as they are."""
    return [" " * column + line if line.strip() else line for line in lines]


def key_text(key: str) -> str:
    """A key's text, without quotes if every reader reads it as a string."""
    return key if re.fullmatch(_PLAIN_KEY, key) else flow(key)


def flow(value: Any) -> str:
    """The value on one line."""
    if isinstance(value, dict):
        members = [f"{key_text(key)}: {flow(inner)}" for key, inner in value.items()]
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if isinstance(value, float) and "e" in text and "." not in text:
        return text.replace("e", ".0e")  # without a point it is a string in YAML 1.1
    return re.sub(_ESCAPED, lambda match: f"\\u{ord(match[0]):04x}", text)
