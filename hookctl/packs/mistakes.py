"""Mistakes in a pack that its schema cannot express: unknown names, and what does not fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hookctl import hosts
from hookctl.documents.rules import marks_in
from hookctl.errors import nearest
from hookctl.model import Path
from hookctl.packs.model import CLAUDE, Pack, PackHook, Part
from hookctl.packs.protocol import FAILURE_EVENT, MATCHED_EVENTS, REFUSING_EVENTS, TOOL_EVENTS
from hookctl.packs.slots import PLACEHOLDERS, Unreadable, list_named_files, slots, unknown_slots

RESERVED = ("guard",)  # built in

Mistake = tuple[Path, str, str]  # where it stands, what is wrong, and a hint


def find_mistakes(pack: Pack) -> Iterator[Mistake]:
    """What is wrong in a pack that keeps to the schema."""
    if pack.name in RESERVED:
        message = f"the name {pack.name!r} is taken by a built-in pack"
        yield ("pack", "name"), message, "Choose another."
    if marks_in(pack.rules):
        message = "rules.text has a marker line of a block of rules"
        yield ("rules", "text"), message, "Leave it out: hookctl writes those lines."
    yield from _find_in_part((), Part(pack.env, pack.hooks), pack)
    for number, hook in enumerate(pack.hooks):
        yield from _find_misplaced(("hooks", number), hook, is_claude=pack.protocol == CLAUDE)
        for position, host in enumerate(hook.hosts):
            yield from _find_unknown_host(("hooks", number, "hosts", position), host)
    for host, part in pack.hosts.items():
        yield from _find_unknown_host(("host", host), host)
        yield from _find_in_part(("host", host), part, pack)
        for number, hook in enumerate(part.hooks):
            yield from _find_unknown_event(("host", host, "hooks", number, "event"), hook, host)


def shown(value: Any) -> str:
    """A value in a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _find_in_part(place: Path, part: Part, pack: Pack) -> Iterator[Mistake]:
    """Mistakes in the variables and hooks for one host, or the common ones."""
    for key, claim in part.env.items():
        if not claim.is_valid:
            message = f"{key} cannot be {shown(claim.value)} with merge = {claim.merge!r}"
            yield (*place, "env", key, "value"), message, "The rule compares decimal integers."
    known: set[str] = set()
    for number, hook in enumerate(part.hooks):
        at = (*place, "hooks", number)
        if hook.id in known:
            message = f"there are two hooks with the id {hook.id!r}"
            hint = "Give each an id of its own; without one it is the event."
            yield (*at, "event" if hook.id == hook.event else "id"), message, hint
        known.add(hook.id)
        for message, hint in _find_in_command(hook, pack):
            yield (*at, "command"), f"the command of {hook.id} {message}", hint


def _find_in_command(hook: PackHook, pack: Pack) -> Iterator[tuple[str, str]]:
    """What is wrong with a command, and a hint."""
    try:
        found, unknown = slots(hook.command), unknown_slots(hook.command)
    except Unreadable as error:
        yield f"cannot be read: {error}", "Fix the quotes, or put it into a file of the pack."
        return
    for slot in found:
        if slot.inside:
            hint = "Take it out of there; it is quoted when it is replaced."
            yield f"has {{{slot.name}}} inside {slot.inside}", hint
        if slot.name == "files" and not pack.files:
            hint = "Name them: [files] include = [...]."
            yield "has {files}, but the pack has no files", hint
    for slot in unknown:
        known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        hint = f"Placeholders are {known}. To use it literally, put it in quotes."
        yield f"has an unknown placeholder {{{slot.name}}}", hint
    for name in list_named_files(hook.command) if pack.files else ():
        is_folder = any(file.startswith(f"{name}/") for file in pack.files)
        if name not in ("", ".", *pack.files) and not is_folder:
            hint = f"{nearest(name, pack.files)}Name the file in [files] include."
            yield f"names {{files}}/{name}, which is not in the pack", hint


def _find_misplaced(place: Path, hook: PackHook, *, is_claude: bool) -> Iterator[Mistake]:
    """What a hook for every host has, and its event or protocol does not know."""
    events_by_field = {
        "matcher": MATCHED_EVENTS if is_claude else TOOL_EVENTS,
        "on_failure": REFUSING_EVENTS if is_claude else (),
        "may_allow": TOOL_EVENTS[:1] if is_claude else (),
    }
    given = {
        "matcher": hook.matcher is not None,
        "on_failure": hook.on_failure != "allow",
        "may_allow": hook.may_allow,
    }
    if hook.event == FAILURE_EVENT and not is_claude:
        message = f"{hook.event} is an event of the protocol {CLAUDE!r} only"
        yield (*place, "event"), message, f'Set [pack] protocol = "{CLAUDE}".'
    for field, events in events_by_field.items():
        if given[field] and hook.event not in events:
            message = f"the hook {hook.id} has {field}, which {hook.event} does not know here"
            hint = f"It is for {' and '.join(events)}."
            yield (*place, field), message, hint if events else f"It needs the protocol {CLAUDE!r}."


def _find_unknown_host(place: Path, host: str) -> Iterator[Mistake]:
    known = hosts.names()
    if host not in known:
        hint = f"{nearest(host, known)}Known hosts: {', '.join(known)}."
        yield place, f"there is no host {host!r}", hint


def _find_unknown_event(place: Path, hook: PackHook, name: str) -> Iterator[Mistake]:
    """An event that the host does not have, or by a name that is not the host's own."""
    if name not in hosts.names():
        return
    host = hosts.load(name)
    known = [*host.handlers.events, *host.events.values()]
    is_ours = hook.event in host.events
    if hook.event not in known and (host.handlers.events or is_ours):
        meant = host.events[hook.event] if is_ours else hook.event
        hint = f"{nearest(meant, known)}`hookctl hosts {name}` lists its events."
        yield place, f"{host.title} has no event {hook.event!r}", hint
