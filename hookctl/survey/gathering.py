"""Reads what each host reads here: its settings files, the hooks in them, and what becomes of them.

It asks no client and runs no hook. What stops a hook itself counts first, in the order in which
the host meets it: the file, the event, the entry, the approval, the matcher. What stops all hooks
of the host comes last: when it is gone, the hook still has its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hookctl import hosts
from hookctl.documents import MISSING, Document
from hookctl.errors import HookctlError, nearest
from hookctl.hosts import Host, loading, matchers, shapes
from hookctl.hosts.loading import Contents, Entry, Fault, Unreadable
from hookctl.hosts.model import Table
from hookctl.model import Path
from hookctl.ownership import store
from hookctl.packs.protocol import EVENTS
from hookctl.settings import effective, switches
from hookctl.settings.effective import Source
from hookctl.settings.switches import Switch, is_skipped, read_fault
from hookctl.settings.targets import variant_of_file
from hookctl.survey import model
from hookctl.survey.machine import Machine
from hookctl.survey.model import Hook, HookFile, Obstacle
from hookctl.system import project


class _Found(NamedTuple):
    """A settings file that can be parsed, its hooks, and why the host takes none of them, if so."""

    source: Source
    contents: Contents
    obstacle: Obstacle | None


def read_settings(machine: Machine, host: Host) -> tuple[list[Hook], list[Unreadable]]:
    """The hooks in a host's settings files, in its order, and the files of which it takes none."""
    reader = _HostReader(machine, host)
    return list(reader.read()), reader.lost


