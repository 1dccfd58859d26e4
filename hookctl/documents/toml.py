"""Lossless editing of TOML: an edit is a few splices into the text; other bytes stay.

New tables and groups of hooks are blocks of lines at the end, where TOML allows them always. A
value in brackets is written anew as a whole if it stands there as hookctl would write it, such as
`[]`; an edit inside another one is refused, and so is a new key of a table without a header.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, time
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

from hookctl.documents import (
    BOM,
    BREAK,
    DEPTH,
    MISSING,
    Document,
    New,
    Path,
    Splice,
    comparable,
    edit_value,
    error_at,
    is_too_deep,
    leading_blanks,
    line_start,
    line_stop,
    next_line,
    spliced,
    start_of_comments,
    too_deep,
    unparsable,
    value_at,
    whole_lines,
    wrong_shape,
)
from hookctl.errors import HookctlError

_ASSIGN = "v = "


class Node:
    """A value, or a table with its statements; what stands inside brackets has none."""

    def __init__(self, document: TomlDocument, path: Path) -> None:
        self.path, self._document = path, document
        self.statements = document.statements_at(path)
        self.whole = document.bracketed(path)  # the key with the value that this is, or is in
        self.index = path[-1] if path else 0
        table_start = self.statements[0].start if path and self.statements else 0
        self.start = self.whole.value if self.whole else table_start

    def find(self, key: str | int) -> list[Node]:
        """What is under a key, or at an index."""
        path = (*self.path, key)
        return [] if self._document.get(path) is MISSING else [Node(self._document, path)]


class TomlDocument(Document):
    """An immutable TOML document, which has no dialects; each edit gives a new one."""

    def __init__(self, text: str, where: str) -> None:
        super().__init__(text, where)
        self.value = read(text, where) or MISSING
        self._start = int(text.startswith(BOM))

    def raw(self, path: Path) -> str:
        """The source text of the value at path, a table as an inline one; KeyError if none.

        What stands inside brackets has none of its own, and is written anew.
        """
        value = self.get(path)
        if value is MISSING:
            raise KeyError(path)
        whole = self.bracketed(path)
        if whole:
            is_inside = len(whole.path) < len(path)
            return inline(value) if is_inside else self._text[whole.value : whole.end]
        if isinstance(value, list):
            return inline([Source(self.raw((*path, index))) for index in range(len(value))])
        return inline({name: Source(self.raw((*path, name))) for name in value})

    def block(self, path: Path) -> str:
        """The lines that go with a table in an array of tables; else the source text."""
        if self.bracketed(path) or not path or not isinstance(path[-1], int):
            return self.raw(path)
        splices = self._remove_lines(self.statements_at(path))
        texts = (self._text[splice.start : splice.end].strip("\r\n") for splice in splices)
        return self._line_end.join(texts)

    def remove(self, path: Path) -> Document:
        """Remove the value, table or element at path; the same document if there is none.

        What has no header of its own goes with the last that is in it.
        """
        above, found = path[:-1], self.statements_at(path)
        if above and found and found == self.statements_at(above):
            return self.remove(above)
        return super().remove(path)

    # Finding

    @cached_property
    def _root(self) -> Node:
        return Node(self, ())

    @cached_property
    def _statements(self) -> list[Statement]:
        return list(scan(self._text))

    @cached_property
    def _by_path(self) -> dict[Path, list[Statement]]:
        found: dict[Path, list[Statement]] = {}
        for statement in self._statements:
            for length in range(len(statement.path) + 1):
                found.setdefault(statement.path[:length], []).append(statement)
        return found

    @cached_property
    def _own(self) -> dict[Path, Statement]:
        """The header or key of each path that has one."""
        return {one.path: one for one in self._statements}

    def statements_at(self, path: Path) -> Sequence[Statement]:
        """The statements at a path and below it, in their order."""
        return self._by_path.get(path, ())

    def bracketed(self, path: Path) -> Statement | None:
        """The key whose value is the one at path, or has it inside its brackets."""
        found = (self._own.get(path[:length]) for length in range(len(path) + 1))
        return next((one for one in found if one and one.value >= 0), None)

    def _owner(self, path: Path) -> Sequence[Statement]:
        """Those of the innermost array element on a path, which a new table in it belongs to."""
        for length in range(len(path), 0, -1):
            if isinstance(path[length - 1], int) and self.statements_at(path[:length]):
                return self.statements_at(path[:length])
        return ()

    # Editing

    def _check_holder(self, path: Path, node: Node) -> None:
        """Refuse to edit inside brackets that are not written as hookctl would write them."""
        whole = node.whole
        source = self._text[whole.value : whole.end] if whole else ""
        if whole and source[0] in "[{" and source != inline(self.get(whole.path)):
            raise self._unsupported(whole.path)

    def _unsupported(self, path: Path) -> HookctlError:
        """The error for an edit inside a value that has no header of its own."""
        names = keys_text(_names(path))
        header = f"[[{names}]]" if isinstance(self.get(path), list) else f"[{names}]"
        message = f"{self.name_of(path)} is not written as a table, so no part of it can be edited"
        hint = f"Write it as {header}, then run the command again."
        return self.error_at("unsupported_toml", self.offset(path), message, hint)

    def _new(self, path: Path, value: Any) -> New:
        inline(value).encode("utf-8")
        return New(comparable(value), value)

    def _source(self, path: Path, text: str) -> New:
        text = BREAK.sub(lambda _: self._line_end, text)
        is_element = bool(path) and isinstance(path[-1], int)
        if is_element and text.lstrip(" \t").startswith("[["):  # the lines of a table
            table = TomlDocument(text, self.where).get((*_names(path), 0))
            return self._new(path, table)._replace(source=text)
        text.encode("utf-8")
        value = read(_ASSIGN + text, "")["v"]
        statement = next(scan(_ASSIGN + text))
        if (statement.value, statement.end) != (len(_ASSIGN), len(_ASSIGN + text)):
            raise ValueError("the source text is not just a value")
        return New(comparable(value), source_of(text, value))

    def _put(self, path: Path, new: New) -> Document:
        """Put a value at path; into a table that is there member by member."""
        old, members = value_at(self._tree, path), tables_of(new.value)
        has_members = isinstance(members, dict) and members
        if not isinstance(old, dict) or not has_members or self.bracketed(path):
            return super()._put(path, new)
        document: Document = self
        for name, inner in members.items():
            if old.get(name) != new.tree[name]:
                document = document._put((*path, name), New(new.tree[name], inner))
        for name in old:
            if name not in members:
                document = document.remove((*path, name))
        return document

    def _replace(self, node: Node, new: New) -> list[Splice]:
        whole = node.whole
        if whole and whole.path == node.path:
            return [Splice(whole.value, whole.end, inline(new.value))]
        if whole:
            return self._rewrite(whole, node.path, new.value)
        if new.tree == value_at(self._tree, node.path):
            return []
        raise wrong_shape(self, node.path, "a value in one place")

    def _rewrite(self, whole: Statement, path: Path, new: Any) -> list[Splice]:
        """Write a value in brackets anew, with an edit inside it; a removal for MISSING."""
        value = edit_value(self.get(whole.path), path[len(whole.path) :], new)
        return [Splice(whole.value, whole.end, inline(value))]

    def _insert(self, holder: Node, key: str | None, new: New) -> list[Splice]:
        path = (*holder.path, len(self.get(holder.path)) if key is None else key)
        if holder.whole:
            return self._rewrite(holder.whole, path, new.value)
        if key is None or tables_of(new.value) is not None:
            return self._add_lines(self._block(path, new), self._owner(path))
        header = self._own.get(holder.path)
        if holder.path and not header:
            raise self._unsupported(holder.path)
        members = [s for s in holder.statements if s.value >= 0 and s.home == holder.path]
        above = members[-1] if members else header
        text = f"{key_text(key)} = {inline(new.value)}"
        if above:
            indent = leading_blanks(self._text[line_start(self._text, above.start) : above.start])
            stop = line_stop(self._text, above.end)
            return [Splice(stop, stop, self._line_end + indent + text)]
        if not self._statements:
            return self._add_lines([text], ())
        return self._add_above(self._statements[0], text)

    def _block(self, path: Path, new: New) -> list[str]:
        """The lines of a new table or array of tables, or of a new element of one."""
        is_element = isinstance(path[-1], int)
        if is_element and not isinstance(tables_of(new.value), dict):
            raise wrong_shape(self, path[:-1], "an array of tables")
        if new.source:
            return [new.source]
        return block(_names(path), new.value, is_element=is_element)

    def _insert_above(self, node: Node, new: New) -> list[Splice]:
        if node.whole:
            items = list(self.get(node.path[:-1]))
            items.insert(int(node.index), new.value)
            return self._rewrite(node.whole, node.path[:-1], items)
        text = self._line_end.join(self._block(node.path, new))
        return self._add_above(node.statements[0], text)

    def _remove(self, node: Node) -> list[Splice]:
        if node.whole and node.whole.path != node.path:
            return self._rewrite(node.whole, node.path, MISSING)
        return list(self._remove_lines(node.statements))

    # Lines. Removing what was inserted here gives the earlier text again, to the byte.

    def _add_above(self, statement: Statement, text: str) -> list[Splice]:
        offset = start_of_comments(self._text, line_start(self._text, statement.start))
        return [Splice(offset, offset, text + self._line_end * 2)]

    def _add_lines(self, lines: list[str], owner: Sequence[Statement]) -> list[Splice]:
        """Insert lines at the end of the file, or of the array element that owns them.

        A blank line separates them, and they have a final line end only where the file has one.
        """
        line_end, offset = self._line_end, len(self._text)
        lead, tail = line_end * 2, ""
        if owner:
            offset = line_stop(self._text, owner[-1].end)
            has_blank_below = self._is_blank(next_line(self._text, offset))
            lead = line_end * 2 if has_blank_below else line_end
        elif offset == self._start:
            lead, tail = "", line_end
        elif BREAK.match(self._text, offset - 1):
            lead, tail = line_end, line_end
        return [Splice(offset, offset, lead + line_end.join(lines) + tail)]

    def _remove_lines(self, statements: Sequence[Statement]) -> Iterator[Splice]:
        """Remove the lines of headers and keys, and one of the blank lines around them."""
        removed = {statement.start for statement in statements}
        for is_removed, run in groupby(self._statements, lambda one: one.start in removed):
            if is_removed:
                yield self._remove_run(list(run))

    def _remove_run(self, run: list[Statement]) -> Splice:
        """Remove consecutive statements and the comments between; a single one's comment stays."""
        stop = line_stop(self._text, run[-1].end)
        comment = self._text.find("#", run[-1].end, stop)
        if len(run) == 1 and comment >= 0:
            return Splice(run[0].start, comment)
        start, after = line_start(self._text, run[0].start), next_line(self._text, stop)
        above = line_start(self._text, start - 1)
        below = next_line(self._text, line_stop(self._text, after))
        is_first = start == self._start
        if self._is_blank(after) and (is_first or self._is_blank(above)):
            # An insertion makes an empty line, so that goes rather than one with blanks.
            is_above_empty = self._text[above:start] == self._line_end
            is_below_empty = self._text[after:below] == self._line_end
            if is_first or (is_below_empty and not is_above_empty):
                after = below
            else:
                start = above
        is_at_end = after == stop  # the last line, and it has no line end
        return whole_lines(self._text, start, stop) if is_at_end else Splice(start, after)

    def _is_blank(self, start: int) -> bool:
        return not self._text[start : line_stop(self._text, start)].strip(" \t")


