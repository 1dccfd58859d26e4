"""Judges hooks of other tools: do they block without end, and can they run at all?"""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

from hookctl.checks.codes import Finding
from hookctl.checks.facts import FoundHook, GuardRegistration, HostFacts, KnownTool
from hookctl.checks.scripts import NOT_EXECUTABLE, NOT_THERE, Script, called_program
from hookctl.hosts import read_cap
from hookctl.hosts.loading import can_block, never_runs, read_status
from hookctl.masking import masked_text
from hookctl.model import WRAP
from hookctl.packs.choices import DEFAULT_LIMIT
from hookctl.packs.guard_options import value_in_effect
from hookctl.packs.protocol import protocol_event
from hookctl.settings import effective

_FLOATING = ("npx", "bunx", "pnpx", "uvx")  # they may fetch another version at every call
_SEEN_FOR = 7 * 24 * 3600  # seconds in which a chain that the guard saw still counts
# What a refusal does at an event, by Claude Code's names.
_WITHOUT_SCRIPT = {
    "PreToolUse": "refuses every call that it is for",
    "PermissionRequest": "refuses every call that it is for",
    "UserPromptSubmit": "refuses every prompt",
    "Stop": "blocks every stop for that",
    "SubagentStop": "blocks every stop for that",
}
_STOPS = ("Stop", "SubagentStop")
_MOST_NAMED = 5  # hooks that a finding names: a file may have thousands


class _Chain(NamedTuple):
    """Hooks of other tools that may keep an agent working, and what is known of them."""

    canonical: str  # stop | subagent-stop
    hooks: list[FoundHook]
    tools: list[KnownTool]  # those of them that are known to block
    was_seen: bool  # the guard's log has a chain that they forced without progress
    cap: float  # the blocks in a row that the host takes from them; 0 or less means no end

    @property
    def blocks(self) -> bool:
        """Whether these hooks are known to block, and not only able to."""
        return bool(self.tools) or self.was_seen


def judge_stops(facts: HostFacts) -> Iterator[Finding]:
    """The hooks beside the guard that block stops, by the settings files."""
    for canonical in ("stop", "subagent-stop"):
        event = facts.host.events.get(canonical)
        if event is None:
            continue
        foreign = [hook for hook in facts.running if not hook.id and hook.event == event]
        hooks = [hook for hook in foreign if can_block(facts.host, event, hook.fields)]
        if not hooks:
            continue
        chain = _describe_chain(facts, canonical, hooks)
        if canonical == "stop":
            yield from _judge_together(facts, chain)
        finding = _judge_end(facts, chain)
        # Else hookctl was not asked to watch over stops here.
        is_asked = _has_guard(facts) or _is_cap_off(facts, chain)
        if finding and (finding.level == "error" or is_asked):
            yield finding


def _describe_chain(facts: HostFacts, canonical: str, hooks: list[FoundHook]) -> _Chain:
    tools = []
    for tool in facts.systems:
        if any(part in hook.command for hook in hooks for part in tool.commands):
            tools.append(tool)
    was_seen = canonical == "stop" and any(_tells_of_chain(facts, line) for line in facts.log)
    return _Chain(canonical, hooks, tools, was_seen, _read_cap_of_hooks(facts, hooks))


def _tells_of_chain(facts: HostFacts, line: dict[str, Any]) -> bool:
    """Whether a line of the log tells of a chain that other hooks forced, not long ago."""
    is_recent = facts.workplace.now - line["t"] < _SEEN_FOR
    return line["host"] == facts.host.name and line["code"] == "stop_loop" and is_recent


def _is_cap_off(facts: HostFacts, chain: _Chain) -> bool:
    """Whether the host has a cap that is switched off."""
    return bool(facts.host.cap) and chain.cap <= 0


def _has_guard(facts: HostFacts) -> bool:
    """Whether the guard is on record for the host, or registered where it starts here."""
    return bool(facts.registrations) or any(file.guard for file in facts.files)


def _judge_together(facts: HostFacts, chain: _Chain) -> Iterator[Finding]:
    """Two tools that keep an agent working give it more turns than each of them says."""
    names = [tool.name for tool in chain.tools]
    if any(registration.mode in ("breaker", "keepalive") for registration in facts.at_work):
        names.append("the guard")
    if not chain.tools or len(names) < 2:
        return
    fix = "Keep one of them and remove the others."
    if "the guard" in names:
        fix = f"Remove the other, or `hookctl install --host {facts.host.name} --mode off`."
        if all(tool.preset for tool in chain.tools):
            fix = " ".join(_moving_over(tool) for tool in chain.tools)
    yield facts.find("two_systems", chain.hooks[0].source.path, names=_join(names), fix=fix)


