"""hookctl doctor: check that what is installed works here; with --fix, repair what is ours."""

from collections.abc import Sequence

from hookctl import checks
from hookctl.checks import Finding, survey
from hookctl.errors import FAILED, HookctlError
from hookctl.hosts import Host
from hookctl.model import GIT, Line, Result
from hookctl.output.lines import amount, other_projects, say, tilde
from hookctl.output.lines import fix as fix_line
from hookctl.packs.choices import Choice, Permission
from hookctl.survey.machine import read_records
from hookctl.system.folders import Folders
from hookctl.verbs.choosing import in_project, is_meant, known_scope, load_hosts

_MARKS = {"error": "error", "warning": "warn"}
_HIDING = ("ledger_unreadable", "ledger_newer")  # without the record nothing is known to be fine
_IDLE = ("disabled", "not_approved")  # easily forgotten
_ALWAYS = (*_IDLE, "work_waiting")  # said whatever their level

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
    failures, done = list[Finding](), list[Result]()
    if fix:
        from hookctl.ownership.run import finish_pending  # late: only with --fix

        try:
            finish_pending(folders, say)
            done = _install_again(folders, chosen, scope, everywhere=everywhere)
        except HookctlError as error:
            failures = [checks.finding("fix_failed", path=error.path, error=error)]
    hosts, found, others = survey.check(folders, chosen, scope, everywhere=everywhere)
    findings = [*failures, *found]
    if not hosts:
        findings.append(checks.finding("not_installed", title="any agent", name="NAME"))
    findings = checks.worst_first(findings)
    failing_levels = ("error", "warning") if strict else ("error",)
    has_failed = any(finding.level in failing_levels for finding in findings)
    data: dict[str, object] = {"findings": [finding._asdict() for finding in findings]}
    data |= {"other_projects": len(others)} if others else {}
    lines: list[str | Line] = []
    fixed: list[object] = []
    for one in done:
        fixed += one.data["actions"]
        lines += one.text if one.data["actions"] else ()
    lines += finding_lines(findings, hosts, verbose=verbose) + other_projects(others, "doctor")
    data |= {"fixed": fixed} if fix else {}
    messages = tuple(dict.fromkeys(message for one in done for message in one.messages))
    return Result(data, tuple(lines), messages, exit_code=FAILED if has_failed else 0)


def _install_again(
    folders: Folders, hosts: Sequence[Host], scope: str, *, everywhere: bool
) -> list[Result]:
    """Install every pack again where it is on record here, with its recorded settings.

    Nothing is fetched, and of a pack nothing is written but what a person agreed to here. Each host
    and scope is done alone, so that a file that cannot be read keeps no other from being repaired.
    """
    from hookctl.verbs.upgrade import upgrade_meant  # late: only with --fix

    found = read_records(folders, everywhere=everywhere)
    if found.errors and not found.records:
        raise found.errors[0]
    names = [host.name for host in hosts]
    results = []
    for record in found.usable.values():
        for name, pack in sorted(record.packs.items()) if is_meant(record, names, scope) else ():
            place = name, [record.host], record.scope, record.project
            try:
                if pack.source.startswith(GIT):
                    raise HookctlError("consent_needed", "it comes from git")
                results.append(upgrade_meant(folders, *place, Permission(), Choice()))
            except HookctlError as error:
                reason = f"{error.message}; `hookctl upgrade {name}` asks first"
                say(f"{name} is left as it is for {record.host}: {reason}")
    return results


# What is said.


def finding_lines(
    findings: Sequence[Finding], hosts: Sequence[Host], *, verbose: bool
) -> list[Line]:
    """The problems, then the hosts that are fine; with `verbose` every finding, and the counts."""
    lines = []
    # A finding that several hosts share, such as a fault of a file that all read, is printed once.
    known = {(finding.code, finding.path, finding.message): finding for finding in findings[::-1]}
    once = [finding for finding in findings if finding in known.values()]
    for finding in once:
        if verbose or finding.level in _MARKS or finding.code in _ALWAYS:
            # A note that names something to do is not simply fine.
            mark = _MARKS.get(finding.level, "skip" if finding.fix else "ok")
            text = f"{finding.message} [{finding.code}]"
            lines.append(Line(text, mark, path=tilde(finding.path)))
            lines += [fix_line(finding.fix)] if finding.fix else []
    is_known = not any(finding.code in _HIDING for finding in findings)
    for host in hosts if is_known else ():
        own = [finding for finding in findings if finding.host == host.name]
        text, mark = f"{host.title}: nothing wrong", "ok"
        if notes := sum(one.code != "work_waiting" for one in own):
            text, mark = f"{host.title}: {amount(notes, 'note')} with --verbose", "skip"
        for missing in [one for one in own if one.code == "not_installed"]:
            text, mark = missing.message, "skip"
        # Its findings have lines of their own.
        is_told = any(one.level in _MARKS or one.code in _IDLE for one in own)
        if not (is_told or (verbose and own)):
            lines.append(Line(text, mark))
    errors, warnings = (sum(one.level == level for one in once) for level in _MARKS)
    counts = f"{amount(errors, 'error')}, {amount(warnings, 'warning')}"
    return [*lines, Line(counts if errors or warnings else "no errors, no warnings")]
