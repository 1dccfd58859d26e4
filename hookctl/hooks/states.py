"""Judges one hook: does its host run it, and why not?

The first obstacle counts, in the order in which the host meets them: the file, the entry in it,
the approval, the tools, and at last the script.
"""

from __future__ import annotations

from hookctl.hooks.model import (
    DISABLED,
    HIDDEN,
    IGNORED,
    NO_TOOL,
    UNKNOWN_EVENT,
    Handler,
    HookFile,
    Obstacle,
)
from hookctl.hosts import loading, matchers


def find_obstacle(file: HookFile, handler: Handler) -> Obstacle | None:
    """What keeps a hook from running; None where nothing is known to."""
    if handler.disabled:
        return Obstacle(DISABLED, handler.disabled)
    return (
        file.obstacle
        or _judge_event(file, handler)
        or _judge_entry(file, handler)
        or file.closed.get(handler.path)
        or _judge_matcher(file, handler)
        or handler.broken
    )


def _judge_event(file: HookFile, handler: Handler) -> Obstacle | None:
    host, event = file.host, handler.event
    if host.handlers.events and not loading.is_event(host, event):  # else not all are known
        reason = f"{host.title} {host.client.seen} has no event {event}"
        return Obstacle(UNKNOWN_EVENT, reason)
    if event in file.hidden_events:
        other = file.hidden_events[event]
        return Obstacle(HIDDEN, f"{host.title} takes its {event} hooks from {other} instead")
    return None


def _judge_entry(file: HookFile, handler: Handler) -> Obstacle | None:
    """What is wrong with the entry itself."""
    host, fields = file.host, dict(handler.fields)
    reason = handler.lost or _prefixed(loading.fault(host, fields))
    if reason:
        return Obstacle(IGNORED, f"{reason}; {host.title} {host.faults.entry}")
    reason = loading.never_runs(host, handler.event, fields)
    return Obstacle(IGNORED, f"it {reason}") if reason else None


def _prefixed(fault: str) -> str:
    return fault and f"it {fault}"


def _judge_matcher(file: HookFile, handler: Handler) -> Obstacle | None:
    reason = matchers.explain_mismatch(file.host, handler.event, handler.matcher or None)
    return Obstacle(NO_TOOL, reason) if reason else None
