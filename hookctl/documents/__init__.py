"""Lossless reading and editing of settings files: one module a format, all with one protocol.

Here is what the formats share: the protocol, positions in a text and splices into it, and errors.
The modules here may import `system` and the values at the root.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

from hookctl.errors import UNEXPECTED, HookctlError
from hookctl.model import Path as Path

BOM = "\ufeff"
BREAK = re.compile(r"\r\n|\r|\n")
_LINE_END = re.compile(r"\r\n|\r|\n|\Z")
STRING = r'"[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*+"'  # of JSON
DEPTH = 100  # levels of any document, so that no walk over one exhausts the stack
LISTED = ":"  # behind the name of a format: the listing of a file with one list of all hooks
CONFLICT = "the file has merge-conflict marks"  # the message of the error
_CONFLICT = r"^\ufeff?(?:<{7}|={7}|>{7})(?: |\r?$)"


class Missing:
    """The value of a path that a document does not have."""

    def __bool__(self) -> bool:
        return False


MISSING = Missing()


class New(NamedTuple):
    """A value to be written: in the form to compare, and in the one that the format writes."""

    tree: Any
    value: Any = None
    source: Any = None  # of JSON: a source text, for which there is a hole in the value


class Document:
    """An immutable settings file; each edit gives a new one, already verified by reading it again.

    Errors are HookctlError with file, line and column. A format brings `value`, the parsed root
    value or MISSING in an empty document, and the nodes of its text: each has the span of a value,
    where its entry begins (its key, or it), and finds what is in it. `_new(path, value)` and
    `_source(path, text)` make a New (TypeError or ValueError for what cannot be written). The
    splices of an edit come from `_fill(node, new)` of an empty document, `_replace(node, new)`,
    `_insert(node, key, new)` behind the others in a node, `_insert_above(node, new)`, also above
    its comments, and `_remove(node)`.
    """

    # Where all hooks are in one list: the field with the event of each, and the path of the list.
    event_field = ""
    list_path: Path | None = None
    _root: Any = None  # the node of the root value

    @property
    def has_settings(self) -> bool:
        """False for a file of our own that has nothing in it any more."""
        return True

    def __init__(self, text: str, where: str) -> None:
        self._text = text
        self.where = where  # the file name that errors show
        line_break = BREAK.search(text)  # the first one is that of new lines too
        self._line_end = line_break[0] if line_break else "\n"

    @classmethod
    def parse(cls, data: bytes, *, where: str = "", **options: bool) -> Any:
        """Parse a file's bytes; errors (not_utf8, unparsable) name `where`, line and column."""
        return cls(decode(data, where), where, **options)

    @cached_property
    def _tree(self) -> Any:
        return comparable(self.value or {})

    @property
    def data(self) -> bytes:
        """The bytes of the file, byte order mark and line ends included."""
        return self._text.encode("utf-8")

    def require_strict(self, *, comments: bool, trailing_commas: bool) -> None:
        """Refuse (strict_host) a document that a host with these flags cannot read.

        Only JSON has such dialects.
        """

    @cached_property
    def real(self) -> Document:
        """The document as it is in the file, where this one shows it otherwise."""
        return self

    def translate(self, path: Path) -> Path:
        """The path in `real`."""
        return path

    def name_of(self, path: Path) -> str:
        """The path as people find it in the file."""
        return ".".join(map(str, path))

    def renewed(self) -> Document:
        """The document with this version's code around its settings; only a plugin has code."""
        return self

    # Reading

    def get(self, path: Path) -> Any:
        """The parsed value at path, or MISSING."""
        return value_at(self.value, path)

    def raw(self, path: Path) -> str:
        """The source text of the value at path; KeyError if there is none."""
        node = self._find(path)
        if node is None:
            raise KeyError(path)
        return self._text[node.start : node.end]

    def block(self, path: Path) -> str:
        """What insert_raw() takes to put an array's element back: in TOML perhaps its lines."""
        return self.raw(path)

    def offset(self, path: Path) -> int:
        """Where the value at path begins, or its nearest existing parent."""
        node, _ = self.check_path(path, is_edited=False)
        return node.start if node else 0

    def position(self, path: Path) -> tuple[int, int]:
        """Line and column (from 1) of the value at path, or of its nearest existing parent."""
        return position_of(self._text, self.offset(path))

    def error_at(self, code: str, offset: int, message: str, hint: str) -> HookctlError:
        """The error for what is at an offset."""
        return error_at(code, self._text, self.where, offset, message, hint)

    def check_path(self, path: Path, *, is_edited: bool = True) -> tuple[Any, int]:
        """Refuse a path through a duplicate key, since hosts differ in which counts.

        And one through what nothing is edited in. Returns the deepest node written on the path, and
        how long the path to it is. One that is only read leads through the last key, as hosts do.
        """
        node, length = self._root, 0
        while node and length < len(path):
            if is_edited:
                self._check_holder(path[:length], node)
            found = node.find(path[length])
            if is_edited and len(found) > 1:
                message = f"duplicate key {path[length]!r}"
                hint = (
                    "The host uses only the last one: remove one of the two, "
                    "then run the command again."
                )
                raise self.error_at("duplicate_key", found[1].entry, message, hint)
            if not found:
                break
            node, length = found[-1], length + 1
        return node, length

    def _check_holder(self, path: Path, node: Any) -> None:
        """Refuse to edit what is in a node that is not written as the format's edits need it."""

    def _is_vacant(self, node: Any, kind: str) -> bool:
        """Whether a node is nothing that a whole object or array may not be put in the place of."""
        return False

    def _find(self, path: Path) -> Any:
        node, length = self.check_path(path, is_edited=False)
        return node if length == len(path) else None

    # Editing

    def set(self, path: Path, value: Any) -> Document:
        """Replace the value at path, or insert it after its siblings; creates missing parents."""
        if is_too_deep(value, len(path)):
            raise too_deep(self._text, self.where)
        new = self._made(self._new, path, value)
        return self if value_at(self._tree, path) == new.tree else self._put(path, new)

    def set_raw(self, path: Path, text: str) -> Document:
        """Like set(), with a source text from an earlier raw()."""
        return self._put(path, self._made(self._source, path, text))

    def append(self, path: Path, value: Any) -> Document:
        """Add an element at the end of the array at path; creates the array if it is missing."""
        return self._append(path, self._made(self._new, path, value))

    def insert_raw(self, path: Path, text: str) -> Document:
        """Put a text from an earlier block() above an array's element and its comments.

        Where there is no element at the path, it becomes the last one.
        """
        *above, index = path
        new = self._made(self._source, path, text)
        node, length = self.check_path(path)
        if length < len(path):
            return self._append(tuple(above), new)
        items = list(value_at(self._tree, tuple(above)))
        items.insert(int(index), new.tree)
        splices = self._insert_above(node, new)
        return self._verified(splices, tuple(above), new._replace(tree=items))

    def remove(self, path: Path) -> Document:
        """Remove the member or element at path; returns the same document if there is none."""
        node, length = self.check_path(path)
        if length < len(path) or not path:
            return self
        if isinstance(self.get(path[:-1]), list):
            path = (*path[:-1], node.index)
        return self._verified(self._remove(node), path, New(MISSING))

    def _made(self, make: Callable[[Path, Any], New], path: Path, given: Any) -> New:
        try:
            return make(path, given)
        except (HookctlError, TypeError, ValueError, RecursionError) as error:
            raise unexpected(self, path, f"this cannot be written here ({error})") from None

    def _append(self, path: Path, new: New) -> Document:
        items, (node, _) = value_at(self._tree, path), self.check_path(path)
        if items is MISSING or (node and self._is_vacant(node, "seq")):
            return self._put(path, new._replace(tree=[new.tree], value=[new.value]))
        if not isinstance(items, list):
            raise wrong_shape(self, path, "an array")
        self._check_holder(path, node)
        return self._verified(self._insert(node, None, new), (*path, len(items)), new)

    def _put(self, path: Path, new: New) -> Document:
        node, length = self.check_path(path)
        above, below = path[:length], path[length:]
        if node and not below:
            return self._verified(self._replace(node, new), path, new)
        if node and above and self._is_vacant(node, "map"):
            return self._put(above, self._in_parents(below, new))
        if node is None or self._is_vacant(node, "map"):
            new = self._in_parents(path, new)
            return self._verified(self._fill(node, new), (), new)
        if not isinstance(value_at(self._tree, above), dict) or not isinstance(below[0], str):
            needed = "an object" if isinstance(below[0], str) else "an array with that element"
            raise wrong_shape(self, above, needed)
        new = self._in_parents(below[1:], new)
        return self._verified(self._insert(node, below[0], new), path[: length + 1], new)

    def _in_parents(self, keys: Path, new: New) -> New:
        """A new value in its missing parents; arrays are never made for it."""
        for key in reversed(keys):
            if not isinstance(key, str):
                raise wrong_shape(self, keys, "an array that is there already")
            new = new._replace(tree={key: new.tree}, value={key: new.value})
        return new

    def _verified(self, splices: Sequence[Splice], path: Path, new: New) -> Any:
        """The spliced document, if it says exactly what was wanted."""
        text = spliced(self._text, splices)
        if text == self._text:
            return self
        try:
            after = self._reread(text, path, new)
        except HookctlError:
            after = None
        if after is None or after._tree != edit_value(self._tree, path, new.tree):
            raise self._unfit(path, splices)
        return after

    def _reread(self, text: str, path: Path, new: New) -> Document:
        return type(self)(text, self.where)

    def _unfit(self, path: Path, splices: Sequence[Splice]) -> HookctlError:
        return unexpected(self, path, "the edit would not have given the wanted document")


