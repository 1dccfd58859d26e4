"""hookctl doctor: check that what is installed works here; with --fix, repair what is ours."""

from __future__ import annotations

from collections.abc import Sequence

from hookctl import errors, report
from hookctl.checks import codes
from hookctl.checks.codes import Finding
from hookctl.checks.survey import Survey
from hookctl.errors import HookctlError
from hookctl.hosts import Host
from hookctl.ledger import store
from hookctl.model import GIT, Action, Line, Result
from hookctl.output.findings import finding_lines
from hookctl.output.lines import other_projects, program, tilde
from hookctl.output.plans import action_data
from hookctl.packs.choices import Permission
from hookctl.run.journal import read_journal
from hookctl.system.folders import Folders
from hookctl.system.project import look
from hookctl.verbs.choosing import in_project, known_scope, load_hosts

HELP = """
--fix  Repair hookctl's own entries and files first.
--strict  Treat warnings as errors.

Examples:
  hookctl doctor
  hookctl doctor --fix            repair hookctl's own entries
  hookctl doctor --strict --json
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
    finished = failures = done = []
    if fix:
        finished = _list_interrupted(folders)
        done, failures = _repair(folders, chosen, scope, everywhere=everywhere)
    survey = Survey(folders, scope, everywhere=everywhere)
    hosts = chosen or survey.hosts_in_use()
    findings = [*failures, *survey.findings(hosts)]
    if not hosts:
        findings.append(codes.finding("not_installed", title="any agent", name="NAME"))
    findings = codes.worst_first(findings)
    failing_levels = ("error", "warning") if strict else ("error",)
    has_failed = any(finding.level in failing_levels for finding in findings)
    data: dict[str, object] = {"findings": [finding._asdict() for finding in findings]}
    if survey.others:
        data["other_projects"] = len(survey.others)
    lines = finding_lines(findings, hosts, verbose=verbose)
    lines += other_projects(survey.others, survey.others_gone, "doctor")
    if fix:
        data["fixed"] = [*finished, *(action for one in done for action in one.data["actions"])]
        lines = [*_describe_repairs(finished, done, failures), *lines]
    return Result(data, tuple(lines), exit_code=errors.FAILED if has_failed else errors.OK)


def _repair(
    folders: Folders, hosts: Sequence[Host], scope: str, *, everywhere: bool
) -> tuple[list[Result], list[Finding]]:
    """Finish an interrupted run and install again; what was done, or why it could not be."""
    from hookctl.planner.run import finish_pending  # late: only with --fix

    try:
        finish_pending(folders, report.say)
        return _install_again(folders, hosts, scope, everywhere=everywhere), []
    except HookctlError as error:
        return [], [codes.finding("fix_failed", path=error.path, error=error)]


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

    here = look(folders.cwd, folders.environ)
    names = {host.name for host in hosts}
    places = set()
    records = store.read_known(folders)[0]
    away = store.away(folders, records)
    for key, record in records.items():
        if key in away:
            continue
        is_own = everywhere or record.project in ("", here)
        is_named = record.host in names or not names
        if is_own and is_named and scope in ("", record.scope):
            for name, pack in record.packs.items():
                if not pack.source.startswith(GIT):
                    places.add((record.project, record.scope, record.host, name))
    results = []
    for root, its_scope, host_name, name in sorted(places):
        again = upgrade.Request(
            name, hosts=(host_name,), scope=its_scope, project=root, keep_removed=True
        )
        try:
            results.append(upgrade.upgrade_meant(folders, again, Permission()))
        except HookctlError as error:
            reason = f"{error.message}; `{program()} upgrade {name}` asks first"
            report.say(f"{name} is left as it is for {host_name}: {reason}")
    return results


def _list_interrupted(folders: Folders) -> list[dict[str, object]]:
    """An action for each file of an interrupted run, as `--json` shows it."""
    try:
        journal = read_journal(folders)
    except HookctlError:
        return []
    if journal is None:
        return []
    actions: list[dict[str, object]] = []
    for step in journal.steps:
        record = journal.records.get(step.path)
        host, scope = (record.host, record.scope) if record else ("", "user")
        kind = "replace-file" if step.sha_after else "remove-file"
        reason = "an interrupted run was carried to its end"
        action = Action(kind, (step.path,), "file", reason=reason)
        actions.append(action_data(action, host, scope, step.path))
    return actions
