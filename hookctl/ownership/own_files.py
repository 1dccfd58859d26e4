"""hookctl's own files in a data folder or in a project: programs, packs' files, configurations.

Programs are hookctl's own, and what differs from what this version brings is written anew. A
configuration of the guard has values of the operator, which stay.
"""

import contextlib
import glob
import json
import os
import re
import stat
from collections.abc import Iterable, Mapping, Set
from functools import partial
from typing import Any

from hookctl import __version__, hosts
from hookctl.documents import wrong_shape
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import FAILED, HookctlError
from hookctl.hosts import Host
from hookctl.model import (
    Action,
    Change,
    Claim,
    Current,
    DropValue,
    Entry,
    PackRecord,
    Put,
    Record,
    Wanted,
)
from hookctl.ownership import engine
from hookctl.ownership.draft import Draft, file_action
from hookctl.ownership.sources import Sources
from hookctl.ownership.store import Records
from hookctl.packs import guard, run_packs
from hookctl.packs.programs import load_programs
from hookctl.settings.targets import GUARD, OWN, Target, own_top, read_inside, require_inside
from hookctl.system import files
from hookctl.system.folders import Folders
from hookctl.system.packages import (
    CONFIGS,
    HOOK,
    NAME,
    PACKAGES,
    PACKS,
    TABLE,
    Packages,
    find_unnamed,
    is_whole,
    list_former,
    version_of,
)

FORMER_CALL = re.compile(rf"/(?:{CONFIGS}/[a-z0-9-]+/(?:{HOOK}|wrap\.py)|{PACKAGES}/{HOOK})['\"]? ")
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
_HOOKCTL_KEYS = ("mode", "state_dir")  # of a configuration: hookctl's own, not the operator's


# By name: the bytes, and whether it is executable. None: a new file is not, another keeps its mode.
Files = Mapping[str, tuple[bytes, bool | None]]


def read_own(sources: Sources, target: Target, path: str) -> files.Snapshot:
    """A file of hookctl's own; in a project never through a link that leads out of it."""
    read = partial(read_inside, target.project) if target.shared else files.read
    return sources.once(("own", path), partial(read, path))


# The files of packs


def install_files(draft: Draft, folder: str, wanted: Files) -> None:
    """Write the wanted files of a pack into its folder."""
    for name, (data, executable) in wanted.items():
        snapshot = read_own(draft.sources, draft.target, os.path.join(folder, name))
        mode, chmod = draft.target.new_file_mode, None
        if executable:
            mode = _executable(mode)
        if executable is not None and snapshot.data is not None:
            now = stat.S_IMODE(os.stat(snapshot.path).st_mode)
            if executable != bool(now & 0o111):
                chmod = _executable(now) if executable else now & ~0o111
        if snapshot.data != data or chmod is not None:
            draft.changes.append(Change(snapshot.path, snapshot.data, data, mode, chmod))


def remove_files(drafts: Iterable[Draft], records: Mapping[str, Record | None]) -> None:
    """Remove the packs' files that no record names after the run, and their folders once empty.

    Of a configuration the operator's own values stay.
    """
    packs = [known for record in records.values() if record for known in record.packs.values()]
    done = {path for known in packs for path in _paths(known)}
    for draft in drafts:
        before = {**draft.known.packs, **draft.lost} if draft.known else draft.lost
        after = draft.record.packs if draft.record else {}
        for name, known in before.items():
            if name in after and after[name].folder != known.folder:
                continue  # open sessions run what 0.2.0 laid there
            paths = [path for path in _paths(known) if path not in done]
            done.update(paths)
            config = known.config
            snapshot = read_own(draft.sources, draft.target, config) if config in paths else None
            if snapshot and snapshot.data is not None:  # without its hosts it is nobody's any more
                try:
                    written = known.settings.get("config") or {}
                    data, lines = merge_config(config, snapshot, written, {}, draft.host)
                    draft.changes.append(Change(snapshot.path, snapshot.data, data))
                    draft.rmdirs.append(os.path.dirname(config))
                    draft.actions += lines
                except HookctlError:
                    reason = "it cannot be read, so it stays; nothing reads it any more"
                    draft.actions.append(file_action("keep", config, reason))
            _remove(draft, [path for path in paths if path != config])


def _paths(known: PackRecord) -> list[str]:
    return [os.path.normpath(f"{known.folder}/{name}") for name in (*known.files, *known.former)]


def _remove(draft: Draft, paths: Iterable[str]) -> None:
    """Remove these files of hookctl's own, and the folders that they were in."""
    emptied, top = set(), own_top(draft.folders, draft.target)
    for path in paths:
        snapshot = read_own(draft.sources, draft.target, path)
        if snapshot.data is not None:
            draft.changes.append(Change(snapshot.path, snapshot.data, None))
        above = os.path.dirname(path)
        while above.startswith(f"{top}/"):
            emptied.add(above)
            above = os.path.dirname(above)
    draft.rmdirs += emptied


