"""Gathers the facts about one settings file: its text, its record and the programs it runs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

from hookctl import events, hosts
from hookctl.checks import probes
from hookctl.checks.facts import FileFacts, Layer, OtherReader, PackSource, Python, value_of
from hookctl.checks.machine import Machine
from hookctl.documents import Document
from hookctl.errors import HookctlError
from hookctl.hosts.model import OtherAgent
from hookctl.ledger import store
from hookctl.model import Current, HookEntry, PackRecord, Record
from hookctl.packs import guard
from hookctl.packs.choices import settings_from
from hookctl.packs.model import Origin
from hookctl.packs.released import find_origin
from hookctl.packs.run_files import describe_outside
from hookctl.packs.wrapping import is_wrap_id
from hookctl.planner.sources import look
from hookctl.settings import approval, effective
from hookctl.settings.targets import GUARD, Read, Target, repository_above, require_inside
from hookctl.system import backups, files, git, interpreter, project


def file_facts(machine: Machine, target: Target) -> FileFacts:
    """The facts about a file with hookctl's entries, or the user's file of a host in use."""
    _, record = store.find_record(machine.records, target.path)
    packs = record.packs if record else {}
    document, current, error = read_entries(target, record, machine.reader.patient_document)
    facts = bare_facts(machine, target, record, document, error)
    facts = facts._replace(
        current=current,
        rights=probes.rights(_list_protected_paths(machine, facts)),
        readers=_find_other_readers(machine, facts),
    )
    hooks = facts.current.elements if facts.current else ()
    if target.shared and (record or hooks):
        paths = [target.path, *project.shared_files(target.project)]
        state = machine.folders.state
        ignored = git.find_ignored(target.project, paths, machine.environ, state, personal=True)
        nested = tuple(probes.find_foreign_folders(target.project))
        repository = repository_above(target)
        facts = facts._replace(ignored=ignored, nested=nested, repository=repository)
    if any(hook.pack in packs for hook in hooks):
        facts = _add_approvals(machine, facts)
    if packs:
        facts = _add_packs(machine, facts, packs)
    if GUARD in packs:
        facts = _add_guard(machine, facts, packs[GUARD])
    return facts


def _add_approvals(machine: Machine, facts: FileFacts) -> FileFacts:
    """The facts with the hooks that wait for an approval, and whether the folder is trusted."""
    if facts.document is None:
        return facts
    host, environ, read = facts.host, machine.environ, machine.read
    closed = approval.closed(host, facts.path, facts.document.value, environ, read)
    is_untrusted = approval.is_untrusted(host, facts.target.scope, facts.start, environ, read)
    return facts._replace(closed=tuple(closed), is_untrusted=is_untrusted)


def parse_settings(machine: Machine, target: Target) -> tuple[Document | None, HookctlError | None]:
    """The document of a settings file, or why it cannot be read."""
    try:
        return machine.reader.patient_document(target.path, target.host.format)[1], None
    except HookctlError as error:
        return None, error


def read_entries(
    target: Target, record: Record | None, read: Read
) -> tuple[Document | None, Current | None, HookctlError | None]:
    """A settings file and what is in it of ours, or why not; no link may lead out of a project."""
    document = None
    try:
        if target.project:
            require_inside(target.project, target.path)
        document = read(target.path, target.host.format)[1]
        current = look(target.host, document, (), record.entries if record else ())
    except HookctlError as error:
        return document, None, error
    return document, current, None


def bare_facts(
    machine: Machine,
    target: Target,
    record: Record | None,
    document: Document | None,
    error: HookctlError | None,
) -> FileFacts:
    """The facts about any settings file, whether or not hookctl has entries in it."""
    facts = _describe_file(machine, target, record)
    layers, switches = machine.surroundings(target)
    return facts._replace(
        document=document,
        error=error,
        layers=layers,
        switch_layers=switches,
        backup=_find_last_backup(machine, target.path) if error else 0,
    )


def _describe_file(machine: Machine, target: Target, record: Record | None) -> FileFacts:
    """The facts that need neither the file's text nor the other files of the host."""
    return FileFacts(
        target=target,
        host=target.host,
        path=target.path,
        real_path=store.real_path(target.path),
        record=record,
        guard=record.packs.get(GUARD) if record else None,
        state=machine.folders.state,
        cwd=machine.folders.cwd,
        cwd_project=machine.cwd_project,
        environ=machine.environ,
        config_folder=hosts.config_folder(target.host, machine.environ),
        start=target.project or machine.folders.cwd,
        is_file=os.path.isfile(target.path),
        is_read_only=_is_read_only(target.path),
        written_at=probes.written_at(target.path),
        links=probes.links(target.path),
        settings_schema=machine.settings_schema,
        now=machine.now,
    )


def _find_last_backup(machine: Machine, path: str) -> int:
    """The number of the newest backup of a settings file; 0 if there is none."""
    with contextlib.suppress(HookctlError, OSError):
        kept = backups.read_backups(machine.folders, store.real_path(path))
        return max(backups.number_backups(kept), default=0)
    return 0


def _list_protected_paths(machine: Machine, facts: FileFacts) -> list[str]:
    """The paths that only the user may write: settings, hook programs, hookctl's state."""
    paths = [facts.path] if facts.document is not None else []
    packs = facts.record.packs if facts.record else {}
    for pack_record in packs.values():
        paths += [os.path.join(pack_record.folder, name) for name in pack_record.files]
    if facts.guard:
        paths.append(machine.folders.state)
    return paths


