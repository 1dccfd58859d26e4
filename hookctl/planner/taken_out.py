"""The text of a settings file without disabled hooks, and with them again.

Both are made from a text of the file as it was before, and the steps that a disable made in it. As
long as nobody else has edited the file, what is put back is exactly that text. Otherwise the hook
goes behind its former neighbour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from hookctl.documents import MISSING, Document, formats
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
        elif step.kind == NAME and step.raw not in (document.get(step.path) or []):
            document = document.append(step.path, step.raw)
    return document


def path_before(host: Host, before: Document, steps: Iterable[Step], path: Path) -> Path:
    """The path that a hook has in the text before these steps, by its path after them."""
    dropped = {step.path for step in steps if step.kind == HOOK}
    if not dropped:
        return path
    left = [hook for hook in _list_by_event(host, before) if hook not in dropped]
    after = _list_by_event(host, without(host, before, steps))
    places = dict(zip(after, left, strict=True))
    return places[path]


def _list_by_event(host: Host, document: Document) -> list[Path]:
    """The paths of all hooks, event by event: of a list, the events come in another order later."""
    paths = [path for path, *_ in shapes.handlers(host.shape, document.value)]
    events = len(host.shape.root) + 1
    return sorted(paths, key=lambda path: [*map(str, path[:events])])


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
    return edited


def _undo(host: Host, before: Document, current: Document, step: Step) -> Document:
    """The current document without one step."""
    if step.kind == HOOK:
        return _insert_hook(host, before, current, step.path)
    if step.kind == VALUE:
        return _put_value(host, before, current, step)
    if step.kind == SWITCH and current.get(step.path) is False:
        return _without_new_parents(before, _put_or_remove(before, current, step.path), step.path)
    if step.kind == NAME:
        names = current.get(step.path)
        if isinstance(names, list) and step.raw in names:
            document = current.remove((*step.path, names.index(step.raw)))
            return _without_new_parents(before, document, (*step.path, 0))
    return current


def _put_value(host: Host, before: Document, current: Document, step: Step) -> Document:
    """The value as it was, unless somebody has set another one since."""
    is_there = current.get(step.path) is not MISSING
    if is_there and (step.raw is None or current.raw(step.path) != step.raw):
        return current
    return shapes.apply(host.shape, current, (Put(step.path, raw=before.raw(step.path)),))


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
    handler, texts = before.get(path), (before.raw(path), before.block(path))
    if shape.is_flat(shapes.event_of(shape, path)):
        position = _position(current.get(listed), before.get(listed), place, same)
        return _insert(current, (*listed, position), handler, *texts)
    group, index = before.get(path[:-2]), path[-1]
    assert isinstance(index, int)
    groups = current.get(listed)
    for number, other in enumerate(groups if isinstance(groups, list) else ()):
        if _is_same_group(other, group, index):
            inner = (*listed, number, "hooks")
            position = _position(other["hooks"], group["hooks"], index, same)
            return _insert(current, (*inner, position), handler, *texts)
    position = _position(groups, before.get(listed), place, _share_hooks)
    is_alone = len(group["hooks"]) == 1
    texts = (before.raw(path[:-2]), before.block(path[:-2])) if is_alone else ("", "")
    return _insert(current, (*listed, position), {**group, "hooks": [handler]}, *texts)


def _hooks_in(group: Any) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []


def _is_same_group(other: Any, group: dict[str, Any], index: int) -> bool:
    """Whether a group is the one that a hook was in, by the matcher and a hook beside it.

    Or by what is left of the group without any hook, where it has more than a matcher.
    """
    if isinstance(other, dict) and other.get("hooks") == [] and set(group) - {"hooks", "matcher"}:
        return same({**other, **group, "hooks": []}, other)
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
    return min(place, len(items))


def _insert(document: Document, path: Path, value: Any, raw: str, block: str) -> Document:
    """The document with an item in a list: its lines, or its text above the item there."""
    *above, position = path
    listed = tuple(above)
    try:
        if block:
            return document.insert_block(path, block)
        edited = document.append(listed, value)
        last = len(edited.get(listed)) - 1
        if block := edited.block((*listed, last)):
            return document.insert_block(path, block)
        if position != last:
            return document.insert_raw(path, raw or edited.raw((*listed, last)))
        return edited.set_raw(path, raw) if raw else edited
    except (HookctlError, KeyError):
        return document.append(listed, value)  # where an item's text cannot stand alone
