"""hookctl status, as people type it."""

from __future__ import annotations

from collections.abc import Sequence

from hookctl.model import Result
from hookctl.system.folders import Folders
from hookctl.verbs import status as inner
from hookctl.verbs.choosing import in_project, known_scope, load_hosts

HELP = """
Examples:
  hookctl status
"""


def status(
    folders: Folders,
    host: Sequence[str] = (),
    any_scope: str = "",
    project: str = "",
    everywhere: bool = False,
    verbose: bool = False,
) -> Result:
    """Show what is installed for these hosts, at this scope, in the named project."""
    names = tuple(one.name for one in load_hosts(host))
    wanted = inner.Filter(names, known_scope(any_scope), verbose, everywhere)
    return inner.status(in_project(folders, project), wanted)
