"""The hooks of plugins and extensions, of those that are off too, from the disk alone.

What a host's plugins look like stands in the table `plugins` of its data file. Nothing is run, and
whatever cannot be read is said and passed over.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from hookctl.checks.machine import Machine
from hookctl.documents import Document, Path, value_at
from hookctl.errors import HookctlError
from hookctl.hooks.gathering import Reading, judge_switches, judge_trust, list_disabled
from hookctl.hooks.model import (
    HIDDEN,
    NOT_APPROVED,
    OFF,
    Handler,
    HookFile,
    Obstacle,
)
from hookctl.hooks.plugin_folders import Plugin, PluginFinder, find_first
from hookctl.hooks.plugin_reader import MOST_FOLDERS, PluginReader, is_inside, printable
from hookctl.hooks.plugin_tables import PluginTable, read_table
from hookctl.hooks.programs import start_of
from hookctl.hooks.roots import expand
from hookctl.hosts import Host, codex, config_folder, shapes
from hookctl.hosts.shapes import Shape
from hookctl.settings.targets import Read, read_settings
from hookctl.system.project import find_repository
from hookctl.values import NamedTuple

MODULE = "plugin"  # the event of a module, which itself says what it hooks
_GROUPED, _FLAT = Shape(root=()), Shape(root=(), flat=("*",))
_MOST_HANDLERS = 500  # of one file


# Path, handler and group.
_Entry = tuple[Path, dict[str, Any], dict[str, Any]]


class _Part(NamedTuple):
    """A map of events of a plugin: in a hooks file, or in a manifest."""

    path: str
    document: Document
    above: Path  # the events' path in the document
    name: str  # as the host calls the file


def read_plugins(machine: Machine, host: Host) -> Reading:
    """The hooks of a host's plugins as it is started in the working folder."""
    if read_table(host) is None:  # its settings need not be looked at
        return Reading((), ())
    project, user = start_of(machine, host), machine.active_file(host, "user")[1]
    sources = [layer.source for layer in machine.layers(host, user, project)]
    switch_sources = machine.switches(host, user, project)
    places = find_places(host, machine.environ, machine.folders.cwd, project)
    return find_plugin_hooks(
        host,
        places,
        managed=tuple(host.managed_files.get(sys.platform, ())),
        obstacle=judge_switches("plugin", sources, switch_sources),
        disabled=list_disabled(switch_sources),
        read=machine.reader.patient_document,
        untrusted={
            scope: judge_trust(machine, host, scope, project) for scope in ("user", "project")
        },
    )


def find_plugin_hooks(
    host: Host,
    places: Mapping[str, str],
    *,
    managed: tuple[str, ...] = (),
    obstacle: Obstacle | None = None,
    untrusted: Mapping[str, Obstacle | None] = {},
    disabled: Mapping[str, Obstacle] = {},
    read: Read = read_settings,
) -> Reading:
    """The hooks of all plugins of a host, in the order in which it has them.

    `places` are those of find_places, `managed` the patterns of the host's managed settings;
    `obstacle` is what keeps every hook of the host from running, `untrusted` those of a scope, and
    `disabled` single ones, by their name or command.
    """
    table = read_table(host)
    if table is None:
        return Reading((), ())
    reader = PluginReader(places, managed, read)
    finder = _HookFinder(host, table, reader, disabled, places["project"])
    files = []
    names: dict[str, str] = {}
    for plugin in PluginFinder(table, reader, places["start"]).find():
        of_plugin = obstacle or untrusted.get(plugin.scope)
        if plugin.off:
            of_plugin = of_plugin or Obstacle(OFF, plugin.off)
        elif table.first_only and plugin.id in names:
            reason = f"{host.title} takes the plugin of this name from {names[plugin.id]}"
            of_plugin = of_plugin or Obstacle(HIDDEN, reason)
        names.setdefault(plugin.id, plugin.folder)
        files += finder.find(plugin, of_plugin)
    files += _find_modules(host, table, reader, obstacle)
    return Reading(tuple(files), tuple(reader.unreadable))


def find_places(host: Host, environ: Mapping[str, str], start: str, project: str) -> dict[str, str]:
    """The folders that the paths in a host's table begin with, for an agent started in `start`."""
    return {
        "config": config_folder(host, environ),
        "home": environ["HOME"],
        "start": start,
        "project": project,
        "repository": find_repository(start),
    }


