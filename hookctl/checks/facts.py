"""The facts that doctor judges: plain values, filled in by the gather modules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from hookctl.checks.codes import Finding, finding
from hookctl.checks.programs import ProgramFault
from hookctl.documents import Document
from hookctl.errors import HookctlError
from hookctl.hosts import Host
from hookctl.hosts.version import Client
from hookctl.model import Current, Entry, Hooks, IgnoreRule, PackRecord, PathFault, Record
from hookctl.packs.choices import MODES, Settings
from hookctl.packs.model import run_packs
from hookctl.planner import fixes
from hookctl.settings.effective import Value
from hookctl.settings.switches import Switch
from hookctl.settings.targets import GUARD, Target
from hookctl.survey.model import Hook, Layer, Unreadable, Workplace

if TYPE_CHECKING:  # late: most have the guard alone
    from hookctl.ledger.disabled import DisabledHook
    from hookctl.receipts.model import HookName, Runs


# The settings files that a host reads, and the hooks in them.


def value_of(layers: Iterable[Layer], environ: Mapping[str, str], name: str) -> Value:
    """A variable as the hook gets it: from the first file that has it, else from `environ`."""
    for layer in layers:
        if name in layer.env:
            return Value(layer.env[name], layer.source, True)
    return Value(environ.get(name, ""), None, name in environ)


class GuardRegistration(NamedTuple):
    """The guard's hook on a stop event in a settings file, and what it runs."""

    hook: Hook
    config: dict[str, Any]  # what its configuration says
    since: float | None  # when that was written; None where there is no regular file
    mode: str = ""  # the mode in effect


# What belongs to an installation.


class Configuration(NamedTuple):
    """The guard's configuration."""

    path: str
    is_there: bool
    value: dict[str, Any]  # empty where it cannot be read
    error: HookctlError | None
    outside: tuple[str, ...] = ()  # what a project's config names outside the project, in words


class Python(NamedTuple):
    """The interpreter that runs a hook."""

    path: str
    is_executable: bool
    version: tuple[int, int] | None  # None where it does not run
    fault: PathFault | None = None  # what lets another user change it; then it was not started


class Answer(NamedTuple):
    """What hookctl's own copy of the guard said when it was asked."""

    text: str
    seconds: float


class Trial(NamedTuple):
    """Whether the guard did what its configuration promises, and the causes if it did not."""

    promised: str  # block | end | refuse
    answer: Answer
    is_kept: bool
    settings: tuple[str, ...] = ()  # the causes among its settings
    variables: tuple[str, ...] = ()  # the causes among its variables


# One settings file.


