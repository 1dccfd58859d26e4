"""Judges hooks that may force an agent on without end, and hooks whose program is not there."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator

from hookctl.checks.codes import Finding
from hookctl.checks.host import Guard, HostHere
from hookctl.hosts import read_cap
from hookctl.hosts.loading import can_block, read_status
from hookctl.masking import masked_text
from hookctl.model import WRAP
from hookctl.packs.guard_options import value_in_effect
from hookctl.packs.protocol import protocol_event
from hookctl.settings import effective
from hookctl.survey.model import FAILING, Hook, Obstacle
from hookctl.survey.programs import REPAIR

# Parts of the commands of tools that keep an agent going from a Stop hook of their own.
_KEEP_GOING = (
    *("nightly hook stop", "story-automator stop-hook"),
    *("ralph-loop", "ralph-wiggum", "ralph-stop", "loop-until-done.py"),
)
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


def judge_stops(here: HostHere) -> Iterator[Finding]:
    """Hooks of other tools that are known to block stops, where nothing ends that."""
    event = here.host.events.get("stop")
    hooks = [hook for hook in here.running if not hook.own_id and hook.event == event]
    hooks = [hook for hook in hooks if can_block(here.host, hook.event, hook.fields)]
    if not hooks or _read_cap_of_hooks(here, hooks) > 0:
        return
    if any(_ends_chains(here, guard) for guard in here.guards):
        return
    known = [hook for hook in hooks if any(part in hook.command for part in _KEEP_GOING)]
    for line in here.machine.log() if here.guards else ():
        is_recent = here.now - line["t"] < _SEEN_FOR
        if line["host"] == here.host.name and line["code"] == "stop_loop" and is_recent:
            known = known or hooks
    if known:
        yield _report_chain(here, known)


def _ends_chains(here: HostHere, guard: Guard) -> bool:
    """Whether a guard ends the chains that other hooks force."""
    if not here.host.dialect.end or guard.mode == "guard":
        return bool(here.host.dialect.end)
    return bool(value_in_effect("end_foreign_chains", guard.config, here.variables))


def _read_cap_of_hooks(here: HostHere, hooks: list[Hook]) -> float:
    """The blocks in a row that the host takes from these hooks; 0 or less means no end."""
    field = here.host.cap.get("field")
    if not field:
        return effective.blocks(here.host, here.sources, here.machine.environ)
    caps = []
    for hook in hooks:
        text = json.dumps(hook.fields[field]) if field in hook.fields else ""
        caps.append(read_cap(here.host, text))
    return min(caps)


def _report_chain(here: HostHere, hooks: list[Hook]) -> Finding:
    host, names = here.host, ", ".join(dict.fromkeys(hook.title for hook in hooks[:_MOST_NAMED]))
    places = "; ".join(f"line {hook.line}" for hook in hooks[:_MOST_NAMED])
    if len(hooks) > _MOST_NAMED:
        names, places = f"{names} and {len(hooks) - _MOST_NAMED} more", f"{places}; …"
    fix = "Remove the hook, unless it ends by itself."
    if host.cap_key:
        fix = f"Set {host.cap_key} to 8."
    elif host.registration.wraps:
        wrap = f"`hookctl install --host {host.name} --wrap TEXT`"
        fix = f"{wrap} limits it, with a part of its command."
    values = {"names": names, "event": host.events["stop"], "places": places, "fix": fix}
    return here.find("foreign_stop", hooks[0].file, **values)


# Programs that are not there.


def judge_scripts(here: HostHere) -> Iterator[Finding]:
    """Our hooks, and others that then refuse everything, without a program that can be run."""
    for hook in here.running:
        for obstacle in hook.obstacles:
            if obstacle.state not in FAILING or obstacle.fix == REPAIR:
                continue  # of our own programs a rule of their own speaks
            if hook.own_id:
                yield _report_script(here, hook, obstacle)
                continue
            event = protocol_event(here.host, hook.event)
            does, rules = _WITHOUT_SCRIPT.get(event), here.host.reads.get(event, {})
            said = os.strerror(errno.ENOENT)  # a shell or an interpreter says so
            if does and read_status(rules, obstacle.status, said) == "refuse":
                effect, level = f": {here.host.title} {does}", "error"
                yield _report_script(
                    here, hook, obstacle, effect, "warning" if event in _STOPS else level
                )


def _report_script(
    here: HostHere, hook: Hook, obstacle: Obstacle, effect: str = "", level: str = ""
) -> Finding:
    pack = hook.own_id.partition("/")[0]
    is_packs = pack and not hook.own_id.startswith(WRAP)
    repair, remove = obstacle.fix or "put it back", "remove the hook"
    repair = repair[0].upper() + repair[1:]
    if is_packs:
        remove = f"`hookctl uninstall {pack}`"
        if f"/packs/{pack}/" in obstacle.reason:  # a file of the pack, perhaps of an old HOME
            repair = f"`hookctl upgrade {pack}` puts it back"
    values = {"hook": hook.own_id or f"the hook on line {hook.line}", "remove": remove}
    values |= {"reason": masked_text(obstacle.reason), "effect": effect, "repair": repair}
    return here.find("script_missing", hook.file, level, **values)
