"""What hookctl 0.1.0 wrote of its records, in the form of today. Nothing here reads or writes a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hookctl.model import Claim, Entry, PackRecord, Record

_STATE = ("hooks", "state")  # where Codex's config.toml has its approvals
_COMMITTED = {"format", "created_file", "created_dirs", "packs", "entries"}


def ledger_page(page: dict[str, Any]) -> dict[str, Any]:
    """The ledger of the state folder; under which HOME it was written is not known."""
    return {
        **page,
        "home": "",
        "files": {name: record(found) for name, found in page["files"].items()},
    }


def journal_page(page: dict[str, Any]) -> dict[str, Any]:
    """The journal of a run that was killed."""
    records = {path: record(found) if found else None for path, found in page["records"].items()}
    before = {path: record(found) for path, found in page.get("before", {}).items()}
    return {**page, "records": records, "before": before}


def record(page: dict[str, Any]) -> dict[str, Any]:
    """What was written of one settings file."""
    packs = {name: _pack(pack) for name, pack in page["packs"].items()}
    return {**page, "packs": packs, "entries": _entries(page["entries"])}


def committed_page(page: dict[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
    """What was committed of one settings file; and of each pack's files, how their digests begin."""
    if page.keys() - {"gaps"} != _COMMITTED:
        raise TypeError("a page has other keys than it should")
    packs, beginnings = {}, {}
    for name, pack in page["packs"].items():
        if pack.keys() != {"version", "settings", "files"}:
            raise TypeError("a pack has other keys than it should")
        beginnings[name] = dict(pack["files"].items())
        if not all(isinstance(digest, str) for digest in beginnings[name].values()):
            raise TypeError("a digest is not of type str")
        packs[name] = {**pack, "files": list(pack["files"]), "digest": ""}
    return {**page, "packs": packs, "entries": _entries(page["entries"])}, beginnings


def _pack(pack: dict[str, Any]) -> dict[str, Any]:
    """The source of a pack by path stood among its settings."""
    settings = dict(pack["settings"].items())
    source = settings.pop("source", "")
    return {**pack, "settings": settings, "source": source}


def _entries(entries: Any) -> Any:
    """What is no list stays none, and is refused where the types are looked at."""
    return [_entry(entry) for entry in entries] if isinstance(entries, list) else entries


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    if entry["kind"] == "container":
        return {"path": entry["path"], "kind": "container"}
    before = entry["before"]
    text = None if before.get("absent") else before["raw"]
    return {**entry, "before": text}


def unless_it_says_the_same(known: PackRecord, page: PackRecord) -> PackRecord:
    """The new record of a pack; the one of 0.1.0 where only what 0.1.0 did not record is new: nothing is written."""
    if known.digest not in ("", page.digest):
        return page
    source = page.source if known.source else ""
    return known if page._replace(source=source, digest=known.digest) == known else page


def with_approvals(records: Mapping[str, Record], data: bytes | None) -> dict[str, Record]:
    """The records with what approvals.json held, as entries of the files that the approvals stand in.

    Where it cannot be read nothing is known of it, and every approval counts as the operator's.
    """
    found = dict(records)
    approved, made = _approvals(data)
    for path in sorted(approved):
        page = found.get(path) or Record(
            "codex", "user", "toml", created_file=path in made, known_as=path
        )
        known = {entry.path for entry in page.entries}
        entries = [
            entry for entry in _approval_entries(records, approved[path]) if entry.path not in known
        ]
        if entries:
            found[path] = page._replace(entries=(*page.entries, *entries))
    return found


def _approvals(data: bytes | None) -> tuple[dict[str, Any], set[str]]:
    """Of each file with approvals: settings file, pack and key to the hash; and the files that we made for them."""
    try:
        page = json.loads(data or b'{"approved": {}, "made": []}')
        approved, made = page["approved"], {path for path in page["made"] if isinstance(path, str)}
        hashes = [
            digest
            for of_settings in approved.values()
            for of_packs in of_settings.values()
            for of_keys in of_packs.values()
            for digest in of_keys.values()
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}, set()
    return (approved, made) if all(isinstance(digest, str) for digest in hashes) else ({}, set())


def _approval_entries(records: Mapping[str, Record], approved: dict[str, Any]) -> list[Entry]:
    """The hashes as values of ours; an empty table around one went with it, whoever had made it."""
    leaves: dict[tuple[str, ...], Entry] = {}
    for settings, packs in sorted(approved.items()):
        page = records.get(settings)
        for pack, keys in sorted(packs.items()):
            version = page.packs[pack].version if page and pack in page.packs else ""
            for key, digest in sorted(keys.items()):
                path = (*_STATE, key, "trusted_hash")
                leaves[path] = Entry(
                    path, "leaf", written=digest, owners={pack: Claim(digest, version)}
                )
    if not leaves:
        return []
    tables = [path[:-1] for path in leaves]
    return [*leaves.values(), *(Entry(path, "container") for path in (_STATE[:1], _STATE, *tables))]
