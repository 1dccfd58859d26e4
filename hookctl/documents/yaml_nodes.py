"""Reading YAML with exact offsets: the nodes of a text, and what they say, by the reader that the hosts have too.

PyYAML's events carry the offset of everything, so a text can be edited in place. It is an optional extra, imported
when the first file is read.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from hookctl.documents.scan import CONFLICT, too_deep
from hookctl.documents.text import position_of
from hookctl.errors import HookctlError

DEPTH = 200  # levels; the reader's own recursion ends in a crash, and no settings file is that deep
BOM = "\ufeff"
STRING = "tag:yaml.org,2002:str"
MERGE = "tag:yaml.org,2002:merge"
# What YAML 1.1 lets stand in a file.
_UNPRINTABLE = r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
_AGAIN = "Fix it, then run the command again."

# The comparison tree: a mapping is a tuple of pairs, so that order and duplicates count; a scalar is its tag and its
# text, so that 1.0, 0x10 and "10" stay themselves; an alias is its name. Tags and anchors count everywhere.
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
    """A value of the text and where it stands, its anchor and tag included."""

    kind: str  # map | seq | scalar | alias
    start: int
    end: int = -1  # of its last character; behind the last child of a block collection
    tag: str = ""
    text: str = ""  # a scalar's value; an alias's name
    anchor: str = ""
    flow: bool = False
    block: bool = False  # a scalar in the | or > style, which ends where the next line begins
    children: list[Child] = field(default_factory=list)

    def find(self, key: str | int) -> list[int]:
        """The places of the children under a key; it may stand more than once in a mapping."""
        if isinstance(key, int):
            return [key] if self.kind == "seq" and 0 <= key < len(self.children) else []
        return [
            at
            for at, (name, _) in enumerate(self.children)
            if name and (name.tag, name.text) == (STRING, key)
        ]

    def tree(self) -> Tree:
        """What the node says, to be compared."""
        if self.kind == "alias":
            return ("alias", self.text)
        if self.kind == "scalar":
            return ("scalar", self.anchor, self.tag, self.text)
        parts = tuple((key and key.tree(), value.tree()) for key, value in self.children)
        return (self.kind, self.anchor, self.tag, parts)


class Reading(NamedTuple):
    """A text that was read: its root, None in an empty document, and what its aliases mean."""

    root: Node | None
    anchors: dict[str, Node]
    aliased: frozenset[str]  # the anchors that are in use

    def target(self, node: Node) -> Node:
        """The node itself, or what an alias stands for."""
        return self.anchors[node.text] if node.kind == "alias" else node

    def tree(self) -> Tree:
        """What the document says; None where it is empty."""
        return self.root and self.root.tree()


@cache
def reader(where: str = "") -> Any:
    """PyYAML, or the refusal that says how to get it."""
    try:
        import yaml
    except ImportError:
        message = "settings here are YAML, and reading YAML is an optional part of hookctl that is not installed"
        python = shlex.quote(sys.executable)
        hint = f"Run `{python} -m pip install PyYAML`, or pip install 'hookctl[yaml]', then the command again."
        raise HookctlError("extra_missing", message, path=where, hint=hint) from None
    return yaml


@cache
def _loader() -> Any:
    """The safe loader, in C where there is one, as the hosts have it; whatever fails in it names its place."""
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
    """The document's plain value, as the host reads it; unparsable where it does not."""
    yaml = reader(where)
    try:
        return yaml.load(text.removeprefix(BOM), _loader())
    except RecursionError:  # mappings that merge themselves
        raise too_deep(text, where) from None
    except yaml.YAMLError as error:
        raise _unparsable(text, where, error) from None


def read(text: str, where: str, known: Mapping[str, Node] = MappingProxyType({})) -> Reading:
    """The nodes of a text of one document; unparsable with its place where it is none. Aliases may mean `known`."""
    yaml = reader(where)
    try:
        reading = _read(text, where, yaml, dict(known))
    except yaml.YAMLError as error:
        raise _unparsable(text, where, error) from None
    root = reading.root
    empty = root and root.kind == "scalar" and root.start == root.end and not root.anchor
    return reading._replace(root=None) if empty else reading


