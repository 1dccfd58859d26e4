"""Jobs to a plan: each settings file is opened once, decided on, and finished with its record."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from hookctl.documents import MISSING
from hookctl.errors import FAILED, USAGE, HookctlError
from hookctl.model import Change, Record
from hookctl.ownership import store
from hookctl.ownership.draft import Draft, file_action
from hookctl.ownership.own_files import plan_programs, plan_project_files, remove_files
from hookctl.ownership.sources import Sources
from hookctl.ownership.store import DisabledFile, Records
from hookctl.settings.targets import Target, own_top, require_inside, top
from hookctl.system import files
from hookctl.system.packages import Packages


class Drafts:
    """The files of one plan: those of its jobs, and what these open beside."""

    def __init__(self, sources: Sources, records: Records) -> None:
        self.sources, self.records = sources, records
        self.asked: list[Draft] = []  # of the jobs
        self.opened: dict[str, Draft] = {}  # by their real path
        self.unread: list[HookctlError] = []  # why something of ours stays in a file

    def open(self, target: Target) -> Draft:
        """The draft of a settings file, or of one beside it."""
        real, sources, records = store.real_path(target.path), self.sources, self.records
        if real in self.opened:
            return self.opened[real]
        if target.project:
            require_inside(target.project, target.path)
        snapshot, document = sources.read(target.path, target.host.format)
        key, record = store.find_record(records, target.path)
        known = record
        if record is None and not target.shared:
            if records.projects.get(key):
                # The project's own ledger may have the file, at another scope.
                known = sources.records([records.projects[key]]).get(key)
            moved = _find_moved(records, target, snapshot.sha)
            if len(moved) == 1:
                key, record = moved[0], records[moved[0]]
        if known is not None and known.scope != target.scope:  # in a home that is a project too
            message = f"this is installed at {known.scope} scope already"
            hint = f"Use --scope {known.scope}, or uninstall it there first."
            raise HookctlError("usage", message, path=target.path, hint=hint, exit_code=USAGE)
        if record is not None and record.project != target.project:  # which was moved
            old, new = top(record.project), top(target.project)
            made = record.created_dirs
            dirs = [new + one.removeprefix(old) if one.startswith(old) else one for one in made]
            record = record._replace(project=target.project, created_dirs=tuple(dirs))
        self.opened[real] = Draft(sources, records, target, snapshot, document, key, record)
        return self.opened[real]


class Job:
    """What a command does in one settings file."""

    target: Target
    decide: Callable[[Drafts], Draft]  # each job's own: opens the file's draft, and decides on it

    def follow(self, draft: Draft, drafts: Drafts) -> None:
        """Decide on files beside it, once all jobs have decided on their own."""

    def explain(self, error: HookctlError, records: Records) -> None:
        """Add to a refusal what a person can do instead."""


def plan_jobs(
    sources: Sources,
    jobs: Iterable[Job],
    projects: Iterable[str] = (),
    *,
    install: bool = False,
    force: bool = False,
    stops: bool = True,
) -> Plan:
    """Plan jobs whose files lie in these projects or outside of any.

    A pack's files come before their registrations on `install`, and else after them. What is
    refused ends the command with `stops`; else it is named in the plan, and its file stays as it
    is. With `force`, programs of a newer hookctl are replaced.
    """
    records = sources.records(projects)
    drafts = Drafts(sources, records)
    decided: list[tuple[Job, Draft]] = []
    for job in jobs:
        try:
            draft = job.decide(drafts)
            if draft.snapshot.links > 1 and (draft.is_edited or draft.restored):
                raise _has_hard_links(draft)
        except HookctlError as error:
            error.path = error.path or job.target.path
            job.explain(error, records)
            if stops:
                raise
            drafts.unread.append(error)
            drafts.opened.pop(store.real_path(job.target.path), None)
            continue
        drafts.asked.append(draft)
        decided.append((job, draft))
    for job, draft in decided:
        job.follow(draft, drafts)
    return _assemble(drafts, install=install, force=force)


def _find_moved(records: Mapping[str, Record], target: Target, sha: str) -> list[str]:
    """The keys of records whose file is gone, with the bytes or commands of the target's file."""
    found = []
    for key, record in records.items():
        is_alike = (record.host, record.scope) == (target.host.name, target.scope)
        if not is_alike or os.path.lexists(key) or os.path.isdir(record.project):
            continue
        if (sha and record.sha256_after == sha) or store.has_our_command(target.path, record):
            found.append(key)
    return found


