"""Reads hookctl's own record: of the user and of this project, or of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hookctl.documents.rules import RulesDocument
from hookctl.errors import HookctlError
from hookctl.ledger import store
from hookctl.model import Record
from hookctl.packs.choices import settings_from
from hookctl.settings.targets import GUARD, RULES
from hookctl.system import files, project
from hookctl.system.folders import Folders


class RulesFile(NamedTuple):
    """A file with instructions for an agent, in which the record has blocks of rules."""

    path: str
    record: Record
    document: RulesDocument | None
    error: HookctlError | None = None


class RecordFacts(NamedTuple):
    """hookctl's own record: the usable records, and the faults."""

    records: dict[str, Record]  # by the real path of their settings file
    errors: tuple[HookctlError, ...] = ()
    gone: tuple[tuple[str, str, Record], ...] = ()  # settings file, folder that is not there
    others: tuple[str, ...] = ()  # projects on record that are not looked at
    others_gone: tuple[str, ...] = ()  # those of them that are not there
    ledger: str = ""  # its path
    journal: str = ""
    interrupted: tuple[str, ...] | None = None  # the files of a run that was interrupted
    journal_error: HookctlError | None = None
    misfits: tuple[tuple[str, Record], ...] = ()  # whose settings of the guard are invalid
    rules: tuple[RulesFile, ...] = ()


def read_records(folders: Folders, *, everywhere: bool) -> RecordFacts:
    """The records of the user's files and of this project; of every known one with `everywhere`.

    Of another project nothing is read at all, so that nothing in it can be wrong here.
    """
    try:
        stored = store.load(folders)
    except HookctlError as error:
        return RecordFacts({}, (error,))
    here = project.look(folders.cwd, folders.environ)
    others = () if everywhere else _list_others(stored, here)
    away = store.away(folders, stored)
    looked_at = {key: one for key, one in stored.items() if one.project not in others}
    roots = [here]
    records = {}
    for key, record in looked_at.items():
        if record.scope != "project":
            records[key] = record
        elif key not in away:
            roots.append(record.project)
    errors = []
    for root in dict.fromkeys(roots):
        try:
            of_project = store.read(folders, [root])
        except HookctlError as error:
            errors.append(error)
            continue
        records |= {key: one for key, one in of_project.items() if one.scope == "project"}
    return RecordFacts(
        records,
        tuple(errors),
        gone=tuple((key, away[key], looked_at[key]) for key in away if key in looked_at),
        others=others,
        others_gone=tuple(name for name in others if project.is_away(name)),
    )


def _list_others(records: Mapping[str, Record], here: str) -> tuple[str, ...]:
    """The projects on record that are not this one."""
    projects = []
    for record in records.values():
        if record.project and store.real_path(record.project) != here:
            projects.append(record.project)
    return tuple(dict.fromkeys(projects))


def record_facts(folders: Folders, *, everywhere: bool) -> RecordFacts:
    """The usable records, and the faults of ledgers, journal and rules.

    Records with invalid settings of the guard are not usable: they are the `misfits`.
    """
    facts = read_records(folders, everywhere=everywhere)
    gone = {key for key, _, _ in facts.gone}
    usable: dict[str, Record] = {}
    misfits = []
    for key, record in facts.records.items():
        if key in gone:
            continue
        try:  # the ledger itself does not check the guard's settings
            settings_from(record.packs[GUARD].settings if GUARD in record.packs else {})
            usable[key] = record
        except HookctlError:
            misfits.append((key, record))
    facts = facts._replace(ledger=folders.ledger, journal=folders.journal)
    return _add_journal(folders, facts)._replace(
        records=usable, misfits=tuple(misfits), rules=tuple(_read_rules(usable))
    )


def _add_journal(folders: Folders, facts: RecordFacts) -> RecordFacts:
    """The facts with the files of an interrupted run, or why the journal cannot be read."""
    from hookctl.run.journal import read_journal  # late: status asks for the records only

    try:
        journal = read_journal(folders)
    except HookctlError as error:
        return facts._replace(journal_error=error)
    if not journal:
        return facts
    return facts._replace(interrupted=tuple(step.path for step in journal.steps))


def _read_rules(records: dict[str, Record]) -> Iterator[RulesFile]:
    """Instruction files that, according to the record, contain our blocks."""
    for key, record in records.items():
        if record.format != RULES:
            continue
        path = store.current_path(records, key)
        try:
            document = RulesDocument.parse(files.read(path).data or b"", where=path)
            yield RulesFile(path, record, document)
        except HookctlError as error:
            yield RulesFile(path, record, None, error)
