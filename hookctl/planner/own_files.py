"""hookctl's own files in a data folder or in a project: programs, packs' files, configurations.

Programs are hookctl's own, and what differs from what this version brings is written anew. A
configuration of the guard has values of the operator, which stay.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from collections.abc import Callable, Container, Iterable, Mapping, Set
from typing import Any, NamedTuple

from hookctl import engine, hosts
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import FAILED, HookctlError
from hookctl.hosts import Host
from hookctl.masking import masked
from hookctl.model import Action, Change, PackRecord, Record
from hookctl.packs import guard
from hookctl.packs.choices import Settings
from hookctl.packs.model import run_packs
from hookctl.packs.programs import load_programs
from hookctl.planner.sources import Sources
from hookctl.settings.targets import GUARD, OWN, Target, in_sh, pack_folder, require_inside
from hookctl.system import files
from hookctl.system.folders import Folders
from hookctl.system.packages import (
    CONFIGS,
    HOOK,
    PACKAGES,
    PACKS,
    TABLE,
    Packages,
    find_unnamed,
    is_whole,
    list_former,
    list_packages,
    version_of,
)

FORMER_CALL = re.compile(rf"/(?:{CONFIGS}/[a-z0-9-]+/(?:{HOOK}|wrap\.py)|{PACKAGES}/{HOOK})['\"]? ")
_HOOKCTL_KEYS = ("mode", "state_dir")  # of a configuration: hookctl's own, not the operator's


class Runtime(NamedTuple):
    """What happens to files of hookctl's own."""

    changes: tuple[Change, ...] = ()
    actions: tuple[Action, ...] = ()
    kept: tuple[Action, ...] = ()
    rmdirs: tuple[str, ...] = ()
    packages: tuple[Packages, ...] = ()


class File(NamedTuple):
    """A file as it is wanted."""

    data: bytes
    executable: bool | None = None  # None: a new file is not, an existing one keeps its mode


def own_top(folders: Folders, target: Target) -> str:
    """The folder that all of hookctl's files for a target lie in; others may have made it."""
    return os.path.join(target.project, OWN) if target.shared else folders.data


def file_action(action: str, path: str, reason: str = "") -> Action:
    """A line about one of our files."""
    return Action(action, (path,), "file", reason=reason)


def describe_changes(changes: Iterable[Change]) -> tuple[Action, ...]:
    """A line about each of our files that changes."""
    lines = []
    for change in changes:
        action = "replace-file"
        if change.after is None:
            action = "remove-file"
        elif change.before is None:
            action = "create-file"
        lines.append(file_action(action, change.path))
    return tuple(lines)


def read_own(sources: Sources, target: Target, path: str) -> files.Snapshot:
    """A file of hookctl's own; in a project never through a link that leads out of it."""
    return sources.snapshot(path, target.project if target.shared else "")


# The files of one pack at one target


def install_files(
    sources: Sources,
    target: Target,
    folder: str,
    known: PackRecord | None,
    wanted: Mapping[str, File],
    staying: Container[str] = (),
) -> Runtime:
    """Write the wanted files into the folder, and remove known ones that are wanted no more.

    `staying` are the names of those that other hosts run.
    """
    unwanted: list[str] = []
    if known and known.folder == folder:
        unwanted = [name for name in known.files if name not in wanted and name not in staying]
    removed = _remove(sources, target, folder, unwanted)
    changes = []
    for name, file in wanted.items():
        snapshot = read_own(sources, target, os.path.join(folder, name))
        chmod = None if file.executable is None else _changed_mode(snapshot, file)
        if snapshot.data != file.data or chmod is not None:
            mode = target.new_file_mode
            if file.executable:
                mode = _executable(mode)
            changes.append(Change(snapshot.path, snapshot.data, file.data, mode, chmod))
    return removed._replace(
        changes=(*changes, *removed.changes),
        actions=(*describe_changes(changes), *removed.actions),
    )


