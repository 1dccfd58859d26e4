"""How a host takes a settings file: what it cannot read, what a fault costs, and what never runs.

What a host's file says in `loading` is asked here: the faults that cost more than the hook that has
them. A fault reaches its own item, its event, the whole file, or keeps the client from starting.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hookctl.documents import MISSING, Document, value_at
from hookctl.errors import HookctlError, nearest
from hookctl.hosts import Host, matchers, seconds, shapes
from hookctl.masking import masked_text
from hookctl.model import Path

SHORTEST = 2  # seconds; below, an interpreter on a busy machine may not even have started
# How far a fault reaches.
NOWHERE, ITEM, EVENT, FILE = "none", "item", "event", "file"
EVERYWHERE = "everywhere"  # that event in every file
HOST, CLIENT = "host", "client"  # every hook of the host; and it does not even start

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
# What a fault of a kind costs where the host's file says nothing else; any other kind: its item.
_USUAL = {
    "text": FILE,
    "key": FILE,
    "top": NOWHERE,
    "bare": NOWHERE,
    "known": FILE,
    "hooks": FILE,
    "list": EVENT,
    "null": EVENT,
}
_NO_GROUP = "is not a group: it has no `hooks` array"
_CODES = {
    "text": "strict_host",
    "known": "wrong_type",
    "key": "wrong_key",
    "top": "wrong_key",
    "bare": "wrong_key",
    "event": "unknown_event",
}


class Fault(NamedTuple):
    """Something in a settings file that the host does not take."""

    kind: str  # one of those that schemas/host.schema.json names under `loading`, or never
    path: Path
    reason: str  # what is wrong, after the name of the place
    reach: str
    fix: str = ""  # empty: fix that place, or remove it

    @property
    def is_whole(self) -> bool:
        """Whether it costs every hook of the file."""
        return self.reach in (FILE, HOST, CLIENT)

    @property
    def code(self) -> str:
        """Doctor's code for it."""
        return _CODES.get(self.kind, "invalid_hook")


class Entry(NamedTuple):
    """What stands in a settings file as a hook, well-formed or not."""

    path: Path
    event: str
    fields: dict[str, Any]
    group: dict[str, Any]  # the group around it; the same as `fields` where there is none
    faults: tuple[Fault, ...] = ()  # that cost it, those of its group and its event first

    @property
    def matcher(self) -> Any:
        """The matcher, of whatever type; None for none."""
        return self.group.get("matcher")


class Contents(NamedTuple):
    """What a host makes of a settings file."""

    entries: tuple[Entry, ...]
    faults: tuple[Fault, ...]

    @property
    def whole(self) -> Fault | None:
        """The fault that costs every hook of the file; the one that stops the client first."""
        whole = [fault for fault in self.faults if fault.is_whole]
        order = (CLIENT, HOST, FILE)
        return min(whole, key=lambda fault: order.index(fault.reach), default=None)


class Unreadable(NamedTuple):
    """A file of which a host takes nothing; hookctl may be able to read it."""

    path: str
    line: int  # 0 where none is known
    message: str
    code: str = ""  # of the finding about it
    fix: str = ""
    scope: str = ""
    stops_client: bool = False

    @property
    def text(self) -> str:
        """What is wrong, and on which line."""
        return f"line {self.line}: {self.message}" if self.line else self.message

    @property
    def sentence(self) -> str:
        """The same for a place where the file is not named."""
        return f"{f'line {self.line} of ' if self.line else ''}{self.path}: {self.message}"


# The text.


def cost(host: Host, reach: str = "") -> str:
    """What the host does after a fault, as a sentence; one in the text unless `reach` is given."""
    words = {ITEM: host.loading.entry, EVENT: host.loading.entry, CLIENT: host.loading.client}
    words |= {HOST: "runs no hook of any file", EVERYWHERE: "runs no hook of its event"}
    return f"{host.title} {words.get(reach or reach_of(host, 'text'), host.loading.file)}"