def _has_hard_links(draft: Draft) -> HookctlError:
    """The error of a file with several names: a write puts a whole one in the place of one name."""
    path = shlex.quote(draft.path)
    message = f"a write would part the {draft.snapshot.links} names of this file (hard links)"
    hint = f"Part them yourself: `cp -p {path} {path}.new && mv {path}.new {path}`."
    return HookctlError("hard_links", message, path=draft.path, hint=hint, exit_code=FAILED)


def _next_record(draft: Draft, after: bytes | None) -> Record:
    target, snapshot, known = draft.target, draft.snapshot, draft.known
    record = known or Record(target.host.name, target.scope, target.host.format)
    if draft.is_recreated and snapshot.data is not None:  # as if we had never written it
        dirs = [each for each in record.created_dirs if not draft.path.startswith(f"{each}/")]
        known, record = None, Record(record.host, record.scope, record.format)
        record = record._replace(created_dirs=tuple(dirs))
    record = record._replace(
        packs=draft.packs, entries=draft.entries, known_as=target.path, project=target.project
    )
    if known and snapshot.data == after:
        return record
    if snapshot.data is None and after is not None:
        missing = files.missing_folders(os.path.dirname(snapshot.path))
        created_dirs = dict.fromkeys((*missing, *record.created_dirs))
        record = record._replace(created_file=True, created_dirs=tuple(created_dirs))
    # Of the bytes before our first write. A clone knows no hashes, but has our entries; else only
    # adopted values are on record.
    before, entries = snapshot.sha, known.entries if known else ()
    is_ours = any(entry.mode != "adopted" for entry in entries)
    if known and (is_ours or known.sha256_before != known.sha256_after):
        before = known.sha256_before if snapshot.sha == known.sha256_after else ""
    return record._replace(sha256_before=before, sha256_after=files.digest(after))


def _with_made_folders(records: Records, draft: Draft, record: Record, *, was_lost: bool) -> Record:
    """The record with hookctl's own folders, and those above its file, that an install made.

    The last record to go removes them. A folder that hookctl did not make is in no record, and
    stays. Something that was ours and that the ledger had lost was in a topmost folder of ours.
    """
    target, others = draft.target, list(records.values())
    is_new = draft.known is None and record.created_file
    if is_new and target.project and not target.shared:
        with contextlib.suppress(HookctlError):  # a broken ledger must not stop this
            others += draft.sources.records([target.project]).values()
    topmost = own_top(draft.folders, target)
    known = [folder for other in others for folder in other.created_dirs]
    made = [folder for folder in known if f"{topmost}/".startswith(f"{folder}/")]
    made += files.missing_folders(topmost)
    made += [topmost] if was_lost else []
    inside = [folder for folder in known if is_new and folder.startswith(top(target.project))]
    above = [folder for folder in inside if draft.path.startswith(f"{folder}/")]
    created_dirs = dict.fromkeys((*record.created_dirs, *above, *made))
    return record._replace(created_dirs=tuple(created_dirs))


def _finish(records: Records, draft: Draft) -> None:
    if draft.restored:
        draft.after, draft.record = draft.restored
        return
    known, record = draft.known, None
    has_entries = any(entry.kind != "container" for entry in draft.entries)
    if draft.packs or has_entries or draft.placeholders:
        draft.after = draft.document.data if draft.is_edited else draft.old
        record = _next_record(draft, draft.after)._replace(gaps=draft.placeholders)
        was_lost = any(action.action == "take-back" for action in draft.actions)
        if draft.packs and (draft.changes or was_lost or known is None):
            record = _with_made_folders(records, draft, record, was_lost=was_lost)
    else:
        draft.after = _bytes_without_us(draft)
    draft.record = record
    if known and (record is None or (known.packs and not record.packs)):
        draft.rmdirs += sorted(known.created_dirs, key=len, reverse=True)


def _bytes_without_us(draft: Draft) -> bytes | None:
    """The bytes from before us if only we wrote since; else the file without our entries."""
    edited = draft.document.data if draft.is_edited else draft.old
    if draft.old is None:
        return edited
    before = draft.read_first_backup()
    is_back = before and _without_empty(before.value) == _without_empty(draft.document.value)
    if before and draft.is_exact and is_back:
        return before.data
    if not draft.document.has_settings:
        # Only hookctl writes such a file; one that had no settings before us stays.
        return edited if before is not None and not before.has_settings else None
    # Otherwise another program has made the file again.
    is_as_we_left_it = draft.is_edited or not draft.was_written_since
    is_ours = draft.known is not None and draft.known.created_file and is_as_we_left_it
    return None if is_ours and draft.document.data.strip() in (b"", b"{}") else edited


