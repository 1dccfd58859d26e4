"""The tables of a host's file as typed records; schemas/host.schema.json says what each key means.

The fields have the names of the keys. A key that the file leaves out has the default.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

from hookctl.values import NamedTuple

APPROVALS = ("hooks", "state")  # the table of Codex's config.toml with the state of hooks

Table = TypeVar("Table", bound=tuple[Any, ...])


class Client(NamedTuple):
    """The host's program."""

    seen: str  # the newest version that hookctl was checked with
    command: str
    version_args: Sequence[str] = ()
    other_commands: Sequence[str] = ()
    minimum: str = ""
    minimum_reason: str = ""
    asks_version: bool = True
    package: str = ""
    block_shown: str = ""  # how people see a block where that looks like a failure
    debug: str = ""
    doctor: str = ""


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
    first_only: bool = False


class HookFormat(NamedTuple):
    """What a hook needs in a settings file; `Shape` says where it is written."""

    commands: Sequence[str] = ("command",)
    timeout: str = "timeout"
    fields: dict[str, Any] = {}  # noqa: RUF012 (never changed in place)
    top: dict[str, Any] = {}  # noqa: RUF012
    wraps: bool = False
    expands: bool = False  # variables in every settings string
    fails_closed: Sequence[str] = ()  # canonical events: a hook that fails refuses


class Environment(NamedTuple):
    """The variables that a hook gets."""

    channel: str = "none"  # settings | hook | none
    path: Sequence[str] = ()
    project: str = ""
    project_is_start: bool = False
    in_command: str = ""
    project_is_repository: bool = False
    starts_there: bool = False  # a hook, in the folder that the agent was started in
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


class Switches(NamedTuple):
    """The settings that turn hooks off."""

    disable: Sequence[str] = ()
    disabled_by: bool = False
    also: Sequence[Sequence[str]] = ()
    named: Sequence[str] = ()
    format: str = ""
    files: dict[str, str] = {}  # noqa: RUF012
    managed_only: str = ""


class Faults(NamedTuple):
    """What a mistake in a settings file costs: the end of a sentence about the host."""

    file: str = "may not read this file"
    entry: str = "may drop it"
    stops_client: bool = False


class Guarding(NamedTuple):
    """The mistakes that make the host ignore a whole file that it can parse."""

    events: Sequence[str] = ()
    groups: bool = True
    unknown_events: bool = False
    root_keys: Sequence[str] = ()
    ignored_keys: Sequence[str] = ()
    null_events: bool = True
    top: bool = False


class AutoApproval(NamedTuple):
    """What makes the host approve hooks without asking."""

    variable: str = ""
    key: str = ""


class Trust(NamedTuple):
    """The approval that a hook needs before it runs."""

    gate: str = ""  # empty: hooks run without an approval
    action: str = ""
    config: str = ""
    memory: str = ""
    unasked: AutoApproval = AutoApproval()
    scopes: Sequence[str] | None = None  # None: the file does not say

    def step(self, scope: str) -> str:
        """What to do for an approval of hooks of a scope."""
        if self.config and scope != "project":
            return f"{self.action}, or install with --trust"
        return self.action

    def covers(self, scope: str) -> bool:
        """Whether hooks of a scope need the approval."""
        return bool(self.gate) and (self.scopes is None or scope in self.scopes)


class FolderTrust(NamedTuple):
    """The host's list of folders whose hooks it runs."""

    file: str = ""  # empty: the host has no such list
    format: str = ""
    trusted: Sequence[str] = ()
    inherited: bool = False
    scopes: Sequence[str] = ()
    on: bool = False
    action: str = ""
    folders: Sequence[str] = ()
    level: str = ""
    parent: str = ""
    switch: Sequence[str] = ()


class GuardNeeds(NamedTuple):
    """The guard's events on this host, beyond those that its settings need."""

    events: Sequence[str] = ()
    without: Sequence[str] = ()
    reminds_where: str = ""  # a variable: where it is set, the host itself reminds of a tool


class OtherAgent(NamedTuple):
    """Another agent that reads the same settings files."""

    host: str
    scopes: Sequence[str]
    only: str = ""  # the condition, if it does not always read them


def read_record(kind: type[Table], table: dict[str, Any]) -> Table:
    """The record of a table of the file; keys without a field are skipped."""
    fields: Sequence[str] = kind._fields  # type: ignore[attr-defined]
    return kind(**{name: table[name] for name in fields if name in table})


def read_trust(table: dict[str, Any]) -> Trust:
    """The record of the table `trust`."""
    trust = read_record(Trust, table)
    return trust._replace(unasked=read_record(AutoApproval, table.get("unasked", {})))
