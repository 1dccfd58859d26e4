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
from typing import Any, NamedTuple

from hookctl.documents import (
    AGAIN,
    BOM,
    BREAK,
    DEPTH,
    MISSING,
    Document,
    Path,
    Splice,
    comparable,
    conflict_in,
    decode,
    edit_value,
    error_at,
    is_too_deep,
    leading_blanks,
    line_end_of,
    line_start,
    line_stop,
    next_line,
    spliced,
    start_of_comments,
    too_deep,
    unexpected,
    value_at,
    whole_lines,
    wrong_shape,
)
from hookctl.errors import HookctlError

_ASSIGN = "v = "


class TomlDocument(Document):
    """An immutable TOML document, which has no dialects; each edit gives a new one."""

    def __init__(self, text: str, where: str, line_end: str = "\n") -> None:
        super().__init__(text, where)
        self.value = read(text, where) or MISSING
        self._line_end = line_end_of(text, line_end)
        self._start = int(text.startswith(BOM))

    @classmethod
    def parse(cls, data: bytes, *, where: str = "") -> TomlDocument:
        """Parse a file's bytes; errors (not_utf8, unparsable) name `where`, line and column."""
        return cls(decode(data, where), where)

    def raw(self, path: Path) -> str:
        """The source text of the value at path, a table as an inline one; KeyError if none.

        What stands inside brackets has none of its own, and is written anew.
        """
        value = self.get(path)
        if value is MISSING:
            raise KeyError(path)
        return self._text_of(path, value)

    def _text_of(self, path: Path, value: Any) -> str:
        assigned = self._keys.get(path)
        if assigned:
            return self._text[assigned.value : assigned.end]
        if not self._find(path):
            return inline(value)
        if isinstance(value, list):
            items = (self._text_of((*path, index), item) for index, item in enumerate(value))
            return f"[{', '.join(items)}]"
        members = ((name, self._text_of((*path, name), inner)) for name, inner in value.items())
        return table_text(members)

    def offset(self, path: Path) -> int:
        statements, length = self._nearest(path)
        if not length:
            return 0
        assigned = self._keys.get(path[:length])
        return self._inside(assigned.value, path[length:]) if assigned else statements[0].start

    def _inside(self, start: int, path: Path) -> int:
        """Where the value at path begins in the one that begins here, or its nearest parent."""
        for index, part in enumerate(parts(self._text, start)):
            names: Path = part.names or (index,)
            if path[: len(names)] == names:
                return self._inside(part.start, path[len(names) :])
        return start

    def check_path(self, path: Path) -> None:
        """Refuse a path into brackets that are not written as hookctl would write them."""
        whole = self._bracketed(path)
        if whole is None or self._text[whole.value] not in "[{":
            return
        if self._text[whole.value : whole.end] != inline(value_at(self.value, whole.path)):
            raise self._unsupported(path if self._find(path) else path[:-1])

    def insert_raw(self, path: Path, text: str) -> TomlDocument:
        *above, index = path
        listed, value = tuple(above), self._value_of(path, text)
        items = list(self.get(listed))
        if not self._bracketed(listed):
            return self.insert_block(path, self.append(listed, value).block((*listed, len(items))))
        items.insert(int(index), value)
        return self._rewritten(listed, items)

    def _append(self, path: Path, index: int, value: Any) -> TomlDocument:
        if self._bracketed(path):
            return self._rewritten((*path, index), value)
        if not isinstance(value, dict):
            raise wrong_shape(self, path, "an array of tables")
        element = (*path, index)
        return self._insert_block(element, self._new(element, value), value)

    def remove(self, path: Path) -> TomlDocument:
        """Remove the value, table or element at path; the same document if there is none.

        An array of tables goes with its last one, since as `[]` it would forbid another; in a
        table of an array it stays, which keeps the place of that table.
        """
        statements, above = self._find(path), path[:-1]
        if not path or self.get(path) is MISSING:
            return self
        if not statements:
            return self._rewritten(path, MISSING)
        is_last = isinstance(path[-1], int) and len(self.get(above)) == 1
        if is_last and not self._owner(above):
            return self.remove(above)
        splices = list(self._remove_lines(statements))
        after = self._spliced(splices, path)
        if above and after.get(above) is MISSING:
            # The parent consisted of this value only; it stays, as an empty one.
            after = after.set(above, {} if isinstance(path[-1], str) else [])
        return self._verified(splices, path, MISSING, after)

    def block(self, path: Path) -> str:
        """The lines that go with a table in an array of tables; empty for any other value."""
        statements = self._find(path)
        if not statements or not isinstance(path[-1], int):
            return ""
        splices = self._remove_lines(statements)
        texts = (self._text[splice.start : splice.end].strip("\r\n") for splice in splices)
        return self._line_end.join(texts)

    def insert_block(self, path: Path, text: str) -> TomlDocument:
        *above, index = path
        listed = tuple(above)
        items = list(self.get(listed) or ())
        block = TomlDocument(self._source(path, text), self.where)
        table = block.get((*_names(path), 0))
        if self._bracketed(listed):
            return self._rewritten(listed, [*items, table])
        following = self._find(path) if index in range(len(items)) else ()
        if following:
            splices = self._insert_above(following[0], block._text)
        else:
            splices = self._add_lines([block._text], self._owner(path))
        items.insert(int(index), table)
        return self._verified(splices, listed, items)

    # Finding

    @cached_property
    def _statements(self) -> list[Statement]:
        return list(scan(self._text))

    @cached_property
    def _by_path(self) -> dict[Path, list[Statement]]:
        """The statements at each path and below it, in their order."""
        found: dict[Path, list[Statement]] = {(): []}
        for statement in self._statements:
            for length in range(len(statement.path) + 1):
                found.setdefault(statement.path[:length], []).append(statement)
        return found

    @cached_property
    def _keys(self) -> dict[Path, Statement]:
        """The keys with a value, by the path of that."""
        return {one.path: one for one in self._statements if one.value >= 0}

    @cached_property
    def _headers(self) -> dict[Path, Statement]:
        return {one.path: one for one in self._statements if one.value < 0}

    def _find(self, path: Path) -> Sequence[Statement]:
        """The statements at a path and below it; none for what stands inside brackets."""
        return self._by_path.get(path, ())

    def _bracketed(self, path: Path) -> Statement | None:
        """The key whose value is the one at path, or has it inside its brackets."""
        found = (self._keys.get(path[:length]) for length in range(len(path) + 1))
        return next(filter(None, found), None)

    def _owner(self, path: Path) -> Sequence[Statement]:
        """Those of the innermost array element on a path, which a new table in it belongs to."""
        for length in range(len(path), 0, -1):
            if isinstance(path[length - 1], int) and self._find(path[:length]):
                return self._find(path[:length])
        return ()

    # Editing

    def _source(self, path: Path, text: str) -> str:
        return BREAK.sub(lambda _: self._line_end, text)

    def _new(self, path: Path, value: Any) -> str:
        try:
            return inline(value)
        except (TypeError, ValueError) as error:
            message = f"the new value cannot be written as TOML ({error})"
            raise unexpected(self, path, message) from None

    def _put(self, path: Path, new: str) -> TomlDocument:
        value = self._value_of(path, new)
        assigned = self._keys.get(path)
        if assigned:
            splice = Splice(assigned.value, assigned.end, new)
            return self._verified([splice], path, value)
        old = value_at(self.value or {}, path)
        if old is MISSING:
            return self._insert(path, new, value)
        if path and not self._find(path):
            return self._rewritten(path, value)
        if comparable(old) == comparable(value):
            return self
        if isinstance(old, list) or not isinstance(value, dict):
            raise wrong_shape(self, path, "a value in one place")
        document = self
        for part in parts(new):
            document = document._put(path + part.names, new[part.start : part.end])
        for name in old:
            if name not in value:
                document = document.remove((*path, name))
        return document

    def _insert(self, path: Path, new: str, value: Any) -> TomlDocument:
        """Insert below the deepest existing parent; the value brings the missing ones."""
        root = self.value or {}
        length = max(n for n in range(len(path)) if value_at(root, path[:n]) is not MISSING)
        above, names = path[:length], _names(path[length:])
        holder = value_at(root, above)
        if not isinstance(holder, dict) or len(names) != len(path) - length:
            needed = "a table" if isinstance(path[length], str) else "an array with that element"
            raise wrong_shape(self, above, needed)
        if self._bracketed(above):
            return self._rewritten(path, value)
        if len(names) > 1 or is_block(new):
            return self._insert_block(path, new, value)
        text = f"{key_text(names[0])} = {new}"
        members = [s for s in self._find(above) if s.value >= 0 and s.home == above]
        header = self._headers.get(above)
        if above and not header:
            raise self._unsupported(above)
        splices = self._insert_line(members[-1] if members else header, text)
        return self._verified(splices, path, value)

    def _insert_block(self, path: Path, new: str, value: Any) -> TomlDocument:
        """Insert the value as a table, or in one, within the array element on its path."""
        names = _names(path)
        if is_block(new):
            lines = block(names, new, is_element=isinstance(path[-1], int))
        else:
            lines = [f"[{keys_text(names[:-1])}]", f"{key_text(names[-1])} = {new}"]
        splices = self._add_lines(lines, self._owner(path))
        return self._verified(splices, path, value)

    def _rewritten(self, path: Path, value: Any) -> TomlDocument:
        """The document with a value in brackets or inside them, if no other form goes with it."""
        self.check_path(path)
        whole = self._bracketed(path)
        assert whole
        old = value_at(self.value, whole.path)
        new = edit_value(old, path[len(whole.path) :], value)
        splice = Splice(whole.value, whole.end, self._new(whole.path, new))
        return self._verified([splice], whole.path, new)

    def _value_of(self, path: Path, text: str) -> Any:
        """What a source text says; it must be one value."""
        try:
            text.encode("utf-8")
            value = read(_ASSIGN + text, "")
            (statement,) = scan(_ASSIGN + text)
        except (HookctlError, ValueError) as error:
            raise unexpected(self, path, f"the source text cannot be read ({error})") from None
        if (statement.value, statement.end) != (len(_ASSIGN), len(_ASSIGN + text)):
            raise unexpected(self, path, "the source text is not just a value")
        return value["v"]

    def _unsupported(self, path: Path) -> HookctlError:
        """The error for an edit inside a value that has no header of its own."""
        names = keys_text(_names(path))
        header = f"[[{names}]]" if isinstance(self.get(path), list) else f"[{names}]"
        message = f"{self.name_of(path)} is not written as a table, so no part of it can be edited"
        hint = f"Write it as {header}, then run the command again."
        return self.error_at("unsupported_toml", self.offset(path), message, hint)

    def _spliced(self, splices: list[Splice], path: Path) -> TomlDocument:
        try:
            return TomlDocument(spliced(self._text, splices), self.where, self._line_end)
        except HookctlError as error:
            message = f"the edit would not have given TOML ({error.message})"
            raise unexpected(self, path, message) from None

    def _verified(
        self, splices: list[Splice], path: Path, new: Any, after: TomlDocument | None = None
    ) -> TomlDocument:
        """The edited document, if it says exactly what was wanted."""
        after = after or self._spliced(splices, path)
        if after._text == self._text:
            return self
        wanted = edit_value(self.value, path, new)
        if comparable(after.value or {}) != comparable(wanted):
            raise unexpected(self, path, "the edit would not have given the wanted document")
        return after

    # Lines. Removing what was inserted here gives the earlier text again, to the byte.

    def _insert_line(self, above: Statement | None, text: str) -> list[Splice]:
        """Insert a line after a statement, else before the first header."""
        if above:
            indent = leading_blanks(self._text[line_start(self._text, above.start) : above.start])
            stop = line_stop(self._text, above.end)
            return [Splice(stop, stop, self._line_end + indent + text)]
        if not self._statements:
            return self._add_lines([text], ())
        return self._insert_above(self._statements[0], text)

    def _insert_above(self, statement: Statement, text: str) -> list[Splice]:
        """Insert lines above a statement and the comments right above it."""
        offset = start_of_comments(self._text, line_start(self._text, statement.start))
        return [Splice(offset, offset, text + self._line_end * 2)]

    def _add_lines(self, lines: list[str], owner: Sequence[Statement]) -> list[Splice]:
        """Insert lines at the end of the file, or of the array element that owns them.

        A blank line separates them, and they have a final line end only where the file has one.
        """
        line_end = self._line_end
        text = line_end.join(lines)
        if owner:
            stop = line_stop(self._text, owner[-1].end)
            has_blank_below = self._is_blank(next_line(self._text, stop))
            lead = line_end * 2 if has_blank_below else line_end
            return [Splice(stop, stop, lead + text)]
        size = len(self._text)
        if size == self._start:
            return [Splice(size, size, text + line_end)]
        if BREAK.match(self._text, size - 1):
            return [Splice(size, size, line_end + text + line_end)]
        return [Splice(size, size, line_end * 2 + text)]

    def _remove_lines(self, statements: Sequence[Statement]) -> Iterator[Splice]:
        """Remove the lines of headers and keys, and one of the blank lines around them."""
        removed = {statement.start for statement in statements}
        run: list[Statement] = []
        for statement in [*self._statements, None]:
            if statement and statement.start in removed:
                run.append(statement)
            elif run:
                yield self._remove_run(run)
                run = []

    def _remove_run(self, run: list[Statement]) -> Splice:
        """Remove consecutive statements and the comments between; a single one's comment stays."""
        stop = line_stop(self._text, run[-1].end)
        comment = self._text.find("#", run[-1].end, stop)
        if len(run) == 1 and comment >= 0:
            return Splice(run[0].start, comment)
        start, after = self._with_blank_line(
            line_start(self._text, run[0].start), next_line(self._text, stop)
        )
        is_at_end = after == stop  # the last line, and it has no line end
        return whole_lines(self._text, start, stop) if is_at_end else Splice(start, after)

    def _with_blank_line(self, start: int, after: int) -> tuple[int, int]:
        """The span of whole lines, with one of the two blank lines around it if both are there.

        An insertion makes an empty line, so an empty one is taken rather than one with blanks.
        """
        above = line_start(self._text, start - 1)
        below = next_line(self._text, line_stop(self._text, after))
        is_first = start == self._start
        if not self._is_blank(after) or not (is_first or self._is_blank(above)):
            return start, after
        is_above_empty = self._text[above:start] == self._line_end
        is_below_empty = self._text[after:below] == self._line_end
        if is_first or (is_below_empty and not is_above_empty):
            return start, below
        return above, after

    def _is_blank(self, start: int) -> bool:
        """Whether the line that begins at `start` has nothing on it, or there is none."""
        return not self._text[start : line_stop(self._text, start)].strip(" \t")


def _names(path: Path) -> tuple[str, ...]:
    """The keys of a path without its indexes."""
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
