"""Hooks in a settings file: find ours, add, edit and remove them.

A host's file says its shape: where the map of events is, and whether an event's list holds
handlers, or groups of handlers under `hooks`. A hook's fields are those of its handler, and the
matcher of its group if the group holds nothing else. The rest of hookctl sees plain sh commands:
this module wraps them for a host without a shell.
"""

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from hookctl.documents import MISSING, Document
from hookctl.model import (
    AddHook,
    CloseGap,
    DropHook,
    DropValue,
    Edit,
    EditHook,
    HookEntry,
    Path,
    Prune,
    Put,
)
from hookctl.system import files

_HEAD = re.compile(r": hookctl=([A-Za-z0-9._-]+/[A-Za-z0-9._-]+); ")
_ANY = "{pack}"  # in a root: one key for each pack
ID_LENGTH = 12  # characters
_SHORT = 8  # that people see: enough for the commands that take one
_WORD = r"""(?:'[^']*'|"[^"]*"|[^\s'"])+"""
_PLACEHOLDER: dict[str, Any] = {"hooks": []}  # an empty group: later groups keep their position


class Shape(NamedTuple):
    """How a host writes its registrations; model.read_host reads it by its annotations."""

    root: tuple[str, ...] = ("hooks",)  # the map of events; a key with {pack} stands for each pack
    flat: tuple[str, ...] = ()  # events whose list holds the handlers themselves; "*" for all
    shell: bool = True  # whether the host runs commands with a shell
    positions: bool = False  # whether later hooks must keep their position
    texts: tuple[str, ...] = ()  # a list in which each text of ours is an entry; () for none

    def is_flat(self, event: str) -> bool:
        """Whether an event's list holds handlers instead of groups."""
        return "*" in self.flat or event in self.flat

    def event_path(self, event: str, pack: str) -> Path:
        """The path of the list with a pack's hooks for one of the host's own events."""
        return (*(key.replace(_ANY, pack) for key in self.root), event)


# Before a command: where the host takes any failure for a refusal, only status 2 is one.
FAILS_OPEN = "trap '[ $? -eq 2 ] || exit 0' EXIT; "


def head(id: str) -> str:
    """The mark of our commands: a shell no-op that is valid before any sh command."""
    return f": hookctl={id}; "


def hook_digest(host: str, scope: str, event: str, matcher: str, command: str) -> str:
    """The digest that names a hook, whoever put it there; an ID is its beginning."""
    text = json.dumps([host, scope, event, matcher, command])
    return files.digest(text.encode("ascii"))


def number_ids(digests: Sequence[str]) -> list[str]:
    """The IDs of hooks, from the digests of all of them: a repeated one gets its number."""
    seen = Counter[str]()
    ids = []
    for name in digests:
        seen[name] += 1
        ids.append(name[:ID_LENGTH] + (f"#{seen[name]}" if seen[name] > 1 else ""))
    return ids


def shorten(id: str) -> str:
    """The beginning of an ID, with the number of a repeat."""
    name, sign, number = id.partition("#")
    return name[:_SHORT] + sign + number


def is_ours(command: str) -> bool:
    """Whether a command carries our mark."""
    return bool(_HEAD.match(command))


def is_event_path(shape: Shape, path: Path) -> bool:
    """Whether the list at a path may hold a pack's hooks of some event."""
    for pattern, key in zip(shape.root, path, strict=False):
        any_pack = pattern.replace(_ANY, "[a-z0-9{}-]+")
        if pattern != key and not (_ANY in pattern and re.fullmatch(any_pack, str(key))):
            return False
    return len(path) == len(shape.root) + 1


def event_of(shape: Shape, path: Path) -> str:
    """The event of a hook, from its path or the path of its list."""
    position = min(len(shape.root), len(path) - 1)  # the path may be one of another layout
    return str(path[position])


def handlers(shape: Shape, root: Any) -> list[tuple[Path, dict[str, Any], dict[str, Any]]]:
    """Path, handler and group (itself if it has none) of every well-formed handler of a file."""
    found = []
    for path, group in _groups(shape, root):
        inner = group.get("hooks") if isinstance(group, dict) else None
        if isinstance(group, dict) and shape.is_flat(str(path[-2])):
            found.append((path, group, group))
            inner = None
        for number, handler in enumerate(inner if isinstance(inner, list) else ()):
            if isinstance(handler, dict):
                found.append(((*path, "hooks", number), handler, group))
    return found


def _groups(shape: Shape, root: Any) -> Iterator[tuple[Path, Any]]:
    for above, events in event_maps(shape, root):
        for event, groups in events.items():
            for number, group in enumerate(groups if isinstance(groups, list) else ()):
                yield (*above, event, number), group


def gaps(shape: Shape, root: Any) -> list[Path]:
    """The path of every placeholder, on a host that identifies hooks by their position."""
    if not shape.positions:
        return []
    return [path for path, group in _groups(shape, root) if group == _PLACEHOLDER]


def gaps_at_the_end(document: Document, path: Path) -> int:
    """The number of placeholders at the end of an event's list, where no hook needs them."""
    number, groups = 0, document.get(path)
    for group in reversed(groups if isinstance(groups, list) else ()):
        if group != _PLACEHOLDER:
            break
        number += 1
    return number


