"""What is wrong with the programs that hooks of hookctl run, beside those that this one writes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from hookctl.errors import HookctlError
from hookctl.model import HookEntry, PackRecord
from hookctl.packs.guard import is_newer
from hookctl.packs.model import MANIFEST
from hookctl.packs.programs import find_former, version_of_launcher
from hookctl.planner.own_files import FORMER_CALL, list_programs, own_top
from hookctl.settings.targets import Target
from hookctl.survey.machine import Machine
from hookctl.system import files
from hookctl.system.files import content_digest
from hookctl.system.packages import HOOK, list_former, version_of

# What may be wrong, by the code of the finding.
MISSING, OLD, NEWER, CHANGED = "hook_missing", "hook_old", "hook_newer", "hook_changed"
FORMER = "0.2.0"  # the version that had launchers of each registration

Read = Callable[[str], files.Snapshot]


class ProgramFault(NamedTuple):
    """The first program that is not as this version of hookctl writes it."""

    code: str
    path: str
    version: str = ""  # the one that wrote it, where that is another one
    error: HookctlError | None = None  # why it cannot be read


def find_fault(machine: Machine, target: Target, hooks: Iterable[HookEntry]) -> ProgramFault | None:
    """What is wrong with the programs of a target's data folder or project; None if nothing is.

    `hooks` are those of hookctl that stand in the settings.
    """
    folders, read = machine.folders, machine.reader.snapshot
    top = own_top(folders, target)
    hook = os.path.join(top, HOOK)
    try:
        expected = list_programs(machine.records, target, folders)
        launcher = read(hook).data
    except HookctlError as error:
        return ProgramFault(error.code, error.path or hook, error=error)
    if expected and launcher not in (None, expected[hook]):
        version = version_of(launcher)
        if is_newer(version):
            return ProgramFault(NEWER, hook, version)
        version = version_of_launcher(launcher)
        return ProgramFault(OLD if version else CHANGED, hook, version)
    for path, data in expected.items():
        try:
            found = read(path).data
        except HookctlError as error:
            return ProgramFault(error.code, path, error=error)
        if found != data:
            return ProgramFault(MISSING if found is None else CHANGED, path)
    for folder in {os.path.dirname(path) for path in expected if not target.shared}:
        for name in sorted(os.listdir(folder)):  # a launcher would load it in place of ours
            if name.endswith(".py") and os.path.join(folder, name) not in expected:
                return ProgramFault(CHANGED, os.path.join(folder, name))
    is_former = any(FORMER_CALL.search(str(hook.fields.get("command"))) for hook in hooks)
    return _find_former_fault(top, read) if is_former else None


def _find_former_fault(top: str, read: Read) -> ProgramFault:
    """What is wrong with the programs of 0.2.0, whose registrations have not been upgraded."""
    launchers = [path for path in list_former(top) if path.endswith(".py")]
    genuine = find_former(top, read)
    for path in launchers:
        if path not in genuine:
            return ProgramFault(CHANGED, path)
    if not launchers:
        return ProgramFault(MISSING, os.path.join(top, HOOK))
    return ProgramFault(OLD, launchers[0], FORMER)


def find_pack_fault(known: PackRecord, read: Read) -> ProgramFault | None:
    """What is wrong with the installed files of a pack; None if nothing is."""
    contents = {}
    for name in sorted(known.files):
        path = os.path.join(known.folder, name)
        try:
            data = read(path).data
        except HookctlError as error:
            return ProgramFault(error.code, path, error=error)
        if data is None:
            return ProgramFault(MISSING, path)
        contents[name] = data
    # 0.2.0 had no manifest there, and another digest.
    if MANIFEST in contents and content_digest(b"", contents) != known.digest:
        return ProgramFault(CHANGED, known.folder)
    return None