def _executable(mode: int) -> int:
    """The mode, with permission to run the file wherever there is permission to read it."""
    return mode | (mode & 0o444) >> 2


# The guard's configuration


def new_config(values: dict[str, Any], host: Host) -> bytes:
    """A configuration with these values, as hookctl writes it where there is none."""
    dump = partial(json.dumps, ensure_ascii=False)
    lines = [f"  {dump(name)}: {dump(value)}," for name, value in values.items()]
    rows = [f"    {dump(name)}: {dump(row)}" for name, row in guard.host_table(host).items()]
    text = "\n".join(["{", *lines, f'  "{guard.HOSTS}": {{', ",\n".join(rows), "  }", "}", ""])
    return text.encode("utf-8", "backslashreplace")  # a path need not be UTF-8


def merge_config(
    path: str,
    snapshot: files.Snapshot,
    written: Mapping[str, Any],
    wanted: Mapping[str, Any],
    host: Host,
    *,
    force: bool = False,
) -> tuple[bytes | None, list[Action]]:
    """The configuration at a path with the wanted values, and lines on the operator's own.

    Its keys are entries like any others. None where nothing is wanted and nothing left. `snapshot`
    is what there is: at another path, where it moves.
    """
    if snapshot.data is None or force:
        return new_config(wanted, host), []
    try:
        values = parse_config(snapshot)
    except HookctlError as error:
        error.hint = "Correct it; or remove it, or install with --force: either writes it anew."
        raise
    table, before = values.pop(guard.HOSTS, None), dict(values)  # the hosts are hookctl's own
    for name in () if written else _HOOKCTL_KEYS:
        values.pop(name, None)  # left over from an earlier install
    here = {(name,): value for name, value in values.items()}
    texts = {at: json.dumps(value, ensure_ascii=False) for at, value in here.items()}
    entries = [
        Entry((name,), "leaf", written=value, owners={GUARD: Claim(value)})
        for name, value in written.items()
    ]
    wants = [Wanted((name,), "leaf", value) for name, value in wanted.items()]
    decision = engine.install(entries, Current(here, texts, {}), GUARD, wants)
    for edit in decision.edits:
        if isinstance(edit, Put):
            values[str(edit.path[0])] = edit.value
        elif isinstance(edit, DropValue):
            del values[str(edit.path[0])]
    lines = []
    for line in decision.actions:
        if line.action == "keep" and line.path[0] in wanted:
            reason = line.reason.replace("you removed it", f"you removed {line.path[0]}")
            lines.append(Action("keep", (path, *line.path), "file", reason=reason))
    hint = "; --force takes it over" if wanted else ""
    for name in sorted(values.keys() - wanted.keys()):
        reason = f"kept your {name}={engine.show(values[name], name)}{hint}"
        lines.append(Action("keep", (path, name), "file", reason=reason))
    if not wanted:
        text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
        return (text.encode() if values else None), lines
    if engine.same(before, values) and engine.same(table, guard.host_table(host)):
        return snapshot.data, lines
    names = dict.fromkeys([*wanted, *values])
    return new_config({name: values[name] for name in names if name in values}, host), lines


def parse_config(snapshot: files.Snapshot) -> dict[str, Any]:
    """The values in a configuration; raises where it is not a JSON object."""
    document = JsonDocument.parse(snapshot.data or b"", where=snapshot.path, strict=True)
    if not isinstance(document.value, dict):
        raise wrong_shape(document, (), "an object")
    return dict(document.value)


# The programs: the launcher, the packages that it starts, and the runner's table of hosts


