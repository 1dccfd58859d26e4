"""hookctl doctor: does what is installed really work here? It reads, and with --fix repairs what is ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookctl import errors, report, transaction
from hookctl.checks import codes
from hookctl.checks.codes import Finding
from hookctl.checks.survey import Survey
from hookctl.errors import HookctlError
from hookctl.hosts import Host
from hookctl.model import Result
from hookctl.system.folders import Folders

if TYPE_CHECKING:
    from hookctl.planner.plan import Plan

_ORDER = {"error": 0, "warning": 1, "info": 2}


def doctor(folders: Folders, named: list[Host], *, strict: bool, fix: bool = False) -> Result:
    """Every finding about these hosts, the errors first; with `strict`, warnings count as errors.

    Where none is named, those that are in use here are meant. With `fix` it repairs before it looks, and says what
    was repaired.
    """
    interrupted = _pending(folders) if fix else []
    failed = _finish_pending(folders) if fix else []
    survey = Survey(folders)
    wanted = named or survey.hosts_in_use()
    plan = None
    if fix and not failed:
        plan, failed = _fix(folders, wanted)
        survey = Survey(folders)
    findings = [*failed, *survey.findings(wanted)]
    if not wanted:
        fix_it = "`hookctl hosts` shows those that hookctl knows."
        findings.append(codes.finding("not_installed", "no host is in use here", fix=fix_it))
    findings.sort(key=lambda finding: _ORDER[finding.level])
    bad = [f for f in findings if f.level == "error" or (strict and f.level == "warning")]
    data = {"findings": [finding._asdict() for finding in findings]}
    text = _lines(findings)
    if fix:
        data["fixed"] = (
            [*interrupted, *report.plan_data(plan, dry_run=False)["actions"]] if plan else []
        )
        text = [*(_repaired(plan, interrupted) if plan else ()), *text]
    return Result(data, tuple(text), exit_code=errors.FAILED if bad else errors.OK)


def _finish_pending(folders: Folders) -> list[Finding]:
    """Carry an interrupted run to its end; why that could not be done."""
    from hookctl.planner.run import finish_pending

    try:
        finish_pending(folders, report.say)
    except HookctlError as error:
        return [_not_repaired(error)]
    return []


def _not_repaired(error: HookctlError) -> Finding:
    return codes.finding(
        "fix_failed", f"nothing could be repaired: {error.message}", "", error.path, error.hint
    )


def _fix(folders: Folders, wanted: list[Host]) -> tuple[Plan | None, list[Finding]]:
    """What was repaired, and why it could not be."""
    from hookctl.planner.repair import plan_repair
    from hookctl.planner.run import carry_out
    from hookctl.settings.sources import Sources  # only a repair needs them

    sources = Sources(folders)

    def plan() -> Plan:
        survey = Survey(folders)
        return plan_repair(sources, [target for host in wanted for target in survey.targets(host)])

    try:
        return carry_out(sources, plan, report.say), []
    except HookctlError as error:
        return None, [_not_repaired(error)]


def _pending(folders: Folders) -> list[dict[str, object]]:
    """The files of an interrupted run, as actions of carrying it to its end."""
    try:
        journal = transaction.pending(folders)
    except HookctlError:
        return []
    actions = []
    for step in journal.steps if journal else ():
        page = journal.records.get(step.path) if journal else None
        word = "replace-file" if step.sha_after else "remove-file"
        actions.append(
            {
                "host": page.host if page else "",
                "scope": page.scope if page else "user",
                "file": step.path,
                "path": [],
                "kind": "file",
                "id": "",
                "action": word,
                "from": "",
                "to": "",
                "reason": "an interrupted run was carried to its end",
                "owners": [],
            }
        )
    return actions


def _repaired(plan: Plan, interrupted: list[dict[str, object]]) -> list[str]:
    lines = [f"{report.tilde(str(action['file']))}: {action['reason']}" for action in interrupted]
    if plan.empty:
        return lines or ["nothing to repair"]
    return [*lines, *report.plan_text(plan, dry_run=False, done="")]


def _lines(findings: list[Finding]) -> list[str]:
    lines = []
    for finding in findings:
        where = f"{finding.path}: " if finding.path else ""
        lines.append(f"{finding.level:8} {where}{finding.message} [{finding.code}]")
        if finding.fix and finding.level != "info":
            lines.append(f"         {finding.fix}")
    counts = [sum(finding.level == level for finding in findings) for level in ("error", "warning")]
    if not any(counts):
        return [*lines, "no errors, no warnings"]
    words = (
        f"{n} {word}{'' if n == 1 else 's'}"
        for n, word in zip(counts, ("error", "warning"), strict=True)
    )
    return [*lines, ", ".join(words)]
