"""Judges the entries of hookctl: are they there once, unchanged, and do they still work?"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from hookctl import __version__, clock, engine
from hookctl.checks import limits
from hookctl.checks.codes import Finding
from hookctl.checks.facts import FileFacts
from hookctl.checks.scripts import name_program
from hookctl.documents import MISSING
from hookctl.hosts import loading
from hookctl.hosts.matchers import FOR_ALL, explain_mismatch
from hookctl.hosts.shapes import event_of
from hookctl.masking import masked, masked_text
from hookctl.model import WRAP, Current, Entry, HookEntry, Hooks
from hookctl.packs import guard, wrapping
from hookctl.packs.choices import LIMIT_KEY
from hookctl.planner import fixes
from hookctl.settings import effective
from hookctl.settings.targets import GUARD

if TYPE_CHECKING:  # late: few have anything disabled
    from hookctl.ledger.disabled import DisabledHook


def judge(file: FileFacts) -> Iterator[Finding]:
    """The entries of one settings file against the ledger."""
    if file.current is None:
        return
    others = Hooks(hook for hook in file.elements if not hook.id.startswith(WRAP))
    current = file.current._replace(elements=others)
    yield from _judge_unknown(file, others)
    yield from _judge_commands(file)
    yield from _judge_doubled(file, others)
    for hook_entry in others:
        yield from _judge_hook(file, hook_entry)
    if file.record is None:
        return
    for id in _list_left_out(file) if file.target.shared else ():
        yield file.find("entry_missing.unrecorded", name=id, again=file.again(GUARD))
    ours = []
    for entry in file.entries:
        is_wrap = entry.id.startswith(WRAP)  # judge_wrapped judges those
        if entry.kind != "container" and entry.mode == "owned" and not is_wrap:
            ours.append(entry)
    if engine.is_wiped(ours, current):
        yield _report_wiped(file, len(ours))
        return
    for entry in ours:
        yield from _judge_entry(file, current, entry)


def judge_disabled(file: FileFacts) -> Iterator[Finding]:
    """What `hookctl disable` switched off, and what is on record as such but kept nowhere."""
    kept = {hook.name for hook in file.disabled}
    for hook in file.disabled:
        if hook.is_values and hook.name not in file.packs:
            continue
        when = clock.local(hook.since)
        is_guard = hook.name in (GUARD, effective.STOP)
        effect = "; it does not keep an agent working" if is_guard else ""
        if hook.is_values:
            yield file.find("disabled.pack", id=hook.name, when=when, effect=effect)
        elif not (hook.name and hook.pack in kept):
            name = hook.name or _title_of(file, hook)
            values = {"id": hook.shown, "event": hook.event, "effect": effect}
            yield file.find("disabled", name=name, when=when, **values)
    lost = [entry for entry in file.record.disabled if entry.id] if file.record else []
    for entry in lost:
        if entry.id not in kept:
            install = file.install_of(next(iter(entry.owners), GUARD))
            yield file.find("disabled.lost", id=entry.id, install=install)


def _title_of(file: FileFacts, hook: DisabledHook) -> str:
    """The program of another tool's hook."""
    for key in file.host.registration.commands:
        if isinstance(hook.fields.get(key), str):
            return name_program(str(hook.fields[key])) or "a hook"
    return "a hook"


def _list_left_out(file: FileFacts) -> Iterator[str]:
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


def _report_wiped(file: FileFacts, count: int) -> Finding:
    if file.target.shared and not file.is_file:
        return _report_absent(file)
    when = ""
    if file.written_at is not None:  # there may be no file any more
        with contextlib.suppress(OSError, ValueError, OverflowError):  # a time that no date can say
            when = f", and the file was written at {clock.local(file.written_at)}"
    if not file.target.shared:
        return file.find("entries_wiped", count=count, when=when)
    upgrade = fixes.upgrade_command(file.target, file.workplace.project)
    return file.find("entries_wiped.shared", count=count, when=when, upgrade=upgrade)


