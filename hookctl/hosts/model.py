"""The tables of a host's file as typed records; schemas/host.schema.json says what each key means.

The fields have the names of the keys. A key that the file leaves out has the default.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, get_origin

from hookctl.documents import LISTED, MISSING, Document, syntax
from hookctl.hosts.shapes import Shape
from hookctl.model import Path

APPROVALS = ("hooks", "state")  # the table of Codex's config.toml with the state of hooks

SCOPES = ("user", "project", "local")
_NOTHING: dict[str, Any] = {}  # a table that the file leaves out; never changed

Table = TypeVar("Table", bound=tuple[Any, ...])


class Client(NamedTuple):
    """The host's program."""

    seen: str  # the newest version that hookctl was checked with
    command: str
    version_args: Sequence[str] = ()
    other_commands: Sequence[str] = ()
    since: dict[str, Sequence[str]] = _NOTHING  # by what older ones lack
    asks_version: bool = True
    package: str = ""
    block_shown: str = ""  # what people see above a block's text, if it looks like a failure


class ConfigFolder(NamedTuple):
    """The host's own settings folder."""

    home: str  # the folder in HOME
    variable: str = ""
    inside: str = ""
    others: Sequence[str] = ()  # names in it that belong to other hosts


class Scopes(NamedTuple):
    """How the host combines the settings files of several scopes."""

    precedence: Sequence[str] = ()
    start_folder_only: bool = False
    same_command_once: bool = False
    same_name_once: bool = False
    first_only: bool = False
    managed_hides_events: bool = False


class HookFormat(NamedTuple):
    """What a hook needs in a settings file; `Shape` says where it is written."""

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


class Environment(NamedTuple):
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


class Dialect(NamedTuple):
    """The guard's answers; empty where the host has no such answer."""

    block: str = ""
    release: str = ""
    end: str = ""
    refuse: str = ""
    refuse_end: str = ""  # the same, and the turn ends
    context: str = ""  # what it adds at a session's start
    goal: str = ""  # what a person types to end a goal of the host's own, a stop hook there


class Permission(NamedTuple):
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


class SwitchRule(NamedTuple):
    """A setting that keeps hooks from running; several rules of one key are one switch."""

    files: Sequence[str] = ()  # scopes, patterns, $VARIABLES; the first that has the key counts
    key: Sequence[str] = ()
    off: Sequence[Any] = (True,)  # its values that switch off, or one of a list
    reach: str = "host"  # host | file | names | rules | urls
    spares: Sequence[str] = ()  # scopes whose hooks run all the same


class Loading(NamedTuple):
    """What a fault in a settings file costs; three ends of a sentence about it, and rules."""

    file: str = "may not read this file"
    entry: str = "may drop it"
    client: str = "does not start"
    costs: Sequence[str] = ()  # `KINDS [at EVENTS]: REACH`, the first that fits
    root_keys: Sequence[str] = ()
    ignored_keys: Sequence[str] = ()


class HandlerRules(NamedTuple):
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
    group_default: bool = False
    switch: str = ""  # a field that is false where a hook is not to run
    nulls: bool = False  # whether a field that is null counts as not there
    only: Sequence[str] = ()  # the fields that a hook may have; empty: any
    values: dict[str, dict[str, Any]] = _NOTHING
    makes_executable: bool = False  # a script that may not be executed
    no_events: Sequence[str] = ()  # keys beside the events that are none
    events: Sequence[str] = ()  # empty: those that have a name of hookctl's


class Trust(NamedTuple):
    """The approval that a hook needs before it runs."""

    gate: str = ""  # empty: hooks run without an approval
    action: str = ""
    config: str = ""
    memory: str = ""
    unasked: SwitchRule = SwitchRule()  # what makes the host agree to all, where it is off
    scopes: Sequence[str] | None = None  # None: the file does not say

    def covers(self, scope: str) -> bool:
        """Whether hooks of a scope need the approval."""
        return bool(self.gate) and (self.scopes is None or scope in self.scopes)


class FolderTrust(NamedTuple):
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
    switch: SwitchRule = SwitchRule()  # what trusts every folder where it is off
    lists: bool = False  # the file has a list of folders for each word
    reads: bool = False  # the host reads a folder's settings, whether it trusts it or not


class GuardNeeds(NamedTuple):
    """The guard's events on this host, beyond those that its settings need."""

    events: Sequence[str] = ()
    without: Sequence[str] = ()
    reminds_where: str = ""  # a variable: where it is set, the host itself reminds of a tool


