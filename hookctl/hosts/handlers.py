"""What the host makes of a hook entry: does it load it, does it run, can it block?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hookctl.documents import MISSING
from hookctl.hosts import Host, seconds
from hookctl.values import NamedTuple

SHORTEST = 2  # seconds; below, an interpreter on a busy machine may not even have started

_Path = tuple[Any, ...]

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}
# As far as a URL parser refuses them: no scheme, or no host where the scheme needs one.
_URL = (
    r"(?is)(?:https?|ftp|wss?):/*[^\s/?#]+(?:[/?#].*)?|(?!https?:|ftp:|wss?:)[a-z][a-z0-9+.-]*:.*"
)


class Fault(NamedTuple):
    """What the host does not load under an event."""

    path: _Path  # below the event
    reason: str
    is_group: bool = False  # a whole group, or all that the event has
    is_harmless: bool = False  # it never costs more than itself


def rules(host: Host) -> dict[str, Any]:
    """What the host's file says of hook entries."""
    return {
        "types": [],
        "without_if": [],
        "events": [],
        "fields": [],
        **host.handlers,
    }


def faults(host: Host, event: str, groups: Any) -> Iterator[Fault]:
    """The entries and groups of an event that the host does not load."""
    if groups is MISSING or (groups is None and host.null_is_absent):
        return
    if not isinstance(groups, list):
        is_harmless = groups is None and not host.guarding.null_events
        yield Fault((), "is not an array", is_harmless=is_harmless)
        return
    if host.shape.is_flat(event):
        for number, entry in enumerate(groups):
            reason = _flat_fault(host, entry)
            if reason:
                yield Fault((number,), reason)
        return
    for g, group in enumerate(groups):
        default = [] if rules(host).get("group_default") else None
        handlers = group.get("hooks", default) if isinstance(group, dict) else None
        if not isinstance(handlers, list):
            yield Fault((g,), "is not a group: it has no `hooks` array", True)
            continue
        if not _has_valid_matcher(host, group):
            yield Fault((g, "matcher"), "is not a string")
        for h, handler in enumerate(handlers):
            reason = fault(host, handler)
            if reason:
                yield Fault((g, "hooks", h), reason)


def _flat_fault(host: Host, entry: Any) -> str:
    """A host with a flat list may read groups there too; what is in them is not looked into."""
    return (
        ""
        if isinstance(entry, dict) and isinstance(entry.get("hooks"), list)
        else fault(host, entry)
    )


def _has_valid_matcher(host: Host, fields: dict[str, Any]) -> bool:
    return isinstance(_drop_nulls(host, fields).get("matcher", ""), str)


