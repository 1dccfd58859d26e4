"""Lossless editing of TOML: an edit is a few splices into the text; other bytes stay.

New tables and groups of hooks are blocks of lines at the end, where TOML allows them always. Each
edit is verified: tomllib must read the new text as the old document with the same edit made on
plain values, and no comment may be lost. So a wrong rule leads to a refusal, never to a lost
setting.
"""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from functools import cached_property
from typing import Any, NamedTuple

from hookctl.documents import (
    BREAK,
    MISSING,
    Document,
    Path,
    Splice,
    decode,
    line_end_of,
    spliced,
    unexpected,
    value_at,
    wrong_shape,
)
from hookctl.documents.toml_layout import Layout
from hookctl.documents.toml_scan import (
    ARRAY,
    DOTTED,
    INLINE,
    SCALAR,
    TABLES,
    Node,
    Piece,
    Scan,
    comments_of,
    read,
    scan,
)
from hookctl.documents.toml_text import block, inline, is_block, key_text, keys_text, source
from hookctl.errors import HookctlError

_ASSIGN = "v = "


class _New(NamedTuple):
    """A value to be written, parsed from a text of its own ("v = ...")."""

    text: str
    node: Node
    value: Any
    has_comments: bool  # a block of tables has no room for them

    @property
    def source(self) -> str:
        """The value's own source text."""
        return self.text[len(_ASSIGN) :]

    @property
    def is_block(self) -> bool:
        """Whether it is written as tables in lines of their own."""
        return is_block(self.node) and not self.has_comments


