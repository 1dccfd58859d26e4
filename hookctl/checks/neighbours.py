"""Other tools' Stop hooks: who ends a chain that they force, and are two at work that both want to go on?"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator
from typing import Any, NamedTuple

from hookctl import effects
from hookctl.checks import Finding, Here
from hookctl.checks.handlers import can_block
from hookctl.checks.registered import Hook, at_work, ends_chains, mode, running
from hookctl.hosts import Host, read_cap


class _Known(NamedTuple):
    """A tool that keeps an agent going, as it was found here."""

    name: str
    path: str


def check(here: Here) -> Iterator[Finding]:
    """What blocks stops beside the guard, as far as settings files show it."""
    known = list(_known(here))
    yield from _together(here, known)
    for canonical in ("stop", "subagent-stop"):
        found = [hook for hook in running(here) if _blocks(here, hook, here.host.events.get(canonical, ""))]
        if found or (known and canonical == "stop"):
            yield _limit(here, canonical, found, known)


def _blocks(here: Here, hook: Hook, event: str) -> bool:
    return not hook.id and hook.event == event and can_block(here.host, event, hook.fields)


def _known(here: Here) -> Iterator[_Known]:
    """The tools of the table whose hook or plugin is here, each once."""
    with open(os.path.join(os.path.dirname(__file__), "continuations.toml"), "rb") as stream:
        systems = tomllib.load(stream)["systems"]
    for system in systems:
        path = next(_places(here, system), "")
        if path:
            yield _Known(system["name"], path)


def _places(here: Here, system: dict[str, Any]) -> Iterator[str]:
    for hook in running(here):
        theirs = not hook.id and hook.event == here.host.events.get("stop")
        if theirs and any(word in hook.command for word in system.get("commands", ())):
            yield hook.source.path
    for source in here.sources:
        plugins = source.document.get(("enabledPlugins",))
        for name, on in plugins.items() if isinstance(plugins, dict) else ():
            if on is True and name.partition("@")[0] in system.get("plugins", ()):
                yield source.path


def _together(here: Here, known: list[_Known]) -> Iterator[Finding]:
    """Each counts for itself, so that two of them give an agent more turns than either says."""
    names = [one.name for one in known]
    if any(mode(here, one) in ("breaker", "keepalive") for one in at_work(here)):
        names.append("the guard")
    if known and len(names) > 1:
        message = f"{' and '.join(names)} all keep the agent going; each counts for itself, and none knows of the other"
        fix = "Leave one of them in charge; with `hookctl install --mode off` or its uninstall the guard gives way."
        yield here.find("two_systems", "warning", message, fix, known[0].path)


def _limit(here: Here, canonical: str, found: list[Hook], known: list[_Known]) -> Finding:
    """What ends a chain that these hooks force: the guard, the host's cap, or nothing."""
    path = found[0].source.path if found else known[0].path
    names = ", ".join(dict.fromkeys(hook.title for hook in found)) or known[0].name
    event, title = here.host.events[canonical], here.host.title
    what = f"{names} may block on {event}"
    cap = _cap(here, found)
    ending = [one for one in at_work(here) if ends_chains(here, one)]
    if canonical == "stop" and ending:
        armed = "" if any(mode(here, one) != "keepalive" for one in ending) else ", except while a run is armed"
        return here.find("foreign_stop", "info", f"{what}; the guard ends a chain without progress{armed}", "", path)
    guard = "the guard does not end such a chain here" if _can_end(here.host) else f"no hook of {title} can end a chain"
    if canonical == "subagent-stop":
        guard = "the guard leaves subagents alone"
        if cap > 0:
            message = f"{what}; {guard}, and {title} overrides it after {cap:g} blocks"
            return here.find("foreign_stop", "info", message, "", path)
    fix = _fix(here.host, canonical, wrap=bool(found), lift=cap <= 0)
    if cap > 0:
        message = f"{what}; {guard}, so nothing but {title}'s own cap does, after {cap:g} blocks in a row"
        return here.find("foreign_stop", "warning", message, fix, path)
    surely = canonical == "stop" and any(known)
    none = f"{title}'s own cap is off" if here.host.cap else f"{title} has no cap"
    message = f"{what}; {guard}, and {none}: nothing ends it"
    return here.find("foreign_stop", "error" if surely else "warning", message, fix, path)


def _can_end(host: Host) -> bool:
    """Whether a hook can end a turn that other hooks force on."""
    return bool(host.data["dialect"]["end"])


def _fix(host: Host, canonical: str, *, wrap: bool, lift: bool) -> str:
    """What there is to do about a chain that nothing ends, on a host that has it."""
    steps = []
    if canonical == "stop" and _can_end(host):
        options = "--mode breaker --set end_foreign_chains=true"
        steps.append(f"`hookctl install --host {host.name} {options}` ends such chains.")
    if canonical == "stop" and wrap and host.data["registration"].get("wraps"):
        steps.append(f"Or `hookctl install --host {host.name} --wrap TEXT` with a part of its command.")
    if lift and host.cap_key:
        steps.append(f"Set {host.cap_key} to 8.")
    return " ".join(steps) or "Look that it ends by itself, or remove it."


def _cap(here: Here, found: list[Hook]) -> float:
    """How many blocks in a row the host takes from these hooks; 0 or less: as many as come."""
    field = here.host.cap.get("field")
    if not field:
        return effects.blocks(here.host, here.sources, here.folders.environ)
    caps = [read_cap(here.host, json.dumps(hook.fields[field]) if field in hook.fields else "") for hook in found]
    return 0.0 if any(cap <= 0 for cap in caps) else max(caps, default=0.0)
