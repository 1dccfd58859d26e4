"""What hookctl keeps in a project: its committed ledger, and what git is told of its folder."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping

from hookctl.ledger import committed, store
from hookctl.ledger.store import Records
from hookctl.model import Change, Record
from hookctl.planner.own_files import Runtime, describe_changes
from hookctl.planner.sources import has_files, list_names
from hookctl.settings.targets import OWN, Target, read_inside
from hookctl.system.packages import CONFIGS, HOOK, PACKAGES, PACKS

_ATTRIBUTES = (
    b"# By hookctl: line ends stay; reviews fold what is generated.\n"
    b"* -text\n"
    b"%s -text linguist-generated\n"
    b"runtime/** -text linguist-generated\n"
)
_FOR_GIT = {
    ".gitignore": b"# By hookctl: a run is nobody else's business.\nrun/\n",
    ".gitattributes": _ATTRIBUTES % HOOK.encode(),
}
_OF_0_2_0 = _ATTRIBUTES % b"guard/*/*.py"

# What hookctl puts into its folder in a project.
_OWN_NAMES = {*_FOR_GIT, "run", HOOK, CONFIGS, PACKS, PACKAGES, "ledger.json"}


def plan_project_files(
    records: Records,
    changed: Mapping[str, Record | None],
    target: Target,
    removed: Container[str],
) -> Runtime:
    """Write the project's ledger with the changed records; `removed` are other files that go."""
    before = _project_records(records, target.project)
    after = _project_records({**before, **changed}, target.project)
    if not before and not after and removed:
        # The ledger was lost, and with it who made the folder.
        return _remove_files_for_git(target, {})
    if _shared_records(before) == _shared_records(after):
        return Runtime()
    path = committed.ledger_path(target.project)
    real_path = read_inside(target.project, path).path
    old, data = records.ledgers[target.project], committed.dump(target.project, after)
    if old == data:
        return Runtime()
    for_git = _remove_files_for_git(target, before)
    if data is not None:
        for_git = _add_files_for_git(target)
    change = Change(real_path, old, data, target.new_file_mode)
    lines = describe_changes([change])
    return for_git._replace(changes=(*for_git.changes, change), actions=(*lines, *for_git.actions))


def _project_records(records: Mapping[str, Record | None], project: str) -> dict[str, Record]:
    """The records of project scope in one project."""
    ours = {}
    for key, record in records.items():
        if record and record.scope == "project" and record.project == project:
            ours[key] = record
    return ours


def _shared_records(records: Mapping[str, Record]) -> dict[str, Record]:
    """The part of each record that is committed."""
    return {key: store.shared_part(record) for key, record in records.items()}


def _add_files_for_git(target: Target) -> Runtime:
    """Make those that are not there; other content stays."""
    changes = []
    for name, data in _FOR_GIT.items():
        path = os.path.join(target.project, OWN, name)
        snapshot = read_inside(target.project, path)
        if snapshot.data in (None, _OF_0_2_0):
            changes.append(Change(snapshot.path, snapshot.data, data, target.new_file_mode))
    return _describe(changes)


def _remove_files_for_git(target: Target, records: Mapping[str, Record]) -> Runtime:
    """Remove those that are as we write them, and our folder with an empty one of runs.

    Git keeps no empty folder, so a clone cannot tell who made one. In a folder that we made
    .gitignore stays while it hides a run.
    """
    folder = os.path.join(target.project, OWN)
    runs = os.path.join(folder, "run")
    is_clone = not any(record.sha256_after for record in records.values())
    made_folder = any(folder in record.created_dirs for record in records.values())
    has_run = has_files(runs)
    hides_run = made_folder and has_run
    # One that `hookctl run` made is removed with the folder if it holds nothing else.
    of_run = b""
    has_only_ours = set(list_names(folder)) <= _OWN_NAMES
    if not has_run and (made_folder or is_clone) and has_only_ours:
        of_run = b"run/\n"
    changes = []
    for name, data in _FOR_GIT.items():
        snapshot = read_inside(target.project, os.path.join(folder, name))
        is_ignore = name == ".gitignore"
        is_own = snapshot.data in (data, _OF_0_2_0) or (
            is_ignore and of_run and snapshot.data == of_run
        )
        if is_own and not (hides_run and is_ignore):
            changes.append(Change(snapshot.path, snapshot.data, None))
    rmdirs = (runs, folder) if made_folder or is_clone else ()
    return _describe(changes)._replace(rmdirs=rmdirs)


def _describe(changes: list[Change]) -> Runtime:
    return Runtime(tuple(changes), describe_changes(changes))
