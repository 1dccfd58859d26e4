"""The ledger of the state folder: what hookctl wrote where, and what was there before.

It holds our own text, never a copy of a whole file. The records of user and local scope lie here.
Those of project scope lie in the project (committed.py); the state folder has a stub of each, with
what holds on this machine only.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from hookctl.documents.scan import is_too_deep
from hookctl.errors import HookctlError
from hookctl.ledger.codec import from_json, to_json
from hookctl.model import Consent, Entry, PackRecord, Record
from hookctl.system import files, project
from hookctl.system.folders import Folders
from hookctl.values import NamedTuple

VERSION = 2
NEEDS = "0.2.0"  # the first hookctl that can read this version
MOVE_AWAY = (
    "Move it away; `hookctl install` then takes back the hooks that it finds by their names."
)
_MERGE_RULES = ("", "max", "min", "first")
Optional = TypeVar("Optional", Record, Record | None)
_WRONG_TYPE = r"object|indices|argument|must be|invalid literal|conversion"


class _Ledger(NamedTuple):
    """The ledger of the state folder as it is on disk; its paths are those of Folders.shorten."""

    files: dict[str, Record]


def load(folders: Folders) -> dict[str, Record]:
    """The records, stubs too, by the real path of their settings file; none without a ledger."""
    records = parse(files.read(folders.ledger).data, folders.ledger)
    return _split_records(rename(records, folders.resolve))


def made_paths(folders: Folders) -> set[str]:
    """The settings files on record and the folders made for them; none where it is unreadable."""
    try:
        return list_made(load(folders))
    except HookctlError:
        return set()


def list_made(records: Mapping[str, Record]) -> set[str]:
    """The settings files of these records and the folders made for them."""
    made = set(records)
    for record in records.values():
        made.update(record.created_dirs)
    return made


def rename(records: Mapping[str, Optional], change: Callable[[str], str]) -> dict[str, Optional]:
    """The records with every path of theirs changed from or to its form on disk."""
    renamed: dict[str, Optional] = {}
    for key, record in records.items():
        renamed[change(key)] = record and _rename_paths(record, change)
    return renamed


def _rename_paths(record: Record, change: Callable[[str], str]) -> Record:
    packs = {}
    for name, pack in record.packs.items():
        packs[name] = pack._replace(folder=change(pack.folder), source=change(pack.source))
    return record._replace(
        packs=packs,
        created_dirs=tuple(map(change, record.created_dirs)),
        known_as=change(record.known_as),
        project=change(record.project),
    )


def _split_records(records: dict[str, Record]) -> dict[str, Record]:
    """The records, with one of its own for a file that a link does not lead to any more.

    Where a program has put a file in the link's place, both may have our entries: the record
    follows the host's file, and the other file keeps one, so that it can be uninstalled too.
    """
    split = {}
    for key, record in records.items():
        path = real_path(record.known_as)
        is_elsewhere = bool(record.known_as) and record.scope != "project" and path != key
        has_both = is_elsewhere and path not in records and os.path.isfile(key)
        has_both = has_both and real_path(key) == key
        if has_both and has_our_command(path, record) and has_our_command(key, record):
            split[path] = record
            split[key] = record._replace(known_as=key)
        else:
            split[key] = record
    return split


@functools.lru_cache(maxsize=4)  # a command asks for them several times
def parse(data: bytes | None, path: str) -> dict[str, Record]:
    """The records in the bytes of a ledger, as they stand there; none where there are none."""
    if data is None:
        return {}
    with refusals("hookctl's record", path, MOVE_AWAY):
        json_object = parse_object(data, "ledger_version", path)
        records = from_json(_Ledger, json_object, "hookctl's record").files
        for record in records.values():
            check_record(record)
        return records


@contextlib.contextmanager
def refusals(title: str, path: str, hint: str) -> Iterator[None]:
    """Turn every fault of a file of hookctl's own into a `ledger_unreadable` in plain words."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise unreadable(title, error, path, hint) from None


def parse_object(data: bytes, key: str, path: str) -> dict[str, Any]:
    """The values of a file of hookctl's own; its version stands under `key`.

    Raises `ledger_newer` for a later version, and `ledger_unreadable` for one before
    the first that was released.
    """
    json_object = json.loads(data, parse_constant=_refuse_constant)
    if is_too_deep(json_object):
        raise RecursionError
    version = json_object.pop(key)
    if type(version) is not int or version < 1:
        raise TypeError(f"{key} is not a number")
    if version > VERSION:
        raise _newer(json_object.get("needs"), path)
    if version < VERSION:
        raise _older(path)
    from_json(str, json_object.pop("needs"), "needs")
    return json_object


def _newer(needs: Any, path: str) -> HookctlError:
    version = "a later hookctl"
    if isinstance(needs, str) and re.fullmatch(r"[0-9]+(\.[0-9]+){1,3}", needs):
        version = f"hookctl {needs} or later"
    message = f"{version} is needed to read this record"
    return HookctlError("ledger_newer", message, path=path, hint=f"Upgrade to {version}.")


def _older(path: str) -> HookctlError:
    message = f"a hookctl before {NEEDS} wrote this record, and no such version was released"
    return HookctlError("ledger_unreadable", message, path=path, hint=MOVE_AWAY)


def unreadable(title: str, error: Exception, path: str, hint: str) -> HookctlError:
    """The error of a file of hookctl's own, with the position where it is known."""
    line, column = 0, 0
    if isinstance(error, json.JSONDecodeError):
        line, column = error.lineno, error.colno
    message = f"{title} cannot be read: {_describe(error)}"
    return HookctlError(
        "ledger_unreadable", message, path=path, line=line, column=column, hint=hint
    )


