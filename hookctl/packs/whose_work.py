"""Whose work it is: who holds the work of a project, how old it is, and how it changes hands."""

from __future__ import annotations

import os
from typing import Any

from hookctl import clock, hosts
from hookctl.packs import agent_process, claims
from hookctl.packs import run_files as work_files
from hookctl.packs.claims import Claim, Holder
from hookctl.packs.run_files import RunFiles
from hookctl.system.folders import Folders
from hookctl.system.project import session_hash
from hookctl.values import NamedTuple

NOBODY = "none"  # as --owner
_MOST_DECLINED = 32
_FAR = 99  # processes; where they cannot be looked at


class Work(NamedTuple):
    """The work that waits in a project."""

    remaining: int
    holder: Holder
    touched: float  # when somebody was last at it; never in the future
    is_stale: bool


class Caller(NamedTuple):
    """Who runs the command: a session, in one of its agent's tools; or a person."""

    session: str = ""  # its id; empty: a person
    host: str = ""
    process: str = ""
    shared: bool = False


def find_work(files: RunFiles) -> Work:
    """What waits in a project, whose it is, and whether the guard still counts it."""
    owner = work_files.read_owner(files) or files.owner
    holder = claims.find_holder(files.state, owner, files.now)
    if not owner and not files.claims:
        holder = Holder()
    if holder.name and holder.name != files.owner:
        holder = holder._replace(name=work_files.mask_owner(files, holder.name))
    remaining = work_files.read_count(files)
    touched = min(files.now, max(_modified(files.task), holder.at_work))
    is_old = 0 < files.work_hours * 3600 <= files.now - touched
    is_stale = remaining > 0 and is_old and not work_files.is_armed(files)
    return Work(remaining, holder, touched, is_stale)


def _modified(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def find_caller(folders: Folders) -> Caller:
    """The session that this command runs in, the innermost if there are several; else a person."""
    callers = []
    for name in hosts.names():
        environment = hosts.load(name).environment
        session = folders.environ.get(environment.session, "").strip()
        if session:
            pid, depth = agent_process.find_agent(environment.session, session)
            told = folders.environ.get(environment.process, "")
            pid = told if told.isdecimal() else pid
            process = agent_process.describe(pid) if pid and environment.process else ""
            is_shared = environment.process == "shared"
            callers.append((depth or _FAR, len(callers), Caller(session, name, process, is_shared)))
    return min(callers)[2] if callers else Caller()


def is_holder(caller: Caller, holder: Holder) -> bool:
    """Whether the caller's session, or one before it in the same process, holds the work."""
    if not caller.session or not holder.session:
        return False
    if session_hash(caller.session) == holder.session:
        return True
    is_same = bool(caller.process) and caller.process == holder.process
    return is_same and not holder.fixed and not caller.shared


def name_owner(files: RunFiles, owner: str) -> None:
    """Give the work to a session for good."""
    hash = session_hash(owner)
    work_files.write_mark(files, "OWNER", f"{owner}\n")
    claims.write(files.state, Claim(hash, hash, fixed=True, t=int(files.now)))


def take(files: RunFiles, caller: Caller) -> None:
    """Give the work to the session that the command runs in, until its process is gone."""
    hash = session_hash(caller.session)
    declined = tuple(item for item in claims.read(files.state).declined if item != hash)
    work_files.write_mark(files, "OWNER", f"{caller.session}\n")
    claim = Claim(
        hash, hash, False, caller.process, caller.shared, caller.host, int(files.now), declined
    )
    claims.write(files.state, claim)


def free(files: RunFiles) -> None:
    """Leave the work to the first session that the guard keeps, whoever held or declined it."""
    _clear_owner(files)
    if claims.read(files.state) != Claim():
        claims.write(files.state, Claim())


def give_back(files: RunFiles, holder: Holder, caller: Caller) -> None:
    """Take the work from its holder, who is not asked about it again."""
    claim = claims.read(files.state)
    sessions = [holder.session] + [session_hash(caller.session)] * bool(caller.session)
    declined = [item for item in claim.declined if item not in sessions]
    _clear_owner(files)
    claims.write(files.state, Claim(declined=tuple(declined + sessions)[-_MOST_DECLINED:]))


def _clear_owner(files: RunFiles) -> None:
    path = os.path.join(files.folder, "OWNER")
    work_files.refuse_links(files, path)
    work_files.clear(path)


def as_data(files: RunFiles, work: Work) -> dict[str, Any]:
    """The work that waits, as `--json` shows it."""
    holder = Holder() if work.holder.is_gone else work.holder
    return {
        "project": files.project,
        "remaining": work.remaining,
        "owner": holder.name or holder.session or None,
        "owner_host": holder.host or None,
        "owner_process": holder.process.partition(" ")[0] or None,
        "owner_seen_seconds": files.now - holder.seen if holder.seen else None,
        "age_seconds": files.now - work.touched,
        "stale": work.is_stale,
    }


def describe_owner(files: RunFiles, work: Work) -> str:
    """Whose the work is, in a few words."""
    holder = work.holder
    if not holder.session or holder.is_gone:
        return describe_next(files)
    text = name_holder(holder)
    since = holder.since or _modified(os.path.join(files.folder, "OWNER"))
    if since:
        text += f", since {clock.age(files.now - since)}"
    if holder.seen:
        text += f", last seen {clock.age(files.now - holder.seen)} ago"
    return text


def describe_next(files: RunFiles) -> str:
    """Whose work is that nobody holds."""
    if files.claims:
        return "the first session that the guard keeps going"
    return "every session"


def name_holder(holder: Holder) -> str:
    """The session that holds the work, with its agent and its process where they are known."""
    text = f"session {holder.name or holder.session}"
    if holder.host in hosts.names():
        text += f" of {hosts.load(holder.host).title}"
    if holder.process:
        text += f", process {holder.process.partition(' ')[0]}"
    return text
