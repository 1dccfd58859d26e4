"""Reads what each host reads here: its settings files, the hooks in them, and what becomes of them.

It asks no client and runs no hook; a Machine has what several readers share, each thing read once.
What stops a hook itself counts first, in the order in which the host meets it: the file, the event,
the entry, the approval, the matcher. What stops all hooks of the host comes last: when it is gone,
the hook still has its own.
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

from hookctl import clock, hosts
from hookctl.documents import MISSING, Document
from hookctl.errors import HookctlError, nearest
from hookctl.hosts import Host, loading, matchers, shapes
from hookctl.hosts.loading import Contents, Entry, Fault, Unreadable
from hookctl.hosts.model import Table
from hookctl.model import Path, Record
from hookctl.ownership import store
from hookctl.ownership.sources import Sources
from hookctl.ownership.store import DisabledHook
from hookctl.packs.runner import EVENTS
from hookctl.settings import switches
from hookctl.settings.switches import Source, Switch
from hookctl.settings.targets import Target, active_file, read_inside, variant_of_file
from hookctl.survey import model
from hookctl.survey.model import Hook, HookFile, Obstacle
from hookctl.system import files, project
from hookctl.system.folders import Folders


class Machine:
    """One look at this machine: each thing is read once and then stays the same."""

    def __init__(
        self,
        folders: Folders,
        records: Mapping[str, Record],
        scope: str = "",
        *,
        alone: str = "",
        cwd_project: str = "",
    ) -> None:
        self.folders = folders
        self.environ = dict(folders.environ)
        self.records = records
        self._scope = scope  # the only one whose files are looked at; empty for all
        self.alone = alone  # the project of which nothing around it is read; '' on a whole machine
        load = partial(read_inside, alone) if alone else files.read_settled
        self.reader = Sources(folders, load)
        self.read = self.reader.read
        self._known: dict[tuple[str, ...], Any] = {}
        self.cwd_project = cwd_project or project.find_quietly(folders.cwd, folders.environ)
        self.now = clock.now(folders.environ)
        self.made = store.list_made(self.records)

    def _once(self, key: tuple[str, ...], find: Callable[[], Any]) -> Any:
        if key not in self._known:
            self._known[key] = find()
        return self._known[key]

    def detects(self, host: Host) -> bool:
        """Whether a host is on this machine, by more than what hookctl itself made."""
        return bool(hosts.detected(host, self.environ, self.made))

    @cached_property
    def disabled(self) -> tuple[DisabledHook, ...]:
        """What `hookctl disable` switched off; nothing where that is unknown."""
        return read_disabled(self.folders)

    def start_of(self, host: Host) -> str:
        """The folder whose project settings the host reads when it is started here."""
        # Else it looks upwards from any folder.
        here = self.folders.cwd if host.scope_rules.start_folder_only else self.cwd_project
        return self.alone or here

    def scopes_of(self, host: Host) -> list[str]:
        """The scopes whose files are read, the winning ones first."""
        every = host.scope_rules.precedence
        return [scope for scope in every if not self.alone or scope in ("project", "local")]

    def active_file(self, host: Host, scope: str, folder: str = "") -> tuple[Host, str]:
        """The active settings file of a scope, and the host variant that matches its layout."""
        find = partial(active_file, host, scope, self.environ, folder, self.read)
        return self._once(("file", host.name, host.stands, scope, folder), find)

    def contents(self, host: Host, document: Document) -> Contents:
        """What a host makes of a settings file that can be read."""
        read = partial(loading.read, host, document)
        return self._once(("contents", host.name, host.stands, document.where), read)

    def targets(self, host: Host) -> list[Target]:
        """The settings files to look at: the user's, the project's, and those with a record."""
        variant, path = self.active_file(host, "user")
        key, record = store.find_record(self.records, path)
        is_here = record or self.detects(host)
        targets, root = {key: Target(variant, "user", path)} if is_here else {}, self.cwd_project
        for scope in host.scopes[1:]:
            variant, path = self.active_file(host, scope, root)
            key, record = store.find_record(self.records, path)
            is_declared = scope == "project" and not targets and os.path.lexists(path)
            if record or is_declared or self.reader.names_us(path):
                targets.setdefault(key, Target(variant, scope, path, root))
        for key, record in self.records.items():
            has_ours = record.packs or record.gaps  # else only approvals are in the file
            if record.host == host.name and has_ours:
                path = store.current_path(self.records, key)
                variant = variant_of_file(host, path, self.read)
                targets.setdefault(key, Target(variant, record.scope, path, record.project))
        return [target for target in targets.values() if self._scope in ("", target.scope)]

    def sources(self, host: Host, users: str, start: str) -> list[Source]:
        """The settings files that a host reads in a folder; `users` is the user's own file."""
        read = partial(switches.sources, self.folders, host, users, start, self.read)
        return self._once(("sources", host.name, host.stands, users, start), read)

    def switches(self, host: Host, users: str, start: str) -> tuple[Switch, ...]:
        """The switches of a host that are set where it is started."""
        scopes = self.scopes_of(host)
        if not self.alone:  # else nobody knows who trusts it
            scopes = switches.list_scopes(host, start, self.environ, self.read)
        return switches.find(self.folders, host, users, start, scopes, self.read)


