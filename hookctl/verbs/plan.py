"""hookctl plan: what an install would do."""

from inspect import Signature, signature
from typing import Any

from hookctl.errors import PENDING
from hookctl.model import Result
from hookctl.system.folders import Folders
from hookctl.verbs.install import install

HELP = """
--exit-code  Exit with 10 if a settings file would change.

Examples:
  hookctl plan --host claude --exit-code
"""


def plan(folders: Folders, exit_code: bool = False, **given: Any) -> Result:
    """Install with these options, but write nothing."""
    result = install(folders, **given, dry_run=True)
    if exit_code and result.data["files"] and not result.errors:
        return result._replace(exit_code=PENDING)
    return result


# Its options are those of install, with --exit-code in the place of --dry-run.
_OPTIONS = {**signature(install).parameters, "dry_run": signature(plan).parameters["exit_code"]}
plan.__signature__ = Signature([*_OPTIONS.values()])  # type: ignore[attr-defined]
