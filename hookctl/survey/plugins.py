"""The hooks of plugins and extensions, of those that are off too, from the disk alone.

What a host's plugins look like stands in the table `plugins` of its data file. Nothing is run, and
whatever cannot be read is said and passed over.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hookctl.documents import LISTED, MISSING, Document, Path, value_at
from hookctl.errors import HookctlError
from hookctl.hosts import Host, config_folder, loading
from hookctl.hosts.loading import Entry
from hookctl.hosts.model import OtherAgent
from hookctl.hosts.shapes import Shape
from hookctl.settings.switches import FileRules, Switch, is_rule
from hookctl.survey.gathering import (
    Reading,
    find_waiting,
    judge_switches,
    judge_trust,
    list_disabled,
    list_hooks_of,
)
from hookctl.survey.machine import Machine
from hookctl.survey.model import HIDDEN, IGNORED, MODULE, OFF, Hook, HookFile, Obstacle
from hookctl.survey.plugin_folders import (
    MOST_FOLDERS,
    Packages,
    Plugin,
    PluginFinder,
    PluginReader,
    PluginTable,
    find_first,
    is_inside,
    printable,
    read_table,
)
from hookctl.system.project import find_repository


def read_plugins(machine: Machine, host: Host) -> Reading:
    """The hooks of a host's plugins as it is started in the working folder, in its order."""
    table = read_table(host)
    if table is None:  # its settings need not be looked at
        return Reading((), ())
    start, project = machine.folders.cwd, machine.start_of(host)
    switches = machine.switches(host, machine.active_file(host, "user")[1], project)
    off = judge_switches("plugin", "", switches)
    untrusted = {scope: judge_trust(machine, host, scope, project) for scope in ("user", "project")}
    places = {
        "config": config_folder(host, machine.environ),
        "home": machine.environ["HOME"],
        "start": start,
        "project": project,
        "repository": find_repository(start),
    }
    managed = tuple(host.managed_files.get(sys.platform, ()))
    reader = PluginReader(places, managed, machine.reader.patient_document)
    finder = HookFinder(machine, host, table, reader, list_disabled(switches))
    shared_folders = _find_shared_folders(host, reader)
    hooks: list[Hook] = []
    names: dict[str, str] = {}
    for plugin in PluginFinder(table, reader, start).find():
        obstacle = None
        if plugin.off:
            obstacle = Obstacle(OFF, plugin.off)
        elif table.first_only and plugin.id in names:
            reason = f"{host.title} takes the plugin of this name from {names[plugin.id]}"
            obstacle = Obstacle(HIDDEN, reason)
        names.setdefault(plugin.id, plugin.folder)
        shared = tuple(each for each in (off, untrusted.get(plugin.scope)) if each)
        readers = shared_folders.get(os.path.realpath(plugin.folder), ())
        hooks += finder.find(plugin, obstacle, shared, tuple(readers))
    obstacles = {scope: off or found for scope, found in untrusted.items()}
    hooks += ModuleFinder(host, reader, obstacles, switches).find(table)
    return Reading(tuple(hooks), tuple(reader.unreadable))


def _find_shared_folders(host: Host, reader: PluginReader) -> dict[str, list[OtherAgent]]:
    """The folders of plugins that other agents read too, and these agents."""
    found: dict[str, list[OtherAgent]] = {}
    for agent in host.also_read_by:
        folders = {os.path.realpath(path) for path in reader.expand_all(agent.plugins)}
        for folder in folders:
            found.setdefault(folder, []).append(agent)
    return found


class ModuleFinder:
    """Finds the modules of a host: files in its folders, and what a list in its settings names.

    `obstacles` are what keeps those of the user and of the project from running.
    """

    def __init__(
        self,
        host: Host,
        reader: PluginReader,
        obstacles: Mapping[str, Obstacle | None],
        switches: Sequence[Switch],
    ) -> None:
        self._host = host
        self._reader = reader
        self._obstacles = obstacles
        self._switches = switches
        self._seen: set[str] = set()  # files that are listed

    def find(self, table: PluginTable) -> Iterator[Hook]:
        """Every module, also of those that are off."""
        own = {os.path.basename(file) for file in self._host.files.values()}
        for pattern in table.modules:
            scope = _scope_of(pattern)
            for path in self._reader.expand(pattern):
                name = os.path.basename(path)
                if name not in own and os.path.isfile(path) and path not in self._seen:
                    self._seen.add(path)
                    off = judge_switches(scope, path, self._switches)
                    obstacle = off or self._obstacles[scope]
                    yield self._describe(path, name, (), 1, path, obstacle)
        for row in table.packages:
            for path in self._reader.expand(row.file):
                yield from self._read_list(row, path)

    def _read_list(self, row: Packages, path: str) -> Iterator[Hook]:
        document = self._reader.document(path)
        key, scope = tuple(row.path), _scope_of(row.file)
        entries = value_at(document.value, key) if document else None
        if document is None or not isinstance(entries, list):
            return
        rules = None
        if key == self._host.list_key("rules"):
            rules = FileRules(os.path.dirname(path), entries)
        for number, entry in enumerate(entries[:MOST_FOLDERS]):
            name = entry.get(row.name) if isinstance(entry, dict) and row.name else entry
            if not isinstance(name, str) or (rules and not self._is_new(name, rules)):
                continue
            off = _judge_entry(row, entry)
            if rules:
                off = judge_switches(scope, rules.locate(name), self._switches)
            line = document.position((*key, number))[0]
            obstacle = off or self._obstacles[scope]
            yield self._describe(path, name, (*key, number), line, name, obstacle)

    def _is_new(self, name: str, rules: FileRules) -> bool:
        """Whether an entry names a file that is not listed yet; a rule names none."""
        path = rules.locate(name)
        is_new = not is_rule(name) and path not in self._seen
        self._seen.add(path)
        return is_new

    def _describe(
        self, path: str, name: str, at: Path, line: int, command: str, obstacle: Obstacle | None
    ) -> Hook:
        file = HookFile(self._host, "plugin", path, plugin=printable(name))
        own = (obstacle,) if obstacle else ()
        return Hook(file, at, MODULE, {"command": command}, line=line, obstacles=own)


