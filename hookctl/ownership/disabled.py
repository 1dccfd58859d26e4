"""What `hookctl disable` took out of settings files: kept until `enable` puts it back.

It stands in the ledger of the state folder, readable for its owner alone, and never in a project.
For each file there are layers: a text of the file, and the steps that were made in it. So the way
back is that text without some of its steps, and no edit of a disable has to be undone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from hookctl.documents import MISSING, Document
from hookctl.hosts import Host, shapes
from hookctl.hosts.shapes import shorten
from hookctl.model import Path

# What a step does to the text of its layer.
HOOK = "hook"  # takes a hook out
VALUE = "value"  # takes a value out, or puts back the text that was there before us
CONTAINER = "container"  # takes a container out if it is empty
SWITCH = "switch"  # sets the host's own switch of a hook to false
NAME = "name"  # adds a name to the host's own list of disabled hooks


class Step(NamedTuple):
    """One change that a disable made; the path is that in the text of its layer."""

    kind: str
    path: Path
    raw: str | None = None  # the text that was there before us, or the name in the list


class DisabledHook(NamedTuple):
    """A hook that is disabled; or the values of a pack, whose name it has."""

    host: str
    scope: str
    file: str  # the settings file that the hook belongs in, as people know it
    steps: tuple[Step, ...]
    event: str = ""  # empty for values, and where a hook names none
    matcher: str = ""
    fields: dict[str, Any] = {}  # noqa: RUF012 (never changed in place)
    id: str = ""  # as `hookctl hooks` shows it, without the number of a repeat; none for values
    name: str = ""  # PACK/ID of one of ours; PACK for its values
    since: float = 0.0  # in seconds since the epoch
    left: int = 0  # how many equal hooks the file had afterwards

    @property
    def shown(self) -> str:
        """What `hookctl enable` takes for it."""
        return self.name or shorten(self.id)

    @property
    def is_values(self) -> bool:
        """Whether it is no hook, but the values of a pack."""
        return not self.id

    @property
    def pack(self) -> str:
        """The pack that it belongs to; empty for other tools' hooks."""
        return self.name.partition("/")[0]


class Layer(NamedTuple):
    """A text of a file, and what is disabled of it."""

    text: str
    hooks: tuple[DisabledHook, ...]
    after: str = ""  # 0.2.0 had the digest of what is left of the text


class DisabledFile(NamedTuple):
    """What is disabled by changes to one file; the last layer is the newest."""

    host: str
    scope: str
    format: str
    known_as: str  # the path as the host has it
    project: str = ""  # its real path
    layers: tuple[Layer, ...] = ()
    made: tuple[str, ...] = ()  # the file and the folders above it, where a disable made them

    @property
    def hooks(self) -> tuple[DisabledHook, ...]:
        """All that is disabled, the first one first."""
        return tuple(hook for layer in self.layers for hook in layer.hooks)

    def keep(self, is_kept: Callable[[DisabledHook], bool]) -> DisabledFile:
        """The file with some of its hooks; a layer goes with its last one."""
        layers = [
            layer._replace(hooks=tuple(filter(is_kept, layer.hooks))) for layer in self.layers
        ]
        return self._replace(layers=tuple(layer for layer in layers if layer.hooks))


# Which hooks are equal.


def command_of(host: Host, fields: Mapping[str, Any]) -> Any:
    """What tells a hook from others of its event and matcher: its command, or else all fields."""
    for key in host.registration.commands:
        if isinstance(fields.get(key), str):
            return [fields[key], fields.get("args")]
    return plain_fields(fields)


def plain_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as JSON keeps them: a date of TOML is its text, and so is what is no number."""
    return json.loads(json.dumps(dict(fields), default=str), parse_constant=str)


def count_equal(host: Host, document: Document, hook: DisabledHook) -> int:
    """How many hooks of a file are equal to one that is or was in it."""
    if hook.name:
        ours = shapes.elements(host.shape, document.value)
        named = [element.path for element in ours if element.id == hook.name]
        return sum(shapes.event_of(host.shape, path) == hook.event for path in named)
    wanted, number = (hook.event, hook.matcher, command_of(host, hook.fields)), 0
    for path, handler, group in shapes.handlers(host.shape, document.value):
        matcher = group.get("matcher") if isinstance(group.get("matcher"), str) else ""
        event = shapes.event_of(host.shape, path)
        number += (event, matcher, command_of(host, handler)) == wanted
    return number


def is_back(host: Host, document: Document, hook: DisabledHook) -> bool:
    """Whether somebody has put a hook, or all values of a pack, back into the file.

    So it is too where the host's own switch was taken back.
    """
    if hook.is_values:
        values = [step for step in hook.steps if step.kind == VALUE and step.raw is None]
        return bool(values) and all(document.get(each.path) is not MISSING for each in values)
    step = hook.steps[0]
    if step.kind == SWITCH:
        return document.get(step.path) is not False
    if step.kind == NAME:
        names = document.get(step.path)
        return not (isinstance(names, list) and step.raw in names)
    return count_equal(host, document, hook) > hook.left


# What our own record has of it.


def list_taken(away: Sequence[DisabledHook]) -> set[str | Path]:
    """The ids of our hooks and the paths of our values that are out of their file for now."""
    names = {hook.name for hook in away if hook.name and hook.steps[0].kind == HOOK}
    return names | {step.path for hook in away for step in hook.steps if step.kind == VALUE}
