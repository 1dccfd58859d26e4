"""The hooks in a settings file, ours and others', and which of them are the guard at work."""

from __future__ import annotations

import os
import re
import shlex
from typing import Any, NamedTuple

from hookctl import scopes
from hookctl.checks import Here, handlers
from hookctl.checks.environment import variable
from hookctl.hosts import shapes
from hookctl.ledger import target_of
from hookctl.model import PackRecord, Path
from hookctl.packs import guard
from hookctl.places import GUARD, Place
from hookctl.scopes import Source

_INTERPRETERS = re.compile(r"(?:python|node|ruby|perl|bash|sh|zsh|dash|bun|deno|pwsh)[0-9.]*")
_FILE_NAME = re.compile(r"[\w.@+-]{1,60}")


class Hook(NamedTuple):
    """A handler in a settings file."""

    source: Source
    path: Path
    fields: dict[str, Any]
    id: str = ""  # PACK/ID of one of ours

    @property
    def event(self) -> str:
        return shapes.event_of(self.source.host.shape, self.path)

    @property
    def title(self) -> str:
        """The hook in a word or two, without the arguments of its command: those may be secrets."""
        words = [word for word in self.words if "=" not in word and not word.startswith("-")]
        names = [os.path.basename(word) for word in words[:2]]
        if not names or not _FILE_NAME.fullmatch(names[0]):
            return f"a hook of type {self.fields.get('type')}"
        script = names[1:] if _INTERPRETERS.fullmatch(names[0]) and _FILE_NAME.fullmatch(names[-1]) else []
        return " ".join([names[0], *script])

    @property
    def command(self) -> str:
        """Its command, under whichever key the host reads it from; empty where it has none."""
        found = (self.fields.get(key) for key in handlers.commands(self.source.host))
        return next((one for one in found if isinstance(one, str)), "")

    @property
    def words(self) -> list[str]:
        """The words of its command; none where it has none."""
        try:
            return shlex.split(self.command)
        except ValueError:
            return []


class Guard(NamedTuple):
    """A registration of the guard on the host's stop event, in a file that the host reads here."""

    hook: Hook
    page: PackRecord | None  # what the ledger has of it
    folder: str  # where its files lie
    config: dict[str, Any]  # what config.json there says


def hooks(source: Source) -> list[Hook]:
    """Every handler of a settings file; malformed parts are passed over."""
    shape, value = source.host.shape, source.document.value
    ours = {element.path: element for element in shapes.elements(shape, value)}
    return [
        Hook(source, path, ours[path].fields if path in ours else fields, ours[path].id if path in ours else "")
        for path, fields, _ in shapes.handlers(shape, value)
    ]


def running(here: Here) -> list[Hook]:
    """Every handler that the host looks at here: none where hooks are off, only managed ones where it says so."""
    if here.disabling:
        return []
    key = here.host.data["switches"].get("managed_only")
    alone = key and any(source.scope == "managed" and source.document.get((key,)) is True for source in here.sources)
    read = [source for source in here.sources if source.scope == "managed" or not alone]
    return [hook for source in read for hook in hooks(source)
            if hook.event not in scopes.hidden_events(read, source)]  # fmt: skip


def guards(here: Here) -> list[Guard]:
    """The guard's registrations on the stop event that the host runs here, as far as their entries go."""
    stop = here.host.events.get("stop")
    return [
        _guard(here, hook)
        for hook in running(here)
        if hook.id == f"{GUARD}/stop" and hook.event == stop
        and not handlers.disarmed(here.host, hook.event, hook.fields, blocks=True)
    ]  # fmt: skip


def _guard(here: Here, hook: Hook) -> Guard:
    at = target_of(hook.source.path)
    scene = next((scene for scene in here.scenes if target_of(scene.path) == at), None)
    page = scene.guard if scene else None
    place = scene.place if scene else Place(here.host, hook.source.scope, hook.source.path)
    folder = page.folder if page else os.path.dirname(guard.hook_path(hook.fields["command"], hook.id, "stop", place))
    return Guard(hook, page, folder, guard.live_configuration(PackRecord("", {}, folder)) if folder else {})


def at_work(here: Here) -> list[Guard]:
    """The guards that really do something here."""
    return [one for one in guards(here) if mode(here, one) != "off"]


def mode(here: Here, one: Guard) -> str:
    """What a guard does: the environment counts before its configuration, and without its file it is off."""
    if guard.is_true(variable(here, "HOOKCTL_DISABLE")) or not os.path.isfile(os.path.join(one.folder, "hook.py")):
        return "off"
    return variable(here, "HOOKCTL_MODE").strip() or str(one.config.get("mode", "breaker"))


def ends_chains(here: Here, one: Guard) -> bool:
    """Whether a guard ends the chains that other hooks force."""
    text = variable(here, "HOOKCTL_END_FOREIGN_CHAINS").strip()
    if not here.host.data["dialect"]["end"]:
        return False
    return mode(here, one) == "guard" or (
        guard.is_true(text) if text else one.config.get("end_foreign_chains") is not False
    )
