"""The command line: parses the options and calls a command, which is imported only then."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Annotated

import typer

from hookctl import __version__
from hookctl.commands.options import Command
from hookctl.errors import INTERRUPTED, OK, USAGE, HookctlError
from hookctl.output import help

# The headings of `hookctl --help`, and under each its commands, which are in one module.
GROUPS = {
    "Set up": ("set_up", ("install", "uninstall", "plan", "upgrade", "status")),
    "Check": ("check", ("doctor", "check", "log", "stats", "hosts", "verify", "simulate")),
    "Run": ("work", ("run", "supervise", "demo")),
    "Files": ("files", ("restore", "render")),
    "Shell": ("shell", ("completion",)),
}
NAMES = [name for _, names in GROUPS.values() for name in names]

_ABOUT = """Installs hooks and environment settings into coding agents' settings files, and
removes them again, without touching a byte of anybody else's.

\b
Start here:
  hookctl install --host claude     put the guard into Claude Code's settings
  hookctl doctor                    check that it works
  hookctl uninstall                 take it out again
"""


def call(arguments: list[str]) -> int:
    """Parse the arguments and run the command; a usage error is a HookctlError."""
    if arguments[:1] == ["help"]:  # `hookctl help install`, as other programs have it
        words = [word for word in arguments if word != "help"]  # `hookctl help help` too
        arguments = [*words, "--help"]
    named = [name for name in arguments if not name.startswith("-")][:1]
    # Building the parameters of every command would cost each call as much as its own work.
    only = named if named and named[0] in NAMES else NAMES
    if arguments == ["--version"]:
        only = []
    if "_HOOKCTL_COMPLETE" in os.environ:  # a shell asks, by the script of `hookctl completion`
        typer.completion.completion_init()
    try:
        code = program(only)(arguments or ["--help"], prog_name="hookctl", standalone_mode=False)
    except typer.TyperException as error:
        name = f"hookctl {named[0]}" if named and named[0] in NAMES else "hookctl"
        hint = f"`{name} --help` shows how it is used."
        raise HookctlError("usage", error.format_message(), hint=hint, exit_code=USAGE) from None
    if code == INTERRUPTED:  # what typer makes of it; nothing has been said yet
        raise KeyboardInterrupt
    return code if isinstance(code, int) else OK


def program(names: list[str]) -> typer.Typer:
    """The program with these of its commands."""
    app = typer.Typer(
        cls=help.Group,
        context_settings={
            "max_content_width": help.WIDEST,
            "help_option_names": ["--help", "-h"],
        },
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    app.callback(help=_ABOUT)(_main)
    for heading, (module, its_names) in GROUPS.items():
        for name in its_names:
            if name in names:
                _add(app, heading, name, find_command(module, name))
    return app


def find_command(module: str, name: str) -> Command:
    """The command of this name, from a module of `hookctl.commands`."""
    commands: dict[str, Command] = import_module(f"hookctl.commands.{module}").COMMANDS
    return commands[name]


def _add(app: typer.Typer, heading: str, name: str, command: Command) -> None:
    text = f"{command.summary}\n\n\b\nExamples:\n{command.examples}"
    add = app.command(name, cls=help.Command, help=text, rich_help_panel=heading)
    add(command.function)


def _print_version(value: bool) -> None:
    if value:
        print(f"hookctl {__version__}")
        raise typer.Exit()


_Version = Annotated[
    bool,
    typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
]


def _main(version: _Version = False) -> None:
    pass
