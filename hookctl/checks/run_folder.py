"""Judges the run folder: can the guard read .hookctl/run, and does it mean what it seems to?"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator

from hookctl import clock
from hookctl.checks.codes import Finding
from hookctl.checks.facts import GuardRegistration, HostFacts, Run
from hookctl.packs.guard_options import value_in_effect
from hookctl.packs.reports import how_to_renew, name_report
from hookctl.system import project

OWNER = "OWNER"
_SOON = 30 * 60  # seconds


def judge(facts: HostFacts) -> Iterator[Finding]:
    """The run folder of the project that the working folder is in, if a guard reads it."""
    if not facts.at_work or facts.run is None:
        return
    run, registration = facts.run, facts.at_work[0]
    remaining, fault = run.work.remaining, _find_fault_in_task(run)
    yield from _judge_files(facts, run)
    if fault:
        report = name_report(run.task_path, run.task_names)
        yield facts.find("task_unreadable", run.task_path, fault=fault, report=report)
    if remaining > 0:
        stopped = list(_judge_stopped(facts, run, remaining))
        yield from stopped or _judge_work(facts, registration, run, remaining)
    yield from _judge_owner(facts, run)
    must = registration.mode == "keepalive"
    must = must or value_in_effect("require_arm", registration.config, facts.variables) is True
    yield from _judge_run_end(facts, run, remaining, must=must)


def _judge_files(facts: HostFacts, run: Run) -> Iterator[Finding]:
    """Links, which `hookctl run` does not write through, and paths that are not files."""
    for entry in run.paths:
        is_folder = entry.path in (run.own, run.folder)
        fits = stat.S_ISDIR(entry.mode) if is_folder else stat.S_ISREG(entry.mode)
        if stat.S_ISLNK(entry.mode):
            yield facts.find("run_unusable.link", entry.path)
        elif not fits and os.path.basename(entry.path) not in project.MARKS:
            kind = "folder" if is_folder else "regular file"
            yield facts.find("run_unusable.kind", entry.path, kind=kind)
        elif not entry.may_read or (is_folder and not entry.may_enter):
            yield facts.find("run_unusable", entry.path)


def _find_fault_in_task(run: Run) -> str:
    """Why the hook cannot read the remaining work in the task; '' if it can, or none is given."""
    if run.task_error:
        return run.task_error.message
    if run.task is not None and not isinstance(run.task, dict):
        return "it is not a JSON object"
    number = (run.task or {}).get(run.task_names.get("remaining", "remaining"))
    text = str(number).strip() if isinstance(number, str) or type(number) is int else ""
    is_number = number is None or re.fullmatch(r"-?[0-9]{1,18}", text)
    return "" if is_number else "`remaining` is not a whole number"


def _judge_stopped(facts: HostFacts, run: Run, remaining: int) -> Iterator[Finding]:
    for entry in run.paths:
        mark = os.path.basename(entry.path)
        if mark in project.MARKS and entry.path == os.path.join(run.folder, mark):
            yield facts.find("run_stopped", entry.path, mark=mark, remaining=remaining)


def _judge_work(
    facts: HostFacts, registration: GuardRegistration, run: Run, remaining: int
) -> Iterator[Finding]:
    """Work that waits, where the guard may keep an agent at it."""
    if registration.mode == "guard" or not facts.host.dialect.block:
        return
    entry = "work_stale" if run.work.is_stale else "work_waiting"
    values = {"run": run, "remaining": remaining, "age": clock.age(run.work.age)}
    renew = how_to_renew(run.task_path, run.task_names)
    yield facts.find(entry, run.task_path, renew=renew, **values)
    if not run.work.is_stale and not run.task_names:  # else another system writes it
        yield from _judge_permission(facts, registration)


def _judge_permission(facts: HostFacts, registration: GuardRegistration) -> Iterator[Finding]:
    """Whether the host lets the agent report without a person, as far as its settings say."""
    permission, sources = facts.host.permission, [layer.source for layer in facts.layers]
    for source in sources:
        for above in permission.against:
            rules = permission.rules_in(source.document, above)
            if rules:
                yield facts.find("must_ask.rule", source.path, rule=rules[0], key=".".join(above))
                return
    *setting, free = permission.never_asks or ("",)
    for source in sources:
        is_free = bool(setting) and source.document.get(tuple(setting)) == free
        if is_free or permission.rules_in(source.document, permission.path):
            return
    for file in facts.files:
        if file.path == registration.hook.source.path and permission.path:
            yield file.find("must_ask", install=file.install)


def _judge_owner(facts: HostFacts, run: Run) -> Iterator[Finding]:
    """An owner that was never seen, while other sessions may stop because of it."""
    lines = [line for line in facts.log if line["project"] == run.log_folder]
    seen = {str(line.get("session")) for line in lines}
    others = {
        str(line.get("session"))
        for line in lines
        if line["t"] > run.owner_since and line.get("session")
    }
    is_unseen = bool(others) and project.session_hash(run.owner) not in seen
    if run.owner and run.work.is_fixed and is_unseen:
        entry = "owner_unseen.other-system" if run.task_names else "owner_unseen"
        yield facts.find(entry, run.owner_path, count=len(others))


def _judge_run_end(facts: HostFacts, run: Run, remaining: int, *, must: bool) -> Iterator[Finding]:
    """ACTIVE, which holds the end of the run."""
    now, path = facts.workplace.now, run.active_path
    end = clock.timestamp((run.active or b"").decode("ascii", "replace").strip())
    if run.active is not None and end is None:
        yield facts.find("active_unreadable", path)
    elif end is not None and now < end <= now + _SOON:
        level = "warning" if must else "info"
        age, at = clock.age(end - now), clock.local(end)
        yield facts.find("run_ends_soon", path, level, age=age, at=at)
    elif must and remaining > 0 and (end is None or end <= now):
        yield facts.find("not_armed", path, remaining=remaining)
