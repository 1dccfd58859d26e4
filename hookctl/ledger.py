"""The ledger: what we wrote where, and what was there before. It holds our own text, never a copy of a whole file.

The pages of user and local scope lie in the state folder. Those of project scope lie in the project
(project_ledger.py); of them the state folder has a stub, with what holds on this machine only.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from hookctl import files
from hookctl.errors import HookctlError
from hookctl.model import Entry, PackRecord, Record, Wish

VERSION = 1


def load(path: str) -> dict[str, Record]:
    """The records by the real path of their settings file, stubs too; none where there is no ledger yet."""
    return parse(files.read(path).data, path, lambda name, page: (name, record_from(page)))


def parse(data: bytes | None, path: str, page_from: Callable[[str, Any], tuple[str, Record]]) -> dict[str, Record]:
    """The records of a ledger's bytes, each page read by `page_from`; none where there are no bytes."""
    if data is None:
        return {}
    try:
        text = json.loads(data, parse_constant=_no_constant)
        version = text["ledger_version"]
        if type(version) is not int or version < 1:
            raise TypeError("ledger_version is not a number")
        if version > VERSION:
            raise HookctlError(
                "ledger_newer",
                f"the ledger has version {version}, and this hookctl knows {VERSION}",
                path=path,
                hint="Use the newer hookctl that wrote it.",
            )
        return dict(page_from(name, page) for name, page in text["files"].items())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        hint = "Move it away; `hookctl install` then takes back the hooks that it finds by their names."
        raise unreadable("the ledger", error, path, hint) from None


def unreadable(what: str, error: Exception, path: str, hint: str) -> HookctlError:
    """The refusal of a file of hookctl's own, with the place where there is one."""
    line, column = (error.lineno, error.colno) if isinstance(error, json.JSONDecodeError) else (0, 0)
    message = f"{what} cannot be read: {_wrong(error)}"
    return HookctlError("ledger_unreadable", message, path=path, line=line, column=column, hint=hint)


def _wrong(error: Exception) -> str:
    """What is wrong, in words; Python's own are for whoever knows Python."""
    if isinstance(error, json.JSONDecodeError):
        return "this is no JSON"
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    own = {UnicodeDecodeError: "it is no UTF-8", RecursionError: "it is nested too deeply"}
    python = re.search(r"object|indices|argument|must be|invalid literal|conversion", str(error))
    return own.get(type(error), "a part of it is of a wrong kind" if python else str(error))


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def stub(record: Record) -> Record:
    """What of a page of project scope holds on this machine only: hashes for the first backup, and where it is."""
    return record._replace(created_file=False, created_dirs=(), packs={}, entries=(), gaps=())


def shared(record: Record) -> Record:
    """What of a page of project scope is everybody's."""
    return record._replace(sha256_before="", sha256_after="", known_as="", project="")


def page_of(records: Mapping[str, Record], path: str) -> tuple[str, Record | None]:
    """The page for a settings file and its key; found too where links have moved the file since it was written."""
    target = target_of(path)
    if target in records:
        return target, records[target]
    for key, record in records.items():
        if target_of(key) == target or (record.known_as == path and (not os.path.lexists(key) or holds(path, record))):
            return key, record
    return target, None


def place_of(records: Mapping[str, Record], key: str) -> str:
    """Where the file of a page is now: as the host has it, if that still leads to this page."""
    known = records[key].known_as
    return known if known and page_of(records, known)[0] == key else key


def holds(path: str, record: Record) -> bool:
    """Whether a command that we wrote stands in a file, word for word."""
    try:
        text = (files.read(path).data or b"").decode("utf-8", "replace")
    except HookctlError:
        return False
    commands = [entry.written["command"] for entry in record.entries if entry.kind == "element"]
    return any(json.dumps(command, ensure_ascii=ascii)[1:-1] in text for command in commands for ascii in (True, False))


def target_of(path: str) -> str:
    """The real path; where links lead in a circle the path itself, and reading it then says so."""
    try:
        return files.real(path)
    except HookctlError:
        return path


def dump(records: Mapping[str, Record]) -> bytes:
    """The ledger's bytes, in an order that does not depend on the history."""
    return in_order({name: record_to(record) for name, record in records.items()})


def dump_page(record: Record) -> bytes:
    """One page's bytes, to lie beside a backup."""
    return in_order({"": record_to(record)})


def parse_page(data: bytes | None) -> Record | None:
    """The page that lies beside a backup; None where there is none that can be read."""
    try:
        return parse(data, "", lambda name, page: (name, record_from(page))).get("")
    except HookctlError:
        return None


