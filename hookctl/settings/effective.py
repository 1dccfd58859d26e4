"""What the settings that a host reads come to for the guard: its hook's variables, the cap, the switches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hookctl.documents import MISSING
from hookctl.hosts import Host, load, read_cap, settings_path, shapes
from hookctl.model import HookEntry, Path
from hookctl.settings import precedence
from hookctl.settings.precedence import Source
from hookctl.settings.targets import GUARD, Read, of_file, read_settings, readable
from hookctl.system.folders import Folders

STOP = f"{GUARD}/stop"  # the hook that counts


class Value(NamedTuple):
    """A setting as it is in effect, and the file that it comes from; empty where it comes from none."""

    text: str
    source: Source | None
    there: bool

    @property
    def path(self) -> str:
        return self.source.path if self.source else ""


def hook_of(source: Source) -> HookEntry | None:
    """The guard's hook on the stop event in a settings file."""
    found = shapes.elements(source.host.shape, source.document.value)
    return next((element for element in found if element.id == STOP), None)


def env_path(source: Source) -> Path:
    """The map in a settings file that the guard's hook has as its environment; empty if there is none."""
    if not source.host.env_field:
        return source.host.env_path
    hook = hook_of(source)
    return (*hook.path, source.host.env_field) if hook else ()


def variable(found: Sequence[Source], environ: Mapping[str, str], name: str) -> Value:
    """A variable as the hook gets it: from the settings files, those first whose values win, else from outside."""
    for source in found:
        path = env_path(source)
        if path and source.document.get((*path, name)) is not MISSING:
            return Value(precedence.text(source, (*path, name)), source, True)
    return Value(environ.get(name, ""), None, name in environ)


def variables(found: Sequence[Source]) -> dict[str, str]:
    """Every variable that settings files give to the hook."""
    texts: dict[str, str] = {}
    for source in reversed(found):
        path = env_path(source)
        values = source.document.get(path) if path else {}
        texts |= (
            {name: precedence.text(source, (*path, name)) for name in values}
            if isinstance(values, dict)
            else {}
        )
    return texts


def cap(host: Host, found: Sequence[Source], environ: Mapping[str, str]) -> Value:
    """What is said about the host's cap: by its variable, else by its setting, or by the field of our hook."""
    value = variable(found, environ, host.cap_key) if host.cap_key else None
    if value and (value.there or "setting" not in host.cap):
        return value
    if "setting" in host.cap:
        return _setting(host, found)
    field = host.cap.get("field", "")
    source, hook = next(
        ((source, hook) for source in found if (hook := hook_of(source))), (None, None)
    )
    if field and hook and field in hook.fields:
        return Value(json.dumps(hook.fields[field]), source, True)
    return Value("", source if field else None, False)


def _setting(host: Host, found: Sequence[Source]) -> Value:
    path = tuple(host.cap["setting"])
    source = precedence.winner(list(found), path)
    return Value(precedence.text(source, path), source, source is not None)


def blocks(host: Host, found: Sequence[Source], environ: Mapping[str, str]) -> float:
    """How many blocks in a row the host takes; 0 or less: as many as come."""
    return read_cap(host, cap(host, found, environ).text)


# Switches.


class Switch(NamedTuple):
    """A key in a settings file that switches every hook off."""

    source: Source
    path: Path

    @property
    def said(self) -> str:
        """The key with its value, as people write it."""
        return (
            f"{'.'.join(map(str, self.path))} is {json.dumps(self.source.document.get(self.path))}"
        )


def switch_files(folders: Folders, host: Host, start: str) -> Iterator[tuple[str, str]]:
    """Scope and path of the files that have a host's switches, where they are not those of its hooks."""
    named = host.switches.files
    at = host._replace(files=named)
    for scope in host.scope_rules.precedence:
        if scope in named:
            yield scope, settings_path(at, scope, folders.environ, start)


def with_switches(
    folders: Folders, host: Host, found: Sequence[Source], start: str, reader: Read = read_settings
) -> list[Source]:
    """The settings files that the host reads, and those that only have its switches, which count first."""
    read = {source.path for source in found}
    more = []
    for scope, path in switch_files(folders, host, start):
        document = None
        if path not in read:
            document = readable(path, host.switches.format, reader)
        if document is not None and isinstance(document.value, dict):
            more.append(Source(scope, path, document, of_file(load(host.name), path, reader)))
    return [*more, *found]


def switches(found: Sequence[Source]) -> Iterator[tuple[Switch, bool]]:
    """Every switch that stands somewhere, those first whose word counts, and whether it says off."""
    for source in found:
        about = source.host.switches
        for path in map(tuple, [*([about.disable] if about.disable else []), *about.also]):
            if source.document.get(path) is not MISSING:
                yield Switch(source, path), source.document.get(path) is about.disabled_by


def disabling(found: Sequence[Source]) -> Switch | None:
    """What switches all hooks off, if its word is the one that counts."""
    first = next(switches(found), None)
    return first[0] if first and first[1] else None


def disabling_ours(found: Sequence[Source]) -> Iterator[tuple[Source, HookEntry]]:
    """The guard's hooks that a list of single hooks switches off, and the file with that list."""
    for source in found:
        path = tuple(source.host.switches.named)
        named: Any = source.document.get(path) if path else None
        for other in found if isinstance(named, list) else ():
            hook = hook_of(other)
            if hook and hook.fields.get("name", hook.fields["command"]) in named:
                yield source, hook
