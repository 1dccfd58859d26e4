"""What an install should say about the settings file that it writes: where the hooks do not run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from hookctl.hosts import detected, loading, settings_path, shapes
from hookctl.model import Message
from hookctl.packs.model import Pack
from hookctl.planner.draft import Draft
from hookctl.settings import effective
from hookctl.settings.targets import Target, active_file

_INFORMATION = ("start_folder", "client_missing")


def find_notices(draft: Draft, pack: Pack) -> list[Message]:
    """A message for each thing that a person should know about this file."""
    notices = {"not_loaded": list(_notice_not_loaded(draft))}
    notices["hooks_disabled"] = list(_notice_switched_off(draft))
    draft.switched_off = _find_switch(draft)
    if draft.switched_off and not notices["hooks_disabled"]:
        line = f"{draft.switched_off}, so no hook of {pack.name} runs here"
        notices["hooks_disabled"] = [line]
    if draft.snapshot.data is None and draft.is_edited:
        notices["user_file_hidden"] = list(_notice_hidden_user_file(draft))
        notices["dangling_link"] = list(_notice_dangling_link(draft))
        notices["client_missing"] = list(_notice_missing_client(draft))
    notices["hooks_woken"] = list(_notice_woken_hooks(draft))
    notices["start_folder"] = list(_notice_single_folder(draft, pack))
    messages = []
    for code, lines in notices.items():
        for line in lines:
            path = draft.target.path
            level = "info" if code in _INFORMATION else "warning"
            messages.append(Message(line, code, level, host=draft.host.name, path=path))
    return messages


def _notice_not_loaded(draft: Draft) -> Iterator[str]:
    """Something in the file costs all of it."""
    if draft.not_loaded:
        yield f"{draft.before.where}: {draft.not_loaded}; {loading.cost(draft.host)}"


def _notice_switched_off(draft: Draft) -> Iterator[str]:
    """The file itself switches all hooks off."""
    switches = draft.host.switches
    key = tuple(switches.disable)
    if key and draft.before.get(key) is switches.disabled_by:
        value = json.dumps(switches.disabled_by)
        where = draft.before.where
        yield f"{'.'.join(key)} is {value} in {where}, so no hook runs until that is removed"


def _find_switch(draft: Draft) -> str:
    """What switches hooks off where the host is started, in whichever file; '' if nothing does."""
    folders, host = draft.folders, draft.host
    start, user = draft.target.project or folders.cwd, draft.target.path
    if draft.target.scope != "user":
        user = active_file(host, "user", folders.environ, read=draft.sources.read)[1]
    read = draft.sources.read
    sources = effective.sources(folders, host, user, start, read)
    switches = effective.with_switches(folders, host, sources, start, read)
    return effective.describe_switch(draft.target.path, switches)


def _notice_woken_hooks(draft: Draft) -> Iterator[str]:
    """A key that the host needs for any hook, and that this install brings, wakes theirs too."""
    before = draft.before.value
    if not isinstance(before, dict):
        return
    missing = [key for key in draft.host.registration.top if key not in before]
    handlers = shapes.handlers(draft.host.shape, before)
    if missing and handlers and draft.host.guarding.top:
        events = dict.fromkeys(shapes.event_of(draft.host.shape, path) for path, _, _ in handlers)
        yield (
            f"{' and '.join(missing)} also wakes hooks that {draft.host.title} has not run "
            f"without it: {', '.join(events)}"
        )


def _notice_hidden_user_file(draft: Draft) -> Iterator[str]:
    """A host that reads only the first file skips the user's file once a project has one."""
    if not draft.target.project or not draft.host.scope_rules.first_only:
        return
    user_file = settings_path(draft.host, "user", draft.folders.environ)
    if os.path.exists(user_file):
        yield (
            f"{draft.host.title} then reads no hook of {user_file} in this project: "
            "it reads only the first file there is"
        )


def _notice_dangling_link(draft: Draft) -> Iterator[str]:
    """The file is made where its link points; perhaps that disk is not mounted yet."""
    path = draft.target.path
    if os.path.islink(path):
        real = draft.snapshot.path
        yield f"{path} is a link to {real}, which does not exist, so it is made there"


def _notice_missing_client(draft: Draft) -> Iterator[str]:
    """The agent may not be installed at all, or lie where hookctl does not look."""
    if draft.target.scope == "user" and not detected(draft.host, draft.folders.environ):
        yield f"{draft.host.title} was not found here; its settings are written all the same"


def _notice_single_folder(draft: Draft, pack: Pack) -> Iterator[str]:
    line = single_folder_line(draft.target, pack.name)
    if line:
        yield line


def single_folder_line(target: Target, pack: str) -> str:
    """That a host must be started in the project's own folder, if it knows no other; or ''."""
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
