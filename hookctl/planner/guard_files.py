"""The guard's own files: its config.json, its launchers, and the package that these start.

What a package is, and how it comes and goes, is in `system/packages.py`.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from hookctl import engine, packs
from hookctl.documents import MISSING, Document
from hookctl.errors import FAILED, HookctlError
from hookctl.hosts import Host, shapes
from hookctl.masking import masked
from hookctl.model import Action, Change, PackRecord, Record
from hookctl.packs import guard
from hookctl.packs.choices import Settings
from hookctl.packs.programs import load_programs
from hookctl.planner.runtime_files import (
    CONFIG,
    File,
    Runtime,
    file_action,
    is_ours,
    parse_config,
)
from hookctl.planner.sources import Sources
from hookctl.settings.targets import GUARD, OWN, Target, require_inside
from hookctl.system import files
from hookctl.system.folders import Folders
from hookctl.system.packages import (
    HOOK,
    LAUNCHERS,
    PACKAGES,
    WRAPPER,
    Packages,
    find_edits,
    find_unnamed,
    folder_beside,
    is_launcher,
    is_whole,
    list_launchers,
    packages_named,
)
from hookctl.system.packages import is_ours as is_own_package

_HOOKCTL_KEYS = ("mode", "state_dir")  # of config.json: hookctl's own, not the operator's


def guard_programs(config: File, *, wrapper: bool) -> dict[str, File]:
    """The guard's launchers and config in writing order: the last one completes an upgrade."""
    launchers = load_programs(wrapper=wrapper).launchers
    return {CONFIG: config, **{name: File(data) for name, data in launchers.items()}}


def new_config(values: dict[str, Any], host: Host) -> File:
    """config.json with these values, as hookctl writes it where there is none."""
    table = guard.host_table(host)
    text = json.dumps({**values, guard.HOSTS: table}, indent=2, ensure_ascii=False) + "\n"
    return File(text.encode("utf-8", "backslashreplace"))  # a path need not be UTF-8


def merge_config(
    snapshot: files.Snapshot,
    written: dict[str, Any],
    wanted: dict[str, Any],
    host: Host,
    *,
    force: bool,
) -> File:
    """config.json with the wanted values, except where the operator changed what was written."""
    current: dict[str, Any] = {}
    if not force:
        current = _read_config(snapshot)
    hosts = current.pop(guard.HOSTS, None)  # these are hookctl's own
    edited = _edited_names(current, written, wanted)
    values = {name: current[name] if name in edited else value for name, value in wanted.items()}
    for name in current:
        if name in edited:
            values.setdefault(name, current[name])
    kept = _lines_on_edits(snapshot.path, current, edited)
    is_same = engine.same(current, values) and engine.same(hosts, guard.host_table(host))
    if snapshot.data is not None and is_same:
        return File(snapshot.data, edits=kept)
    return new_config(values, host)._replace(edits=kept)


def _read_config(snapshot: files.Snapshot) -> dict[str, Any]:
    if snapshot.data is None:
        return {}
    try:
        values = parse_config(snapshot)
    except HookctlError as error:
        error.hint = "Correct it; or remove it, or install with --force: either writes it anew."
        raise
    return dict(values) if isinstance(values, dict) else {}


def _edited_names(
    current: dict[str, Any], written: dict[str, Any], wanted: dict[str, Any]
) -> set[str]:
    """The names whose values the operator changed, and not to what is wanted now."""
    edited = set()
    for name, value in current.items():
        is_as_written = engine.same(value, written.get(name))
        if not is_as_written and not engine.same(value, wanted.get(name)):
            edited.add(name)
    if not written:
        edited -= set(_HOOKCTL_KEYS)  # left over from an earlier install
    return edited


def _lines_on_edits(path: str, current: dict[str, Any], edited: set[str]) -> tuple[Action, ...]:
    lines = []
    for name in sorted(edited):
        text = json.dumps(masked(current[name], name))
        reason = f"kept your {name}={text}; --force takes it over"
        lines.append(Action("keep", (path, name), "file", reason=reason))
    return tuple(lines)


def unrecorded_guard(folders: Folders, target: Target, folder: str) -> PackRecord:
    """A record of a guard that the ledger lost: only files as this version writes them are ours."""
    state = "" if target.shared else folders.state
    config = new_config(guard.configuration(Settings(), state, target.host), target.host)
    digests = {}
    for name, file in guard_programs(config, wrapper=True).items():
        digests[name] = files.digest(file.data)
    return PackRecord("", {}, folder, digests)


def find_orphan_folder(folders: Folders, document: Document, target: Target) -> str:
    """The folder of hookctl's own that a guard's hook in the file runs from, or ''."""
    root = {} if document.value is MISSING else document.value
    guard_folders = os.path.join(folders.data, "guard")
    for hook in shapes.elements(target.host.shape, root):
        event = hook.id.partition("/")[2]
        path = guard.hook_path(str(hook.fields.get("command")), hook.id, event, target)
        if path and os.path.dirname(os.path.dirname(path)) == guard_folders:
            return os.path.dirname(path)
    return ""


# The package


