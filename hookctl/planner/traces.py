"""Ends the traces that 0.2.0 began: each traced hook gets the source text of its own command back.

A traced hook runs by itself where the tracing program is missing; its command is on record.
"""

from __future__ import annotations

from hookctl import hosts
from hookctl.documents import MISSING
from hookctl.hosts import shapes
from hookctl.ledger import traces
from hookctl.ledger.traces import TracedFile
from hookctl.model import Action, Change, Decision, Put
from hookctl.planner.draft import Draft
from hookctl.planner.plan import Plan, assemble_plan
from hookctl.planner.records import make_draft
from hookctl.planner.sources import Sources
from hookctl.settings.targets import Target, require_inside, variant_of_file
from hookctl.system import files


def plan_end(sources: Sources, key: str) -> Plan:
    """Plan to end one trace on record, by its file's real path; empty where there is none."""
    records, after = sources.records(), traces.read(sources.folders)
    file = after.pop(key, None)
    if file is None:
        return Plan((), (), {}, ())
    draft = make_draft(sources, records, _target_of(file))
    _end_hooks(draft, file)
    snapshot = files.read(sources.folders.traces)
    data = traces.dump(sources.folders, after)
    draft.changes.append(Change(snapshot.path, snapshot.data, data))
    if not after:
        draft.rmdirs += sorted(file.created_dirs, key=len, reverse=True)
    return assemble_plan(records, [draft], install=False)


def _target_of(file: TracedFile) -> Target:
    """The settings file of a record, as it is now."""
    host = variant_of_file(hosts.load(file.host), file.known_as)
    if file.project:
        require_inside(file.project, file.known_as)
    return Target(host, file.scope, file.known_as, file.project)


def _end_hooks(draft: Draft, file: TracedFile) -> None:
    """Give the hooks their own commands back; a command that somebody edited stays."""
    own = {hook.command: hook.before for hook in file.hooks}
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
