"""From a wish ("install the guard for Claude Code") to a plan: which bytes of which files become what, and why.

Planning reads and never writes; apply.py does exactly what a plan says.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from hookctl import apply, engine, files, interpreter, ledger, packs
from hookctl.documents import MISSING
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.folders import Folders, asset
from hookctl.hosts import Host, settings_path, shapes
from hookctl.model import Action, Change, Conflict, Decision, Entry, Live, PackRecord, Path, Record, Want
from hookctl.packs import guard

_READ_AGAIN = 5  # times, since a file that does not parse is most likely being written
_READ_PAUSE = 0.05  # seconds


class Choice(NamedTuple):
    """What the operator asked of an install."""

    mode: str = ""
    assignments: tuple[str, ...] = ()
    reset: bool = False
    force: bool = False


class FilePlan(NamedTuple):
    """What happens to one settings file, and to the runtime files that go with it."""

    host: str
    scope: str
    before: JsonDocument
    after: bytes | None
    path: str
    existed: bool
    record: Record | None
    decision: Decision
    runtime: tuple[Change, ...] = ()
    runtime_actions: tuple[tuple[str, Action], ...] = ()  # file and action
    key: str = ""  # of the ledger's page so far; another one where links have moved the file
    rmdirs: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()

    @property
    def settings(self) -> Change | None:
        """The change of the settings file; None where its bytes stay."""
        before = self.before.data if self.existed else None
        return None if before == self.after else Change(self.path, before, self.after, settings=True)


class Plan(NamedTuple):
    """Everything that a command would do, in the order in which it would do it."""

    files: tuple[FilePlan, ...]
    changes: tuple[Change, ...]
    records: dict[str, Record | None]  # only those that change
    rmdirs: tuple[str, ...]

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        return tuple(conflict for file in self.files for conflict in file.decision.conflicts)

    @property
    def empty(self) -> bool:
        return not self.changes and not self.records and not self.rmdirs


def carry_out(folders: Folders, plan: Callable[[], Plan], say: Callable[[str], None]) -> Plan:
    """Plan without a lock; only if there is something to write lock, plan again and write. The plan that was done."""
    # What an interrupted run left may not even parse: it is carried on before anything is planned.
    if not apply.unfinished(folders):
        first = plan()
        if first.empty or first.conflicts:
            return first
    with apply.locked(folders, lambda: say("waiting for another hookctl")):
        for line in apply.recover(folders):
            say(line)
        for _ in range(_READ_AGAIN):
            now = plan()
            if now.empty or now.conflicts:
                return now
            try:
                apply.execute(folders, now.changes, now.records, now.rmdirs)
            except files.Changed:
                time.sleep(_READ_PAUSE)
                continue
            _second_look(now, say)
            return now
    message = f"another program kept changing the file, {_READ_AGAIN} times in a row"
    hint = "Close the agents that use it and try again."
    raise HookctlError("changed_meanwhile", message, path=now.files[0].path, hint=hint)


def _second_look(plan: Plan, say: Callable[[str], None]) -> None:
    for change in plan.changes:
        there = None
        with contextlib.suppress(HookctlError):
            there = files.read(change.path)
        if change.settings and (there is None or there.data != change.after):
            say(f"{change.path}: another program wrote it right behind us; run `hookctl doctor` to see what is left")


def plan_install(folders: Folders, pack: str, hosts: Iterable[Host], choice: Choice) -> Plan:
    """What an install of the pack at user scope would do for these hosts."""
    content = packs.load(pack)
    guard.choose(guard.Settings(), choice.mode, list(choice.assignments))  # a slip there is said before any other
    records = ledger.load(folders.ledger)
    return _together(records, [_install_one(folders, records, content, host, choice) for host in hosts], install=True)


def plan_uninstall(folders: Folders, pack: str, places: Iterable[tuple[Host, str]]) -> Plan:
    """What taking the pack out of these settings files would do."""
    content = packs.load(pack)
    records = ledger.load(folders.ledger)
    plans = [_uninstall_one(folders, records, content, host, path) for host, path in places]
    return _together(records, plans, install=False)


def _together(records: Mapping[str, Record], plans: list[FilePlan], *, install: bool) -> Plan:
    """Runtime files before registrations on install, after them on uninstall."""
    settings = [plan.settings for plan in plans if plan.settings]
    runtime = [change for plan in plans for change in plan.runtime]
    changed: dict[str, Record | None] = {plan.key: None for plan in plans if plan.key != plan.path}
    changed |= {plan.path: plan.record for plan in plans if records.get(plan.path) != plan.record}
    changed = {path: record for path, record in changed.items() if records.get(path) != record}
    order = (*runtime, *settings) if install else (*settings, *runtime)
    rmdirs = tuple(folder for plan in plans for folder in plan.rmdirs)
    return Plan(tuple(plans), order, changed, rmdirs)


def read_document(path: str) -> tuple[files.Snapshot, JsonDocument]:
    """The file and its document; one that does not parse is read again, since somebody may be writing it."""
    for rest in reversed(range(_READ_AGAIN)):
        snapshot = files.read(path)
        try:
            return snapshot, JsonDocument.parse(snapshot.data or b"", where=path)
        except HookctlError:
            if not rest:
                raise
            time.sleep(_READ_PAUSE)
    raise AssertionError("not reached")


def look(document: JsonDocument, wants: Iterable[Want], entries: Iterable[Entry]) -> Live:
    """The live values at the places that concern us; refuses shapes and doubled keys that an edit would meet."""
    root = {} if document.value is MISSING else document.value
    if not isinstance(root, dict):
        raise _wrong_shape(document, (), "an object")
    values: dict[Path, Any] = {}
    raw: dict[Path, str] = {}
    for place in (*wants, *entries):
        document.check_path(place.path)
        array = place.kind == "element"
        for length in range(1, len(place.path) + 1):
            path = place.path[:length]
            value = document.get(path)
            if value is MISSING:
                break
            leaf = length == len(place.path) and place.kind == "leaf"
            fits = leaf or isinstance(value, list if array and length == len(place.path) else dict)
            if not fits and place.kind != "container":
                raise _wrong_shape(document, path, "an array" if array and length == len(place.path) else "an object")
            values[path] = value
            if leaf:
                raw[path] = document.raw(path)
    elements = shapes.elements(root)
    return Live(values, raw | {element.path: document.raw(element.path) for element in elements}, elements)


def _wrong_shape(document: JsonDocument, path: Path, needed: str) -> HookctlError:
    line, column = document.position(path)
    name = ".".join(map(str, path)) or "the document"
    message, hint = f"{name} is not {needed}", f"Make it {needed}, then run the command again."
    return HookctlError("wrong_shape", message, path=document.where, line=line, column=column, hint=hint)


def _install_one(
    folders: Folders, records: Mapping[str, Record], pack: dict[str, Any], host: Host, choice: Choice
) -> FilePlan:
    path = settings_path(host, "user", folders.environ)
    snapshot, document = read_document(path)
    document.require_strict(comments=host.comments, trailing_commas=host.trailing_commas)
    key, record = ledger.page_of(records, path)
    known = record.packs.get("guard") if record else None
    recorded = guard.settings_from(known.settings if known else {})
    settings = guard.choose(guard.Settings(python=recorded.python) if choice.reset else recorded,
                            choice.mode, list(choice.assignments))  # fmt: skip
    messages = _switched_off(host, document)
    if not _runs(settings.python):
        python, warning = interpreter.choose(folders.environ)
        settings, messages = settings._replace(python=python), (*messages, *([warning] if warning else []))
    folder = known.folder if known and known.folder else _runtime_folder(folders, records, host, key)
    entries = record.entries if record else ()
    wants = _guard_wants(document, entries, settings, host, pack, folder, choice.force)
    live = look(document, wants, entries)
    version = pack["pack"]["version"]
    decision = engine.install(entries, live, "guard", version, wants, force=choice.force)
    if decision.conflicts:
        return FilePlan(host.name, "user", document, snapshot.data, snapshot.path, snapshot.data is not None, record,
                        decision, key=key)  # fmt: skip
    edited = shapes.apply(document, decision.edits) if decision.edits else document
    runtime = _runtime_install(folders, known, settings, folder, choice.force)
    page = PackRecord(version, _recorded(settings, runtime.configuration), folder, runtime.written)
    after = edited.data if decision.edits else snapshot.data
    packs_now = {**(record.packs if record else {}), "guard": page}
    result = _next_record(record, host, snapshot, after, decision, packs_now)._replace(known_as=path)
    return FilePlan(host.name, "user", document, after, snapshot.path, snapshot.data is not None, result,
                    decision._replace(kept=(*decision.kept, *runtime.kept)), runtime.changes, runtime.actions, key,
                    runtime.rmdirs, messages)  # fmt: skip


def _switched_off(host: Host, document: JsonDocument) -> tuple[str, ...]:
    key = host.data["switches"]["disable"]
    if document.get((key,)) is True:
        return (f"{key} is true in {document.where}, so no hook runs until that is removed",)
    return ()


def _guard_wants(
    document: JsonDocument, entries: tuple[Entry, ...], settings: guard.Settings, host: Host, pack: dict[str, Any],
    folder: str, force: bool,
) -> list[Want]:  # fmt: skip
    """The guard's wants, with the cap derived from the limit that will be in effect in this file."""
    wants = guard.wants(settings, host, pack, folder, guard.wanted_limit(settings))
    if not wants:
        return []
    trial = engine.install(entries, look(document, wants, entries), "guard", "", wants, force=force)
    limit = guard.limit_path(host)
    written = {edit.path: edit.value for edit in trial.edits if hasattr(edit, "value")}
    value = written.get(limit, document.get(limit))
    effective = "" if value is MISSING else value if isinstance(value, str) else json.dumps(value)
    return guard.wants(settings, host, pack, folder, effective)