def _without_empty(value: Any) -> Any:
    """The value with None for every container that is empty, or missing."""
    if isinstance(value, dict):
        return {key: _without_empty(inner) for key, inner in value.items()} or None
    if isinstance(value, list):
        return [_without_empty(inner) for inner in value] or None
    return None if value is MISSING else value


class Plan(NamedTuple):
    """Everything that a command would do, in the order in which it would do it."""

    files: tuple[Draft, ...]
    changes: tuple[Change, ...]
    records: dict[str, Record | None]  # only those that change
    rmdirs: tuple[str, ...]
    packages: tuple[Packages, ...] = ()  # put there before any change, and removed after all
    unread: tuple[HookctlError, ...] = ()  # of the files with our approvals that stay
    disabled: dict[str, DisabledFile] = {}  # noqa: RUF012 (what is disabled in files then)
    empty: bool = False  # whether there is nothing to do


def _assemble(opened: Drafts, *, install: bool, force: bool) -> Plan:
    records = opened.records
    others = [draft for draft in opened.opened.values() if draft not in opened.asked]
    drafts = [*dict.fromkeys(opened.asked), *(draft for draft in others if draft.is_decided)]
    for draft in drafts:
        _finish(records, draft)
    planned: dict[str, Record | None] = {draft.key: None for draft in drafts}  # which go
    planned |= {draft.path: draft.record for draft in drafts}
    changed = {key: record for key, record in planned.items() if records.get(key) != record}
    after = {**records, **changed}
    if any(draft.lost or draft.known not in (None, draft.record) for draft in drafts):
        remove_files(drafts, after)
    # Each change once: hosts share a pack's folder.
    runtime = [*{change.path: change for draft in drafts for change in draft.changes}.values()]
    project_changes: list[Change] = []
    removed = {folder for draft in drafts for folder in draft.rmdirs}
    removed |= {change.path for change in runtime if change.after is None}
    first: dict[str, Draft] = {}  # of each data folder or project
    for draft in drafts:
        if draft.changes or any(one and one.packs for one in (draft.known, draft.record)):
            first.setdefault(draft.target.project if draft.target.shared else "", draft)
    packages: list[Packages] = []
    for draft in first.values():
        start = len(draft.changes)
        packages += plan_programs(draft, after, removed, install=install, force=force)
        runtime += draft.changes[start:]
    removes = any(draft.rmdirs for draft in drafts) or any(one.after is None for one in runtime)
    projects = {draft.target.project: draft for draft in drafts if draft.target.shared}
    for draft in projects.values():
        found = plan_project_files(draft, records, changed, removes=removes)
        draft.changes += found
        project_changes += found
    for draft in drafts:
        for change in draft.changes:
            action = "replace-file"
            if change.after is None:
                action = "remove-file"
            elif change.before is None:
                action = "create-file"
            draft.actions.append(file_action(action, change.path))
    settings: list[Change] = []
    for draft in drafts:
        if draft.old != draft.after:
            if draft.snapshot.links > 1:
                raise _has_hard_links(draft)
            if draft.target.project:  # a link may have come after the target was found
                require_inside(draft.target.project, draft.path)
            mode = draft.target.new_file_mode
            settings.append(Change(draft.path, draft.old, draft.after, mode, settings=True))
    # The project's ledger comes last: settings tell what an interrupted run left to do.
    written = (*runtime, *settings) if install else (*settings, *runtime)
    changes = (*written, *project_changes)
    disabled = {one.path: one.disabled_after for one in drafts if one.disabled_after is not None}
    disabled = {path: one for path, one in disabled.items() if one != records.disabled.get(path)}
    folders = {folder for draft in drafts for folder in draft.rmdirs}
    rmdirs = tuple(sorted(folders, key=len, reverse=True))
    is_empty = not (changes or changed or rmdirs or packages or disabled)
    unread = tuple(opened.unread)
    return Plan(
        tuple(drafts), changes, changed, rmdirs, tuple(packages), unread, disabled, is_empty
    )