def syntax(format: str) -> str:
    """The format of a file's text, without the listing of its hooks."""
    return format.partition(LISTED)[0]


def last_index(values: Sequence[Any], text: str) -> int:
    """Where a text stands in a list for the last time: ours is behind what was there."""
    return len(values) - 1 - values[::-1].index(text)


def value_at(value: Any, path: Path) -> Any:
    """The value at a path below another one, or MISSING; a text in a list is its own key."""
    for key in path:
        if isinstance(key, str) and isinstance(value, list) and key in value:
            key = last_index(value, key)
        if isinstance(key, str):
            is_inside = isinstance(value, dict) and key in value
        else:
            is_inside = isinstance(value, list) and 0 <= key < len(value)
        if not is_inside:
            return MISSING
        value = value[key]
    return value


def edit_value(value: Any, path: Path, new: Any) -> Any:
    """Make an edit on plain values, to cross-check one of the text; a removal for MISSING."""
    if not path:
        return new
    key, below = path[0], path[1:]
    is_removal = new is MISSING and not below
    if isinstance(key, int):
        items = list(value or ())
        old = items[key] if below and key < len(items) else None
        items[key : key + 1] = [] if is_removal else [edit_value(old, below, new)]
        return items
    members = dict(value or {})
    if is_removal:
        return {name: inner for name, inner in members.items() if name != key}
    return members | {key: edit_value(members.get(key), below, new)}