def _moving_over(tool: KnownTool) -> str:
    """The fix where a preset does the tool's work: its own hook has to go."""
    return f"Take {tool.name}'s own hook out: the guard's preset {tool.preset} does its work."


def _join(names: list[str]) -> str:
    """Two names or more, as the start of a sentence."""
    if len(names) == 2:
        return f"{names[0]} and {names[1]} both"
    return f"{', '.join(names[:-1])} and {names[-1]} all"


def _judge_end(facts: HostFacts, chain: _Chain) -> Finding | None:
    """What ends a chain that these hooks force: the guard, else the host's cap, else nothing."""
    is_stop, path, title = chain.canonical == "stop", chain.hooks[0].source.path, facts.host.title
    blocker = _name_blocker(facts, chain)
    if is_stop and any(_ends_chains(facts, registration) for registration in facts.at_work):
        return facts.find("foreign_stop.ended", path, blocker=blocker)
    values = {"blocker": blocker, "why": _why_guard_does_not_end(facts, chain)}
    level, fix = "warning" if chain.blocks else "info", _suggest_fix(facts, chain)
    if chain.cap <= 0:
        cap = f"{title}'s own cap is off" if facts.host.cap else f"{title} has no cap"
        if is_stop and chain.tools:
            level = "error"
        return facts.find("foreign_stop", path, level, cap=cap, fix=fix, **values)
    if not chain.blocks:
        return None  # the host itself ends what may never begin
    cap = f"{chain.cap:g} block{'' if chain.cap == 1 else 's'}"
    if not is_stop:
        level, fix = "info", ""
    return facts.find("foreign_stop.capped", path, level, cap=cap, fix=fix, **values)


def _ends_chains(facts: HostFacts, registration: GuardRegistration) -> bool:
    """Whether a guard ends the chains that other hooks force."""
    if not facts.host.dialect.end or registration.mode == "guard":
        return bool(facts.host.dialect.end)
    return bool(value_in_effect("end_foreign_chains", registration.config, facts.variables))


def _name_blocker(facts: HostFacts, chain: _Chain) -> str:
    """The hooks and where they stand, as the start of a sentence."""
    names = ", ".join(dict.fromkeys(hook.title for hook in chain.hooks[:_MOST_NAMED]))
    places = "; ".join(hook.place for hook in chain.hooks[:_MOST_NAMED])
    more = len(chain.hooks) - _MOST_NAMED
    if more > 0:
        names, places = f"{names} and {more} more", f"{places}; …"
    does = "or a goal forced the agent on and on" if chain.was_seen else "may block"
    return f"{names} {does} on {facts.host.events[chain.canonical]} ({places})"


def _why_guard_does_not_end(facts: HostFacts, chain: _Chain) -> str:
    if chain.canonical == "subagent-stop":
        return "the guard leaves subagents alone"
    if facts.host.dialect.end:
        return "the guard does not end such a chain here"
    return f"no hook of {facts.host.title} can end a chain"


def _is_off(facts: HostFacts) -> bool:
    """Whether the guard's mode is off wherever it is installed for the host."""
    modes = {
        str(registration.config.get("mode", "breaker")) for registration in facts.registrations
    }
    for file in facts.files:
        if file.guard:
            modes.add(str(file.guard.settings.get("mode", "breaker")))
    return modes == {"off"}


def _suggest_fix(facts: HostFacts, chain: _Chain) -> str:
    """The fix for a chain that nothing ends, or only the host's cap."""
    host, is_stop = facts.host, chain.canonical == "stop"
    if _has_guard(facts) and is_stop and len(chain.tools) == 1 and chain.tools[0].preset:
        return _moving_over(chain.tools[0])
    steps = []
    if is_stop and host.dialect.end:
        command = f"hookctl install --host {host.name}{_options_to_end(facts)}"
        steps.append(f"`{command}` ends such chains.")
    if is_stop and host.registration.wraps:
        lower = ""
        if 1 < chain.cap < DEFAULT_LIMIT:
            lower = f" --set max_stop_blocks={chain.cap - 1:g}"
        command = f"hookctl install --host {host.name} --wrap TEXT{lower}"
        wrapping = f"`{command}` with a part of its command."
        steps.append(f"Or {wrapping}" if steps else f"Limit it: {wrapping}")
    if chain.cap <= 0 and host.cap_key:
        steps.append(f"Set {host.cap_key} to 8.")
    if not steps and chain.blocks:
        steps.append("Remove the hook, unless it ends by itself.")
    return " ".join(steps)