class TomlDocument(Document):
    """An immutable TOML document, which has no dialects; each edit gives a new one."""

    def __init__(self, text: str, where: str, line_end: str = "\n") -> None:
        super().__init__(text, where)
        self._plain = read(text, where)
        self._line_end = line_end_of(text, line_end)

    @classmethod
    def parse(cls, data: bytes, *, where: str = "") -> TomlDocument:
        """Parse a file's bytes; errors (not_utf8, unparsable) name `where`, line and column."""
        return cls(decode(data, where), where)

    @cached_property
    def value(self) -> Any:
        """The parsed root table, or MISSING in an empty document."""
        return self.get(())

    def get(self, path: Path) -> Any:
        """The parsed value at path, or MISSING."""
        value = value_at(self._plain or MISSING, path)
        return value if value is MISSING else deepcopy(value)

    def raw(self, path: Path) -> str:
        """The source text of the value at path, a table as an inline one; KeyError if none."""
        node = self._find(path)
        if node is None or not self._plain:
            raise KeyError(path)
        return source(self._text, node)

    def offset(self, path: Path) -> int:
        """Where the value or header at path begins, or its nearest existing parent."""
        node, length = self._nearest(path)
        if not length:
            return 0
        if node.start >= 0:
            return node.start
        return min(piece.start for piece in node.all_pieces())

    def set(self, path: Path, value: Any) -> TomlDocument:
        """Replace the value at path, or insert it after its siblings; creates missing parents."""
        if _tree(self.get(path)) == _tree(value):
            return self
        return self._put(path, self._new(path, value))

    def set_raw(self, path: Path, text: str) -> TomlDocument:
        """Like set(), with a source text from an earlier raw()."""
        return self._put(path, self._parse_value(path, text))

    def insert_raw(self, path: Path, text: str) -> TomlDocument:
        """Put a source text from an earlier raw() above an item in brackets and its comments."""
        *above, index = path
        listed = tuple(above)
        array, new = self._find(listed), self._parse_value(path, text)
        if array is None or array.kind != ARRAY or not isinstance(index, int):
            raise KeyError(path)
        splices = self._layout.insert_item_above(array.body[index], new.source)
        items = list(self.get(listed))
        items.insert(index, new.value)
        return self._verified(splices, listed, items)

    def append(self, path: Path, value: Any) -> TomlDocument:
        """Add an element at the end of the array at path; creates the array if it is missing."""
        node = self._find(path)
        if node is None:
            return self._put(path, self._new(path, [value]))
        if node.kind not in (ARRAY, TABLES):
            raise wrong_shape(self, path, "an array")
        if node.kind == TABLES and not isinstance(value, dict):
            raise wrong_shape(self, path, "an array of tables")
        new = self._new(path, value)
        element = (*path, len(node.children))
        if node.kind == ARRAY:
            splices = self._layout.insert_item(node, new.source)
        else:
            splices = self._insert_block(element, new)
        return self._verified(splices, element, new.value)

    def remove(self, path: Path) -> TomlDocument:
        """Remove the value, table or element at path; the same document if there is none.

        An array of tables goes with its last one, since as `[]` it would forbid another; in a
        table of an array it stays, which keeps the place of that table.
        """
        node = self._find(path)
        if not path or node is None:
            return self
        above = self._find(path[:-1])
        is_last = above and above.kind == TABLES and len(above.children) == 1
        if is_last and self._owner(path[:-1]) is None:
            return self.remove(path[:-1])
        pieces = sorted(node.all_pieces(), key=lambda piece: piece.start)
        home = pieces[0].home
        if home and home.kind in (ARRAY, INLINE):
            splices = list(self._layout.remove_items(pieces))
        else:
            splices = list(self._layout.remove_lines(pieces))
        after = self._spliced(splices, path)
        if len(path) > 1 and after.get(path[:-1]) is MISSING:
            # The parent consisted of this value only; it stays, as an empty one.
            after = after.set(path[:-1], {} if isinstance(path[-1], str) else [])
        return self._verified(splices, path, MISSING, after)

    def block(self, path: Path) -> str:
        """The lines that go with a table in an array of tables; empty for any other value."""
        node, above = self._find(path), self._find(path[:-1])
        if node is None or above is None or above.kind != TABLES:
            return ""
        pieces = sorted(node.all_pieces(), key=lambda piece: piece.start)
        splices = self._layout.remove_lines(pieces)
        texts = (self._text[splice.start : splice.end].strip("\r\n") for splice in splices)
        return self._line_end.join(texts)

    def insert_block(self, path: Path, text: str) -> TomlDocument:
        """Put the lines of an earlier block() back, as the table at path.

        Where the array is one in brackets now, it gets the table as its last item, behind the
        comments of the lines.
        """
        *above, index = path
        listed = tuple(above)
        array, items = self._find(listed), list(self.get(listed) or ())
        block = TomlDocument(BREAK.sub(lambda _: self._line_end, text), self.where)
        table = (*_names(path), 0)
        if array and array.kind == ARRAY:
            index = len(items)
            lines = [*_comments(block._text), block.raw(table)]
            splices = self._layout.insert_item(array, self._line_end.join(lines))
        elif array and array.kind == TABLES and index in range(len(items)):
            splices = self._layout.insert_above(array.children[index], block._text)
        else:
            splices = self._layout.insert_block([block._text], self._owner(path))
        items.insert(int(index), block.get(table))
        return self._verified(splices, listed, items)

    # Finding

    @cached_property
    def _scan(self) -> Scan:
        return scan(self._text)

    @cached_property
    def _layout(self) -> Layout:
        return Layout(self._text, self._scan, self._line_end)

    def _find(self, path: Path) -> Node | None:
        node: Node | None = self._scan.root
        for key in path:
            node = node.child(key) if node else None
        return node

    # Editing

    def _new(self, path: Path, value: Any) -> _New:
        try:
            return self._parse_value(path, inline(value))
        except (TypeError, ValueError) as error:
            message = f"the new value cannot be written as TOML ({error})"
            raise unexpected(self, path, message) from None

    def _parse_value(self, path: Path, text: str) -> _New:
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
            return self._verified(self._insertion(path, new), path, new.value)
        if node.kind in (SCALAR, ARRAY, INLINE):
            return self._verified([Splice(node.start, node.end, new.source)], path, new.value)
        if _tree(self.get(path)) == _tree(new.value):
            return self
        if node.kind == TABLES or not isinstance(new.value, dict):
            raise wrong_shape(self, path, "a value in one place")
        return self._replace_table(node, path, new)

    def _replace_table(self, node: Node, path: Path, new: _New) -> TomlDocument:
        """Set each member that differs, and remove those that the new table does not have."""
        document = self
        for name, child in new.node.children.items():
            if _tree(self.get((*path, name))) != _tree(new.value[name]):
                member = self._parse_value((*path, name), source(new.text, child))
                document = document._put((*path, name), member)
        for name in node.children:
            if name not in new.value:
                document = document.remove((*path, name))
        return document

    def _insertion(self, path: Path, new: _New) -> list[Splice]:
        """Insert below the deepest existing parent; the value brings the missing ones."""
        holder, length = self._nearest(path)
        names = _names(path[length:])
        if holder.kind in (SCALAR, ARRAY, TABLES) or len(names) != len(path) - length:
            needed = "a table" if isinstance(path[length], str) else "an array with that element"
            raise wrong_shape(self, path[:length], needed)
        home = holder.home or holder
        member_key = keys_text((*holder.prefix, names[0]))
        if home.kind == INLINE:
            text = new.source
            for name in reversed(names[1:]):
                text = f"{{ {key_text(name)} = {text} }}"
            return self._layout.insert_item(home, f"{member_key} = {text}")
        if len(names) > 1 or new.is_block:
            return self._insert_block(path, new)
        if home is self._scan.root or home.pieces:
            pieces = _pieces_in(home, holder)
            text = f"{member_key} = {new.source}"
            return self._layout.insert_line(pieces[-1:] or home.pieces, text)
        if self._has_written_parent(path[:length]):
            return self._insert_block(path, new)
        # Only the tables below make this one. A header of its own would outlive the key, so it
        # gets none.
        text = f"{keys_text(map(str, path))} = {new.source}"
        return self._layout.insert_line(self._scan.root.body[-1:], text)

    def _has_written_parent(self, path: Path) -> bool:
        """Whether a table on this path has a header or a dotted key of its own."""
        for length in range(1, len(path) + 1):
            node = self._find(path[:length])
            if node and (node.pieces or node.kind == DOTTED):
                return True
        return False

    def _insert_block(self, path: Path, new: _New) -> list[Splice]:
        """Insert the value as a table, or in one, within the array element on its path."""
        names = _names(path)
        if new.is_block:
            lines = block(names, new.text, new.node, is_element=isinstance(path[-1], int))
        else:
            lines = [f"[{keys_text(names[:-1])}]", f"{key_text(names[-1])} = {new.source}"]
        return self._layout.insert_block(lines, self._owner(path))

    def _owner(self, path: Path) -> Node | None:
        """The innermost array element on a path, which a new table in it belongs to."""
        owner = None
        for index, key in enumerate(path):
            if isinstance(key, int):
                owner = self._find(path[: index + 1]) or owner
        return owner

    def _spliced(self, splices: list[Splice], path: Path) -> TomlDocument:
        try:
            return TomlDocument(spliced(self._text, splices), self.where, self._line_end)
        except HookctlError as error:
            message = f"the edit would not have given TOML ({error.message})"
            raise unexpected(self, path, message) from None

    def _verified(
        self, splices: list[Splice], path: Path, new: Any, after: TomlDocument | None = None
    ) -> TomlDocument:
        """The edited document, if it says exactly what was wanted and keeps the other comments."""
        after = after or self._spliced(splices, path)
        if after._text == self._text:
            return self
        comments = Counter(self._comments_after(splices, is_replaced=bool(self._find(path))))
        wanted = _tree(_edit_plain(self._plain, path, new))
        if _tree(after._plain) != wanted or Counter(_comments(after._text)) != comments:
            raise unexpected(self, path, "the edit would not have given the wanted document")
        return after

    def _comments_after(self, splices: list[Splice], *, is_replaced: bool) -> list[str]:
        """The comments that must be there after an edit: the new ones, and those not replaced."""
        comments = []
        for splice in splices:
            comments += _comments(splice.text)
        for start, end in self._scan.comments:
            is_in_splice = any(splice.start <= start < splice.end for splice in splices)
            if not (is_replaced and is_in_splice):
                comments.append(self._text[start:end])
        return comments


