"""How the host treats a settings file: can it read it, what does it load, does a hook run?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hookctl.documents import MISSING, Document
from hookctl.errors import HookctlError, nearest
from hookctl.hosts import Host, seconds, shapes
from hookctl.masking import masked_text
from hookctl.model import Path

SHORTEST = 2  # seconds; below, an interpreter on a busy machine may not even have started

_MARK = b"\xef\xbb\xbf"
_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}
# As a URL parser refuses them: no scheme, or no host where the scheme needs one.
_URL = (
    r"(?is)(?:https?|ftp|wss?):/*[^\s/?#]+(?:[/?#].*)?|(?!https?:|ftp:|wss?:)[a-z][a-z0-9+.-]*:.*"
)


class Fault(NamedTuple):
    """Something in a settings file that the host does not load."""

    code: str  # doctor's
    message: str
    is_whole: bool  # whether the host then ignores the whole file
    subject: str = ""  # what to fix
    fix: str = ""  # the fix in full, where there is only one
    level: str = ""  # empty: the code's usual one


class _EntryFault(NamedTuple):
    """A part of an event that the host does not load."""

    path: Path  # below the event
    reason: str
    is_group: bool = False  # a whole group, or all that the event has
    is_harmless: bool = False  # it never costs more than itself


# Reading


def cost(host: Host) -> str:
    """What the host does with a file that it cannot read, as a sentence."""
    return f"{host.title} {host.faults.file}"


def refusal(host: Host, document: Document) -> HookctlError | None:
    """Why the host cannot read a document that hookctl can read; None if it can."""
    try:
        if not host.byte_order_mark and document.data.startswith(_MARK):
            message = "there is a byte order mark, which this host does not read"
            raise document.error_at("strict_host", 0, message, "")
        document.require_strict(
            comments=host.comments,
            trailing_commas=host.trailing_commas,
            plain_comments=host.plain_comments,
        )
    except HookctlError as error:
        hint = f"Remove it, then run the command again: {cost(host)}."
        return error.reworded(error.message, hint)
    return None


def require(host: Host, document: Document) -> None:
    """Refuse (strict_host) a document that the host cannot read: no edit would have an effect."""
    error = refusal(host, document)
    if error:
        raise error


# Loading


def faults(host: Host, document: Document) -> Iterator[Fault]:
    """Everything for which the host ignores the whole file, or that it drops alone."""
    root = document.value
    if not isinstance(root, dict):
        return
    for name, wrong, (line, column) in wrong_keys(host, document):
        # For a known key of a wrong type the host ignores the whole file, with hooks and env.
        yield Fault("wrong_type", f"line {line}, column {column}: {name} {wrong}", True, name)
    yield from _faults_at_root(host, root)
    for above, events in shapes.event_maps(host.shape, root):
        for event in events:
            yield from _faults_of_event(host, document, (*above, event), events[event])


def reason_not_loaded(host: Host, document: Document) -> str:
    """Why the host loads nothing of a file, or ''."""
    for fault in faults(host, document):
        if fault.is_whole:
            return fault.message
    return ""


def is_event(host: Host, name: str) -> bool:
    """Whether the host knows an event of this name, or one of ours goes there."""
    if name in host.handlers.no_events:
        return False
    if host.handlers.events:
        return name in host.handlers.events
    return name in host.events.values() or _is_guarding(host, name)


def wrong_keys(host: Host, document: Document) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """The known keys with wrong values: name, what is wrong, line and column."""
    for name, rule in host.known_keys.items():
        path, value = tuple(name.split(".")), document.value
        for key in path:
            value = value.get(key, MISSING) if isinstance(value, dict) else MISSING
        needed = "" if value is MISSING else _needed(value, rule)
        if needed:
            yield name, f"must be {needed}", document.position(path)


def _faults_at_root(host: Host, root: dict[str, Any]) -> Iterator[Fault]:
    """Keys at the root that the host rejects, requires or ignores."""
    guarding = host.guarding
    for name in map(str, root) if guarding.root_keys or guarding.ignored_keys else ():
        quoted = json.dumps(masked_text(name), ensure_ascii=False)
        if guarding.root_keys and name not in guarding.root_keys:
            message = f"{quoted} is not allowed at the root of this file"
            yield Fault("wrong_key", message, True, fix=f"Remove {quoted}.")
        if name in guarding.ignored_keys:
            message = f"{host.title} runs no hook below {quoted}, only those at the root"
            fix = f"Move what is below {quoted} to the root of this file, and remove {quoted}."
            yield Fault("lost_hook", message, False, fix=fix)
    needed = guarding.top and shapes.handlers(host.shape, root)
    for name, value in host.registration.top.items() if needed else ():
        text = json.dumps(value)
        if json.dumps(root.get(name)) != text:
            message = f"{name} at the root of this file must be {text}"
            yield Fault("wrong_key", message, True, fix=f"Set {name} to {text}.")


def _faults_of_event(host: Host, document: Document, path: Path, groups: Any) -> Iterator[Fault]:
    """The faults of one event: is it unknown, and which of its entries are not loaded?"""
    event, known = str(path[-1]), host.handlers.events
    is_ignored = len(path) == 1 and event in host.guarding.ignored_keys
    if event in host.handlers.no_events or is_ignored:
        return
    if not event or (known and event not in known):
        message = f"{_place(document, path)}: {host.title} {host.client.seen} has no such event"
        fix = _suggest_event(event, known)
        if not event:  # of a list whose hooks name their events
            message, fix = f"{_place(document, path)} names no event", "Give it one."
        if host.guarding.unknown_events:
            yield Fault("unknown_event", message, True, "the name")
        elif host.shape.root or isinstance(groups, list):
            yield Fault("unknown_event", message, False, fix=fix, level="warning")
    elif is_event(host, event):
        for fault in _faults_of_groups(host, event, groups):
            place = _place(document, (*path, *fault.path))
            yield _fault_of_entry(host, event, place, fault)


def _suggest_event(event: str, known: Sequence[str]) -> str:
    """What to do about an event that the host does not have."""
    is_other_case = event.lower() in map(str.lower, known)
    rest = "The name is case-sensitive." if is_other_case else "Fix the name."
    return nearest(event, known) + rest


def _fault_of_entry(host: Host, event: str, place: str, fault: _EntryFault) -> Fault:
    is_whole = _is_guarding(host, event) and not fault.is_harmless
    if fault.is_group:
        is_whole = is_whole and host.guarding.groups
    if is_whole:
        return Fault("invalid_hook", f"{place} {fault.reason}", True, "that entry")
    message = f"{place} {fault.reason}; {host.title} {host.faults.entry}"
    return Fault("lost_hook", message, False, "that entry")


def _is_guarding(host: Host, event: str) -> bool:
    """Whether the host ignores the whole file for one entry that it cannot load."""
    return event in host.guarding.events or "*" in host.guarding.events


def _place(document: Document, path: Path) -> str:
    return f"line {document.position(path)[0]}: {document.name_of(path)}"


def _faults_of_groups(host: Host, event: str, groups: Any) -> Iterator[_EntryFault]:
    """The entries and groups of an event that the host does not load."""
    if groups is MISSING or (groups is None and host.null_is_absent):
        return
    if not isinstance(groups, list):
        is_harmless = groups is None and not host.guarding.null_events
        yield _EntryFault((), "is not an array", is_harmless=is_harmless)
        return
    for number, group in enumerate(groups):
        is_dict = isinstance(group, dict)
        if host.shape.is_flat(event):
            # There may be groups there too; their content is not checked.
            is_group = is_dict and takes_group(host, group)
            reason = "" if is_group else fault(host, event, group)
            if reason:
                yield _EntryFault((number,), reason)
            continue
        default = [] if host.handlers.group_default else None
        handlers = group.get("hooks", default) if is_dict else None
        if not isinstance(handlers, list):
            yield _EntryFault((number,), "is not a group: it has no `hooks` array", True)
            continue
        if not _has_valid_matcher(host, group):
            yield _EntryFault((number, "matcher"), "is not a string")
        for index, handler in enumerate(handlers):
            reason = fault(host, event, handler)
            if reason:
                yield _EntryFault((number, "hooks", index), reason)


def takes_group(host: Host, fields: dict[str, Any]) -> bool:
    """Whether what stands among the hooks of an event is a group of them to the host.

    In one list of all hooks there is none.
    """
    return isinstance(fields.get("hooks"), list) and not host.registration.event


def _has_valid_matcher(host: Host, fields: dict[str, Any]) -> bool:
    matcher = fields.get("matcher", "")
    return isinstance(matcher, str) or (matcher is None and host.handlers.nulls)


def fault(host: Host, event: str, handler: Any) -> str:
    """Why the host does not load an entry of an event; empty if it does."""
    if not isinstance(handler, dict):
        return "is not an object"
    given, rules = handler, host.handlers
    if rules.nulls:
        handler = {name: value for name, value in given.items() if value is not None}
    if rules.type_default:
        handler = {"type": "command", **handler}
    if "type" in host.registration.fields and not isinstance(handler.get("type"), str):
        return "has no type"
    if rules.types and handler["type"] not in rules.types:
        return f"has a type that is none of {', '.join(rules.types)}"
    reason = _timeout_fault(host, handler) or _field_fault(host, event, handler, given)
    strange = [name for name in handler if rules.only and name not in rules.only]
    if strange and not reason:
        name = json.dumps(masked_text(strange[0]), ensure_ascii=False)
        reason = f"has {name}, which no hook may have there"
    if reason:
        return reason
    commands = [handler.get(name) for name in host.registration.commands]
    has_command = any(isinstance(command, str) for command in commands)
    if handler.get("type", "command") == "command" and not has_command:
        return "has no command"
    return ""


def _needed(value: Any, rule: dict[str, Any]) -> str:
    """What a value must be by a rule of the host's file; empty if it fits."""
    if value is None and rule.get("null"):
        return ""
    if value in rule.get("aliases", ()):
        return ""
    kinds = _KINDS[rule["type"]]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        return f"of type {rule['type']}"
    if "items" in rule:
        items = value.values() if isinstance(value, dict) else value
        if any(_needed(item, {"type": rule["items"]}) for item in items):
            return f"of type {rule['type']}, with every item of type {rule['items']}"
    if "one_of" in rule and value not in rule["one_of"]:
        return f"one of {', '.join(rule['one_of'])}"
    if "above" in rule and value <= rule["above"]:
        return f"above {rule['above']}"
    if "most" in rule and value > rule["most"]:
        return f"{rule['most']} or less"
    if rule.get("filled") and not value:
        return "more than an empty text"
    if rule.get("visible") and not value.strip():
        return "more than blanks"
    if rule.get("url") and not re.fullmatch(_URL, value.strip()):
        return "a URL"
    return ""


