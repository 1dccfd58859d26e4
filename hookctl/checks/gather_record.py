"""Gathers the facts about hookctl's own record."""

from __future__ import annotations

from collections.abc import Iterator

from hookctl.checks import known
from hookctl.checks.facts import RecordFacts, RulesFile
from hookctl.documents.rules import RulesDocument
from hookctl.errors import HookctlError
from hookctl.ledger import store
from hookctl.model import Record
from hookctl.packs.choices import settings_from
from hookctl.run.journal import read_journal
from hookctl.settings.targets import GUARD, RULES
from hookctl.system import files
from hookctl.system.folders import Folders


def record_facts(folders: Folders, *, everywhere: bool) -> RecordFacts:
    """The readable records that are looked at, and the faults of ledgers and journal."""
    interrupted, journal_error = _read_journal(folders)
    found = known.read(folders, everywhere=everywhere)
    facts = RecordFacts(
        records={},
        ledger=folders.ledger,
        journal=folders.journal,
        interrupted=interrupted,
        journal_error=journal_error,
        errors=found.errors,
        gone=tuple((key, record) for key, _, record in found.gone),
        misfits=(),
        others=found.others,
        others_gone=found.others_gone,
    )
    return _sort_out(facts, found.records)


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
        journal = read_journal(folders)
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
