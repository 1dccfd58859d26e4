"""Unknown names in a pack: hosts, events, placeholders and files."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from hookctl import hosts
from hookctl.errors import nearest
from hookctl.model import Path
from hookctl.packs.model import Pack, PackHook
from hookctl.packs.slots import PLACEHOLDERS, list_named_files, unknown_slots

_BRACES = re.compile(r"(?<!\$)\{([a-z]+)\}/")  # of a path; else it may be another program's word
_NEAR = 0.85  # one letter too many or too few

Mistake = tuple[Path, str, str]  # where it stands, what is wrong, and a hint


def find_mistakes(pack: Pack) -> Iterator[Mistake]:
    """The names in a checked pack that hookctl does not know, each with the nearest known one."""
    for number, hook in enumerate(pack.hooks):
        place: Path = ("hooks", number)
        for position, host in enumerate(hook.hosts):
            yield from _find_unknown_host((*place, "hosts", position), host)
        yield from _find_in_command((*place, "command"), hook, pack)
    for host, part in pack.hosts.items():
        yield from _find_unknown_host(("host", host), host)
        for number, hook in enumerate(part.hooks):
            place = ("host", host, "hooks", number)
            yield from _find_unknown_event((*place, "event"), hook, host)
            yield from _find_in_command((*place, "command"), hook, pack)


def _find_unknown_host(place: Path, host: str) -> Iterator[Mistake]:
    known = hosts.names()
    if host not in known:
        hint = f"{nearest(host, known)}Known hosts: {', '.join(known)}."
        yield place, f"there is no host {host!r}", hint


def _find_unknown_event(place: Path, hook: PackHook, name: str) -> Iterator[Mistake]:
    """An event that the host does not have, if the host's file lists its events."""
    if name not in hosts.names():
        return
    host = hosts.load(name)
    known = [*host.handlers.events, *host.events.values()]
    if host.handlers.events and hook.event not in known:
        hint = f"{nearest(hook.event, known)}`hookctl hosts {name}` lists its events."
        yield place, f"{host.title} has no event {hook.event!r}", hint


def _find_in_command(place: Path, hook: PackHook, pack: Pack) -> Iterator[Mistake]:
    for slot in unknown_slots(hook.command):
        known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        message = f"the command of {hook.id} has an unknown placeholder {{{slot.name}}}"
        hint = (
            f"{_nearest_placeholder(slot.name)}Placeholders are {known}. "
            "To use it literally, put it in quotes."
        )
        yield place, message, hint
    for name in _misspelt_in_quotes(hook.command):
        message = f"the command of {hook.id} has {{{name}}} in quotes, where it stays as it is"
        yield place, message, f"{_nearest_placeholder(name)}It stands outside quotes."
    for name in list_named_files(hook.command):
        if not _is_in_pack(name, pack.files):
            message = f"the command of {hook.id} names {{files}}/{name}, which is not in the pack"
            hint = f"{nearest(name, pack.files)}Name the file in [files] include."
            yield place, message, hint


def _misspelt_in_quotes(command: str) -> Iterator[str]:
    """Names in braces and quotes that are nearly a placeholder, such as {file}."""
    outside = {slot.name for slot in unknown_slots(command)}
    for name in dict.fromkeys(_BRACES.findall(command)):
        is_near = difflib.get_close_matches(name, PLACEHOLDERS, 1, _NEAR)
        if is_near and name not in PLACEHOLDERS and name not in outside:
            yield name


def _nearest_placeholder(name: str) -> str:
    hint = nearest(name, PLACEHOLDERS)
    return re.sub(r"mean (\w+)", r"mean {\1}", hint)


def _is_in_pack(name: str, files: tuple[str, ...]) -> bool:
    """Whether a name is a file of the pack, or a folder of one; the empty name is their folder."""
    if name in ("", ".") or name in files:
        return True
    return any(file.startswith(f"{name}/") for file in files)
