"""Upgrades what hookctl 0.1.0 recorded to the form of today. It reads and writes no file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from hookctl.model import Claim, Entry, PackRecord, Record

_STATE = ("hooks", "state")  # where Codex's config.toml has its approvals
_COMMITTED_KEYS = {"format", "created_file", "created_dirs", "packs", "entries"}
_COMMITTED_PACK_KEYS = {"version", "settings", "files"}


def upgrade_ledger(data: dict[str, Any]) -> dict[str, Any]:
    """The ledger of the state folder; under which HOME it was written is not known."""
    records = {path: _upgrade_record(record) for path, record in data["files"].items()}
    return {**data, "home": "", "files": records}


def upgrade_journal(data: dict[str, Any]) -> dict[str, Any]:
    """The journal of a run that was killed."""
    records = {}
    for path, record in data["records"].items():
        records[path] = _upgrade_record(record) if record else None
    before = {path: _upgrade_record(record) for path, record in data.get("before", {}).items()}
    return {**data, "records": records, "before": before}


def _upgrade_record(data: dict[str, Any]) -> dict[str, Any]:
    packs = {name: _upgrade_pack(pack) for name, pack in data["packs"].items()}
    return {**data, "packs": packs, "entries": _upgrade_entries(data["entries"])}


def upgrade_committed(data: dict[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
    """A committed record, and by pack and file the committed prefixes of the files' digests."""
    if data.keys() - {"gaps"} != _COMMITTED_KEYS:
        raise TypeError("a record has unexpected keys")
    packs = {}
    prefixes = {}
    for name, pack in data["packs"].items():
        if pack.keys() != _COMMITTED_PACK_KEYS:
            raise TypeError("a pack has unexpected keys")
        prefixes[name] = dict(pack["files"].items())
        if not all(isinstance(prefix, str) for prefix in prefixes[name].values()):
            raise TypeError("a digest is not of type str")
        packs[name] = {**pack, "files": list(pack["files"]), "digest": ""}
    return {**data, "packs": packs, "entries": _upgrade_entries(data["entries"])}, prefixes


def _upgrade_pack(pack: dict[str, Any]) -> dict[str, Any]:
    """A pack; 0.1.0 kept the source of a pack by path among its settings."""
    settings = dict(pack["settings"].items())
    source = settings.pop("source", "")
    return {**pack, "settings": settings, "source": source}


def _upgrade_entries(entries: Any) -> Any:
    """The entries; a value that is no list stays as it is, and the check of types refuses it."""
    if not isinstance(entries, list):
        return entries
    return [_upgrade_entry(entry) for entry in entries]


def _upgrade_entry(entry: dict[str, Any]) -> dict[str, Any]:
    if entry["kind"] == "container":
        return {"path": entry["path"], "kind": "container"}
    before = entry["before"]
    if before.get("absent"):
        return {**entry, "before": None}
    return {**entry, "before": before["raw"]}


def keep_if_nothing_new(known: PackRecord, new: PackRecord) -> PackRecord:
    """The known record of a pack where the new one adds only what 0.1.0 did not record, else that.

    So an install with nothing to do leaves a ledger of 0.1.0 as it is.
    """
    if known.digest not in ("", new.digest):
        return new
    comparable = new._replace(digest=known.digest)
    if not known.source:
        comparable = comparable._replace(source="")
    if comparable == known:
        return known
    return new


def with_approvals(records: Mapping[str, Record], data: bytes | None) -> dict[str, Record]:
    """The records with what approvals.json held, as entries of the files with the approvals.

    Where it cannot be read, every approval counts as the operator's.
    """
    upgraded = dict(records)
    approvals = _parse_approvals(data)
    for path in sorted(approvals.by_file):
        record = upgraded.get(path)
        if record is None:
            created = path in approvals.created_files
            record = Record("codex", "user", "toml", created_file=created, known_as=path)
        known_paths = {entry.path for entry in record.entries}
        new_entries = []
        for entry in _approval_entries(records, approvals.by_file[path]):
            if entry.path not in known_paths:
                new_entries.append(entry)
        if new_entries:
            upgraded[path] = record._replace(entries=(*record.entries, *new_entries))
    return upgraded


class _Approvals(NamedTuple):
    """What approvals.json held."""

    by_file: dict[str, Any]  # of each file: settings file, pack and key to the hash
    created_files: set[str]  # those that hookctl made for approvals


def _parse_approvals(data: bytes | None) -> _Approvals:
    """The approvals in these bytes; none where any part has another form."""
    try:
        approvals = json.loads(data or b'{"approved": {}, "made": []}')
        created_files = {path for path in approvals["made"] if isinstance(path, str)}
        for by_settings in approvals["approved"].values():
            _require_hashes(by_settings)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return _Approvals({}, set())
    return _Approvals(approvals["approved"], created_files)


def _require_hashes(by_settings: dict[str, Any]) -> None:
    for by_pack in by_settings.values():
        for by_key in by_pack.values():
            for digest in by_key.values():
                if not isinstance(digest, str):
                    raise TypeError("an approval is not of type str")


def _approval_entries(records: Mapping[str, Record], approved: dict[str, Any]) -> list[Entry]:
    """The hashes as values of ours, and the tables around them, which go when they are empty."""
    leaves: dict[tuple[str, ...], Entry] = {}
    for settings, by_pack in sorted(approved.items()):
        record = records.get(settings)
        for pack, by_key in sorted(by_pack.items()):
            version = ""
            if record is not None and pack in record.packs:
                version = record.packs[pack].version
            for key, digest in sorted(by_key.items()):
                path = (*_STATE, key, "trusted_hash")
                owners = {pack: Claim(digest, version)}
                leaves[path] = Entry(path, "leaf", written=digest, owners=owners)
    if not leaves:
        return []
    tables = [_STATE[:1], _STATE, *(path[:-1] for path in leaves)]
    return [*leaves.values(), *(Entry(path, "container") for path in tables)]
