"""The hooks of plugins and extensions, of those that are off too, from the disk alone.

What a host's plugins look like stands in the table `plugins` of its data file. Nothing is run, and
whatever cannot be read is said and passed over.
"""

from __future__ import annotations

import glob
import itertools
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hookctl.documents import LISTED, MISSING, Document, Path, value_at
from hookctl.errors import HookctlError
from hookctl.hosts import Host, config_folder, loading
from hookctl.hosts.loading import Entry, Unreadable
from hookctl.hosts.model import Table as HostTable
from hookctl.hosts.shapes import Shape
from hookctl.masking import plain
from hookctl.settings.switches import FileRules, is_rule
from hookctl.settings.targets import top
from hookctl.survey import gathering
from hookctl.survey.machine import Machine
from hookctl.survey.model import HIDDEN, IGNORED, MODULE, OFF, Hook, HookFile, Obstacle
from hookctl.system.project import find_repository

MOST_FOLDERS = 200  # plugins of one kind, and hooks files of one plugin
_MOST_STARS = 8  # in a rule: the host itself writes one
_LOCAL = ("directory", "local")  # words for a marketplace that is a folder of this machine
_MARKET_FILE = ".claude-plugin/marketplace.json"

Table = Mapping[str, Any]


class Plugin(NamedTuple):
    """A plugin that a host has."""

    id: str  # as the host's own switch calls it
    folder: str
    scope: str = "user"
    off: str = ""  # why none of its hooks runs
    market: str = ""  # the folder of its marketplace, if that is on this machine
    number: int = 0  # its place in the marketplace's file, which may have hooks of it, too

    @property
    def name(self) -> str:
        """The ID as people read it."""
        return printable(self.id)


def find_first(folder: str, names: Iterable[str]) -> str:
    """The path of the first of these files that is in a folder; '' for none."""
    paths = (os.path.join(folder, name) for name in names)
    return next(filter(os.path.lexists, paths), "")


def _entries(value: Any, path: list[str], first: str = "") -> Iterator[tuple[str, Any]]:
    """The values at a path in which `*` stands for each key, with the key of the first one."""
    if not path:
        yield first, value
    elif path[0] != "*":
        yield from _entries(_field(value, path[0]), path[1:], first)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _entries(inner, path[1:], first or key)
    elif isinstance(value, list):
        for inner in value:
            yield from _entries(inner, path[1:], first)


def _field(entry: Any, name: str) -> Any:
    for key in name.split("."):
        entry = entry.get(key) if isinstance(entry, dict) else None
    return entry


def _version(folder: str) -> tuple[bool, list[tuple[int, str]]]:
    """A key that sorts `local` last, and before it 9 below 10."""
    name = os.path.basename(folder)
    parts = [
        (int(part) if part.isdecimal() and len(part) < 20 else -1, part)
        for part in re.split(r"[.+-]", name)
    ]
    return name == "local", parts


def _covers(rule: str, folder: str) -> bool:
    """Whether a rule is about a folder: `/a/` that one alone, `/a/*` those in it too."""
    if rule.count("*") > _MOST_STARS:
        return False
    pattern = re.sub(r"(/?)\\\*", r"(\1.*)?", re.escape(rule))
    return bool(re.fullmatch(pattern, f"{folder.rstrip('/')}/", re.DOTALL))


def printable(name: str) -> str:
    """A name from a stranger's file, short and on one line."""
    text = plain(name)
    return text if len(text) <= 100 else f"{text[:99]}…"


def read_plugins(machine: Machine, host: Host) -> tuple[list[Hook], list[Unreadable]]:
    """The hooks of a host's plugins as it is started here, in its order, and what is unreadable."""
    if not host.plugins:  # its settings need not be looked at
        return [], []
    reader = _HostPlugins(machine, host)
    return [*reader.read_hooks(), *reader.read_modules()], reader.unreadable


class _Part(NamedTuple):
    """A map of events of a plugin: in a hooks file, or in a manifest."""

    path: str
    document: Document
    above: Path  # the events' path in the document
    name: str  # as the host calls the file


