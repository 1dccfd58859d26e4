"""A list in the settings that names files to load, and has rules for them, as Pi has it.

`-FILE` switches a file off, whatever else is said; `+FILE` switches it on again where `!GLOB` has
switched it off. Braces in a glob are not known here, and fit nothing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

_MOST_RULES = 200


def is_rule(entry: str) -> bool:
    """Whether an entry is a rule, and names no file."""
    return entry.startswith(("-", "+", "!")) or "*" in entry or "?" in entry


class FileRules(NamedTuple):
    """Such a list, and the folder that its paths begin in."""

    folder: str
    entries: Sequence[Any]

    def locate(self, name: str) -> str:
        """The path of a file that the list names."""
        return os.path.normpath(os.path.join(self.folder, os.path.expanduser(name.strip())))

    def names(self, path: str) -> bool:
        """Whether the list names this file."""
        return any(not is_rule(entry) and self.locate(entry) == path for entry in self._texts())

    def find_off(self, path: str) -> str:
        """The rule that switches a file off; '' where it is on."""
        names = (os.path.relpath(path, self.folder), path)
        rules: dict[str, str] = {}
        for entry in self._texts():
            mark, name = entry[0], entry[1:].removeprefix("./")
            if mark == "!":
                fits = any(_fits(name, text) for text in (*names, os.path.basename(path)))
            else:
                fits = mark in "-+" and name in names
            if fits:
                rules.setdefault(mark, entry)
        by_glob = "" if "+" in rules else rules.get("!", "")
        return rules.get("-", by_glob)

    def _texts(self) -> list[str]:
        return [entry for entry in self.entries[:_MOST_RULES] if isinstance(entry, str) and entry]


def _fits(glob: str, path: str) -> bool:
    """Whether a glob fits a path, part by part; `**` fits any number that are not hidden."""
    names = path.split("/")
    fitting = {0}  # how many parts of the path may be used up so far
    for part in glob.split("/"):
        if part == "**":
            for used in range(min(fitting, default=len(names)), len(names)):
                if used in fitting and not names[used].startswith("."):
                    fitting.add(used + 1)
        else:
            rest = [used for used in fitting if used < len(names)]
            fitting = {used + 1 for used in rest if _fits_part(part, names[used])}
    return len(names) in fitting


def _fits_part(glob: str, name: str) -> bool:
    is_hidden = name.startswith(".") and not glob.startswith(".")
    return fnmatchcase(name, glob) and not is_hidden
