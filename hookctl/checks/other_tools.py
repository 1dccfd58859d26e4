"""Judges hooks of other tools: do they block without end, and can they run at all?"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

from hookctl.checks.codes import Finding
from hookctl.checks.facts import FoundHook, HostFacts
from hookctl.checks.running_guards import at_work, ends_chains, mode
from hookctl.checks.scripts import NOT_EXECUTABLE, NOT_THERE, Script
from hookctl.hosts import Host, read_cap
from hookctl.hosts.handlers import can_block, never_runs, rules
from hookctl.masking import masked_text
from hookctl.model import WRAP
from hookctl.packs.choices import DEFAULT_LIMIT
from hookctl.settings import effective

_FLOATING = ("npx", "bunx", "pnpx", "uvx")  # they may fetch another version at every call
# of a command's own name
_BEFORE = r"\s*(?:\w+=\S*\s+|(?:exec|env|nohup|time|command)\s+|timeout\s+\S+\s+)*"


class _KnownTool(NamedTuple):
    """A tool that keeps an agent going, as it was found here."""

    name: str
    path: str
    preset: str = ""  # of the guard, which does the tool's work

    @property
    def moving_over(self) -> str:
        """The fix where a preset does the tool's work: its own hook has to go."""
        return f"Take {self.name}'s own hook out: the guard's preset {self.preset} does its work."


def judge_stops(facts: HostFacts) -> Iterator[Finding]:
    """What blocks stops beside the guard, as far as settings files show it."""
    foreign = [hook for hook in facts.running if not hook.id]
    known = list(_find_known(facts, foreign))
    if not foreign and not known:
        return
    yield from _judge_together(facts, known)
    for canonical in ("stop", "subagent-stop"):
        event = facts.host.events.get(canonical, "")
        blocking = [hook for hook in foreign if hook.event == event]
        blocking = [hook for hook in blocking if can_block(facts.host, event, hook.fields)]
        if blocking or (known and canonical == "stop"):
            finding = _judge_end(facts, canonical, blocking, known)
            # Else nobody asked hookctl to watch over stops here.
            if finding.level == "error" or _has_guard(facts) or _is_cap_off(facts, blocking):
                yield finding


def _is_cap_off(facts: HostFacts, hooks: list[FoundHook]) -> bool:
    """Whether the host has a cap, and somebody has switched it off."""
    return bool(facts.host.cap) and _read_cap_of_hooks(facts, hooks) <= 0


def _has_guard(facts: HostFacts) -> bool:
    """Whether the guard is on record for the host, or registered where it starts here."""
    return bool(facts.registrations) or any(file.guard for file in facts.files)


def _find_known(facts: HostFacts, foreign: list[FoundHook]) -> Iterator[_KnownTool]:
    """The tools of the table whose hook or plugin is here, each once."""
    for system in facts.systems:
        path = next(_find_paths(facts, foreign, system), "")
        if path:
            yield _KnownTool(system["name"], path, system.get("preset", ""))


def _find_paths(
    facts: HostFacts, foreign: list[FoundHook], system: dict[str, Any]
) -> Iterator[str]:
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


def _judge_together(facts: HostFacts, known: list[_KnownTool]) -> Iterator[Finding]:
    """Two tools that keep an agent working give it more turns than each of them says."""
    names = [tool.name for tool in known]
    if any(mode(facts, guard) in ("breaker", "keepalive") for guard in at_work(facts)):
        names.append("the guard")
    if known and len(names) > 1:
        message = (
            f"{_join(names)} keep the agent working; each has a limit of its own, "
            "so together they block longer"
        )
        fix = "Keep one of them and remove the others."
        if "the guard" in names:
            fix = f"Remove the other, or `hookctl install --host {facts.host.name} --mode off`."
            replaced = [tool.moving_over for tool in known if tool.preset]
            if len(replaced) == len(known):
                fix = " ".join(replaced)
        yield facts.find("two_systems", message, fix, known[0].path)


def _join(names: list[str]) -> str:
    """Two names or more, as the start of a sentence."""
    if len(names) == 2:
        return f"{names[0]} and {names[1]} both"
    return f"{', '.join(names[:-1])} and {names[-1]} all"


