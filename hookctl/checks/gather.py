"""Gathers the facts that doctor judges: each file once, and nothing is decided or written here."""

from __future__ import annotations

import contextlib
import glob
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from hookctl import (
    apply,
    clock,
    effects,
    events,
    files,
    gates,
    hosts,
    interpreter,
    ledger,
    project,
    project_ledger,
    scopes,
)
from hookctl.checks import probes, work
from hookctl.checks.facts import (
    FileFacts,
    Hook,
    HostFacts,
    Layer,
    ManagedFile,
    OtherReader,
    PackSource,
    RecordFacts,
    Registration,
    Run,
    RunPath,
    UnreadFile,
)
from hookctl.checks.registered import at_work, with_running
from hookctl.documents import MISSING, Document, formats
from hookctl.errors import HookctlError
from hookctl.folders import Folders
from hookctl.hosts import Host, reading, shapes
from hookctl.live import look
from hookctl.model import PackRecord, Record
from hookctl.packs import guard, knobs
from hookctl.packs.settings import settings_from
from hookctl.packs.wrapping import wraps
from hookctl.places import GUARD, OWN, Place, of_file, require_inside, standing
from hookctl.scopes import Source

_SUBFOLDERS = 100  # that are looked at for settings which the host does not read here
_FOLDER = "\0folder"  # stands for any folder in the path of a settings file


# hookctl's own record.


def record_facts(folders: Folders) -> RecordFacts:
    """The pages of every ledger that can be read, and what is wrong with the others and with the journal."""
    interrupted, journal_error = _journal(folders)
    try:
        pages = ledger.load(folders.ledger)
    except HookctlError as error:
        return RecordFacts({}, folders.ledger, folders.journal, interrupted, journal_error, (error,), (), ())
    records = {key: page for key, page in pages.items() if page.scope != "project"}
    roots = [project.find(folders.cwd, folders.environ)]
    roots += [page.project for page in pages.values() if page.scope == "project" and not _is_gone(page)]
    errors = []
    for root in dict.fromkeys(roots):
        try:
            records |= project_ledger.read(folders, [root])
        except HookctlError as error:
            errors.append(error)
    gone = tuple((key, page) for key, page in pages.items() if _is_gone(page))
    records = {key: page for key, page in records.items() if not _is_gone(page)}
    misfits = tuple((key, page) for key, page in records.items() if not _fits(page))
    for key, _ in misfits:
        del records[key]
    return RecordFacts(
        records, folders.ledger, folders.journal, interrupted, journal_error, tuple(errors), gone, misfits
    )


def _journal(folders: Folders) -> tuple[tuple[str, ...] | None, HookctlError | None]:
    try:
        pending = apply.pending(folders)
    except HookctlError as error:
        return None, error
    return tuple(step.path for step in pending.steps) if pending else None, None


def _is_gone(page: Record) -> bool:
    return bool(page.project) and not os.path.isdir(page.project)


def _fits(record: Record) -> bool:
    """Whether the settings in a page, which the ledger itself does not look into, are the guard's."""
    try:
        settings_from(record.packs[GUARD].settings if GUARD in record.packs else {})
    except HookctlError:
        return False
    return True


# The settings files of each host.


