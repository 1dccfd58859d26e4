"""JSON and JSONC without loss: an edit is a few splices into the text, and every other byte stays.

Each edit is verified: the new text is read again, and its tree must be the old tree with the same edit made on
plain values. So a wrong rule about commas or comments is a refusal, and never a lost setting.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable
from functools import cached_property, wraps
from operator import itemgetter
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from hookctl.documents import MISSING, Missing, Path, unexpected, wrong_shape
from hookctl.documents.scan import (
    Child,
    Container,
    Scan,
    Tree,
    contents,
    decode,
    first_colon,
    scan,
    too_deep,
    tree_of,
)
from hookctl.documents.text import BREAK, Splice, line_start, line_stop, position_of, spliced
from hookctl.errors import HookctlError

# Patterns are compiled when they are used: most calls edit nothing, and compiling them is half of an import.
_INDENTED = r"(?:^|[\r\n])([ \t]+)(?=[^ \t\r\n])"


class _Spot(NamedTuple):
    """Where the value at a path stands, what it says, and which child of its container it is."""

    child: Child
    tree: Tree
    index: int


class _New(NamedTuple):
    """A value to be written, and its tree; where a source text is put back, a hole stands in the value for it."""

    value: Any
    tree: Tree
    source: str | None = None
    lenient: bool = False  # the source text has comments or trailing commas


_HOLE = "\0"
_LONE_SURROGATE = "[\ud800-\udfff]"

_Given = ParamSpec("_Given")
_Got = TypeVar("_Got")


def _bounded(method: Callable[_Given, _Got]) -> Callable[_Given, _Got]:
    """Refuse what the scanner cannot reach in the stack that is left."""

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
    """Make an edit of a document once: the same one again, as a plan made twice has it, gives the same document."""

    @wraps(method)
    def edited(
        document: JsonDocument, path: Path, *args: _Given.args, **kwargs: _Given.kwargs
    ) -> JsonDocument:
        wanted = (method.__name__, path, repr((args, kwargs)))
        if wanted not in document._edits:
            document._edits[wanted] = method(document, path, *args, **kwargs)
        return document._edits[wanted]

    return _bounded(edited)


class JsonDocument:
    """An immutable JSON or JSONC document; each edit gives a new one."""

    def __init__(
        self, text: str, where: str, scanned: Scan, known: dict[int, list[int]] | None = None
    ) -> None:
        self._text = text
        self._scan = scanned
        self._known = (
            known or {}
        )  # where the children of a container begin, as far as an edit left them
        self._read_contents: dict[int, Container] = {}
        self._read_paths: dict[Path, _Spot | None] = {}
        self._read_names: dict[Path, list[str]] = {}
        self._edits: dict[tuple[str, Path, str], JsonDocument] = {}
        self.where = where

    @classmethod
    def parse(
        cls, data: bytes, *, where: str = "", comments: bool = True, trailing_commas: bool = True
    ) -> JsonDocument:
        """Read the bytes of a file; errors name `where`, line and column (not_utf8, unparsable)."""
        text = decode(data, where)
        try:
            return cls(
                text, where, scan(text, where, comments=comments, trailing_commas=trailing_commas)
            )
        except RecursionError:
            raise too_deep(text, where) from None

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
        return self._plain(self._scan.start, self._scan.end)

    @property
    def fault(self) -> tuple[str, int, int] | None:
        """Kind ("comment", "trailing comma"), line and column of the first thing that strict JSON does not allow."""
        first = [(start, "comment") for start, _ in self._scan.comments[:1]]
        first += [(comma, "trailing comma") for comma in sorted(self._scan.commas)[:1]]
        if not first:
            return None
        offset, kind = min(first)
        return (kind, *position_of(self._text, offset))

    def require_strict(self, *, comments: bool, trailing_commas: bool) -> None:
        """Refuse (strict_host) a document that a host with these two flags does not read."""
        found = [] if comments else [(start, "comment") for start, _ in self._scan.comments[:1]]
        found += (
            []
            if trailing_commas
            else [(comma, "trailing comma") for comma in sorted(self._scan.commas)[:1]]
        )
        if found:
            offset, kind = min(found)
            message = f"there is a {kind}, which this host does not read"
            raise self._error(
                "strict_host", message, offset, "Remove it, then run the command again."
            )

    @_bounded
    def get(self, path: Path) -> Any:
        """The parsed value at path, or MISSING."""
        found = self._find(path)
        return MISSING if isinstance(found, Missing) else self._plain(found.value, found.end)

    @_bounded
    def raw(self, path: Path) -> str:
        """The source text of the value at path; KeyError if there is none."""
        found = self._find(path)
        if isinstance(found, Missing):
            raise KeyError(path)
        return self._text[found.value : found.end]

    @_bounded
    def position(self, path: Path) -> tuple[int, int]:
        """Line and column of the value at path; of the nearest parent if there is none."""
        return position_of(self._text, self._nearest(path))

    @_bounded
    def check_path(self, path: Path) -> None:
        """Refuse (duplicate_key) a path through a key that its object has twice: the host reads the last one."""
        for length in range(len(path)):
            spot = self._spot(path[:length])
            if spot is None:
                return
            same = self._indexes(path[:length], spot.tree, path[length])
            if len(same) > 1:
                message = f"the key {path[length]!r} stands here a second time"
                hint = "The host uses only the last one: remove one of the two, then run the command again."
                raise self._error(
                    "duplicate_key", message, self._contents(spot.child.value).starts[same[1]], hint
                )

    @_edit
    def set(self, path: Path, value: Any) -> JsonDocument:
        """Replace the value at path, or insert it behind its siblings; missing parents are made."""
        return self._put(path, self._new(path, value))

    @_edit
    def set_raw(self, path: Path, text: str) -> JsonDocument:
        """The same with a source text that an earlier raw() gave."""
        try:
            given = scan(text, self.where, comments=True, trailing_commas=True)
        except HookctlError as error:
            raise unexpected(
                self, path, f"the source text cannot be read ({error.message})"
            ) from None
        if (given.start, given.end) != (0, len(text)):
            raise unexpected(self, path, "the source text is not just a value")
        return self._put(path, _New(_HOLE, given.tree, text, bool(given.comments or given.commas)))

    @_edit
    def append(self, path: Path, value: Any) -> JsonDocument:
        """Add an element to the end of the array at path; a missing array and its parents are made."""
        self.check_path(path)
        spot = self._spot(path)
        if spot is None:
            return self._put(path, self._new(path, [value]))
        if not isinstance(spot.tree, list):
            raise wrong_shape(self, path, "an array")
        new = self._new(path, value)
        inside = self._contents(spot.child.value)
        return self._verified(self._insertion(inside, None, new), (*path, len(spot.tree)), new)

    @_edit
    def remove(self, path: Path) -> JsonDocument:
        """Take out the member or element at path; the same document if there is none."""
        self.check_path(path)
        spot, holder = self._spot(path), self._find(path[:-1])
        if not path or spot is None:
            return self
        assert isinstance(holder, Child)
        return self._verified(
            self._removal(self._contents(holder.value), spot.index), path, MISSING
        )

    # Finding

    def _contents(self, start: int) -> Container:
        if start not in self._read_contents:
            self._read_contents[start] = contents(
                self._scan.shadow, start, self._known.get(start, [])
            )
        return self._read_contents[start]

    def _plain(self, start: int, end: int) -> Any:
        try:
            return json.loads(self._scan.shadow[start:end])
        except ValueError as error:  # an integer of thousands of digits
            raise self._error(
                "unparsable", f"this value cannot be read ({error})", start, "Make it shorter."
            ) from None

    def _find(self, path: Path) -> Child | Missing:
        """The child at path; where a key stands twice, the last one, as every host reads it."""
        spot = self._spot(path)
        return MISSING if spot is None else spot.child

    def _spot(self, path: Path) -> _Spot | None:
        """The same with what it says."""
        if path not in self._read_paths:
            self._read_paths[path] = self._search(path)
        return self._read_paths[path]

    def _search(self, path: Path) -> _Spot | None:
        if not path:
            start, end = self._scan.start, self._scan.end
            return None if start < 0 else _Spot(Child("", start, start, end), self._scan.tree, 0)
        holder = self._spot(path[:-1])
        same = self._indexes(path[:-1], holder.tree, path[-1]) if holder else []
        if holder is None or not same:
            return None
        inner = holder.tree[same[-1]]
        child = self._contents(holder.child.value).child(same[-1])
        return _Spot(child, inner[1] if isinstance(path[-1], str) else inner, same[-1])

    def _indexes(self, path: Path, tree: Tree, key: str | int) -> list[int]:
        """Which children of what stands at path have this key; more than one where an object has it twice."""
        if isinstance(key, int):
            return [key] if isinstance(tree, list) and 0 <= key < len(tree) else []
        if not isinstance(tree, tuple):
            return []
        if path not in self._read_names:
            self._read_names[path] = _names(tree)
        names = self._read_names[path]
        return [at for at, name in enumerate(names) if name == key] if key in names else []

    def _nearest(self, path: Path) -> int:
        for length in range(len(path), -1, -1):
            found = self._find(path[:length])
            if isinstance(found, Child):
                return found.value
        return 0

    def _error(self, code: str, message: str, offset: int, hint: str) -> HookctlError:
        line, column = position_of(self._text, offset)
        return HookctlError(code, message, path=self.where, line=line, column=column, hint=hint)

    # Editing

    def _new(self, path: Path, value: Any) -> _New:
        try:
            return _New(value, tree_of(json.dumps(value, allow_nan=False)))
        except (TypeError, ValueError) as error:
            raise unexpected(
                self, path, f"the new value cannot be written as JSON ({error})"
            ) from None

    def _put(self, path: Path, new: _New) -> JsonDocument:
        self.check_path(path)
        found = self._find(path)
        if isinstance(found, Child):
            if new.source is None and new.tree == tree_of(
                self._scan.shadow[found.value : found.end]
            ):
                return self
            text = self._render(new, self._indent_at(found.value))
            return self._verified([Splice(found.value, found.end, text)], path, new)
        for length in range(len(path) - 1, -1, -1):
            holder = self._find(path[:length])
            if isinstance(holder, Child):
                return self._insert(path, length, holder, new)
        return self._fill(path, new)

    def _insert(self, path: Path, length: int, holder: Child, new: _New) -> JsonDocument:
        """Insert below the deepest parent that is there; those that are missing come with the value."""
        key, below = path[length], path[length + 1 :]
        if self._text[holder.value] != "{" or not isinstance(key, str):
            needed = "an object" if isinstance(key, str) else "an array with that element"
            raise wrong_shape(self, path[:length], needed)
        new = self._wrapped(new, below)
        inside = self._contents(holder.value)
        return self._verified(self._insertion(inside, key, new), path[: length + 1], new)

    def _fill(self, path: Path, new: _New) -> JsonDocument:
        """An empty document: the value goes behind what is there."""
        new = self._wrapped(new, path)
        line_end = self._line_end
        lead = self._text.removeprefix("\ufeff")
        gap = line_end if self._scan.comments and not BREAK.search(lead[-1:]) else ""
        text = gap + self._render(new, "") + line_end
        return self._verified([Splice(len(self._text), len(self._text), text)], (), new)

    def _wrapped(self, new: _New, keys: Path) -> _New:
        """The value inside those of its parents that are missing."""
        value, tree = new.value, new.tree
        for key in reversed(keys):
            if not isinstance(key, str):
                raise wrong_shape(self, keys, "an array that is there already")
            value, tree = {key: value}, ((key, tree),)
        return new._replace(value=value, tree=tree)

    def _insertion(self, inside: Container, key: str | None, new: _New) -> list[Splice]:
        if not inside.starts:
            return self._into_empty(inside, key, new)
        last = inside.child(-1)
        comma = next((c for c in self._scan.commas if last.end <= c < inside.close), None)
        at = last.end if comma is None else comma + 1
        if not BREAK.search(self._text, inside.start, inside.starts[0]):
            return self._on_the_line(inside, at, comma, key, new)
        siblings = map(self._own_indent, reversed(inside.starts))
        indent = next(
            (own for own in siblings if own is not None), self._indent_at(inside.start) + self._unit
        )
        member = self._line_end + indent + self._member(key, new, indent)
        spot = self._line_rest(at)
        if comma is not None:
            return [Splice(spot, spot, member + ",")]
        return [Splice(at, at, ","), Splice(spot, spot, member)]

    def _on_the_line(
        self, inside: Container, at: int, comma: int | None, key: str | None, new: _New
    ) -> list[Splice]:
        """Into a container that begins on its bracket's line: never re-flow it."""
        separator = ", " if self._colon == ": " else ","
        if len(inside.starts) > 1:
            between = self._text[inside.child(-2).end : inside.starts[-1]]
            separator = between if re.fullmatch(r",[ \t]*", between) else separator
        member = self._member(key, new, self._indent_at(inside.start), one_line=True)
        text = separator + member if comma is None else separator[1:] + member + ","
        return [Splice(at, at, text)]

    def _into_empty(self, inside: Container, key: str | None, new: _New) -> list[Splice]:
        start, end = inside.start + 1, inside.close
        if not self._many_lines:
            return [
                Splice(
                    self._behind_comments(start, end),
                    end,
                    self._member(key, new, "", one_line=True),
                )
            ]
        base = self._indent_at(inside.start)
        indent = base + self._unit
        member = self._line_end + indent + self._member(key, new, indent)
        last = self._behind_comments(start, end)
        if last == start:
            return [Splice(start, end, member + self._line_end + base)]
        if BREAK.search(self._text, last, end):
            return [Splice(last, last, member)]
        return [Splice(last, end, member + self._line_end + base)]

    def _removal(self, inside: Container, index: int) -> list[Splice]:
        child, is_last = inside.child(index), index == len(inside.starts) - 1
        comments = self._comments_in(inside.start, inside.close)
        if len(inside.starts) == 1 and all(
            child.start <= start < child.end for start, _ in comments
        ):
            return [Splice(inside.start + 1, inside.close, "")]
        own_comma = self._own_comma(inside, child, is_last=is_last)
        end = child.end if own_comma is None else own_comma + 1
        if own_comma is not None and self._comments_in(child.end, own_comma):
            # A comment between the value and its comma stays; the two go each by itself.
            return [*self._cut(child.start, child.end), Splice(own_comma, own_comma + 1, "")]
        if not is_last and not self._text[end : inside.starts[index + 1]].strip(" \t"):
            return [Splice(child.start, inside.starts[index + 1], "")]
        if own_comma is not None or index == 0:
            return self._cut(child.start, end)
        return self._last_removal(inside.child(index - 1), child, end)

    def _last_removal(self, before: Child, child: Child, end: int) -> list[Splice]:
        """The last member takes the comma before it along."""
        comma = self._scan.shadow.index(",", before.end)
        remarked = self._own_indent(child.start) is not None and self._blank(
            end, line_stop(self._text, end)
        )
        if remarked or self._comments_in(comma, child.start):
            return [Splice(comma, comma + 1, ""), *self._cut(child.start, end)]
        return [Splice(comma, end, "")]

    def _cut(self, start: int, end: int) -> list[Splice]:
        """Take a span out: with its lines if it is alone on them, else with the blanks behind or before it."""
        lines = self._own_line(start, end)
        if lines:
            return [Splice(*lines, "")]
        behind, lead = end, start
        while self._text[behind] in " \t":
            behind += 1
        if self._text[behind] not in "\r\n" and (
            behind > end or self._own_indent(start) is not None
        ):
            return [Splice(start, behind, "")]
        while self._text[lead - 1] in " \t":
            lead -= 1
        return [Splice(lead, end, "")]

    def _own_comma(self, inside: Container, child: Child, *, is_last: bool) -> int | None:
        """The comma behind a child: its separator, or the trailing one."""
        if is_last:
            return next((c for c in self._scan.commas if child.end <= c < inside.close), None)
        return self._scan.shadow.index(",", child.end)

    def _verified(self, splices: list[Splice], path: Path, new: _New | Missing) -> JsonDocument:
        """The spliced document, if it says exactly what was wanted and is as strict as before."""
        text = spliced(self._text, splices)
        if text == self._text:
            return self
        tree, brought = (MISSING, False) if isinstance(new, Missing) else (new.tree, new.lenient)
        lenient = bool(self._scan.comments or self._scan.commas or brought)
        wanted = _edited(self._scan.tree, path, tree) if path else tree
        try:
            scanned = scan(text, self.where, comments=lenient, trailing_commas=lenient)
        except HookctlError:
            scanned = None
        if scanned is None or scanned.tree != wanted:
            raise unexpected(self, path, "the edit would not have given the wanted document")
        return JsonDocument(
            text, self.where, scanned, self._known_before(min(splice.start for splice in splices))
        )

    def _known_before(self, offset: int) -> dict[int, list[int]]:
        """Where children begin that stand before an offset, by container: an edit behind it does not move them."""
        held = {
            **self._known,
            **{start: inside.starts for start, inside in self._read_contents.items()},
        }
        return {
            start: starts[: bisect_left(starts, offset)]
            for start, starts in held.items()
            if start < offset
        }

    # The file's style

    @cached_property
    def _line_end(self) -> str:
        found = BREAK.search(self._text)
        return found[0] if found else "\n"

    @cached_property
    def _unit(self) -> str:
        """The blanks of the first indented line that begins with something else than a comment's inside."""
        for match in re.finditer(_INDENTED, self._text):
            if self._scan.shadow[match.end()] not in " \t\r\n":
                return match[1]
        return "  "

    @cached_property
    def _many_lines(self) -> bool:
        start, end = self._scan.start, self._scan.end
        bare = start < 0 or not self._text[start + 1 : end - 1].strip()
        return bare or bool(BREAK.search(self._text, start, end))

    @cached_property
    def _colon(self) -> str:
        spaced = self._many_lines or (first_colon(self._scan.shadow) or ":")[-1] in " \t"
        return ": " if spaced else ":"

    def _render(self, new: _New, indent: str, *, one_line: bool = False) -> str:
        """A value's text; lines behind the first begin with `indent`."""
        if self._many_lines and not one_line:
            text = _json(new.value, indent=self._unit).replace("\n", self._line_end + indent)
        else:
            text = _json(new.value, separators=(", " if self._colon == ": " else ",", self._colon))
        return text if new.source is None else text.replace(_json(_HOLE), new.source, 1)

    def _member(self, key: str | None, new: _New, indent: str, *, one_line: bool = False) -> str:
        text = self._render(new, indent, one_line=one_line)
        return text if key is None else _json(key) + self._colon + text

    # Places in the text

    def _indent_at(self, offset: int) -> str:
        """The indentation of the line that holds the offset."""
        start = line_start(self._text, offset)
        line = self._text[start:offset].removeprefix("\ufeff")
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _own_indent(self, offset: int) -> str | None:
        """The blanks before the offset if nothing else stands before it on its line."""
        lead = offset
        while lead and self._text[lead - 1] in " \t":
            lead -= 1
        return self._text[lead:offset] if not lead or self._text[lead - 1] in "\r\n" else None

    def _own_line(self, start: int, end: int) -> tuple[int, int] | None:
        """The span of whole lines that a span has for itself, with their line break."""
        stop = line_stop(self._text, end)
        if (
            self._own_indent(start) is None
            or self._text[end:stop].strip(" \t")
            or stop == len(self._text)
        ):
            return None
        line_end = BREAK.match(self._text, stop)
        return line_start(self._text, start), line_end.end()  # type: ignore[union-attr]  # the line is not the last

    def _line_rest(self, at: int) -> int:
        """Where a new line goes behind `at`: the end of the line with its comments, if nothing else follows there."""
        stop = line_stop(self._text, at)
        for start, end in self._scan.comments:
            if at <= start < stop < end:  # a block comment that goes on below
                more = line_stop(self._text, end)
                stop = more if self._blank(end, more) else end
        return stop if self._blank(at, stop) else at

    def _blank(self, start: int, end: int) -> bool:
        """Whether a span has nothing but blanks and comments."""
        return not self._scan.shadow[start:end].strip()

    def _comments_in(self, start: int, end: int) -> list[tuple[int, int]]:
        return [span for span in self._scan.comments if start <= span[0] < end]

    def _behind_comments(self, start: int, end: int) -> int:
        spans = self._comments_in(start, end)
        return spans[-1][1] if spans else start


def _json(value: Any, **style: Any) -> str:
    """The value as JSON, raw but for half of a surrogate pair, which UTF-8 cannot hold."""
    text = json.dumps(value, ensure_ascii=False, **style)
    return re.sub(_LONE_SURROGATE, lambda match: f"\\u{ord(match[0]):04x}", text)


def _names(members: Tree) -> list[str]:
    """The keys of an object, in their order."""
    return list(map(itemgetter(0), members))


def _edited(tree: Tree, path: Path, new: Tree | Missing) -> Tree:
    """The same edit on the tree: an independent word on what the text must say afterwards."""
    key, below = path[0], path[1:]
    if isinstance(key, int):
        value = new if not below else _edited(tree[key], below, new)
        return [*tree[:key], *([] if value is MISSING else [value]), *tree[key + 1 :]]
    names = _names(tree)
    index = names.index(key) if key in names else len(tree)
    value = new if not below else _edited(tree[index][1], below, new)
    return (*tree[:index], *(() if value is MISSING else ((key, value),)), *tree[index + 1 :])
