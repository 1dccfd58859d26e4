"""Wrapping another tool's Stop hook: its command is replaced by ours that runs it, and put back.

The hook stays that tool's or the operator's: only its command is ever touched.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from hookctl.documents import MISSING, Document
from hookctl.errors import USAGE, HookctlError
from hookctl.hosts import Host, shapes
from hookctl.masking import masked_text
from hookctl.model import WRAP, Action, Claim, Decision, Entry, HookEntry, Path, Put
from hookctl.packs import wrapping
from hookctl.planner.draft import Draft
from hookctl.planner.sources import Sources
from hookctl.settings.targets import GUARD, Target, readable

# What a host that expands variables takes for one.
_VARIABLE = re.compile(r"\$(?:\w|\{)")


class WrapRequest(NamedTuple):
    """What an install is asked to wrap, and with which guard."""

    text: str | None  # a part of the command to wrap; '': unwrap all; None: no change
    version: str
    config: str  # the path of the guard's configuration
    python: str
    force: bool = False


def unwrap_hooks(draft: Draft) -> None:
    """Give every wrapped hook its own command again, byte for byte where the ledger knows it."""
    visible = _wrap_entries(draft)
    known = {entry.id: entry for entry in visible}
    edits, actions, kept = [], [], []
    hooks = _wrapped_hooks(draft.host, draft.document)
    for hook in hooks:
        original = wrapping.original_of(str(hook.fields["command"]))
        path = _list_path(draft.host, hook.path)
        if original is None:
            reason = "its command was edited, so it stays; without our file it runs by itself"
            states = ("edited copy", "edited copy")
            kept.append(_line("keep", path, hook.id, states, reason))
            continue
        field = (*hook.path, "command")
        raw = _original_source(draft.document, field, known.get(hook.id), original)
        edits.append(Put(field, raw=raw))
        reason = f"back to {masked_text(original)}"
        actions.append(_line("replace", path, hook.id, ("owned", "foreign"), reason))
    for id in sorted(known.keys() - {hook.id for hook in hooks}):
        states = ("missing", "free")
        actions.append(_line("drop", known[id].path, id, states, "it was gone already"))
    decision = Decision(
        edits=tuple(edits),
        entries=(),  # none of them is ours any more
        actions=tuple(actions),
        kept=tuple(kept),
    )
    draft.apply_decision(decision, visible)


def wrap_hooks(draft: Draft, request: WrapRequest) -> bool:
    """Bring wrapped hooks up to date and wrap the requested one; whether any hook is wrapped then.

    A usage error lists the hooks of the file, if the text names none or several.
    """
    if request.text == "":
        unwrap_hooks(draft)
        return bool(_wrap_entries(draft))
    if request.text and not draft.host.registration.wraps:
        raise _not_proven(draft.host)
    visible, hooks = _wrap_entries(draft), _wrapped_hooks(draft.host, draft.document)
    if not visible and not hooks and not request.text:
        return False
    wraps = _Wraps(draft, request, visible)
    for hook in hooks:
        wraps.renew(hook)
    for entry in visible:
        wraps.follow(entry)
    if request.text:
        wraps.add(request.text)
    draft.apply_decision(wraps.decision(), visible)
    return bool(wraps.entries)


def _wrap_entries(draft: Draft) -> tuple[Entry, ...]:
    return tuple(entry for entry in draft.entries if entry.id.startswith(WRAP))


class _Wraps:
    """The entries and edits of one settings file while its wraps are being planned."""

    def __init__(self, draft: Draft, request: WrapRequest, known: Iterable[Entry]) -> None:
        self.sources, self.document = draft.sources, draft.document
        self.target, self.request = draft.target, request
        self.known = {entry.id: entry for entry in known}
        self.foreign = _foreign_commands(self.target.host, self.document.value)
        self.entries: dict[str, Entry] = {}
        self.edits: list[Put] = []
        self.actions: list[Action] = []
        self.kept: list[Action] = []

    def decision(self) -> Decision:
        """What was planned."""
        entries = tuple(self.entries.values())
        return Decision(tuple(self.edits), entries, tuple(self.actions), tuple(self.kept))

    def renew(self, hook: HookEntry) -> None:
        """Bring a wrapped hook up to date; leave it alone where its command was edited."""
        text, entry = str(hook.fields["command"]), self.known.get(hook.id)
        original = wrapping.original_of(text)
        is_edited = original is None
        if is_edited and entry and self.request.force:
            original = wrapping.original_of(entry.written["command"])
        if original is None:
            self._keep_edited(hook, entry)
            return
        raw = _original_source(self.document, (*hook.path, "command"), entry, original)
        renewed = self._entry_for(hook.path, original, raw)
        self.entries[renewed.id] = renewed
        command = renewed.written["command"]
        if command != text:
            self._put_command(hook.path, command)
        if entry is None:
            self._act("take-back", renewed, ("orphan", "owned"), "hookctl's record did not have it")
        elif command != text and is_edited:
            reason = f"took over your {masked_text(text)}"
            self._act("replace", renewed, ("overridden", "owned"), reason)
        elif command != text:
            self._act("replace", renewed, ("owned", "owned"), "as this version wants it")

    def _put_command(self, path: Path, command: str) -> None:
        fields = shapes.as_written(self.target.host.shape, {"command": command})
        self.edits.append(Put((*path, "command"), fields["command"]))

    def _keep_edited(self, hook: HookEntry, entry: Entry | None) -> None:
        reason = "its command was edited, so it stays"
        if entry:
            reason += "; --force puts ours back"
            self.entries.setdefault(hook.id, entry)
        path = _list_path(self.target.host, hook.path)
        line = _line("keep", path, hook.id, ("overridden", "overridden"), reason)
        self.kept.append(line)

    def follow(self, entry: Entry) -> None:
        """Wrap a hook again that its tool has registered anew; forget one that is gone."""
        original = wrapping.original_of(entry.written["command"])
        if original is not None and self._wrappable_paths(original):
            self._wrap_command(original, "its tool has registered it again")
        elif entry.id not in self.entries:
            self._act("drop", entry, ("missing", "free"), "the hook that it wrapped is gone")

    def add(self, text: str) -> None:
        """Wrap the one hook that a text names, unless it is wrapped."""
        wrapped = []
        for entry in self.entries.values():
            original = wrapping.original_of(entry.written["command"])
            if original:
                wrapped.append(original)
        unwrapped = [command for _, command in self.foreign]
        commands = list(dict.fromkeys([*unwrapped, *wrapped]))
        matches = [command for command in commands if text in command]
        if text in commands:
            matches = [text]
        if len(matches) != 1:
            raise self._ambiguous(text, commands, matches)
        if matches[0] in wrapped:
            return
        if not self._wrappable_paths(matches[0]):
            raise self._not_wrappable(matches[0])
        self._wrap_command(matches[0], "")

    def _wrappable_paths(self, original: str) -> list[Path]:
        """The paths of commands in hooks that can be wrapped."""
        paths = []
        for path, command in self.foreign:
            if command == original and not self._find_obstacle(path, original):
                paths.append(path)
        return paths

    def _find_obstacle(self, path: Path, original: str) -> str:
        """What keeps the hook at a path from being wrapped, or ''."""
        host = self.target.host
        if host.registration.expands and _VARIABLE.search(original):
            return f"variables, which {host.title} fills in and the guard cannot"
        if not host.shape.shell and not _is_plain(original):
            return f"words: a shell reads them otherwise than {host.title}, which runs none"
        handler = self.document.get(path)
        if _command_key(host, handler) == "bash":
            return f"key `bash`: {host.title} runs `command` alike, so call it that"
        return _preventing_field(handler, original)

    def _wrap_command(self, original: str, reason: str) -> None:
        """Put the guard's command in place of a hook's own, everywhere on the event."""
        paths = self._wrappable_paths(original)
        known = self.known.get(wrapping.id_of(original))
        field = (*paths[0], "command")
        if known:
            raw = _original_source(self.document, field, known, original)
        else:
            raw = self.document.raw(field)
        entry = self._entry_for(paths[0], original, raw)
        self.entries[entry.id] = entry
        for path in paths:
            self._put_command(path, entry.written["command"])
        wrapped = f"it wraps {masked_text(original)}"
        reason = f"{wrapped}; {reason}" if reason else wrapped
        self._act("replace", entry, ("foreign", "owned"), reason)

    def _entry_for(self, path: Path, original: str, raw: str) -> Entry:
        """The entry of a wrapped hook: only its command is ours, so nothing else is on record."""
        command = wrapping.command(original, self.target, self.request.config, self.request.python)
        written = {"command": command}
        return Entry(
            path=_list_path(self.target.host, path),
            kind="element",
            mode="owned",
            before=raw,
            written=written,
            owners={GUARD: Claim(written, self.request.version)},
            id=wrapping.id_of(original),
        )

    def _act(self, action: str, entry: Entry, states: tuple[str, str], reason: str) -> None:
        self.actions.append(_line(action, entry.path, entry.id, states, reason))

    def _ambiguous(self, text: str, commands: list[str], matches: list[str]) -> HookctlError:
        named = "several hooks" if matches else "no hook"
        hint = f"There is no other hook on {self.target.host.events['stop']}."
        other_file = "" if matches else _file_beside(self.sources, self.target, text)
        if other_file:
            named = f"a hook of {other_file}"
            hint = (
                f"Move it into {self.target.path} as `command`: {self.target.host.title} runs it "
                "from there alike, and hookctl edits no other file in this folder."
            )
        elif commands:
            listed = "".join(f"\n  {masked_text(command)}" for command in commands)
            hint = f"Give a part of one of these commands:{listed}"
        message = f"--wrap {masked_text(text)!r} names {named}"
        return HookctlError("usage", message, path=self.document.where, hint=hint, exit_code=USAGE)

    def _not_wrappable(self, original: str) -> HookctlError:
        path = next(path for path, command in self.foreign if command == original)
        line, column = self.document.position(path)
        return HookctlError(
            "usage",
            f"this hook cannot be wrapped, because of its {self._find_obstacle(path, original)}",
            path=self.document.where,
            line=line,
            column=column,
            hint="Wrap plain commands only; a script can hold the rest.",
            exit_code=USAGE,
        )


def _list_path(host: Host, path: Path) -> Path:
    """The path of the event's list that contains a hook."""
    return path[: len(host.shape.root) + 1]