def in_order(pages: Mapping[str, Any]) -> bytes:
    """A ledger's bytes, its pages sorted by name."""
    pages = {name: pages[name] for name in sorted(pages)}
    text = json.dumps({"ledger_version": VERSION, "files": pages}, indent=1, ensure_ascii=False)
    # A path that is no UTF-8 has halves of surrogate pairs; JSON has an escape for those.
    return (text + "\n").encode("utf-8", "backslashreplace")


def record_to(record: Record) -> dict[str, Any]:
    """A record as JSON has it."""
    packs = {name: pack._asdict() for name, pack in record.packs.items()}
    entries = [_entry_to(entry) for entry in record.entries]
    page = {**record._asdict(), "created_dirs": list(record.created_dirs), "packs": packs, "entries": entries}
    page["gaps"] = [list(path) for path in record.gaps]
    return {name: value for name, value in page.items() if value or name not in ("project", "gaps")}


def record_from(page: dict[str, Any]) -> Record:
    """A record from its JSON; KeyError, TypeError or ValueError where it is not one."""
    _check(page, _RECORD)
    packs = {name: PackRecord(**_check(pack, _PACK)) for name, pack in page["packs"].items()}
    if any(not isinstance(digest, str) for pack in packs.values() for digest in pack.files.values()):
        raise TypeError("a digest is not of type str")
    entries = tuple(_entry_from(entry) for entry in page["entries"])
    gaps = tuple(tuple(path) for path in page.get("gaps", ()))
    if not all(isinstance(key, str) for path in gaps for key in path):
        raise TypeError("a gap's path is not one of keys")
    fields = {**page, "created_dirs": tuple(page["created_dirs"]), "packs": packs, "entries": entries, "gaps": gaps}
    return Record(**fields)


_RECORD = {
    "host": str, "scope": str, "format": str, "created_file": bool, "created_dirs": list, "packs": dict,
    "sha256_before": str, "sha256_after": str, "entries": list, "known_as": str, "project": str, "gaps": list,
}  # fmt: skip
_PACK = {"version": str, "settings": dict, "folder": str, "files": dict}
_ENTRY = {"path": list, "kind": str, "mode": str, "before": dict, "written": object, "owners": dict, "id": str}
_WISH = {"value": object, "version": str, "merge": str}
_OPTIONAL: dict[str, Any] = {"id": "", "merge": "", "known_as": "", "project": "", "gaps": []}


def _check(page: Any, kinds: dict[str, type]) -> dict[str, Any]:
    """The page with all its fields, if each is there and of its kind."""
    page = {**{name: _OPTIONAL[name] for name in kinds if name in _OPTIONAL}, **page}
    for name, kind in kinds.items():
        if not isinstance(page[name], kind):
            raise TypeError(f"{name} is not of type {kind.__name__}")
    if page.keys() != kinds.keys():
        raise TypeError(f"unknown: {', '.join(page.keys() - kinds.keys())}")
    return page


def _entry_to(entry: Entry) -> dict[str, Any]:
    page: dict[str, Any] = {"path": list(entry.path), "kind": entry.kind}
    if entry.kind == "container":
        return page
    page |= {"mode": entry.mode, "before": {"absent": True} if entry.before is None else {"raw": entry.before}}
    page |= {"written": entry.written, "owners": {name: _wish_to(wish) for name, wish in entry.owners.items()}}
    return page | ({"id": entry.id} if entry.id else {})


def _wish_to(wish: Wish) -> dict[str, Any]:
    page: dict[str, Any] = {"value": wish.value, "version": wish.version}
    return page | ({"merge": wish.merge} if wish.merge else {})


def _entry_from(page: dict[str, Any]) -> Entry:
    path = tuple(page["path"])
    if not path or page["path"] != [key for key in path if type(key) in (str, int)]:
        raise TypeError("path is not one of keys and indexes")
    if page["kind"] == "container":
        return Entry(path, "container")
    page = _check(page, _ENTRY)
    before = None if page["before"].get("absent") else page["before"]["raw"]
    if before is not None and not isinstance(before, str):
        raise TypeError("before is not of type str")
    if page["kind"] == "element":
        _check({"command": page["written"]["command"]}, {"command": str})
    owners = {name: Wish(**_check(wish, _WISH)) for name, wish in page["owners"].items()}
    if not owners:
        raise ValueError("an entry without an owner")
    for wish in owners.values():
        if wish.merge not in ("", "max", "min", "first"):
            raise ValueError("merge is no rule")
        if wish.merge in ("max", "min"):
            int(wish.value)
    return Entry(path, page["kind"], page["mode"], before, page["written"], owners, page["id"])
