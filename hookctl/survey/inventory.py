"""Every hook here, from all that is read: settings files, plugins, receipts."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from hookctl import hosts
from hookctl.hosts import Host
from hookctl.hosts.loading import Unreadable
from hookctl.model import Record
from hookctl.ownership import store
from hookctl.packs.runner import find_event
from hookctl.receipts.reading import HookName, read_runs
from hookctl.survey.gathering import read_settings
from hookctl.survey.listing import list_hooks, read_disabled
from hookctl.survey.machine import Machine, read_records
from hookctl.survey.model import Hook
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
    """The hooks of these hosts, or of all, also from other hosts' files that these read.

    Nothing of a project is run.
    """
    records = read_records(folders, everywhere=False)
    machine = Machine(folders, records.records)
    names = {host.name for host in wanted}
    looked_at = _add_owners(list(map(hosts.load, hosts.names())), names)
    programs = Programs(machine)
    standing: list[Hook] = []
    unreadable: list[Unreadable] = []
    for host in looked_at:
        for reading in (read_settings(machine, [host]), read_plugins(machine, host)):
            for hook in reading.hooks:
                standing.append(programs.add_fault(_without_false_name(hook, records.records)))
            unreadable += reading.unreadable
    unreadable += [Unreadable(error.path, error.line, error.message) for error in records.errors]
    disabled = read_disabled(folders)
    if disabled.error:
        unreadable.append(disabled.error)
    found = disabled.add_to(standing, {host.name for host in looked_at}, machine.cwd_project)
    hooks = []
    for hook in list_hooks(found):
        readers = {hook.host, *(agent.host for agent in hook.within.readers)}
        if not names or names & readers:
            hooks.append(hook)
    own = project.state_folder(folders.state, machine.cwd_project)
    missing = []
    for host in looked_at:
        if not hosts.detected(host, machine.environ, machine.made):
            missing.append(host.name)
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


def _add_owners(every: Sequence[Host], wanted: Collection[str]) -> list[Host]:
    """The wanted hosts of all, or all, and those whose files a wanted one reads."""
    found = []
    for host in every:
        readers = [agent.host for agent in host.also_read_by]
        if not wanted or host.name in wanted or any(name in wanted for name in readers):
            found.append(host)
    return found


_NEARBY = ("project", "local")  # scopes whose hooks run in one project alone


def with_receipts(hooks: Iterable[Hook], state: str, project: str) -> list[Hook]:
    """The hooks, each with the runs that its receipts tell of.

    `state` is the state folder and `project` the hash of the project: a hook of the project's own
    files has no runs elsewhere.
    """
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
