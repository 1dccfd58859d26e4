"""hookctl check: is everything that this project declares present and unchanged? For CI."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from hookctl import errors, packs
from hookctl.checks import gather_project
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
  hookctl check
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
    facts = gather_project.gather(folder, folders.environ, start, _find_project(cwd, ""))
    findings = list(rules.judge(facts, require))
    for pack in _load_required(require):
        findings += rules.judge_required(facts, pack)
    findings = worst_first(dict.fromkeys(findings))
    has_failed = any(finding.level == "error" for finding in findings)
    data = {"project": folder, "findings": [finding._asdict() for finding in findings]}
    text = _describe(facts, findings)
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


def _load_required(names: Sequence[str]) -> Iterator[rules.RequiredPack]:
    """Each required pack, with its content where it is given as a file."""
    for name in dict.fromkeys(names):
        if packs.is_path(name) or packs.is_folder(name):
            pack = packs.load(name)
            yield rules.RequiredPack(pack.name, pack, name)
        elif name.replace("-", "").isalnum():
            yield rules.RequiredPack(name)
        else:
            hint = "Give a pack's name, or the path of its file."
            raise HookctlError("usage", f"no pack: {name!r}", hint=hint, exit_code=errors.USAGE)


def _describe(facts: rules.ProjectFacts, findings: list[Finding]) -> list[Line]:
    """A line for each finding, or what was looked at."""
    lines = finding_lines(findings, [], verbose=True)
    installed = {pack.name for pack in facts.packs}
    if findings or not installed:
        if not findings:
            return [Line("hookctl has nothing installed in this project", path=facts.project)]
        return lines
    names = ", ".join(sorted(installed))
    places = amount(len([file for file in facts.files if file.record]), "settings file")
    return [Line(f"{names}: complete, in {places}", OK, path=facts.project)]