def add_package(
    sources: Sources, runtime: Runtime, target: Target, folder: str, *, force: bool
) -> Runtime:
    """The same, with the package that the launcher in the folder starts, where it is not there.

    An edited one stays, unless `force` is given. In a project it is replaced, and other packages
    are removed: a merge may leave them there, and write one version's text into another's package.
    """
    programs = load_programs(wrapper=False)
    launcher = os.path.join(folder, HOOK)
    if launcher in runtime.foreign:
        stays = sources.once(files.read, launcher).data or b""
        if programs.package not in packages_named(stays):
            return runtime
    shown = os.path.join(find_folder(sources, target, folder), programs.package)
    packages = Packages(
        os.path.dirname(shown),
        {programs.package: programs.modules},
        target.new_file_mode,
        keeps_replaced=not target.shared,
    )
    if sources.once(is_whole, shown, programs.modules, key=shown):
        if any(os.path.basename(change.path) == HOOK for change in runtime.changes):
            return runtime._replace(packages=(packages,))  # it is looked at again under its lock
        unused = (Packages(packages.path),) if target.shared else ()
        return runtime._replace(packages=unused)
    is_there, edits = sources.once(os.path.lexists, shown), []
    if is_there and not sources.once(is_own_package, shown):
        edits = sources.once(find_edits, shown, programs.modules, key=shown)
    if edits and not force:
        reason = "edited by hand, so it stays; --force puts ours back"
        line = file_action("keep", shown, reason)
        foreign = os.path.join(shown, edits[0])
        return runtime._replace(kept=(*runtime.kept, line), foreign=(*runtime.foreign, foreign))
    action = file_action("create-file", shown)
    if is_there:
        action = file_action("replace-file", shown, "it was not as hookctl wrote it")
    return runtime._replace(packages=(packages,), actions=(action, *runtime.actions))


def find_folder(sources: Sources, target: Target, launchers: str) -> str:
    """The folder of packages beside these launchers; in a project it has no links."""
    if target.shared:
        folder = os.path.join(target.project, OWN, PACKAGES)
        require_inside(target.project, folder)
        with contextlib.suppress(OSError):
            for name in sources.once(os.listdir, folder):
                require_inside(target.project, os.path.join(folder, name))
    resolved = sources.once(os.path.realpath, launchers)
    if os.path.basename(os.path.dirname(resolved)) != LAUNCHERS:
        message = "a link leads here, so that these programs would look for their package elsewhere"
        hint = "Remove the link, then install again."
        raise HookctlError("linked", message, path=launchers, hint=hint, exit_code=FAILED)
    return sources.once(folder_beside, launchers)


def move_launchers(
    sources: Sources,
    records: Mapping[str, Record | None],
    packages: Iterable[Packages],
    changes: Iterable[Change],
) -> tuple[list[Change], dict[str, Record]]:
    """Let every guard's launcher beside a new package start it, unless the launcher was edited.

    `records` are those after the run; None is one that goes. Returns the changes, and the records
    that know the new digests, by key.
    """
    changed = {change.path for change in changes}
    moved_changes: list[Change] = []
    moved: dict[str, Record] = {}
    package = load_programs(wrapper=False).package
    for new in packages:
        for launcher in sources.once(list_launchers, new.path) if package in new.new else ():
            folder = os.path.dirname(launcher)
            key = _find_owner(sources, records, folder)
            record = moved.get(key) or records.get(key)
            if launcher in changed or record is None:
                continue
            more, known = _move_launcher(sources, new, folder, record.packs[GUARD])
            moved_changes += more
            if known != record.packs[GUARD]:
                moved[key] = record._replace(packs={**record.packs, GUARD: known})
    return moved_changes, moved


def _find_owner(sources: Sources, records: Mapping[str, Record | None], folder: str) -> str:
    """The key of the record whose guard lies in a folder, or ''."""
    for key, record in records.items():
        known = record.packs.get(GUARD) if record else None
        if known and known.folder and sources.once(files.real, known.folder) == folder:
            return key
    return ""


def _move_launcher(
    sources: Sources, new: Packages, folder: str, known: PackRecord
) -> tuple[list[Change], PackRecord]:
    """The changes of the launchers in one folder, and the guard's record with their digests."""
    launchers = load_programs(wrapper=WRAPPER in known.files).launchers
    changes = []
    for name, data in launchers.items():
        snapshot = sources.once(files.read, os.path.join(folder, name))
        if snapshot.data is None or not is_ours(snapshot, known.files.get(name, "")):
            return [], known
        if snapshot.data != data:
            changes.append(Change(snapshot.path, snapshot.data, data, new.mode))
    digests = {name: files.digest(data) for name, data in launchers.items()}
    known = known._replace(
        version=packs.load(GUARD).version,
        files={**known.files, **digests},
        digest=files.content_digest(b"", launchers),
    )
    return changes, known


def join_packages(
    sources: Sources, packages: Iterable[Packages], changes: Iterable[Change]
) -> tuple[tuple[Packages, ...], list[Action]]:
    """Each folder of packages once, with those where some go, and a line about each that goes."""
    changed = {change.path: change.after for change in changes if is_launcher(change.path)}
    folders: dict[str, Packages] = {}
    for one in packages:
        new = {**folders[one.path].new, **one.new} if one.path in folders else one.new
        kept = one if one.new else folders.get(one.path, one)
        folders[one.path] = kept._replace(new=new)
    for launcher in changed:
        path = sources.once(folder_beside, os.path.dirname(launcher))
        folders.setdefault(path, Packages(path))
    joined, lines = [], []
    for path, one in folders.items():
        gone = sources.once(find_unnamed, path, changed, key=(path, *sorted(changed.items())))
        if one.keeps_replaced:
            unnamed_before = sources.once(find_unnamed, path, {}, key=path)
            gone = [name for name in gone if name in unnamed_before]
        shown = [_line_on_unnamed(sources, os.path.join(path, name)) for name in gone]
        if one.new or any(action.action == "remove-file" for action in shown):
            joined.append(one)
        lines += shown
    return tuple(joined), lines


def _line_on_unnamed(sources: Sources, package: str) -> Action:
    if sources.once(is_own_package, package):
        return file_action("remove-file", package)
    reason = "edited by hand, so it stays; nothing runs it any more"
    return file_action("keep", package, reason)
