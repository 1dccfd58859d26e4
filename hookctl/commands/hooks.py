"""The commands about everybody's hooks: which ones there are, and what they do."""

from __future__ import annotations

from typing import Annotated

from hookctl.commands import options
from hookctl.commands.options import Command, option, show

_EVENT = "Only this event: stop, PreToolUse, or a host's own name."


def _hooks(
    host: options.Hosts = None,
    event: Annotated[str, option("E", _EVENT)] = "",
    project: options.Project = "",
    json: options.Json = False,
) -> int:
    from hookctl.commands import choosing
    from hookctl.verbs.hooks import Filter, hooks

    wanted = Filter(tuple(choosing.load_hosts(host)), event)
    return show("hooks", lambda f: hooks(choosing.in_project(f, project), wanted), json)


_OUTPUT = "The file to write; default: hookctl-report.html here."
_SINCE = "Only runs and decisions since then: 2h, 7d, or a date."


def _report(
    output: Annotated[str, option("FILE", _OUTPUT, "--output", "-o")] = "",
    since: Annotated[str, option("T", _SINCE)] = "",
    json: options.Json = False,
) -> int:
    from hookctl.verbs.report import report

    return show("report", lambda f: report(f, output, since), json)


COMMANDS = {
    "report": Command(
        _report,
        "Write one page to look at: hooks, what they cost, the guard's decisions, what needs care.",
        "  hookctl report\n  hookctl report -o ~/hooks.html --since 7d",
    ),
    "hooks": Command(
        _hooks,
        "List every hook that would run here, whoever put it there, and why others do not.",
        "  hookctl hooks\n"
        "  hookctl hooks --host claude --event pre-tool\n"
        "  hookctl hooks --project ../other --json",
    ),
}
