"""Reads what each host reads here: its settings files, the hooks in them, and what becomes of them.

It asks no client and runs no hook.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from hookctl import hosts
from hookctl.checks.activation import explain_unread
from hookctl.checks.gather_host import find_unread
from hookctl.checks.machine import Machine
from hookctl.documents import MISSING
from hookctl.errors import HookctlError
from hookctl.hosts import Host, loading
from hookctl.hosts.model import OtherAgent
from hookctl.ledger import store
from hookctl.masking import masked_text
from hookctl.model import HookEntry
from hookctl.settings import approval, effective, switches
from hookctl.settings.effective import Source
from hookctl.settings.switches import Switch
from hookctl.settings.targets import Read
from hookctl.survey.entries import list_handlers
from hookctl.survey.model import (
    FOLDER_UNTRUSTED,
    HIDDEN,
    IGNORED,
    NOT_APPROVED,
    OFF,
    Handler,
    HookFile,
    Obstacle,
    Unreadable,
)
from hookctl.system import files


class Reading(NamedTuple):
    """What was read of the hosts."""

    files: tuple[HookFile, ...]
    unreadable: tuple[Unreadable, ...]


class _Found(NamedTuple):
    """A settings file that can be parsed, and why the host takes nothing from it, if so."""

    source: Source
    obstacle: Obstacle | None


def read_settings(machine: Machine, wanted: Iterable[Host]) -> Reading:
    """The settings files with hooks of these hosts, in the order in which each host reads them."""
    hook_files: list[HookFile] = []
    unreadable: list[Unreadable] = []
    for host in wanted:
        reader = _HostReader(machine, host)
        hook_files += reader.read()
        unreadable += reader.unreadable
    return Reading(tuple(hook_files), tuple(dict.fromkeys(unreadable)))


class _HostReader:
    """Reads the settings files of one host as it is started in the working folder."""

    def __init__(self, machine: Machine, host: Host) -> None:
        self._machine, self._host = machine, host
        self._user = machine.active_file(host, "user")[1]
        self._start = machine.start_of(host)
        self._read: Read = machine.reader.patient_document
        self.unreadable: list[Unreadable] = []

    def read(self) -> list[HookFile]:
        """The files with hooks; those that the host does not read stand last."""
        found = list(self._find())
        sources = [file.source for file in found if not file.obstacle]
        found_switches = self._machine.switches(self._host, self._user, self._start)
        hook_files = []
        for file in found:
            hook_files.append(self._describe(file, sources, found_switches))
        read = {store.real_path(file.source.path) for file in found}
        hook_files += self._list_unread(read)
        for file in hook_files:
            if file.obstacle and not file.handlers:
                self.unreadable.append(Unreadable(file.path, 0, file.obstacle.reason))
        return [file for file in hook_files if file.handlers]

    # Which files there are.

    def _find(self) -> Iterator[_Found]:
        """The files of all scopes, the winning ones first."""
        machine, host = self._machine, self._host
        first: Source | None = None
        for scope in host.scope_rules.precedence:
            places = effective.find_files(
                machine.folders, host, scope, self._user, self._start, machine.read
            )
            for variant, path in places:
                source = self._read_source(scope, variant, path)
                if source is None:
                    continue
                obstacle = _judge_text(source)
                if not obstacle and host.scope_rules.first_only and first is not None:
                    reason = f"{host.title} reads {first.path} instead"
                    obstacle = Obstacle(HIDDEN, reason, f"put its hooks into {first.path}")
                elif not obstacle:
                    first = first or source
                yield _Found(source, obstacle)

    def _read_source(self, scope: str, variant: Host, path: str) -> Source | None:
        """A settings file; None where there is none, or where it is the user's own."""
        if not os.path.lexists(path):  # no format is loaded for nothing
            return None
        try:
            snapshot, document = self._read(path, variant.format)
        except HookctlError as error:
            self.unreadable.append(Unreadable(path, error.line, error.message))
            return None
        is_users = scope != "user" and snapshot.path == files.real(self._user)
        if snapshot.data is None or is_users or not isinstance(document.value, dict):
            return None
        return Source(scope, path, document, variant)

    def _list_unread(self, read: set[str]) -> Iterator[HookFile]:
        """Files with hooks that the host does not read here, but those of folders below."""
        machine, host = self._machine, self._host
        config = hosts.config_folder(host, machine.environ)
        for unread in find_unread(machine, host, machine.targets(host), read):
            if unread.reason == "below" or not unread.hooks:
                continue
            reason = explain_unread(host, config, machine.environ, unread)
            source = unread.hooks[0].source
            handlers, obstacle = list_handlers(source), Obstacle(HIDDEN, reason)
            yield HookFile(source.host, source.scope, source.path, handlers, obstacle=obstacle)

    # What becomes of their hooks.

    def _find_shared(
        self, source: Source, found_switches: Sequence[Switch]
    ) -> tuple[Obstacle, ...]:
        """What keeps the hooks of a file that is read from running, as those of other files."""
        off = judge_switches(source.scope, source.path, found_switches)
        untrusted = judge_trust(self._machine, source.host, source.scope, self._start)
        return tuple(obstacle for obstacle in (off, untrusted) if obstacle)

    def _describe(
        self, found: _Found, sources: list[Source], found_switches: Sequence[Switch]
    ) -> HookFile:
        source, handlers = found.source, list_handlers(found.source)
        return HookFile(
            source.host,
            source.scope,
            source.path,
            handlers,
            obstacle=found.obstacle,
            shared=() if found.obstacle else self._find_shared(source, found_switches),
            hidden_events=_find_hidden_events(source, sources) if handlers else {},
            closed=self._find_closed(source, handlers, found_switches) if handlers else {},
            note=_note_on_trust(source) if handlers else "",
            readers=tuple(self._find_readers(source)) if handlers else (),
        )

    def _find_readers(self, source: Source) -> Iterator[OtherAgent]:
        """The other agents that read a file, and are not told to leave it alone."""
        machine = self._machine
        for agent in source.host.also_read_by:
            is_off = switches.leaves_alone(agent, machine.environ, machine.read)
            if source.scope in agent.scopes and not is_off:
                yield agent

    def _find_closed(
        self, source: Source, handlers: Sequence[Handler], found_switches: Sequence[Switch]
    ) -> dict[Any, Obstacle]:
        """The hooks that wait for an approval, or that are switched off by name."""
        closed = dict(_find_named(handlers, found_switches))
        closed |= _find_refused(source.scope, handlers, found_switches)
        if not source.host.trust.covers(source.scope):
            return closed
        elements = []
        for handler in handlers:
            if not handler.lost and isinstance(handler.fields.get("command"), str):
                elements.append(HookEntry(handler.path, handler.own_id, dict(handler.fields)))
        host, machine = source.host, self._machine
        waiting = approval.closed(
            host, source.path, source.document.value, machine.environ, machine.read, elements
        )
        for each in waiting:
            closed.setdefault(each.element.path, _explain_closed(source, each, machine))
        return closed


