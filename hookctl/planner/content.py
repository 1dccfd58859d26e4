"""What a pack puts at one target: its hooks and env values, its files, and the settings that are recorded."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from hookctl import engine
from hookctl.documents import MISSING
from hookctl.ledger.digests import content_digest
from hookctl.model import Entry, PackRecord, Wanted
from hookctl.packs import guard
from hookctl.packs.abilities import remarks_for
from hookctl.packs.choices import (
    LIMIT_KEY,
    Request,
    Settings,
    choose,
    remarks,
    require_portable,
    settings_from,
)
from hookctl.packs.model import Pack
from hookctl.planner import runtime_files
from hookctl.planner.draft import Draft
from hookctl.planner.runtime_files import CONFIG, File
from hookctl.planner.wraps import Asked, entries_but_wraps, wrap
from hookctl.settings.targets import GUARD, Target, in_sh, top
from hookctl.system import interpreter


class Choice(NamedTuple):
    """What the operator asked of an install."""

    settings: Request = Request()
    reset: bool = False
    force: bool = False
    trust: bool = False


class Content(NamedTuple):
    """What a pack puts at one target, and the settings with which it does."""

    wants: list[Wanted]
    files: dict[str, File]
    settings: dict[str, Any]
    source: str  # the pack's own file, as it is recorded
    digest: str
    visible: tuple[
        Entry, ...
    ]  # the entries that are decided on: hooks of others that we wrap are not among them


def pack_content(draft: Draft, pack: Pack, folder: str) -> Content:
    """What the file of a pack says, with its files in the folder."""
    from hookctl.packs.pack import read_files
    from hookctl.packs.wants import wants as pack_wants

    wants, messages = pack_wants(pack, draft.host, in_sh(draft.target, folder))
    files = {name: File(data, executable) for name, (data, executable) in read_files(pack).items()}
    known = draft.packs.get(pack.name)
    source = _recorded_source(pack, draft.target)
    if known and known.source not in ("", source):
        messages.append(f"{pack.name} came from {known.source} so far")
    draft.messages += messages
    # A committed digest must be found again from the files that lie in a clone, where no manifest does.
    manifest = b"" if draft.target.shared else pack.manifest
    digest = content_digest(manifest, {name: file.data for name, file in files.items()})
    return Content(wants, files, {}, source, digest, entries_but_wraps(draft))


def _recorded_source(pack: Pack, target: Target) -> str:
    """A pack's own file, as it is recorded; in a committed ledger no path of this machine has a place."""
    if not target.shared:
        return pack.source
    source = os.path.realpath(pack.source)
    return source if source.startswith(top(target.project)) else ""


def guard_content(draft: Draft, pack: Pack, choice: Choice, folder: str) -> Content:
    """The guard, with the settings that were recorded or are chosen now; hooks that it wraps are edited at once."""
    known = draft.packs.get(GUARD)
    settings = _chosen_settings(draft, choice, known)
    text = "" if choice.reset and choice.settings.wrap is None else choice.settings.wrap
    wrapped = wrap(draft, Asked(text, pack.version, folder, settings.python, choice.force))
    visible = entries_but_wraps(draft)
    wanted_config = guard.configuration(
        settings, "" if draft.target.shared else draft.folders.state, draft.host
    )
    wants, files = [], {}
    if settings.events or wrapped:
        before = known.settings.get("config", {}) if known else {}
        path = os.path.join(folder, CONFIG)
        config = runtime_files.configuration(path, before, wanted_config, draft.host, choice.force)
        files = runtime_files.guards_files(config, wrapper=wrapped)
        wants = _guard_wants(
            draft, visible, pack, choice, folder, settings, json.loads(config.data)
        )
    recorded = {
        "mode": settings.mode,
        "knobs": settings.options,
        "python": settings.python,
        "config": wanted_config,
    }
    if settings.preset:
        recorded["preset"] = settings.preset
    return Content(wants, files, recorded, pack.source, guard_digest(files), visible)


def guard_digest(files: Mapping[str, File]) -> str:
    """The digest of the guard's programs; config.json is no program."""
    return content_digest(b"", {name: file.data for name, file in files.items() if name != CONFIG})


def _chosen_settings(draft: Draft, choice: Choice, known: PackRecord | None) -> Settings:
    """The recorded settings, or the defaults, with what is asked for now; what to know of them becomes a message."""
    recorded = settings_from(known.settings if known else {})
    base = Settings(python=recorded.python) if choice.reset else recorded
    settings = choose(base, choice.settings)
    draft.messages += remarks(settings, choice.settings)
    draft.messages += remarks_for(draft.host, settings, _own_cap(draft))
    if draft.target.shared:
        require_portable(settings)
        draft.messages += interpreter.on_path(draft.folders.environ)
        return settings.with_python("")
    if settings.python and interpreter.runs(settings.python):
        return settings
    python, warning = draft.sources.python()
    if warning:
        draft.messages.append(warning)
    return settings.with_python(python)


def _guard_wants(
    draft: Draft,
    visible: tuple[Entry, ...],
    pack: Pack,
    choice: Choice,
    folder: str,
    settings: Settings,
    config: Mapping[str, Any],
) -> list[Wanted]:
    """The guard's wants, with the host's cap derived from the limit that will be in effect in this file."""
    own_cap, wanted_limit = _own_cap(draft), guard.wanted_limit(settings)
    wants = guard.wants(settings, draft.target, pack, folder, wanted_limit, own_cap)
    limit = _limit_in_effect(draft, visible, wants, config, force=choice.force)
    if limit == wanted_limit:
        return wants
    return guard.wants(settings, draft.target, pack, folder, limit, own_cap)


def _limit_in_effect(
    draft: Draft,
    visible: tuple[Entry, ...],
    wants: list[Wanted],
    config: Mapping[str, Any],
    *,
    force: bool,
) -> str:
    """The limit after this install: that of the settings file if it has one for every hook, else of config.json."""
    path = (*draft.host.env_path, LIMIT_KEY)
    if not draft.host.env_path:
        configured = config.get("max_stop_blocks")
        return str(configured) if type(configured) is int else ""
    if any(want.path == path for want in wants):
        current = draft.look(wants, visible)
        value = engine.leaf_after_install(visible, current, GUARD, wants, path, force=force)
    else:
        value = draft.document.get(path)
    if value is MISSING or value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _own_cap(draft: Draft) -> str:
    """The operator's cap, where it stands in a setting; a variable of ours would beat that."""
    path = tuple(draft.host.cap.get("setting", ()))
    value = draft.document.get(path) if path else MISSING
    return str(value) if type(value) is int else ""