class Gatherer:
    """Reads what there is about hosts, each file once for all of them."""

    def __init__(self, folders: Folders, records: Mapping[str, Record]) -> None:
        self._folders = folders
        self._environ = dict(folders.environ)
        self._records = records
        self._reader = probes.Reader()
        self._read = self._reader.document
        self._now = clock.now(folders.environ)
        self._cwd_project = project.find(folders.cwd, folders.environ)
        self._knobs = knobs.schema()
        self._places_of: dict[str, list[Place]] = {}
        self._layers_of: dict[tuple[str, ...], tuple[Layer, ...]] = {}
        self._log_lines: tuple[dict[str, Any], ...] | None = None

    def places(self, host: Host) -> list[Place]:
        """The user's settings if the host is in use, the project's where something of ours is in it, and every
        other file that the ledgers have."""
        if host.name not in self._places_of:
            self._places_of[host.name] = self._find_places(host)
        return self._places_of[host.name]

    def _find_places(self, host: Host) -> list[Place]:
        variant, path = standing(host, "user", self._environ, "", self._read)
        own = Place(variant, "user", path)
        key, record = ledger.page_of(self._records, own.path)
        places = {key: own} if record or hosts.detected(host, self._environ) else {}
        root = self._cwd_project
        for scope in host.scopes[1:]:
            variant, path = standing(host, scope, self._environ, root, self._read)
            place = Place(variant, scope, path, root)
            key, record = ledger.page_of(self._records, place.path)
            if record or self._has_ours(place):
                places.setdefault(key, place)
        for key, page in self._records.items():
            if page.host == host.name:
                path = ledger.place_of(self._records, key)
                variant = of_file(host, path, self._read)
                places.setdefault(key, Place(variant, page.scope, path, page.project))
        return list(places.values())

    def _has_ours(self, place: Place) -> bool:
        """Whether a hook of ours stands in a settings file, whatever the ledger says."""
        if not os.path.lexists(place.path):
            return False
        try:
            document = self._reader.patient_document(place.path, place.host.format)[1]
            return bool(look(place.host, document, (), ()).elements)
        except HookctlError:
            return False

    def host(self, host: Host) -> HostFacts:
        """All that is to be known about one host, started in the working folder; no files if it is not in use."""
        places = self.places(host)
        config, cwd = hosts.config_folder(host, self._environ), self._folders.cwd
        facts = HostFacts(host, self._environ, config, self._now, ())
        if not places:
            return facts
        users = standing(host, "user", self._environ, "", self._read)[1]
        layers = self._layers(host, users, cwd)
        sources = [layer.source for layer in layers]
        switches = effects.with_switches(self._folders, host, sources, cwd, self._read)
        client = probes.client(host, hosts.client(host, self._environ))
        files_of_ours = tuple(self._file(place)._replace(client=client) for place in places)
        registrations = tuple(self._registrations(layers, files_of_ours))
        foreign = [hook for layer in layers for hook in layer.hooks if not hook.id]
        variables = dict(self._environ)
        for layer in reversed(layers):
            variables |= layer.env
        facts = facts._replace(
            files=files_of_ours,
            guests=tuple(self._guests(host, files_of_ours)),
            layers=layers,
            variables=variables,
            disabling=effects.disabling(switches),
            managed=tuple(self._managed(host)),
            switch_files=tuple(self._switch_files(host, files_of_ours)),
            registrations=registrations,
            unread=tuple(self._unread(host, layers, files_of_ours)),
            missing_scripts=frozenset(_missing(foreign)),
            agents=_agents() if foreign else frozenset(),
            systems=_systems() if foreign or _has_plugins(layers) else (),
            log=self._log() if registrations else (),
            sessions=self._sessions(host, config, registrations),
        )
        facts = with_running(facts)
        working = at_work(facts)
        return facts._replace(run=self._run(facts, working[0])) if working else facts

    def _layers(self, host: Host, users: str, start: str) -> tuple[Layer, ...]:
        key = (host.name, host.stands, users, start)
        if key not in self._layers_of:
            sources = scopes.sources(self._folders, host, users, start, self._read)
            self._layers_of[key] = tuple(self._layer(source, sources) for source in sources)
        return self._layers_of[key]

    def _layer(self, source: Source, sources: list[Source]) -> Layer:
        target = self._reader.snapshot(source.path).path
        hidden = frozenset(scopes.hidden_events(sources, source))
        return Layer(source, target, _hooks(source), effects.variables([source]), hidden)

    def _log(self) -> tuple[dict[str, Any], ...]:
        """Every line of the guard's log."""
        if self._log_lines is None:
            self._log_lines = tuple(events.read(self._folders.state))
        return self._log_lines

    # One settings file.

    def _file(self, place: Place) -> FileFacts:
        """A settings file with something of ours in it, or that a host in use has for the user."""
        _, record = ledger.page_of(self._records, place.path)
        host, packs = place.host, record.packs if record else {}
        facts = self._any_file(place, record)
        facts = facts._replace(rights=probes.rights(self._guarded_paths(facts)), readers=self._readers(facts))
        elements = facts.live.elements if facts.live else ()
        if place.shared and (record or elements):
            facts = facts._replace(ignore_files=probes.ignore_files(self._reader, place.project))
        if facts.document is not None and any(element.pack in packs for element in elements):
            closed = gates.closed(host, place.path, facts.document.value, self._environ, self._read)
            untrusted = gates.is_untrusted(host, place.scope, facts.start, self._environ, self._read)
            facts = facts._replace(closed=tuple(closed), is_untrusted=untrusted)
        if packs:
            facts = self._with_packs(facts, packs)
        return self._with_guard(facts, packs[GUARD]) if GUARD in packs else facts

    def _parsed(self, place: Place) -> tuple[Document | None, HookctlError | None]:
        try:
            return self._reader.patient_document(place.path, place.host.format)[1], None
        except HookctlError as error:
            return None, error

    def _any_file(self, place: Place, record: Record | None) -> FileFacts:
        """A settings file that may have something of ours: it is not read through a link out of its project."""
        document, live, error = None, None, None
        try:
            if place.project:
                require_inside(place.project, place.path)
            document, error = self._parsed(place)
            if document is not None:
                live = look(place.host, document, (), record.entries if record else ())
        except HookctlError as problem:
            error = problem
        return self._facts(place, record, document, error)._replace(live=live)

    def _facts(
        self, place: Place, record: Record | None, document: Document | None, error: HookctlError | None
    ) -> FileFacts:
        """What there is to know of any settings file."""
        start = place.project or self._folders.cwd
        users = place.path
        if place.scope != "user":
            users = standing(place.host, "user", self._environ, "", self._read)[1]
        layers = self._layers(place.host, users, start)
        sources = [layer.source for layer in layers]
        switches = effects.with_switches(self._folders, place.host, sources, start, self._read)
        return FileFacts(
            place=place,
            host=place.host,
            path=place.path,
            target=ledger.target_of(place.path),
            document=document,
            error=error,
            record=record,
            guard=record.packs.get(GUARD) if record else None,
            live=None,
            user=os.geteuid(),
            state=self._folders.state,
            cwd_project=self._cwd_project,
            environ=self._environ,
            config_folder=hosts.config_folder(place.host, self._environ),
            start=start,
            layers=layers,
            switch_layers=tuple(switches),
            is_file=os.path.isfile(place.path),
            is_read_only=_is_read_only(place.path),
            written_at=probes.written_at(place.path),
            links=probes.links(place.path),
            backup=self._backup(place.path) if error else 0,
            knobs=self._knobs,
            now=self._now,
        )

    def _backup(self, path: str) -> int:
        with contextlib.suppress(HookctlError, OSError):
            backups = files.backups(self._folders.state, ledger.target_of(path))
            return max(files.numbered(backups), default=0)
        return 0

    def _guarded_paths(self, facts: FileFacts) -> list[str]:
        """What nobody else should be able to change: settings, what the hooks run, and hookctl's own state."""
        paths = [facts.path] if facts.document is not None else []
        for page in facts.record.packs.values() if facts.record else ():
            paths += [os.path.join(page.folder, name) for name in page.files]
        if facts.guard:
            paths.append(self._folders.state)
            paths.append(settings_from(facts.guard.settings).python or self._folders.state)
        return paths

    def _readers(self, facts: FileFacts) -> tuple[OtherReader, ...]:
        """The agents that read this file too, if the guard is in it."""
        readers = []
        for about in facts.host.data.get("also_read_by", ()) if facts.guard else ():
            if facts.place.scope not in about["scopes"] or about["host"] == facts.host.name:
                continue
            other = hosts.load(about["host"])
            users = standing(other, "user", self._environ, "", self._read)[1]
            own = ""
            for layer in self._layers(other, users, facts.start):
                if not own and layer.target != facts.target and _has_guard(layer):
                    own = layer.source.path
            is_there = bool(own) or bool(hosts.client(other, self._environ))
            only = f" {about['only']}" if "only" in about else ""
            readers.append(OtherReader(other.title, only, is_there, own))
        return tuple(readers)

    def _with_packs(self, facts: FileFacts, packs: Mapping[str, PackRecord]) -> FileFacts:
        """The files of packs by path, and where they came from."""
        others = {name: page for name, page in sorted(packs.items()) if name != GUARD}
        sources = {}
        for name, page in others.items():
            source = page.settings.get("source")
            if isinstance(source, str) and source and not facts.place.shared:
                sources[name] = _pack_source(source)
        found = {name: probes.pack_files(self._reader, page) for name, page in others.items()}
        return facts._replace(pack_files=found, pack_sources=sources)

    def _with_guard(self, facts: FileFacts, page: PackRecord) -> FileFacts:
        """What the guard's registration runs, and what it did."""
        host, place = facts.host, facts.place
        settings, elements = settings_from(page.settings), facts.live.elements if facts.live else ()
        python = None
        if settings.events:
            # In a project the command takes whatever python3 is on PATH.
            shared = interpreter.python3(self._environ) or "python3" if place.shared else ""
            python = probes.python(shared or settings.python)
        is_wrapping = any(wraps(element.id) for element in elements)
        log_folder = ""
        if place.project:
            log_folder = os.path.basename(project.state_folder(self._folders.state, place.project))
        own_lines = [line for line in self._log() if line.get("host") == host.name]
        return facts._replace(
            config=probes.configuration(self._reader, page.folder),
            python=python,
            programs=probes.guard_files(self._reader, host, page, wraps=is_wrapping),
            program_since=probes.written_at(os.path.join(page.folder, probes.HOOK)),
            log_folder=log_folder,
            log=tuple(line for line in own_lines if line.get("event") != events.WRAPPED),
        )

    # The other files of a host.

    def _guests(self, host: Host, known: tuple[FileFacts, ...]) -> Iterator[FileFacts]:
        """Settings of the working folder that have nothing of ours."""
        targets = {facts.target for facts in known}
        for scope in host.scopes[1:]:
            variant, path = standing(host, scope, self._environ, self._folders.cwd, self._read)
            if os.path.lexists(path) and ledger.target_of(path) not in targets:
                place = Place(variant, scope, path, self._folders.cwd)
                yield self._facts(place, None, *self._parsed(place))

    def _managed(self, host: Host) -> Iterator[ManagedFile]:
        for pattern in host.data["files"].get("managed", {}).get(sys.platform, []):
            for path in sorted(glob.glob(pattern)):
                yield self._managed_file(host, path)

    def _managed_file(self, host: Host, path: str) -> ManagedFile:
        try:
            snapshot, document = self._read(path, host.format)
            if not snapshot.data:
                document = formats.parse(host.format, b"{}", where=path)
            reading.require(host, document)
        except HookctlError as error:
            return ManagedFile(path, None, error)
        return ManagedFile(path, document, None)

    def _switch_files(
        self, host: Host, known: tuple[FileFacts, ...]
    ) -> Iterator[tuple[Host, str, HookctlError]]:
        """Files without hooks that the client reads at its start all the same, and cannot."""
        paths = {facts.path for facts in known}
        for _, path in effects.switch_files(self._folders, host, self._folders.cwd):
            if path in paths or not os.path.lexists(path):
                continue
            variant = of_file(hosts.load(host.name), path, self._read)
            if reading.stops_client(variant):
                try:
                    self._reader.patient_document(path, variant.format)
                except HookctlError as error:
                    yield variant, path, error

    def _registrations(self, layers: tuple[Layer, ...], known: tuple[FileFacts, ...]) -> Iterator[Registration]:
        """Every hook of the guard's on a stop, and what it runs."""
        by_target = {facts.target: facts for facts in reversed(known)}
        for layer in layers:
            for hook in layer.hooks:
                if hook.id == effects.STOP:
                    yield self._registration(hook, by_target.get(layer.target))

    def _registration(self, hook: Hook, facts: FileFacts | None) -> Registration:
        page, folder = facts.guard if facts else None, ""
        if page:
            folder = page.folder
        else:
            place = facts.place if facts else Place(hook.source.host, hook.source.scope, hook.source.path)
            folder = os.path.dirname(guard.hook_path(str(hook.fields["command"]), hook.id, "stop", place))
        config = probes.configuration(self._reader, folder).value if folder else {}
        program, digest = os.path.join(folder, probes.HOOK), None
        with contextlib.suppress(HookctlError):
            snapshot = self._reader.snapshot(program)
            digest = snapshot.sha if snapshot.data is not None else None
        since = probes.written_at(program) if os.path.isfile(program) else None
        return Registration(hook, page, folder, config, since, digest)

    def _unread(
        self, host: Host, layers: tuple[Layer, ...], known: tuple[FileFacts, ...]
    ) -> Iterator[UnreadFile]:
        """Settings files with hooks that are there although the host does not read them here."""
        read = {layer.target for layer in layers}
        for path, scope, reason, owner in self._unread_paths(host, known):
            if not os.path.isfile(path):
                continue
            target = ledger.target_of(path)
            if target in read:
                continue
            try:
                variant = of_file(host, path, self._read)
                document = self._reader.patient_document(path, variant.format)[1]
            except HookctlError:
                continue
            hooks = _hooks(Source(scope, path, document, variant))
            yield UnreadFile(path, target, scope, reason, hooks, owner)

    def _unread_paths(
        self, host: Host, known: tuple[FileFacts, ...]
    ) -> Iterator[tuple[str, str, str, str]]:
        """Where people put settings that the host does not read here: path, scope, and why it does not."""
        environ, config = self._environ, hosts.config_folder(host, self._environ)
        if "local" in host.scopes:
            yield os.path.join(config, os.path.basename(host.data["files"]["local"])), "local", "local", ""
        variable = host.data["config"].get("variable", "")
        if environ.get(variable):
            plain = {name: value for name, value in environ.items() if name != variable}
            yield hosts.settings_path(host, "user", plain), "user", "variable", ""
        for facts in known:
            if facts.place.scope == "user":
                yield facts.path, "user", "folder", facts.path
        if host.data["scopes"]["start_folder_only"]:
            patterns = [(hosts.settings_path(host, scope, environ, _FOLDER), scope) for scope in host.scopes[1:]]
            for reason, folders in (("above", self._above()), ("below", self._below())):
                for folder in folders:
                    for pattern, scope in patterns:
                        yield pattern.replace(_FOLDER, folder.rstrip("/")), scope, reason, ""

    def _above(self) -> Iterator[str]:
        """The folders above the working folder, up to HOME."""
        home, folder = ledger.target_of(hosts.home(self._environ)), os.path.dirname(self._folders.cwd)
        while folder != os.path.dirname(folder) and not f"{home}/".startswith(f"{folder}/"):
            yield folder
            folder = os.path.dirname(folder)

    def _below(self) -> Iterator[str]:
        try:
            names = sorted(os.listdir(self._folders.cwd))[:_SUBFOLDERS]
        except OSError:
            return
        yield from (os.path.join(self._folders.cwd, name) for name in names if not name.startswith("."))

    def _sessions(
        self, host: Host, config: str, registrations: tuple[Registration, ...]
    ) -> tuple[tuple[str, float], ...]:
        """The host's own sessions, if a guard should see all of them; by name and date only."""
        pattern = host.data.get("transcripts", {}).get("pattern", "")
        if not pattern or not any(one.hook.source.scope == "user" for one in registrations):
            return ()
        sessions = []
        for path in glob.iglob(pattern.format(config=glob.escape(config))):
            written_at = probes.written_at(path)
            if written_at is not None:
                sessions.append((os.path.splitext(os.path.basename(path))[0], written_at))
        return tuple(sessions)

    # The work in hand.

    def _run(self, facts: HostFacts, registration: Registration) -> Run:
        """The run folder of the project that the working folder is in, as a guard of this place reads it."""
        named = self._environ.get(facts.host.data["environment"].get("project", ""), "")
        root = self._cwd_project
        if os.path.isdir(named):
            root = project.find(named, self._environ)
        own = os.path.join(root, OWN)
        folder, task_path = work.paths_of_run(facts, registration, root)
        marks = [os.path.join(folder, name) for name in (*work.MARKS, work.OWNER)]
        task, task_error = self._bytes(task_path)
        owner_path = os.path.join(folder, work.OWNER)
        state = project.state_folder(self._folders.state, root)
        active_path = os.path.join(state, "ACTIVE")
        active, active_error = self._bytes(active_path)
        return Run(
            own=own,
            folder=folder,
            task_path=task_path,
            task=task,
            task_error=task_error,
            paths=tuple(_run_paths([own, folder, task_path, *marks])),
            owner_path=owner_path,
            owner=(self._bytes(owner_path)[0] or b"")[:256].decode("utf-8", "replace").strip(),
            owner_since=probes.written_at(owner_path) or 0.0,
            log_folder=os.path.basename(state),
            active_path=active_path,
            active=b"" if active_error else active,
        )

    def _bytes(self, path: str) -> tuple[bytes | None, HookctlError | None]:
        try:
            return self._reader.snapshot(path).data, None
        except HookctlError as error:
            return None, error


