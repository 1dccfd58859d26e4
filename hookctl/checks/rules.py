"""Judges the blocks of rules in the files with instructions for an agent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hookctl import engine
from hookctl.checks.codes import Finding, finding
from hookctl.checks.facts import RulesFile
from hookctl.documents import MISSING, Document
from hookctl.documents.rules import RulesDocument
from hookctl.model import Current, Entry, Hooks, Record
from hookctl.settings.targets import GUARD


def judge(files: Iterable[RulesFile]) -> Iterator[Finding]:
    """Whether each block on record is in its file as hookctl wrote it."""
    for file in files:
        if file.error is not None:
            message = f"the rules in this file cannot be looked at: {file.error.message}"
            host = file.record.host
            yield finding("rules_unreadable", message, host, file.path, file.error.hint)
        elif file.document is not None:
            yield from judge_blocks(file.path, file.record, file.document)


def judge_blocks(path: str, record: Record, document: RulesDocument) -> Iterator[Finding]:
    """Whether the blocks of a record are in the text as hookctl wrote them, each once."""
    doubled = document.doubled
    for entry in record.entries:
        pack = str(entry.path[0])
        if pack in doubled:
            message = f"the marker lines of {pack} do not make one block of rules"
            line = document.position(entry.path)[0]
            fix = f"Leave one block of it, with one begin line and one end line; see line {line}."
            yield finding("rules_doubled", message, record.host, path, fix)
            continue
        state = state_of_block(entry, document)
        if state == "missing":
            message = f"the rules of {pack} were removed"
            level = "error" if record.scope == "project" else "warning"
            yield finding(
                "rules_missing", message, record.host, path, _restore(pack, record), level
            )
        elif state == "overridden":
            message = f"the rules of {pack} were edited; the text is yours and stays"
            yield finding("rules_edited", message, record.host, path)


def state_of_block(entry: Entry, document: Document) -> str:
    """What became of a block of rules on record."""
    value = document.get(entry.path)
    current = Current({} if value is MISSING else {entry.path: value}, {}, Hooks())
    return engine.state(entry, current, entry.path)


def _restore(pack: str, record: Record) -> str:
    """What writes a block again."""
    scope = "" if record.scope == "user" else f" --scope {record.scope}"
    if pack == GUARD:
        return f"`hookctl install --host {record.host}{scope} --rules` writes them again."
    return f"Install {pack} again with --force, which writes them again."
