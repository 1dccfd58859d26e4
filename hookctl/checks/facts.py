"""The facts that doctor judges: plain values, filled in by the gather modules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from hookctl.checks.codes import Finding, finding
from hookctl.checks.programs import ProgramFault
from hookctl.checks.scripts import Script, name_program
from hookctl.documents import Document
from hookctl.documents.rules import RulesDocument
from hookctl.errors import HookctlError
from hookctl.hosts import Host
from hookctl.hosts.version import Client
from hookctl.model import Current, Entry, Hooks, IgnoreRule, PackRecord, Path, PathFault, Record
from hookctl.packs.choices import MODES, Settings
from hookctl.packs.model import run_packs
from hookctl.planner import fixes
from hookctl.settings.approval import Closed
from hookctl.settings.effective import Source, Value
from hookctl.settings.switches import Switch
from hookctl.settings.targets import GUARD, Target

if TYPE_CHECKING:  # late: most have the guard alone
    from hookctl.ledger.disabled import DisabledHook
    from hookctl.receipts.model import HookName, Runs


class Workplace(NamedTuple):
    """The working folder, where the fixes are typed, and what holds there."""

    cwd: str
    project: str  # the one that contains it
    schema: Mapping[str, Any]  # of the guard's settings, by their names
    state: str = ""  # hookctl's state folder
    environ: Mapping[str, str] = {}
    now: float = 0.0


# The settings files that a host reads, and the hooks in them.


class FoundHook(NamedTuple):
    """A handler in a settings file."""

    source: Source
    path: Path
    event: str
    fields: dict[str, Any]
    id: str = ""  # PACK/ID of one of ours
    matcher: Any = None  # of the handler or its group, as the file has it

    @property
    def command(self) -> str:
        """Its command, under whichever key the host reads it from; empty where it has none."""
        for key in self.source.host.registration.commands:
            if isinstance(self.fields.get(key), str):
                return str(self.fields[key])
        return ""

    @property
    def title(self) -> str:
        """The hook in a word or two, without the arguments of its command: those may be secrets."""
        kind = self.fields.get("type")
        unnamed = f"a hook of type {kind}" if isinstance(kind, str) else "a hook"
        return name_program(self.command) or unnamed

    @property
    def place(self) -> str:
        """Its path and line in its file, in words."""
        line = self.source.document.position(self.path)[0]
        return f"{self.source.document.name_of(self.path)}, line {line}"


class Layer(NamedTuple):
    """A settings file that a host reads, with the hooks in it and the variables that it gives."""

    source: Source
    real_path: str  # its real path
    hooks: tuple[FoundHook, ...]
    env: dict[str, str]
    hidden: frozenset[str]  # events that the host takes from another file of the scope instead


def value_of(layers: Iterable[Layer], environ: Mapping[str, str], name: str) -> Value:
    """A variable as the hook gets it: from the first file that has it, else from `environ`."""
    for layer in layers:
        if name in layer.env:
            return Value(layer.env[name], layer.source, True)
    return Value(environ.get(name, ""), None, name in environ)


class GuardRegistration(NamedTuple):
    """The guard's hook on a stop event in a settings file, and what it runs."""

    hook: FoundHook
    config: dict[str, Any]  # what its configuration says
    since: float | None  # when that was written; None where there is no regular file
    program: bytes  # its launcher; empty where it cannot be read
    mode: str = "off"  # the mode in effect; off where it does nothing


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


class PackSource(NamedTuple):
    """The file that a pack was installed from, as it is now."""

    path: str
    name: str = ""
    version: str = ""
    error: HookctlError | None = None


class OtherReader(NamedTuple):
    """Another agent that reads a settings file too."""

    title: str
    only: str  # where it reads it, as part of a sentence; empty: everywhere
    is_there: bool
    own_guard: str  # the file with a guard of its own that it reads there; empty if there is none


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
    other_owner: str = ""
    written_at: float | None = None
    links: tuple[str, ...] = ()  # where each link on the way leads, the file's own path first
    backup: int = 0  # the number of the last text that hookctl kept; 0: none
    loose: Mapping[str, PathFault] = {}  # what lets another user change it, by the path
    ignored: tuple[IgnoreRule, ...] = ()  # rules by which git ignores it, or hookctl's folder
    config: Configuration | None = None
    python: Python | None = None
    path_python: str = ""  # the first python3 on the PATH that a project's settings give
    has_other_state: bool = False  # the folder that the guard's configuration names is there
    lost_programs: Mapping[str, str] = {}  # the missing programs of our hooks elsewhere, by id
    fault: ProgramFault | None = None  # what is wrong with the programs of the file's hooks
    pack_faults: Mapping[str, ProgramFault] = {}  # with the packs' own files, by pack
    pack_sources: Mapping[str, PackSource] = {}
    runner_python: Python | None = None  # that starts the commands of packs
    runs: Mapping[HookName, Runs] = {}  # by their receipts; a project's file: in the project alone
    stops: tuple[float, ...] = ()  # when the host ended a turn, by the guard's log
    trial: Trial | None = None  # of the guard, if it was asked
    program_since: float | None = None
    log_folder: str = ""  # the name of the project's folder of the guard's log; empty at user scope
    log: tuple[dict[str, Any], ...] = ()  # what the guards of this host decided
    client: Client | None = None  # the host's own program
    readers: tuple[OtherReader, ...] = ()
    nested: tuple[str, ...] = ()  # programs of another user below the project
    repository: str = ""  # where the host looks for the project's programs, if not in the project
    closed: tuple[Closed, ...] = ()  # our hooks that wait for an approval
    disabled: tuple[DisabledHook, ...] = ()  # that `hookctl disable` switched off or took out
    is_untrusted: bool = False

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
        source = self.packs[pack].source if pack in self.packs else ""
        is_from_git = bool(source and self.packs[pack].commit)
        if source and self.target.shared and not is_from_git:
            source = fixes.nearby(source, self.workplace.cwd)
        elif not source and pack != GUARD and self.target.shared:
            source = "PATH"  # of the pack's file, which lies outside of the project
        return fixes.install_command(self.target, pack, source, self.workplace.project)

    def again(self, pack: str) -> str:
        """The fix that restores what an install of a pack wrote, as a sentence."""
        command = f"`{self.install_of(pack)} --force` restores it"
        return f"{command}, with the path of its file." if " PATH " in command else f"{command}."

    @property
    def repair(self) -> str:
        """The command that repairs hookctl's files and entries."""
        project = self.workplace.project
        return fixes.repair_command(self.target.project or project, project)

    def find(self, entry: str, /, path: str = "", level: str = "", **values: Any) -> Finding:
        """A finding of the list about this file, unless it names another path."""
        values |= {"file": self, "host": self.host}
        return finding(entry, self.host.name, path or self.path, level, **values)


