"""The command line: parses options and calls a verb, which is imported only then."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from hookctl import __version__
from hookctl.errors import (
    INTERRUPTED,
    OK,
    PENDING,
    UNREADABLE,
    USAGE,
    HookctlError,
    Recovered,
)
from hookctl.output import help

if TYPE_CHECKING:
    from hookctl.hosts import Host
    from hookctl.model import Result
    from hookctl.packs.choices import Request
    from hookctl.packs.model import Pack
    from hookctl.planner.content import Choice
    from hookctl.planner.permission import Permission
    from hookctl.settings.targets import Target
    from hookctl.system.folders import Folders


_WHERE, _WHAT, _GUARD, _PACKS = (
    "Where",
    "What it may overwrite",
    "The guard's settings",
    "Other packs",
)


def _complete(name: str) -> Callable[[str], Sequence[str]]:
    """The completion of an argument, worked out only when a shell asks."""

    def offered(incomplete: str) -> Sequence[str]:
        from hookctl.verbs.completion import values

        return values(name)

    return offered


_Pack = Annotated[
    str,
    typer.Argument(
        help="A built-in pack, or the path of a pack file or its folder.",
        autocompletion=_complete("pack"),
    ),
]
_Hosts = Annotated[
    list[str] | None,
    typer.Option(
        "--host",
        metavar="H",
        help="The host; repeat it for several, or `all` for every detected one.",
        autocompletion=_complete("hosts"),
        rich_help_panel=_WHERE,
    ),
]
_Scope = Annotated[
    str,
    typer.Option(
        metavar="S",
        help="user (you), project (everyone, in version control) or local (this checkout).",
        autocompletion=_complete("scope"),
        rich_help_panel=_WHERE,
    ),
]
_Mode = Annotated[
    str,
    typer.Option(
        metavar="M",
        help="The guard's mode: breaker, keepalive, guard or off.",
        show_default=False,
        autocompletion=_complete("mode"),
        rich_help_panel=_GUARD,
    ),
]
_Preset = Annotated[
    str,
    typer.Option(
        metavar="P",
        help="Act like a published system: bmad, nightly, openhands, rockbot, hermes; or none.",
        show_default=False,
        autocompletion=_complete("preset"),
        rich_help_panel=_GUARD,
    ),
]
_Nudge = Annotated[
    str | None,
    typer.Option(
        metavar="TOOL[,TOOL]",
        help="Remind the agent once to call one of these before it stops; '' turns it off.",
        rich_help_panel=_GUARD,
    ),
]
_NudgeEnv = Annotated[
    str | None,
    typer.Option(
        "--nudge-env",
        metavar="VAR",
        help="Remind only where this variable is set.",
        rich_help_panel=_GUARD,
    ),
]
_Dispatch = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TOOL[:MAX/SECONDS]",
        help="Refuse more than MAX (30) identical calls of this tool in SECONDS (300).",
        rich_help_panel=_GUARD,
    ),
]
_Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A setting of the guard: MAX_STOP_BLOCKS=8, latch=false, ...",
        rich_help_panel=_GUARD,
    ),
]
_Wrap = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="Limit another tool's Stop hook whose command contains TEXT; '' for none.",
        rich_help_panel=_GUARD,
    ),
]
_Reset = Annotated[
    bool,
    typer.Option(
        "--reset",
        help="Start from the defaults instead of the settings of the last install.",
        rich_help_panel=_WHAT,
    ),
]
_Force = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Overwrite your changes; uninstall restores them.",
        rich_help_panel=_WHAT,
    ),
]
_Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Also approve the hooks on a host that needs it (Codex).",
        rich_help_panel=_WHAT,
    ),
]
_Yes = Annotated[
    bool,
    typer.Option(
        "--yes",
        "-y",
        help="Agree to what a pack that is not built in brings.",
        rich_help_panel=_PACKS,
    ),
]
_AllowEnv = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-env",
        metavar="NAME",
        help="Let a pack set PATH, a proxy or another variable that is refused.",
        rich_help_panel=_PACKS,
    ),
]
_AcceptChanged = Annotated[
    bool,
    typer.Option(
        "--accept-changed",
        help="Take a pack whose content changed under the same version.",
        rich_help_panel=_PACKS,
    ),
]
_Dry = Annotated[
    bool, typer.Option("--dry-run", help="Show the changes as plan does, and write nothing.")
]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object for machines.")]
_Project = Annotated[
    str,
    typer.Option(
        metavar="DIR",
        help="The project folder; default: the nearest one above with .hookctl or .git.",
        show_default=False,
        rich_help_panel=_WHERE,
    ),
]
_AnyScope = Annotated[
    str,
    typer.Option(
        "--scope",
        metavar="S",
        help="Only user, project or local scope; default: all of them.",
        autocompletion=_complete("scope"),
        rich_help_panel=_WHERE,
    ),
]
_Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show every entry, and what is fine.")
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
    """Parse the arguments and run the command; a usage error is a HookctlError."""
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
    app = typer.Typer(
        cls=help.Group,
        context_settings={"max_content_width": help.WIDEST},
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    app.callback(help=_ABOUT)(_main)
    for name in sorted(names, key=_ORDER.index):
        function, text, example = _COMMANDS[name]
        text = f"{text}\n\n\b\nExamples:\n{example}"
        app.command(name, cls=help.Command, help=text, rich_help_panel=_group_of(name))(function)
    return app


# The commands of each group, as `hookctl --help` lists them.
_GROUPS = {
    "Set up": ("install", "uninstall", "plan", "upgrade", "status"),
    "Check": ("doctor", "check", "log", "hosts", "verify", "simulate"),
    "Run": ("run", "demo"),
    "Files": ("restore", "render"),
    "Shell": ("completion",),
}


_ORDER = [name for names in _GROUPS.values() for name in names]


def _group_of(command: str) -> str:
    return next(group for group, names in _GROUPS.items() if command in names)


_ABOUT = """Installs hooks and environment settings into coding agents' settings files, and
removes them again, without touching a byte of anybody else's.

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
    yes: _Yes = False,
    allow_env: _AllowEnv = None,
    accept_changed: _AcceptChanged = False,
    dry_run: _Dry = False,
    json: _Json = False,
    project: _Project = "",
) -> int:
    from hookctl.packs import load
    from hookctl.planner.run import pending_first
    from hookctl.report import say
    from hookctl.verbs.install import install

    content = load(pack)
    hosts = _choose_hosts(f"install {pack}", host, scope, json)
    settings = _settings(mode, preset, assign, nudge, nudge_env, dispatch, wrap)
    choice = _choice(settings, reset, force, trust, allow_env)

    def verb(folders: Folders) -> Result:
        with pending_first(folders, say, dry_run=dry_run):
            targets = _find_targets(folders, hosts, scope, project)
            permission = _permission(content, yes, accept_changed, json)
            return install(
                folders, content, targets, choice, dry_run=dry_run, permission=permission
            )

    return _show("install", verb, json, writes=not dry_run)


