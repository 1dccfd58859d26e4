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

from hookctl import apply, engine, files, interpreter, ledger, packs, runtime_files
from hookctl.documents import MISSING
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.folders import Folders
from hookctl.hosts import Host, settings_path, shapes
from hookctl.live import READ_AGAIN, READ_PAUSE, look, read_document
from hookctl.model import Action, Change, Conflict, Decision, Entry, PackRecord, Record, Want
from hookctl.packs import guard


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
        for _ in range(READ_AGAIN):
            now = plan()
            if now.empty or now.conflicts:
                return now
            try:
                apply.execute(folders, now.changes, now.records, now.rmdirs)
            except files.Changed:
                time.sleep(READ_PAUSE)
                continue
            _second_look(now, say)
            return now
    message = f"another program kept changing the file, {READ_AGAIN} times in a row"
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


def plan_uninstall(folders: Folders, pack: str, places: Iterable[tuple[Host, str, str]]) -> Plan:
    """What taking the pack out of these settings files would do; each with its page's key, or an empty one."""
    content = packs.load(pack)
    records = ledger.load(folders.ledger)
    plans = [_uninstall_one(folders, records, content, host, path, key) for host, path, key in places]
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


def _install_one(
    folders: Folders, records: Mapping[str, Record], pack: dict[str, Any], host: Host, choice: Choice
) -> FilePlan:
    path = settings_path(host, "user", folders.environ)
    snapshot, document = read_document(path)
    document.require_strict(comments=host.comments, trailing_commas=host.trailing_commas)
    key, record, orphaned = _page(folders, records, path, document, host)
    known = record.packs.get("guard") if record else None
    recorded = guard.settings_from(known.settings if known else {})
    settings = guard.choose(guard.Settings(python=recorded.python) if choice.reset else recorded,
                            choice.mode, list(choice.assignments))  # fmt: skip
    messages = _switched_off(host, document)
    if not _runs(settings.python):
        python, warning = interpreter.choose(folders.environ)
        settings, messages = settings._replace(python=python), (*messages, *([warning] if warning else []))
    folder = known.folder if known else ""
    folder = folder or orphaned or runtime_files.folder_for(folders, records, host, key)
    entries = record.entries if record else ()
    wants = _guard_wants(document, entries, settings, host, pack, folder, choice.force)
    live = look(document, wants, entries)
    version = pack["pack"]["version"]
    decision = engine.install(entries, live, "guard", version, wants, force=choice.force)
    if decision.conflicts:
        return FilePlan(host.name, "user", document, snapshot.data, snapshot.path, snapshot.data is not None, record,
                        decision, key=key)  # fmt: skip
    edited = shapes.apply(document, decision.edits) if decision.edits else document
    runtime = runtime_files.install(folders, known, settings, folder, choice.force)
    page = PackRecord(version, _recorded(settings, runtime.configuration), folder, runtime.written)
    after = edited.data if decision.edits else snapshot.data
    packs_now = {**(record.packs if record else {}), "guard": page}
    anew = record is not None and snapshot.sha != record.sha256_after and engine.wiped(entries, live)
    result = _next_record(record, host, snapshot, after, decision, packs_now, anew=anew)._replace(known_as=path)
    if runtime.changes:  # the data folder's own folders go with its files; those above it only if we make them
        made = dict.fromkeys((*result.created_dirs, *files.missing_folders(os.path.dirname(folders.data))))
        result = result._replace(created_dirs=tuple(made))
    return FilePlan(host.name, "user", document, after, snapshot.path, snapshot.data is not None, result,
                    decision._replace(kept=(*decision.kept, *runtime.kept)), runtime.changes, runtime.actions, key,
                    runtime.rmdirs, messages)  # fmt: skip


def _page(
    folders: Folders, records: Mapping[str, Record], path: str, document: JsonDocument, host: Host
) -> tuple[str, Record | None, str]:
    """The page of a settings file and its key; without a page, the folder that an orphan of ours in it runs from.

    The folder names the page too: it is that of a settings file which is not where it was any more.
    """
    key, record = ledger.page_of(records, path)
    if record is not None:
        return key, record, ""
    folder = runtime_files.folder_of_orphan(folders, document, host)
    for other, page in records.items():
        if folder and not os.path.lexists(other) and any(pack.folder == folder for pack in page.packs.values()):
            return other, page, ""
    taken = any(pack.folder == folder for page in records.values() for pack in page.packs.values())
    return key, None, "" if taken else folder


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


def _next_record(
    record: Record | None, host: Host, snapshot: files.Snapshot, after: bytes | None, decision: Decision,
    packs_now: dict[str, PackRecord], *, anew: bool = False,
) -> Record:  # fmt: skip
    """The ledger's page after the write; the first backup stays good only while nobody else writes in between.

    With `anew`, somebody made the file again without anything of ours: it is theirs, and as if never written by us.
    """
    if anew and record and snapshot.data is not None:
        record = record._replace(created_file=False, created_dirs=(), sha256_before="", sha256_after="")
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


def _uninstall_one(
    folders: Folders, records: Mapping[str, Record], pack: dict[str, Any], host: Host, path: str, page: str
) -> FilePlan:
    key, record = ledger.page_of(records, path)
    if page and key != page:  # the file of another page stands where this one's was: there is nothing left to edit
        key, record, orphaned = page, records[page], ""
        snapshot, document = files.Snapshot(page, None), JsonDocument.parse(b"", where=page)
    else:
        try:
            snapshot, document = read_document(path)
        except HookctlError as error:
            raise _by_hand(error, record.entries if record else ()) from None
        key, record, orphaned = _page(folders, records, path, document, host)
    entries = record.entries if record else ()
    known = record.packs.get("guard") if record else None
    folder = known.folder if known else orphaned
    settings = guard.settings_from(known.settings if known else {})
    wants = guard.wants(settings._replace(mode="breaker"), host, pack, folder, guard.wanted_limit(settings))
    try:
        # Without a page in the ledger only an element of ours can be told; then nothing else must have a shape.
        live = look(document, wants if orphaned else (), entries)
    except HookctlError as error:
        raise _by_hand(error, entries) from None
    decision = engine.uninstall(entries, live, "guard", wants)
    packs_left = {name: page for name, page in (record.packs if record else {}).items() if name != "guard"}
    after = _after_uninstall(folders, snapshot, document, decision, record, packs_left)
    result = None
    if record and packs_left:
        result = _next_record(record, host, snapshot, after, decision, packs_left)
    others = {page.folder for name, other in records.items() if name != key for page in other.packs.values()}
    runtime = runtime_files.Runtime()
    if known or decision.edits:
        runtime = runtime_files.uninstall(folders, known or runtime_files.unknown_page(folders, folder), others)
    dirs = sorted(record.created_dirs, key=len, reverse=True) if record and not packs_left else ()
    return FilePlan(host.name, record.scope if record else "user", document, after, snapshot.path,
                    snapshot.data is not None, result, decision._replace(kept=(*decision.kept, *runtime.kept)),
                    runtime.changes, runtime.actions, key, (*runtime.rmdirs, *dirs))  # fmt: skip


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
