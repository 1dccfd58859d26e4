"""Other tools' hooks: who ends a chain that they force, and is there a trap in one of them?"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from hookctl.checks.codes import Finding
from hookctl.checks.facts import Hook, HostFacts
from hookctl.checks.handlers import can_block, knowledge, never_runs
from hookctl.checks.registered import at_work, ends_chains, mode
from hookctl.hosts import Host, read_cap
from hookctl.settings import effective

_FLOATING = ("npx", "bunx", "pnpx", "uvx")  # they may fetch another version at every call
_BEFORE = r"\s*(?:\w+=\S*\s+|(?:exec|env|nohup|time|command)\s+|timeout\s+\S+\s+)*"  # of a command's own name


class _Known(NamedTuple):
    """A tool that keeps an agent going, as it was found here."""

    name: str
    path: str


def judge_stops(facts: HostFacts) -> Iterator[Finding]:
    """What blocks stops beside the guard, as far as settings files show it."""
    foreign = [hook for hook in facts.running if not hook.id]
    known = list(_known(facts, foreign))
    if not foreign and not known:
        return
    yield from _together(facts, known)
    for canonical in ("stop", "subagent-stop"):
        event = facts.host.events.get(canonical, "")
        blocking = [hook for hook in foreign if hook.event == event]
        blocking = [hook for hook in blocking if can_block(facts.host, event, hook.fields)]
        if blocking or (known and canonical == "stop"):
            yield _limit(facts, canonical, blocking, known)


def _known(facts: HostFacts, foreign: list[Hook]) -> Iterator[_Known]:
    """The tools of the table whose hook or plugin is here, each once."""
    for system in facts.systems:
        path = next(_paths_of(facts, foreign, system), "")
        if path:
            yield _Known(system["name"], path)


def _paths_of(facts: HostFacts, foreign: list[Hook], system: dict[str, Any]) -> Iterator[str]:
    """The settings files with a tool's Stop hook, or that switch its plugin on."""
    for hook in foreign:
        words = system.get("commands", ()) if hook.event == facts.host.events.get("stop") else ()
        if any(word in hook.command for word in words):
            yield hook.source.path
    for layer in facts.layers:
        plugins = layer.source.document.get(("enabledPlugins",))
        for name, on in plugins.items() if isinstance(plugins, dict) else ():
            if on is True and name.partition("@")[0] in system.get("plugins", ()):
                yield layer.source.path


def _together(facts: HostFacts, known: list[_Known]) -> Iterator[Finding]:
    """Each counts for itself, so that two of them give an agent more turns than either says."""
    names = [one.name for one in known]
    if any(mode(facts, one) in ("breaker", "keepalive") for one in at_work(facts)):
        names.append("the guard")
    if known and len(names) > 1:
        message = f"{' and '.join(names)} all keep the agent going; each counts for itself, and none knows of the other"
        fix = "Leave one of them in charge; with `hookctl install --mode off` or its uninstall the guard gives way."
        yield facts.find("two_systems", message, fix, known[0].path)


def _limit(facts: HostFacts, canonical: str, found: list[Hook], known: list[_Known]) -> Finding:
    """What ends a chain that these hooks force: the guard, the host's cap, or nothing."""
    path = found[0].source.path if found else known[0].path
    names = ", ".join(dict.fromkeys(hook.title for hook in found)) or known[0].name
    event, title = facts.host.events[canonical], facts.host.title
    what = f"{names} may block on {event}"
    cap = _cap(facts, found)
    ending = [one for one in at_work(facts) if ends_chains(facts, one)]
    if canonical == "stop" and ending:
        always = any(mode(facts, one) != "keepalive" for one in ending)
        message = f"{what}; the guard ends a chain without progress"
        message += "" if always else ", except while a run is armed"
        return facts.find("foreign_stop", message, "", path, level="info")
    guard = f"no hook of {title} can end a chain"
    if _can_end(facts.host):
        guard = "the guard does not end such a chain here"
    if canonical == "subagent-stop":
        guard = "the guard leaves subagents alone"
        if cap > 0:
            message = f"{what}; {guard}, and {title} overrides it after {cap:g} blocks"
            return facts.find("foreign_stop", message, "", path, level="info")
    fix = _fix(facts.host, canonical, wrap=bool(found), lift=cap <= 0)
    if cap > 0:
        message = (
            f"{what}; {guard}, so nothing but {title}'s own cap does, after {cap:g} blocks in a row"
        )
        return facts.find("foreign_stop", message, fix, path, level="warning")
    surely = canonical == "stop" and any(known)
    none = f"{title}'s own cap is off" if facts.host.cap else f"{title} has no cap"
    message = f"{what}; {guard}, and {none}: nothing ends it"
    return facts.find("foreign_stop", message, fix, path, level="error" if surely else "warning")