def refusal(host: Host, document: Document) -> HookctlError | None:
    """Why the host cannot read a document that hookctl can read; None if it can."""
    try:
        if not host.byte_order_mark and document.data.startswith(_MARK):
            message = "there is a byte order mark, which this host does not read"
            raise document.error_at("strict_host", 0, message, "")
        document.require_strict(comments=host.comments, trailing_commas=host.trailing_commas)
    except HookctlError as error:
        hint = f"Remove it, then run the command again: {cost(host)}."
        return error.reworded(error.message, hint)
    return None


def require(host: Host, document: Document) -> None:
    """Refuse (strict_host) a document that the host cannot read: no edit would have an effect."""
    error = refusal(host, document)
    if error:
        raise error


# What stands in the file.


def read(host: Host, document: Document) -> Contents:
    """Every hook in a file whose text the host can read, and every fault of it."""
    root = document.value
    if root is MISSING:
        return Contents((), () if host.empty else (make_fault(host, "text", (), "is empty"),))
    if not isinstance(root, dict):
        return Contents((), (make_fault(host, "hooks", (), "is not an object"),))
    entries: list[Entry] = []
    faults: list[Fault] = []
    for name, rule in host.known_keys.items():
        path = tuple(name.split("."))
        value = root.get(path[0], MISSING)
        if path[1:]:
            value = value_at(value, path[1:])
        if value is not MISSING and (needed := _needed(value, rule)):
            faults.append(make_fault(host, "known", path, f"must be {needed}"))
    for name in root if host.loading.root_keys else ():
        if name not in host.loading.root_keys:
            reason = "is not allowed at the root of this file"
            fix = f"Remove {json.dumps(masked_text(str(name)), ensure_ascii=False)}."
            faults.append(make_fault(host, "key", (name,), reason, fix))
    has_hooks = bool(shapes.handlers(host.shape, root))
    for name, value in host.registration.top.items() if has_hooks else ():
        text = json.dumps(value)
        if json.dumps(root.get(name)) != text:
            kind = "top" if name in root else "bare"
            reason = f"at the root of this file must be {text}"
            faults.append(make_fault(host, kind, (name,), reason, f"Set {name} to {text}."))
    path = host.shape.root[:1]
    value = value_at(root, path) if path else {}
    is_none = value is MISSING or (value is None and host.null_is_absent)
    if not is_none and not isinstance(value, dict):
        needed = "an array" if path == document.list_path else "an object"
        faults.append(make_fault(host, "hooks", path, f"is not {needed}"))
    for above, events in shapes.event_maps(host.shape, root):
        for event, items in events.items():
            _read_event(host, (*above, event), items, entries, faults)
    for key in [key for key in host.loading.ignored_keys if key in root]:
        reason = f"has no hook that {host.title} runs: only those at the root of this file"
        fix = f'Move what is below "{key}" to the root of this file, and remove "{key}".'
        faults.append(Fault("place", (key,), reason, ITEM, fix))
        shape = host.shape._replace(root=(*host.shape.root, key))
        for path, fields, group in shapes.handlers(shape, root):
            entries.append(Entry(path, shapes.event_of(shape, path), fields, group))
    faults = [fault for fault in faults if fault.reach != NOWHERE]
    return Contents(tuple(_with_faults(host, entries, faults)), tuple(faults))


def read_alone(host: Host, events: dict[str, Any]) -> list[Entry]:
    """Every hook of a map of events at the root of a host's shape, as a plugin has one.

    What a fault costs beside its own item is known of settings files alone.
    """
    entries: list[Entry] = []
    faults: list[Fault] = []
    for event, items in events.items():
        _read_event(host, (*host.shape.root, event), items, entries, faults)
    faults = [fault._replace(reach=ITEM) for fault in faults if fault.reach != NOWHERE]
    return list(_with_faults(host, entries, faults))


