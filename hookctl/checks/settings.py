"""Judges settings files: does the host read all of them, and can hookctl?"""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterator

from hookctl.checks.codes import Finding, describe_error
from hookctl.checks.file import File
from hookctl.documents import CONFLICT
from hookctl.errors import HookctlError
from hookctl.hosts import loading
from hookctl.ledger import store
from hookctl.settings.targets import repository_above
from hookctl.system import files, project


def judge_reading(file: File) -> Iterator[Finding]:
    """Whether the file can be read; the backup that can replace it, if not."""
    error = file.error
    if error is None:
        return
    costs_it = f"; {loading.cost(file.host)}" if error.code == "unparsable" else ""
    message, fix = f"{describe_error(error)}{costs_it}", error.hint
    # A backup is of neither branch of a merge.
    number = 0 if error.message == CONFLICT or file.is_alone else _find_last_backup(file)
    if number:
        command = f"hookctl restore {shlex.quote(file.path)}"
        fix += (
            f" Or `{command} --to {number}` restores the text from before hookctl's last "
            "write, without what that wrote; `--list` shows all."
        )
    yield Finding(error.code, "error", message, file.host.name, file.path, fix)


def _find_last_backup(file: File) -> int:
    """The number of the newest backup of a settings file; 0 if there is none."""
    from hookctl.system import backups  # late: most settings files can be read

    with contextlib.suppress(HookctlError, OSError):
        found = backups.read_backups(file.machine.folders, store.real_path(file.path))
        kept = backups.number_backups(found)
        # After an uninstall and a new install it is number 1, that before the first write.
        return max(kept, key=lambda number: kept[number].at, default=0)
    return 0


def judge(file: File) -> Iterator[Finding]:
    """Faults that make the host ignore the file, or keep hookctl from changing it."""
    document = file.document
    if document is None or not os.path.isfile(file.path):
        return
    is_object = isinstance(document.value, dict)
    if is_object and not file.is_alone and files.is_read_only(file.path):
        yield file.find("read_only")
    error, fault = loading.refusal(file.host, document), loading.read(file.host, document).whole
    if error:
        cost = loading.cost(file.host)
        yield file.find("strict_host", what=describe_error(error), cost=cost)
    if fault:
        what, cost = loading.describe(document, fault), loading.cost(file.host, fault.reach)
        doctor = file.host.client.doctor
        check = f"; `{doctor}` says whether it is right then." if doctor else "."
        fix = fault.fix or f"Fix that place, or remove it{check}"
        yield Finding(fault.code, "error", f"{what}; {cost}", file.host.name, file.path, fix)


def judge_repository(file: File) -> Iterator[Finding]:
    """Does everyone who clones the project get its hooks, and does the host find them there?"""
    if not file.target.shared or not (file.record or file.elements):
        return
    from hookctl.system import git  # late: most settings files are no project's

    machine, root = file.machine, file.target.project
    paths, state = [file.path, *project.shared_files(root)], machine.folders.state
    for rule in git.find_ignored(root, paths, machine.environ, state, personal=True):
        yield file.find("not_committed", rule.path, rule=rule, names=" and ".join(rule.names))
    repository = repository_above(file.target)
    if repository:
        reason = f"{file.host.title} looks for its program in the repository, {repository}"
        fix = f"`hookctl install --scope project --project {shlex.quote(repository)}`"
        hooks = " and ".join(sorted({hook.id for hook in file.elements}))
        yield file.find("not_read", hooks=hooks, reason=reason, fix=fix)
