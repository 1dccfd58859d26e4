"""Judges the work in hand: can the guard read it, and does it keep an agent at it?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hookctl import clock
from hookctl.checks.codes import Finding
from hookctl.checks.facts import GuardRegistration, HostFacts, Run
from hookctl.packs.guard_options import value_in_effect
from hookctl.packs.run_files import name_report

OWNER = "OWNER"


def judge(facts: HostFacts) -> Iterator[Finding]:
    """The work of the project that the working folder is in, if a guard reads it."""
    if not facts.guards or facts.run is None:
        return
    run, registration = facts.run, facts.guards[0]
    for path, fault in (*run.faults.items(), (run.task_path, _find_fault_in_task(run))):
        if fault:
            yield facts.find("run_unusable", path, fault=fault)
    # Where the guard may keep an agent at it.
    if run.work.remaining > 0 and registration.mode != "guard" and facts.host.dialect.block:
        yield from _judge_work(facts, registration, run)


def _find_fault_in_task(run: Run) -> str:
    """Why the hook cannot read the remaining work in the task; '' if it can, or none is given."""
    if run.task is not None and not isinstance(run.task, dict):
        return "it is not a JSON object"
    number = (run.task or {}).get(run.task_names.get("remaining", "remaining"))
    text = str(number).strip() if isinstance(number, str) or type(number) is int else ""
    is_number = number is None or re.fullmatch(r"-?[0-9]{1,18}", text)
    return "" if is_number else "`remaining` is not a whole number"


def _judge_work(facts: HostFacts, registration: GuardRegistration, run: Run) -> Iterator[Finding]:
    """How much work waits and for whom, and what lets the agent stop all the same."""
    must = value_in_effect("require_arm", registration.config, facts.variables) is True
    level, but, fix = "info", "", ""
    if run.mark:
        but, fix = f"; {run.mark} lets the agent stop", "`hookctl run start` removes it."
    elif run.work.is_stale:
        level, but = "warning", "; the guard ignores it by now"
        fix = f"{name_report(run.task_path, run.task_names)} renews it, 0 ends it."
    elif (must or registration.mode == "keepalive") and not run.is_active:
        but, fix = "; no run is active, so the agent may stop", "`hookctl run start` starts one."
    values = {"run": run, "age": clock.age(run.work.age), "but": but, "fix": fix}
    yield facts.find("work_waiting", run.task_path, level, **values)
    if not but and not run.task_names:  # else another system writes it
        yield from _judge_permission(facts, registration)


def _judge_permission(facts: HostFacts, registration: GuardRegistration) -> Iterator[Finding]:
    """Whether the host lets the agent report without a person, as far as its settings say."""
    permission, sources = facts.host.permission, [layer.source for layer in facts.layers]
    for source in sources:
        for above in permission.against:
            for rule in permission.rules_in(source.document, above)[:1]:
                why, fix = f"{rule} in {'.'.join(above)} keeps it from that", "Remove that rule."
                yield facts.find("must_ask", source.path, why=why, fix=fix)
                return
    *setting, free = permission.never_asks or ("",)
    for source in sources:
        is_free = bool(setting) and source.document.get(tuple(setting)) == free
        if is_free or permission.rules_in(source.document, permission.path):
            return
    for file in facts.files:
        if file.path == registration.hook.file and permission.path:
            why, fix = "no rule allows `hookctl run`", f"`{file.install} --allow-run`."
            yield file.find("must_ask", why=why, fix=fix)
