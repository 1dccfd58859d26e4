"""The placeholders of a pack's commands, and what stands in quotes of sh."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hookctl.hosts import Host, timeout
from hookctl.model import Wanted
from hookctl.settings.targets import GUARD

PLACEHOLDERS = ("files", "host", "event")
# Behind {files}: the rest of the word, quotes in it included.
_REST = re.compile(r"(?:[^\s;&|<>():\"']|\"[^\"]*\"|'[^']*')*")
_EXPANDED = re.compile(r"[$`*?\[\\]")  # with one of these only the shell knows which file is meant


class Slot(NamedTuple):
    """A placeholder in a command."""

    start: int
    end: int
    name: str  # files | host | event, or what is none of them
    inside: str = ""  # what it stands in; empty where it may be replaced


# The quotes of sh, as far as it takes to know what stands inside them.

# ${host} is the shell's, also where it is not expanded
_NAME = re.compile(r"(?<!\$)\{(files|host|event)\}")
# behind @ or % it belongs to a revision or a format
_OTHER_NAME = re.compile(r"(?<![$@%])\{([A-Za-z_][A-Za-z0-9_-]*)\}")
_TOKEN = re.compile(rf"""{_NAME.pattern}|\$[$({{']|\\?.""", re.DOTALL)
_CASE = re.compile(r"case[ \t]")
_BREAKS = frozenset(" \t;&|<>()")  # behind these a word begins, or a comment


class Unreadable(ValueError):
    """A command whose quotes have no end, or mean different things to different shells."""


class _Open(NamedTuple):
    """Something that has been opened and not yet closed."""

    kind: str  # " ` ( $( ${, or nothing
    quoted: bool = False  # a single quote is a letter here
    inside: str = ""  # what to say of a placeholder

    @property
    def holds_commands(self) -> bool:
        """Whether the text inside is shell commands, where # begins a comment."""
        return self.kind in ("", "`", "(", "$(")


_CLOSES = {'"': '"', "`": "`", "(": ")", "$(": ")", "${": "}"}
_TITLES = {'"': "double quotes", "`": "backticks"}


def slots(command: str) -> list[Slot]:
    """The placeholders of a command, in order; raises Unreadable if its quotes are unclear."""
    return [slot for slot in _slots(command) if slot.name in PLACEHOLDERS]


def fill(command: str, values: Mapping[str, str]) -> Iterator[str]:
    """The pieces of a command with the values of its placeholders, each a piece of its own."""
    at = 0
    for slot in slots(command):
        yield command[at : slot.start]
        yield values[slot.name]
        at = slot.end
    yield command[at:]


def unknown_slots(command: str) -> list[Slot]:
    """Unknown placeholders outside quotes."""
    return [slot for slot in _slots(command) if slot.name not in PLACEHOLDERS]


def _slots(command: str) -> Iterator[Slot]:
    stack, at, word, named = [_Open("")], 0, False, _NAME.search(command)
    while match := _TOKEN.match(command, at):
        token, top, start, at = match[0], stack[-1], at, match.end()
        if top.quoted and token[0] == "\\" and token[1:] not in tuple('$`"\\}'):
            token, at = token[0], start + 1  # a backslash like any other letter
        if _NAME.fullmatch(token):
            yield Slot(start, at, token[1:-1], top.inside)
        elif token == "'" and not top.quoted:
            at = _end_of(command, "'", at)
            yield from _within(command, start, at, "single quotes")
        elif token == "#" and top.holds_commands and not word:
            at = (
                _end_of(command, "`", at) - 1 if any(o.kind == "`" for o in stack) else len(command)
            )
            yield from _within(command, start, at, "a comment")
        elif token == "$'" and not top.quoted:
            raise Unreadable("$'...' means different things to different shells")
        elif named and token == "'" and top.kind == "${":
            raise Unreadable('\' inside "${...}" means different things to different shells')
        elif (
            named
            and top.inside
            and top.kind in ("(", "$(")
            and not word
            and _CASE.match(command, start)
        ):
            raise Unreadable(
                f"a case inside {top.inside} cannot be followed"
            )  # its patterns end in ")"
        else:
            if token == "{" and not top.inside and top.kind != "${":
                yield from _unknown_at(command, start)
            word = _turn(stack, token)
            continue
        word = True
    if len(stack) > 1:
        raise Unreadable(f"{stack[-1].kind} is opened and never closed")


def _unknown_at(command: str, start: int) -> Iterator[Slot]:
    match = _OTHER_NAME.match(command, start)
    if match:
        yield Slot(start, match.end(), match[1])


def _turn(stack: list[_Open], token: str) -> bool:
    """Open or close what a token opens or closes; whether a word goes on behind it."""
    top = stack[-1]
    if token == _CLOSES.get(top.kind):
        return stack.pop().kind != "("
    if token in ('"', "`", "$(", "${") or (token == "(" and top.holds_commands):
        quoted = token == '"' or (token == "${" and top.quoted)
        stack.append(_Open(token, quoted, top.inside or _TITLES.get(token, "")))
        return token not in ("`", "$(", "(")
    return token not in _BREAKS


def _end_of(command: str, quote: str, at: int) -> int:
    """Behind the next quote."""
    end = command.find(quote, at)
    if end < 0:
        raise Unreadable(f"{quote} is opened and never closed")
    return end + 1


def _within(command: str, start: int, end: int, what: str) -> Iterator[Slot]:
    return (Slot(m.start(), m.end(), m[1], what) for m in _NAME.finditer(command, start, end))


def list_named_files(command: str) -> Iterator[str]:
    """The files that a command names below {files}; not those that it only writes."""
    for slot in slots(command):
        if slot.name != "files" or command[: slot.start].rstrip().endswith(">"):
            continue
        match = _REST.match(command, slot.end)
        rest = match[0] if match else ""
        if rest.startswith("/") and not _EXPANDED.search(rest):
            name = re.sub("[\"']", "", rest).lstrip("/")
            yield posixpath.normpath(name) if name else ""


def wanted_hook(
    host: Host,
    id: str,
    event: str,
    command: str,
    forms: str,
    seconds: int | None,
    *,
    matcher: str | None = None,
    env: dict[str, str] | None = None,
    cap: str = "",
) -> Wanted:
    """A hook at an event of the host's; `seconds` is its timeout, `cap` needs a field for it.

    A name tells it from others: Qwen Code runs only one of a name, event and matcher, Mistral Vibe
    only one of a name.
    """
    registration, pack = host.registration, id.partition("/")[0]
    fields: dict[str, Any] = {}
    whole_name = id.replace("/", "-")
    for key, value in registration.fields.items():
        if isinstance(value, str):
            name = GUARD if pack == GUARD else whole_name
            value = value.replace("{name}", name).replace("{id}", whole_name)
        fields[key] = value
    fields["command"] = command
    if seconds is not None and registration.timeout:
        fields[registration.timeout] = timeout(host, seconds)
    if matcher is not None and not host.matchers.none:
        fields["matcher"] = matcher
    if env and host.env_field:
        fields[host.env_field] = env
    if cap and "field" in host.cap:
        fields[host.cap["field"]] = int(cap)
    return Wanted(host.shape.event_path(event, pack), "element", fields, id, forms)


def top_wants(host: Host) -> list[Wanted]:
    """The keys that the host's settings file needs at its top for any hook."""
    return [Wanted((key,), "leaf", value) for key, value in host.registration.top.items()]
