"""Gathers the facts about one settings file: its text, its record, and who else can reach it."""

from __future__ import annotations

import contextlib
import os

from hookctl import hosts
from hookctl.checks.facts import FileFacts
from hookctl.checks.gather_guard import add_guard, add_packs, add_programs, explain_conflict
from hookctl.documents import Document
from hookctl.errors import HookctlError
from hookctl.ledger import store
from hookctl.model import Current, PathFault, Record
from hookctl.packs.choices import settings_from
from hookctl.planner.own_files import list_programs
from hookctl.planner.sources import look
from hookctl.settings.targets import (
    GUARD,
    Read,
    Target,
    repository_above,
    require_inside,
)
from hookctl.survey.machine import Machine, written_at
from hookctl.system import files, owners, project


def file_facts(machine: Machine, target: Target) -> FileFacts:
    """The facts about a file with hookctl's entries, or the user's file of a host in use."""
    _, record = store.find_record(machine.records, target.path)
    document, current, error = read_entries(target, record, machine.reader.patient_document)
    if record and record.disabled and document is not None:
        record, current = _with_returned(target, record, document)
    facts = bare_facts(machine, target, record, document, error)._replace(current=current)
    facts = facts._replace(loose=_find_loose_paths(machine, facts))
    if target.shared and (record or facts.elements):
        facts = _add_repository(machine, facts)
    facts = add_programs(machine, facts)
    if facts.packs.keys() - {GUARD}:
        facts = add_packs(machine, facts)
    if facts.guard:
        facts = add_guard(machine, facts)
    return facts


def _with_returned(
    target: Target, record: Record, document: Document
) -> tuple[Record, Current | None]:
    """The record with those of its disabled hooks that are back in the file, and what is there."""
    from hookctl.ledger.disabled import with_returned  # late: few have anything disabled

    record = with_returned(target.host, record, document)
    with contextlib.suppress(HookctlError):
        return record, look(target.host, document, (), record.entries)
    return record, None


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
        explain_conflict(target, error)
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
    path, guard = target.path, record.packs.get(GUARD) if record else None
    layers, found = machine.surroundings(target)
    is_read_only = False
    with contextlib.suppress(OSError, ValueError):  # there may be no file
        is_read_only = files.is_read_only(path)
    return FileFacts(
        target=target,
        host=target.host,
        path=path,
        real_path=store.real_path(path),
        record=record,
        guard=guard,
        settings=settings_from(guard.settings) if guard else None,
        workplace=machine.workplace,
        config_folder=hosts.config_folder(target.host, machine.environ),
        start=target.project or machine.start_of(target.host),
        is_file=os.path.isfile(path),
        is_read_only=is_read_only,
        written_at=written_at(path),
        document=document,
        error=error,
        layers=layers,
        switches=found,
        backup=_find_last_backup(machine, path) if error else 0,
        disabled=machine.disabled_in(path),
    )


def _find_last_backup(machine: Machine, path: str) -> int:
    """The number of the newest backup of a settings file; 0 if there is none."""
    from hookctl.system import backups  # late: most settings files can be read

    with contextlib.suppress(HookctlError, OSError):
        kept = backups.number_backups(backups.read_backups(machine.folders, store.real_path(path)))
        # After an uninstall and a new install it is number 1, that before the first write.
        return max(kept, key=lambda number: kept[number].at, default=0)
    return 0


def _find_loose_paths(machine: Machine, facts: FileFacts) -> dict[str, PathFault]:
    """The settings, hook programs and state of hookctl that another user could change."""
    paths = [facts.path] if facts.document is not None else []
    for pack_record in facts.packs.values():
        paths += [os.path.join(pack_record.folder, name) for name in pack_record.files]
    if facts.guard:
        paths.append(machine.folders.state)
    with contextlib.suppress(HookctlError):  # add_programs tells why they cannot be listed
        read = machine.reader.snapshot
        paths += list_programs(machine.records, facts.target, machine.folders, read)
    return owners.find_faults([path for path in paths if os.path.exists(path)])


def _add_repository(machine: Machine, facts: FileFacts) -> FileFacts:
    """The facts about a project's file with what git ignores, and where its programs are."""
    from hookctl.system import git  # late: most settings files are no project's

    target, state = facts.target, machine.folders.state
    paths = [target.path, *project.shared_files(target.project)]
    ignored = git.find_ignored(target.project, paths, machine.environ, state)
    return facts._replace(ignored=ignored, repository=repository_above(target))
