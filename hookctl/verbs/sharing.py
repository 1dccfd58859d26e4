"""What to do with a project's files after an install, so that the team gets them, or does not."""

from __future__ import annotations

import os
from collections.abc import Iterator

from hookctl.model import Line
from hookctl.planner.plan import Plan
from hookctl.settings.targets import RULES, Target
from hookctl.system import git, project
from hookctl.system.folders import Folders


def advise_on_commit(folders: Folders, plan: Plan, targets: list[Target]) -> list[Line]:
    """Whether to commit the project's files, and before that what keeps them out of clones."""
    paths = []
    for file in plan.files:
        is_asked = file.target in targets or file.target.host.format == RULES
        if is_asked and file.target.project and file.after is not None:
            paths.append(file.target.path)
    root = targets[0].project
    paths += _find_sources(plan, root)
    names = " ".join(os.path.relpath(path, root) for path in paths)
    if targets[0].shared:
        ignored = list(_describe_ignored(folders, root, paths))
        commit = f"commit {names} and .hookctl, so that every clone has it"
        lines = [*_describe_missing(root), *ignored]
        lines.append(f"once git takes them, {commit}" if ignored else commit)
    elif names:
        lines = [f"keep {names} out of version control: it names paths of this machine"]
    else:
        lines = []
    return [Line(text, indent=2) for text in lines]


def _find_sources(plan: Plan, root: str) -> list[str]:
    """The packs that the project's record names, and their files: an upgrade needs all of them."""
    sources: dict[str, None] = {}
    for file in plan.files:
        if file.target.shared and file.record:
            for pack in file.record.packs.values():
                if pack.source.startswith(f"{root}/"):
                    folder = os.path.dirname(pack.source)
                    files = [os.path.join(folder, name) for name in pack.files]
                    sources.update(dict.fromkeys([pack.source, *files]))
    return list(sources)


def _describe_missing(root: str) -> Iterator[str]:
    """That there is no repository, if so."""
    if not git.find_top(root):
        yield "this is no git repository, so no clone brings it to others: `git init` makes one"


def _describe_ignored(folders: Folders, root: str, paths: list[str]) -> Iterator[str]:
    """Which of these files, and of those in hookctl's folder, git would not bring to a clone."""
    paths = [*paths, *project.shared_files(root)]
    for rule in git.find_ignored(root, paths, folders.environ, folders.state, personal=True):
        yield (
            f"{rule.describe(root)}, so no clone gets it: remove that line, "
            "or install with --scope local instead"
        )
