"""The text of a settings file without disabled hooks, and with them again.

Both are made from a text of the file as it was before, and the steps that a disable made in it. As
long as nobody else has edited the file, what is put back is exactly that text. Otherwise the same
change is made in the edited text, line by line; and where those very lines were edited, the hook
goes behind its former neighbour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from hookctl.documents import MISSING, Document, formats
from hookctl.documents.merging import merge
from hookctl.engine import same
from hookctl.errors import HookctlError
from hookctl.hosts import Host, shapes
from hookctl.ledger.disabled import (
    CONTAINER,
    HOOK,
    NAME,
    SWITCH,
    VALUE,
    DisabledHook,
    Layer,
    Step,
)
from hookctl.model import DropHook, DropValue, Edit, HookEntry, Path, Prune, Put


def steps_of(hooks: Iterable[DisabledHook]) -> list[Step]:
    """All steps of some hooks."""
    return [step for hook in hooks for step in hook.steps]


def without(host: Host, before: Document, steps: Iterable[Step]) -> Document:
    """The document after these steps, whose paths are those before the first of them."""
    steps = list(steps)
    edits: list[Edit] = []
    for step in steps:
        if step.kind == HOOK:
            edits.append(DropHook(HookEntry(step.path, "", {})))
        elif step.kind == VALUE:
            edits.append(DropValue(step.path) if step.raw is None else Put(step.path, raw=step.raw))
    containers = [step for step in steps if step.kind == CONTAINER]
    for step in sorted(containers, key=lambda step: len(step.path), reverse=True):
        edits.append(Prune(step.path, step.raw))
    document = shapes.apply(host.shape, before, tuple(edits))
    for step in steps:
        if step.kind == SWITCH:
            document = document.set(step.path, False)
        elif step.kind == NAME:
            document = document.append(step.path, step.raw)
    return document


def path_before(host: Host, before: Document, steps: Iterable[Step], path: Path) -> Path:
    """The path that a hook has in the text before these steps, by its path after them."""
    dropped = {step.path for step in steps if step.kind == HOOK}
    if not dropped:
        return path
    left = [hook for hook, *_ in shapes.handlers(host.shape, before.value) if hook not in dropped]
    after = shapes.handlers(host.shape, without(host, before, steps).value)
    places = {hook: left[number] for number, (hook, *_) in enumerate(after)}
    return places[path]


def put_back(
    host: Host, current: Document, layer: Layer, hooks: Iterable[DisabledHook]
) -> Document:
    """The current document with some of a layer's hooks as they were in its text."""
    chosen = list(hooks)
    rest = [hook for hook in layer.hooks if hook not in chosen]
    parse = partial(formats.parse, host.format, where=current.where)
    before = parse(layer.text.encode())
    wanted = without(host, before, steps_of(rest)) if rest else before
    left = without(host, before, steps_of(layer.hooks))
    if current.data == left.data:
        return wanted
    edited = current
    for step in steps_of(chosen):
        edited = _undo(host, before, edited, step)
    merged = merge(left.data.decode(), current.data.decode(), wanted.data.decode())
    if merged is not None:
        try:
            document = parse(merged.encode())
        except HookctlError:
            return edited
        if same(document.value, edited.value):
            return document
    return edited


def _undo(host: Host, before: Document, current: Document, step: Step) -> Document:
    """The current document without one step."""
    if step.kind == HOOK:
        return _insert_hook(host, before, current, step.path)
    if step.kind == VALUE:
        return _put_value(before, current, step)
    if step.kind == SWITCH and current.get(step.path) is False:
        return _without_new_parents(before, _put_or_remove(before, current, step.path), step.path)
    if step.kind == NAME:
        names = current.get(step.path)
        if isinstance(names, list) and step.raw in names:
            document = current.remove((*step.path, names.index(step.raw)))
            return _without_new_parents(before, document, (*step.path, 0))
    return current


def _put_value(before: Document, current: Document, step: Step) -> Document:
    """The value as it was, unless somebody has set another one since."""
    is_there = current.get(step.path) is not MISSING
    if is_there and (step.raw is None or current.raw(step.path) != step.raw):
        return current
    return current.set_raw(step.path, before.raw(step.path))


def _put_or_remove(before: Document, current: Document, path: Path) -> Document:
    if before.get(path) is MISSING:
        return current.remove(path)
    return current.set_raw(path, before.raw(path))


def _without_new_parents(before: Document, current: Document, path: Path) -> Document:
    """The document without the empty containers on a path that were not there before."""
    for length in range(len(path) - 1, 0, -1):
        above = path[:length]
        if current.get(above) not in ({}, []) or before.get(above) is not MISSING:
            break
        current = current.remove(above)
    return current


# A hook behind its former neighbour.


def _insert_hook(host: Host, before: Document, current: Document, path: Path) -> Document:
    """The document with a hook of the text before, in its group or in one of its own."""
    shape = host.shape
    listed = path[: len(shape.root) + 1]
    place = path[len(listed)]
    assert isinstance(place, int)
    handler, raw = before.get(path), before.raw(path)
    if shape.is_flat(shapes.event_of(shape, path)):
        position = _position(current.get(listed), before.get(listed), place, same)
        return _insert(current, listed, position, handler, raw)
    group, index = before.get(path[:-2]), path[-1]
    assert isinstance(index, int)
    groups = current.get(listed)
    for number, other in enumerate(groups if isinstance(groups, list) else ()):
        if _is_same_group(other, group, index):
            inner = (*listed, number, "hooks")
            position = _position(other["hooks"], group["hooks"], index, same)
            return _insert(current, inner, position, handler, raw)
    is_alone = len(group["hooks"]) == 1
    position = _position(groups, before.get(listed), place, _share_hooks)
    text = before.raw(path[:-2]) if is_alone else ""
    return _insert(current, listed, position, {**group, "hooks": [handler]}, text)


def _hooks_in(group: Any) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []


def _is_same_group(other: Any, group: dict[str, Any], index: int) -> bool:
    """Whether a group is the one that a hook was in, by the matcher and a hook beside it."""
    mates = [hook for number, hook in enumerate(group["hooks"]) if number != index]
    is_alike = isinstance(other, dict) and same(other.get("matcher"), group.get("matcher"))
    return is_alike and any(same(hook, mate) for hook in _hooks_in(other) for mate in mates)


def _share_hooks(group: Any, other: Any) -> bool:
    return any(same(one, two) for one in _hooks_in(group) for two in _hooks_in(other))


def _position(
    current: Any, before: list[Any], place: int, is_same: Callable[[Any, Any], bool]
) -> int:
    """Where an item belongs: behind its former neighbour, or else before the next one."""
    items = current if isinstance(current, list) else []
    for neighbour in reversed(before[:place]):
        for number, item in reversed(list(enumerate(items))):
            if is_same(item, neighbour):
                return number + 1
    for neighbour in before[place + 1 :]:
        for number, item in enumerate(items):
            if is_same(item, neighbour):
                return number
    return len(items)


def _insert(document: Document, path: Path, position: int, value: Any, raw: str) -> Document:
    """The document with an item in a list: appended, and then moved up by its text."""
    edited = document.append(path, value)
    last = len(edited.get(path)) - 1
    try:
        if raw:
            edited = edited.set_raw((*path, last), raw)
        texts = [edited.raw((*path, number)) for number in range(position, last + 1)]
        for number, text in enumerate([texts[-1], *texts[:-1]], position):
            edited = edited.set_raw((*path, number), text)
    except (HookctlError, NotImplementedError, KeyError):
        return document.append(path, value)  # where an item's text cannot stand alone
    return edited
