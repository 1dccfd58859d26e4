"""The commands about single settings files: restoring one, printing the text for one."""

from __future__ import annotations

from typing import Annotated

from hookctl.commands import options
from hookctl.commands.options import Command, argument, confirm, flag, option, show

_TO = "The number of a backup, as --list shows it."


def _restore(
    file: Annotated[str, argument(None, "The settings file.")] = "",
    list_: Annotated[bool, flag("List the backups.", "--list")] = False,
    to: Annotated[int, option("N", _TO)] = 1,
    yes: Annotated[bool, flag("Do not ask.", "--yes", "-y")] = False,
    dry_run: options.Dry = False,
    json: options.Json = False,
) -> int:
    from hookctl.verbs.restore import Request, restore

    def ask(question: str) -> bool:
        return not json and confirm(question)

    request = Request(file, to, list_, dry_run)
    asks = None if yes or list_ or dry_run else ask
    return show("restore", lambda f: restore(f, request, asks), json, writes=not (list_ or dry_run))


_HOST = "The host; it must have settings of this scope."
_PYTHON = "The Python that runs the guard; in managed settings /usr/bin/python3."
_PLATFORM = "Managed settings for linux or macos.  [default: this machine's]"


def _render(
    pack: options.Pack = "guard",
    host: Annotated[list[str] | None, option("H", _HOST, completes="host")] = None,
    scope: Annotated[
        str, option("S", "managed, user, project or local.", completes="rendered scope")
    ] = "managed",
    hook_dir: Annotated[str, option("DIR", "The folder of the pack's files.", "--hook-dir")] = "",
    python: Annotated[str, option("P", _PYTHON)] = "",
    platform: Annotated[str, option("OS", _PLATFORM, completes="platform")] = "",
    mode: options.Mode = "",
    preset: options.Preset = "",
    assign: options.Set = None,
    nudge: options.Nudge = None,
    nudge_env: options.NudgeEnv = None,
    dispatch: options.Dispatch = None,
    allow_run: options.AllowRun = False,
    json: options.Json = False,
) -> int:
    from hookctl.commands import choosing
    from hookctl.packs import load
    from hookctl.packs.choices import Request as Settings
    from hookctl.verbs.render import Request, render, require_one_host

    content = load(pack)
    chosen = choosing.choose_hosts("render", [require_one_host(host or [], scope)], "user", json)[0]
    settings = Settings(
        mode, preset, assign or (), nudge, nudge_env, dispatch or (), allow_run=allow_run
    )
    request = Request(scope, hook_dir, python, platform, settings)
    return show("render", lambda f: render(f, content, chosen, request), json)


COMMANDS = {
    "restore": Command(
        _restore,
        "Restore a settings file from before hookctl was installed, or from a later backup.",
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
