"""What a pack wants in a host's settings file: its commands in full, and its env values."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from hookctl.hosts import Host
from hookctl.hosts.matchers import FOR_ALL, explain_mismatch
from hookctl.hosts.shapes import FAILS_OPEN, head
from hookctl.model import Wanted
from hookctl.packs.fields import fields_of, top_wants
from hookctl.packs.model import EnvClaim, Pack, PackHook
from hookctl.values import NamedTuple

PLACEHOLDERS = ("files", "host", "event")
# What {files} becomes: quoted by shlex, behind a variable of the host where the project is meant.
_FILES = (
    r"""(?P<files>(?:"\$[A-Za-z0-9_]+"|\$[A-Za-z0-9_]+)?(?:'[^'\n]*'|"'"|[A-Za-z0-9_@%+=:,./-])+)"""
)
_EXEC = re.compile(r"(?:^|[;&|({])\s*exec\s")  # it replaces the shell, and with it the trap


class Slot(NamedTuple):
    """A placeholder in a command."""

    start: int
    end: int
    name: str  # files | host | event, or what is none of them
    inside: str = ""  # what it stands in; empty where it may be replaced


def wants(
    pack: Pack, host: Host, files_text: str, env: dict[str, EnvClaim] | None = None
) -> tuple[list[Wanted], list[str]]:
    """The pack's entries for this host, and messages on what the host lacks.

    `files_text` is {files}, quoted for sh; `env` are its variables, if not those of the pack alone.
    """
    env = env_claims(pack, host) if env is None else env
    found, messages = [], []
    hooks = _hooks(pack, host.name)
    if pack.has_hooks and not hooks:
        names = ", ".join(_hosts_of_hooks(pack))
        messages.append(f"{pack.name} has no hook for {host.title}, only for {names}")
    for hook in hooks:
        event = hook.event if hook.native else host.events.get(hook.event, "")
        if event:
            found.append(_element(pack, hook, host, event, files_text, env))
            if is_refused_by_failure(host, event) and _EXEC.search(hook.command):
                messages.append(
                    f"{pack.name}: {host.title} refuses what the hook {hook.id} is asked about if "
                    "it fails: exec in its command hides the status from sh"
                )
            reason = explain_mismatch(host, event, _matcher(hook))
            if reason:
                messages.append(f"{pack.name}: the hook {hook.id} never runs there: {reason}")
        else:
            reason = f"{host.title} has no event {hook.event}"
            messages.append(f"{pack.name}: {reason}, so the hook {hook.id} is not registered there")
    found = [*top_wants(host), *found] if found else []
    if host.env_path:
        found += [
            Wanted((*host.env_path, key), "leaf", claim.value, merge=claim.merge)
            for key, claim in env.items()
        ]
    elif env and not host.env_field:
        messages.append(
            f"{pack.name}: {host.title} has no env channel, so {', '.join(env)} is not set there"
        )
    return found, messages


def _hosts_of_hooks(pack: Pack) -> list[str]:
    """The hosts that a pack's hooks are limited to."""
    names: set[str] = set()
    for name, hook in pack.all_hooks:
        names.update([name] if name else hook.hosts)
    return sorted(names)


def env_claims(pack: Pack, host: Host) -> dict[str, EnvClaim]:
    """The variables that a pack wants on a host."""
    return {**pack.env, **(pack.hosts[host.name].env if host.name in pack.hosts else {})}


def _hooks(pack: Pack, host: str) -> list[PackHook]:
    """A host's hooks: its own replace those with the same id in place, and the others follow."""
    own = {hook.id: hook for hook in pack.hosts[host].hooks} if host in pack.hosts else {}
    common = [hook for hook in pack.hooks if not hook.hosts or host in hook.hosts]
    replaced = [own.pop(hook.id, hook) for hook in common]
    return [*replaced, *own.values()]


def _element(
    pack: Pack,
    hook: PackHook,
    host: Host,
    event: str,
    files_text: str,
    env: dict[str, EnvClaim],
) -> Wanted:
    id = f"{pack.name}/{hook.id}"
    command = "".join(_command(pack, hook, host, event, files_text))
    values = {key: claim.value for key, claim in env.items()}
    fields = fields_of(host, pack.name, command, hook.timeout, matcher=_matcher(hook), env=values)
    forms = _forms(pack, hook, host, event)
    return Wanted(host.shape.event_path(event, pack.name), "element", fields, id, forms)


def _matcher(hook: PackHook) -> str | None:
    """The matcher to write: none for all tools, as `*` and "" match none on some hosts."""
    return None if hook.matcher in FOR_ALL else hook.matcher


def _command(pack: Pack, hook: PackHook, host: Host, event: str, files_text: str) -> Iterator[str]:
    """Yields the command's parts; {files} as its own part."""
    yield head(f"{pack.name}/{hook.id}")
    if is_refused_by_failure(host, event):
        yield FAILS_OPEN
    if pack.files:
        first = pack.files[0]
        yield from (
            "[ -f ",
            files_text,
            f"/{first} ] && [ -r ",
            files_text,
            f"/{first} ] || exit 0; ",
        )
    values = {"files": files_text, "host": shlex.quote(host.name), "event": shlex.quote(hook.event)}
    at = 0
    for slot in slots(hook.command):
        yield hook.command[at : slot.start]
        yield values[slot.name]
        at = slot.end
    yield hook.command[at:]


def is_refused_by_failure(host: Host, event: str) -> bool:
    """Whether the host refuses what it asks about on this event of its own if a hook fails."""
    closed = host.registration.fails_closed
    return any(host.events.get(name) == event for name in closed)


def _forms(pack: Pack, hook: PackHook, host: Host, event: str) -> str:
    """A pattern for every command that this pack writes for this hook, with any path."""
    mark = "\0"  # stands in no command
    pieces = [
        _FILES if piece == mark else re.escape(piece)
        for piece in _command(pack, hook, host, event, mark)
    ]
    first, found, rest = "".join(pieces).partition(_FILES)
    return first + found + rest.replace(_FILES, "(?P=files)")


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
