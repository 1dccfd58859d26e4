"""Wrapping another tool's Stop hook: its command is replaced by ours that runs it, and put back.

The hook stays that tool's or the operator's: only its command is ever touched.
"""

import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hookctl.documents import Document
from hookctl.errors import USAGE, HookctlError
from hookctl.hosts import Host, shapes
from hookctl.masking import masked_text
from hookctl.model import WRAP, Action, Claim, Decision, Entry, HookEntry, Path, Put
from hookctl.ownership.draft import Draft
from hookctl.packs import guard
from hookctl.settings.targets import GUARD

# What a host that expands variables takes for one.
_VARIABLE = re.compile(r"\$(?:\w|\{)")
# A command that a shell splits into the same words as a host without one.
_WORD = r"""(?:[\w@%+=:,./-]|'[^']*'|"[^"$`\\]*")+"""
_PLAIN = re.compile(rf"(?![^ \t]*=)(?:~(?=/))?{_WORD}(?:[ \t]+{_WORD})*")


_Foreign = tuple[Path, str, bool]  # where a hook stands, its command, and whether it is plain
_Chosen = tuple[str, list[Path], str]  # a command, where it stands, and what is taken over


def unwrap_hooks(draft: Draft) -> None:
    """Give every wrapped hook its own command again, byte for byte where the ledger knows it."""
    known = _wrap_entries(draft)
    edits, actions = [], []
    hooks = _wrapped_hooks(draft.host, draft.document)
    for hook in hooks:
        original = guard.original_of(str(hook.fields["command"]))
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
    # None is ours any more.
    draft.apply_decision(Decision(tuple(edits), (), tuple(actions)), tuple(known.values()))


def wrap_hooks(draft: Draft, text: str | None, config: str, python: str, *, force: bool) -> bool:
    """Bring wrapped hooks up to date and wrap the one with this text; whether any is wrapped then.

    With '' all are unwrapped. A usage error lists the hooks of the file, if the text names none or
    several.
    """
    host, document = draft.host, draft.document
    if text == "":
        unwrap_hooks(draft)
        return False
    if text and not host.registration.wraps:
        message = f"--wrap is not proven for {host.title}, so nothing is wrapped there"
        raise HookctlError("usage", message, hint="Leave --wrap out.", exit_code=USAGE)
    known, foreign = _wrap_entries(draft), list(_foreign_commands(host, document.value))
    chosen, entries, actions = _renew(draft, known, foreign, force=force)
    if text:
        commands = [command for _, command, _ in foreign]
        commands += [original for original, _, _ in chosen]
        kept = [guard.original_of(entry.written["command"]) for entry in entries.values()]
        original = _find_named(document, host, text, [*commands, *filter(None, kept)])
        ids = {*entries, *(guard.wrap_id(each) for each, _, _ in chosen)}
        if guard.wrap_id(original) not in ids:
            places = {path: plain for path, command, plain in foreign if command == original}
            paths = [path for path, is_plain in places.items() if is_plain]
            if not paths:
                message = "this hook cannot be wrapped: it is more than a plain `command`"
                hint = "Wrap plain commands only; a script can hold the rest."
                position = document.offset(next(iter(places)))
                error = document.error_at("usage", position, message, hint)
                error.exit_code = USAGE
                raise error
            chosen.append((original, paths, ""))
    edits = list[Put]()
    for original, paths, taken in chosen:
        id, path = guard.wrap_id(original), _list_path(host, paths[0])
        written = {"command": guard.wrap_command(original, draft.target, config, python)}
        owners = {GUARD: Claim(written)}
        raw = _source(document, (*paths[0], "command"), known.get(id), original)
        entries[id] = Entry(path, "element", "owned", raw, written, owners, id)
        command = shapes.as_written(host.shape, written)["command"]
        fields = [(*each, "command") for each in paths]
        changed = [Put(field, command) for field in fields if document.get(field) != command]
        edits += changed
        if changed:
            reason = taken or f"it wraps {masked_text(original)}"
            state = "owned" if id in known else "foreign"
            actions.append(_line("replace", path, id, state, "owned", reason))
        elif id not in known:
            reason = "hookctl's record did not have it"
            actions.append(_line("take-back", path, id, "orphan", "owned", reason))
    decision = Decision(tuple(edits), tuple(entries.values()), tuple(actions))
    draft.apply_decision(decision, tuple(known.values()))
    return bool(entries)


