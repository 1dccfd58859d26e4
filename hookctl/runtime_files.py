"""The files that a registration points to: a pack's own and the guard's configuration, in a folder of hookctl's.

They are made, kept and removed in the spirit of the ownership table: what the operator edited stays.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hookctl import engine, files
from hookctl.documents import MISSING, Document
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.folders import Folders
from hookctl.hosts import Host, shapes
from hookctl.masking import masked
from hookctl.model import Action, Change, PackRecord
from hookctl.packs import guard
from hookctl.packs.programs import HOOK, is_package, launchers, package_files, package_of
from hookctl.packs.settings import Settings
from hookctl.places import OWN, Place, new_file_mode, read_inside

CONFIG = "config.json"
HOSTS = "hosts"  # its key with what hookctl knows of hosts; the others are settings
_SHORT = 16  # digits of a digest in a committed ledger: it tells our bytes from others, and vouches for nothing


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
    folders: Folders, place: Place, folder: str, known: PackRecord | None, wanted: Mapping[str, File], force: bool,
    *, upgrade: bool = False,
) -> Runtime:  # fmt: skip
    """What has to be written into the folder; files of an earlier version that are not wanted any more go.

    A copy that is written anew, and with `upgrade` any, is executable where the pack's own file is.
    """
    changes: dict[str, Change] = {}
    kept, written, foreign = [], {}, []
    recorded = known.files if known else {}
    for name, file in wanted.items():
        path = os.path.join(folder, name)
        there = _read(place, path)
        kept += file.edits
        ours = there.data is None or is_ours(there, recorded.get(name, "")) or there.data == file.data
        if not ours and name != CONFIG and not force:
            kept.append(file_action("keep", path, "edited by hand, so it stays; --force puts ours back"))
            written[name] = recorded.get(name, "")
            foreign.append(path)
            continue
        # A configuration with an edit of the operator's in it is not ours to remove.
        written[name] = "" if file.edits else _digest(place, file.data)
        chmod = _chmod(there, file) if there.data != file.data or upgrade else None
        if there.data != file.data or chmod is not None:
            changes[name] = Change(there.path, there.data, file.data, _mode(place, file), chmod)
    dropped = {name: sha for name, sha in recorded.items() if name not in wanted}
    if os.path.join(folder, HOOK) in foreign:  # an edited launcher still starts the package that it names
        stay = {name: sha for name, sha in dropped.items() if package_of(name)}
        written |= stay
        dropped = {name: sha for name, sha in dropped.items() if name not in stay}
    gone = _remove(folders, place, folder, dropped, {package_of(name) for name in written})
    return Runtime((*changes.values(), *gone.changes), (*_actions(folder, changes), *gone.actions),
                   (*kept, *gone.kept), written, gone.rmdirs, tuple(foreign))  # fmt: skip


def uninstall(folders: Folders, place: Place, known: PackRecord, others: Container[str] = ()) -> Runtime:
    """The files that we wrote and nobody edited go, and their folders if they are empty then.

    `others` are the folders that other registrations use too.
    """
    if known.folder in others or not known.folder:
        return Runtime()
    return _remove(folders, place, known.folder, known.files, ())


def _remove(
    folders: Folders, place: Place, folder: str, names: Mapping[str, str], packages: Container[str]
) -> Runtime:
    """These files of a folder go where they are as recorded, and the bytecode of packages that are not in use."""
    changes: dict[str, Change] = {}
    kept = []
    for name, sha in names.items():
        path = os.path.join(folder, name)
        there = _read(place, path)
        if there.data is not None and is_ours(there, sha):
            changes[name] = Change(there.path, there.data, None)
        elif there.data is not None:
            kept.append(file_action("keep", path, "edited by hand, so it stays; nothing runs it any more"))
    caches = [] if place.shared else _caches(folder, packages)
    bytecode = [change for cache in caches for change in _bytecode(cache)]
    # Also where somebody has removed the files already.
    paths = [*(os.path.join(folder, name) for name in names), *(os.path.join(cache, "") for cache in caches)]
    rmdirs = _own_folders(folders, place, paths)
    return Runtime((*changes.values(), *bytecode), _actions(folder, changes), tuple(kept), {}, rmdirs)


def _caches(folder: str, packages: Container[str]) -> list[str]:
    """Where Python keeps the bytecode of every package but these; a call that still runs may add to it."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    gone = [os.path.join(folder, name) for name in sorted(names) if is_package(name) and name not in packages]
    caches = [os.path.join(package, "__pycache__") for package in gone if not os.path.islink(package)]
    return [cache for cache in caches if os.path.isdir(cache) and not os.path.islink(cache)]


def _bytecode(cache: str) -> Iterator[Change]:
    with os.scandir(cache) as entries:
        for entry in entries:
            if ".pyc" in entry.name and entry.is_file(follow_symlinks=False):
                there = files.read(entry.path)
                if there.data is not None:
                    yield Change(there.path, there.data, None)


