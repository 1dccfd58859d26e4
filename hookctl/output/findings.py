"""Doctor's output: each problem with its fix, and a line for every host without one."""

from __future__ import annotations

from collections.abc import Sequence

from hookctl.checks.codes import Finding
from hookctl.hosts import Host
from hookctl.model import Line
from hookctl.output.lines import ERROR, OK, SKIP, WARN, amount, fix, tilde

_MARKS = {"error": ERROR, "warning": WARN}
# Parts of the line about a host without problems, by the code of a finding.
_BRIEF = {
    "self_test_passed": "the hook works in a self-test",
    "never_ran": "it has not run yet",
}
_WORK = {"work_waiting": OK, "run_stopped": SKIP}
_UNSAID = (
    "client_missing",
    "not_installed",
    "disabled",
    *_WORK,
)  # the first two were not asked for


def finding_lines(
    findings: Sequence[Finding], hosts: Sequence[Host], *, verbose: bool
) -> list[Line]:
    """The problems, then the hosts that are fine; with `verbose` every finding, and the counts."""
    lines = []
    # A finding that several hosts share, such as a fault of the work in hand, is printed once.
    once = list(dict.fromkeys(finding._replace(host="") for finding in findings))
    for finding in once:
        if verbose or finding.level in _MARKS:
            lines += _problem_lines(finding)
    for host in hosts if not verbose else ():
        lines += _fine_lines(host, [finding for finding in findings if finding.host == host.name])
    if not verbose:
        lines += [*_disabled_lines(once), *_work_lines(findings)]
    return [*lines, Line(_count(once))]


def _problem_lines(finding: Finding) -> list[Line]:
    # A note that names something to do is not simply fine.
    mark = _MARKS.get(finding.level, SKIP if finding.fix else OK)
    line = Line(f"{finding.message} [{finding.code}]", mark, path=tilde(finding.path))
    if not finding.fix or finding.level not in _MARKS:
        return [line]
    return [line, fix(finding.fix)]


def _fine_lines(host: Host, findings: list[Finding]) -> list[Line]:
    """One line about a host without problems; none where there is nothing to say."""
    if any(finding.level in _MARKS for finding in findings):
        return []
    said = []
    notes = 0
    for finding in findings:
        if finding.code == "last_ran":
            said.append(finding.message.partition(", at ")[0])
        elif finding.code == "pack_fine":
            said.append(finding.message)
        elif finding.code in _BRIEF:
            said.append(_BRIEF[finding.code])
        elif finding.code not in _UNSAID:
            notes += 1
    if not said and not notes:
        if any(finding.code == "disabled" for finding in findings):
            return []
        for finding in findings:
            if finding.code == "not_installed" and not finding.fix:  # a record cannot be read
                return [Line(finding.message, SKIP)]
        return [Line(f"{host.title}: nothing of hookctl's is installed", SKIP)]
    if notes:
        said.append(f"{amount(notes, 'note')} with --verbose")
    if any(finding.code == "last_ran" for finding in findings):
        said = [text for text in said if text != _BRIEF["never_ran"]]
    if said[:1] == [_BRIEF["never_ran"]]:
        said[0] = "the hook has not run yet"
    text = ", ".join(dict.fromkeys(said))  # a text that holds for several files is printed once
    return [Line(f"{host.title}: {text}", OK)]


def _disabled_lines(findings: Sequence[Finding]) -> list[Line]:
    """What somebody has disabled, with the way back: easily forgotten, so always said."""
    lines = []
    for finding in findings:
        if finding.code == "disabled" and finding.level not in _MARKS:
            lines += [Line(finding.message, SKIP, path=tilde(finding.path)), fix(finding.fix)]
    return lines


def _work_lines(findings: Sequence[Finding]) -> list[Line]:
    """The work that waits, once, however many hosts would take it."""
    works = {finding.path: finding for finding in findings if finding.code in _WORK}
    return [Line(work.message, _WORK[work.code], path=tilde(path)) for path, work in works.items()]


def _count(findings: Sequence[Finding]) -> str:
    errors = sum(finding.level == "error" for finding in findings)
    warnings = sum(finding.level == "warning" for finding in findings)
    if not errors and not warnings:
        return "no errors, no warnings"
    return f"{amount(errors, 'error')}, {amount(warnings, 'warning')}"
