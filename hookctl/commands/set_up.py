"""The commands that put packs into settings files, take them out, and show what is there."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Annotated

from hookctl.commands import options
from hookctl.commands.options import Command, argument, can_ask, confirm, flag, option, show
from hookctl.errors import PENDING, usage_error

if TYPE_CHECKING:  # late: a help text needs none of it
    from hookctl.model import Result
    from hookctl.system.folders import Folders


_EXIT_CODE = "Exit with 10 if a settings file would change."


def _set_up(
    pack: options.Pack = "guard",
    host: options.Hosts = None,
    scope: options.Scope = "user",
    mode: options.Mode = "",
    preset: options.Preset = "",
    assign: options.Set = None,
    nudge: options.Nudge = None,
    nudge_env: options.NudgeEnv = None,
    dispatch: options.Dispatch = None,
    wrap: options.Wrap = None,
    guidance: options.Guidance = False,
    rules: options.Rules = False,
    allow_run: options.AllowRun = False,
    reset: options.Reset = False,
    force: options.Force = False,
    yes: options.Yes = False,
    allow_env: options.AllowEnv = None,
    accept_changed: options.AcceptChanged = False,
    dry_run: options.Dry = False,
    exit_code: Annotated[bool, flag(_EXIT_CODE, "--exit-code")] = False,
    diff: options.Diff = False,
    json: options.Json = False,
    project: options.Project = "",
    *,
    command: str,
) -> int:
    from hookctl.commands import choosing
    from hookctl.model import GIT
    from hookctl.packs import load
    from hookctl.packs.choices import Choice, Request
    from hookctl.verbs.install import install

    is_from_git = pack.startswith(GIT)
    if is_from_git:
        choosing.check_address(pack)
    known = None if is_from_git else load(pack)
    hosts = choosing.choose_hosts(f"{command} {pack}", host, scope, json)
    request = Request(
        mode,
        preset,
        assign or (),
        nudge,
        nudge_env,
        dispatch or (),
        wrap,
        guidance,
        rules,
        allow_run,
    )
    choice = Choice(request, reset, force, tuple(allow_env or ()), enables=force)

    def verb(folders: Folders) -> Result:
        find = partial(choosing.find_targets, folders, hosts, scope, project)
        content = known or choosing.fetch_pack(folders, pack)
        permission = choosing.permission(yes, accept_changed, json) if content.source else None
        result = install(
            folders, content, find, choice, dry_run=dry_run, diff=diff, permission=permission
        )
        if exit_code and result.data["files"] and not result.errors:
            return result._replace(exit_code=PENDING)
        return result

    return show(command, verb, json, writes=not dry_run)


_ONLY_PACK = "Only this pack, by its name; default: every installed one."
_ONLY_PROJECT = "Only what is installed in this project; . is the one of this folder."


def _upgrade(
    pack: Annotated[str, argument(None, _ONLY_PACK, completes="pack")] = "",
    host: options.Hosts = None,
    scope: options.AnyScope = "",
    project: Annotated[str, option("DIR", _ONLY_PROJECT, panel=options.WHERE)] = "",
    yes: options.Yes = False,
    accept_changed: options.AcceptChanged = False,
    dry_run: options.Dry = False,
    diff: options.Diff = False,
    json: options.Json = False,
) -> int:
    from hookctl.commands import choosing
    from hookctl.system.project import find
    from hookctl.verbs.upgrade import Request, upgrade

    permission = choosing.permission(yes, accept_changed, json)
    hosts = tuple(host.name for host in choosing.load_hosts(host))
    scope = choosing.known_scope(scope)

    def verb(folders: Folders) -> Result:
        place = choosing.in_project(folders, project)
        root = find(place.cwd, place.environ) if project else ""
        request = Request(pack, dry_run, hosts, scope, root, diff)
        return upgrade(place, request, permission)

    return show("upgrade", verb, json, writes=not dry_run)


_PACK_OR_FILE = "A pack's name or file; default: guard, with --all every pack."
_SCOPE = "user, project or local; default: user, with --all every one."


def _uninstall(
    pack: Annotated[str, argument(None, _PACK_OR_FILE, completes="pack")] = "",
    host: options.Hosts = None,
    scope: Annotated[str, option("S", _SCOPE, completes="scope")] = "",
    project: options.Project = "",
    all_: Annotated[bool, flag("Uninstall everywhere, after a question.", "--all")] = False,
    yes: Annotated[bool, flag("Do not ask; --all with --json needs it.", "--yes", "-y")] = False,
    dry_run: options.Dry = False,
    diff: options.Diff = False,
    json: options.Json = False,
) -> int:
    from hookctl import hosts as known
    from hookctl import packs
    from hookctl.commands import choosing
    from hookctl.planner.run import changed_meanwhile, finish_pending, locked_run
    from hookctl.report import say
    from hookctl.verbs.uninstall import Request, question, uninstall

    content = packs.load(pack) if packs.is_path(pack) or packs.is_folder(pack) else None
    named = host or [n for n in known.names() if (scope or "user") in known.load(n).scopes]
    hosts = choosing.choose_hosts("uninstall", named, scope or "user", json)
    name = content.name if content else pack or ("" if all_ else "guard")
    named_hosts = tuple(chosen.name for chosen in hosts) if host else ()

    def verb(folders: Folders) -> Result:
        request = Request(
            name, all_, content, named_hosts, scope, recovered=folders.has_unfinished_run()
        )
        find = partial(
            choosing.find_targets, folders, hosts, scope or "user", project, recorded=True
        )
        asked = ""
        if not (dry_run or yes) and (all_ or (can_ask() and not json)):
            finish_pending(folders, say)
            asked = question(folders, request, find())
            is_agreed = not json and confirm(asked)
            if all_ and not is_agreed:
                if asked and not json:
                    say(asked)
                message = "--all needs confirmation, but no question is possible"
                raise usage_error(message, "Add --yes.")
        others = None
        takes_all = all_ and not (name or host or scope) and os.path.lexists(folders.disabled)
        puts_back = takes_all and (yes or dry_run or _may_put_back(folders))
        with locked_run(folders, say, dry_run=dry_run):
            targets = find()
            if asked and question(folders, request, targets) != asked:
                raise changed_meanwhile()
            if puts_back:
                from hookctl.verbs.enable import put_back_others  # late: few have any disabled

                others = put_back_others(folders, dry_run=dry_run)
            result = uninstall(folders, request, targets, dry_run=dry_run, diff=diff)
        if others:
            from hookctl.verbs.enable import join  # late, too

            return join(others, result)
        return result

    return show("uninstall", verb, json, writes=not dry_run)


def _may_put_back(folders: Folders) -> bool:
    """Whether a person wants other tools' hooks that are disabled to come back."""
    from hookctl.errors import HookctlError
    from hookctl.verbs.enable import others_question

    try:
        return confirm(others_question(folders))
    except HookctlError as error:
        if error.code != "declined":
            raise
    return False