def event_maps(shape: Shape, root: Any) -> list[tuple[Path, dict[str, Any]]]:
    """The maps of events in a file: a single one, or one for each pack."""
    maps: list[tuple[Path, Any]] = [((), root)]
    for key in shape.root:
        below: list[tuple[Path, Any]] = []
        for above, value in maps:
            names = value if isinstance(value, dict) else {}
            if _ANY not in key:
                names = [key] if key in names else []
            below += [((*above, name), value[name]) for name in names if isinstance(name, str)]
        maps = below
    return [(path, events) for path, events in maps if isinstance(events, dict)]


def elements(shape: Shape, root: Any) -> tuple[HookEntry, ...]:
    """Our hooks in a file, even if they were moved or edited."""
    found = (element(shape, *handler) for handler in handlers(shape, root))
    return tuple(hook for hook in found if hook)


def element(
    shape: Shape, path: Path, handler: dict[str, Any], group: dict[str, Any]
) -> HookEntry | None:
    """A handler as a hook of ours; None if it is none."""
    command = without_sh(shape, handler.get("command"))
    match = _HEAD.match(command) if isinstance(command, str) else None
    if not match:
        return None
    fields = {**handler, "command": command}
    if group is not handler and len(group["hooks"]) == 1 and "matcher" in group:
        fields["matcher"] = group["matcher"]
    return HookEntry(path, match[1], fields)


def without_sh(shape: Shape, command: Any) -> Any:
    """The sh command inside `sh -c`, on a host without a shell."""
    if shape.shell or not isinstance(command, str):
        return command
    words = split_words(command)
    if len(words) == 3 and words[:2] == ["sh", "-c"]:
        return words[2]
    return command


def split_words(command: str) -> list[str]:
    """The words of a command that is quoted as shlex.quote does it."""
    words = re.findall(_WORD, command)
    return [re.sub("'([^']*)'|\"([^\"]*)\"", r"\1\2", word) for word in words]


def as_written(shape: Shape, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields as the host's file has them."""
    if shape.shell or not isinstance(fields.get("command"), str):
        return fields
    return {**fields, "command": f"sh -c {shlex.quote(fields['command'])}"}


def apply(shape: Shape, document: Document, edits: tuple[Edit, ...]) -> Document:
    """The document with all edits made; hook paths are those before the first edit."""
    # Appending shifts nothing, so additions come before removals; removals run backwards.
    for edit in edits:
        if isinstance(edit, EditHook):
            document = _edit_element(shape, document, edit)
    for edit in edits:
        if isinstance(edit, Put) and shape.texts and edit.path[:-1] == shape.texts:
            document = document.append(shape.texts, edit.path[-1])
        elif isinstance(edit, Put) and edit.raw is not None:
            document = document.set_raw(edit.path, edit.raw)
        elif isinstance(edit, Put):
            document = document.set(edit.path, edit.value)
        elif isinstance(edit, DropValue):
            document = document.remove(edit.path)
        elif isinstance(edit, AddHook):
            document = _add_element(shape, document, edit)
    removals: list[Any] = [edit.element.path for edit in edits if isinstance(edit, DropHook)]
    for path in sorted(removals, reverse=True):
        document = _remove_element(shape, document, path)
    for edit in edits:
        if isinstance(edit, CloseGap):
            document = document.remove((*edit.path, len(document.get(edit.path)) - 1))
    for edit in edits:
        if isinstance(edit, Prune) and _is_empty(document, edit.path):
            is_new, path = edit.raw is None, edit.path
            document = document.remove(path) if is_new else document.set_raw(path, edit.raw)
    return document


def _add_element(shape: Shape, document: Document, edit: AddHook) -> Document:
    fields = as_written(shape, edit.fields)
    if shape.is_flat(event_of(shape, edit.path)):
        return document.append(edit.path, fields)
    matcher = {name: value for name, value in fields.items() if name == "matcher"}
    handler = {name: value for name, value in fields.items() if name != "matcher"}
    if edit.placeholder is None:
        return document.append(edit.path, {**matcher, "hooks": [handler]})
    group = (*edit.path, edit.placeholder)
    if matcher:
        document = document.set((*group, "matcher"), matcher["matcher"])
    return document.append((*group, "hooks"), handler)


def _is_empty(document: Document, path: Path) -> bool:
    """Whether a table or list has nothing inside, not even a comment."""
    return document.get(path) in ({}, []) and "".join(document.raw(path).split()) in ("{}", "[]")


def _edit_element(shape: Shape, document: Document, edit: EditHook) -> Document:
    path = edit.element.path
    is_grouped = not shape.is_flat(event_of(shape, path))
    # The matcher of a shared group belongs to the person's hooks too.
    is_shared = is_grouped and len(document.get(path[:-1])) > 1
    for name, value in as_written(shape, edit.fields).items():
        field_path = (*path, name)
        if name == "matcher" and is_shared:
            continue
        if name == "matcher" and is_grouped:
            field_path = (*path[:-2], name)
        remove = value is None
        document = document.remove(field_path) if remove else document.set(field_path, value)
    return document


def _remove_element(shape: Shape, document: Document, path: Path) -> Document:
    if shape.positions and path[-1] != len(document.get(path[:-1])) - 1:
        return document.set(path, {"type": "command", "command": ":"})
    document = document.remove(path)
    if shape.is_flat(event_of(shape, path)):
        return document
    group = document.get(path[:-2])
    if group is MISSING or group.get("hooks") or not set(group) <= {"hooks", "matcher"}:
        return document
    listed = document.get(path[:-3])
    if shape.positions and path[-3] != len(listed) - 1:
        # The empty group is a placeholder.
        return document.remove((*path[:-2], "matcher")).set(path[:-1], [])
    return document.remove(path[:-2])
