"""hookctl trace: receipts for everybody's hooks for a while, and their own commands back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import Any

from hookctl import clock, hosts, report
from hookctl.checks.machine import hooks_of
from hookctl.documents import MISSING
from hookctl.errors import HookctlError, usage_error
from hookctl.hosts import Host
from hookctl.hosts.hook_id import shorten
from hookctl.ledger import store, traces
from hookctl.model import Line, Message, Result
from hookctl.output.lines import OK, SKIP, amount, program, tilde
from hookctl.output.plans import plan_data
from hookctl.packs import tracing
from hookctl.planner.plan import FilePlan, Plan
from hookctl.planner.run import carry_out, end_traces, finish_pending
from hookctl.planner.sources import Sources
from hookctl.planner.traces import IS_OURS, plan_end, plan_trace, target_of
from hookctl.settings import effective
from hookctl.settings.effective import Source
from hookctl.settings.targets import Target, active_file, require_inside, start_folder
from hookctl.system import project
from hookctl.system.folders import Folders
from hookctl.values import NamedTuple

LONGEST = 24 * 3600  # seconds
_SCOPES = ("user", "local")  # what others share, or an administrator wrote, stays as it is


class Request(NamedTuple):
    """What is to be traced, or no longer."""

    hosts: tuple[Host, ...] = ()  # none: all
    span: str = "1h"


def trace(folders: Folders, what: str, request: Request) -> Result:
    """Begin to trace (on), or end it (off); an interrupted run comes first."""
    verbs = {"on": _trace_on, "off": _trace_off}
    if what not in verbs:
        raise usage_error(f"{what!r} is neither on nor off", "Write `hookctl trace on`.")
    finish_pending(folders, report.say)
    return verbs[what](folders, request)


def _trace_on(folders: Folders, request: Request) -> Result:
    """Put the runner before every hook that can have it, in the files that are read here."""
    span = clock.seconds(request.span)
    if not 0 < span <= LONGEST:
        raise usage_error(f"--for {request.span} is not between 1s and 24h", "Write --for 1h.")
    until = int(clock.now(folders.environ) + span)
    sources = Sources(folders)
    end_traces(sources, (), report.say)
    messages: list[Message] = []
    targets = list(_find_targets(folders, sources, request, messages))
    plan = carry_out(sources, partial(plan_trace, sources, targets, until), report.say)
    traced = traces.read(folders)
    paths = [file.path for file in plan.files if file.path in traced]
    lines = [line for file in plan.files for line in _lines_on(file, traced)]
    count = sum(len(traced[path].hooks) for path in paths)
    if count:
        text = f"{amount(count, 'hook')} {'is' if count == 1 else 'are'} traced until "
        lines += [
            Line(f"{text}{_time(until)}."),
            Line("Next:"),
            Line(f"{program()} hooks    how often each ran, how long, how many bytes", indent=2),
            Line(f"{program()} trace off    gives every file its bytes back", indent=2),
        ]
    else:
        lines.append(Line("no hook here can be traced"))
    data = {"until": until if count else None, **_data(plan)}
    return Result(data, tuple(lines), (*messages, *_messages(plan)))


def _trace_off(folders: Folders, request: Request) -> Result:
    """Give the traced hooks their own commands back: all on record, and all that are found here."""
    sources = Sources(folders)
    messages: list[Message] = []
    recorded, wanted = traces.read(folders), [host.name for host in request.hosts]
    ended = {path: file for path, file in recorded.items() if not wanted or file.host in wanted}
    targets = [target_of(file) for file in ended.values()]
    known = {store.real_path(target.path) for target in targets}
    for target in _find_targets(folders, sources, request, messages):
        if store.real_path(target.path) not in known and _has_traced(sources, target):
            targets.append(target)
    plan = carry_out(sources, partial(plan_end, sources, targets, ended), report.say)
    lines = [line for file in plan.files for line in _lines_off(file)]
    if not lines:
        lines.append(Line("no hook is traced"))
    return Result(_data(plan), tuple(lines), _messages(plan))


def _find_targets(
    folders: Folders, sources: Sources, request: Request, messages: list[Message]
) -> Iterator[Target]:
    """The user's and this checkout's settings files with hooks; a message on each that is not."""
    for host in request.hosts:
        if not host.registration.traces:
            raise _not_traced(host)
    root = project.look(folders.cwd, folders.environ)
    for host in request.hosts or map(hosts.load, hosts.names()):
        users = active_file(host, "user", folders.environ)[1]
        start = start_folder(host, folders.cwd, root)
        for scope in _SCOPES:
            found = effective.find_files(folders, host, scope, users, start, sources.read)
            for variant, path in found:
                target = Target(variant, scope, path, start if scope == "local" else "")
                if _has_hooks(sources, target, messages) and _may_trace(target, messages):
                    yield target


def _has_hooks(sources: Sources, target: Target, messages: list[Message]) -> bool:
    """Whether a settings file has hooks; one that cannot be read is named."""
    if not os.path.lexists(target.path):
        return False
    try:
        if target.project:
            project.require_own(target.project)
            require_inside(target.project, target.path)
        document = sources.read(target.path, target.host.format)[1]
    except HookctlError as error:
        text = f"{target.path} is left alone: {error}"
        messages.append(Message(text, "unreadable", host=target.host.name, path=target.path))
        return False
    if document.value is MISSING:
        return False
    return bool(hooks_of(Source(target.scope, target.path, document, target.host)))


def _may_trace(target: Target, messages: list[Message]) -> bool:
    host = target.host
    if not host.registration.traces:
        text = f"{host.title}: {_reason(host)}, so its hooks are not traced"
        messages.append(Message(text, "not_traced", "info", host.name, target.path))
    return host.registration.traces


def _has_traced(sources: Sources, target: Target) -> bool:
    """Whether a file has hooks of a trace that is not on record."""
    document = sources.read(target.path, target.host.format)[1]
    hooks = hooks_of(Source(target.scope, target.path, document, target.host))
    return any(hook.traced_until or tracing.is_traced(hook.command) for hook in hooks)


def _not_traced(host: Host) -> HookctlError:
    hint = "Leave this --host out; `hookctl hooks` lists its hooks."
    return usage_error(f"{host.title}: {_reason(host)}, so its hooks are not traced", hint)


def _reason(host: Host) -> str:
    if host.trust.config or host.trust.memory:
        return "its approvals hold for the text of a hook"
    return "tracing is not proven there"


def _lines_on(file: FilePlan, traced: traces.Traces) -> Iterator[Line]:
    """A file, how many of its hooks are traced, and those that are not."""
    count = len(traced[file.path].hooks) if file.path in traced else 0
    text = f"{file.target.host.title}: {amount(count, 'hook')} traced" if count else ""
    title = text or f"{file.target.host.title}: no hook can be traced"
    yield Line(title, OK if count else SKIP, path=tilde(file.target.path))
    yield from _lines_on_kept(file)


def _lines_off(file: FilePlan) -> Iterator[Line]:
    count = len(file.decision.actions)
    if count:
        again = "has its own command" if count == 1 else "have their own commands"
        text = f"{file.target.host.title}: {amount(count, 'hook')} {again} again"
        yield Line(text, OK, path=tilde(file.target.path))
    elif file.decision.kept or file.old is None:
        text = f"{file.target.host.title}: no hook is traced any more"
        yield Line(text, SKIP, path=tilde(file.target.path))
    yield from _lines_on_kept(file)


def _lines_on_kept(file: FilePlan) -> Iterator[Line]:
    """The hooks that are left alone, by the reason."""
    reasons: dict[str, list[str]] = {}
    for action in file.decision.kept:
        reasons.setdefault(action.reason, []).append(action.id)
    for reason, ids in reasons.items():
        ours = f"{amount(len(ids), 'hook')} of hookctl's"
        name = ours if reason == IS_OURS else " ".join(map(shorten, ids))
        text = "receipts are written already" if reason == IS_OURS else reason
        yield Line(f"{name}: {text}", indent=4, sign="=")


def _time(moment: int) -> str:
    return clock.local(moment)[11:16]


def _messages(plan: Plan) -> tuple[Message, ...]:
    return tuple(message for file in plan.files for message in file.messages)


def _data(plan: Plan) -> dict[str, Any]:
    return plan_data(plan, dry_run=False)