def _run_paths(paths: list[str]) -> Iterator[RunPath]:
    """Those of these paths that are there."""
    for path in dict.fromkeys(paths):
        try:
            mode = os.lstat(path).st_mode
        except (OSError, ValueError):
            continue
        yield RunPath(path, mode, os.access(path, os.R_OK), os.access(path, os.X_OK))


def _is_read_only(path: str) -> bool:
    with contextlib.suppress(OSError, ValueError):  # there may be no file
        return files.is_read_only(path)
    return False


def _hooks(source: Source) -> tuple[Hook, ...]:
    """Every handler of a settings file; malformed parts are passed over."""
    shape, value = source.host.shape, source.document.value
    ours = {element.path: element for element in shapes.elements(shape, value)}
    hooks = []
    for path, fields, _ in shapes.handlers(shape, value):
        own, event = ours.get(path), shapes.event_of(shape, path)
        hooks.append(Hook(source, path, event, own.fields if own else fields, own.id if own else ""))
    return tuple(hooks)


def _has_guard(layer: Layer) -> bool:
    return any(hook.id == effects.STOP for hook in layer.hooks)


def _has_plugins(layers: tuple[Layer, ...]) -> bool:
    return any(layer.source.document.get(("enabledPlugins",)) is not MISSING for layer in layers)


def _pack_source(path: str) -> PackSource:
    from hookctl.packs.pack import load_file

    try:
        pack = load_file(path)
    except HookctlError as error:
        return PackSource(path, error=error)
    return PackSource(path, pack.name, pack.version)


def _missing(foreign: list[Hook]) -> Iterator[str]:
    """The scripts that hooks are to run, and that are not there."""
    for hook in foreign:
        script = hook.script
        if script and not os.path.lexists(script):
            yield script


def _agents() -> frozenset[str]:
    """The programs of all hosts."""
    return frozenset(hosts.load(name).data["client"]["command"] for name in hosts.names())


def _systems() -> tuple[dict[str, Any], ...]:
    """The tools that keep an agent going, and how their hooks are told."""
    with open(os.path.join(os.path.dirname(__file__), "continuations.toml"), "rb") as stream:
        return tuple(tomllib.load(stream)["systems"])