def _runs(python: str) -> bool:
    return bool(python) and os.path.isfile(python) and os.access(python, os.X_OK)


def _recorded(settings: guard.Settings, configuration: dict[str, Any]) -> dict[str, Any]:
    return {"mode": settings.mode, "knobs": settings.knobs, "python": settings.python, "config": configuration}


def _runtime_folder(folders: Folders, records: Mapping[str, Record], host: Host, settings: str) -> str:
    """One folder a registration: a second settings file of the same host and scope gets one with its hash."""
    folder = os.path.join(folders.data, "guard", f"{host.name}-user")
    taken = {pack.folder for path, record in records.items() if path != settings for pack in record.packs.values()}
    return f"{folder}-{files.digest(os.fsencode(settings))[:16]}" if folder in taken else folder


def _next_record(
    record: Record | None, host: Host, snapshot: files.Snapshot, after: bytes | None, decision: Decision,
    packs_now: dict[str, PackRecord],
) -> Record:  # fmt: skip
    """The ledger's page after the write; the first backup stays good only while nobody else writes in between."""
    if record is None:
        created = snapshot.data is None and after is not None
        dirs = tuple(files.missing_folders(os.path.dirname(snapshot.path))) if created else ()
        return Record(host.name, "user", host.format, created, dirs, packs_now, snapshot.sha, files.digest(after),
                      decision.entries)  # fmt: skip
    first = record.sha256_before == record.sha256_after  # nothing of ours was ever written: only adopted values
    page = record._replace(packs=packs_now, entries=decision.entries)
    if snapshot.data == after:
        return page
    before = snapshot.sha if first else record.sha256_before
    if not first and snapshot.sha != record.sha256_after:
        before = ""
    if snapshot.data is None and after is not None:
        dirs = tuple(files.missing_folders(os.path.dirname(snapshot.path))) or record.created_dirs
        page = page._replace(created_file=True, created_dirs=dirs)
    return page._replace(sha256_before=before, sha256_after=files.digest(after))