def _report_absent(file: FileFacts) -> Finding:
    """A settings file that a project's record has, and the project has not."""
    project, others = file.target.project, ""
    name = os.path.relpath(file.path, project)
    checkout = fixes.checkout_command(project, name, file.workplace.project)
    lost = [pack for pack, known in file.packs.items() if pack != GUARD and not known.source]
    if len(lost) < len(file.packs):
        others = f" `{fixes.upgrade_command(file.target, file.workplace.project)}`."
    others += "".join(f" {file.again(pack)}" for pack in lost)
    return file.find("entries_wiped.absent", checkout=checkout, others=others)


def _judge_entry(file: FileFacts, current: Current, entry: Entry) -> Iterator[Finding]:
    state = engine.state(entry, current, entry.path, entry.id)
    name = entry.id or entry.path[-1]
    if state not in ("missing", "overridden"):
        return
    install = file.install_of(next(iter(entry.owners), GUARD))
    if state == "missing":
        others = _list_taken_over(file, current, entry)
        values = {"name": name, "install": install, "others": others}
        yield file.find("entry_missing", level=_level(file), **values)
    elif not _has_other_finding(file, current, entry):
        names = list_changed_fields(current, entry)
        how = _describe_change(current, entry, names)
        # A changed value or limit is fine; a changed command may do anything, and for a whole team.
        if file.target.shared and not is_choice(file, names):
            yield file.find("entry_edited.shared", name=name, how=how, install=install)
        else:
            level = "warning" if "command" in names else "info"
            yield file.find("entry_edited", level=level, name=name, how=how, install=install)


def _level(file: FileFacts) -> str:
    """How bad a missing or edited hook is: a project's committed record speaks for a whole team."""
    return "error" if file.target.shared else "warning"


def _has_other_finding(file: FileFacts, current: Current, entry: Entry) -> bool:
    """Whether a changed entry has a finding of its own: it does not work, or it is the cap."""
    for hook_entry in current.elements.by_id.get(entry.id, []):
        if _find_defect(file, hook_entry):
            return True
    return limits.is_at_fault(file, entry.path)


def _list_taken_over(file: FileFacts, current: Current, entry: Entry) -> str:
    """The operator's other changes that `--force` would overwrite too, in words for a hint."""
    names = []
    owned = set()
    for other in file.entries:
        owned.add(other.path)
        is_own = other.mode == "owned" and other.kind != "container" and other is not entry
        if is_own and engine.state(other, current, other.path, other.id) == "overridden":
            names.append(other.id or str(other.path[-1]))
    for key in (LIMIT_KEY, file.host.cap_key) if GUARD in entry.owners else ():
        path = file.host.env_leaf(key) if key else None
        if not path or path in owned or file.document is None:
            continue
        if file.document.get(path) is not MISSING:
            names.append(key)
    return f"; it also takes over your {' and '.join(names)}" if names else ""


def _describe_change(current: Current, entry: Entry, changed: list[str]) -> str:
    if entry.id:
        return f" ({', '.join(changed)} changed)"
    name = str(entry.path[-1])
    current_value = _quote_value(name, current.values[entry.path])
    return f" ({current_value} instead of {_quote_value(name, entry.written)})"


def is_choice(file: FileFacts, fields: Collection[str]) -> bool:
    """Whether a hook was edited in these fields alone that anybody may set by hand."""
    return {*fields} <= {"matcher", file.host.registration.timeout}


def list_changed_fields(current: Current, entry: Entry) -> list[str]:
    """The fields of a hook that are not as they were written; none of a plain value."""
    if not entry.id:
        return []
    fields = current.elements.by_id[entry.id][0].fields
    changed = []
    for name in {**entry.written, **fields}:
        if fields.get(name) != entry.written.get(name):
            changed.append(name)
    return changed


def _quote_value(name: str, value: Any) -> str:
    """A value as it is in a settings file, with its secrets masked."""
    return json.dumps(masked(value, name), ensure_ascii=False)