class RecordFacts(NamedTuple):
    """hookctl's own record."""

    records: dict[str, Record]  # by the real path of their settings file
    errors: tuple[HookctlError, ...] = ()
    gone: Mapping[str, str] = {}  # the folder that is not there, by such a path
    others: tuple[str, ...] = ()  # projects on record that are not looked at

    @property
    def usable(self) -> dict[str, Record]:
        """The records of what is there."""
        return {key: record for key, record in self.records.items() if key not in self.gone}


def read_records(folders: Folders, *, everywhere: bool) -> RecordFacts:
    """The records of the user's files and of this project; of every known one with `everywhere`.

    Of another project nothing is read at all, so that nothing in it can be wrong here.
    """
    try:
        stored = store.load(folders).files
    except HookctlError as error:
        return RecordFacts({}, (error,))
    here = project.find_quietly(folders.cwd, folders.environ)
    projects = dict.fromkeys(record.project for record in stored.values() if record.project)
    others = [root for root in projects if not everywhere and os.path.realpath(root) != here]
    away = store.away(folders, stored).items()
    gone = {key: folder for key, folder in away if stored[key].project not in others}
    roots, errors = [here], list[HookctlError]()
    for key, record in stored.items():
        if record.scope == "project" and record.project not in others and key not in gone:
            roots.append(record.project)
    read = store.read(folders, roots, errors).items()
    records = {key: record for key, record in read if record.project not in others}
    return RecordFacts(records, tuple(errors), gone, tuple(others))


def read_disabled(folders: Folders) -> tuple[DisabledHook, ...]:
    """What is disabled in any file, and not back in it by now.

    Nothing where a ledger cannot be read, or in a project of somebody else: records say so.
    """
    with contextlib.suppress(HookctlError):
        if known := store.load(folders).disabled:
            from hookctl.ownership.disable import find_away  # late: few have anything disabled

            return tuple(find_away(known, Sources(folders)))
    return ()


# The hooks in the settings files of a host.


# A settings file that can be parsed, its hooks, and why the host takes none of them, if so.
_Found = tuple[Source, Contents, Obstacle | None]


def read_settings(machine: Machine, host: Host) -> tuple[list[Hook], list[Unreadable]]:
    """The hooks in a host's settings files, in its order, and the files of which it takes none."""
    reader, hooks = _HostReader(machine, host), []
    found = list(reader.find())
    for source, contents, obstacle in found:
        hooks += reader.list_hooks(source, contents, obstacle, found)
    # Those in files that the host does not read come last.
    if not machine.alone:
        hooks += reader.list_unread({os.path.realpath(source.path) for source, _, _ in found})
    return hooks, reader.lost


