"""Gathers the facts about one host: its settings files, hooks and work in the working folder."""

from __future__ import annotations

from hookctl import hosts
from hookctl.checks.facts import HostFacts
from hookctl.checks.gather_file import file_facts
from hookctl.checks.gather_hooks import add_hooks
from hookctl.hosts import Host
from hookctl.hosts.version import ask_client
from hookctl.survey.gathering import read_settings
from hookctl.survey.machine import Machine
from hookctl.survey.programs import Programs


def host_facts(machine: Machine, host: Host) -> HostFacts:
    """The facts about a host as it starts in the working folder; no files if it is not in use."""
    targets = machine.targets(host)
    config, start = hosts.config_folder(host, machine.environ), machine.start_of(host)
    facts = HostFacts(host, machine.workplace, config, ())
    if not targets:
        return facts
    client = ask_client(host, machine.folders)
    # Before the layers: this waits until a file that another program is writing is whole.
    files_of_ours = tuple(file_facts(machine, target)._replace(client=client) for target in targets)
    user_path = machine.active_file(host, "user")[1]
    layers = machine.layers(host, user_path, start)
    variables = dict(machine.environ)
    for layer in reversed(layers):
        variables |= layer.env
    reading, programs = read_settings(machine, [host]), Programs(machine, compiles=False)
    facts = facts._replace(
        files=files_of_ours,
        layers=layers,
        variables=variables,
        hooks=tuple(map(programs.add_fault, reading.hooks)),
        lost=reading.lost,
    )
    return add_hooks(machine, facts)
