"""Judges the entries of hookctl: are they there once, unchanged, and do they still work?"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

from hookctl import __version__, clock, engine
from hookctl.checks.codes import Finding
from hookctl.checks.file import File
from hookctl.hosts import loading
from hookctl.hosts.matchers import FOR_ALL, explain_mismatch
from hookctl.hosts.shapes import event_of
from hookctl.masking import masked
from hookctl.model import WRAP, Current, Entry, HookEntry, Hooks
from hookctl.packs import guard, wrapping
from hookctl.planner import fixes
from hookctl.settings.targets import GUARD


def judge(file: File) -> Iterator[Finding]:
    """The entries of one settings file against the ledger."""
    if file.current is None:
        return
    others = Hooks(hook for hook in file.elements if not hook.id.startswith(WRAP))
    current = file.current._replace(elements=others)
    yield from _judge_unknown(file)
    yield from _judge_commands(file)
    yield from _judge_doubled(file, others)
    for hook_entry in others:
        yield from _judge_hook(file, hook_entry)
    if file.record is None:
        return
    for id in _list_left_out(file) if file.target.shared else ():
        yield file.find("entry_missing", name=id, fix=file.again(GUARD))
    ours = []
    for entry in file.entries:
        if entry.id.startswith(WRAP):
            yield from _judge_wrapped(file, entry)
        elif entry.kind != "container" and entry.mode == "owned":
            ours.append(entry)
    if engine.is_wiped(ours, current):
        command = file.repair
        if file.target.shared:
            command = fixes.upgrade_command(file.target, file.machine.cwd_project)
        yield file.find("entries_wiped", count=len(ours), command=command)
        return
    for entry in ours:
        yield from _judge_entry(file, current, entry)


def judge_disabled(file: File) -> Iterator[Finding]:
    """What `hookctl disable` switched off, and what is on record as such but kept nowhere."""
    kept = {hook.name for hook in file.disabled}
    for hook in file.disabled:
        is_part = bool(hook.name) and hook.pack in kept
        if (hook.name not in file.packs) if hook.is_values else is_part:
            continue
        name = f"{hook.shown} ({hook.event})" if hook.event else hook.shown
        yield file.find("disabled", name=name, id=hook.shown, when=clock.local(hook.since))
    for entry in file.record.disabled if file.record else ():
        if entry.id and entry.id not in kept:
            install = file.install_of(next(iter(entry.owners), GUARD))
            fix = f"`{install} --force` writes it again."
            yield file.find("entry_missing", level="warning", name=entry.id, fix=fix)


def _list_left_out(file: File) -> Iterator[str]:
    """The guard's hooks that its recorded settings need, and that the record does not have.

    Another version may need other events than this one, but always the stop.
    """
    if file.guard is None or file.settings is None:
        return
    recorded = {entry.id for entry in file.entries} | file.disabled_ids
    wraps = any(id.startswith(WRAP) for id in recorded)
    for event in guard.events(file.settings, file.host, wraps=wraps):
        is_needed = event == "stop" or file.guard.version == __version__
        if is_needed and f"{GUARD}/{event}" not in recorded:
            yield f"{GUARD}/{event}"


def _judge_entry(file: File, current: Current, entry: Entry) -> Iterator[Finding]:
    state = engine.state(entry, current, entry.path, entry.id)
    name = entry.id or entry.path[-1]
    install = file.install_of(next(iter(entry.owners), GUARD))
    if state == "missing":
        fix = f"`{install} --force` restores it, and puts hookctl's values in place of yours."
        yield file.find("entry_missing", level=_level(file), name=name, fix=fix)
    elif state == "overridden" and not _has_other_finding(file, current, entry):
        names = list_changed_fields(current.elements, entry)
        how = _describe_change(current, entry, names)
        level = "warning" if "command" in names else "info"
        # A changed value or limit is fine; a changed command may do anything, and for a whole team.
        if file.target.shared and not is_choice(file, names):
            level = "error"
        yield file.find("entry_edited", level=level, name=name, how=how, install=install)


def _level(file: File) -> str:
    """How bad a missing or edited hook is: a project's committed record speaks for a whole team."""
    return "error" if file.target.shared else "warning"


def _has_other_finding(file: File, current: Current, entry: Entry) -> bool:
    """Whether a changed entry has a finding of its own: it does not work."""
    return any(_find_defect(file, hook) for hook in current.elements.by_id.get(entry.id, []))


def _describe_change(current: Current, entry: Entry, changed: list[str]) -> str:
    if entry.id:
        return f"it has another {' and another '.join(changed)}"
    name = str(entry.path[-1])
    current_value = _quote_value(name, current.values[entry.path])
    return f"{current_value} instead of {_quote_value(name, entry.written)}"


def is_choice(file: File, fields: Collection[str]) -> bool:
    """Whether a hook was edited in these fields alone that anybody may set by hand."""
    return {*fields} <= {"matcher", file.host.registration.timeout}


def list_changed_fields(hooks: Hooks, entry: Entry) -> list[str]:
    """The fields of a hook that are not as they were written; none of a plain value."""
    if not entry.id:
        return []
    fields = hooks.by_id[entry.id][0].fields
    changed = []
    for name in {**entry.written, **fields}:
        if fields.get(name) != entry.written.get(name):
            changed.append(name)
    return changed


