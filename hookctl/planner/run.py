"""Plan without a lock; only where something would be written, lock, plan again and write."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from functools import partial

from hookctl.errors import FAILED, HookctlError, Recovered
from hookctl.model import INTERRUPTED, Message
from hookctl.planner.plan import Plan
from hookctl.planner.sources import READ_AGAIN, READ_PAUSE, Sources
from hookctl.system import files, packages
from hookctl.system.folders import Folders

Say = Callable[[Message], None]
WAITING = Message("waiting for another hookctl", "waiting", "info")


def pending_first(folders: Folders, say: Say, *, dry_run: bool) -> None:
    """Finish an interrupted run before anything is read: its files may not even parse.

    Also end the traces that 0.2.0 began. A dry run would plan on a half-written state, so it
    stops here.
    """
    if not dry_run:
        finish_pending(folders, say)
        sources = Sources(folders)
        if sources.once(os.path.lexists, folders.traces):
            _end_traces(sources, say)
        return
    paths = list_pending(folders)
    if paths:
        message = f"an interrupted run comes first; it is still to write\n{_indent(paths)}"
        hint = "`hookctl doctor --fix` completes it now."
        raise HookctlError(INTERRUPTED, message, hint=hint, exit_code=FAILED)


def name_pending(folders: Folders, say: Say) -> tuple[str, ...]:
    """Say which files an interrupted run is still to write; returns them."""
    paths = list_pending(folders)
    if paths:
        text = (
            "a run was interrupted; what follows is as it left things, and "
            f"`hookctl doctor --fix` completes it now. It is still to write\n{_indent(paths)}"
        )
        say(Message(text, INTERRUPTED))
    return paths


def list_pending(folders: Folders) -> tuple[str, ...]:
    """The files that an interrupted run is still to write."""
    if not folders.has_unfinished_run():
        return ()
    from hookctl.run.recover import list_unwritten  # late: in most calls no run was interrupted

    return list_unwritten(folders)


def _indent(paths: tuple[str, ...]) -> str:
    return "\n".join(f"  {path}" for path in paths)


def finish_pending(folders: Folders, say: Say) -> None:
    """Finish an interrupted run, under the lock."""
    if folders.has_unfinished_run():
        from hookctl.run.lock import locked  # late: in most calls no run was interrupted
        from hookctl.run.recover import recover  # late, too

        with locked(folders, lambda: say(WAITING)):
            for line in recover(folders):
                say(Message(line, INTERRUPTED))


def carry_out(
    sources: Sources, make_plan: Callable[[], Plan], say: Say, *, dry_run: bool = False
) -> Plan:
    """Do what `make_plan` plans, and return the plan that was done; `say` gets the messages.

    Raises Recovered where a run had to be completed first.
    """
    folders = sources.folders
    plan = make_plan()
    if dry_run or plan.empty or plan.conflicts:
        return plan
    from hookctl.run.journal import read_journal  # late: most calls find nothing to do
    from hookctl.run.lock import locked  # late, too
    from hookctl.run.recover import recover  # late, too

    with locked(folders, lambda: say(WAITING)):
        journal = read_journal(folders)
        for line in recover(folders):
            say(Message(line, INTERRUPTED))
        if journal is not None and journal.steps:
            raise Recovered
        projects = {file.target.project for file in plan.files if file.target.shared}
        with contextlib.ExitStack() as locks:
            for project in sorted(projects):  # other users have locks of their own
                locks.enter_context(packages.locked(project))
            return _plan_and_execute(sources, make_plan, say)


def _end_traces(sources: Sources, say: Say) -> None:
    """End every trace; one that cannot be ended is named, and its hooks run by themselves."""
    from hookctl.ledger import traces  # late: only 0.2.0 traced hooks
    from hookctl.planner.traces import plan_end  # late, too

    for path, file in traces.read(sources.folders).items():
        name = file.known_as
        try:
            plan = carry_out(sources, partial(plan_end, sources, path), say)
        except HookctlError as error:
            say(Message(f"{name} stays traced: {error}", "traced", path=name))
            continue
        count = sum(len(planned.decision.actions) for planned in plan.files)
        text = f"tracing has ended: {count} of its hooks changed back: {name}"
        say(Message(text, "trace_ended", "info", file.host, name))
        sources.forget()


def _plan_and_execute(sources: Sources, make_plan: Callable[[], Plan], say: Say) -> Plan:
    """Plan again under the lock and write; start over where another program writes meanwhile."""
    from hookctl.run.execute import execute, list_overwritten  # late: most find nothing to do

    for _ in range(READ_AGAIN):
        sources.forget()
        plan = make_plan()
        if plan.empty or plan.conflicts:
            return plan
        try:
            execute(sources.folders, plan.changes, plan.records, plan.rmdirs, plan.packages)
        except files.Changed:
            time.sleep(READ_PAUSE)
            continue
        for path in list_overwritten(plan.changes):
            text = (
                f"{path}: another program wrote it right after hookctl; "
                "run `hookctl doctor` to see what is left"
            )
            say(Message(text, "overwritten", path=path))
        return plan
    message = f"another program kept changing the file, {READ_AGAIN} times in a row"
    hint = "Close the agents that use it and try again."
    raise HookctlError("changed_meanwhile", message, path=plan.files[0].path, hint=hint)
