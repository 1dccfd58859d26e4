"""The ledger: what we wrote where, and what was there before. It holds our own text, never a copy of a whole file.

The pages of user and local scope lie in the state folder. Those of project scope lie in the project
(project_ledger.py); of them the state folder has a stub, with what holds on this machine only.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hookctl.errors import HookctlError
from hookctl.ledger import version1
from hookctl.ledger.codec import from_json, to_json
from hookctl.model import Entry, PackRecord, Record
from hookctl.system import files

VERSION = 2
NEEDS = "0.2.0"  # the first hookctl that can read this version
MOVE_AWAY = (
    "Move it away; `hookctl install` then takes back the hooks that it finds by their names."
)


class Ledger(NamedTuple):
    """The ledger of the state folder."""

    home: str  # the HOME that it was written under; empty where nobody knows any more
    files: dict[str, Record]  # by the real path of the settings file


def load(path: str) -> dict[str, Record]:
    """The records by the real path of their settings file, stubs too; none where there is no ledger yet."""
    return read(path).files


def read(path: str) -> Ledger:
    """The ledger at this path, with what 0.1.0 kept beside it; an empty one where there is none yet."""
    ledger = parse(files.read(path).data, path)
    approvals = approvals_of_0_1_0(path)
    if os.path.lexists(approvals):
        return ledger._replace(
            files=version1.with_approvals(ledger.files, files.read(approvals).data)
        )
    return ledger


def approvals_of_0_1_0(path: str) -> str:
    """Where 0.1.0 kept the approvals, which are entries of the ledger at this path now."""
    return os.path.join(os.path.dirname(path), "approvals.json")


def parse(data: bytes | None, path: str) -> Ledger:
    """The ledger with these bytes; an empty one where there are none."""
    if data is None:
        return Ledger("", {})
    with refusals("the ledger", path, MOVE_AWAY):
        version, page = open_page(data, "ledger_version", path)
        found = from_json(
            Ledger, version1.ledger_page(page) if version == 1 else page, "the ledger"
        )
        for record in found.files.values():
            check(record)
        return found


@contextlib.contextmanager
def refusals(what: str, path: str, hint: str) -> Iterator[None]:
    """Make whatever is wrong in a file of hookctl's own a refusal that says so in words."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise unreadable(what, error, path, hint) from None


def open_page(data: bytes, key: str, path: str) -> tuple[int, dict[str, Any]]:
    """The version of a file of hookctl's own, which stands under `key`, and the rest of what it says."""
    page = json.loads(data, parse_constant=_no_constant)
    version = page.pop(key)
    if type(version) is not int or version < 1:
        raise TypeError(f"{key} is not a number")
    if version > VERSION:
        raise _newer(page.get("needs"), path)
    if version > 1:
        from_json(str, page.pop("needs"), "needs")
    return version, page


def _newer(needs: Any, path: str) -> HookctlError:
    named = isinstance(needs, str) and re.fullmatch(r"[0-9]+(\.[0-9]+){1,3}", needs)
    version = f"hookctl {needs} or later" if named else "a later hookctl"
    return HookctlError(
        "ledger_newer",
        f"{version} is needed to read this record",
        path=path,
        hint=f"Upgrade to {version}.",
    )


def unreadable(what: str, error: Exception, path: str, hint: str) -> HookctlError:
    """The refusal of a file of hookctl's own, with the place where there is one."""
    line, column = (
        (error.lineno, error.colno) if isinstance(error, json.JSONDecodeError) else (0, 0)
    )
    message = f"{what} cannot be read: {_wrong(error)}"
    return HookctlError(
        "ledger_unreadable", message, path=path, line=line, column=column, hint=hint
    )


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
    """What of a page of project scope holds on this machine only: hashes, and where it is."""
    packs = {
        name: PackRecord(pack.version, {}, "", pack.files, "", pack.digest)
        for name, pack in record.packs.items()
    }
    return record._replace(created_file=False, created_dirs=(), packs=packs, entries=(), gaps=())


def shared(record: Record) -> Record:
    """What of a page of project scope is everybody's."""
    packs = {
        name: pack._replace(files=dict.fromkeys(pack.files, ""))
        for name, pack in record.packs.items()
    }
    return record._replace(sha256_before="", sha256_after="", known_as="", project="", packs=packs)


def page_of(records: Mapping[str, Record], path: str) -> tuple[str, Record | None]:
    """The page for a settings file and its key; found too where links have moved the file since it was written."""
    target = real_path(path)
    if target in records:
        return target, records[target]
    for key, record in records.items():
        if real_path(key) == target or (
            record.known_as == path and (not os.path.lexists(key) or holds(path, record))
        ):
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
    return any(
        json.dumps(command, ensure_ascii=ascii)[1:-1] in text
        for command in commands
        for ascii in (True, False)
    )


def real_path(path: str) -> str:
    """The real path; where links lead in a circle the path itself, and reading it then says so."""
    try:
        return files.real(path)
    except HookctlError:
        return path


def dump(records: Mapping[str, Record], home: str = "") -> bytes:
    """The ledger's bytes, in an order that does not depend on the history."""
    page = to_json(Ledger, Ledger(home, {name: records[name] for name in sorted(records)}))
    return own_bytes({"ledger_version": VERSION, "needs": NEEDS, **page})


def own_bytes(page: dict[str, Any]) -> bytes:
    """The bytes of a file of hookctl's own."""
    return in_utf8(json.dumps(page, indent=1, ensure_ascii=False) + "\n")


def in_utf8(text: str) -> bytes:
    """JSON as bytes; a path that is no UTF-8 has halves of surrogate pairs, and JSON has an escape for those."""
    return text.encode("utf-8", "backslashreplace")


def dump_page(record: Record) -> bytes:
    """One page's bytes, to lie beside a backup."""
    return dump({"": record})


def parse_page(data: bytes | None) -> Record | None:
    """The page that lies beside a backup; None where there is none that can be read."""
    try:
        return parse(data, "").files.get("")
    except HookctlError:
        return None


def check(record: Record) -> None:
    """Refuse a record whose fields are of their types, and still say nothing that hookctl can have written."""
    if not all(isinstance(key, str) for path in record.gaps for key in path):
        raise TypeError("a gap's path is not one of keys")
    for entry in record.entries:
        _check_entry(entry)


def _check_entry(entry: Entry) -> None:
    if not entry.path:
        raise TypeError("path is not one of keys and indexes")
    if entry.kind not in ("leaf", "element", "container"):
        raise ValueError("kind is none")
    if entry.kind == "container":
        if entry != Entry(entry.path, entry.kind):
            raise ValueError("a container has more than its path")
        return
    if entry.kind == "element":
        from_json(str, from_json(dict, entry.written, "written")["command"], "command")
    if not entry.owners:
        raise ValueError("an entry without an owner")
    for claim in entry.owners.values():
        if claim.merge not in ("", "max", "min", "first"):
            raise ValueError("merge is no rule")
        if claim.merge in ("max", "min"):
            int(claim.value)
