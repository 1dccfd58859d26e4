"""The hooks of plugins and extensions, of those that are off too, from the disk alone.

What a host's plugins look like stands in the table `plugins` of its data file. Nothing is run, and
whatever cannot be read is said and passed over.
"""

import glob
import itertools
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hookctl.documents import LISTED, MISSING, Document, Path, value_at
from hookctl.errors import HookctlError
from hookctl.hosts import Host, config_folder, loading
from hookctl.hosts.shapes import Shape
from hookctl.masking import plain
from hookctl.settings.switches import FileRules, is_rule
from hookctl.settings.targets import top
from hookctl.survey.machine import (
    Machine,
    check_switches,
    check_trust,
    find_waiting,
    list_disabled,
    list_hooks_of,
)
from hookctl.survey.model import HIDDEN, IGNORED, MODULE, OFF, Hook, HookFile, Obstacle
from hookctl.system.project import find_repository

MOST_FOLDERS = 200  # plugins of one kind, and hooks files of one plugin
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


def _find_first(folder: str, names: Iterable[str]) -> str:
    return next(filter(os.path.lexists, (os.path.join(folder, name) for name in names)), "")


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


def printable(name: str) -> str:
    """A name from a stranger's file, short and on one line."""
    text = plain(name)
    return text if len(text) <= 100 else f"{text[:99]}…"


def read_plugins(machine: Machine, host: Host) -> tuple[list[Hook], list[loading.Unreadable]]:
    """The hooks of a host's plugins as it is started here, in its order, and what is unreadable."""
    if not host.plugins:  # its settings need not be looked at
        return [], []
    reader = _HostPlugins(machine, host)
    return [*reader.read_hooks(), *reader.read_modules()], reader.unreadable


# A map of events of a plugin, in a hooks file or in a manifest: the file's path, its document, the
# path of the events there, and the name by which the host calls the file.
_Part = tuple[str, Document, Path, str]


