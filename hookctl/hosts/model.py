"""The tables of a host's file as typed records; schemas/host.schema.json says what each key means.

The fields have the names of the keys. A key that the file leaves out has the default.
"""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any

from hookctl.documents import LISTED, MISSING, Document, syntax
from hookctl.hosts.shapes import Shape
from hookctl.model import Path

APPROVALS = ("hooks", "state")  # the table of Codex's config.toml with the state of hooks

SCOPES = ("user", "project", "local")
_NOTHING: dict[str, Any] = {}  # a table that the file leaves out; never changed


class Table(SimpleNamespace):
    """A table of a host's file."""


class Client(Table):
    """The host's program."""

    seen: str  # the newest version that hookctl was checked with
    command: str
    version_args: Sequence[str] = ()
    other_commands: Sequence[str] = ()
    since: dict[str, Sequence[str]] = _NOTHING  # by what older ones lack
    asks_version: bool = True
    package: str = ""
    block_shown: str = ""  # what people see above a block's text, if it looks like a failure


class ConfigFolder(Table):
    """The host's own settings folder."""

    home: str  # the folder in HOME
    variable: str = ""
    inside: str = ""
    others: Sequence[str] = ()  # names in it that belong to other hosts


class Scopes(Table):
    """How the host combines the settings files of several scopes."""

    precedence: Sequence[str] = ()
    start_folder_only: bool = False
    same_command_once: bool = False
    same_name_once: bool = False
    first_only: bool = False
    managed_hides_events: bool = False


class HookFormat(Table):
    """What a hook needs in a settings file; `Shape` has where it is written."""

    root: Sequence[str] = ("hooks",)
    flat: Sequence[str] = ()
    shell: bool = True
    positions: bool = False
    event: str = ""  # the field with a hook's event, in one list of all hooks
    names: dict[str, str] = _NOTHING  # of its fields there, where they are not hookctl's
    commands: Sequence[str] = ("command",)
    timeout: str = "timeout"
    longest: int = 0  # the longest timeout that the host takes; 0: any
    usual_timeouts: dict[str, int] = _NOTHING  # seconds without one, by event; * for the others
    fields: dict[str, Any] = _NOTHING
    top: dict[str, Any] = _NOTHING
    wraps: bool = False
    expands: bool = False  # variables in every settings string
    quiet: bool = False  # it takes what a hook says on stderr for an answer
    fails_closed: Sequence[str] = ()  # canonical events: a hook that fails refuses


class Environment(Table):
    """The variables that a hook gets."""

    channel: str = "none"  # settings | hook | none
    path: Sequence[str] = ()
    project: str = ""
    project_is_start: bool = False
    in_command: str = ""
    in_command_0_2_0: str = ""  # as that version wrote it, where it is another text
    finds_project: str = ""  # stands before a command with it, up to its `&&`
    project_is_repository: bool = False
    starts_there: bool = False  # a hook, in the folder that the agent was started in
    folder: str = ""  # the field of a hook that names another one
    session: str = ""
    session_in_tools: bool = True  # also in the environment of the agent's own commands
    process: str = ""  # a variable, `parent` or `shared`
    files: Sequence[str] = ()  # of a project, whose variables reach its hooks
    marks: Sequence[str] = ()  # variables that are 1 in each of its hooks


class Dialect(Table):
    """The guard's answers; empty where the host has no such answer."""

    block: str = ""
    release: str = ""
    end: str = ""
    refuse: str = ""
    refuse_end: str = ""  # the same, and the turn ends
    context: str = ""  # what it adds at a session's start
    goal: str = ""  # what a person types to end a goal of the host's own, a stop hook there


class Permission(Table):
    """What lets the agent report its work without being asked."""

    path: Sequence[str] = ()  # the list in a settings file
    texts: Sequence[str] = ()  # what goes into it
    wider: Sequence[str] = ()  # what allows as much
    against: Sequence[Sequence[str]] = ()  # lists of what is refused or asked about all the same
    never_asks: Sequence[str] = ()  # a setting, and its value that allows everything
    instead: str = ""  # where there is no such list

    def rules_in(self, document: Document, path: Sequence[str]) -> list[str]:
        """The rules on reports in a list of a settings file."""
        rules = (*self.texts, *self.wider)
        return [rule for rule in rules if document.get((*path, rule)) is not MISSING]


class SwitchRule(Table):
    """A setting that keeps hooks from running; several rules of one key are one switch."""

    files: Sequence[str] = ()  # scopes, patterns, $VARIABLES; the first that has the key counts
    key: Sequence[str] = ()
    off: Sequence[Any] = (True,)  # its values that switch off, or one of a list
    reach: str = "host"  # host | file | names | rules | urls
    spares: Sequence[str] = ()  # scopes whose hooks run all the same


class Loading(Table):
    """What a fault in a settings file costs; three ends of a sentence about it, and rules."""

    file: str = "may not read this file"
    entry: str = "may drop it"
    client: str = "does not start"
    costs: Sequence[str] = ()  # `KINDS [at EVENTS]: REACH`, the first that fits
    root_keys: Sequence[str] = ()
    ignored_keys: Sequence[str] = ()


