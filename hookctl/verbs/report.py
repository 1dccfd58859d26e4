"""hookctl report: one HTML page of the hooks, what they cost, and what needs attention."""

from __future__ import annotations

import os

from hookctl import __version__, clock, events, hosts
from hookctl.checks import codes
from hookctl.checks.survey import Survey
from hookctl.errors import FAILED, USAGE, HookctlError
from hookctl.masking import masked_text
from hookctl.model import Result
from hookctl.output.lines import amount, tilde
from hookctl.page.document import MARK, count, make_page
from hookctl.page.model import Content
from hookctl.receipts.reading import read_runs
from hookctl.survey.inventory import take_inventory
from hookctl.system import files
from hookctl.system.folders import Folders
from hookctl.verbs.hooks import shown_command

DEFAULT = "hookctl-report.html"
HELP = """
--output -o FILE  The file to write; default: hookctl-report.html here.
--since T  Only runs and decisions since then: 2h, 7d, or a date.

Examples:
  hookctl report
  hookctl report -o ~/hooks.html --since 7d
"""


def report(folders: Folders, output: str = "", since: str = "") -> Result:
    """Write the page to a file, which may be an older page but no other file."""
    path = os.path.join(folders.cwd, os.path.expanduser(output or DEFAULT))
    if not output and os.path.islink(path):  # which whoever made the folder may have put there
        hint = "Remove it, or name a file with -o."
        raise HookctlError("conflict", "this is a link", path=path, hint=hint, exit_code=FAILED)
    old = _read_old(path)
    content = _gather(folders, since)
    try:
        files.replace(old, make_page(content))
    except files.Changed:
        hint = "Run the command again."
        raise HookctlError(
            "changed", "the file changed meanwhile", path=path, hint=hint, exit_code=FAILED
        ) from None
    numbers = count(content)
    nouns = ("hook", "run", "decision")
    said = [amount(numbers[f"{noun}s"], noun) for noun in nouns]
    said.append(amount(numbers["attention"], "thing needs attention", "things need attention"))
    return Result({"file": path, **numbers}, (f"{tilde(path)}: {', '.join(said)}",))


def _read_old(path: str) -> files.Snapshot:
    """What is at the path now. Refuses a file that is no page of hookctl's."""
    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path)):
        what = "this is a folder" if os.path.isdir(path) else "there is no such folder"
        hint = "Name a file in a folder that is there."
        raise HookctlError("usage", what, path=path, hint=hint, exit_code=USAGE)
    old = files.read(path)
    if old.data and MARK not in old.data[:4096]:
        hint = "Name another file with -o, or remove this one first."
        raise HookctlError(
            "conflict", "this file is not a hookctl report", path=path, hint=hint, exit_code=FAILED
        )
    return old


def _gather(folders: Folders, since: str) -> Content:
    """Everything that the page tells, read now."""
    now = clock.now(folders.environ)
    earliest = clock.moment(since, now) if since else None
    inventory = take_inventory(folders)
    survey = Survey(folders)
    findings = codes.worst_first(survey.findings(survey.hosts_in_use()))
    shown = [finding._replace(message=masked_text(finding.message)) for finding in findings]
    decided = []
    for event in (*events.read(folders.state), *events.read_untold(folders.state)):
        if event.get("decision") in events.DECISIONS and event["t"] >= (earliest or 0):
            decided.append(event)
    return Content(
        folder=tilde(folders.cwd),
        at=now,
        since=since,
        version=__version__,
        titles={name: hosts.load(name).title for name in hosts.names()},
        hooks=tuple((hook, shown_command(hook)) for hook in inventory.hooks),
        unreadable=inventory.unreadable,
        findings=tuple(shown),
        runs=read_runs(folders.state, "", earliest),
        decisions=tuple(sorted(decided, key=lambda event: event["t"])),
    )
