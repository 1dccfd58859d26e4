"""Is what we wrote still there, once, and as we wrote it?"""

from __future__ import annotations

import json
from collections.abc import Iterator

from hookctl import engine
from hookctl.checks import Finding, Scene
from hookctl.masking import masked
from hookctl.model import Entry, Live
from hookctl.packs import guard


def check(scene: Scene) -> Iterator[Finding]:
    """The entries of one settings file against the ledger."""
    live = scene.live
    if live is None:
        return
    yield from _unknown(scene, live)
    yield from _doubled(scene, live)
    record = scene.record
    if record is None:
        return
    ours = [entry for entry in record.entries if entry.kind != "container" and entry.mode == "owned"]
    if engine.wiped(ours, live):
        message = f"{len(ours)} of {len(ours)} entries are gone: was the file reset?"
        fix = _install(scene, "writes them again; restart agents that run, since they may write old settings back")
        yield scene.find("entries_wiped", "error", message, fix)
        return
    for entry in ours:
        yield from _one(scene, live, entry)


def _install(scene: Scene, what: str, option: str = "") -> str:
    return f"`{scene.install}{option}` {what}."


def _one(scene: Scene, live: Live, entry: Entry) -> Iterator[Finding]:
    at = engine.state(entry, live, entry.path, entry.id)
    name = entry.id or entry.path[-1]
    if at == "missing":
        message = f"{name} is missing; somebody removed it"
        yield scene.find("entry_missing", "warning", message, _install(scene, "writes it again", " --force"))
    elif at == "overridden":
        message = f"{name} is not as it was written{_what(live, entry)}; it is yours now and stays"
        yield scene.find("entry_edited", "warning", message, _install(scene, "makes it as it was", " --force"))


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
        yield scene.find("entry_doubled", "error", message, "Remove all but one.")


def _unknown(scene: Scene, live: Live) -> Iterator[Finding]:
    """Elements that carry our mark although the ledger has no page for them."""
    known = {entry.id for entry in scene.record.entries} if scene.record else set()
    for element in live.elements:
        if element.id in known or not element.id.startswith("guard/"):
            continue
        command, event = str(element.fields.get("command")), element.id.partition("/")[2]
        if guard.hook_path(command, element.id, event, scene.place):
            message = f"{element.id} stands here, but the ledger does not know it"
            yield scene.find("ledger_missing", "error", message, _install(scene, "takes it back"))
        else:
            message = f"an edited copy of {element.id} stands here; hookctl leaves it alone"
            fix = _install(scene, "puts the hook in its place", " --force")
            yield scene.find("edited_copy", "warning", message, fix)
