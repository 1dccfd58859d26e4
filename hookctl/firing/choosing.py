"""Which hooks a call of a host is for, in the host's order, and why some of them are not run."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hookctl.errors import HookctlError
from hookctl.firing.calls import Asked, Call, Place, Shot, find_event, is_meant
from hookctl.hosts import Host, hook_id
from hookctl.hosts.matchers import explain_mismatch
from hookctl.packs import guard
from hookctl.packs.cases import Bench
from hookctl.packs.model import Pack
from hookctl.settings.targets import GUARD
from hookctl.survey.inventory import Inventory
from hookctl.survey.model import RUNS, Hook, HookFile
from hookctl.system import files
from hookctl.system.packages import CONFIGS
from hookctl.system.project import is_inside

_OF_PROJECT = ("project", "local")


class Chosen(NamedTuple):
    """Which hooks a person wants to run."""

    hooks: tuple[Hook, ...] = ()  # by their IDs; empty for all that the host would run
    is_project_run: bool = False  # those of the project too


def choose(
    inventory: Inventory, calls: Sequence[Call], asked: Asked, chosen: Chosen, place: Place
) -> list[Shot]:
    """The hooks of a host that are for its call; `calls` has it in each dialect of the host."""
    shots = []
    for hook in inventory.hooks:
        if hook.host != calls[0].host.name or (chosen.hooks and hook not in chosen.hooks):
            continue
        host = hook.within.host
        named = {find_event(host, asked.event, asked.tool)[0]: calls[0]}
        named |= {call.event: call for call in calls}
        call = named.get(hook.event)
        if call is None:
            continue
        fits = is_meant(call, _matcher_of(hook))
        if fits or chosen.hooks or _fits_nothing(host, hook):
            shots.append(_make_shot(hook, host, call, chosen, place, fits=fits))
    return shots


def _fits_nothing(host: Host, hook: Hook) -> bool:
    """Whether the person ought to know that a hook is for no tool of the host at all."""
    return hook.state != RUNS and bool(explain_mismatch(host, hook.event, hook.matcher or None))


def _make_shot(
    hook: Hook, host: Host, call: Call, chosen: Chosen, place: Place, *, fits: bool
) -> Shot:
    is_of_project = hook.scope in _OF_PROJECT
    if hook.plugin and is_inside(place.project, hook.file, place.home):
        is_of_project = True
    why_not = _why_not(hook, host, chosen, is_of_project=is_of_project)
    if why_not:
        return Shot(host, hook, call, why_not=why_not)
    out = "" if fits else f"its matcher {json.dumps(hook.matcher)} does not fit this call"
    if not hook.is_started:
        out = f"{host.title} would not run it: {_explain_state(hook)}"
    note = "" if hook.state == RUNS else _explain_state(hook)
    is_asked = is_of_project or bool(hook.plugin)
    return Shot(host, hook, call, note=out or note, is_out=bool(out), is_asked=is_asked)


def _why_not(hook: Hook, host: Host, chosen: Chosen, *, is_of_project: bool) -> str:
    """Why a hook is not run, whatever the person says, or unless they say more; '' if it is."""
    if not hook.is_started and not chosen.hooks:
        return _explain_state(hook)
    kind = hook.fields.get("type", "command")
    if kind != "command":
        return f"it is of the type {kind}, which hookctl does not run"
    if not command_of(host, hook.fields):
        return "it has no command"
    if hook.own_id.startswith(f"{GUARD}/") and _is_locked(hook.command):
        return "its state is locked, so every run counts"
    if is_of_project and not chosen.is_project_run:
        return "it is the project's own: --run-project runs it"
    if chosen.hooks:
        return ""
    if hook.plugin:
        return f"it is a plugin's: --hook {hook.id} runs it"
    if "if" in hook.fields and "if" in host.handlers.fields:
        return f"only {host.title} knows whether its `if` holds: --hook {hook.id} runs it"
    return ""


def _explain_state(hook: Hook) -> str:
    """Why the host would not run a hook."""
    return hook.reason or hook.state.replace("_", " ")


def command_of(host: Host, fields: Mapping[str, Any]) -> str:
    """The key of the command that the host takes; '' where a hook has none."""
    keys = host.registration.commands
    return next((str(key) for key in keys if isinstance(fields.get(key), str)), "")


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


def choose_of_pack(folder: str, pack: Pack, call: Call) -> Iterator[Shot]:
    """The hooks of a pack, laid out in a private folder, that a call's host would run for it."""
    bench = Bench(folder, pack, sys.executable)
    path = call.host.shape.event_path(call.event, pack.name)
    for shot in list_shots(bench, call):
        if shot.hook.path == path and is_meant(call, shot.hook.fields.get("matcher")):
            yield shot


def list_shots(bench: Bench, call: Call) -> Iterator[Shot]:
    """Every hook of a pack on a host, to be run for a call."""
    host, pack = call.host, bench.pack
    bench.lay_table(host)
    env = {key: claim.value for key, claim in pack.env.items()}
    file = HookFile(host, "user", pack.source, variables=env if host.env_path else {})
    for wanted in bench.look_at(host)[0]:
        matcher = wanted.value.get("matcher") or ""
        name = hook_id.digest(host.name, "user", call.event, matcher, wanted.value["command"])
        id = name[: hook_id.LENGTH]
        fields = {**wanted.value}
        hook = Hook(file, wanted.path, call.event, fields, matcher, own_id=wanted.id, id=id)
        yield Shot(host, hook, call)