def uninstall_files(
    sources: Sources, target: Target, known: PackRecord, in_use: Set[str] = frozenset()
) -> Runtime:
    """Remove a pack's files, and their folders if they are empty then.

    Of a configuration the operator's own values stay. `in_use` are the folders of packs that other
    registrations use.
    """
    if not known.folder:
        return Runtime()
    names = [] if known.folder in in_use else list(known.files)
    removed = Runtime()
    if known.config and names:
        names.remove(os.path.basename(known.config))
        removed = _uninstall_config(sources, target, known)
    others = _remove(sources, target, known.folder, [*names, *known.former])
    return others._replace(
        changes=(*removed.changes, *others.changes),
        actions=(*removed.actions, *others.actions),
        kept=removed.kept,
        rmdirs=(*others.rmdirs, known.folder),
    )


def _uninstall_config(sources: Sources, target: Target, known: PackRecord) -> Runtime:
    """Take hookctl's values out of a configuration: without its hosts it is nobody's any more."""
    snapshot = read_own(sources, target, known.config)
    if snapshot.data is None:
        return Runtime()
    try:
        values = _read_config(snapshot)
    except HookctlError:
        reason = "it cannot be read, so it stays; nothing reads it any more"
        return Runtime(kept=(file_action("keep", known.config, reason),))
    written = known.settings.get("config") or {}
    edited = _edited_names(values, written, {}) - {guard.HOSTS}
    own = {name: values[name] for name in values if name in edited}
    data = (json.dumps(own, indent=2, ensure_ascii=False) + "\n").encode() if own else None
    change = Change(snapshot.path, snapshot.data, data)
    return Runtime((change,), describe_changes([change]), _lines_on_edits(known.config, own))


def _remove(sources: Sources, target: Target, folder: str, names: Iterable[str]) -> Runtime:
    """Remove these files of a folder, and the folders that they were in."""
    changes, emptied = [], set()
    top = own_top(sources.folders, target)
    for name in names:
        path = os.path.join(folder, name)
        snapshot = read_own(sources, target, path)
        if snapshot.data is not None:
            changes.append(Change(snapshot.path, snapshot.data, None))
        above = os.path.dirname(path)
        while above.startswith(f"{top}/"):
            emptied.add(above)
            above = os.path.dirname(above)
    rmdirs = tuple(sorted(emptied, key=len, reverse=True))
    return Runtime(tuple(changes), describe_changes(changes), rmdirs=rmdirs)


def folders_of_others(
    sources: Sources,
    records: Mapping[str, Record],
    staying: Mapping[str, Record],
    target: Target,
    key: str,
) -> Set[str]:
    """The folders of packs that another settings file has: one of those `staying`, or of another
    state folder than that of the `records`.

    The guard's folder has a file for each.
    """
    found = set()
    for other, record in staying.items():
        if other != key:
            found.update(known.folder for name, known in record.packs.items() if name != GUARD)
    if not target.shared:
        table = read_own(sources, target, os.path.join(sources.folders.data, TABLE))
        packs, _ = _with_others(table, records.values(), {}, "")
        for name in {name for names in packs.values() for name in names}:
            found.add(pack_folder(sources.folders, target, name))
    return found


def find_sharing(
    records: Mapping[str, Record], keys: Container[str], pack: str, folder: str
) -> list[tuple[Record, PackRecord]]:
    """The records, but for those of `keys`, that have a pack with its files in this folder."""
    found = []
    for key, record in records.items():
        known = record.packs.get(pack)
        if key not in keys and known and known.folder == folder:
            found.append((record, known))
    return found


def _executable(mode: int) -> int:
    """The mode, with permission to run the file wherever there is permission to read it."""
    return mode | (mode & 0o444) >> 2


def _changed_mode(snapshot: files.Snapshot, file: File) -> int | None:
    """The mode that an existing file has to get; None where the one that it has will do."""
    if snapshot.data is None:
        return None
    mode = stat.S_IMODE(os.stat(snapshot.path).st_mode)
    if file.executable == bool(mode & 0o111):
        return None
    return _executable(mode) if file.executable else mode & ~0o111


# The guard's configuration


