"""Settings files as plain values: what the engine is shown, and what its edits make of it, without any text."""

from __future__ import annotations

import copy
import json
from typing import Any

from hookctl.model import AddHook, Current, DropHook, DropValue, Edit, EditHook, HookEntry, Path, Prune, Put

HEAD = ": hookctl="


def live(document: Any) -> Current:
    """Everything that the document has at any path of keys, and the elements with an id of hookctl's."""
    values: dict[Path, Any] = {}
    pending: list[tuple[Path, Any]] = [((), document)]
    while pending:
        path, value = pending.pop()
        if path:
            values[path] = value
        if isinstance(value, dict):
            pending += [((*path, key), value[key]) for key in value]
    raw = {path: json.dumps(value) for path, value in values.items() if not isinstance(value, dict | list)}
    found = elements(document)
    raw |= {element.path: json.dumps(_holder(document, element.path)[element.path[-1]]) for element in found}
    return Current(values, raw, {one.id: [other for other in found if other.id == one.id] for one in found})


def elements(document: Any) -> tuple[HookEntry, ...]:
    found = []
    for event, groups in document.get("hooks", {}).items():
        for g, group in enumerate(groups):
            for h, handler in enumerate(group["hooks"]):
                if handler["command"].startswith(HEAD):
                    id = handler["command"].removeprefix(HEAD).partition(";")[0]
                    alone = "matcher" in group and len(group["hooks"]) == 1
                    fields = {**handler, "matcher": group["matcher"]} if alone else dict(handler)
                    found.append(HookEntry(("hooks", event, g, "hooks", h), id, fields))
    return tuple(found)


def bare(value: Any) -> Any:
    """Without empty containers, for comparisons in which it does not matter who made them."""
    if isinstance(value, dict):
        return {name: inner for name in value if (inner := bare(value[name])) not in ({}, [])}
    return [bare(inner) for inner in value] if isinstance(value, list) else value


def carried_out(document: Any, edits: tuple[Edit, ...]) -> Any:
    """The document after the edits; an edit that fits nothing fails the test."""
    result = copy.deepcopy(document)
    gone: list[tuple[Any, Any, Any]] = []
    for edit in edits:
        if isinstance(edit, Put):
            holder = _holder(result, edit.path, make=True)
            holder[edit.path[-1]] = edit.value if edit.raw is None else json.loads(edit.raw)
        elif isinstance(edit, DropValue):
            del _holder(result, edit.path)[edit.path[-1]]
        elif isinstance(edit, AddHook):
            handler = {name: value for name, value in edit.fields.items() if name != "matcher"}
            group = {**({"matcher": edit.fields["matcher"]} if "matcher" in edit.fields else {}), "hooks": [handler]}
            _holder(result, edit.path, make=True).setdefault(edit.path[-1], []).append(group)
        elif isinstance(edit, EditHook | DropHook):
            _, event, g, _, h = edit.element.path
            groups = result["hooks"][event]
            group, handler = groups[g], groups[g]["hooks"][h]
            if isinstance(edit, DropHook):
                gone.append((groups, group, handler))
                continue
            for name, value in edit.fields.items():
                if name == "matcher" and len(group["hooks"]) > 1:
                    continue  # it is that of the operator's hooks too
                place = group if name == "matcher" else handler
                place.pop(name, None) if value is None else place.update({name: value})
    for groups, group, handler in gone:
        _remove(group["hooks"], handler)
        if not group["hooks"]:
            _remove(groups, group)
    for edit in edits:
        if isinstance(edit, Prune) and not _holder(result, edit.path)[edit.path[-1]]:
            del _holder(result, edit.path)[edit.path[-1]]
    return result


def _holder(document: Any, path: Path, *, make: bool = False) -> Any:
    for key in path[:-1]:
        document = document.setdefault(key, {}) if make and isinstance(document, dict) else document[key]
    return document


def _remove(items: list[Any], item: Any) -> None:
    del items[next(index for index, other in enumerate(items) if other is item)]
