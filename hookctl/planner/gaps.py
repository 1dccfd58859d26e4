"""Empty groups that keep the place of hooks behind them, where a host knows hooks by their place: which are ours.

One goes with the last pack that stands behind it; behind hooks of others it stays, and nothing remembers it.
"""

from __future__ import annotations

from collections import Counter

from hookctl.documents import Document
from hookctl.hosts import Host, shapes
from hookctl.model import CloseGap, Decision, Path, Record


def left(record: Record | None, host: Host, before: Document, after: Document) -> tuple[Path, ...]:
    """Our gaps after an edit, by the arrays that they are in: those of before, and those that it has made."""
    there, then = Counter(shapes.gaps(host.shape, before.value)), Counter(shapes.gaps(host.shape, after.value))
    known = Counter(record.gaps if record else ())
    return tuple(sorted(((known + then - there) & then).elements()))


def closing(gaps: tuple[Path, ...], decision: Decision) -> Decision:
    """The same, and the gaps that nothing stands behind any more go."""
    return decision._replace(edits=(*decision.edits, *map(CloseGap, gaps))) if decision.edits else decision
