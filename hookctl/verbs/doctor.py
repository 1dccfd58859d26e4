"""hookctl doctor: check that what is installed works here; with --fix, repair what is ours."""

from __future__ import annotations

from typing import NamedTuple

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
from hookctl.system import project
from hookctl.system.folders import Folders


class Request(NamedTuple):
    """What doctor looks at and does."""

    hosts: tuple[Host, ...] = ()  # none: those in use here
    scope: str = ""  # empty: every one
    fix: bool = False  # repair first, and list the repairs
    strict: bool = False  # warnings count as errors
    verbose: bool = False
    everywhere: bool = False  # also the other projects on record


def doctor(folders: Folders, request: Request) -> Result:
    """All findings about the named hosts, or about the hosts in use here; errors come first."""
    if request.fix:
        return _fix_and_look(folders, request)
    survey = Survey(folders, request.scope, everywhere=request.everywhere)
    hosts = [*request.hosts] or survey.hosts_in_use()
    return _make_result(survey, _collect(survey, hosts), hosts, request)


def _fix_and_look(folders: Folders, request: Request) -> Result:
    finished = _list_interrupted(folders)
    failures, done = [], []
    try:
        _finish_interrupted(folders)
        done = _install_again(folders, request)
    except HookctlError as error:
        failures = [codes.finding("fix_failed", path=error.path, error=error)]
    survey = Survey(folders, request.scope, everywhere=request.everywhere)
    hosts = [*request.hosts] or survey.hosts_in_use()
    result = _make_result(survey, _collect(survey, hosts, failures), hosts, request)
    fixed: list[object] = list(finished)
    lines = [Line(f"{tilde(str(action['file']))}: {action['reason']}") for action in finished]
    for message in {message.text: message for one in done for message in one.messages}.values():
        report.say(message)
    for one in done:
        if one.data["actions"]:
            fixed += one.data["actions"]
            lines += one.text
    if not failures and not fixed:
        lines = [Line("nothing repaired")]
    data = {**result.data, "fixed": fixed}
    return result._replace(data=data, text=(*lines, *result.text))


def _collect(
    survey: Survey, hosts: list[Host], failures: list[Finding] | None = None
) -> list[Finding]:
    """The findings about these hosts and the failed repairs, errors first."""
    findings = [*(failures or []), *survey.findings(hosts)]
    if not hosts:
        findings.append(codes.finding("not_installed", title="any agent", name="NAME"))
    return codes.worst_first(findings)


def _make_result(
    survey: Survey, findings: list[Finding], hosts: list[Host], request: Request
) -> Result:
    failing_levels = ("error", "warning") if request.strict else ("error",)
    has_failed = any(finding.level in failing_levels for finding in findings)
    exit_code = errors.FAILED if has_failed else errors.OK
    data: dict[str, object] = {"findings": [finding._asdict() for finding in findings]}
    if survey.others:
        data["other_projects"] = len(survey.others)
    lines = finding_lines(findings, hosts, verbose=request.verbose)
    lines += other_projects(survey.others, survey.others_gone, "doctor")
    return Result(data, tuple(lines), exit_code=exit_code)


def _finish_interrupted(folders: Folders) -> None:
    from hookctl.planner.run import finish_pending  # late: only with --fix

    finish_pending(folders, report.say)


def _install_again(folders: Folders, request: Request) -> list[Result]:
    """Install every pack again where it is on record here, with its recorded settings.

    Nothing is fetched, and of a pack nothing is written but what a person agreed to here. Each host
    and scope is done alone, so that a file that cannot be read keeps no other from being repaired.
    """
    from hookctl.verbs import upgrade  # late: only with --fix

    here = project.look(folders.cwd, folders.environ)
    names = {host.name for host in request.hosts}
    places = set()
    records = store.read_known(folders)[0]
    away = store.away(folders, records)
    for key, record in records.items():
        if key in away:
            continue
        is_own = request.everywhere or record.project in ("", here)
        is_named = record.host in names or not names
        if is_own and is_named and request.scope in ("", record.scope):
            for name, pack in record.packs.items():
                if not pack.source.startswith(GIT):
                    places.add((record.project, record.scope, record.host, name))
    results = []
    for root, scope, host_name, name in sorted(places):
        again = upgrade.Request(
            name, hosts=(host_name,), scope=scope, project=root, keep_removed=True
        )
        try:
            results.append(upgrade.upgrade(folders, again, Permission()))
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
