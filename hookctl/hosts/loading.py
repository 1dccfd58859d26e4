"""What a host does not load of a settings file that it can parse, by the rules in its data file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hookctl.documents import MISSING, Document
from hookctl.hosts import Host, handlers, shapes
from hookctl.masking import masked_text
from hookctl.model import Path
from hookctl.values import NamedTuple


class Fault(NamedTuple):
    """Something in a settings file that the host does not load."""

    code: str  # doctor's
    message: str
    is_whole: bool  # whether it costs the whole file
    subject: str = ""  # what to fix
    fix: str = ""  # the fix in full, where there is only one
    level: str = ""  # empty: the code's usual one


def faults(host: Host, document: Document) -> Iterator[Fault]:
    """Everything in a document that costs the whole file, or that the host drops alone."""
    if not isinstance(document.value, dict):
        return
    yield from _faults_of_known_keys(host, document)
    yield from _faults_at_root(host, document.value)
    for above, events in shapes.event_maps(host.shape, document.value):
        for event in events:
            yield from _faults_of_event(host, (*above, event), events[event])


def reason_not_loaded(host: Host, document: Document) -> str:
    """Why the host loads nothing of a file, or ''."""
    for fault in faults(host, document):
        if fault.is_whole:
            return fault.message
    return ""


def is_event(host: Host, name: str) -> bool:
    """Whether the host knows an event of this name, or one of ours goes there."""
    known = handlers.rules(host)["events"]
    if name in host.handlers.get("no_events", ()):
        return False
    return name in known if known else name in host.events.values() or _is_guarding(host, name)


def wrong_keys(host: Host, document: Document) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """The known keys that are not as the host wants them: name, what is wrong, line and column."""
    for name, rule in host.known_keys.items():
        path, value = tuple(name.split(".")), document.value
        for key in path:
            value = value.get(key, MISSING) if isinstance(value, dict) else MISSING
        needed = "" if value is MISSING else handlers.needed(value, rule)
        if needed:
            yield name, f"must be {needed}", document.position(path)


def _faults_of_known_keys(host: Host, document: Document) -> Iterator[Fault]:
    """A known key of a wrong type costs the whole file, hooks and env with it."""
    for name, wrong, (line, column) in wrong_keys(host, document):
        yield Fault("wrong_type", f"line {line}, column {column}: {name} {wrong}", True, name)


def _faults_at_root(host: Host, root: dict[str, Any]) -> Iterator[Fault]:
    """Keys at the root that the host does not bear, or misses, or looks below for nothing."""
    guarding = host.guarding
    for name in map(str, root) if guarding.root_keys or guarding.ignored_keys else ():
        if guarding.root_keys and name not in guarding.root_keys:
            quoted = _quote(name)
            message = f"{quoted} is not allowed at the root of this file"
            yield Fault("wrong_key", message, True, fix=f"Remove {quoted}.")
        if name in guarding.ignored_keys:
            quoted = _quote(name)
            message = f"{host.title} runs no hook below {quoted}, only those at the root"
            fix = f"Move what is below {quoted} to the root of this file, and remove {quoted}."
            yield Fault("lost_hook", message, False, fix=fix)
    needed = guarding.top and shapes.handlers(host.shape, root)
    for name, value in host.registration.top.items() if needed else ():
        text = json.dumps(value)
        if json.dumps(root.get(name)) != text:
            message = f"{name} at the root of this file must be {text}"
            yield Fault("wrong_key", message, True, fix=f"Set {name} to {text}.")


def _faults_of_event(host: Host, path: Path, groups: Any) -> Iterator[Fault]:
    """One event: does the host know it, and what of it does it load?"""
    event, dotted, known = str(path[-1]), _dotted(path), handlers.rules(host)
    is_ignored = len(path) == 1 and event in host.guarding.ignored_keys
    if event in known.get("no_events", ()) or is_ignored:
        return
    if known["events"] and event not in known["events"]:
        message = f"{dotted}: {host.title} {host.client.seen} has no such event"
        if host.guarding.unknown_events:
            yield Fault("unknown_event", message, True, "the name")
        elif host.shape.root or isinstance(groups, list):
            fix = "Fix the name: it is case-sensitive."
            yield Fault("unknown_event", message, False, fix=fix, level="warning")
        return
    if is_event(host, event):
        for fault in handlers.faults(host, event, groups):
            yield _fault_of_entry(host, event, _dotted((*path, *fault.path)), fault)


def _fault_of_entry(host: Host, event: str, name: str, fault: handlers.Fault) -> Fault:
    is_whole = _is_guarding(host, event) and not fault.is_harmless
    if fault.is_group:
        is_whole = is_whole and host.guarding.groups
    if is_whole:
        return Fault("invalid_hook", f"{name} {fault.reason}", True, "that entry")
    message = f"{name} {fault.reason}; {host.title} {host.faults.entry}"
    return Fault("lost_hook", message, False, "that entry")


def _is_guarding(host: Host, event: str) -> bool:
    """Whether one entry of an event that cannot be loaded costs the whole file."""
    return event in host.guarding.events or "*" in host.guarding.events


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))


def _quote(name: str) -> str:
    return json.dumps(masked_text(name), ensure_ascii=False)
