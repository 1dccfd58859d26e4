"""The hooks that `hookctl disable` took out, as hooks in the list, and those that an ID means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hookctl import clock, hosts
from hookctl.documents import Document
from hookctl.errors import HookctlError
from hookctl.hosts import codex
from hookctl.ledger import disabled as book
from hookctl.ledger.disabled import NAME, SWITCH, DisabledHook
from hookctl.planner.sources import read_document
from hookctl.settings.targets import top, variant_of_file
from hookctl.survey import listing
from hookctl.survey.listing import list_hooks
from hookctl.survey.model import DISABLED, Hook, HookFile, Obstacle, Unreadable
from hookctl.system.folders import Folders


class DisabledHooks(NamedTuple):
    """What is disabled, without what is back in its file by now."""

    hooks: tuple[DisabledHook, ...] = ()
    error: Unreadable | None = None  # why it is not known

    def add_to(self, hooks: Iterable[Hook], host_names: set[str], project: str) -> list[Hook]:
        """The hooks with the disabled ones of these hosts among them, each where it belongs."""
        all_hooks = list(hooks)
        for hook in self.hooks:
            is_here = hook.scope == "user" or hook.file.startswith(top(project))
            if not hook.is_values and hook.host in host_names and is_here:
                _add(all_hooks, hook)
        return all_hooks


def read_disabled(folders: Folders) -> DisabledHooks:
    """What is disabled in any file."""
    try:
        known = book.load(folders)
    except HookctlError as error:
        return DisabledHooks(error=Unreadable(error.path, error.line, error.message))
    if not known:
        return DisabledHooks()
    from hookctl.planner.disable import find_away  # late, too

    return DisabledHooks(tuple(find_away(known, _read)))


def _read(path: str, format: str) -> Document | None:
    try:
        return read_document(path, format)[1]
    except HookctlError:
        return None


def _add(hooks: list[Hook], disabled: DisabledHook) -> None:
    """Put a disabled hook behind those of its file; one that was switched off stands there."""
    since = clock.local(disabled.since)[:16]
    reason = f"disabled since {since}; `hookctl enable {disabled.shown}` puts it back"
    obstacles = (Obstacle(DISABLED, reason),)
    for place, hook in enumerate(hooks):
        if _is_switched_off(hook, disabled):
            hooks[place] = hook._replace(obstacles=obstacles)
            return
    of_host = [n for n, hook in enumerate(hooks) if hook.host == disabled.host]
    of_file = [n for n in of_host if hooks[n].file == disabled.file]
    within = hooks[of_file[-1]].within if of_file else None
    at = max(of_file or of_host, default=len(hooks) - 1) + 1
    hooks.insert(at, _hook_of(disabled, reason, within))


def _is_switched_off(hook: Hook, disabled: DisabledHook) -> bool:
    """Whether a hook of its file is the disabled one, by its host's own switch."""
    step = disabled.steps[0]
    if (hook.host, hook.file) != (disabled.host, disabled.file) or hook.is_disabled:
        return False
    if step.kind == SWITCH:
        is_whole = len(hook.path) == 5  # else no switch of the host's is about it
        return is_whole and codex.state_path(disabled.file, hook.path) == step.path[:-1]
    is_alike = (hook.event, hook.matcher) == (disabled.event, disabled.matcher)
    return step.kind == NAME and is_alike and hook.fields.get("name", hook.command) == step.raw


def _hook_of(disabled: DisabledHook, reason: str = "", within: HookFile | None = None) -> Hook:
    """A disabled hook as one in the list, in its file."""
    host = variant_of_file(hosts.load(disabled.host), disabled.file)
    return Hook(
        within or HookFile(host, disabled.scope, disabled.file),
        (),
        disabled.event,
        disabled.fields,
        disabled.matcher,
        own_id=disabled.name,
        obstacles=(Obstacle(DISABLED, reason),),
    )


# Which of them an ID means.


def find_disabled(
    disabled: Sequence[DisabledHook], text: str, names: Sequence[str]
) -> list[DisabledHook]:
    """The disabled hooks that an ID, PACK or PACK/ID means; refuses (usage) what is none.

    With `names` only those of these hosts count. No hook of a pack goes without its values.
    """
    known = [one for one in disabled if not names or one.host in names]
    packs = [one for one in known if text == one.pack]
    if packs:
        return packs
    listed = [one for one in known if not one.is_values]
    hooks = list_hooks(_hook_of(one) for one in listed)
    try:
        found = listing.find(hooks, text)
    except HookctlError:  # a number of a repeat counts those that are not disabled, too
        found = listing.find(hooks, text.partition("#")[0])
    chosen = [one for one, hook in zip(listed, hooks, strict=True) if hook in found]
    places = {(one.file, one.pack) for one in chosen if one.name}
    return [*chosen, *(one for one in known if one.is_values and (one.file, one.pack) in places)]
