"""The tables of a host's file as records; schemas/host.schema.json says what each key means.

The fields have the names of the keys. A key that the file leaves out has the schema's default, or
else is empty.
"""

from __future__ import annotations

import copy
import functools
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any

from hookctl.documents import LISTED, MISSING, Document, syntax
from hookctl.hosts.shapes import Shape
from hookctl.model import Path
from hookctl.system import read_data

APPROVALS = ("hooks", "state")  # the table of Codex's config.toml with the state of hooks

SCOPES = ("user", "project", "local")
_EMPTY: dict[str, Any] = {"boolean": False, "array": (), "object": {}, "integer": 0, "number": 0}


@functools.cache
def _load_defaults() -> dict[str, dict[str, Any]]:
    """What each key is where a host's file leaves it out, by its table; '' for those above all."""
    schema = json.loads(read_data("schemas", "host.schema.json"))
    named = {**schema["properties"], **schema["$defs"]}
    tables = {"": schema["properties"]}
    for table, rule in schema["properties"].items():
        rule = rule.get("items", rule)
        rule = named.get(rule.get("$ref", "").rpartition("/")[2], rule)
        tables[table] = rule.get("properties", {})
    defaults: dict[str, dict[str, Any]] = {table: {} for table in tables}
    for table, keys in tables.items():
        for key, rule in keys.items():
            rule = {**named.get(rule.get("$ref", "").rpartition("/")[2], {}), **rule}
            defaults[table][key] = rule.get("default", _EMPTY.get(str(rule.get("type")), ""))
    return defaults


class Table(SimpleNamespace):
    """A table of a host's file, by its name, with each key that it may have."""

    def __init__(self, name: str, keys: Mapping[str, Any]) -> None:
        super().__init__(**{**_load_defaults()[name], **keys})


class Tables(dict[str, Any]):
    """The tables of a host's file, each parsed when `get` is asked for it."""

    def __init__(self, text: str) -> None:
        first, *parts = re.split(r"(?m)^(?=\[+[a-z_]+[].])", text)
        self.values_above: dict[str, Any] = tomllib.loads(first)
        self._texts: dict[str, str] = {}
        for part in parts:
            name = re.findall("[a-z_]+", part)[0]
            self._texts[name] = self._texts.get(name, "") + part

    def get(self, name: str, default: Any = None) -> Any:
        if name not in self and name in self._texts:
            self.update(tomllib.loads(self._texts[name]))
        return super().get(name, default)


# Tables that are records, and those that are rows of them; any other one is as it stands.
_RECORDS = (
    "client", "config", "registration", "environment", "dialect", "loading", "handlers",
    "trust",  # the approval that a hook needs before it runs
    "folder_trust", "guard",
    "permission",  # to report its work without being asked
    "matchers",
)  # fmt: skip
_ROWS = ("switches", "also_read_by")
_TABLES = (
    *_RECORDS,
    *_ROWS,
    "events",  # canonical to the host's own name
    "sure_events",  # events that are less sure
    "files",  # the settings file of each scope, with placeholders
    "other_files",  # whose subject is another
    "managed_files",  # patterns for each platform
    "rules",  # the file with instructions for the agent, by scope
    "cap",  # its limit of blocks in a row; empty: hooks always win
    "told_by",  # how another host's registration knows its calls
    "payload",  # for the hook: how to read the events
    "denials",  # for the hook: what else denies a stop
    "known_keys",  # rules for the types of settings
    "tools",  # the names of its own tools, by class
    "runner",  # for the runner: how it asks and what it understands
    "plugins",  # where it keeps them, and what says which of them are on
    "sends",  # to its hooks, beside event and call, by protocol event
    "reads",  # what it makes of a hook's answer, by protocol event
)


def _read_table(data: Tables, name: str) -> Any:
    table = data.get(name, () if name in _ROWS else {})
    if name in _RECORDS:
        return Table(name, table)
    return [Table(name, row) for row in table] if name in _ROWS else table


