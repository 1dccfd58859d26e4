"""The file with instructions for the agent that the host of a record reads."""

from __future__ import annotations

from collections.abc import Mapping

from hookctl.hosts import load, names, rules_beside
from hookctl.ledger import store
from hookctl.model import Entry, Record


def rules_path(records: Mapping[str, Record], key: str) -> str:
    """The path of that file; '' where none is known."""
    record = records[key]
    if record.host not in names():
        return ""
    settings = store.current_path(records, key)
    return rules_beside(load(record.host), record.scope, settings, record.project)


def rules_entries(records: Mapping[str, Record], key: str) -> tuple[str, dict[str, Entry]]:
    """The path of that file, and the blocks on record of packs that the settings file has."""
    path = rules_path(records, key)
    rules = store.find_record(records, path)[1] if path else None
    entries = {}
    for entry in rules.entries if rules else ():
        pack = str(entry.path[0])
        if pack in records[key].packs:
            entries[pack] = entry
    return path, entries