class _HostPlugins:
    def __init__(self, machine: Machine, host: Host) -> None:
        self._machine, self._host = machine, host
        self._table: Table = host.plugins
        self._switch: Table = host.plugins.get("switch", {})
        self._start, project = machine.folders.cwd, machine.start_of(host)
        self._switches = machine.switches(host, machine.active_file(host, "user")[1], project)
        self._off = check_switches("plugin", "", self._switches)
        self._untrusted = {
            scope: check_trust(machine, host, scope, project) for scope in ("user", "project")
        }
        self._disabled = list_disabled(self._switches)
        # What stands for a placeholder in a path.
        self._places = {
            "config": config_folder(host, machine.environ),
            "home": machine.environ["HOME"],
            "start": self._start,
            "project": project,
            "repository": find_repository(self._start),
        }
        self.unreadable: list[loading.Unreadable] = []

    # Modules: files in the host's folders, and what a list in its settings names.

    def read_modules(self) -> Iterator[Hook]:
        """Every module, also of those that are off."""
        seen = set()
        own = {os.path.basename(file) for file in self._host.files.values()}
        for pattern in self._table.get("modules", ()):
            for path in self._expand(pattern):
                if os.path.basename(path) not in own and os.path.isfile(path) and path not in seen:
                    seen.add(path)
                    scope = _scope_of(pattern)
                    off = check_switches(scope, path, self._switches)
                    yield self._make_module(scope, path, (), 1, path, off)
        for row in self._table.get("packages", ()):
            for path in self._expand(row["file"]):
                yield from self._read_list(row, path, seen)

    def _read_list(self, row: Table, path: str, seen: set[str]) -> Iterator[Hook]:
        document, key = self._document(path), tuple(row["path"])
        entries = value_at(document.value, key) if document else None
        if document is None or not isinstance(entries, list):
            return
        scope, rules = _scope_of(row["file"]), FileRules(os.path.dirname(path), entries)
        part, whole = row.get("part"), row.get("whole")
        for number, entry in enumerate(entries[:MOST_FOLDERS]):
            name, off = entry, None
            if isinstance(entry, dict):
                name = entry.get(row.get("name"))
                if part and entry.get(part) == []:
                    off = Obstacle(OFF, f"its {part} is []")
                elif part and not entry.get(part) and entry.get(whole) is False:
                    off = Obstacle(OFF, f"its {whole} is false, and it has no {part}")
            if not isinstance(name, str):
                continue
            if key == self._host.list_key("rules"):
                file = rules.locate(name)
                if is_rule(name) or file in seen:
                    continue
                seen.add(file)
                off = check_switches(scope, file, self._switches)
            line = document.position((*key, number))[0]
            yield self._make_module(scope, path, (*key, number), line, name, off)

    def _make_module(
        self, scope: str, path: str, at: Path, line: int, command: str, off: Obstacle | None
    ) -> Hook:
        name = printable(command if at else os.path.basename(path))
        obstacle = off or self._off or self._untrusted[scope]
        file, own = HookFile(self._host, "plugin", path, plugin=name), filter(None, [obstacle])
        return Hook(file, at, MODULE, {"command": command}, line=line, obstacles=tuple(own))

    # Their files.

    def _note(self, path: str, message: str, line: int = 0) -> None:
        found = loading.Unreadable(path, line, message)
        if found not in self.unreadable:
            self.unreadable.append(found)

    def _document(self, path: str, within: str = "") -> Document | None:
        """The document of a file; None where there is none, or it cannot be read."""
        if not os.path.lexists(path):
            return None
        if within and not os.path.realpath(path).startswith(top(os.path.realpath(within))):
            self._note(path, "a link leads out of the plugin")
            return None
        format = "toml" if path.endswith(".toml") else "json"
        try:
            snapshot, document = self._machine.read(path, format)
        except HookctlError as error:
            self._note(path, error.message, error.line)
            return None
        if snapshot.data is None:
            self._note(path, "a link to a file that is not there")
        return None if document.value is MISSING else document

    def _values(self, path: str, within: str = "") -> dict[str, Any]:
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
        return list(dict.fromkeys(path for each in patterns for path in self._expand(each)))

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
                message = f"the plugin {printable(plugin.id)} is on, but its folder is not there"
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
            folder, kind = _field(market, "source.path"), _field(market, "source.source")
            # The words for a marketplace that is a folder of this machine.
            if kind in ("directory", "local") and isinstance(folder, str) and os.path.isabs(folder):
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
        key = _version if row["versions"] == "version" else os.path.getmtime
        by_parent = itertools.groupby(folders, key=os.path.dirname)  # a pattern gives them sorted
        return [max(several, key=key) for _, several in by_parent]

    def _describe(self, row: Table, folder: str) -> Plugin | None:
        own = os.path.basename(folder)
        if own in row.get("skip", ()) or own.startswith("."):
            return None
        link = self._values(os.path.join(folder, row["link"]), folder) if "link" in row else {}
        source = link.get("source")
        if link.get("type") == "link" and isinstance(source, str) and os.path.isabs(source):
            folder = source
        manifest = _find_first(folder, self._table["manifests"])
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
        """The last rule for this folder counts; one that begins with `!` switches off.

        A rule `/a/` is about that folder alone, `/a/*` about those in it too.
        """
        off = ""
        for rule in rules if isinstance(rules, list) else ():
            if not isinstance(rule, str) or rule.count("*") > 8:  # the host itself writes one
                continue
            pattern = re.sub(r"(/?)\\\*", r"(\1.*)?", re.escape(rule.removeprefix("!")))
            if re.fullmatch(pattern, f"{self._start.rstrip('/')}/", re.DOTALL):
                text = f"the rule {json.dumps(printable(rule))} switches it off here, in {path}"
                off = text if rule.startswith("!") else ""
        return off

    # Plugins with hooks.

    def read_hooks(self) -> Iterator[Hook]:
        """The hooks of every plugin, also of those that are off."""
        found, firsts = list(self._find_registered()), dict[tuple[str, str], Plugin]()
        for row in self._table.get("folders", ()):
            found += filter(None, (self._describe(row, path) for path in self._pick_versions(row)))
        for plugin in found:  # of two that are one folder the first counts
            firsts.setdefault((plugin.id, os.path.realpath(plugin.folder)), plugin)
        folders: dict[str, str] = {}
        for plugin in firsts.values():
            folder = folders.setdefault(plugin.id, plugin.folder)
            obstacle = Obstacle(OFF, plugin.off) if plugin.off else None
            if self._table.get("first_only") and folder != plugin.folder and not obstacle:
                title = self._host.title
                obstacle = Obstacle(HIDDEN, f"{title} takes the plugin of this name from {folder}")
            yield from self._read_plugin(plugin, obstacle)

    def _read_plugin(self, plugin: Plugin, obstacle: Obstacle | None) -> Iterator[Hook]:
        path = _find_first(plugin.folder, self._table["manifests"])
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
        parts = list(self._find_named(plugin.folder, path, manifest, hooks, kind))
        is_instead = self._table.get("named") == "instead" and bool(parts)
        if not (is_instead or (kind in ("path", "list") and self._table.get("named_alone"))):
            usual = _find_first(plugin.folder, self._table.get("files", ()))
            parts = [part for part in parts if part[0] != usual]
            parts[:0] = self._read_file(usual, plugin.folder) if usual else ()
        if plugin.market:
            path, where = os.path.join(plugin.market, _MARKET_FILE), ("plugins", plugin.number)
            market = self._document(path, plugin.market)
            if market and isinstance(value_at(market.value, (*where, "hooks")), dict):
                parts.append((path, market, (*where, "hooks"), ""))
        for part in parts:
            yield from self._read_part(plugin, obstacle, *part)

    def _kind_of(self, hooks: Any) -> str:
        kinds = self._table.get("kinds", ())
        kind = "path" if self._is_path(hooks) else ""
        if isinstance(hooks, dict):
            kind = "events"
        elif isinstance(hooks, list) and "hooks" in kinds:
            kind = "hooks"
        elif isinstance(hooks, list) and all(map(self._is_path, hooks)):
            kind = "list"
        return kind if kind in kinds else ""

    def _is_path(self, name: Any) -> bool:
        return isinstance(name, str) and (name.startswith("./") or not self._table.get("dotted"))

    def _find_named(
        self, folder: str, path: str, manifest: Document | None, hooks: Any, kind: str
    ) -> Iterator[_Part]:
        if manifest and kind == "hooks":  # a list like that of the host's settings
            from hookctl.documents.listed import ListedDocument, Listing  # late: few have one

            listing = Listing.parse(self._host.format.partition(LISTED)[2])
            yield path, ListedDocument(manifest, listing), ("hooks",), ""
        above = tuple(self._table.get("inside", ("hooks",)))
        if manifest and kind == "events" and isinstance(value_at(manifest.value, above), dict):
            yield path, manifest, above, f"{os.path.basename(path)}#hooks[0]"
        for name in {"path": [hooks], "list": hooks}.get(kind, [])[:MOST_FOLDERS]:
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
            yield path, document, ("hooks",), name
        elif self._table.get("bare") and isinstance(document.value, dict):
            yield path, document, (), name
        else:
            self._note(path, "it has no hooks that the host reads")

    def _read_part(
        self,
        plugin: Plugin,
        obstacle: Obstacle | None,
        path: str,
        document: Document,
        above: Path,
        name: str,
    ) -> Iterator[Hook]:
        events, real = value_at(document.value, above), os.path.realpath(plugin.folder)
        shape = Shape(root=above, flat=("*",) if self._table.get("flat") else ())
        host = self._host._replace(shape=shape)
        entries, readers = loading.read_alone(host, events), []
        for agent in host.also_read_by:
            if real in map(os.path.realpath, self._expand_all(agent.plugins)):
                readers.append(agent)
        roots = dict.fromkeys(self._table.get("roots", ()), plugin.folder)
        facts = (printable(plugin.id), self._table.get("note", ""), tuple(readers), roots)
        file, closed = HookFile(host, "plugin", path, *facts), {}
        if self._table.get("approvals"):  # by the path in a file with nothing else
            moved = [one._replace(path=("hooks", *one.path[len(above) :])) for one in entries]
            alone, known_as = host._replace(shape=Shape()), f"{plugin.id}:{name}"
            waiting = find_waiting(self._machine, alone, known_as, {"hooks": events}, moved)
            closed = {(*above, *at[1:]): found for at, found in waiting.items()}
        shared = (self._off, self._untrusted[plugin.scope])
        yield from list_hooks_of(
            file, document, entries, obstacle, closed=closed, named=self._disabled, shared=shared
        )


def _scope_of(pattern: str) -> str:
    return "user" if pattern.startswith(("{config}", "{home}")) else "project"
