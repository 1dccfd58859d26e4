"""The command that makes a shell complete the others."""

from __future__ import annotations

from typing import Annotated

from hookctl.commands import options
from hookctl.commands.options import Command, argument, show


def _completion(
    shell: Annotated[str, argument("SHELL", "One of: bash, zsh, fish.", completes="shell")],
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
