"""Lossless editing of TOML: an edit is a few splices into the text; other bytes stay.

New tables and groups of hooks are blocks of lines at the end, where TOML allows them always. A
value in brackets is written anew as a whole if it stands there as hookctl would write it, such as
`[]`; an edit inside another one is refused, and so is a new key of a table without a header.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from hookctl.documents import (
    BOM,
    BREAK,
    MISSING,
    Document,
    Path,
    Splice,
    comparable,
    decode,
    edit_value,
    leading_blanks,
    line_end_of,
    line_start,
    line_stop,
    next_line,
    spliced,
    start_of_comments,
    unexpected,
    value_at,
    whole_lines,
    wrong_shape,
)
from hookctl.documents.toml_scan import (
    Statement,
    block,
    inline,
    is_block,
    key_text,
    keys_text,
    parts,
    read,
    scan,
    table_text,
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
