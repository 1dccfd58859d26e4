"""The command that makes a shell complete the others."""

from __future__ import annotations

from typing import Annotated

import typer

from hookctl.commands import options
from hookctl.commands.calling import show
from hookctl.commands.options import Command, completed_by


def _completion(
    shell: Annotated[
        str,
        typer.Argument(
            metavar="SHELL", help="One of: bash, zsh, fish.", autocompletion=completed_by("shell")
        ),
    ],
    json: options.Json = False,
) -> int:
    from hookctl.verbs.completion import completion

    return show("completion", lambda _: completion(shell), json, homeless=True)


COMMANDS = {
    "completion": Command(
        _completion,
        "Print a shell's completion script; it edits no files.",
        "  mkdir -p ~/.local/share/bash-completion/completions ~/.zfunc\n"
        "  hookctl completion bash > ~/.local/share/bash-completion/completions/hookctl\n"
        "  hookctl completion zsh > ~/.zfunc/_hookctl\n"
        "  hookctl completion fish > ~/.config/fish/completions/hookctl.fish",
    ),
}
