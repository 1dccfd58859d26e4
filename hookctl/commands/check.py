"""The commands that check: what is installed, a project, the guard's decisions, the hosts."""

from __future__ import annotations

from typing import Annotated

from hookctl.commands import options
from hookctl.commands.options import Command, argument, flag, option, show

_SINCE_LOG = "Only newer lines: 2h, 30m, or a date."
_SINCE_STATS = "Only newer entries of the log: 7d, 2h."
_CODE = "Only this reason, such as tripped; may be repeated."
_DECISION = "Only allow, block, release, end or refuse; may be repeated."
_RUNS = "Show the runs of packs' hooks too; --json always has them."
_FOLLOW = "Keep printing new lines; with --json one object per line."
_REQUIRE = "Fail unless this pack is installed here; a file: with exactly this content."
_PROMETHEUS = "Print the totals as metrics for its textfile folder."

OfProject = Annotated[str, option("DIR", "Only what was in this project.")]


def _doctor(
    host: options.Hosts = None,
    scope: options.AnyScope = "",
    project: options.Project = "",
    all_: options.Everywhere = False,
    fix: Annotated[bool, flag("Repair hookctl's own entries and files first.", "--fix")] = False,
    strict: Annotated[bool, flag("Treat warnings as errors.", "--strict")] = False,
    verbose: options.Verbose = False,
    json: options.Json = False,
) -> int:
    from hookctl.commands import choosing
    from hookctl.verbs.doctor import Request, doctor

    hosts = tuple(choosing.load_hosts(host))
    request = Request(hosts, choosing.known_scope(scope), fix, strict, verbose, all_)
    return show(
        "doctor", lambda f: doctor(choosing.in_project(f, project), request), json, writes=fix
    )


def _check(
    project: options.Project = "",
    require: Annotated[list[str] | None, option("PACK|./FILE", _REQUIRE, "--require")] = None,
    json: options.Json = False,
) -> int:
    from hookctl.verbs.check import Request, check

    request = Request(project, tuple(require or ()))
    return show("check", lambda f: check(f, request), json, homeless=True)


def _log(
    session: Annotated[str, option("ID", "Only this session: its id, or its hash.")] = "",
    since: Annotated[str, option("TIME", _SINCE_LOG)] = "",
    code: Annotated[list[str] | None, option("CODE", _CODE, completes="code")] = None,
    decision: Annotated[list[str] | None, option("WORD", _DECISION, completes="decision")] = None,
    runs: Annotated[bool, flag(_RUNS, "--runs")] = False,
    follow: Annotated[bool, flag(_FOLLOW, "--follow")] = False,
    project: OfProject = "",
    json: options.Json = False,
) -> int:
    from hookctl.verbs.log import Filter, log
    from hookctl.verbs.log import follow as follow_log

    kinds = tuple(code or ()), tuple(decision or ())
    wanted = Filter(session, since, *kinds, project, runs or json)
    if follow:
        from hookctl.system.folders import here

        return follow_log(here(), wanted, as_json=json)
    return show("log", lambda f: log(f, wanted), json)


def _stats(
    since: Annotated[str, option("TIME", _SINCE_STATS)] = "",
    project: OfProject = "",
    prometheus: Annotated[bool, flag(_PROMETHEUS, "--prometheus")] = False,
    json: options.Json = False,
) -> int:
    from hookctl.verbs.stats import stats

    return show("stats", lambda f: stats(f, since, project, prometheus), json)


def _hosts(
    host: Annotated[
        list[str] | None, argument(None, "Only these hosts, in detail.", completes="host")
    ] = None,
    json: options.Json = False,
) -> int:
    from hookctl.verbs.hosts import hosts

    return show("hosts", lambda f: hosts(f, host or ()), json)


_CHECK = "The check: exit code 0 passes, 1 to 125 is not yet."
_RECHECKS = "How often to run it at most; 0 means 1."
_GRACE = "Seconds between two runs, or a time such as 2m."
_TIMEOUT = "Seconds in total, or a time such as 30m; default: no limit."


def _verify(
    command: Annotated[list[str] | None, argument("-- COMMAND...", _CHECK)] = None,
    rechecks: Annotated[int, option("N", _RECHECKS, min=0)] = 3,
    grace: Annotated[str, option("S", _GRACE)] = "15",
    timeout: Annotated[str, option("S", _TIMEOUT)] = "",
    json: options.Json = False,
) -> int:
    from hookctl.verbs.verify import Request, verify

    request = Request(tuple(command or ()), rechecks, grace, timeout)
    return show("verify", lambda f: verify(f, request, as_json=json), json, homeless=True)


COMMANDS = {
    "doctor": Command(
        _doctor,
        "Check that the installed hooks work; exit code 1 if an error is found.",
        "  hookctl doctor\n"
        "  hookctl doctor --fix            repair hookctl's own entries\n"
        "  hookctl doctor --strict --json",
    ),
    "check": Command(
        _check,
        "Check a project's own files, as CI does; exit code 1 if something is wrong.",
        "  hookctl check\n"
        "  hookctl check --require guard             fail where the guard is missing\n"
        "  hookctl check --require ./hooks/pack.toml  the same for this exact pack",
    ),
    "log": Command(
        _log,
        "Show what the guard decided, and why; with --runs also what packs' hooks did.",
        "  hookctl log --since 2h\n  hookctl log --follow --project .\n"
        "  hookctl log --runs --since 10m    with the runs of packs' hooks\n"
        "  hookctl log --decision release --decision end --since 2026-11-21",
    ),
    "stats": Command(
        _stats,
        "Count what the guard decided, and what each hook of a pack cost.",
        "  hookctl stats --since 7d\n  hookctl stats --project . --json\n"
        "  hookctl stats --prometheus > hookctl.tmp && mv hookctl.tmp hookctl.prom",
    ),
    "hosts": Command(
        _hosts,
        "List the hosts: which are here or have packs, what hooks can do there, how sure that is.",
        "  hookctl hosts\n  hookctl hosts claude gemini    their events, limits and approvals",
    ),
    "verify": Command(
        _verify,
        "Run a check until it passes or its tries are used up.\n\n\b\n"
        "Exit codes:\n  0    it passed\n  1    incomplete: it failed every time\n"
        "  4    broken: it cannot be started, was killed, or exited with 126 or more\n"
        "  124  out of time; it and its children are ended\n  130  interrupted; the same",
        "  hookctl verify -- pytest -q\n"
        "  hookctl verify --rechecks 5 --grace 30 --timeout 10m -- ./deployed.sh\n"
        "  hookctl verify -- sh -c 'test -s report.md && ! grep -q TODO report.md'",
    ),
}
