"""Empty groups that keep the position of the hooks behind them: which are ours, which may go.

Some hosts know a hook by its position (their shape has `positions`). There an empty group, a
placeholder, stays where a hook was. It goes with the last pack that stands behind it. Behind hooks
of others it stays, and nothing remembers it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hookctl.documents import Document
from hookctl.hosts import Host, shapes
from hookctl.model import CloseGap, Decision, Path


def placeholders_after(
    known: Iterable[Path], host: Host, before: Document, after: Document
) -> tuple[Path, ...]:
    """Our placeholders after an edit, by their arrays: the known ones and those the edit made."""
    existing = Counter(shapes.gaps(host.shape, before.value))
    remaining = Counter(shapes.gaps(host.shape, after.value))
    ours = (Counter(known) + remaining - existing) & remaining
    return tuple(sorted(ours.elements()))


def close_placeholders(
    host: Host, document: Document, decision: Decision, known: Iterable[Path]
) -> Decision:
    """The decision, extended to remove our placeholders that nothing stands behind any more."""
    edited = shapes.apply(host.shape, document, decision.edits)
    # Those that the decision itself makes count too.
    ours = Counter(placeholders_after(known, host, document, edited))
    edits = list(decision.edits)
    for path, count in ours.items():
        removable = min(count, shapes.gaps_at_the_end(edited, path))
        edits += [CloseGap(path)] * removable
    return decision._replace(edits=tuple(edits))