class _Runtime(NamedTuple):
    """What happens to the files that a registration points to."""

    changes: tuple[Change, ...] = ()
    actions: tuple[tuple[str, Action], ...] = ()
    kept: tuple[Action, ...] = ()
    written: dict[str, str] = {}  # noqa: RUF012 (name to sha256 as we wrote it)
    configuration: dict[str, Any] = {}  # noqa: RUF012 (as we wrote it)
    rmdirs: tuple[str, ...] = ()


def _runtime_install(
    folders: Folders, known: PackRecord | None, settings: guard.Settings, folder: str, force: bool
) -> _Runtime:
    if settings.mode == "off":
        return _runtime_uninstall(folders, known._replace(folder=folder), set()) if known else _Runtime()
    with open(asset("templates", "guard", "hook.py"), "rb") as stream:
        program = stream.read()
    wanted = guard.configuration(settings, folders.state)
    changes, actions, kept, written = [], [], [], {}
    kept_knobs: list[Action] = []
    for name, text in (("hook.py", program), ("config.json", None)):
        path = os.path.join(folder, name)
        there = files.read(path)
        ours = known.files.get(name, "") if known else ""
        if text is None:
            written_before = known.settings.get("config", {}) if known else {}
            text, kept_knobs = _configuration(there, written_before, wanted, force)
            kept += kept_knobs
        elif there.data is not None and there.sha not in (ours, files.digest(text)) and not force:
            kept.append(_file_action("keep", path, "edited by hand, so it stays; `install --force` puts ours back"))
            written[name] = ours
            continue
        # A configuration with an edit of the operator's in it is not ours to remove.
        written[name] = "" if kept_knobs else files.digest(text)
        if there.data != text:
            word = "create-file" if there.data is None else "replace-file"
            changes.append(Change(there.path, there.data, text))
            actions.append((path, _file_action(word, path)))
    return _Runtime(tuple(changes), tuple(actions), tuple(kept), written, wanted)