class Matchers(NamedTuple):
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


class OtherAgent(NamedTuple):
    """Another agent that reads the same settings files, or the same folders of plugins."""

    sure: str  # proven | read | docs
    scopes: Sequence[str] = ()
    plugins: Sequence[str] = ()  # patterns of plugins' folders
    host: str = ""  # its name, if it is one of hookctl's hosts
    name: str = ""  # as people call it, if it is none
    only: str = ""  # the condition, if it does not always read them
    never_ours: bool = False  # whether it skips hooks in the form that hookctl gives them there
    switch: SwitchRule = SwitchRule()  # what keeps it from reading them where it is off

    @property
    def runs_ours(self) -> bool:
        """Whether it is a host that runs hookctl's hooks there."""
        return bool(self.host) and not self.never_ours


class Host(NamedTuple):
    """One coding agent, as its file describes it. What the file may leave out has a default."""

    name: str
    title: str
    format: str  # with the listing, if the file has one list of all hooks
    comments: bool | str  # or documents.PLAIN
    trailing_commas: bool
    timeout_unit: str  # seconds | milliseconds
    sure: str  # proven | read | docs
    events: dict[str, str]  # canonical to the host's own name
    shape: Shape
    variant: str  # the name of the settings variant; empty for the usual one
    scopes: tuple[str, ...]  # those with a settings file, in hookctl's own order
    scope_rules: Scopes
    files: dict[str, str]  # the settings file of each scope, with placeholders
    files_beside: str  # a pattern for other files in the same folder that it reads too
    not_beside: tuple[str, ...]  # names that fit it and are another host's own
    other_files: dict[str, list[str]]  # of each scope, with other subjects, but hooks too
    managed_files: dict[str, list[str]]  # patterns for each platform
    client: Client
    config: ConfigFolder
    registration: HookFormat
    environment: Environment
    env_path: Path  # the map in a settings file with every hook's environment; empty if none
    env_field: str  # the field of a hook with its own environment; empty if there is none
    dialect: Dialect
    switches: tuple[SwitchRule, ...]
    loading: Loading
    handlers: HandlerRules
    trust: Trust
    folder_trust: FolderTrust
    guard: GuardNeeds
    permission: Permission
    matchers: Matchers
    also_read_by: tuple[OtherAgent, ...]
    transcripts: str  # a pattern for the records of its sessions; empty if unknown
    data: dict[str, Any]  # the whole file, for its variants
    cap_key: str  # the variable that sets its cap; empty if none does
    variants: tuple[tuple[str, Any], ...] = ()  # other layouts, and the schema's word for where
    beside: Any = None  # the layout of hooks in its files with other subjects; None for the usual
    managed: Any = None  # and in its managed settings
    byte_order_mark: bool = True  # whether it reads a file that begins with one
    empty: bool = True  # whether it reads an empty file
    null_is_absent: bool = False  # whether a null counts as no hooks and no events
    sure_events: dict[str, str] = _NOTHING  # events that are less sure
    rules: dict[str, str] = _NOTHING  # the file with instructions for the agent, by scope
    cap: dict[str, Any] = _NOTHING  # its limit of blocks in a row; empty: hooks always win
    told_by: dict[str, Any] = _NOTHING  # how another host's registration knows its calls
    payload: dict[str, Any] = _NOTHING  # for the hook: how to read the events
    denials: dict[str, Any] = _NOTHING  # for the hook: what else denies a stop
    cannot: Sequence[str] = ()  # sentences about what it cannot do
    known_keys: dict[str, dict[str, Any]] = _NOTHING  # rules for the types of settings
    tools: dict[str, list[str]] = _NOTHING  # the names of its own tools, by class
    runner: dict[str, Any] = _NOTHING  # for the runner: how it asks and what it understands
    plugins: dict[str, Any] = _NOTHING  # where it keeps them, and what says which of them are on
    sends: dict[str, Any] = _NOTHING  # to its hooks, beside event and call, by protocol event
    reads: dict[str, Any] = _NOTHING  # what it makes of a hook's answer, by protocol event

    @property
    def as_claude(self) -> "Host | None":
        """The host under Claude Code's names of the events; None where it has no such dialect."""
        own = self.data.get("as_claude")
        if not own:
            return None
        others = {"runner": self.runner, "sends": self.sends, "reads": self.reads}
        tables = {name: {**table, **own.get(name, {})} for name, table in others.items()}
        matchers = _read(Matchers, own["matchers"])
        return self._replace(events=own["events"], tools=own["tools"], matchers=matchers, **tables)

    def dialect_of(self, event: str) -> "Host":
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

    def layouts(self) -> list["Host"]:
        """The host, and in its other layouts."""
        return [self, *(variant for _, variant in self.variants)]

    def has_files(self, scope: str) -> bool:
        """Whether the host reads settings of this scope, managed ones included."""
        return bool(self.managed_files) if scope == "managed" else scope in self.files


