"""Judges the entries of hookctl: are they there once, unchanged, and do they still work?"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from typing import Any

from hookctl import clock, engine
from hookctl.checks import limits, own_hooks
from hookctl.checks.codes import Finding
from hookctl.checks.facts import FileFacts, ProgramFile
from hookctl.documents import MISSING
from hookctl.hosts.matchers import explain_mismatch
from hookctl.hosts.shapes import event_of
from hookctl.masking import masked, masked_text
from hookctl.model import WRAP, Current, Entry, HookEntry, Hooks
from hookctl.packs import guard
from hookctl.packs.choices import LIMIT_KEY, settings_from
from hookctl.packs.wrapping import PROGRAM, original_of
from hookctl.settings.targets import GUARD


def judge(file: FileFacts) -> Iterator[Finding]:
    """The entries of one settings file against the ledger."""
    current = file.current
    if current is None:
        return
    others = Hooks(
        hook_entry for hook_entry in current.elements if not hook_entry.id.startswith(WRAP)
    )
    current = current._replace(elements=others)
    yield from _judge_unknown(file, current)
    yield from _judge_commands(file, file.current.elements)
    yield from _judge_doubled(file, current)
    yield from _judge_disarmed(file, current)
    yield from _judge_matchers(file, current)
    record = file.record
    if record is None:
        return
    for id in own_hooks.list_left_out(record, file.host) if file.target.shared else ():
        message = f"the guard needs {id}, and the record does not have it"
        yield file.find("entry_missing", message, file.again(GUARD), level="error")
    ours = []
    for entry in record.entries:
        is_wrap = entry.id.startswith(WRAP)  # judge_wrapped looks at those
        if entry.kind != "container" and entry.mode == "owned" and not is_wrap:
            ours.append(entry)
    if engine.is_wiped(ours, current):
        yield _report_wiped(file, len(ours))
        return
    for entry in ours:
        yield from _judge_entry(file, current, entry)


def _report_wiped(file: FileFacts, count: int) -> Finding:
    if file.target.shared and not file.is_file:
        return _report_absent(file)
    when = ""
    if file.written_at is not None:  # there may be no file any more
        with contextlib.suppress(OSError, ValueError, OverflowError):  # a time that no date can say
            when = f", and the file was written at {clock.local(file.written_at)}"
    message = f"{count} of {count} entries are gone{when}: was the file reset?"
    fix = (
        "`hookctl doctor --fix` restores them. Restart running agents: they may write old "
        "settings back."
    )
    if file.target.shared:
        message += " Or was it not committed together with .hookctl/?"
        command = own_hooks.upgrade_command(file.target, file.cwd_project)
        fix = f"`{command}` restores them."
    return file.find("entries_wiped", message, fix)


def _report_absent(file: FileFacts) -> Finding:
    """A settings file that a project's record has, and the project has not."""
    project = file.target.project
    name = os.path.relpath(file.path, project)
    fix = f"`{own_hooks.checkout_command(project, name, file.cwd_project)}` brings it back; else"
    packs = file.record.packs if file.record else {}
    lost = [pack for pack, known in packs.items() if pack != GUARD and not known.source]
    if len(lost) < len(packs):
        fix += f" `{own_hooks.upgrade_command(file.target, file.cwd_project)}`."
    for pack in lost:
        fix += f" {file.again(pack)}"
    return file.find("entries_wiped", "this file is not there: is it committed?", fix)


def _judge_entry(file: FileFacts, current: Current, entry: Entry) -> Iterator[Finding]:
    state = engine.state(entry, current, entry.path, entry.id)
    name = entry.id or entry.path[-1]
    install = file.install_of(next(iter(entry.owners), GUARD))
    if state == "missing":
        others = _list_taken_over(file, current, entry)
        fix = f"`{install} --force` restores it{others}."
        yield file.find("entry_missing", f"{name} was removed", fix, level=_level(file))
    elif (
        state == "overridden"
        and not _has_defect(file, current, entry.id)
        and not limits.is_at_fault(file, entry.path)
    ):
        names = _list_changed_fields(current, entry)
        message = (
            f"{name} was changed{_describe_change(current, entry, names)}; "
            "the change is yours and stays"
        )
        fix = f"Leave it as it is; `{install} --force` would put hookctl's value in its place."
        # A value or a limit of yours is as good as ours; another command may do anything.
        level = _level(file) if "command" in names else "info"
        yield file.find("entry_edited", message, fix, level=level)


