"""The table `plugins` of a host's file as records; schemas/host.schema.json says what a key means.

A key that the file leaves out has the default.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from hookctl.hosts import Host

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
