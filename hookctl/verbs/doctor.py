"""hookctl doctor: check that what is installed works here; with --fix, repair what is ours."""

from __future__ import annotations

from collections.abc import Sequence

from hookctl import errors, report
from hookctl.checks import codes, survey
from hookctl.checks.codes import Finding
from hookctl.errors import HookctlError
from hookctl.hosts import Host
from hookctl.model import GIT, Action, Line, Result
from hookctl.output.findings import finding_lines
from hookctl.output.lines import other_projects, tilde
from hookctl.output.plans import action_data
from hookctl.packs.choices import Choice, Permission
from hookctl.survey.machine import read_records
from hookctl.system.folders import Folders
from hookctl.verbs.choosing import in_project, known_scope, load_hosts

HELP = """
--fix  Repair hookctl's own entries and files first.
--strict  Treat warnings as errors.

Examples:
  hookctl doctor --fix            repair hookctl's own entries
"""


def doctor(
    folders: Folders,
    host: Sequence[str] = (),
    any_scope: str = "",
    project: str = "",
    everywhere: bool = False,
    fix: bool = False,
    strict: bool = False,
    verbose: bool = False,
) -> Result:
    """All findings about the named hosts, or about the hosts in use here; errors come first."""
    chosen, scope = load_hosts(host), known_scope(any_scope)
    folders = in_project(folders, project)
    finished: list[dict[str, object]] = []
    failures: list[Finding] = []
    done: list[Result] = []
    if fix:
        from hookctl.ownership.run import finish_pending, list_pending  # late: only with --fix

        try:
            for path in list_pending(folders):
                reason = "an interrupted run was carried to its end"
                action = Action("replace-file", (path,), "file", reason=reason)
                finished.append(action_data(action, "", "user", path))
            finish_pending(folders, report.say)
            done = _install_again(folders, chosen, scope, everywhere=everywhere)
        except HookctlError as error:
            failures = [codes.finding("fix_failed", path=error.path, error=error)]
    hosts, found, others = survey.judge(folders, chosen, scope, everywhere=everywhere)
    findings = [*failures, *found]
    if not hosts:
        findings.append(codes.finding("not_installed", title="any agent", name="NAME"))
    findings = codes.worst_first(findings)
    failing_levels = ("error", "warning") if strict else ("error",)
    has_failed = any(finding.level in failing_levels for finding in findings)
    data: dict[str, object] = {"findings": [finding._asdict() for finding in findings]}
    if others:
        data["other_projects"] = len(others)
    lines = finding_lines(findings, hosts, verbose=verbose)
    lines += other_projects(others, "doctor")
    if fix:
        data["fixed"] = [*finished, *(action for one in done for action in one.data["actions"])]
        lines = [*_describe_repairs(finished, done, failures), *lines]
    return Result(data, tuple(lines), exit_code=errors.FAILED if has_failed else errors.OK)


def _describe_repairs(
    finished: Sequence[dict[str, object]], done: Sequence[Result], failures: Sequence[Finding]
) -> list[str | Line]:
    """The lines about what was repaired; what they say beside it goes out at once."""
    lines: list[str | Line] = []
    for action in finished:
        lines.append(Line(f"{tilde(str(action['file']))}: {action['reason']}"))
    for message in {message.text: message for one in done for message in one.messages}.values():
        report.say(message)
    for one in done:
        if one.data["actions"]:
            lines += one.text
    if not lines and not failures:
        lines.append(Line("nothing repaired"))
    return lines


def _install_again(
    folders: Folders, hosts: Sequence[Host], scope: str, *, everywhere: bool
) -> list[Result]:
    """Install every pack again where it is on record here, with its recorded settings.

    Nothing is fetched, and of a pack nothing is written but what a person agreed to here. Each host
    and scope is done alone, so that a file that cannot be read keeps no other from being repaired.
    """
    from hookctl.verbs import upgrade  # late: only with --fix

    found = read_records(folders, everywhere=everywhere)
    if found.errors and not found.records:
        raise found.errors[0]
    names = {host.name for host in hosts}
    places = set()
    for record in found.usable.values():
        if scope in ("", record.scope) and (not names or record.host in names):
            for name, pack in record.packs.items():
                if not pack.source.startswith(GIT):
                    places.add((record.project, record.scope, record.host, name))
    results = []
    for root, its_scope, host_name, name in sorted(places):
        again = upgrade.Request(
            name, hosts=(host_name,), scope=its_scope, project=root, choice=Choice()
        )
        try:
            results.append(upgrade.upgrade_meant(folders, again, Permission()))
        except HookctlError as error:
            reason = f"{error.message}; `hookctl upgrade {name}` asks first"
            report.say(f"{name} is left as it is for {host_name}: {reason}")
    return results
