"""What a record and a journal say after HOME was moved or copied to another path.

The ledger names the HOME that it was written under. Where that one is gone, or where the ledger
lies in a copy of it, the paths below it are those below the HOME of today. Nothing is ever written
below the old one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from hookctl.hosts.codex import APPROVALS
from hookctl.ledger.evidence import has_our_command, read_or_none
from hookctl.model import Ledger, PackRecord, Record
from hookctl.system import files


class Move(NamedTuple):
    """HOME as it was, and as it is."""

    old: str
    new: str
    is_whole: bool  # the ledger itself has moved along, and so everything has

    def path(self, path: str) -> str:
        """The path where a path of the old HOME is now; every other one as it is."""
        if is_below(path, self.old):
            return self.new + path.removeprefix(self.old)
        return path


def is_below(path: str, folder: str) -> bool:
    """Whether a path is a folder or in it."""
    return path == folder or path.startswith(f"{folder}/")


def find_move(old: str, new: str, state_file: str) -> Move | None:
    """The move of HOME, as far as a file in the state folder tells; None where there was none."""
    if not old or old == new or is_below(new, old):
        return None
    has_moved_along = is_below(os.path.realpath(state_file), new)
    is_gone = not os.path.isdir(old)
    if has_moved_along and not is_below(os.path.realpath(state_file), old):
        return Move(old, new, is_gone)
    return Move(old, new, False) if is_gone else None


def follow(ledger: Ledger, path: str, home: str) -> Ledger:
    """The ledger at a path, with what has moved along with HOME."""
    move = find_move(ledger.home, home, path)
    if move is None:
        return ledger
    records: dict[str, Record] = {}
    for key, record in ledger.files.items():
        if not is_below(key, move.old) or _has_moved(move, key, record):
            records[move.path(key)] = move_record(move, record)
        else:
            records[key] = record
    former = tuple(dict.fromkeys((*ledger.former, ledger.home)))
    return Ledger(home_of(ledger.home, home, records), records, former)


def home_of(old: str, new: str, records: Mapping[str, Record]) -> str:
    """The HOME that records belong to: the old one, as long as it has some of them."""
    if any(is_below(key, old) for key in records):
        return old
    return new


def move_record(move: Move, record: Record) -> Record:
    """The record with its paths below the new HOME."""
    packs = {name: _move_pack(move, pack) for name, pack in record.packs.items()}
    return record._replace(
        packs=packs,
        created_dirs=tuple(map(move.path, record.created_dirs)),
        known_as=move.path(record.known_as),
        project=move.path(record.project),
    )


def _move_pack(move: Move, pack: PackRecord) -> PackRecord:
    return pack._replace(folder=move.path(pack.folder), source=move.path(pack.source))


def move_records(move: Move, records: Mapping[str, Record | None]) -> dict[str, Record | None]:
    """The records by the new path of their files."""
    moved: dict[str, Record | None] = {}
    for key, record in records.items():
        moved[move.path(key)] = None if record is None else move_record(move, record)
    return moved


def _has_moved(move: Move, key: str, record: Record) -> bool:
    """Whether a record's file is in the new HOME: the old one may only be away."""
    if move.is_whole:
        return True
    path = move.path(key)
    if record.scope == "project":
        return os.path.lexists(path)
    data = read_or_none(path)
    if record.sha256_after and files.digest(data) == record.sha256_after:
        return True
    for entry in record.entries:
        if entry.path[:2] == APPROVALS and str(entry.written).encode() in (data or b""):
            return True
    return has_our_command(path, record)