def comparable(value: Any) -> Any:
    """The value in a form to compare: 1, 1.0 and true differ, and nan equals itself."""
    if isinstance(value, dict):
        return {key: comparable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [comparable(inner) for inner in value]
    return type(value), str(value)  # of a time zone two readers make the same text


# Texts


class Splice(NamedTuple):
    """A span of the text, and the text that replaces it."""

    start: int
    end: int
    text: str = ""


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text with all splices made; they must not overlap, and may come in any order."""
    parts, copied = [], 0
    for splice in sorted(splices, key=itemgetter(0)):
        parts += [text[copied : splice.start], splice.text]
        copied = splice.end
    return "".join([*parts, text[copied:]])


def line_start(text: str, offset: int) -> int:
    """Where the line of an offset begins, behind a byte order mark; between \\r and \\n it is still
    the line before.
    """
    newline = text.rfind("\n", 0, offset)
    carriage = text.rfind("\r", 0, offset)
    if carriage > newline and text.startswith("\r\n", carriage):
        carriage = text.rfind("\r", 0, carriage)
    return max(newline, carriage) + 1 or int(offset > 0 and text.startswith(BOM))


def line_stop(text: str, offset: int) -> int:
    """Where the line of an offset ends, before its line break."""
    return _LINE_END.search(text, offset).start()  # type: ignore[union-attr]  # it matches always


def next_line(text: str, offset: int) -> int:
    """Where the line after an offset's begins; the end of a text that has none."""
    return _LINE_END.search(text, offset).end()  # type: ignore[union-attr]  # likewise


def whole_lines(text: str, start: int, end: int) -> Splice:
    """Remove the lines of a span; if the last one has no line break, the one before them goes."""
    after = next_line(text, end)
    if after == line_stop(text, end):
        start -= len(re.findall(r"(?:\r\n|\r|\n)?\Z", text[:start])[0])
    return Splice(start, after)


def start_of_comments(text: str, start: int, floor: int = 0, code: str = "") -> int:
    """Where the lines of comments begin that stand right above a line, not above `floor`.

    They are lines with a `#`, or those that are blank in `code`, the same text without comments.
    """
    while start > max(floor, line_start(text, 1)):
        line_above = line_start(text, start - 1)
        line = text[line_above:start].strip()
        if not (line and not code[line_above:start].strip() if code else line.startswith("#")):
            break
        start = line_above
    return start


def leading_blanks(text: str) -> str:
    """The spaces and tabs that a text begins with."""
    return text[: len(text) - len(text.lstrip(" \t"))]


def position_of(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both from 1; a byte order mark takes no column."""
    return len(BREAK.findall(text, 0, offset)) + 1, offset - line_start(text, offset) + 1


def decode(data: bytes, where: str) -> str:
    """The bytes as text, line ends untouched; not_utf8, with the position, if they are not."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        name = "UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "not UTF-8"
        hint = "Save it as UTF-8, then run the command again."
        message = f"the file is {name}"
        raise error_at("not_utf8", before, where, len(before), message, hint) from None


def is_too_deep(value: Any, above: int = 0) -> bool:
    """Whether a value or a tree, put below `above` levels, is deeper than a document may be."""
    if not isinstance(value, dict | list):
        return False
    if above >= DEPTH:
        return True
    inner = value.values() if isinstance(value, dict) else value
    return any(is_too_deep(one, above + 1) for one in inner)


# Errors


def error_at(
    code: str, text: str, where: str, offset: int, message: str, hint: str
) -> HookctlError:
    """The error for what is at an offset of a text."""
    line, column = position_of(text, offset)
    return HookctlError(code, message, path=where, line=line, column=column, hint=hint)


def unparsable(
    text: str, where: str, offset: int, message: str, *, at_end: bool = False
) -> HookctlError:
    """The error for a text that a reader does not take, with the likeliest cause."""
    hint = "Fix it, then run the command again."
    conflict = re.search(_CONFLICT, text, re.MULTILINE)
    if conflict:
        offset, message = conflict.start(), CONFLICT
        hint = "Resolve the conflict, then run the command again."
    elif at_end:
        message = "the file ends in the middle"
        hint = "Restore what is missing, then run the command again."
    return error_at("unparsable", text, where, offset, message, hint)


def too_deep(text: str, where: str) -> HookctlError:
    """The error for a document that is nested deeper than one may be."""
    message = f"it is nested more than {DEPTH} levels deep"
    return error_at("unparsable", text, where, 0, message, "Check that it is the right file.")


def wrong_shape(document: Document, path: Path, needed: str) -> HookctlError:
    """The error for a value at path that is not what an edit needs; `needed` names that."""
    name = document.name_of(path) or "the document"
    needed = "an array" if path == document.list_path else needed
    hint = f"Make it {needed}, then run the command again."
    return document.error_at("wrong_shape", document.offset(path), f"{name} is not {needed}", hint)


def unexpected(document: Document, path: Path, message: str) -> HookctlError:
    """The error for an edit that failed because of a bug in hookctl."""
    hint = "Nothing was written. Please report this."
    error = document.error_at("unexpected", document.offset(path), message, hint)
    error.exit_code = UNEXPECTED
    return error
