"""What `uninstall` removes and what it leaves, by project."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from hookctl.errors import HookctlError
from hookctl.model import Line
from hookctl.output.lines import amount, tilde


class Installed(NamedTuple):
    """A settings file that packs leave."""

    title: str  # of the host
    path: str
    scope: str
    project: str  # empty at user scope
    packs: tuple[str, ...]


def question_text(subject: str, files: Sequence[Installed], left: Sequence[HookctlError]) -> str:
    """The question before packs leave these files; one line for each file and each one left."""
    if not files:
        return ""
    if len(files) == 1 and not left:
        scope = f" ({files[0].scope} scope)" if files[0].scope != "user" else ""
        return f"Uninstall {subject} from {files[0].path}{scope}?"
    lines = []
    by_project: dict[str, list[Installed]] = {}
    for file in files:
        by_project.setdefault(file.project, []).append(file)
    for project, members in by_project.items():
        lines.append(f"{project or 'your own files'}:")
        for file in members:
            name = os.path.relpath(file.path, project) if project else file.path
            lines.append(f"  {file.title}  {name}: {', '.join(file.packs)}")
    lines += [f"stays in {describe_left(error)}" for error in left]
    return "\n".join([*lines, f"Uninstall {subject} from all of these?"])


def removed_text(subject: str, projects: Collection[str], left: Iterable[str]) -> str:
    """How much is removed where something is left: `removed from 4 of 5 projects; left:`.

    `projects` has the project of each file with something removed, and `left` that of each thing
    that is left; '' is one of the user's own files.
    """
    kept, own = set(left) - {""}, "" in set(projects)
    removed = set(projects) - kept - {""}
    parts = ["your own files"] if own else []
    if removed or kept:
        parts.append(f"{len(removed)} of {amount(len(removed | kept), 'project')}")
    verb = f"{subject} is removed" if subject else "removed"
    return f"{verb} from {' and '.join(parts)}; left:"


def describe_left(error: HookctlError) -> str:
    """What is left, why, and what to do about it, in one line."""
    where = f"{tilde(error.path)}: " if error.path else ""
    hint = error.hint.split(" Or remove by hand:")[0]
    return f"{where}{error.message}. {hint}".rstrip()


def commit_lines(names_by_project: Mapping[str, Sequence[str]], here: str) -> list[Line]:
    """The next step of the projects that share their settings; each project once.

    `here` is the one that the command was given in.
    """
    if names_by_project.keys() == {here}:
        names = names_by_project[here]
        files = f"{' '.join(names)} and .hookctl"
        text = f"commit {files} where git has them, so that it leaves every clone"
        return [Line(text, indent=2)]
    lines = []
    for project, names in names_by_project.items():
        text = f"in {tilde(project)}: commit {' '.join(names)} .hookctl where git has them"
        lines.append(Line(text, indent=2))
    return lines
