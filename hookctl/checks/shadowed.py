"""Settings files that another one hides, and hooks that stand in two files of one scope."""

from __future__ import annotations

import os
from collections.abc import Iterator

from hookctl import hosts
from hookctl.checks import Finding, Here, Scene
from hookctl.checks.registered import guards, hooks
from hookctl.ledger import target_of
from hookctl.places import standing


def check(here: Here) -> Iterator[Finding]:
    """Files of ours that the host passes over for another, and scopes with hooks in two files."""
    for scene in here.scenes:
        hiding = hidden_by(here, scene)
        if hiding and scene.live and scene.live.elements:
            yield _hidden(here, scene, hiding)
    yield from _twice(here)


def hidden_by(here: Here, scene: Scene) -> str:
    """The file for which the host passes over this one; empty if it does not."""
    own, place = target_of(scene.path), scene.place
    variant, path = standing(here.host, place.scope, here.folders.environ, place.project)
    if own in _usual(here, scene) and target_of(path) != own and _hides(here, variant.stands):
        return path
    read = [source.path for source in here.sources]
    if here.host.data["scopes"].get("first_only") and place.scope == "user" and read and target_of(read[0]) != own:
        return read[0]
    return ""


def _usual(here: Here, scene: Scene) -> list[str]:
    """Where the hooks of a scope stand unless another file is there."""
    return [target_of(hosts.settings_path(here.host, scene.place.scope, here.folders.environ, scene.place.project))]


def _hides(here: Here, stands: str) -> bool:
    return any(where == "overlays" and variant.stands == stands for where, variant in hosts.variants(here.host))


def _hidden(here: Here, scene: Scene, hiding: str) -> Finding:
    title, covered = here.host.title, any(target_of(one.hook.source.path) == target_of(hiding) for one in guards(here))
    message = f"{title} reads {hiding} instead of this file, so no hook of it runs"
    if covered:
        return scene.find("shadowed", "info", f"{message}; the guard is there too")
    if os.path.dirname(hiding) == os.path.dirname(scene.path):
        fix = f"`{scene.install}` puts the guard there; then take it out here, or remove {hiding}."
        return scene.find("shadowed", "error", message, fix)
    fix = f"`hookctl install --host {here.host.name} --scope project` puts the guard there."
    return scene.find("shadowed", "warning", message, fix)


def _twice(here: Here) -> Iterator[Finding]:
    """Hooks in both forms of a scope's settings, which the client reads together and says so at every start."""
    forms = [variant.stands for where, variant in hosts.variants(here.host) if where == "has hooks"]
    for source in here.sources:
        others = [one for one in here.sources if one.scope == source.scope and one.path != source.path]
        for other in others if source.host.stands in forms else ():
            if hooks(source) and other.host.stands not in forms and _has_hooks(other.document.value):
                message = f"hooks stand here and in {other.path}; {here.host.title} warns of that at every start"
                fix = "Keep them in one of the two. Move none of ours by hand: uninstall, then install again."
                yield here.find("two_forms", "warning", message, fix, source.path)


def _has_hooks(value: object) -> bool:
    return isinstance(value, dict) and bool(value.get("hooks"))
