"""What the host makes of a hook entry: does it load it, does it run, can it block?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hookctl.documents import MISSING
from hookctl.hosts import Host, timeout

SHORTEST = 2  # seconds; below, an interpreter on a busy machine may not even have started

_Place = tuple[Any, ...]


def knowledge(host: Host) -> dict[str, Any]:
    """What the host's file says of hook entries."""
    return host.data.get("handlers", {"types": [], "without_if": [], "events": []})


def faults(host: Host, event: str, groups: Any) -> Iterator[tuple[_Place, str]]:
    """The entries and groups of an event that the host does not load: the place below the event, and why."""
    if groups is MISSING:
        return
    if not isinstance(groups, list):
        yield (), "is not an array"
        return
    if host.shape.is_flat(event):
        yield from (((n,), wrong) for n, one in enumerate(groups) if (wrong := fault(host, one)))
        return
    for g, group in enumerate(groups):
        handlers = group.get("hooks") if isinstance(group, dict) else None
        if not isinstance(handlers, list):
            yield (g,), "is no group: it has no array `hooks`"
            continue
        if not isinstance(group.get("matcher", ""), str):
            yield (g, "matcher"), "is not a string"
        for h, handler in enumerate(handlers):
            wrong = fault(host, handler)
            if wrong:
                yield (g, "hooks", h), wrong


def fault(host: Host, handler: Any) -> str:
    """Why the host does not load an entry; empty if it does."""
    about = host.data["registration"]
    if not isinstance(handler, dict):
        return "is no object"
    if "type" in about.get("fields", {}) and not isinstance(handler.get("type"), str):
        return "has no type"
    types = knowledge(host)["types"]
    if types and handler["type"] not in types:
        return f"has a type that is none of {', '.join(types)}"
    seconds = handler.get(about.get("timeout", "timeout"), 1)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        return "has a timeout that is not a number above 0"
    commands = [handler.get(name) for name in about.get("commands", ["command"])]
    if handler.get("type", "command") == "command" and not any(isinstance(one, str) for one in commands):
        return "has no command"
    return ""


def never_runs(host: Host, event: str, handler: dict[str, Any]) -> str:
    """Why an entry that the host loads is never run; empty if it may be."""
    return "has `if`, with which no hook runs on this event" if _with_if(host, event, handler) else ""


def can_block(host: Host, event: str, handler: dict[str, Any]) -> bool:
    """Whether an entry is run, and the host waits for its answer, or is woken by it."""
    waits = handler.get("async") is not True or handler.get("asyncRewake") is True
    return not fault(host, handler) and not _with_if(host, event, handler) and waits


def disarmed(host: Host, event: str, fields: dict[str, Any], *, blocks: bool) -> str:
    """Why a hook of ours no longer does what it is for, in the words of an edit; `blocks` if the host must wait."""
    wrong = fault(host, fields) or ("" if isinstance(fields.get("matcher", ""), str) else "has a matcher that is none")
    if wrong:
        return f"it {wrong}, so {host.title} drops it"
    if _with_if(host, event, fields):
        return f"with `if` no hook runs on {event}"
    if fields.get("type", "command") != "command":
        return f"as a hook of type {fields['type']} it does not run its command"
    if "args" in fields:
        return "with `args` no shell runs the command"
    if fields.get("shell", "bash") != "bash":
        return "its command is for sh, and `shell` says otherwise"
    if blocks and fields.get("async") is True:
        return f"with `async` {host.title} does not wait for its answer"
    limit = fields.get(host.data["registration"].get("timeout", "timeout"))
    if blocks and limit is not None and limit < timeout(host, SHORTEST):
        return f"with a timeout below {SHORTEST} seconds it may be killed before it answers"
    return ""


def _with_if(host: Host, event: str, handler: dict[str, Any]) -> bool:
    return "if" in handler and event in knowledge(host)["without_if"]
