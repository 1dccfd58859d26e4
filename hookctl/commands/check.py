"""The commands that check: what is installed, a project, the guard's decisions, the hosts."""

from __future__ import annotations

from typing import Annotated

import typer

from hookctl.commands import options
from hookctl.commands.calling import show
from hookctl.commands.options import Command, completed_by


def _doctor(
    host: options.Hosts = None,
    scope: options.AnyScope = "",
    project: options.Project = "",
    all_: options.Everywhere = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="Repair hookctl's own entries and files first.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")] = False,
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
    require: Annotated[
        list[str] | None,
        typer.Option(
            "--require",
            metavar="PACK|./FILE",
            help="Fail unless this pack is installed here; a file: with this very content.",
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    from hookctl.verbs.check import Request, check

    request = Request(project, tuple(require or ()))
    return show("check", lambda f: check(f, request), json, homeless=True)


def _log(
    session: Annotated[
        str, typer.Option(metavar="ID", help="Only this session: its id, or its hash.")
    ] = "",
    since: Annotated[
        str, typer.Option(metavar="TIME", help="Only newer lines: 2h, 30m, or a date.")
    ] = "",
    code: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE",
            help="Only this reason, such as tripped; may be repeated.",
            autocompletion=completed_by("code"),
        ),
    ] = None,
    decision: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD",
            help="Only allow, block, release, end or refuse; may be repeated.",
            autocompletion=completed_by("decision"),
        ),
    ] = None,
    follow: Annotated[
        bool,
        typer.Option("--follow", help="Keep printing new lines; with --json one object per line."),
    ] = (False),
    project: Annotated[
        str, typer.Option(metavar="DIR", help="Only decisions in this project.")
    ] = "",
    json: options.Json = False,
) -> int:
    from hookctl.verbs.log import Filter, log
    from hookctl.verbs.log import follow as follow_log

    wanted = Filter(session, since, tuple(code or ()), tuple(decision or ()), project)
    if follow:
        from hookctl.system.folders import here

        return follow_log(here(), wanted, as_json=json)
    return show("log", lambda f: log(f, wanted), json)


def _stats(
    since: Annotated[
        str,
        typer.Option(
            metavar="TIME", help="Only newer decisions, as far back as the log has them: 7d, 2h."
        ),
    ] = "",
    project: Annotated[
        str, typer.Option(metavar="DIR", help="Only decisions in this project.")
    ] = "",
    prometheus: Annotated[
        bool, typer.Option("--prometheus", help="Print the totals as metrics, for its textfiles.")
    ] = False,
    json: options.Json = False,
) -> int:
    from hookctl.verbs.stats import stats

    return show("stats", lambda f: stats(f, since, project, prometheus), json)


def _hosts(
    host: Annotated[
        list[str] | None,
        typer.Argument(
            help="Only these hosts, in detail.",
            show_default=False,
            autocompletion=completed_by("host"),
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    from hookctl.verbs.hosts import hosts

    return show("hosts", lambda f: hosts(f, host or ()), json)


def _verify(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- COMMAND...", help="The check: exit code 0 passes, 1 to 125 is not yet."
        ),
    ] = None,
    rechecks: Annotated[
        int, typer.Option(metavar="N", min=0, help="How often to run it at most; 0 means 1.")
    ] = 3,
    grace: Annotated[
        str, typer.Option(metavar="S", help="Seconds between two runs, or a time such as 2m.")
    ] = "15",
    timeout: Annotated[
        str,
        typer.Option(
            metavar="S", help="Seconds in total, or a time such as 30m; default: no limit."
        ),
    ] = "",
    json: options.Json = False,
) -> int:
    from hookctl.verbs.verify import Request, verify

    request = Request(tuple(command or ()), rechecks, grace, timeout)
    return show("verify", lambda f: verify(f, request, as_json=json), json, homeless=True)


def _simulate(
    source: Annotated[
        str,
        typer.Argument(
            metavar="EVENTS.jsonl|-", help="A file with one JSON object per line; - is stdin."
        ),
    ],
    host: Annotated[
        str,
        typer.Option(
            metavar="H",
            help="The host of the events, where a line does not say it.",
            autocompletion=completed_by("host"),
        ),
    ] = "claude",
    mode: options.Mode = "",
    preset: options.Preset = "",
    assign: options.Set = None,
    nudge: options.Nudge = None,
    nudge_env: options.NudgeEnv = None,
    dispatch: options.Dispatch = None,
    json: options.Json = False,
) -> int:
    from hookctl.packs.choices import Request
    from hookctl.verbs.simulate import simulate

    request = Request(mode, preset, assign or (), nudge, nudge_env, dispatch or ())
    return show("simulate", lambda f: simulate(f, source, request, host), json, homeless=True)


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
        "  hookctl check --require ./hooks/pack.toml  the same for this very pack",
    ),
    "log": Command(
        _log,
        "Show what the guard decided, and why.",
        "  hookctl log --since 2h\n  hookctl log --follow --project .\n"
        "  hookctl log --decision release --decision end --since 2026-11-21",
    ),
    "stats": Command(
        _stats,
        "Count what the guard decided: stops, blocks, refused tool calls, ignored reminders.",
        "  hookctl stats --since 7d\n  hookctl stats --project . --json\n"
        "  hookctl stats --prometheus > hookctl.tmp && mv hookctl.tmp hookctl.prom",
    ),
    "hosts": Command(
        _hosts,
        "List the hosts: where their settings lie, how certain that is, which are here.",
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
    "simulate": Command(
        _simulate,
        "Show what the guard would decide on events, by its defaults and the options here.",
        "  hookctl simulate events.jsonl --preset bmad\n"
        '  echo \'{"event": "stop", "run": {"remaining": 2}}\' | hookctl simulate -',
    ),
}