def _field_fault(host: Host, event: str, handler: dict[str, Any], given: dict[str, Any]) -> str:
    """What is wrong with the fields of an entry, by the host's rules for its type.

    `given` still has the nulls that count as absent.
    """
    by_type, kind = host.handlers.values, handler.get("type")
    field_rules = dict(by_type.get("*", {}))
    if isinstance(kind, str):
        field_rules |= by_type.get(kind, {})
    for key, rule in field_rules.items():
        name = host.registration.names.get(key, key)
        if rule.get("null") is False and given.get(key, "") is None:
            return f"has {name}, which must be of type {rule['type']}"
        if key not in handler:
            if rule.get("required"):
                return f"has no {name}"
            continue
        wanted = _needed(handler[key], rule)
        if wanted:
            return f"has {name}, which must be {wanted}"
        if handler[key] and event not in rule.get("events", (event,)):
            return f"has {name}, which no hook may have on {event}"
    return ""


def _timeout_fault(host: Host, handler: dict[str, Any]) -> str:
    kind, value = host.handlers.timeout, handler.get(host.registration.timeout, 1)
    if kind == "any":
        return ""
    if kind == "text":
        fits = _as_number(value) is not None
        return "" if fits else "has a timeout that is not a number"
    if kind == "number":
        fits = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
        return "" if fits else "has a timeout that is not a number above 0"
    if kind == "integer":
        fits = type(value) is int and value >= 0
    else:
        is_whole = type(value) is int or (isinstance(value, float) and value.is_integer())
        is_text = isinstance(value, str) and value.strip().lstrip("+-").isdecimal()
        fits = is_whole or is_text
    return "" if fits else "has a timeout that is not a whole number"


