"""What hookctl keeps in a project: its committed ledger, and the .gitignore of its folder."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping

from hookctl.ledger import committed, store
from hookctl.model import Action, Change, Record
from hookctl.planner.runtime_files import Runtime, file_action
from hookctl.settings.targets import OWN, Target, read_inside, require_inside
from hookctl.system.folders import Folders

IGNORED = b"run/\n"  # a run is nobody else's business


def plan_project_files(
    folders: Folders,
    records: Mapping[str, Record],
    changed: Mapping[str, Record | None],
    target: Target,
    removed: Container[str],
) -> Runtime:
    """Write the project's ledger with the changed records; `removed` are other files that go."""
    before = _project_records(records, target.project)
    after = _project_records({**before, **changed}, target.project)
    if not before and not after and removed:
        # The ledger was lost, and with it who made the folder.
        return _remove_gitignore(target, removed)
    if _shared_records(before) == _shared_records(after):
        return Runtime()
    path = committed.ledger_path(target.project)
    snapshot = read_inside(target.project, path)
    data = committed.dump(target.project, after)
    if snapshot.data == data:
        return Runtime()
    gitignore = _add_gitignore(target)
    if data is None:
        gitignore = Runtime()
        if _has_made_folder(target, before):
            gitignore = _remove_gitignore(target, removed)
    change = Change(snapshot.path, snapshot.data, data, target.new_file_mode)
    line = path, _describe_change(path, change)
    changes = (*gitignore.changes, change)
    return Runtime(changes, (line, *gitignore.actions), rmdirs=gitignore.rmdirs)


def _describe_change(path: str, change: Change) -> Action:
    if change.after is None:
        return file_action("remove-file", path)
    if change.before is None:
        return file_action("create-file", path)
    return file_action("replace-file", path)


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


def _has_made_folder(target: Target, records: Mapping[str, Record]) -> bool:
    """Whether hookctl made its folder in the project, as far as this machine knows."""
    folder = os.path.join(target.project, OWN)
    is_clone = not any(record.sha256_after for record in records.values())
    return is_clone or any(folder in record.created_dirs for record in records.values())


def _add_gitignore(target: Target) -> Runtime:
    """Make it with the folder; if the folder exists, its makers decide what is ignored."""
    path = os.path.join(target.project, OWN, ".gitignore")
    require_inside(target.project, path)
    if os.path.lexists(os.path.dirname(path)):
        return Runtime()
    change = Change(path, None, IGNORED, target.new_file_mode)
    return Runtime((change,), ((path, file_action("create-file", path)),))


def _remove_gitignore(target: Target, removed: Container[str]) -> Runtime:
    """Remove it with the folder and an empty one of runs, if nothing else is left in it.

    Git keeps no empty folder, so a clone cannot tell who made one.
    """
    folder = os.path.join(target.project, OWN)
    path = os.path.join(folder, ".gitignore")
    snapshot = read_inside(target.project, path)
    if snapshot.data != IGNORED:
        return Runtime()
    runs = os.path.join(folder, "run")
    own_paths = (path, runs, committed.ledger_path(target.project))
    for other in _files_below(folder):
        if other not in own_paths and other not in removed:
            return Runtime()
    change = Change(snapshot.path, snapshot.data, None)
    line = path, file_action("remove-file", path)
    return Runtime((change,), (line,), rmdirs=(runs, folder))


def _files_below(folder: str) -> Iterator[str]:
    """Every file, link and empty folder below."""
    for parent, subfolders, names in os.walk(folder):
        paths = [os.path.join(parent, name) for name in (*subfolders, *names)]
        for path in paths:
            if os.path.islink(path) or not os.path.isdir(path):
                yield path
        if not paths:
            yield parent