def _read(text: str, where: str, yaml: Any, anchors: dict[str, Node]) -> Reading:
    root, aliased = None, set()
    documents = 0
    stack: list[Node] = []
    keys: list[Node | None] = []  # of each open mapping: the key whose value comes next
    for event, node in _nodes(text, yaml):
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                start = event.start_mark.index + text.startswith(BOM)
                raise _error(
                    text, where, start, "a second document begins here", "Make it one document."
                )
        elif isinstance(event, yaml.CollectionEndEvent):
            _close(stack.pop(), event.end_mark.index + text.startswith(BOM))
            keys.pop()
        if node is None:
            continue
        if node.kind == "alias":
            if node.text not in anchors:
                raise _error(text, where, node.start, f"there is no anchor &{node.text}", _AGAIN)
            aliased.add(node.text)
        elif node.anchor:
            anchors[node.anchor] = node
        if not stack:
            root = node
        elif stack[-1].kind == "map" and keys[-1] is None:
            keys[-1] = node
        else:
            stack[-1].children.append(Child(keys[-1], node))
            keys[-1] = None
        if node.kind in ("map", "seq"):
            stack.append(node)
            keys.append(None)
            if len(stack) > DEPTH:
                raise too_deep(text, where)
    return Reading(root, anchors, frozenset(aliased))


def _nodes(text: str, yaml: Any) -> Iterator[tuple[Any, Node | None]]:
    """The events, and the nodes that they begin."""
    resolve = yaml.resolver.Resolver().resolve
    shift = int(text.startswith(BOM))
    for event in yaml.parse(text[shift:], _loader()):
        start, end = event.start_mark.index + shift, event.end_mark.index + shift
        node = None
        if isinstance(event, yaml.AliasEvent):
            node = Node("alias", start, end, text=event.anchor)
        elif isinstance(event, yaml.ScalarEvent):
            tag = event.tag
            if tag in (None, "!"):
                tag = resolve(yaml.ScalarNode, event.value, event.implicit)
            block = event.style in ("|", ">")
            node = Node("scalar", start, end, tag, event.value, event.anchor or "", block=block)
        elif isinstance(event, yaml.CollectionStartEvent):
            kind = "map" if isinstance(event, yaml.MappingStartEvent) else "seq"
            node = Node(
                kind,
                start,
                -1,
                event.tag or "",
                anchor=event.anchor or "",
                flow=bool(event.flow_style),
            )
        yield event, node


def _close(node: Node, end: int) -> None:
    """A flow collection ends with its bracket; a block's last event lies where the next thing begins."""
    node.end = end if node.flow or not node.children else node.children[-1].value.end


def _error(text: str, where: str, offset: int, message: str, hint: str) -> HookctlError:
    line, column = position_of(text, offset)
    return HookctlError("unparsable", message, path=where, line=line, column=column, hint=hint)


def _unparsable(text: str, where: str, error: Any) -> HookctlError:
    """What is wrong, in the reader's words, with the likeliest cause."""
    conflict = re.search(CONFLICT, text, re.MULTILINE)
    if conflict:
        hint = "Resolve the conflict, then run the command again."
        return _error(text, where, conflict.start(), "the file has merge-conflict marks", hint)
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:  # a character that may not stand in a file; where, the reader says in bytes
        found = re.compile(_UNPRINTABLE).search(text, int(text.startswith(BOM)))
        offset = found.start() if found else 0
        message = f"the character U+{ord(text[offset]):04X} is not allowed in YAML"
        return _error(text, where, offset, message, _AGAIN)
    offset = mark.index + text.startswith(BOM)
    said = error.problem or error.context or "it cannot be read"
    kind = (
        "no reader takes this"
        if isinstance(error, reader().constructor.ConstructorError)
        else "not valid YAML"
    )
    hint = (
        "Indent with blanks, then run the command again."
        if text[offset : offset + 1] == "\t"
        else _AGAIN
    )
    return _error(text, where, offset, f"{kind}: {said}", hint)
