"""What a command would do, file by file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hookctl.documents import Document
from hookctl.model import Action, Change, Conflict, Decision, Record
from hookctl.planner import project_files
from hookctl.settings.targets import Target, require_inside
from hookctl.system.folders import Folders


class FilePlan(NamedTuple):
    """What happens to one settings file, and to the runtime files that go with it."""

    target: Target
    before: Document  # an empty one where the file cannot be read as one
    after: bytes | None
    path: str
    old: bytes | None  # what is there now
    record: Record | None
    decision: Decision
    runtime: tuple[Change, ...] = ()
    runtime_actions: tuple[tuple[str, Action], ...] = ()  # file and action
    key: str = ""  # of the ledger's record so far; another one where links have moved the file
    rmdirs: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()

    @property
    def settings(self) -> Change | None:
        """The change of the settings file; None where its bytes stay."""
        if self.old == self.after:
            return None
        return Change(self.path, self.old, self.after, self.target.new_file_mode, settings=True)


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


def assemble(
    folders: Folders, records: Mapping[str, Record], plans: list[FilePlan], *, install: bool
) -> Plan:
    """One plan of all files: a pack's files before their registrations on install, after them on uninstall."""
    changed: dict[str, Record | None] = {plan.key: None for plan in plans if plan.key != plan.path}
    changed |= {plan.path: plan.record for plan in plans}
    changed = {path: record for path, record in changed.items() if records.get(path) != record}
    own: list[Change] = []
    for project in dict.fromkeys(plan.target.project for plan in plans if plan.target.shared):
        number = next(
            n
            for n, plan in enumerate(plans)
            if plan.target.project == project and plan.target.shared
        )
        extra = project_files.plan(
            folders, records, changed, plans[number].target, _paths_going(plans)
        )
        own += extra.changes
        plans[number] = plans[number]._replace(
            runtime_actions=(*plans[number].runtime_actions, *extra.actions),
            rmdirs=_deepest_first({*plans[number].rmdirs, *extra.rmdirs}),
        )
    settings = []
    for plan in plans:
        change = plan.settings
        if change:
            settings.append(change)
        if change and plan.target.project:
            require_inside(
                plan.target.project, plan.path
            )  # a link may have come after the place was found
    runtime = [change for plan in plans for change in plan.runtime]
    # The project's ledger comes last: what an interrupted run left is told by the settings first.
    order = (*runtime, *settings, *own) if install else (*settings, *runtime, *own)
    rmdirs = _deepest_first({folder for plan in plans for folder in plan.rmdirs})
    return Plan(tuple(plans), order, changed, rmdirs)


def _paths_going(plans: list[FilePlan]) -> set[str]:
    removed = {change.path for plan in plans for change in plan.runtime if change.after is None}
    return removed.union(*(plan.rmdirs for plan in plans))


def _deepest_first(names: set[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=len, reverse=True))
