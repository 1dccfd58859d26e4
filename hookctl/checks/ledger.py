"""Is hookctl's own record in order?"""

from __future__ import annotations

import os
from collections.abc import Iterator

from hookctl import apply, ledger, project, project_ledger
from hookctl.checks import Finding
from hookctl.errors import HookctlError
from hookctl.folders import Folders
from hookctl.model import Record
from hookctl.packs.settings import settings_from


def check(folders: Folders) -> tuple[dict[str, Record], list[Finding]]:
    """The ledger's pages, none where it cannot be read, and what is wrong with it."""
    found = list(_journal(folders))
    try:
        pages = ledger.load(folders.ledger)
    except HookctlError as error:
        return {}, [*found, _unreadable(error)]
    records = {key: page for key, page in pages.items() if page.scope != "project"}
    here = project.find(folders.cwd, folders.environ)
    found += [_gone(key, page) for key, page in pages.items() if _is_gone(page)]
    roots = [page.project for page in pages.values() if page.scope == "project" and not _is_gone(page)]
    for root in dict.fromkeys([here, *roots]):
        try:
            records |= project_ledger.read(folders, [root])
        except HookctlError as error:
            found.append(_unreadable(error))
    records = {key: page for key, page in records.items() if not _is_gone(page)}
    for path in [path for path, record in records.items() if not _fits(record)]:
        message, fix = f"the guard's settings for {path} are of a wrong kind", "Move the ledger away and install again."
        found.append(Finding("ledger_unreadable", "error", message, records.pop(path).host, folders.ledger, fix))
    return records, found


def _unreadable(error: HookctlError) -> Finding:
    where = f"line {error.line}, column {error.column}: " if error.line else ""
    return Finding(error.code, "error", where + error.message, "", error.path, error.hint)


def _is_gone(page: Record) -> bool:
    return bool(page.project) and not os.path.isdir(page.project)


def _gone(key: str, page: Record) -> Finding:
    """A project that was removed, or whose disk is not there just now."""
    message = f"the ledger has a page for a project that is not there any more: {page.project}"
    fix = "Nothing, if it comes back. `hookctl uninstall --all` forgets it with everything else."
    return Finding("project_gone", "info", message, page.host, key, fix)


def _fits(record: Record) -> bool:
    """Whether the settings in a page, which the ledger itself does not look into, are the guard's."""
    try:
        settings_from(record.packs["guard"].settings if "guard" in record.packs else {})
    except HookctlError:
        return False
    return True


def _journal(folders: Folders) -> Iterator[Finding]:
    try:
        pending = apply.pending(folders)
    except HookctlError as error:
        yield _unreadable(error)
        return
    if pending:
        names = ", ".join(step.path for step in pending.steps)
        message = f"a run was interrupted; it was about to write {names}"
        fix = "`hookctl doctor --fix` completes it; so does the next install or uninstall."
        yield Finding("interrupted_run", "error", message, "", folders.journal, fix)
