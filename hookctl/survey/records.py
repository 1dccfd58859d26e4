"""Reads hookctl's own record: of the user and of this project, or of all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hookctl.errors import HookctlError
from hookctl.ledger import store
from hookctl.model import Record
from hookctl.system import project
from hookctl.system.folders import Folders


class RecordFacts(NamedTuple):
    """hookctl's own record."""

    records: dict[str, Record]  # by the real path of their settings file
    errors: tuple[HookctlError, ...] = ()
    gone: tuple[tuple[str, str, Record], ...] = ()  # settings file, folder that is not there
    others: tuple[str, ...] = ()  # projects on record that are not looked at
    others_gone: tuple[str, ...] = ()  # those of them that are not there


def read_records(folders: Folders, *, everywhere: bool) -> RecordFacts:
    """The records of the user's files and of this project; of every known one with `everywhere`.

    Of another project nothing is read at all, so that nothing in it can be wrong here.
    """
    try:
        stored = store.load(folders)
    except HookctlError as error:
        return RecordFacts({}, (error,))
    here = project.look(folders.cwd, folders.environ)
    others = () if everywhere else _list_others(stored, here)
    away = store.away(folders, stored)
    looked_at = {key: one for key, one in stored.items() if one.project not in others}
    roots = [here]
    records = {}
    for key, record in looked_at.items():
        if record.scope != "project":
            records[key] = record
        elif key not in away:
            roots.append(record.project)
    errors = []
    for root in dict.fromkeys(roots):
        try:
            of_project = store.read(folders, [root])
        except HookctlError as error:
            errors.append(error)
            continue
        records |= {key: one for key, one in of_project.items() if one.scope == "project"}
    return RecordFacts(
        records,
        tuple(errors),
        gone=tuple((key, away[key], looked_at[key]) for key in away if key in looked_at),
        others=others,
        others_gone=tuple(name for name in others if project.is_away(name)),
    )


def _list_others(records: Mapping[str, Record], here: str) -> tuple[str, ...]:
    """The projects on record that are not this one."""
    projects = []
    for record in records.values():
        if record.project and store.real_path(record.project) != here:
            projects.append(record.project)
    return tuple(dict.fromkeys(projects))