def new_config(values: dict[str, Any], host: Host) -> bytes:
    """A configuration with these values, as hookctl writes it where there is none."""
    lines = [f"  {json.dumps(name)}: {_dump(value)}," for name, value in values.items()]
    rows = [f"    {json.dumps(name)}: {_dump(row)}" for name, row in guard.host_table(host).items()]
    text = "\n".join(["{", *lines, f'  "{guard.HOSTS}": {{', ",\n".join(rows), "  }", "}", ""])
    return text.encode("utf-8", "backslashreplace")  # a path need not be UTF-8


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def merge_config(
    path: str,
    snapshot: files.Snapshot,
    written: dict[str, Any],
    wanted: dict[str, Any],
    host: Host,
    *,
    force: bool,
) -> tuple[bytes, tuple[Action, ...]]:
    """The configuration at a path with the wanted values; what the operator changed stays.

    Returns lines about that, too. `snapshot` is what there is: at another path, where it moves.
    """
    current = {} if force else _read_config(snapshot)
    table = current.pop(guard.HOSTS, None)  # this is hookctl's own
    edited = _edited_names(current, written, wanted)
    values = {name: current[name] if name in edited else value for name, value in wanted.items()}
    for name in current:
        if name in edited:
            values.setdefault(name, current[name])
    own = {name: current[name] for name in edited}
    kept = _lines_on_edits(path, own, "; --force takes it over")
    if engine.same(current, values) and engine.same(table, guard.host_table(host)):
        return snapshot.data or b"", kept
    return new_config(values, host), kept


def _lines_on_edits(path: str, edits: Mapping[str, Any], force: str = "") -> tuple[Action, ...]:
    """A line for each value of the operator in a configuration."""
    lines = []
    for name in sorted(edits):
        text = json.dumps(masked(edits[name], name))
        lines.append(Action("keep", (path, name), "file", reason=f"kept your {name}={text}{force}"))
    return tuple(lines)


def _read_config(snapshot: files.Snapshot) -> dict[str, Any]:
    if snapshot.data is None:
        return {}
    try:
        values = parse_config(snapshot)
    except HookctlError as error:
        error.hint = "Correct it; or remove it, or install with --force: either writes it anew."
        raise
    return dict(values) if isinstance(values, dict) else {}


def parse_config(snapshot: files.Snapshot) -> Any:
    """The values in a configuration; raises where it is not valid JSON."""
    data, path = snapshot.data or b"", snapshot.path
    return JsonDocument.parse(data, where=path, strict=True).value


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


def unrecorded_guard(folders: Folders, target: Target, config: str) -> PackRecord:
    """A record of a guard that the ledger lost, with its configuration as this version writes it.

    Beside one of 0.2.0 lie its launchers.
    """
    state = "" if target.shared else folders.state
    values = guard.configuration(Settings(), state, target.host)
    folder, name = os.path.split(config)
    names = (name, HOOK, "wrap.py") if name == "config.json" else (name,)
    return PackRecord("", {"config": values}, folder, names)


# The programs: the launcher, the packages that it starts, and the runner's table of hosts


