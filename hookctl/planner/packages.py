"""What a run does with the packages that the guard's launchers start (`system/packages.py`)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping

from hookctl import packs
from hookctl.errors import FAILED, HookctlError
from hookctl.model import Action, Change, Record
from hookctl.packs.programs import load_programs
from hookctl.packs.wrapping import PROGRAM as WRAPPER
from hookctl.planner.runtime_files import Runtime, file_action, is_ours
from hookctl.settings.targets import GUARD, OWN, Target, require_inside
from hookctl.system import files
from hookctl.system.files import content_digest
from hookctl.system.packages import (
    HOOK,
    LAUNCHERS,
    PACKAGES,
    Packages,
    find_edits,
    find_unnamed,
    folder_beside,
    is_as_named,
    is_whole,
    list_launchers,
    packages_named,
)
from hookctl.values import NamedTuple


class Moved(NamedTuple):
    """The launchers of other registrations, which start the new package too from now on."""

    changes: tuple[Change, ...] = ()
    records: dict[str, Record] = {}  # noqa: RUF012 (that know their digests, by key)


def add_package(runtime: Runtime, target: Target, folder: str, *, force: bool) -> Runtime:
    """The same, with the package that the launcher in the folder starts, where it is not there.

    One that somebody has changed stays, unless `force` is given. In a project others go, as a
    merge may leave them behind.
    """
    programs = load_programs(wrapper=False)
    if programs.package not in packages_named(_launcher_after(runtime, folder)):
        return runtime
    shown = os.path.join(find_folder(target, folder), programs.package)
    packages = Packages(
        os.path.dirname(shown),
        programs.package,
        programs.modules,
        target.new_file_mode,
        keeps_replaced=not target.shared,
    )
    if is_whole(shown, programs.modules):
        if any(os.path.basename(change.path) == HOOK for change in runtime.changes):
            return runtime._replace(packages=(packages,))  # it is looked at again under its lock
        unused = (Packages(packages.path),) if target.shared else ()
        return runtime._replace(packages=unused)
    edits = find_edits(shown, programs.modules)
    if edits and not force:
        reason = "edited by hand, so it stays; --force puts ours back"
        line = file_action("keep", shown, reason)
        foreign = os.path.join(shown, edits[0])
        return runtime._replace(kept=(*runtime.kept, line), foreign=(*runtime.foreign, foreign))
    action = file_action("replace-file" if os.path.exists(shown) else "create-file", shown)
    return runtime._replace(packages=(packages,), actions=((shown, action), *runtime.actions))


def find_folder(target: Target, launchers: str) -> str:
    """The folder of packages beside these launchers; in a project it has no links."""
    if target.shared:
        folder = os.path.join(target.project, OWN, PACKAGES)
        require_inside(target.project, folder)
        with contextlib.suppress(OSError):
            for name in os.listdir(folder):
                require_inside(target.project, os.path.join(folder, name))
    if os.path.basename(os.path.dirname(os.path.realpath(launchers))) != LAUNCHERS:
        message = "a link leads here, so that these programs would look for their package elsewhere"
        hint = "Remove the link, then install again."
        raise HookctlError("linked", message, path=launchers, hint=hint, exit_code=FAILED)
    return folder_beside(launchers)


def _launcher_after(runtime: Runtime, folder: str) -> bytes:
    """The launcher in a folder as it will be."""
    path = os.path.join(folder, HOOK)
    launcher = files.read(path)
    for change in runtime.changes:
        if change.path == launcher.path:
            return change.after or b""
    return launcher.data or b""


def move_launchers(
    records: Mapping[str, Record | None], packages: Iterable[Packages], changes: Iterable[Change]
) -> Moved:
    """Let every launcher beside a new package start it, unless somebody has edited the launcher.

    `records` are those after the run; None is one that goes.
    """
    changed = {change.path for change in changes}
    moved_changes: list[Change] = []
    moved: dict[str, Record] = {}
    for new in packages:
        for launcher in list_launchers(new.path) if new.name else ():
            folder = os.path.dirname(launcher)
            key = _find_owner(records, folder)
            if launcher in changed or not key:
                continue
            record = moved.get(key) or records[key]
            if record is not None:
                moved_changes += _move_launcher(new, folder, moved, key, record)
    return Moved(tuple(moved_changes), moved)


def _find_owner(records: Mapping[str, Record | None], folder: str) -> str:
    """The key of the record whose guard lies in a folder, or ''."""
    for key, record in records.items():
        known = record.packs.get(GUARD) if record else None
        if known and known.folder and files.real(known.folder) == folder:
            return key
    return ""


def _move_launcher(
    new: Packages, folder: str, moved: dict[str, Record], key: str, record: Record
) -> list[Change]:
    """The changes of the launchers in one folder; their new digests are added to its record."""
    known = record.packs[GUARD]
    launchers = load_programs(wrapper=WRAPPER in known.files).launchers
    changes = []
    for name, data in launchers.items():
        snapshot = files.read(os.path.join(folder, name))
        if snapshot.data is None or not is_ours(snapshot, known.files.get(name, "")):
            return []
        if snapshot.data != data:
            changes.append(Change(snapshot.path, snapshot.data, data, new.mode))
    digests = {name: files.digest(data) for name, data in launchers.items()}
    guard = known._replace(
        version=packs.load(GUARD).version,
        files={**known.files, **digests},
        digest=content_digest(b"", launchers),
    )
    moved[key] = record._replace(packs={**record.packs, GUARD: guard})
    return changes


def join_packages(
    packages: Iterable[Packages], changes: Iterable[Change]
) -> tuple[tuple[Packages, ...], list[tuple[str, Action]]]:
    """Each folder of packages once, with those where some go, and a line about each that goes."""
    changed = {change.path: change.after for change in changes if _is_launcher(change.path)}
    folders = {one.path: one for one in sorted(packages, key=lambda one: one.name)}
    for launcher in changed:
        path = folder_beside(os.path.dirname(launcher))
        folders.setdefault(path, Packages(path))
    joined, lines = [], []
    for path, one in folders.items():
        gone = find_unnamed(path, changed)
        if one.keeps_replaced:
            unnamed_before = find_unnamed(path, {})
            gone = [name for name in gone if name in unnamed_before]
        shown = [_line_on_unnamed(os.path.join(path, name)) for name in gone]
        if one.name or any(action.action == "remove-file" for _, action in shown):
            joined.append(one)
        lines += shown
    return tuple(joined), lines


def _line_on_unnamed(package: str) -> tuple[str, Action]:
    if is_as_named(package):
        return package, file_action("remove-file", package)
    reason = "edited by hand, so it stays; nothing runs it any more"
    return package, file_action("keep", package, reason)


def _is_launcher(path: str) -> bool:
    folder, name = os.path.split(path)
    return name == HOOK and os.path.basename(os.path.dirname(folder)) == LAUNCHERS
