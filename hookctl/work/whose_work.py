"""The owner of a project's work: who holds it, how old it is, and how it is passed on."""

from __future__ import annotations

import json
import os
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from hookctl import clock, hosts
from hookctl.system import files
from hookctl.system.folders import Folders
from hookctl.system.package_data import guard_module
from hookctl.system.project import session_hash
from hookctl.work import run_files as work_files
from hookctl.work.run_files import RunFiles

NOBODY = "none"  # as --owner
_MOST_DECLINED = 32
_PATIENCE = 5.0  # seconds


class Work(NamedTuple):
    """The work that waits in a project, and the session that it belongs to."""

    remaining: int
    holder: Any  # the guard's own Holder; none if its `session`, a hash, is empty
    name: str  # the holder's id, where OWNER names it
    seen: float  # the holder's last event; 0: it had none yet
    is_free: bool  # it has no holder, or one that is gone, so the work passes on
    touched: float  # when it was last touched; never in the future
    is_stale: bool

    @property
    def is_named(self) -> bool:
        """Whether a person named the holder with --owner."""
        return self.holder.fixed and "t" in self.holder.claim  # else OWNER alone says it

    @property
    def owner(self) -> str:
        """The session that holds the work, with its agent and its process where they are known."""
        text, host = f"session {self.name or self.holder.session}", self.holder.claim.get("host")
        if host in hosts.names():
            text += f" of {hosts.load(host).title}"
        pid = self.holder.process.partition(" ")[0]
        return f"{text}, process {pid}" if pid else text


class Caller(NamedTuple):
    """Who runs the command: a session, in one of its agent's tools; or a person."""

    session: str = ""  # its id; empty: a person
    host: str = ""
    process: str = ""


def find_work(run_files: RunFiles) -> Work:
    """The work that waits in a project, its holder by the guard's rules, and if it is stale."""
    guard = guard_module("work")
    remaining = max(0, guard.read_task(run_files)[1])
    run_files.holder = holder = guard.Holder(run_files)
    name, seen, touched = "", 0.0, files.written_at(run_files.task_path) or 0.0
    if holder.session:
        if holder.session == holder.owner:
            name = _show_owner(run_files, guard.read_owner(run_files))
        seen = guard_module("state").read_session(run_files.folder, holder.session).t
        touched = max(touched, holder.last_event(run_files, "work"))
    is_stale = remaining > 0 and guard.is_stale(run_files) and not guard.is_armed(run_files)
    is_free, touched = holder.is_free(run_files), min(run_files.now, touched)
    return Work(remaining, holder, name, seen, is_free, touched, is_stale)


def _show_owner(run_files: RunFiles, name: str) -> str:
    """An owner's id as it may be shown: one that a file names may be a secret."""
    if name == run_files.settings.owner.strip():
        return name
    path = run_files.path_of("OWNER")
    read_from = path if guard_module("files").read_line(path) else run_files.task_path
    return str(work_files.mask_foreign(run_files, read_from, name))


def find_caller(folders: Folders) -> Caller:
    """The session that this command runs in; else a person, also where two agents name one."""
    callers = []
    for name in hosts.names():
        environment = hosts.load(name).environment
        session = folders.environ.get(environment.session, "").strip()
        if session:
            pid = folders.environ.get(environment.process, "")
            process = guard_module("work").describe_process(pid) if pid.isdecimal() else ""
            callers.append(Caller(session, name, process))
    return callers[0] if len(callers) == 1 else Caller()


def is_holder(caller: Caller, work: Work) -> bool:
    """Whether the caller's session, or one before it in the same process, holds the work."""
    holder = work.holder
    if not caller.session or not holder.session:
        return False
    if session_hash(caller.session) == holder.session:
        return True
    is_same = bool(caller.process) and caller.process == holder.process
    return is_same and not holder.fixed


def locked(run_files: RunFiles) -> AbstractContextManager[None]:
    """Keep hooks and other commands from changing the claim; `lock_timeout` after some seconds."""
    path = os.path.join(run_files.folder, "taken.lock")
    message = "another process holds the claim of this project"
    return work_files.locked(path, _PATIENCE, message, "Try again.", "lock_timeout")


