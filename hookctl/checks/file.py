"""A settings file as doctor and check see it, and whether its host and hookctl can read it."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hookctl.checks import codes
from hookctl.checks.codes import Finding, describe_error, from_error
from hookctl.documents import CONFLICT
from hookctl.errors import HookctlError
from hookctl.hosts import loading
from hookctl.hosts.loading import Contents
from hookctl.model import Hooks, PackRecord, Path, Record
from hookctl.ownership import committed, consent, store
from hookctl.ownership.own_files import FORMER_CALL, list_programs, own_top, parse_config
from hookctl.ownership.sources import look
from hookctl.packs.choices import MODES, settings_from
from hookctl.packs.guard import is_newer
from hookctl.packs.model import MANIFEST
from hookctl.packs.programs import version_of_launcher
from hookctl.settings.effective import Source
from hookctl.settings.targets import GUARD, RULES, Target, repository_above, require_inside
from hookctl.survey.gathering import describe_from
from hookctl.survey.machine import Machine
from hookctl.system import files
from hookctl.system.files import content_digest
from hookctl.system.packages import HOOK, list_former, version_of

if TYPE_CHECKING:  # late: few have anything disabled
    from hookctl.ownership.disabled import DisabledHook


NOT_THERE = "config_missing"


class File:
    """A settings file with something of ours, or the user's of a host in use."""

    def __init__(
        self, machine: Machine, target: Target, record: Record | None, *, is_alone: bool = False
    ) -> None:
        self.machine, self.target, self.host, self.path = machine, target, target.host, target.path
        self.level = "error" if target.shared else "warning"  # of a fault that everybody would get
        self.is_alone = is_alone  # nothing but its project may be looked at
        self.exact: Collection[str] = ()  # packs of which nothing may be edited
        self.document = self.current = self.error = None
        try:
            if target.project:
                require_inside(target.project, target.path)
            self.document = machine.read(target.path, target.host.format)[1]
            self.current = look(target.host, self.document, (), record.entries if record else ())
        except HookctlError as error:
            explain_conflict(target, error)
            self.error = error
        self.record = record
        self.packs: dict[str, PackRecord] = record.packs if record else {}
        self.entries = record.entries if record else ()
        if self.disabled:
            from hookctl.ownership.disabled import list_taken  # late: few have anything disabled

            taken = list_taken(self.disabled)
            self.entries = tuple(one for one in self.entries if (one.id or one.path) not in taken)
        self.elements = self.current.elements if self.current else Hooks()
        self.guard = self.packs.get(GUARD)
        self.settings = settings_from(self.guard.settings) if self.guard else None
        self.config_error: HookctlError | None = None
        self.config = self._read_config()  # the guard's; empty where it cannot be read

    @cached_property
    def sources(self) -> list[Source]:
        """The files that the host reads together with this one, the winning ones first."""
        return self.machine.surroundings(self.target)[0]

    @cached_property
    def reaching(self) -> Sequence[Source]:
        """Those whose variables reach the guard's hook: all, or this one if it has an env."""
        own = [source for source in self.sources if source.path == self.path]
        return own if own and self.host.env_field else self.sources

    def _read_config(self) -> dict[str, Any]:
        path = self.guard.config if self.guard else ""
        try:
            snapshot = self.machine.reader.snapshot(path) if path else None
            if snapshot is None or snapshot.data is None:
                raise HookctlError(NOT_THERE, "it is not there")
            return parse_config(snapshot)
        except HookctlError as error:
            explain_conflict(self.target, error)
            self.config_error = error
        return {}

    @cached_property
    def has_other_mode(self) -> bool:
        """Whether the guard's configuration has another mode than the record."""
        mode = self.config.get("mode")
        return self.settings is not None and mode in MODES and mode != self.settings.mode

    @cached_property
    def fault(self) -> Finding | None:
        """The first program of the hooks in the file that is not as this version writes it."""
        if not self.elements and not self.packs:
            return None
        return _find_program_fault(self)

    @cached_property
    def contents(self) -> Contents:
        """What the host makes of the file."""
        return loading.read(self.host, self.document) if self.document else Contents((), ())

    @cached_property
    def faults(self) -> dict[Path, str]:
        """What keeps the host from loading or running a hook of the file, by the hook's path."""
        faults: dict[Path, str] = {}
        for entry in self.contents.entries:
            if entry.faults and self.document:
                faults[entry.path] = describe_from(self.host, self.document, entry, entry.faults[0])
        return faults

    @cached_property
    def disabled(self) -> Sequence[DisabledHook]:
        """What `hookctl disable` switched off or took out."""
        return [hook for hook in self.machine.disabled if hook.file == self.path]

    @cached_property
    def disabled_ids(self) -> set[str]:
        """The ids of those that are hooks of packs."""
        return {hook.name for hook in self.disabled} - {""}

    @property
    def install(self) -> str:
        """The command that installs the guard in this settings file."""
        return self.install_of(GUARD)

    def install_of(self, pack: str) -> str:
        """The command that installs a pack in this settings file."""
        target, machine, known = self.target, self.machine, self.packs.get(pack)
        for record in machine.records.values() if self.host.format == RULES else ():
            if (record.host, record.project) == (self.host.name, target.project):
                known = record.packs.get(pack, known)
        cwd = machine.folders.cwd
        return consent.install_again(target, pack, known, cwd, machine.cwd_project)

    def again(self, pack: str) -> str:
        """The fix that restores what an install of a pack wrote, as a sentence."""
        return f"`{self.install_of(pack)} --force` restores it."

    @property
    def repair(self) -> str:
        """The command that repairs hookctl's files and entries."""
        here = self.machine.cwd_project
        return f"hookctl doctor --fix{consent.project_option(self.target.project or here, here)}"

    def find(self, code: str, /, path: str = "", level: str = "", **values: Any) -> Finding:
        """A finding of the list about this file, unless it names another path."""
        values |= {"file": self, "host": self.host}
        return codes.finding(code, self.host.name, path or self.path, level, **values)


