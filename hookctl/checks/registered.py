"""Which hooks a host runs as it is started in the working folder, and what the guards among them do."""

from __future__ import annotations

from hookctl.checks import handlers
from hookctl.checks.facts import Hook, HostFacts, Registration
from hookctl.packs import guard


def with_running(host: HostFacts) -> HostFacts:
    """The facts of a host with the hooks that it runs, and the guards among them."""
    host = host._replace(running=tuple(_running(host)))
    return host._replace(guards=tuple(_guards(host)))


def _running(host: HostFacts) -> list[Hook]:
    """Every handler that it looks at: none where hooks are off, only managed ones where it says so."""
    if host.disabling:
        return []
    key = host.host.data["switches"].get("managed_only")
    managed = [layer for layer in host.layers if layer.source.scope == "managed"]
    alone = key and any(layer.source.document.get((key,)) is True for layer in managed)
    hooks: list[Hook] = []
    for layer in managed if alone else host.layers:
        hooks += [hook for hook in layer.hooks if hook.event not in layer.hidden]
    return hooks


def _guards(host: HostFacts) -> list[Registration]:
    """The guard's registrations on the stop event that it runs, as far as their entries go."""
    stop, running = host.host.events.get("stop"), [(hook.source.path, hook.path) for hook in host.running]
    guards = []
    for registration in host.registrations:
        hook = registration.hook
        if hook.event != stop or (hook.source.path, hook.path) not in running:
            continue
        if not handlers.disarmed(host.host, hook.event, hook.fields, blocks=True):
            guards.append(registration)
    return guards


def at_work(host: HostFacts) -> list[Registration]:
    """The guards that really do something here."""
    return [registration for registration in host.guards if mode(host, registration) != "off"]


def mode(host: HostFacts, registration: Registration) -> str:
    """What a guard does: the environment counts before its configuration, and without its file it is off."""
    if registration.since is None or guard.is_true(host.variables.get("HOOKCTL_DISABLE", "")):
        return "off"
    return host.variables.get("HOOKCTL_MODE", "").strip() or str(registration.config.get("mode", "breaker"))


def ends_chains(host: HostFacts, registration: Registration) -> bool:
    """Whether a guard ends the chains that other hooks force."""
    if not host.host.data["dialect"]["end"]:
        return False
    if mode(host, registration) == "guard":
        return True
    text = host.variables.get("HOOKCTL_END_FOREIGN_CHAINS", "").strip()
    return guard.is_true(text) if text else registration.config.get("end_foreign_chains") is not False
