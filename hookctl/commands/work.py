"""The commands about an agent's work: reporting it, and watching the guard with it."""

from __future__ import annotations

from typing import Annotated

from hookctl.commands import options
from hookctl.commands.options import Command, argument, flag, option, show
from hookctl.errors import usage_error

_ACTION = "One of: start, heartbeat, remaining, conclude, stop, release, status, wait."
_OWNER = "For start and remaining: the session that owns the work; `none`: no session."
_RUN_FOR = "For start: how long it lasts, such as 30m, at most 7d; default: 12h."
_IF_STALE = "For status: exit code 1 where work is left alone, or a reminder was ignored."
_TIMEOUT = "For wait: exit code 124 after this time (wait again); default: 100s."
_STALL = "For wait: exit code 1 if nothing moves for this long, over all its calls."


def _run(
    action: Annotated[str, argument("ACTION", _ACTION, completes="action")],
    count: Annotated[str, argument("[N]", "For remaining: how much work is left.")] = "",
    remaining: Annotated[str, option("N", "For start: how much work is left.")] = "",
    owner: Annotated[str, option("ID", _OWNER)] = "",
    duration: Annotated[str, option("TIME", _RUN_FOR, "--for")] = "",
    check: Annotated[bool, flag(_IF_STALE, "--check")] = False,
    timeout: Annotated[str, option("TIME", _TIMEOUT)] = "",
    stall: Annotated[str, option("TIME", _STALL)] = "",
    project: options.Project = "",
    json: options.Json = False,
) -> int:
    if action == "wait":
        return _wait(timeout, stall, project, json)
    if timeout or stall:
        hint = "See `hookctl run --help`."
        raise usage_error("--timeout and --stall go with `run wait`", hint)
    from hookctl.verbs.run import Request, run

    request = Request(action, count, remaining, owner, duration, project, check)
    return show("run", lambda f: run(f, request), json, writes=action != "status")


def _wait(timeout: str, stall: str, project: str, as_json: bool) -> int:
    from hookctl.verbs.wait import DEFAULT_TIMEOUT, Request, wait

    request = Request(timeout or DEFAULT_TIMEOUT, stall, project)
    return show("run", lambda f: wait(f, request), as_json, writes=bool(stall))


_AGENT = "The agent, as you would start it."
_RESPAWNS = "How often to start it again."
_SUPERVISE_FOR = (
    "How long the run lasts, such as 8h, at most 7d; default: what is left of one "
    "that is going on, or 12h."
)


def _supervise(
    command: Annotated[list[str] | None, argument("-- COMMAND...", _AGENT)] = None,
    respawns: Annotated[int, option("N", _RESPAWNS, "--max-respawns", min=0)] = 5,
    duration: Annotated[str, option("TIME", _SUPERVISE_FOR, "--for")] = "",
    project: options.Project = "",
    json: options.Json = False,
) -> int:
    from hookctl.verbs.supervise import Request, supervise

    request = Request(tuple(command or ()), respawns, duration, project)
    return show("supervise", lambda f: supervise(f, request), json, writes=True)


def _demo(
    fast: Annotated[bool, flag("Without pauses.", "--fast")] = False,
    json: options.Json = False,
) -> int:
    from hookctl.verbs.demo import demo

    return show("demo", lambda f: demo(f, fast=fast, as_json=json), json, homeless=True)


COMMANDS = {
    "run": Command(
        _run,
        "Report progress to the guard: remaining work, a heartbeat, a stop.",
        "  hookctl run start --for 8h   start a run; removes an earlier STOP and CONCLUDE\n"
        "  hookctl run remaining 3      three pieces of work are left\n"
        "  hookctl run heartbeat        there was progress\n"
        "  hookctl run conclude         let agents stop\n"
        "  hookctl run stop             let every agent stop at once\n"
        "  hookctl run status           show the run\n"
        "  hookctl run wait --stall 10m  wait until nothing is left, instead of polling",
    ),
    "supervise": Command(
        _supervise,
        "Run an agent, and start it again if it fails or is killed, or if it ends while the guard "
        "keeps it going, until the run ends.\n\n"
        "\b\nExit code: the agent's, 128 + N for signal N; 0 if STOP or CONCLUDE ended it",
        '  hookctl supervise --for 8h -- claude -p "go on with the plan"\n'
        "  hookctl supervise --max-respawns 2 -- codex exec go-on",
    ),
    "demo": Command(
        _demo,
        "Watch the guard for twenty seconds in a temporary folder; nothing of yours is touched.",
        "  hookctl demo\n  hookctl demo --fast",
    ),
}