class _HookFinder:
    """Finds the hooks of a host's plugins."""

    def __init__(
        self,
        host: Host,
        table: PluginTable,
        reader: PluginReader,
        disabled: Mapping[str, Obstacle],
        project: str,
    ) -> None:
        self._project = project.rstrip("/")
        self._disabled = disabled
        self._host = host
        self._table = table
        self._reader = reader
        self._shape = _FLAT if table.flat == "all" else _GROUPED

    def find(self, plugin: Plugin, obstacle: Obstacle | None) -> Iterator[HookFile]:
        """The files of a plugin that have hooks."""
        for part in self._find_parts(plugin):
            handlers = tuple(self._read_handlers(part))
            if handlers:
                yield HookFile(
                    self._host._replace(shape=self._shape),
                    "plugin",
                    part.path,
                    handlers,
                    plugin=plugin.name,
                    obstacle=obstacle,
                    closed=self._find_closed(plugin, part),
                    note=self._table.note or self._note_on_trust(plugin),
                    variables=self._variables(plugin),
                )

    def _note_on_trust(self, plugin: Plugin) -> str:
        """What to know of a plugin that a project switches on, where that needs an approval."""
        is_projects = plugin.on.startswith(self._project + "/")
        return self._host.trust.gate if is_projects and self._host.trust.covers("project") else ""

    # The files of a plugin.

    def _find_parts(self, plugin: Plugin) -> Iterator[_Part]:
        folder = plugin.folder
        manifest = find_first(folder, self._table.manifests)
        named = list(self._find_named(manifest, folder)) if self._table.named else []
        usual = find_first(folder, self._table.files)
        if usual and not (named and self._table.named == "instead"):
            yield from self._read_file(usual, folder)
        for part in named:
            if part.path != usual:
                yield part
        if plugin.market_file:
            document = self._reader.document(plugin.market_file, plugin.market)
            if document and isinstance(value_at(document.value, plugin.market_path), dict):
                yield _Part(plugin.market_file, document, plugin.market_path, "")

    def _find_named(self, manifest: str, folder: str) -> Iterator[_Part]:
        """The hooks that a manifest names: in files, or in itself."""
        document = self._reader.document(manifest, folder) if manifest else None
        hooks = value_at(document.value, ("hooks",)) if document else None
        if document and isinstance(hooks, dict):
            above = tuple(self._table.inside)
            if isinstance(value_at(document.value, above), dict):
                yield _Part(manifest, document, above, f"{os.path.basename(manifest)}#hooks[0]")
            return
        several = hooks if isinstance(hooks, list) and not self._table.names_one else [hooks]
        for name in several[:MOST_FOLDERS]:
            if isinstance(name, str):
                path = os.path.normpath(os.path.join(folder, name))
                if not is_inside(path, folder):
                    self._reader.note(manifest, "its hooks are to be outside of the plugin")
                elif not os.path.lexists(path):
                    self._reader.note(path, "the manifest names this file, and it is not there")
                else:
                    yield from self._read_file(path, folder)

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

    def _find_handlers(self, part: _Part) -> list[_Entry]:
        events = value_at(part.document.value, part.above)
        found = shapes.handlers(self._shape, events)
        if self._table.flat == "some":
            alone = [entry for entry in shapes.handlers(_FLAT, events) if "hooks" not in entry[1]]
            found = sorted([*found, *alone], key=lambda entry: entry[0][:2])
        if len(found) > _MOST_HANDLERS:
            self._reader.note(part.path, f"only {_MOST_HANDLERS} of its hooks are looked at")
        return found[:_MOST_HANDLERS]

    def _read_handlers(self, part: _Part) -> Iterator[Handler]:
        found = self._find_handlers(part)
        lines = part.document.lines((*part.above, *path) for path, _, _ in found)
        for (path, fields, group), line in zip(found, lines, strict=True):
            matcher = group.get("matcher")
            matcher = matcher if isinstance(matcher, str) else ""
            yield Handler((*part.above, *path), str(path[0]), fields, matcher, line)

    def _find_closed(self, plugin: Plugin, part: _Part) -> dict[Path, Obstacle]:
        """The hooks without an approval, and those that are switched off by their names."""
        closed = {}
        roots = self._variables(plugin)
        for path, handler, group in self._find_handlers(part):
            name = handler.get("name", expand(str(handler.get("command")), roots))
            obstacle = self._disabled.get(name) if isinstance(name, str) else None
            if obstacle is None and self._table.approvals:
                obstacle = self._judge_approval(plugin, part, path, handler, group)
            if obstacle:
                closed[(*part.above, *path)] = obstacle
        return closed

    def _variables(self, plugin: Plugin) -> dict[str, str]:
        return dict.fromkeys(self._table.roots, plugin.folder)

    def _judge_approval(
        self,
        plugin: Plugin,
        part: _Part,
        path: Path,
        handler: dict[str, Any],
        group: dict[str, Any],
    ) -> Obstacle | None:
        """Why Codex does not run a hook yet; None if it is approved as it is."""
        config = self._reader.document(self._reader.expand(self._host.trust.config)[0])
        state = codex.state_path(f"{plugin.id}:{part.name}", ("hooks", *path))
        if config is not None and value_at(config.value, (*state, "enabled")) is False:
            return Obstacle(OFF, f"it has enabled = false in {config.where}")
        approved = codex.approved(config, state) if config is not None else None
        if approved is None:
            return Obstacle(NOT_APPROVED, f"nobody has approved it: {self._host.trust.action}")
        try:
            is_as_approved = approved == codex.trusted_hash(str(path[0]), group, handler)
        except (KeyError, TypeError):  # it has no command, or no number: Codex does not load it
            return None
        reason = f"it was changed since it was approved: {self._host.trust.action}"
        return None if is_as_approved else Obstacle(NOT_APPROVED, reason)


def _find_modules(
    host: Host, table: PluginTable, reader: PluginReader, obstacle: Obstacle | None
) -> Iterator[HookFile]:
    """Plugins that are code: each is one hook, since only running it would tell more."""
    own = {os.path.basename(file) for file in host.files.values()}
    for path in reader.expand_all(table.modules):
        if os.path.basename(path) not in own and os.path.isfile(path):
            fields = {"command": path}
            handler = Handler((), MODULE, fields, line=1)
            name = printable(os.path.basename(path))
            yield HookFile(host, "plugin", path, (handler,), plugin=name, obstacle=obstacle)
    for row in table.packages:
        for path in reader.expand(row.file):
            document = reader.document(path)
            names = value_at(document.value, tuple(row.path)) if document else None
            for number, name in enumerate(names if isinstance(names, list) else ()):
                place = (*row.path, number)
                if document and isinstance(name, str) and number < MOST_FOLDERS:
                    line = document.position(place)[0]
                    handler = Handler(place, MODULE, {"command": name}, line=line)
                    yield HookFile(
                        host, "plugin", path, (handler,), plugin=printable(name), obstacle=obstacle
                    )