def _judge_end(
    facts: HostFacts, canonical: str, hooks: list[FoundHook], known: list[_KnownTool]
) -> Finding:
    """What ends a chain that these hooks force: the guard, the host's cap, or nothing."""
    path = hooks[0].source.path if hooks else known[0].path
    names = ", ".join(dict.fromkeys(hook.title for hook in hooks)) or known[0].name
    event, title = facts.host.events[canonical], facts.host.title
    blocker = f"{names} may block on {event}"
    cap = _read_cap_of_hooks(facts, hooks)
    ending = [guard for guard in at_work(facts) if ends_chains(facts, guard)]
    if canonical == "stop" and ending:
        message = f"{blocker}; the guard ends a chain without progress"
        if all(mode(facts, guard) == "keepalive" for guard in ending):
            message += ", except during a run"
        return facts.find("foreign_stop", message, "", path, level="info")
    reason = f"no hook of {title} can end a chain"
    if _can_end(facts.host):
        reason = "the guard does not end such a chain here"
    if canonical == "subagent-stop":
        reason = "the guard leaves subagents alone"
        if cap > 0:
            message = f"{blocker}; {reason}, and {title} overrides it after {cap:g} blocks"
            return facts.find("foreign_stop", message, "", path, level="info")
    options = ""
    if _has_guard(facts):
        options = " --set end_foreign_chains=true"
        if _is_off(facts):  # every other mode stays as it is
            options = f" --mode breaker{options}"
        if not facts.registrations:  # its hook was removed, and stays away without --force
            options += " --force"
    fix = _suggest_fix(facts.host, canonical, options, cap, wrap=bool(hooks))
    if _has_guard(facts) and canonical == "stop" and len(known) == 1 and known[0].preset:
        fix = known[0].moving_over
    if cap > 0:
        message = f"{blocker}; {reason}"
        message += f", so only {title}'s own cap ends it, after {cap:g} blocks in a row"
        return facts.find("foreign_stop", message, fix, path, level="warning")
    missing_cap = f"{title} has no cap"
    if facts.host.cap:
        missing_cap = f"{title}'s own cap is off"
    level = "warning"
    if canonical == "stop" and known:
        level = "error"
    message = f"{blocker}; {reason}, and {missing_cap}: nothing ends it"
    return facts.find("foreign_stop", message, fix, path, level=level)


def _is_off(facts: HostFacts) -> bool:
    """Whether the guard's mode is off wherever it is installed for the host."""
    modes = {
        str(registration.config.get("mode", "breaker")) for registration in facts.registrations
    }
    for file in facts.files:
        if file.guard:
            modes.add(str(file.guard.settings.get("mode", "breaker")))
    return modes == {"off"}


def _can_end(host: Host) -> bool:
    """Whether a hook can end a turn that other hooks force on."""
    return bool(host.dialect.end)


def _suggest_fix(host: Host, canonical: str, options: str, cap: float, *, wrap: bool) -> str:
    """The fix for a chain that nothing ends; `options` are those that an installed guard needs."""
    steps = []
    if canonical == "stop" and _can_end(host):
        steps.append(f"`hookctl install --host {host.name}{options}` ends such chains.")
    if canonical == "stop" and wrap and host.registration.wraps:
        lower = f" --set max_stop_blocks={cap - 1:g}" if 1 < cap < DEFAULT_LIMIT else ""
        command = f"hookctl install --host {host.name} --wrap TEXT{lower}"
        wrapping = f"`{command}` with a part of its command."
        steps.append(f"Or {wrapping}" if steps else f"Limit it: {wrapping}")
    if cap <= 0 and host.cap_key:
        steps.append(f"Set {host.cap_key} to 8.")
    return " ".join(steps) or "Remove the hook, unless it ends by itself."


def _read_cap_of_hooks(facts: HostFacts, hooks: list[FoundHook]) -> float:
    """The blocks in a row that the host takes from these hooks; 0 or less means no end."""
    field = facts.host.cap.get("field")
    if not field:
        return effective.blocks(facts.host, [layer.source for layer in facts.layers], facts.environ)
    caps = []
    for hook in hooks:
        text = ""
        if field in hook.fields:
            text = json.dumps(hook.fields[field])
        caps.append(read_cap(facts.host, text))
    if any(cap <= 0 for cap in caps):
        return 0.0
    return max(caps, default=0.0)


# Hooks of other tools that never run, lack their script, or start agents or installers.


