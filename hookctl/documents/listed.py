"""A settings file with one list of all hooks, in which each names its event in a field.

Such a file is shown as if it had a map of events, like those of other hosts: the hooks of an event
have their positions among those of that event. Each path is translated on its way to the file, so
nobody else knows of the list. What names no event stands below an event without a name.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

from hookctl.documents import MISSING, Document, Path, edit_value, unexpected, value_at


class Listing(NamedTuple):
    """Where the list is, the field with the event, and fields that stand under another name."""

    path: tuple[str, ...]
    event: str
    names: dict[str, tuple[str, ...]]  # the name that hookctl has for a field, and its real path

    @classmethod
    def parse(cls, text: str) -> Listing:
        """The listing behind the name of a format, such as `hooks.type,matcher=match`."""
        first, *renamed = text.split(",")
        *path, event = first.split(".")
        names = (part.split("=") for part in renamed)
        return cls(tuple(path), event, {name: tuple(real.split(".")) for name, real in names})

    def event_of(self, item: Any) -> str:
        """The event of an item of the list; empty if it names none."""
        event = item.get(self.event) if isinstance(item, dict) else None
        return event if isinstance(event, str) else ""

    def fields_of(self, item: Any) -> Any:
        """The fields of an item under hookctl's names, without its event and others of a name."""
        if not isinstance(item, dict):
            return item
        lifted = {}
        for name, path in self.names.items():
            value = value_at(item, path)
            if value is not MISSING:
                lifted[name] = value
                item = edit_value(item, path, MISSING)
                if item.get(path[0]) == {}:
                    item = edit_value(item, path[:1], MISSING)
        hidden = {self.event, *self.names}
        return {name: value for name, value in item.items() if name not in hidden} | lifted

    def path_of(self, name: str | int) -> Path:
        """The real path of a field of an item."""
        return self.names.get(str(name), (name,))

    def is_taken(self, name: str | int) -> bool:
        """Whether the field that the file has for this name is that of the event."""
        return name == self.event and name not in self.names

    def item_of(self, event: str, fields: Any) -> Any:
        """An item of the list, from its event and its fields under hookctl's names."""
        item: dict[str, Any] = {self.event: event}
        for name, value in fields.items():
            if not self.is_taken(name):
                item = edit_value(item, self.path_of(name), value)
        return item


class ListedDocument(Document):
    """An immutable document with a list of hooks, shown as a map of events."""

    def __init__(self, real: Document, listing: Listing) -> None:
        super().__init__(real.data.decode(), real.where)
        self.real, self._listing = real, listing
        self.event_field, self.list_path = listing.event, listing.path

    @cached_property
    def value(self) -> Any:
        """The parsed root value with the list as a map; a list that is no list stays no map."""
        root, items = self._listing.path, self.real.get(self._listing.path)
        if not isinstance(items, dict | list):
            return self.real.value
        shown: Any = [items]
        if isinstance(items, list):
            shown = {event: [] for event in self._numbers}
            for item in items:
                shown[self._listing.event_of(item)].append(self._listing.fields_of(item))
        return edit_value(self.real.value, root, shown)

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:  # positions in the list
        items, numbers = self.real.get(self._listing.path), dict[str, list[int]]()
        for number, item in enumerate(items if isinstance(items, list) else ()):
            numbers.setdefault(self._listing.event_of(item), []).append(number)
        return numbers

    def require_strict(self, *, comments: bool, trailing_commas: bool) -> None:
        self.real.require_strict(comments=comments, trailing_commas=trailing_commas)

    def check_path(self, path: Path, *, is_edited: bool = True) -> tuple[Any, int]:
        return self.real.check_path(self.translate(path), is_edited=is_edited)

    def name_of(self, path: Path) -> str:
        """The path with positions in the list; of an event, the field with it of its first hook."""
        if self._is_event(path) and self.get(path):
            path = (*path, 0, *([self._listing.event] if path[-1] else ()))
        name = ""
        for key in self.translate(path):
            name += f"[{key}]" if isinstance(key, int) else f".{key}"
        return name.removeprefix(".")

    def raw(self, path: Path) -> str:
        if self._is_event(path):
            raise KeyError(path)
        return self.real.raw(self.translate(path))

    def offset(self, path: Path) -> int:
        if self._is_event(path) and self.get(path):
            path = (*path, 0)
        return self.real.offset(self.translate(path))

    def set(self, path: Path, value: Any) -> Document:
        if self._is_event(path[:-2]) and self._listing.is_taken(path[-1]):
            return self
        if self._is_event(path[:-1]):
            value = self._listing.item_of(str(path[-2]), value)
        self._require_no_map(path)
        return self._shown(self.real.set(self.translate(path), value))

    def set_raw(self, path: Path, text: str) -> Document:
        self._require_no_map(path)
        return self._shown(self.real.set_raw(self.translate(path), text))

    def append(self, path: Path, value: Any) -> Document:
        if self._is_event(path):
            value = self._listing.item_of(str(path[-1]), value)
        return self._shown(self.real.append(self.translate(path), value))

    def remove(self, path: Path) -> Document:
        if self._is_event(path):
            raise unexpected(self, path, "hooks of a list are removed one by one")
        return self._shown(self.real.remove(self.translate(path)))

    def insert_raw(self, path: Path, text: str) -> Document:
        return self._shown(self.real.insert_raw(self.translate(path), text))

    def block(self, path: Path) -> str:
        return self.real.block(self.translate(path))

    def _shown(self, real: Document) -> Document:
        return self if real is self.real else ListedDocument(real, self._listing)

    def _is_event(self, path: Path) -> bool:
        """Whether a path is that of an event's hooks, which stand nowhere together."""
        root = self._listing.path
        return path[: len(root)] == root and len(path) == len(root) + 1

    def _require_no_map(self, path: Path) -> None:
        """Refuse to write a map of events, which the file does not have."""
        if self._is_event(path) or path == self._listing.path:
            raise unexpected(self, path, "hooks of a list are written one by one")

    def translate(self, path: Path) -> Path:
        root = self._listing.path
        if path[: len(root)] != root or len(path) <= len(root) + 1:
            return path[: len(root)] if self._is_event(path) else path
        event, index, *inner = path[len(root) :]
        numbers = self._numbers.get(str(event), [])
        is_there = isinstance(index, int) and 0 <= index < len(numbers)
        number = numbers[int(index)] if is_there else sum(map(len, self._numbers.values()))
        field = (*self._listing.path_of(inner[0]), *inner[1:]) if inner else ()
        return (*root, number, *field)