def _actions(folder: str, changes: Mapping[str, Change]) -> tuple[tuple[str, Action], ...]:
    """A line about each file that changes; the modules of a package are told of as its folder."""
    words: dict[str, str] = {}
    for name, change in changes.items():
        path = os.path.join(folder, package_of(name) or name)
        word = "remove-file" if change.after is None else "create-file" if change.before is None else "replace-file"
        words[path] = word if words.get(path, word) == word else "replace-file"
    return tuple((path, file_action(word, path)) for path, word in words.items())


def own_top(folders: Folders, place: Place) -> str:
    """The folder that all of hookctl's own files of a place lie in; somebody else may have made it."""
    return os.path.join(place.project, OWN) if place.shared else folders.data


def _own_folders(folders: Folders, place: Place, paths: Iterable[str]) -> tuple[str, ...]:
    """The folders of hookctl's own above these files and below its topmost one, the deepest first."""
    top = own_top(folders, place)
    found = set()
    for folder in map(os.path.dirname, paths):
        while folder.startswith(f"{top}/"):
            found.add(folder)
            folder = os.path.dirname(folder)
    return tuple(sorted(found, key=len, reverse=True))


def _read(place: Place, path: str) -> files.Snapshot:
    """A file of ours; in a project never one that a link leads out of it."""
    return read_inside(place.project, path) if place.shared else files.read(path)


def _digest(place: Place, data: bytes) -> str:
    sha = files.digest(data)
    return sha[:_SHORT] if place.shared else sha


def is_ours(there: files.Snapshot, digest: str) -> bool:
    """Whether a file has the bytes whose digest, or the beginning of it, was recorded when we wrote them."""
    return len(digest) >= _SHORT and there.sha.startswith(digest)


def _mode(place: Place, file: File) -> int:
    mode = new_file_mode(place)
    return _executable(mode) if file.executable else mode


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
    package = {name: File(data) for name, data in package_files().items()}
    return {**package, CONFIG: config, **{name: File(data) for name, data in launchers(wrapper=wrapper).items()}}


def configuration(
    path: str, written: dict[str, Any], wanted: dict[str, Any], host: Host, force: bool, *, fresh: bool = False
) -> File:
    """config.json with what is wanted, knob by knob, except what the operator changed in it; the hosts are our own."""
    there = files.Snapshot(path, None) if fresh else files.read(path)
    live: dict[str, Any] = {}
    if there.data is not None and not force:
        try:
            value = JsonDocument.parse(there.data, where=there.path, comments=False, trailing_commas=False).value
        except HookctlError as error:
            error.hint = "Mend it; or remove it, or install with --force: either writes it anew."
            raise
        live = dict(value) if isinstance(value, dict) else {}
    hosts = live.pop(HOSTS, None)
    edited = {name for name in live if not engine.same(live[name], written.get(name))}
    edited -= {name for name in edited if engine.same(live[name], wanted.get(name))}
    if not written:
        edited -= {"mode", "state_dir"}  # left over from an earlier install: these two are hookctl's own
    values = {name: live[name] if name in edited else wanted[name] for name in {**wanted, **dict.fromkeys(edited)}}
    shown = {name: json.dumps(masked(live[name], name)) for name in sorted(edited)}
    kept = tuple(
        file_action("keep", there.path, f"kept your {name}={text}; --force takes it over")
        for name, text in shown.items()
    )
    table = guard.host_table(host)
    if there.data is not None and engine.same(live, values) and engine.same(hosts, table):
        return File(there.data, edits=kept)
    text = json.dumps({**values, HOSTS: table}, indent=2, ensure_ascii=False) + "\n"
    return File(text.encode("utf-8", "backslashreplace"), edits=kept)  # a path need not be UTF-8


def file_action(action: str, path: str, reason: str = "") -> Action:
    """A line about a file of ours."""
    return Action(action, (path,), "file", reason=reason)


def unknown_page(folders: Folders, place: Place, folder: str) -> PackRecord:
    """Where the ledger is lost: only files that are as this version writes them are surely ours."""
    state = "" if place.shared else folders.state
    wanted = guard.configuration(Settings(), state, place.host)
    config = configuration("", {}, wanted, place.host, False, fresh=True)
    content = guards_files(config, wrapper=True)
    return PackRecord("", {}, folder, {name: files.digest(file.data) for name, file in content.items()})


def folder_of_orphan(folders: Folders, document: Document, place: Place) -> str:
    """The folder that a hook of ours in a settings file runs from, if it is one of hookctl's own; else empty."""
    root = {} if document.value is MISSING else document.value
    for element in shapes.elements(place.host.shape, root):
        event = element.id.partition("/")[2]
        hook = guard.hook_path(str(element.fields.get("command")), element.id, event, place)
        if hook and os.path.dirname(os.path.dirname(hook)) == os.path.join(folders.data, "guard"):
            return os.path.dirname(hook)
    return ""
