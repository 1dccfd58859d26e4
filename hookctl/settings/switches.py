"""The switches that are set here: what keeps a host's hooks from running, and which of them.

A host's file says which settings those are. A place is a settings file, or a variable.
"""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from hookctl.documents import MISSING, Document, value_at
from hookctl.hosts import Host, config_folder, config_of, load, loading
from hookctl.hosts.model import Table
from hookctl.settings import effective
from hookctl.settings.targets import Read, read_settings, readable
from hookctl.system.folders import Folders

_YES = ("1", "true", "yes", "on")
_NO = ("0", "false", "no", "off")


class Switch(NamedTuple):
    """A place where a switch is set."""

    rule: Table
    scope: str  # empty for a variable
    path: str  # of the file; empty for a variable
    name: str  # the key as people write it, or $VARIABLE
    value: Any
    counts: bool = True  # whether no stronger place has it

    @property
    def is_off(self) -> bool:
        """Whether its value switches hooks off."""
        return _is_off(self.rule, self.value)

    @property
    def said(self) -> str:
        """The key with its value, as people write it."""
        verb = "has" if self.rule.reach in ("names", "rules") else "is"
        return f"{self.name} {verb} {json.dumps(self.value)}"

    @property
    def where(self) -> str:
        """Where it is set, in words."""
        return f"in {self.path}" if self.path else "in the environment"


# Scope, the path of a file or $VARIABLE, and the layout of a file that may have hooks, too.
_Place = tuple[str, str, Host | None]


# What is set


def find(
    folders: Folders,
    host: Host,
    user: str,
    start: str,
    scopes: Collection[str],
    read: Read = read_settings,
) -> tuple[Switch, ...]:
    """The switches of a host that are set where it is started, of each the winning place first.

    `user` is the path of the user's settings file. Other `scopes` are left out; '' is a variable's.
    """
    if not host.switches:
        return ()
    environ, settings = folders.environ, list[_Place]()
    for scope in [scope for scope in host.scope_rules.precedence if scope in scopes]:
        for layout, path in effective.find_files(folders, host, scope, user, start, read):
            settings.append((scope, path, layout))
    found: list[Switch] = []
    opened: dict[str, Document | str | None] = {}
    for rule in host.switches:
        for scope, path, layout in _list_places(rule, settings, host, user, start, environ):
            if scope in scopes and path not in opened:
                opened[path] = _open(path, environ, read, layout)
            value = _look_up(rule, opened[path]) if scope in scopes else MISSING
            if value is MISSING:
                continue
            is_variable, values = path.startswith("$"), [value]
            if rule.reach == "names":  # of a list one for each
                entries = value if isinstance(value, list) else []
                values = [entry for entry in entries if isinstance(entry, str)]
            same = [(rule.key, "host") == (other.rule.key, other.rule.reach) for other in found]
            counts = rule.reach != "host" or not any(same)
            name, file = (path, "") if is_variable else (".".join(rule.key), path)
            found += [Switch(rule, scope, file, name, each, counts) for each in values]
    return tuple(found)


def _list_places(
    rule: Table,
    settings: Sequence[_Place],
    host: Host,
    user: str,
    start: str,
    environ: Mapping[str, str],
) -> Iterator[_Place]:
    by_path = {place[1]: place for place in settings}
    for pattern in rule.files:
        if pattern.startswith("$"):
            yield "", pattern, None
        elif "/" not in pattern:
            yield from (place for place in settings if place[0] == pattern)
        else:
            scope = "project" if pattern.startswith("{project}") else "managed"
            scope = "user" if pattern.startswith(("{config}", "{home}")) else scope
            values = {"home": environ["HOME"], "project": start.rstrip("/")}
            path = pattern.format(config=config_of(host, user), **values)
            folder, _, name = path.rpartition("/")
            found = sorted(glob.glob(f"{glob.escape(folder)}/{name}")) if "*" in name else [path]
            for path in found:
                yield by_path.get(path, (scope, path, None))


def _open(
    place: str, environ: Mapping[str, str], read: Read, layout: Host | None = None
) -> Document | str | None:
    """The document of a path, or the text of a $VARIABLE; None where a host would read nothing.

    `layout` is that of a file with hooks.
    """
    if place.startswith("$"):
        return environ.get(place[1:])
    if not os.path.lexists(place):  # no format is loaded for nothing
        return None
    document = readable(place, layout.format if layout else place.rpartition(".")[2], read)
    return None if document is None or (layout and loading.refusal(layout, document)) else document