class _HostPlugins:
    def __init__(self, machine: Machine, host: Host) -> None:
        self._machine, self._host = machine, host
        self._table: Table = host.plugins
        self._switch: Table = host.plugins.get("switch", {})
        self._start, project = machine.folders.cwd, machine.start_of(host)
        switches = machine.switches(host, machine.active_file(host, "user")[1], project)
        self._switches = switches
        self._off = gathering.judge_switches("plugin", "", switches)
        self._untrusted = {}
        for scope in ("user", "project"):
            self._untrusted[scope] = gathering.judge_trust(machine, host, scope, project)
        self._disabled = gathering.list_disabled(switches)
        # What stands for a placeholder in a path.
        self._places = {
            "config": config_folder(host, machine.environ),
            "home": machine.environ["HOME"],
            "start": self._start,
            "project": project,
            "repository": find_repository(self._start),
        }
        self.unreadable: list[Unreadable] = []

    # Modules: files in the host's folders, and what a list in its settings names.

    def read_modules(self) -> Iterator[Hook]:
        """Every module, also of those that are off."""
        seen = set()
        own = {os.path.basename(file) for file in self._host.files.values()}
        for pattern in self._table.get("modules", ()):
            for path in self._expand(pattern):
                name = os.path.basename(path)
                if name not in own and os.path.isfile(path) and path not in seen:
                    seen.add(path)
                    off = gathering.judge_switches(_scope_of(pattern), path, self._switches)
                    yield self._make_module(pattern, path, (), 1, path, off)
        for row in self._table.get("packages", ()):
            for path in self._expand(row["file"]):
                yield from self._read_list(row, path, seen)

    def _read_list(self, row: Table, path: str, seen: set[str]) -> Iterator[Hook]:
        document = self._document(path)
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
                off = gathering.judge_switches(_scope_of(pattern), file, self._switches)
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

    # Their files.

    def _note(self, path: str, message: str, line: int = 0) -> None:
        """Write down that something cannot be read."""
        found = Unreadable(path, line, message)
        if found not in self.unreadable:
            self.unreadable.append(found)

    def _document(self, path: str, within: str = "") -> Document | None:
        """The document of a file; None where there is none, or it cannot be read."""
        if not os.path.lexists(path):
            return None
        if within and not os.path.realpath(path).startswith(top(os.path.realpath(within))):
            self._note(path, "a link leads out of the plugin")
            return None
        try:
            snapshot, document = self._machine.read(
                path, "toml" if path.endswith(".toml") else "json"
            )
        except HookctlError as error:
            self._note(path, error.message, error.line)
            return None
        if snapshot.data is None:
            self._note(path, "a link to a file that is not there")
        return None if document.value is MISSING else document

    def _values(self, path: str, within: str = "") -> dict[str, Any]:
        """The values of a file; empty where there are none."""
        document = self._document(path, within)
        return document.value if document and isinstance(document.value, dict) else {}

    def _expand(self, pattern: str) -> list[str]:
        """The paths that a pattern of a host's file stands for, whether they are there or not."""
        if pattern == "{managed}":
            patterns = self._host.managed_files.get(sys.platform, ())
            return [path for managed in patterns for path in sorted(glob.glob(managed))]
        is_plain = "*" not in pattern
        for name, value in self._places.items():
            placeholder = "{" + name + "}"
            if placeholder in pattern and not value:
                return []
            value = value.rstrip("/")
            pattern = pattern.replace(placeholder, value if is_plain else glob.escape(value))
        if is_plain:
            return [pattern]
        found = sorted(itertools.islice(glob.iglob(pattern), MOST_FOLDERS + 1))
        if len(found) > MOST_FOLDERS:
            self._note(os.path.dirname(found[0]), f"only {MOST_FOLDERS} plugins are looked at")
        return found[:MOST_FOLDERS]

    def _expand_all(self, patterns: Iterable[str]) -> list[str]:
        """The paths of several patterns, each once."""
        return list(dict.fromkeys(path for each in patterns for path in self._expand(each)))

    # Which plugins there are.

    def _find(self) -> Iterator[Plugin]:
        """Every plugin, enabled or not; of two that are one folder the first."""
        folders: set[tuple[str, str]] = set()
        found = list(self._find_registered())
        for row in self._table.get("folders", ()):
            found += filter(None, (self._describe(row, path) for path in self._pick_versions(row)))
        for plugin in found:
            key = (plugin.id, os.path.realpath(plugin.folder))
            if key not in folders:
                folders.add(key)
                yield plugin

    # Plugins that the host calls NAME@MARKETPLACE.

    def _find_registered(self) -> Iterator[Plugin]:
        records = self._read_records()
        markets = self._read_marketplaces()
        known = dict.fromkeys(records)
        for path in self._expand_all(self._switch.get("files", ())):
            known |= dict.fromkeys(self._map_at(path, self._switch.get("path", ())))
        for id in known if "installed" in self._table or markets else ():
            record = records.get(id, {})
            plugin, folder = self._look_up(id, markets), record.get("folder")
            if plugin is None and isinstance(folder, str) and os.path.isabs(folder):
                plugin = Plugin(id, os.path.normpath(folder))
            if plugin is None:
                continue
            off = self._explain_off(self._switch, id, record.get("enabled"))
            if os.path.isdir(plugin.folder):
                yield plugin._replace(off=off)
            elif not off:
                message = f"the plugin {plugin.name} is on, but its folder is not there"
                self._note(plugin.folder, message)

    def _look_up(self, id: str, markets: Mapping[str, str]) -> Plugin | None:
        name, _, market = id.rpartition("@")
        folder = markets.get(market, "")
        path = os.path.join(folder, _MARKET_FILE)
        entries = self._values(path, folder).get("plugins") if folder else None
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            if _field(entry, "name") == name:
                source = _field(entry, "source")
                if not isinstance(source, str):
                    return None  # it is fetched from elsewhere
                inside = os.path.normpath(os.path.join(folder, source))
                return Plugin(id, inside, market=folder, number=number)
        return None

    def _read_marketplaces(self) -> dict[str, str]:
        markets: dict[str, Any] = {}
        for row in self._table.get("marketplaces", ()):
            for path in self._expand(row["file"]):
                markets |= self._map_at(path, row.get("path", ()))
        found = {}
        for name, market in markets.items():
            folder = _field(market, "source.path")
            is_local = _field(market, "source.source") in _LOCAL
            if is_local and isinstance(folder, str) and os.path.isabs(folder):
                found[name] = folder
        return found

    def _read_records(self) -> dict[str, dict[str, Any]]:
        """What the host has written down where it installed a plugin, by ID."""
        found: dict[str, dict[str, Any]] = {}
        for row in self._table.get("installed", ()):
            for path in self._expand(row["file"]):
                for key, entry in _entries(self._values(path), row.get("entries", ())):
                    names = ("name", "market", "folder", "project", "enabled")
                    record = {name: _field(entry, row.get(name, "")) for name in names}
                    id = record["name"] if "name" in row else key
                    if record["market"]:
                        id = f"{id}@{record['market']}"
                    is_here = record["project"] in (None, "", self._start)
                    if isinstance(id, str) and not found.get(id, {}).get("is_here"):
                        found[id] = {**record, "is_here": is_here}
        return found

    # Plugins that lie in a folder of plugins.

    def _pick_versions(self, row: Table) -> list[str]:
        folders = [path for path in self._expand(row["folders"]) if os.path.isdir(path)]
        if "versions" not in row:
            return folders
        by_parent: dict[str, list[str]] = {}
        for folder in folders:
            by_parent.setdefault(os.path.dirname(folder), []).append(folder)
        key = _version if row["versions"] == "version" else os.path.getmtime
        return [max(several, key=key) for several in by_parent.values()]

    def _describe(self, row: Table, folder: str) -> Plugin | None:
        own = os.path.basename(folder)
        if own in row.get("skip", ()) or own.startswith("."):
            return None
        link = self._values(os.path.join(folder, row["link"]), folder) if "link" in row else {}
        source = link.get("source")
        if link.get("type") == "link" and isinstance(source, str) and os.path.isabs(source):
            folder = source
        manifest = find_first(folder, self._table["manifests"])
        if row.get("needs_manifest") and not manifest:
            return None
        values = self._values(manifest, folder) if manifest else {}
        name = values.get("name")
        name = name if isinstance(name, str) and name else own
        above = os.path.dirname(folder)
        plugin, market = os.path.basename(above), os.path.basename(os.path.dirname(above))
        id = row.get("id", "{name}").format(name=name, plugin=plugin, market=market)
        off = self._explain_off(row.get("switch", self._switch), id, row.get("is_on"))
        return Plugin(id, folder, row.get("scope", "user"), off)

    # What is on.

    def _explain_off(self, switch: Table, id: str, word: object) -> str:
        """Why a plugin is off; empty where it is on.

        `word` is the one where it was installed, which holds without one of the switch.
        """
        field = switch.get("field")
        keys = [*switch.get("path", ()), json.dumps(printable(id), ensure_ascii=False)]
        name = ".".join([*keys, field] if field else keys)
        for path in self._expand_all(switch.get("files", ())):
            words = self._map_at(path, switch.get("path", ()))
            if id not in words:
                continue
            inside = _field(words[id], field) if field else words[id]
            if switch.get("rules"):
                return self._explain_rules(inside, path)
            return f"{name} is false in {path}" if inside is False else ""
        if word is False:
            return "it was switched off where it was installed"
        if word is None and not switch.get("default", True):
            return f"{name} is in no settings file that counts here"
        return ""

    def _map_at(self, path: str, keys: Iterable[str]) -> dict[str, Any]:
        found = value_at(self._values(path), tuple(keys))
        return found if isinstance(found, dict) else {}

    def _explain_rules(self, rules: object, path: str) -> str:
        """The last rule for this folder counts; one that begins with `!` switches off."""
        off = ""
        for rule in rules if isinstance(rules, list) else ():
            if isinstance(rule, str) and _covers(rule.removeprefix("!"), self._start):
                text = f"the rule {json.dumps(printable(rule))} switches it off here, in {path}"
                off = text if rule.startswith("!") else ""
        return off

    # Plugins with hooks.

    def read_hooks(self) -> Iterator[Hook]:
        """The hooks of every plugin, also of those that are off."""
        folders: dict[str, str] = {}
        for plugin in self._find():
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
        manifest = self._document(path, plugin.folder) if path else None
        hooks = value_at(manifest.value, ("hooks",)) if manifest else None
        name = value_at(manifest.value, ("name",)) if manifest else None
        kind = self._kind_of(hooks)
        fault, strict = "", self._table.get("strict", ())
        if path and manifest is None and "manifest" in strict:
            fault = "cannot be read"
        elif manifest and "name" in strict and not (isinstance(name, str) and name):
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
            path, where = (
                os.path.join(plugin.market, _MARKET_FILE),
                ("plugins", plugin.number, "hooks"),
            )
            market = self._document(path, plugin.market)
            if market and isinstance(value_at(market.value, where), dict):
                parts.append(_Part(path, market, where, ""))
        for part in parts:
            yield from self._read_part(plugin, part, obstacle)

    def _kind_of(self, hooks: Any) -> str:
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
            if not named.startswith(top(folder)):
                self._note(path, "its hooks are to be outside of the plugin")
            elif not os.path.lexists(named):
                self._note(named, "the manifest names this file, and it is not there")
            else:
                yield from self._read_file(named, folder)

    def _read_file(self, path: str, folder: str) -> Iterator[_Part]:
        document = self._document(path, folder)
        if document is None:
            return
        try:
            document.require_strict(comments=False, trailing_commas=False)
        except HookctlError as error:
            self._note(path, error.message, error.line)
            return
        name = os.path.relpath(path, folder)
        if isinstance(value_at(document.value, ("hooks",)), dict):
            yield _Part(path, document, ("hooks",), name)
        elif self._table.get("bare") and isinstance(document.value, dict):
            yield _Part(path, document, (), name)
        else:
            self._note(path, "it has no hooks that the host reads")

    def _read_part(self, plugin: Plugin, part: _Part, obstacle: Obstacle | None) -> Iterator[Hook]:
        shape = Shape(root=part.above, flat=("*",) if self._table.get("flat") else ())
        host = self._host._replace(shape=shape)
        entries = loading.read_alone(host, value_at(part.document.value, part.above))
        file = HookFile(
            host,
            "plugin",
            part.path,
            plugin=plugin.name,
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
        shared = (self._off, self._untrusted[plugin.scope])
        yield from gathering.list_hooks_of(
            file, part.document, entries, obstacle, closed=closed, shared=shared
        )

    def _find_readers(self, folder: str) -> Iterator[HostTable]:
        real = os.path.realpath(folder)
        for agent in self._host.also_read_by:
            if real in map(os.path.realpath, self._expand_all(agent.plugins)):
                yield agent

    def _find_closed(
        self, plugin: Plugin, part: _Part, entries: Sequence[Entry]
    ) -> dict[Path, Obstacle]:
        if not self._table.get("approvals"):
            return {}
        host = self._host._replace(shape=Shape())  # as in a file with nothing else
        above, root = len(part.above), {"hooks": value_at(part.document.value, part.above)}
        moved = [entry._replace(path=("hooks", *entry.path[above:])) for entry in entries]
        name = f"{plugin.id}:{part.name}"
        waiting = gathering.find_waiting(self._machine, host, name, root, moved)
        return {(*part.above, *path[1:]): found for path, found in waiting.items()}


def _judge_entry(row: Table, entry: Any) -> Obstacle | None:
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