def _upgrade(
    pack: Annotated[
        str,
        typer.Argument(
            help="Only this pack, by its name; default: every installed one.",
            show_default=False,
            autocompletion=_complete("pack"),
        ),
    ] = "",
    yes: _Yes = False,
    accept_changed: _AcceptChanged = False,
    dry_run: _Dry = False,
    json: _Json = False,
) -> int:
    from hookctl.planner.run import pending_first
    from hookctl.report import say
    from hookctl.verbs.upgrade import Request, upgrade

    permission = _permit(yes, accept_changed, json)

    def verb(folders: Folders) -> Result:
        with pending_first(folders, say, dry_run=dry_run):
            return upgrade(folders, Request(pack, dry_run), permission)

    return _show("upgrade", verb, json, writes=not dry_run)


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
    yes: _Yes = False,
    allow_env: _AllowEnv = None,
    accept_changed: _AcceptChanged = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 10 if a settings file would change.")
    ] = (False),
    json: _Json = False,
    project: _Project = "",
) -> int:
    from hookctl.packs import load
    from hookctl.planner.run import pending_first
    from hookctl.report import say
    from hookctl.verbs.install import install

    content = load(pack)
    hosts = _choose_hosts(f"plan {pack}", host, scope, json)
    settings = _settings(mode, preset, assign, nudge, nudge_env, dispatch, wrap)
    choice = _choice(settings, reset, force, trust, allow_env)

    def verb(folders: Folders) -> Result:
        with pending_first(folders, say, dry_run=True):
            targets = _find_targets(folders, hosts, scope, project)
            result = install(folders, content, targets, choice, dry_run=True)
        if exit_code and result.data["files"] and not result.errors:
            return result._replace(exit_code=PENDING)
        return result

    return _show("plan", verb, json)


