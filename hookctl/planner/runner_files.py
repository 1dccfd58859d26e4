"""The runner's own files in the folder of packages: its launcher, and a table for each host.

All packs of a data folder, or of a project, share them: they are there as long as any record has
a pack with commands of Claude Code's protocol.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from hookctl import hosts
from hookctl.errors import FAILED, HookctlError
from hookctl.model import Action, Change, Record
from hookctl.packs.model import run_packs
from hookctl.packs.programs import load_runner
from hookctl.packs.runner import host_file, newer_version
from hookctl.packs.runner_faults import is_ours, known_launchers, list_tables
from hookctl.planner.runtime_files import (
    KEEP,
    REFUSE,
    REPLACE,
    change_action,
    file_action,
    is_in_conflict,
)
from hookctl.planner.sources import Sources
from hookctl.settings.targets import OWN, Target, read_inside
from hookctl.system import files
from hookctl.system.folders import Folders
from hookctl.system.packages import HOOK, PACKAGES, TRACER, Packages, find_edits, is_whole

if TYPE_CHECKING:  # late: only 0.2.0 traced hooks
    from hookctl.ledger.traces import Traces


class RunnerPlan(NamedTuple):
    """What happens to the files of a runner."""

    changes: tuple[Change, ...] = ()
    lines: tuple[Action, ...] = ()
    packages: tuple[Packages, ...] = ()


def runtime_folder(folders: Folders, target: Target) -> str:
    """The folder of packages, and of the runner, for a target."""
    top = os.path.join(target.project, OWN) if target.shared else folders.data
    return os.path.join(top, PACKAGES)


def plan_runner(
    sources: Sources,
    before: Mapping[str, Record],
    after: Mapping[str, Record | None],
    target: Target,
    edited: str,
) -> RunnerPlan:
    """Bring the runner's files for a target's scope in line with the records after the run.

    With REFUSE, raises a conflict where one was edited and is needed; where it is not, it stays.
    """
    project = target.project if target.shared else ""
    had = _packs_by_host(before, project)
    wanted = _packs_by_host(after, project)
    known = {} if target.shared else read_traces(sources)
    for file in known.values():  # they ran by these files too
        had.setdefault(file.host, [])
    if not had and not wanted:
        return RunnerPlan()
    folder = runtime_folder(sources.folders, target)
    state = "" if target.shared else sources.folders.state
    expected: dict[str, bytes | None] = {f"{name}.json": None for name in had}
    if known:
        expected[TRACER] = None
    expected[HOOK] = None
    expected.update(_new_files(wanted, state))
    if not wanted:
        edited = KEEP  # nothing needs it
        tables = [] if target.shared else sources.once(list_tables, folder)
        if set(tables) - expected.keys():  # another state folder's packs need it
            del expected[HOOK]
    return _plan_files(sources, target, folder, expected, edited)


def read_traces(sources: Sources) -> Traces:
    """The hooks that 0.2.0 traced, and that no run has changed back."""
    if not sources.once(os.path.lexists, sources.folders.traces):
        return {}
    from hookctl.ledger import traces  # late: only 0.2.0 traced hooks

    return sources.once(traces.read, sources.folders)


def list_files(records: Mapping[str, Record], project: str, state: str) -> dict[str, bytes]:
    """The files of a project's runner, or of the user's, as this version writes them, by name."""
    return _new_files(_packs_by_host(records, project), "" if project else state)


def _new_files(packs_by_host: Mapping[str, list[str]], state: str) -> dict[str, bytes]:
    """The files of a runner for these packs, the launcher last; none without packs."""
    if not packs_by_host:
        return {}
    launcher = load_runner().launcher
    written = {}
    for name, packs in packs_by_host.items():
        written[f"{name}.json"] = host_file(hosts.load(name), packs, state, launcher)
    return {**written, HOOK: launcher}


def _packs_by_host(records: Mapping[str, Record | None], project: str) -> dict[str, list[str]]:
    """The packs whose commands the runner of a project runs, by host; '' is the user's runner."""
    packs: dict[str, set[str]] = {}
    for record in records.values():
        if record is None or (record.project if record.scope == "project" else "") != project:
            continue
        for name in run_packs(record):
            packs.setdefault(record.host, set()).add(name)
    known_hosts = hosts.names()
    return {name: sorted(packs[name]) for name in sorted(packs) if name in known_hosts}


def _plan_files(
    sources: Sources,
    target: Target,
    folder: str,
    expected: Mapping[str, bytes | None],
    edited: str,
) -> RunnerPlan:
    found, lines = {}, []
    for name in expected:
        path = os.path.join(folder, name)
        try:
            found[name] = _read(sources, target, path)
        except HookctlError:
            if edited != KEEP:
                raise
            lines.append(file_action("keep", path, "not a file of hookctl's, so it stays"))
    newer = next(filter(None, (newer_version(found[name].data) for name in found)), "")
    if newer and edited != REPLACE and expected.get(HOOK) is not None:
        if edited == REFUSE:
            raise _newer(os.path.join(folder, HOOK), newer)
        lines.append(file_action("keep", folder, f"hookctl {newer} wrote the runner, so it stays"))
        return RunnerPlan((), tuple(lines))
    launchers = known_launchers(found)
    changes = []
    for name, snapshot in found.items():
        data = expected[name]
        if snapshot.data == data:
            continue
        is_known = is_ours(name, snapshot.data, launchers) or is_in_conflict(target, snapshot)
        if edited != REPLACE and not is_known:
            if edited == REFUSE:
                raise _edited(snapshot.path)
            reason = "edited by hand, so it stays"
            if data is None:
                reason += "; nothing runs it any more"
            lines.append(file_action("keep", snapshot.path, reason))
            continue
        change = Change(snapshot.path, snapshot.data, data, target.new_file_mode)
        changes.append(change)
        lines.append(change_action(os.path.join(folder, name), change))
    packages = Packages(sources.once(files.real, folder))
    if expected.get(HOOK) is not None:
        packages = _packages(sources, target, folder, edited)
    if not changes and not packages.new:
        return RunnerPlan((), tuple(lines))
    return RunnerPlan(tuple(changes), tuple(lines), (packages,))


def _packages(sources: Sources, target: Target, folder: str, edited: str) -> Packages:
    """The package that the launcher starts, where it has to be put there."""
    path = sources.once(files.real, folder)
    runner = load_runner()
    package = os.path.join(folder, runner.package)
    if sources.once(is_whole, package, runner.modules, key=package):
        return Packages(path)
    edits = sources.once(find_edits, package, runner.modules, key=package)
    if edits and edited != REPLACE and not target.shared:
        if edited == REFUSE:
            raise _edited(os.path.join(package, edits[0]))
        return Packages(path)
    new = {runner.package: runner.modules}
    return Packages(path, new, target.new_file_mode, not target.shared)


def _read(sources: Sources, target: Target, path: str) -> files.Snapshot:
    if target.shared:
        return sources.once(read_inside, target.project, path)
    return sources.once(files.read, path)


def _newer(path: str, version: str) -> HookctlError:
    message = f"hookctl {version} wrote the runner of packs, and this one is older"
    hint = f"Upgrade hookctl to {version} or later; or `hookctl install --force` replaces it."
    return HookctlError("hook_newer", message, path=path, hint=hint, exit_code=FAILED)


def _edited(path: str) -> HookctlError:
    message = "the commands of packs would run by this file, which hookctl has not written"
    hint = "Look at it, then remove it, or install with --force: either puts ours there."
    return HookctlError("conflict", message, path=path, hint=hint, exit_code=FAILED)