class _HostReader:
    def __init__(self, machine: Machine, host: Host) -> None:
        self._machine, self._host = machine, host
        self._user = machine.active_file(host, "user")[1]
        self._start = machine.start_of(host)
        self._switches = machine.switches(host, self._user, self._start)
        self.lost: list[Unreadable] = []
        self._stopping: list[Obstacle] = []  # why the client does not start

    # Which files there are.

    def find(self) -> Iterator[_Found]:
        """The files of all scopes, the winning ones first."""
        machine, host = self._machine, self._host
        first = ""
        for scope in machine.scopes_of(host):
            for variant, path in switches.find_files(
                machine.folders, host, scope, self._user, self._start, machine.read
            ):
                if not os.path.lexists(path):  # no format is loaded for nothing
                    continue
                if scope != "user" and os.path.realpath(path) == os.path.realpath(self._user):
                    continue
                lost = switches.read_fault(variant, scope, path, machine.read)
                if lost and lost.stops_client:
                    if switches.is_skipped(machine.folders, host, scope, self._start, machine.read):
                        lost = lost._replace(stops_client=False)
                    else:
                        self._stopping.append(Obstacle(model.IGNORED, lost.sentence))
                self.lost += [lost] if lost else []
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
                yield source, machine.contents(variant, document), obstacle

    def list_unread(self, read: set[str]) -> Iterator[Hook]:
        """Hooks in files that are there although the host does not read them here."""
        for path, scope, folder, reason in self._list_unread_paths():
            real_path = os.path.realpath(path)
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
            entries = self._machine.contents(variant, document).entries
            yield from list_hooks_of(file, document, entries, Obstacle(model.HIDDEN, reason))

    def _list_unread_paths(self) -> Iterator[tuple[str, str, str, str]]:
        """Settings that the host does not read here: path, scope, a project's folder and why."""
        machine, host = self._machine, self._host
        environ, config = machine.environ, hosts.config_folder(host, machine.environ)
        title = host.title
        if "local" in host.scopes:
            name = os.path.basename(host.files["local"])
            yield os.path.join(config, name), "local", "", f"{title} reads {name} in projects only"
        for key, record in machine.records.items():
            if (record.host, record.scope) == (host.name, "user") and record.packs:
                path = store.current_path(machine.records, key)
                yield path, "user", "", f"{title} reads {config} instead"
        if host.scope_rules.start_folder_only:
            reason = f"{title} reads project settings only in the folder it is started in"
            home = os.path.realpath(environ["HOME"])
            for folder in project.below_home(os.path.dirname(machine.folders.cwd), home):
                for scope in host.scopes[1:]:
                    yield hosts.settings_path(host, scope, environ, folder), scope, folder, reason

    # What becomes of their hooks.

    def list_hooks(
        self, source: Source, contents: Contents, obstacle: Obstacle | None, files: Sequence[_Found]
    ) -> Iterator[Hook]:
        """The hooks of one of these files."""
        entries = contents.entries
        if not entries:
            return
        machine, (scope, path, document, host) = self._machine, source
        # Where the host's own files do not show its approvals.
        is_shown = host.trust.config or host.trust.memory or host.folder_trust.file
        needs_approval = host.needs_approval(scope)
        note = host.trust.gate if needs_approval and not is_shown else ""
        readers = tuple(self._find_readers(scope, self._start))
        file = HookFile(host, scope, path, note=note, readers=readers)
        if obstacle:
            yield from list_hooks_of(file, document, entries, obstacle)
            return
        shared = [*self._stopping[:1], check_switches(scope, path, self._switches)]
        closed, named = dict[Path, Obstacle](), dict[str, Obstacle]()
        if not self._stopping:  # nobody can approve anything in a client that does not start
            shared.append(check_trust(machine, host, scope, self._start))
            if needs_approval:
                closed = find_waiting(machine, host, path, document.value, entries)
            named = list_disabled(self._switches)
            for entry in entries:
                url = entry.fields.get("url")
                is_url = isinstance(url, str)
                refusing = is_url and switches.find_refusing(self._switches, scope, url)
                if refusing:
                    reason = f"{refusing.name} {refusing.where} does not have its URL"
                    closed[entry.path] = Obstacle(model.OFF, reason, "change it there")
        hidden = self._find_hidden_events(source, files)
        yield from list_hooks_of(
            file, document, entries, hidden=hidden, closed=closed, named=named, shared=shared
        )

    def _find_readers(self, scope: str, folder: str) -> Iterator[Table]:
        machine = self._machine
        for agent in self._host.also_read_by:
            if scope not in agent.scopes:
                continue
            reader = hosts.load(agent.host) if agent.host else self._host
            is_off = agent.switch and switches.read_gate(
                Table("switches", agent.switch), reader, machine.environ, machine.read
            )
            if not is_off and (scope == "user" or folder == machine.start_of(reader)):
                yield agent

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
                if is_lost and not check_trust(self._machine, host, other.scope, self._start):
                    reason = f"{loading.cost(host, loading.EVERYWHERE)}: see {other.path}"
                    hidden[entry.event] = Obstacle(model.IGNORED, reason)
        return hidden


