"""YAML without loss: an edit is a few splices into the text, and every other byte stays.

New members are lines of our own in the file's layout; a removal takes out exactly a member's lines. Each edit is
verified: the new text is read again, and must say what the old one said with the same edit made on its nodes. What
cannot be edited so (an alias, a merge key, an odd layout) is refused with its place. The reader is PyYAML, as the
host's is; it is an optional extra.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from hookctl.documents import MISSING, Path, unexpected, wrong_shape
from hookctl.documents.scan import decode
from hookctl.documents.text import BREAK, Splice, position_of, spliced
from hookctl.documents.yaml_edits import Edits, Found, Step
from hookctl.documents.yaml_nodes import Node, Reading, Tree, load, read
from hookctl.documents.yaml_text import Source, flow, is_merge, tree_of
from hookctl.errors import HookctlError

_Pair = tuple[Tree, Tree]  # a key, None in a sequence, and a value


class YamlDocument:
    """An immutable YAML document; each edit gives a new one."""

    fault = None  # comments are a part of YAML

    def __init__(self, text: str, where: str, reading: Reading) -> None:
        self._text = text
        self._reading = reading
        self._edits = Edits(text, where, reading.root)
        self.where = where

    @classmethod
    def parse(
        cls, data: bytes, *, where: str = "", comments: bool = True, trailing_commas: bool = True
    ) -> YamlDocument:
        """Read the bytes of a file; errors name `where`, line and column (not_utf8, unparsable, extra_missing)."""
        text = decode(data, where)
        document = cls(text, where, read(text, where))
        _ = document.value  # what the host's reader does not take is refused here
        return document

    @property
    def data(self) -> bytes:
        """The bytes of the file, byte order mark and line ends included."""
        return self._text.encode("utf-8")

    @cached_property
    def value(self) -> Any:
        """The parsed root value, or MISSING in an empty document."""
        return MISSING if self._reading.root is None else load(self._text, self.where)

    def require_strict(self, *, comments: bool, trailing_commas: bool) -> None:
        """Nothing to refuse: these flags are about JSON."""

    def get(self, path: Path) -> Any:
        """The parsed value at path, or MISSING."""
        value = self.value
        for key in path:
            if isinstance(key, str) and isinstance(value, dict):
                value = value.get(key, MISSING)
            elif isinstance(key, int) and isinstance(value, list) and 0 <= key < len(value):
                value = value[key]
            else:
                return MISSING
        return value

    def raw(self, path: Path) -> str:
        """The source text of the value at path, its lines moved to the left margin; KeyError if there is none."""
        found = self._find(path)
        if found is None:
            raise KeyError(path)
        node = found.node
        text = self._outdented(node)
        with contextlib.suppress(HookctlError):
            if node.start == node.end or self._reading_of(text).tree() == node.tree():
                return text
        try:
            return flow(self.get(path))
        except TypeError:
            raise self._edits.odd(node.start) from None

    def position(self, path: Path) -> tuple[int, int]:
        """Line and column of the value at path, or of its nearest existing parent."""
        return position_of(self._text, self._nearest(path))

    def check_path(self, path: Path) -> None:
        """Refuse a path through a doubled key (the host reads the last one), an alias, or a mapping that merges."""
        for length in range(len(path)):
            found = self._find(path[:length])
            if found is None or found.node.kind == "scalar":
                return
            self._check_holder(path[:length], found.node)
            same = found.node.find(path[length])
            if len(same) > 1:
                key = found.node.children[same[1]].key
                assert key is not None
                hint = "The host uses only the last one: remove one of the two, then run the command again."
                message = f"the key {path[length]!r} stands here a second time"
                raise self._error("duplicate_key", message, key.start, hint)

    def set(self, path: Path, value: Any) -> YamlDocument:
        """Replace the value at path, or insert it after its siblings; creates missing parents."""
        return self._put(path, value)

    def set_raw(self, path: Path, text: str) -> YamlDocument:
        """Like set(), with a source text from an earlier raw()."""
        try:
            root = self._reading_of(text).root
        except HookctlError as error:
            raise unexpected(
                self, path, f"the source text cannot be read ({error.message})"
            ) from None
        if root is None:
            root = Node("scalar", 0, 0, "tag:yaml.org,2002:null")
        return self._put(path, Source(text, root))

    def append(self, path: Path, value: Any) -> YamlDocument:
        """Add an element at the end of the array at path; creates the array if it is missing."""
        self.check_path(path)
        found = self._find(path)
        if found is None:
            return self._put(path, [value])
        self._check_holder(path, found.node)
        if found.node.kind != "seq":
            raise wrong_shape(self, path, "an array")
        pair = (None, self._tree(path, value))
        step = Step(found.node, len(found.node.children))
        return self._verified(self._edits.insertion(found, None, value), found.way, step, pair)

    def remove(self, path: Path) -> YamlDocument:
        """Remove the member or element at path; returns the same document if there is none."""
        self.check_path(path)
        found = self._find(path)
        if not path or found is None:
            return self
        *above, step = found.way
        return self._verified(self._edits.removal(above, step), above, step, None)

    # Finding

    def _find(self, path: Path) -> Found | None:
        """The value at path as the host reads it: aliases and merge keys followed, the last of a doubled key."""
        if self._reading.root is None:
            return None
        node, way = self._reading.root, []
        for key in path:
            step = self._step(self._reading.target(node), key)
            if step is None:
                return None
            way.append(step)
            node = step.child.value
        return Found(node, tuple(way))

    def _step(self, holder: Node, key: str | int, seen: tuple[Node, ...] = ()) -> Step | None:
        places = holder.find(key)
        if places:
            return Step(holder, places[-1])
        for name, value in holder.children:
            source = self._reading.target(value)
            for mapping in (
                [child.value for child in source.children] if source.kind == "seq" else [source]
            ):
                merged = self._reading.target(mapping)
                if is_merge(name) and merged not in seen:
                    step = self._step(merged, key, (*seen, holder))
                    if step:
                        return step
        return None

    def _outdented(self, node: Node) -> str:
        """A node's text as it would stand at the left margin."""
        first, *lines = BREAK.split(self._text[node.start : self._edits.content_end(node)])
        depths = [len(line) - len(line.lstrip(" ")) for line in lines if line.strip()]
        block = node.children and not node.flow
        margin = self._edits.column(node.start) if block else max(0, min(depths, default=0) - 2)
        return "\n".join(
            [first, *(line[min(margin, len(line) - len(line.lstrip(" "))) :] for line in lines)]
        )

    def _reading_of(self, source: str) -> Reading:
        """A value's own source text, read as if it stood in this document."""
        return read(source + "\n", self.where, self._reading.anchors)

    def _nearest(self, path: Path) -> int:
        for length in range(len(path), -1, -1):
            found = self._find(path[:length])
            if found:
                return found.node.start
        return 0

    def _check_holder(self, path: Path, node: Node) -> None:
        """Refuse to edit inside what stands for more than one place."""
        name = ".".join(map(str, path)) or "the document"
        hint = "Write it out there, then run the command again."
        if node.kind == "alias":
            message = f"{name} is the alias *{node.text}, so an edit would change another place"
            raise self._error("unsupported_yaml", message, node.start, hint)
        if node.anchor in self._reading.aliased:
            message = (
                f"{name} is used elsewhere as *{node.anchor}, so an edit would change that too"
            )
            raise self._error("unsupported_yaml", message, node.start, hint)
        merge = next((key for key, _ in node.children if is_merge(key)), None)
        if merge:
            message = (
                f"{name} takes members of another mapping in here (<<), which an edit could hide"
            )
            raise self._error("unsupported_yaml", message, merge.start, hint)

    def _error(self, code: str, message: str, offset: int, hint: str) -> HookctlError:
        line, column = position_of(self._text, offset)
        return HookctlError(code, message, path=self.where, line=line, column=column, hint=hint)

    # Editing

    def _tree(self, path: Path, value: Any) -> Tree:
        try:
            return tree_of(value)
        except (KeyError, TypeError, ValueError) as error:
            raise unexpected(
                self, path, f"the new value cannot be written as YAML ({error!r})"
            ) from None

    def _put(self, path: Path, value: Any) -> YamlDocument:
        self.check_path(path)
        new = self._tree(path, value)
        found = self._find(path)
        if found and found.node.tree() == new:
            return self
        if found and not path:
            raise wrong_shape(self, path, "a part of the document")
        if found:
            *above, step = found.way
            pair = (step.child.key and step.child.key.tree(), new)
            return self._verified(self._edits.replacement(step, value), above, step, pair)
        for length in range(len(path) - 1, -1, -1):
            holder = self._find(path[:length])
            if holder:
                return self._insert(path, length, holder, value)
        value = self._wrapped(path, value)
        if not isinstance(value, dict):
            raise wrong_shape(self, (), "an object")
        return self._verified(self._edits.fill(value), (), None, (None, tree_of(value)))

    def _insert(self, path: Path, length: int, holder: Found, value: Any) -> YamlDocument:
        """Insert below the deepest existing parent; the value brings the missing ones."""
        key = path[length]
        if holder.node.kind != "map" or not isinstance(key, str):
            needed = "an object" if isinstance(key, str) else "an array with that element"
            raise wrong_shape(self, path[:length], needed)
        value = self._wrapped(path[length + 1 :], value)
        pair = (tree_of(key), tree_of(value))
        step = Step(holder.node, len(holder.node.children))
        return self._verified(self._edits.insertion(holder, key, value), holder.way, step, pair)

    def _wrapped(self, keys: Path, value: Any) -> Any:
        """The value wrapped in its missing parents."""
        for key in reversed(keys):
            if not isinstance(key, str):
                raise wrong_shape(self, keys, "an array that is there already")
            value = {key: value}
        return value

    def _verified(
        self, splices: list[Splice], above: Sequence[Step], step: Step | None, new: _Pair | None
    ) -> YamlDocument:
        """The spliced document, if it says exactly what was wanted."""
        text = spliced(self._text, splices)
        wanted = _edited(above, step, new) if step else new and new[1]
        spot = min(splice.start for splice in splices)
        try:
            reading = read(text, self.where)
        except HookctlError:
            raise self._edits.odd(spot) from None
        if reading.tree() != wanted:
            raise self._edits.odd(spot)
        return YamlDocument(text, self.where, reading)


def _edited(above: Sequence[Step], step: Step, new: _Pair | None) -> Tree:
    """The same edit on the nodes: an independent word on what the text must say afterwards."""
    kind, anchor, tag, children = step.holder.tree()
    children = (*children[: step.at], *([] if new is None else [new]), *children[step.at + 1 :])
    if not above and not children and not step.holder.flow:
        return None  # without its last member the document is empty
    tree = (kind, anchor, tag, children)
    for outer in reversed(above):
        kind, anchor, tag, children = outer.holder.tree()
        key = outer.child.key
        tree = (
            kind,
            anchor,
            tag,
            (*children[: outer.at], (key and key.tree(), tree), *children[outer.at + 1 :]),
        )
    return tree