def _describe(error: Exception) -> str:
    """What is wrong, in plain words instead of Python's."""
    if isinstance(error, json.JSONDecodeError):
        return "not valid JSON"
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    if isinstance(error, UnicodeDecodeError):
        return "not valid UTF-8"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if re.search(_WRONG_TYPE, str(error)):
        return "a value has the wrong type"
    return str(error)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not valid JSON")


def make_stub(record: Record) -> Record:
    """The part of a project-scope record that holds on this machine only: hashes, and its path."""
    packs = {}
    for name, pack in record.packs.items():
        packs[name] = PackRecord(
            pack.version, {}, "", pack.files, "", pack.digest, consent=pack.consent
        )
    return record._replace(created_file=False, created_dirs=(), packs=packs, entries=(), gaps=())


def shared_part(record: Record) -> Record:
    """The part of a project-scope record that is the same on every machine."""
    packs = {}
    for name, pack in record.packs.items():
        packs[name] = pack._replace(files=dict.fromkeys(pack.files, ""), consent=Consent())
    return record._replace(sha256_before="", sha256_after="", known_as="", project="", packs=packs)


def away(folders: Folders, records: Mapping[str, Record]) -> dict[str, str]:
    """The keys of records whose project, or whose folder outside of HOME, is not there; which.

    Nothing of theirs is changed: a disk, or another HOME, may come back.
    """
    found = {}
    for key, record in records.items():
        if record.project:
            if project.is_away(record.project):
                found[key] = record.project
        elif missing_folder(folders, key, record):
            found[key] = missing_folder(folders, key, record)
    return found


def missing_folder(folders: Folders, key: str, record: Record) -> str:
    """The topmost folder that a file outside of HOME lacks; '' if none but those made for it."""
    if key.startswith(f"{folders.home}/"):
        return ""
    made = [folder for folder in record.created_dirs if key.startswith(f"{folder}/")]
    missing = files.missing_folders(os.path.dirname(min(made, default=key)))
    return missing[-1] if missing else ""


def find_record(records: Mapping[str, Record], path: str) -> tuple[str, Record | None]:
    """A settings file's key and record, also where links have moved the file since."""
    target = real_path(path)
    if target in records:
        return target, records[target]
    for key, record in records.items():
        if real_path(key) == target:
            return key, record
        if record.known_as == path and (not os.path.lexists(key) or has_our_command(path, record)):
            return key, record
    return target, None


def has_our_command(path: str, record: Record) -> bool:
    """Whether a file has a command of the record, word for word."""
    text = (files.read_or_none(path) or b"").decode("utf-8", "replace")
    for entry in record.entries:
        if entry.kind != "element":
            continue
        for ascii_only in (True, False):
            if json.dumps(entry.written["command"], ensure_ascii=ascii_only)[1:-1] in text:
                return True
    return False


def current_path(records: Mapping[str, Record], key: str) -> str:
    """The current path of a record's file: the host's own, if that still leads to this record."""
    known = records[key].known_as
    if known and find_record(records, known)[0] == key:
        return known
    return key


def real_path(path: str) -> str:
    """The real path; in a symbolic link loop the path itself, and reading it reports the loop."""
    try:
        return files.real(path)
    except HookctlError:
        return path


def dump(records: Mapping[str, Record]) -> bytes:
    """The bytes of a ledger with these records, in an order that does not depend on the history."""
    ledger = _Ledger({path: records[path] for path in sorted(records)})
    return dump_object({"ledger_version": VERSION, "needs": NEEDS, **to_json(_Ledger, ledger)})


def dump_object(json_object: dict[str, Any]) -> bytes:
    """The bytes of a file of hookctl's own."""
    return encode(json.dumps(json_object, indent=1, ensure_ascii=False) + "\n")


def encode(text: str) -> bytes:
    """JSON as UTF-8; the surrogates of a path that is not UTF-8 become JSON's own escapes."""
    return text.encode("utf-8", "backslashreplace")


def dump_record(folders: Folders, record: Record) -> bytes:
    """One record's bytes, to lie beside a backup."""
    return dump(rename({"": record}, folders.shorten))


def parse_record(folders: Folders, data: bytes | None) -> Record | None:
    """The record beside a backup; None where there is none that can be read."""
    try:
        return rename(parse(data, ""), folders.resolve).get("")
    except HookctlError:
        return None


def check_record(record: Record) -> None:
    """Refuse a record of the right types that hookctl still cannot have written."""
    for path in record.gaps:
        if not all(isinstance(key, str) for key in path):
            raise TypeError("a gap is not a path of keys")
    for entry in record.entries:
        _check_entry(entry)


def _check_entry(entry: Entry) -> None:
    if not entry.path:
        raise TypeError("an entry's path is empty")
    if entry.kind not in ("leaf", "element", "container"):
        raise ValueError("kind is unknown")
    if entry.kind == "container":
        if entry != Entry(entry.path, entry.kind, before=entry.before):
            raise ValueError("a container has more than its path")
        return
    if entry.kind == "element":
        written = from_json(dict, entry.written, "written")
        from_json(str, written["command"], "command")
    if not entry.owners:
        raise ValueError("an entry has no owner")
    for claim in entry.owners.values():
        if claim.merge not in _MERGE_RULES:
            raise ValueError("merge is unknown")
        if claim.merge in ("max", "min"):
            int(claim.value)
