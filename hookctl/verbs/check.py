"""hookctl check: is everything that this project declares present and unchanged? For CI."""

import os
from collections.abc import Sequence

from hookctl import errors
from hookctl.checks import project as rules
from hookctl.checks import worst_first
from hookctl.model import OURS, Line, Result
from hookctl.output.lines import amount
from hookctl.packs import programs
from hookctl.system.folders import Folders
from hookctl.system.project import has_mark, upwards
from hookctl.verbs.doctor import finding_lines

HELP = """
--require PACK|./FILE  Fail unless this pack is installed; of a file or hookctl:PACK, this content.

Examples:
  hookctl check --require guard             fail where the guard is missing
  hookctl check --require ./hooks/pack.toml  the same for this exact pack
"""


def check(folders: Folders, project: str = "", require: Sequence[str] = ()) -> Result:
    """Every finding about the project's own files; the user's are never read."""
    cwd = folders.cwd
    folder = _find_project(cwd, project)
    declared = rules.Project(folder, os.path.realpath(cwd), _find_project(cwd, ""))
    required = []
    for name in dict.fromkeys(require):
        has_content = programs.is_path(name) or name.startswith(OURS)
        pack = programs.load_pack(name) if has_content else None
        if not pack and not name.replace("-", "").isalnum():
            raise errors.usage_error(f"no pack: {name!r}", "Give its name, or its file's path.")
        required.append((pack.name, name, pack) if pack else (name, "", None))
    findings = list(rules.check(declared, {name: pack for name, _, pack in required}))
    for wanted in required:
        findings += rules.check_required(declared, *wanted)
    findings = worst_first(dict.fromkeys(findings))
    has_failed = any(finding.level == "error" for finding in findings)
    data = {"project": folder, "findings": [finding._asdict() for finding in findings]}
    text = [Line("hookctl has nothing installed in this project", path=declared.folder)]
    if findings:
        text = finding_lines(findings, [], verbose=True)
    elif installed := ", ".join(sorted({name for _, name, _ in declared.packs})):
        places = amount(len([file for file in declared.files if file.record]), "settings file")
        text = [Line(f"{installed}: complete, in {places}", "ok", path=declared.folder)]
    return Result(data, tuple(text), exit_code=errors.FAILED if has_failed else errors.OK)


def _find_project(cwd: str, named: str) -> str:
    """The project's real path; it may have any owner."""
    if named and not os.path.isdir(named):
        raise errors.usage_error(f"no such folder: {named}", "Give the project's folder.")
    start = os.path.realpath(named or cwd)
    marked = (folder for folder in upwards(start) if folder != os.sep and has_mark(folder))
    return start if named else next(marked, start)
