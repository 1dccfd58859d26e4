"""The files that a registration points to: a pack's own and the guard's configuration, in a folder of hookctl's.

They are made, kept and removed in the spirit of the ownership table: what the operator edited stays.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from hookctl import engine
from hookctl.documents import MISSING, Document
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.hosts import Host, shapes
from hookctl.masking import masked
from hookctl.model import Action, Change, PackRecord
from hookctl.packs import guard
from hookctl.packs.choices import Settings
from hookctl.packs.programs import HOOK, is_package, load_programs, package_of
from hookctl.settings.targets import GUARD, OWN, Target, read_inside
from hookctl.system import files
from hookctl.system.folders import Folders

CONFIG = "config.json"


class Runtime(NamedTuple):
    """What happens to the files that a registration points to."""

    changes: tuple[Change, ...] = ()
    actions: tuple[tuple[str, Action], ...] = ()
    kept: tuple[Action, ...] = ()
    written: dict[str, str] = {}  # noqa: RUF012 (name to digest as we wrote it)
    rmdirs: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()  # programs that are not as we wrote them, and stay


class File(NamedTuple):
    """A file of a pack as it is wanted."""

    data: bytes
    executable: bool | None = None  # None: a new one is not, and what one that is there is stays
    edits: tuple[Action, ...] = ()  # of the operator's that are in the data, and so make it theirs


def install(
    folders: Folders,
    target: Target,
    folder: str,
    known: PackRecord | None,
    wanted: Mapping[str, File],
    force: bool,
    *,
    upgrade: bool = False,
) -> Runtime:
    """What has to be written into the folder; files of an earlier version that are not wanted any more go.

    A copy that is written anew, and with `upgrade` any, is executable where the pack's own file is.
    """
    current, mode = _read_all(target, folder, wanted), target.new_file_mode
    recorded = known.files if known else {}
    changes, kept, written, foreign = {}, [], {}, []
    for name, file in wanted.items():
        path, there = os.path.join(folder, name), current[name]
        kept += file.edits
        if name != CONFIG and not force and _is_foreign(there, file, recorded.get(name, "")):
            kept.append(
                file_action("keep", path, "edited by hand, so it stays; --force puts ours back")
            )
            written[name] = recorded.get(name, "")
            foreign.append(path)
            continue
        # A configuration with an edit of the operator's in it is not ours to remove.
        is_unrecorded = file.edits or _is_judged_by_meaning(target, path)
        written[name] = "" if is_unrecorded else hashlib.sha256(file.data).hexdigest()
        chmod = _chmod(there, file) if there.data != file.data or upgrade else None
        if there.data != file.data or chmod is not None:
            new_mode = _executable(mode) if file.executable else mode
            changes[name] = Change(there.path, there.data, file.data, new_mode, chmod)
    dropped = {name: sha for name, sha in recorded.items() if name not in wanted}
    if (
        os.path.join(folder, HOOK) in foreign
    ):  # an edited launcher still starts the package that it names
        stay = {name: sha for name, sha in dropped.items() if package_of(name)}
        written |= stay
        dropped = {name: sha for name, sha in dropped.items() if name not in stay}
    before = known or PackRecord("", {})
    in_use = {os.path.dirname(name) for name in written}
    gone = _remove(folders, target, before._replace(folder=folder, files=dropped), in_use)
    return Runtime(
        (*changes.values(), *gone.changes),
        (*_actions(folder, changes), *gone.actions),
        (*kept, *gone.kept),
        written,
        gone.rmdirs,
        tuple(foreign),
    )


def uninstall(
    folders: Folders, target: Target, known: PackRecord, others: Container[str] = ()
) -> Runtime:
    """The files that we wrote and nobody edited go, and their folders if they are empty then.

    `others` are the folders that other registrations use too.
    """
    if known.folder in others or not known.folder:
        return Runtime()
    return _remove(folders, target, known, ())


def _remove(folders: Folders, target: Target, known: PackRecord, in_use: Container[str]) -> Runtime:
    """A pack's files go where they are as recorded, and the bytecode of packages that are not in use."""
    changes, kept = {}, []
    for name, there in _read_all(target, known.folder, known.files).items():
        if there.data is None:
            continue
        if is_as_recorded(there, known, name):
            changes[name] = Change(there.path, there.data, None)
        else:
            path = os.path.join(known.folder, name)
            kept.append(
                file_action("keep", path, "edited by hand, so it stays; nothing runs it any more")
            )
    caches = [] if target.shared else _caches(known.folder, in_use)
    bytecode = [change for cache in caches for change in _bytecode(cache)]
    # Also where somebody has removed the files already.
    file_paths = [os.path.join(known.folder, name) for name in known.files]
    rmdirs = _own_folders(
        folders, target, [*file_paths, *(os.path.join(cache, "") for cache in caches)]
    )
    going = (*changes.values(), *bytecode)
    return Runtime(going, _actions(known.folder, changes), tuple(kept), {}, rmdirs)


