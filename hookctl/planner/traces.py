"""Ends the traces that 0.2.0 began: each traced hook gets the source text of its own command back.

A traced hook runs by itself where the tracing program is missing; its command is on record.
"""

from __future__ import annotations

from typing import NamedTuple

from hookctl import hosts
from hookctl.documents import MISSING
from hookctl.hosts import shapes
from hookctl.ledger.codec import parse_object, refusals
from hookctl.model import Action, Decision, Put
from hookctl.planner.draft import Draft
from hookctl.planner.records import Plan, assemble_plan, make_draft
from hookctl.planner.sources import Sources
from hookctl.settings.targets import Target, require_inside, variant_of_file
from hookctl.system import files
from hookctl.system.folders import Folders

_HINT = "Move it away: the traced hooks run by themselves."


class TracedFile(NamedTuple):
    """A settings file with such hooks."""

    target: Target
    own: dict[str, str]  # the source text of each hook's own command, by the command of 0.2.0


def read_traced(folders: Folders) -> list[TracedFile]:
    """The files with traced hooks; refuses a record that hookctl did not write."""
    path, traced = folders.traces, []
    with refusals("hookctl's record of traced hooks", path, _HINT):
        stored = parse_object(files.read(path).data or b"", "traces_version", path)
        for file in stored["files"].values():
            known_as, project = folders.resolve(file["known_as"]), file.get("project", "")
            host = variant_of_file(hosts.load(file["host"]), known_as)
            target = Target(host, file["scope"], known_as, project and folders.resolve(project))
            own = {hook["command"]: hook["before"] for hook in file["hooks"]}
            traced.append(TracedFile(target, own))
    return traced


def plan_end(sources: Sources, file: TracedFile) -> Plan:
    """Plan to give the hooks of a file their own commands; one that somebody edited stays."""
    if file.target.project:
        require_inside(file.target.project, file.target.path)
    records = sources.records()
    draft = make_draft(sources, records, file.target)
    _end_hooks(draft, file.own)
    return assemble_plan(records, [draft], install=False)


def _end_hooks(draft: Draft, own: dict[str, str]) -> None:
    root = {} if draft.document.value is MISSING else draft.document.value
    edits, actions = [], []
    for path, fields, _ in shapes.handlers(draft.host.shape, root):
        for key in draft.host.registration.commands:
            command = fields.get(key)
            if isinstance(command, str) and command in own:
                edits.append(Put((*path, key), raw=own[command]))
                reason = "traced until now: its own command again"
                actions.append(Action("replace", path, "element", reason=reason))
    draft.apply_decision(Decision(tuple(edits), draft.entries, tuple(actions)), draft.entries)
