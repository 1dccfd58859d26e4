"""The files that registrations run: a pack's programs and configuration in a folder of hookctl.

They are made, kept and removed by the rules of ownership: what the operator edited stays.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Container, Mapping
from typing import Any, NamedTuple

from hookctl import engine
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.model import Action, Change, PackRecord, Record
from hookctl.packs import guard
from hookctl.planner.sources import Sources
from hookctl.settings.targets import GUARD, OWN, Target, read_inside
from hookctl.system import files
from hookctl.system.folders import Folders
from hookctl.system.packages import Packages

CONFIG = "config.json"
# What becomes of a program that somebody edited, where hookctl's own is needed.
KEEP, REFUSE, REPLACE = "keep", "refuse", "replace"
_CONFLICT = rb"(?ms)^<{7} .*^={7}$.*^>{7} "


class Runtime(NamedTuple):
    """What happens to the files that a registration runs."""

    changes: tuple[Change, ...] = ()
    actions: tuple[Action, ...] = ()
    kept: tuple[Action, ...] = ()
    written: dict[str, str] = {}  # noqa: RUF012 (name to digest as we wrote it)
    rmdirs: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()  # programs that are not as we wrote them, and stay
    packages: tuple[Packages, ...] = ()  # of the guard's launchers


class File(NamedTuple):
    """A file of a pack as it is wanted."""

    data: bytes
    executable: bool | None = None  # None: a new file is not, an existing one keeps its mode
    edits: tuple[Action, ...] = ()  # the operator's edits in the data, which make it theirs


def install_files(
    sources: Sources,
    target: Target,
    folder: str,
    known: PackRecord | None,
    wanted: Mapping[str, File],
    force: bool,
    *,
    upgrade: bool = False,
) -> Runtime:
    """Write the wanted files into the folder, and remove known ones that are not wanted any more.

    A program that was edited stays, unless `force` is given. A file that changes, and
    with `upgrade` any, is executable where the pack's own file is.
    """
    known = known or PackRecord("", {})
    unwanted = {name: digest for name, digest in known.files.items() if name not in wanted}
    removed = Runtime()
    if unwanted:
        removed = _remove_files(sources, target, known._replace(folder=folder, files=unwanted))
    changes: dict[str, Change] = {}
    kept: list[Action] = []
    foreign, written = [], {}
    for name, file in wanted.items():
        path, recorded = os.path.join(folder, name), known.files.get(name, "")
        snapshot = _read(sources, target, path)
        kept += file.edits
        is_as_wanted = snapshot.data in (None, file.data)
        is_free = is_as_wanted or is_ours(snapshot, recorded) or is_in_conflict(target, snapshot)
        if name != CONFIG and not (force or is_free):
            reason = "edited by hand, so it stays; --force puts ours back"
            kept.append(file_action("keep", path, reason))
            foreign.append(path)
            written[name] = recorded
            continue
        change = _find_change(sources, target, snapshot, file, upgrade=upgrade)
        if change:
            changes[path] = change
        # A configuration with an edit of the operator's in it is not ours to remove.
        is_unrecorded = file.edits or _is_judged_by_meaning(target, path)
        written[name] = "" if is_unrecorded else files.digest(file.data)
    return removed._replace(
        changes=(*changes.values(), *removed.changes),
        actions=(*(change_action(*item) for item in changes.items()), *removed.actions),
        kept=(*kept, *removed.kept),
        written=written,
        foreign=tuple(foreign),
    )


def _find_change(
    sources: Sources, target: Target, snapshot: files.Snapshot, file: File, *, upgrade: bool
) -> Change | None:
    """What gives a file its wanted bytes and mode; None where it has them."""
    has_other_bytes = snapshot.data != file.data
    chmod = _changed_mode(sources, snapshot, file) if has_other_bytes or upgrade else None
    if not has_other_bytes and chmod is None:
        return None
    mode = _executable(target.new_file_mode) if file.executable else target.new_file_mode
    return Change(snapshot.path, snapshot.data, file.data, mode, chmod)


def uninstall_files(
    sources: Sources, target: Target, known: PackRecord, in_use: Container[str] = ()
) -> Runtime:
    """Remove our unedited files, and their folders if they are empty then.

    `in_use` are the folders that other registrations use.
    """
    if known.folder in in_use or not known.folder:
        return Runtime()
    return _remove_files(sources, target, known)


def _remove_files(sources: Sources, target: Target, known: PackRecord) -> Runtime:
    """Remove a pack's unedited files, and its folders; these too where the files are gone."""
    changes: dict[str, Change] = {}
    kept = []
    top, own_folders = own_top(sources.folders, target), set()
    for name in known.files:
        path = os.path.join(known.folder, name)
        snapshot = _read(sources, target, path)
        if is_as_recorded(snapshot, known, name):
            changes[path] = Change(snapshot.path, snapshot.data, None)
        elif snapshot.data is not None:
            reason = "edited by hand, so it stays; nothing runs it any more"
            kept.append(file_action("keep", path, reason))
        folder = os.path.dirname(path)
        while folder.startswith(f"{top}/"):
            own_folders.add(folder)
            folder = os.path.dirname(folder)
    return Runtime(
        changes=tuple(changes.values()),
        actions=tuple(change_action(*item) for item in changes.items()),
        kept=tuple(kept),
        rmdirs=tuple(sorted(own_folders, key=len, reverse=True)),
    )


