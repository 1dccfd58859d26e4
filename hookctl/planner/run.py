"""Plan without a lock; only where something would be written, lock, plan again and write."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hookctl.errors import HookctlError, Recovered
from hookctl.model import INTERRUPTED, Message
from hookctl.planner.plan import Plan
from hookctl.settings.sources import READ_AGAIN, READ_PAUSE, Sources
from hookctl.system import files
from hookctl.system.folders import Folders

Say = Callable[[Message], None]
WAITING = Message("waiting for another hookctl", "waiting", "info")


def unfinished(folders: Folders) -> bool:
    """Whether an interrupted run left something to finish or to clear away."""
    return os.path.lexists(folders.journal) or os.path.lexists(folders.pending)


@contextmanager
def pending_first(folders: Folders, say: Say, *, dry_run: bool) -> Iterator[tuple[str, ...]]:
    """Finish an interrupted run before anything is read: its files may not even parse.

    With `dry_run` nothing is written: inside, its files are read as it will leave them. Yields
    their paths.
    """
    if not unfinished(folders):
        yield ()
    elif not dry_run:
        finish_pending(folders, say)
        yield ()
    else:
        from hookctl import transaction

        try:
            paths = transaction.preview(folders)
            if paths is not None:
                names = "\n  ".join(paths) or folders.ledger
                text = (
                    "a run was interrupted; what follows is as once it is completed, which "
                    f"`hookctl doctor --fix` does now. It is still to write\n  {names}"
                )
                say(Message(text, INTERRUPTED))
            yield paths or ()
        finally:
            files.forget_previews()


def finish_pending(folders: Folders, say: Say) -> None:
    """Finish an interrupted run, under the lock."""
    if unfinished(folders):
        from hookctl import transaction

        with transaction.locked(folders, lambda: say(WAITING)):
            for line in transaction.recover(folders):
                say(Message(line, INTERRUPTED))


def carry_out(sources: Sources, make_plan: Callable[[], Plan], say: Say) -> Plan:
    """Do what `make_plan` plans, and return the plan that was done; `say` gets the messages.

    Raises Recovered where a run had to be completed first.
    """
    folders = sources.folders
    plan = make_plan()
    if plan.empty or plan.conflicts:
        return plan
    from hookctl import transaction  # late: most calls find nothing to do

    with transaction.locked(folders, lambda: say(WAITING)):
        journal = transaction.pending(folders)
        for line in transaction.recover(folders):
            say(Message(line, INTERRUPTED))
        if journal is not None and journal.steps:
            raise Recovered
        return _plan_and_execute(sources, make_plan, say)


def _plan_and_execute(sources: Sources, make_plan: Callable[[], Plan], say: Say) -> Plan:
    """Plan again under the lock and write; start over where another program writes meanwhile."""
    from hookctl import transaction

    for _ in range(READ_AGAIN):
        sources.forget()
        plan = make_plan()
        if plan.empty or plan.conflicts:
            return plan
        try:
            transaction.execute(sources.folders, plan.changes, plan.records, plan.rmdirs)
        except files.Changed:
            time.sleep(READ_PAUSE)
            continue
        _report_overwritten(plan, say)
        return plan
    message = f"another program kept changing the file, {READ_AGAIN} times in a row"
    hint = "Close the agents that use it and try again."
    raise HookctlError("changed_meanwhile", message, path=plan.files[0].path, hint=hint)


def _report_overwritten(plan: Plan, say: Say) -> None:
    """Name each settings file that a program without a lock wrote right after us."""
    for change in plan.changes:
        if change.settings and not _has_bytes(change.path, change.after):
            text = (
                f"{change.path}: another program wrote it right after hookctl; "
                "run `hookctl doctor` to see what is left"
            )
            say(Message(text, "overwritten", path=change.path))


def _has_bytes(path: str, data: bytes | None) -> bool:
    try:
        return files.read(path).data == data
    except HookctlError:
        return False
