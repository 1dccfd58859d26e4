"""Lossless editing of YAML: an edit is a few splices into the text; other bytes stay.

New members are lines of their own in the file's layout; a removal removes exactly a member's
lines. Each edit is verified: the new text is read again, and its nodes must be the old nodes with
the same edit. What cannot be edited so (an alias, a merge key, an unusual layout) is refused with
its position. The reader is PyYAML, like the hosts'; it is an optional extra.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from hookctl.documents import (
    BREAK,
    MISSING,
    Document,
    Path,
    Splice,
    decode,
    duplicate_key,
    not_an_object,
    spliced,
    unexpected,
    wrapped,
    wrong_shape,
)
from hookctl.documents.yaml_edits import Edits, Located, Step
from hookctl.documents.yaml_nodes import Node, Reading, Tree, load, read
from hookctl.documents.yaml_text import (
    Source,
    common_indent,
    flow,
    indent_of,
    is_merge,
    is_null,
    tree_of,
)
from hookctl.errors import HookctlError

_Pair = tuple[Tree, Tree]  # a key, None in a sequence, and a value


class YamlDocument(Document):
    """An immutable YAML document; each edit gives a new one."""

    def __init__(self, text: str, where: str, reading: Reading) -> None:
        super().__init__(text, where)
        self._reading = reading
        self._edits = Edits(text, where, reading.root)

    @classmethod
    def parse(cls, data: bytes, *, where: str = "") -> YamlDocument:
        """Parse a file's bytes; errors (not_utf8, unparsable, extra_missing) name the position."""
        text = decode(data, where)
        document = cls(text, where, read(text, where))
        _ = document.value  # refuses what the host's reader cannot read
        return document

    @cached_property
    def value(self) -> Any:
        """The parsed root value, or MISSING in an empty document."""
        return MISSING if self._reading.root is None else load(self._text, self.where)

    def raw(self, path: Path) -> str:
        """The source text of the value at path, moved to the left margin; KeyError if none."""
        located = self._find(path)
        if located is None and self.get(path) is MISSING:
            raise KeyError(path)
        if located:  # else an alias or a merge key brings it there
            node = located.node
            text = self._outdented(node)
            with contextlib.suppress(HookctlError):
                if node.start == node.end or self._reading_of(text).tree() == node.tree():
                    return text
        try:
            return flow(self.get(path))
        except TypeError:
            raise self._edits.unsupported(self.offset(path)) from None

    def offset(self, path: Path) -> int:
        """Where the value at path begins, or its nearest existing parent."""
        located, _ = self._nearest(path)
        return located.node.start if located else 0

    def check_path(self, path: Path) -> None:
        """Refuse a path through a duplicate key, an alias, or a mapping that merges another."""
        for length in range(len(path)):
            located = self._find(path[:length])
            if located is None or located.node.kind == "scalar":
                return
            self._check_holder(path[:length], located.node)
            indexes = located.node.find(path[length])
            if len(indexes) > 1:
                second_key = located.node.children[indexes[1]].key
                assert second_key
                raise duplicate_key(self, path[length], second_key.start)

    def set(self, path: Path, value: Any) -> YamlDocument:
        """Replace the value at path, or insert it after its siblings; creates missing parents."""
        return self._put(path, value)

    def set_raw(self, path: Path, text: str) -> YamlDocument:
        """Like set(), with a source text from an earlier raw()."""
        return self._put(path, self._source(path, text))

    def insert_raw(self, path: Path, text: str) -> YamlDocument:
        """Put a source text from an earlier raw() above an array's element and its comments."""
        *above, index = path
        located, new = self._find(tuple(above)), self._source(path, text)
        if located is None or not located.steps or not isinstance(index, int):
            raise KeyError(path)
        self._check_holder(tuple(above), located.node)
        splices = self._edits.insert_above(Step(located.node, index), new)
        kind, anchor, tag, children = located.node.tree()
        children = (*children[:index], (None, tree_of(new)), *children[index:])
        key = located.steps[-1].child.key
        pair = (key and key.tree(), (kind, anchor, tag, children))
        return self._verified(splices, located.steps, pair)

    def _source(self, path: Path, text: str) -> Source:
        """A source text as a new value."""
        try:
            root = self._reading_of(text).root
        except HookctlError as error:
            message = f"the source text cannot be read ({error.message})"
            raise unexpected(self, path, message) from None
        if root is None:
            root = Node("scalar", 0, 0, "tag:yaml.org,2002:null")
        return Source(text, root)

    def append(self, path: Path, value: Any) -> YamlDocument:
        """Add an element at the end of the array at path; creates the array if it is missing."""
        self.check_path(path)
        located = self._find(path)
        if located is None:
            return self._put(path, [value])
        self._check_holder(path, located.node)
        if is_null(located.node):
            return self._put(path, [value])
        if located.node.kind != "seq":
            raise wrong_shape(self, path, "an array")
        pair = (None, self._tree(path, value))
        splices = self._edits.insert(located, None, value)
        return self._verified(splices, located.steps_to_new, pair)

    def remove(self, path: Path) -> YamlDocument:
        """Remove the member or element at path; returns the same document if there is none."""
        self.check_path(path)
        located = self._find(path)
        if not path or located is None:
            return self
        *above, step = located.steps
        splices = self._edits.remove(above, step)
        if not above and len(step.holder.children) == 1 and not step.holder.flow:
            return self._verified(splices, (), None)  # the document is empty then
        return self._verified(splices, located.steps, None)

    # Finding

    def _find(self, path: Path) -> Located | None:
        """The value written at path, not what an alias or a merge key brings there.

        Of a duplicate key the last one counts, as the host reads it.
        """
        if self._reading.root is None:
            return None
        node = self._reading.root
        steps: list[Step] = []
        for key in path:
            indexes = node.find(key)
            if not indexes:
                return None
            steps.append(Step(node, indexes[-1]))
            node = steps[-1].child.value
        return Located(node, tuple(steps))

    def _outdented(self, node: Node) -> str:
        """A node's text as it would stand at the left margin."""
        first, *lines = BREAK.split(self._text[node.start : self._edits.content_end(node)])
        if node.children and not node.flow:
            margin = self._edits.column(node.start)
        else:
            margin = max(0, common_indent(lines) - 2)
        return "\n".join([first, *(line[min(margin, indent_of(line)) :] for line in lines)])

    def _reading_of(self, source: str) -> Reading:
        """A value's own source text, read as a part of this document."""
        return read(source + "\n", self.where, self._reading.anchors)

    def _check_holder(self, path: Path, node: Node) -> None:
        """Refuse to edit inside an alias, an anchor in use, or a mapping that merges another."""
        merges = [key.start for key, _ in node.children if key and is_merge(key)]
        offset = merges[0] if merges else node.start
        if node.kind == "alias":
            reason = f"is the alias *{node.text}, so an edit would change another place"
        elif node.anchor in self._reading.aliased:
            offset = node.start
            reason = f"is used elsewhere as *{node.anchor}, so an edit would change that too"
        elif merges:
            reason = "takes members of another mapping in here (<<), which an edit could hide"
        else:
            return
        name = self.name_of(path) or "the document"
        hint = "Write it out there, then run the command again."
        raise self.error_at("unsupported_yaml", offset, f"{name} {reason}", hint)

    # Editing

    def _tree(self, path: Path, value: Any) -> Tree:
        try:
            return tree_of(value)
        except (KeyError, TypeError, ValueError) as error:
            message = f"the new value cannot be written as YAML ({error!r})"
            raise unexpected(self, path, message) from None

    def _put(self, path: Path, value: Any) -> YamlDocument:
        self.check_path(path)
        new = self._tree(path, value)
        located = self._find(path)
        if located and located.node.tree() == new:
            return self
        if located and not path:
            raise wrong_shape(self, path, "a part of the document")
        if located:
            step = located.steps[-1]
            pair = (step.child.key and step.child.key.tree(), new)
            return self._verified(self._edits.replace(step, value), located.steps, pair)
        holder, length = self._nearest(path)
        if holder and length and is_null(holder.node):
            return self._put(path[:length], wrapped(self, path[length:], value))
        if holder:
            return self._insert(path, length, holder, value)
        value = wrapped(self, path, value)
        if not isinstance(value, dict):
            raise wrong_shape(self, (), "an object")
        return self._verified(self._edits.fill(value), (), (None, tree_of(value)))

    def _insert(self, path: Path, length: int, holder: Located, value: Any) -> YamlDocument:
        """Insert below the deepest existing parent; the value brings the missing ones."""
        key = path[length]
        if holder.node.kind != "map" or not isinstance(key, str):
            raise not_an_object(self, path[:length], key)
        value = wrapped(self, path[length + 1 :], value)
        pair = (tree_of(key), tree_of(value))
        splices = self._edits.insert(holder, key, value)
        return self._verified(splices, holder.steps_to_new, pair)

    def _verified(
        self, splices: list[Splice], steps: Sequence[Step], new: _Pair | None
    ) -> YamlDocument:
        """The spliced document, if it says exactly what was wanted: `new` at the last step."""
        text = spliced(self._text, splices)
        if steps:
            wanted = _edit_tree(self._reading.tree(), [step.child_index for step in steps], new)
        else:
            wanted = new and new[1]
        first_change = min(splice.start for splice in splices)
        try:
            reading = read(text, self.where)
        except HookctlError:
            raise self._edits.unsupported(first_change) from None
        if reading.tree() != wanted:
            raise self._edits.unsupported(first_change)
        return YamlDocument(text, self.where, reading)


def _edit_tree(tree: Tree, indexes: list[int], new: _Pair | None) -> Tree:
    """Make the same edit on the document's tree, to cross-check the text edit."""
    kind, anchor, tag, children = tree
    index, *below = indexes
    pairs = [] if new is None else [new]
    if below:
        key, value = children[index]
        pairs = [(key, _edit_tree(value, below, new))]
    return (kind, anchor, tag, (*children[:index], *pairs, *children[index + 1 :]))