def _judge_entry(row: Packages, entry: Any) -> Obstacle | None:
    """Why nothing of a package is loaded."""
    if not isinstance(entry, dict) or not row.part or entry.get(row.part):
        return None
    if entry.get(row.part) == []:
        return Obstacle(OFF, f"its {row.part} is []")
    if entry.get(row.whole) is False:
        return Obstacle(OFF, f"its {row.whole} is false, and it has no {row.part}")
    return None


def _scope_of(pattern: str) -> str:
    """Whose the files of a pattern are."""
    return "user" if pattern.startswith(("{config}", "{home}")) else "project"


_MOST_HANDLERS = 500  # of one file


class _Part(NamedTuple):
    """A map of events of a plugin: in a hooks file, or in a manifest."""

    path: str
    document: Document
    above: Path  # the events' path in the document
    name: str  # as the host calls the file


class _Manifest(NamedTuple):
    """The manifest of a plugin."""

    path: str  # empty where there is none
    document: Document | None
    kind: str  # of its hooks, if the host takes any of it
    is_silent: bool  # it says nothing of hooks


class HookFinder:
    """Finds the hooks of a host's plugins."""

    def __init__(
        self,
        machine: Machine,
        host: Host,
        table: PluginTable,
        reader: PluginReader,
        disabled: Mapping[str, Obstacle],
    ) -> None:
        self._machine = machine
        self._disabled = disabled
        self._host = host
        self._table = table
        self._reader = reader

    def find(
        self,
        plugin: Plugin,
        obstacle: Obstacle | None,
        shared: tuple[Obstacle, ...],
        readers: tuple[OtherAgent, ...],
    ) -> Iterator[Hook]:
        """The hooks of a plugin; `obstacle` is what costs them, `shared` others' hooks as well."""
        manifest = self._read_manifest(plugin.folder)
        obstacle = obstacle or self._judge_manifest(manifest)
        for part in self._find_parts(plugin, manifest):
            note = self._table.note or self._note_on_trust(plugin)
            yield from self._read_hooks(
                plugin, part, obstacle, shared=shared, note=note, readers=readers
            )

    def _note_on_trust(self, plugin: Plugin) -> str:
        """What to know of a plugin that a project switches on, where that needs an approval."""
        project = self._machine.start_of(self._host).rstrip("/")
        is_projects = plugin.on.startswith(f"{project}/")
        return self._host.trust.gate if is_projects and self._host.trust.covers("project") else ""

    # The manifest of a plugin.

    def _read_manifest(self, folder: str) -> _Manifest:
        path = find_first(folder, self._table.manifests)
        document = self._reader.document(path, folder) if path else None
        hooks = value_at(document.value, ("hooks",)) if document else None
        kind = self._kind_of(hooks)
        is_usable = kind in self._table.kinds if self._table.named else False
        return _Manifest(path, document, kind if is_usable else "", hooks in (None, MISSING))

    def _kind_of(self, hooks: Any) -> str:
        """What the hooks of a manifest are, in the words of `kinds`; nothing that is known: ''."""
        if isinstance(hooks, dict):
            return "events"
        if isinstance(hooks, list) and "hooks" in self._table.kinds:
            return "hooks"
        if isinstance(hooks, list):
            return "list" if all(map(self._is_path, hooks)) else ""
        return "path" if self._is_path(hooks) else ""

    def _is_path(self, name: Any) -> bool:
        return isinstance(name, str) and (name.startswith("./") or not self._table.dotted)

    def _judge_manifest(self, manifest: _Manifest) -> Obstacle | None:
        """Why the host loads nothing of a plugin with this manifest."""
        strict, document = self._table.strict, manifest.document
        fault = ""
        if manifest.path and document is None and "manifest" in strict:
            fault = "cannot be read"
        elif document and "name" in strict and not _has_name(document):
            fault = "has no name"
        elif document and "hooks" in strict and not (manifest.kind or manifest.is_silent):
            fault = "has hooks of a wrong kind"
        if not fault:
            return None
        reason = f"{self._host.title} loads nothing of it: {manifest.path} {fault}"
        return Obstacle(IGNORED, reason)

    # The files of a plugin.

    def _find_parts(self, plugin: Plugin, manifest: _Manifest) -> Iterator[_Part]:
        named = self._find_named(plugin.folder, manifest)
        is_instead = self._table.named == "instead" and bool(named)
        if manifest.kind in ("path", "list") and self._table.named_alone:
            is_instead = True
        usual = "" if is_instead else find_first(plugin.folder, self._table.files)
        if usual:
            yield from self._read_file(usual, plugin.folder)
        for part in named:
            if part.path != usual:
                yield part
        if plugin.market_file:
            document = self._reader.document(plugin.market_file, plugin.market)
            if document and isinstance(value_at(document.value, plugin.market_path), dict):
                yield _Part(plugin.market_file, document, plugin.market_path, "")

    def _find_named(self, folder: str, manifest: _Manifest) -> list[_Part]:
        """The hooks that a manifest names: in files, or in itself."""
        document = manifest.document
        if document is None or not manifest.kind:
            return []
        if manifest.kind == "hooks":
            listed = _show_as_map(document, self._host)
            return [_Part(manifest.path, listed, ("hooks",), "")]
        if manifest.kind == "events":
            above = tuple(self._table.inside)
            if not isinstance(value_at(document.value, above), dict):
                return []
            name = f"{os.path.basename(manifest.path)}#hooks[0]"
            return [_Part(manifest.path, document, above, name)]
        hooks = document.value["hooks"]
        names = hooks if manifest.kind == "list" else [hooks]
        parts: list[_Part] = []
        for name in names[:MOST_FOLDERS]:
            path = os.path.normpath(os.path.join(folder, name))
            if not is_inside(path, folder):
                self._reader.note(manifest.path, "its hooks are to be outside of the plugin")
            elif not os.path.lexists(path):
                self._reader.note(path, "the manifest names this file, and it is not there")
            else:
                parts += self._read_file(path, folder)
        return parts

    def _read_file(self, path: str, folder: str) -> Iterator[_Part]:
        document = self._reader.document(path, folder)
        if document is None:
            return
        try:
            document.require_strict(comments=False, trailing_commas=False)
        except HookctlError as error:
            self._reader.note(path, error.message, error.line)
            return
        name = os.path.relpath(path, folder)
        if isinstance(value_at(document.value, ("hooks",)), dict):
            yield _Part(path, document, ("hooks",), name)
        elif self._table.bare and isinstance(document.value, dict):
            yield _Part(path, document, (), name)
        else:
            self._reader.note(path, "it has no hooks that the host reads")

    # The hooks in a file.

    def _read_hooks(
        self, plugin: Plugin, part: _Part, obstacle: Obstacle | None, **more: Any
    ) -> Iterator[Hook]:
        """The hooks of a part; `more` are the fields of their HookFile."""
        shape = Shape(root=part.above, flat=("*",) if self._table.flat else ())
        host = self._host._replace(shape=shape)
        entries = loading.read_alone(host, value_at(part.document.value, part.above))
        if len(entries) > _MOST_HANDLERS:
            self._reader.note(part.path, f"only {_MOST_HANDLERS} of its hooks are looked at")
        entries = entries[:_MOST_HANDLERS]
        variables = dict.fromkeys(self._table.roots, plugin.folder)
        file = HookFile(host, "plugin", part.path, plugin=plugin.name, variables=variables, **more)
        closed = self._find_closed(plugin, part, entries)
        closed |= dict(self._find_disabled(file, entries))
        yield from list_hooks_of(file, part.document, entries, obstacle, closed=closed)

    def _find_disabled(
        self, file: HookFile, entries: Sequence[Entry]
    ) -> Iterator[tuple[Path, Obstacle]]:
        """The hooks that are switched off by their name, or their command as it is run."""
        for entry in entries:
            name = entry.fields.get("name", file.expand(str(entry.fields.get("command"))))
            if isinstance(name, str) and name in self._disabled:
                yield entry.path, self._disabled[name]

    def _find_closed(
        self, plugin: Plugin, part: _Part, entries: Sequence[Entry]
    ) -> dict[Path, Obstacle]:
        """The hooks that wait for an approval, which has the names of plugin and file."""
        if not self._table.approvals:
            return {}
        host = self._host._replace(shape=Shape())  # as in a file with nothing else
        above, root = len(part.above), {"hooks": value_at(part.document.value, part.above)}
        moved = [entry._replace(path=("hooks", *entry.path[above:])) for entry in entries]
        name = f"{plugin.id}:{part.name}"
        waiting = find_waiting(self._machine, host, name, root, moved)
        return {(*part.above, *path[1:]): found for path, found in waiting.items()}


def _show_as_map(document: Document, host: Host) -> Document:
    """A manifest with a list of hooks like that of the host's settings, as a map of events."""
    from hookctl.documents.listed import ListedDocument, Listing  # late: few hosts have a list

    return ListedDocument(document, Listing.parse(host.format.partition(LISTED)[2]))


def _has_name(document: Document) -> bool:
    name = value_at(document.value, ("name",))
    return isinstance(name, str) and bool(name)
