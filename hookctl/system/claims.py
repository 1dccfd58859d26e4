"""Whose work it is: the claim of a project in the guard's state folder, and who holds it by that.

The guard's hook reads and writes the same file by the same rules (templates/guard/guard/owner.py).
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from typing import Any

from hookctl.errors import FAILED, HookctlError
from hookctl.system import agent_process, files
from hookctl.system.project import session_hash
from hookctl.values import NamedTuple

_NAME = "taken"
_LONELY = 30 * 60  # seconds without an event, where no process tells
_DAY = 24 * 3600
_PATIENCE = 5.0  # seconds
_PAUSE = 0.02


class Claim(NamedTuple):
    """What the file says; every session as its hash."""

    session: str = ""  # that holds the work
    owner: str = ""  # the OWNER that this goes with; empty: none
    fixed: bool = False  # a person named the owner, so the work never passes on
    process: str = ""
    shared: bool = False  # other sessions may run in that process
    host: str = ""
    t: int = 0  # since when
    declined: tuple[str, ...] = ()


class Holder(NamedTuple):
    """The session that the work belongs to; nobody if `session` is empty."""

    session: str = ""  # its hash
    name: str = ""  # its id, where OWNER names it
    fixed: bool = False  # it keeps the work, whatever becomes of it
    is_named: bool = False  # with --owner
    process: str = ""
    host: str = ""
    since: float = 0.0
    seen: float = 0.0  # its last event; 0: it had none yet
    at_work: float = 0.0  # its last event while the work was fresh
    is_gone: bool = False  # so the work passes on


def read(state: str) -> Claim:
    """The claim of the project with this state folder; an empty one if there is none."""
    values = _read_object(os.path.join(state, _NAME))
    fields = {}
    for name, default in Claim()._asdict().items():
        value = values.get(name)
        if isinstance(value, list):
            value = tuple(item for item in value if isinstance(item, str))
        if type(value) is type(default):
            fields[name] = value
    return Claim(**fields)


def write(state: str, claim: Claim) -> None:
    """Replace the claim."""
    data = json.dumps(claim._asdict(), sort_keys=True, separators=(",", ":"))
    files.write_own(os.path.join(state, _NAME), data.encode())


@contextlib.contextmanager
def locked(state: str) -> Iterator[None]:
    """Keep hooks and other commands from changing the claim; `lock_timeout` after some seconds."""
    files.make_private_folder(state)
    path = os.path.join(state, f"{_NAME}.lock")
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        _lock(handle, path)
        yield
    finally:
        os.close(handle)


def find_holder(state: str, owner: str, now: float) -> Holder:
    """Who holds the work; `owner` is the session that OWNER names."""
    claim = read(state)
    named = session_hash(owner) if owner else ""
    if claim.owner != named:  # written for another OWNER
        claim = Claim(session=named, owner=named, fixed=True)
        seen, at_work = _read_times(state, named)
        return Holder(named, owner, bool(named), False, "", "", 0.0, seen, at_work)
    seen, at_work = _read_times(state, claim.session)
    is_gone = not claim.fixed and _is_gone(claim, max(seen, claim.t), now)
    return Holder(
        claim.session,
        owner if claim.session == named else "",
        claim.fixed,
        claim.fixed,
        claim.process,
        claim.host,
        claim.t,
        seen,
        max(at_work, claim.t),
        bool(claim.session) and is_gone,
    )


def _is_gone(claim: Claim, seen: float, now: float) -> bool:
    gone = agent_process.is_gone(claim.process)
    if gone is None or (claim.shared and not gone):
        idle = now - seen
        return idle > _LONELY or idle < -_DAY  # a time far ahead is no event that has been
    return gone


def _read_times(state: str, session: str) -> tuple[float, float]:
    """When a session was last seen, and when last at work that was fresh."""
    if not session:
        return 0.0, 0.0
    values = _read_object(os.path.join(state, f"{session}.json"))
    times = [values.get(name) for name in ("t", "work")]
    seen, at_work = (float(time) if type(time) is int else 0.0 for time in times)
    return seen, at_work


def _read_object(path: str) -> dict[str, Any]:
    try:
        value = json.loads(files.read(path).data or b"{}")
    except (HookctlError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _lock(handle: int, path: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                message = "another process holds the claim of this project"
                raise HookctlError(
                    "lock_timeout", message, path=path, hint="Try again.", exit_code=FAILED
                ) from None
            time.sleep(_PAUSE)
