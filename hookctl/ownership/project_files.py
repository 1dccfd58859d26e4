"""What hookctl keeps in a project: its committed ledger, and what git is told of its folder."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hookctl.model import Change, Record
from hookctl.ownership import committed
from hookctl.ownership.draft import Draft
from hookctl.ownership.store import Records
from hookctl.settings.targets import OWN, read_inside
from hookctl.system.packages import HOOK

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
_OF_RUN = b"run/\n"  # a .gitignore that `hookctl run` made


def plan_project_files(
    draft: Draft, records: Records, changed: Mapping[str, Record | None], *, removes: bool
) -> list[Change]:
    """The changes of the project's ledger and of the files for git; `removes` is of other files."""
    target = draft.target
    before = _project_records(records, target.project)
    after = _project_records({**before, **changed}, target.project)
    if not before and not after and removes:
        # The ledger was lost, and with it who made the folder.
        return _remove_files_for_git(draft, {})
    data = committed.dump(target.project, after)
    if data == committed.dump(target.project, before) or data == records.ledgers[target.project]:
        return []
    path = read_inside(target.project, committed.ledger_path(target.project)).path
    changes = _remove_files_for_git(draft, before) if data is None else []
    for name, text in _FOR_GIT.items() if data is not None else ():
        snapshot = read_inside(target.project, os.path.join(target.project, OWN, name))
        if snapshot.data in (None, _OF_0_2_0):  # other content stays
            changes.append(Change(snapshot.path, snapshot.data, text, target.new_file_mode))
    return [*changes, Change(path, records.ledgers[target.project], data, target.new_file_mode)]


def _project_records(records: Mapping[str, Record | None], project: str) -> dict[str, Record]:
    known, place = {key: one for key, one in records.items() if one}, ("project", project)
    return {key: one for key, one in known.items() if (one.scope, one.project) == place}


def _remove_files_for_git(draft: Draft, records: Mapping[str, Record]) -> list[Change]:
    """Remove those that are as we write them, and our folder with an empty one of runs.

    Git keeps no empty folder, so a clone cannot tell who made one. In a folder that we made
    .gitignore stays while it hides a run.
    """
    folder = os.path.join(draft.target.project, OWN)
    runs = os.path.join(folder, "run")
    is_clone = not any(record.sha256_after for record in records.values())
    made_folder = any(folder in record.created_dirs for record in records.values())
    changes, has_run = [], any(names for *_, names in os.walk(runs))
    for name, data in _FOR_GIT.items():
        snapshot = read_inside(draft.target.project, os.path.join(folder, name))
        is_ignore, own = name == ".gitignore", {data, _OF_0_2_0}
        if is_ignore and not has_run and (made_folder or is_clone):
            own.add(_OF_RUN)
        if snapshot.data in own and not (is_ignore and has_run and made_folder):
            changes.append(Change(snapshot.path, snapshot.data, None))
    if made_folder or is_clone:
        draft.rmdirs += (runs, folder)
    return changes