class HandlerRules(Table):
    """What the host knows of hook entries."""

    types: Sequence[str] = ()  # empty: any
    needs_variables: bool = False  # a command with a variable that is not set never runs
    skipped: Sequence[str] = ()  # `FIELD[=TEXT] [at EVENTS | except EVENTS]`: never run
    twins: Sequence[Sequence[str]] = ()  # fields of which a hook has at most one
    fields: Sequence[str] = ()
    timeout: str = "number"  # number | integer | whole | text | any
    milliseconds_from: float = float("inf")  # from here on a timeout counts as milliseconds
    timeout_above: float = float("-inf")  # of a number up to here it takes its usual one
    type_default: bool = False
    switch: str = ""  # a field that is false where a hook is not to run
    nulls: bool = False  # whether a field that is null counts as not there
    only: Sequence[str] = ()  # the fields that a hook may have; empty: any
    values: dict[str, dict[str, Any]] = _NOTHING
    makes_executable: bool = False  # a script that may not be executed
    no_events: Sequence[str] = ()  # keys beside the events that are none
    events: Sequence[str] = ()  # empty: those that have a name of hookctl's


class Trust(Table):
    """The approval that a hook needs before it runs."""

    gate: str = ""  # empty: hooks run without an approval
    action: str = ""
    config: str = ""
    memory: str = ""
    unasked: dict[str, Any] = _NOTHING  # a SwitchRule; off: it agrees to all
    scopes: Sequence[str] | None = None  # None: the file does not say

    def covers(self, scope: str) -> bool:
        """Whether hooks of a scope need the approval."""
        return bool(self.gate) and (self.scopes is None or scope in self.scopes)


class FolderTrust(Table):
    """The host's list of folders whose hooks it runs."""

    file: str = ""  # empty: the host has no such list
    format: str = ""
    trusted: Sequence[str | bool] = ()
    inherited: bool = False
    scopes: Sequence[str] = ()
    on: bool = False
    action: str = ""
    folders: Sequence[str] = ()
    level: str = ""
    parent: str = ""
    switch: dict[str, Any] = _NOTHING  # a SwitchRule; off: it trusts every folder
    lists: bool = False  # the file has a list of folders for each word
    reads: bool = False  # the host reads a folder's settings, whether it trusts it or not


class GuardNeeds(Table):
    """The guard's events on this host, beyond those that its settings need."""

    events: Sequence[str] = ()
    without: Sequence[str] = ()
    reminds_where: str = ""  # a variable: where it is set, the host itself reminds of a tool


class Matchers(Table):
    """What a matcher may be, beside a name, names with | between them, and an expression."""

    all: Sequence[str] = ("", "*")  # those that match every tool
    none: bool = False  # a hook has no matcher, or the host heeds none
    commas: bool = False
    parts: bool = False  # a part of a name is enough
    any_case: bool = False
    whole: bool = False  # an expression has to fit the whole name
    every_event: bool = False  # a matcher counts on events without a tool, too
    tool_events: Sequence[str] = ()  # those about a tool; empty: its pre-tool and post-tool
    words: Mapping[str, Sequence[str]] = {}  # by the other events: what a matcher is held against
    exact_words: bool = False  # such a matcher is one of them, and no expression
    engine: str = "js"  # js | rust | python
    trims: bool = False  # blanks around it do not count
    falsy: bool = False  # null, false and 0 count as none
    plain_names: bool = False  # the other names count in a list of names alone
    prefix: str = ""  # of an expression; without it a matcher is one name, with * and ? in it
    names: Mapping[str, Sequence[str]] = {}  # what else a matcher may call a tool


class OtherAgent(Table):
    """Another agent that reads the same settings files, or the same folders of plugins."""

    sure: str  # proven | read | docs
    scopes: Sequence[str] = ()
    plugins: Sequence[str] = ()  # patterns of plugins' folders
    host: str = ""  # its name, if it is one of hookctl's hosts
    name: str = ""  # as people call it, if it is none
    only: str = ""  # the condition, if it does not always read them
    never_ours: bool = False  # whether it skips hooks in the form that hookctl gives them there
    switch: dict[str, Any] = _NOTHING  # a SwitchRule; off: it does not read them


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


def _table(name: str, kind: Any = dict) -> Any:
    """A table of a host's file as its record, or several, read when it is asked for first."""
    if kind in (SwitchRule, OtherAgent):
        return cached_property(lambda host: [kind(**row) for row in host.data.get(name, ())])
    return cached_property(lambda host: kind(**host.data.get(name, {})))


