"""What a pack puts in one target: hooks, env values, files, and the settings on record."""

import json
import os
from functools import partial
from typing import Any

from hookctl.hosts import shapes
from hookctl.model import WRAP, Consent, PackRecord, Wanted
from hookctl.ownership.draft import Draft
from hookctl.ownership.own_files import Files, merge_config, read_own
from hookctl.packs import guard
from hookctl.packs.choices import (
    Choice,
    Settings,
    choose,
    remarks,
    require_portable,
    settings_from,
)
from hookctl.packs.model import CLAUDE, MANIFEST, PROTOCOL, Pack
from hookctl.settings.targets import GUARD, config_name, own_top, pack_folder
from hookctl.system import interpreter
from hookctl.system.files import content_digest

Content = tuple[list[Wanted], Files, PackRecord]


def guard_content(draft: Draft, pack: Pack, choice: Choice) -> Content:
    """The guard with its recorded or newly chosen settings; hooks that it wraps are edited here."""
    known, folder = draft.packs.get(GUARD), pack_folder(draft.folders, draft.target, GUARD)
    hooks = shapes.elements(draft.host.shape, draft.document.value)
    config = former = find_config(draft)
    if os.path.dirname(former) != folder:
        config = os.path.join(folder, config_name(draft.target, draft.records, draft.key))
    value = draft.document.get(tuple(draft.host.cap.get("setting", ())))
    cap = str(value) if type(value) is int else ""  # the operator's, over which ours would win
    settings = _choose_settings(draft, choice, known, cap)
    wraps_any = False
    ids = [*(hook.id for hook in hooks), *(entry.id for entry in draft.entries)]
    if choice.settings.wrap is not None or any(id.startswith(WRAP) for id in ids):
        from hookctl.ownership.wraps import wrap_hooks  # late: few installs wrap a hook

        text = "" if choice.reset and choice.settings.wrap is None else choice.settings.wrap
        wraps_any = wrap_hooks(draft, text, config, settings.python, force=choice.force)
    state = "" if draft.target.shared else draft.folders.state
    wanted_config = guard.configuration(settings, state, draft.host, wraps=wraps_any)
    wants: list[Wanted] = []
    files: dict[str, tuple[bytes, bool | None]] = {}
    if settings.events or wraps_any:
        written = known.settings.get("config", {}) if known else {}
        snapshot = read_own(draft.sources, draft.target, config)
        if snapshot.data is None:  # 0.2.0 had it elsewhere
            snapshot = read_own(draft.sources, draft.target, former)
        data, kept = merge_config(
            config, snapshot, written, wanted_config, draft.host, force=choice.force
        )
        draft.actions += kept
        files[os.path.basename(config)] = (data or b"", None)
        value = None if draft.host.env_path else json.loads(data or b"{}").get("max_stop_blocks")
        limit = str(value) if type(value) is int else ""
        wants = guard.wants(settings, draft.target, pack, config, limit, cap, wraps=wraps_any)
    recorded: dict[str, Any] = {
        "mode": settings.mode,
        "knobs": settings.options,
        "python": settings.python,
        "config": wanted_config,
    }
    had_rules = known is not None and known.settings.get("rules") is True
    has_rules = choice.settings.rules or (had_rules and not choice.reset)
    chosen = {"preset": settings.preset, "allow_run": settings.allow_run, "rules": has_rules}
    recorded |= {name: value for name, value in chosen.items() if value}
    names = tuple(sorted(files))
    return wants, files, PackRecord(pack.version, recorded, folder, names, source=pack.source)