def _read(sources: Sources, target: Target, path: str) -> files.Snapshot:
    """One of our files; in a project never through a link that leads out of it."""
    if target.shared:
        return sources.once(read_inside, target.project, path)
    return sources.once(files.read, path)


def change_action(path: str, change: Change) -> Action:
    """A line about one of our files that changes, by the path as people know it."""
    action = "replace-file"
    if change.after is None:
        action = "remove-file"
    elif change.before is None:
        action = "create-file"
    return file_action(action, path)


def file_action(action: str, path: str, reason: str = "") -> Action:
    """A line about one of our files."""
    return Action(action, (path,), "file", reason=reason)


def folders_of_others(records: Mapping[str, Record], key: str) -> Container[str]:
    """The folders of packs in every settings file but this one."""
    folders: set[str] = set()
    for other, record in records.items():
        if other != key:
            folders.update(pack_record.folder for pack_record in record.packs.values())
    return folders


def own_top(folders: Folders, target: Target) -> str:
    """The folder that all of hookctl's files for a target lie in; others may have made it."""
    return os.path.join(target.project, OWN) if target.shared else folders.data


def _is_judged_by_meaning(target: Target, path: str) -> bool:
    """Whether a file has no hash on record: a committed one has the guard's settings instead."""
    folder, name = os.path.split(path)
    guard_folder = os.path.join(target.project, OWN, GUARD)
    return target.shared and name == CONFIG and os.path.dirname(folder) == guard_folder


def is_ours(snapshot: files.Snapshot, digest: str) -> bool:
    """Whether a file has the bytes whose digest was recorded when we wrote them."""
    return bool(digest) and snapshot.sha == digest


def is_in_conflict(target: Target, snapshot: files.Snapshot) -> bool:
    """Whether git has left merge-conflict marks in a project's program: nobody's edit."""
    return target.shared and bool(re.search(_CONFLICT, snapshot.data or b""))


def is_as_recorded(snapshot: files.Snapshot, known: PackRecord, name: str) -> bool:
    """Whether a pack's file is as we wrote it: its bytes, or the values of the guard's config."""
    if is_ours(snapshot, known.files.get(name, "")):
        return True
    recorded = known.settings.get("config")
    if name != CONFIG or not recorded:
        return False
    try:
        values = parse_config(snapshot)
    except HookctlError:
        return False
    if not isinstance(values, dict):
        return False
    return engine.same({k: value for k, value in values.items() if k != guard.HOSTS}, recorded)


def parse_config(snapshot: files.Snapshot) -> Any:
    """The values in a configuration; raises where it is not valid JSON."""
    data, path = snapshot.data or b"", snapshot.path
    return JsonDocument.parse(data, where=path, comments=False, trailing_commas=False).value


def _executable(mode: int) -> int:
    """The mode, with permission to run the file wherever there is permission to read it."""
    return mode | (mode & 0o444) >> 2


def _changed_mode(sources: Sources, snapshot: files.Snapshot, file: File) -> int | None:
    """The mode that an existing file has to get; None where the one that it has will do."""
    if snapshot.data is None or file.executable is None:
        return None
    mode = stat.S_IMODE(sources.once(os.stat, snapshot.path).st_mode)
    if file.executable == bool(mode & 0o111):
        return None
    return _executable(mode) if file.executable else mode & ~0o111
