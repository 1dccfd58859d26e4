"""Makes the lines of a result, before anybody knows how wide the terminal is."""

from __future__ import annotations

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
