"""Does the host read the settings file at all, and are its hooks switched on?"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from hookctl import files
from hookctl.checks import Finding, Scene
from hookctl.documents import MISSING

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}


def check(scene: Scene) -> Iterator[Finding]:
    """Faults that make the host ignore the file, or its hooks."""
    document = scene.document
    if document is None or not isinstance(document.value, dict):
        return
    yield from _writable(scene)
    yield from _strictness(scene)
    yield from _known_keys(scene)
    yield from _guarding_events(scene)
    yield from _switches(scene)


def _writable(scene: Scene) -> Iterator[Finding]:
    read_only = False
    with contextlib.suppress(OSError):  # it went just now
        read_only = files.is_read_only(scene.path)
    if read_only:
        message = "the file is read-only, so neither install nor uninstall can change it"
        yield scene.find("read_only", "error", message, "Make it writable, or change it where it is generated.")


def _strictness(scene: Scene) -> Iterator[Finding]:
    document, host = scene.document, scene.host
    fault = document.fault if document else None
    if fault is None or (host.comments and host.trailing_commas):
        return
    kind, line, column = fault
    message = f"line {line}, column {column}: a {kind}; {host.title} ignores the whole file because of it, silently"
    yield scene.find("strict_host", "error", message, f"Remove the {kind}.")


def _known_keys(scene: Scene) -> Iterator[Finding]:
    """A known key of a wrong type costs the whole file, hooks and env with it."""
    for name, rule in scene.host.data["known_keys"].items():
        path = tuple(name.split("."))
        value = scene.document.get(path) if scene.document else MISSING
        if value is MISSING:
            continue
        wrong = _wrong(value, rule)
        if wrong:
            line, column = scene.document.position(path)  # type: ignore[union-attr]  # it has the value
            at, title = f"line {line}, column {column}", scene.host.title
            message = f"{at}: {name} {wrong}; {title} ignores the whole file for that"
            yield scene.find("wrong_type", "error", message, f"Mend {name}, or remove it.")


def _wrong(value: Any, rule: dict[str, Any]) -> str:
    kinds = _KINDS[rule["type"]]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        return f"must be of type {rule['type']}"
    if "one_of" in rule and value not in rule["one_of"]:
        return f"must be one of {', '.join(rule['one_of'])}"
    if "above" in rule and value <= rule["above"]:
        return f"must be above {rule['above']}"
    return ""


def _guarding_events(scene: Scene) -> Iterator[Finding]:
    """An entry that cannot be loaded under one of these events costs the whole file too."""
    for event in scene.host.data["guarding"]["events"]:
        groups = scene.document.get(("hooks", event)) if scene.document else MISSING
        for place, wrong in _bad_entries(groups):
            path = ".".join(map(str, ("hooks", event, *place)))
            message = f"{path} {wrong}; {scene.host.title} ignores the whole file for that"
            yield scene.find("invalid_hook", "error", message, "Mend that entry, or remove it.")


def _bad_entries(groups: Any) -> Iterator[tuple[tuple[Any, ...], str]]:
    if groups is MISSING:
        return
    if not isinstance(groups, list):
        yield (), "is not an array"
        return
    for g, group in enumerate(groups):
        handlers = group.get("hooks") if isinstance(group, dict) else None
        if not isinstance(handlers, list):
            yield (g,), "is no group: it has no array `hooks`"
            continue
        if not isinstance(group.get("matcher", ""), str):
            yield (g, "matcher"), "is not a string"
        for h, handler in enumerate(handlers):
            wrong = _bad_handler(handler)
            if wrong:
                yield (g, "hooks", h), wrong


def _bad_handler(handler: Any) -> str:
    if not isinstance(handler, dict) or not isinstance(handler.get("type"), str):
        return "has no type"
    timeout = handler.get("timeout", 1)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0:
        return "has a timeout that is not a number above 0"
    if handler["type"] == "command" and not isinstance(handler.get("command"), str):
        return "has no command"
    return ""


def _switches(scene: Scene) -> Iterator[Finding]:
    key = scene.host.data["switches"]["disable"]
    if scene.document and scene.document.get((key,)) is True:
        message = f"{key} is true, so no hook runs, the guard's neither"
        yield scene.find("hooks_disabled", "error", message, f"Remove {key}, or set it to false.")
