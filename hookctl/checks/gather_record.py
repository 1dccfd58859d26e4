"""Gathers the facts about hookctl's own record."""

from __future__ import annotations

from collections.abc import Container, Iterator

from hookctl import transaction
from hookctl.checks.facts import RecordFacts, RulesFile
from hookctl.documents.rules import RulesDocument
from hookctl.errors import HookctlError
from hookctl.ledger import committed, store
from hookctl.model import Record
from hookctl.packs.choices import settings_from
from hookctl.settings.targets import GUARD, RULES
from hookctl.system import files, project
from hookctl.system.folders import Folders


def record_facts(folders: Folders) -> RecordFacts:
    """All readable records, and the faults of ledgers and journal."""
    interrupted, journal_error = _read_journal(folders)
    facts = RecordFacts({}, folders.ledger, folders.journal, interrupted, journal_error, (), (), ())
    try:
        local_records = store.load(folders)
    except HookctlError as error:
        return facts._replace(errors=(error,))
    gone = store.away(folders, local_records)
    records = {}
    for key, record in local_records.items():
        if record.scope != "project":
            records[key] = record
    errors = []
    for root in _list_projects(folders, local_records, gone):
        try:
            records |= committed.read(folders, [root])
        except HookctlError as error:
            errors.append(error)
    facts = facts._replace(gone=tuple((key, local_records[key]) for key in gone))
    return _sort_out(facts._replace(errors=tuple(errors)), records)


def _list_projects(folders: Folders, records: dict[str, Record], gone: Container[str]) -> list[str]:
    """The projects whose committed ledger counts: the one of the working folder first."""
    projects = [project.look(folders.cwd, folders.environ)]
    for key, record in records.items():
        if record.scope == "project" and key not in gone:
            projects.append(record.project)
    return list(dict.fromkeys(projects))


def _sort_out(facts: RecordFacts, records: dict[str, Record]) -> RecordFacts:
    """The facts with usable records and invalid settings."""
    gone = {key for key, _ in facts.gone}
    usable: dict[str, Record] = {}
    misfits = []
    for key, record in records.items():
        if key in gone:
            continue
        if _has_valid_settings(record):
            usable[key] = record
        else:
            misfits.append((key, record))
    return facts._replace(records=usable, misfits=tuple(misfits), rules=tuple(_read_rules(usable)))


def _read_rules(records: dict[str, Record]) -> Iterator[RulesFile]:
    """The files with instructions in which the record has blocks."""
    for key, record in records.items():
        if record.format != RULES:
            continue
        path = store.current_path(records, key)
        try:
            document = RulesDocument.parse(files.read(path).data or b"", where=path)
            yield RulesFile(path, record, document)
        except HookctlError as error:
            yield RulesFile(path, record, None, error)


def _read_journal(folders: Folders) -> tuple[tuple[str, ...] | None, HookctlError | None]:
    """The files of an interrupted run, or why the journal cannot be read."""
    try:
        journal = transaction.pending(folders)
    except HookctlError as error:
        return None, error
    if not journal:
        return None, None
    return tuple(step.path for step in journal.steps), None


def _has_valid_settings(record: Record) -> bool:
    """Whether the guard's settings are valid; the ledger itself does not check them."""
    try:
        settings_from(record.packs[GUARD].settings if GUARD in record.packs else {})
    except HookctlError:
        return False
    return True
