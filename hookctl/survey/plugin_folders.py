"""Finds the plugins of a host: the folder of each, its ID, and what switches it off.

How the host keeps them stands in the table `plugins` of its file; schemas/host.schema.json says
what each key means.
"""

from __future__ import annotations

import glob
import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hookctl.documents import MISSING, Document, formats, value_at
from hookctl.errors import HookctlError
from hookctl.hosts.loading import Unreadable
from hookctl.masking import plain
from hookctl.settings.targets import Read
from hookctl.system import files

MOST_FOLDERS = 200  # plugins of one kind, and hooks files of one plugin
_MOST_BYTES = 1 << 20
_MOST_BYTES_OF_ALL = 8 << 20
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
    market_file: str = ""  # that has hooks of it, too
    number: int = 0  # among the plugins there

    @property
    def name(self) -> str:
        """The ID as people read it."""
        return printable(self.id)


class PluginFinder:
    """Finds the plugins of one host."""

    def __init__(self, table: Table, reader: PluginReader, start: str) -> None:
        self._table = table
        self._reader = reader
        self._start = start  # the folder that the host is started in
        self._switch: Table = table.get("switch", {})

    def find(self) -> Iterator[Plugin]:
        """Every plugin, enabled or not; of two that are one folder the first."""
        folders: set[tuple[str, str]] = set()
        for plugin in (*self._find_registered(), *self._find_folders()):
            key = (plugin.id, os.path.realpath(plugin.folder))
            if key not in folders:
                folders.add(key)
                yield plugin

    # Plugins that the host calls NAME@MARKETPLACE.

    def _find_registered(self) -> Iterator[Plugin]:
        records = self._read_records()
        markets = self._read_marketplaces()
        known = dict.fromkeys(records)
        for path in self._reader.expand_all(self._switch.get("files", ())):
            known |= dict.fromkeys(self._map_at(path, self._switch.get("path", ())))
        for id in known if "installed" in self._table or markets else ():
            record = records.get(id, {})
            plugin = self._look_up(id, markets) or _from_record(id, record)
            if plugin is None:
                continue
            off = self._explain_off(self._switch, id, record.get("enabled"))
            if os.path.isdir(plugin.folder):
                yield plugin._replace(off=off)
            elif not off:
                message = f"the plugin {plugin.name} is on, but its folder is not there"
                self._reader.note(plugin.folder, message)

    def _look_up(self, id: str, markets: Mapping[str, str]) -> Plugin | None:
        """A plugin as the file of its marketplace has it, if that is on this machine."""
        name, _, market = id.rpartition("@")
        folder = markets.get(market, "")
        path = os.path.join(folder, _MARKET_FILE)
        entries = self._reader.values(path, folder).get("plugins") if folder else None
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            if _field(entry, "name") == name:
                source = _field(entry, "source")
                if not isinstance(source, str):
                    return None  # it is fetched from elsewhere
                inside = os.path.normpath(os.path.join(folder, source))
                return Plugin(id, inside, market=folder, market_file=path, number=number)
        return None

    def _read_marketplaces(self) -> dict[str, str]:
        markets: dict[str, Any] = {}
        for row in self._table.get("marketplaces", ()):
            for path in self._reader.expand(row["file"]):
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
            for path in self._reader.expand(row["file"]):
                for key, entry in _entries(self._reader.values(path), row.get("entries", ())):
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

    def _find_folders(self) -> Iterator[Plugin]:
        for row in self._table.get("folders", ()):
            for folder in self._pick_versions(row):
                plugin = self._describe(row, folder)
                if plugin:
                    yield plugin

    def _pick_versions(self, row: Table) -> list[str]:
        folders = [path for path in self._reader.expand(row["folders"]) if os.path.isdir(path)]
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
        folder = self._follow(row, folder)
        manifest = find_first(folder, self._table["manifests"])
        if row.get("needs_manifest") and not manifest:
            return None
        values = self._reader.values(manifest, folder) if manifest else {}
        name = values.get("name")
        name = name if isinstance(name, str) and name else own
        above = os.path.dirname(folder)
        plugin, market = os.path.basename(above), os.path.basename(os.path.dirname(above))
        id = row.get("id", "{name}").format(name=name, plugin=plugin, market=market)
        off = self._explain_off(row.get("switch", self._switch), id, row.get("is_on"))
        return Plugin(id, folder, row.get("scope", "user"), off)

    def _follow(self, row: Table, folder: str) -> str:
        """The folder that a link file points to, else the folder itself."""
        link = (
            self._reader.values(os.path.join(folder, row["link"]), folder) if "link" in row else {}
        )
        source = link.get("source")
        is_link = link.get("type") == "link" and isinstance(source, str) and os.path.isabs(source)
        return str(source) if is_link else folder

    # What is on.

    def _explain_off(self, switch: Table, id: str, word: object) -> str:
        """Why a plugin is off; empty where it is on.

        `word` is the one where it was installed, which holds without one of the switch.
        """
        field = switch.get("field")
        keys = [*switch.get("path", ()), json.dumps(printable(id), ensure_ascii=False)]
        name = ".".join([*keys, field] if field else keys)
        for path in self._reader.expand_all(switch.get("files", ())):
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
        """What a file of the host says there, by names of plugins or marketplaces."""
        found = value_at(self._reader.values(path), tuple(keys))
        return found if isinstance(found, dict) else {}

    def _explain_rules(self, rules: object, path: str) -> str:
        """The last rule for this folder counts; one that begins with `!` switches off."""
        off = ""
        for rule in rules if isinstance(rules, list) else ():
            if isinstance(rule, str) and _covers(rule.removeprefix("!"), self._start):
                text = f"the rule {json.dumps(printable(rule))} switches it off here, in {path}"
                off = text if rule.startswith("!") else ""
        return off


def find_first(folder: str, names: Iterable[str]) -> str:
    """The path of the first of these files that is in a folder; '' for none."""
    paths = (os.path.join(folder, name) for name in names)
    return next(filter(os.path.lexists, paths), "")


def _from_record(id: str, record: Mapping[str, Any]) -> Plugin | None:
    folder = record.get("folder")
    is_known = isinstance(folder, str) and os.path.isabs(folder)
    return Plugin(id, os.path.normpath(folder)) if is_known and folder else None


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
    """The value of a field, with dots between keys; None where there is none."""
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


class PluginReader:
    """Reads each file once, and keeps what could not be read."""

    def __init__(self, places: Mapping[str, str], managed: Iterable[str], read: Read) -> None:
        self._places = places  # what stands for a placeholder in a path
        self._managed = managed
        self._read = read  # of the host's own files
        self._documents: dict[str, Document | None] = {}
        self._left = _MOST_BYTES_OF_ALL
        self.unreadable: list[Unreadable] = []

    def note(self, path: str, message: str, line: int = 0) -> None:
        """Write down that something cannot be read."""
        found = Unreadable(path, line, message)
        if found not in self.unreadable:
            self.unreadable.append(found)

    def document(self, path: str, within: str = "") -> Document | None:
        """The document of a file; None where there is none, or it cannot be read.

        A plugin's file must lie in its folder: `within`. Without one it is the host's own.
        """
        if path not in self._documents:
            self._documents[path] = None
            try:
                document = self._parse(path, within) if os.path.lexists(path) else None
                if document and document.value is not MISSING:
                    self._documents[path] = document
            except HookctlError as error:
                self.note(path, error.message, error.line)
        return self._documents[path]

    def values(self, path: str, within: str = "") -> dict[str, Any]:
        """The values of a file; empty where there are none."""
        document = self.document(path, within)
        return document.value if document and isinstance(document.value, dict) else {}

    def _parse(self, path: str, within: str) -> Document | None:
        """The document of a file; None for a stranger's that is too large, or not in its folder."""
        format = "toml" if path.endswith(".toml") else "json"
        if not within:
            return self._read(path, format)[1]
        real = os.path.realpath(path)
        if not is_inside(real, os.path.realpath(within)):
            self.note(path, "a link leads out of the plugin")
            return None
        size = os.path.getsize(real) if os.path.isfile(real) else 0
        if size > min(_MOST_BYTES, self._left):
            self.note(path, "the file is larger than 1 MiB, or all such files than 8 MiB")
            return None
        self._left -= size
        data = files.read_resolved(real, path).data
        if data is None:
            self.note(path, "a link to a file that is not there")
            return None
        return formats.parse(format, data, where=path)

    def expand(self, pattern: str) -> list[str]:
        """The paths that a pattern of a host's file stands for, also of files that are not there.

        A pattern with a placeholder that has no value here stands for none.
        """
        if pattern == "{managed}":
            return [path for managed in self._managed for path in sorted(glob.glob(managed))]
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
            self.note(os.path.dirname(found[0]), f"only {MOST_FOLDERS} plugins are looked at")
        return found[:MOST_FOLDERS]

    def expand_all(self, patterns: Iterable[str]) -> list[str]:
        """The paths of several patterns, each once."""
        return list(dict.fromkeys(path for each in patterns for path in self.expand(each)))


def is_inside(path: str, folder: str) -> bool:
    """Whether a real path is below a real folder."""
    return path.startswith(folder.rstrip("/") + "/")


def printable(name: str) -> str:
    """A name from a stranger's file, short and on one line."""
    text = plain(name)
    return text if len(text) <= 100 else f"{text[:99]}…"
