"""The hooks in one file, each with what keeps itself from running."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hookctl.documents import Document
from hookctl.errors import nearest
from hookctl.hosts import Host, loading, matchers, shapes
from hookctl.hosts.loading import Entry, Fault
from hookctl.model import Path
from hookctl.packs.protocol import EVENTS
from hookctl.survey.model import IGNORED, NO_TOOL, UNKNOWN_EVENT, Hook, HookFile, Obstacle


def list_hooks_of(
    file: HookFile,
    document: Document,
    entries: Sequence[Entry],
    obstacle: Obstacle | None = None,
    *,
    hidden: Mapping[str, Obstacle] = {},
    closed: Mapping[Path, Obstacle] = {},
) -> Iterator[Hook]:
    """The hooks that stand in a file, from its entries.

    `obstacle` costs all of them, `hidden` those of an event, and `closed` single ones.
    """
    host, own = file.host, None
    lines = document.lines(entry.path for entry in entries)
    for entry, line in zip(entries, lines, strict=True):
        if not file.plugin:  # there is none of ours
            own = shapes.element(host.shape, entry.path, entry.fields, entry.group)
        found = [obstacle] if obstacle else [hidden[entry.event]] if entry.event in hidden else []
        if not obstacle:
            found += _judge_entry(host, document, entry, closed.get(entry.path))
        yield Hook(
            file,
            entry.path,
            entry.event,
            own.fields if own else entry.fields,
            entry.matcher if isinstance(entry.matcher, str) else "",
            line,
            own.id if own else "",
            tuple(found),
        )


def _judge_entry(
    host: Host, document: Document, entry: Entry, closed: Obstacle | None
) -> Iterator[Obstacle]:
    """What keeps a hook from running: its event, its fields, an approval, and its matcher."""
    for fault in sorted(entry.faults, key=lambda fault: fault.kind != "event"):
        if fault.kind == "event" and entry.event:
            reason = f"{host.title} {host.client.seen} has no event {entry.event}"
            yield Obstacle(UNKNOWN_EVENT, reason, _suggest_event(host, entry.event))
        elif fault.kind == "event":
            yield Obstacle(UNKNOWN_EVENT, "it names no event")
        elif fault.kind == "never":
            yield Obstacle(IGNORED, f"it {fault.reason}")
        else:
            reason = _describe_from(host, document, entry, fault)
            yield Obstacle(IGNORED, f"{reason}; {loading.cost(host, fault.reach)}", fault.fix)
    if closed:
        yield closed
    is_lost = any(fault.kind != "event" for fault in entry.faults)
    reason = "" if is_lost else matchers.explain_mismatch(host, entry.event, entry.matcher)
    if reason:
        yield Obstacle(NO_TOOL, reason, matchers.suggest_case(host, entry.matcher))


def _describe_from(host: Host, document: Document, entry: Entry, fault: Fault) -> str:
    """A fault as seen from a hook that it costs."""
    if fault.path == entry.path:
        return f"it {fault.reason}"
    length = len(host.shape.root) + 1
    if fault.path == entry.path[: len(fault.path)] and len(fault.path) >= length:
        return f"its {'event' if len(fault.path) == length else 'group'} {fault.reason}"
    return loading.describe(document, fault)


def _suggest_event(host: Host, event: str) -> str:
    """The event that was meant: by another agent's name, or in another spelling."""
    for short, name in EVENTS.items():
        if event in (short, name) and host.events.get(short):
            return f"{host.title} calls it {host.events[short]}"
    meant = nearest(event, host.handlers.events).strip()
    return meant and f"{meant[0].lower()}{meant[1:]}"
