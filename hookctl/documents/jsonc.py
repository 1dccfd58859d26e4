"""Lossless editing of JSON and JSONC: an edit is a few splices into the text; other bytes stay.

Each edit is verified: the new text is read again, and its tree must be the old tree with the same
edit made on plain values. So a wrong rule about commas or comments leads to a refusal, never to a
lost setting.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cached_property, wraps
from operator import itemgetter
from typing import Any, Concatenate, ParamSpec, TypeVar

from hookctl.documents import MISSING, Missing, Path, Scalar, unexpected, wrong_shape
from hookctl.documents.scan import (
    Child,
    Container,
    Scan,
    Tree,
    contents,
    decode,
    first_colon,
    odd_in_comment,
    scan,
    tokens,
    too_deep,
    tree_of,
)
from hookctl.documents.text import (
    BREAK,
    Splice,
    leading_blanks,
    line_start,
    line_stop,
    position_of,
    spliced,
)
from hookctl.errors import HookctlError
from hookctl.values import NamedTuple

# Compiled when it is used: most calls edit nothing, and compiling patterns is half of an import.
_INDENTED = r"(?:^|[\r\n])([ \t]+)(?=[^ \t\r\n])"


class _Spot(NamedTuple):
    """A value at a path: its span, its tree, and its index in its container."""

    child: Child
    tree: Tree
    index: int


class _New(NamedTuple):
    """A value to be written, and its tree; _HOLE in the value stands for a given source text."""

    value: Any
    tree: Tree
    source: str | None = None
    is_lenient: bool = False  # the source text has comments or trailing commas


_HOLE = "\0"
_LONE_SURROGATE = "[\ud800-\udfff]"

_Given = ParamSpec("_Given")
_Got = TypeVar("_Got")


def _bounded(method: Callable[_Given, _Got]) -> Callable[_Given, _Got]:
    """Refuse a document that is nested deeper than the rest of the stack allows."""

    @wraps(method)
    def bounded(*args: _Given.args, **kwargs: _Given.kwargs) -> _Got:
        try:
            return method(*args, **kwargs)
        except RecursionError:
            document = args[0]
            raise too_deep(document._text, document.where) from None  # type: ignore[attr-defined]

    return bounded


def _edit(
    method: Callable[Concatenate[JsonDocument, Path, _Given], JsonDocument],
) -> Callable[Concatenate[JsonDocument, Path, _Given], JsonDocument]:
    """Cache an edit of a document: a plan that is made twice makes the same edits again."""

    @wraps(method)
    def edited(
        document: JsonDocument, path: Path, *args: _Given.args, **kwargs: _Given.kwargs
    ) -> JsonDocument:
        call = (method.__name__, path, repr((args, kwargs)))
        if call not in document._edits:
            document._edits[call] = method(document, path, *args, **kwargs)
        return document._edits[call]

    return _bounded(edited)


class JsonDocument:
    """An immutable JSON or JSONC document; each edit gives a new one."""

    def __init__(
        self, text: str, where: str, scanned: Scan, known: dict[int, list[int]] | None = None
    ) -> None:
        self._text = text
        self._scan = scanned
        # Where the children of each container begin, as far as an earlier edit left them in place.
        self._known = known or {}
        self._read_contents: dict[int, Container] = {}
        self._read_paths: dict[Path, _Spot | None] = {}
        self._read_indexes: dict[Path, dict[str, int]] = {}
        self._edits: dict[tuple[str, Path, str], JsonDocument] = {}
        self.where = where

    @classmethod
    def parse(
        cls, data: bytes, *, where: str = "", comments: bool = True, trailing_commas: bool = True
    ) -> JsonDocument:
        """Parse a file's bytes; errors (not_utf8, unparsable) name `where`, line and column."""
        text = decode(data, where)
        try:
            scanned = scan(text, where, comments=comments, trailing_commas=trailing_commas)
        except RecursionError:
            raise too_deep(text, where) from None
        return cls(text, where, scanned)

    @property
    def data(self) -> bytes:
        """The bytes of the file, byte order mark and line ends included."""
        return self._text.encode("utf-8")

    @cached_property
    @_bounded
    def value(self) -> Any:
        """The parsed root value, or MISSING in an empty document."""
        if self._scan.start < 0:
            return MISSING
        return self._parse_span(self._scan.start, self._scan.end)

    @property
    def fault(self) -> tuple[str, int, int] | None:
        """Kind ("comment", "trailing comma"), line and column of the first fault."""
        faults = self._find_faults(comments=False, trailing_commas=False)
        if not faults:
            return None
        offset, kind = faults[0]
        return (kind, *position_of(self._text, offset))

    def require_strict(
        self, *, comments: bool, trailing_commas: bool, plain_comments: bool = False
    ) -> None:
        """Refuse (strict_host) a document that a host with these flags cannot read."""
        faults = self._find_faults(comments=comments, trailing_commas=trailing_commas)
        odd = odd_in_comment(self._scan) if plain_comments and not faults else None
        if odd:
            faults.append(odd)
        if faults:
            offset, kind = faults[0]
            message = f"there is a {kind}, which this host does not read"
            hint = f"Remove it{self._describe_others(faults[1:])}, then run the command again."
            raise self._error("strict_host", message, offset, hint)

    def _find_faults(self, *, comments: bool, trailing_commas: bool) -> list[tuple[int, str]]:
        """Offset and kind of each comment and trailing comma, unless they are allowed."""
        faults = []
        if not comments:
            faults += [(begin, "comment") for begin, *_ in self._scan.comments]
        if not trailing_commas:
            faults += [(offset, "trailing comma") for offset in self._scan.commas]
        return sorted(faults)

    def _describe_others(self, faults: list[tuple[int, str]]) -> str:
        """The lines of further faults, for a hint; past the third only their number."""
        lines = [str(position_of(self._text, offset)[0]) for offset, _ in faults[:3]]
        if not lines:
            return ""
        text = f" (and {len(faults)} more, in line {', '.join(lines)}"
        return text + (", ...)" if len(faults) > len(lines) else ")")

    @_bounded
    def get(self, path: Path) -> Any:
        """The parsed value at path, or MISSING."""
        child = self._find(path)
        return MISSING if child is None else self._parse_span(child.value, child.end)

    @_bounded
    def raw(self, path: Path) -> str:
        """The source text of the value at path; KeyError if there is none."""
        child = self._find(path)
        if child is None:
            raise KeyError(path)
        return self._text[child.value : child.end]

    @_bounded
    def position(self, path: Path) -> tuple[int, int]:
        """Line and column of the value at path, or of its nearest existing parent."""
        return position_of(self._text, self._nearest(path))

    @_bounded
    def check_path(self, path: Path) -> None:
        """Refuse (duplicate_key) a path through a duplicate key: the host uses the last one."""
        for length in range(len(path)):
            spot = self._spot(path[:length])
            if spot is None:
                return
            self._index(path[:length], spot.tree, path[length])
            known = self._read_indexes.get(path[:length])
            if known is not None and len(known) < len(spot.tree):
                self._refuse_duplicate(spot, path[length])

    def scalars(self) -> Iterator[Scalar]:
        """Every key and value in the order of the text; between them are marks and comments."""
        path: list[str | int] = []
        for match in tokens(self._scan.shadow):
            kind, source = match.lastgroup, match[0]
            if kind == "open":
                path.append(0 if source == "[" else "")
            elif kind == "close":
                path.pop()
            elif kind == "comma" and isinstance(path[-1], int):
                path[-1] += 1
            elif kind == "key":
                path[-1] = json.loads(source)
                yield Scalar(*match.span(), tuple(path), str(path[-1]), is_key=True)
            elif kind == "string":
                yield Scalar(*match.span(), tuple(path), json.loads(source))
            elif kind == "word":
                yield Scalar(*match.span(), tuple(path), source)

    def _refuse_duplicate(self, spot: _Spot, key: str | int) -> None:
        indexes = [index for index, name in enumerate(_names(spot.tree)) if name == key]
        if len(indexes) > 1:
            message = f"the key {key!r} stands here a second time"
            hint = "The host uses only the last one: remove one of the two, "
            hint += "then run the command again."
            offset = self._contents(spot.child.value).starts[indexes[1]]
            raise self._error("duplicate_key", message, offset, hint)

    @_edit
    def set(self, path: Path, value: Any) -> JsonDocument:
        """Replace the value at path, or insert it after its siblings; creates missing parents."""
        return self._put(path, self._new(path, value))

    @_edit
    def set_raw(self, path: Path, text: str) -> JsonDocument:
        """Like set(), with a source text from an earlier raw()."""
        try:
            given = scan(text, self.where, comments=True, trailing_commas=True)
        except HookctlError as error:
            message = f"the source text cannot be read ({error.message})"
            raise unexpected(self, path, message) from None
        if (given.start, given.end) != (0, len(text)):
            raise unexpected(self, path, "the source text is not just a value")
        is_lenient = bool(given.comments or given.commas)
        return self._put(path, _New(_HOLE, given.tree, text, is_lenient))

    @_edit
    def append(self, path: Path, value: Any) -> JsonDocument:
        """Add an element at the end of the array at path; creates the array if it is missing."""
        self.check_path(path)
        spot = self._spot(path)
        if spot is None:
            return self._put(path, self._new(path, [value]))
        if not isinstance(spot.tree, list):
            raise wrong_shape(self, path, "an array")
        new = self._new(path, value)
        splices = self._insertion(self._contents(spot.child.value), None, new)
        return self._verified(splices, (*path, len(spot.tree)), new)

    @_edit
    def remove(self, path: Path) -> JsonDocument:
        """Remove the member or element at path; returns the same document if there is none."""
        self.check_path(path)
        spot = self._spot(path)
        if not path or spot is None:
            return self
        holder = self._find(path[:-1])
        assert holder  # it holds the spot
        splices = self._removal(self._contents(holder.value), spot.index)
        return self._verified(splices, path, MISSING)

    # Finding

    def _contents(self, start: int) -> Container:
        if start not in self._read_contents:
            known_starts = self._known.get(start, [])
            self._read_contents[start] = contents(self._scan.shadow, start, known_starts)
        return self._read_contents[start]

    def _parse_span(self, start: int, end: int) -> Any:
        try:
            return json.loads(self._scan.shadow[start:end])
        except ValueError as error:  # an integer of thousands of digits
            message = f"this value cannot be read ({error})"
            raise self._error("unparsable", message, start, "Make it shorter.") from None

    def _find(self, path: Path) -> Child | None:
        """The child at path; of a duplicate key the last one, as every host reads it."""
        spot = self._spot(path)
        return None if spot is None else spot.child

    def _spot(self, path: Path) -> _Spot | None:
        """The child at path with its tree and its index."""
        if path not in self._read_paths:
            self._read_paths[path] = self._search(path)
        return self._read_paths[path]

    def _search(self, path: Path) -> _Spot | None:
        if not path:
            return self._root_spot()
        holder = self._spot(path[:-1])
        if holder is None:
            return None
        index = self._index(path[:-1], holder.tree, path[-1])
        if index is None:
            return None
        child = self._contents(holder.child.value).child(index)
        tree = holder.tree[index]
        if isinstance(path[-1], str):
            _, tree = tree
        return _Spot(child, tree, index)

    def _root_spot(self) -> _Spot | None:
        start, end = self._scan.start, self._scan.end
        if start < 0:
            return None
        return _Spot(Child("", start, start, end), self._scan.tree, 0)

    def _index(self, path: Path, tree: Tree, key: str | int) -> int | None:
        """The index of the child of `tree` (at path) with this key; of a duplicate key the last."""
        if isinstance(key, int):
            is_inside = isinstance(tree, list) and 0 <= key < len(tree)
            return key if is_inside else None
        if not isinstance(tree, tuple):
            return None
        if path not in self._read_indexes:
            self._read_indexes[path] = dict(zip(_names(tree), range(len(tree)), strict=True))
        return self._read_indexes[path].get(key)

    def _nearest(self, path: Path) -> int:
        for length in range(len(path), -1, -1):
            child = self._find(path[:length])
            if child:
                return child.value
        return 0

    def _error(self, code: str, message: str, offset: int, hint: str) -> HookctlError:
        line, column = position_of(self._text, offset)
        return HookctlError(code, message, path=self.where, line=line, column=column, hint=hint)

    # Editing

    def _new(self, path: Path, value: Any) -> _New:
        try:
            return _New(value, tree_of(json.dumps(value, allow_nan=False)))
        except (TypeError, ValueError) as error:
            message = f"the new value cannot be written as JSON ({error})"
            raise unexpected(self, path, message) from None

    def _put(self, path: Path, new: _New) -> JsonDocument:
        self.check_path(path)
        child = self._find(path)
        if child:
            return self._replace(child, path, new)
        for length in range(len(path) - 1, -1, -1):
            holder = self._find(path[:length])
            if holder:
                return self._insert(path, length, holder, new)
        return self._fill(path, new)

    def _replace(self, child: Child, path: Path, new: _New) -> JsonDocument:
        """Put a new value in an old one's place; equal values leave the document as it is."""
        old_tree = tree_of(self._scan.shadow[child.value : child.end])
        if new.source is None and new.tree == old_tree:
            return self
        text = self._render(new, self._indent_at(child.value))
        return self._verified([Splice(child.value, child.end, text)], path, new)

    def _insert(self, path: Path, length: int, holder: Child, new: _New) -> JsonDocument:
        """Insert below the deepest existing parent; the value brings the missing ones."""
        key, below = path[length], path[length + 1 :]
        if self._text[holder.value] != "{" or not isinstance(key, str):
            needed = "an object" if isinstance(key, str) else "an array with that element"
            raise wrong_shape(self, path[:length], needed)
        new = self._wrapped(new, below)
        splices = self._insertion(self._contents(holder.value), key, new)
        return self._verified(splices, path[: length + 1], new)

    def _fill(self, path: Path, new: _New) -> JsonDocument:
        """Fill an empty document: the value goes after its comments."""
        new = self._wrapped(new, path)
        line_end = self._line_end
        text = self._render(new, "") + line_end
        last_character = self._text.removeprefix("\ufeff")[-1:]
        if self._scan.comments and not BREAK.search(last_character):
            text = line_end + text
        return self._verified([Splice(len(self._text), len(self._text), text)], (), new)

    def _wrapped(self, new: _New, keys: Path) -> _New:
        """The value wrapped in its missing parents."""
        value, tree = new.value, new.tree
        for key in reversed(keys):
            if not isinstance(key, str):
                raise wrong_shape(self, keys, "an array that is there already")
            value, tree = {key: value}, ((key, tree),)
        return new._replace(value=value, tree=tree)

    def _insertion(self, container: Container, key: str | None, new: _New) -> list[Splice]:
        """A new child at the end of a container."""
        if not container.starts:
            return self._first_insertion(container, key, new)
        last = container.child(-1)
        comma = self._trailing_comma(last.end, container.close)
        last_end = last.end if comma is None else comma + 1
        if not BREAK.search(self._text, container.start, container.starts[0]):
            return [self._inline_insertion(container, last, key, new)]
        indent = self._child_indent(container)
        member = self._line_end + indent + self._member(key, new, indent)
        offset = self._end_of_line_with_comments(last_end)
        if comma is not None:
            return [Splice(offset, offset, member + ",")]
        return [Splice(last_end, last_end, ","), Splice(offset, offset, member)]

    def _child_indent(self, container: Container) -> str:
        """The indentation of the last child that begins a line; else one step more."""
        for start in reversed(container.starts):
            indent = self._blanks_before(start)
            if indent is not None:
                return indent
        return self._indent_at(container.start) + self._unit

    def _inline_insertion(
        self, container: Container, last: Child, key: str | None, new: _New
    ) -> Splice:
        """A new last child on the line of the others, so that no line is laid out anew."""
        separator = ", " if self._colon == ": " else ","
        if len(container.starts) > 1:
            between = self._text[container.child(-2).end : container.starts[-1]]
            if re.fullmatch(r",[ \t]*", between):
                separator = between
        member = self._member(key, new, self._indent_at(container.start), one_line=True)
        comma = self._trailing_comma(last.end, container.close)
        if comma is None:
            return Splice(last.end, last.end, separator + member)
        return Splice(comma + 1, comma + 1, separator[1:] + member + ",")

    def _first_insertion(self, container: Container, key: str | None, new: _New) -> list[Splice]:
        """A new child in an empty container, after the comments in it."""
        start, end = container.start + 1, container.close
        offset = self._after_comments(start, end)
        if not self._many_lines:
            return [Splice(offset, end, self._member(key, new, "", one_line=True))]
        base = self._indent_at(container.start)
        indent = base + self._unit
        member = self._line_end + indent + self._member(key, new, indent)
        if offset > start and BREAK.search(self._text, offset, end):
            return [Splice(offset, offset, member)]
        return [Splice(offset, end, member + self._line_end + base)]

    def _removal(self, container: Container, index: int) -> list[Splice]:
        """A child taken out, with its comma."""
        child = container.child(index)
        is_last = index == len(container.starts) - 1
        if len(container.starts) == 1 and not self._has_comments_around(container, child):
            return [Splice(container.start + 1, container.close, "")]
        comma = self._comma_after(container, child, is_last=is_last)
        end = child.end if comma is None else comma + 1
        if comma is not None and self._comments_in(child.end, comma):
            # A comment between the value and its comma stays, so the two are removed separately.
            return [*self._cut(child.start, child.end), Splice(comma, comma + 1, "")]
        if not is_last:
            next_start = container.starts[index + 1]
            if not self._text[end:next_start].strip(" \t"):
                return [Splice(child.start, next_start, "")]
        if comma is not None or index == 0:
            return self._cut(child.start, end)
        return self._last_removal(container.child(index - 1), child)

    def _has_comments_around(self, container: Container, child: Child) -> bool:
        """Whether the container has comments outside this child."""
        for start, _ in self._comments_in(container.start, container.close):
            if not child.start <= start < child.end:
                return True
        return False

    def _last_removal(self, before: Child, child: Child) -> list[Splice]:
        """The last child taken out, with the comma before it."""
        comma = self._scan.shadow.index(",", before.end)
        begins_line = self._blanks_before(child.start) is not None
        ends_line = self._is_blank(child.end, line_stop(self._text, child.end))
        if (begins_line and ends_line) or self._comments_in(comma, child.start):
            return [Splice(comma, comma + 1, ""), *self._cut(child.start, child.end)]
        return [Splice(comma, child.end, "")]

    def _cut(self, start: int, end: int) -> list[Splice]:
        """Remove a span: its lines if it is alone on them, else the blanks on one side too."""
        lines = self._whole_lines(start, end)
        if lines:
            return [Splice(*lines, "")]
        after_blanks = end
        while self._text[after_blanks] in " \t":
            after_blanks += 1
        is_between = after_blanks > end or self._blanks_before(start) is not None
        if is_between and self._text[after_blanks] not in "\r\n":
            return [Splice(start, after_blanks, "")]
        while self._text[start - 1] in " \t":
            start -= 1
        return [Splice(start, end, "")]

    def _comma_after(self, container: Container, child: Child, *, is_last: bool) -> int | None:
        """The comma after a child: its separator, or the trailing one."""
        if is_last:
            return self._trailing_comma(child.end, container.close)
        return self._scan.shadow.index(",", child.end)

    def _trailing_comma(self, start: int, end: int) -> int | None:
        for comma in self._scan.commas:
            if start <= comma < end:
                return comma
        return None

    def _verified(self, splices: list[Splice], path: Path, new: _New | Missing) -> JsonDocument:
        """The spliced document, if it says exactly what was wanted and is as strict as before."""
        text = spliced(self._text, splices)
        if text == self._text:
            return self
        is_lenient = bool(self._scan.comments or self._scan.commas)
        new_tree = MISSING
        if not isinstance(new, Missing):
            is_lenient = is_lenient or new.is_lenient
            new_tree = new.tree
        wanted = _edit_tree(self._scan.tree, path, new_tree) if path else new_tree
        try:
            scanned = scan(text, self.where, comments=is_lenient, trailing_commas=is_lenient)
        except HookctlError:
            scanned = None
        if scanned is None or scanned.tree != wanted:
            raise unexpected(self, path, "the edit would not have given the wanted document")
        first_change = min(splice.start for splice in splices)
        return self._edited(text, scanned, self._known_before(first_change))

    def _edited(self, text: str, scanned: Scan, known: dict[int, list[int]]) -> JsonDocument:
        return JsonDocument(text, self.where, scanned, known)

    def _known_before(self, offset: int) -> dict[int, list[int]]:
        """Where the children before an offset begin, by container: an edit after it moves none."""
        from bisect import bisect_left  # late: only for an edit

        known = dict(self._known)
        for start, container in self._read_contents.items():
            known[start] = container.starts
        kept = {}
        for start, starts in known.items():
            if start < offset:
                kept[start] = starts[: bisect_left(starts, offset)]
        return kept

    # The file's style

    @cached_property
    def _line_end(self) -> str:
        line_break = BREAK.search(self._text)
        return line_break[0] if line_break else "\n"

    @cached_property
    def _unit(self) -> str:
        """The blanks of the first indented line that does not begin in a comment."""
        for match in re.finditer(_INDENTED, self._text):
            if self._scan.shadow[match.end()] not in " \t\r\n":
                return match[1]
        return "  "

    @cached_property
    def _many_lines(self) -> bool:
        """Whether values go on lines of their own: the file does so, or has nothing in it."""
        start, end = self._scan.start, self._scan.end
        if start < 0 or not self._text[start + 1 : end - 1].strip():
            return True
        return bool(BREAK.search(self._text, start, end))

    @cached_property
    def _colon(self) -> str:
        """A colon with a blank, unless the file is one line and has none."""
        if self._many_lines:
            return ": "
        colon = first_colon(self._scan.shadow)
        return ": " if colon and colon[-1] in " \t" else ":"

    def _render(self, new: _New, indent: str, *, one_line: bool = False) -> str:
        """A value's text; all lines but the first begin with `indent`."""
        if self._many_lines and not one_line:
            text = _json(new.value, indent=self._unit).replace("\n", self._line_end + indent)
        else:
            comma = ", " if self._colon == ": " else ","
            text = _json(new.value, separators=(comma, self._colon))
        if new.source is None:
            return text
        return text.replace(_json(_HOLE), new.source, 1)

    def _member(self, key: str | None, new: _New, indent: str, *, one_line: bool = False) -> str:
        text = self._render(new, indent, one_line=one_line)
        return text if key is None else _json(key) + self._colon + text

    # Positions in the text

    def _indent_at(self, offset: int) -> str:
        """The indentation of the line that holds the offset."""
        start = line_start(self._text, offset)
        return leading_blanks(self._text[start:offset].removeprefix("\ufeff"))

    def _blanks_before(self, offset: int) -> str | None:
        """The blanks before the offset if nothing else stands before it on its line."""
        start = offset
        while start and self._text[start - 1] in " \t":
            start -= 1
        if start and self._text[start - 1] not in "\r\n":
            return None
        return self._text[start:offset]

    def _whole_lines(self, start: int, end: int) -> tuple[int, int] | None:
        """The lines of a span that has them to itself, with their line break; else None."""
        stop = line_stop(self._text, end)
        line_break = BREAK.match(self._text, stop)
        if line_break is None or self._text[end:stop].strip(" \t"):
            return None
        if self._blanks_before(start) is None:
            return None
        return line_start(self._text, start), line_break.end()

    def _end_of_line_with_comments(self, offset: int) -> int:
        """The end of the offset's line with the comments on it; the offset if values follow."""
        stop = line_stop(self._text, offset)
        for start, end in self._scan.comments:
            if offset <= start < stop < end:  # a block comment of several lines
                last_stop = line_stop(self._text, end)
                stop = last_stop if self._is_blank(end, last_stop) else end
        return stop if self._is_blank(offset, stop) else offset

    def _is_blank(self, start: int, end: int) -> bool:
        """Whether a span has nothing but blanks and comments."""
        return not self._scan.shadow[start:end].strip()

    def _comments_in(self, start: int, end: int) -> list[tuple[int, int]]:
        """The comments that begin in a span."""
        return [span for span in self._scan.comments if start <= span[0] < end]

    def _after_comments(self, start: int, end: int) -> int:
        """The end of the last comment that begins in a span; else the start of the span."""
        comments = self._comments_in(start, end)
        return comments[-1][1] if comments else start


def _json(value: Any, **style: Any) -> str:
    """The value as JSON; escapes only lone surrogates, which UTF-8 cannot hold."""
    text = json.dumps(value, ensure_ascii=False, **style)
    return re.sub(_LONE_SURROGATE, lambda match: f"\\u{ord(match[0]):04x}", text)


def _names(members: Tree) -> list[str]:
    """The keys of an object, in their order."""
    return list(map(itemgetter(0), members))


def _edit_tree(tree: Tree, path: Path, new: Tree | Missing) -> Tree:
    """Make the same edit on the tree, to cross-check the text edit."""
    key, below = path[0], path[1:]
    if isinstance(key, int):
        value = _edit_tree(tree[key], below, new) if below else new
        elements = [] if value is MISSING else [value]
        return [*tree[:key], *elements, *tree[key + 1 :]]
    names = _names(tree)
    index = names.index(key) if key in names else len(tree)
    value = _edit_tree(tree[index][1], below, new) if below else new
    members = () if value is MISSING else ((key, value),)
    return (*tree[:index], *members, *tree[index + 1 :])
