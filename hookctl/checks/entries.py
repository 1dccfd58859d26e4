"""Is what we wrote still there, once, and as we wrote it? And does it still do what it is for?"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator

from hookctl import clock, engine
from hookctl.checks import handlers, limits
from hookctl.checks.codes import Finding
from hookctl.checks.facts import FileFacts, ProgramFile
from hookctl.hosts.shapes import event_of
from hookctl.masking import masked, masked_text
from hookctl.model import WRAP, Current, Entry, HookEntry
from hookctl.packs import guard
from hookctl.packs.choices import settings_from
from hookctl.packs.wrapping import PROGRAM, original_of
from hookctl.settings.targets import GUARD


def judge(file: FileFacts) -> Iterator[Finding]:
    """The entries of one settings file against the ledger."""
    current = file.current
    if current is None:
        return
    others = tuple(element for element in current.elements if not element.id.startswith(WRAP))
    current = current._replace(elements=others)
    yield from _unknown(file, current)
    yield from _doubled(file, current)
    yield from _disarmed(file, current)
    record = file.record
    if record is None:
        return
    ours = [
        entry for entry in record.entries if entry.kind != "container" and entry.mode == "owned"
    ]
    ours = [
        entry for entry in ours if not entry.id.startswith(WRAP)
    ]  # judge_wrapped looks at those
    if engine.wiped(ours, current):
        yield _wiped(file, len(ours))
        return
    for entry in ours:
        yield from _one(file, current, entry)


def _wiped(file: FileFacts, count: int) -> Finding:
    when = ""
    if file.written_at is not None:  # there may be no file any more
        with contextlib.suppress(OSError, ValueError, OverflowError):  # a time that no date can say
            when = f", and the file was written at {clock.local(file.written_at)}"
    message = f"{count} of {count} entries are gone{when}: was the file reset?"
    fix = "`hookctl doctor --fix` restores them. Restart running agents: they may write old settings back."
    if file.target.shared:
        message += " Or was it not committed together with .hookctl/?"
        fix = f"`hookctl doctor --fix` restores the guard. Install other packs again."
    return file.find("entries_wiped", message, fix)


def _one(file: FileFacts, current: Current, entry: Entry) -> Iterator[Finding]:
    at = engine.state(entry, current, entry.path, entry.id)
    name = entry.id or entry.path[-1]
    install = file.install_of(next(iter(entry.owners)))
    if at == "missing":
        message = f"{name} was removed"
        yield file.find("entry_missing", message, f"`{install} --force` restores it.")
    elif (
        at == "overridden"
        and not _why_disarmed(file, current, entry.id)
        and not limits.is_at_fault(file, entry.path)
    ):
        message = f"{name} was changed{_what(current, entry)}; the change is yours and stays"
        yield file.find("entry_edited", message, f"`{install} --force` restores it.")


def _what(current: Current, entry: Entry) -> str:
    if not entry.id:
        values = (
            masked(value, str(entry.path[-1]))
            for value in (current.values[entry.path], entry.written)
        )
        return " ({} instead of {})".format(
            *(json.dumps(value, ensure_ascii=False) for value in values)
        )
    fields = next(element.fields for element in current.elements if element.id == entry.id)
    names = [
        name for name in {**entry.written, **fields} if fields.get(name) != entry.written.get(name)
    ]
    return f" ({', '.join(names)} changed)"


def _doubled(file: FileFacts, current: Current) -> Iterator[Finding]:
    ids = [element.id for element in current.elements]
    for id in sorted({id for id in ids if ids.count(id) > 1}):
        targets = ", ".join(".".join(map(str, e.path)) for e in current.elements if e.id == id)
        message = f"{id} is registered {ids.count(id)} times ({targets}), so it runs that often"
        fix = "`hookctl doctor --fix` removes unedited copies; remove edited ones by hand."
        yield file.find("entry_doubled", message, fix)


def _disarmed(file: FileFacts, current: Current) -> Iterator[Finding]:
    """Hooks of ours that the host runs no more, or not in the way that they need."""
    for element in current.elements:
        why = _why(file, element)
        if why:
            message = f"{element.id} was edited so that it does not work: {why}"
            fix = f"`{file.install_of(element.id.partition('/')[0])} --force` restores it."
            yield file.find("entry_disarmed", message, fix)


def _why_disarmed(file: FileFacts, current: Current, id: str) -> str:
    return next(
        (why for element in current.elements if element.id == id and (why := _why(file, element))),
        "",
    )


def _why(file: FileFacts, element: HookEntry) -> str:
    event, (pack, _, name) = event_of(file.host.shape, element.path), element.id.partition("/")
    wanted = file.host.events.get(name) if pack == GUARD else None
    if wanted and event != wanted:
        return f"it is registered on {event}, and not on {wanted}"
    return handlers.disarmed(file.host, event, element.fields, blocks=pack == GUARD)


def _unknown(file: FileFacts, current: Current) -> Iterator[Finding]:
    """Elements that carry our mark although the ledger has no page for them."""
    known = {entry.id for entry in file.record.entries} if file.record else set()
    for element in current.elements:
        pack, _, event = element.id.partition("/")
        if element.id in known:
            continue
        if pack != GUARD:
            message = f"{element.id} is registered here, but hookctl has no record of it"
            fix = f"`hookctl install PATH --host {file.host.name}` with the path of the pack takes it back."
            yield file.find("orphan_hook", message, fix)
        elif guard.hook_path(str(element.fields.get("command")), element.id, event, file.target):
            yield _lost(file, element.id)
        else:
            message = f"an edited copy of {element.id} is registered here; hookctl leaves it alone"
            fix = f"`{file.install} --force` replaces it."
            yield file.find("edited_copy", message, fix)


def _lost(file: FileFacts, id: str) -> Finding:
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
    """Is what limits other tools' hooks there, and does the ledger know them? Of each only the command is ours."""
    if file.current is None:
        return
    known = (
        {entry.id: entry for entry in file.record.entries if entry.id.startswith(WRAP)}
        if file.record
        else {}
    )
    there = {
        element.id: element for element in file.current.elements if element.id.startswith(WRAP)
    }
    for id, element in there.items():
        yield from _wrapped(file, element, known.get(id))
    for id in known.keys() - there.keys():
        message = f"{id} was removed together with the hook that it wrapped"
        yield file.find("wrap_gone", message, f"`{file.install}` drops it from hookctl's record.")
    if there and file.guard:
        yield from _wrapping_files(file, settings_from(file.guard.settings).events)