def _uninstall(
    pack: Annotated[
        str,
        typer.Argument(
            help="A pack's name or file; default: guard, with --all every pack.",
            autocompletion=_complete("pack"),
        ),
    ] = "",
    host: _Hosts = None,
    scope: Annotated[
        str,
        typer.Option(
            metavar="S",
            help="user, project or local; default: user, with --all every one.",
            autocompletion=_complete("scope"),
        ),
    ] = "",
    project: _Project = "",
    all_: Annotated[
        bool, typer.Option("--all", help="Uninstall everywhere, after a question.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask with --all; --json needs it.")
    ] = False,
    dry_run: _Dry = False,
    json: _Json = False,
) -> int:
    from hookctl import hosts as known
    from hookctl import packs
    from hookctl.planner.run import finish_pending, pending_first
    from hookctl.report import say
    from hookctl.system.folders import here
    from hookctl.verbs.uninstall import Request, question, uninstall

    if not dry_run:
        _require_own_home(here())
        finish_pending(here(), say)  # the question names what is installed then
    content = packs.load(pack) if packs.is_path(pack) or packs.is_folder(pack) else None
    every = [name for name in known.names() if (scope or "user") in known.load(name).scopes]
    hosts = _choose_hosts("uninstall", host or every, scope or "user", json)
    name = content.name if content else pack or ("" if all_ else "guard")
    named_hosts = tuple(chosen.name for chosen in hosts) if host else ()
    request = Request(name, all_, content, named_hosts, scope)
    if all_ and not (dry_run or yes) and (json or not _confirm(question(here(), request))):
        message, hint = "--all needs confirmation, and nobody can be asked", "Add --yes."
        raise HookctlError("usage", message, hint=hint, exit_code=USAGE)

    def verb(folders: Folders) -> Result:
        with pending_first(folders, say, dry_run=dry_run):
            targets = []
            if not all_:
                targets = _find_targets(folders, hosts, scope or "user", project, recorded=True)
            return uninstall(folders, request, targets, dry_run=dry_run)

    return _show("uninstall", verb, json, writes=not dry_run)


def _restore(
    file: Annotated[str, typer.Argument(help="The settings file.", show_default=False)] = "",
    list_: Annotated[bool, typer.Option("--list", help="List the backups.")] = False,
    to: Annotated[
        int, typer.Option(metavar="N", help="The number of a backup, as --list shows it.")
    ] = 1,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove FILE's backups; without FILE, all backups.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: _Dry = False,
    json: _Json = False,
) -> int:
    from hookctl.system.folders import here
    from hookctl.verbs.restore import Request, prune_question, restore, undo_question

    if prune and not (dry_run or yes):
        question = prune_question(here(), file)
        if question and (json or not _confirm(question)):
            message, hint = "--prune needs confirmation, but there is no terminal", "Pass --yes."
            raise HookctlError("usage", message, hint=hint, exit_code=USAGE)
    request = Request(file, to, list_, prune, dry_run)
    if file and not (prune or list_ or dry_run or yes):
        question = undo_question(here(), request)
        if question and (json or not _confirm(f"{question}\nGo on?")):
            message = "this would undo edits made since hookctl's last write"
            hint = f"See them with `hookctl restore {file} --to {to} --dry-run`, then pass --yes."
            raise HookctlError("usage", message, path=file, hint=hint, exit_code=USAGE)
    writes = not (list_ or dry_run)
    return _show("restore", lambda f: restore(f, request), json, writes=writes)