def _names(path: Path) -> tuple[str, ...]:
    return tuple(key for key in path if isinstance(key, str))


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
_GAP = re.compile(r"[ \t\r\n,]*(?:#[^\r\n]*[ \t\r\n,]*)*")  # a comma stands in inline tables alone
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
        reason, offset = str(error), len(text)
        place = re.search(_PLACE, reason)
        if place and place["line"]:
            above = flat.split("\n")[: int(place["line"]) - 1]  # with every offset of the text
            shift = int(flat.startswith(BOM) and not above)
            offset = sum(len(line) + 1 for line in above) + int(place["column"]) - 1 + shift
        message = f"not valid TOML: {re.sub(_PLACE, '', reason)}"
        at_end = bool(place) and offset == len(text)
        raise unparsable(text, where, offset, message, at_end=at_end) from None
    except RecursionError:
        raise too_deep(text, where) from None
    if is_too_deep(plain):
        raise too_deep(text, where)
    return plain


def _loads(text: str) -> dict[str, Any]:
    return tomllib.loads(text.removeprefix(BOM))


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


# Statements


class Statement(NamedTuple):
    """A header, or a key with its value."""

    start: int
    end: int
    path: Path  # in the document, with the indexes of arrays of tables
    home: Path  # of the table whose header it stands below; of a header its own path
    value: int = -1  # where the value begins; of a header -1


