"""Wrapping another tool's Stop hook: its command is replaced by ours that runs it, and put back at the end.

The hook stays that tool's or the operator's: nothing but its command is ever touched.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from hookctl.documents import MISSING
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import USAGE, HookctlError
from hookctl.hosts import shapes
from hookctl.masking import masked_text
from hookctl.model import Action, Decision, Edit, Element, Entry, Path, Put, Wish
from hookctl.packs import wrapping
from hookctl.places import GUARD, Place


class Wrapped(NamedTuple):
    """What happens to wrapped hooks; `others` are the entries that are none."""

    others: tuple[Entry, ...]
    edits: tuple[Edit, ...] = ()
    entries: tuple[Entry, ...] = ()
    actions: tuple[Action, ...] = ()
    kept: tuple[Action, ...] = ()

    def beside(self, decision: Decision) -> Decision:
        """The decision on all entries, of which the engine knows the others only."""
        return decision._replace(
            edits=(*self.edits, *decision.edits),
            entries=(*decision.entries, *self.entries),
            actions=(*self.actions, *decision.actions),
            kept=(*self.kept, *decision.kept),
        )


class Asked(NamedTuple):
    """What is asked of an install."""

    text: str | None  # part of the command that is to be wrapped; empty: none any more; None: as it is
    version: str
    folder: str
    python: str
    force: bool = False


def unwrap(document: JsonDocument, entries: Iterable[Entry]) -> Wrapped:
    """Every wrapped hook with its own command again, byte for byte where the ledger knows it."""
    known, others = _split(entries)
    edits, actions, kept = [], [], []
    for element in _elements(document):
        original, entry = wrapping.original_of(str(element.fields["command"])), known.get(element.id)
        if original is None:
            reason = "its command was edited, so it stays; without our file it runs by itself"
            kept.append(_line("keep", element.path[:2], element.id, "edited copy", "edited copy", reason))
        else:
            edits.append(Put((*element.path, "command"), raw=_source(entry, original)))
            reason = f"back to {masked_text(original)}"
            actions.append(_line("replace", element.path[:2], element.id, "owned", "foreign", reason))
    gone = known.keys() - {element.id for element in _elements(document)}
    actions += [_line("drop", known[id].path, id, "missing", "free", "it was gone already") for id in sorted(gone)]
    return Wrapped(others, tuple(edits), (), tuple(actions), tuple(kept))


def wrap(document: JsonDocument, entries: Iterable[Entry], place: Place, wish: Asked) -> Wrapped:
    """The hooks that are wrapped already, brought up to date, and the one that the operator names.

    A usage error says which hooks there are, if the text names none or several.
    """
    if wish.text == "":
        return unwrap(document, entries)
    known, others = _split(entries)
    found = Wrapped(others)
    for element in _elements(document):
        found = _renew(found, document, place, wish, element, known.pop(element.id, None))
    event = place.host.events["stop"]
    for id, entry in sorted(known.items()):
        original = wrapping.original_of(entry.written["command"])
        again = [path for path, command in _foreign(document, event) if command == original]
        if again:
            found = _put_on(found, document, place, wish, again, str(original), "its tool has registered it anew")
        else:
            line = _line("drop", entry.path, id, "missing", "free", "the hook that it wrapped is gone")
            found = found._replace(actions=(*found.actions, line))
    if wish.text and not any(_names(wish.text, entry) for entry in found.entries):
        paths, original = _chosen(document, event, wish.text)
        found = _put_on(found, document, place, wish, paths, original, "")
    return found


def _split(entries: Iterable[Entry]) -> tuple[dict[str, Entry], tuple[Entry, ...]]:
    known = {entry.id: entry for entry in entries if wrapping.wraps(entry.id)}
    return known, tuple(entry for entry in entries if not wrapping.wraps(entry.id))


def _elements(document: JsonDocument) -> list[Element]:
    root = {} if document.value is MISSING else document.value
    return [element for element in shapes.elements(root) if wrapping.wraps(element.id)]


def _source(entry: Entry | None, original: str) -> str:
    """The command as it stood in the file."""
    if entry is not None and entry.before is not None and json.loads(entry.before) == original:
        return entry.before
    return json.dumps(original, ensure_ascii=False)


def _line(action: str, path: Path, id: str, before: str, after: str, reason: str) -> Action:
    return Action(action, path, "element", id, before, after, reason, (GUARD,))


def _entry(place: Place, wish: Asked, path: Path, fields: dict[str, Any], original: str, raw: str) -> Entry:
    text = wrapping.command(original, place, wish.folder, wish.python)
    written = {**fields, "command": text}
    owners = {GUARD: Wish(written, wish.version)}
    return Entry(path[:2], "element", "owned", raw, written, owners, wrapping.id_of(original))


def _renew(
    found: Wrapped, document: JsonDocument, place: Place, wish: Asked, element: Element, entry: Entry | None
) -> Wrapped:
    """A wrapped hook that is there: as this version, folder and Python want it; left alone where it was edited."""
    text = str(element.fields["command"])
    recorded = wrapping.original_of(entry.written["command"]) if entry else None
    original = wrapping.original_of(text) or (recorded if wish.force else None)
    if original is None:
        reason = "its command was edited, so it stays; --force puts ours back"
        kept = _line("keep", element.path[:2], element.id, "overridden", "overridden", reason)
        return found._replace(kept=(*found.kept, kept), entries=(*found.entries, *((entry,) if entry else ())))
    renewed = _entry(place, wish, element.path, element.fields, original, _source(entry, original))
    found = found._replace(entries=(*(one for one in found.entries if one.id != renewed.id), renewed))
    if renewed.written["command"] == text and entry:
        return found
    word, reason = ("replace", "as this version wants it") if entry else ("take-back", "the ledger did not know it")
    line = _line(word, element.path[:2], element.id, "owned" if entry else "orphan", "owned", reason)
    edits = [Put((*element.path, "command"), renewed.written["command"])] if renewed.written["command"] != text else []
    return found._replace(edits=(*found.edits, *edits), actions=(*found.actions, line))


def _put_on(
    found: Wrapped, document: JsonDocument, place: Place, wish: Asked, paths: list[Path], original: str, why: str
) -> Wrapped:
    """The guard's command in place of `original` at these paths."""
    raw = document.raw((*paths[0], "command"))
    entry = _entry(place, wish, paths[0], dict(document.get(paths[0])), original, raw)
    edits = [Put((*path, "command"), entry.written["command"]) for path in paths]
    reason = "; ".join(filter(None, [f"it wraps {masked_text(original)}", why]))
    line = _line("replace", entry.path, entry.id, "foreign", "owned", reason)
    return found._replace(edits=(*found.edits, *edits), entries=(*found.entries, entry), actions=(*found.actions, line))


