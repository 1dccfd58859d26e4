"""Reading and writing texts of TOML: tomllib gives the values, the scan the offsets of statements.

The scan takes a text that tomllib has read, so it checks nothing. After an edit tomllib reads the
result, which shows whether the offsets were right.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from datetime import date, time
from typing import Any, NamedTuple

from hookctl.documents import (
    AGAIN,
    BOM,
    DEPTH,
    Path,
    Splice,
    conflict_in,
    error_at,
    is_too_deep,
    spliced,
    too_deep,
)
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
_BRACKETS = re.compile(STRING + r"|#[^\r\n]*|(?P<open>[\[{])|(?P<close>[\]}])")
# Of an inline table in TOML 1.1: what may stand between its members, and its last comma.
_BLANK = r"(?:[ \t\r\n]|#[^\r\n]*+)++"
_GAPS = (
    rf"{STRING}|(?P<open>[\[{{])|(?P<close>[\]}}])|(?P<gap>(?<=[{{,]){_BLANK}|{_BLANK}(?=[,}}]))"
    r"|#[^\r\n]*|(?P<quote>[\"'])"
)
_LAST_COMMA = rf"(?:{STRING}|[^\s{{,#\"'])[ \t]*+(?P<comma>,)(?=[ \t]*\}})|{STRING}|#[^\r\n]*"

# tomllib needs quadratic time for a long dotted key.
_LONG = rf"(?m)(?:^|[{{,])[ \t\[]*(?P<key>(?:{_PART}[ \t]*+\.[ \t]*+){{{DEPTH}}})"
_NAN = float("nan")  # always the same one, so that documents with it can be compared
_PLACE = r" \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$"


def read(text: str, where: str) -> dict[str, Any]:
    """The values of a text; unparsable, with the position, if it is not TOML.

    Of TOML 1.1 it may have inline tables of many lines; of its rest no settings file has anything.
    """
    long_key = re.search(_LONG, text)
    if long_key:
        message, hint = "this key has too many parts", "Check that it is the right file."
        raise error_at("unparsable", text, where, long_key.start("key"), message, hint)
    flat = text
    try:
        try:
            plain = _loads(text)
        except ValueError:
            flat = _with_flat_tables(text)
            plain = _loads(flat)
    except ValueError as error:
        raise _unparsable(text, where, str(error), flat) from None
    except RecursionError:
        raise too_deep(text, where) from None
    if is_too_deep(plain):
        raise too_deep(text, where)
    return plain


def _loads(text: str) -> dict[str, Any]:
    return tomllib.loads(text.removeprefix(BOM), parse_float=_float)


def _with_flat_tables(text: str) -> str:
    """The text with each inline table on one line, in TOML 1.0; every offset stays."""
    gaps: list[Splice] = []
    brackets: list[str] = []
    for match in re.finditer(_GAPS, text):
        if match["quote"]:  # without an end, which a line break less would close
            return text
        if match["open"]:
            brackets.append(match[0])
        elif match["close"]:
            del brackets[-1:]
        elif match["gap"] and brackets[-1:] == ["{"]:
            gaps.append(Splice(*match.span(), " " * len(match[0])))
    flat = spliced(text, gaps)
    commas = [match.span("comma") for match in re.finditer(_LAST_COMMA, flat) if match["comma"]]
    return spliced(flat, (Splice(*span, " ") for span in commas))


def _float(text: str) -> float:
    return _NAN if text.endswith("nan") else float(text)


def _unparsable(text: str, where: str, reason: str, flat: str) -> HookctlError:
    """The error for tomllib's `reason`, in plain words and with the likeliest cause."""
    conflict = conflict_in(text, where)
    if conflict:
        return conflict
    place = re.search(_PLACE, reason)
    message, hint = f"not valid TOML: {re.sub(_PLACE, '', reason)}", AGAIN
    offset = len(text)
    if "\0" in text:
        offset = text.index("\0")
        message = "the file has zero bytes: it is UTF-16, or was damaged in a crash"
        hint = "Restore it, or save it as UTF-8."
    elif place and place["line"]:
        above = flat.split("\n")[: int(place["line"]) - 1]  # with every offset of the text
        shift = int(flat.startswith(BOM) and not above)
        offset = sum(len(line) + 1 for line in above) + int(place["column"]) - 1 + shift
    elif place:
        message = "the file ends in the middle"
        hint = "Restore what is missing, then run the command again."
    return error_at("unparsable", text, where, offset, message, hint)


