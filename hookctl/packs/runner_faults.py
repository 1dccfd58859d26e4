"""What is wrong with the files of a runner, beside those that this version of hookctl writes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping

from hookctl.errors import HookctlError
from hookctl.packs.model import EDITED, MISSING, NEWER, OLD, STALE, RunnerFault
from hookctl.packs.programs import load_runner
from hookctl.packs.runner import newer_version, read_host_file
from hookctl.system import files
from hookctl.system.packages import (
    HOOK,
    TRACER,
    find_edits,
    is_as_named,
    is_whole,
    packages_named,
    read_modules,
)

_ORDER = (EDITED, MISSING, STALE, NEWER, OLD)  # what a person has to look at comes first

IsMerged = Callable[[files.Snapshot], bool]


def find_fault(
    folder: str,
    expected: Mapping[str, bytes],
    host: str,
    read: Callable[[str], files.Snapshot],
    is_merged: IsMerged,
) -> RunnerFault | None:
    """The first fault of the runner in a folder by which a host's packs may run otherwise.

    `expected` are its files as this version writes them; `is_merged` knows what git has left.
    """
    table = f"{host}.json"
    if table not in expected:
        return None
    found = {}
    for name in (HOOK, table):
        path = os.path.join(folder, name)
        try:
            found[name] = read(path)
        except HookctlError:
            return RunnerFault(EDITED, path)
    faults = []
    for name, judge in ((HOOK, _judge_launcher), (table, _judge_table)):
        if found[name].data != expected[name]:
            kind = STALE if is_merged(found[name]) else judge(folder, found, table)
            faults.append(RunnerFault(kind, os.path.join(folder, name)))
    of_package = _find_fault_of_package(folder, found[HOOK].data or b"")
    if of_package:
        faults.append(of_package)
    return min(faults, key=lambda fault: _ORDER.index(fault.kind), default=None)


def known_launchers(found: Mapping[str, files.Snapshot]) -> list[str]:
    """The digests of this version's launcher, and of those that the tables there know."""
    known = [files.digest(load_runner().launcher)]
    for name, snapshot in found.items():
        if name != HOOK:
            known.append(str(read_host_file(snapshot.data).get("launcher", "")))
    return known


def list_tables(folder: str) -> list[str]:
    """The names of the hosts' tables of hookctl in a folder."""
    names = []
    with contextlib.suppress(OSError, HookctlError):
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if name.endswith(".json") and read_host_file(files.read(path).data):
                names.append(name)
    return names


def is_ours(name: str, data: bytes | None, launchers: Iterable[str]) -> bool:
    """Whether hookctl, of whatever version, wrote these bytes."""
    if data is None:
        return True
    if name == TRACER:
        return True
    if name == HOOK:
        return files.digest(data) in launchers
    return bool(read_host_file(data))


def _judge_launcher(folder: str, found: Mapping[str, files.Snapshot], table: str) -> str:
    """What is wrong with a launcher that differs from this version's."""
    data = found[HOOK].data
    if data is None:
        return MISSING
    if not is_ours(HOOK, data, known_launchers(found)):
        return EDITED
    if newer_version(found[table].data):
        return NEWER
    return OLD if _is_released(folder, data) else EDITED


def _judge_table(folder: str, found: Mapping[str, files.Snapshot], table: str) -> str:
    """What is wrong with a table that differs from what this version writes."""
    data = found[table].data
    if data is None:
        return MISSING
    if not is_ours(table, data, ()):
        return EDITED
    if newer_version(data):
        return NEWER
    launcher = read_host_file(data).get("launcher")
    is_old = launcher == files.digest(found[HOOK].data)
    return OLD if is_old and launcher != files.digest(load_runner().launcher) else STALE


def _is_released(folder: str, launcher: bytes) -> bool:
    """Whether an earlier version installed a launcher and the package that it names."""
    from hookctl.packs.released import find_earlier  # late: most runners are of this version

    programs = {HOOK: launcher}
    try:
        for package in packages_named(launcher):
            for name, data in read_modules(os.path.join(folder, package)).items():
                programs[f"{package}/{name}"] = data or b""
    except HookctlError:
        return False
    return bool(find_earlier("runner", programs))


def _find_fault_of_package(folder: str, launcher: bytes) -> RunnerFault | None:
    """What is wrong with the package that a launcher starts."""
    runner = load_runner()
    for name in packages_named(launcher):
        package = os.path.join(folder, name)
        if not os.path.isdir(package):
            return RunnerFault(MISSING, package)
        if name != runner.package:
            if not is_as_named(package):
                return RunnerFault(EDITED, package)
            continue
        edits = find_edits(package, runner.modules)
        if edits:
            return RunnerFault(EDITED, os.path.join(package, edits[0]))
        if not is_whole(package, runner.modules):
            return RunnerFault(MISSING, package)
    return None
