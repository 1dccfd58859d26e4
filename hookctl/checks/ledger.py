"""Is hookctl's own record in order?"""

from __future__ import annotations

from collections.abc import Iterator

from hookctl import apply, ledger
from hookctl.checks import Finding
from hookctl.errors import HookctlError
from hookctl.folders import Folders
from hookctl.model import Record


def check(folders: Folders) -> tuple[dict[str, Record], list[Finding]]:
    """The ledger's pages, none where it cannot be read, and what is wrong with it."""
    found = list(_journal(folders))
    try:
        return ledger.load(folders.ledger), found
    except HookctlError as error:
        return {}, [*found, Finding(error.code, "error", error.message, "", error.path, error.hint)]


def _journal(folders: Folders) -> Iterator[Finding]:
    try:
        pending = apply.pending(folders)
    except HookctlError as error:
        yield Finding(error.code, "error", error.message, "", error.path, error.hint)
        return
    if pending:
        names = ", ".join(step.path for step in pending.steps)
        message = f"a run was interrupted; it was about to write {names}"
        fix = "The next `hookctl install` or `hookctl uninstall` completes it first."
        yield Finding("interrupted_run", "error", message, "", folders.journal, fix)