class Host:
    """One coding agent, as its file describes it. What the file may leave out has a default."""

    name: str
    title: str
    format: str  # with the listing, if the file has one list of all hooks
    comments: bool | str  # or documents.PLAIN
    trailing_commas: bool
    timeout_unit: str  # seconds | milliseconds
    sure: str  # proven | read | docs
    byte_order_mark: bool = True  # whether it reads a file that begins with one
    empty: bool = True  # whether it reads an empty file
    null_is_absent: bool = False  # whether a null counts as no hooks and no events
    files_beside: str = ""  # a pattern for other files in the same folder that it reads too
    not_beside: Sequence[str] = ()  # names that fit it and are another host's own
    transcripts: str = ""  # a pattern for the records of its sessions; empty if unknown
    cannot: Sequence[str] = ()  # sentences about what it cannot do
    stands: str = ""  # the name of the settings variant; empty for the usual one
    where: str = ""  # the schema's word for where a variant is

    shape: Shape
    scopes: tuple[str, ...]  # those with a settings file, in hookctl's own order
    scope_rules: Scopes
    env_path: Path  # the map in a settings file with every hook's environment; empty if none
    env_field: str  # the field of a hook with its own environment; empty if there is none
    cap_key: str  # the variable that sets its cap; empty if none does
    switches: list[SwitchRule] = _table("switches", SwitchRule)
    also_read_by: list[OtherAgent] = _table("also_read_by", OtherAgent)

    events: dict[str, str] = _table("events")  # canonical to the host's own name
    sure_events: dict[str, str] = _table("sure_events")  # events that are less sure
    files: dict[str, str] = _table("files")  # the settings file of each scope, with placeholders
    other_files: dict[str, list[str]] = _table("other_files")  # whose subject is another
    managed_files: dict[str, list[str]] = _table("managed_files")  # patterns for each platform
    rules: dict[str, str] = _table("rules")  # the file with instructions for the agent, by scope
    client: Client = _table("client", Client)
    config: ConfigFolder = _table("config", ConfigFolder)
    registration: HookFormat = _table("registration", HookFormat)
    environment: Environment = _table("environment", Environment)
    dialect: Dialect = _table("dialect", Dialect)
    loading: Loading = _table("loading", Loading)
    handlers: HandlerRules = _table("handlers", HandlerRules)
    trust: Trust = _table("trust", Trust)
    folder_trust: FolderTrust = _table("folder_trust", FolderTrust)
    guard: GuardNeeds = _table("guard", GuardNeeds)
    permission: Permission = _table("permission", Permission)
    matchers: Matchers = _table("matchers", Matchers)
    cap: dict[str, Any] = _table("cap")  # its limit of blocks in a row; empty: hooks always win
    told_by: dict[str, Any] = _table("told_by")  # how another host's registration knows its calls
    payload: dict[str, Any] = _table("payload")  # for the hook: how to read the events
    denials: dict[str, Any] = _table("denials")  # for the hook: what else denies a stop
    known_keys: dict[str, dict[str, Any]] = _table("known_keys")  # rules for the types of settings
    tools: dict[str, list[str]] = _table("tools")  # the names of its own tools, by class
    runner: dict[str, Any] = _table("runner")  # for the runner: how it asks and what it understands
    plugins: dict[str, Any] = _table(
        "plugins"
    )  # where it keeps them, and what says which of them are on
    sends: dict[str, Any] = _table(
        "sends"
    )  # to its hooks, beside event and call, by protocol event
    reads: dict[str, Any] = _table("reads")  # what it makes of a hook's answer, by protocol event

    def __init__(self, file: Tables | str) -> None:
        self.data = data = Tables(file) if isinstance(file, str) else file
        self.__dict__.update(data.values_above)
        form, path = self.registration, tuple(self.environment.path)
        flat = ("*",) if form.event else tuple(form.flat)
        texts = tuple(self.permission.path)
        self.shape = Shape(tuple(form.root), flat, form.shell, form.positions, texts)
        self.scopes = tuple(scope for scope in SCOPES if scope in self.files)
        self.scope_rules = Scopes(**data.get("scopes"))
        if self.managed_files:
            self.scope_rules.precedence = ["managed", *self.scope_rules.precedence]
        self.env_path = path if self.environment.channel == "settings" else ()
        self.env_field = path[0] if self.environment.channel == "hook" else ""
        self.cap_key = self.cap.get("key", "")
        if form.event:
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

    def varied(self, variant: Mapping[str, Any]) -> Host:
        """A layout: its tables extend the usual ones, but for its events."""
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
    beside: Any = cached_property(lambda host: host._other_layout("among_others"))
    managed: Any = cached_property(lambda host: host._other_layout("in_managed"))

    def _other_layout(self, name: str) -> Host | None:
        table = self.data.get(name)
        return self.varied(table) if table else None

    @property
    def as_claude(self) -> Host | None:
        """The host under Claude Code's names of the events; None where it has no such dialect."""
        own = self.data.get("as_claude")
        if not own:
            return None
        others = {"runner": self.runner, "sends": self.sends, "reads": self.reads}
        tables = {name: {**table, **own.get(name, {})} for name, table in others.items()}
        matchers = Matchers(**own["matchers"])
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

    def layouts(self) -> list[Host]:
        """The host, and in its other layouts."""
        return [self, *self.variants]

    def has_files(self, scope: str) -> bool:
        """Whether the host reads settings of this scope, managed ones included."""
        return bool(self.managed_files) if scope == "managed" else scope in self.files
