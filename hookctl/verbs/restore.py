"""hookctl restore: put back a backup of a settings file, by default the one from before hookctl."""

from __future__ import annotations

import os
import shlex
from functools import partial

from hookctl import clock, report
from hookctl.errors import FAILED, HookctlError, usage_error
from hookctl.ledger import store
from hookctl.model import Line, Result
from hookctl.output.diffs import unified
from hookctl.output.lines import table, tilde
from hookctl.output.plans import plan_data, plan_text
from hookctl.planner.restore import plan_restore
from hookctl.planner.run import carry_out, changed_meanwhile, finish_pending, locked_run
from hookctl.planner.sources import Sources
from hookctl.system import backups, files, project
from hookctl.system.backups import Backup
from hookctl.system.folders import Folders
from hookctl.verbs.options import confirm

_FIRST = 1
_NO_QUESTION = ("", "")


HELP = """
file  The settings file.
list_ --list  List the backups.
--to N  The number of a backup, as --list shows it.
--yes -y  Do not ask.

Examples:
  hookctl restore ~/.claude/settings.json --list
  hookctl restore ~/.claude/settings.json
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
    """Put a backup in the file's place, or list its backups.

    A person is asked before a backup or the operator's edits are lost.
    """
    if not file:
        hint = f"Files with backups: {', '.join(backups.list_backed_up(folders)) or 'none'}."
        raise usage_error("which file?", hint)
    if list_:
        return _list(*_find_backups(folders, file))
    asks = not (yes or dry_run)
    asked = _NO_QUESTION
    if asks:
        finish_pending(folders, report.say)
        asked = _undo_question(folders, file, to)
        if asked[0] and (json or not confirm(asked[0])):
            message = "this would undo edits that hookctl did not make"
            look = f"hookctl restore {shlex.quote(file)} --to {to} --dry-run"
            raise usage_error(message, f"See them with `{look}`, then pass --yes.", file)
    with locked_run(folders, report.say, dry_run=dry_run):
        if asks and _undo_question(folders, file, to) != asked:
            raise changed_meanwhile()
        path, numbered = _find_backups(folders, file)
        backup = _choose_backup(file, to, path, numbered)
        return _put_back(folders, file, path, backup, dry_run=dry_run)


def _choose_backup(file: str, to: int, path: str, numbered: dict[int, Backup]) -> Backup:
    if to in numbered:
        return numbered[to]
    if to != _FIRST:
        hint = f"`hookctl restore {shlex.quote(file)} --list` shows them."
        raise usage_error(f"there is no backup {to}", hint, path)
    message = "there was no such file before hookctl was installed, so there is nothing to put back"
    hint = (
        "`hookctl uninstall` takes out what is ours; "
        "`--list` shows later texts, and `--to N` puts one back."
    )
    raise HookctlError("no_backup", message, path=path, hint=hint, exit_code=FAILED)


def _put_back(folders: Folders, file: str, path: str, backup: Backup, *, dry_run: bool) -> Result:
    sources = Sources(folders)
    make_plan = partial(plan_restore, sources, path, backup)
    projects = [project.find(os.path.dirname(path), folders.environ)]
    plan = carry_out(
        sources, make_plan, report.say, projects=filter(None, projects), dry_run=dry_run
    )
    when = "before hookctl was installed" if backup.first else f"on {clock.local(backup.at)}"
    done = [Line(f"{tilde(path)} is as it was {when}.")]
    if plan.files and not dry_run:
        removes = any(change.after is None for change in plan.files[0].changes)
        done += _describe_way_back(folders, file, plan.files[0].old, removes)
    text = plan_text(plan, dry_run=dry_run, done=done)
    messages = tuple(message for one in plan.files for message in one.messages)
    return Result(plan_data(plan, dry_run=dry_run), tuple(text), messages)


def _describe_way_back(
    folders: Folders, name: str, replaced: bytes | None, removes_programs: bool
) -> list[Line]:
    """How to get the text that was just replaced; nothing where there was none."""
    texts = _find_backups(folders, name)[1]
    numbers = [number for number, backup in texts.items() if backup.data == replaced]
    if not numbers:
        return []
    command = f"hookctl restore {shlex.quote(name)} --to {max(numbers)}"
    if removes_programs:
        command += "; hookctl doctor --fix"  # which writes the programs of the packs again
    return [Line(f"To undo: {command}")]


def _find_backups(folders: Folders, name: str) -> tuple[str, dict[int, Backup]]:
    """The absolute path of a file, and its backups by number."""
    path = os.path.abspath(os.path.join(folders.cwd, name))
    records = store.load(folders)
    key, _ = store.find_record(records, path)
    away = store.away(folders, records)
    if key in away:
        message = f"this folder is not there: {away[key]}"
        hint = "Restore it once the folder is back."
        raise HookctlError("project_away", message, path=path, hint=hint, exit_code=FAILED)
    numbered = backups.read_backups(folders, key)
    if numbered:
        return path, backups.number_backups(numbered)
    known = backups.list_backed_up(folders)
    if key in records:
        hint = (
            "hookctl made it, or its backups are gone; `hookctl uninstall` takes out what is ours."
        )
    elif known:
        hint = "\n  ".join(["Files with backups:", *map(tilde, known)])
    else:
        hint = "There are no backups at all."
    message = "there is no backup of this file"
    raise HookctlError("no_backup", message, path=path, hint=hint, exit_code=FAILED)


def _list(path: str, numbered: dict[int, Backup]) -> Result:
    current = files.read(path).data
    rows = [["N", "WHEN", "BYTES", ""]]
    facts = []
    # After an uninstall and another install the first one is not the oldest.
    for number, backup in sorted(numbered.items(), key=lambda item: item[1].at):
        notes = ["before hookctl was installed"] if backup.first else []
        if backup.data == current:
            notes.append("what is there now")
        size = len(backup.data)
        rows.append([str(number), clock.local(backup.at), str(size), ", ".join(notes)])
        facts.append(
            {
                "n": number,
                "t": backup.at,
                "sha256": files.digest(backup.data),
                "bytes": size,
                "first": backup.first,
                "current": backup.data == current,
            }
        )
    lines = [tilde(path), *table(rows, indent="  ")]
    return Result({"file": path, "backups": facts}, tuple(lines))


def _undo_question(folders: Folders, file: str, to: int) -> tuple[str, str]:
    """What a restore would undo of edits that hookctl did not make; empty if nothing.

    With it the file's digest, since the question hides the values of others.
    """
    path, numbered = _find_backups(folders, file)
    backup = _choose_backup(file, to, path, numbered)
    if not _undoes_edits(folders, path, numbered, backup):
        return _NO_QUESTION
    try:
        plan = plan_restore(Sources(folders), path, backup)
        lines = [line for one in plan.files for line in unified(one)]
    except HookctlError:
        return _NO_QUESTION  # the restore itself says what is wrong
    if not lines:
        return _NO_QUESTION
    undone = f"This undoes edits in {tilde(path)} that hookctl did not make."
    return "\n".join([*lines, undone, "Go on?"]), files.digest(plan.files[0].old)


def _undoes_edits(folders: Folders, path: str, numbered: dict[int, Backup], backup: Backup) -> bool:
    """Whether edits are lost: of a text that is kept nowhere, or since the first backup."""
    current = files.read(path)
    if not current.data:
        return False
    _, record = store.find_record(store.load(folders), path)
    known = {files.digest(backup.data) for backup in numbered.values()}
    if record:
        known.add(record.sha256_after)
    if current.sha not in known:
        return True
    # Empty where the file was edited between two of our writes.
    return backup.first and record is not None and not record.sha256_before
