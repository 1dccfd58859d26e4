"""What a command would do, file by file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hookctl.documents import Document
from hookctl.errors import HookctlError
from hookctl.ledger.store import Records
from hookctl.model import Action, Change, Conflict, Decision, Message, Record
from hookctl.planner.own_files import plan_programs
from hookctl.planner.sources import Sources
from hookctl.settings.targets import Target, require_inside
from hookctl.system.packages import Packages


class FilePlan(NamedTuple):
    """What happens to one settings file, and to the runtime files that go with it."""

    target: Target
    before: Document  # an empty one where the file cannot be read as one
    after: bytes | None
    path: str
    old: bytes | None  # the bytes of the file now
    record: Record | None
    decision: Decision
    runtime: tuple[Change, ...] = ()
    runtime_actions: tuple[Action, ...] = ()
    key: str = ""  # of the ledger's record so far; differs from path where links moved the file
    rmdirs: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()
    known: Record | None = None  # the record before the run
    not_loaded: str = ""  # why the host loads nothing of the file
    switched_off: str = ""  # what switches its hooks off, in whichever file


class Plan(NamedTuple):
    """Everything that a command would do, in the order in which it would do it."""

    files: tuple[FilePlan, ...]
    changes: tuple[Change, ...]
    records: dict[str, Record | None]  # only those that change
    rmdirs: tuple[str, ...]
    packages: tuple[Packages, ...] = ()  # put there before any change, and removed after all
    unread: tuple[HookctlError, ...] = ()  # of the files with our approvals that stay

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        return tuple(conflict for file in self.files for conflict in file.decision.conflicts)

    @property
    def empty(self) -> bool:
        return not (self.changes or self.records or self.rmdirs or self.packages)


def assemble_plan(
    sources: Sources,
    records: Records,
    plans: list[FilePlan],
    *,
    install: bool,
    force: bool = False,
) -> Plan:
    """Join the plans of all files.

    A pack's files come before their registrations on install, and after them on uninstall. With
    `force`, programs of a newer hookctl are replaced.
    """
    # Each change once: hosts share a pack's folder.
    by_path = {change.path: change for plan in plans for change in plan.runtime}
    runtime = list(by_path.values())
    changed = changed_records(records, plans)
    packages: list[Packages] = []
    if not any(plan.decision.conflicts for plan in plans):
        removed = _removed_paths(plans)
        for number, plan in _first_of_each_scope(plans):
            after = {**records, **changed}
            planned = plan_programs(
                sources, records, after, plan.target, removed, install=install, force=force
            )
            runtime += planned.changes
            packages += planned.packages
            lines = (*plan.runtime_actions, *planned.actions)
            kept = (*plan.decision.kept, *planned.kept)
            plans[number] = plan._replace(
                runtime_actions=lines,
                rmdirs=(*plan.rmdirs, *planned.rmdirs),
                decision=plan.decision._replace(kept=kept),
            )
    project_changes: list[Change] = []
    if any(plan.target.shared for plan in plans):
        project_changes = _add_project_files(records, changed, plans)
    settings = _settings_changes(plans)
    # The project's ledger comes last: settings tell what an interrupted run left to do.
    if install:
        changes = (*runtime, *settings, *project_changes)
    else:
        changes = (*settings, *runtime, *project_changes)
    rmdirs = _deepest_first({folder for plan in plans for folder in plan.rmdirs})
    return Plan(tuple(plans), changes, changed, rmdirs, tuple(packages))


def _first_of_each_scope(plans: list[FilePlan]) -> Iterator[tuple[int, FilePlan]]:
    """The first plan, with its number, of each folder of hookctl's own that a pack needs."""
    scopes = set()
    for number, plan in enumerate(plans):
        scope = plan.target.project if plan.target.shared else ""
        has_packs = any(record and record.packs for record in (plan.known, plan.record))
        if scope not in scopes and (has_packs or plan.runtime):
            scopes.add(scope)
            yield number, plan


def changed_records(records: Records, plans: list[FilePlan]) -> dict[str, Record | None]:
    """The records that the plans change, by their key; None where a record goes."""
    planned: dict[str, Record | None] = {}
    for plan in plans:
        if plan.key != plan.path:
            planned[plan.key] = None
    for plan in plans:
        planned[plan.path] = plan.record
    return {key: record for key, record in planned.items() if records.get(key) != record}


def _add_project_files(
    records: Records,
    changed: Mapping[str, Record | None],
    plans: list[FilePlan],
) -> list[Change]:
    """The changes of hookctl's own files in each project; its first plan gets the lines on them."""
    changes: list[Change] = []
    projects = set()
    for number, plan in enumerate(plans):
        project = plan.target.project
        if not plan.target.shared or project in projects:
            continue
        projects.add(project)
        from hookctl.planner.project_files import plan_project_files  # late: few are shared

        removed = _removed_paths(plans)
        runtime = plan_project_files(records, changed, plan.target, removed)
        changes += runtime.changes
        plans[number] = plan._replace(
            runtime_actions=(*plan.runtime_actions, *runtime.actions),
            rmdirs=_deepest_first({*plan.rmdirs, *runtime.rmdirs}),
        )
    return changes


def _settings_changes(plans: list[FilePlan]) -> list[Change]:
    changes = []
    for plan in plans:
        if plan.old == plan.after:
            continue
        if plan.target.project:
            # A link may have come after the target was found.
            require_inside(plan.target.project, plan.path)
        mode = plan.target.new_file_mode
        changes.append(Change(plan.path, plan.old, plan.after, mode, settings=True))
    return changes


def _removed_paths(plans: list[FilePlan]) -> set[str]:
    """The runtime files and folders that the plans remove."""
    removed: set[str] = set()
    for plan in plans:
        removed.update(plan.rmdirs)
        removed.update(change.path for change in plan.runtime if change.after is None)
    return removed


def _deepest_first(folders: set[str]) -> tuple[str, ...]:
    return tuple(sorted(folders, key=len, reverse=True))
