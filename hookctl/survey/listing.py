"""Makes the list of hooks from those that stand in files: IDs, and those that stand there twice."""

import os
from collections.abc import Container, Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from hookctl import clock, hosts
from hookctl.errors import HookctlError, nearest, usage_error
from hookctl.hosts import Host, codex, shapes
from hookctl.hosts.loading import Unreadable
from hookctl.ownership import store
from hookctl.ownership.store import NAME, SWITCH, DisabledHook
from hookctl.packs.runner import find_event
from hookctl.receipts import HookName, read_runs
from hookctl.settings.targets import GUARD, top, variant_of_file
from hookctl.survey import model
from hookctl.survey.machine import (
    Machine,
    read_records,
    read_settings,
)
from hookctl.survey.model import Hook, HookFile, Obstacle
from hookctl.survey.plugins import read_plugins
from hookctl.survey.programs import Programs
from hookctl.system import project
from hookctl.system.folders import Folders

_NEARBY = ("project", "local")  # scopes whose hooks run in one project alone


class Inventory(NamedTuple):
    """The hooks of the hosts as they are started in the working folder."""

    hosts: tuple[Host, ...]  # that were looked at
    missing: frozenset[str]  # the names of those of which nothing is on this machine
    hooks: tuple[Hook, ...]  # by host, in the order in which a host reads its files
    unreadable: tuple[Unreadable, ...]


def take_inventory(folders: Folders, wanted: Sequence[Host] = ()) -> Inventory:
    """The hooks of these hosts, or of all, also from other hosts' files that these read."""
    records = read_records(folders, everywhere=False)
    machine = Machine(folders, records.records)
    names, programs = {host.name for host in wanted}, Programs(machine)
    looked_at: dict[str, Host] = {}
    standing: list[Hook] = []
    unreadable: list[Unreadable] = []
    for host in map(hosts.load, hosts.names()):
        if names and not names & {host.name, *(agent.host for agent in host.also_read_by)}:
            continue
        looked_at[host.name] = host
        of_settings, lost = read_settings(machine, host)
        of_plugins, unread = read_plugins(machine, host)
        for hook in (*of_settings, *of_plugins):
            if hook.own_id and hook.scope in _NEARBY:  # a stranger's can have any name
                record = store.find_record(records.records, hook.file)[1]
                if record is None or all(entry.id != hook.own_id for entry in record.entries):
                    hook = hook._replace(own_id="")
            standing.append(programs.add_fault(hook))
        known = {hook.file for hook in of_settings}
        unreadable += [file for file in lost if file.path not in known] + unread
    for error in records.errors:
        unreadable.append(Unreadable(error.path, error.line, error.message))
    hooks = []
    for hook in list_hooks(add_disabled(standing, machine, looked_at)):
        if not names or names & {hook.host, *(agent.host for agent in hook.within.readers)}:
            hooks.append(hook)
    hooks = with_receipts(machine, hooks)
    missing = frozenset(name for name, host in looked_at.items() if not machine.detects(host))
    first_faults = tuple({file.path: file for file in reversed(unreadable)}.values())[::-1]
    return Inventory(tuple(looked_at.values()), missing, tuple(hooks), first_faults)


def with_receipts(machine: Machine, hooks: Sequence[Hook]) -> list[Hook]:
    """The hooks, each with the runs that its receipts tell of."""
    state, counted = machine.folders.state, []
    own = os.path.basename(project.state_folder(state, machine.cwd_project))
    everywhere, is_nearby = read_runs(state), any(hook.scope in _NEARBY for hook in hooks)
    nearby = read_runs(state, own) if is_nearby else {}
    for hook in hooks:
        runs = nearby if hook.scope in _NEARBY else everywhere
        name = HookName(hook.host, find_event(hook.command), hook.own_id)
        if hook.own_id and name in runs:
            hook = hook._replace(receipts=runs[name])
        counted.append(hook)
    return counted


def list_hooks(found: Iterable[Hook]) -> list[Hook]:
    """Every hook, in the order in which the hosts read them, with its ID.

    Of equal ones in settings only the first runs, on some hosts of namesakes too.
    """
    hooks = list(found)
    firsts: dict[tuple[str, ...], Hook] = {}
    for _, items in groupby(enumerate(hooks), key=lambda item: item[1].file):
        for number, hook in sorted(items, key=lambda item: item[1].line):
            host, name = hook.within.host, hook.fields.get("name")
            run, runs = hook.within.expand(hook.command), hook.state == model.RUNS
            key: tuple[str, ...] = (hook.host, hook.event, hook.matcher, run, str(name))
            is_alone = host.scope_rules.same_name_once and isinstance(name, str)
            if is_alone:  # by its name the host counts all that it loads
                states = {obstacle.state for obstacle in hook.obstacles}
                key, runs = (hook.host, str(name)), states.isdisjoint(model.NOT_LOADED)
            first = firsts.setdefault(key, hook) if runs else hook  # else it hides no other
            if first is not hook:
                hooks[number] = _behind(first, hook, is_alone=is_alone)
            elif runs and hook.own_id and hook.owner != GUARD:  # a guard counts once
                same = firsts.setdefault((hook.host, hook.event, hook.own_id), hook)
                if same is not hook:
                    note = f"it is on {same.place} too, and both run"
                    hooks[number] = hook._replace(note=note)
    names = shapes.number_ids(list(map(_digest, hooks)))
    return [hook._replace(id=id) for hook, id in zip(hooks, names, strict=True)]