def find_fault(
    host: Host, scope: str, path: str, document: Document, contents: Contents | None = None
) -> Unreadable | None:
    """Why a host takes nothing from a file that hookctl can read; None if it does."""
    error = refusal(host, document)
    if error:
        message, stops = f"{error.message}; {cost(host)}", reach_of(host, "text") == CLIENT
        return Unreadable(path, error.line, message, error.code, "Remove it.", scope, stops)
    fault = (contents or read(host, document)).whole
    if fault is None:
        return None
    name = document.name_of(fault.path) if fault.path else "the file"
    message = f"{name} {fault.reason}; {cost(host, fault.reach)}"
    line, stops = document.position(fault.path)[0], fault.reach in (HOST, CLIENT)
    return Unreadable(path, line, message, fault.code, fault.fix, scope, stops)


def reach_of(host: Host, kind: str, event: str = "") -> str:
    """How far a fault of a kind reaches: by the first row that fits."""
    for row in host.loading.costs:
        what, _, reach = row.partition(": ")
        kinds, _, events = what.partition(" at ")
        is_of_kind = kind in kinds.split() or "*" in kinds
        if is_of_kind and (not events or event in events.split()):
            return str(reach)
    return _USUAL.get(kind, ITEM)


def make_fault(host: Host, kind: str, path: Path, reason: str, fix: str = "") -> Fault:
    """A fault of a kind at a path, with what it costs on a host."""
    length = len(host.shape.root)
    event = str(path[length]) if len(path) > length else ""
    return Fault(kind, path, reason, reach_of(host, kind, event), fix)


def _read_event(
    host: Host, path: Path, items: Any, entries: list[Entry], faults: list[Fault]
) -> None:
    event = str(path[-1])
    if event in host.handlers.no_events or (len(path) == 1 and event in host.loading.ignored_keys):
        return
    is_known = event in (host.handlers.events or host.events.values())
    if not event:
        faults.append(make_fault(host, "event", path, "names no event", "Give it one."))
    elif host.handlers.events and not is_known and (host.shape.root or isinstance(items, list)):
        reason = f"is no event of {host.title} {host.client.seen}"
        fix = f"{nearest(event, host.handlers.events)}Fix the name."
        faults.append(make_fault(host, "event", path, reason, fix))
    if items is None:
        if is_known and not host.null_is_absent:
            faults.append(make_fault(host, "null", path, "is not an array"))
        return
    if not isinstance(items, list):
        if is_known:
            faults.append(make_fault(host, "list", path, "is not an array"))
        if isinstance(items, dict):
            _read_item(host, path, items, entries, [])
        return
    for number, item in enumerate(items):
        _read_item(host, (*path, number), item, entries, faults if is_known else [])


def _read_item(
    host: Host, path: Path, item: Any, entries: list[Entry], faults: list[Fault]
) -> None:
    event = str(path[len(host.shape.root)])
    inner = item.get("hooks") if isinstance(item, dict) else None
    is_group = isinstance(inner, list) and not host.registration.event
    takes_flat = host.shape.is_flat(event)
    if not is_group and (takes_flat or _has_command(host, item)):
        if isinstance(item, dict):
            entries.append(Entry(path, event, item, item))
        if takes_flat:
            own = _check_handler(host, path, event, item)
            is_fine = not own and isinstance(item, dict)
            faults += own or (_check_matcher(host, path, event, item) if is_fine else ())
        else:
            faults.append(make_fault(host, "flat", path, _NO_GROUP))
        return
    if not is_group:
        is_bare = isinstance(item, dict) and "hooks" not in item
        faults.append(make_fault(host, "group" if is_bare else "handler", path, _NO_GROUP))
        return
    faults += _check_matcher(host, path, event, item)
    for number, handler in enumerate(inner or ()):
        place = (*path, "hooks", number)
        if isinstance(handler, dict):
            entries.append(Entry(place, event, handler, item))
        faults += _check_handler(host, place, event, handler)


