"""From a wish ("install the guard for Claude Code") to a plan: which bytes of which files become what, and why.

Planning reads and never writes; apply.py does exactly what a plan says. A module a wish; here is what they share.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from hookctl import apply, files, ledger, project_ledger, runtime_files
from hookctl.documents import Document
from hookctl.errors import USAGE, HookctlError
from hookctl.folders import Folders
from hookctl.hosts import Host, shapes
from hookctl.live import READ_AGAIN, READ_PAUSE
from hookctl.model import Action, Change, Conflict, Decision, Drop, DropElement, PackRecord, Record
from hookctl.places import Place, new_file_mode, require_inside, top
from hookctl.planner import project_files


class FilePlan(NamedTuple):
    """What happens to one settings file, and to the runtime files that go with it."""

    place: Place
    before: Document  # an empty one where the file cannot be read as one
    after: bytes | None
    path: str
    old: bytes | None  # what is there now
    record: Record | None
    decision: Decision
    runtime: tuple[Change, ...] = ()
    runtime_actions: tuple[tuple[str, Action], ...] = ()  # file and action
    key: str = ""  # of the ledger's page so far; another one where links have moved the file
    rmdirs: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    commands: frozenset[tuple[str, str]] = frozenset()  # event and command of the hooks that the pack wants

    @property
    def settings(self) -> Change | None:
        """The change of the settings file; None where its bytes stay."""
        if self.old == self.after:
            return None
        return Change(self.path, self.old, self.after, new_file_mode(self.place), settings=True)


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


def assemble(folders: Folders, records: Mapping[str, Record], plans: list[FilePlan], *, install: bool) -> Plan:
    """One plan of all files: a pack's files before their registrations on install, after them on uninstall."""
    changed: dict[str, Record | None] = {plan.key: None for plan in plans if plan.key != plan.path}
    changed |= {plan.path: plan.record for plan in plans}
    changed = {path: record for path, record in changed.items() if records.get(path) != record}
    own: list[Change] = []
    for project in dict.fromkeys(plan.place.project for plan in plans if plan.place.shared):
        number = next(n for n, plan in enumerate(plans) if plan.place.project == project and plan.place.shared)
        extra = project_files.plan(folders, records, changed, plans[number].place, _going(plans))
        own += extra.changes
        plans[number] = plans[number]._replace(
            runtime_actions=(*plans[number].runtime_actions, *extra.actions),
            rmdirs=tuple(sorted({*plans[number].rmdirs, *extra.rmdirs}, key=len, reverse=True)),
        )
    for plan in plans:
        if plan.settings and plan.place.project:
            require_inside(plan.place.project, plan.path)  # a link may have come after the place was found
    settings = [plan.settings for plan in plans if plan.settings]
    runtime = [change for plan in plans for change in plan.runtime]
    # The project's ledger comes last: what an interrupted run left is told by the settings first.
    order = (*runtime, *settings, *own) if install else (*settings, *runtime, *own)
    rmdirs = tuple(sorted({folder for plan in plans for folder in plan.rmdirs}, key=len, reverse=True))
    return Plan(tuple(plans), order, changed, rmdirs)


def _going(plans: list[FilePlan]) -> set[str]:
    removed = {change.path for plan in plans for change in plan.runtime if change.after is None}
    return removed.union(*(plan.rmdirs for plan in plans))


def page_for(
    folders: Folders, records: Mapping[str, Record], place: Place, document: Document
) -> tuple[str, Record | None, str]:
    """The page of a settings file and its key; without a page, the folder that an orphan of ours in it runs from.

    The folder names the page too: it is that of a settings file which is not where it was any more. So do the bytes
    that our last write left, and commands of ours, where the file's project is gone.
    """
    key, record = ledger.page_of(records, place.path)
    _same_scope(record or (None if place.shared else project_ledger.page_at(folders, key)), place)
    if record is not None:
        return key, _moved(record, place), ""
    folder = runtime_files.folder_of_orphan(folders, document, place)
    for other, page in records.items():
        if folder and not os.path.lexists(other) and any(pack.folder == folder for pack in page.packs.values()):
            _same_scope(page, place)
            return other, _moved(page, place), ""
    other = _gone_from(records, place)
    if other:
        return other, _moved(records[other], place), ""
    taken = any(pack.folder == folder for page in records.values() for pack in page.packs.values())
    return key, None, "" if taken else folder


def _gone_from(records: Mapping[str, Record], place: Place) -> str:
    """The key of the only page whose settings file may have been moved here; empty if it is none or not sure."""
    gone = {
        key: page
        for key, page in records.items()
        if (page.host, page.scope) == (place.host.name, place.scope) and not os.path.lexists(key)
        and not place.shared and not os.path.isdir(page.project)
    }  # fmt: skip
    sha = files.read(place.path).sha
    same = [key for key, page in gone.items() if sha and page.sha256_after == sha]
    found = same or [key for key, page in gone.items() if ledger.holds(place.path, page)]
    return found[0] if len(found) == 1 else ""


