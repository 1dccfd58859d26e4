"""What a person should know about a settings file into which a pack comes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial

from hookctl.hosts import detected, loading, settings_path, shapes
from hookctl.ownership.draft import Draft
from hookctl.packs.abilities import lacks
from hookctl.packs.choices import settings_from
from hookctl.packs.model import Pack
from hookctl.settings import approval, switches
from hookctl.settings.stopping import find_fatal_files
from hookctl.settings.targets import GUARD, active_file

INFORMATION = ("start_folder", "client_missing")


def list_notices(draft: Draft, pack: Pack) -> Iterator[tuple[str, str]]:
    """Code and text, if any, of each message; what keeps hooks from running is noted, too."""
    folders, host, read, target = draft.folders, draft.host, draft.sources.read, draft.target
    if draft.not_loaded:
        yield "not_loaded", f"{draft.before.where}: {draft.not_loaded}"
    start, user = target.project or folders.cwd, target.path
    if target.scope != "user":
        user = active_file(host, "user", folders.environ, read=read)[1]
    for stopping in find_fatal_files(folders, host, user, start, read):
        if stopping.path != target.path:
            yield "not_loaded", stopping.sentence
            draft.not_loaded = draft.not_loaded or stopping.sentence
    yield "hooks_disabled", _say_switched_off(draft, pack, start, user)
    if draft.old is None and draft.is_edited:
        yield from _tell_of_new_file(draft)
    yield "hooks_woken", _say_woken_hooks(draft)
    if pack.name != GUARD and pack.has_hooks and not host.runner.get("sub_agents", True):
        where = f"{pack.name} works in the main agent of {host.title}"
        yield "sub_agents", f"{where}: its sub-agents do not ask it"
    reason = ""
    if target.scope != "user" and host.scope_rules.start_folder_only:
        reason = f"{host.title} reads {target.scope} settings only where it is started"
    elif target.shared and host.environment.project_is_start:
        reason = f"{host.title} tells a hook where it was started, and not where the project is"
    if reason:
        where = f"{pack.name} works in {target.project}, not in the folders below it"
        yield "start_folder", f"{reason}: {where}"
    version = ""
    if host.client.since and draft.is_edited:
        from hookctl.hosts.version import ask_client  # late: most plans change nothing

        ask = partial(ask_client, host, folders)
        version = draft.sources.once(("version", host.name), ask).version
    known = draft.packs.get(GUARD)
    settings = settings_from(known.settings) if known else None
    for level, does, since in lacks(host, version, settings, draft.before) if version else ():
        if level != "info":
            text = f"{host.title} {version} {does}: upgrade it to {since} or later"
            yield "client_old", text


def _say_switched_off(draft: Draft, pack: Pack, start: str, user: str) -> str:
    """The message about what switches hooks off where the host is started, or ''."""
    folders, host, read, target = draft.folders, draft.host, draft.sources.read, draft.target
    scopes = approval.list_scopes(host, start, folders.environ, read)
    found = switches.find(folders, host, user, start, scopes, read)
    off = switches.find_stopping(found, target.scope, target.path)
    where = f" {off.where}" if off and off.path != target.path else ""
    draft.switched_off = f"{off.said}{where}" if off else ""
    for switch in found:
        if switch.is_off and switch.path == target.path:
            return f"{switch.said} in {draft.before.where}, so no hook runs until that is removed"
    if draft.switched_off:
        return f"{draft.switched_off}, so no hook of {pack.name} runs here"
    return ""


def _say_woken_hooks(draft: Draft) -> str:
    """The message that a required key from this install activates other tools' hooks too."""
    before, host = draft.before.value, draft.host
    if not isinstance(before, dict) or loading.reach_of(host, "bare") == loading.NOWHERE:
        return ""
    missing = [key for key in host.registration.top if key not in before]
    handlers = shapes.handlers(host.shape, before) if missing else []
    if not handlers:
        return ""
    events = dict.fromkeys(shapes.event_of(host.shape, path) for path, _, _ in handlers)
    return (
        f"{' and '.join(missing)} also wakes hooks that {host.title} has not run "
        f"without it: {', '.join(events)}"
    )


def _tell_of_new_file(draft: Draft) -> Iterator[tuple[str, str]]:
    target, host, environ = draft.target, draft.host, draft.folders.environ
    if target.project and host.scope_rules.first_only:
        user_file = settings_path(host, "user", environ)
        if os.path.exists(user_file):
            text = f"{host.title} then reads no hook of {user_file} in this project: "
            yield "user_file_hidden", text + "it reads only the first file there is"
    if os.path.islink(target.path):  # perhaps that disk is not mounted yet
        text = f"{target.path} is a link to {draft.path}, which does not exist"
        yield "dangling_link", f"{text}, so it is made there"
    # The agent may not be installed at all, or lie where hookctl does not look.
    if target.scope == "user" and not detected(host, environ):
        text = f"{host.title} was not found here; its settings are written all the same"
        yield "client_missing", text
