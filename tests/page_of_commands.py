"""Makes the table of docs/commands.md from the help of the commands: `python -m tests.page_of_commands` writes it."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from unittest import mock

from hookctl import cli

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"
BEGIN, END = "<!-- commands: made by `python -m tests.page_of_commands` -->", "<!-- end of commands -->"


def help_of(command: str) -> str:
    """What `hookctl COMMAND --help` prints."""
    out = io.StringIO()
    with mock.patch.dict(os.environ, {"COLUMNS": "80"}), contextlib.redirect_stdout(out):
        cli.call([command, "--help"])
    return out.getvalue()


def row(command: str) -> str:
    """The usage of a command and the first paragraph of its help."""
    usage, about, *_ = help_of(command).split("\n\n")
    usage = usage.removeprefix("Usage: hookctl ").replace(" [OPTIONS]", "").replace("|", "\\|")
    return f"| `{usage}` | {' '.join(about.split())} |"


def table() -> list[str]:
    """A row for each command, group by group."""
    lines = ["| command | what it does |", "| --- | --- |"]
    for group, names in cli.GROUPS.items():
        lines += [f"| **{group}** | |", *(row(name) for name in names)]
    return lines


def renewed(page: str) -> str:
    """The page with the table as the help has it."""
    before, _, rest = page.partition(BEGIN)
    return "\n".join([before + BEGIN, "", *table(), "", END]) + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text()))
