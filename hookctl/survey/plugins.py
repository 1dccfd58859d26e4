"""The hooks of plugins and extensions, of those that are off too, from the disk alone.

What a host's plugins look like stands in the table `plugins` of its data file. Nothing is run, and
whatever cannot be read is said and passed over.
"""

from __future__ import annotations

import os
import sys

from hookctl.hosts import Host, config_folder
from hookctl.hosts.model import OtherAgent
from hookctl.survey.gathering import Reading, judge_switches, judge_trust, list_disabled
from hookctl.survey.machine import Machine
from hookctl.survey.model import HIDDEN, OFF, Hook, Obstacle
from hookctl.survey.plugin_folders import PluginFinder
from hookctl.survey.plugin_hooks import HookFinder
from hookctl.survey.plugin_modules import ModuleFinder
from hookctl.survey.plugin_reader import PluginReader
from hookctl.survey.plugin_tables import read_table
from hookctl.system.project import find_repository


def read_plugins(machine: Machine, host: Host) -> Reading:
    """The hooks of a host's plugins as it is started in the working folder, in its order."""
    table = read_table(host)
    if table is None:  # its settings need not be looked at
        return Reading((), ())
    start, project = machine.folders.cwd, machine.start_of(host)
    switches = machine.switches(host, machine.active_file(host, "user")[1], project)
    off = judge_switches("plugin", "", switches)
    untrusted = {scope: judge_trust(machine, host, scope, project) for scope in ("user", "project")}
    places = {
        "config": config_folder(host, machine.environ),
        "home": machine.environ["HOME"],
        "start": start,
        "project": project,
        "repository": find_repository(start),
    }
    managed = tuple(host.managed_files.get(sys.platform, ()))
    reader = PluginReader(places, managed, machine.reader.patient_document)
    finder = HookFinder(machine, host, table, reader, list_disabled(switches))
    shared_folders = _find_shared_folders(host, reader)
    hooks: list[Hook] = []
    names: dict[str, str] = {}
    for plugin in PluginFinder(table, reader, start).find():
        obstacle = None
        if plugin.off:
            obstacle = Obstacle(OFF, plugin.off)
        elif table.first_only and plugin.id in names:
            reason = f"{host.title} takes the plugin of this name from {names[plugin.id]}"
            obstacle = Obstacle(HIDDEN, reason)
        names.setdefault(plugin.id, plugin.folder)
        shared = tuple(each for each in (off, untrusted.get(plugin.scope)) if each)
        readers = shared_folders.get(os.path.realpath(plugin.folder), ())
        hooks += finder.find(plugin, obstacle, shared, tuple(readers))
    obstacles = {scope: off or found for scope, found in untrusted.items()}
    hooks += ModuleFinder(host, reader, obstacles, switches).find(table)
    return Reading(tuple(hooks), tuple(reader.unreadable))


def _find_shared_folders(host: Host, reader: PluginReader) -> dict[str, list[OtherAgent]]:
    """The folders of plugins that other agents read too, and these agents."""
    found: dict[str, list[OtherAgent]] = {}
    for agent in host.also_read_by:
        folders = {os.path.realpath(path) for path in reader.expand_all(agent.plugins)}
        for folder in folders:
            found.setdefault(folder, []).append(agent)
    return found