def _look_up(rule: Table, place: Document | str | None) -> Any:
    """What an open place says, of a variable whether it says yes or no; or MISSING."""
    value: Any = place or ""
    if isinstance(place, Document):
        value = value_at(place.value, tuple(rule.key))
        if rule.key[:1] != ["env"]:
            return value
    word = value.strip().lower() if isinstance(value, str) else ""
    return word in _YES if word in (*_YES, *_NO) else MISSING


def _is_off(rule: Table, value: Any) -> bool:
    values = value if isinstance(value, list) else [value]
    return any(value in rule.off for value in values)


# What follows


def find_stopping(switches: Iterable[Switch], scope: str, path: str) -> Switch | None:
    """The switch that keeps all hooks of a file from running.

    A list of rules has the word on the files of its scope, and of another scope on those it names.
    """
    for switch in switches:
        is_about = switch.rule.reach == "host" or (switch.rule.reach, switch.path) == ("file", path)
        if is_about and switch.is_off and switch.counts and scope not in switch.rule.spares:
            return switch
        if switch.rule.reach == "rules" and isinstance(switch.value, list):
            rules = FileRules(os.path.dirname(switch.path), switch.value)
            if switch.scope == scope or rules.names(path):
                off = rules.find_off(path)
                return switch._replace(value=off) if off else None
    return None


def find_refusing(switches: Iterable[Switch], scope: str, url: str) -> Switch | None:
    """The list of URLs that keeps a hook of a scope from being called; any list may allow it."""
    lists = [switch for switch in switches if switch.rule.reach == "urls"]
    for switch in lists:
        for pattern in switch.value if isinstance(switch.value, list) else ():
            if fnmatchcase(url, glob.escape(str(pattern)).replace("[*]", "*")):
                return None
    minded = (switch for switch in lists if scope not in switch.rule.spares)
    return next(minded, None)


# A host's own gates


def read_gate(rule: Table, host: Host, environ: Mapping[str, str], read: Read) -> bool | None:
    """Whether a switch of the host itself is off, by the first place that has it.

    None where no place has it, or says something else than off or a word for on.
    """
    config = config_folder(host, environ)
    for place in rule.files:
        path = place if place.startswith("$") else place.format(config=config)
        value = _look_up(rule, _open(path, environ, read))
        if value is not MISSING:
            return _is_off(rule, value) or (False if isinstance(value, bool) else None)
    return None


def leaves_alone(agent: Table, environ: Mapping[str, str], read: Read = read_settings) -> bool:
    """Whether another agent is told not to read the files of a host, which it reads by itself."""
    if not agent.switch:
        return False
    return read_gate(Table("switches", agent.switch), load(agent.host), environ, read) is True


_MOST_RULES = 200


def is_rule(entry: str) -> bool:
    """Whether an entry is a rule, and names no file."""
    return entry.startswith(("-", "+", "!")) or "*" in entry or "?" in entry


class FileRules(NamedTuple):
    """Such a list, and the folder that its paths begin in."""

    folder: str
    entries: Sequence[Any]

    def locate(self, name: str) -> str:
        """The path of a file that the list names."""
        return os.path.normpath(os.path.join(self.folder, os.path.expanduser(name.strip())))

    def names(self, path: str) -> bool:
        """Whether the list names this file."""
        return any(not is_rule(entry) and self.locate(entry) == path for entry in self._texts())

    def find_off(self, path: str) -> str:
        """The rule that switches a file off; '' where it is on."""
        names = (os.path.relpath(path, self.folder), path)
        rules: dict[str, str] = {}
        for entry in self._texts():
            mark, name = entry[0], entry[1:].removeprefix("./")
            if mark == "!":
                fits = any(_fits(name, text) for text in (*names, os.path.basename(path)))
            else:
                fits = mark in "-+" and name in names
            if fits:
                rules.setdefault(mark, entry)
        by_glob = "" if "+" in rules else rules.get("!", "")
        return rules.get("-", by_glob)

    def _texts(self) -> list[str]:
        return [entry for entry in self.entries[:_MOST_RULES] if isinstance(entry, str) and entry]


def _fits(glob: str, path: str) -> bool:
    """Whether a glob fits a path, part by part; `**` fits any number that are not hidden."""
    names = path.split("/")
    fitting = {0}  # how many parts of the path may be used up so far
    for part in glob.split("/"):
        if part == "**":
            for used in range(min(fitting, default=len(names)), len(names)):
                if used in fitting and not names[used].startswith("."):
                    fitting.add(used + 1)
        else:
            rest = [used for used in fitting if used < len(names)]
            fits = [used for used in rest if fnmatchcase(names[used], part)]
            names_hidden = part.startswith(".")
            fitting = {used + 1 for used in fits if names_hidden or not names[used].startswith(".")}
    return len(names) in fitting
