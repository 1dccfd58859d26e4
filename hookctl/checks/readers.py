"""Other agents that read this one's settings files too: who else runs the hook, and is the guard there twice?"""

from __future__ import annotations

from collections.abc import Iterator

from hookctl import effects, hosts
from hookctl.checks import Finding, Scene
from hookctl.hosts import Host
from hookctl.ledger import target_of
from hookctl.places import standing
from hookctl.scopes import Source, sources


def check(scene: Scene) -> Iterator[Finding]:
    """Agents that run the guard of this file as if they were its host."""
    for reader in scene.host.data.get("also_read_by", ()) if scene.guard else ():
        other = hosts.load(reader["host"])
        if scene.place.scope not in reader["scopes"] or other.name == scene.host.name:
            continue
        only = f" {reader['only']}" if "only" in reader else ""
        own = _own_guard(scene, other)
        if own:
            message = f"{other.title} reads this file too{only}, and has the guard in {own.path} as well"
            fix = f"Nothing has to be done; where {other.title} reads this file, its own guard may go."
            yield scene.find("registered_twice", "info", f"{message}; both run, and a stop is counted once", fix)
        elif hosts.client(other, scene.folders.environ):
            message = f"{other.title} reads this file too{only}, and runs the hook as {scene.host.title} would"
            yield scene.find("also_read", "info", message, "Do not install the guard for both in one project.")


def _own_guard(scene: Scene, other: Host) -> Source | None:
    """The file of the other agent that has the guard and that it reads where this one is started."""
    user = standing(other, "user", scene.folders.environ)[1]
    found = sources(scene.folders, other, user, scene.start)
    here = target_of(scene.path)
    return next((one for one in found if effects.hook_of(one) and target_of(one.path) != here), None)
