"""Whose work it is: the claim of a project in the guard's state folder, and who holds it by that.

The guard's hook reads and writes the same file; what it means is said there, in owner.py.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from types import SimpleNamespace

from hookctl.errors import FAILED, HookctlError
from hookctl.events import read_object
from hookctl.packs.guard_package import guard_module
from hookctl.system import files
from hookctl.values import NamedTuple

_NAME = "taken"
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
    values = read_object(os.path.join(state, _NAME))
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
    files.make_folders(state, files.PRIVATE)
    path = os.path.join(state, f"{_NAME}.lock")
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        _lock(handle, path)
        yield
    finally:
        os.close(handle)


def find_holder(state: str, owner: str, now: float) -> Holder:
    """Who holds the work, by the guard's rules; `owner` is the session that OWNER names."""
    holder = guard_module("owner").Holder(_as_call(state, owner, now))
    is_written = "t" in holder.claim  # else OWNER alone says it
    seen, at_work = _read_times(state, holder.session)
    since = holder.claim["t"] if type(holder.claim.get("t")) is int else 0
    is_gone = bool(holder.session) and holder.is_free(_as_call(state, owner, now))
    return Holder(
        holder.session,
        owner if holder.session == holder.owner else "",
        holder.fixed,
        holder.fixed and is_written,
        holder.process,
        str(holder.claim.get("host", "")),
        since,
        seen,
        max(at_work, since),
        is_gone,
    )


def _as_call(state: str, owner: str, now: float) -> SimpleNamespace:
    """What the guard looks at in a call of its hook, where no session asks."""
    settings = SimpleNamespace(run_dir=os.devnull, owner=owner, claim=True)
    return SimpleNamespace(
        settings=settings, task_owner="", session="", project_folder=state, folder=state, now=now
    )


def _read_times(state: str, session: str) -> tuple[float, float]:
    """When a session was last seen, and when last at work that was fresh."""
    if not session:
        return 0.0, 0.0
    values = read_object(os.path.join(state, f"{session}.json"))
    times = [values.get(name) for name in ("t", "work")]
    seen, at_work = (float(time) if type(time) is int else 0.0 for time in times)
    return seen, at_work


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
