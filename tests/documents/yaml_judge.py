"""An independent judge of YAML edits: PyYAML's own composer in pure Python, and plain lists. No code of the package."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

import yaml

Path = tuple[str | int, ...]
Tree = Any  # ("map", tag, [(Tree, Tree), ...]), ("seq", tag, [Tree, ...]) or ("scalar", tag, text); None: empty

STRING = "tag:yaml.org,2002:str"


class Edit(NamedTuple):
    verb: str  # set, append or remove
    path: Path
    value: Any = None


@lru_cache(16)
def composed(text: str) -> yaml.Node | None:
    return yaml.compose(text.removeprefix("\ufeff"), yaml.SafeLoader)


@lru_cache(16)
def read(text: str) -> Tree:
    """What a text says, with every pair in its order and every scalar as it is spelled; aliases written out."""
    node = composed(text)
    empty = isinstance(node, yaml.ScalarNode) and node.start_mark.index == node.end_mark.index
    return None if node is None or empty else tree(node)


def tree(node: yaml.Node) -> Tree:
    if isinstance(node, yaml.MappingNode):
        return ("map", node.tag, [(tree(key), tree(value)) for key, value in node.value])
    if isinstance(node, yaml.SequenceNode):
        return ("seq", node.tag, [tree(item) for item in node.value])
    return ("scalar", node.tag, node.value)


def tree_of(value: Any) -> Tree:
    """The tree of a plain value, by way of PyYAML's own writer."""
    return read(yaml.safe_dump(value, allow_unicode=True))


def edited(root: Tree, edit: Edit) -> Tree:
    """The same edit on plain lists."""
    if not edit.path:
        if edit.verb == "append":
            return ("seq", "tag:yaml.org,2002:seq", [*(root[2] if root else []), tree_of(edit.value)])
        return tree_of(edit.value)
    head, rest = edit.path[0], edit.path[1:]
    kind, tag, children = root or ("map", "tag:yaml.org,2002:map", [])
    inner = Edit(edit.verb, rest, edit.value)
    if kind == "seq":
        if not rest and edit.verb == "remove":
            return (kind, tag, children[:head] + children[head + 1 :])
        return (kind, tag, [edited(item, inner) if at == head else item for at, item in enumerate(children)])
    name = ("scalar", STRING, head)
    if edit.verb == "remove" and not rest:
        left = [pair for pair in children if pair[0] != name]
        return (kind, tag, left)
    if name in [key for key, _ in children]:
        return (kind, tag, [(key, edited(value, inner) if key == name else value) for key, value in children])
    return (kind, tag, [*children, (name, edited(None, inner))])


@lru_cache(16)
def comments(text: str) -> list[tuple[int, str]]:
    """Every comment with its offset: a # behind a blank and between two tokens of PyYAML's scanner."""
    shift, at, found = int(text.startswith("\ufeff")), 0, []
    for token in yaml.scan(text[shift:], yaml.SafeLoader):
        found += _comments_in(text, at, token.start_mark.index + shift)
        if isinstance(token, yaml.ScalarToken) and token.style in ("|", ">"):
            head = re.compile(r"[^\r\n]*").match(text, token.start_mark.index + shift)
            found += _comments_in(text, token.start_mark.index + shift, head.end())  # type: ignore[union-attr]
        at = max(at, token.end_mark.index + shift)
    return found + _comments_in(text, at, len(text))


def _comments_in(text: str, start: int, end: int) -> list[tuple[int, str]]:
    found, at = [], start
    while (at := text.find("#", at, end)) >= 0:
        stop = next((place for place in range(at, end) if text[place] in "\r\n"), end)
        if at == 0 or text[at - 1] in " \t\r\n\ufeff":
            found.append((at, text[at:stop]))
        at = stop
    return found


def span(text: str, path: Path) -> tuple[int, int]:
    """From a member's key, or an item, to the last character of its value."""
    node = composed(text)
    start = node.start_mark.index  # type: ignore[union-attr]
    for head in path:
        if isinstance(node, yaml.MappingNode):
            key, node = next((key, value) for key, value in reversed(node.value) if key.value == head)
            start = key.start_mark.index
        else:
            node = node.value[head]  # type: ignore[union-attr, index]
            start = node.start_mark.index
    shift = int(text.startswith("\ufeff"))
    return start + shift, _end(node) + shift


def _end(node: Any) -> int:
    while not isinstance(node, yaml.ScalarNode) and not node.flow_style:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return node.end_mark.index


def is_one_insertion(before: str, after: str) -> bool:
    """Whether a text is another one with a single piece put in."""
    same = 0
    while same < len(before) and before[same : same + 1] == after[same : same + 1]:
        same += 1
    rest = len(before) - same
    return len(after) >= len(before) and (rest == 0 or before.endswith(after[-rest:]))


def line_ends(text: str) -> set[str]:
    return set(re.findall(r"\r\n|\r|\n", text))