def scan(text: str) -> Iterator[Statement]:
    """The statements of a text that tomllib has read, in their order."""
    sizes: dict[Path, int] = {}  # of the arrays of tables so far
    home: Path = ()
    offset = _skip_gap(text, int(text.startswith(BOM)))
    while offset < len(text):
        header = _HEADER.match(text, offset)
        if header:  # of an array of tables it opens the last one
            home, end = (), header.end()
            for name in names_of(header["keys"]):
                home = (*home, sizes[home] - 1, name) if home in sizes else (*home, name)
            if header["array"]:
                sizes[home] = sizes.get(home, 0) + 1
                home = (*home, sizes[home] - 1)
            yield Statement(offset, end, home, home)
        else:
            key: Any = _NAME.match(text, offset)  # tomllib found it
            end = _value_end(text, key.end())
            yield Statement(offset, end, home + names_of(key["keys"]), home, key.end())
        offset = _skip_gap(text, end)


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
    return _GAP.match(text, offset).end()  # type: ignore[union-attr]  # it matches everywhere


def names_of(source: str) -> Keys:
    """The names in a key's source text, which may be dotted and quoted."""
    names = []
    for part in re.findall(_PART, source):
        names.append(_loads(_ASSIGN + part)["v"] if part[0] in "\"'" else part)
    return tuple(names)