def _read_claim(run_files: RunFiles) -> dict[str, Any]:
    claim: dict[str, Any] = guard_module("work").read_claim(run_files)
    return claim


def _write_claim(run_files: RunFiles, **values: Any) -> None:
    """Replace the claim, whose sessions are hashes; the guard's work.py has its fields."""
    data = json.dumps(values, sort_keys=True, separators=(",", ":"))
    files.write_own(os.path.join(run_files.folder, "taken"), data.encode())


def _list_declined(claim: dict[str, Any], sessions: list[str]) -> list[str]:
    """The sessions that gave the work back, without these."""
    declined = claim.get("declined")
    known = declined if isinstance(declined, list) else []
    return [item for item in known if isinstance(item, str) and item not in sessions]


def name_owner(run_files: RunFiles, owner: str) -> None:
    """Give the work to a session for good."""
    hash = session_hash(owner)
    work_files.write_mark(run_files, "OWNER", f"{owner}\n")
    _write_claim(run_files, session=hash, owner=hash, fixed=True, t=int(run_files.now))


def take(run_files: RunFiles, caller: Caller) -> None:
    """Give the work to the session that the command runs in, until its process is gone."""
    hash = session_hash(caller.session)
    declined = _list_declined(_read_claim(run_files), [hash])
    work_files.write_mark(run_files, "OWNER", f"{caller.session}\n")
    _write_claim(
        run_files,
        session=hash,
        owner=hash,
        process=caller.process,
        host=caller.host,
        t=int(run_files.now),
        declined=declined,
    )


def free(run_files: RunFiles) -> None:
    """Leave the work to the first session that the guard keeps; earlier claims are dropped."""
    _clear_owner(run_files)
    if _read_claim(run_files):
        _write_claim(run_files)


def give_back(run_files: RunFiles, session: str, caller: Caller) -> None:
    """Take the work from its holder; the guard does not give it to that session again."""
    sessions = [session] + [session_hash(caller.session)] * bool(caller.session)
    declined = _list_declined(_read_claim(run_files), sessions)
    _clear_owner(run_files)
    _write_claim(run_files, declined=(declined + sessions)[-_MOST_DECLINED:])


def _clear_owner(run_files: RunFiles) -> None:
    path = run_files.path_of("OWNER")
    work_files.refuse_links(run_files, path)
    work_files.clear(path)


def as_data(run_files: RunFiles, work: Work) -> dict[str, Any]:
    """The work that waits, as `--json` shows it."""
    holder, is_held = work.holder, not work.is_free
    owner, seen = work.name or holder.session, max(0.0, run_files.now - work.seen)
    return {
        "project": run_files.project,
        "remaining": work.remaining,
        "owner": (is_held and owner) or None,
        "owner_host": (is_held and str(holder.claim.get("host", ""))) or None,
        "owner_process": (is_held and holder.process.partition(" ")[0]) or None,
        "owner_seen_seconds": seen if is_held and work.seen else None,
        "age_seconds": run_files.now - work.touched,
        "stale": work.is_stale,
    }


def describe_owner(run_files: RunFiles, work: Work) -> str:
    """The owner of the work, in a few words."""
    if work.is_free:
        return describe_next(run_files)
    text, since = work.owner, work.holder.claimed_at()
    if since:
        text += f", since {clock.age(run_files.now - since)}"
    if work.seen:
        text += f", last seen {clock.age(run_files.now - work.seen)} ago"
    return text


def find_kept_owner(run_files: RunFiles) -> str:
    """The owner that another system's task or a setting names, which no command of ours changes."""
    guard_module("work").read_task(run_files)
    return str(run_files.task_owner or run_files.settings.owner.strip())


def describe_next(run_files: RunFiles) -> str:
    """Whose the work is once no owner is named and no session has a claim."""
    kept = find_kept_owner(run_files)
    if kept:
        return f"session {_show_owner(run_files, kept)}"
    return (
        "the first session that the guard blocks" if run_files.settings.claim else "every session"
    )