def _behind(first: Hook, hook: Hook, *, is_alone: bool) -> Hook:
    """A hook with what it means that the host read an equal one first; `is_alone`: a namesake."""
    host, reason = hook.within.host, f"the same hook is on {first.place}"
    if is_alone:
        is_same = bool(hook.own_id) and hook.own_id == first.own_id
        reason = f"{host.title} runs only the hook of the same name on {first.place}"
        fix = "" if is_same else "give it another name"
        lost = Obstacle(model.TWICE if is_same else model.IGNORED, reason, fix)
    elif hook.plugin or first.plugin:
        return hook._replace(note=f"{reason}, and both run")
    elif host.scope_rules.same_command_once:
        lost = Obstacle(model.TWICE, f"{reason}, and {host.title} runs it once")
    else:
        reason = f"{reason}, so {host.title} may run it twice"
        lost = Obstacle(model.TWICE, reason, "remove one of the two")
    return hook._replace(obstacles=(lost, *hook.obstacles))


def _digest(hook: Hook) -> str:
    return shapes.hook_digest(hook.host, hook.scope, hook.event, hook.matcher, hook.command)


def find(hooks: Sequence[Hook], text: str) -> list[Hook]:
    """The hooks of a PACK, those with the name PACK/ID, or the one whose ID begins with the text.

    Refuses (usage) what is no hook here, and a beginning that several hooks have.
    """
    named = [hook for hook in hooks if hook.own_id and text in (hook.own_id, hook.owner)]
    if named:
        return named
    beginning, _, repeat = text.lower().partition("#")
    digests: dict[str, Hook] = {}
    for hook in hooks:
        name, _, count = hook.id.partition("#")
        is_it = len(beginning) >= 4 and (count or "1") == (repeat or "1")
        if is_it and _digest(hook).startswith(beginning):
            digests[name] = hook
    meant = list(digests.values())
    if len(meant) == 1:
        return meant
    if meant:
        places = [f"{hook.id} ({hook.host} {hook.event}, {hook.place})" for hook in meant]
        message = f"{text} is the beginning of several IDs"
        raise usage_error(message, f"Give more of it: {'; '.join(places[:5])}")
    hint = "`hookctl hooks` lists every hook with its ID; give 4 characters or more."
    names = {name for hook in hooks if hook.own_id for name in (hook.own_id, hook.owner)}
    raise usage_error(f"no hook here has the ID {text}", nearest(text, names).strip() or hint)


def add_disabled(found: Iterable[Hook], machine: Machine, host_names: Container[str]) -> list[Hook]:
    """The hooks with the disabled ones of these hosts, each behind those of its file.

    One that was switched off stands there.
    """
    hooks = list(found)
    for one in machine.disabled:
        is_here = one.scope == "user" or one.file.startswith(top(machine.cwd_project))
        if one.is_values or one.host not in host_names or not is_here:
            continue
        since = clock.local(one.since)[:16]
        lost = Obstacle(
            model.DISABLED,
            f"disabled since {since}{one.because}; `hookctl enable {one.shown}` puts it back",
        )
        off = [n for n, hook in enumerate(hooks) if _is_switched_off(hook, one)]
        if off:
            hooks[off[0]] = hooks[off[0]]._replace(obstacles=(lost,))
            continue
        of_host = [n for n, hook in enumerate(hooks) if hook.host == one.host]
        of_file = [n for n in of_host if hooks[n].file == one.file]
        within = hooks[of_file[-1]].within if of_file else None
        at = max(of_file or of_host, default=len(hooks) - 1) + 1
        hooks.insert(at, _hook_of(one, lost, within=within))
    return hooks


def _is_switched_off(hook: Hook, disabled: DisabledHook) -> bool:
    step = disabled.steps[0]
    if (hook.host, hook.file) != (disabled.host, disabled.file) or hook.is_disabled:
        return False
    if step.kind == SWITCH:
        # Another hook may have come to its place; one with a shorter path has no switch.
        is_it = (hook.own_id or _digest(hook)).startswith(disabled.name or disabled.id)
        return (
            is_it
            and len(hook.path) == 5
            and codex.state_path(hook.file, hook.path) == step.path[:-1]
        )
    is_alike = (hook.event, hook.matcher) == (disabled.event, disabled.matcher)
    return step.kind == NAME and is_alike and hook.fields.get("name", hook.command) == step.raw


def _hook_of(disabled: DisabledHook, *lost: Obstacle, within: HookFile | None = None) -> Hook:
    host = variant_of_file(hosts.load(disabled.host), disabled.file)
    place, matcher = within or HookFile(host, disabled.scope, disabled.file), disabled.matcher
    known = (disabled.event, disabled.fields, matcher)
    return Hook(place, (), *known, own_id=disabled.name, obstacles=lost)


# Which of them an ID means.


def find_disabled(
    disabled: Sequence[DisabledHook], text: str, names: Sequence[str]
) -> list[DisabledHook]:
    """The disabled hooks that an ID, PACK or PACK/ID means; refuses (usage) what is none."""
    known = [one for one in disabled if not names or one.host in names]
    packs = [one for one in known if text == one.pack]
    if packs:
        return packs
    listed = [one for one in known if not one.is_values]
    hooks = list_hooks(_hook_of(one) for one in listed)
    try:
        found = find(hooks, text)
    except HookctlError:  # a number of a repeat counts those that are not disabled, too
        found = find(hooks, text.partition("#")[0])
    chosen = [one for one, hook in zip(listed, hooks, strict=True) if hook in found]
    places = {(one.file, one.pack) for one in chosen if one.name}
    return [*chosen, *(one for one in known if one.is_values and (one.file, one.pack) in places)]