def _configuration(
    there: files.Snapshot, written: dict[str, Any], wanted: dict[str, Any], force: bool
) -> tuple[bytes, list[Action]]:
    """config.json with what is wanted, knob by knob, except what the operator changed in it."""
    live: dict[str, Any] = {}
    if there.data is not None and not force:
        value = JsonDocument.parse(there.data, where=there.path, comments=False, trailing_commas=False).value
        live = value if isinstance(value, dict) else {}
    edited = {name for name in live if not engine.same(live[name], written.get(name))}
    edited -= {name for name in edited if engine.same(live[name], wanted.get(name))}
    if not written:
        edited -= {"mode", "state_dir"}  # left over from an earlier install: these two are hookctl's own
    values = {name: live[name] if name in edited else wanted[name] for name in {**wanted, **dict.fromkeys(edited)}}
    kept = [
        _file_action("keep", there.path, f"kept your {name}={json.dumps(live[name])}; `install --force` takes it over")
        for name in sorted(edited)
    ]
    if there.data is not None and engine.same(live, values):
        return there.data, kept
    return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode(), kept


def _file_action(action: str, path: str, reason: str = "") -> Action:
    return Action(action, (path,), "file", reason=reason)


def _uninstall_one(
    folders: Folders, records: Mapping[str, Record], pack: dict[str, Any], host: Host, path: str
) -> FilePlan:
    key, record = ledger.page_of(records, path)
    entries = record.entries if record else ()
    known = record.packs.get("guard") if record else None
    folder = known.folder if known else _runtime_folder(folders, records, host, key)
    settings = guard.settings_from(known.settings if known else {})
    wants = guard.wants(settings._replace(mode="breaker"), host, pack, folder, guard.wanted_limit(settings))
    try:
        snapshot, document = read_document(path)
        # Without a page in the ledger only an element of ours can be told; then nothing else must have a shape.
        live = look(document, () if record is None else wants, entries)
        if record is None and any(element.id.startswith("guard/") for element in live.elements):
            live = look(document, wants, entries)
    except HookctlError as error:
        raise _by_hand(error, entries) from None
    decision = engine.uninstall(entries, live, "guard", wants)
    packs_left = {name: page for name, page in (record.packs if record else {}).items() if name != "guard"}
    after = _after_uninstall(folders, snapshot, document, decision, record, packs_left)
    result = None
    if record and packs_left:
        result = _next_record(record, host, snapshot, after, decision, packs_left)
    others = {page.folder for name, other in records.items() if name != key for page in other.packs.values()}
    runtime = _Runtime()
    if known or decision.edits:
        runtime = _runtime_uninstall(folders, known or _unknown_page(folders, folder), others)
    dirs = record.created_dirs if record and after is None else ()
    return FilePlan(host.name, record.scope if record else "user", document, after, snapshot.path,
                    snapshot.data is not None, result, decision._replace(kept=(*decision.kept, *runtime.kept)),
                    runtime.changes, runtime.actions, key, (*dirs, *runtime.rmdirs))  # fmt: skip


