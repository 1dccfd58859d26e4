"""Settings files that another one hides, and hooks that stand in two files of one scope."""

from __future__ import annotations

import os
from collections.abc import Iterator

from hookctl import hosts, scopes
from hookctl.checks import Finding, Here, Scene
from hookctl.checks.registered import guards, hooks
from hookctl.hosts.shapes import event_of
from hookctl.ledger import target_of


def check(here: Here) -> Iterator[Finding]:
    """Hooks of ours that the host passes over for those of another file, and scopes with hooks in two files."""
    for scene in here.scenes:
        hiding = hidden_by(here, scene)
        if hiding and scene.live and scene.live.elements:
            yield _hidden(here, scene, hiding, "nothing")
        yield from _overlaid(here, scene)
    yield from _twice(here)


def hidden_by(here: Here, scene: Scene) -> str:
    """The file for which the host passes over this one as a whole; empty if it does not."""
    if not here.host.data["scopes"].get("first_only") or scene.place.scope != "user" or not here.sources:
        return ""
    first = here.sources[0].path
    return "" if target_of(first) == target_of(scene.path) else first


def _overlaid(here: Here, scene: Scene) -> Iterator[Finding]:
    """Events of ours that the host takes from a file beside this one."""
    found = scene.sources
    own = next((source for source in found if source.path == scene.path), None)
    hidden = scopes.hidden_events(found, own) if own else set()
    ours = {event_of(scene.host.shape, element.path) for element in scene.live.elements} if scene.live else set()
    if own and ours & hidden:
        beside = next(one.path for one in found if one.scope == own.scope and one.host.stands != own.host.stands)
        yield _hidden(here, scene, beside, f"no hook on {' and '.join(sorted(ours & hidden))}")


def _hidden(here: Here, scene: Scene, hiding: str, what: str) -> Finding:
    message = f"{here.host.title} reads {hiding} instead, so {what} of ours runs from this file"
    if any(target_of(one.hook.source.path) == target_of(hiding) for one in guards(here)):
        return scene.find("shadowed", "info", f"{message}; the guard is there too")
    beside = os.path.dirname(hiding) == os.path.dirname(scene.path)
    install = scene.install if beside else f"hookctl install --host {here.host.name} --scope project"
    return scene.find("shadowed", "error" if beside else "warning", message, f"`{install}` puts the guard there.")


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