# Statements


class Statement(NamedTuple):
    """A header, or a key with its value."""

    start: int
    end: int
    path: Path  # in the document, with the indexes of arrays of tables
    home: Path  # of the table whose header it stands below; of a header its own path
    value: int = -1  # where the value begins; of a header -1


class Part(NamedTuple):
    """A member of an inline table, or an item of an array, which has no names."""

    names: Keys
    start: int  # of the value
    end: int


def scan(text: str) -> Iterator[Statement]:
    """The statements of a text that tomllib has read, in their order."""
    sizes: dict[Path, int] = {}  # of the arrays of tables so far
    home: Path = ()
    offset = _skip_gap(text, int(text.startswith(BOM)))
    while offset < len(text):
        header = _HEADER.match(text, offset)
        if header:
            home = _path_of(names_of(header["keys"]), sizes, is_array=bool(header["array"]))
            end = header.end()
            yield Statement(offset, end, home, home)
        else:
            member = _member(text, offset)
            end = member.end
            yield Statement(offset, end, home + member.names, home, member.start)
        offset = _skip_gap(text, end)


def _path_of(names: Keys, sizes: dict[Path, int], *, is_array: bool) -> Path:
    """The path of the table that a header opens: of an array of tables its last one."""
    path: Path = ()
    for name in names:
        if path in sizes:
            path = (*path, sizes[path] - 1)
        path = (*path, name)
    if is_array:
        sizes[path] = sizes.get(path, 0) + 1
        path = (*path, sizes[path] - 1)
    return path


def parts(text: str, start: int = 0) -> Iterator[Part]:
    """What stands directly in the brackets that begin here; nothing for another value."""
    bracket = text[start]
    offset = _skip_gap(text, start + 1)
    while bracket in "[{" and text[offset] not in "]}":
        if bracket == "{":
            part = _member(text, offset)
        else:
            part = Part((), offset, _value_end(text, offset))
        yield part
        offset = _skip_gap(text, part.end)
        if text[offset] == ",":
            offset = _skip_gap(text, offset + 1)


def _member(text: str, offset: int) -> Part:
    """A key and its value, below a header or in an inline table."""
    match = _NAME.match(text, offset)
    assert match  # tomllib found a key there
    end = _value_end(text, match.end())
    return Part(names_of(match["keys"]), match.end(), end)


def _value_end(text: str, start: int) -> int:
    if text[start] not in "[{":
        return _SCALAR.match(text, start).end()  # type: ignore[union-attr]  # tomllib found it
    depth = 0
    for match in _BRACKETS.finditer(text, start):
        depth += bool(match["open"]) - bool(match["close"])
        if not depth:
            break
    return match.end()


def _skip_gap(text: str, offset: int) -> int:
    """The next offset that is neither blank nor in a comment."""
    return _GAP.match(text, offset).end()  # type: ignore[union-attr]  # it matches everywhere


def names_of(source: str) -> Keys:
    """The names in a key's source text, which may be dotted and quoted."""
    if '"' not in source and "'" not in source:
        return tuple(part.strip(" \t") for part in source.split("."))
    table, names = _loads(f"{source} = 0"), []
    while isinstance(table, dict):
        [(name, table)] = table.items()
        names.append(name)
    return tuple(names)


# Writing


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
    if any(match["comment"] for match in _COMMENT.finditer(source)):
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
