"""Plugins that are code: each is one hook, since only running it would tell more."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hookctl.documents import Path, value_at
from hookctl.hosts import Host
from hookctl.settings.file_rules import FileRules, is_rule
from hookctl.settings.switches import Switch
from hookctl.survey.gathering import judge_switches
from hookctl.survey.model import MODULE, OFF, Hook, HookFile, Obstacle
from hookctl.survey.plugin_reader import MOST_FOLDERS, PluginReader, printable
from hookctl.survey.plugin_tables import Packages, PluginTable


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
