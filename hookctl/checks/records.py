"""Judges hookctl's own record: the ledgers, the journal, and the blocks of rules on record."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from hookctl import engine
from hookctl.checks.codes import Finding, finding, from_error
from hookctl.documents import MISSING, Document
from hookctl.documents.rules import RulesDocument
from hookctl.errors import HookctlError
from hookctl.model import Current, Entry, Hooks, Record
from hookctl.packs.choices import settings_from
from hookctl.planner.sources import read_document
from hookctl.run.execute import read_journal
from hookctl.settings.targets import GUARD, RULES
from hookctl.survey.machine import RecordFacts
from hookctl.system.folders import Folders


def list_usable(found: RecordFacts) -> dict[str, Record]:
    """The records of what is there, and whose settings of the guard this hookctl can read."""
    gone = {key for key, _, _ in found.gone}
    usable = {}
    for key, record in found.records.items():
        with contextlib.suppress(HookctlError):  # the ledger does not check these settings
            settings_from(record.packs[GUARD].settings if GUARD in record.packs else {})
            usable[key] = record
    return {key: usable[key] for key in usable if key not in gone}


def judge(folders: Folders, found: RecordFacts) -> Iterator[Finding]:
    """What is wrong with the ledgers, and with the journal of a run."""
    try:
        journal = read_journal(folders)
        if journal:
            names = ", ".join(step.path for step in journal.steps)
            yield finding("interrupted_run", path=folders.journal, files=names)
    except HookctlError as error:
        yield from_error(error)
    for error in found.errors:
        yield from_error(error)
    known = {*list_usable(found), *(key for key, _, _ in found.gone)}
    for key in found.records.keys() - known:
        host = found.records[key].host
        yield finding("ledger_unreadable", host, folders.ledger, settings=key)


def judge_rules(path: str, record: Record) -> Iterator[Finding]:
    """Whether each block on record is in its file as hookctl wrote it."""
    if record.format != RULES:
        return
    try:
        document = read_document(path, RULES)[1]
        if isinstance(document, RulesDocument):
            yield from judge_blocks(path, record, document)
    except HookctlError as error:
        yield from_error(error, record.host, path)._replace(level="warning")


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
