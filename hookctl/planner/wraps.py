"""Wrapping another tool's Stop hook: its command is replaced by ours that runs it, and put back at the end.

The hook stays that tool's or the operator's: nothing but its command is ever touched.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from hookctl.documents import MISSING, Document
from hookctl.errors import USAGE, HookctlError
from hookctl.hosts import Host, shapes
from hookctl.masking import masked_text
from hookctl.model import Action, Claim, Decision, Entry, HookEntry, Path, Put
from hookctl.packs import wrapping
from hookctl.planner.draft import Draft
from hookctl.settings.targets import GUARD, Target


class Asked(NamedTuple):
    """What is asked of an install."""

    text: (
        str | None
    )  # part of the command that is to be wrapped; empty: none any more; None: as it is
    version: str
    folder: str
    python: str
    force: bool = False


def unwrap(draft: Draft) -> None:
    """Give every wrapped hook its own command again, byte for byte where the ledger knows it."""
    visible = _wraps(draft)
    known = {entry.id: entry for entry in visible}
    edits, actions, kept = [], [], []
    elements = _elements(draft.host, draft.document)
    for element in elements:
        original, entry = (
            wrapping.original_of(str(element.fields["command"])),
            known.get(element.id),
        )
        if original is None:
            reason = "its command was edited, so it stays; without our file it runs by itself"
            kept.append(
                _line("keep", element.path[:2], element.id, "edited copy", "edited copy", reason)
            )
        else:
            edits.append(Put((*element.path, "command"), raw=_source(entry, original)))
            reason = f"back to {masked_text(original)}"
            actions.append(
                _line("replace", element.path[:2], element.id, "owned", "foreign", reason)
            )
    gone = known.keys() - {element.id for element in elements}
    actions += [
        _line("drop", known[id].path, id, "missing", "free", "it was gone already")
        for id in sorted(gone)
    ]
    draft.take(Decision(tuple(edits), (), tuple(actions), tuple(kept)), visible)


def wrap(draft: Draft, claim: Asked) -> bool:
    """Bring the hooks that are wrapped already up to date, and wrap the one that the operator names.

    Whether any hook is wrapped then. A usage error says which hooks there are, if the text names none or several.
    """
    if claim.text == "":
        unwrap(draft)
        return bool(_wraps(draft))
    if claim.text and not draft.host.registration.wraps:
        message = f"--wrap is not proven for {draft.host.title}, so nothing is wrapped there"
        hint = "Leave --wrap out; the guard ends chains without progress by itself where the host lets it."
        raise HookctlError("usage", message, hint=hint, exit_code=USAGE)
    visible, elements = _wraps(draft), _elements(draft.host, draft.document)
    if not visible and not elements and not claim.text:
        return False
    wraps = _Wraps(draft.document, draft.target, claim, {entry.id: entry for entry in visible})
    for element in elements:
        wraps.renew(element)
    for entry in visible:
        wraps.follow(entry)
    if claim.text:
        wraps.add(claim.text)
    entries = tuple(wraps.entries.values())
    draft.take(
        Decision(tuple(wraps.edits), entries, tuple(wraps.actions), tuple(wraps.kept)), visible
    )
    return bool(entries)


def entries_but_wraps(draft: Draft) -> tuple[Entry, ...]:
    """The entries that are a pack's own, without those of other tools' hooks."""
    return draft.visible_entries(
        [entry for entry in draft.own_entries() if not wrapping.wraps(entry.id)]
    )


def _wraps(draft: Draft) -> tuple[Entry, ...]:
    return tuple(entry for entry in draft.entries if wrapping.wraps(entry.id))


class _Wraps:
    """The entries and edits of one settings file while its wraps are being planned."""

    def __init__(
        self, document: Document, target: Target, claim: Asked, known: dict[str, Entry]
    ) -> None:
        self.document, self.target, self.claim, self.known = document, target, claim, known
        self.foreign = _foreign(document, target.host)
        self.entries: dict[str, Entry] = {}
        self.edits: list[Put] = []
        self.actions: list[Action] = []
        self.kept: list[Action] = []

    def renew(self, element: HookEntry) -> None:
        """A wrapped hook that is there: as this version, folder and Python want it; left alone where it was edited."""
        text, entry = str(element.fields["command"]), self.known.get(element.id)
        original = wrapping.original_of(text)
        if original is None and entry and self.claim.force:
            original = wrapping.original_of(entry.written["command"])
        if original is None:
            reason = "its command was edited, so it stays" + (
                "; --force puts ours back" if entry else ""
            )
            self.kept.append(
                _line("keep", element.path[:2], element.id, "overridden", "overridden", reason)
            )
            if entry:
                self.entries.setdefault(element.id, entry)
            return
        renewed = self._entry(element.path, original, _source(entry, original))
        self.entries[renewed.id] = renewed
        command = renewed.written["command"]
        if command != text:
            self.edits.append(Put((*element.path, "command"), command))
        if entry is None:
            self._act("take-back", renewed, ("orphan", "owned"), "the ledger did not know it")
        elif command != text:
            ours = wrapping.original_of(text) is not None
            reason = "as this version wants it" if ours else f"took over your {masked_text(text)}"
            self._act("replace", renewed, ("owned" if ours else "overridden", "owned"), reason)

    def follow(self, entry: Entry) -> None:
        """A wrapped hook whose tool has registered it anew is wrapped again; one that is gone is forgotten."""
        original = wrapping.original_of(entry.written["command"])
        if original is not None and self._plain(original):
            self._put_on(original, "its tool has registered it anew")
        elif entry.id not in self.entries:
            self._act("drop", entry, ("missing", "free"), "the hook that it wrapped is gone")

    def add(self, text: str) -> None:
        """Wrap the one hook that a text names, unless it is wrapped."""
        wrapped = [
            wrapping.original_of(entry.written["command"]) for entry in self.entries.values()
        ]
        there = list(
            dict.fromkeys([*(command for _, command in self.foreign), *filter(None, wrapped)])
        )
        hits = [text] if text in there else [command for command in there if text in command]
        if len(hits) != 1:
            raise self._ambiguous(text, there, "several hooks" if hits else "no hook")
        if hits[0] in wrapped:
            return
        if not self._plain(hits[0]):
            raise self._not_plain(hits[0])
        self._put_on(hits[0], "")

    def _plain(self, original: str) -> list[tuple[Path, str]]:
        """Each place of a command that a shell's command line can stand in for, with the command."""
        return [
            one
            for one in self.foreign
            if one[1] == original and not _odd(self.document.get(one[0]), original)
        ]

    def _put_on(self, original: str, why: str) -> None:
        """The guard's command in place of a hook's own, everywhere that stands on the event."""
        paths = [path for path, _ in self._plain(original)]
        entry = self.known.get(wrapping.id_of(original))
        raw = _source(entry, original) if entry else self.document.raw((*paths[0], "command"))
        entry = self._entry(paths[0], original, raw)
        self.entries[entry.id] = entry
        self.edits += [Put((*path, "command"), entry.written["command"]) for path in paths]
        reason = "; ".join(filter(None, [f"it wraps {masked_text(original)}", why]))
        self._act("replace", entry, ("foreign", "owned"), reason)

    def _entry(self, path: Path, original: str, raw: str) -> Entry:
        """Of the element only the command is ours, so nothing else of it is on record."""
        written = {
            "command": wrapping.command(original, self.target, self.claim.folder, self.claim.python)
        }
        owners = {GUARD: Claim(written, self.claim.version)}
        return Entry(path[:2], "element", "owned", raw, written, owners, wrapping.id_of(original))

    def _act(self, action: str, entry: Entry, states: tuple[str, str], reason: str) -> None:
        self.actions.append(_line(action, entry.path, entry.id, *states, reason))

    def _ambiguous(self, text: str, there: list[str], which: str) -> HookctlError:
        listed = "".join(f"\n  {masked_text(command)}" for command in there)
        hint = f"Give a part of one of these commands:{listed}"
        hint = hint if there else f"There is no other hook on {self.target.host.events['stop']}."
        message = f"--wrap {masked_text(text)!r} names {which}"
        return HookctlError("usage", message, path=self.document.where, hint=hint, exit_code=USAGE)

    def _not_plain(self, original: str) -> HookctlError:
        path = next(path for path, command in self.foreign if command == original)
        message = (
            f"this hook cannot be wrapped, because of its {_odd(self.document.get(path), original)}"
        )
        line, column = self.document.position(path)
        where = self.document.where
        hint = "Wrap plain commands only."
        return HookctlError(
            "usage", message, path=where, line=line, column=column, hint=hint, exit_code=USAGE
        )


