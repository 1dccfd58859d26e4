"""The values that the page is made of: texts that may be shown, with secrets masked."""

from __future__ import annotations

from typing import Any, NamedTuple

from hookctl.checks.codes import Finding
from hookctl.receipts.model import HookName, Runs
from hookctl.survey.model import Hook, Unreadable


class Content(NamedTuple):
    """Everything that the page tells."""

    folder: str  # as people write it
    at: float  # in seconds since 1970
    since: str  # the option, as it was given; empty: everything
    version: str
    titles: dict[str, str]  # of the hosts, by name
    hooks: tuple[tuple[Hook, str], ...]  # with their commands as they may be shown
    unreadable: tuple[Unreadable, ...]
    findings: tuple[Finding, ...]  # the worst first
    runs: dict[HookName, Runs]
    decisions: tuple[dict[str, Any], ...]  # lines of the guard's log, in order of time
