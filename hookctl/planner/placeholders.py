"""Empty groups that keep the position of the hooks behind them: which are ours, which may go.

Some hosts know a hook by its position (their shape has `positions`). There an empty group, a
placeholder, stays where a hook was, as long as another hook stands behind it. The record keeps it
in mind, also without any pack: the next hook of ours goes into it, and the first run that finds
nothing behind it removes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hookctl.documents import Document
from hookctl.hosts import Host, shapes
from hookctl.model import Action, AddHook, CloseGap, Decision, Edit, Entry, Path


def still_in(host: Host, document: Document, known: Iterable[Path]) -> tuple[Path, ...]:
    """The known placeholders, by their arrays, without those that are not there any more."""
    return tuple(sorted((Counter(known) & _count(host, document)).elements()))


def after(known: Iterable[Path], host: Host, before: Document, after: Document) -> tuple[Path, ...]:
    """Our placeholders after an edit, by their arrays: the known ones and those the edit made."""
    remaining = _count(host, after)
    ours = (Counter(known) + remaining - _count(host, before)) & remaining
    return tuple(sorted(ours.elements()))


def settle(
    host: Host, document: Document, decision: Decision, known: Iterable[Path], have: Iterable[Entry]
) -> Decision:
    """The decision, with our placeholders filled by its hooks, or gone if nothing needs them."""
    known = tuple(known)
    edits = _fill(host, document, decision, known)
    edited = shapes.apply(host.shape, document, edits)
    # Those that the decision itself makes count too.
    ours = Counter(after(known, host, document, edited))
    actions = list(decision.actions)
    for path, count in ours.items():
        removable = min(count, shapes.gaps_at_the_end(edited, path))
        edits += (CloseGap(path),) * removable
        ours[path] -= removable
        if removable:
            reason = "our placeholder, with no hook after it"
            actions.append(Action("remove", path, "placeholder", reason=reason))
    entries = list(decision.entries)
    for entry in have:
        is_above = any(path[: len(entry.path)] == entry.path for path in +ours)
        if entry.kind == "container" and is_above and entry not in entries:
            entries.append(entry)
    return decision._replace(edits=edits, entries=tuple(entries), actions=tuple(actions))


def _fill(
    host: Host, document: Document, decision: Decision, known: tuple[Path, ...]
) -> tuple[Edit, ...]:
    """The edits, in which new hooks go into our placeholders, the first ones first."""
    groups = shapes.gaps(host.shape, document.value)
    free: dict[Path, list[Path]] = {}
    for path, count in Counter(known).items():
        # Ours were appended, so other tools' come first.
        free[path] = [group for group in groups if group[:-1] == path][-count:]
    edits: list[Edit] = []
    for edit in decision.edits:
        if isinstance(edit, AddHook) and free.get(edit.path):
            edit = edit._replace(placeholder=free[edit.path].pop(0)[-1])
        edits.append(edit)
    return tuple(edits)


def _count(host: Host, document: Document) -> Counter[Path]:
    """How many placeholders, ours or not, each array has."""
    return Counter(group[:-1] for group in shapes.gaps(host.shape, document.value))
