"""hookctl restore: a settings file as it was before hookctl's first write, or a later backup."""

from __future__ import annotations

import os
from collections.abc import Callable, Sized
from typing import Any, NamedTuple

from hookctl import clock, report, transaction
from hookctl.errors import FAILED, USAGE, HookctlError
from hookctl.ledger import store
from hookctl.model import Result
from hookctl.planner.plan import Plan
from hookctl.planner.restore import plan_restore
from hookctl.planner.run import carry_out, finish_pending
from hookctl.settings.sources import Sources
from hookctl.system import backups, files
from hookctl.system.backups import Backup
from hookctl.system.folders import Folders

_FIRST = 1


class Request(NamedTuple):
    """What was asked on the command line."""

    file: str = ""
    to: int = _FIRST  # as in the list; 1 is the text from before our first write
    list: bool = False
    prune: bool = False
    dry_run: bool = False


def restore(folders: Folders, request: Request) -> Result:
    """Put a backup in the file's place, list what backups there are, or prune them."""
    if request.prune:
        return _prune(folders, request.file, dry_run=request.dry_run)
    if not request.file:
        hint = f"Files with backups: {', '.join(backups.list_backed_up(folders.state)) or 'none'}."
        raise HookctlError("usage", "which file?", hint=hint, exit_code=USAGE)
    if not (request.list or request.dry_run):
        finish_pending(folders, report.say)
    path, found = _backups(folders, request.file)
    if request.list:
        return _list(path, found)
    if request.to == _FIRST and _FIRST not in found:
        message = (
            "there was no such file before hookctl's first write, so there is nothing to put back"
        )
        hint = "`hookctl uninstall` takes out what is ours; `--list` shows later texts, and `--to N` puts one back."
        raise HookctlError("no_backup", message, path=path, hint=hint, exit_code=FAILED)
    if request.to not in found:
        message, hint = (
            f"there is no backup {request.to}",
            f"`hookctl restore {request.file} --list` shows them.",
        )
        raise HookctlError("usage", message, path=path, hint=hint, exit_code=USAGE)
    backup = found[request.to]

    sources = Sources(folders)

    def make() -> Plan:
        return plan_restore(sources, path, backup)

    plan = make() if request.dry_run else carry_out(sources, make, report.say)
    when = "before hookctl's first write" if backup.first else f"on {clock.local(backup.at)}"
    done = f"{report.tilde(path)} is as it was {when}; what it was just now is the newest backup of it."
    text = report.plan_text(plan, dry_run=request.dry_run, done=done)
    messages = tuple(message for file in plan.files for message in file.messages)
    return Result(report.plan_data(plan, dry_run=request.dry_run), tuple(text), messages)


def _backups(folders: Folders, name: str) -> tuple[str, dict[int, Backup]]:
    """The file as it is known, and its backups by number."""
    path = os.path.abspath(os.path.join(folders.cwd, name))
    key, _ = store.find_record(store.load(folders.ledger), path)
    found = backups.read_backups(folders.state, key)
    if not found:
        known = "\n  ".join(map(report.tilde, backups.list_backed_up(folders.state)))
        hint = f"Files with backups:\n  {known}" if known else "There are no backups at all."
        if key in store.load(folders.ledger):
            hint = "hookctl made it, or its backups were pruned; `hookctl uninstall` takes out what is ours."
        raise HookctlError(
            "no_backup", "there is no backup of this file", path=path, hint=hint, exit_code=FAILED
        )
    return path, backups.number_backups(found)


def _list(path: str, found: dict[int, Backup]) -> Result:
    now = files.read(path).data
    rows, pages = [["N", "WHEN", "BYTES", ""]], []
    for number, backup in found.items():
        note = "before hookctl's first write" if backup.first else ""
        note = ", ".join(filter(None, [note, "what is there now" if backup.data == now else ""]))
        rows.append([str(number), clock.local(backup.at), str(len(backup.data)), note])
        pages.append(_page(number, backup, now))
    lines = [report.tilde(path), *report.table(rows, indent="  ")]
    return Result({"file": path, "backups": pages}, tuple(lines))


def _page(number: int, backup: Backup, now: bytes | None) -> dict[str, Any]:
    return {
        "n": number,
        "t": backup.at,
        "sha256": files.digest(backup.data),
        "bytes": len(backup.data),
        "first": backup.first,
        "current": backup.data == now,
    }


def _prune(folders: Folders, name: str, *, dry_run: bool) -> Result:
    """Remove backups; those that an uninstall still needs for the very bytes stay."""
    if dry_run:
        return _pruned(folders, name, "would remove", backups.list_prunable)
    with transaction.locked(folders, lambda: report.say("waiting for another hookctl")):
        return _pruned(folders, name, "removed", backups.remove_prunable)


def _pruned(
    folders: Folders, name: str, word: str, prune: Callable[[str, str, str], Sized]
) -> Result:
    records = store.load(folders.ledger)
    paths = backups.list_backed_up(folders.state)
    if name:
        paths = [store.find_record(records, os.path.abspath(os.path.join(folders.cwd, name)))[0]]
    lines, pages = [], []
    for path in paths:
        page = records.get(path)
        needed = page.sha256_before if page else ""
        gone = len(prune(folders.state, path, needed))
        kept = "; the first one stays, since uninstall puts it back" if needed and gone else ""
        if gone:
            lines.append(
                f"{report.tilde(path)}: {word} {gone} {'backup' if gone == 1 else 'backups'}{kept}"
            )
            pages.append({"file": path, "removed": gone, "kept_first": bool(needed)})
    return Result({"pruned": pages}, tuple(lines or ["nothing to do"]))
