"""The commands about single settings files: restoring one, printing the text for one."""

from __future__ import annotations

from typing import Annotated

import typer

from hookctl.commands import options
from hookctl.commands.calling import confirm, require_own_home, show
from hookctl.commands.options import Command, completed_by
from hookctl.errors import USAGE, HookctlError


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
    dry_run: options.Dry = False,
    json: options.Json = False,
) -> int:
    from hookctl.system.folders import here
    from hookctl.verbs.restore import Request, prune_question, restore, undo_question

    if not (list_ or dry_run):
        require_own_home(here())  # the questions finish an interrupted run first
    if prune and not (dry_run or yes):
        question = prune_question(here(), file)
        if question and (json or not confirm(question)):
            message, hint = "--prune needs confirmation, but there is no terminal", "Pass --yes."
            raise HookctlError("usage", message, hint=hint, exit_code=USAGE)
    request = Request(file, to, list_, prune, dry_run)
    if file and not (prune or list_ or dry_run or yes):
        question = undo_question(here(), request)
        if question and (json or not confirm(f"{question}\nGo on?")):
            message = "this would undo edits that hookctl did not make"
            hint = f"See them with `hookctl restore {file} --to {to} --dry-run`, then pass --yes."
            raise HookctlError("usage", message, path=file, hint=hint, exit_code=USAGE)
    writes = not (list_ or dry_run)
    return show("restore", lambda f: restore(f, request), json, writes=writes)


def _render(
    pack: options.Pack = "guard",
    host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="H",
            help="The host; it must have settings of this scope.",
            autocompletion=completed_by("host"),
        ),
    ] = None,
    scope: Annotated[
        str,
        typer.Option(
            metavar="S",
            help="managed, user, project or local.",
            autocompletion=completed_by("rendered scope"),
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
        typer.Option(
            metavar="P",
            help="The Python that runs the guard; in managed settings /usr/bin/python3.",
            show_default=False,
        ),
    ] = "",
    platform: Annotated[
        str,
        typer.Option(
            metavar="OS",
            help="Managed settings for linux or macos.  [default: this machine's]",
            show_default=False,
            autocompletion=completed_by("platform"),
        ),
    ] = "",
    mode: options.Mode = "",
    preset: options.Preset = "",
    assign: options.Set = None,
    nudge: options.Nudge = None,
    nudge_env: options.NudgeEnv = None,
    dispatch: options.Dispatch = None,
    json: options.Json = False,
) -> int:
    from hookctl.commands import choosing
    from hookctl.packs import load
    from hookctl.packs.choices import Request as Settings
    from hookctl.verbs.render import Request, render, require_one_host

    content = load(pack)
    chosen = choosing.choose_hosts("render", [require_one_host(host or [], scope)], "user", json)[0]
    settings = Settings(mode, preset, assign or (), nudge, nudge_env, dispatch or ())
    request = Request(scope, hook_dir, python, platform, settings)
    return show("render", lambda f: render(f, content, chosen, request), json)


COMMANDS = {
    "restore": Command(
        _restore,
        "Restore a settings file from before hookctl's first write, or from a later backup.",
        "  hookctl restore ~/.claude/settings.json --list\n"
        "  hookctl restore ~/.claude/settings.json\n"
        "  hookctl restore ~/.claude/settings.json --to 3",
    ),
    "render": Command(
        _render,
        "Print the settings text alone, for managed settings, MDM or Nix; nothing is written.",
        "  hookctl render --host claude --set MAX_STOP_BLOCKS=8\n"
        "  hookctl render --host codex --platform macos --json\n"
        "  hookctl render --host claude --scope user --python /usr/bin/python3",
    ),
}