def _judge_text(source: Source) -> Obstacle | None:
    """Why the host takes nothing from a file that hookctl can parse."""
    host, document = source.host, source.document
    refusal = loading.refusal(host, document)
    reason = refusal.message if refusal else loading.reason_not_loaded(host, document)
    named = host.shape.root[:1]
    value = document.get(named) if named else MISSING
    kind, needed = (list, "an array") if host.registration.event else (dict, "an object")
    if not reason and value not in (None, MISSING) and not isinstance(value, kind):
        reason = f"{named[0]} is not {document.needed_at(named, needed)}"
    if not reason:
        return None
    if refusal and refusal.line:
        reason = f"line {refusal.line}: {reason}"
    return Obstacle(IGNORED, f"{loading.cost(host)}: {reason}")


def judge_switches(scope: str, path: str, found: Iterable[Switch]) -> Obstacle | None:
    """What switches all hooks of a file off."""
    switch = switches.find_stopping(found, scope, path)
    return Obstacle(OFF, f"{switch.said} {switch.where}", switch.fix) if switch else None


def judge_trust(machine: Machine, host: Host, scope: str, folder: str) -> Obstacle | None:
    """Why no hook of a scope runs in a folder that the host does not trust."""
    if approval.is_untrusted(host, scope, folder, machine.environ, machine.read):
        action = host.folder_trust.action
        return Obstacle(FOLDER_UNTRUSTED, f"{host.title} does not trust this folder: {action}")
    return None


def _find_hidden_events(source: Source, sources: list[Source]) -> dict[str, str]:
    """The events that the host takes from a neighbour of a file, and that neighbour."""
    hidden = {}
    for other in sources:
        if other.path != source.path:
            events = effective.hidden_events([other, source], source)
            hidden |= dict.fromkeys(events, other.path)
    return hidden


def _find_named(
    handlers: Sequence[Handler], found_switches: Sequence[Switch]
) -> Iterator[tuple[Any, Obstacle]]:
    """The hooks that a list of disabled hooks has, by their name or their command."""
    named = list_disabled(found_switches)
    for handler in handlers:
        name = handler.fields.get("name", handler.fields.get("command"))
        if isinstance(name, str) and name in named:
            yield handler.path, named[name]


def _find_refused(
    scope: str, handlers: Sequence[Handler], found: Sequence[Switch]
) -> Iterator[tuple[Any, Obstacle]]:
    """The hooks whose URL is in no list of those that may be called."""
    for handler in handlers:
        url = handler.fields.get("url")
        switch = switches.find_refusing(found, scope, url) if isinstance(url, str) else None
        if switch:
            reason = f"{switch.name} {switch.where} does not have its URL"
            yield handler.path, Obstacle(OFF, reason, "add its URL to that list")


def list_disabled(found: Iterable[Switch]) -> dict[str, Obstacle]:
    """The names and commands in lists of disabled hooks."""
    named = {}
    for name, switch in switches.list_names(found).items():
        fix = f"take `{masked_text(name)}` out of that list"
        named[name] = Obstacle(OFF, f"{switch.name} {switch.where} names it", fix)
    return named


def _explain_closed(source: Source, closed: approval.Closed, machine: Machine) -> Obstacle:
    trust = source.host.trust
    if closed.why == approval.OFF:
        config = hosts.config_folder(source.host, machine.environ)
        where = trust.config.format(config=config)
        return Obstacle(OFF, f"it has enabled = false in {where}", "set it to true there")
    was = "nobody has approved it"
    if closed.why == approval.CHANGED:
        was = "it was changed since it was approved"
    return Obstacle(NOT_APPROVED, f"{was}: {trust.action}")


def _note_on_trust(source: Source) -> str:
    """What to know where the host's own files do not show its approvals."""
    trust, host = source.host.trust, source.host
    is_shown = trust.config or trust.memory or host.folder_trust.file
    if is_shown or not trust.covers(source.scope):
        return ""
    return trust.gate
