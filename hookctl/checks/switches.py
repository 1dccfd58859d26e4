"""Are hooks switched on, as far as the settings files of all scopes say?"""

from __future__ import annotations

import os
from collections.abc import Iterator

from hookctl import effects
from hookctl.checks import Finding, Here, Scene
from hookctl.checks.settings import costs
from hookctl.errors import HookctlError
from hookctl.hosts import load, reading
from hookctl.live import read_document
from hookctl.places import of_file


def check(scene: Scene) -> Iterator[Finding]:
    """The switches of every scope that the host reads together with this file."""
    found = effects.with_switches(scene.folders, scene.host, scene.sources, scene.start)
    winner = effects.disabling(found)
    if winner:
        message = f"{winner.said} in {winner.source.scope} scope, so no hook runs here, the guard's neither"
        path = winner.source.path
        yield scene.find("hooks_disabled", "error", message, f"Remove it from {path}.", path)
    for switch, off in effects.switches(found):
        if off and not winner:
            path = switch.source.path
            message = f"{switch.said} in {switch.source.scope} scope: no hook runs where no other scope lets them"
            yield scene.find("hooks_disabled", "warning", f"{message}, as here", f"Remove it from {path}.", path)
    for source, hook in effects.disabling_ours(found):
        name = hook.fields.get("name", hook.id)
        message = f"{name} is in the list of hooks that are off, so the guard does not run"
        yield scene.find("hook_disabled", "error", message, f"Take it out of the list in {source.path}.", source.path)
    yield from _managed_only(scene)


def _managed_only(scene: Scene) -> Iterator[Finding]:
    key = scene.host.data["switches"].get("managed_only")
    for source in scene.sources if key else ():
        if source.document.get((key,)) is not True:
            continue
        if source.scope == "managed":
            message = f"{key} is true, so hooks of {scene.place.scope} scope do not run"
            yield scene.find("managed_only", "error", message, "Ask whoever manages this machine.", source.path)
        else:
            message = f"{key} means nothing in {source.scope} scope, only in managed settings"
            yield scene.find("managed_only_ignored", "info", message, "Remove it.", source.path)


def check_here(here: Here) -> Iterator[Finding]:
    """A file that has no hooks, but that the client reads at its start all the same: can it?"""
    looked_at = {scene.path for scene in here.scenes}
    for _, path in effects.switch_files(here.folders, here.host, here.folders.cwd):
        host = of_file(load(here.host.name), path)
        if path in looked_at or not os.path.lexists(path) or not reading.stops_client(host):
            continue
        try:
            read_document(path, host.format)
        except HookctlError as error:
            where = f"line {error.line}, column {error.column}: " if error.line else ""
            message = f"{where}{error.message}; {costs(host)}"
            yield here.find(error.code, "error", message, error.hint, path)
