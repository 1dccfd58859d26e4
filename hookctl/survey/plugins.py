"""The hooks of plugins and extensions, of those that are off too, from the disk alone.

What a host's plugins look like stands in the table `plugins` of its data file. Nothing is run, and
whatever cannot be read is said and passed over.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from hookctl.documents import LISTED, MISSING, Document, Path, value_at
from hookctl.errors import HookctlError
from hookctl.hosts import Host, config_folder, loading
from hookctl.hosts.loading import Entry
from hookctl.hosts.model import OtherAgent
from hookctl.hosts.shapes import Shape
from hookctl.settings.switches import FileRules, is_rule
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
    Plugin,
    PluginFinder,
    PluginReader,
    Table,
    find_first,
    is_inside,
    printable,
)
from hookctl.system.project import find_repository

_MOST_HANDLERS = 500  # of one file


def read_plugins(machine: Machine, host: Host) -> Reading:
    """The hooks of a host's plugins as it is started in the working folder, in its order."""
    if not host.plugins:  # its settings need not be looked at
        return Reading((), ())
    reader = _HostPlugins(machine, host)
    hooks = (*reader.read_hooks(), *reader.read_modules())
    return Reading(hooks, tuple(reader.files.unreadable))


class _Part(NamedTuple):
    """A map of events of a plugin: in a hooks file, or in a manifest."""

    path: str
    document: Document
    above: Path  # the events' path in the document
    name: str  # as the host calls the file


