"""How a hook element stands in a settings file: finding ours, adding, editing and removing them.

`nested` is hooks -> event -> groups -> handlers. An element's fields are its handler's, and its group's matcher
where the group holds nothing else.
"""

from __future__ import annotations

import re
from typing import Any

from hookctl.documents import MISSING, Document
from hookctl.model import AddElement, Edit, EditElement, Element, Path, Prune, Put
from hookctl.model import Drop as DropLeaf
from hookctl.model import DropElement as Removal

_HEAD = re.compile(r": hookctl=([A-Za-z0-9._-]+/[A-Za-z0-9._-]+); ")


def head(id: str) -> str:
    """The mark that makes a command ours: a shell no-op, valid before any sh command (design, section 4)."""
    return f": hookctl={id}; "


def is_ours(command: str) -> bool:
    """Whether a command carries our mark."""
    return bool(_HEAD.match(command))


def event_path(event: str) -> Path:
    """Where the elements of an event go."""
    return ("hooks", event)


def handlers(root: Any) -> list[tuple[Path, dict[str, Any], dict[str, Any]]]:
    """Every handler of a nested file with its path and its group; malformed parts are passed over."""
    hooks = root.get("hooks") if isinstance(root, dict) else None
    found = []
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for g, group in enumerate(groups if isinstance(groups, list) else ()):
            inner = group.get("hooks") if isinstance(group, dict) else None
            for h, handler in enumerate(inner if isinstance(inner, list) else ()):
                if isinstance(handler, dict):
                    found.append((("hooks", event, g, "hooks", h), handler, group))
    return found


def elements(root: Any) -> tuple[Element, ...]:
    """The elements of ours in a nested file, whoever edited or moved them."""
    found = []
    for path, handler, group in handlers(root):
        command = handler.get("command")
        match = _HEAD.match(command) if isinstance(command, str) else None
        if match:
            alone = len(group["hooks"]) == 1 and "matcher" in group
            fields = {**handler, "matcher": group["matcher"]} if alone else dict(handler)
            found.append(Element(path, match[1], fields))
    return tuple(found)


def apply(document: Document, edits: tuple[Edit, ...]) -> Document:
    """The document with all edits made; element paths are those of the document before the first edit."""
    # Appending shifts nothing, so additions may come before removals; removals go from the last to the first.
    for edit in edits:
        if isinstance(edit, EditElement):
            document = _edit_element(document, edit)
    for edit in edits:
        if isinstance(edit, Put):
            put = document.set(edit.path, edit.value) if edit.raw is None else document.set_raw(edit.path, edit.raw)
            document = put
        elif isinstance(edit, DropLeaf):
            document = document.remove(edit.path)
        elif isinstance(edit, AddElement):
            document = document.append(edit.path, _group(edit.fields))
    for edit in sorted((e for e in edits if isinstance(e, Removal)), key=_position, reverse=True):
        document = _remove_element(document, edit.element.path)
    for edit in edits:
        if isinstance(edit, Prune) and _is_empty(document, edit.path):
            document = document.remove(edit.path)
    return document


def _is_empty(document: Document, path: Path) -> bool:
    """Not even a comment inside: that would be the operator's."""
    return document.get(path) in ({}, []) and "".join(document.raw(path).split()) in ("{}", "[]")


def _position(edit: Removal) -> tuple[str, int, int]:
    _, event, group, _, handler = edit.element.path
    return str(event), int(group), int(handler)


def _group(fields: dict[str, Any]) -> dict[str, Any]:
    matcher = {"matcher": fields["matcher"]} if "matcher" in fields else {}
    return {**matcher, "hooks": [{name: value for name, value in fields.items() if name != "matcher"}]}


def _edit_element(document: Document, edit: EditElement) -> Document:
    path = edit.element.path
    shared = len(document.get(path[:-1])) > 1  # then the matcher is that of the operator's hooks too
    for name, value in edit.fields.items():
        if name == "matcher" and shared:
            continue
        place = (*path[:-2], name) if name == "matcher" else (*path, name)
        document = document.remove(place) if value is None else document.set(place, value)
    return document


def _remove_element(document: Document, path: Path) -> Document:
    """The handler, and its group where it held nothing but ours."""
    document = document.remove(path)
    group = document.get(path[:-2])
    if group is not MISSING and not group["hooks"] and set(group) <= {"hooks", "matcher"}:
        document = document.remove(path[:-2])
    return document
