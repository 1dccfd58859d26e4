"""Says in a few words what the guard does in a settings file, or why it does nothing there."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

from hookctl.checks.file import NOT_THERE, Configuration
from hookctl.hosts import Host
from hookctl.packs.choices import Settings
from hookctl.packs.guard import ARMED_CEILING
from hookctl.packs.guard_options import read_settings, switches_off
from hookctl.settings import effective
from hookctl.settings.effective import Source
from hookctl.survey.model import RUNS, Hook


def describe_guard(
    host: Host,
    settings: Settings,
    config: Configuration,
    sources: Sequence[Source],
    hooks: Sequence[Hook],
) -> tuple[str, bool]:
    """What the guard does with its hooks in a file, and whether it keeps an agent at its work.

    `sources` are the files whose variables reach it.
    """
    variables = effective.variables(sources)
    options = read_settings(config.value, variables)
    off = [f"{name}={value}" for name, value in variables.items() if switches_off(name, value)]
    reason, mode = "", options.mode
    if hooks and all(hook.state != RUNS for hook in hooks):
        reason = hooks[0].reason
    elif not (settings.events or hooks):
        reason = "its mode is off"
    elif not hooks:
        reason = "its hook is not registered"
    elif off and settings.events:
        reason = f"{off[0]} in the settings' env"
    elif config.error and config.error.code != NOT_THERE and settings.events:
        reason = "its files cannot be read"
    elif mode == "off" and not options.dispatch_tools and settings.events:
        reason = "its configuration says mode off"
    if reason:
        return f"does nothing: {reason}", False
    if not any((hook.own_id, hook.state) == (effective.STOP, RUNS) for hook in hooks):
        return "", False
    if mode not in ("breaker", "keepalive"):
        return f"mode {mode}", False
    if not host.dialect.block:
        return f"{mode}, only watches", False
    blocks = _count_blocks(mode, options, int(effective.blocks(host, sources, {})))
    return f"{mode}, blocks at most {blocks}", True


def _count_blocks(mode: str, options: SimpleNamespace, cap: int) -> int:
    """How many stops without progress the guard blocks; 0 or less is no cap."""
    bounds = [cap] if cap > 0 else []
    own = options.keepalive_cap if mode == "keepalive" else options.max_stop_blocks
    is_last_free = mode == "breaker" and options.count == "attempts"
    bounds += [own - is_last_free] if own > 0 else []
    return min([*bounds, ARMED_CEILING if mode == "keepalive" else max(1, options.ceiling)])