def _render(
    pack: _Pack = "guard",
    host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="H",
            help="The host; it must have settings of this scope.",
            autocompletion=_complete("host"),
        ),
    ] = None,
    scope: Annotated[
        str,
        typer.Option(
            metavar="S",
            help="managed, user, project or local.",
            autocompletion=_complete("rendered scope"),
        ),
    ] = "managed",
    hook_dir: Annotated[
        str,
        typer.Option(
            "--hook-dir", metavar="DIR", help="The folder of the pack's files.", show_default=False
        ),
    ] = "",
    python: Annotated[
        str,
        typer.Option(metavar="P", help="The Python that runs the guard.", show_default=False),
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
    chosen = _choose_hosts("render", [require_one_host(host or [], scope)], "user", json)[0]
    request = Request(
        scope, hook_dir, python, _settings(mode, preset, assign, nudge, nudge_env, dispatch)
    )
    return _show("render", lambda f: render(f, content, chosen, request), json)


def _status(
    host: _Hosts = None,
    scope: _AnyScope = "",
    project: _Project = "",
    verbose: _Verbose = False,
    json: _Json = False,
) -> int:
    from hookctl.verbs.status import Filter, status

    names = tuple(host.name for host in _load_hosts(host))
    wanted = Filter(names, _known_scope(scope), verbose)
    return _show("status", lambda f: status(_in_project(f, project), wanted), json)


def _doctor(
    host: _Hosts = None,
    scope: _AnyScope = "",
    project: _Project = "",
    fix: Annotated[
        bool, typer.Option("--fix", help="Repair hookctl's own entries and files first.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")] = False,
    verbose: _Verbose = False,
    json: _Json = False,
) -> int:
    from hookctl.verbs.doctor import Request, doctor

    hosts = tuple(_load_hosts(host))
    request = Request(hosts, _known_scope(scope), fix, strict, verbose)
    return _show("doctor", lambda f: doctor(_in_project(f, project), request), json, writes=fix)


def _check(
    project: _Project = "",
    require: Annotated[
        list[str] | None,
        typer.Option(
            "--require",
            metavar="PACK|./FILE",
            help="Fail unless this pack is installed here; a file: with this very content.",
        ),
    ] = None,
    json: _Json = False,
) -> int:
    from hookctl.verbs.check import Request, check

    request = Request(project, tuple(require or ()))
    return _show("check", lambda f: check(f.cwd, request), json, homeless=True)


def _hosts(
    host: Annotated[
        list[str] | None,
        typer.Argument(
            help="Only these hosts, in detail.",
            show_default=False,
            autocompletion=_complete("host"),
        ),
    ] = None,
    json: _Json = False,
) -> int:
    from hookctl.verbs.hosts import hosts

    return _show("hosts", lambda f: hosts(f, host or ()), json)


def _run(
    action: Annotated[
        str,
        typer.Argument(
            metavar="ACTION",
            help="One of: start, heartbeat, remaining, conclude, stop, release, status.",
            autocompletion=_complete("action"),
        ),
    ],
    count: Annotated[
        str, typer.Argument(metavar="[N]", help="For remaining: how much work is left.")
    ] = "",
    remaining: Annotated[
        str, typer.Option(metavar="N", help="For start: how much work is left.")
    ] = "",
    owner: Annotated[
        str,
        typer.Option(
            metavar="ID", help="For start and remaining: whose work it is; `none`: nobody's yet."
        ),
    ] = "",
    duration: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="TIME",
            help="For start: how long it lasts, such as 30m, at most 7d; default: 12h.",
        ),
    ] = "",
    check: Annotated[
        bool, typer.Option("--check", help="For status: exit code 1 where the guard ignores work.")
    ] = False,
    project: _Project = "",
    json: _Json = False,
) -> int:
    from hookctl.verbs.run import Request, run

    request = Request(action, count, remaining, owner, duration, project, check)
    return _show("run", lambda f: run(f, request), json, writes=action != "status")


