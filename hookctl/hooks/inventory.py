"""Every hook here, from all that is read: settings files, plugins, receipts."""

from __future__ import annotations

import os
from collections.abc import Sequence

from hookctl import hosts
from hookctl.checks.gather_record import read_records
from hookctl.checks.machine import Machine
from hookctl.hooks.gathering import read_settings
from hookctl.hooks.listing import list_hooks
from hookctl.hooks.model import Hook, HookFile, Unreadable
from hookctl.hooks.plugins import read_plugins
from hookctl.hooks.programs import Programs
from hookctl.hooks.receipts import with_receipts
from hookctl.hosts import Host
from hookctl.system import project
from hookctl.system.folders import Folders
from hookctl.values import NamedTuple


class Inventory(NamedTuple):
    """The hooks of the hosts as they are started in the working folder."""

    hosts: tuple[Host, ...]  # that were looked at
    hooks: tuple[Hook, ...]  # by host, in the order in which a host reads its files
    files: tuple[HookFile, ...]  # that have them
    unreadable: tuple[Unreadable, ...]


def take_inventory(folders: Folders, wanted: Sequence[Host] = ()) -> Inventory:
    """The hooks of these hosts, or of all. Nothing of a project is run."""
    records = read_records(folders, everywhere=False)
    machine = Machine(folders, records.records)
    looked_at = tuple(wanted or map(machine.load, hosts.names()))
    programs = Programs(machine)
    files: list[HookFile] = []
    unreadable: list[Unreadable] = []
    for host in looked_at:
        for reading in (read_settings(machine, [host]), read_plugins(machine, host)):
            files += map(programs.add_faults, reading.files)
            unreadable += reading.unreadable
    unreadable += [Unreadable(error.path, error.line, error.message) for error in records.errors]
    state = folders.state
    hash_of_project = os.path.basename(project.state_folder(state, machine.cwd_project))
    hooks = with_receipts(list_hooks(files), state, hash_of_project)
    return Inventory(looked_at, tuple(hooks), tuple(files), tuple(dict.fromkeys(unreadable)))
