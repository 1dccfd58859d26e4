"""The hooks that `hookctl disable` took out, as hooks in the list, and those that an ID means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hookctl import clock, hosts
from hookctl.documents import Document
from hookctl.errors import HookctlError
from hookctl.hosts import codex
from hookctl.ledger import disabled as book
from hookctl.ledger.disabled import HOOK, SWITCH, DisabledHook
from hookctl.planner.sources import read_document
from hookctl.settings.targets import top, variant_of_file
from hookctl.survey import ids
from hookctl.survey.listing import list_hooks
from hookctl.survey.model import DISABLED, Hook, HookFile, Obstacle, Unreadable
from hookctl.system.folders import Folders

if TYPE_CHECKING:  # late: few have anything disabled
    from hookctl.planner.disable import Wanted


class DisabledHooks(NamedTuple):
    """What is disabled, without what is back in its file by now."""

    hooks: tuple[Wanted, ...] = ()
    error: Unreadable | None = None  # why it is not known

    def add_to(self, hooks: Iterable[Hook], host_names: set[str], project: str) -> list[Hook]:
        """The hooks with the disabled ones of these hosts among them, each where it belongs."""
        all_hooks = list(hooks)
        for wanted in self.hooks:
            hook = wanted.hook
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
    switched_off = _find_switched_off(hooks, disabled)
    if switched_off is not None:
        obstacles = (Obstacle(DISABLED, reason),)
        hooks[switched_off] = hooks[switched_off]._replace(obstacles=obstacles)
        return
    of_host = [n for n, hook in enumerate(hooks) if hook.host == disabled.host]
    of_file = [n for n in of_host if hooks[n].file == disabled.file]
    within = hooks[of_file[-1]].within if of_file else None
    at = max(of_file or of_host, default=len(hooks) - 1) + 1
    hooks.insert(at, _hook_of(disabled, reason, within))


def _find_switched_off(hooks: Sequence[Hook], disabled: DisabledHook) -> int | None:
    """Which hook of its file a disabled one is, if it stands there; of equal ones its own."""
    step, alike = disabled.steps[0], []
    if step.kind == HOOK:
        return None
    for place, hook in enumerate(hooks):
        is_in_file = (hook.host, hook.file) == (disabled.host, disabled.file)
        if is_in_file and not hook.is_disabled and _is_same(hook, disabled):
            alike.append(place)
    for place in alike if step.kind == SWITCH else ():
        if codex.state_path(disabled.file, hooks[place].path) == step.path[:-1]:
            return place
    return alike[0] if alike else None


def _is_same(hook: Hook, disabled: DisabledHook) -> bool:
    if (hook.event, hook.matcher, hook.own_id) != (disabled.event, disabled.matcher, disabled.name):
        return False
    host = hook.within.host
    return bool(book.command_of(host, hook.fields) == book.command_of(host, disabled.fields))


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


def find_disabled(disabled: Sequence[Wanted], text: str, names: Iterable[str] = ()) -> list[Wanted]:
    """The disabled hooks that an ID, PACK or PACK/ID means; refuses (usage) what is none.

    With `names` only those of these hosts count.
    """
    allowed = set(names)
    known = [one for one in disabled if not allowed or one.hook.host in allowed]
    packs = [one for one in known if text == one.hook.pack]
    if packs:
        return packs
    listed = [one for one in known if not one.hook.is_values]
    hooks = list_hooks(_hook_of(one.hook) for one in listed)
    try:
        found = ids.find(hooks, text)
    except HookctlError:  # a number of a repeat counts those that are not disabled, too
        found = ids.find(hooks, text.partition("#")[0])
    chosen = [one for one, hook in zip(listed, hooks, strict=True) if hook in found]
    return [*chosen, *_values_beside(known, chosen)]


def _values_beside(known: Iterable[Wanted], chosen: Iterable[Wanted]) -> Iterator[Wanted]:
    """The values of the packs of these hooks in the same files: no hook goes without them."""
    places = {(one.hook.file, one.hook.pack) for one in chosen if one.hook.name}
    for one in known:
        if one.hook.is_values and (one.hook.file, one.hook.pack) in places:
            yield one
