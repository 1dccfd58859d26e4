"""Judges hookctl's own record: the ledgers, the journal, and the blocks of rules on record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hookctl import engine
from hookctl.checks.codes import Finding, finding, from_error
from hookctl.documents import MISSING, Document
from hookctl.documents.rules import RulesDocument
from hookctl.model import Current, Entry, Hooks, Record
from hookctl.settings.targets import GUARD
from hookctl.survey.records import RecordFacts, RulesFile


def judge(facts: RecordFacts) -> Iterator[Finding]:
    """What is wrong with the ledgers, and with the journal of a run."""
    if facts.journal_error:
        yield from_error(facts.journal_error)
    elif facts.interrupted is not None:
        yield finding("interrupted_run", path=facts.journal, files=", ".join(facts.interrupted))
    for error in facts.errors:
        yield from_error(error)
    for path, record in facts.misfits:
        yield finding("ledger_unreadable", record.host, facts.ledger, settings=path)


def judge_rules(files: Iterable[RulesFile]) -> Iterator[Finding]:
    """Whether each block on record is in its file as hookctl wrote it."""
    for file in files:
        if file.error is not None:
            found = from_error(file.error, file.record.host, file.path)
            yield found._replace(level="warning")
        elif file.document is not None:
            yield from judge_blocks(file.path, file.record, file.document)


def judge_blocks(path: str, record: Record, document: RulesDocument) -> Iterator[Finding]:
    """Whether the blocks of a record are in the text as hookctl wrote them, each once."""
    doubled = document.doubled
    for entry in record.entries:
        pack = str(entry.path[0])
        if pack in doubled:
            line = document.position(entry.path)[0]
            yield finding("rules_doubled", record.host, path, pack=pack, line=line)
            continue
        state, name = state_of_block(entry, document), f"the block of rules of {pack}"
        install = _install(pack, record)
        if state == "missing":
            level = "error" if record.scope == "project" else "warning"
            fix = f"`{install} --force` writes it again."
            yield finding("entry_missing", record.host, path, level, name=name, fix=fix)
        elif state == "overridden":
            values = {"name": name, "how": "it has another text", "install": install}
            yield finding("entry_edited", record.host, path, "info", **values)


def state_of_block(entry: Entry, document: Document) -> str:
    """The state of a recorded block of rules."""
    value = document.get(entry.path)
    current = Current({} if value is MISSING else {entry.path: value}, {}, Hooks())
    return engine.state(entry, current, entry.path)


def _install(pack: str, record: Record) -> str:
    """The command that installs a pack with its block of rules."""
    scope = "" if record.scope == "user" else f" --scope {record.scope}"
    if pack == GUARD:
        return f"hookctl install --host {record.host}{scope} --rules"
    return f"hookctl install PATH --host {record.host}{scope}"