def _renew(
    draft: Draft, known: Mapping[str, Entry], foreign: Sequence[_Foreign], *, force: bool
) -> tuple[list[_Chosen], dict[str, Entry], list[Action]]:
    """What is to be wrapped again, the entries of hooks that somebody edited, and lines on both."""
    chosen, edited, actions = list[_Chosen](), dict[str, Entry](), list[Action]()
    for hook in _wrapped_hooks(draft.host, draft.document):
        command, taken = str(hook.fields["command"]), ""
        original, entry = guard.original_of(command), known.get(hook.id)
        if original is None and entry and force:
            original = guard.original_of(entry.written["command"])
            taken = f"took over your {masked_text(command)}"
        if original is not None:
            chosen.append((original, [hook.path], taken))
            continue
        reason = "its command was edited, so it stays"
        if entry:
            reason += "; --force puts ours back"
            edited[hook.id] = entry
        path = _list_path(draft.host, hook.path)
        actions.append(_line("keep", path, hook.id, "overridden", "overridden", reason))
    there = {*edited, *(guard.wrap_id(original) for original, _, _ in chosen)}
    for id, entry in known.items():
        original = guard.original_of(entry.written["command"])
        paths = [path for path, command, is_plain in foreign if is_plain and command == original]
        if original is not None and paths:  # its tool has registered it anew
            chosen.append((original, paths, ""))
        elif id not in there:
            reason = "the hook that it wrapped is gone"
            actions.append(_line("drop", entry.path, id, "missing", "free", reason))
    return chosen, edited, actions


def _find_named(document: Document, host: Host, text: str, known: Iterable[str]) -> str:
    """The one command of these that a text names."""
    commands = list(dict.fromkeys(known))
    matches = [text] if text in commands else [each for each in commands if text in each]
    if len(matches) == 1:
        return matches[0]
    hint = f"There is no other hook on {host.events['stop']}."
    if commands:
        listed = "".join(f"\n  {masked_text(command)}" for command in commands)
        hint = f"Give a part of one of these commands:{listed}"
    message = f"--wrap {masked_text(text)!r} names {'several hooks' if matches else 'no hook'}"
    raise HookctlError("usage", message, path=document.where, hint=hint, exit_code=USAGE)


def _wrap_entries(draft: Draft) -> dict[str, Entry]:
    entries = [entry for entry in draft.entries if entry.id.startswith(WRAP)]
    return {entry.id: entry for entry in entries if entry.id not in draft.taken}


def _list_path(host: Host, path: Path) -> Path:
    """The path of the event's list that contains a hook."""
    return path[: len(host.shape.root) + 1]


def _wrapped_hooks(host: Host, document: Document) -> list[HookEntry]:
    hooks = shapes.elements(host.shape, document.value)
    return [hook for hook in hooks if hook.id.startswith(WRAP)]


def _foreign_commands(host: Host, root: Any) -> Iterator[_Foreign]:
    """Where other tools' hooks on the stop event stand, their commands, and if they are plain."""
    for path, handler, _ in shapes.handlers(host.shape, root):
        # `bash` goes before `command` where it is one.
        is_bash = "bash" in host.registration.commands and "bash" in handler
        command = handler.get("bash" if is_bash else "command")
        if not isinstance(command, str) or handler.get("type", "command") != "command":
            continue
        is_stop = shapes.event_of(host.shape, path) == host.events["stop"]
        if is_stop and not shapes.is_ours(shapes.without_sh(host.shape, command)):
            yield path, command, not is_bash and _is_plain(host, handler)


def _is_plain(host: Host, handler: Mapping[str, Any]) -> bool:
    """Whether the guard can run a hook's command just as the host does."""
    command = handler["command"]
    if host.registration.expands and _VARIABLE.search(command):
        return False
    if "\0" in command or not (host.shape.shell or _PLAIN.fullmatch(command)):
        return False
    has_more = "args" in handler or handler.get("async") or handler.get("asyncRewake")
    return not has_more and handler.get("shell") in (None, "sh", "bash")


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
    return Action(action, path, "element", id, before, after, reason, owners=(GUARD,))
