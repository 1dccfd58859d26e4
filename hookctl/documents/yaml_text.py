"""Writing values as YAML: quoted as JSON is, which every YAML reader takes too, and laid out as the file is."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from hookctl.documents.text import BREAK
from hookctl.documents.yaml_nodes import MERGE, STRING, Node, Tree

_TAG = "tag:yaml.org,2002:"
_PLAIN_KEY = r"(?!(?i:y|n|yes|no|on|off|true|false|null)$)[A-Za-z_][A-Za-z0-9_-]*"
# What JSON lets stand in a string and YAML does not, or takes for a line break.
_ESCAPED = "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]"


class Style(NamedTuple):
    """How a file is laid out."""

    line_end: str = "\n"
    unit: int = 2  # blanks by which a mapping inside a mapping is indented
    dash: int = (
        2  # blanks by which a list inside a mapping is indented; some write it below its key
    )


class Source(NamedTuple):
    """A source text that an earlier raw() gave, to be put back."""

    text: str
    node: Node

    @property
    def lines(self) -> list[str]:
        """Its lines; those behind the first are indented from the column of the first on, or not at all."""
        first, *more = BREAK.split(self.text)
        depth = min((len(line) - len(line.lstrip(" ")) for line in more if line.strip()), default=0)
        return [first, *(line if self.stands_alone else line[depth:] for line in more)]

    @property
    def stands_alone(self) -> bool:
        """Whether it cannot stand behind its key on the same line."""
        return self.node.kind in ("map", "seq") and not self.node.flow


def tree_of(value: Any) -> Tree:
    """What a value says as a node; TypeError or ValueError for what YAML does not have."""
    if isinstance(value, Source):
        return value.node.tree()
    if isinstance(value, dict):
        return (
            "map",
            "",
            "",
            tuple((tree_of(key), tree_of(inner)) for key, inner in value.items()),
        )
    if isinstance(value, list | tuple):
        return ("seq", "", "", tuple((None, tree_of(inner)) for inner in value))
    if isinstance(value, str):
        return ("scalar", "", STRING, value)
    kinds = {bool: "bool", int: "int", float: "float", type(None): "null"}
    return ("scalar", "", _TAG + kinds[type(value)], scalar(value))


def scalar(value: Any) -> str:
    """A scalar's text."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if isinstance(value, float) and "e" in text and "." not in text:
        return text.replace("e", ".0e")  # without a point YAML 1.1 takes it for a word
    return re.sub(_ESCAPED, lambda match: f"\\u{ord(match[0]):04x}", text)


def key_text(key: str) -> str:
    """A key's text, bare where no reader can take it for something else."""
    return key if re.fullmatch(_PLAIN_KEY, key) else scalar(key)


def flow(value: Any) -> str:
    """The value on one line."""
    if isinstance(value, Source):
        return value.text
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{key_text(key)}: {flow(inner)}" for key, inner in value.items()) + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)


def block(value: Any, column: int, style: Style) -> list[str]:
    """The lines of a collection with something in it, each with its indentation."""
    if isinstance(value, Source):
        return indented(value.lines, column)
    lines = []
    for key, inner in (
        value.items() if isinstance(value, dict) else ((None, inner) for inner in value)
    ):
        lines += member(key, inner, column, style)
    return lines


def member(key: str | None, value: Any, column: int, style: Style) -> list[str]:
    """The lines of a mapping's member, or of a sequence's item."""
    pad = " " * column
    alone = (
        value.stands_alone
        if isinstance(value, Source)
        else isinstance(value, dict | list | tuple) and value
    )
    if key is None and alone:
        lines = block(value, column + 2, style)
        return [f"{pad}- {lines[0].lstrip(' ')}", *lines[1:]]
    head = pad + ("-" if key is None else key_text(key) + ":")
    if alone:
        is_list = (
            value.node.kind == "seq" if isinstance(value, Source) else not isinstance(value, dict)
        )
        return [head, *block(value, column + (style.dash if is_list else style.unit), style)]
    first, *more = value.lines if isinstance(value, Source) else [flow(value)]
    return [f"{head} {first}", *indented(more, column + style.unit)]


def indented(lines: list[str], column: int) -> list[str]:
    """Lines further in, blank ones left alone."""
    return [" " * column + line if line.strip() else line for line in lines]


def is_merge(node: Node | None) -> bool:
    """Whether a key takes the members of another mapping in."""
    return node is not None and node.tag == MERGE
