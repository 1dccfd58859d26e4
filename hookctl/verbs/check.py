"""hookctl check: is everything that this project declares present and unchanged? For CI."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from hookctl import errors, packs
from hookctl.checks import project as rules
from hookctl.checks.codes import Finding, worst_first
from hookctl.errors import HookctlError
from hookctl.model import Line, Result
from hookctl.output.findings import finding_lines
from hookctl.output.lines import OK, amount
from hookctl.system.folders import Folders
from hookctl.system.project import has_mark, upwards

HELP = """
--require PACK|./FILE  Fail unless this pack is installed here; a file: with exactly this content.

Examples:
  hookctl check --require guard             fail where the guard is missing
  hookctl check --require ./hooks/pack.toml  the same for this exact pack
"""


def check(folders: Folders, project: str = "", require: Sequence[str] = ()) -> Result:
    """Every finding about the project's own files; the user's are never read.

    It runs no file of the project and writes nothing there, so the project may have any owner.
    """
    cwd = folders.cwd
    folder = _find_project(cwd, project)
    start = os.path.realpath(cwd)
    declared = rules.Project(folder, start, _find_project(cwd, ""))
    required = list(_load_required(require))
    findings = list(rules.judge(declared, {name: pack for name, _, pack in required}))
    for name, source, pack in required:
        findings += rules.judge_required(declared, name, source, pack)
    findings = worst_first(dict.fromkeys(findings))
    has_failed = any(finding.level == "error" for finding in findings)
    data = {"project": folder, "findings": [finding._asdict() for finding in findings]}
    text = _describe(declared, findings)
    return Result(data, tuple(text), exit_code=errors.FAILED if has_failed else errors.OK)


def _find_project(cwd: str, named: str) -> str:
    """The project's real path; it may have any owner."""
    if named and not os.path.isdir(named):
        raise errors.usage_error(f"no such folder: {named}", "Give the project's folder.")
    start = os.path.realpath(named or cwd)
    for folder in () if named else upwards(start):
        if folder != os.sep and has_mark(folder):
            return folder
    return start


def _load_required(names: Sequence[str]) -> Iterator[tuple[str, str, packs.Pack | None]]:
    """Each required pack: its name, and path and content where it is given as a file."""
    for name in dict.fromkeys(names):
        if packs.is_path(name):
            pack = packs.load(name)
            yield pack.name, name, pack
        elif name.replace("-", "").isalnum():
            yield name, "", None
        else:
            hint = "Give a pack's name, or the path of its file."
            raise HookctlError("usage", f"no pack: {name!r}", hint=hint, exit_code=errors.USAGE)


def _describe(declared: rules.Project, findings: list[Finding]) -> list[Line]:
    installed = sorted({name for _, name, _ in declared.packs})
    if findings:
        return finding_lines(findings, [], verbose=True)
    if not installed:
        return [Line("hookctl has nothing installed in this project", path=declared.folder)]
    places = amount(len([file for file in declared.files if file.record]), "settings file")
    text = f"{', '.join(installed)}: complete, in {places}"
    return [Line(text, OK, path=declared.folder)]