class _HostReader:
    def __init__(self, machine: Machine, host: Host) -> None:
        self._machine, self._host = machine, host
        self._user = machine.active_file(host, "user")[1]
        self._start = machine.start_of(host)
        self.lost: list[Unreadable] = []
        self._stopping: list[Obstacle] = []  # why the client does not start

    def read(self) -> Iterator[Hook]:
        """The hooks; those in files that the host does not read come last."""
        found = list(self._find())
        found_switches = self._machine.switches(self._host, self._user, self._start)
        for file in found:
            yield from self._list_hooks(file, found, found_switches)
        read = {store.real_path(file.source.path) for file in found}
        yield from self._list_unread(read)

    # Which files there are.

    def _find(self) -> Iterator[_Found]:
        """The files of all scopes, the winning ones first."""
        machine, host = self._machine, self._host
        first = ""
        for scope in host.scope_rules.precedence:
            for variant, path in effective.find_files(
                machine.folders, host, scope, self._user, self._start, machine.read
            ):
                if not os.path.lexists(path):  # no format is loaded for nothing
                    continue
                if scope != "user" and store.real_path(path) == store.real_path(self._user):
                    continue
                lost = self._find_fault(scope, variant, path)
                try:
                    snapshot, document = machine.read(path, variant.format)
                except HookctlError:
                    continue
                if snapshot.data is None or (document.value is MISSING and variant.empty):
                    continue
                source = Source(scope, path, document, variant)
                obstacle = Obstacle(model.IGNORED, lost.text) if lost else None
                if not lost and host.scope_rules.first_only and first:
                    reason = f"{host.title} reads {first} instead"
                    obstacle = Obstacle(model.HIDDEN, reason, f"put its hooks into {first}")
                elif not lost:
                    first = first or path
                yield _Found(source, loading.read(variant, source.document), obstacle)

    def _find_fault(self, scope: str, host: Host, path: str) -> Unreadable | None:
        lost, machine = read_fault(host, scope, path, self._machine.read), self._machine
        if lost is None:
            return None
        if lost.stops_client:
            if is_skipped(machine.folders, self._host, scope, self._start, machine.read):
                lost = lost._replace(stops_client=False)
            else:
                self._stopping.append(Obstacle(model.IGNORED, lost.sentence))
        self.lost.append(lost)
        return lost

    def _list_unread(self, read: set[str]) -> Iterator[Hook]:
        """Hooks in files that are there although the host does not read them here."""
        for path, scope, folder, reason in self._list_unread_paths():
            real_path = store.real_path(path)
            if real_path in read or not os.path.isfile(path):
                continue
            read.add(real_path)
            try:
                variant = variant_of_file(self._host, path, self._machine.read)
                document = self._machine.read(path, variant.format)[1]
            except HookctlError:
                continue
            readers = tuple(self._find_readers(scope, folder)) if folder else ()
            file = HookFile(variant, scope, path, readers=readers)
            entries = loading.read(variant, document).entries
            yield from list_hooks_of(file, document, entries, Obstacle(model.HIDDEN, reason))

    def _list_unread_paths(self) -> Iterator[tuple[str, str, str, str]]:
        """Settings that the host does not read here: path, scope, a project's folder and why."""
        machine, host = self._machine, self._host
        environ, config = machine.environ, hosts.config_folder(host, machine.environ)
        title, variable = host.title, host.config.variable
        if "local" in host.scopes:
            name = os.path.basename(host.files["local"])
            yield os.path.join(config, name), "local", "", f"{title} reads {name} in projects only"
        is_named = environ.get(variable)
        where = f"{variable} points there" if is_named else "nothing points to this folder"
        for target in machine.targets(host):
            if target.scope == "user":
                yield target.path, "user", "", f"{title} reads {config}, and {where}"
        if host.scope_rules.start_folder_only:
            reason = f"{title} reads project settings only in the folder it is started in"
            home = store.real_path(environ["HOME"])
            for folder in project.below_home(os.path.dirname(machine.folders.cwd), home):
                for scope in host.scopes[1:]:
                    path = hosts.settings_path(host, scope, environ, folder)
                    yield path, scope, folder, reason

    # What becomes of their hooks.

    def _list_hooks(
        self, found: _Found, files: Sequence[_Found], found_switches: Sequence[Switch]
    ) -> Iterator[Hook]:
        source, entries = found.source, found.contents.entries
        if not entries:
            return
        machine, host, scope = self._machine, source.host, source.scope
        off = judge_switches(scope, source.path, found_switches)
        untrusted = judge_trust(machine, host, scope, self._start) if not self._stopping else None
        shared = [*self._stopping[:1], off, untrusted]
        # Where the host's own files do not show its approvals.
        is_shown = host.trust.config or host.trust.memory or host.folder_trust.file
        note = host.trust.gate if host.needs_approval(scope) and not is_shown else ""
        readers = tuple(self._find_readers(scope, self._start))
        file = HookFile(host, scope, source.path, note=note, readers=readers)
        if found.obstacle:
            yield from list_hooks_of(file, source.document, entries, found.obstacle)
            return
        closed = {}
        if not self._stopping:  # nobody can approve anything in a client that does not start
            closed = self._find_closed(source, entries, found_switches)
        hidden = self._find_hidden_events(source, files)
        yield from list_hooks_of(
            file, source.document, entries, hidden=hidden, closed=closed, shared=shared
        )

    def _find_readers(self, scope: str, folder: str) -> Iterator[Table]:
        machine = self._machine
        for agent in self._host.also_read_by:
            is_off = switches.leaves_alone(agent, machine.environ, machine.read)
            if scope not in agent.scopes or is_off:
                continue
            reader = hosts.load(agent.host) if agent.host else self._host
            if scope == "user" or folder == machine.start_of(reader):
                yield agent

    def _find_closed(
        self, source: Source, entries: Sequence[Entry], found_switches: Sequence[Switch]
    ) -> dict[Path, Obstacle]:
        closed = dict(_find_named(source.scope, entries, found_switches))
        if not source.host.needs_approval(source.scope):
            return closed
        value = source.document.value
        waiting = find_waiting(self._machine, source.host, source.path, value, entries)
        return {**waiting, **closed}

    def _find_hidden_events(self, source: Source, files: Sequence[_Found]) -> dict[str, Obstacle]:
        """The events that the host takes from another file, or that a fault there costs."""
        host, hidden = source.host, {}
        overlays = [layout.stands for layout in host.variants if layout.where == "overlays"]
        for other, contents, obstacle in files:
            if obstacle or other.path == source.path:
                continue
            is_overlay = other.scope == source.scope and other.host.stands in overlays
            is_stronger = other.scope == "managed" != source.scope
            hides = is_overlay or (is_stronger and host.scope_rules.managed_hides_events)
            maps = shapes.event_maps(other.host.shape, other.document.value) if hides else ()
            for event in [event for _, events in maps for event in events]:
                reason = f"{host.title} takes its {event} hooks from {other.path} instead"
                hidden[event] = Obstacle(model.HIDDEN, reason, f"put it into {other.path}")
            for entry in contents.entries:
                is_lost = any(fault.reach == loading.EVERYWHERE for fault in entry.faults)
                if is_lost and not judge_trust(self._machine, host, other.scope, self._start):
                    reason = f"{loading.cost(host, loading.EVERYWHERE)}: see {other.path}"
                    hidden[entry.event] = Obstacle(model.IGNORED, reason)
        return hidden


# What stops the hooks of several files.


def judge_switches(scope: str, path: str, found: Iterable[Switch]) -> Obstacle | None:
    """What switches all hooks of a file off."""
    switch = switches.find_stopping(found, scope, path)
    reason = f"{switch.said} {switch.where}" if switch else ""
    return Obstacle(model.OFF, reason, "change it there") if switch else None


def judge_trust(machine: Machine, host: Host, scope: str, folder: str) -> Obstacle | None:
    """Why no hook of a scope runs in a folder that the host does not trust."""
    if switches.is_untrusted(host, scope, folder, machine.environ, machine.read):
        action = host.folder_trust.action
        return Obstacle(model.FOLDER_UNTRUSTED, f"{host.title} does not trust this folder", action)
    return None