# Running


def timeout_seconds(host: Host, handler: dict[str, Any]) -> float | None:
    """The seconds that the host gives a hook; None if it is not known."""
    value = handler.get(host.registration.timeout)
    if isinstance(value, str) and host.handlers.timeout in ("any", "whole", "text"):
        value = _as_number(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return seconds(host, value)


def _as_number(value: Any) -> float | None:
    """The number that a value is, or that its text is; None if it is none."""
    if not isinstance(value, str | int | float):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def never_runs(host: Host, event: str, handler: dict[str, Any]) -> str:
    """Why an entry that the host loads is never run; empty if it may be."""
    if "if" in handler and event in host.handlers.without_if:
        return f"has `if`, and no hook with `if` runs on {event}"
    if host.handlers.switch and handler.get(host.handlers.switch) is False:
        return f"is switched off: {host.handlers.switch} is false"
    name = _find_loop_variable(handler.get("command")) if host.handlers.needs_variables else ""
    if name:
        return f"has ${name} in its command, which {host.title} does not find: write $''{name}"
    return ""


def _find_loop_variable(command: Any) -> str:
    """A variable that only a loop or `read` of the command sets; empty if there is none."""
    if not isinstance(command, str):
        return ""
    used = set(re.findall(r"\$\{?([A-Za-z_]\w*)", command))
    used.difference_update(re.findall(r"\b([A-Za-z_]\w*+)=", command))
    looped = re.findall(r"\b(?:for|read)\s+(?:-\w+\s+)*([A-Za-z_]\w*)", command)
    return next((name for name in looped if name in used), "")


def can_block(host: Host, event: str, handler: dict[str, Any]) -> bool:
    """Whether an entry is run, and its answer counts: the host waits for it, or is woken by it."""
    if fault(host, event, handler) or never_runs(host, event, handler):
        return False
    is_woken = "asyncRewake" in host.handlers.fields and handler.get("asyncRewake") is True
    return is_woken or not _is_async(host, handler)


def why_disarmed(host: Host, event: str, fields: dict[str, Any], *, blocks: bool) -> str:
    """Why a hook of hookctl no longer works, or ''; `blocks` if the host must wait for it."""
    known, reason = host.handlers.fields, fault(host, event, fields)
    if not reason and not _has_valid_matcher(host, fields):
        reason = "has a matcher that is not a string"
    if reason:
        return f"it {reason}, so {host.title} drops it"
    if never_runs(host, event, fields):
        return f"it {never_runs(host, event, fields)}"
    if fields.get("type", "command") != "command":
        return f"as a hook of type {fields['type']} it does not run its command"
    if "args" in fields and "args" in known:
        return "with `args` no shell runs the command"
    if fields.get("shell", "bash") != "bash" and "shell" in known:
        return "its command needs sh, but `shell` names another shell"
    if blocks and _is_async(host, fields):
        return f"with `async` {host.title} does not wait for its answer"
    given = timeout_seconds(host, fields)
    if given is not None and given < SHORTEST:
        return f"with a timeout below {SHORTEST} seconds it may be killed before it answers"
    return ""


def _is_async(host: Host, handler: dict[str, Any]) -> bool:
    return "async" in host.handlers.fields and handler.get("async") is True


# What it makes of an exit status


def read_status(rules: Mapping[str, Any], status: int, said: str) -> str:
    """What a host does on an exit status alone, by its `reads` of an event; '' for nothing.

    `said` is what the hook told on the way out: refuse, end or context may need a text.
    """
    unless = rules.get("unless")
    if unless and unless in said:
        return ""
    for statuses, does in rules.get("status", {}).items():
        action, _, condition = does.partition(" ")
        if is_within(status, statuses) and (said or not condition):
            return "" if action == "nothing" else str(action)
    return ""


def is_within(status: int, statuses: str) -> bool:
    """Whether a status is one of `0 2+`: single ones, all from one on, or `any`."""
    for word in statuses.split():
        first = word.rstrip("+")
        if word == "any" or status == int(first) or (word != first and status > int(first)):
            return True
    return False