def _can_end(host: Host) -> bool:
    """Whether a hook can end a turn that other hooks force on."""
    return bool(host.dialect.end)


def _fix(host: Host, canonical: str, *, wrap: bool, lift: bool) -> str:
    """What there is to do about a chain that nothing ends, on a host that has it."""
    steps = []
    if canonical == "stop" and _can_end(host):
        options = "--mode breaker --set end_foreign_chains=true"
        steps.append(f"`hookctl install --host {host.name} {options}` ends such chains.")
    if canonical == "stop" and wrap and host.registration.wraps:
        steps.append(
            f"Or `hookctl install --host {host.name} --wrap TEXT` with a part of its command."
        )
    if lift and host.cap_key:
        steps.append(f"Set {host.cap_key} to 8.")
    return " ".join(steps) or "Look that it ends by itself, or remove it."


def _cap(facts: HostFacts, found: list[Hook]) -> float:
    """How many blocks in a row the host takes from these hooks; 0 or less: as many as come."""
    field = facts.host.cap.get("field")
    if not field:
        return effective.blocks(facts.host, [layer.source for layer in facts.layers], facts.environ)
    caps = [
        read_cap(facts.host, json.dumps(hook.fields[field]) if field in hook.fields else "")
        for hook in found
    ]
    return 0.0 if any(cap <= 0 for cap in caps) else max(caps, default=0.0)


# Hooks of others with a trap in them: never run, a script that is gone, an agent or an installer inside.


def judge_traps(facts: HostFacts) -> Iterator[Finding]:
    """Every hook of others that the host reads here."""
    for hook in facts.running:
        if not hook.id:
            yield from _idle(facts, hook)
            yield from _script(facts, hook)
            yield from _starts(facts, hook)


def _at(hook: Hook) -> str:
    return ".".join(map(str, hook.path))


def _idle(facts: HostFacts, hook: Hook) -> Iterator[Finding]:
    why = never_runs(facts.host, hook.event, hook.fields)
    if why:
        message = f"{_at(hook)} ({hook.title}) {why}"
        yield facts.find(
            "never_runs", message, "Remove `if`, and let the hook itself decide.", hook.source.path
        )
    ignored = knowledge(facts.host).get("ignored", {})
    for name in (
        name
        for name in (*ignored.get("*", ()), *ignored.get(hook.event, ()))
        if name in hook.fields
    ):
        message = f"{_at(hook)} ({hook.title}): {facts.host.title} ignores `{name}` there"
        yield facts.find("ignored_field", message, f"Remove `{name}`.", hook.source.path)


def _script(facts: HostFacts, hook: Hook) -> Iterator[Finding]:
    """A script that an interpreter is to run, by an absolute path, and that is not there."""
    script = hook.script
    if not script or script not in facts.missing_scripts:
        return
    message = f"{_at(hook)} runs {script}, which is not there"
    level = "info"
    does = knowledge(facts.host).get("script_gone", {}).get(hook.event)
    if does:
        level, message = "warning", f"{message}: {facts.host.title} {does}"
    yield facts.find(
        "script_missing", message, "Put it back, or remove the hook.", hook.source.path, level=level
    )


def _starts(facts: HostFacts, hook: Hook) -> Iterator[Finding]:
    names = _commands(hook)
    agent = next((name for name in names if name in facts.agents), "")
    if agent:
        message = f"{_at(hook)} starts {agent}, whose own hooks run then: that may never end"
        yield facts.find("agent_in_hook", message, "Start agents elsewhere.", hook.source.path)
    floating = next((name for name in names if name in _FLOATING), "")
    if floating:
        message = f"{_at(hook)} runs {floating} at every {hook.event}, which may fetch and run another version each time"
        yield facts.find(
            "floating_hook", message, "Install the program, and name it.", hook.source.path
        )


def _commands(hook: Hook) -> list[str]:
    """The programs that a hook's command line calls, as far as they can be told without a shell."""
    parts = re.split(r"[;&|\n(`]+", hook.command)
    words = (re.match(_BEFORE + r"(?P<name>[^\s'\"=]+)", part) for part in parts)
    return [os.path.basename(word["name"]) for word in words if word]