def _status(
    host: options.Hosts = None,
    scope: options.AnyScope = "",
    project: options.Project = "",
    all_: options.Everywhere = False,
    verbose: options.Verbose = False,
    json: options.Json = False,
) -> int:
    from hookctl.commands import choosing
    from hookctl.verbs.status import Filter, status

    names = tuple(host.name for host in choosing.load_hosts(host))
    wanted = Filter(names, choosing.known_scope(scope), verbose, all_)
    return show("status", lambda f: status(choosing.in_project(f, project), wanted), json)


COMMANDS = {
    "install": Command(
        _set_up,
        "Add a pack's hooks and settings to a host's settings file.",
        "  hookctl install --host claude\n"
        "  hookctl install --host claude --set MAX_STOP_BLOCKS=8\n"
        "  hookctl install --host claude --scope project  for each clone of it\n"
        "  hookctl install ./notify.toml --host claude    a pack of your own\n"
        "  hookctl install git+https://github.com/ORG/REPO@v1 --host claude",
        fixed={"command": "install", "exit_code": False},
    ),
    "uninstall": Command(
        _uninstall,
        "Remove what was installed; what you changed stays.",
        "  hookctl uninstall\n"
        "  hookctl uninstall --all\n"
        "  hookctl uninstall --all --yes    do not ask",
    ),
    "plan": Command(
        _set_up,
        "Show what install would do as a unified diff, and write nothing.",
        "  hookctl plan --host claude\n  hookctl plan --host claude --exit-code",
        fixed={"command": "plan", "dry_run": True},
    ),
    "upgrade": Command(
        _upgrade,
        "Install every pack again from where it came, with its recorded settings.",
        "  hookctl upgrade                  after an update of it or of a pack\n"
        "  hookctl upgrade --project .      only what this project has\n"
        "  hookctl upgrade notify --dry-run\n"
        "  hookctl upgrade --yes --accept-changed",
    ),
    "status": Command(
        _status,
        "Show what is installed where, and whether it is active here.",
        "  hookctl status",
    ),
}
