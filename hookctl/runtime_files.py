"""The files that a registration points to: the hook and its configuration, in a folder of hookctl's own.

They are made, kept and removed in the spirit of the ownership table: what the operator edited stays.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from hookctl import engine, files
from hookctl.documents import MISSING
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.folders import Folders, asset
from hookctl.hosts import Host, shapes
from hookctl.masking import masked
from hookctl.model import Action, Change, PackRecord, Record
from hookctl.packs import guard


class Runtime(NamedTuple):
    """What happens to the files that a registration points to."""

    changes: tuple[Change, ...] = ()
    actions: tuple[tuple[str, Action], ...] = ()
    kept: tuple[Action, ...] = ()
    written: dict[str, str] = {}  # noqa: RUF012 (name to sha256 as we wrote it)
    configuration: dict[str, Any] = {}  # noqa: RUF012 (as we wrote it)
    rmdirs: tuple[str, ...] = ()


def install(
    folders: Folders, known: PackRecord | None, settings: guard.Settings, folder: str, force: bool
) -> Runtime:
    """What has to be written into the folder, or with the mode off be removed from it."""
    if settings.mode == "off":
        return uninstall(folders, known._replace(folder=folder), set()) if known else Runtime()
    with open(asset("templates", "guard", "hook.py"), "rb") as stream:
        program = stream.read()
    wanted = guard.configuration(settings, folders.state)
    changes, actions, kept, written = [], [], [], {}
    kept_knobs: list[Action] = []
    for name, text in (("hook.py", program), ("config.json", None)):
        path = os.path.join(folder, name)
        there = files.read(path)
        ours = known.files.get(name, "") if known else ""
        if text is None:
            written_before = known.settings.get("config", {}) if known else {}
            text, kept_knobs = _configuration(there, written_before, wanted, force)
            kept += kept_knobs
        elif there.data is not None and there.sha not in (ours, files.digest(text)) and not force:
            kept.append(_file_action("keep", path, "edited by hand, so it stays; --force puts ours back"))
            written[name] = ours
            continue
        # A configuration with an edit of the operator's in it is not ours to remove.
        written[name] = "" if kept_knobs else files.digest(text)
        if there.data != text:
            word = "create-file" if there.data is None else "replace-file"
            changes.append(Change(there.path, there.data, text))
            actions.append((path, _file_action(word, path)))
    return Runtime(tuple(changes), tuple(actions), tuple(kept), written, wanted)


def _configuration(
    there: files.Snapshot, written: dict[str, Any], wanted: dict[str, Any], force: bool
) -> tuple[bytes, list[Action]]:
    """config.json with what is wanted, knob by knob, except what the operator changed in it."""
    live: dict[str, Any] = {}
    if there.data is not None and not force:
        try:
            value = JsonDocument.parse(there.data, where=there.path, comments=False, trailing_commas=False).value
        except HookctlError as error:
            error.hint = "Mend it; or remove it, or install with --force: either writes it anew."
            raise
        live = value if isinstance(value, dict) else {}
    edited = {name for name in live if not engine.same(live[name], written.get(name))}
    edited -= {name for name in edited if engine.same(live[name], wanted.get(name))}
    if not written:
        edited -= {"mode", "state_dir"}  # left over from an earlier install: these two are hookctl's own
    values = {name: live[name] if name in edited else wanted[name] for name in {**wanted, **dict.fromkeys(edited)}}
    shown = {name: json.dumps(masked(live[name], name)) for name in sorted(edited)}
    kept = [
        _file_action("keep", there.path, f"kept your {name}={text}; --force takes it over")
        for name, text in shown.items()
    ]
    if there.data is not None and engine.same(live, values):
        return there.data, kept
    return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode(), kept


def _file_action(action: str, path: str, reason: str = "") -> Action:
    return Action(action, (path,), "file", reason=reason)


def uninstall(folders: Folders, known: PackRecord, others: set[str]) -> Runtime:
    """The files that we wrote and nobody edited go, and their folders if they are empty then."""
    if known.folder in others or not known.folder:
        return Runtime()
    changes, actions, kept = [], [], []
    for name, sha in known.files.items():
        path = os.path.join(known.folder, name)
        there = files.read(path)
        if there.data is not None and there.sha == sha:
            changes.append(Change(there.path, there.data, None))
            actions.append((path, _file_action("remove-file", path)))
        elif there.data is not None:
            kept.append(_file_action("keep", path, "edited by hand, so it stays; nothing runs it any more"))
    rmdirs = (known.folder, os.path.dirname(known.folder), folders.data) if changes else ()
    return Runtime(tuple(changes), tuple(actions), tuple(kept), {}, {}, rmdirs)


def folder_for(folders: Folders, records: Mapping[str, Record], host: Host, settings: str) -> str:
    """One folder a registration: a second settings file of the same host and scope gets one with its hash."""
    folder = os.path.join(folders.data, "guard", f"{host.name}-user")
    taken = {pack.folder for path, record in records.items() if path != settings for pack in record.packs.values()}
    return f"{folder}-{files.digest(os.fsencode(settings))[:16]}" if folder in taken else folder


def unknown_page(folders: Folders, folder: str) -> PackRecord:
    """Where the ledger is lost: only files that are as this version writes them are surely ours."""
    with open(asset("templates", "guard", "hook.py"), "rb") as stream:
        program = stream.read()
    text, _ = _configuration(files.Snapshot("", None), {}, guard.configuration(guard.Settings(), folders.state), False)
    return PackRecord("", {}, folder, {"hook.py": files.digest(program), "config.json": files.digest(text)})


def folder_of_orphan(folders: Folders, document: JsonDocument, host: Host) -> str:
    """The folder that a hook of ours in a settings file runs from, if it is one of hookctl's own; else empty."""
    root = {} if document.value is MISSING else document.value
    for element in shapes.elements(root):
        event = element.id.partition("/")[2]
        hook = guard.hook_path(str(element.fields.get("command")), element.id, event, host.name)
        if hook and os.path.dirname(os.path.dirname(hook)) == os.path.join(folders.data, "guard"):
            return os.path.dirname(hook)
    return ""