def _after_uninstall(
    folders: Folders, snapshot: files.Snapshot, document: JsonDocument, decision: Decision, record: Record | None,
    packs_left: dict[str, PackRecord],
) -> bytes | None:  # fmt: skip
    """The very bytes from before us where nobody else wrote since; else the file without exactly our entries."""
    edited = shapes.apply(document, decision.edits) if decision.edits else document
    if snapshot.data is None or record is None or packs_left:
        return edited.data if decision.edits else snapshot.data
    if snapshot.sha == record.sha256_after and record.sha256_before:
        backup = files.find_backup(folders.state, record.sha256_before)
        if backup is not None and _means(backup, edited):
            return backup
    ours = bool(decision.edits) or snapshot.sha == record.sha256_after  # else somebody has made it anew
    if record.created_file and ours and edited.data.strip() in (b"", b"{}"):
        return None
    return edited.data if decision.edits else snapshot.data


def _unknown_page(folders: Folders, folder: str) -> PackRecord:
    """Where the ledger is lost: only files that are as this version writes them are surely ours."""
    with open(asset("templates", "guard", "hook.py"), "rb") as stream:
        program = stream.read()
    text, _ = _configuration(files.Snapshot("", None), {}, guard.configuration(guard.Settings(), folders.state), False)
    return PackRecord("", {}, folder, {"hook.py": files.digest(program), "config.json": files.digest(text)})


def _means(backup: bytes, edited: JsonDocument) -> bool:
    """Whether the backup says the same as the structural removal: an empty file and {} do."""
    try:
        value = JsonDocument.parse(backup).value
    except HookctlError:
        return False
    return (value or {}) == (edited.value or {})


def _by_hand(error: HookctlError, entries: tuple[Entry, ...]) -> HookctlError:
    """The same refusal with what to remove by hand."""
    ours = [
        f"in {'.'.join(map(str, entry.path))}: {json.dumps(entry.written, ensure_ascii=False)}"
        if entry.id
        else f"in {'.'.join(map(str, entry.path[:-1]))}: {json.dumps({entry.path[-1]: entry.written})[1:-1]}"
        for entry in entries
        if entry.kind != "container" and entry.mode == "owned"
    ]
    if ours:
        error.hint = "\n  ".join([f"{error.hint} Or remove by hand:".strip(), *ours])
    return error


def _runtime_uninstall(folders: Folders, known: PackRecord, others: set[str]) -> _Runtime:
    """The files that we wrote and nobody edited go, and their folders if they are empty then."""
    if known.folder in others or not known.folder:
        return _Runtime()
    changes, actions, kept = [], [], []
    for name, sha in known.files.items():
        path = os.path.join(known.folder, name)
        there = files.read(path)
        if there.data is not None and there.sha == sha:
            changes.append(Change(there.path, there.data, None))
            actions.append((path, _file_action("remove-file", path)))
        elif there.data is not None:
            kept.append(_file_action("keep", path, "edited by hand, so it stays; nothing runs it any more"))
    rmdirs = (known.folder, os.path.dirname(known.folder), folders.data) if changes else ()
    return _Runtime(tuple(changes), tuple(actions), tuple(kept), {}, {}, rmdirs)