def _is_foreign(there: files.Snapshot, file: File, recorded: str) -> bool:
    """Whether somebody has changed a program: it is neither as we wrote it nor as it should be."""
    if there.data in (None, file.data):
        return False
    return not is_ours(there, recorded)


def _read_all(target: Target, folder: str, names: Iterable[str]) -> dict[str, files.Snapshot]:
    """Files of ours; in a project never one that a link leads out of it."""
    read = partial(read_inside, target.project) if target.shared else files.read
    return {name: read(os.path.join(folder, name)) for name in names}


def _caches(folder: str, packages: Container[str]) -> list[str]:
    """Where Python keeps the bytecode of every package but these; a call that still runs may add to it."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    gone = [
        os.path.join(folder, name)
        for name in sorted(names)
        if is_package(name) and name not in packages
    ]
    caches = [
        os.path.join(package, "__pycache__") for package in gone if not os.path.islink(package)
    ]
    return [cache for cache in caches if os.path.isdir(cache) and not os.path.islink(cache)]


def _bytecode(cache: str) -> Iterator[Change]:
    with os.scandir(cache) as entries:
        for entry in entries:
            if ".pyc" in entry.name and entry.is_file(follow_symlinks=False):
                there = files.read(entry.path)
                if there.data is not None:
                    yield Change(there.path, there.data, None)


def _actions(folder: str, changes: Mapping[str, Change]) -> tuple[tuple[str, Action], ...]:
    """A line about each file that changes, by its name; the modules of a package are told of as its folder."""
    words: dict[str, str] = {}
    for name, change in changes.items():
        path = os.path.join(folder, package_of(name) or name)
        word = "replace-file"
        if change.after is None:
            word = "remove-file"
        elif change.before is None:
            word = "create-file"
        words[path] = word if words.get(path, word) == word else "replace-file"
    return tuple((path, file_action(word, path)) for path, word in words.items())


def own_top(folders: Folders, target: Target) -> str:
    """The folder that all of hookctl's own files of a place lie in; somebody else may have made it."""
    return os.path.join(target.project, OWN) if target.shared else folders.data


def _own_folders(folders: Folders, target: Target, file_paths: Iterable[str]) -> tuple[str, ...]:
    """The folders of hookctl's own above these files and below its topmost one, the deepest first."""
    top = own_top(folders, target)
    found = set()
    for folder in map(os.path.dirname, file_paths):
        while folder.startswith(f"{top}/"):
            found.add(folder)
            folder = os.path.dirname(folder)
    return tuple(sorted(found, key=len, reverse=True))


def _is_judged_by_meaning(target: Target, path: str) -> bool:
    """A committed record has no hash of the guard's configuration: it has the settings that it was made from."""
    folder, name = os.path.split(path)
    return (
        target.shared
        and name == CONFIG
        and os.path.dirname(folder) == os.path.join(target.project, OWN, GUARD)
    )


def is_ours(there: files.Snapshot, digest: str) -> bool:
    """Whether a file has the bytes whose digest was recorded when we wrote them."""
    return bool(digest) and there.sha == digest


def is_as_recorded(there: files.Snapshot, known: PackRecord, name: str) -> bool:
    """Whether a pack's file is as we wrote it: in its bytes, or the guard's configuration in what it says."""
    if is_ours(there, known.files.get(name, "")):
        return True
    config = known.settings.get("config")
    if name != CONFIG or not config:
        return False
    says = _says(there)
    if not isinstance(says, dict):
        return False
    return engine.same({name: value for name, value in says.items() if name != guard.HOSTS}, config)