def _options_to_end(facts: HostFacts) -> str:
    """What install needs so that a guard that is there ends such chains."""
    if not _has_guard(facts):
        return ""
    options = " --set end_foreign_chains=true"
    if _is_off(facts):  # every other mode stays as it is
        options = f" --mode breaker{options}"
    if not facts.registrations:  # its hook was removed, and stays away without --force
        options += " --force"
    return options


def _read_cap_of_hooks(facts: HostFacts, hooks: list[FoundHook]) -> float:
    """The blocks in a row that the host takes from these hooks; 0 or less means no end."""
    field = facts.host.cap.get("field")
    if not field:
        sources = [layer.source for layer in facts.layers]
        return effective.blocks(facts.host, sources, facts.workplace.environ)
    caps = []
    for hook in hooks:
        text = json.dumps(hook.fields[field]) if field in hook.fields else ""
        caps.append(read_cap(facts.host, text))
    return 0.0 if min(caps) <= 0 else max(caps)


# Hooks of other tools that never run, lack their script, or start agents or installers.


def judge_traps(facts: HostFacts) -> Iterator[Finding]:
    """Every hook of other tools that the host reads here."""
    for hook in facts.running:
        if not hook.id:
            place = hook.source.document.name_of(hook.path)
            yield from _judge_idle(facts, hook, place)
            yield from _judge_script(facts, hook, place)
            yield from _judge_commands(facts, hook, place)


def _judge_idle(facts: HostFacts, hook: FoundHook, place: str) -> Iterator[Finding]:
    why, path = never_runs(facts.host, hook.event, hook.fields), hook.source.path
    if why:
        yield facts.find("never_runs", path, place=place, hook=hook, why=why)
    ignored = facts.host.handlers.ignored
    for field in (*ignored.get("*", ()), *ignored.get(hook.event, ())):
        if field in hook.fields:
            yield facts.find("ignored_field", path, place=place, hook=hook, field=field)


def judge_scripts(facts: HostFacts) -> Iterator[Finding]:
    """Hooks of packs, and wrapped ones, whose script or program is not there or cannot be run."""
    for hook in facts.running:
        script = facts.missing_scripts.get((hook.source.path, hook.path))
        if not hook.id or not script:
            continue
        pack = hook.id.partition("/")[0]
        entry = "script_missing.pack"
        if hook.id.startswith(WRAP):
            entry = "script_missing.wrapped"
        elif f"/packs/{pack}/" in script.path:  # a file of the pack, perhaps of an old HOME
            entry = "script_missing.pack-file"
        values = {"place": hook.id, "pack": pack, **_describe_script(script)}
        yield facts.find(entry, hook.source.path, **values)


def _describe_script(script: Script) -> dict[str, str]:
    """The texts of a finding about an unusable script: path, problem, start of the fix."""
    repair = "Install what its first line names"
    if script.problem == NOT_EXECUTABLE:
        repair = f"`chmod +x {shlex.quote(script.path)}`"
    elif script.problem == NOT_THERE:
        repair = "Put it back"
    return {"script": masked_text(script.path), "problem": script.problem, "repair": repair}


def _judge_script(facts: HostFacts, hook: FoundHook, place: str) -> Iterator[Finding]:
    """A script or program that is not there or cannot be run."""
    script = facts.missing_scripts.get((hook.source.path, hook.path))
    if not script:
        return
    entry, level = "script_missing", "info"
    if hook.event == facts.host.events.get("stop"):
        level = "warning"
    event = protocol_event(facts.host, hook.event)
    said = os.strerror(errno.ENOENT)  # a shell or an interpreter says so
    does = _WITHOUT_SCRIPT.get(event)
    if does and read_status(facts.host.reads.get(event, {}), script.status, said) == "refuse":
        entry = "script_missing.denies"
        level = "warning" if event in _STOPS else "error"
    values = {"place": place, "does": does, **_describe_script(script)}
    yield facts.find(entry, hook.source.path, level, **values)


def _judge_commands(facts: HostFacts, hook: FoundHook, place: str) -> Iterator[Finding]:
    names, path = _list_commands(hook), hook.source.path
    agent = next((name for name in names if name in facts.agents), "")
    if agent:
        yield facts.find("agent_in_hook", path, place=place, agent=agent)
    floating = next((name for name in names if name in _FLOATING), "")
    if floating:
        yield facts.find("floating_hook", path, place=place, hook=hook, program=floating)


def _list_commands(hook: FoundHook) -> list[str]:
    """The programs that a hook's command line calls, if the text alone shows them."""
    return [called_program(part) for part in re.split(r"[;&|\n(`]+", hook.command)]
