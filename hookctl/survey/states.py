"""Judges one hook: does its host run it, and why not?

The first obstacle of its own counts, in the order in which the host meets them: the file, the entry
in it, the approval, the tools, and the script. What stops all hooks of the host, as a folder that
is not trusted, comes last: when it is gone, the hook still has its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from hookctl.errors import nearest
from hookctl.hosts import Host, loading, matchers
from hookctl.packs.protocol import EVENTS
from hookctl.survey.model import (
    DISABLED,
    HIDDEN,
    IGNORED,
    NO_TOOL,
    UNKNOWN_EVENT,
    Handler,
    HookFile,
    Obstacle,
)


def find_obstacles(file: HookFile, handler: Handler) -> list[Obstacle]:
    """What keeps a hook itself from running, the one that counts first; empty: nothing known."""
    if handler.disabled:
        return [Obstacle(DISABLED, handler.disabled)]
    if file.obstacle:
        return [file.obstacle]
    return list(_find_in_entry(file, handler))


def is_loaded(file: HookFile, handler: Handler) -> bool:
    """Whether the host takes the hook from its file, or would if it had the event."""
    if handler.disabled or file.obstacle or _judge_entry(file, handler):
        return False
    event = _judge_event(file, handler)
    return event is None or event.state != HIDDEN


def _find_in_entry(file: HookFile, handler: Handler) -> Iterator[Obstacle]:
    for obstacle in (_judge_event(file, handler), _judge_entry(file, handler)):
        if obstacle:
            yield obstacle
    closed = file.closed.get(handler.path)
    for obstacle in (closed, _judge_matcher(file, handler), handler.broken):
        if obstacle:
            yield obstacle


def _judge_event(file: HookFile, handler: Handler) -> Obstacle | None:
    host, event = file.host, handler.event
    if not event:
        return Obstacle(UNKNOWN_EVENT, "it names no event")
    if host.handlers.events and not loading.is_event(host, event):  # else not all are known
        reason = f"{host.title} {host.client.seen} has no event {event}"
        return Obstacle(UNKNOWN_EVENT, reason, _suggest_event(host, event))
    if event in file.hidden_events:
        other = file.hidden_events[event]
        reason = f"{host.title} takes its {event} hooks from {other} instead"
        return Obstacle(HIDDEN, reason, f"put it into {other}")
    return None


def _suggest_event(host: Host, event: str) -> str:
    """The event that was meant: by another agent's name, or in another spelling."""
    for short, name in EVENTS.items():
        if event in (short, name) and host.events.get(short):
            return f"{host.title} calls it {host.events[short]}"
    meant = nearest(event, host.handlers.events).strip()
    return meant and f"{meant[0].lower()}{meant[1:]}"


def _judge_entry(file: HookFile, handler: Handler) -> Obstacle | None:
    """What is wrong with the entry itself."""
    host, fields = file.host, dict(handler.fields)
    reason = handler.lost or _prefixed(loading.fault(host, handler.event, fields))
    if reason:
        return Obstacle(IGNORED, f"{reason}; {host.title} {host.faults.entry}")
    reason = loading.never_runs(host, handler.event, fields)
    return Obstacle(IGNORED, f"it {reason}") if reason else None


def _prefixed(fault: str) -> str:
    return fault and f"it {fault}"


def _judge_matcher(file: HookFile, handler: Handler) -> Obstacle | None:
    matcher = handler.matcher or None
    reason = matchers.explain_mismatch(file.host, handler.event, matcher)
    if not reason:
        return None
    return Obstacle(NO_TOOL, reason, matchers.suggest_case(file.host, matcher))
