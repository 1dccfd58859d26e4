"""Is what we wrote still there, once, and as we wrote it? And does it still do what it is for?"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator

from hookctl import clock, engine
from hookctl.checks import Finding, Scene, cap, handlers
from hookctl.hosts.shapes import event_of
from hookctl.masking import masked
from hookctl.model import Element, Entry, Live
from hookctl.packs import guard
from hookctl.packs.wrapping import wraps
from hookctl.places import GUARD


def check(scene: Scene) -> Iterator[Finding]:
    """The entries of one settings file against the ledger."""
    live = scene.live
    if live is None:
        return
    live = live._replace(elements=tuple(element for element in live.elements if not wraps(element.id)))
    yield from _unknown(scene, live)
    yield from _doubled(scene, live)
    yield from _disarmed(scene, live)
    record = scene.record
    if record is None:
        return
    ours = [entry for entry in record.entries if entry.kind != "container" and entry.mode == "owned"]
    ours = [entry for entry in ours if not wraps(entry.id)]  # wrapped.py looks at those
    if engine.wiped(ours, live):
        yield _wiped(scene, len(ours))
        return
    for entry in ours:
        yield from _one(scene, live, entry)


def _wiped(scene: Scene, count: int) -> Finding:
    when = ""
    with contextlib.suppress(OSError, ValueError, OverflowError):  # there may be no file any more
        when = f", and the file was written at {clock.local(os.stat(scene.path).st_mtime)}"
    message = f"{count} of {count} entries are gone{when}: was the file reset?"
    fix = "`hookctl doctor --fix` writes them again; restart agents that run, since they may write old settings back."
    if scene.place.shared:
        message += " Or is it not committed with .hookctl/?"
        fix = f"`hookctl doctor --fix` writes the guard's again; of other packs only `{scene.install}` does."
    return scene.find("entries_wiped", "error", message, fix)


def _one(scene: Scene, live: Live, entry: Entry) -> Iterator[Finding]:
    at = engine.state(entry, live, entry.path, entry.id)
    name = entry.id or entry.path[-1]
    install = scene.install_of(next(iter(entry.owners)))
    if at == "missing":
        message = f"{name} is missing; somebody removed it"
        yield scene.find("entry_missing", "warning", message, f"`{install} --force` writes it again.")
    elif at == "overridden" and not _why_disarmed(scene, live, entry.id) and not cap.at_fault(scene, entry.path):
        message = f"{name} is not as it was written{_what(live, entry)}; it is yours now and stays"
        yield scene.find("entry_edited", "warning", message, f"`{install} --force` makes it as it was.")


def _what(live: Live, entry: Entry) -> str:
    if not entry.id:
        values = (masked(value, str(entry.path[-1])) for value in (live.values[entry.path], entry.written))
        return " ({} instead of {})".format(*(json.dumps(value, ensure_ascii=False) for value in values))
    fields = next(element.fields for element in live.elements if element.id == entry.id)
    names = [name for name in {**entry.written, **fields} if fields.get(name) != entry.written.get(name)]
    return f" ({', '.join(names)} changed)"


def _doubled(scene: Scene, live: Live) -> Iterator[Finding]:
    ids = [element.id for element in live.elements]
    for id in sorted({id for id in ids if ids.count(id) > 1}):
        places = ", ".join(".".join(map(str, e.path)) for e in live.elements if e.id == id)
        message = f"{id} is registered {ids.count(id)} times ({places}), so it runs that often"
        fix = "Remove all but one; `hookctl doctor --fix` does, where their command is ours word for word."
        yield scene.find("entry_doubled", "error", message, fix)


def _disarmed(scene: Scene, live: Live) -> Iterator[Finding]:
    """Hooks of ours that the host runs no more, or not in the way that they need."""
    for element in live.elements:
        why = _why(scene, element)
        if why:
            message = f"{element.id} was edited so that it does not work: {why}"
            fix = f"`{scene.install_of(element.id.partition('/')[0])} --force` makes it as it was."
            yield scene.find("entry_disarmed", "warning", message, fix)


def _why_disarmed(scene: Scene, live: Live, id: str) -> str:
    return next((why for element in live.elements if element.id == id and (why := _why(scene, element))), "")


def _why(scene: Scene, element: Element) -> str:
    event, (pack, _, name) = event_of(scene.host.shape, element.path), element.id.partition("/")
    wanted = scene.host.events.get(name) if pack == GUARD else None
    if wanted and event != wanted:
        return f"it is registered on {event}, and not on {wanted}"
    return handlers.disarmed(scene.host, event, element.fields, blocks=pack == GUARD)


def _unknown(scene: Scene, live: Live) -> Iterator[Finding]:
    """Elements that carry our mark although the ledger has no page for them."""
    known = {entry.id for entry in scene.record.entries} if scene.record else set()
    for element in live.elements:
        pack, _, event = element.id.partition("/")
        if element.id in known:
            continue
        if pack != GUARD:
            message = f"{element.id} stands here, but the ledger does not know it"
            fix = f"`hookctl install PACK --host {scene.host.name}` with the pack's file takes it back; or remove it."
            yield scene.find("orphan_hook", "warning", message, fix)
        elif guard.hook_path(str(element.fields.get("command")), element.id, event, scene.place):
            yield _lost(scene, element.id)
        else:
            message = f"an edited copy of {element.id} stands here; hookctl leaves it alone"
            fix = f"`{scene.install} --force` puts the hook in its place."
            yield scene.find("edited_copy", "warning", message, fix)


def _lost(scene: Scene, id: str) -> Finding:
    message, fix = f"{id} stands here, but the ledger does not know it", "`hookctl doctor --fix` makes its page again."
    if scene.place.shared:
        message += ": was .hookctl/ not committed with it?"
        fix = f"Commit .hookctl/ where it was installed; or `{scene.install}` makes it again here."
    return scene.find("ledger_missing", "error", message, fix)