def _demo(
    fast: Annotated[bool, typer.Option("--fast", help="Without pauses.")] = False,
    json: _Json = False,
) -> int:
    from hookctl.verbs.demo import demo

    return _show("demo", lambda f: demo(f, fast=fast, as_json=json), json, homeless=True)


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
            autocompletion=_complete("code"),
        ),
    ] = None,
    decision: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD",
            help="Only allow, block, release, end or refuse; may be repeated.",
            autocompletion=_complete("decision"),
        ),
    ] = None,
    follow: Annotated[
        bool,
        typer.Option("--follow", help="Keep printing new lines; with --json one object per line."),
    ] = (False),
    project: Annotated[
        str, typer.Option(metavar="DIR", help="Only decisions in this project.")
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
    json: _Json = False,
) -> int:
    from hookctl.verbs.verify import Request, verify

    request = Request(tuple(command or ()), rechecks, grace, timeout)
    return _show("verify", lambda f: verify(f, request, as_json=json), json, homeless=True)


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
            autocompletion=_complete("host"),
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
    return _show("simulate", lambda f: simulate(f, source, request, host), json, homeless=True)


def _completion(
    shell: Annotated[
        str,
        typer.Argument(
            metavar="SHELL", help="One of: bash, zsh, fish.", autocompletion=_complete("shell")
        ),
    ],
    json: _Json = False,
) -> int:
    from hookctl.verbs.completion import completion

    return _show("completion", lambda _: completion(shell), json, homeless=True)


