"""Wrapping another tool's Stop hook: its command is replaced by ours that runs it, and put back.

The hook stays that tool's or the operator's: only its command is ever touched.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping
from typing import Any

from hookctl.documents import MISSING, Document
from hookctl.errors import USAGE, HookctlError
from hookctl.hosts import Host, shapes
from hookctl.masking import masked_text
from hookctl.model import WRAP, Action, Claim, Decision, Entry, HookEntry, Path, Put
from hookctl.ownership.draft import Draft
from hookctl.packs import wrapping
from hookctl.settings.targets import GUARD

# What a host that expands variables takes for one.
_VARIABLE = re.compile(r"\$(?:\w|\{)")
# A command that a shell splits into the same words as a host without one.
_WORD = r"""(?:[\w@%+=:,./-]|'[^']*'|"[^"$`\\]*")+"""
_PLAIN = re.compile(rf"(?![^ \t]*=)(?:~(?=/))?{_WORD}(?:[ \t]+{_WORD})*")


def unwrap_hooks(draft: Draft) -> None:
    """Give every wrapped hook its own command again, byte for byte where the ledger knows it."""
    known = _wrap_entries(draft)
    edits, actions = [], []
    hooks = _wrapped_hooks(draft.host, draft.document)
    for hook in hooks:
        original = wrapping.original_of(str(hook.fields["command"]))
        path = _list_path(draft.host, hook.path)
        if original is None:
            reason = "its command was edited, so it stays; without our file it runs by itself"
            actions.append(_line("keep", path, hook.id, "edited copy", "edited copy", reason))
            continue
        field = (*hook.path, "command")
        edits.append(Put(field, raw=_source(draft.document, field, known.get(hook.id), original)))
        reason = f"back to {masked_text(original)}"
        actions.append(_line("replace", path, hook.id, "owned", "foreign", reason))
    for id in sorted(known.keys() - {hook.id for hook in hooks}):
        path = known[id].path
        actions.append(_line("drop", path, id, "missing", "free", "it was gone already"))
    decision = Decision(tuple(edits), (), tuple(actions))  # none is ours any more
    draft.apply_decision(decision, tuple(known.values()))


def wrap_hooks(
    draft: Draft, text: str | None, version: str, config: str, python: str, *, force: bool
) -> bool:
    """Bring wrapped hooks up to date and wrap the one with this text; whether any is wrapped then.

    With '' all are unwrapped. A usage error lists the hooks of the file, if the text names none or
    several.
    """
    if text == "":
        unwrap_hooks(draft)
        return bool(_wrap_entries(draft))
    if text and not draft.host.registration.wraps:
        message = f"--wrap is not proven for {draft.host.title}, so nothing is wrapped there"
        raise HookctlError("usage", message, hint="Leave --wrap out.", exit_code=USAGE)
    wraps = _Wraps(draft, version, config, python)
    for hook in _wrapped_hooks(draft.host, draft.document):
        wraps.renew(hook, force=force)
    for entry in wraps.known.values():
        wraps.follow(entry)
    if text:
        wraps.add(text)
    entries = tuple(wraps.entries.values())
    decision = Decision(tuple(wraps.edits), entries, tuple(wraps.actions))
    draft.apply_decision(decision, tuple(wraps.known.values()))
    return bool(wraps.entries)


def _wrap_entries(draft: Draft) -> dict[str, Entry]:
    entries = [entry for entry in draft.entries if entry.id.startswith(WRAP)]
    return {entry.id: entry for entry in entries if entry.id not in draft.taken}


