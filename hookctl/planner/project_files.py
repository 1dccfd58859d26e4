"""What hookctl itself keeps in a project: its committed ledger, and the .gitignore of its folder."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping

from hookctl.ledger import committed, store
from hookctl.model import Change, Record
from hookctl.planner.runtime_files import Runtime, file_action, own_top
from hookctl.settings.targets import OWN, Target, read_inside, require_inside
from hookctl.system.folders import Folders

IGNORED = b"run/\n"  # a run is nobody else's business


def plan(
    folders: Folders,
    records: Mapping[str, Record],
    changed: Mapping[str, Record | None],
    target: Target,
    going: Container[str],
) -> Runtime:
    """The ledger of the place's project with the changed pages; `going` is what else of ours is to be removed."""
    old = _pages(records, target.project)
    new = _pages({**old, **changed}, target.project)
    path = committed.ledger_path(target.project)
    if not old and not new and going:  # the ledger was lost, and with it who made the folder
        return _ignore(target, path, going)
    if {key: store.shared_part(page) for key, page in old.items()} == {
        key: store.shared_part(page) for key, page in new.items()
    }:
        return Runtime()
    there = read_inside(target.project, path)
    data = committed.dump(target.project, new)
    if there.data == data:
        return Runtime()
    word = (
        "remove-file" if data is None else "create-file" if there.data is None else "replace-file"
    )
    change = Change(there.path, there.data, data, target.new_file_mode)
    ignore = _new_ignore(target)
    if data is None:
        made = any(own_top(folders, target) in page.created_dirs for page in old.values())
        ignore = _ignore(target, path, going) if made else Runtime()
    actions = ((path, file_action(word, path)), *[(at, action) for at, action in ignore.actions])
    return Runtime((*ignore.changes, change), actions)


def _pages(records: Mapping[str, Record | None], project: str) -> dict[str, Record]:
    return {
        key: page
        for key, page in records.items()
        if page and page.scope == "project" and page.project == project
    }


def _new_ignore(target: Target) -> Runtime:
    """It is made with the folder; where the folder is there already, whether it is ignored is its makers' word."""
    path = os.path.join(target.project, OWN, ".gitignore")
    require_inside(target.project, path)
    if os.path.lexists(os.path.dirname(path)):
        return Runtime()
    return Runtime(
        (Change(path, None, IGNORED, target.new_file_mode),),
        ((path, file_action("create-file", path)),),
    )


def _ignore(target: Target, ledger_path: str, going: Container[str]) -> Runtime:
    """It goes with the folder, if nothing else is left there."""
    folder = os.path.join(target.project, OWN)
    path = os.path.join(folder, ".gitignore")
    there = read_inside(target.project, path)
    if there.data != IGNORED or any(
        name not in (path, ledger_path) and name not in going for name in _ends(folder)
    ):
        return Runtime()
    return Runtime(
        (Change(there.path, there.data, None),), ((path, file_action("remove-file", path)),)
    )


def _ends(folder: str) -> Iterator[str]:
    """Every file, link and empty folder below."""
    for above, inner, names in os.walk(folder):
        paths = [os.path.join(above, name) for name in (*inner, *names)]
        yield from (path for path in paths if os.path.islink(path) or not os.path.isdir(path))
        if not paths:
            yield above
