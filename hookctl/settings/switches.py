"""The switches that are set here: what keeps a host's hooks from running, and which of them.

A host's file says which settings those are. A place is a settings file, or a variable.
"""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hookctl.documents import MISSING
from hookctl.hosts import Host, config_of
from hookctl.hosts.model import SwitchRule
from hookctl.settings import approval, effective, gates
from hookctl.settings.targets import Read, read_settings
from hookctl.system.folders import Folders


class Switch(NamedTuple):
    """A place where a switch is set."""

    rule: SwitchRule
    scope: str  # empty for a variable
    path: str  # of the file; empty for a variable
    name: str  # the key as people write it, or $VARIABLE
    value: Any
    counts: bool = True  # whether no stronger place has it

    @property
    def is_off(self) -> bool:
        """Whether its value switches hooks off."""
        return gates.is_off(self.rule, self.value)

    @property
    def said(self) -> str:
        """The key with its value, as people write it; of a list, one entry."""
        return f"{self.name} {'has' if self.is_entry else 'is'} {json.dumps(self.value)}"

    @property
    def is_entry(self) -> bool:
        """Whether it is one entry of a list."""
        return self.rule.reach in ("names", "rules")

    @property
    def where(self) -> str:
        """Where it is set, in words."""
        return f"in {self.path}" if self.path else "in the environment"

    @property
    def fix(self) -> str:
        """What to do about it."""
        if self.scope == "managed":
            return "ask whoever manages this machine"
        if not self.path:
            return f"unset {self.name[1:]}"
        if self.is_entry:
            return f"remove {json.dumps(self.value)} from {self.name} in {self.path}"
        return f"remove {self.name} from {self.path}"

    def stops(self, scope: str, path: str) -> bool:
        """Whether it keeps all hooks of a file from running."""
        if not (self.is_off and self.counts) or scope in self.rule.spares:
            return False
        return self.rule.reach == "host" or (self.rule.reach == "file" and path == self.path)


class _Place(NamedTuple):
    scope: str
    path: str  # of a file, or $VARIABLE
    layout: Host | None = None  # of a file that may have hooks, too


# What is set


def find(
    folders: Folders,
    host: Host,
    user: str,
    start: str,
    read: Read = read_settings,
    scopes: Collection[str] = (),
) -> tuple[Switch, ...]:
    """The switches of a host that are set where it is started, of each the winning place first.

    `user` is the path of the user's settings file; `scopes` leaves out all places but theirs.
    """
    if not host.switches:
        return ()
    wanted = scopes or _list_trusted(folders, host, start, read)
    settings = []
    for scope in [scope for scope in host.scope_rules.precedence if scope in wanted]:
        for layout, path in effective.find_files(folders, host, scope, user, start, read):
            settings.append(_Place(scope, path, layout))
    found: list[Switch] = []
    for rule in host.switches:
        same = [switch for switch in found if _group(switch.rule) == _group(rule)]
        for place in _list_places(rule, settings, config_of(host, user), start, folders.environ):
            if place.scope not in wanted:
                continue
            value = gates.read_value(rule, place.path, folders.environ, read, place.layout)
            if value is not MISSING:
                is_first = not same or rule.reach != "host"
                same += _list_set(rule, place, value, counts=is_first)
        found += [switch for switch in same if switch.rule is rule]
    return tuple(found)


def _group(rule: SwitchRule) -> tuple[Any, ...]:
    """What the rules of one switch have in common: the first place of any of them counts."""
    return tuple(rule.key), rule.reach


def _list_trusted(folders: Folders, host: Host, start: str, read: Read) -> list[str]:
    """The scopes whose settings the host reads: a project's only in a folder that it trusts."""
    environ, trusted = folders.environ, ["", "managed", "user"]
    for scope in ("project", "local"):
        if not approval.is_untrusted(host, scope, start, environ, read):
            trusted.append(scope)
    return trusted


def _list_places(
    rule: SwitchRule,
    settings: Sequence[_Place],
    config: str,
    start: str,
    environ: Mapping[str, str],
) -> Iterator[_Place]:
    """Where a switch may stand, the winning place first."""
    by_path = {place.path: place for place in settings}
    for pattern in rule.files:
        if pattern.startswith("$"):
            yield _Place("", pattern)
        elif "/" not in pattern:
            yield from (place for place in settings if place.scope == pattern)
        else:
            scope = "project" if pattern.startswith("{project}") else "managed"
            scope = "user" if pattern.startswith(("{config}", "{home}")) else scope
            for path in _expand(pattern, config, start, environ):
                yield by_path.get(path, _Place(scope, path))


def _expand(pattern: str, config: str, start: str, environ: Mapping[str, str]) -> list[str]:
    folder, _, name = pattern.rpartition("/")
    folder = folder.format(config=config, home=environ["HOME"], project=start.rstrip("/"))
    if "*" in name:
        return sorted(glob.glob(f"{glob.escape(folder)}/{name}"))
    return [f"{folder}/{name}"]


def _list_set(rule: SwitchRule, place: _Place, value: Any, *, counts: bool) -> Iterator[Switch]:
    """The switch of a place; of a list about single hooks, one for each entry."""
    name, path = ".".join(rule.key), place.path
    if path.startswith("$"):
        name, path = path, ""
    if rule.reach != "names":
        yield Switch(rule, place.scope, path, name, value, counts)
    for entry in value if rule.reach == "names" and isinstance(value, list) else ():
        if isinstance(entry, str):
            yield Switch(rule, place.scope, path, name, entry)


# What follows


def find_stopping(switches: Iterable[Switch], scope: str, path: str) -> Switch | None:
    """The switch that keeps all hooks of a file from running."""
    switches = list(switches)
    for switch in switches:
        if switch.stops(scope, path):
            return switch
    return _find_rule(switches, scope, path)


def _find_rule(switches: Iterable[Switch], scope: str, path: str) -> Switch | None:
    """The rule in a list that keeps the host from loading a file of a scope.

    A list has the word on the files of its scope, and one of another scope on those it names.
    """
    for switch in switches:
        if switch.rule.reach == "rules" and isinstance(switch.value, list):
            from hookctl.settings.file_rules import FileRules  # late: few hosts have such rules

            rules = FileRules(os.path.dirname(switch.path), switch.value)
            if switch.scope == scope or rules.names(path):
                off = rules.find_off(path)
                return switch._replace(value=off) if off else None
    return None


def list_names(switches: Iterable[Switch]) -> dict[str, Switch]:
    """The names and commands of single hooks that are off, each with the list that has it."""
    named: dict[str, Switch] = {}
    for switch in switches:
        if switch.rule.reach == "names":
            named.setdefault(switch.value, switch)
    return named


def find_refusing(switches: Iterable[Switch], scope: str, url: str) -> Switch | None:
    """The list of URLs that keeps a hook of a scope from being called; any list may allow it."""
    lists = [switch for switch in switches if switch.rule.reach == "urls"]
    for switch in lists:
        for pattern in switch.value if isinstance(switch.value, list) else ():
            if re.fullmatch(re.escape(str(pattern)).replace(r"\*", ".*"), url):
                return None
    minded = (switch for switch in lists if scope not in switch.rule.spares)
    return next(minded, None)


def describe(switches: Iterable[Switch], scope: str, path: str) -> str:
    """What keeps all hooks of a file from running, or ''."""
    switch = find_stopping(switches, scope, path)
    if switch is None:
        return ""
    return switch.said if switch.path == path else f"{switch.said} {switch.where}"
