"""Judges hookctl's own record: the ledgers and the journal."""

from __future__ import annotations

from collections.abc import Iterator

from hookctl.checks.codes import Finding, finding, from_error
from hookctl.checks.facts import RecordFacts
from hookctl.model import Record


def judge(facts: RecordFacts) -> Iterator[Finding]:
    """What is wrong with the ledgers, and with the journal of a run."""
    yield from _judge_journal(facts)
    for key, record in facts.gone:
        yield _report_gone(key, record)
    for error in facts.errors:
        yield from_error(error)
    for path, record in facts.misfits:
        message = f"hookctl's record holds invalid settings of the guard for {path}"
        fix = "Move this file away and install again."
        yield finding("ledger_unreadable", message, record.host, facts.ledger, fix)


def _judge_journal(facts: RecordFacts) -> Iterator[Finding]:
    if facts.journal_error:
        yield from_error(facts.journal_error)
    elif facts.interrupted is not None:
        message = f"a run was interrupted; it was about to write {', '.join(facts.interrupted)}"
        fix = "`hookctl doctor --fix` completes it."
        yield finding("interrupted_run", message, "", facts.journal, fix)


def _report_gone(key: str, record: Record) -> Finding:
    """A project that was removed, or whose disk is not there just now."""
    message = f"hookctl's record names a project that no longer exists: {record.project}"
    if not record.project:
        message = f"hookctl's record names a file in a folder that is not there: {key}"
    fix = "Nothing to do: it does no harm, and counts again if the folder comes back."
    return finding("project_gone", message, record.host, key, fix)
