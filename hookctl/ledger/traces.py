"""hookctl's record of the hooks that are traced: in which files, until when, and what was there."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hookctl.ledger.codec import dump_object, from_json, parse_object, refusals
from hookctl.system import files
from hookctl.system.folders import Folders

_KEY = "traces_version"
_HINT = "Move it away: the traced hooks run by themselves."


class TracedHook(NamedTuple):
    """A hook whose command runs with a receipt."""

    id: str
    command: str  # as hookctl wrote it
    before: str  # source text of the hook's own command


class TracedFile(NamedTuple):
    """A settings file with such hooks."""

    host: str
    scope: str
    known_as: str  # the path as the host has it
    until: int  # in seconds since the epoch
    hooks: tuple[TracedHook, ...]
    project: str = ""
    created_dirs: tuple[str, ...] = ()  # of hookctl's own, by the trace


class _Stored(NamedTuple):
    """The record as it is on disk; its paths are those of Folders.shorten."""

    files: dict[str, TracedFile]


Traces = dict[str, TracedFile]  # by the real path of the settings file


def read(folders: Folders) -> Traces:
    """The files with traced hooks; none without a record."""
    return parse(folders, files.read(folders.traces).data)


def parse(folders: Folders, data: bytes | None) -> Traces:
    """The record in these bytes; refuses what hookctl did not write."""
    if data is None:
        return {}
    with refusals("hookctl's record of traced hooks", folders.traces, _HINT):
        stored = from_json(_Stored, parse_object(data, _KEY, folders.traces), "the record")
    return _rename(stored.files, folders.resolve)


def dump(folders: Folders, traces: Traces) -> bytes | None:
    """The bytes of the record; None where no hook is traced."""
    if not traces:
        return None
    stored = _rename({path: traces[path] for path in sorted(traces)}, folders.shorten)
    return dump_object(_KEY, _Stored(stored))


def _rename(traces: Traces, change: Callable[[str], str]) -> Traces:
    renamed = {}
    for path, traced in traces.items():
        project = change(traced.project) if traced.project else ""
        renamed[change(path)] = traced._replace(
            known_as=change(traced.known_as),
            project=project,
            created_dirs=tuple(map(change, traced.created_dirs)),
        )
    return renamed
