"""What the command line knows of a command before it is called."""

from __future__ import annotations

from collections.abc import Callable

from hookctl.values import NamedTuple


class Command(NamedTuple):
    """A command: what runs it, what it does in one sentence, and examples, one a line."""

    function: Callable[..., int]  # its parameters are the options; it returns the exit code
    summary: str
    examples: str
