"""hookctl doctor: check that what is installed works here; with --fix, repair what is ours."""

from __future__ import annotations

from hookctl import errors, report
from hookctl.checks import codes
from hookctl.checks.codes import Finding
from hookctl.checks.survey import Survey
from hookctl.errors import HookctlError
from hookctl.hosts import Host
from hookctl.ledger import store
from hookctl.model import GIT, Action, Line, Result
from hookctl.output.findings import finding_lines
from hookctl.output.lines import other_projects, tilde
from hookctl.output.plans import action_data
from hookctl.packs.choices import Permission
from hookctl.run.journal import read_journal
from hookctl.system import project
from hookctl.system.folders import Folders
from hookctl.values import NamedTuple


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
    failures = _finish_interrupted(folders)
    survey = Survey(folders, request.scope, everywhere=request.everywhere)
    hosts = [*request.hosts] or survey.hosts_in_use()
    done = _install_again(folders, hosts, request) if not failures else []
    survey = Survey(folders, request.scope, everywhere=request.everywhere)
    result = _make_result(survey, _collect(survey, hosts, failures), hosts, request)
    fixed: list[object] = list(finished)
    lines = [Line(f"{tilde(str(action['file']))}: {action['reason']}") for action in finished]
    for one in done:
        for message in one.messages:
            report.say(message)
        if one.data["actions"]:
            fixed += one.data["actions"]
            lines += one.text
    if not failures and not fixed:
        lines = [Line("nothing to repair")]
    data = {**result.data, "fixed": fixed}
    return result._replace(data=data, text=(*lines, *result.text))


def _collect(
    survey: Survey, hosts: list[Host], failures: list[Finding] | None = None
) -> list[Finding]:
    """The findings about these hosts and the failed repairs, errors first."""
    findings = [*(failures or []), *survey.findings(hosts)]
    if not hosts:
        findings.append(codes.finding("not_installed.no_host"))
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


def _finish_interrupted(folders: Folders) -> list[Finding]:
    """Finish an interrupted run; the finding if that fails."""
    from hookctl.planner.run import pending_first  # late: only with --fix

    try:
        pending_first(folders, report.say, dry_run=False)
    except HookctlError as error:
        return [codes.finding("fix_failed", path=error.path, error=error)]
    return []


def _install_again(folders: Folders, hosts: list[Host], request: Request) -> list[Result]:
    """Install every pack again where it is on record here, with its recorded settings.

    A pack from git stays as it is: nothing is fetched. Each host and scope is done alone, so that
    a file that cannot be read keeps none of the others from being repaired.
    """
    from hookctl.verbs import upgrade  # late: only with --fix

    here = project.look(folders.cwd, folders.environ)
    names = {host.name for host in hosts}
    places = {}
    for record in store.read_known(folders)[0].values():
        is_own = request.everywhere or record.project in ("", here)
        if is_own and record.host in names and request.scope in ("", record.scope):
            for name, pack in record.packs.items():
                if not pack.source.startswith(GIT):
                    places[record.project, record.scope, record.host, name] = None
    results = []
    for root, scope, host_name, name in sorted(places):
        again = upgrade.Request(name, hosts=(host_name,), scope=scope, project=root)
        try:
            results.append(upgrade.upgrade(folders, again, Permission()))
        except HookctlError as error:
            report.say(f"{name} is left as it is for {host_name}: {error}")
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
