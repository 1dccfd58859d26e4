"""The command line: parses the options and calls a command, which is imported only then."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperCommand, TyperGroup

from hookctl import __version__
from hookctl.commands.options import COMPLETE, Command
from hookctl.errors import INTERRUPTED, OK, usage_error

if TYPE_CHECKING:  # late: typer's own affair
    from typer._click import HelpFormatter

# The headings of `hookctl --help`: the three main jobs, then the rest; each command's module.
MORE = "More"
GROUPS = {
    "Guard my agent": {
        "install": "set_up",
        "run": "work",
        "status": "set_up",
        "log": "check",
        "uninstall": "set_up",
    },
    "Ship a hook to every agent": {"pack": "authors", "upgrade": "set_up", "check": "check"},
    "See what my hooks do": {
        "hooks": "hooks",
        "fire": "hooks",
        "doctor": "check",
        "disable": "hooks",
        "enable": "hooks",
    },
    MORE: {
        "plan": "set_up",
        "demo": "work",
        "stats": "check",
        "report": "hooks",
        "hosts": "check",
        "restore": "files",
        "render": "files",
        "supervise": "work",
        "verify": "check",
        "completion": "shell",
    },
}
NAMES = [name for names in GROUPS.values() for name in names]
_WIDEST = 122  # columns of a help text; the formatter leaves two of them free
_OTHER_OPTIONS = "Options"

_ABOUT = """Installs hooks and environment settings into coding agents' settings files, and
removes them again, without touching a byte of anybody else's.

\b
Start here:
  hookctl install --host claude     put the guard into Claude Code's settings
  hookctl pack new my-hook          write a hook that every agent runs
  hookctl hooks                     see every hook that runs here
"""


def call(arguments: list[str]) -> int:
    """Parse the arguments and run the command; a usage error is a HookctlError."""
    if arguments[:1] == ["help"]:  # `hookctl help install`, as other programs have it
        words = [word for word in arguments if word != "help"]  # `hookctl help help` too
        arguments = [*words, "--help"]
    named = next((word for word in arguments if not word.startswith("-")), "")
    name = f"hookctl {named}" if named in NAMES else "hookctl"
    asks = COMPLETE in os.environ  # a shell does, by the script of `hookctl completion`
    if asks:
        typer.completion.completion_init()
    try:
        if named in NAMES and arguments[0] == named and not asks:
            # Building the parameters of every command would cost each call as much as its work.
            code = program([named])(arguments[1:], prog_name=name, standalone_mode=False)
        else:
            names = [] if arguments == ["--version"] else NAMES
            words = arguments or ["--help"]
            code = program(names)(words, prog_name="hookctl", standalone_mode=False)
    except typer.TyperException as error:
        hint = f"`{name} --help` shows how it is used."
        raise usage_error(error.format_message(), hint) from None
    if code == INTERRUPTED:  # what typer makes of it; nothing has been said yet
        raise KeyboardInterrupt
    return code if isinstance(code, int) else OK


def program(names: list[str]) -> typer.Typer:
    """The program with these of its commands; with one alone it is that command."""
    context = {"max_content_width": _WIDEST, "help_option_names": ["--help", "-h"]}
    app = typer.Typer(
        cls=_Program,
        context_settings=context,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    if len(names) != 1:
        app.callback(help=_ABOUT)(_main)
    for heading, modules in GROUPS.items():
        for name, module in modules.items():
            if name in names:
                commands = import_module(f"hookctl.commands.{module}").COMMANDS
                command: Command = commands[name]
                text = f"{command.summary}\n\n\b\nExamples:\n{command.examples}"
                settings = {"context_settings": context, "rich_help_panel": heading}
                app.command(name, cls=_Command, help=text, **settings)(command.build())
    return app


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


# The help texts: commands in groups, options in panels, and no description cut short.


class _Program(TyperGroup):
    """The program, whose help shows its commands in groups, the last one by name only."""

    def format_commands(self, ctx: typer.Context, formatter: HelpFormatter) -> None:
        """Write a list for each group of commands, every description in full."""
        groups: dict[str, list[tuple[str, str]]] = {}
        names = self.list_commands(ctx)
        columns = max(map(len, names), default=0)
        for name in names:
            command = self.get_command(ctx, name)
            if not isinstance(command, TyperCommand):
                continue
            summary = (command.help or "").split("\n\n")[0]
            rows = groups.setdefault(command.rich_help_panel or "Commands", [])
            rows.append((name.ljust(columns), summary))
        others = groups.pop(MORE, [])
        for heading, rows in groups.items():
            with formatter.section(heading):
                formatter.write_dl(rows)
        with formatter.section(f"{MORE} (hookctl COMMAND --help)"):
            formatter.write_text(", ".join(name.strip() for name, _ in others))


class _Command(TyperCommand):
    """A command, whose help shows its arguments, and its options in panels."""

    def format_options(self, ctx: typer.Context, formatter: HelpFormatter) -> None:
        """Write the arguments and then a list for each panel of options."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is None:
                continue
            heading = getattr(parameter, "rich_help_panel", None) or _OTHER_OPTIONS
            if parameter.param_type_name == "argument":
                heading = "Arguments"
            panels.setdefault(heading, []).append(row)
        others = panels.pop(_OTHER_OPTIONS, [])
        for heading, rows in [*panels.items(), (_OTHER_OPTIONS, others)]:
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)
