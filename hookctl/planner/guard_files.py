"""The guard's own files: its programs, its config.json, and how to know them without a record."""

from __future__ import annotations

import json
import os
from typing import Any

from hookctl import engine
from hookctl.documents import MISSING, Document
from hookctl.errors import HookctlError
from hookctl.hosts import Host, shapes
from hookctl.masking import masked
from hookctl.model import Action, PackRecord
from hookctl.packs import guard
from hookctl.packs.choices import Settings
from hookctl.packs.programs import load_programs
from hookctl.planner.runtime_files import CONFIG, File, file_action, parse_config
from hookctl.settings.targets import Target
from hookctl.system import files
from hookctl.system.folders import Folders

_HOOKCTL_KEYS = ("mode", "state_dir")  # of config.json: hookctl's own, not the operator's


def guard_programs(config: File, *, wrapper: bool) -> dict[str, File]:
    """The guard's launchers and config in writing order: the last one completes an upgrade."""
    launchers = load_programs(wrapper=wrapper).launchers
    return {CONFIG: config, **{name: File(data) for name, data in launchers.items()}}


def new_config(values: dict[str, Any], host: Host) -> File:
    """config.json with these values, as hookctl writes it where there is none."""
    table = guard.host_table(host)
    text = json.dumps({**values, guard.HOSTS: table}, indent=2, ensure_ascii=False) + "\n"
    return File(text.encode("utf-8", "backslashreplace"))  # a path need not be UTF-8


def merge_config(
    path: str, written: dict[str, Any], wanted: dict[str, Any], host: Host, *, force: bool
) -> File:
    """config.json with the wanted values, except where the operator changed what was written."""
    snapshot = files.read(path)
    current: dict[str, Any] = {}
    if not force:
        current = _read_config(snapshot)
    hosts = current.pop(guard.HOSTS, None)  # these are hookctl's own
    edited = _edited_names(current, written, wanted)
    values = {name: current[name] if name in edited else value for name, value in wanted.items()}
    for name in current:
        if name in edited:
            values.setdefault(name, current[name])
    kept = _lines_on_edits(snapshot.path, current, edited)
    is_same = engine.same(current, values) and engine.same(hosts, guard.host_table(host))
    if snapshot.data is not None and is_same:
        return File(snapshot.data, edits=kept)
    return new_config(values, host)._replace(edits=kept)


def _read_config(snapshot: files.Snapshot) -> dict[str, Any]:
    if snapshot.data is None:
        return {}
    try:
        values = parse_config(snapshot)
    except HookctlError as error:
        error.hint = "Correct it; or remove it, or install with --force: either writes it anew."
        raise
    return dict(values) if isinstance(values, dict) else {}


def _edited_names(
    current: dict[str, Any], written: dict[str, Any], wanted: dict[str, Any]
) -> set[str]:
    """The names whose values the operator changed, and not to what is wanted now."""
    edited = set()
    for name, value in current.items():
        is_as_written = engine.same(value, written.get(name))
        if not is_as_written and not engine.same(value, wanted.get(name)):
            edited.add(name)
    if not written:
        edited -= set(_HOOKCTL_KEYS)  # left over from an earlier install
    return edited


def _lines_on_edits(path: str, current: dict[str, Any], edited: set[str]) -> tuple[Action, ...]:
    lines = []
    for name in sorted(edited):
        text = json.dumps(masked(current[name], name))
        lines.append(file_action("keep", path, f"kept your {name}={text}; --force takes it over"))
    return tuple(lines)


def unrecorded_guard(folders: Folders, target: Target, folder: str) -> PackRecord:
    """A record of a guard that the ledger lost: only files as this version writes them are ours."""
    state = "" if target.shared else folders.state
    config = new_config(guard.configuration(Settings(), state, target.host), target.host)
    digests = {}
    for name, file in guard_programs(config, wrapper=True).items():
        digests[name] = files.digest(file.data)
    return PackRecord("", {}, folder, digests)


def find_orphan_folder(folders: Folders, document: Document, target: Target) -> str:
    """The folder of hookctl's own that a guard's hook in the file runs from, or ''."""
    root = {} if document.value is MISSING else document.value
    guard_folders = os.path.join(folders.data, "guard")
    for hook in shapes.elements(target.host.shape, root):
        event = hook.id.partition("/")[2]
        path = guard.hook_path(str(hook.fields.get("command")), hook.id, event, target)
        if path and os.path.dirname(os.path.dirname(path)) == guard_folders:
            return os.path.dirname(path)
    return ""
