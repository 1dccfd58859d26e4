"""Are hooks switched on, as far as the settings files of all scopes say?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from hookctl import scopes
from hookctl.checks import Finding, Scene
from hookctl.hosts import Host
from hookctl.scopes import Source


def disabling(host: Host, found: Sequence[Source]) -> Source | None:
    """The settings file that switches all hooks off, if its word is the one that counts."""
    key = tuple(host.data["switches"].get("disable", ()))
    source = scopes.winner(list(found), key) if key else None
    return source if source and source.document.get(key) is host.data["switches"]["disabled_by"] else None


def check(scene: Scene) -> Iterator[Finding]:
    """The switches of every scope that the host reads together with this file."""
    found = scene.sources
    switches = scene.host.data["switches"]
    disable, managed_only = tuple(switches.get("disable", ())), switches.get("managed_only")
    off = f"{'.'.join(disable)} is {json.dumps(switches.get('disabled_by'))}"
    winner = disabling(scene.host, found)
    if winner:
        message = f"{off} in {winner.scope} scope, so no hook runs here, the guard's neither"
        yield scene.find("hooks_disabled", "error", message, f"Remove it from {winner.path}.", winner.path)
    for source in found:
        if disable and source.document.get(disable) is switches["disabled_by"] and not winner:
            message = f"{off} in {source.scope} scope: no hook runs where no other scope lets them, as here"
            yield scene.find("hooks_disabled", "warning", message, f"Remove it from {source.path}.", source.path)
        if not managed_only or source.document.get((managed_only,)) is not True:
            continue
        if source.scope == "managed":
            message = f"{managed_only} is true, so hooks of {scene.place.scope} scope do not run"
            yield scene.find("managed_only", "error", message, "Ask whoever manages this machine.", source.path)
        else:
            message = f"{managed_only} means nothing in {source.scope} scope, only in managed settings"
            yield scene.find("managed_only_ignored", "info", message, "Remove it.", source.path)