class _HostPlugins:
    """The plugins of one host, in the folder that it is started in."""

    def __init__(self, machine: Machine, host: Host) -> None:
        self._machine, self._host = machine, host
        self._table: Table = host.plugins
        self._start, project = machine.folders.cwd, machine.start_of(host)
        switches = machine.switches(host, machine.active_file(host, "user")[1], project)
        self._switches = switches
        self._off = judge_switches("plugin", "", switches)
        self._untrusted = {
            scope: judge_trust(machine, host, scope, project) for scope in ("user", "project")
        }
        self._disabled = list_disabled(switches)
        places = {
            "config": config_folder(host, machine.environ),
            "home": machine.environ["HOME"],
            "start": self._start,
            "project": project,
            "repository": find_repository(self._start),
        }
        managed = host.managed_files.get(sys.platform, ())
        self.files = PluginReader(places, managed, machine.reader.patient_document)

    # Modules: files in the host's folders, and what a list in its settings names.

    def read_modules(self) -> Iterator[Hook]:
        """Every module, also of those that are off."""
        seen = set()
        own = {os.path.basename(file) for file in self._host.files.values()}
        for pattern in self._table.get("modules", ()):
            for path in self.files.expand(pattern):
                name = os.path.basename(path)
                if name not in own and os.path.isfile(path) and path not in seen:
                    seen.add(path)
                    off = judge_switches(_scope_of(pattern), path, self._switches)
                    yield self._make_module(pattern, path, (), 1, path, off)
        for row in self._table.get("packages", ()):
            for path in self.files.expand(row["file"]):
                yield from self._read_list(row, path, seen)

    def _read_list(self, row: Table, path: str, seen: set[str]) -> Iterator[Hook]:
        document = self.files.document(path)
        key, pattern = tuple(row["path"]), row["file"]
        entries = value_at(document.value, key) if document else None
        if document is None or not isinstance(entries, list):
            return
        rules = None
        if key == self._host.list_key("rules"):
            rules = FileRules(os.path.dirname(path), entries)
        for number, entry in enumerate(entries[:MOST_FOLDERS]):
            name = entry.get(row.get("name")) if isinstance(entry, dict) else entry
            if not isinstance(name, str):
                continue
            off = _judge_entry(row, entry)
            if rules:
                file = rules.locate(name)
                if is_rule(name) or file in seen:
                    continue
                seen.add(file)
                off = judge_switches(_scope_of(pattern), file, self._switches)
            line = document.position((*key, number))[0]
            yield self._make_module(pattern, path, (*key, number), line, name, off)

    def _make_module(
        self, pattern: str, path: str, at: Path, line: int, command: str, off: Obstacle | None
    ) -> Hook:
        name = command if at else os.path.basename(path)
        file = HookFile(self._host, "plugin", path, plugin=printable(name))
        obstacle = off or self._off or self._untrusted[_scope_of(pattern)]
        own = (obstacle,) if obstacle else ()
        return Hook(file, at, MODULE, {"command": command}, line=line, obstacles=own)

    # Plugins with hooks.

    def read_hooks(self) -> Iterator[Hook]:
        """The hooks of every plugin, also of those that are off."""
        folders: dict[str, str] = {}
        for plugin in PluginFinder(self._table, self.files, self._start).find():
            obstacle = None
            if plugin.off:
                obstacle = Obstacle(OFF, plugin.off)
            elif self._table.get("first_only") and plugin.id in folders:
                reason = (
                    f"{self._host.title} takes the plugin of this name from {folders[plugin.id]}"
                )
                obstacle = Obstacle(HIDDEN, reason)
            folders.setdefault(plugin.id, plugin.folder)
            yield from self._read_plugin(plugin, obstacle)

    def _read_plugin(self, plugin: Plugin, obstacle: Obstacle | None) -> Iterator[Hook]:
        path = find_first(plugin.folder, self._table["manifests"])
        manifest = self.files.document(path, plugin.folder) if path else None
        hooks = value_at(manifest.value, ("hooks",)) if manifest else None
        kind = self._kind_of(hooks)
        fault, strict = "", self._table.get("strict", ())
        if path and manifest is None and "manifest" in strict:
            fault = "cannot be read"
        elif manifest and "name" in strict and not _has_name(manifest):
            fault = "has no name"
        elif "hooks" in strict and not kind and hooks not in (None, MISSING):
            fault = "has hooks of a wrong kind"
        if fault and not obstacle:
            obstacle = Obstacle(IGNORED, f"{self._host.title} loads nothing of it: {path} {fault}")
        parts = list(self._find_named(plugin.folder, path, manifest, kind))
        is_instead = self._table.get("named") == "instead" and bool(parts)
        if not (is_instead or (kind in ("path", "list") and self._table.get("named_alone"))):
            usual = find_first(plugin.folder, self._table.get("files", ()))
            parts = [part for part in parts if part.path != usual]
            parts[:0] = self._read_file(usual, plugin.folder) if usual else ()
        if plugin.market:
            market = self.files.document(plugin.market_file, plugin.market)
            where = ("plugins", plugin.number, "hooks")
            if market and isinstance(value_at(market.value, where), dict):
                parts.append(_Part(plugin.market_file, market, where, ""))
        for part in parts:
            yield from self._read_part(plugin, part, obstacle)

    def _kind_of(self, hooks: Any) -> str:
        """What the hooks of a manifest are, by `kinds`; '' where the host ignores them."""
        kinds = self._table.get("kinds", ())
        kind = ""
        if isinstance(hooks, dict):
            kind = "events"
        elif isinstance(hooks, list) and "hooks" in kinds:
            kind = "hooks"
        elif isinstance(hooks, list) and all(map(self._is_path, hooks)):
            kind = "list"
        elif self._is_path(hooks):
            kind = "path"
        return kind if kind in kinds else ""

    def _is_path(self, name: Any) -> bool:
        return isinstance(name, str) and (name.startswith("./") or not self._table.get("dotted"))

    def _find_named(
        self, folder: str, path: str, manifest: Document | None, kind: str
    ) -> Iterator[_Part]:
        if manifest is None or not kind:
            return
        if kind == "hooks":
            yield _Part(path, _show_as_map(manifest, self._host), ("hooks",), "")
            return
        if kind == "events":
            above = tuple(self._table.get("inside", ("hooks",)))
            if isinstance(value_at(manifest.value, above), dict):
                yield _Part(path, manifest, above, f"{os.path.basename(path)}#hooks[0]")
            return
        hooks = manifest.value["hooks"]
        for name in (hooks if kind == "list" else [hooks])[:MOST_FOLDERS]:
            named = os.path.normpath(os.path.join(folder, name))
            if not is_inside(named, folder):
                self.files.note(path, "its hooks are to be outside of the plugin")
            elif not os.path.lexists(named):
                self.files.note(named, "the manifest names this file, and it is not there")
            else:
                yield from self._read_file(named, folder)

    def _read_file(self, path: str, folder: str) -> Iterator[_Part]:
        document = self.files.document(path, folder)
        if document is None:
            return
        try:
            document.require_strict(comments=False, trailing_commas=False)
        except HookctlError as error:
            self.files.note(path, error.message, error.line)
            return
        name = os.path.relpath(path, folder)
        if isinstance(value_at(document.value, ("hooks",)), dict):
            yield _Part(path, document, ("hooks",), name)
        elif self._table.get("bare") and isinstance(document.value, dict):
            yield _Part(path, document, (), name)
        else:
            self.files.note(path, "it has no hooks that the host reads")

    def _read_part(self, plugin: Plugin, part: _Part, obstacle: Obstacle | None) -> Iterator[Hook]:
        shape = Shape(root=part.above, flat=("*",) if self._table.get("flat") else ())
        host = self._host._replace(shape=shape)
        entries = loading.read_alone(host, value_at(part.document.value, part.above))
        if len(entries) > _MOST_HANDLERS:
            self.files.note(part.path, f"only {_MOST_HANDLERS} of its hooks are looked at")
        entries = entries[:_MOST_HANDLERS]
        file = HookFile(
            host,
            "plugin",
            part.path,
            plugin=plugin.name,
            shared=tuple(filter(None, (self._off, self._untrusted[plugin.scope]))),
            note=self._table.get("note", ""),
            readers=tuple(self._find_readers(plugin.folder)),
            variables=dict.fromkeys(self._table.get("roots", ()), plugin.folder),
        )
        closed = self._find_closed(plugin, part, entries)
        for entry in entries if self._disabled else ():
            # A hook is switched off by its name, or by its command as it is run.
            name = entry.fields.get("name", file.expand(str(entry.fields.get("command"))))
            if isinstance(name, str) and name in self._disabled:
                closed[entry.path] = self._disabled[name]
        yield from list_hooks_of(file, part.document, entries, obstacle, closed=closed)

    def _find_readers(self, folder: str) -> Iterator[OtherAgent]:
        real = os.path.realpath(folder)
        for agent in self._host.also_read_by:
            if real in map(os.path.realpath, self.files.expand_all(agent.plugins)):
                yield agent

    def _find_closed(
        self, plugin: Plugin, part: _Part, entries: Sequence[Entry]
    ) -> dict[Path, Obstacle]:
        """The hooks that wait for an approval, which has the names of plugin and file."""
        if not self._table.get("approvals"):
            return {}
        host = self._host._replace(shape=Shape())  # as in a file with nothing else
        above, root = len(part.above), {"hooks": value_at(part.document.value, part.above)}
        moved = [entry._replace(path=("hooks", *entry.path[above:])) for entry in entries]
        name = f"{plugin.id}:{part.name}"
        waiting = find_waiting(self._machine, host, name, root, moved)
        return {(*part.above, *path[1:]): found for path, found in waiting.items()}


def _judge_entry(row: Table, entry: Any) -> Obstacle | None:
    """Why nothing of a package is loaded: its list of files is empty, or `whole` is false."""
    part, whole = row.get("part"), row.get("whole")
    if not isinstance(entry, dict) or not part or entry.get(part):
        return None
    if entry.get(part) == []:
        return Obstacle(OFF, f"its {part} is []")
    if entry.get(whole) is False:
        return Obstacle(OFF, f"its {whole} is false, and it has no {part}")
    return None


def _scope_of(pattern: str) -> str:
    return "user" if pattern.startswith(("{config}", "{home}")) else "project"


def _show_as_map(document: Document, host: Host) -> Document:
    """A manifest with a list of hooks like that of the host's settings, as a map of events."""
    from hookctl.documents.listed import ListedDocument, Listing  # late: few hosts have a list

    return ListedDocument(document, Listing.parse(host.format.partition(LISTED)[2]))


def _has_name(document: Document) -> bool:
    name = value_at(document.value, ("name",))
    return isinstance(name, str) and bool(name)
