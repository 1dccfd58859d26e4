"""Writing TOML: keys, values on one line, and tables as blocks of lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hookctl.documents.toml_scan import ARRAY, DOTTED, INLINE, TABLE, TABLES, Node


def key_text(name: str) -> str:
    """A name as a key: bare where it can be."""
    import tomlkit

    return tomlkit.key(name).as_string()


def keys_text(names: Iterable[str]) -> str:
    """Names as a dotted key."""
    return ".".join(map(key_text, names))


def inline(value: Any) -> str:
    """A plain value on one line; TypeError for one that TOML does not have, ValueError for half of a surrogate pair."""
    import tomlkit

    if isinstance(value, list):
        return f"[{', '.join(map(inline, value))}]"
    if isinstance(value, dict):
        return _table(f"{key_text(name)} = {inline(inner)}" for name, inner in value.items())
    if not isinstance(value, str | bool | int | float):
        raise TypeError(f"{type(value).__name__} is no type of it")
    str(value).encode("utf-8")
    return tomlkit.item(value).as_string()


def source(text: str, node: Node) -> str:
    """The source text of a node, of a table as an inline one."""
    if node.kind in (TABLE, DOTTED):
        return _table(
            f"{key_text(name)} = {source(text, inner)}" for name, inner in node.children.items()
        )
    if node.kind == TABLES:
        return f"[{', '.join(source(text, inner) for inner in node.children)}]"
    return text[node.start : node.end]


def is_block(node: Node) -> bool:
    """Whether a new value is written as tables: it is one, or an array of nothing else."""
    return node.kind == INLINE or (
        node.kind == ARRAY
        and bool(node.children)
        and all(inner.kind == INLINE for inner in node.children)
    )


def block(names: tuple[str, ...], text: str, node: Node, *, is_element: bool = False) -> list[str]:
    """The lines of a new value as tables: a header, what stands below it, then the tables below."""
    if node.kind == ARRAY:
        return [
            line for inner in node.children for line in block(names, text, inner, is_element=True)
        ]
    lines, below = [f"[[{keys_text(names)}]]" if is_element else f"[{keys_text(names)}]"], []
    for name, inner in node.children.items():
        if is_block(inner) and inner.children:
            below += block((*names, name), text, inner)
        else:
            lines.append(f"{key_text(name)} = {source(text, inner)}")
    return lines + below


def _table(members: Iterable[str]) -> str:
    inner = ", ".join(members)
    return f"{{ {inner} }}" if inner else "{}"