def _foreign(document: JsonDocument, event: str) -> list[tuple[Path, str]]:
    """The commands of other tools' hooks on an event, and where they stand."""
    root = {} if document.value is MISSING else document.value
    found = []
    for path, handler, _ in shapes.handlers(root):
        text = handler.get("command")
        if path[1] == event and isinstance(text, str) and handler.get("type", "command") == "command":
            found += [] if shapes.is_ours(text) else [(path, text)]
    return found


def _names(text: str, entry: Entry) -> bool:
    return text in str(wrapping.original_of(entry.written["command"]))


def _chosen(document: JsonDocument, event: str, text: str) -> tuple[list[Path], str]:
    """The one hook that a text names, everywhere it stands on the event."""
    there = _foreign(document, event)
    hits = list(dict.fromkeys(command for _, command in there if text in command))
    if len(hits) != 1:
        listed = "".join(f"\n  {masked_text(command)}" for _, command in there)
        hint = f"Give a part of one of these commands:{listed}" if there else f"There is no other hook on {event}."
        which = "several hooks" if hits else "no hook"
        raise HookctlError("usage", f"--wrap {text!r} names {which}", path=document.where, hint=hint, exit_code=USAGE)
    paths = [path for path, command in there if command == hits[0]]
    for path in paths:
        _require_plain(document, path, hits[0])
    return paths, hits[0]


def _require_plain(document: JsonDocument, path: Path, original: str) -> None:
    """Refuse what a shell's command line cannot stand in for."""
    handler = document.get(path)
    odd = next((name for name in ("args", "async", "asyncRewake") if handler.get(name)), "")
    odd = odd or ("shell" if handler.get("shell") not in (None, "sh", "bash") else "")
    if odd or "\0" in original:
        line, column = document.position(path)
        message, hint = f"this hook cannot be wrapped, because of its {odd or 'command'}", "Wrap plain commands only."
        raise HookctlError(
            "usage", message, path=document.where, line=line, column=column, hint=hint, exit_code=USAGE
        )  # fmt: skip
