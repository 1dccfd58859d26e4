"""The unified diff of a whole plan: the settings files, and hookctl's own files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from hookctl.masking import OwnText
from hookctl.model import Change
from hookctl.output.diffs import file_lines, shown_lines
from hookctl.output.lines import amount
from hookctl.planner.plan import Plan
from hookctl.settings.targets import GUARD
from hookctl.system.files import digest

_CONFIG = "config.json"  # what of the guard's folder is no program


def patch(plan: Plan) -> OwnText:
    """The unified diff of everything that a plan changes, with secrets masked.

    The guard's programs, which come with hookctl, are named with their digest instead.
    """
    return OwnText("".join(f"{line}\n" for line in patch_lines(plan)))


def patch_lines(plan: Plan) -> list[str]:
    """The lines of the same diff."""
    lines = [line for file in plan.files for line in shown_lines(file)]
    folders = _guard_folders(plan)
    programs: dict[str, list[Change]] = {}
    for change in plan.changes:
        if change.settings:
            continue
        if _is_program(change.path, folders):
            programs.setdefault(os.path.dirname(change.path), []).append(change)
        else:
            lines += file_lines(change.path, change.before, change.after)
    return [*lines, *_program_lines(programs), *_package_lines(plan)]


def _guard_folders(plan: Plan) -> list[str]:
    """The folders with programs of the guard, before and after the run."""
    folders = []
    for file in plan.files:
        for record in (file.known, file.record):
            if record and GUARD in record.packs and record.packs[GUARD].folder:
                folders.append(os.path.join(record.packs[GUARD].folder, ""))
    return folders


def _is_program(path: str, folders: list[str]) -> bool:
    is_setting = os.path.basename(path) == _CONFIG
    return not is_setting and path.startswith(tuple(folders))


def _program_lines(programs: dict[str, list[Change]]) -> Iterator[str]:
    """A line for each folder with programs: how many, and a digest over those that come."""
    for folder, changes in programs.items():
        files = {}
        for change in changes:
            if change.after is not None:
                files[os.path.basename(change.path)] = change.after
        removed = len(changes) - len(files)
        if files:
            yield _describe_written(folder, files)
        if removed:
            yield f"{folder}: {amount(removed, 'program file')} of hookctl removed"


def _package_lines(plan: Plan) -> Iterator[str]:
    """A line for each package that comes."""
    for packages in plan.packages:
        if packages.name:
            yield _describe_written(os.path.join(packages.path, packages.name), packages.modules)


def _describe_written(folder: str, files: Mapping[str, bytes]) -> str:
    count = amount(len(files), "program file")
    sha = digest(b"".join(data for _, data in sorted(files.items())))
    return f"{folder}: {count} of hookctl written (sha256 {sha})"