def _find_named(
    scope: str, entries: Sequence[Entry], found: Sequence[Switch]
) -> Iterator[tuple[Path, Obstacle]]:
    """The hooks that a list of disabled hooks names, and those whose URL no list allows."""
    named = list_disabled(found)
    for entry in entries:
        name, url = entry.fields.get("name", entry.fields.get("command")), entry.fields.get("url")
        switch = switches.find_refusing(found, scope, url) if isinstance(url, str) else None
        if isinstance(name, str) and name in named:
            yield entry.path, named[name]
        elif switch:
            reason = f"{switch.name} {switch.where} does not have its URL"
            yield entry.path, Obstacle(model.OFF, reason, "change it there")


def list_disabled(found: Iterable[Switch]) -> dict[str, Obstacle]:
    """The names and commands in lists of disabled hooks."""
    named: dict[str, Obstacle] = {}
    for switch in found:
        if switch.rule.reach == "names":
            reason = f"{switch.name} {switch.where} names it"
            named.setdefault(switch.value, Obstacle(model.OFF, reason, "change it there"))
    return named


def find_waiting(
    machine: Machine, host: Host, name: str, root: Any, entries: Iterable[Entry]
) -> dict[Path, Obstacle]:
    """The hooks of a file that the host approves one by one, and that it does not run yet."""
    waiting: dict[Path, Obstacle] = {}
    trust, config = host.trust, hosts.config_folder(host, machine.environ)
    closed = switches.closed(host, name, root, machine.environ, machine.read)
    for entry in entries:
        is_lost = bool(entry.faults) and entry.faults[0].kind != "event"
        why = "" if is_lost else closed.get(entry.path)
        if why == switches.OFF:
            reason = f"it has enabled = false in {trust.config.format(config=config)}"
            waiting[entry.path] = Obstacle(model.OFF, reason, "set it to true there")
        elif why:
            waiting[entry.path] = Obstacle(model.NOT_APPROVED, why, trust.action)
    return waiting


def list_hooks_of(
    file: HookFile,
    document: Document,
    entries: Sequence[Entry],
    obstacle: Obstacle | None = None,
    *,
    hidden: Mapping[str, Obstacle] = {},
    closed: Mapping[Path, Obstacle] = {},
    shared: Iterable[Obstacle | None] = (),
) -> Iterator[Hook]:
    """The hooks that stand in a file, from its entries; `shared` stops those of others, too."""
    host, own = file.host, None
    of_all = [each._replace(is_shared=True) for each in shared if each]
    lines = document.lines(entry.path for entry in entries)
    for entry, line in zip(entries, lines, strict=True):
        if not file.plugin:  # there is none of ours
            own = shapes.element(host.shape, entry.path, entry.fields, entry.group)
        found = [obstacle] if obstacle else [hidden[entry.event]] if entry.event in hidden else []
        if not obstacle:
            found += _judge_entry(host, document, entry, closed.get(entry.path))
        yield Hook(
            file,
            entry.path,
            entry.event,
            own.fields if own else entry.fields,
            entry.matcher if isinstance(entry.matcher, str) else "",
            line,
            own.id if own else "",
            (*found, *of_all),
        )


def _judge_entry(
    host: Host, document: Document, entry: Entry, closed: Obstacle | None
) -> Iterator[Obstacle]:
    for fault in sorted(entry.faults, key=lambda fault: fault.kind != "event"):
        if fault.kind == "event" and entry.event:
            reason = f"{host.title} {host.client.seen} has no event {entry.event}"
            yield Obstacle(model.UNKNOWN_EVENT, reason, _suggest_event(host, entry.event))
        elif fault.kind == "event":
            yield Obstacle(model.UNKNOWN_EVENT, "it names no event")
        elif fault.kind == "never":
            yield Obstacle(model.IGNORED, f"it {fault.reason}")
        else:
            reason = describe_from(host, document, entry, fault)
            yield Obstacle(model.IGNORED, f"{reason}; {loading.cost(host, fault.reach)}", fault.fix)
    if closed:
        yield closed
    is_lost = any(fault.kind != "event" for fault in entry.faults)
    reason = "" if is_lost else matchers.explain_mismatch(host, entry.event, entry.matcher)
    if reason:
        yield Obstacle(model.NO_TOOL, reason)


def describe_from(host: Host, document: Document, entry: Entry, fault: Fault) -> str:
    """A fault as seen from a hook that it costs."""
    if fault.path == entry.path:
        return f"it {fault.reason}"
    length = len(host.shape.root) + 1
    if fault.path == entry.path[: len(fault.path)] and len(fault.path) >= length:
        return f"its {'event' if len(fault.path) == length else 'group'} {fault.reason}"
    return loading.describe(document, fault)


def _suggest_event(host: Host, event: str) -> str:
    for short, name in EVENTS.items():
        if event in (short, name) and host.events.get(short):
            return f"{host.title} calls it {host.events[short]}"
    meant = nearest(event, host.handlers.events).strip()
    return meant and f"{meant[0].lower()}{meant[1:]}"