_COMMANDS: dict[str, tuple[Callable[..., int], str, str]] = {
    "install": (
        _install,
        "Add a pack's hooks and settings to a host's settings file.",
        "  hookctl install --host claude\n"
        "  hookctl install --host claude --set MAX_STOP_BLOCKS=8\n"
        "  hookctl install --host claude --scope project  for each clone of it\n"
        "  hookctl install ./notify.toml --host claude    a pack of your own",
    ),
    "uninstall": (
        _uninstall,
        "Remove what was installed; what you changed stays.",
        "  hookctl uninstall\n"
        "  hookctl uninstall --all\n"
        "  hookctl uninstall --all --yes    do not ask",
    ),
    "plan": (
        _plan,
        "Show what install would do as a unified diff, and write nothing.",
        "  hookctl plan --host claude\n  hookctl plan --host claude --exit-code",
    ),
    "upgrade": (
        _upgrade,
        "Install every pack again from where it came, with its recorded settings.",
        "  hookctl upgrade                  after an update of it or of a pack\n"
        "  hookctl upgrade notify --dry-run\n"
        "  hookctl upgrade --yes --accept-changed",
    ),
    "status": (
        _status,
        "Show what is installed where, and what the guard will do.",
        "  hookctl status",
    ),
    "doctor": (
        _doctor,
        "Check that the installed hooks work; exit code 1 if an error is found.",
        "  hookctl doctor\n"
        "  hookctl doctor --fix            repair hookctl's own entries\n"
        "  hookctl doctor --strict --json",
    ),
    "render": (
        _render,
        "Print the settings text alone, for managed settings, MDM or Nix; nothing is written.",
        "  hookctl render --host claude --hook-dir /usr/local/lib/hookctl/claude\n"
        "  hookctl render --host claude --scope user --python /usr/bin/python3\n"
        "  hookctl render --host claude --set MAX_STOP_BLOCKS=8 --set latch=false",
    ),
    "restore": (
        _restore,
        "Restore a settings file from before hookctl's first write, or from a later backup.",
        "  hookctl restore ~/.claude/settings.json --list\n"
        "  hookctl restore ~/.claude/settings.json\n"
        "  hookctl restore ~/.claude/settings.json --to 3",
    ),
    "check": (
        _check,
        "Check a project's own files, as CI does; exit code 1 if something is wrong.",
        "  hookctl check\n"
        "  hookctl check --require guard             fail where the guard is missing\n"
        "  hookctl check --require ./hooks/pack.toml  the same for this very pack",
    ),
    "hosts": (
        _hosts,
        "List the hosts: where their settings lie, how certain that is, which are here.",
        "  hookctl hosts\n  hookctl hosts claude gemini    their events, limits and approvals",
    ),
    "run": (
        _run,
        "Report progress to the guard: remaining work, a heartbeat, a stop.",
        "  hookctl run start --for 8h   start a run; clears STOP and CONCLUDE of before\n"
        "  hookctl run remaining 3      three pieces of work are left\n"
        "  hookctl run heartbeat        there was progress\n"
        "  hookctl run conclude         let agents stop; a reminder of a tool may come\n"
        "  hookctl run stop             let every agent stop at once\n"
        "  hookctl run status           show the run",
    ),
    "demo": (
        _demo,
        "Watch the guard for twenty seconds in a temporary folder; nothing of yours is touched.",
        "  hookctl demo\n  hookctl demo --fast",
    ),
    "log": (
        _log,
        "Show what the guard decided, and why.",
        "  hookctl log --since 2h\n  hookctl log --follow --project .\n"
        "  hookctl log --decision release --decision end --since 2026-11-21",
    ),
    "simulate": (
        _simulate,
        "Show what the guard would decide on events, and why; changes nothing.",
        "  hookctl simulate events.jsonl --preset bmad\n"
        '  echo \'{"run": {"remaining": 2}}\' | hookctl simulate -',
    ),
    "verify": (
        _verify,
        "Run a check until it passes or its tries are used up.\n\n\b\n"
        "Exit codes:\n  0    it passed\n  1    incomplete: it failed every time\n"
        "  4    broken: it cannot be started, was killed, or exited with 126 or more\n"
        "  124  out of time; it and its children are ended\n  130  interrupted; the same",
        "  hookctl verify -- pytest -q\n"
        "  hookctl verify --rechecks 5 --grace 30 --timeout 10m -- ./deployed.sh\n"
        "  hookctl verify -- sh -c 'test -s report.md && ! grep -q TODO report.md'",
    ),
    "completion": (
        _completion,
        "Print a shell's completion script; it edits no files.",
        "  mkdir -p ~/.local/share/bash-completion/completions ~/.zfunc\n"
        "  hookctl completion bash > ~/.local/share/bash-completion/completions/hookctl\n"
        "  hookctl completion zsh > ~/.zfunc/_hookctl\n"
        "  hookctl completion fish > ~/.config/fish/completions/hookctl.fish",
    ),
}


def _require_own_home(place: Folders) -> None:
    """Refuse, as root, to write into another user's folders."""
    if os.geteuid() == 0:
        from hookctl.system.owners import require_own_home

        require_own_home(place.home, place.state, place.data)


def _show(
    command: str,
    verb: Callable[..., Result],
    as_json: bool,
    *,
    writes: bool = False,
    homeless: bool = False,
) -> int:
    """Run a verb and print its result; `writes` in the user's folders, `homeless` needs none."""
    from hookctl import report
    from hookctl.system import folders

    while True:
        place = folders.without_home() if homeless else folders.here()
        if writes:
            _require_own_home(place)
        try:
            result = verb(place)
            break
        except Recovered:  # it looks everything up again
            continue
        except HookctlError as error:
            if writes and error.exit_code == UNREADABLE:
                error.say_unwritten()
            raise
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


def _choice(
    settings: Request, reset: bool, force: bool, trust: bool, allow_env: list[str] | None
) -> Choice:
    from hookctl.planner.content import Choice

    return Choice(settings, reset, force, trust, tuple(allow_env or ()))


