"""Words that stand for things of this machine: a short path, the command that calls hookctl."""

from __future__ import annotations

import os
import sys


def tilde(path: str) -> str:
    """A path with the home folder written as ~."""
    home = os.path.expanduser("~")
    if home == "/" or not path.startswith(home + "/"):
        return path
    return "~" + path[len(home) :]


def program() -> str:
    """The command that calls hookctl again: its name if that is on PATH, else its path."""
    import shlex
    import shutil

    called = os.path.abspath(sys.argv[0])
    if os.path.basename(called) != "hookctl":
        return f"{shlex.quote(sys.executable)} -m hookctl"
    on_path = shutil.which("hookctl")
    if on_path and os.path.realpath(on_path) == os.path.realpath(called):
        return "hookctl"
    return shlex.quote(called)
