"""The hooks of plugins and extensions, of those that are off too, from the disk alone.

What a host's plugins look like stands in the table `plugins` of its data file. Nothing is run, and
whatever cannot be read is said and passed over.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hookctl.documents import Path, value_at
from hookctl.hosts import Host, config_folder
from hookctl.hosts.model import OtherAgent
from hookctl.settings.switches import FileRules, Switch, is_rule
from hookctl.survey.gathering import Reading, judge_switches, judge_trust, list_disabled
from hookctl.survey.machine import Machine
from hookctl.survey.model import HIDDEN, MODULE, OFF, Hook, HookFile, Obstacle
from hookctl.survey.plugin_folders import PluginFinder
from hookctl.survey.plugin_hooks import HookFinder
from hookctl.survey.plugin_reader import (
    MOST_FOLDERS,
    Packages,
    PluginReader,
    PluginTable,
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
