"""The hooks that `hookctl disable` took out, as hooks in the list, and those that an ID means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from hookctl import clock, hosts
from hookctl.documents import Document
from hookctl.errors import USAGE, HookctlError
from hookctl.hosts import Host, codex
from hookctl.ledger import disabled as book
from hookctl.ledger.disabled import HOOK, SWITCH, DisabledFile, DisabledHook
from hookctl.planner.sources import read_document
from hookctl.settings.targets import top, variant_of_file
from hookctl.survey import ids
from hookctl.survey.listing import list_hooks
from hookctl.survey.model import Handler, Hook, HookFile, Unreadable
from hookctl.system.folders import Folders

if TYPE_CHECKING:  # late: few have anything disabled
    from hookctl.planner.disable import Wanted


class DisabledHooks(NamedTuple):
    """What is disabled, without what is back in its file by now."""

    hooks: tuple[Wanted, ...] = ()
    error: Unreadable | None = None  # why it is not known

    def add_to(
        self, files: Iterable[HookFile], host_names: set[str], project: str
    ) -> list[HookFile]:
        """The files with the disabled hooks of these hosts in them, each where it belongs."""
        all_files = list(files)
        for wanted in self.hooks:
            hook = wanted.hook
            is_here = hook.scope == "user" or hook.file.startswith(top(project))
            if not hook.is_values and hook.host in host_names and is_here:
                _add(all_files, hook)
        return all_files


def read_disabled(folders: Folders) -> DisabledHooks:
    """What is disabled in any file."""
    try:
        known = book.load(folders)
    except HookctlError as error:
        return DisabledHooks(error=Unreadable(error.path, error.line, error.message))
    return DisabledHooks(tuple(_find_away(known)) if known else ())


def _find_away(known: Mapping[str, DisabledFile]) -> Iterator[Wanted]:
    """What is not back in its file."""
    from hookctl.planner.disable import Wanted, target_of_file  # late, too

    for path, file in known.items():
        target = target_of_file(file, path)
        document = _read(target.path, target.host.format)
        for hook in file.hooks:
            if document is None or not book.is_back(target.host, document, hook):
                yield Wanted(path, hook)


def _read(path: str, format: str) -> Document | None:
    try:
        return read_document(path, format)[1]
    except HookctlError:
        return None


def _add(files: list[HookFile], hook: DisabledHook) -> None:
    """Put a disabled hook into its file in the list; one that was switched off stands there."""
    since = clock.local(hook.since)[:16]
    reason = f"disabled since {since}; `hookctl enable {hook.shown}` puts it back"
    for number, file in enumerate(files):
        if (file.host.name, file.path) != (hook.host, hook.file):
            continue
        handlers = list(file.handlers)
        place = _find_switched_off(file, hook)
        if place is None:
            handlers.append(_handler_of(hook, reason))
        else:
            handlers[place] = handlers[place]._replace(disabled=reason)
        files[number] = file._replace(handlers=tuple(handlers))
        return
    host = _variant(hook)
    last = max((n for n, file in enumerate(files) if file.host.name == host.name), default=-1)
    new = HookFile(host, hook.scope, hook.file, (_handler_of(hook, reason),))
    files.insert(last + 1 or len(files), new)


def _find_switched_off(file: HookFile, hook: DisabledHook) -> int | None:
    """Which handler of its file a disabled hook is, if it stands there; of equal ones its own."""
    step, alike = hook.steps[0], []
    if step.kind == HOOK:
        return None
    for place, handler in enumerate(file.handlers):
        if not handler.disabled and _is_same(file.host, handler, hook):
            alike.append(place)
    for place in alike if step.kind == SWITCH else ():
        if codex.state_path(hook.file, file.handlers[place].path) == step.path[:-1]:
            return place
    return alike[0] if alike else None


def _variant(hook: DisabledHook) -> Host:
    return variant_of_file(hosts.load(hook.host), hook.file)


def _is_same(host: Host, handler: Handler, hook: DisabledHook) -> bool:
    if (handler.event, handler.matcher, handler.own_id) != (hook.event, hook.matcher, hook.name):
        return False
    return bool(book.command_of(host, handler.fields) == book.command_of(host, hook.fields))


def _handler_of(hook: DisabledHook, reason: str) -> Handler:
    return Handler(
        (), hook.event, hook.fields, hook.matcher, own_id=hook.name, disabled=reason or "disabled"
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
    hooks = list_hooks(
        HookFile(_variant(one.hook), one.hook.scope, one.hook.file, (_handler_of(one.hook, ""),))
        for one in listed
    )
    find = partial(_find, hooks)
    found = find(text) or find(text.partition("#")[0])
    if not found:
        hint = ids.suggest(hooks, text)
        hint = hint or "`hookctl hooks` lists every hook, with those that are disabled."
        message = f"nothing that is disabled has the ID {text}"
        raise HookctlError("usage", message, hint=hint, exit_code=USAGE)
    chosen = [one for one, hook in zip(listed, hooks, strict=True) if hook in found]
    return [*chosen, *_values_beside(known, chosen)]


def _find(hooks: list[Hook], text: str) -> list[Hook]:
    try:
        return ids.find(hooks, text)
    except HookctlError as error:
        if error.message.startswith("no hook"):
            return []
        raise


def _values_beside(known: Iterable[Wanted], chosen: Iterable[Wanted]) -> Iterator[Wanted]:
    """The values of the packs of these hooks in the same files: no hook goes without them."""
    places = {(one.hook.file, one.hook.pack) for one in chosen if one.hook.name}
    for one in known:
        if one.hook.is_values and (one.hook.file, one.hook.pack) in places:
            yield one