class FileFacts(NamedTuple):
    """One settings file of one host, what the ledger has of it, and what it runs."""

    target: Target
    host: Host  # in the variant of its settings
    path: str  # as people know it; links are not resolved
    record: Record | None
    guard: PackRecord | None  # what the record has of the guard
    settings: Settings | None  # the guard's recorded choices
    is_file: bool
    workplace: Workplace
    is_alone: bool = False  # whether only its project was looked at, and nothing of the user
    real_path: str = ""  # its real path
    document: Document | None = None  # None where it cannot be read; its `data` encodes anew
    error: HookctlError | None = None  # why it cannot be read, or not be edited
    current: Current | None = None
    config_folder: str = ""  # the host's own, of the user
    start: str = ""  # the folder whose project settings the host reads with it
    layers: tuple[Layer, ...] = ()  # what the host reads there, the winning files first
    switches: tuple[Switch, ...] = ()  # that are set there
    is_read_only: bool = False
    written_at: float | None = None
    backup: int = 0  # the number of the last text that hookctl kept; 0: none
    loose: Mapping[str, PathFault] = {}  # what lets another user change it, by the path
    ignored: tuple[IgnoreRule, ...] = ()  # rules by which git ignores it, or hookctl's folder
    config: Configuration | None = None
    python: Python | None = None
    path_python: str = ""  # the first python3 on the PATH that a project's settings give
    lost_programs: Mapping[str, str] = {}  # the missing programs of our hooks elsewhere, by id
    fault: ProgramFault | None = None  # what is wrong with the programs of the file's hooks
    pack_faults: Mapping[str, ProgramFault] = {}  # with the packs' own files, by pack
    runner_python: Python | None = None  # that starts the commands of packs
    runs: Mapping[HookName, Runs] = {}  # by their receipts; a project's file: in the project alone
    stops: tuple[float, ...] = ()  # when the host ended a turn, by the guard's log
    trial: Trial | None = None  # of the guard, if it was asked
    log: tuple[dict[str, Any], ...] = ()  # what the guards of this host decided
    client: Client | None = None  # the host's own program
    repository: str = ""  # where the host looks for the project's programs, if not in the project
    disabled: tuple[DisabledHook, ...] = ()  # that `hookctl disable` switched off or took out

    @property
    def packs(self) -> dict[str, PackRecord]:
        """The packs on record in this file."""
        return self.record.packs if self.record else {}

    @property
    def run_packs(self) -> list[str]:
        """The packs on record in this file whose commands the runner runs."""
        return run_packs(self.record) if self.record else []

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries on record in this file."""
        return self.record.entries if self.record else ()

    @property
    def disabled_ids(self) -> set[str]:
        """The hooks of packs, by their ids, that `hookctl disable` switched off or took out."""
        entries = self.record.disabled if self.record else ()
        return {entry.id for entry in entries} | {hook.name for hook in self.disabled} - {""}

    @property
    def elements(self) -> Hooks:
        """The hooks of hookctl in the file; none where it cannot be read."""
        return self.current.elements if self.current else Hooks()

    @property
    def reaching(self) -> tuple[Layer, ...]:
        """The files whose variables reach the guard's hook: all, or this one if it has an env."""
        own = tuple(layer for layer in self.layers if layer.source.path == self.path)
        return own if own and self.host.env_field else self.layers

    @property
    def has_other_mode(self) -> bool:
        """Whether the guard's configuration has another mode than the record."""
        mode = self.config.value.get("mode") if self.config else None
        return self.settings is not None and mode in MODES and mode != self.settings.mode

    @property
    def install(self) -> str:
        """The command that installs the guard in this settings file."""
        return self.install_of(GUARD)

    def install_of(self, pack: str) -> str:
        """The command that installs a pack in this settings file."""
        known, workplace = self.packs.get(pack), self.workplace
        return fixes.install_again(self.target, pack, known, workplace.cwd, workplace.project)

    def again(self, pack: str) -> str:
        """The fix that restores what an install of a pack wrote, as a sentence."""
        command = f"`{self.install_of(pack)} --force` restores it"
        return f"{command}, with the path of its file." if " PATH " in command else f"{command}."

    @property
    def repair(self) -> str:
        """The command that repairs hookctl's files and entries."""
        project = self.workplace.project
        return fixes.repair_command(self.target.project or project, project)

    def find(self, code: str, /, path: str = "", level: str = "", **values: Any) -> Finding:
        """A finding of the list about this file, unless it names another path."""
        values |= {"file": self, "host": self.host}
        return finding(code, self.host.name, path or self.path, level, **values)


# One host.


class WaitingWork(NamedTuple):
    """How much work waits, whose it is, and how old."""

    remaining: int
    owner: str  # in words
    age: float  # seconds since it was touched
    is_stale: bool


class Run(NamedTuple):
    """The work in hand of one project, as this guard sees it."""

    task_path: str
    task_names: dict[str, str]  # of its fields, where another system writes it
    task: Any  # what the task says; None where there is none
    faults: Mapping[str, str]  # why the guard cannot read a file of it, by the path
    mark: str  # the name of the file that lets the agent stop; empty where there is none
    is_active: bool  # a run that has an end is under way
    work: WaitingWork


class HostFacts(NamedTuple):
    """One host as it is started in the working folder."""

    host: Host
    workplace: Workplace
    config_folder: str
    files: tuple[FileFacts, ...]  # that have or may have our entries; none: it is not in use
    layers: tuple[Layer, ...] = ()  # what it reads, the winning files first
    variables: Mapping[str, str] = {}  # as they reach the guard's hook
    hooks: tuple[Hook, ...] = ()  # that stand in files, with what keeps each from running
    lost: tuple[Unreadable, ...] = ()  # files of which it takes nothing
    guards: tuple[GuardRegistration, ...] = ()  # the guard's hooks that do something here
    log: tuple[dict[str, Any], ...] = ()  # every line of the guard's log
    sessions: tuple[
        tuple[str, float], ...
    ] = ()  # the host's own, by name and when they were last written
    run: Run | None = None
    env_files: Mapping[str, list[str]] = {}  # the guard's variables in the project's own files

    @property
    def running(self) -> list[Hook]:
        """The hooks that the host starts, or will once a person has approved them."""
        return [hook for hook in self.hooks if hook.is_started or hook.is_waiting]

    def find(self, code: str, /, path: str = "", level: str = "", **values: Any) -> Finding:
        """A finding of the list about this host."""
        return finding(code, self.host.name, path, level, host=self.host, **values)
