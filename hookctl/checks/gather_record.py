"""Gathers the facts about hookctl's own record."""

from __future__ import annotations

from hookctl import transaction
from hookctl.checks.facts import RecordFacts
from hookctl.errors import HookctlError
from hookctl.ledger import committed, store
from hookctl.model import Record
from hookctl.packs.choices import settings_from
from hookctl.settings.targets import GUARD
from hookctl.system import project
from hookctl.system.folders import Folders


def record_facts(folders: Folders) -> RecordFacts:
    """All readable records, and the faults of ledgers and journal."""
    interrupted, journal_error = _read_journal(folders)
    facts = RecordFacts({}, folders.ledger, folders.journal, interrupted, journal_error, (), (), ())
    try:
        local_records = store.load(folders.ledger)
    except HookctlError as error:
        return facts._replace(errors=(error,))
    records = {}
    for key, record in local_records.items():
        if record.scope != "project":
            records[key] = record
    errors = []
    for root in _list_projects(folders, local_records):
        try:
            records |= committed.read(folders, [root])
        except HookctlError as error:
            errors.append(error)
    return _sort_out(facts._replace(errors=tuple(errors)), local_records, records)


def _list_projects(folders: Folders, records: dict[str, Record]) -> list[str]:
    """The projects whose committed ledger counts: the one of the working folder first."""
    projects = [project.find(folders.cwd, folders.environ)]
    for record in records.values():
        if record.scope == "project" and not _is_gone(record):
            projects.append(record.project)
    return list(dict.fromkeys(projects))


def _sort_out(
    facts: RecordFacts, local_records: dict[str, Record], records: dict[str, Record]
) -> RecordFacts:
    """The facts with usable records, missing projects and invalid settings."""
    gone = [(key, record) for key, record in local_records.items() if _is_gone(record)]
    usable: dict[str, Record] = {}
    misfits = []
    for key, record in records.items():
        if _is_gone(record):
            continue
        if _has_valid_settings(record):
            usable[key] = record
        else:
            misfits.append((key, record))
    return facts._replace(records=usable, gone=tuple(gone), misfits=tuple(misfits))


def _read_journal(folders: Folders) -> tuple[tuple[str, ...] | None, HookctlError | None]:
    """The files of an interrupted run, or why the journal cannot be read."""
    try:
        journal = transaction.pending(folders)
    except HookctlError as error:
        return None, error
    if not journal:
        return None, None
    return tuple(step.path for step in journal.steps), None


def _is_gone(record: Record) -> bool:
    return bool(record.project) and project.is_away(record.project)


def _has_valid_settings(record: Record) -> bool:
    """Whether the guard's settings are valid; the ledger itself does not check them."""
    try:
        settings_from(record.packs[GUARD].settings if GUARD in record.packs else {})
    except HookctlError:
        return False
    return True