def find_config(draft: Draft) -> str:
    """The path of the guard's configuration: the recorded one, or that of a hook without record."""
    if GUARD in draft.packs and draft.packs[GUARD].config:
        return draft.packs[GUARD].config
    packs = [record.packs for record in draft.records.values() if GUARD in record.packs]
    in_use = {known[GUARD].config for known in packs}
    for hook in shapes.elements(draft.host.shape, draft.document.value):
        event, command = hook.id.partition("/")[2], str(hook.fields.get("command"))
        path = guard.config_path(command, hook.id, event, draft.target)
        if path.startswith(f"{draft.folders.data}/") and path not in in_use:
            return path
    folder = pack_folder(draft.folders, draft.target, GUARD)
    return os.path.join(folder, config_name(draft.target, draft.records, draft.key))


def _choose_settings(draft: Draft, choice: Choice, known: PackRecord | None, cap: str) -> Settings:
    """The recorded or default settings with this request; remarks on them become messages."""
    base = settings_from(known.settings if known else {})
    if choice.reset:
        base = Settings(python=base.python)
    settings = choose(base, choice.settings)
    draft.warn("settings", *remarks(settings, choice.settings))
    missed, others = guard.limits_for(draft.host, settings, cap)
    draft.warn("host_limits", *others, level="info")
    draft.warn("host_limits", *missed)
    if draft.target.shared:
        require_portable(settings)
    settings.python = choose_python(draft, settings.python)
    return settings


def choose_python(draft: Draft, recorded: str) -> str:
    """The Python that starts our programs: the recorded one while it is usable; '' in a project."""
    if draft.target.shared:
        project, environ = draft.target.project, draft.folders.environ
        ask = partial(interpreter.on_path, environ, project)
        draft.warn("interpreter", *draft.sources.once(("on_path", project), ask))
        return ""
    if recorded and interpreter.is_usable(recorded):
        return recorded
    choose_new = partial(interpreter.choose, draft.folders.environ)
    python, warning = draft.sources.once(("python",), choose_new)
    if warning:
        draft.warn("interpreter", warning)
    return python


def pack_content(draft: Draft, pack: Pack, choice: Choice) -> Content:
    """What the manifest of a pack that is not built in wants, with its files."""
    from hookctl.packs import runner  # late: most calls are about the guard
    from hookctl.packs.listing import risky_env

    folder = pack_folder(draft.folders, draft.target, pack.name)
    known = draft.packs.get(pack.name)
    settings, python = {}, ""
    if runner.needs_runner(pack, draft.host):
        python = choose_python(draft, str(known.settings.get("python", "")) if known else "")
        settings = {PROTOCOL: CLAUDE, "python": python}
    programs = runner.find_programs(
        draft.target, folder, own_top(draft.folders, draft.target), python
    )
    wanted, notes = runner.wants(pack, draft.host, programs)
    source = pack.source
    if draft.target.shared and not pack.commit:
        # Links are resolved, to tell whether it lies in the project.
        source = os.path.realpath(source)
    if known and known.source not in ("", source):
        draft.warn("source_changed", f"{pack.name} came from {known.source} so far", level="info")
    contents = {name: data for name, (data, _) in pack.contents.items()}
    # The manifest tells what the pack's hooks are to be, in a clone too.
    files = {**pack.contents, MANIFEST: (pack.manifest, None)}
    digest = content_digest(b"", {**contents, MANIFEST: pack.manifest})
    allowed = set(choice.allow_env)
    if known and not choice.reset:
        allowed.update(known.consent.env)
    consent = Consent(
        digest=content_digest(pack.manifest, contents),
        env=tuple(name for name in risky_env(pack) if name in allowed),
        source=source if pack.commit else "",
    )
    surely, perhaps = runner.describe(pack, draft.host, notes)
    draft.warn("not_on_host", *surely)
    if known is None or known.consent.digest != consent.digest:  # told once
        draft.warn("not_on_host", *perhaps, level="info")
    commit = pack.commit
    if known and known.commit and known.consent == consent:
        commit = known.commit  # the repository has moved on, but not the pack
    record = PackRecord(
        version=pack.version,
        settings=settings,
        folder=folder,
        files=tuple(sorted(files)),
        source=source,
        digest=digest,
        consent=consent,
        commit=commit,
    )
    return wanted, files, record
