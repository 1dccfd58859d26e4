"""Lines of a result, with their marks, and words for things of this machine in them."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence

from hookctl.model import Line

OK = "ok"  # done, or fine
WARN = "warn"  # look at this
ERROR = "error"
SKIP = "skip"


def fix(text: str, indent: int = 4) -> Line:
    """The one thing to do about the line above."""
    return Line(f"fix: {text}", indent=indent)


def amount(count: int, singular: str, plural: str = "") -> str:
    """A number with its noun: 1 file, 2 files."""
    noun = singular if count == 1 else plural or f"{singular}s"
    return f"{count} {noun}"


def labelled(rows: Iterable[tuple[str, str]], indent: int = 2) -> list[Line]:
    """A line for each label and text, with the texts below each other."""
    pairs = list(rows)
    columns = max((len(label) for label, _ in pairs), default=0)
    return [Line(text, indent=indent, label=label.ljust(columns)) for label, text in pairs]


def other_projects(others: Sequence[str], gone: Sequence[str], command: str) -> list[Line]:
    """The line about the projects on record that a command left out; none where there is none."""
    if not others:
        return []
    text = amount(len(others), "other project")
    if gone:
        text += f", {len(gone)} of them not there"
    shows = "shows it" if len(others) == 1 else "shows them"
    return [Line(f"{text}: `hookctl {command} --all` {shows}", SKIP)]


def tilde(path: str) -> str:
    """A path with the home folder written as ~."""
    home = os.path.expanduser("~")
    if home == "/" or not path.startswith(home + "/"):
        return path
    return "~" + path[len(home) :]


def program() -> str:
    """The command that calls hookctl again: its name if that is on PATH, else its path."""
    called = os.path.abspath(sys.argv[0])
    if os.path.basename(called) != "hookctl":
        return f"{shlex.quote(sys.executable)} -m hookctl"
    on_path = shutil.which("hookctl")
    if on_path and os.path.realpath(on_path) == os.path.realpath(called):
        return "hookctl"
    return shlex.quote(called)