# One host.


class KnownTool(NamedTuple):
    """A tool that keeps an agent going from a Stop hook of its own."""

    name: str
    commands: tuple[str, ...]  # a part of its hook's command is one of these
    preset: str = ""  # the guard's preset that does the tool's work


class ManagedFile(NamedTuple):
    """A managed settings file, which hookctl only reads."""

    path: str
    document: Document | None
    error: HookctlError | None


class UnreadFile(NamedTuple):
    """A settings file that is there although the host does not read it when it is started here."""

    path: str
    real_path: str
    scope: str
    reason: str  # local | variable | folder | above | below
    hooks: tuple[FoundHook, ...]
    owner: str = ""  # with reason `folder`: the path of its FileFacts


class RunPath(NamedTuple):
    """A file or folder of the work in hand that is there."""

    path: str
    mode: int
    may_read: bool
    may_enter: bool  # of a folder


class WaitingWork(NamedTuple):
    """How much work waits, whose it is, and how old."""

    remaining: int
    owner: str  # in words
    is_fixed: bool  # it never passes to another session
    age: float  # seconds since it was touched
    is_stale: bool


class Run(NamedTuple):
    """The work in hand of one project, as this guard sees it."""

    own: str  # the project's .hookctl
    folder: str
    task_path: str
    task_names: dict[str, str]  # of its fields, where another system writes it
    task: Any  # what the task says; None where there is none
    task_error: HookctlError | None
    paths: tuple[RunPath, ...]
    owner_path: str
    owner: str
    owner_since: float
    log_folder: str
    active_path: str
    active: bytes | None  # empty where it cannot be read
    work: WaitingWork


class HostFacts(NamedTuple):
    """One host as it is started in the working folder."""

    host: Host
    workplace: Workplace
    config_folder: str
    files: tuple[FileFacts, ...]  # that have or may have our entries; none: it is not in use
    guests: tuple[FileFacts, ...] = ()  # of the working folder, without our entries
    layers: tuple[Layer, ...] = ()  # what it reads, the winning files first
    variables: Mapping[str, str] = {}  # as they reach the guard's hook
    switches: tuple[Switch, ...] = ()  # that are set here
    managed: tuple[ManagedFile, ...] = ()
    switch_files: tuple[
        tuple[Host, str, HookctlError], ...
    ] = ()  # files without hooks that cannot be read
    registrations: tuple[GuardRegistration, ...] = ()
    running: tuple[FoundHook, ...] = ()  # the hooks that it runs
    guards: tuple[GuardRegistration, ...] = ()  # the guard's hooks that it runs
    unread: tuple[UnreadFile, ...] = ()
    missing_scripts: Mapping[tuple[str, Path], Script] = {}  # by the file and path of a hook
    agents: frozenset[str] = frozenset()  # the programs of all hosts
    systems: tuple[KnownTool, ...] = ()  # tools that keep an agent going
    log: tuple[dict[str, Any], ...] = ()  # every line of the guard's log
    sessions: tuple[
        tuple[str, float], ...
    ] = ()  # the host's own, by name and when they were last written
    run: Run | None = None
    env_files: Mapping[str, list[str]] = {}  # the guard's variables in the project's own files

    @property
    def at_work(self) -> list[GuardRegistration]:
        """The guards that really do something here."""
        return [registration for registration in self.guards if registration.mode != "off"]

    def find(self, entry: str, /, path: str = "", level: str = "", **values: Any) -> Finding:
        """A finding of the list about this host."""
        return finding(entry, self.host.name, path, level, host=self.host, **values)


class RulesFile(NamedTuple):
    """A file with instructions for an agent, in which the record has blocks of rules."""

    path: str
    record: Record
    document: RulesDocument | None
    error: HookctlError | None = None


class RecordFacts(NamedTuple):
    """hookctl's own record: the usable records, and the faults."""

    records: dict[str, Record]  # by the real path of their settings file
    errors: tuple[HookctlError, ...] = ()
    gone: tuple[tuple[str, str, Record], ...] = ()  # settings file, folder that is not there
    others: tuple[str, ...] = ()  # projects on record that are not looked at
    others_gone: tuple[str, ...] = ()  # those of them that are not there
    ledger: str = ""  # its path
    journal: str = ""
    interrupted: tuple[str, ...] | None = None  # the files of a run that was interrupted
    journal_error: HookctlError | None = None
    misfits: tuple[tuple[str, Record], ...] = ()  # whose settings of the guard are invalid
    rules: tuple[RulesFile, ...] = ()