def read_host(data: dict[str, Any]) -> Host:
    """The host of a file's tables, in its usual layout; each layout knows the variants."""
    variants = []
    for table in data.get("variants", ()):
        layout = _read_layout({**data, **_merge_variant(data, table)}, table["stands"])
        variants.append((table["where"], layout))
    layouts = [(where, layout._replace(variants=tuple(variants))) for where, layout in variants]
    others = {}
    for field, key in (("beside", "among_others"), ("managed", "in_managed")):
        if key in data:
            others[field] = _read_layout({**data, **_merge_variant(data, data[key])}, "")
    return _read_layout(data, "")._replace(variants=tuple(layouts), **others)


def _merge_variant(data: dict[str, Any], table: dict[str, Any]) -> dict[str, Any]:
    """The values of a variant; its tables extend the usual ones, its events replace them."""
    merged: dict[str, Any] = {}
    for key, value in table.items():
        if key in ("stands", "where"):
            continue
        if isinstance(value, dict) and key != "events":
            value = {**data.get(key, {}), **value}
        merged[key] = value
    return merged


def _read_layout(data: dict[str, Any], variant: str) -> Host:
    files, environment = data["files"], data["environment"]
    own_files = {scope: files[scope] for scope in SCOPES if scope in files}
    if "project" in own_files and not environment.get("in_command"):
        # Else a command of project scope would name a path below the root folder.
        raise ValueError("environment: 'in_command' is missing")
    precedence = (["managed"] if "managed" in files else []) + data["scopes"]["precedence"]
    channel, path = environment.get("channel"), tuple(environment.get("path", ()))
    registration, listing = data["registration"], ""
    if "event" in registration:  # one list of all hooks
        registration, listing = {**registration, "flat": ["*"]}, _name_listing(registration)
    registration = {**registration, "texts": data.get("permission", {}).get("path", ())}
    table = {
        **data,
        "format": data["format"] + listing,
        "variants": (),
        "registration": registration,
        "shape": registration,
        "variant": variant,
        "scopes": tuple(own_files),
        "scope_rules": {**data["scopes"], "precedence": precedence},
        "files": own_files,
        "files_beside": files.get("beside", ""),
        "not_beside": files.get("not_beside", ()),
        "other_files": files.get("also", {}),
        "managed_files": files.get("managed", {}),
        "env_path": path if channel == "settings" else (),
        "env_field": path[0] if channel == "hook" else "",
        "switches": [_read(SwitchRule, rule) for rule in data.get("switches", ())],
        "also_read_by": [_read(OtherAgent, other) for other in data.get("also_read_by", ())],
        "transcripts": data.get("transcripts", {}).get("pattern", ""),
        "data": data,
        "cap_key": data.get("cap", {}).get("key", ""),
    }
    return _read(Host, table)


def _name_listing(registration: dict[str, Any]) -> str:
    """What the name of a format says of a list of all hooks."""
    names = registration.get("names", {}).items()
    listed = ".".join((*registration["root"], registration["event"]))
    return LISTED + ",".join([listed, *(f"{name}={path}" for name, path in names)])


def _read(kind: type[Table], table: dict[str, Any]) -> Table:
    """The record of a table, by its annotations; keys without a field are skipped."""
    fields = {}
    for name, field_kind in _fields_of(kind):
        if field_kind not in (tuple, None):
            fields[name] = _read(field_kind, table.get(name, {}))
        elif name in table:
            fields[name] = table[name] if field_kind is None else tuple(table[name])
    return kind(**fields)


@functools.cache
def _fields_of(kind: type[Any]) -> list[tuple[str, Any]]:
    """The fields of a record, each with the record that it is, or tuple, or None."""
    fields = []
    for name, field_kind in kind.__annotations__.items():
        is_record = hasattr(field_kind, "_fields")
        is_tuple = get_origin(field_kind) is tuple
        fields.append((name, field_kind if is_record else tuple if is_tuple else None))
    return fields