# What stops the hooks of several files.


def check_switches(scope: str, path: str, found: Iterable[Switch]) -> Obstacle | None:
    """What switches all hooks of a file off."""
    switch = switches.find_stopping(found, scope, path)
    reason = f"{switch.said} {switch.where}" if switch else ""
    return Obstacle(model.OFF, reason, "change it there") if switch else None


def check_trust(machine: Machine, host: Host, scope: str, folder: str) -> Obstacle | None:
    """Why no hook of a scope runs in a folder that the host does not trust."""
    if switches.is_untrusted(host, scope, folder, machine.environ, machine.read):
        action = host.folder_trust.action
        return Obstacle(model.FOLDER_UNTRUSTED, f"{host.title} does not trust this folder", action)
    return None


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
    named: Mapping[str, Obstacle] = {},
    shared: Iterable[Obstacle | None] = (),
) -> Iterator[Hook]:
    """The hooks that stand in a file, from its entries, and what stops them.

    All for `obstacle`; those of an event for `hidden`, at a path for `closed`, by their name or the
    command as it is run for `named`; `shared` stops those of others, too.
    """
    host, own = file.host, None
    of_all = [each._replace(is_shared=True) for each in shared if each]
    for entry in entries:
        if not file.plugin:  # there is none of ours
            own = shapes.element(host.shape, entry.path, entry.fields, entry.group)
        matcher = entry.matcher if isinstance(entry.matcher, str) else ""
        found = [obstacle or hidden.get(entry.event)]
        if not obstacle:
            name = entry.fields.get("name", file.expand(str(entry.fields.get("command"))))
            stopped = named.get(str(name)) or closed.get(entry.path)
            found += _check_entry(host, document, entry, stopped)
        fields, id = (own.fields, own.id) if own else (entry.fields, "")
        obstacles = tuple(filter(None, (*found, *of_all)))
        line, _ = document.position(entry.path)
        yield Hook(file, entry.path, entry.event, fields, matcher, line, id, obstacles)


def _check_entry(
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
            reason = describe_from(document, entry, fault)
            yield Obstacle(model.IGNORED, f"{reason}; {loading.cost(host, fault.reach)}", fault.fix)
    if closed:
        yield closed
    is_lost = any(fault.kind != "event" for fault in entry.faults)
    reason = "" if is_lost else matchers.explain_mismatch(host, entry.event, entry.matcher)
    if reason:
        yield Obstacle(model.NO_TOOL, reason)


def describe_from(document: Document, entry: Entry, fault: Fault) -> str:
    """A fault as seen from a hook that it costs."""
    if fault.path == entry.path:
        return f"it {fault.reason}"
    line, _ = document.position(fault.path)
    return f"line {line}: {document.name_of(fault.path)} {fault.reason}"


def _suggest_event(host: Host, event: str) -> str:
    for short, name in EVENTS.items():
        if event in (short, name) and host.events.get(short):
            return f"{host.title} calls it {host.events[short]}"
    meant = nearest(event, host.handlers.events).strip()
    return meant and f"{meant[0].lower()}{meant[1:]}"
