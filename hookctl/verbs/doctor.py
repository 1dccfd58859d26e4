"""hookctl doctor: check that what is installed works here; with --fix, repair what is ours."""

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
_COUNTED = ("error", "warning")


def doctor(folders: Folders, named: list[Host], *, strict: bool, fix: bool = False) -> Result:
    """All findings about the named hosts, or about the hosts in use here; errors come first.

    With `strict`, warnings count as errors. With `fix`, it repairs first and lists the repairs.
    """
    if fix:
        return _fix_and_look(folders, named, strict)
    survey = Survey(folders)
    findings = _collect(survey, named or survey.hosts_in_use())
    return _make_result(findings, strict)


def _fix_and_look(folders: Folders, named: list[Host], strict: bool) -> Result:
    finished = _list_interrupted(folders)
    failures = _finish_interrupted(folders)
    survey = Survey(folders)
    hosts = named or survey.hosts_in_use()
    plan = None
    if not failures:
        plan, failures = _repair(folders, hosts)
        survey = Survey(folders)
    result = _make_result(_collect(survey, hosts, failures), strict)
    fixed: list[object] = []
    lines: list[str] = []
    if plan:
        fixed = [*finished, *report.plan_data(plan, dry_run=False)["actions"]]
        lines = _describe_repairs(plan, finished)
    data = {**result.data, "fixed": fixed}
    return result._replace(data=data, text=(*lines, *result.text))


def _collect(
    survey: Survey, hosts: list[Host], failures: list[Finding] | None = None
) -> list[Finding]:
    """The findings about these hosts and the failed repairs, errors first."""
    findings = [*(failures or []), *survey.findings(hosts)]
    if not hosts:
        fix = "`hookctl hosts` shows those that hookctl knows."
        findings.append(codes.finding("not_installed", "no host is in use here", fix=fix))
    return sorted(findings, key=lambda finding: _ORDER[finding.level])


def _make_result(findings: list[Finding], strict: bool) -> Result:
    failing_levels = _COUNTED if strict else ("error",)
    has_failed = any(finding.level in failing_levels for finding in findings)
    exit_code = errors.FAILED if has_failed else errors.OK
    data = {"findings": [finding._asdict() for finding in findings]}
    return Result(data, tuple(_describe(findings)), exit_code=exit_code)


def _finish_interrupted(folders: Folders) -> list[Finding]:
    """Finish an interrupted run; the finding if that fails."""
    from hookctl.planner.run import finish_pending

    try:
        finish_pending(folders, report.say)
    except HookctlError as error:
        return [_make_failure(error)]
    return []


def _make_failure(error: HookctlError) -> Finding:
    message = f"nothing could be repaired: {error.message}"
    return codes.finding("fix_failed", message, "", error.path, error.hint)


def _repair(folders: Folders, hosts: list[Host]) -> tuple[Plan | None, list[Finding]]:
    """Repair what is ours; the plan that was carried out, or the finding if that fails."""
    from hookctl.planner.repair import plan_repair
    from hookctl.planner.run import carry_out
    from hookctl.settings.sources import Sources  # only a repair needs them

    sources = Sources(folders)

    def make_plan() -> Plan:
        survey = Survey(folders)
        targets = [target for host in hosts for target in survey.targets(host)]
        return plan_repair(sources, targets)

    try:
        return carry_out(sources, make_plan, report.say), []
    except HookctlError as error:
        return None, [_make_failure(error)]


def _list_interrupted(folders: Folders) -> list[dict[str, object]]:
    """An action for each file of an interrupted run, as `--json` shows it."""
    try:
        journal = transaction.pending(folders)
    except HookctlError:
        return []
    if journal is None:
        return []
    actions: list[dict[str, object]] = []
    for step in journal.steps:
        host, scope = "", "user"
        record = journal.records.get(step.path)
        if record:
            host, scope = record.host, record.scope
        actions.append(
            {
                "host": host,
                "scope": scope,
                "file": step.path,
                "path": [],
                "kind": "file",
                "id": "",
                "action": "replace-file" if step.sha_after else "remove-file",
                "from": "",
                "to": "",
                "reason": "an interrupted run was carried to its end",
                "owners": [],
            }
        )
    return actions


def _describe_repairs(plan: Plan, finished: list[dict[str, object]]) -> list[str]:
    lines = [f"{report.tilde(str(action['file']))}: {action['reason']}" for action in finished]
    if plan.empty:
        return lines or ["nothing to repair"]
    return [*lines, *report.plan_text(plan, dry_run=False, done="")]


def _describe(findings: list[Finding]) -> list[str]:
    """Each finding with its fix, and the counts in the last line."""
    lines = []
    for finding in findings:
        path = f"{finding.path}: " if finding.path else ""
        lines.append(f"{finding.level:8} {path}{finding.message} [{finding.code}]")
        if finding.fix and finding.level != "info":
            lines.append(f"         {finding.fix}")
    counts = []
    for level in _COUNTED:
        count = sum(finding.level == level for finding in findings)
        counts.append(f"{count} {level}" if count == 1 else f"{count} {level}s")
    if counts == ["0 errors", "0 warnings"]:
        return [*lines, "no errors, no warnings"]
    return [*lines, ", ".join(counts)]
