"""Judges the work in hand: can the guard read it, and does it keep an agent at it?"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hookctl import clock
from hookctl.checks.codes import Finding
from hookctl.checks.host import Guard, HostHere
from hookctl.errors import HookctlError
from hookctl.packs.guard_options import value_in_effect
from hookctl.packs.reports import how_to_renew
from hookctl.packs.run_files import RunFiles, confine_variables, is_armed, locate, parse, read_end
from hookctl.packs.whose_work import Work, describe_owner, find_work
from hookctl.settings import effective
from hookctl.system import project


def judge(here: HostHere) -> Iterator[Finding]:
    """The work of the project that the working folder is in, if a guard reads it."""
    if not here.guards:
        return
    guard = here.guards[0]
    run_files = _locate(here, guard)
    task = run_files.task
    for path in (
        task,
        os.path.join(run_files.folder, "OWNER"),
        os.path.join(run_files.state, "ACTIVE"),
    ):
        fault = _find_fault(here, run_files, path)
        if fault:
            yield here.find("run_unusable", path, fault=fault)
    work = find_work(run_files)
    # Where the guard may keep an agent at it.
    if work.remaining > 0 and guard.mode != "guard" and here.host.dialect.block:
        yield from _judge_work(here, guard, run_files, work)


def _locate(here: HostHere, guard: Guard) -> RunFiles:
    """The work in hand of the current project, as this guard reads it."""
    machine = here.machine
    root, variables = machine.cwd_project, dict(machine.environ)
    named = machine.environ.get(here.host.environment.project, "")
    if os.path.isdir(named):
        root = project.find(named, machine.environ)
    for source in reversed(here.sources):  # a project's own may not lead out of the project
        env = effective.variables([source])
        is_shared = source.scope == "project"
        variables |= confine_variables(env, root, here.variables) if is_shared else env
    state = project.state_folder(machine.folders.state, root)
    is_brought = guard.hook.scope == "project"
    return locate(root, guard.config, variables, state, here.now, is_brought=is_brought)


def _find_fault(here: HostHere, run_files: RunFiles, path: str) -> str:
    """Why the guard cannot read one of the files of a run; '' if it can, or if it is not there."""
    try:
        data = here.machine.reader.snapshot(path).data
        if data is not None and path == run_files.task:
            return _find_fault_in_task(parse(data, path).value, run_files.fields)
    except HookctlError as error:
        return error.message
    is_odd = path.endswith("/ACTIVE") and data is not None and read_end(run_files) is None
    return "it does not say when the run ends" if is_odd else ""


def _find_fault_in_task(task: Any, names: Mapping[str, str]) -> str:
    """Why the hook cannot read the remaining work in a task; '' if it can, or none is given."""
    if not isinstance(task, dict):
        return "it is not a JSON object"
    number = task.get(names.get("remaining", "remaining"))
    text = str(number).strip() if isinstance(number, str) or type(number) is int else ""
    is_number = number is None or re.fullmatch(r"-?[0-9]{1,18}", text)
    return "" if is_number else "`remaining` is not a whole number"


def _judge_work(here: HostHere, guard: Guard, run_files: RunFiles, work: Work) -> Iterator[Finding]:
    """How much work waits and for whom, and what lets the agent stop all the same."""
    must = value_in_effect("require_arm", guard.config, here.variables) is True
    level, but, fix = "info", "", ""
    if run_files.mark:
        but, fix = f"; {run_files.mark} lets the agent stop", "`hookctl run start` removes it."
    elif work.is_stale:
        renew = how_to_renew(run_files.task, run_files.fields)
        level, but, fix = "warning", "; the guard ignores it by now", f"{renew}."
    elif (must or guard.mode == "keepalive") and not is_armed(run_files):
        but, fix = "; no run is active, so the agent may stop", "`hookctl run start` starts one."
    age, owner = clock.age(here.now - work.touched), describe_owner(run_files, work)
    values = {"remaining": work.remaining, "owner": owner, "age": age, "but": but, "fix": fix}
    yield here.find("work_waiting", run_files.task, level, **values)
    if not but and not run_files.fields:  # else another system writes it
        yield from _judge_permission(here, guard)


def _judge_permission(here: HostHere, guard: Guard) -> Iterator[Finding]:
    """Whether the host lets the agent report without a person, as far as its settings say."""
    permission = here.host.permission
    for source in here.sources:
        for above in permission.against:
            for rule in permission.rules_in(source.document, above)[:1]:
                why, fix = f"{rule} in {'.'.join(above)} keeps it from that", "Remove that rule."
                yield here.find("must_ask", source.path, why=why, fix=fix)
                return
    *setting, free = permission.never_asks or ("",)
    for source in here.sources:
        is_free = bool(setting) and source.document.get(tuple(setting)) == free
        if is_free or permission.rules_in(source.document, permission.path):
            return
    for file in here.files:
        if file.path == guard.hook.file and permission.path:
            why, fix = "no rule allows `hookctl run`", f"`{file.install} --allow-run`."
            yield file.find("must_ask", why=why, fix=fix)