def explain_conflict(target: Target, error: HookctlError) -> None:
    """Let the error of a merge conflict in a project say how to resolve it."""
    if error.message == CONFLICT and target.shared:
        with contextlib.suppress(HookctlError):  # of the ledger, which has its own finding
            error.hint = committed.conflict_fix(target.project, error.path) or error.hint


# Does the host read all of the file, and can hookctl?


def judge_reading(file: File) -> Iterator[Finding]:
    """Whether the file can be read; the backup that can replace it, if not."""
    error = file.error
    if error is None:
        return
    costs_it = f"; {loading.cost(file.host)}" if error.code == "unparsable" else ""
    message, fix = f"{describe_error(error)}{costs_it}", error.hint
    # A backup is of neither branch of a merge.
    backups = files.backup_folder(file.machine.folders, store.real_path(file.path))
    if error.message != CONFLICT and os.path.isdir(backups):
        command = f"hookctl restore {shlex.quote(file.path)} --list"
        fix += f" Or `{command}` shows the texts from before hookctl's writes."
    level = "warning" if file.host.format == RULES and not file.is_alone else "error"
    yield Finding(error.code, level, message, file.host.name, file.path, fix)


def judge_content(file: File) -> Iterator[Finding]:
    """Faults that make the host ignore the file, or keep hookctl from changing it."""
    document = file.document
    if document is None or not os.path.isfile(file.path):
        return
    is_object = isinstance(document.value, dict)
    if is_object and not file.is_alone and files.is_read_only(file.path):
        yield file.find("read_only")
    lost = loading.find_fault(file.host, file.target.scope, file.path, document, file.contents)
    if lost:
        fix = lost.fix or "Fix that place, or remove it."
        yield Finding(lost.code, "error", lost.text, file.host.name, file.path, fix)


def judge_repository(file: File) -> Iterator[Finding]:
    """Whether the host finds the programs of a project where it looks for them."""
    repository = repository_above(file.target) if file.elements else ""
    if repository:
        reason = f"{file.host.title} looks for its program in the repository, {repository}"
        fix = f"`hookctl install --scope project --project {shlex.quote(repository)}`"
        hooks = " and ".join(sorted({hook.id for hook in file.elements}))
        yield file.find("not_read", hooks=hooks, reason=reason, fix=fix)


# What may be wrong, by the code of the finding.
MISSING, OLD, NEWER, CHANGED = "hook_missing", "hook_old", "hook_newer", "hook_changed"
FORMER = "0.2.0"  # the version that had launchers of each registration


def _find_program_fault(file: File) -> Finding | None:
    machine, target = file.machine, file.target

    def find(code: str, path: str, version: str = "") -> Finding:
        values = {"whose": "hookctl", "command": file.repair, "version": version}
        return file.find(code, path, **values)

    folders, read = machine.folders, machine.reader.snapshot
    hook = os.path.join(own_top(folders, target), HOOK)
    try:
        expected = list_programs(machine.records, target, folders)
        launcher = read(hook).data
        if expected and launcher not in (None, expected[hook]):
            version = version_of(launcher)
            if is_newer(version):
                return find(NEWER, hook, version)
            version = version_of_launcher(launcher)
            return find(OLD if version else CHANGED, hook, version)
        for path, data in expected.items():
            found = read(path).data
            if found != data:
                return find(MISSING if found is None else CHANGED, path)
    except HookctlError as error:
        return from_error(error, file.host.name, error.path or hook)
    for folder in {os.path.dirname(path) for path in expected if not target.shared}:
        for name in sorted(os.listdir(folder)):  # a launcher would load it in place of ours
            if name.endswith(".py") and os.path.join(folder, name) not in expected:
                return find(CHANGED, os.path.join(folder, name))
    is_former = any(FORMER_CALL.search(str(hook.fields.get("command"))) for hook in file.elements)
    if not is_former:
        return None
    is_there = any(path.endswith(".py") for path in list_former(os.path.dirname(hook)))
    return find(OLD if is_there else MISSING, hook, FORMER)


def find_pack_fault(file: File, pack: str) -> Finding | None:
    """What is wrong with the installed files of a pack; None if nothing is."""
    known, contents = file.packs[pack], {}
    for name in sorted(known.files):
        path = os.path.join(known.folder, name)
        try:
            data = file.machine.reader.snapshot(path).data
        except HookctlError as error:
            return from_error(error, file.host.name, path)
        if data is None:
            return file.find(MISSING, path, whose=pack, command=file.repair)
        contents[name] = data
    # 0.2.0 had no manifest there, and another digest.
    if MANIFEST in contents and content_digest(b"", contents) != known.digest:
        values = {"whose": pack, "command": file.install_of(pack)}
        return file.find(CHANGED, known.folder, "warning", **values)
    return None