def _with_faults(host: Host, entries: list[Entry], faults: list[Fault]) -> Iterator[Entry]:
    """The hooks, each with the faults that cost it and not the whole file."""
    at: dict[Path, list[Fault]] = {}
    length = len(host.shape.root) + 1
    for fault in faults:
        if not fault.is_whole:
            path = fault.path[:length] if fault.reach in (EVENT, EVERYWHERE) else fault.path
            at.setdefault(path, []).append(fault)
    for entry in entries:
        ends = range(1, len(entry.path) + 1)
        found = [fault for end in ends for fault in at.get(entry.path[:end], ())]
        yield entry._replace(faults=tuple(found)) if found else entry


def _has_command(host: Host, fields: Any) -> bool:
    commands = host.registration.commands if isinstance(fields, dict) else ()
    return any(isinstance(fields.get(key), str) for key in commands)


# One hook.


def _check_matcher(host: Host, path: Path, event: str, group: dict[str, Any]) -> Iterator[Fault]:
    matcher = group.get("matcher", "")
    is_none = matcher is None and host.handlers.nulls
    if host.matchers.falsy:
        is_none = matcher in (None, False, 0)
    if not is_none and not isinstance(matcher, str):
        kind = "matcher" if matchers.is_about_tools(host, event) else "idle"
        yield make_fault(host, kind, path, "has a matcher that is not a string")


def _check_handler(host: Host, path: Path, event: str, handler: Any) -> list[Fault]:
    """Why the host does not take a hook of an event, or never runs it."""
    if not isinstance(handler, dict):
        return [make_fault(host, "handler", path, "is not an object")]
    given, rules = handler, host.handlers
    if rules.nulls:
        handler = {name: value for name, value in given.items() if value is not None}
    if rules.type_default:
        handler = {"type": "command", **handler}
    if "type" in host.registration.fields and not isinstance(handler.get("type"), str):
        return [make_fault(host, "type", path, "has no type")]
    if rules.types and handler["type"] not in rules.types:
        reason = f"has a type that is none of {', '.join(rules.types)}"
        return [make_fault(host, "type", path, reason)]
    value = handler.get(host.registration.timeout, 1)
    is_number = isinstance(value, int | float) or _as_number(value) is not None
    is_whole = type(value) is int or (isinstance(value, float) and value.is_integer())
    is_written = isinstance(value, str) and value.strip().lstrip("+-").isdecimal()
    timeouts = {
        "any": (True, ""),
        "text": (is_number, "a number"),
        "number": (type(value) in (int, float) and value > 0, "a number above 0"),
        "integer": (type(value) is int and value >= 0, "a whole number"),
        "whole": (is_whole or is_written, "a whole number"),
    }
    fits, wanted = timeouts[rules.timeout]
    faults = ["" if fits else f"has a timeout that is not {wanted}"]
    faults.append(_field_fault(host, event, handler, given))
    for name in handler if rules.only else ():
        if name not in rules.only:
            shown = json.dumps(masked_text(name), ensure_ascii=False)
            faults.append(f"has {shown}, which no hook may have there")
    if handler.get("type", "command") == "command" and not _has_command(host, handler):
        faults.append("has no command")
    for twins in rules.twins:
        if all(name in handler for name in twins):
            faults.append(f"has both {' and '.join(twins)}, which are one field")
    reason = next(filter(None, faults), "")
    if reason:
        return [make_fault(host, "field", path, reason)]
    reason = never_runs(host, event, given)
    return [Fault("never", path, reason, ITEM)] if reason else []