def _elements(host: Host, document: Document) -> list[HookEntry]:
    root = {} if document.value is MISSING else document.value
    return [element for element in shapes.elements(host.shape, root) if wrapping.wraps(element.id)]


def _foreign(document: Document, host: Host) -> list[tuple[Path, str]]:
    """The commands of other tools' hooks on the stop event, and where they stand."""
    root = {} if document.value is MISSING else document.value
    found = []
    for path, handler, _ in shapes.handlers(host.shape, root):
        text = handler.get("command")
        plain = isinstance(text, str) and handler.get("type", "command") == "command"
        if (
            plain
            and shapes.event_of(host.shape, path) == host.events["stop"]
            and not shapes.is_ours(text)
        ):
            found.append((path, text))
    return found


def _source(entry: Entry | None, original: str) -> str:
    """The command as it stood in the file."""
    if entry is not None and entry.before is not None:
        with contextlib.suppress(ValueError):
            if json.loads(entry.before) == original:
                return entry.before
    return json.dumps(original, ensure_ascii=False)


def _line(action: str, path: Path, id: str, before: str, after: str, reason: str) -> Action:
    return Action(action, path, "element", id, before, after, reason, (GUARD,))


def _odd(handler: Mapping[str, Any], original: str) -> str:
    """What of a hook a shell's command line cannot stand in for; empty if it can."""
    if "args" in handler:
        return "args"
    if handler.get("shell") not in (None, "sh", "bash"):
        return "shell"
    woken = next((name for name in ("async", "asyncRewake") if handler.get(name)), "")
    return woken or ("command" if "\0" in original else "")
