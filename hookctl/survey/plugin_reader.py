"""Reads the files of plugins: they are a stranger's, so each is small, regular and in its folder.

What cannot be read is written down; nothing is ever run.
"""

from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from hookctl.documents import MISSING, Document, formats
from hookctl.errors import HookctlError
from hookctl.hosts import Host
from hookctl.masking import plain
from hookctl.settings.targets import Read, read_settings
from hookctl.survey.model import Unreadable
from hookctl.system import files

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