def _names(path: Path) -> tuple[str, ...]:
    """The keys of a path without its indexes."""
    return tuple(key for key in path if isinstance(key, str))


def _pieces_in(home: Node, holder: Node) -> list[Piece]:
    """The keys of a table, or of a dotted table, that stand directly below the header of `home`."""
    if holder is home:
        return home.body
    return [piece for piece in holder.all_pieces() if piece.home is home]


def _comments(text: str) -> list[str]:
    return [text[start:end] for start, end in comments_of(text)]


def _tree(value: Any) -> Any:
    """The value in a form to compare: 1, 1.0 and true differ, and nan equals itself."""
    if isinstance(value, dict):
        return {key: _tree(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_tree(inner) for inner in value]
    return type(value), repr(value)


def _edit_plain(value: Any, path: Path, new: Any) -> Any:
    """Make the same edit on plain values, to cross-check the text edit."""
    if not path:
        return new
    key, below = path[0], path[1:]
    is_removal = new is MISSING and not below
    if isinstance(value, list):
        assert isinstance(key, int)
        if is_removal:
            return [*value[:key], *value[key + 1 :]]
        old = value[key] if key < len(value) else {}
        return [*value[:key], _edit_plain(old, below, new), *value[key + 1 :]]
    if is_removal:
        return {name: inner for name, inner in value.items() if name != key}
    return {**value, key: _edit_plain(value.get(key, {}), below, new)}