def _permission(pack: Pack, yes: bool, accept_changed: bool, as_json: bool) -> Permission | None:
    """What may be done with a pack; None for a built-in one, which needs no consent."""
    return _permit(yes, accept_changed, as_json) if pack.source else None


def _permit(yes: bool, accept_changed: bool, as_json: bool) -> Permission:
    """What may be done with packs that are not built in."""
    from hookctl.planner.permission import Permission
    from hookctl.report import say

    if as_json:
        return Permission(yes, accept_changed)
    return Permission(yes, accept_changed, say, _confirm)


def _choose_hosts(command: str, names: list[str] | None, scope: str, as_json: bool) -> list[Host]:
    """The named hosts; without --host the detected ones, after a question at the terminal."""
    from hookctl import hosts as known
    from hookctl.system.folders import here

    if sys.platform == "win32":
        message = "Windows is not supported yet: no form of the hook's command is proven there"
        raise HookctlError("usage", message, hint="Use it inside WSL.", exit_code=USAGE)
    if scope not in ("user", "project", "local"):
        message, hint = f"unknown scope {scope!r}", "Use user, project or local."
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
        if (
            not detected
            or as_json
            or not _confirm(f"Detected here: {listed}. Go on with {listed}?")
        ):
            named = command.removesuffix(" guard")
            message, hint = (
                "which host?",
                f"Name it, as in `hookctl {named} --host claude`. Detected here: {listed}.",
            )
            raise HookctlError("usage", message, hint=hint, exit_code=USAGE)
    if not detected:
        hint = f"Name one of them with --host: {', '.join(known.names())}."
        raise HookctlError("usage", "no host was detected here", hint=hint, exit_code=USAGE)
    if without:
        from hookctl.report import say

        say(f"skipped, no {scope} settings: {without}")
    return [known.load(name) for name in detected]


def _find_targets(
    folders: Folders, hosts: list[Host], scope: str, project: str, *, recorded: bool = False
) -> list[Target]:
    """The hosts' settings files of a scope, in the named project or that of the working folder.

    With `recorded`, the named one may be gone, if hookctl's record has it.
    """
    from hookctl.settings import targets
    from hookctl.system.project import find, named

    root = ""
    if project:
        from hookctl.ledger import store

        records = store.load(folders.ledger, folders.home) if recorded else {}
        root = named(project, {record.project for record in records.values()})
    if project and scope == "user":
        from hookctl.report import say

        say("--project has no effect in user scope, only with --scope project or --scope local")
    if scope != "user":
        root = root or find(folders.cwd, folders.environ)
    return [targets.find(host, scope, folders, root) for host in hosts]


def _load_hosts(names: list[str] | None) -> list[Host]:
    """The named hosts; an empty list stands for all that are in use."""
    from hookctl import hosts as known

    if names and "all" not in names:
        return [known.load(name) for name in dict.fromkeys(names)]
    return []


def _known_scope(scope: str) -> str:
    """A scope that files can be filtered by; empty for all of them."""
    if scope not in ("", "user", "project", "local"):
        hint = "Use user, project or local."
        raise HookctlError("usage", f"unknown scope {scope!r}", hint=hint, exit_code=USAGE)
    return scope


def _in_project(folders: Folders, project: str) -> Folders:
    """The folders as they are in the named project, or as they are here."""
    if not project:
        return folders
    from hookctl.system.folders import Folders
    from hookctl.system.project import named

    return Folders(folders.state, folders.data, folders.environ, named(project))


def _confirm(question: str) -> bool:
    """Whether a person says yes, or there is no question; False without a terminal."""
    if not all(stream and stream.isatty() for stream in (sys.stdin, sys.stderr)):
        return False
    if not question:
        return True
    # typer's own question writes a blank to stdout, which is for results.
    from hookctl.report import plain

    sys.stderr.write(f"{plain(question)} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise HookctlError("declined", "nothing was changed", exit_code=INTERRUPTED)
    return True