def _drop_nulls(host: Host, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields that count as there."""
    nulls = rules(host).get("nulls")
    return {name: value for name, value in fields.items() if value is not None} if nulls else fields


def commands(host: Host) -> list[str]:
    """The keys that a command may stand under."""
    return list(host.registration.commands)


def fault(host: Host, handler: Any) -> str:
    """Why the host does not load an entry; empty if it does."""
    if not isinstance(handler, dict):
        return "is not an object"
    given, handler = handler, _drop_nulls(host, handler)
    if rules(host).get("type_default"):
        handler = {"type": "command", **handler}
    if "type" in host.registration.fields and not isinstance(handler.get("type"), str):
        return "has no type"
    types = rules(host)["types"]
    if types and handler["type"] not in types:
        return f"has a type that is none of {', '.join(types)}"
    reason = _timeout_fault(host, handler) or _field_fault(host, handler, given)
    if reason:
        return reason
    values = [handler.get(name) for name in commands(host)]
    if handler.get("type", "command") == "command" and not any(
        isinstance(value, str) for value in values
    ):
        return "has no command"
    return ""


def needed(value: Any, rule: dict[str, Any]) -> str:
    """What a value must be by a rule of the host's file; empty if it is."""
    if value is None and rule.get("null"):
        return ""
    kinds = _KINDS[rule["type"]]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        return f"of type {rule['type']}"
    if "items" in rule:
        items = value.values() if isinstance(value, dict) else value
        if any(needed(item, {"type": rule["items"]}) for item in items):
            return f"of type {rule['type']}, with every item of type {rule['items']}"
    if "one_of" in rule and value not in (*rule["one_of"], *rule.get("aliases", ())):
        return f"one of {', '.join(rule['one_of'])}"
    if "above" in rule and value <= rule["above"]:
        return f"above {rule['above']}"
    if rule.get("filled") and not value:
        return "more than an empty text"
    if rule.get("url") and not re.fullmatch(_URL, value.strip()):
        return "a URL"
    return ""


def _field_fault(host: Host, handler: dict[str, Any], given: dict[str, Any]) -> str:
    """What is wrong with the fields of an entry, by the host's rules for its type.

    `given` still has the nulls that count as not there.
    """
    by_type, kind = rules(host).get("values", {}), handler.get("type")
    field_rules = dict(by_type.get("*", {}))
    if isinstance(kind, str):
        field_rules |= by_type.get(kind, {})
    for name, rule in field_rules.items():
        if rule.get("null") is False and given.get(name, "") is None:
            return f"has {name}, which must be of type {rule['type']}"
        if name not in handler:
            if rule.get("required"):
                return f"has no {name}"
            continue
        wanted = needed(handler[name], rule)
        if wanted:
            return f"has {name}, which must be {wanted}"
    return ""


def _timeout_fault(host: Host, handler: dict[str, Any]) -> str:
    kind, value = rules(host).get("timeout", "number"), handler.get(_timeout_key(host), 1)
    if kind == "any":
        return ""
    if kind == "whole":
        whole = type(value) is int or (isinstance(value, float) and value.is_integer())
        text = isinstance(value, str) and value.strip().lstrip("+-").isdecimal()
        return "" if whole or text else "has a timeout that is not a whole number"
    if kind == "integer":
        return (
            "" if type(value) is int and value >= 0 else "has a timeout that is not a whole number"
        )
    fits = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return "" if fits else "has a timeout that is not a number above 0"


def _timeout_key(host: Host) -> str:
    return host.registration.timeout


def timeout_seconds(host: Host, handler: dict[str, Any]) -> float | None:
    """The seconds that the host gives a hook; None where nothing that it reads says so."""
    value = handler.get(_timeout_key(host))
    if isinstance(value, str) and rules(host).get("timeout") in ("any", "whole"):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return seconds(host, value)


def never_runs(host: Host, event: str, handler: dict[str, Any]) -> str:
    """Why an entry that the host loads is never run; empty if it may be."""
    return (
        "has `if`, and no hook with `if` runs on this event"
        if _with_if(host, event, handler)
        else ""
    )


def can_block(host: Host, event: str, handler: dict[str, Any]) -> bool:
    """Whether an entry is run, and the host waits for its answer, or is woken by it."""
    waits = not _is_async(host, handler) or (
        _knows(host, "asyncRewake") and handler.get("asyncRewake") is True
    )
    return not fault(host, handler) and not _with_if(host, event, handler) and waits


def why_disarmed(host: Host, event: str, fields: dict[str, Any], *, blocks: bool) -> str:
    """Why a hook of hookctl no longer works, or ''; `blocks` if the host must wait for it."""
    reason = fault(host, fields) or (
        "" if _has_valid_matcher(host, fields) else "has a matcher that is not a string"
    )
    if reason:
        return f"it {reason}, so {host.title} drops it"
    if _with_if(host, event, fields):
        return f"no hook with `if` runs on {event}"
    if fields.get("type", "command") != "command":
        return f"as a hook of type {fields['type']} it does not run its command"
    if "args" in fields and _knows(host, "args"):
        return "with `args` no shell runs the command"
    if fields.get("shell", "bash") != "bash" and _knows(host, "shell"):
        return "its command needs sh, but `shell` names another shell"
    if blocks and _is_async(host, fields):
        return f"with `async` {host.title} does not wait for its answer"
    given = timeout_seconds(host, fields)
    if blocks and given is not None and given < SHORTEST:
        return f"with a timeout below {SHORTEST} seconds it may be killed before it answers"
    return ""


def _knows(host: Host, field: str) -> bool:
    return field in rules(host)["fields"]


def _is_async(host: Host, handler: dict[str, Any]) -> bool:
    return _knows(host, "async") and handler.get("async") is True


def _with_if(host: Host, event: str, handler: dict[str, Any]) -> bool:
    return "if" in handler and event in rules(host)["without_if"]
