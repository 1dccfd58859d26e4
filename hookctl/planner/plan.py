"""What a command would do, file by file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hookctl.documents import Document
from hookctl.errors import HookctlError
from hookctl.ledger.store import Records
from hookctl.model import Action, Change, Conflict, Decision, Message, Record
from hookctl.packs.model import run_packs
from hookctl.planner.guard_files import join_packages, move_launchers
from hookctl.planner.runtime_files import KEEP
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
    packages: tuple[Packages, ...] = ()  # of the guard's launchers
    messages: tuple[Message, ...] = ()
    known: Record | None = None  # the record before the run
    foreign_programs: tuple[str, ...] = ()  # of the guard, that were edited and stay
    not_loaded: str = ""  # why the host loads nothing of the file
    switched_off: str = ""  # what switches its hooks off, in whichever file
    ends_trace: bool = False  # of the file's hooks, which 0.2.0 began


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
    edited: str = KEEP,
) -> Plan:
    """Join the plans of all files.

    A pack's files come before their registrations on install, and after them on uninstall.
    `edited` says what becomes of a file of the runner that somebody edited: KEEP, REFUSE, REPLACE.
    """
    # Each change once: in a project the hosts share a pack's folder.
    by_path = {change.path: change for plan in plans for change in plan.runtime}
    runtime, joined = list(by_path.values()), ()
    changed = changed_records(records, plans)
    packages = [one for plan in plans for one in plan.packages]
    if not any(plan.decision.conflicts for plan in plans):
        more, of_runner = _plan_runners(sources, records, changed, plans, edited)
        runtime += more
        packages += of_runner
    if packages or runtime:
        launchers, moved = move_launchers(sources, {**records, **changed}, packages, runtime)
        runtime += launchers
        changed |= moved
        joined, lines = join_packages(sources, packages, runtime)
        _add_lines(plans, lines)
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
    return Plan(tuple(plans), changes, changed, rmdirs, joined)


def _plan_runners(
    sources: Sources,
    records: Records,
    changed: Mapping[str, Record | None],
    plans: list[FilePlan],
    edited: str,
) -> tuple[list[Change], list[Packages]]:
    """What happens to the runners of these scopes; the first plan of each gets the lines on it."""
    changes: list[Change] = []
    packages: list[Packages] = []
    scopes = set()
    for number, plan in enumerate(plans):
        scope = plan.target.project if plan.target.shared else ""
        if scope in scopes or not _has_runner(plan):
            continue
        scopes.add(scope)
        from hookctl.planner.runner_files import plan_runner  # late: most plans are the guard's

        after = {**records, **changed}
        planned = plan_runner(sources, records, after, plan.target, edited)
        changes += planned.changes
        packages += planned.packages
        plans[number] = plan._replace(runtime_actions=(*plan.runtime_actions, *planned.lines))
    return changes, packages


def _has_runner(plan: FilePlan) -> bool:
    """Whether a pack of the file, before the run or after it, speaks Claude Code's protocol."""
    records = [record for record in (plan.known, plan.record) if record]
    return plan.ends_trace or any(run_packs(record) for record in records)


def _add_lines(plans: list[FilePlan], lines: list[Action]) -> None:
    """Put the lines about packages to those of the first settings file whose launchers change."""
    for number, plan in enumerate(plans):
        if lines and (plan.runtime or plan is plans[-1]):
            plans[number] = plan._replace(runtime_actions=(*plan.runtime_actions, *lines))
            return


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
