"""Tracing: every hook of a file that a shell runs gets a receipt for a while, and is put back.

The hooks stay their owners': only their command is touched, and its source text is on record.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hookctl import hosts
from hookctl.documents import MISSING, Document
from hookctl.errors import HookctlError
from hookctl.hosts import Host, hook_id, shapes
from hookctl.ledger import traces
from hookctl.ledger.traces import TracedFile, TracedHook, Traces
from hookctl.model import Action, Change, Decision, Path, Put
from hookctl.packs import tracing
from hookctl.packs.protocol import protocol_event
from hookctl.planner.content import choose_python
from hookctl.planner.draft import Draft, make_draft, plan_file
from hookctl.planner.plan import Plan, assemble_plan
from hookctl.planner.runner_files import read_traces, runtime_folder
from hookctl.planner.runtime_files import REFUSE
from hookctl.planner.sources import Sources
from hookctl.settings.targets import Target, require_inside, variant_of_file
from hookctl.system import files
from hookctl.values import NamedTuple

_VARIABLE = re.compile(r"\$(?:\w|\{)")  # what a host that expands variables takes for one
_LONGEST = 32_000  # characters: the system bounds one argument of a program
_SHELLS = (None, "sh", "bash")
IS_OURS = "it has receipts already"


class Handler(NamedTuple):
    """A hook of a settings file whose command may be traced."""

    path: Path
    fields: Mapping[str, Any]
    key: str  # of the command that the host runs
    command: str  # its own, also where it is traced already
    is_edited: bool  # somebody edited the command of the trace
    id: str


def plan_trace(sources: Sources, targets: Iterable[Target], until: int) -> Plan:
    """Plan to write receipts for every hook of these files that can have them."""
    records = sources.records()
    before = read_traces(sources)
    after, drafts = dict(before), []
    made = sources.once(files.missing_folders, sources.folders.data)
    made += tuple(folder for file in before.values() for folder in file.created_dirs)
    for target in targets:
        draft = make_draft(sources, records, target)
        known = before.get(draft.snapshot.path)
        hooks = _trace_hooks(draft, known, until)
        after.pop(draft.snapshot.path, None)
        if hooks:
            after[draft.snapshot.path] = TracedFile(
                target.host.name, target.scope, target.path, until, hooks, target.project, made
            )
        drafts.append(draft)
    return _assemble(sources, drafts, after, install=True)


def plan_end(sources: Sources, targets: Iterable[Target], keys: Iterable[str] = ()) -> Plan:
    """Plan to give the hooks of these files their own commands back, byte for byte.

    `keys` are the files' names on record.
    """
    records = sources.records()
    before = read_traces(sources)
    ended, drafts = set(keys), []
    for target in targets:
        draft = make_draft(sources, records, target)
        _end_hooks(draft, before.get(draft.snapshot.path))
        ended.add(draft.snapshot.path)
        drafts.append(draft)
    after = {path: traced for path, traced in before.items() if path not in ended}
    made = {folder for traced in before.values() for folder in traced.created_dirs}
    if drafts and not after:
        drafts[0].rmdirs += sorted(made, key=len, reverse=True)
    return _assemble(sources, drafts, after, install=False)


def find_due(sources: Sources, paths: Iterable[str], now: float) -> dict[str, TracedFile]:
    """The traces that are over, and those of the settings files with these real paths."""
    named = set(paths)
    due = {}
    for path, file in read_traces(sources).items():
        if path in named or now >= file.until:
            due[path] = file
    return due


def plan_end_of(sources: Sources, key: str) -> Plan:
    """The plan that ends one trace on record; an empty one where there is none any more."""
    file = read_traces(sources).get(key)
    if file is None:
        return Plan((), (), {}, ())
    return plan_end(sources, [target_of(file)], [key])


def target_of(file: TracedFile) -> Target:
    """The settings file of a record, as it is now."""
    host = variant_of_file(hosts.load(file.host), file.known_as)
    if file.project:
        require_inside(file.project, file.known_as)
    return Target(host, file.scope, file.known_as, file.project)


def describe_end(plan: Plan) -> Iterator[str]:
    """What the end of a trace has done to each file, in words."""
    for file in plan.files:
        count = len(file.decision.actions)
        if count:
            again = "has its own command" if count == 1 else "have their own commands"
            hooks = f"{count} hook" + ("" if count == 1 else "s")
            yield f"tracing has ended: {hooks} of {file.target.path} {again} again"
        for action in file.decision.kept:
            yield f"{action.id} in {file.target.path}: {action.reason}"


def list_handlers(host: Host, scope: str, document: Document) -> list[Handler]:
    """Every handler of a file with a command, each with its ID."""
    root = {} if document.value is MISSING else document.value
    found, names = [], []
    for path, fields, group in shapes.handlers(host.shape, root):
        keys = [key for key in host.registration.commands if isinstance(fields.get(key), str)]
        if not keys or fields.get("type", "command") != "command":
            continue
        key = "bash" if "bash" in keys else keys[0]
        commands = {each: tracing.own_command(fields[each]) for each in keys}
        arguments = fields.get("args") if isinstance(fields.get("args"), list) else []
        words = [text for text in arguments if isinstance(text, str)]
        event, matcher = shapes.event_of(host.shape, path), group.get("matcher")
        matcher = matcher if isinstance(matcher, str) else ""
        text = " ".join([commands[keys[0]], *words])
        names.append(hook_id.digest(host.name, scope, event, matcher, text))
        is_edited = tracing.is_traced(fields[key]) and not tracing.read_command(fields[key])
        found.append(Handler(path, fields, key, commands[key], is_edited, ""))
    ids = hook_id.number(names)
    return [handler._replace(id=id) for handler, id in zip(found, ids, strict=True)]


def find_obstacle(host: Host, handler: Handler) -> str:
    """Why a hook gets no receipts of a trace, or ''."""
    fields = handler.fields
    if shapes.is_ours(handler.command):
        return IS_OURS
    if handler.is_edited:
        return "its tracing command was edited, so it stays"
    if handler.key == "powershell":
        return "it runs in PowerShell"
    if "args" in fields:
        return "it has args, so no shell runs it"
    if fields.get("shell") not in _SHELLS:
        return f"it runs in the shell {fields['shell']}"
    if fields.get("async") or fields.get("asyncRewake"):
        return "it runs asynchronously"
    if host.registration.expands and _VARIABLE.search(handler.command):
        return f"{host.title} puts values in place of the variables in it"
    if "\0" in handler.command or len(handler.command) > _LONGEST:
        return "its command is too long" if len(handler.command) > _LONGEST else "it has a null"
    return ""


def _trace_hooks(draft: Draft, known: TracedFile | None, until: int) -> tuple[TracedHook, ...]:
    """Edit the hooks of a file; those that are traced then."""
    host, document = draft.host, draft.document
    folder, python = runtime_folder(draft.folders, draft.target), ""
    hooks, edits, actions, kept = [], [], [], []
    for handler in list_handlers(host, draft.target.scope, document):
        obstacle = find_obstacle(host, handler)
        if obstacle:
            kept.append(_line("keep", handler, obstacle))
            continue
        python = python or choose_python(draft, "")
        field = (*handler.path, handler.key)
        event = protocol_event(host, shapes.event_of(host.shape, handler.path))
        command = tracing.command(
            handler.command, handler.id, event, draft.target, folder, python, until
        )
        before = _source_text(document, field, known)
        hooks.append(TracedHook(handler.id, command, before))
        if handler.fields[handler.key] != command:
            edits.append(Put(field, command))
            actions.append(_line("replace", handler, "traced"))
    draft.apply_decision(
        Decision(tuple(edits), draft.entries, tuple(actions), tuple(kept)), draft.entries
    )
    return tuple(hooks)


def _end_hooks(draft: Draft, known: TracedFile | None) -> None:
    """Put every traced hook of a file back; name one whose command was edited."""
    edits, actions, kept = [], [], []
    for handler in list_handlers(draft.host, draft.target.scope, draft.document):
        if handler.is_edited:
            reason = "its command was edited, so it stays; without our file it runs by itself"
            kept.append(_line("keep", handler, reason))
        for key in draft.host.registration.commands:
            if tracing.read_command(handler.fields.get(key)):
                field = (*handler.path, key)
                edits.append(Put(field, raw=_source_text(draft.document, field, known)))
                actions.append(_line("replace", handler, "its own command again"))
    draft.apply_decision(
        Decision(tuple(edits), draft.entries, tuple(actions), tuple(kept)), draft.entries
    )


def _source_text(document: Document, field: Path, known: TracedFile | None) -> str:
    """The source text of a hook's own command, as it stood in the file."""
    text = document.get(field)
    traced = tracing.read_command(text)
    if traced is None:
        return document.raw(field)
    for hook in known.hooks if known else ():
        if hook.command == text:
            with contextlib.suppress(HookctlError, ValueError):
                if document.set_raw(field, hook.before).get(field) == traced.original:
                    return hook.before
    return json.dumps(traced.original, ensure_ascii=False)


def _line(action: str, handler: Handler, reason: str) -> Action:
    return Action(action, handler.path, "element", handler.id, reason=reason)


def _assemble(sources: Sources, drafts: list[Draft], after: Traces, *, install: bool) -> Plan:
    """The plan for these files, with hookctl's record of them and the files that they run."""
    records = sources.records()
    path = sources.folders.traces
    snapshot = sources.once(files.read, path)
    data = traces.dump(sources.folders, after)
    if drafts and snapshot.data != data:
        drafts[0].changes.append(Change(snapshot.path, snapshot.data, data))
        for draft in drafts:
            draft.traces = after
    plans = [plan_file(records, draft) for draft in drafts]
    return assemble_plan(sources, records, plans, install=install, edited=REFUSE)
