"""Doctor's output: each problem with its fix, and a line for every host without one."""

from __future__ import annotations

from collections.abc import Sequence

from hookctl.checks.codes import Finding
from hookctl.hosts import Host
from hookctl.model import Line
from hookctl.output.lines import ERROR, OK, SKIP, WARN, amount, fix, tilde

_MARKS = {"error": ERROR, "warning": WARN}
_HIDING = ("ledger_unreadable", "ledger_newer")  # without the record nothing is known to be fine
_IDLE = ("disabled", "not_approved")  # easily forgotten
_ALWAYS = (*_IDLE, "work_waiting")  # said whatever their level


def finding_lines(
    findings: Sequence[Finding], hosts: Sequence[Host], *, verbose: bool
) -> list[Line]:
    """The problems, then the hosts that are fine; with `verbose` every finding, and the counts."""
    lines = []
    # A finding that several hosts share, such as a fault of the work in hand, is printed once.
    once = list(dict.fromkeys(finding._replace(host="") for finding in findings))
    for finding in once:
        if verbose or finding.level in _MARKS or finding.code in _ALWAYS:
            # A note that names something to do is not simply fine.
            mark = _MARKS.get(finding.level, SKIP if finding.fix else OK)
            text = f"{finding.message} [{finding.code}]"
            lines.append(Line(text, mark, path=tilde(finding.path)))
            lines += [fix(finding.fix)] if finding.fix else []
    is_known = not any(finding.code in _HIDING for finding in findings)
    for host in hosts if is_known else ():
        own = [finding for finding in findings if finding.host == host.name]
        lines += _fine_lines(host, own) if not (verbose and own) else []
    errors, warnings = (sum(one.level == level for one in once) for level in _MARKS)
    counts = f"{amount(errors, 'error')}, {amount(warnings, 'warning')}"
    return [*lines, Line(counts if errors or warnings else "no errors, no warnings")]


def _fine_lines(host: Host, findings: list[Finding]) -> list[Line]:
    """One line about a host without problems; none where its findings have lines of their own."""
    for finding in findings:
        if finding.level in _MARKS or finding.code in _IDLE:
            return []
        if finding.code == "not_installed":
            return [Line(finding.message, SKIP)]
    notes = sum(finding.code != "work_waiting" for finding in findings)
    if notes:
        return [Line(f"{host.title}: {amount(notes, 'note')} with --verbose", SKIP)]
    return [Line(f"{host.title}: nothing wrong", OK)]
