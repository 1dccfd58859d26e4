"""Writing TOML: keys, values on one line, and tables as blocks of lines."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, time
from typing import Any

from hookctl.documents.toml_scan import ARRAY, DOTTED, INLINE, TABLE, TABLES, Node


def key_text(name: str) -> str:
    """A name as a key, without quotes where TOML allows that."""
    import tomlkit  # late: reading needs none of it

    return tomlkit.key(name).as_string()


def keys_text(names: Iterable[str]) -> str:
    """Names as a dotted key."""
    return ".".join(map(key_text, names))


def inline(value: Any) -> str:
    """A plain value on one line.

    Raises TypeError for a type that TOML does not have, ValueError for a lone surrogate.
    """
    import tomlkit  # late: reading needs none of it

    if isinstance(value, list):
        return _array_text(map(inline, value))
    if isinstance(value, dict):
        return _table_text((name, inline(inner)) for name, inner in value.items())
    if not isinstance(value, str | bool | int | float | date | time):
        raise TypeError(f"TOML has no {type(value).__name__}")
    str(value).encode("utf-8")
    return tomlkit.item(value).as_string()


def source(text: str, node: Node) -> str:
    """The source text of a node; a table's as an inline one."""
    if node.kind in (TABLE, DOTTED):
        return _table_text((name, source(text, child)) for name, child in node.children.items())
    if node.kind == TABLES:
        return _array_text(source(text, child) for child in node.children)
    return text[node.start : node.end]


def is_block(node: Node) -> bool:
    """Whether a new value is written as tables: it is a table, or an array of tables only."""
    if node.kind == INLINE:
        return True
    if node.kind != ARRAY or not node.children:
        return False
    return all(child.kind == INLINE for child in node.children)


def block(names: tuple[str, ...], text: str, node: Node, *, is_element: bool = False) -> list[str]:
    """The lines of a new value as tables: a header, its scalar members, then the tables below."""
    if node.kind == ARRAY:
        elements = []
        for child in node.children:
            elements += block(names, text, child, is_element=True)
        return elements
    header = f"[[{keys_text(names)}]]" if is_element else f"[{keys_text(names)}]"
    lines, tables = [header], []
    for name, child in node.children.items():
        if is_block(child) and child.children:
            tables += block((*names, name), text, child)
        else:
            lines.append(f"{key_text(name)} = {source(text, child)}")
    return lines + tables


def _array_text(elements: Iterable[str]) -> str:
    return f"[{', '.join(elements)}]"


def _table_text(members: Iterable[tuple[str, str]]) -> str:
    text = ", ".join(f"{key_text(name)} = {value}" for name, value in members)
    return f"{{ {text} }}" if text else "{}"
