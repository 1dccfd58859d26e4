"""What a command would do, file by file."""

from __future__ import annotations

from typing import NamedTuple

from hookctl.errors import HookctlError
from hookctl.ledger.store import Records
from hookctl.model import Change, Conflict, Record
from hookctl.planner.draft import Draft
from hookctl.planner.own_files import plan_programs
from hookctl.planner.records import plan_file
from hookctl.settings.targets import require_inside
from hookctl.system.packages import Packages


class Plan(NamedTuple):
    """Everything that a command would do, in the order in which it would do it."""

    files: tuple[Draft, ...]
    changes: tuple[Change, ...]
    records: dict[str, Record | None]  # only those that change
    rmdirs: tuple[str, ...]
    packages: tuple[Packages, ...] = ()  # put there before any change, and removed after all
    unread: tuple[HookctlError, ...] = ()  # of the files with our approvals that stay

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        return tuple(conflict for file in self.files for conflict in file.conflicts)

    @property
    def empty(self) -> bool:
        return not (self.changes or self.records or self.rmdirs or self.packages)


def assemble_plan(
    records: Records, drafts: list[Draft], *, install: bool, force: bool = False
) -> Plan:
    """Finish the drafts of all files, and join them.

    A pack's files come before their registrations on install, and after them on uninstall. With
    `force`, programs of a newer hookctl are replaced.
    """
    for draft in drafts:
        plan_file(records, draft)
    # Each change once: hosts share a pack's folder.
    by_path = {change.path: change for draft in drafts for change in draft.changes}
    runtime = list(by_path.values())
    changed = changed_records(records, drafts)
    project_changes: list[Change] = []
    if not any(draft.conflicts for draft in drafts):
        removed = {folder for draft in drafts for folder in draft.rmdirs}
        removed |= {change.path for change in runtime if change.after is None}
        after = {**records, **changed}
        scopes = set[str]()
        for draft in drafts:
            scope = draft.target.project if draft.target.shared else ""
            has_packs = any(record and record.packs for record in (draft.known, draft.record))
            if scope in scopes or not (has_packs or draft.changes):
                continue
            scopes.add(scope)
            start = len(draft.changes)
            plan_programs(draft, after, removed, install=install, force=force)
            runtime += draft.changes[start:]
    removes = any(draft.rmdirs for draft in drafts) or any(one.after is None for one in runtime)
    projects: dict[str, Draft] = {}
    for draft in drafts:
        if draft.target.shared:
            projects.setdefault(draft.target.project, draft)
    for draft in projects.values():
        from hookctl.planner.own_files import plan_project_files  # late: few are shared

        project_changes += plan_project_files(draft, records, changed, removes=removes)
    settings: list[Change] = []
    for draft in drafts:
        if draft.old != draft.after:
            if draft.target.project:  # a link may have come after the target was found
                require_inside(draft.target.project, draft.path)
            mode = draft.target.new_file_mode
            settings.append(Change(draft.path, draft.old, draft.after, mode, settings=True))
    # The project's ledger comes last: settings tell what an interrupted run left to do.
    if install:
        changes = (*runtime, *settings, *project_changes)
    else:
        changes = (*settings, *runtime, *project_changes)
    folders = {folder for draft in drafts for folder in draft.rmdirs}
    rmdirs = tuple(sorted(folders, key=len, reverse=True))
    packages = tuple(package for draft in drafts for package in draft.packages)
    return Plan(tuple(drafts), changes, changed, rmdirs, packages)


def changed_records(records: Records, drafts: list[Draft]) -> dict[str, Record | None]:
    """The records that the drafts change, by their key; None where a record goes."""
    planned: dict[str, Record | None] = {}
    for draft in drafts:
        if draft.key != draft.path:
            planned[draft.key] = None
    for draft in drafts:
        planned[draft.path] = draft.record
    return {key: record for key, record in planned.items() if records.get(key) != record}