def judge_traps(facts: HostFacts) -> Iterator[Finding]:
    """Every hook of others that the host reads here."""
    for hook in facts.running:
        if not hook.id:
            yield from _judge_idle(facts, hook)
            yield from _judge_script(facts, hook)
            yield from _judge_commands(facts, hook)


def _format_path(hook: FoundHook) -> str:
    return ".".join(map(str, hook.path))


def _judge_idle(facts: HostFacts, hook: FoundHook) -> Iterator[Finding]:
    why = never_runs(facts.host, hook.event, hook.fields)
    if why:
        message = f"{_format_path(hook)} ({hook.title}) {why}"
        yield facts.find(
            "never_runs",
            message,
            "Remove `if`, and check the condition in the hook.",
            hook.source.path,
        )
    ignored = rules(facts.host).get("ignored", {})
    for name in (
        name
        for name in (*ignored.get("*", ()), *ignored.get(hook.event, ()))
        if name in hook.fields
    ):
        message = f"{_format_path(hook)} ({hook.title}): {facts.host.title} ignores `{name}` there"
        yield facts.find("ignored_field", message, f"Remove `{name}`.", hook.source.path)


def judge_scripts(facts: HostFacts) -> Iterator[Finding]:
    """Hooks of packs, and wrapped ones, whose script or program is not there or cannot be run."""
    for hook in facts.running:
        script = facts.missing_scripts.get((hook.source.path, hook.path))
        if hook.id and script:
            message = f"{hook.id} runs {masked_text(script.path)}, which {script.problem}"
            pack = hook.id.partition("/")[0]
            fix = f"{_repair_of(script)}, or `hookctl uninstall {pack}`."
            if f"/packs/{pack}/" in script.path:  # a file of the pack, perhaps of an old HOME
                fix = f"`hookctl upgrade {pack}` puts it back, or `hookctl uninstall {pack}`."
            if hook.id.startswith(WRAP):
                fix = f"{_repair_of(script)}, or remove the hook that the guard wraps."
            yield facts.find("script_missing", message, fix, hook.source.path, level="warning")


def _repair_of(script: Script) -> str:
    """What makes a script usable again, as the start of a sentence."""
    if script.problem == NOT_EXECUTABLE:
        return f"`chmod +x {shlex.quote(script.path)}`"
    if script.problem == NOT_THERE:
        return "Put it back"
    return "Install what its first line names"


def _judge_script(facts: HostFacts, hook: FoundHook) -> Iterator[Finding]:
    """A script or program that is not there or cannot be run."""
    script = facts.missing_scripts.get((hook.source.path, hook.path))
    if not script:
        return
    message = f"{_format_path(hook)} runs {masked_text(script.path)}, which {script.problem}"
    level = "warning" if hook.event == facts.host.events.get("stop") else "info"
    does = rules(facts.host).get("script_gone", {}).get(hook.event)
    # Hosts take 2 for a denial; one that reads stderr takes whatever is above 1.
    denies = script.status == 2 or (script.status > 1 and facts.host.denials.get("stderr"))
    if does and denies:
        level, message = "warning", f"{message}: {facts.host.title} {does}"
    fix = f"{_repair_of(script)}, or remove the hook."
    yield facts.find("script_missing", message, fix, hook.source.path, level=level)


def _judge_commands(facts: HostFacts, hook: FoundHook) -> Iterator[Finding]:
    names = _list_commands(hook)
    agent = next((name for name in names if name in facts.agents), "")
    if agent:
        message = (
            f"{_format_path(hook)} starts {agent}, which runs hooks of its own: this may never end"
        )
        yield facts.find(
            "agent_in_hook", message, "Do not start agents from a hook.", hook.source.path
        )
    floating = next((name for name in names if name in _FLOATING), "")
    if floating:
        message = (
            f"{_format_path(hook)} runs {floating} at every {hook.event}, which may fetch and "
            "run another version each time"
        )
        yield facts.find(
            "floating_hook", message, "Install the program and call it directly.", hook.source.path
        )


def _list_commands(hook: FoundHook) -> list[str]:
    """The programs that a hook's command line calls, as far as they can be told without a shell."""
    parts = re.split(r"[;&|\n(`]+", hook.command)
    words = (re.match(_BEFORE + r"(?P<name>[^\s'\"=]+)", part) for part in parts)
    return [os.path.basename(word["name"]) for word in words if word]
