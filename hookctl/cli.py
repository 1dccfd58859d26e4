"""Flags to verbs, and nothing else. Each command imports its verb when it is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from hookctl import __version__
from hookctl.errors import INTERRUPTED, OK, PENDING, USAGE, HookctlError

if TYPE_CHECKING:
    from hookctl.hosts import Host
    from hookctl.model import Result
    from hookctl.packs.choices import Request
    from hookctl.planner.content import Choice
    from hookctl.settings.targets import Target
    from hookctl.system.folders import Folders


def _offer(name: str) -> Callable[[str], Sequence[str]]:
    """What a shell completes here; worked out only when it asks."""

    def offered(incomplete: str) -> Sequence[str]:
        from hookctl.verbs.completion import values

        return values(name)

    return offered


_Pack = Annotated[
    str,
    typer.Argument(
        help="A built-in pack, or the path of a pack file or its folder.",
        autocompletion=_offer("pack"),
    ),
]
_Hosts = Annotated[
    list[str] | None,
    typer.Option(
        "--host",
        help="A host, several times if need be, or `all`: every one that is detected.",
        autocompletion=_offer("hosts"),
    ),
]
_Scope = Annotated[
    str,
    typer.Option(
        help="Whose settings: user, project (shared, in version control) or local (this checkout only).",
        autocompletion=_offer("scope"),
    ),
]
_Mode = Annotated[
    str,
    typer.Option(
        help="What the guard does: breaker, keepalive, guard, or off.",
        show_default=False,
        autocompletion=_offer("mode"),
    ),
]
_Preset = Annotated[
    str,
    typer.Option(
        help="Decide as a published system does: bmad, nightly, openhands, rockbot, hermes; or none (docs/guard.md).",
        show_default=False,
        autocompletion=_offer("preset"),
    ),
]
_Nudge = Annotated[
    str | None,
    typer.Option(
        metavar="TOOL[,TOOL]",
        help="Remind the agent once to call one of these before it leaves; '': never.",
    ),
]
_NudgeEnv = Annotated[
    str | None,
    typer.Option("--nudge-env", metavar="VAR", help="Remind only where this variable is set."),
]
_Dispatch = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TOOL[:MAX/SECONDS]",
        help="Refuse identical calls of this tool, more than MAX (30) in SECONDS (300).",
    ),
]
_Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A setting of the guard: MAX_STOP_BLOCKS=8, latch=false, ...",
    ),
]
_Wrap = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="Give another tool's Stop hook, the one whose command has TEXT, our limit; '': none.",
    ),
]
_Reset = Annotated[
    bool,
    typer.Option(
        "--reset",
        help="Back to the defaults; else mode, settings and wraps of the last install stay.",
    ),
]
_Force = Annotated[
    bool,
    typer.Option(
        "--force",
        help="As the pack wants it, also where you changed it; uninstall gives yours back.",
    ),
]
_Trust = Annotated[
    bool,
    typer.Option(
        "--trust", help="Approve the hooks too, where the host runs none without (Codex)."
    ),
]
_Dry = Annotated[
    bool, typer.Option("--dry-run", help="Show what would change, as plan does, and write nothing.")
]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object for machines.")]
_Project = Annotated[
    str,
    typer.Option(
        help="The project; default: the nearest folder upwards with .hookctl or .git.",
        show_default=False,
    ),
]
_Version = Annotated[
    bool,
    typer.Option(
        "--version",
        callback=lambda value: _version(value),
        is_eager=True,
        help="Print the version.",
    ),
]


def call(arguments: list[str]) -> int:
    """Parse and run; a usage error is a HookctlError as any other."""
    named = [name for name in arguments if not name.startswith("-")][:1]
    # Building the parameters of every command would cost each call as much as its own work.
    only = named if named and named[0] in _COMMANDS else list(_COMMANDS)
    if "_HOOKCTL_COMPLETE" in os.environ:  # a shell asks, by the script of `hookctl completion`
        typer.completion.completion_init()
    try:
        code = _app(only)(arguments or ["--help"], prog_name="hookctl", standalone_mode=False)
    except typer.TyperException as error:
        name = f"hookctl {named[0]}" if named and named[0] in _COMMANDS else "hookctl"
        hint = f"`{name} --help` shows how it is used."
        raise HookctlError("usage", error.format_message(), hint=hint, exit_code=USAGE) from None
    if code == INTERRUPTED:  # what typer makes of it; nothing has been said yet
        raise KeyboardInterrupt
    return code if isinstance(code, int) else OK


def _app(names: list[str]) -> typer.Typer:
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
    app.callback(help=_ABOUT)(_main)
    for name in names:
        function, text, example = _COMMANDS[name]
        app.command(name, help=f"{text}\n\n\b\nExamples:\n{example}")(function)
    return app


_ABOUT = """Installs hooks and environment settings into coding agents' settings files, and takes them out again,
without touching a byte of anybody else's.