def _level(file: FileFacts) -> str:
    """How bad a missing or edited hook is: a project's committed record speaks for a whole team."""
    return "error" if file.target.shared else "warning"


def _list_taken_over(file: FileFacts, current: Current, entry: Entry) -> str:
    """What else of the operator's `--force` takes over while it restores an entry; for a hint."""
    names = []
    owned = set()
    for other in file.record.entries if file.record else ():
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


def _list_changed_fields(current: Current, entry: Entry) -> list[str]:
    """The fields of a hook that are not as they were written; none of a plain value."""
    if not entry.id:
        return []
    fields = current.elements.with_id(entry.id)[0].fields
    changed = []
    for name in {**entry.written, **fields}:
        if fields.get(name) != entry.written.get(name):
            changed.append(name)
    return changed


def _quote_value(name: str, value: Any) -> str:
    """A value as it stands in a settings file, with its secrets masked."""
    return json.dumps(masked(value, name), ensure_ascii=False)


def _judge_doubled(file: FileFacts, current: Current) -> Iterator[Finding]:
    for id in sorted({hook_entry.id for hook_entry in current.elements}):
        copies = current.elements.with_id(id)
        if len(copies) == 1:
            continue
        paths = [".".join(map(str, hook_entry.path)) for hook_entry in copies]
        message = f"{id} is registered {len(paths)} times ({', '.join(paths)})"
        message += ", so it runs that often"
        fix = f"`{file.repair}` removes unedited copies; remove edited ones by hand."
        yield file.find("entry_doubled", message, fix)


def _judge_disarmed(file: FileFacts, current: Current) -> Iterator[Finding]:
    """Hooks of ours that the host runs no more, or not in the way that they need."""
    for hook_entry in current.elements:
        why = own_hooks.find_defect(file.host, hook_entry)
        if why:
            message = f"{hook_entry.id} was edited so that it does not work: {why}"
            yield file.find(
                "entry_disarmed", message, file.again(hook_entry.pack), level=_level(file)
            )


def _judge_commands(file: FileFacts, hooks: tuple[HookEntry, ...]) -> Iterator[Finding]:
    """Hooks of the guard in a project whose commands no hookctl writes, whatever is on record."""
    written = {}
    for entry in file.record.entries if file.record else ():
        if entry.kind == "element":
            written[entry.id] = entry.written.get("command")
    for hook_entry in hooks:
        forgery = own_hooks.find_forgery(file.target, hook_entry)
        # An edited or unrecorded command has a finding of its own.
        if forgery and hook_entry.fields.get("command") == written.get(hook_entry.id):
            fix = f"Look at it; `{file.install} --force` puts ours in its place."
            yield file.find("command_unknown", forgery, fix)


def _judge_matchers(file: FileFacts, current: Current) -> Iterator[Finding]:
    """Hooks of packs whose matcher is of another host's tools."""
    for hook_entry in current.elements:
        event = event_of(file.host.shape, hook_entry.path)
        matcher = hook_entry.fields.get("matcher")
        reason = explain_mismatch(file.host, event, matcher)
        if reason:
            message = f"{hook_entry.id} never runs: {reason}"
            fix = f"Give the pack a hook for {file.host.name} with a matcher of its own tools."
            yield file.find("matcher_misses", message, fix)


def _has_defect(file: FileFacts, current: Current, id: str) -> bool:
    hooks = current.elements.with_id(id)
    return any(own_hooks.find_defect(file.host, hook_entry) for hook_entry in hooks)