def _not_proven(host: Host) -> HookctlError:
    message = f"--wrap is not proven for {host.title}, so nothing is wrapped there"
    hint = "Leave --wrap out; mode guard counts chains without progress in `hookctl log`."
    if host.dialect.end:
        hint = "Leave --wrap out; the guard ends chains without progress there by itself."
    return HookctlError("usage", message, hint=hint, exit_code=USAGE)


def _file_beside(sources: Sources, target: Target, text: str) -> str:
    """Another file that the host reads in the same folder, with a hook that a text names; or ''."""
    host = target.host
    if not host.files_beside:
        return ""
    pattern = os.path.join(glob.escape(os.path.dirname(target.path)), host.files_beside)
    for path in sorted(glob.glob(pattern)):
        document = readable(path, host.format, sources.read)
        root = document.value if document else MISSING
        if any(text in command for _, command in _foreign_commands(host, root)):
            return path
    return ""


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


def _original_source(document: Document, path: Path, entry: Entry | None, original: str) -> str:
    """The source text of the original command, as it stood in the file at this path."""
    if entry is not None and entry.before is not None:
        with contextlib.suppress(HookctlError, ValueError):
            if document.set_raw(path, entry.before).get(path) == original:
                return entry.before
    return json.dumps(original, ensure_ascii=False)


def _line(action: str, path: Path, id: str, states: tuple[str, str], reason: str) -> Action:
    """A line of the plan about a wrapped hook, with its state before and after."""
    before, after = states
    return Action(action, path, "element", id, before, after, reason, owners=(GUARD,))


def _preventing_field(handler: Mapping[str, Any], original: str) -> str:
    """The field that prevents wrapping this hook, or ''."""
    if "args" in handler:
        return "args"
    if handler.get("shell") not in (None, "sh", "bash"):
        return "shell"
    for name in ("async", "asyncRewake"):
        if handler.get(name):
            return name
    return "command" if "\0" in original else ""


def _is_plain(original: str) -> bool:
    """Whether a shell and a host without one run a command alike."""
    from hookctl.planner import shell_free  # late: few hosts have no shell

    return shell_free.is_plain(original)