def _says(there: files.Snapshot) -> Any:
    """What a configuration says; None where it cannot be read."""
    try:
        return JsonDocument.parse(
            there.data or b"", where=there.path, comments=False, trailing_commas=False
        ).value
    except HookctlError:
        return None


def _executable(mode: int) -> int:
    """The mode with which whoever may read a file may run it, too."""
    return mode | (mode & 0o444) >> 2


def _chmod(there: files.Snapshot, file: File) -> int | None:
    """The mode with the pack's word on who may run the file; None where the one that it has will do."""
    if there.data is None or file.executable is None:
        return None
    mode = stat.S_IMODE(os.stat(there.path).st_mode)
    if file.executable == bool(mode & 0o111):
        return None
    return _executable(mode) if file.executable else mode & ~0o111


def guards_files(config: File, *, wrapper: bool) -> dict[str, File]:
    """What the guard's registrations run, in the order to write it: an upgrade is done with the last one."""
    programs = load_programs(wrapper=wrapper)
    package = {name: File(data) for name, data in programs.package.items()}
    launchers = {name: File(data) for name, data in programs.launchers.items()}
    return {**package, CONFIG: config, **launchers}


def configuration(
    path: str,
    written: dict[str, Any],
    wanted: dict[str, Any],
    host: Host,
    force: bool,
    *,
    fresh: bool = False,
) -> File:
    """config.json with what is wanted, knob by knob, except what the operator changed in it; the hosts are our own."""
    there = files.Snapshot(path, None) if fresh else files.read(path)
    current: dict[str, Any] = {}
    if there.data is not None and not force:
        try:
            value = JsonDocument.parse(
                there.data, where=there.path, comments=False, trailing_commas=False
            ).value
        except HookctlError as error:
            error.hint = "Mend it; or remove it, or install with --force: either writes it anew."
            raise
        current = dict(value) if isinstance(value, dict) else {}
    hosts = current.pop(guard.HOSTS, None)
    edited = {name for name in current if not engine.same(current[name], written.get(name))}
    edited -= {name for name in edited if engine.same(current[name], wanted.get(name))}
    if not written:
        edited -= {
            "mode",
            "state_dir",
        }  # left over from an earlier install: these two are hookctl's own
    values = {
        name: current[name] if name in edited else wanted[name]
        for name in {**wanted, **dict.fromkeys(edited)}
    }
    shown = {name: json.dumps(masked(current[name], name)) for name in sorted(edited)}
    kept = tuple(
        file_action("keep", there.path, f"kept your {name}={text}; --force takes it over")
        for name, text in shown.items()
    )
    table = guard.host_table(host)
    if there.data is not None and engine.same(current, values) and engine.same(hosts, table):
        return File(there.data, edits=kept)
    text = json.dumps({**values, guard.HOSTS: table}, indent=2, ensure_ascii=False) + "\n"
    return File(text.encode("utf-8", "backslashreplace"), edits=kept)  # a path need not be UTF-8


def file_action(action: str, path: str, reason: str = "") -> Action:
    """A line about a file of ours."""
    return Action(action, (path,), "file", reason=reason)


def unknown_page(folders: Folders, target: Target, folder: str) -> PackRecord:
    """Where the ledger is lost: only files that are as this version writes them are surely ours."""
    state = "" if target.shared else folders.state
    wanted = guard.configuration(Settings(), state, target.host)
    config = configuration("", {}, wanted, target.host, False, fresh=True)
    content = guards_files(config, wrapper=True)
    return PackRecord(
        "", {}, folder, {name: files.digest(file.data) for name, file in content.items()}
    )


def folder_of_orphan(folders: Folders, document: Document, target: Target) -> str:
    """The folder that a hook of ours in a settings file runs from, if it is one of hookctl's own; else empty."""
    root = {} if document.value is MISSING else document.value
    for element in shapes.elements(target.host.shape, root):
        event = element.id.partition("/")[2]
        hook = guard.hook_path(str(element.fields.get("command")), element.id, event, target)
        if hook and os.path.dirname(os.path.dirname(hook)) == os.path.join(folders.data, "guard"):
            return os.path.dirname(hook)
    return ""