def _judge_unknown(file: FileFacts, current: Current) -> Iterator[Finding]:
    """Elements that carry our mark although the ledger has no page for them."""
    known = {entry.id for entry in file.record.entries} if file.record else set()
    for hook_entry in current.elements:
        pack, _, event = hook_entry.id.partition("/")
        if hook_entry.id in known:
            continue
        if pack != GUARD:
            message = f"{hook_entry.id} is registered here, but hookctl has no record of it"
            install = own_hooks.install_command(file.target, pack, "PATH", file.cwd_project)
            fix = (
                f"`{install}` with the path of the pack takes it back; else look at its command "
                "and remove it."
            )
            yield file.find("orphan_hook", message, fix)
        elif guard.hook_path(
            str(hook_entry.fields.get("command")), hook_entry.id, event, file.target
        ):
            yield _report_lost(file, hook_entry.id)
        else:
            message = (
                f"an edited copy of {hook_entry.id} is registered here; hookctl leaves it alone"
            )
            fix = f"`{file.install} --force` replaces it."
            yield file.find("edited_copy", message, fix)


def _report_lost(file: FileFacts, id: str) -> Finding:
    message, fix = (
        f"{id} is registered here, but hookctl has no record of it",
        "`hookctl doctor --fix` records it again.",
    )
    if file.target.shared:
        message += ": was .hookctl/ not committed with it?"
        fix = f"Commit .hookctl/ where it was installed, or run `{file.install}` here."
    return file.find("ledger_missing", message, fix)


# Other tools' hooks that the guard wraps.

_ALONE = "the hooks of other tools that it wraps run directly, without a limit"


def judge_wrapped(file: FileFacts) -> Iterator[Finding]:
    """Hooks of other tools that the guard wraps: the command, the record and the programs."""
    if file.current is None:
        return
    known: dict[str, Entry] = {}
    for entry in file.record.entries if file.record else ():
        if entry.id.startswith(WRAP):
            known[entry.id] = entry
    wrapped = set()
    for hook_entry in file.current.elements:
        if hook_entry.id.startswith(WRAP):
            wrapped.add(hook_entry.id)
            yield from _judge_wrapped_hook(file, hook_entry, known.get(hook_entry.id))
    for id in known.keys() - wrapped:
        message = f"{id} was removed together with the hook that it wrapped"
        yield file.find("wrap_gone", message, f"`{file.install}` drops it from hookctl's record.")
    if wrapped and file.guard:
        yield from _judge_wrapping_files(file, settings_from(file.guard.settings).events)


def _judge_wrapped_hook(
    file: FileFacts, hook_entry: HookEntry, entry: Entry | None
) -> Iterator[Finding]:
    command = str(hook_entry.fields["command"])
    original = original_of(command)
    if original is None or (entry and entry.written.get("command") != command):
        message = (
            f"the command of {hook_entry.id}, which wraps another tool's hook, was edited; the "
            "change is yours and stays"
        )
        fix = file.again(GUARD) if entry else "Put the tool's own command back."
        yield file.find("wrap_edited", message, fix)
    elif entry is None:
        message = f"{hook_entry.id} wraps {masked_text(original)}, but hookctl has no record of it"
        fix = f"`{file.install}` records it."
        yield file.find("wrap_unknown", message, fix)


def _judge_wrapping_files(file: FileFacts, events: tuple[str, ...]) -> Iterator[Finding]:
    """The programs that run wrapped hooks; hook.py judges the guard's while it is on."""
    for program in file.programs:
        if program.name == PROGRAM or not events:
            yield from _judge_wrapping_file(file, program)


def _judge_wrapping_file(file: FileFacts, program: ProgramFile) -> Iterator[Finding]:
    if program.error:
        message = f"{program.error.message}: {_ALONE}"
        yield file.find("wrap_missing", message, program.error.hint, program.path)
    elif not program.is_there:
        message = f"{program.name} is missing: {_ALONE}"
        yield file.find(
            "wrap_missing", message, "`hookctl doctor --fix` puts it back.", program.path
        )
    elif not program.is_recorded:
        message = (
            f"{program.name}, which runs wrapped hooks of other tools, was changed since "
            "hookctl installed it"
        )
        yield file.find("wrap_changed", message, file.again(GUARD), program.path)
