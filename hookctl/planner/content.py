"""What a pack puts in one target: hooks, env values, files, and the settings on record."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from hookctl import engine
from hookctl.documents import MISSING
from hookctl.hosts import shapes
from hookctl.ledger.store import Records
from hookctl.model import WRAP, Consent, Entry, PackRecord, Wanted
from hookctl.packs import guard
from hookctl.packs.abilities import limits_for
from hookctl.packs.choices import (
    LIMIT_KEY,
    Choice,
    Settings,
    choose,
    remarks,
    require_portable,
    settings_from,
)
from hookctl.packs.model import Pack
from hookctl.planner.draft import Draft
from hookctl.planner.own_files import File, config_values, merge_config, read_own
from hookctl.settings.targets import GUARD, config_name, pack_folder, short_hash
from hookctl.system import interpreter


class Content(NamedTuple):
    """What a pack puts in one target."""

    wants: list[Wanted]
    folder: str  # of its files
    files: dict[str, File]
    settings: dict[str, Any]  # as they are recorded
    source: str  # the pack's own file, as it is recorded
    digest: str
    visible: tuple[Entry, ...]  # the entries to decide on: not those of hooks that we wrap
    consent: Consent = Consent()  # what an install of it needs; a built-in pack needs none
    commit: str = ""  # of a pack from git


def guard_content(draft: Draft, records: Records, pack: Pack, choice: Choice) -> Content:
    """The guard with its recorded or newly chosen settings; hooks that it wraps are edited here."""
    config = _choose_config(draft, records)
    known = draft.packs.get(GUARD)
    settings = _choose_settings(draft, choice, known)
    wraps_any = _wrap_hooks(draft, pack, choice, config, settings)
    visible = draft.pack_entries(wraps=False)
    state = "" if draft.target.shared else draft.folders.state
    wanted_config = guard.configuration(settings, state, draft.host, wraps=wraps_any)
    wants: list[Wanted] = []
    files: dict[str, File] = {}
    if settings.events or wraps_any:
        written = known.settings.get("config", {}) if known else {}
        snapshot = read_own(draft.sources, draft.target, config)
        if snapshot.data is None:  # 0.2.0 had it elsewhere
            former = known.config if known else draft.orphaned
            snapshot = read_own(draft.sources, draft.target, former or config)
        data, kept = merge_config(
            config, snapshot, written, wanted_config, draft.host, force=choice.force
        )
        draft.kept += kept
        files[os.path.basename(config)] = File(data)
        wants = _guard_wants(
            draft,
            visible,
            pack,
            config,
            settings,
            json.loads(data),
            force=choice.force,
            wraps=wraps_any,
        )
    recorded = {
        "mode": settings.mode,
        "knobs": settings.options,
        "python": settings.python,
        "config": wanted_config,
    }
    if settings.preset:
        recorded["preset"] = settings.preset
    if settings.allow_run:
        recorded["allow_run"] = True
    had_rules = known is not None and known.settings.get("rules") is True
    if choice.settings.rules or (had_rules and not choice.reset):
        recorded["rules"] = True
    folder = os.path.dirname(config)
    return Content(wants, folder, files, recorded, pack.source, "", visible)


def _choose_config(draft: Draft, records: Records) -> str:
    """The path of the guard's configuration: the known one, an orphan's, or the target's."""
    folder = pack_folder(draft.folders, draft.target, GUARD)
    known = draft.packs.get(GUARD)
    for path in (known.config if known else "", draft.orphaned):
        if os.path.dirname(path) == folder:
            return path
    path = os.path.join(folder, config_name(draft.target, records, draft.key))
    state = draft.folders.state
    there = config_values(read_own(draft.sources, draft.target, path))
    if not draft.target.shared and there.get("state_dir", state) != state:  # another one's
        path = os.path.join(folder, f"{draft.host.name}-{short_hash(state + draft.key)}.json")
    return path


def _wrap_hooks(draft: Draft, pack: Pack, choice: Choice, config: str, settings: Settings) -> bool:
    """Bring wrapped hooks up to date and wrap the requested one; whether any hook is wrapped."""
    hooks = shapes.elements(draft.host.shape, draft.document.value or {})
    ids = [*(hook.id for hook in hooks), *(entry.id for entry in draft.entries)]
    if choice.settings.wrap is None and not any(id.startswith(WRAP) for id in ids):
        return False
    from hookctl.planner.wraps import wrap_hooks  # late: few installs wrap a hook

    text = choice.settings.wrap
    if choice.reset and text is None:
        text = ""
    return wrap_hooks(draft, text, pack.version, config, settings.python, force=choice.force)


def _choose_settings(draft: Draft, choice: Choice, known: PackRecord | None) -> Settings:
    """The recorded or default settings with this request; remarks on them become messages."""
    base = settings_from(known.settings if known else {})
    if choice.reset:
        base = Settings(python=base.python)
    settings = choose(base, choice.settings)
    draft.tell("settings", *remarks(settings, choice.settings))
    missed, others = limits_for(draft.host, settings, _operators_cap(draft))
    draft.tell("host_limits", *others, level="info")
    draft.tell("host_limits", *missed)
    if draft.target.shared:
        require_portable(settings)
    return settings.with_python(choose_python(draft, settings.python))


def choose_python(draft: Draft, recorded: str) -> str:
    """The Python that starts our programs: the recorded one while it is usable; '' in a project.

    What is wrong with it becomes a message.
    """
    if draft.target.shared:
        draft.tell("interpreter", *draft.sources.python_on_path(draft.target.project))
        return ""
    if recorded and interpreter.is_usable(recorded):
        return recorded
    python, warning = draft.sources.python()
    if warning:
        draft.tell("interpreter", warning)
    return python


def _guard_wants(
    draft: Draft,
    visible: tuple[Entry, ...],
    pack: Pack,
    config: str,
    settings: Settings,
    values: Mapping[str, Any],
    *,
    force: bool,
    wraps: bool,
) -> list[Wanted]:
    """The guard's wants; the host's cap follows the limit that will be in effect in this file."""
    cap, wanted_limit = _operators_cap(draft), guard.wanted_limit(settings)
    wants = guard.wants(settings, draft.target, pack, config, wanted_limit, cap, wraps=wraps)
    if draft.host.env_path:
        limit = _limit_in_settings(draft, visible, wants, force=force)
    else:
        limit = _limit_in_config(values)
    if limit == wanted_limit:
        return wants
    return guard.wants(settings, draft.target, pack, config, limit, cap, wraps=wraps)


def _limit_in_settings(
    draft: Draft, visible: tuple[Entry, ...], wants: list[Wanted], *, force: bool
) -> str:
    """The limit in the settings file after this install, or ''."""
    path = (*draft.host.env_path, LIMIT_KEY)
    value = draft.document.get(path)
    wanted = next((want for want in wants if want.path == path), None)
    if wanted is not None and value != wanted.value:
        current = draft.read_current(wants, visible)
        value = engine.leaf_after_install(visible, current, GUARD, wants, path, force=force)
    if value is MISSING or value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _limit_in_config(values: Mapping[str, Any]) -> str:
    """The limit in the configuration, or ''."""
    limit = values.get("max_stop_blocks")
    return str(limit) if type(limit) is int else ""


def _operators_cap(draft: Draft) -> str:
    """The operator's cap in a setting of the host, or ''; our variable would win over it."""
    path = tuple(draft.host.cap.get("setting", ()))
    value = draft.document.get(path) if path else MISSING
    return str(value) if type(value) is int else ""
