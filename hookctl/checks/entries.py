"""Judges the entries of hookctl: are they there once, unchanged, and do they still work?"""

from __future__ import annotations

import json
from collections.abc import Iterator

from hookctl import __version__, clock
from hookctl.checks.codes import Finding
from hookctl.checks.file import File
from hookctl.documents.rules import RulesDocument
from hookctl.hosts import loading
from hookctl.hosts.shapes import event_of
from hookctl.masking import masked
from hookctl.model import WRAP, Current, Entry, HookEntry, Hooks
from hookctl.ownership import consent, engine
from hookctl.packs import guard
from hookctl.settings.targets import GUARD


def judge(file: File) -> Iterator[Finding]:
    """The entries of one settings file against the ledger."""
    if file.current is None:
        return
    if isinstance(file.document, RulesDocument):
        yield from _judge_blocks(file, file.document, file.current)
        return
    known = {entry.id: entry.written.get("command") for entry in file.entries if entry.id}
    for hook in file.elements:
        if hook.id not in known:
            yield _report_unknown(file, hook)
        elif file.target.shared and hook.pack == GUARD:
            yield from _judge_command(file, hook, known[hook.id])
    others = Hooks(hook for hook in file.elements if not hook.id.startswith(WRAP))
    for id, copies in sorted(others.by_id.items()):
        if len(copies) > 1 and file.document:
            paths = ", ".join(file.document.name_of(hook.path) for hook in copies)
            yield file.find("entry_doubled", id=id, count=len(copies), paths=paths)
    for hook in others:
        why = _find_defect(file, hook)
        if why:
            again = file.again(hook.pack)
            yield file.find("entry_disarmed", level=file.level, id=hook.id, why=why, again=again)
    if file.record is not None:
        yield from _judge_record(file, file.current)


def _judge_blocks(file: File, document: RulesDocument, current: Current) -> Iterator[Finding]:
    """The blocks of rules in a file with instructions: each there once, as it was written."""
    known = {str(entry.path[0]): entry for entry in file.entries}
    for pack in dict.fromkeys([*known, *document.packs]):
        name, install = f"the block of rules of {pack}", file.install_of(pack)
        state = engine.state(known.get(pack), current, (pack,))
        if pack not in known:
            fix = "`hookctl install` with its pack takes it back; else remove it."
            yield file.find("ledger_missing", level=file.level, id=name, fix=fix)
        elif not document.is_clear(pack):
            line = document.position((pack,))[0]
            yield file.find("rules_doubled", pack=pack, line=line)
        elif state == "missing":
            fix = f"`{install} --force` writes it again."
            yield file.find("entry_missing", level=file.level, name=name, fix=fix)
        elif state == "overridden":
            how, edited = "it has another text", "error" if pack in file.exact else "info"
            yield file.find("entry_edited", level=edited, name=name, how=how, install=install)


def _judge_record(file: File, current: Current) -> Iterator[Finding]:
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
            command = consent.upgrade_command(file.target, file.machine.cwd_project)
        yield file.find("entries_wiped", count=len(ours), command=command)
        return
    for entry in ours:
        yield from _judge_entry(file, current, entry)


def judge_disabled(file: File) -> Iterator[Finding]:
    """What `hookctl disable` switched off."""
    kept = {hook.name for hook in file.disabled}
    for hook in file.disabled:
        is_part = bool(hook.name) and hook.pack in kept
        if (hook.name not in file.packs) if hook.is_values else is_part:
            continue
        name = f"{hook.name or 'a hook'} ({hook.event})" if hook.event else hook.name or "a value"
        yield file.find("disabled", name=name, id=hook.shown, when=clock.local(hook.since))


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
    name = entry.id or str(entry.path[-1])
    install = file.install_of(next(iter(entry.owners), GUARD))
    if state == "missing":
        fix = f"`{install} --force` restores it, and puts hookctl's values in place of yours."
        yield file.find("entry_missing", level=file.level, name=name, fix=fix)
    # An entry that does not work has another finding.
    defects = (_find_defect(file, hook) for hook in current.elements.by_id.get(entry.id, ()))
    if state != "overridden" or any(defects):
        return
    fields = current.elements.by_id[entry.id][0].fields if entry.id else {}
    every = {**entry.written, **fields} if entry.id else ()
    names = [name for name in every if fields.get(name) != entry.written.get(name)]
    how = f"it has another {' and another '.join(names)}"
    if not entry.id:
        values = (current.values[entry.path], entry.written)
        how = " instead of ".join(json.dumps(masked(value, name)) for value in values)
    # A changed value or limit is fine; a changed command may do anything, and for a whole team.
    level = "warning" if "command" in names else "info"
    # Anybody may set these fields by hand.
    is_choice = {*names} <= {"matcher", file.host.registration.timeout}
    is_exact = bool(names) and not entry.owners.keys().isdisjoint(file.exact)
    if file.target.shared and (is_exact or not is_choice):
        level = "error"
    yield file.find("entry_edited", level=level, name=name, how=how, install=install)


def _judge_wrapped(file: File, entry: Entry) -> Iterator[Finding]:
    hooks = file.elements.by_id.get(entry.id, [])
    if not hooks:
        missing, fix = "error" if file.target.shared else "info", f"`{file.install}` forgets it."
        yield file.find("entry_missing", level=missing, name=entry.id, fix=fix)
    for hook in hooks:
        if entry.written.get("command") != hook.fields.get("command"):
            values = {"name": entry.id, "how": "it has another command", "install": file.install}
            yield file.find("entry_edited", level=file.level, **values)


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
    if hook.path in file.faults:
        return file.faults[hook.path]
    return loading.why_disarmed(file.host, hook.fields, blocks=pack == GUARD)


def _judge_command(file: File, hook: HookEntry, recorded: str | None) -> Iterator[Finding]:
    """A command of the guard in a project that no hookctl writes, even if it is on record.

    The committed record proves nothing: it comes with the same commit.
    """
    id, command = hook.id, hook.fields.get("command")
    if command != recorded:  # which has a finding of its own
        return
    is_ours = guard.is_shared_command(str(command), id, file.target)
    if id.startswith(WRAP):
        is_ours = guard.is_shared_wrap(str(command), file.target)
    keys = [key for key in file.host.registration.commands if key in hook.fields]
    if {*keys} - {"command"} or not is_ours:
        how = "no version of hookctl writes its command"
        yield file.find("entry_edited", level="error", name=id, how=how, install=file.install)


def _report_unknown(file: File, hook: HookEntry) -> Finding:
    command, event = str(hook.fields.get("command")), hook.id.partition("/")[2]
    is_genuine = hook.pack == GUARD and guard.config_path(command, hook.id, event, file.target)
    level, install = "error" if is_genuine else file.level, file.install_of(hook.pack)
    fix = f"Look at it; `{install}` records it, `--force` replaces it if it was edited."
    return file.find("ledger_missing", level=level, id=hook.id, fix=fix)
