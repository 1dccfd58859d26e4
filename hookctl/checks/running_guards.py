"""The hooks that a host runs in the working folder, and the mode of each guard."""

from __future__ import annotations

from hookctl.checks.facts import FoundHook, GuardRegistration, HostFacts
from hookctl.hosts import loading
from hookctl.packs.guard_options import is_true, value_in_effect


def find_running(facts: HostFacts) -> list[FoundHook]:
    """All hooks that the host looks at: none if hooks are off, perhaps only managed ones."""
    if facts.disabling:
        return []
    key = facts.host.switches.managed_only
    managed = [layer for layer in facts.layers if layer.source.scope == "managed"]
    alone = key and any(layer.source.document.get((key,)) is True for layer in managed)
    hooks: list[FoundHook] = []
    for layer in managed if alone else facts.layers:
        hooks += [hook for hook in layer.hooks if hook.event not in layer.hidden]
    return hooks


def find_guards(facts: HostFacts) -> list[GuardRegistration]:
    """The guard's registrations on the stop event that it runs, as far as their entries go."""
    stop = facts.host.events.get("stop")
    running = [(hook.source.path, hook.path) for hook in facts.running]
    guards = []
    for registration in facts.registrations:
        hook = registration.hook
        if hook.event != stop or (hook.source.path, hook.path) not in running:
            continue
        if not loading.why_disarmed(facts.host, hook.event, hook.fields, blocks=True):
            guards.append(registration)
    return guards


def at_work(facts: HostFacts) -> list[GuardRegistration]:
    """The guards that really do something here."""
    return [registration for registration in facts.guards if mode(facts, registration) != "off"]


def mode(facts: HostFacts, registration: GuardRegistration) -> str:
    """The mode of a guard: variables override its configuration; without its program, off."""
    is_disabled = is_true(facts.variables.get("HOOKCTL_DISABLE", ""))
    if registration.since is None or is_disabled:
        return "off"
    return str(value_in_effect("mode", registration.config, facts.variables))


def ends_chains(facts: HostFacts, registration: GuardRegistration) -> bool:
    """Whether a guard ends the chains that other hooks force."""
    if not facts.host.dialect.end:
        return False
    if mode(facts, registration) == "guard":
        return True
    return bool(value_in_effect("end_foreign_chains", registration.config, facts.variables))