class Host:
    """One coding agent: what its file says, by the names of its keys and tables."""

    stands = ""  # the name of the settings variant; empty for the usual one
    where = ""  # the schema's word for where a variant is

    def __init__(self, file: Tables | str) -> None:
        self.data = data = Tables(file) if isinstance(file, str) else file
        absent = _load_defaults()[""]
        tables = (*_TABLES, *Host.__dict__)
        self.__dict__.update({key: absent[key] for key in absent if key not in tables})
        self.__dict__.update(data.values_above)
        form, path = self.registration, tuple(self.environment.path)
        flat = ("*",) if form.event else tuple(form.flat)
        texts = tuple(self.permission.path)
        self.shape = Shape(tuple(form.root), flat, form.shell, form.positions, texts)
        # Those with a settings file, in hookctl's own order.
        self.scopes = tuple(scope for scope in SCOPES if scope in self.files)
        self.scope_rules = Table("scopes", data.get("scopes"))
        if self.managed_files:
            self.scope_rules.precedence = ["managed", *self.scope_rules.precedence]
        # The map in a settings file with every hook's environment, or the field of a hook with it.
        self.env_path = path if self.environment.channel == "settings" else ()
        self.env_field = path[0] if self.environment.channel == "hook" else ""
        self.cap_key = self.cap.get("key", "")  # the variable that sets its cap; '' if none does
        if form.event:  # the file has one list of all hooks
            renamed = [f"{name}={path}" for name, path in form.names.items()]
            self.format += LISTED + ",".join([".".join([*form.root, form.event]), *renamed])

    def _replace(self, **fields: Any) -> Host:
        other = copy.copy(self)
        other.__dict__.update(fields)
        return other

    @cached_property
    def variants(self) -> list[Host]:
        """Its other layouts, which all know them."""
        variants = [self.varied(table) for table in self.data.get("variants", ())]
        for variant in variants:
            variant.variants = variants
        return variants

    def varied(self, variant: Mapping[str, Any] | None) -> Any:
        """A layout: its tables extend the usual ones, but for its events. None without any."""
        if variant is None:
            return None
        tables = copy.copy(self.data)
        tables.values_above = dict(tables.values_above)
        for key, value in variant.items():
            if isinstance(value, dict):
                tables[key] = value if key == "events" else {**tables.get(key, {}), **value}
            else:
                tables.values_above[key] = value
        layout = Host(tables)
        layout.variants = []
        return layout

    # The layouts of hooks in its files with other subjects, and in its managed settings; None for
    # the usual one.
    beside: Any = cached_property(lambda host: host.varied(host.data.get("among_others")))
    managed: Any = cached_property(lambda host: host.varied(host.data.get("in_managed")))

    @property
    def as_claude(self) -> Host | None:
        """The host under Claude Code's names of the events; None where it has no such dialect."""
        own = self.data.get("as_claude")
        if not own:
            return None
        others = {"runner": self.runner, "sends": self.sends, "reads": self.reads}
        tables = {name: {**table, **own.get(name, {})} for name, table in others.items()}
        matchers = Table("matchers", own["matchers"])
        return self._replace(events=own["events"], tools=own["tools"], matchers=matchers, **tables)

    def dialect_of(self, event: str) -> Host:
        """The host as it takes the hooks of an event: it may be one of Claude Code's names."""
        if event in self.events.values():
            return self
        claudes = self.as_claude
        return claudes if claudes and event in claudes.events.values() else self

    @property
    def syntax(self) -> str:
        """The format of its settings file's text."""
        return syntax(self.format)

    def list_key(self, reach: str) -> Path:
        """The key of a list about single hooks, or files, that are off; () where there is none."""
        keys = [tuple(rule.key) for rule in self.switches if rule.reach == reach]
        return keys[0] if keys else ()

    def needs_approval(self, scope: str) -> bool:
        """Whether hooks of a scope need an approval before they run."""
        trust = self.trust
        return bool(trust.gate) and (trust.scopes is None or scope in trust.scopes)

    def report_rules(self, document: Document, path: Sequence[str]) -> list[str]:
        """The rules on the agent's reports in a list of a settings file."""
        rules = (*self.permission.texts, *self.permission.wider)
        return [rule for rule in rules if document.get((*path, rule)) is not MISSING]

    def layouts(self) -> list[Host]:
        """The host, and in its other layouts."""
        return [self, *self.variants]


for _name in _TABLES:  # each is read when it is asked for first
    _property = cached_property(lambda host, name=_name: _read_table(host.data, name))
    _property.__set_name__(Host, _name)
    setattr(Host, _name, _property)
