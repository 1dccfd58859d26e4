"""How a hook element stands in a settings file: finding ours, adding, editing and removing them.

A host's file says its shape: where the map of events is, and whether an event's list holds handlers, or groups of
handlers under `hooks`. An element's fields are its handler's, and its group's matcher where the group holds nothing
else. To the rest of hookctl a command is always plain sh: for a host without a shell it is wrapped here.
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

from hookctl.documents import MISSING, Document
from hookctl.model import AddElement, CloseGap, Edit, EditElement, HookEntry, Path, Prune, Put
from hookctl.model import Drop as DropLeaf
from hookctl.model import DropElement as Removal

_HEAD = re.compile(r": hookctl=([A-Za-z0-9._-]+/[A-Za-z0-9._-]+); ")
_ANY = "{pack}"  # in a root: a key a pack
_GAP: dict[str, Any] = {"hooks": []}  # a group that keeps the place of those behind it


class Shape(NamedTuple):
    """What a host's file says of its registrations."""

    root: tuple[str, ...] = (
        "hooks",
    )  # where the map of events is; a key with {pack} stands for one a pack
    flat: tuple[
        str, ...
    ] = ()  # events whose list holds the handlers themselves; "*" stands for all
    shell: bool = True  # whether the host runs commands with a shell
    positions: bool = False  # whether what stands behind an element must keep its place

    def is_flat(self, event: str) -> bool:
        """Whether an event's list holds handlers, and no groups of them."""
        return "*" in self.flat or event in self.flat


def head(id: str) -> str:
    """The mark that makes a command ours: a shell no-op, valid before any sh command (design, section 4)."""
    return f": hookctl={id}; "


def is_ours(command: str) -> bool:
    """Whether a command carries our mark."""
    return bool(_HEAD.match(command))


def event_path(shape: Shape, event: str, pack: str) -> Path:
    """Where a pack's elements of an event go."""
    return (*(key.replace(_ANY, pack) for key in shape.root), event)


def is_event_path(shape: Shape, path: Path) -> bool:
    """Whether a pack's elements of some event may stand in the list at a path."""
    pairs = zip(shape.root, path, strict=False)
    return len(path) == len(shape.root) + 1 and all(
        key == there
        or (_ANY in key and re.fullmatch(key.replace(_ANY, "[a-z0-9{}-]+"), str(there)))
        for key, there in pairs
    )


def event_of(shape: Shape, path: Path) -> str:
    """The event that an element stands under, by its path or that of its list."""
    return str(path[len(shape.root)])


def handlers(shape: Shape, root: Any) -> list[tuple[Path, dict[str, Any], dict[str, Any]]]:
    """Every handler of a file with its path and its group, or itself where there is none; what is malformed is left."""
    return list(_handlers(shape, root))


def _handlers(shape: Shape, root: Any) -> Iterator[tuple[Path, dict[str, Any], dict[str, Any]]]:
    for above, events in event_maps(shape, root):
        for event, listed in events.items():
            for n, one in enumerate(listed if isinstance(listed, list) else ()):
                if not isinstance(one, dict):
                    continue
                if shape.is_flat(event):
                    yield (*above, event, n), one, one
                    continue
                inner = one.get("hooks")
                for h, handler in enumerate(inner if isinstance(inner, list) else ()):
                    if isinstance(handler, dict):
                        yield (*above, event, n, "hooks", h), handler, one


def gaps(shape: Shape, root: Any) -> list[Path]:
    """The event's list of every empty group that keeps the place of others, where a host knows hooks by their place."""
    maps = event_maps(shape, root) if shape.positions else ()
    return [
        (*above, event)
        for above, events in maps
        for event, listed in events.items()
        for one in (listed if isinstance(listed, list) else ())
        if one == _GAP
    ]


def gaps_at_the_end(document: Document, path: Path) -> int:
    """How many groups of an event's list keep the place of nothing, since they are its last and empty."""
    listed = document.get(path)
    return (
        len(list(itertools.takewhile(_GAP.__eq__, reversed(listed))))
        if isinstance(listed, list)
        else 0
    )


