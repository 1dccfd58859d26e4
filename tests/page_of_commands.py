"""Writes docs/commands.md from the command line's own help: `python -m tests.page_of_commands`."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from unittest import mock

from hookctl import cli

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"
_HEAD = """# Commands

Made from `hookctl COMMAND --help`; `python -m tests.page_of_commands` writes it anew.

Every command takes `--json` and then prints one object ([schemas/result.schema.json](../schemas/result.schema.json));
`log --follow --json` prints one a line. `--dry-run` writes nothing at all. What looks like a secret, by its name
(`*_API_KEY`, `*TOKEN*`, ...) or by itself (`sk-...`, `Bearer ...`, a private key), is masked wherever it is shown; only
`render`, and a pack before you agree to it, are shown whole. `--json` carries no values of your settings but those that
hookctl puts in or takes out; with `--diff` it has the unified diff, and so the lines around a change. What people read
on stderr stands in `data.messages` too, with a code and a level. Colours and symbols are for terminals: `NO_COLOR` and
pipes get words.

| exit code | meaning |
| --- | --- |
| 0 | done, or nothing to do; warnings too |
| 1 | an error was found, a conflict stopped the command, or a file may not be written; `verify`: incomplete |
| 2 | wrong use of the command line, or a question was not answered with yes |
| 3 | unexpected: a bug; the message says where the details are |
| 4 | something could not be read or parsed; nothing was written; `verify`: the command cannot be run |
| 10 | `plan --exit-code` only: a settings file would change |
| 124 | `verify` and `run wait` only: out of time |
| 130 | interrupted |
"""


def help_of(command: str) -> str:
    """What `hookctl COMMAND --help` prints at 80 columns."""
    out = io.StringIO()
    with mock.patch.dict(os.environ, {"COLUMNS": "80"}), contextlib.redirect_stdout(out):
        cli.call([command, "--help"] if command else ["--help"])
    return out.getvalue().rstrip("\n")


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    for group, (_, names) in cli.GROUPS.items():
        for name in names:
            parts.append(f"## hookctl {name}\n\n{group}.\n\n```text\n{help_of(name)}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