def _needed(value: Any, rule: dict[str, Any]) -> str:
    """What a value must be by a rule of the host's file; empty if it fits."""
    if (value is None and rule.get("null")) or value in rule.get("aliases", ()):
        return ""
    kinds = _KINDS[rule["type"]]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        return f"of type {rule['type']}"
    each, one_of, begins = rule.get("items"), rule.get("one_of", ()), rule.get("begins", "")
    items = value.values() if isinstance(value, dict) else value
    rows = (
        (
            each and any(_needed(item, {"type": each}) for item in items),
            f"of type {rule['type']}, with every item of type {each}",
        ),
        (one_of and value not in one_of, f"one of {', '.join(one_of)}"),
        ("above" in rule and value <= rule["above"], f"above {rule.get('above')}"),
        ("most" in rule and value > rule["most"], f"{rule.get('most')} or less"),
        (rule.get("filled") and not value, "more than an empty text"),
        (rule.get("visible") and not value.strip(), "more than blanks"),
        (rule.get("url") and not re.fullmatch(_URL, value.strip()), "a URL"),
        (not str(value).startswith(begins), f"a text that begins with {begins}"),
    )
    return next((needed for is_needed, needed in rows if is_needed), "")


def _field_fault(host: Host, event: str, handler: dict[str, Any], given: dict[str, Any]) -> str:
    """What is wrong with the fields of an entry, by the host's rules for its type.

    `given` still has the nulls that count as absent.
    """
    by_type = host.handlers.values
    rules = {**by_type.get("*", {}), **by_type.get(str(handler.get("type")), {})}
    for key, rule in rules.items():
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


# Running


def timeout_seconds(host: Host, handler: dict[str, Any]) -> float | None:
    """The seconds that the host gives a hook; None if it is not known."""
    value = handler.get(host.registration.timeout)
    if isinstance(value, str) and host.handlers.timeout in ("any", "whole", "text"):
        value = _as_number(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value == 0:
        return None  # hosts that take a 0 have no limit then
    return seconds(host, value) if value > host.handlers.timeout_above else None


def _as_number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def never_runs(host: Host, event: str, handler: dict[str, Any]) -> str:
    """Why an entry that the host loads is never run; empty if it may be."""
    for row in host.handlers.skipped:  # FIELD[=TEXT] [at EVENTS | except EVENTS]
        about, _, others = row.partition(" except ")
        what, _, events = about.partition(" at ")
        name, _, text = what.partition("=")
        is_there = bool(handler.get(name)) and text in ("", handler[name])
        if is_there and event in (events.split() or [event]) and event not in others.split():
            what = what.replace("=", " ")
            return f"has {what}, and {host.title} never runs such a hook on {event}"
    if host.handlers.switch and handler.get(host.handlers.switch) is False:
        return f"is switched off: {host.handlers.switch} is false"
    command = handler.get("command")
    if host.handlers.needs_variables and isinstance(command, str):
        used = set(re.findall(r"\$\{?([A-Za-z_]\w*)", command))
        used.difference_update(re.findall(r"\b([A-Za-z_]\w*+)=", command))
        # What only a loop or `read` of the command sets.
        for name in re.findall(r"\b(?:for|read)\s+(?:-\w+\s+)*([A-Za-z_]\w*)", command):
            if name in used:
                return (
                    f"has ${name} in its command, which {host.title} does not find: write $''{name}"
                )
    return ""


def why_disarmed(host: Host, fields: dict[str, Any], *, blocks: bool) -> str:
    """Why a hook of hookctl that the host runs does not work, or ''.

    `blocks`: the host must wait for it.
    """
    kind, given = fields.get("type", "command"), timeout_seconds(host, fields)
    known = {name: value for name, value in fields.items() if name in host.handlers.fields}
    rows = (
        (kind != "command", f"as a hook of type {kind} it does not run its command"),
        ("args" in known, "with `args` no shell runs the command"),
        (
            known.get("shell", "bash") != "bash",
            "its command needs sh, but `shell` names another shell",
        ),
        (
            blocks and known.get("async") is True,
            f"with `async` {host.title} does not wait for its answer",
        ),
        (
            given is not None and given < SHORTEST,
            f"with a timeout below {SHORTEST} seconds it may be killed before it answers",
        ),
    )
    return next((reason for applies, reason in rows if applies), "")


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
