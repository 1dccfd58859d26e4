"""Which hooks a call of a host is for, in the host's order, and why some of them are not run."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from hookctl.errors import HookctlError
from hookctl.firing.calls import Asked, event_names, find_event, is_meant
from hookctl.firing.model import Call, Shot
from hookctl.hosts import Host
from hookctl.hosts.matchers import explain_mismatch
from hookctl.model import WRAP
from hookctl.packs import guard
from hookctl.settings.targets import GUARD
from hookctl.survey import ids
from hookctl.survey.inventory import Inventory
from hookctl.survey.model import RUNS, Hook
from hookctl.system import files
from hookctl.system.packages import CONFIGS
from hookctl.system.project import is_inside

_OF_PROJECT = ("project", "local")


class Chosen(NamedTuple):
    """Which hooks a person wants to run."""

    names: tuple[str, ...] = ()  # IDs; empty for all that the host would run
    is_project_run: bool = False  # those of the project too
    project: str = ""  # where the hosts are started
    home: str = ""

    def is_of_project(self, hook: Hook) -> bool:
        """Whether a hook is the project's own; a plugin's is, where the plugin lies in it."""
        if hook.scope in _OF_PROJECT:
            return True
        return bool(hook.plugin) and is_inside(self.project, hook.file, self.home)


def find_named(inventory: Inventory, names: Sequence[str]) -> list[Hook]:
    """The hooks with these IDs; refuses (usage) what is no ID here."""
    found: list[Hook] = []
    for name in names:
        found += [hook for hook in ids.find(inventory.hooks, name) if hook not in found]
    return found


def choose(
    inventory: Inventory, call: Call, claudes: Call | None, asked: Asked, chosen: Chosen
) -> Iterator[Shot]:
    """The hooks of a call's host that are for it; with IDs, those alone and whatever is with them.

    `claudes` is the same call under Claude Code's names, where the host has them too; `asked` is
    what the person gave.
    """
    named = find_named(inventory, chosen.names)
    for hook in inventory.hooks:
        if hook.host != call.host.name or (chosen.names and hook not in named):
            continue
        host = hook.within.host
        own_call = None
        if hook.event != find_event(host, asked.event, asked.tool)[0]:
            if claudes is None or hook.event != claudes.event:
                continue
            own_call = claudes
        fits = is_meant(own_call or call, _matcher_of(hook))
        if not fits and not named and not _fits_nothing(host, hook):
            continue
        shot = _make_shot(hook)._replace(
            is_asked=bool(hook.plugin) or chosen.is_of_project(hook), call=own_call
        )
        why_not = _why_not(hook, host, chosen)
        if why_not is not None:
            yield shot._replace(why_not=why_not)
            continue
        out = "" if fits else f"its matcher {json.dumps(hook.matcher)} does not fit this call"
        if not hook.is_started:
            out = f"{host.title} would not run it: {_explain_state(hook)}"
        note = "" if hook.state == RUNS else _explain_state(hook)
        yield shot._replace(note=out or note, is_out=bool(out))


def list_hosts(inventory: Inventory, asked: Asked, names: Collection[str]) -> list[Host]:
    """The hosts that have a hook for what is asked, or with these IDs."""
    named = find_named(inventory, tuple(names))
    found = []
    for host in inventory.hosts:
        hooks = [hook for hook in named or inventory.hooks if hook.host == host.name]
        for hook in hooks:
            if hook.event in event_names(hook.within.host, asked):
                found.append(host)
                break
    return found


def list_matchers(inventory: Inventory, host: Host, asked: Asked) -> list[str]:
    """The matchers of all hooks that a host has for what is asked."""
    found = []
    for hook in inventory.hooks:
        if hook.host != host.name or not hook.matcher:
            continue
        if hook.event in event_names(hook.within.host, asked):
            found.append(hook.matcher)
    return found


def _fits_nothing(host: Host, hook: Hook) -> bool:
    """Whether the person ought to know that a hook is for no tool of the host at all."""
    return hook.state != RUNS and bool(explain_mismatch(host, hook.event, hook.matcher or None))


def _why_not(hook: Hook, host: Host, chosen: Chosen) -> str | None:
    """Why a hook is not run, whatever the person says, or unless they say more; None if it is."""
    if not hook.is_started and not chosen.names:
        return _explain_state(hook)
    kind = hook.fields.get("type", "command")
    if kind != "command" or not command_of(host, hook.fields):
        what = "a PowerShell command" if kind == "command" else f"of the type {kind}"
        return f"it is {what}, which hookctl does not run"
    if hook.own_id.startswith(f"{GUARD}/") and _is_locked(hook.command):
        return "its state is locked, so every run counts"
    if chosen.is_of_project(hook) and not chosen.is_project_run:
        return "it is the project's own: --run-project runs it"
    if chosen.names:
        return None
    if hook.plugin:
        return f"it is a plugin's: --hook {hook.id} runs it"
    if "if" in hook.fields and "if" in host.handlers.fields:
        return f"only {host.title} knows whether its `if` holds: --hook {hook.id} runs it"
    return None


def _explain_state(hook: Hook) -> str:
    """Why the host would not run a hook."""
    return hook.reason or hook.state.replace("_", " ")


def command_of(host: Host, fields: object) -> str:
    """The key of a hook's command that a shell, or nothing at all, runs; '' if it has none."""
    for key in host.registration.commands:
        if isinstance(fields, dict) and isinstance(fields.get(key), str):
            return "" if key == "powershell" else str(key)
    return ""


def _make_shot(hook: Hook) -> Shot:
    return Shot(
        host=hook.within.host,
        event=hook.event,
        id=hook.id,
        name=hook.own_id,
        command=hook.command,
        fields=dict(hook.fields),
        file=hook.file,
        line=hook.line,
        scope=hook.scope,
        plugin=hook.plugin,
        variables=hook.within.variables,
    )


def _matcher_of(hook: Hook) -> str | None:
    """The matcher of a hook; an empty text is one, where a hook itself has it."""
    if hook.matcher:
        return hook.matcher
    return "" if hook.fields.get("matcher") == "" else None


def _is_locked(command: str) -> bool:
    """Whether the guard's registration keeps its state where nothing moves it."""
    _, path, words = guard.read(command)
    named = re.search(r" --host (\S+)(?: --config (\S+))?", words)
    name = (named[2] or named[1]) if named else ""
    try:  # a project's hook can look like ours, and name a pipe
        data = files.read(os.path.join(os.path.dirname(path), CONFIGS, f"{name}.json")).data
        config = json.loads(data or b"{}")
    except (HookctlError, OSError, ValueError, RecursionError):
        return False
    return isinstance(config, dict) and config.get("locked") is True


def is_ours(shot: Shot) -> bool:
    """Whether a hook is of hookctl's own making, and no other tool's command in it."""
    return bool(shot.name) and not shot.name.startswith(WRAP)