def plan_programs(
    sources: Sources,
    before: Mapping[str, Record],
    records: Mapping[str, Record | None],
    target: Target,
    removed: Set[str],
    *,
    install: bool,
    force: bool,
) -> Runtime:
    """Bring the programs of a target's scope in line with the `records` after the run.

    `removed` are files that go with the run. What 0.2.0 laid there goes with the launcher, or when
    a later one takes its place: sessions that are open now may still run it.
    """
    top = own_top(sources.folders, target)
    hook = os.path.join(top, HOOK)
    scope = [record for record in records.values() if record and _is_of(record, target)]
    packs = _packs_by_host(scope, hook)
    state, others = "" if target.shared else sources.folders.state, set[str]()
    programs, launcher = load_programs(), read_own(sources, target, hook)
    is_needed = bool(packs) or any(_starts(record, GUARD, hook) for record in scope)
    version = version_of(launcher.data or b"")
    if guard.is_newer(version) and not (force and is_needed):
        return _leave_newer(hook, version, refuses=install and is_needed)
    table = read_own(sources, target, os.path.join(top, TABLE))
    is_replaced = version not in ("", version_of(programs.launcher))
    if table.data and not target.shared:
        packs, state = _with_others(table, before.values(), packs, state)
        is_needed = is_needed or bool(packs)
    if not target.shared and (is_replaced or not is_needed):
        others = _find_others(top, sources.folders.state, removed)
        is_needed = is_needed or os.path.join(top, CONFIGS) in others
    is_needed = is_needed and (install or launcher.data is not None)  # no other verb lays programs
    new_table = _dump_table(packs, state) if packs else None
    new_launcher = programs.launcher if is_needed else None
    changes = []
    for snapshot, data in ((table, new_table), (launcher, new_launcher)):  # it completes an upgrade
        if snapshot.data != data:
            changes.append(Change(snapshot.path, snapshot.data, data, target.new_file_mode))
    former = Runtime()
    if is_replaced or not is_needed:
        former = _find_former(sources, target, scope, {*removed, *others})
    runtime = os.path.dirname(table.path)
    new = {**programs.guard, **(programs.runner if packs else {})} if is_needed else {}
    for name in {*new, *list_packages(runtime)} if target.shared else ():
        require_inside(target.project, os.path.join(runtime, name))
    new = {name: new[name] for name in new if not is_whole(os.path.join(runtime, name), new[name])}
    lines = list(describe_changes(changes))
    for name in new if launcher.data == programs.launcher else ():
        path = os.path.join(runtime, name)
        lines.append(file_action("replace-file" if os.path.lexists(path) else "create-file", path))
    keeps = is_needed and not target.shared
    packages = Packages(runtime, new, target.new_file_mode, keeps_replaced=keeps)
    loses_launcher = any(path.endswith(f"/{HOOK}") for path in removed)
    is_merged = target.shared and bool(find_unnamed(runtime))  # elsewhere the one before stays
    if not (changes or new or former.changes or loses_launcher or is_merged):
        return Runtime()
    emptied = tuple(os.path.join(top, name) for name in (PACKAGES, CONFIGS, PACKS))
    return Runtime(
        (*changes, *former.changes),
        (*lines, *former.actions),
        rmdirs=(*former.rmdirs, *(() if is_needed else emptied)),
        packages=(packages,),
    )


def _dump_table(packs: Mapping[str, list[str]], state: str) -> bytes:
    from hookctl.packs.runner import hosts_file  # late: most have the guard alone

    return hosts_file(packs, state)


def _leave_newer(hook: str, version: str, *, refuses: bool) -> Runtime:
    """Leave the programs of a newer hookctl alone; an install that needs them is refused."""
    if refuses:
        message = f"hookctl {version} wrote the programs here, and this one is older"
        hint = f"Upgrade hookctl to {version} or later; or `hookctl install --force` replaces them."
        raise HookctlError("hook_newer", message, path=hook, hint=hint, exit_code=FAILED)
    line = file_action("keep", hook, f"hookctl {version} wrote the programs here, so they stay")
    return Runtime(kept=(line,))


def is_of_other_version(sources: Sources, target: Target) -> bool:
    """Whether the launcher of a target's scope is there, and of another version than this one."""
    hook = os.path.join(own_top(sources.folders, target), HOOK)
    version = version_of(read_own(sources, target, hook).data or b"")
    return version not in ("", version_of(load_programs().launcher))


def list_programs(
    records: Mapping[str, Record],
    target: Target,
    folders: Folders,
    read: Callable[[str], files.Snapshot],
) -> dict[str, bytes]:
    """The program files that a target's scope needs, as this version writes them, by path."""
    top = own_top(folders, target)
    hook = os.path.join(top, HOOK)
    scope = [record for record in records.values() if _is_of(record, target)]
    packs = _packs_by_host(scope, hook)
    if not packs and not any(_starts(record, GUARD, hook) for record in scope):
        return {}
    state = "" if target.shared else folders.state
    if not target.shared:
        table = read(os.path.join(top, TABLE))
        if table.data:
            packs, state = _with_others(table, records.values(), packs, state)
    found = {os.path.join(top, name): data for name, data in load_programs().all.items()}
    if packs:
        found[os.path.join(top, TABLE)] = _dump_table(packs, state)
        return found
    runner = [f"{PACKAGES}/{name}/" for name in load_programs().runner]
    return {path: found[path] for path in found if not any(name in path for name in runner)}