def _find_other_readers(machine: Machine, facts: FileFacts) -> tuple[OtherReader, ...]:
    """The other agents that read this file, if the guard is in it."""
    if not facts.guard:
        return ()
    readers = []
    for entry in facts.host.also_read_by:
        if facts.target.scope in entry.scopes and entry.host != facts.host.name:
            readers.append(_describe_reader(machine, facts, entry))
    return tuple(readers)


def _describe_reader(machine: Machine, facts: FileFacts, entry: OtherAgent) -> OtherReader:
    """Another agent that reads this file, and the guard that it has elsewhere."""
    other = machine.load(entry.host)
    user_path = machine.active_file(other, "user")[1]
    guard_path = ""
    for layer in machine.layers(other, user_path, facts.start):
        if not guard_path and layer.real_path != facts.real_path and _has_guard(layer):
            guard_path = layer.source.path
    is_there = bool(guard_path) or bool(hosts.client(other, machine.environ))
    condition = f" {entry.only}" if entry.only else ""
    return OtherReader(other.title, condition, is_there, guard_path)


def _add_packs(machine: Machine, facts: FileFacts, packs: Mapping[str, PackRecord]) -> FileFacts:
    """The facts with the files of all packs but the guard, and the packs' own files."""
    files_by_pack = {}
    sources = {}
    for name, pack_record in sorted(packs.items()):
        if name == GUARD:
            continue
        files_by_pack[name] = probes.pack_files(machine.reader, pack_record)
        if pack_record.source and not facts.target.shared:
            sources[name] = _read_pack_source(pack_record.source)
    return facts._replace(pack_files=files_by_pack, pack_sources=sources)


def _add_guard(machine: Machine, facts: FileFacts, pack_record: PackRecord) -> FileFacts:
    """The facts with the guard's programs and the log of what it decided."""
    target = facts.target
    hooks = facts.current.elements if facts.current else ()
    is_wrapping = any(is_wrap_id(hook.id) for hook in hooks)
    log_folder = ""
    if target.project:
        log_folder = os.path.basename(project.state_folder(machine.folders.state, target.project))
    config = probes.configuration(machine.reader, pack_record.folder)
    if target.shared:
        outside = describe_outside(config.value, target.project, machine.environ)
        config = config._replace(outside=tuple(outside))
    return facts._replace(
        config=config,
        has_other_state=os.path.isdir(str(config.value.get("state_dir"))),
        python=_find_python(machine, target, pack_record),
        path_python=probes.first_python(value_of(facts.reaching, {}, "PATH").text, target.project),
        lost_programs=_find_lost_programs(hooks, pack_record),
        programs=probes.guard_files(machine.reader, pack_record, wraps=is_wrapping),
        origin=_find_origin(machine, pack_record, is_wrapping),
        program_since=probes.written_at(os.path.join(pack_record.folder, probes.HOOK)),
        log_folder=log_folder,
        log=_read_stop_log(machine, facts.host.name),
    )


def _find_lost_programs(hooks: Sequence[HookEntry], pack_record: PackRecord) -> dict[str, str]:
    """What the guard's hooks run in another folder than its own, where there is nothing."""
    lost = {}
    for hook in hooks:
        path = guard.lost_program(str(hook.fields.get("command"))) if hook.pack == GUARD else ""
        if path and os.path.dirname(path) != pack_record.folder:
            lost[hook.id] = path
    return lost


def _find_origin(machine: Machine, pack_record: PackRecord, is_wrapping: bool) -> Origin | None:
    """Where the programs come from that the guard's hooks run; None where there are none."""
    if not is_wrapping and not settings_from(pack_record.settings).events:
        return None
    return find_origin(pack_record, wraps=is_wrapping, read=machine.reader.snapshot)


def _find_python(machine: Machine, target: Target, pack_record: PackRecord) -> Python | None:
    """The interpreter that runs the guard; None if the guard is off."""
    settings = settings_from(pack_record.settings)
    if not settings.events:
        return None
    if target.shared:  # the shared command runs whatever python3 is on PATH
        program = interpreter.python3(machine.environ, target.project)
        return probes.python(program or "python3")
    return probes.python(settings.python)


def _read_stop_log(machine: Machine, host: str) -> tuple[dict[str, Any], ...]:
    """The log lines of a host, without those of wrapped hooks."""
    lines = []
    for line in machine.log():
        if line.get("host") == host and line.get("event") != events.WRAPPED:
            lines.append(line)
    return tuple(lines)


def _is_read_only(path: str) -> bool:
    with contextlib.suppress(OSError, ValueError):  # there may be no file
        return files.is_read_only(path)
    return False


def _has_guard(layer: Layer) -> bool:
    return any(hook.id == effective.STOP for hook in layer.hooks)


def _read_pack_source(path: str) -> PackSource:
    """The file that a pack was installed from, as it is now."""
    from hookctl.packs.pack import load_file  # late: most records are the guard's

    try:
        pack = load_file(path)
    except HookctlError as error:
        return PackSource(path, error=error)
    return PackSource(path, pack.name, pack.version)
