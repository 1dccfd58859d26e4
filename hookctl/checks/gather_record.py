"""Gathers what doctor judges of hookctl's own record."""

from __future__ import annotations

import os

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
    """The pages of every ledger that can be read, and what is wrong with the others and with the journal."""
    interrupted, journal_error = _journal(folders)
    try:
        pages = store.load(folders.ledger)
    except HookctlError as error:
        return RecordFacts(
            {}, folders.ledger, folders.journal, interrupted, journal_error, (error,), (), ()
        )
    records = {key: page for key, page in pages.items() if page.scope != "project"}
    roots = [project.find(folders.cwd, folders.environ)]
    roots += [
        page.project for page in pages.values() if page.scope == "project" and not _is_gone(page)
    ]
    errors = []
    for root in dict.fromkeys(roots):
        try:
            records |= committed.read(folders, [root])
        except HookctlError as error:
            errors.append(error)
    gone = tuple((key, page) for key, page in pages.items() if _is_gone(page))
    records = {key: page for key, page in records.items() if not _is_gone(page)}
    misfits = tuple((key, page) for key, page in records.items() if not _fits(page))
    for key, _ in misfits:
        del records[key]
    return RecordFacts(
        records,
        folders.ledger,
        folders.journal,
        interrupted,
        journal_error,
        tuple(errors),
        gone,
        misfits,
    )


def _journal(folders: Folders) -> tuple[tuple[str, ...] | None, HookctlError | None]:
    try:
        pending = transaction.pending(folders)
    except HookctlError as error:
        return None, error
    return tuple(step.path for step in pending.steps) if pending else None, None


def _is_gone(page: Record) -> bool:
    return bool(page.project) and not os.path.isdir(page.project)


def _fits(record: Record) -> bool:
    """Whether the settings in a page, which the ledger itself does not look into, are the guard's."""
    try:
        settings_from(record.packs[GUARD].settings if GUARD in record.packs else {})
    except HookctlError:
        return False
    return True