def event_maps(shape: Shape, root: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The maps of events in a file: one, or one a pack."""
    yield from _event_maps(shape.root, (), root)


def _event_maps(
    keys: tuple[str, ...], above: Path, value: Any
) -> Iterator[tuple[Path, dict[str, Any]]]:
    if not isinstance(value, dict):
        return
    if not keys:
        yield above, value
        return
    names = [name for name in value if isinstance(name, str)] if _ANY in keys[0] else [keys[0]]
    for name in names:
        if name in value:
            yield from _event_maps(keys[1:], (*above, name), value[name])


def elements(shape: Shape, root: Any) -> tuple[HookEntry, ...]:
    """The elements of ours in a file, whoever edited or moved them."""
    found = []
    for path, handler, group in _handlers(shape, root):
        command = _unwrapped(shape, handler.get("command"))
        match = _HEAD.match(command) if isinstance(command, str) else None
        if match:
            fields = {**handler, "command": command}
            if group is not handler and len(group["hooks"]) == 1 and "matcher" in group:
                fields["matcher"] = group["matcher"]
            found.append(HookEntry(path, match[1], fields))
    return tuple(found)


def _unwrapped(shape: Shape, command: Any) -> Any:
    """The sh command in the words that a host without a shell is given."""
    if shape.shell or not isinstance(command, str):
        return command
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return words[2] if len(words) == 3 and words[:2] == ["sh", "-c"] else command


def _as_written(shape: Shape, fields: dict[str, Any]) -> dict[str, Any]:
    """Fields as they stand in the host's file."""
    if shape.shell or not isinstance(fields.get("command"), str):
        return fields
    return {**fields, "command": f"sh -c {shlex.quote(fields['command'])}"}


def apply(shape: Shape, document: Document, edits: tuple[Edit, ...]) -> Document:
    """The document with all edits made; element paths are those of the document before the first edit."""
    # Appending shifts nothing, so additions may come before removals; removals go from the last to the first.
    for edit in edits:
        if isinstance(edit, EditElement):
            document = _edit_element(shape, document, edit)
    for edit in edits:
        if isinstance(edit, Put):
            put = (
                document.set(edit.path, edit.value)
                if edit.raw is None
                else document.set_raw(edit.path, edit.raw)
            )
            document = put
        elif isinstance(edit, DropLeaf):
            document = document.remove(edit.path)
        elif isinstance(edit, AddElement):
            document = document.append(edit.path, _entry(shape, edit))
    removals = [edit.element.path for edit in edits if isinstance(edit, Removal)]
    for path in sorted(
        removals, key=lambda path: [(isinstance(key, int), key) for key in path], reverse=True
    ):
        document = _remove_element(shape, document, path)
    for edit in edits:
        if isinstance(edit, CloseGap):
            document = document.remove((*edit.path, len(document.get(edit.path)) - 1))
    for edit in edits:
        if isinstance(edit, Prune) and _is_empty(document, edit.path):
            document = document.remove(edit.path)
    return document


def _is_empty(document: Document, path: Path) -> bool:
    """Not even a comment inside: that would be the operator's."""
    return document.get(path) in ({}, []) and "".join(document.raw(path).split()) in ("{}", "[]")


def _entry(shape: Shape, edit: AddElement) -> dict[str, Any]:
    """What is appended to an event's list for an element."""
    fields = _as_written(shape, edit.fields)
    if shape.is_flat(event_of(shape, edit.path)):
        return fields
    matcher = {"matcher": fields["matcher"]} if "matcher" in fields else {}
    return {
        **matcher,
        "hooks": [{name: value for name, value in fields.items() if name != "matcher"}],
    }


def _edit_element(shape: Shape, document: Document, edit: EditElement) -> Document:
    path = edit.element.path
    grouped = not shape.is_flat(event_of(shape, path))
    shared = (
        grouped and len(document.get(path[:-1])) > 1
    )  # then the matcher is that of the operator's hooks too
    for name, value in _as_written(shape, edit.fields).items():
        if name == "matcher" and shared:
            continue
        place = (*path[:-2], name) if name == "matcher" and grouped else (*path, name)
        document = document.remove(place) if value is None else document.set(place, value)
    return document


def _remove_element(shape: Shape, document: Document, path: Path) -> Document:
    """The handler, and its group where it held nothing but ours; something empty stays where places count."""
    if shape.positions and path[-1] != len(document.get(path[:-1])) - 1:
        return document.set(path, {"type": "command", "command": ":"})
    document = document.remove(path)
    if shape.is_flat(event_of(shape, path)):
        return document
    group = document.get(path[:-2])
    if group is MISSING or group["hooks"] or not set(group) <= {"hooks", "matcher"}:
        return document
    listed = document.get(path[:-3])
    if shape.positions and path[-3] != len(listed) - 1:
        return document.remove(
            (*path[:-2], "matcher")
        )  # an empty group keeps the place of those behind it
    return document.remove(path[:-2])