\b
Start here:
  hookctl install --host claude     put the guard into Claude Code's settings
  hookctl doctor                    check that it works
  hookctl uninstall                 take it out again
"""


def _version(value: bool) -> None:
    if value:
        print(f"hookctl {__version__}")
        raise typer.Exit()


def _main(version: _Version = False) -> None:
    pass


def _install(
    pack: _Pack = "guard",
    host: _Hosts = None,
    scope: _Scope = "user",
    mode: _Mode = "",
    preset: _Preset = "",
    assign: _Set = None,
    nudge: _Nudge = None,
    nudge_env: _NudgeEnv = None,
    dispatch: _Dispatch = None,
    wrap: _Wrap = None,
    reset: _Reset = False,
    force: _Force = False,
    trust: _Trust = False,
    dry_run: _Dry = False,
    json: _Json = False,
    project: _Project = "",
) -> int:
    from hookctl.packs import load
    from hookctl.planner.run import finish_pending
    from hookctl.report import say
    from hookctl.verbs.install import install

    content = load(pack)
    hosts, choice = (
        _chosen(f"install {pack}", host, scope, json),
        _choice(
            _settings(mode, preset, assign, nudge, nudge_env, dispatch, wrap), reset, force, trust
        ),
    )

    def verb(folders: Folders) -> Result:
        if not dry_run:
            finish_pending(folders, say)
        return install(
            folders, content, _places(folders, hosts, scope, project), choice, dry_run=dry_run
        )

    return _show("install", verb, json)


def _plan(
    pack: _Pack = "guard",
    host: _Hosts = None,
    scope: _Scope = "user",
    mode: _Mode = "",
    preset: _Preset = "",
    assign: _Set = None,
    nudge: _Nudge = None,
    nudge_env: _NudgeEnv = None,
    dispatch: _Dispatch = None,
    wrap: _Wrap = None,
    reset: _Reset = False,
    force: _Force = False,
    trust: _Trust = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 10 if a settings file would change.")
    ] = (False),
    json: _Json = False,
    project: _Project = "",
) -> int:
    from hookctl.packs import load
    from hookctl.verbs.install import install

    content = load(pack)
    hosts, choice = (
        _chosen(f"plan {pack}", host, scope, json),
        _choice(
            _settings(mode, preset, assign, nudge, nudge_env, dispatch, wrap), reset, force, trust
        ),
    )

    def verb(folders: Folders) -> Result:
        result = install(
            folders, content, _places(folders, hosts, scope, project), choice, dry_run=True
        )
        pending = exit_code and result.data["files"] and not result.errors
        return result._replace(exit_code=PENDING) if pending else result

    return _show("plan", verb, json)


def _uninstall(
    pack: Annotated[
        str,
        typer.Argument(
            help="A pack's name or file; default: guard, with --all every pack.",
            autocompletion=_offer("pack"),
        ),
    ] = "",
    host: _Hosts = None,
    scope: Annotated[
        str,
        typer.Option(
            help="user, project or local; default: user, with --all every one.",
            autocompletion=_offer("scope"),
        ),
    ] = "",
    project: _Project = "",
    all_: Annotated[
        bool, typer.Option("--all", help="Everywhere that the ledgers know of, after asking.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --all: do not ask.")] = False,
    dry_run: _Dry = False,
    json: _Json = False,
) -> int:
    from hookctl import hosts as known
    from hookctl import packs
    from hookctl.planner.run import finish_pending
    from hookctl.report import say
    from hookctl.system.folders import here
    from hookctl.verbs.uninstall import Request, question, uninstall

    content = packs.load(pack) if packs.is_path(pack) or packs.is_folder(pack) else None
    every = [name for name in known.names() if (scope or "user") in known.load(name).scopes]
    hosts = _chosen("uninstall", host or every, scope or "user", json)
    name = content.name if content else pack or ("" if all_ else "guard")
    named_hosts = tuple(one.name for one in hosts) if host else ()
    request = Request(name, all_, content, named_hosts, scope)
    if all_ and not (dry_run or json or yes) and not _agreed(question(here(), request)):
        message, hint = (
            "--all asks first, and there is no terminal",
            "With --yes it does not ask, nor with --json.",
        )
        raise HookctlError("usage", message, hint=hint, exit_code=USAGE)

    def verb(folders: Folders) -> Result:
        if not dry_run:
            finish_pending(folders, say)
        targets = [] if all_ else _places(folders, hosts, scope or "user", project)
        return uninstall(folders, request, targets, dry_run=dry_run)

    return _show("uninstall", verb, json)


def _restore(
    file: Annotated[str, typer.Argument(help="The settings file.", show_default=False)] = "",
    list_: Annotated[bool, typer.Option("--list", help="Show what backups there are.")] = False,
    to: Annotated[
        int, typer.Option(metavar="N", help="The number of a backup, as --list shows it.")
    ] = 1,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove FILE's backups; without FILE, all of them.")
    ] = False,
    dry_run: _Dry = False,
    json: _Json = False,
) -> int:
    from hookctl.verbs.restore import Request, restore

    return _show("restore", lambda f: restore(f, Request(file, to, list_, prune, dry_run)), json)


def _render(
    pack: _Pack = "guard",
    host: Annotated[
        list[str] | None,
        typer.Option(
            help="One host, which has settings of this scope.", autocompletion=_offer("host")
        ),
    ] = None,
    scope: Annotated[
        str,
        typer.Option(
            help="managed, user, project or local.", autocompletion=_offer("rendered scope")
        ),
    ] = "managed",
    hook_dir: Annotated[
        str,
        typer.Option(
            "--hook-dir", metavar="DIR", help="Where the pack's files will lie.", show_default=False
        ),
    ] = "",
    python: Annotated[
        str,
        typer.Option(metavar="P", help="The Python that will run the guard.", show_default=False),
    ] = "",
    mode: _Mode = "",
    preset: _Preset = "",
    assign: _Set = None,
    nudge: _Nudge = None,
    nudge_env: _NudgeEnv = None,
    dispatch: _Dispatch = None,
    json: _Json = False,
) -> int:
    from hookctl.packs import load
    from hookctl.verbs.render import Request, render, require_one_host

    content = load(pack)
    chosen = _chosen("render", [require_one_host(host or [], scope)], "user", json)[0]
    request = Request(
        scope, hook_dir, python, _settings(mode, preset, assign, nudge, nudge_env, dispatch)
    )
    return _show("render", lambda f: render(f, content, chosen, request), json)


def _status(json: _Json = False) -> int:
    from hookctl.verbs.status import status

    return _show("status", status, json)


def _doctor(
    host: _Hosts = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Repair what is ours first, and nothing of yours.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    json: _Json = False,
) -> int:
    from hookctl.verbs.doctor import doctor

    return _show("doctor", lambda f: doctor(f, _named(host), strict=strict, fix=fix), json)


def _hosts(json: _Json = False) -> int:
    from hookctl.verbs.hosts import hosts

    return _show("hosts", hosts, json)


def _run(
    action: Annotated[
        str,
        typer.Argument(
            metavar="ACTION",
            help="One of: start, heartbeat, remaining, conclude, stop, status.",
            autocompletion=_offer("action"),
        ),
    ],
    count: Annotated[
        str, typer.Argument(metavar="[N]", help="With remaining: how much work is left.")
    ] = "",
    remaining: Annotated[
        str, typer.Option(metavar="N", help="With start: how much work is left.")
    ] = "",
    owner: Annotated[
        str, typer.Option(metavar="ID", help="With start: the session that the run belongs to.")
    ] = "",
    duration: Annotated[
        str, typer.Option("--for", metavar="TIME", help="With start: how long (30m), else 12h.")
    ] = "",
    project: _Project = "",
    json: _Json = False,
) -> int:
    from hookctl.verbs.run import Request, run

    request = Request(action, count, remaining, owner, duration, project)
    return _show("run", lambda f: run(f, request), json)


def _log(
    session: Annotated[
        str, typer.Option(metavar="ID", help="Only this session: its id, or its hash.")
    ] = "",
    since: Annotated[
        str, typer.Option(metavar="TIME", help="Only what is newer: 2h, 30m, or a date.")
    ] = "",
    code: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this reason, as tripped; several times if need be.",
            autocompletion=_offer("code"),
        ),
    ] = None,
    decision: Annotated[
        list[str] | None,
        typer.Option(
            help="Only allow, block, release, end or refuse; several times if need be.",
            autocompletion=_offer("decision"),
        ),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on printing what comes; --json: one object a line.")
    ] = (False),
    project: Annotated[
        str, typer.Option(metavar="DIR", help="Only what was decided in this project.")
    ] = "",
    json: _Json = False,
) -> int:
    from hookctl.verbs.log import Filter, log
    from hookctl.verbs.log import follow as follow_log

    wanted = Filter(session, since, tuple(code or ()), tuple(decision or ()), project)
    if follow:
        from hookctl.system.folders import here

        return follow_log(here(), wanted, as_json=json)
    return _show("log", lambda f: log(f, wanted), json)


def _verify(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND...", help="The verifier: 0 holds, 1 to 125 not yet."),
    ] = None,
    rechecks: Annotated[
        int, typer.Option(metavar="N", min=0, help="How often it is run at most; 0 is 1.")
    ] = 3,
    grace: Annotated[
        str, typer.Option(metavar="S", help="Seconds before the next look; or a time, as 2m.")
    ] = "15",
    timeout: Annotated[
        str,
        typer.Option(
            metavar="S", help="Seconds in all; or a time, as 30m. Without it there is no limit."
        ),
    ] = "",
    json: _Json = False,
) -> int:
    from hookctl.verbs.verify import Request, verify

    request = Request(tuple(command or ()), rechecks, grace, timeout)
    return _show("verify", lambda f: verify(f, request, as_json=json), json)


def _simulate(
    source: Annotated[
        str, typer.Argument(metavar="EVENTS.jsonl|-", help="One JSON object a line; -: stdin.")
    ],
    host: Annotated[
        str,
        typer.Option(
            help="Whose payloads these are, where a line does not say it.",
            autocompletion=_offer("host"),
        ),
    ] = "claude",
    mode: _Mode = "",
    preset: _Preset = "",
    assign: _Set = None,
    nudge: _Nudge = None,
    nudge_env: _NudgeEnv = None,
    dispatch: _Dispatch = None,
    json: _Json = False,
) -> int:
    from hookctl.verbs.simulate import simulate

    request = _settings(mode, preset, assign, nudge, nudge_env, dispatch)
    return _show("simulate", lambda f: simulate(f, source, request, host), json)


def _completion(
    shell: Annotated[
        str,
        typer.Argument(
            metavar="SHELL", help="One of: bash, zsh, fish.", autocompletion=_offer("shell")
        ),
    ],
    json: _Json = False,
) -> int:
    from hookctl.verbs.completion import completion

    return _show("completion", lambda _: completion(shell), json)


_COMMANDS: dict[str, tuple[Callable[..., int], str, str]] = {
    "install": (
        _install,
        "Put a pack's hooks and settings into a host's settings file.",
        "  hookctl install --host claude\n  hookctl install --host claude --set MAX_STOP_BLOCKS=8\n"
        "  hookctl install --host claude --scope project    for everyone who clones this project\n"
        "  hookctl install ./notify.toml --host claude      a pack of your own (docs/packs.md)",
    ),
    "uninstall": (
        _uninstall,
        "Take out exactly what is ours; what you changed stays.",
        "  hookctl uninstall\n  hookctl uninstall --all\n  hookctl uninstall --all --yes    ask nothing",
    ),
    "plan": (
        _plan,
        "Show what install would do, as a unified diff; nothing is written.",
        "  hookctl plan --host claude\n  hookctl plan --host claude --exit-code",
    ),
    "status": (
        _status,
        "Show what is installed where, and what the guard will do.",
        "  hookctl status",
    ),
    "doctor": (
        _doctor,
        "Check that what is installed really works; exit code 1 if an error is found.",
        "  hookctl doctor\n  hookctl doctor --fix            repair what is ours\n  hookctl doctor --strict --json",
    ),
    "render": (
        _render,
        "Print the settings text alone, for managed settings, MDM or Nix; nothing is written.",
        "  hookctl render --host claude --scope managed --hook-dir /usr/local/lib/hookctl/guard/claude\n"
        "  hookctl render --host claude --scope user --python /usr/bin/python3\n"
        "  hookctl render --host claude --set MAX_STOP_BLOCKS=8 --set latch=false",
    ),
    "restore": (
        _restore,
        "Put a settings file back as it was before hookctl's first write, or as in a later backup.",
        "  hookctl restore ~/.claude/settings.json --list\n  hookctl restore ~/.claude/settings.json\n"
        "  hookctl restore ~/.claude/settings.json --to 3",
    ),
    "hosts": (
        _hosts,
        "Show every host: its file, its events, how sure, and what is detected here.",
        "  hookctl hosts",
    ),
    "run": (
        _run,
        "Tell the guard about the work in hand: how much is left, that it moves, that it is to stop.",
        "  hookctl run start --for 8h   a run begins: armed, and STOP and CONCLUDE of the one before are gone\n"
        "  hookctl run remaining 3      three pieces of work are left\n"
        "  hookctl run heartbeat        something was done\n"
        "  hookctl run conclude         nobody is asked to go on any more; a reminder of a tool may come\n"
        "  hookctl run stop             let every agent go at once, whatever is left\n"
        "  hookctl run status           all of that, and since when",
    ),
    "log": (
        _log,
        "Show what the guard decided, and why.",
        "  hookctl log --since 2h\n  hookctl log --follow --project .\n"
        "  hookctl log --decision release --decision end --since 2026-11-21    where it let go, or ended a chain",
    ),
    "simulate": (
        _simulate,
        "Show what the guard would decide on events, and why; nothing is touched.",
        "  hookctl simulate events.jsonl --preset bmad\n"
        '  echo \'{"run": {"remaining": 2}, "stop_hook_active": false}\' | hookctl simulate -',
    ),
    "verify": (
        _verify,
        "Run a check until it holds, in one call that blocks; look again before saying no.\n\n\b\n"
        "Exit codes:\n  0    it holds\n  1    incomplete: it said no at every look\n"
        "  4    broken contract: it cannot be started, was killed, or ended with 126 or more; no second look\n"
        "  124  out of time; it and what it started are ended\n  130  interrupted; the same",
        "  hookctl verify -- pytest -q\n"
        "  hookctl verify --rechecks 5 --grace 30 --timeout 10m -- ./deployed.sh\n"
        "  hookctl verify -- sh -c 'test -s report.md && ! grep -q TODO report.md'",
    ),
    "completion": (
        _completion,
        "Print a script that completes hookctl in a shell; it edits no file of yours.",
        "  mkdir -p ~/.local/share/bash-completion/completions ~/.zfunc\n"
        "  hookctl completion bash > ~/.local/share/bash-completion/completions/hookctl\n"
        "  hookctl completion zsh > ~/.zfunc/_hookctl\n"
        "  hookctl completion fish > ~/.config/fish/completions/hookctl.fish",
    ),
}


def _show(command: str, verb: Callable[..., Result], as_json: bool) -> int:
    from hookctl import report
    from hookctl.system.folders import here

    result = verb(here())
    report.show(command, result, as_json=as_json)
    return result.exit_code


def _settings(
    mode: str,
    preset: str,
    assign: list[str] | None,
    nudge: str | None,
    nudge_env: str | None,
    dispatch: list[str] | None,
    wrap: str | None = None,
) -> Request:
    from hookctl.packs.choices import Request

    return Request(mode, preset, tuple(assign or ()), nudge, nudge_env, tuple(dispatch or ()), wrap)


def _choice(settings: Request, reset: bool, force: bool, trust: bool) -> Choice:
    from hookctl.planner.content import Choice

    return Choice(settings, reset, force, trust)


def _chosen(command: str, names: list[str] | None, scope: str, as_json: bool) -> list[Host]:
    """The hosts that were named; without --host the detected ones, if somebody at the terminal agrees."""
    from hookctl import hosts as known
    from hookctl.system.folders import here

    if sys.platform == "win32":
        message = "Windows is not supported yet: no form of the hook's command is proven there"
        raise HookctlError("usage", message, hint="Use it inside WSL.", exit_code=USAGE)
    if scope not in ("user", "project", "local"):
        message, hint = f"unknown scope {scope!r}", "Scopes: user, project, local."
        if scope == "managed":
            message = "hookctl does not write managed settings"
            hint = "`hookctl render --scope managed` prints what to put there."
        raise HookctlError("usage", message, hint=hint, exit_code=USAGE)
    if names and "all" not in names:
        return [known.load(name) for name in dict.fromkeys(names)]
    environ = here().environ
    found = [host for host in map(known.load, known.names()) if known.detected(host, environ)]
    detected = [host.name for host in found if scope in host.scopes]
    without = ", ".join(host.title for host in found if scope not in host.scopes)
    if not names:
        listed = ", ".join(detected) or "none"
        if not detected or as_json or not _agreed(f"Detected here: {listed}. Go on with {listed}?"):
            named = command.removesuffix(" guard")
            message, hint = (
                "which host?",
                f"Detected here: {listed}. Name it: `hookctl {named} --host claude`.",
            )
            raise HookctlError("usage", message, hint=hint, exit_code=USAGE)
    if not detected:
        hint = f"Name one of them with --host: {', '.join(known.names())}."
        raise HookctlError("usage", "no host was detected here", hint=hint, exit_code=USAGE)
    if without:
        from hookctl.report import say

        say(f"left out, since there are no {scope} settings: {without}")
    return [known.load(name) for name in detected]


def _places(folders: Folders, hosts: list[Host], scope: str, project: str) -> list[Target]:
    """The settings files of these hosts at a scope of the project that was named, or that the working folder is in."""
    from hookctl.settings import targets
    from hookctl.system.project import find, named

    root = named(project) if project else ""
    if project and scope == "user":
        from hookctl.report import say

        say("--project counts with --scope project and --scope local only; this is user scope")
    if scope != "user":
        root = root or find(folders.cwd, folders.environ)
    return [targets.find(host, scope, folders, root) for host in hosts]


def _named(names: list[str] | None) -> list[Host]:
    """The hosts that are named; none for all that are in use."""
    from hookctl import hosts as known

    if names and "all" not in names:
        return [known.load(name) for name in dict.fromkeys(names)]
    return []


def _agreed(question: str) -> bool:
    """Whether somebody at the terminal says yes, or nothing is to be asked; False where there is no terminal."""
    if not all(stream and stream.isatty() for stream in (sys.stdin, sys.stderr)):
        return False
    if not question:
        return True
    # typer's own question writes a blank to stdout, which is for results.
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise HookctlError("declined", "nothing was changed", exit_code=INTERRUPTED)
    return True
