"""TOML without loss: an edit is a few splices into the text, and every other byte stays.

New tables and groups of hooks are blocks of lines at the end, as TOML lets them stand behind anything. Each edit is
verified: tomllib must read the new text as the old document with the same edit made on plain values, and no comment
may be lost. So a wrong rule is a refusal, and never a lost setting.
"""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from functools import cached_property
from typing import Any, NamedTuple

from hookctl.documents import MISSING, Path, unexpected, wrong_shape
from hookctl.documents.scan import decode
from hookctl.documents.text import BREAK, Splice, position_of, spliced
from hookctl.documents.toml_scan import (
    ARRAY,
    DOTTED,
    INLINE,
    SCALAR,
    TABLES,
    Node,
    Scan,
    comments_of,
    read,
    scan,
)
from hookctl.documents.toml_splices import Places
from hookctl.documents.toml_text import block, inline, is_block, key_text, keys_text, source
from hookctl.errors import HookctlError

_ASSIGN = "v = "


class _New(NamedTuple):
    """A value to be written, as the only value of a text of its own."""

    text: str
    node: Node
    value: Any
    remarked: bool  # it has comments, for which blocks have no place

    @property
    def source(self) -> str:
        return self.text[len(_ASSIGN) :]

    @property
    def is_block(self) -> bool:
        return is_block(self.node) and not self.remarked