def plan_programs(
    draft: Draft,
    records: Mapping[str, Record | None],
    removed: Set[str],
    *,
    install: bool,
    force: bool,
) -> list[Packages]:
    """Bring the programs of a draft's scope in line with the `records` after the run.

    `removed` are files that go with the run. What 0.2.0 laid there goes with the launcher, or when
    a later one takes its place: sessions that are open now may still run it.
    """
    sources, target = draft.sources, draft.target
    top = own_top(draft.folders, target)
    hook = os.path.join(top, HOOK)
    scope, packs, is_needed = _find_callers(records, target)
    programs, launcher = load_programs(), read_own(sources, target, hook)
    version = version_of(launcher.data or b"")
    is_as_ours = launcher.data == programs.launcher
    if not is_as_ours and guard.is_newer(version) and not (force and is_needed):
        message = f"hookctl {version} wrote the programs here"
        if not (install and is_needed):
            draft.actions.append(file_action("keep", hook, f"{message}, so they stay"))
            return []
        hint = f"Upgrade hookctl to {version} or later; or `hookctl install --force` replaces them."
        message += ", and this one is older"
        raise HookctlError("hook_newer", message, path=hook, hint=hint, exit_code=FAILED)
    if not target.shared and not is_needed:
        is_needed = _is_shared(top, draft.folders.state, removed)
    is_needed = is_needed and (install or launcher.data is not None)  # no other verb lays programs
    table = read_own(sources, target, os.path.join(top, TABLE))
    new_table = _dump_table(packs, target, draft.folders) if packs else None
    # The latter completes an upgrade.
    pairs = [(table, new_table), (launcher, programs.launcher if is_needed else None)]
    changes = [Change(old.path, old.data, new, target.new_file_mode) for old, new in pairs]
    changes = [change for change in changes if change.before != change.after]
    former: list[str] = []
    if version not in ("", __version__) or not is_needed:
        needed = {top}  # of what 0.2.0 laid there
        for record in scope:
            needed.update(known.folder for known in record.packs.values())
            if any(f"/{PACKAGES}/{HOOK}" in str(entry.written) for entry in record.entries):
                needed.add(os.path.join(top, PACKAGES))
        paths = [path for path in list_former(top) if os.path.dirname(path) not in needed]
        former = [path for path in paths if files.real(path) not in removed]
    runtime = os.path.dirname(table.path)
    new = {**programs.guard, **(programs.runner if packs else {})} if is_needed else {}
    for name in {*new, *files.names_in(runtime, NAME)} if target.shared else ():
        require_inside(target.project, os.path.join(runtime, name))
    new = {name: new[name] for name in new if not is_whole(os.path.join(runtime, name), new[name])}
    loses_launcher = any(path.endswith(f"/{HOOK}") for path in removed)
    is_merged = target.shared and bool(find_unnamed(runtime))  # elsewhere the one before stays
    if not (changes or new or former or loses_launcher or is_merged):
        return []
    draft.changes += changes
    for name in new if is_as_ours else ():
        path = os.path.join(runtime, name)
        action = "replace-file" if os.path.lexists(path) else "create-file"
        draft.actions.append(file_action(action, path))
    if former:
        _remove(draft, former)
    keeps = is_needed and not target.shared
    if not is_needed:
        draft.rmdirs += [os.path.join(top, name) for name in (PACKAGES, CONFIGS, PACKS)]
    return [Packages(runtime, new, target.new_file_mode, keeps_replaced=keeps)]


def _is_shared(top: str, state: str, removed: Set[str]) -> bool:
    """Whether a configuration of another state folder's records lies in a data folder."""
    for path in glob.glob(os.path.join(glob.escape(top), CONFIGS, "*.json")):
        with contextlib.suppress(HookctlError):
            values = {} if path in removed else parse_config(files.read(path))
            if values.get("state_dir", state) != state:
                return True
    return False


def _dump_table(packs: Mapping[str, list[str]], target: Target, folders: Folders) -> bytes:
    from hookctl.packs.runner import hosts_file  # late: most have the guard alone

    return hosts_file(packs, "" if target.shared else folders.state)


def list_programs(
    records: Mapping[str, Record], target: Target, folders: Folders
) -> dict[str, bytes]:
    """The program files that a target's scope needs, as this version writes them, by path."""
    top = own_top(folders, target)
    _, packs, is_needed = _find_callers(records, target)
    if not is_needed:
        return {}
    programs = load_programs()
    if not packs:
        programs = programs._replace(runner={})
    found = {os.path.join(top, name): data for name, data in programs.all.items()}
    if packs:
        found[os.path.join(top, TABLE)] = _dump_table(packs, target, folders)
    return found


def _find_callers(
    records: Mapping[str, Record | None], target: Target
) -> tuple[list[Record], dict[str, list[str]], bool]:
    """A target's records, their packs that are run by host, and if any hook calls the launcher."""
    scope, packs, is_called = list[Record](), dict[str, set[str]](), False
    for record in records.values():
        project = record.project if record and record.scope == "project" else ""
        if not record or project != (target.project if target.shared else ""):
            continue
        scope.append(record)
        entries = [one for one in record.entries if not FORMER_CALL.search(str(one.written))]
        callers = {entry.id.partition("/")[0] for entry in entries}
        is_called = is_called or GUARD in callers
        run = callers.intersection(run_packs(record))
        if run and record.host in hosts.names():  # else it is a newer hookctl's
            packs.setdefault(record.host, set()).update(run)
    return scope, {name: sorted(packs[name]) for name in sorted(packs)}, is_called or bool(packs)


# A project: its committed ledger, and what git is told of hookctl's folder


def plan_project_files(
    draft: Draft, records: Records, changed: Mapping[str, Record | None], *, removes: bool
) -> list[Change]:
    """The changes of the project's ledger and of the files for git; `removes` is of other files."""
    from hookctl.ownership import committed  # late: few are shared

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
