"""What an install should say of the settings file that it writes: where it holds, and what keeps it from working."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from hookctl.hosts import settings_path
from hookctl.packs.model import Pack
from hookctl.planner.draft import Draft


def notices(draft: Draft, pack: Pack) -> list[str]:
    """A line for each thing that a person should know of this file."""
    lines = list(_hooks_switched_off(draft))
    if draft.snapshot.data is None and draft.is_edited:
        lines += _hides_the_users_file(draft)
        lines += _made_behind_a_link(draft)
    return [*lines, *_holds_in_one_folder(draft, pack)]


def _hooks_switched_off(draft: Draft) -> Iterator[str]:
    switches = draft.host.switches
    key = tuple(switches.disable)
    if key and draft.before.get(key) is switches.disabled_by:
        value = json.dumps(switches.disabled_by)
        yield f"{'.'.join(key)} is {value} in {draft.before.where}, so no hook runs until that is removed"


def _hides_the_users_file(draft: Draft) -> Iterator[str]:
    """A new project file makes a host that reads only the first one pass over the user's."""
    if not draft.target.project or not draft.host.scope_rules.first_only:
        return
    users = settings_path(draft.host, "user", draft.folders.environ)
    if os.path.exists(users):
        title = draft.host.title
        yield f"{title} then reads no hook of {users} in this project: it reads only the first file there is"


def _made_behind_a_link(draft: Draft) -> Iterator[str]:
    """A file that is made where a link leads to: perhaps its disk is not there yet."""
    if os.path.islink(draft.target.path):
        yield f"{draft.target.path} is a link to {draft.snapshot.path}, which does not exist, so it is made there"


def _holds_in_one_folder(draft: Draft, pack: Pack) -> Iterator[str]:
    """A host that knows only the folder it is started in must be started there."""
    target, title, host = draft.target, draft.host.title, draft.host
    if target.scope != "user" and host.scope_rules.start_folder_only:
        why = f"{title} reads {target.scope} settings only where it is started"
    elif target.shared and host.environment.project_is_start:
        why = f"{title} tells a hook where it was started, and not where the project is"
    else:
        return
    yield f"{why}: {pack.name} works in {target.project}, not in the folders below it"
