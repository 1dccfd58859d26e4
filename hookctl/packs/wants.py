"""What a pack wants in a host's settings file: its commands in full, and its env values."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from hookctl.hosts import Host, timeout
from hookctl.hosts.shapes import event_path, head
from hookctl.model import Want

if TYPE_CHECKING:
    from hookctl.packs.pack import Hook, Pack

# What {files} becomes: quoted by shlex, behind a variable of the host where the project is meant.
_FILES = r"""(?P<files>(?:"\$[A-Za-z0-9_]+")?(?:'[^'\n]*'|"'"|[A-Za-z0-9_@%+=:,./-])+)"""


class Slot(NamedTuple):
    """A placeholder in a command."""

    start: int
    end: int
    name: str  # files | host | event
    inside: str = ""  # what it stands in; empty where it may be replaced


def wants(pack: Pack, host: Host, files_text: str) -> tuple[list[Want], list[str]]:
    """The pack's entries for this host, and what the host has no place for; `files_text` is {files}, quoted for sh."""
    found, messages = [], []
    for hook in _hooks(pack, host.name):
        event = hook.event if hook.native else host.events.get(hook.event, "")
        if event:
            found.append(_element(pack, hook, host, event, files_text))
        else:
            reason = f"{host.title} has no event {hook.event}"
            messages.append(f"{pack.name}: {reason}, so the hook {hook.id} is not registered there")
    env = {**pack.env, **(pack.hosts[host.name].env if host.name in pack.hosts else {})}
    channel = host.data.get("environment", {}).get("path")
    if channel:
        found += [Want((*channel, key), "leaf", wish.value, merge=wish.merge) for key, wish in env.items()]
    elif env:
        messages.append(f"{pack.name}: {host.title} has no env channel, so {', '.join(env)} is not set there")
    return found, messages


def _hooks(pack: Pack, host: str) -> list[Hook]:
    """The hooks for a host: its own replace those of the same id in place, and the others follow."""
    own = {hook.id: hook for hook in pack.hosts[host].hooks} if host in pack.hosts else {}
    common = [hook for hook in pack.hooks if not hook.hosts or host in hook.hosts]
    replaced = [own.pop(hook.id, hook) for hook in common]
    return [*replaced, *own.values()]


def _element(pack: Pack, hook: Hook, host: Host, event: str, files_text: str) -> Want:
    id = f"{pack.name}/{hook.id}"
    fields: dict[str, Any] = {"type": "command", "command": "".join(_command(pack, hook, host, files_text))}
    if hook.timeout is not None:
        fields["timeout"] = timeout(host, hook.timeout)
    if hook.matcher is not None:
        fields["matcher"] = hook.matcher
    return Want(event_path(event), "element", fields, id, _forms(pack, hook, host))


def _command(pack: Pack, hook: Hook, host: Host, files_text: str) -> Iterator[str]:
    """The command in pieces: each text as it is, and {files} as a piece of its own."""
    text = hook.command
    if pack.files:
        first = f"{{files}}/{pack.files[0]}"
        text = f"[ -f {first} ] && [ -r {first} ] || exit 0; {text}"
    values = {"files": files_text, "host": shlex.quote(host.name), "event": shlex.quote(hook.event)}
    yield head(f"{pack.name}/{hook.id}")
    at = 0
    for slot in slots(text):
        yield text[at : slot.start]
        yield values[slot.name]
        at = slot.end
    yield text[at:]


def _forms(pack: Pack, hook: Hook, host: Host) -> str:
    """A regular expression for every command that this pack writes for this hook, wherever its files lie."""
    mark = "\0"  # stands in no command
    pieces = [_FILES if piece == mark else re.escape(piece) for piece in _command(pack, hook, host, mark)]
    first, found, rest = "".join(pieces).partition(_FILES)
    return first + found + rest.replace(_FILES, "(?P=files)")


# The quotes of sh, as far as it takes to know what stands inside them.

_NAME = re.compile(r"\{(files|host|event)\}")
_ENDS_WORD = " \t;&|<>()"


class Unreadable(ValueError):
    """A command whose quotes have no end, or mean different things to different shells."""


def slots(command: str) -> list[Slot]:
    """The placeholders of a command, in order; raises Unreadable where its quotes cannot be told."""
    return list(_slots(command))


def _slots(command: str) -> Iterator[Slot]:
    stack: list[str] = []  # what is open: " ` ( {
    at, word = 0, False  # whether a word has begun
    while at < len(command):
        two, char = command[at : at + 2], command[at]
        commands = not stack or stack[-1] in "(`"
        quoted = _in_double_quotes(stack)
        name = _NAME.match(command, at)
        if name:
            yield Slot(at, name.end(), name[1], _inside(stack))
            at, word = name.end(), True
            continue
        if char == "#" and commands and not word:
            yield from (Slot(m.start(), m.end(), m[1], "a comment") for m in _NAME.finditer(command, at))
            break
        if commands and not word and '"' in stack and re.match(r"case\b", command[at:]):
            raise Unreadable('a case inside "$(...)" cannot be followed')
        if char == "'" and not quoted:
            end = command.find("'", at + 1)
            if end < 0:
                raise Unreadable("a single quote is never closed")
            yield from (Slot(m.start(), m.end(), m[1], "single quotes") for m in _NAME.finditer(command, at, end))
            at, word = end + 1, True
            continue
        if two == "$'" and not quoted:
            raise Unreadable("$'...' means different things to different shells")
        length = 1
        if (char == "\\" and (not quoted or two[1:] in '$`"\\}')) or two == "$$":
            length = 2
        elif two in ("$(", "${"):
            stack.append(two[1])
            length = 2
        elif char in '"`' and stack and stack[-1] == char:
            stack.pop()
        elif char == '"' or (char == "`" and "`" not in stack) or (char == "(" and commands):
            stack.append(char)
        elif (char == ")" and stack and stack[-1] == "(") or (char == "}" and stack and stack[-1] == "{"):
            stack.pop()
        word = two == "$$" or char == "\\" or (two != "$(" and char not in _ENDS_WORD and char != "`")
        at += length
    if stack:
        raise Unreadable(f"{_OPEN[stack[-1]]} is never closed")


_OPEN = {'"': "a double quote", "`": "a backtick", "(": "a parenthesis", "{": "a ${"}


def _in_double_quotes(stack: list[str]) -> bool:
    """Whether a single quote is a letter like any other here."""
    inner = [kind for kind in stack if kind != "{"]
    return bool(inner) and inner[-1] == '"'


def _inside(stack: list[str]) -> str:
    return "double quotes" if '"' in stack else "backticks" if "`" in stack else ""
