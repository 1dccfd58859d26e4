"""Gathers what doctor judges of one settings file: its text, what the ledger has of it, and what it runs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

from hookctl import events, hosts
from hookctl.checks import probes
from hookctl.checks.facts import FileFacts, Layer, OtherReader, PackSource
from hookctl.checks.machine import Machine
from hookctl.documents import Document
from hookctl.errors import HookctlError
from hookctl.ledger import store
from hookctl.model import PackRecord, Record
from hookctl.packs.choices import settings_from
from hookctl.packs.wrapping import wraps
from hookctl.settings import approval, effective
from hookctl.settings.sources import look
from hookctl.settings.targets import GUARD, Target, require_inside
from hookctl.system import files, interpreter, project


def file_facts(machine: Machine, target: Target) -> FileFacts:
    """A settings file with something of ours in it, or that a host in use has for the user."""
    _, record = store.page_of(machine.records, target.path)
    host, packs = target.host, record.packs if record else {}
    facts = _any_file(machine, target, record)
    rights = probes.rights(_guarded_paths(machine, facts))
    facts = facts._replace(rights=rights, readers=_readers(machine, facts))
    elements = facts.current.elements if facts.current else ()
    if target.shared and (record or elements):
        facts = facts._replace(ignore_files=probes.ignore_files(machine.reader, target.project))
    if facts.document is not None and any(element.pack in packs for element in elements):
        closed = approval.closed(
            host, target.path, facts.document.value, machine.environ, machine.read
        )
        scope, start = target.scope, facts.start
        untrusted = approval.is_untrusted(host, scope, start, machine.environ, machine.read)
        facts = facts._replace(closed=tuple(closed), is_untrusted=untrusted)
    if packs:
        facts = _with_packs(machine, facts, packs)
    return _with_guard(machine, facts, packs[GUARD]) if GUARD in packs else facts


def parsed(machine: Machine, target: Target) -> tuple[Document | None, HookctlError | None]:
    """What a settings file says, or why it cannot be read."""
    try:
        return machine.reader.patient_document(target.path, target.host.format)[1], None
    except HookctlError as error:
        return None, error


def _any_file(machine: Machine, target: Target, record: Record | None) -> FileFacts:
    """A settings file that may have something of ours: it is not read through a link out of its project."""
    document, current, error = None, None, None
    try:
        if target.project:
            require_inside(target.project, target.path)
        document, error = parsed(machine, target)
        if document is not None:
            current = look(target.host, document, (), record.entries if record else ())
    except HookctlError as problem:
        error = problem
    return bare_facts(machine, target, record, document, error)._replace(current=current)


def bare_facts(
    machine: Machine,
    target: Target,
    record: Record | None,
    document: Document | None,
    error: HookctlError | None,
) -> FileFacts:
    """What there is to know of any settings file."""
    start = target.project or machine.folders.cwd
    users = target.path
    if target.scope != "user":
        users = machine.standing(target.host, "user")[1]
    layers = machine.layers(target.host, users, start)
    sources = [layer.source for layer in layers]
    switches = effective.with_switches(machine.folders, target.host, sources, start, machine.read)
    return FileFacts(
        target=target,
        host=target.host,
        path=target.path,
        real_path=store.real_path(target.path),
        document=document,
        error=error,
        record=record,
        guard=record.packs.get(GUARD) if record else None,
        current=None,
        user=os.geteuid(),
        state=machine.folders.state,
        cwd_project=machine.cwd_project,
        environ=machine.environ,
        config_folder=hosts.config_folder(target.host, machine.environ),
        start=start,
        layers=layers,
        switch_layers=tuple(switches),
        is_file=os.path.isfile(target.path),
        is_read_only=_is_read_only(target.path),
        written_at=probes.written_at(target.path),
        links=probes.links(target.path),
        backup=_backup(machine, target.path) if error else 0,
        knobs=machine.knobs,
        now=machine.now,
    )


def _backup(machine: Machine, path: str) -> int:
    """The number of the last text of a settings file that hookctl kept; 0 where there is none."""
    with contextlib.suppress(HookctlError, OSError):
        backups = files.backups(machine.folders.state, store.real_path(path))
        return max(files.numbered(backups), default=0)
    return 0


def _guarded_paths(machine: Machine, facts: FileFacts) -> list[str]:
    """What nobody else should be able to change: settings, what the hooks run, and hookctl's own state."""
    paths = [facts.path] if facts.document is not None else []
    for page in facts.record.packs.values() if facts.record else ():
        paths += [os.path.join(page.folder, name) for name in page.files]
    if facts.guard:
        paths.append(machine.folders.state)
        paths.append(settings_from(facts.guard.settings).python or machine.folders.state)
    return paths


def _readers(machine: Machine, facts: FileFacts) -> tuple[OtherReader, ...]:
    """The agents that read this file too, if the guard is in it."""
    readers = []
    for about in facts.host.also_read_by if facts.guard else ():
        if facts.target.scope not in about.scopes or about.host == facts.host.name:
            continue
        other = machine.load(about.host)
        users = machine.standing(other, "user")[1]
        own = ""
        for layer in machine.layers(other, users, facts.start):
            if not own and layer.real_path != facts.real_path and _has_guard(layer):
                own = layer.source.path
        is_there = bool(own) or bool(hosts.client(other, machine.environ))
        only = f" {about.only}" if about.only else ""
        readers.append(OtherReader(other.title, only, is_there, own))
    return tuple(readers)


def _with_packs(machine: Machine, facts: FileFacts, packs: Mapping[str, PackRecord]) -> FileFacts:
    """The files of packs by path, and where they came from."""
    others = {name: page for name, page in sorted(packs.items()) if name != GUARD}
    sources = {}
    for name, page in others.items():
        if page.source and not facts.target.shared:
            sources[name] = _pack_source(page.source)
    programs = {name: probes.pack_files(machine.reader, page) for name, page in others.items()}
    return facts._replace(pack_files=programs, pack_sources=sources)


def _with_guard(machine: Machine, facts: FileFacts, page: PackRecord) -> FileFacts:
    """What the guard's registration runs, and what it did."""
    host, target = facts.host, facts.target
    settings, elements = (
        settings_from(page.settings),
        facts.current.elements if facts.current else (),
    )
    python = None
    if settings.events:
        program = settings.python
        if target.shared:  # there the command takes whatever python3 is on PATH
            program = interpreter.python3(machine.environ) or "python3"
        python = probes.python(program)
    is_wrapping = any(wraps(element.id) for element in elements)
    log_folder = ""
    if target.project:
        log_folder = os.path.basename(project.state_folder(machine.folders.state, target.project))
    own_lines = [line for line in machine.log() if line.get("host") == host.name]
    return facts._replace(
        config=probes.configuration(machine.reader, page.folder),
        python=python,
        programs=probes.guard_files(machine.reader, page, wraps=is_wrapping),
        program_since=probes.written_at(os.path.join(page.folder, probes.HOOK)),
        log_folder=log_folder,
        log=tuple(line for line in own_lines if line.get("event") != events.WRAPPED),
    )


def _is_read_only(path: str) -> bool:
    with contextlib.suppress(OSError, ValueError):  # there may be no file
        return files.is_read_only(path)
    return False


def _has_guard(layer: Layer) -> bool:
    return any(hook.id == effective.STOP for hook in layer.hooks)


def _pack_source(path: str) -> PackSource:
    """The pack's own file, as it is now."""
    from hookctl.packs.pack import load_file

    try:
        pack = load_file(path)
    except HookctlError as error:
        return PackSource(path, error=error)
    return PackSource(path, pack.name, pack.version)
