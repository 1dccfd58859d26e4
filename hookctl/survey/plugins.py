"""The hooks of plugins and extensions, of those that are off too, from the disk alone.

What a host's plugins look like stands in the table `plugins` of its data file. Nothing is run, and
whatever cannot be read is said and passed over.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from hookctl.hosts import Host, config_folder
from hookctl.hosts.model import OtherAgent
from hookctl.settings.targets import Read, read_settings
from hookctl.survey.gathering import Reading, judge_switches, judge_trust, list_disabled
from hookctl.survey.machine import Machine
from hookctl.survey.model import HIDDEN, OFF, Hook, Obstacle
from hookctl.survey.plugin_folders import PluginFinder
from hookctl.survey.plugin_hooks import HookFinder
from hookctl.survey.plugin_modules import FindOff, ModuleFinder
from hookctl.survey.plugin_reader import PluginReader
from hookctl.survey.plugin_tables import read_table
from hookctl.system.project import find_repository


def read_plugins(machine: Machine, host: Host) -> Reading:
    """The hooks of a host's plugins as it is started in the working folder."""
    if read_table(host) is None:  # its settings need not be looked at
        return Reading((), ())
    project, user = machine.start_of(host), machine.active_file(host, "user")[1]
    switches = machine.switches(host, user, project)
    places = find_places(host, machine.environ, machine.folders.cwd, project)
    return find_plugin_hooks(
        host,
        places,
        managed=tuple(host.managed_files.get(sys.platform, ())),
        obstacle=judge_switches("plugin", "", switches),
        find_off=lambda scope, path: judge_switches(scope, path, switches),
        disabled=list_disabled(switches),
        read=machine.reader.patient_document,
        untrusted={
            scope: judge_trust(machine, host, scope, project) for scope in ("user", "project")
        },
    )


def find_plugin_hooks(
    host: Host,
    places: Mapping[str, str],
    *,
    managed: tuple[str, ...] = (),
    obstacle: Obstacle | None = None,
    untrusted: Mapping[str, Obstacle | None] = {},
    disabled: Mapping[str, Obstacle] = {},
    find_off: FindOff = lambda scope, path: None,
    read: Read = read_settings,
) -> Reading:
    """The hooks of all plugins of a host, in the order in which it has them.

    `places` are those of find_places, `managed` the patterns of the host's managed settings;
    `obstacle` is what keeps every hook of the host from running, `untrusted` those of a scope, and
    `disabled` single ones, by their name or command; `find_off` has what keeps a file from it.
    """
    table = read_table(host)
    if table is None:
        return Reading((), ())
    reader = PluginReader(places, managed, read)
    finder = HookFinder(host, table, reader, disabled, places["project"])
    shared_folders = _find_shared_folders(host, reader)
    hooks: list[Hook] = []
    names: dict[str, str] = {}
    for plugin in PluginFinder(table, reader, places["start"]).find():
        of_plugin = None
        if plugin.off:
            of_plugin = Obstacle(OFF, plugin.off)
        elif table.first_only and plugin.id in names:
            reason = f"{host.title} takes the plugin of this name from {names[plugin.id]}"
            of_plugin = Obstacle(HIDDEN, reason)
        names.setdefault(plugin.id, plugin.folder)
        both = (obstacle, untrusted.get(plugin.scope))
        shared = tuple(each for each in both if each)
        readers = shared_folders.get(os.path.realpath(plugin.folder), ())
        hooks += finder.find(plugin, of_plugin, shared, tuple(readers))
    obstacles = {scope: obstacle or untrusted.get(scope) for scope in ("user", "project")}
    hooks += ModuleFinder(host, reader, obstacles, find_off).find(table)
    return Reading(tuple(hooks), tuple(reader.unreadable))


def find_places(host: Host, environ: Mapping[str, str], start: str, project: str) -> dict[str, str]:
    """The folders that the paths in a host's table begin with, for an agent started in `start`."""
    return {
        "config": config_folder(host, environ),
        "home": environ["HOME"],
        "start": start,
        "project": project,
        "repository": find_repository(start),
    }


def _find_shared_folders(host: Host, reader: PluginReader) -> dict[str, list[OtherAgent]]:
    """The folders of plugins that other agents read too, and these agents."""
    found: dict[str, list[OtherAgent]] = {}
    for agent in host.also_read_by:
        folders = {os.path.realpath(path) for path in reader.expand_all(agent.plugins)}
        for folder in folders:
            found.setdefault(folder, []).append(agent)
    return found
