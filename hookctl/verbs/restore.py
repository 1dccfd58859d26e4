"""hookctl restore: put back a backup of a settings file, by default the one from before hookctl."""

import os
import shlex
from functools import partial

from hookctl import clock
from hookctl.errors import FAILED, HookctlError, usage_error
from hookctl.model import Line, Result
from hookctl.output.lines import confirm, say, table, tilde
from hookctl.output.plans import plan_result, unified
from hookctl.ownership import store
from hookctl.ownership.restore import plan_restore
from hookctl.ownership.run import apply_plan, changed_meanwhile, finish_pending, locked_run
from hookctl.ownership.sources import Sources
from hookctl.system import files, project
from hookctl.system.files import Backup
from hookctl.system.folders import Folders

_FIRST = 1


HELP = """
file  The settings file.
list_ --list  List the backups.
--to N  The number of a backup, as --list shows it.
--yes -y  Do not ask.

Examples:
  hookctl restore ~/.claude/settings.json --list
  hookctl restore ~/.claude/settings.json --to 3
"""


def restore(
    folders: Folders,
    file: str = "",
    list_: bool = False,
    to: int = _FIRST,
    yes: bool = False,
    dry_run: bool = False,
    json: bool = False,
) -> Result:
    """Put a backup in the file's place, or list its backups."""
    if not file:
        raise usage_error("which file?", _name_backed_up(folders))
    path = os.path.abspath(os.path.join(folders.cwd, file))
    if list_:
        return _list(path, _read_backups(folders, path))
    asks, seen = not (yes or dry_run), ""
    if asks:
        finish_pending(folders, say)
        seen = files.read(path).sha
        question = _undo_question(folders, path, to)
        if question and (json or not confirm(question)):
            message = "this would undo edits that hookctl did not make"
            look = f"hookctl restore {shlex.quote(file)} --to {to} --dry-run"
            raise usage_error(message, f"See them with `{look}`, then pass --yes.", file)
    with locked_run(folders, say, dry_run=dry_run):
        if asks and files.read(path).sha != seen:
            raise changed_meanwhile()
        backup = _choose_backup(path, to, _read_backups(folders, path))
        make_plan = partial(plan_restore, path=path, backup=backup)
        projects = filter(None, [project.find(os.path.dirname(path), folders.environ)])
        plan = apply_plan(folders, make_plan, say, projects=projects, dry_run=dry_run)
    when = "before hookctl was installed" if backup.first else f"on {clock.local(backup.at)}"
    done = [Line(f"{tilde(path)} is as it was {when}.")]
    before, backups = [file.old for file in plan.files], _read_backups(folders, path)
    numbers = [number for number, text in backups.items() if text.data in before]
    if numbers:
        done.append(Line(f"To undo: hookctl restore {shlex.quote(path)} --to {max(numbers)}"))
    return plan_result(plan, done, dry_run=dry_run)


def _name_backed_up(folders: Folders) -> str:
    return f"Files with backups: {', '.join(files.list_backed_up(folders)) or 'none'}."


def _read_backups(folders: Folders, path: str) -> dict[int, Backup]:
    records = store.load(folders).files
    key, _ = store.find_record(records, path)
    away = store.away(folders, records)
    if key in away:
        message = f"this folder is not there: {away[key]}"
        hint = "Restore it once the folder is back."
        raise HookctlError("project_away", message, path=path, hint=hint, exit_code=FAILED)
    if found := files.read_backups(folders, key):
        return found
    message, hint = "there is no backup of this file", _name_backed_up(folders)
    raise HookctlError("no_backup", message, path=path, hint=hint, exit_code=FAILED)


def _choose_backup(path: str, to: int, numbered: dict[int, Backup]) -> Backup:
    if to in numbered:
        return numbered[to]
    hint = f"`hookctl restore {shlex.quote(path)} --list` shows what there is, `--to N` takes one."
    if to != _FIRST:
        raise usage_error(f"there is no backup {to}", hint, path)
    message = "there was no such file before hookctl was installed, so there is nothing to put back"
    hint = f"`hookctl uninstall` takes out what is ours. {hint}"
    raise HookctlError("no_backup", message, path=path, hint=hint, exit_code=FAILED)


def _list(path: str, numbered: dict[int, Backup]) -> Result:
    current = files.read(path).data
    rows = [["N", "WHEN", "BYTES", ""]]
    facts = []
    # After an uninstall and another install the first one is not the oldest.
    for number, backup in sorted(numbered.items(), key=lambda item: item[1].at):
        is_current = backup.data == current
        first = "before hookctl was installed" if backup.first else ""
        notes = ", ".join(filter(None, [first, "what is there now" if is_current else ""]))
        rows.append([str(number), clock.local(backup.at), str(len(backup.data)), notes])
        fact = {"n": number, "t": backup.at, "sha256": files.digest(backup.data)}
        fact |= {"bytes": len(backup.data), "first": backup.first, "current": is_current}
        facts.append(fact)
    return Result({"file": path, "backups": facts}, (tilde(path), *table(rows, indent="  ")))


def _undo_question(folders: Folders, path: str, to: int) -> str:
    """What a restore would undo of edits that hookctl did not make; empty if nothing."""
    numbered, current = _read_backups(folders, path), files.read(path)
    backup = _choose_backup(path, to, numbered)
    _, record = store.find_record(store.load(folders).files, path)
    known = {files.digest(each.data) for each in numbered.values()}
    # What is there is kept somewhere, and nobody edited the file between two of our writes.
    is_kept = current.sha in known or (record is not None and current.sha == record.sha256_after)
    if not current.data or (is_kept and not (backup.first and record and not record.sha256_before)):
        return ""
    plan = plan_restore(Sources(folders), path, backup)
    lines = [line for file in plan.files for line in unified(file)]
    undone = f"This undoes edits in {tilde(path)} that hookctl did not make."
    return "\n".join([*lines, undone, "Go on?"]) if lines else ""
