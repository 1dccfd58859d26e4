"""Gathers the facts about what hooks of hookctl run: the guard's programs, and the packs' files."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any

from hookctl import events
from hookctl.checks.facts import (
    Configuration,
    FileFacts,
    FoundHook,
    GuardRegistration,
    PackSource,
    ProgramFile,
    Python,
    value_of,
)
from hookctl.checks.machine import Machine, written_at
from hookctl.documents import CONFLICT
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.ledger import committed
from hookctl.model import WRAP, PackRecord
from hookctl.packs import guard
from hookctl.packs.programs import load_programs
from hookctl.packs.released import find_origin
from hookctl.packs.run_files import describe_outside
from hookctl.planner.runtime_files import CONFIG, is_in_conflict
from hookctl.settings.targets import GUARD, Target
from hookctl.system import files, interpreter, owners, project
from hookctl.system.packages import HOOK, WRAPPER

# Of a decision about another agent than the one that a pack's hook runs for.
_OF_OTHER_AGENTS = ("child", "subagent", "no_input")


def add_programs(machine: Machine, facts: FileFacts, pack_record: PackRecord) -> FileFacts:
    """The facts with the guard's configuration, and where its programs come from."""
    folder, reader = pack_record.folder, machine.reader
    is_wrapping = any(hook.id.startswith(WRAP) for hook in facts.elements)
    config = configuration(folder, reader.snapshot)
    explain_conflict(facts.target, config.error)
    facts = facts._replace(config=config, lost_programs=_find_lost_programs(facts))
    if not is_wrapping and not (facts.settings and facts.settings.events):
        return facts  # nothing runs them
    origin = find_origin(pack_record, wraps=is_wrapping, read=reader.snapshot)
    return facts._replace(origin=origin)


def add_guard(machine: Machine, facts: FileFacts, pack_record: PackRecord) -> FileFacts:
    """The facts with each program of the guard, their Python, and the guard's log."""
    target, settings = facts.target, facts.settings
    programs = _guard_files(machine, facts, pack_record)
    facts = add_programs(machine, facts, pack_record)
    config = facts.config
    assert config is not None
    facts = facts._replace(
        has_other_state=os.path.isdir(str(config.value.get("state_dir"))),
        python=_find_python(machine, target, settings.python)
        if settings and settings.events
        else None,
        programs=programs,
        program_since=written_at(os.path.join(pack_record.folder, HOOK)),
        log=tuple(_find_stops(machine, facts.host.name)),
    )
    if target.project:
        state = project.state_folder(machine.folders.state, target.project)
        facts = facts._replace(log_folder=os.path.basename(state))
    if target.shared:
        outside = tuple(describe_outside(config.value, target.project, machine.environ))
        path_python = first_python(value_of(facts.reaching, {}, "PATH").text, target.project)
        config = config._replace(outside=outside)
        facts = facts._replace(config=config, path_python=path_python)
    return facts


def configuration(folder: str, read: Callable[[str], files.Snapshot]) -> Configuration:
    """The guard's config.json in a folder."""
    path = os.path.join(folder, CONFIG)
    try:
        data = read(path).data
        if data is None:
            return Configuration(path, False, {}, None)
        value = JsonDocument.parse(data, where=path, comments=False, trailing_commas=False).value
        if not isinstance(value, dict):
            raise HookctlError("wrong_shape", "it is not a JSON object")
    except HookctlError as error:
        return Configuration(path, True, {}, error)
    return Configuration(path, True, value, None)


def explain_conflict(target: Target, error: HookctlError | None) -> None:
    """Let the error of a merge conflict in a project say how to resolve it."""
    if error and error.message == CONFLICT and target.shared:
        with contextlib.suppress(HookctlError):  # of the ledger, which has its own finding
            error.hint = committed.conflict_fix(target.project, error.path) or error.hint


def _find_python(machine: Machine, target: Target, path: str) -> Python:
    """The interpreter that runs a launcher, asked for its version if it can be started.

    `path` is that on record.
    """
    if target.shared:  # the shared command runs whatever python3 is on PATH
        path = interpreter.python3(machine.environ, target.project) or "python3"
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        return Python(path, False, None)
    fault = owners.find_fault(path)
    if fault:
        return Python(path, True, None, fault)
    answer = interpreter.ask(path)
    return Python(path, True, answer[1] if answer else None)


def first_python(path: str, project: str) -> str:
    """The first python3 on a PATH, as a hook that is started in the project finds it; or ''."""
    for folder in path.split(":") if path else ():
        program = os.path.join(project, folder, "python3")
        if os.path.lexists(program):
            return program
    return ""


def _find_lost_programs(facts: FileFacts, of_packs: Container[str] = (GUARD,)) -> dict[str, str]:
    """The missing programs that the hooks of these packs run."""
    lost = {}
    for hook in facts.elements:
        path = guard.lost_program(str(hook.fields.get("command"))) if hook.pack in of_packs else ""
        if path:
            lost[hook.id] = path
    return lost


def _find_stops(machine: Machine, host: str) -> Iterator[dict[str, Any]]:
    """The log lines of a host, without those of wrapped hooks."""
    for line in machine.log():
        if line.get("host") == host and line.get("event") != events.WRAPPED:
            yield line


