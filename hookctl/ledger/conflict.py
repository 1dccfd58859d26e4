"""A project's ledger in a merge conflict: the records of each side."""

from __future__ import annotations

import json

from hookctl.ledger import committed, store
from hookctl.model import Record
from hookctl.system import files
from hookctl.system.folders import Folders
from hookctl.values import NamedTuple


class Sides(NamedTuple):
    """The bytes of a ledger with merge-conflict marks, and the records of its two sides."""

    data: bytes
    ours: dict[str, Record]
    theirs: dict[str, Record]


def split_sides(data: bytes) -> tuple[bytes, bytes]:
    """The two texts of a file with merge-conflict marks; lines outside of them are in both."""
    ours: list[bytes] = []
    theirs: list[bytes] = []
    into = [ours, theirs]
    for line in data.splitlines(keepends=True):
        if line.startswith(b"<<<<<<<"):
            into = [ours]
        elif line.startswith(b"|||||||"):  # with diff3 the common ancestor's lines follow
            into = []
        elif line.startswith(b"======="):
            into = [theirs]
        elif line.startswith(b">>>>>>>"):
            into = [ours, theirs]
        else:
            for side in into:
                side.append(line)
    return b"".join(ours), b"".join(theirs)


def read_sides(folders: Folders, project: str) -> Sides | None:
    """The two sides of a project's ledger; None if it has no conflict.

    Raises HookctlError where a side is no ledger by itself.
    """
    path = committed.ledger_path(project)
    data = files.read(path).data or b""
    ours, theirs = split_sides(data)
    if ours == theirs:
        return None
    stubs = {}
    for key, record in store.load(folders).items():
        if record.scope == "project":
            stubs[store.real_path(key)] = record
    return Sides(
        data,
        committed.load(folders, project, _with_packs_of(theirs, ours), stubs),
        committed.load(folders, project, _with_packs_of(ours, theirs), stubs),
    )


def _with_packs_of(other: bytes, side: bytes) -> bytes:
    """A side with the other's packs too: git may have merged an entry cleanly, and not its pack."""
    try:
        ledger, others = json.loads(side), json.loads(other)["files"]
        for name, record in ledger["files"].items():
            if name and name in others:  # an empty name ends the list
                record["packs"] = {**others[name]["packs"], **record["packs"]}
        return json.dumps(ledger).encode()
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return side  # the caller reports what is wrong