# Writing


def key_text(name: str) -> str:
    """A name as a key, without quotes where TOML allows that."""
    import tomlkit  # late: reading needs none of it

    return tomlkit.key(name).as_string()


def keys_text(names: Iterable[str]) -> str:
    """Names as a dotted key."""
    return ".".join(map(key_text, names))


class Source(str):
    """A source text in a value, which is written as it is."""

    tables: Any = None  # its value, where tables may be made of it


def source_of(text: str, value: Any) -> Source:
    """A source text; of a table each member has its own. With comments between it stays whole."""
    source = Source(text)
    members = list(scan(text[1:-1])) if isinstance(value, dict) else []
    between = spliced(text[1:-1], (Splice(one.start, one.end) for one in members))
    is_dotted = any(len(one.path) > 1 for one in members)
    if isinstance(value, dict) and not is_dotted and "#" not in between:
        source.tables = {}
        for one in members:
            name, inner = one.path[0], text[1:-1][one.value : one.end]
            source.tables[name] = source_of(inner, value[name])
    elif isinstance(value, list) and "#" not in between:
        source.tables = value
    return source


def inline(value: Any) -> str:
    """A value on one line, but for the lines that its source texts have.

    Raises TypeError for a type that TOML does not have.
    """
    import tomlkit  # late: reading needs none of it

    if isinstance(value, Source):
        return value
    if isinstance(value, list):
        return f"[{', '.join(map(inline, value))}]"
    if isinstance(value, dict):
        text = ", ".join(f"{key_text(name)} = {inline(inner)}" for name, inner in value.items())
        return f"{{ {text} }}" if text else "{}"
    if not isinstance(value, str | bool | int | float | date | time):
        raise TypeError(f"TOML has no {type(value).__name__}")
    return tomlkit.item(value).as_string()


def tables_of(value: Any) -> Any:
    """A table, or an array of tables, which have headers of their own; None for another value."""
    value = value.tables if isinstance(value, Source) else value
    if isinstance(value, list):
        tables = [tables_of(one) for one in value]
        are_tables = bool(tables) and all(isinstance(one, dict) for one in tables)
        return tables if are_tables else None
    return value if isinstance(value, dict) else None


def block(names: Keys, value: Any, *, is_element: bool = False) -> list[str]:
    """The lines of tables: a header where one is needed, its scalar members, then tables below."""
    tables = tables_of(value)
    if isinstance(tables, list):
        return [line for one in tables for line in block(names, one, is_element=True)]
    lines, below = [], []
    for name, inner in tables.items():
        inner_tables = tables_of(inner)
        if inner_tables or (inner_tables is not None and len(tables) == 1):
            below += block((*names, name), inner)
        else:
            lines.append(f"{key_text(name)} = {inline(inner)}")
    if is_element:
        lines.insert(0, f"[[{keys_text(names)}]]")
    elif lines or not below:
        lines.insert(0, f"[{keys_text(names)}]")
    return lines + below
