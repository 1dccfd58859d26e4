"""The commands about everybody's hooks: which ones there are, and what they do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from hookctl.commands import options
from hookctl.commands.options import Command, argument, flag, option, show

if TYPE_CHECKING:  # late: a help text needs none of it
    from hookctl.model import Result
    from hookctl.system.folders import Folders

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


_FIRED = "The event: stop, PreToolUse, or a host's own name."
_TOOL = "For an event about a tool call: the tool, by Claude Code's name or the host's."
_INPUT = "Its input as JSON, by Claude Code's names; default: a harmless example."
_PAYLOAD = "A file with a payload of the host, instead of one that is made."
_ID = "Only this hook, also one that the host would not run; repeat it for several."
_TRY_PACK = "The hooks of a pack that is not installed, by its path."
_RUN_PROJECT = "Also the project's own hooks, after a look at them."
_AGREE = "Run hooks of the project or of a plugin without asking."


def _fire(
    event: Annotated[str, argument("EVENT", _FIRED)],
    host: options.Hosts = None,
    tool: Annotated[str, option("NAME", _TOOL)] = "",
    input: Annotated[str, option("JSON", _INPUT)] = "",
    payload: Annotated[str, option("FILE", _PAYLOAD)] = "",
    hook: Annotated[list[str] | None, option("ID", _ID, "--hook")] = None,
    pack: Annotated[str, option("PATH", _TRY_PACK)] = "",
    run_project: Annotated[bool, flag(_RUN_PROJECT, "--run-project")] = False,
    yes: Annotated[bool, flag(_AGREE, "--yes", "-y")] = False,
    project: options.Project = "",
    json: options.Json = False,
) -> int:
    from hookctl.commands import choosing
    from hookctl.errors import usage_error
    from hookctl.firing.calls import Asked, parse_input, read_payload
    from hookctl.verbs.fire import Request, fire
    from hookctl.verbs.pack import load_pack

    if pack and (hook or run_project):
        raise usage_error("--pack runs the pack's hooks alone", "Leave out the other option.")
    if payload and (tool or input):
        raise usage_error("--payload has the tool call in it", "Leave out --tool and --input.")
    asked = Asked(
        event,
        tool,
        parse_input(input) if input else None,
        read_payload(payload) if payload else None,
    )
    request = Request(
        asked,
        tuple(choosing.load_hosts(host)),
        tuple(hook or ()),
        run_project,
        load_pack(pack) if pack else None,
    )
    permission = choosing.permission(yes, False, json)
    return show("fire", lambda f: fire(choosing.in_project(f, project), request, permission), json)


_OUTPUT = "The file to write; default: hookctl-report.html here."
_SINCE = "Only runs and decisions since then: 2h, 7d, or a date."


def _report(
    output: Annotated[str, option("FILE", _OUTPUT, "--output", "-o")] = "",
    since: Annotated[str, option("T", _SINCE)] = "",
    json: options.Json = False,
) -> int:
    from hookctl.verbs.report import report

    return show("report", lambda f: report(f, output, since), json)


_OFF = "A pack, PACK/ID, or an ID that `hookctl hooks` shows (its first 4 characters or more)."
_Ids = Annotated[list[str], argument("ID ...", _OFF)]


def _disable(
    id: _Ids,
    host: options.Hosts = None,
    project: options.Project = "",
    dry_run: options.Dry = False,
    json: options.Json = False,
) -> int:
    from hookctl.commands import choosing
    from hookctl.verbs.disable import Request, disable

    request = Request(tuple(id), tuple(choosing.load_hosts(host)), dry_run)

    def verb(folders: Folders) -> Result:
        return disable(choosing.in_project(folders, project), request)

    return show("disable", verb, json, writes=not dry_run)


def _enable(
    id: _Ids,
    host: options.Hosts = None,
    dry_run: options.Dry = False,
    json: options.Json = False,
) -> int:
    from hookctl.commands import choosing
    from hookctl.verbs.enable import Request, enable

    request = Request(tuple(id), tuple(choosing.load_hosts(host)), dry_run)
    return show("enable", lambda f: enable(f, request), json, writes=not dry_run)


COMMANDS = {
    "report": Command(
        _report,
        "Write one page: hooks, what they cost, the guard's decisions, what needs attention.",
        "  hookctl report\n  hookctl report -o ~/hooks.html --since 7d",
    ),
    "hooks": Command(
        _hooks,
        "List every hook that would run here, and why others would not.",
        "  hookctl hooks\n"
        "  hookctl hooks --host claude --event pre-tool\n"
        "  hookctl hooks --project ../other --json",
    ),
    "fire": Command(
        _fire,
        "Run the hooks of an event once, time them, and show what the host would do.",
        "  hookctl fire stop                the hooks really run\n"
        '  hookctl fire pre-tool --tool Bash --input \'{"command": "rm -rf x"}\' --host claude\n'
        "  hookctl fire prompt --pack ./my-pack --host gemini\n"
        "  hookctl fire stop --hook 3f84 --run-project",
    ),
    "disable": Command(
        _disable,
        "Switch off any hook or a whole pack, until `hookctl enable`.",
        "  hookctl disable guard            a pack, with its settings\n"
        "  hookctl disable notify/done      one hook of a pack\n"
        "  hookctl disable 3f84             any hook, by its ID in hooks",
    ),
    "enable": Command(
        _enable,
        "Put back what disable switched off, byte for byte.",
        "  hookctl enable guard\n  hookctl enable 3f84 b7d1",
    ),
}
