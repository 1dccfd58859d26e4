"""A run: under hookctl's lock end what was interrupted, plan, and write."""

import contextlib
import errno
import os
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from hookctl.errors import FAILED, HookctlError
from hookctl.model import INTERRUPTED, Message
from hookctl.ownership.plan import Plan, plan_jobs
from hookctl.ownership.sources import READ_AGAIN, READ_PAUSE, Sources
from hookctl.system import files, packages
from hookctl.system.folders import Folders

Say = Callable[[Message], None]
WAITING = Message("waiting for another hookctl", "waiting", "info")
_REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)
_QUIET = 0.2  # seconds of waiting that nobody is told of


@contextlib.contextmanager
def locked_run(folders: Folders, say: Say, *, dry_run: bool = False) -> Iterator[None]:
    """Hold hookctl's lock, with an interrupted run at its end: its files may not even parse.

    Also end the traces that 0.2.0 began. Raises `lock_timeout` (exit 1) after 30 seconds. A dry run
    takes no lock; it would plan on a half-written state, so it stops here.
    """
    if dry_run:
        paths = list_pending(folders)
        if paths:
            message = f"an interrupted run comes first; it is still to write\n{_indent(paths)}"
            hint = "`hookctl doctor --fix` completes it now."
            raise HookctlError(INTERRUPTED, message, hint=hint, exit_code=FAILED)
        yield
        return
    path, made, handle = os.path.join(folders.state, "lock"), list[str](), -1
    try:
        handle = _open_lock(path, made, say)
    except OSError as error:  # where nobody can write, nobody needs the lock
        if error.errno not in _REFUSED or os.access(folders.state, os.W_OK):
            raise files.cannot_write(folders.state, error) from None
    try:
        files.sweep(folders.state)  # a kill may have come before the journal was there
        if folders.has_unfinished_run():
            from hookctl.ownership.execute import recover  # late: few runs were interrupted

            for line in recover(folders):
                say(Message(line, INTERRUPTED))
        if os.path.lexists(folders.traces):
            _end_traces(folders, say)
        yield
    finally:
        with contextlib.suppress(OSError):
            if made and os.listdir(folders.state) == ["lock"]:  # made for the lock alone
                os.unlink(path)
                files.remove_folders(made)
        if handle >= 0:
            os.close(handle)  # releases it


def finish_pending(folders: Folders, say: Say, *, dry_run: bool = False) -> None:
    """Finish what was interrupted or traced, before anything is asked about what is there."""
    if folders.has_unfinished_run() or os.path.lexists(folders.traces):
        with locked_run(folders, say, dry_run=dry_run):
            pass


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
    from hookctl.ownership.execute import read_journal  # late, too

    journal = read_journal(folders)
    if journal is None:
        return ()
    unwritten = [step.path for step in journal.steps if not step.has_digest(step.sha_after)]
    return (folders.ledger,) if journal.records and not unwritten else tuple(unwritten)


def _indent(paths: tuple[str, ...]) -> str:
    return "\n".join(f"  {path}" for path in paths)


def _open_lock(path: str, made: list[str], say: Say) -> int:
    """The lock's file, locked; the folders that are made for it are added to `made`."""
    begin, is_told = time.monotonic(), False
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, files.PRIVATE)
        except FileNotFoundError:
            made += files.make_folders(os.path.dirname(path), files.PRIVATE)
            if os.path.isdir(os.path.dirname(path)):
                continue
            raise
        if packages.try_lock(handle, path):
            return handle
        os.close(handle)
        waited = time.monotonic() - begin
        if waited > packages.LOCK_SECONDS:
            raise packages.lock_timeout(os.path.dirname(path))
        if waited > _QUIET and not is_told:
            say(WAITING)
            is_told = True
        time.sleep(READ_PAUSE)


def apply_plan(
    folders: Folders,
    make_plan: Callable[[Sources], Plan],
    say: Say,
    *,
    projects: Iterable[str] = (),
    dry_run: bool = False,
) -> Plan:
    """Do what `make_plan` plans, in a locked run, and return the plan that was done.

    Other users have locks of their own, so the projects that it may write in are locked too. Where
    another program writes meanwhile, it plans again. `say` gets the messages.
    """
    if dry_run:
        return make_plan(Sources(folders))
    with contextlib.ExitStack() as locks:
        for project in sorted(set(projects)):
            locks.enter_context(packages.locked(project))
        for _ in range(READ_AGAIN):
            plan = make_plan(Sources(folders))
            if plan.empty:
                return plan
            from hookctl.ownership.execute import execute  # late: most find nothing to do

            try:
                execute(folders, plan)
            except files.Changed:
                time.sleep(READ_PAUSE)
                continue
            for change in plan.changes:
                path = change.path
                if change.settings and files.read_or_none(path) != change.after:
                    text = f"{path}: another program wrote it right after hookctl; "
                    text += "run `hookctl doctor` to see what is left"
                    say(Message(text, "overwritten", path=path))
            return plan
    message = f"another program kept changing the file, {READ_AGAIN} times in a row"
    hint = "Close the agents that use it and try again."
    raise HookctlError("changed_meanwhile", message, path=plan.files[0].path, hint=hint)


def changed_meanwhile() -> HookctlError:
    """The error of a run where something else would happen than was agreed to before the lock."""
    message, hint = "what you agreed to has changed meanwhile", "Run the command again."
    return HookctlError("changed_meanwhile", message, hint=hint, exit_code=FAILED)


def _end_traces(folders: Folders, say: Say) -> None:
    """End every trace; one that cannot be ended is named, and its hooks run by themselves."""
    from hookctl.ownership.restore import read_traced  # late: only 0.2.0 traced hooks

    files = read_traced(folders)
    projects = [file.target.project for file in files if file.target.project]
    make_plan = partial(plan_jobs, jobs=files, stops=False)
    try:
        plan = apply_plan(folders, make_plan, say, projects=projects)
    except HookctlError as error:
        say(Message(f"tracing goes on: {error}", "traced", path=error.path))
        return
    for file in plan.files:
        path = file.target.path
        text = f"tracing has ended: {len(file.actions)} of its hooks changed back: {path}"
        say(Message(text, "trace_ended", "info", file.host.name, path))
    for one in plan.unread:
        say(Message(f"{one.path} stays traced: {one}", "traced", path=one.path))
    if not plan.unread:
        os.unlink(folders.traces)