def _is_of(record: Record, target: Target) -> bool:
    """Whether a record is one of a target's project, or of the data folder."""
    project = record.project if record.scope == "project" else ""
    return project == (target.project if target.shared else "")


def _starts(record: Record, pack: str, hook: str) -> bool:
    """Whether a pack's commands of a record call the launcher: those of 0.2.0 called others."""
    if record.host not in hosts.names():  # a newer hookctl's
        return True
    host = hosts.load(record.host)
    called = in_sh(Target(host, record.scope, record.known_as, record.project), hook)
    for entry in (*record.entries, *record.disabled):
        if entry.id.startswith(f"{pack}/") and called in str(entry.written.get("command")):
            return True
    return False


def _packs_by_host(records: Iterable[Record], hook: str) -> dict[str, list[str]]:
    """The packs whose commands the runner runs, by host."""
    packs: dict[str, set[str]] = {}
    for record in records:
        for name in run_packs(record):
            if record.host in hosts.names() and _starts(record, name, hook):
                packs.setdefault(record.host, set()).add(name)
    return {name: sorted(packs[name]) for name in sorted(packs)}


def _with_others(
    table: files.Snapshot,
    records: Iterable[Record],
    packs: dict[str, list[str]],
    state: str,
) -> tuple[dict[str, list[str]], str]:
    """The packs with those in a runner's table that none of the records has, and its state folder.

    Runs with another state folder share the table of a data folder.
    """
    values = config_values(table)
    own: dict[str, list[str]] = {}
    for record in records:
        if record.scope != "project":
            own.setdefault(record.host, []).extend(run_packs(record))
    joined = {name: set(packs[name]) for name in packs}
    named = values.get("packs")
    for name, found in named.items() if isinstance(named, dict) else ():
        texts = found if isinstance(found, list) else []
        others = {pack for pack in texts if isinstance(pack, str)} - set(own.get(name, ()))
        if others and name in hosts.names():
            joined.setdefault(name, set()).update(others)
            state = str(values.get("state_dir") or state)
    return {name: sorted(joined[name]) for name in sorted(joined)}, state


def _find_others(top: str, state: str, removed: Set[str]) -> set[str]:
    """The folders with a configuration, or a table, of another state folder's records."""
    found = set()
    folder = os.path.join(top, CONFIGS)
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = os.listdir(folder)
    for path in [*(os.path.join(folder, name) for name in names), *list_former(top)]:
        with contextlib.suppress(HookctlError):
            is_left = path.endswith(".json") and path not in removed
            if is_left and config_values(files.read(path)).get("state_dir", state) != state:
                found.add(os.path.dirname(path))
    return found


def config_values(snapshot: files.Snapshot) -> dict[str, Any]:
    """The values in a configuration, or in the runner's table; none if they cannot be read."""
    with contextlib.suppress(HookctlError):
        values = parse_config(snapshot)
        return values if isinstance(values, dict) else {}
    return {}


def _find_former(
    sources: Sources, target: Target, records: Iterable[Record], kept: Set[str]
) -> Runtime:
    """The removal of what 0.2.0 laid there, and no record needs any more.

    `kept` are folders of other state folders' records, and files that go without that.
    """
    top = own_top(sources.folders, target)
    needed = {top, *kept}
    for record in records:
        needed.update(known.folder for known in record.packs.values())
        if any(f"/{PACKAGES}/{HOOK}" in str(entry.written) for entry in record.entries):
            needed.add(os.path.join(top, PACKAGES))
    paths = [path for path in list_former(top) if os.path.dirname(path) not in needed]
    return _remove(sources, target, top, [path for path in paths if files.real(path) not in kept])
