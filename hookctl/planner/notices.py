"""The messages of an install about its settings file: where the hooks will not run."""

from __future__ import annotations

import os
from collections.abc import Iterator

from hookctl.hosts import detected, loading, settings_path, shapes
from hookctl.model import Message
from hookctl.packs.abilities import lacks
from hookctl.packs.choices import settings_from
from hookctl.packs.model import Pack
from hookctl.planner.draft import Draft
from hookctl.settings import approval, switches
from hookctl.settings.stopping import find_stopping
from hookctl.settings.targets import GUARD, Target, active_file

_INFORMATION = ("start_folder", "client_missing")


def find_notices(draft: Draft, pack: Pack) -> list[Message]:
    """A message for each thing that a person should know about this file."""
    path, host = draft.target.path, draft.host
    notices = []
    if draft.not_loaded:
        text = f"{draft.before.where}: {draft.not_loaded}"
        notices.append(("not_loaded", text))
    for text in _list_stopping(draft):
        notices.append(("not_loaded", text))
        draft.not_loaded = draft.not_loaded or text
    notices.append(("hooks_disabled", _say_switched_off(draft, pack)))
    if draft.snapshot.data is None and draft.is_edited:
        notices += _tell_of_new_file(draft)
    notices.append(("hooks_woken", _say_woken_hooks(draft)))
    notices.append(("sub_agents", _say_unasked_in_sub_agents(draft, pack)))
    notices.append(("start_folder", single_folder_line(draft.target, pack.name)))
    notices += _tell_of_old_client(draft)
    messages = []
    for code, text in notices:
        level = "info" if code in _INFORMATION else "warning"
        if text:
            messages.append(Message(text, code, level, host=host.name, path=path))
    return messages


def _list_stopping(draft: Draft) -> Iterator[str]:
    """The messages about other files with which the client does not start here."""
    start, user = _find_start(draft)
    for stopping in find_stopping(draft.folders, draft.host, user, start, draft.sources.read):
        if stopping.path != draft.target.path:
            yield stopping.reason


def _find_start(draft: Draft) -> tuple[str, str]:
    """The folder that the host is started in, and the user's settings file."""
    folders, user = draft.folders, draft.target.path
    if draft.target.scope != "user":
        user = active_file(draft.host, "user", folders.environ, read=draft.sources.read)[1]
    return draft.target.project or folders.cwd, user


def _say_switched_off(draft: Draft, pack: Pack) -> str:
    """The message about what switches hooks off where the host is started, or ''.

    That is noted in the draft, except where only this file says so and another one wins.
    """
    folders, host, read = draft.folders, draft.host, draft.sources.read
    start, user = _find_start(draft)
    scopes, target = approval.list_scopes(host, start, folders.environ, read), draft.target
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


def _say_unasked_in_sub_agents(draft: Draft, pack: Pack) -> str:
    """The message that the sub-agents of this host run no hook of the pack, or ''."""
    if pack.name == GUARD or not pack.has_hooks or draft.host.runner.get("sub_agents", True):
        return ""
    where = f"{pack.name} works in the main agent of {draft.host.title}"
    return f"{where}: its sub-agents do not ask it"


def _tell_of_new_file(draft: Draft) -> Iterator[tuple[str, str]]:
    """The messages about what a new settings file changes."""
    target, host = draft.target, draft.host
    if target.project and host.scope_rules.first_only:
        user_file = settings_path(host, "user", draft.folders.environ)
        if os.path.exists(user_file):
            text = f"{host.title} then reads no hook of {user_file} in this project: "
            yield "user_file_hidden", text + "it reads only the first file there is"
    if os.path.islink(target.path):  # perhaps that disk is not mounted yet
        text = f"{target.path} is a link to {draft.snapshot.path}, which does not exist"
        yield "dangling_link", f"{text}, so it is made there"
    # The agent may not be installed at all, or lie where hookctl does not look.
    environ = draft.folders.environ
    if target.scope == "user" and not detected(host, environ):
        text = f"{host.title} was not found here; its settings are written all the same"
        yield "client_missing", text


def _tell_of_old_client(draft: Draft) -> Iterator[tuple[str, str]]:
    """The messages about what the client here is too old for, where something is installed."""
    host = draft.host
    if not host.client.since or not draft.is_edited:
        return
    version = draft.sources.version(host)
    known = draft.packs.get(GUARD)
    settings = settings_from(known.settings) if known else None
    for level, does, since in lacks(host, version, settings, draft.before) if version else ():
        if level != "info":
            text = f"{host.title} {version} {does}: upgrade it to {since} or later"
            yield "client_old", text


def single_folder_line(target: Target, pack: str) -> str:
    """The line that a host must be started in the project's own folder, or ''."""
    reason = single_folder_reason(target)
    if not reason:
        return ""
    return f"{reason}: {pack} works in {target.project}, not in the folders below it"


def single_folder_reason(target: Target) -> str:
    """Why a host must be started in the project's own folder; '' if it need not be."""
    host = target.host
    if target.scope != "user" and host.scope_rules.start_folder_only:
        return f"{host.title} reads {target.scope} settings only where it is started"
    if target.shared and host.environment.project_is_start:
        return f"{host.title} tells a hook where it was started, and not where the project is"
    return ""