class _Wraps:
    """The entries and edits of one settings file while its wraps are being planned."""

    def __init__(self, draft: Draft, version: str, config: str, python: str) -> None:
        self.document, self.host, self.target = draft.document, draft.host, draft.target
        self.version, self.config, self.python = version, config, python
        self.known = _wrap_entries(draft)
        self.foreign = _foreign_commands(self.host, self.document.value)
        self.entries: dict[str, Entry] = {}
        self.edits: list[Put] = []
        self.actions: list[Action] = []

    def renew(self, hook: HookEntry, *, force: bool) -> None:
        """Bring a wrapped hook up to date; leave it alone where its command was edited."""
        command, taken = str(hook.fields["command"]), ""
        original, entry = wrapping.original_of(command), self.known.get(hook.id)
        if original is None and entry and force:
            original = wrapping.original_of(entry.written["command"])
            taken = f"took over your {masked_text(command)}"
        if original is not None:
            self._wrap([hook.path], original, taken)
            return
        reason = "its command was edited, so it stays"
        if entry:
            reason += "; --force puts ours back"
            self.entries.setdefault(hook.id, entry)
        path = _list_path(self.host, hook.path)
        self.actions.append(_line("keep", path, hook.id, "overridden", "overridden", reason))

    def follow(self, entry: Entry) -> None:
        """Wrap a hook again that its tool has registered anew; forget one that is gone."""
        original = wrapping.original_of(entry.written["command"])
        paths = self._wrappable_paths(original)
        if original is not None and paths:
            self._wrap(paths, original)
        elif entry.id not in self.entries:
            reason = "the hook that it wrapped is gone"
            self.actions.append(_line("drop", entry.path, entry.id, "missing", "free", reason))

    def add(self, text: str) -> None:
        """Wrap the one hook that a text names, unless it is wrapped."""
        commands = dict.fromkeys(command for _, command in self.foreign)
        for entry in self.entries.values():
            commands[wrapping.original_of(entry.written["command"])] = None
        matches = [command for command in commands if command and text in command]
        if text in commands:
            matches = [text]
        if len(matches) != 1:
            raise self._ambiguous(text, [*filter(None, commands)], "several" if matches else "no")
        (original,) = matches
        if wrapping.id_of(original) in self.entries:
            return
        paths = self._wrappable_paths(original)
        if not paths:
            raise self._not_wrappable(original)
        self._wrap(paths, original)

    def _wrappable_paths(self, original: str | None) -> list[Path]:
        """The paths of hooks with this command that can be wrapped."""
        paths = [path for path, command in self.foreign if command == original]
        return [path for path in paths if not self._find_obstacle(path)]

    def _find_obstacle(self, path: Path) -> str:
        """What keeps the hook at a path from being wrapped, or ''."""
        host, handler = self.host, self.document.get(path)
        key = _command_key(host, handler)
        original = handler[key]
        if host.registration.expands and _VARIABLE.search(original):
            return f"variables, which {host.title} fills in and the guard cannot"
        if not (host.shape.shell or _PLAIN.fullmatch(original)):
            return f"words: a shell reads them otherwise than {host.title}, which runs none"
        if key == "bash":
            return f"key `bash`: {host.title} runs `command` alike, so call it that"
        if handler.get("shell") not in (None, "sh", "bash"):
            return "shell"
        if "args" in handler:
            return "args"
        for name in ("async", "asyncRewake"):
            if handler.get(name):
                return name
        return "command" if "\0" in original else ""

    def _wrap(self, paths: list[Path], original: str, taken: str = "") -> None:
        """Have hooks with a command run it through the guard, as this version wants it."""
        id, path = wrapping.id_of(original), _list_path(self.host, paths[0])
        known, field = self.known.get(id), (*paths[0], "command")
        command = wrapping.command(original, self.target, self.config, self.python)
        written = {"command": command}
        owners = {GUARD: Claim(written, self.version)}
        raw = _source(self.document, field, known, original)
        self.entries[id] = Entry(path, "element", "owned", raw, written, owners, id)
        text = shapes.as_written(self.host.shape, written)["command"]
        changed = [one for one in paths if self.document.get((*one, "command")) != text]
        self.edits += [Put((*one, "command"), text) for one in changed]
        reason = taken or f"it wraps {masked_text(original)}"
        if changed:
            state = "owned" if known else "foreign"
            self.actions.append(_line("replace", path, id, state, "owned", reason))
        elif not known:
            reason = "hookctl's record did not have it"
            self.actions.append(_line("take-back", path, id, "orphan", "owned", reason))

    def _ambiguous(self, text: str, commands: list[str], number: str) -> HookctlError:
        hint = f"There is no other hook on {self.host.events['stop']}."
        if commands:
            listed = "".join(f"\n  {masked_text(command)}" for command in commands)
            hint = f"Give a part of one of these commands:{listed}"
        message = f"--wrap {masked_text(text)!r} names {number} hook{'s' * (number != 'no')}"
        return HookctlError("usage", message, path=self.document.where, hint=hint, exit_code=USAGE)

    def _not_wrappable(self, original: str) -> HookctlError:
        path = next(path for path, command in self.foreign if command == original)
        message = f"this hook cannot be wrapped, because of its {self._find_obstacle(path)}"
        hint = "Wrap plain commands only; a script can hold the rest."
        error = self.document.error_at("usage", self.document.offset(path), message, hint)
        error.exit_code = USAGE
        return error


def _list_path(host: Host, path: Path) -> Path:
    """The path of the event's list that contains a hook."""
    return path[: len(host.shape.root) + 1]


def _wrapped_hooks(host: Host, document: Document) -> list[HookEntry]:
    root = {} if document.value is MISSING else document.value
    return [hook for hook in shapes.elements(host.shape, root) if hook.id.startswith(WRAP)]


def _foreign_commands(host: Host, root: Any) -> list[tuple[Path, str]]:
    """The commands of other tools' hooks on the stop event, and where they stand."""
    commands = []
    for path, handler, _ in shapes.handlers(host.shape, {} if root is MISSING else root):
        command = handler.get(_command_key(host, handler))
        if not isinstance(command, str) or handler.get("type", "command") != "command":
            continue
        is_stop = shapes.event_of(host.shape, path) == host.events["stop"]
        if is_stop and not shapes.is_ours(shapes.without_sh(host.shape, command)):
            commands.append((path, command))
    return commands


def _command_key(host: Host, handler: Mapping[str, Any]) -> str:
    """The key of the command that the host runs: `bash` goes before `command` where it is one."""
    return "bash" if "bash" in host.registration.commands and "bash" in handler else "command"


def _source(document: Document, path: Path, entry: Entry | None, original: str) -> str:
    """The source text of the original command, as it stands or stood in the file at this path."""
    if entry is not None and entry.before is not None:
        with contextlib.suppress(HookctlError, ValueError):
            if document.set_raw(path, entry.before).get(path) == original:
                return entry.before
    if document.get(path) == original:
        return document.raw(path)
    return json.dumps(original, ensure_ascii=False)


def _line(action: str, path: Path, id: str, before: str, after: str, reason: str) -> Action:
    """A line of the plan about a wrapped hook, with its state before and after."""
    return Action(action, path, "element", id, before, after, reason, owners=(GUARD,))
