"""The commands that messages and findings name as the fix, as a person types them in a folder."""

from __future__ import annotations

import os
import shlex

from hookctl.model import PackRecord
from hookctl.settings.targets import GUARD, Target


def install_command(target: Target, pack: str, source: str, project: str) -> str:
    """The command that installs a pack in a settings file, for a person who works in `project`."""
    name = "" if pack == GUARD else f" {shlex.quote(source) if source else pack}"
    where = "" if target.scope == "user" else f" --scope {target.scope}"
    if target.project:
        where += project_option(target.project, project)
    return f"hookctl install{name} --host {target.host.name}{where}"


def install_again(
    target: Target, pack: str, known: PackRecord | None, cwd: str, project: str
) -> str:
    """The command that installs a pack again in a settings file, from where it came."""
    source = known.source if known else ""
    is_from_git = bool(known and source and known.commit)
    if source and target.shared and not is_from_git:
        source = nearby(source, cwd)
    elif not source and pack != GUARD and target.shared:
        source = "PATH"  # of the pack's file, which lies outside of the project
    return install_command(target, pack, source, project)


def checkout_command(project: str, name: str, start_project: str) -> str:
    """The command of git that brings a committed file or folder of a project back."""
    where = "" if project == start_project else f" -C {shlex.quote(project)}"
    name = name if project != start_project or name.startswith(".") else f"./{name}"
    return f"git{where} checkout -- {shlex.quote(name)}"


def repair_command(project: str, start_project: str) -> str:
    """The command that repairs what is hookctl's in a project."""
    return f"hookctl doctor --fix{project_option(project, start_project)}"


def upgrade_command(target: Target, start_project: str) -> str:
    """The command that puts back every pack of a settings file whose source is known."""
    named = project_option(target.project, start_project) or " --project ."
    return f"hookctl upgrade --host {target.host.name}{named}"


def project_option(project: str, start_project: str) -> str:
    """The option that names a project to a command which is typed in another one."""
    return "" if project == start_project else f" --project {shlex.quote(project)}"


def nearby(path: str, folder: str) -> str:
    """A path as it is typed in a folder."""
    relative = os.path.relpath(path, folder)
    return relative if relative.startswith("../") else f"./{relative}"
