"""The help texts: commands in groups, options in panels, and no description cut short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:  # late: typer's own affair
    from typer import Context
    from typer._click import HelpFormatter

WIDEST = 122  # columns; the formatter leaves two of them free
_OTHER_OPTIONS = "Options"


class Group(TyperGroup):
    """The program, whose help shows its commands in groups."""

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
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
        for heading, rows in groups.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


class Command(TyperCommand):
    """A command, whose help shows its arguments, and its options in panels."""

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
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
