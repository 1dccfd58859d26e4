"""Lossless editing of JSON and JSONC: an edit is a few splices into the text; other bytes stay.

Each edit is verified: the new text is read again, and its tree must be the old tree with the same
edit made on plain values. So a wrong rule about commas or comments leads to a refusal, never to a
lost setting.
"""

from __future__ import annotations

import json
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from hookctl.documents import (
    MISSING,
    Document,
    Path,
    Splice,
    decode,
    duplicate_key,
    last_index,
    not_an_object,
    spliced,
    unexpected,
    wrapped,
)
from hookctl.documents.scan import (
    HOLE,
    Child,
    Container,
    New,
    Scan,
    Tree,
    contents,
    scan,
)
from hookctl.errors import HookctlError

if TYPE_CHECKING:  # most calls edit nothing
    from hookctl.documents.jsonc_layout import Layout


class _Spot(NamedTuple):
    """A value at a path: its span, its tree, and its index in its container."""

    child: Child
    tree: Tree
    index: int


class JsonDocument(Document):
    """An immutable JSON or JSONC document; each edit gives a new one."""

    def __init__(self, text: str, where: str, scanned: Scan) -> None:
        super().__init__(text, where)
        self._scan = scanned
        self._containers: dict[int, Container] = {}
        self._spots: dict[Path, _Spot] = {}
        self._edits: dict[Any, JsonDocument] = {}  # a plan that is made twice makes them again

    @classmethod
    def parse(cls, data: bytes, *, where: str = "", strict: bool = False) -> JsonDocument:
        """Parse a file's bytes; errors (not_utf8, unparsable) name `where`, line and column."""
        text = decode(data, where)
        return cls(text, where, scan(text, where, strict=strict))

    @cached_property
    def value(self) -> Any:
        return self.get(())

    def require_strict(self, *, comments: bool, trailing_commas: bool) -> None:
        faults = []
        if not comments:
            faults += [(begin, "comment") for begin, _ in self._scan.comments]
        if not trailing_commas:
            faults += [(offset, "trailing comma") for offset in self._scan.commas]
        if faults:
            offset, kind = min(faults)
            message = f"there is a {kind}, which this host does not read"
            raise self.error_at("strict_host", offset, message, "Remove it.")

    def check_path(self, path: Path) -> None:
        """Refuse (duplicate_key) a path through a duplicate key: the host uses the last one."""
        for length, key in enumerate(path):
            spot = self._find(path[:length])
            container = self._contents(spot) if spot else None
            if container is None:
                return
            if len(container.indexes) == len(container.starts):
                continue
            indexes = [index for index, (name, _) in enumerate(spot.tree) if name == key]
            if len(indexes) > 1:
                raise duplicate_key(self, key, container.starts[indexes[1]])

    def get(self, path: Path) -> Any:
        spot = self._find(path)
        if spot is None:
            return MISSING
        try:
            return json.loads(self._scan.shadow[spot.child.value : spot.child.end])
        except ValueError as error:  # an integer of thousands of digits
            message = f"this value cannot be read ({error})"
            raise self.error_at(
                "unparsable", spot.child.value, message, "Make it shorter."
            ) from None

    def raw(self, path: Path) -> str:
        """The source text of the value at path; KeyError if there is none."""
        spot = self._find(path)
        if spot is None:
            raise KeyError(path)
        return self._text[spot.child.value : spot.child.end]

    def offset(self, path: Path) -> int:
        spot, _ = self._nearest(path)
        return spot.child.value if spot else 0

    def insert_raw(self, path: Path, text: str) -> JsonDocument:
        *above, index = path
        holder, new = self._find(tuple(above)), self._source(path, text)
        container = holder and self._contents(holder)
        if holder is None or container is None or not isinstance(index, int):
            raise KeyError(path)
        splices = self._layout.insert_above(container, index, new)
        tree = [*holder.tree[:index], new.tree, *holder.tree[index:]]
        return self._verified(splices, tuple(above), new._replace(tree=tree))

    def _source(self, path: Path, text: str) -> New:
        try:
            given = scan(text, self.where, strict=False)
        except HookctlError as error:
            message = f"the source text cannot be read ({error.message})"
            raise unexpected(self, path, message) from None
        if (given.start, given.end) != (0, len(text)):
            raise unexpected(self, path, "the source text is not just a value")
        is_lenient = bool(given.comments or given.commas)
        return New(HOLE, given.tree, text, is_lenient)

    def _append(self, path: Path, index: int, value: Any) -> JsonDocument:
        spot, new = self._find(path), self._new(path, value)
        splices = self._layout.insert(self._contents(spot), None, new)
        return self._verified(splices, (*path, index), new)

    def remove(self, path: Path) -> JsonDocument:
        self.check_path(path)
        spot, holder = self._find(path), self._find(path[:-1])
        if not path or spot is None or holder is None:
            return self
        if isinstance(holder.tree, list):
            path = (*path[:-1], spot.index)
        return self._verified(self._layout.remove(self._contents(holder), spot.index), path, None)

    # Finding

    def _find(self, path: Path) -> _Spot | None:
        """The value at path; of a duplicate key the last one, as every host reads it."""
        start, end = self._scan.start, self._scan.end
        if start < 0:
            return None
        spot = _Spot(Child(start, start, end), self._scan.tree, 0)
        for length, key in enumerate(path, 1):
            if path[:length] not in self._spots:
                container = self._contents(spot)
                if isinstance(key, str) and isinstance(spot.tree, list) and key in spot.tree:
                    key = last_index(spot.tree, key)  # a text in an array is its own key
                if container is None or key not in container.indexes:
                    return None
                index = container.indexes[key]
                tree = spot.tree[index]
                if isinstance(key, str):
                    _, tree = tree
                self._spots[path[:length]] = _Spot(container.child(index), tree, index)
            spot = self._spots[path[:length]]
        return spot

    def _contents(self, spot: _Spot) -> Container | None:
        """What is in an object or array; None for any other value."""
        if not isinstance(spot.tree, tuple | list):
            return None
        start = spot.child.value
        if start not in self._containers:
            self._containers[start] = contents(self._scan.shadow, start, spot.tree)
        return self._containers[start]

    # Editing

    @cached_property
    def _layout(self) -> Layout:
        from hookctl.documents.jsonc_layout import Layout  # late: most calls edit nothing

        return Layout(self._text, self._scan)

    def _new(self, path: Path, value: Any) -> New:
        try:
            text = json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            message = f"the new value cannot be written as JSON ({error})"
            raise unexpected(self, path, message) from None
        return New(value, scan(text, self.where, strict=True).tree)

    def _put(self, path: Path, new: New) -> JsonDocument:
        self.check_path(path)
        spot, length = self._nearest(path)
        if spot and length == len(path):
            return self._verified(self._layout.replace(spot.child, new), path, new)
        if spot is None:
            new = self._wrapped(path, new)
            return self._verified(self._layout.fill(new), (), new)
        key = path[length]
        if not isinstance(spot.tree, tuple) or not isinstance(key, str):
            raise not_an_object(self, path[:length], key)
        new = self._wrapped(path[length + 1 :], new)
        splices = self._layout.insert(self._contents(spot), key, new)
        return self._verified(splices, path[: length + 1], new)

    def _wrapped(self, keys: Path, new: New) -> New:
        """The value wrapped in its missing parents."""
        value, tree = wrapped(self, keys, new.value), new.tree
        for key in reversed(keys):
            tree = ((key, tree),)
        return new._replace(value=value, tree=tree)

    def _verified(self, splices: list[Splice], path: Path, new: New | None) -> JsonDocument:
        """The spliced document, if it says exactly what was wanted and is as strict as before."""
        edit = (path, repr(new), *splices)
        if edit in self._edits:
            return self._edits[edit]
        text = spliced(self._text, splices)
        if text == self._text:
            return self
        is_lenient = bool(self._scan.comments or self._scan.commas or (new and new.is_lenient))
        try:
            scanned = scan(text, self.where, strict=not is_lenient)
        except HookctlError:
            scanned = None
        if scanned is None or scanned.tree != _edit_tree(self._scan.tree, path, new):
            raise unexpected(self, path, "the edit would not have given the wanted document")
        self._edits[edit] = self._edited(text, scanned)
        return self._edits[edit]

    def _edited(self, text: str, scanned: Scan) -> JsonDocument:
        return JsonDocument(text, self.where, scanned)


def _edit_tree(tree: Tree, path: Path, new: New | None) -> Tree:
    """Make the same edit on the tree, to cross-check the text edit; without `new` a removal."""
    if not path:
        return new and new.tree
    key, below = path[0], path[1:]
    is_removal = new is None and not below
    if isinstance(key, int):
        old = tree[key] if below else None
        elements = [] if is_removal else [_edit_tree(old, below, new)]
        return [*tree[:key], *elements, *tree[key + 1 :]]
    names = list(map(itemgetter(0), tree))
    index = names.index(key) if key in names else len(tree)
    old = tree[index][1] if below else None
    members = () if is_removal else ((key, _edit_tree(old, below, new)),)
    return (*tree[:index], *members, *tree[index + 1 :])
