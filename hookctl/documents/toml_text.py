"""Writing TOML: keys, values on one line, and tables as blocks of lines."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, time
from typing import Any

from hookctl.documents.toml_scan import Keys, comments_of, parts


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
        return f"[{', '.join(map(inline, value))}]"
    if isinstance(value, dict):
        return table_text((name, inline(inner)) for name, inner in value.items())
    if not isinstance(value, str | bool | int | float | date | time):
        raise TypeError(f"TOML has no {type(value).__name__}")
    str(value).encode("utf-8")
    return tomlkit.item(value).as_string()


def is_block(source: str) -> bool:
    """Whether a new value is written as tables: it is a table, or an array of tables only.

    A block of tables has no room for comments.
    """
    if comments_of(source):
        return False
    if source.startswith("["):
        items = [source[part.start] for part in parts(source)]
        return bool(items) and set(items) == {"{"}
    return source.startswith("{")


def block(names: Keys, source: str, *, is_element: bool = False) -> list[str]:
    """The lines of a new value as tables: a header, its scalar members, then the tables below."""
    inner = [(part.names, source[part.start : part.end]) for part in parts(source)]
    if source.startswith("["):
        return [line for _, text in inner for line in block(names, text, is_element=True)]
    header = f"[[{keys_text(names)}]]" if is_element else f"[{keys_text(names)}]"
    lines, tables = [header], []
    for key, text in inner:
        if is_block(text) and text != "{}":
            tables += block(names + key, text)
        else:
            lines.append(f"{keys_text(key)} = {text}")
    return lines + tables


def table_text(members: Iterable[tuple[str, str]]) -> str:
    """Source texts as the members of an inline table."""
    text = ", ".join(f"{key_text(name)} = {value}" for name, value in members)
    return f"{{ {text} }}" if text else "{}"