def _judge_doubled(file: FileFacts, hooks: Hooks) -> Iterator[Finding]:
    for id, copies in sorted(hooks.by_id.items()):
        if len(copies) > 1 and file.document:
            paths = ", ".join(file.document.name_of(hook_entry.path) for hook_entry in copies)
            yield file.find("entry_doubled", id=id, count=len(copies), paths=paths)


def _judge_hook(file: FileFacts, hook_entry: HookEntry) -> Iterator[Finding]:
    """Whether the host runs the hook as the hook requires, and for tools that exist there."""
    id, why = hook_entry.id, _find_defect(file, hook_entry)
    if why:
        again = file.again(hook_entry.pack)
        yield file.find("entry_disarmed", level=_level(file), id=id, why=why, again=again)
    event = event_of(file.host.shape, hook_entry.path)
    matcher = hook_entry.fields.get("matcher")
    reason = explain_mismatch(file.host, event, matcher)
    if reason:
        entry = "matcher_misses.guard" if hook_entry.pack == GUARD else "matcher_misses"
        if matcher in FOR_ALL:  # written by hand: hookctl leaves it out
            entry = "matcher_misses.all"
        yield file.find(entry, id=id, reason=reason)


def _find_defect(file: FileFacts, hook: HookEntry) -> str:
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


def _judge_commands(file: FileFacts) -> Iterator[Finding]:
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
        others = [key for key in keys if key != "command"]
        if others:
            yield file.find("command_unknown.second", id=id, key=others[0])
        elif not _is_ours(file, id, str(command)):
            yield file.find("command_unknown", id=id)


def _is_ours(file: FileFacts, id: str, command: str) -> bool:
    """Whether a version of hookctl writes this command into a project's settings."""
    if id.startswith(WRAP):
        return wrapping.is_shared_command(command, file.target)
    return guard.is_shared_command(command, id, file.target)


def _judge_unknown(file: FileFacts, hooks: Hooks) -> Iterator[Finding]:
    """Hooks with our mark that are not in the ledger."""
    known = {entry.id for entry in file.entries}
    for hook_entry in hooks:
        id, command = hook_entry.id, str(hook_entry.fields.get("command"))
        pack, _, event = id.partition("/")
        if id in known:
            continue
        if pack != GUARD:
            install = fixes.install_command(file.target, pack, "PATH", file.workplace.project)
            yield file.find("orphan_hook", id=id, install=install)
        elif guard.config_path(command, id, event, file.target):
            entry = "ledger_missing.shared" if file.target.shared else "ledger_missing"
            yield file.find(entry, id=id)
        else:
            yield file.find("edited_copy", id=id)


# Other tools' hooks that the guard wraps.


def judge_wrapped(file: FileFacts) -> Iterator[Finding]:
    """Hooks of other tools that the guard wraps: the command, the record and the programs."""
    if file.current is None:
        return
    known = {entry.id: entry for entry in file.entries if entry.id.startswith(WRAP)}
    wrapped = set()
    for hook_entry in file.elements:
        if hook_entry.id.startswith(WRAP):
            wrapped.add(hook_entry.id)
            yield from _judge_wrapped_hook(file, hook_entry, known.get(hook_entry.id))
    for id in known.keys() - wrapped:
        yield file.find("wrap_gone", id=id)


def _judge_wrapped_hook(
    file: FileFacts, hook_entry: HookEntry, entry: Entry | None
) -> Iterator[Finding]:
    id, command = hook_entry.id, str(hook_entry.fields["command"])
    original = wrapping.original_of(command)
    if entry and (original is None or entry.written.get("command") != command):
        yield file.find("wrap_edited", id=id, again=file.again(GUARD))
    elif original is None:
        yield file.find("wrap_edited.unrecorded", id=id)
    elif entry is None:
        yield file.find("wrap_unknown", id=id, command=masked_text(original))