def _quote_value(name: str, value: Any) -> str:
    """A value as it is in a settings file, with its secrets masked."""
    return json.dumps(masked(value, name), ensure_ascii=False)


def _judge_doubled(file: File, hooks: Hooks) -> Iterator[Finding]:
    for id, copies in sorted(hooks.by_id.items()):
        if len(copies) > 1 and file.document:
            paths = ", ".join(file.document.name_of(hook_entry.path) for hook_entry in copies)
            yield file.find("entry_doubled", id=id, count=len(copies), paths=paths)


def _judge_hook(file: File, hook_entry: HookEntry) -> Iterator[Finding]:
    """Whether the host runs the hook as the hook requires, and for tools that exist there."""
    id, why = hook_entry.id, _find_defect(file, hook_entry)
    if why:
        again = file.again(hook_entry.pack)
        yield file.find("entry_disarmed", level=_level(file), id=id, why=why, again=again)
    event = event_of(file.host.shape, hook_entry.path)
    matcher = hook_entry.fields.get("matcher")
    reason = explain_mismatch(file.host, event, matcher)
    if not reason:
        return
    fix = f"Give the pack a hook for {file.host.name} with a matcher of its own tools."
    if matcher in FOR_ALL:  # written by hand: hookctl leaves it out
        fix = f"Remove the matcher of {id}."
    elif hook_entry.pack == GUARD:
        fix = f"Name tools of {file.host.name} with `{file.install} --dispatch TOOL`."
    yield file.find("matcher_misses", id=id, reason=reason, fix=fix)


def _find_defect(file: File, hook: HookEntry) -> str:
    """Why the host does not run a hook of hookctl, or runs it in the wrong way; or ''."""
    event = event_of(file.host.shape, hook.path)
    pack, _, name = hook.id.partition("/")
    if pack == GUARD:
        wanted = file.host.events.get(name, "")
    else:
        paths = [entry.path for entry in file.entries if entry.id == hook.id]
        wanted = event_of(file.host.shape, paths[0]) if paths else ""
    if wanted and event != wanted:
        return f"it is registered on {event}, and not on {wanted}"
    return loading.why_disarmed(file.host, event, hook.fields, blocks=pack == GUARD)


def _judge_commands(file: File) -> Iterator[Finding]:
    """Hooks of the guard in a project with commands that no hookctl writes, even if on record.

    The committed record proves nothing: it comes with the same commit.
    """
    written = {}
    for entry in file.entries:
        if entry.kind == "element":
            written[entry.id] = entry.written.get("command")
    for hook_entry in file.elements if file.target.shared else ():
        id, command = hook_entry.id, hook_entry.fields.get("command")
        # An edited or unrecorded command has a finding of its own.
        if hook_entry.pack != GUARD or command != written.get(id):
            continue
        keys = [key for key in file.host.registration.commands if key in hook_entry.fields]
        others, how = [key for key in keys if key != "command"], ""
        if others:
            how = f"it has another command as well, in {others[0]}"
        elif not _is_ours(file, id, str(command)):
            how = "no version of hookctl writes its command"
        if how:
            yield file.find("entry_edited", level="error", name=id, how=how, install=file.install)


def _is_ours(file: File, id: str, command: str) -> bool:
    """Whether a version of hookctl writes this command into a project's settings."""
    if id.startswith(WRAP):
        return wrapping.is_shared_command(command, file.target)
    return guard.is_shared_command(command, id, file.target)


def _judge_unknown(file: File) -> Iterator[Finding]:
    """Hooks with our mark that are not in the ledger."""
    known = {entry.id for entry in file.entries}
    for hook_entry in file.elements:
        id, command = hook_entry.id, str(hook_entry.fields.get("command"))
        if id in known:
            continue
        pack, _, event = id.partition("/")
        level, fix = _level(file), f"`{file.install} --force` replaces it."
        if id.startswith(WRAP):
            fix = f"`{file.install}` records it."
            if wrapping.original_of(command) is None:
                fix = "Put the tool's own command back."
        elif pack != GUARD:
            install = fixes.install_command(file.target, pack, "PATH", file.machine.cwd_project)
            fix = f"`{install}` with the path of the pack takes it back; else remove it."
        elif guard.config_path(command, id, event, file.target):
            level, fix = "error", f"`{file.install}` records it again."
        yield file.find("ledger_missing", level=level, id=id, fix=fix)


def _judge_wrapped(file: File, entry: Entry) -> Iterator[Finding]:
    """A hook of another tool that the guard wraps, by the record."""
    hooks = file.elements.by_id.get(entry.id, [])
    if not hooks:
        level, fix = "error" if file.target.shared else "info", f"`{file.install}` forgets it."
        yield file.find("entry_missing", level=level, name=entry.id, fix=fix)
    for hook_entry in hooks:
        command = str(hook_entry.fields["command"])
        is_whole = wrapping.original_of(command) is not None
        if not is_whole or entry.written.get("command") != command:
            values = {"name": entry.id, "how": "it has another command", "install": file.install}
            yield file.find("entry_edited", level=_level(file), **values)