def _guard_files(
    machine: Machine, facts: FileFacts | None, pack_record: PackRecord
) -> tuple[ProgramFile, ...]:
    """The guard's programs, the launcher first, compared with the ledger and this version.

    Programs that only this version has count only if its launcher is installed.
    """
    wraps = any(hook.id.startswith(WRAP) for hook in facts.elements) if facts else False
    current = load_programs(wrapper=wraps).all
    names = [HOOK, *(name for name in pack_record.files if name not in (CONFIG, HOOK, WRAPPER))]
    if wraps:
        names.append(WRAPPER)
    launcher = machine.reader.snapshots([os.path.join(pack_record.folder, HOOK)])
    if [getattr(snapshot, "data", None) for snapshot in launcher.values()] == [current[HOOK]]:
        names += current
    return _compare_files(machine, pack_record, names, current)


def _compare_files(
    machine: Machine, pack_record: PackRecord, names: Iterable[str], current: Mapping[str, bytes]
) -> tuple[ProgramFile, ...]:
    """Installed files compared with the record and with this version."""
    places = {name: os.path.join(pack_record.folder, name) for name in names}
    snapshots = machine.reader.snapshots(places.values())
    digests = {name: files.digest(data) for name, data in current.items()}
    programs = []
    for name, place in places.items():
        snapshot, path = snapshots[place], os.path.normpath(place)
        if isinstance(snapshot, HookctlError):
            programs.append(ProgramFile(name, path, snapshot, False, False, False))
            continue
        data = snapshot.data
        sha = files.digest(data)
        is_current = name not in current or data == current[name]
        # A package has no digest on record: it has one in its name.
        is_recorded = sha != "" and sha in (pack_record.files.get(name), digests.get(name))
        programs.append(
            ProgramFile(name, path, None, data is not None, is_recorded, is_current, sha)
        )
    return tuple(programs)


def describe_registration(
    machine: Machine, hook: FoundHook, facts: FileFacts | None
) -> GuardRegistration:
    """A hook of the guard's on a stop, and what it runs; `facts` are of its file, if known."""
    pack_record, source = facts.guard if facts else None, hook.source
    folder, programs = "", facts.programs if facts else ()
    if pack_record:
        folder = pack_record.folder
    else:
        target = facts.target if facts else Target(source.host, source.scope, source.path)
        program = guard.hook_path(str(hook.fields["command"]), hook.id, "stop", target)
        folder = os.path.dirname(program)
    if not folder:
        return GuardRegistration(hook, pack_record, "", {}, None, "")
    if pack_record is None:
        programs = _guard_files(machine, None, PackRecord("", {}, folder))
    shas = [program.sha for program in programs if program.name != WRAPPER]
    path = os.path.join(folder, HOOK)
    return GuardRegistration(
        hook,
        pack_record,
        folder,
        config=configuration(folder, machine.reader.snapshot).value,
        since=written_at(path) if os.path.isfile(path) else None,
        digest="-".join(shas) if all(shas) else "",
    )


def add_packs(machine: Machine, facts: FileFacts) -> FileFacts:
    """The facts with the installed files of the other packs, and what those came from."""
    files_by_pack, sources = {}, {}
    for name, pack_record in sorted(facts.packs.items()):
        if name == GUARD:
            continue
        names = sorted(pack_record.files)
        no_current: dict[str, bytes] = {}  # only the guard's files come with this version
        files_by_pack[name] = _compare_files(machine, pack_record, names, no_current)
        if pack_record.source and not pack_record.commit and not facts.target.shared:
            sources[name] = _read_pack_source(pack_record.source)
    facts = facts._replace(pack_files=files_by_pack, pack_sources=sources)
    facts = add_runner(machine, facts)
    if not facts.run_packs:
        return facts
    python = str(facts.packs[facts.run_packs[0]].settings.get("python", ""))
    facts = facts._replace(runner_python=_find_python(machine, facts.target, python))
    return _add_runs(machine, facts)


def _add_runs(machine: Machine, facts: FileFacts) -> FileFacts:
    """The facts with the runs of packs' hooks, and the stops that show that their event came."""
    log_folder = ""
    if facts.target.project:
        state = project.state_folder(machine.folders.state, facts.target.project)
        log_folder = os.path.basename(state)
    stops = []
    for line in _find_stops(machine, facts.host.name):
        is_here = log_folder in ("", line["project"])
        if is_here and line.get("event") == "stop" and line.get("code") not in _OF_OTHER_AGENTS:
            stops.append(line["t"])
    return facts._replace(runs=machine.runs(log_folder), stops=tuple(stops))


def add_runner(machine: Machine, facts: FileFacts) -> FileFacts:
    """The facts with what runs the packs' commands of Claude Code's protocol, if any."""
    if not facts.run_packs:
        return facts
    from hookctl.packs.runner_faults import find_fault  # late: most have the guard
    from hookctl.planner.runner_files import list_files, runtime_folder

    target, folders, host = facts.target, machine.folders, facts.host.name
    folder, project = runtime_folder(folders, target), target.project if target.shared else ""
    expected = list_files(machine.records, project, folders.state)
    is_merged, read = functools.partial(is_in_conflict, target), machine.reader.snapshot
    return facts._replace(
        runner=find_fault(folder, expected, host, read, is_merged),
        lost_runners=_find_lost_programs(facts, facts.run_packs),
    )


def _read_pack_source(path: str) -> PackSource:
    """The file that a pack was installed from, as it is now."""
    from hookctl.packs.pack import load_file  # late: most records are the guard's

    try:
        pack = load_file(path)
    except HookctlError as error:
        return PackSource(path, error=error)
    return PackSource(path, pack.name, pack.version)