class TomlDocument:
    """An immutable TOML document; each edit gives a new one."""

    def __init__(self, text: str, where: str, line_end: str = "\n") -> None:
        self._text = text
        self._plain = read(text, where)
        found = BREAK.search(text)
        self._line_end = found[0] if found else line_end
        self.where = where

    @classmethod
    def parse(
        cls, data: bytes, *, where: str = "", comments: bool = True, trailing_commas: bool = True
    ) -> TomlDocument:
        """Read the bytes of a file; errors name `where`, line and column (not_utf8, unparsable)."""
        return cls(decode(data, where), where)

    @property
    def data(self) -> bytes:
        """The bytes of the file, byte order mark and line ends included."""
        return self._text.encode("utf-8")

    @cached_property
    def value(self) -> Any:
        """The parsed root table, or MISSING in an empty document."""
        return self.get(())

    @property
    def fault(self) -> None:
        """Nothing: TOML has no part that only some hosts read."""

    def require_strict(self, *, comments: bool, trailing_commas: bool) -> None:
        """Refuse nothing: TOML has no dialects."""

    def check_path(self, path: Path) -> None:
        """Refuse nothing: no table has a key twice."""

    def get(self, path: Path) -> Any:
        """The parsed value at path, or MISSING."""
        value: Any = self._plain or MISSING
        for key in path:
            if not isinstance(value, dict if isinstance(key, str) else list):
                return MISSING
            if not (key in value if isinstance(key, str) else 0 <= key < len(value)):
                return MISSING
            value = value[key]
        return value if value is MISSING else deepcopy(value)

    def raw(self, path: Path) -> str:
        """The source text of the value at path, of a table as an inline one; KeyError if there is none."""
        node = self._find(path)
        if node is None or not self._plain:
            raise KeyError(path)
        return source(self._text, node)

    def position(self, path: Path) -> tuple[int, int]:
        """Line and column of the value or header at path; of the nearest parent if there is none."""
        return position_of(self._text, self.offset(path))

    def offset(self, path: Path) -> int:
        """Where the value or header at path begins; the nearest parent's if there is none."""
        nodes = (self._find(path[:length]) for length in range(len(path), 0, -1))
        node = next((node for node in nodes if node), None)
        if node is None:
            return 0
        if node.start >= 0:
            return node.start
        return min(piece.start for piece in node.all_pieces())

    def set(self, path: Path, value: Any) -> TomlDocument:
        """Replace the value at path, or insert it behind its siblings; missing parents are made."""
        return (
            self
            if _tree(self.get(path)) == _tree(value)
            else self._put(path, self._new(path, value))
        )

    def set_raw(self, path: Path, text: str) -> TomlDocument:
        """The same with a source text that an earlier raw() gave."""
        return self._put(path, self._read(path, text))

    def append(self, path: Path, value: Any) -> TomlDocument:
        """Add an element to the end of the array at path; a missing array and its parents are made."""
        node = self._find(path)
        if node is None:
            return self._put(path, self._new(path, [value]))
        if node.kind not in (ARRAY, TABLES) or (
            node.kind == TABLES and not isinstance(value, dict)
        ):
            raise wrong_shape(
                self, path, "an array of tables" if node.kind == TABLES else "an array"
            )
        new, element = self._new(path, value), (*path, len(node.children))
        splices = (
            self._places.item(node, new.source) if node.kind == ARRAY else self._block(element, new)
        )
        return self._verified(splices, element, new.value)

    def remove(self, path: Path) -> TomlDocument:
        """Take out the value, table or element at path; the same document if there is none."""
        node = self._find(path)
        if not path or node is None:
            return self
        pieces = sorted(node.all_pieces(), key=lambda piece: piece.start)
        in_brackets = pieces[0].home and pieces[0].home.kind in (ARRAY, INLINE)
        splices = list(
            self._places.without_items(pieces)
            if in_brackets
            else self._places.without_lines(pieces)
        )
        after = self._edited(splices, path)
        if len(path) > 1 and after.get(path[:-1]) is MISSING:
            # It was all that there was of its parent, which does not go with it.
            after = after.set(path[:-1], {} if isinstance(path[-1], str) else [])
        return self._verified(splices, path, MISSING, after)

    # Finding

    @cached_property
    def _scan(self) -> Scan:
        return scan(self._text)

    @cached_property
    def _places(self) -> Places:
        return Places(self._text, self._scan, self._line_end)

    def _find(self, path: Path) -> Node | None:
        node: Node | None = self._scan.root
        for key in path:
            node = node.inner(key) if node else None
        return node

    # Editing

    def _new(self, path: Path, value: Any) -> _New:
        try:
            return self._read(path, inline(value))
        except (TypeError, ValueError) as error:
            raise unexpected(
                self, path, f"the new value cannot be written as TOML ({error})"
            ) from None

    def _read(self, path: Path, text: str) -> _New:
        """A source text as a new value, with the line ends of this file."""
        text = _ASSIGN + BREAK.sub(lambda _: self._line_end, text)
        try:
            text.encode("utf-8")
            value = read(text, "")["v"]
        except (HookctlError, ValueError) as error:
            raise unexpected(self, path, f"the source text cannot be read ({error})") from None
        root, statements, comments = scan(text)
        node = root.children["v"]
        if len(statements) > 1 or (node.start, node.end) != (len(_ASSIGN), len(text)):
            raise unexpected(self, path, "the source text is not just a value")
        return _New(text, node, value, bool(comments))

    def _put(self, path: Path, new: _New) -> TomlDocument:
        node = self._find(path)
        if node is None:
            length = next(size for size in range(len(path) - 1, -1, -1) if self._find(path[:size]))
            return self._verified(self._insertion(path, length, new), path, new.value)
        if node.kind in (SCALAR, ARRAY, INLINE):
            return self._verified([Splice(node.start, node.end, new.source)], path, new.value)
        if _tree(self.get(path)) == _tree(new.value):
            return self
        if node.kind == TABLES or not isinstance(new.value, dict):
            raise wrong_shape(self, path, "a value in one place")
        document = self
        for name, inner in new.node.children.items():
            if _tree(self.get((*path, name))) != _tree(new.value[name]):
                document = document._put((*path, name), self._read(path, source(new.text, inner)))
        for name in [name for name in node.children if name not in new.value]:
            document = document.remove((*path, name))
        return document

    def _insertion(self, path: Path, length: int, new: _New) -> list[Splice]:
        """Insert below the deepest parent that is there; those that are missing come with the value."""
        holder, names = (
            self._find(path[:length]),
            [key for key in path[length:] if isinstance(key, str)],
        )
        assert holder
        if holder.kind in (SCALAR, ARRAY, TABLES) or len(names) != len(path) - length:
            needed = "a table" if isinstance(path[length], str) else "an array with that element"
            raise wrong_shape(self, path[:length], needed)
        home, member = holder.home or holder, keys_text((*holder.prefix, names[0]))
        if home.kind == INLINE:
            text = new.source
            for name in reversed(names[1:]):
                text = f"{{ {key_text(name)} = {text} }}"
            return self._places.item(home, f"{member} = {text}")
        if len(names) > 1 or new.is_block:
            return self._block(path, new)
        if home is self._scan.root or home.pieces:
            own = (
                home.body
                if holder is home
                else [piece for piece in holder.all_pieces() if piece.home is home]
            )
            return self._places.line(own[-1:] or home.pieces, f"{member} = {new.source}")
        parents = [self._find(path[:size]) for size in range(1, length + 1)]
        if any(parent.pieces or parent.kind == DOTTED for parent in parents if parent):
            return self._block(path, new)
        # Only the tables below make this one. A header of its own would stay when the key goes, so it gets none.
        return self._places.line(
            self._scan.root.body[-1:], f"{keys_text(map(str, path))} = {new.source}"
        )

    def _block(self, path: Path, new: _New) -> list[Splice]:
        names = tuple(key for key in path if isinstance(key, str))
        if new.is_block:
            lines = block(names, new.text, new.node, is_element=isinstance(path[-1], int))
        else:
            lines = [f"[{keys_text(names[:-1])}]", f"{key_text(names[-1])} = {new.source}"]
        elements = (path[: at + 1] for at, key in enumerate(path) if isinstance(key, int))
        owners = [owner for owner in map(self._find, elements) if owner]
        return self._places.block(lines, owners[-1] if owners else None)

    def _edited(self, splices: list[Splice], path: Path) -> TomlDocument:
        try:
            return TomlDocument(spliced(self._text, splices), self.where, self._line_end)
        except HookctlError as error:
            raise unexpected(
                self, path, f"the edit would not have given TOML ({error.message})"
            ) from None

    def _verified(
        self, splices: list[Splice], path: Path, new: Any, after: TomlDocument | None = None
    ) -> TomlDocument:
        """The edited document, if it says exactly what was wanted and has all comments but those in what is gone."""
        after = after or self._edited(splices, path)
        if after._text == self._text:
            return self
        comments = [comment for splice in splices for comment in _comments(splice.text)]
        gone = splices if self._find(path) else []
        for start, end in self._scan.comments:
            if not any(splice.start <= start < splice.end for splice in gone):
                comments.append(self._text[start:end])
        wanted = _tree(_changed(self._plain, path, new))
        if _tree(after._plain) != wanted or Counter(_comments(after._text)) != Counter(comments):
            raise unexpected(self, path, "the edit would not have given the wanted document")
        return after


def _comments(text: str) -> list[str]:
    return [text[start:end] for start, end in comments_of(text)]


def _tree(value: Any) -> Any:
    """What can be compared: 1, 1.0 and true differ, and nan is itself."""
    if isinstance(value, dict):
        return {key: _tree(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_tree(inner) for inner in value]
    return type(value), repr(value)


def _changed(value: Any, path: Path, new: Any) -> Any:
    """The same edit on plain values: an independent word on what the text must say afterwards."""
    if not path:
        return new
    key, below = path[0], path[1:]
    if isinstance(value, list):
        inner = (
            []
            if new is MISSING and not below
            else [_changed(value[key] if key < len(value) else {}, below, new)]
        )
        return [*value[:key], *inner, *value[key + 1 :]]
    if new is MISSING and not below:
        return {name: inner for name, inner in value.items() if name != key}
    return {**value, key: _changed(value.get(key, {}), below, new)}
