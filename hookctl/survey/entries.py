"""The handlers of a settings file, and the entries in it that were meant as such.

A host does not load an entry in a wrong form, and most say nothing: such a hook is in the list,
with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hookctl.checks.facts import FoundHook
from hookctl.checks.machine import hooks_of
from hookctl.hosts import Host, shapes
from hookctl.hosts.loading import takes_group
from hookctl.hosts.shapes import Shape
from hookctl.model import Path
from hookctl.settings.effective import Source
from hookctl.survey.model import Handler

_NO_GROUP = "it is not a group: it has no `hooks` array"


def list_handlers(source: Source) -> tuple[Handler, ...]:
    """The handlers of a settings file in their order, and what is lost of it."""
    found = [*_list_loaded(source), *_list_lost(source.host, source.document.value)]
    if not found:
        return ()
    lines = source.document.lines(handler.path for handler in found)
    return tuple(handler._replace(line=line) for handler, line in zip(found, lines, strict=True))


def _list_loaded(source: Source) -> Iterator[Handler]:
    """The well-formed handlers; on a host without groups, also those in groups."""
    for hook in hooks_of(source):
        is_listed = source.host.shape.is_flat(hook.event)
        if not hook.id and is_listed and takes_group(source.host, hook.fields):
            yield from _list_in_group(hook, hook.fields["hooks"])
        else:
            matcher = _matcher(hook.matcher)
            yield Handler(hook.path, hook.event, hook.fields, matcher, own_id=hook.id)


def _list_in_group(hook: FoundHook, inner: list[Any]) -> Iterator[Handler]:
    """The handlers of a group where the host takes them without groups as well."""
    for number, fields in enumerate(inner):
        if isinstance(fields, dict):
            path = (*hook.path, "hooks", number)
            yield Handler(path, hook.event, fields, _matcher(hook.matcher))


def _list_lost(host: Host, root: Any) -> Iterator[Handler]:
    """What was meant as a hook, but has another form than the host loads."""
    for above, events in shapes.event_maps(host.shape, root):
        for event, value in events.items():
            if not host.shape.is_flat(event):
                yield from _list_lost_of_event(host, (*above, event), value)
    for key in host.guarding.ignored_keys:
        shape = host.shape._replace(root=(*host.shape.root, key))
        yield from _list_below(shape, root, f"{host.title} runs no hook below {key}")


def _list_lost_of_event(host: Host, path: Path, value: Any) -> Iterator[Handler]:
    """Handlers that stand in place of a group, and texts that stand in place of a handler."""
    is_list = isinstance(value, list)
    for number, group in enumerate(value if is_list else [value]):
        if not isinstance(group, dict):
            continue
        place = (*path, number) if is_list else path
        inner = group.get("hooks")
        if not isinstance(inner, list) and _has_command(host, group):
            matcher = _matcher(group.get("matcher"))
            yield Handler(place, str(path[-1]), group, matcher, lost=_NO_GROUP)
        elif isinstance(inner, list) and not is_list:
            yield from _list_handlers_of(host, place, inner, "its event is not an array")


def _list_handlers_of(host: Host, place: Path, inner: list[Any], lost: str) -> Iterator[Handler]:
    for number, fields in enumerate(inner):
        if isinstance(fields, dict) and _has_command(host, fields):
            yield Handler((*place, "hooks", number), str(place[-1]), fields, lost=lost)


def _list_below(shape: Shape, root: Any, lost: str) -> Iterator[Handler]:
    """The handlers below a key that the host ignores."""
    for path, fields, group in shapes.handlers(shape, root):
        event = shapes.event_of(shape, path)
        yield Handler(path, event, fields, _matcher(group.get("matcher")), lost=lost)


def _has_command(host: Host, fields: dict[str, Any]) -> bool:
    return any(isinstance(fields.get(key), str) for key in host.registration.commands)


def _matcher(value: Any) -> str:
    return value if isinstance(value, str) else ""
