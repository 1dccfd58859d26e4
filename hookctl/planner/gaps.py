"""Empty groups that keep the place of hooks behind them, where a host knows hooks by their place: which are ours.

One goes with the last pack that stands behind it; behind hooks of others it stays, and nothing remembers it. All of it
is for hosts whose shape has `positions`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hookctl.documents import Document
from hookctl.hosts import Host, shapes
from hookctl.model import CloseGap, Decision, Path


def left(known: Iterable[Path], host: Host, before: Document, after: Document) -> tuple[Path, ...]:
    """Our gaps after an edit, by the arrays that they are in: those of before, and those that it has made."""
    there, then = (
        Counter(shapes.gaps(host.shape, before.value)),
        Counter(shapes.gaps(host.shape, after.value)),
    )
    return tuple(sorted(((Counter(known) + then - there) & then).elements()))


def closing(host: Host, document: Document, decision: Decision, known: Iterable[Path]) -> Decision:
    """The same, and our gaps that nothing stands behind any more go, those that the decision itself makes too."""
    edited = shapes.apply(host.shape, document, decision.edits)
    mine = Counter(left(known, host, document, edited))
    going = {path: min(count, shapes.gaps_at_the_end(edited, path)) for path, count in mine.items()}
    edits = [CloseGap(path) for path, count in going.items() for _ in range(count)]
    return decision._replace(edits=(*decision.edits, *edits))
