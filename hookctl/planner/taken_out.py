"""The text of a settings file without disabled hooks, and with them again.

Both are made from a text of the file as it was before, and the steps that a disable made in it. As
long as nobody else has edited the file, what is put back is exactly that text. Otherwise each hook
goes behind its nearest former predecessor that is still there, else in front.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
    count_equal,
)
from hookctl.model import DropHook, DropValue, Edit, HookEntry, Path, Prune, Put


def without(host: Host, before: Document, hooks: Iterable[DisabledHook]) -> Document:
    """The document after the steps of these hooks, whose paths are those before all of them."""
    steps = [step for hook in hooks for step in hook.steps]
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


def path_before(host: Host, before: Document, hooks: Iterable[DisabledHook], path: Path) -> Path:
    """The path that a hook has in the text before these were disabled, by its path after that."""
    dropped = {step.path for hook in hooks for step in hook.steps if step.kind == HOOK}
    left = [hook for hook in _list_by_event(host, before) if hook not in dropped]
    after = _list_by_event(host, without(host, before, hooks))
    return dict(zip(after, left, strict=True))[path]


def _list_by_event(host: Host, document: Document) -> list[Path]:
    """The paths of all hooks, event by event: of a list, the events come in another order later."""
    paths = [path for path, *_ in shapes.handlers(host.shape, document.value)]
    events = len(host.shape.root) + 1
    return sorted(paths, key=lambda path: [*map(str, path[:events])])


def make_layer(host: Host, text: str, hooks: Iterable[DisabledHook]) -> Layer:
    """A layer whose hooks know how many equal ones are left of its text."""
    hooks = list(hooks)
    after = without(host, formats.parse(host.format, text.encode()), hooks)
    counted = [hook._replace(left=count_equal(host, after, hook)) for hook in hooks]
    return Layer(text, tuple(counted))


def put_back(
    host: Host, current: Document, layer: Layer, chosen: Sequence[DisabledHook]
) -> Document:
    """The current document with some of a layer's hooks as they were in its text."""
    before = formats.parse(host.format, layer.text.encode(), where=current.where)
    if current.data == without(host, before, layer.hooks).data:
        return without(host, before, [hook for hook in layer.hooks if hook not in chosen])
    for hook in chosen:
        for step in hook.steps:
            current = _undo(host, before, current, step)
    return current


def _undo(host: Host, before: Document, current: Document, step: Step) -> Document:
    """The current document without one step; what somebody has set since stays."""
    path, is_there = step.path, current.get(step.path) is not MISSING
    if step.kind == HOOK:
        return _insert_hook(host, before, current, path)
    if step.kind == NAME:
        return _remove(before, current, (*path, str(step.raw)))
    if step.kind == SWITCH and before.get(path) is MISSING:
        return _remove(before, current, path) if current.get(path) is False else current
    is_as_left = not is_there if step.raw is None else is_there and current.raw(path) == step.raw
    if current.get(path) is False if step.kind == SWITCH else is_as_left:
        return shapes.apply(host.shape, current, (Put(path, raw=before.raw(path)),))
    return current


def _remove(before: Document, current: Document, path: Path) -> Document:
    """The document without a value, and without the containers of ours that this leaves empty."""
    current = current.remove(path)
    while (path := path[:-1]) and current.get(path) in ({}, []) and before.get(path) is MISSING:
        current = current.remove(path)
    return current


# A hook behind its former predecessor.


def _insert_hook(host: Host, before: Document, current: Document, path: Path) -> Document:
    """The document with a hook of the text before, in its group or in one of its own."""
    above = len(host.shape.root) + 1
    listed, item = path[:above], path[: above + 1]
    if path == item:
        return _insert(before, current, path, listed, same)
    group, groups = before.get(item), current.get(listed)
    mates = [number for number in range(len(group["hooks"])) if number != path[-1]]
    for number, other in enumerate(groups if isinstance(groups, list) else ()):
        if _is_same_group(other, group, mates):
            return _insert(before, current, path, (*listed, number, "hooks"), same)
    for mate in reversed(mates):
        before = before.remove((*item, "hooks", mate))
    return _insert(before, current, item, listed, _share_hooks)


def _insert(
    before: Document,
    current: Document,
    path: Path,
    listed: Path,
    is_same: Callable[[Any, Any], bool],
) -> Document:
    """The document with an item of the text before in a list, behind its nearest predecessor."""
    items, position = current.get(listed), 0
    items = items if isinstance(items, list) else []
    for former in before.get(path[:-1])[: path[-1]]:
        places = [number for number, item in enumerate(items, 1) if is_same(item, former)]
        position = places[-1] if places else position
    if block := before.block(path):
        return current.insert_block((*listed, position), block)
    try:
        if position < len(items):
            return current.insert_raw((*listed, position), before.raw(path))
        return current.append(listed, {}).set_raw((*listed, position), before.raw(path))
    except (HookctlError, KeyError):
        return current.append(listed, before.get(path))  # its text cannot stand alone


def _is_same_group(other: Any, group: dict[str, Any], mates: Iterable[int]) -> bool:
    """Whether a group is the one that a hook was in, by its matcher and one of the other hooks.

    Or by what is left of the group without any hook, where it has more than a matcher.
    """
    if not isinstance(other, dict) or not same(other.get("matcher"), group.get("matcher")):
        return False
    if other.get("hooks") == [] and set(group) - {"hooks", "matcher"}:
        return same({**other, **group, "hooks": []}, other)
    return any(same(hook, group["hooks"][mate]) for hook in _hooks_in(other) for mate in mates)


def _share_hooks(group: Any, other: Any) -> bool:
    return any(same(one, two) for one in _hooks_in(group) for two in _hooks_in(other))


def _hooks_in(group: Any) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []
