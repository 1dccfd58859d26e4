"""Finds the plugins of a host: the folder of each, its ID, and what switches it off."""

from __future__ import annotations

import glob
import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hookctl.documents import MISSING, Document, Path, formats, value_at
from hookctl.errors import HookctlError
from hookctl.hosts import Host
from hookctl.masking import plain
from hookctl.settings.targets import Read, read_settings
from hookctl.survey.model import Unreadable
from hookctl.system import files

_LOCAL = ("directory", "local")  # words for a marketplace that is a folder of this machine
_MARKET_FILE = ".claude-plugin/marketplace.json"


class Plugin(NamedTuple):
    """A plugin that a host has."""

    id: str  # as the host's own switch calls it
    folder: str
    scope: str = "user"
    off: str = ""  # why none of its hooks runs
    on: str = ""  # the settings file that switches it on, where one does
    market: str = ""  # the folder of its marketplace, if that is on this machine
    market_file: str = ""  # that has hooks of it, too
    market_path: Path = ()

    @property
    def name(self) -> str:
        """The ID as people read it."""
        return printable(self.id)


class _Record(NamedTuple):
    """What the host has written down of one plugin."""

    folder: str
    project: str
    enabled: Any


class PluginFinder:
    """Finds the plugins of one host."""

    def __init__(self, table: PluginTable, reader: PluginReader, start: str) -> None:
        self._table = table
        self._reader = reader
        self._start = start  # the folder that the host is started in
        self._switches = Switches(reader, start)

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
        switch = self._table.switch
        known = dict.fromkeys([*records, *self._switches.names(switch)])
        for id in known if self._table.installed or markets else ():
            plugin = self._resolve(id, records.get(id), markets)
            if plugin is None:
                continue
            off = self._switches.explain(switch, id, records[id].enabled if id in records else None)
            if os.path.isdir(plugin.folder):
                yield plugin._replace(off=off, on=self._switches.place_of_word(switch, id))
            elif not off:
                message = f"the plugin {plugin.name} is on, but its folder is not there"
                self._reader.note(plugin.folder, message)

    def _resolve(
        self, id: str, record: _Record | None, markets: Mapping[str, str]
    ) -> Plugin | None:
        """The folder that the host reads: in the marketplace if that is here, else its copy."""
        name, _, market = id.rpartition("@")
        if market in markets:
            found = self._look_up(id, name, markets[market])
            if found:
                return found
        if record is None or not os.path.isabs(record.folder):
            return None
        return Plugin(id, os.path.normpath(record.folder))

    def _look_up(self, id: str, name: str, market: str) -> Plugin | None:
        """A plugin as the file of its marketplace has it."""
        path = os.path.join(market, _MARKET_FILE)
        entries = self._reader.values(path, market).get("plugins")
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict) and entry.get("name") == name:
                source = entry.get("source")
                if not isinstance(source, str):
                    return None  # it is fetched from elsewhere
                folder = os.path.normpath(os.path.join(market, source))
                where = ("plugins", number, "hooks")
                return Plugin(id, folder, market=market, market_file=path, market_path=where)
        return None

    def _read_marketplaces(self) -> dict[str, str]:
        """The folders of the marketplaces that are on this machine, by their names."""
        found: dict[str, str] = {}
        for row in self._table.marketplaces:
            for path in self._reader.expand(row.file):
                markets = value_at(self._reader.values(path), tuple(row.path))
                for name, market in markets.items() if isinstance(markets, dict) else ():
                    source = _field(market, "source")
                    folder = _field(source, "path")
                    is_local = _field(source, "source") in _LOCAL
                    if is_local and isinstance(folder, str) and os.path.isabs(folder):
                        found.setdefault(name, folder)
        return found

    def _read_records(self) -> dict[str, _Record]:
        """What the host has written down, by ID."""
        found: dict[str, _Record] = {}
        for row in self._table.installed:
            for path in self._reader.expand(row.file):
                for keys, entry in _entries(self._reader.values(path), tuple(row.entries), ()):
                    self._add_record(row, keys, entry, found)
        return found

    def _add_record(
        self, row: Installed, keys: tuple[str, ...], entry: Any, found: dict[str, _Record]
    ) -> None:
        name = _field(entry, row.name) if row.name else (*keys, "")[0]
        folder, market = _field(entry, row.folder), _field(entry, row.market)
        if not isinstance(name, str) or not name or not isinstance(folder, str):
            return
        id = f"{name}@{market}" if isinstance(market, str) and market else name
        project = _field(entry, row.project)
        record = _Record(folder, project if isinstance(project, str) else "", None)
        if row.enabled:
            record = record._replace(enabled=_field(entry, row.enabled))
        is_here = record.project in ("", self._start)
        if id not in found or (is_here and found[id].project not in ("", self._start)):
            found[id] = record

    # Plugins that lie in a folder of plugins.

    def _find_folders(self) -> Iterator[Plugin]:
        for row in self._table.folders:
            for folder in self._pick_versions(row):
                plugin = self._describe(row, folder)
                if plugin:
                    yield plugin

    def _pick_versions(self, row: Folders) -> list[str]:
        folders = [path for path in self._reader.expand(row.folders) if os.path.isdir(path)]
        if not row.versions:
            return folders
        by_parent: dict[str, list[str]] = {}
        for folder in folders:
            by_parent.setdefault(os.path.dirname(folder), []).append(folder)
        key = _version if row.versions == "version" else _changed_at
        return [max(several, key=key) for several in by_parent.values()]

    def _describe(self, row: Folders, folder: str) -> Plugin | None:
        """The plugin in a folder; None where there is none."""
        own = os.path.basename(folder)
        if own in row.skip or own.startswith("."):
            return None
        folder = self._follow(row, folder)
        manifest = find_first(folder, self._table.manifests)
        if row.needs_manifest and not manifest:
            return None
        values = self._reader.values(manifest, folder) if manifest else {}
        name = values.get("name")
        name = name if isinstance(name, str) and name else own
        above = os.path.dirname(folder)
        parts = {"name": name, "plugin": os.path.basename(above)}
        parts["market"] = os.path.basename(os.path.dirname(above))
        id = row.id.format(**parts)
        switch = row.switch or self._table.switch
        if row.is_on:
            switch = switch._replace(default=True)
        off = self._switches.explain(switch, id, None)
        return Plugin(id, folder, row.scope, off)

    def _follow(self, row: Folders, folder: str) -> str:
        """The folder that a link file points to, else the folder itself."""
        link = self._reader.values(os.path.join(folder, row.link), folder) if row.link else {}
        source = link.get("source")
        is_link = link.get("type") == "link" and isinstance(source, str) and os.path.isabs(source)
        return str(source) if is_link else folder


def find_first(folder: str, names: Any) -> str:
    """The path of the first of these files that is in a folder; '' for none."""
    for name in names:
        path = os.path.join(folder, name)
        if os.path.lexists(path):
            return path
    return ""


def _entries(
    value: Any, path: tuple[str, ...], keys: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The values at a path in which `*` stands for each key, with the keys that it stood for."""
    if not path:
        yield keys, value
    elif path[0] != "*":
        if isinstance(value, dict) and path[0] in value:
            yield from _entries(value[path[0]], path[1:], keys)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _entries(inner, path[1:], (*keys, key))
    elif isinstance(value, list):
        for inner in value:
            yield from _entries(inner, path[1:], keys)


def _field(entry: Any, name: str) -> Any:
    """The value of a field, with dots between keys; None where there is none."""
    for key in name.split(".") if name else ():
        entry = entry.get(key) if isinstance(entry, dict) else None
    return entry if name else None


def _version(folder: str) -> tuple[bool, list[tuple[int, str]]]:
    """A key that sorts `local` last, and before it 9 below 10."""
    name = os.path.basename(folder)
    parts = [
        (int(part) if part.isdecimal() and len(part) < 20 else -1, part)
        for part in re.split(r"[.+-]", name)
    ]
    return name == "local", parts


def _changed_at(folder: str) -> float:
    try:
        return os.stat(folder).st_mtime
    except OSError:
        return 0.0


_MOST_STARS = 8  # in a rule: the host itself writes one


class Switches:
    """The switches of one host, for an agent that is started in a folder."""

    def __init__(self, reader: PluginReader, start: str) -> None:
        self._reader = reader
        self._start = start

    def names(self, switch: Switch) -> list[str]:
        """The plugins that a switch has a word on."""
        return [name for path in self._files(switch) for name in self._map(path, switch)]

    def place_of_word(self, switch: Switch, id: str) -> str:
        """The file with the word on a plugin that counts; '' where there is none."""
        for path in self._files(switch):
            if id in self._map(path, switch):
                return path
        return ""

    def explain(self, switch: Switch, id: str, entry: Any) -> str:
        """Why a plugin is off; empty where it is on.

        `entry` is the word where it was installed, which holds without one of the switch.
        """
        path = self.place_of_word(switch, id)
        if path:
            word = self._map(path, switch)[id]
            if switch.rules:
                return self._explain_rules(word, switch, path)
            if switch.field:
                word = word.get(switch.field, True) if isinstance(word, dict) else True
            return f"{self._name(switch, id)} is false in {path}" if word is False else ""
        if entry is False:
            return "it was switched off where it was installed"
        if entry is None and not switch.default:
            return f"{self._name(switch, id)} is in no settings file that counts here"
        return ""

    def _name(self, switch: Switch, id: str) -> str:
        keys = [*switch.path, json.dumps(printable(id), ensure_ascii=False)]
        return ".".join([*keys, switch.field] if switch.field else keys)

    def _files(self, switch: Switch) -> list[str]:
        return self._reader.expand_all(switch.files)

    def _map(self, path: str, switch: Switch) -> dict[str, Any]:
        found = value_at(self._reader.values(path), tuple(switch.path))
        return found if isinstance(found, dict) else {}

    def _explain_rules(self, word: Any, switch: Switch, path: str) -> str:
        """The last rule for this folder counts; one that begins with `!` switches off."""
        rules = word.get(switch.field) if isinstance(word, dict) else None
        off = ""
        for rule in rules if isinstance(rules, list) else ():
            if isinstance(rule, str) and _covers(rule.removeprefix("!"), self._start):
                is_off = rule.startswith("!")
                text = f"the rule {json.dumps(printable(rule))} switches it off here, in {path}"
                off = text if is_off else ""
        return off


def _covers(rule: str, folder: str) -> bool:
    """Whether a rule is about a folder: `/a/` that one alone, `/a/*` those in it too."""
    if rule.count("*") > _MOST_STARS:
        return False
    pattern = re.sub(r"(/?)\\\*", r"(\1.*)?", re.escape(rule))
    return bool(re.fullmatch(pattern, f"{folder.rstrip('/')}/", re.DOTALL))


MOST_FOLDERS = 200  # plugins of one kind, and hooks files of one plugin
_MOST_BYTES = 1 << 20
_MOST_BYTES_OF_ALL = 8 << 20


class PluginReader:
    """Reads each file once, and keeps what could not be read."""

    def __init__(
        self,
        places: Mapping[str, str],
        managed: tuple[str, ...] = (),
        read: Read = read_settings,
    ) -> None:
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
            try:
                self._documents[path] = self._parse(path, within)
            except HookctlError as error:
                self.note(path, error.message, error.line)
                self._documents[path] = None
        return self._documents[path]

    def values(self, path: str, within: str = "") -> dict[str, object]:
        """The values of a file; empty where there are none."""
        document = self.document(path, within)
        return document.value if document and isinstance(document.value, dict) else {}

    def _parse(self, path: str, within: str) -> Document | None:
        if not os.path.lexists(path):
            return None
        format = "toml" if path.endswith(".toml") else "json"
        if within:
            data = self._read_confined(path, within)
            if data is None:
                return None
            document = formats.parse(format, data, where=path)
        else:
            document = self._read(path, format)[1]
        return None if document.value is MISSING else document

    def _read_confined(self, path: str, within: str) -> bytes | None:
        """The bytes of a stranger's file; None where it is too large, or not in its folder."""
        real = os.path.realpath(path)
        if not is_inside(real, os.path.realpath(within)):
            self.note(path, "a link leads out of the plugin")
            return None
        size = os.path.getsize(real) if os.path.isfile(real) else 0
        if size > _MOST_BYTES:
            self.note(path, "the file is larger than 1 MiB")
            return None
        self._left -= size
        if self._left < 0:
            self.note(path, "there are more than 8 MiB of such files")
            return None
        data = files.read_resolved(real, path).data
        if data is None:
            self.note(path, "a link to a file that is not there")
        return data

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


_NOTHING: dict[str, Any] = {}


class Switch(NamedTuple):
    """Where the host writes down which plugins are on."""

    files: Sequence[str] = ()  # the first that has a word on a plugin counts
    path: Sequence[str] = ()  # the map in them, by the plugin's ID
    field: str = ""  # of what the map has; empty where that is the word itself
    rules: bool = False  # a list of folders in which it is on, or off behind a `!`
    default: bool = True  # what holds without a word


class Folders(NamedTuple):
    """Folders that are plugins because of where they lie."""

    folders: str  # a pattern
    id: str = "{name}"
    scope: str = "user"
    needs_manifest: bool = False
    skip: Sequence[str] = ()  # names of folders that are none
    link: str = ""  # a file in it that may say that the plugin is elsewhere
    versions: str = ""  # the folder counts that has the highest `version` or the newest `time`
    is_on: bool = False  # whether it is on without a word of the switch, whatever holds for others
    switch: Switch | None = None  # where it is not that of all plugins


class Installed(NamedTuple):
    """A file in which the host writes down what it installed; a dot stands between two keys."""

    file: str  # a pattern
    entries: Sequence[str] = ()  # the path of an entry; `*` stands for each one there
    name: str = ""  # of an entry: its name or ID; empty: the first `*` is
    market: str = ""
    folder: str = ""
    project: str = ""  # the only one that it is installed for
    enabled: str = ""  # whether it is on, unless the switch has a word on it


class Marketplaces(NamedTuple):
    """A file with the places that plugins come from; those on this machine are read in place."""

    file: str
    path: Sequence[str] = ()


class Packages(NamedTuple):
    """A file with a list of modules."""

    file: str
    path: Sequence[str]
    name: str = ""  # of an entry that is an object
    part: str = ""  # of it: a list of its files that are loaded
    whole: str = ""  # of it: where false, nothing but these is


class PluginTable(NamedTuple):
    """How the host keeps plugins."""

    disable: str = ""  # how a person switches one off, by its {name}
    files: Sequence[str] = ()  # with hooks, in a plugin's folder; the first that exists
    manifests: Sequence[str] = ()
    named: str = ""  # what hooks of the manifest do to these files: `beside` or `instead`
    kinds: Sequence[str] = ()  # what those hooks may be: a `path`, a `list` of paths, `events`,
    # or a list of `hooks` that name their events
    dotted: bool = False  # whether such a path must begin with ./
    named_alone: bool = False  # whether a named file that is gone leaves none
    strict: Sequence[str] = ()  # `manifest`, `name`, `hooks`: without a valid one nothing is loaded
    inside: Sequence[str] = ("hooks",)  # where the events stand in the manifest
    bare: bool = False  # whether a hooks file may be the map of events itself
    flat: bool = False  # whether items of an event's list may be hooks themselves
    roots: Sequence[str] = ()  # variables for the plugin's folder in a command
    first_only: bool = False  # of several with one name only the first counts
    note: str = ""  # what to know about a hook that runs
    approvals: bool = False  # whether each hook needs the host's own approval
    switch: Switch = Switch()
    folders: tuple[Folders, ...] = ()
    installed: tuple[Installed, ...] = ()
    marketplaces: tuple[Marketplaces, ...] = ()
    modules: Sequence[str] = ()  # patterns of files that are plugins: code, whose hooks are unknown
    packages: tuple[Packages, ...] = ()  # files with a list of such modules, by their names


def read_table(host: Host) -> PluginTable | None:
    """The table of a host; None for a host without plugins."""
    if not host.plugins:
        return None
    table = {name: value for name, value in host.plugins.items() if name != "sure"}
    rows: dict[str, Any] = {"folders": Folders, "installed": Installed}
    rows |= {"marketplaces": Marketplaces, "packages": Packages}
    for name, kind in rows.items():
        table[name] = tuple(kind(**_with_switch(row)) for row in table.get(name, ()))
    return PluginTable(**_with_switch(table))


def _with_switch(row: dict[str, Any]) -> dict[str, Any]:
    if "switch" not in row:
        return row
    return {**row, "switch": Switch(**row["switch"])}