def _same_scope(record: Record | None, place: Place) -> None:
    """In a home that is a project too, one file would be two scopes' at once."""
    if record is not None and record.scope != place.scope:
        message = f"this is installed at {record.scope} scope already"
        hint = f"Use --scope {record.scope}, or uninstall it there first."
        raise HookctlError("usage", message, path=place.path, hint=hint, exit_code=USAGE)


def _moved(record: Record, place: Place) -> Record:
    """The page of a project that lies somewhere else now; the folders that we made in it have gone along."""
    if record.project == place.project:
        return record
    old, new = top(record.project), top(place.project)
    dirs = tuple(new + folder.removeprefix(old) if folder.startswith(old) else folder for folder in record.created_dirs)
    return record._replace(project=place.project, created_dirs=dirs)


def is_exact(record: Record, snapshot: files.Snapshot) -> bool:
    """Whether nobody else has written the file since our first write, so that its first backup is what was there."""
    return bool(record.sha256_before) and snapshot.sha == record.sha256_after


def with_top(host: Host, document: Document, decision: Decision) -> Decision:
    """The same, but the keys that the file must have stay with hooks of others: without them the host loads none."""
    top = {(key,) for key in host.data["registration"].get("top", {})}
    going = {edit.element.path for edit in decision.edits if isinstance(edit, DropElement)}
    stays = {edit.path for edit in decision.edits if isinstance(edit, Drop) and edit.path in top}
    root = document.value if isinstance(document.value, dict) else {}
    if not stays or all(path in going for path, *_ in shapes.handlers(host.shape, root)):
        return decision
    edits = tuple(edit for edit in decision.edits if not (isinstance(edit, Drop) and edit.path in stays))
    actions = tuple(action for action in decision.actions if action.path not in stays)
    reason = f"without it {host.title} may load no hook of this file, and hooks of yours are left"
    kept = [Action("keep", path, from_state="owned", to_state="free", reason=reason) for path in sorted(stays)]
    return decision._replace(edits=edits, actions=actions, kept=(*decision.kept, *kept))


def next_record(
    record: Record | None, place: Place, snapshot: files.Snapshot, after: bytes | None, decision: Decision,
    packs_now: dict[str, PackRecord], *, anew: bool = False,
) -> Record:  # fmt: skip
    """The ledger's page after the write; the first backup stays good only while nobody else writes in between.

    With `anew`, somebody made the file again without anything of ours: it is theirs, and as if never written by us.
    """
    if anew and record and snapshot.data is not None:
        dirs = tuple(folder for folder in record.created_dirs if not snapshot.path.startswith(f"{folder}/"))
        record = record._replace(created_file=False, created_dirs=dirs, sha256_before="", sha256_after="")
    if record is None:
        created = snapshot.data is None and after is not None
        dirs = tuple(files.missing_folders(os.path.dirname(snapshot.path))) if created else ()
        return Record(place.host.name, place.scope, place.host.format, created, dirs, packs_now, snapshot.sha,
                      files.digest(after), decision.entries, place.path, place.project)  # fmt: skip
    # Nothing of ours was ever written: only adopted values. (A clone knows no hashes, but has our entries.)
    none_ours = all(entry.mode == "adopted" for entry in record.entries)
    first = anew or (record.sha256_before == record.sha256_after and none_ours)
    page = record._replace(packs=packs_now, entries=decision.entries, known_as=place.path)
    if snapshot.data == after:
        return page
    before = snapshot.sha if first else record.sha256_before
    if not first and snapshot.sha != record.sha256_after:
        before = ""
    if snapshot.data is None and after is not None:
        dirs = dict.fromkeys((*files.missing_folders(os.path.dirname(snapshot.path)), *record.created_dirs))
        page = page._replace(created_file=True, created_dirs=tuple(dirs))
    return page._replace(sha256_before=before, sha256_after=files.digest(after))


def with_own_folders(
    folders: Folders, records: Mapping[str, Record], place: Place, record: Record, *, lost: bool = False
) -> Record:
    """The page with the folders around hookctl's own files that are made now, or that another page's install made.

    The last page to leave removes them; one that somebody else has made is in no page, and stays. With `lost`, the
    ledger did not know what lies there and is ours: then so is the folder that is for nothing else.
    """
    top = runtime_files.own_top(folders, place)
    others = (folder for page in records.values() for folder in page.created_dirs if f"{top}/".startswith(f"{folder}/"))
    made = dict.fromkeys((*record.created_dirs, *others, *files.missing_folders(top), *([top] if lost else ())))
    return record._replace(created_dirs=tuple(made))