def _wrapped(file: FileFacts, element: HookEntry, entry: Entry | None) -> Iterator[Finding]:
    original = original_of(str(element.fields["command"]))
    if original is None:
        message = f"the command of {element.id}, which wraps another tool's hook, was edited; the change is yours and stays"
        fix = (
            f"`{file.install} --force` restores it."
            if entry
            else "Put the tool's own command back."
        )
        yield file.find("wrap_edited", message, fix)
    elif entry is None:
        message = f"{element.id} wraps {masked_text(original)}, but hookctl has no record of it"
        fix = f"`{file.install}` records it."
        yield file.find("wrap_unknown", message, fix)


def _wrapping_files(file: FileFacts, events: tuple[str, ...]) -> Iterator[Finding]:
    """What the wrapped hooks run through; the hook itself is looked at elsewhere while the guard is on."""
    for program in file.programs:
        if program.name == PROGRAM or not events:
            yield from _wrapping_file(file, program)


def _wrapping_file(file: FileFacts, program: ProgramFile) -> Iterator[Finding]:
    if program.error:
        message = f"{program.error.message}: {_ALONE}"
        yield file.find("wrap_missing", message, program.error.hint, program.path)
    elif not program.is_there:
        message = f"{program.name} is missing: {_ALONE}"
        yield file.find(
            "wrap_missing", message, "`hookctl doctor --fix` puts it back.", program.path
        )
    elif not program.is_recorded:
        message = f"{program.name}, which runs wrapped hooks of other tools, was changed since hookctl installed it"
        yield file.find(
            "wrap_changed", message, f"`{file.install} --force` restores it.", program.path
        )
