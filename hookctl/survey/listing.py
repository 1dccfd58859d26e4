"""Makes the list of hooks from those that stand in files: IDs, and those that stand there twice."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from hookctl import clock, hosts
from hookctl.errors import USAGE, HookctlError, nearest
from hookctl.hosts import Host, codex, hook_id
from hookctl.hosts.hook_id import digest
from hookctl.hosts.loading import Unreadable
from hookctl.model import Record
from hookctl.ownership import store
from hookctl.ownership.disabled import NAME, SWITCH, DisabledHook
from hookctl.packs.runner import find_event
from hookctl.receipts.events import HookName, read_runs
from hookctl.settings.targets import top, variant_of_file
from hookctl.survey import model
from hookctl.survey.gathering import read_settings
from hookctl.survey.machine import DisabledHooks, Machine, read_disabled, read_records
from hookctl.survey.model import Hook, HookFile, Obstacle
from hookctl.survey.plugins import read_plugins
from hookctl.survey.programs import Programs
from hookctl.system import project
from hookctl.system.folders import Folders


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
    names = {host.name for host in wanted}
    programs = Programs(machine)
    looked_at: list[Host] = []
    standing: list[Hook] = []
    unreadable: list[Unreadable] = []
    for host in map(hosts.load, hosts.names()):
        if names and not names & {host.name, *(agent.host for agent in host.also_read_by)}:
            continue
        looked_at.append(host)
        of_settings, lost = read_settings(machine, host)
        of_plugins, unread = read_plugins(machine, host)
        for hook in (*of_settings, *of_plugins):
            standing.append(programs.add_fault(_without_false_name(hook, records.records)))
        known = {hook.file for hook in of_settings}
        unreadable += [file for file in lost if file.path not in known] + unread
    disabled = read_disabled(folders)
    for error in filter(None, (*records.errors, disabled.error)):
        unreadable.append(Unreadable(error.path, error.line, error.message))
    here = {host.name for host in looked_at}
    hooks = []
    for hook in list_hooks(add_disabled(standing, disabled, here, machine.cwd_project)):
        readers = {hook.host, *(agent.host for agent in hook.within.readers)}
        if not names or names & readers:
            hooks.append(hook)
    own = project.state_folder(folders.state, machine.cwd_project)
    missing = {host.name for host in looked_at if not machine.detects(host)}
    return Inventory(
        tuple(looked_at),
        frozenset(missing),
        tuple(with_receipts(hooks, folders.state, os.path.basename(own))),
        tuple({file.path: file for file in reversed(unreadable)}.values())[::-1],
    )


def _without_false_name(hook: Hook, records: Mapping[str, Record]) -> Hook:
    """A project's hook without a name of ours that no record has: a stranger's can say anything."""
    if hook.scope not in ("project", "local") or not hook.own_id:
        return hook
    _, record = store.find_record(records, hook.file)
    is_known = record is not None and any(entry.id == hook.own_id for entry in record.entries)
    return hook if is_known else hook._replace(own_id="")


_NEARBY = ("project", "local")  # scopes whose hooks run in one project alone


def with_receipts(hooks: Iterable[Hook], state: str, project: str) -> list[Hook]:
    """The hooks, each with the runs that its receipts tell of."""
    hooks = list(hooks)
    everywhere = read_runs(state)
    has_nearby = any(hook.scope in _NEARBY for hook in hooks)
    nearby = read_runs(state, project) if has_nearby else {}
    counted = []
    for hook in hooks:
        runs = nearby if hook.scope in _NEARBY else everywhere
        name = HookName(hook.host, find_event(hook.command), hook.own_id)
        if hook.own_id and name in runs:
            hook = hook._replace(receipts=runs[name])
        counted.append(hook)
    return counted


def list_hooks(found: Iterable[Hook]) -> list[Hook]:
    """Every hook, in the order in which the hosts read them, with its ID; equal ones run once."""
    found = list(found)
    hooks = list(_judge_repeats(_judge_namesakes(found)))
    names = hook_id.number(list(map(_digest, hooks)))
    return [hook._replace(id=id) for hook, id in zip(hooks, names, strict=True)]


def _digest(hook: Hook) -> str:
    return digest(hook.host, hook.scope, hook.event, hook.matcher, hook.command)


def _judge_namesakes(hooks: Sequence[Hook]) -> list[Hook]:
    """The hooks; one is lost whose name another one before it has, where only one may."""
    judged = list(hooks)
    firsts: dict[tuple[str, str], Hook] = {}
    for _, items in groupby(enumerate(hooks), key=lambda item: item[1].file):
        for number, hook in sorted(items, key=lambda item: item[1].line):
            name = hook.fields.get("name")
            if not hook.within.host.scope_rules.same_name_once or not isinstance(name, str):
                continue
            if any(obstacle.state in model.NOT_LOADED for obstacle in hook.obstacles):
                continue
            first = firsts.setdefault((hook.host, name), hook)
            if first is not hook:
                title, is_same = hook.within.host.title, hook.own_id == first.own_id != ""
                reason = f"{title} runs only the hook of the same name on {first.place}"
                fix = "" if is_same else "give it another name"
                lost = Obstacle(model.TWICE if is_same else model.IGNORED, reason, fix)
                judged[number] = hook._replace(obstacles=(lost, *hook.obstacles))
    return judged


def _judge_repeats(hooks: Iterable[Hook]) -> Iterator[Hook]:
    """The hooks; of equal ones in settings only the first runs."""
    firsts: dict[tuple[str, ...], Hook] = {}
    for hook in hooks:
        host, run = hook.within.host, hook.within.expand(hook.command)  # plugins may have one name
        name = str(hook.fields.get("name", ""))  # some hosts tell hooks apart by it
        key, first = (hook.host, hook.event, hook.matcher, run, name), hook
        if hook.state == model.RUNS:
            first = firsts.setdefault(key, hook)
        reason = f"the same hook is on {first.place}"
        if first is hook:
            yield hook
        elif hook.plugin or first.plugin:
            yield hook._replace(note=f"{reason}, and both run")
        elif host.scope_rules.same_command_once:
            reason = f"{reason}, and {host.title} runs it once"
            yield hook._replace(obstacles=(Obstacle(model.TWICE, reason),))
        else:
            reason = f"{reason}, so {host.title} may run it twice"
            obstacle = Obstacle(model.TWICE, reason, "remove one of the two")
            yield hook._replace(obstacles=(obstacle,))


_MOST = 5  # hooks that an error names
_LEAST = 4  # characters of an ID


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
        is_it = len(beginning) >= _LEAST and (count or "1") == (repeat or "1")
        if is_it and _digest(hook).startswith(beginning):
            digests[name] = hook
    if len(digests) == 1:
        return list(digests.values())
    if digests:
        message = f"{text} is the beginning of several IDs"
        hint = "Give more of it: " + "; ".join(map(_describe, list(digests.values())[:_MOST]))
        raise HookctlError("usage", message, hint=hint, exit_code=USAGE)
    hint = "`hookctl hooks` lists every hook with its ID; give 4 characters or more."
    names = {name for hook in hooks if hook.own_id for name in (hook.own_id, hook.owner)}
    hint = nearest(text, names).strip() or hint
    raise HookctlError("usage", f"no hook here has the ID {text}", hint=hint, exit_code=USAGE)


def _describe(hook: Hook) -> str:
    return f"{hook.id} ({hook.host} {hook.event}, line {hook.line} of {hook.file})"


def add_disabled(
    hooks: Iterable[Hook], disabled: DisabledHooks, host_names: set[str], project: str
) -> list[Hook]:
    """The hooks with the disabled ones of these hosts among them, each where it belongs."""
    all_hooks = list(hooks)
    for hook in disabled.hooks:
        is_here = hook.scope == "user" or hook.file.startswith(top(project))
        if not hook.is_values and hook.host in host_names and is_here:
            _add(all_hooks, hook)
    return all_hooks


def _add(hooks: list[Hook], disabled: DisabledHook) -> None:
    """Put a disabled hook behind those of its file; one that was switched off stands there."""
    since = clock.local(disabled.since)[:16]
    reason = f"disabled since {since}; `hookctl enable {disabled.shown}` puts it back"
    obstacles = (Obstacle(model.DISABLED, reason),)
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
    step = disabled.steps[0]
    if (hook.host, hook.file) != (disabled.host, disabled.file) or hook.is_disabled:
        return False
    if step.kind == SWITCH:
        is_whole = len(hook.path) == 5  # else no switch of the host's is about it
        return is_whole and codex.state_path(disabled.file, hook.path) == step.path[:-1]
    is_alike = (hook.event, hook.matcher) == (disabled.event, disabled.matcher)
    return step.kind == NAME and is_alike and hook.fields.get("name", hook.command) == step.raw


def _hook_of(disabled: DisabledHook, reason: str = "", within: HookFile | None = None) -> Hook:
    host = variant_of_file(hosts.load(disabled.host), disabled.file)
    return Hook(
        within or HookFile(host, disabled.scope, disabled.file),
        (),
        disabled.event,
        disabled.fields,
        disabled.matcher,
        own_id=disabled.name,
        obstacles=(Obstacle(model.DISABLED, reason),),
    )


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
