"""The work in hand: can the guard read .hookctl/run, and does it mean what somebody may think?"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from typing import Any, NamedTuple

from hookctl import clock, events, files, project
from hookctl.checks import Finding, Here
from hookctl.checks.environment import variable
from hookctl.checks.registered import at_work
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.packs import guard
from hookctl.places import OWN

_SOON = 30 * 60  # seconds
_LARGEST = 64 * 1024  # bytes of task.json, to the hook
_MARKS = ("STOP", "CONCLUDE")


class _Work(NamedTuple):
    """The run of one project, as the guard of this place sees it."""

    here: Here
    project: str
    folder: str
    task: str
    state: str
    config: dict[str, Any]

    @property
    def must_be_armed(self) -> bool:
        mode = variable(self.here, "HOOKCTL_MODE") or self.config.get("mode")
        text = variable(self.here, "HOOKCTL_REQUIRE_ARM")
        return mode == "keepalive" or (guard.is_true(text) if text else self.config.get("require_arm") is True)

    def find(self, code: str, level: str, message: str, fix: str, path: str) -> Finding:
        return self.here.find(code, level, message, fix, path)


def check(here: Here) -> Iterator[Finding]:
    """The run folder of the project that the working folder is in, if a guard reads it."""
    guards = at_work(here)
    if not guards:
        return
    work = _work(here, guards[0].config)
    remaining, fault = _remaining(work.task)
    yield from _odd_files(work)
    if fault:
        message = f"the guard takes this for no work at all: {fault}"
        fix = "Mend it, or remove it; then `hookctl run remaining N`."
        yield work.find("task_unreadable", "warning", message, fix, work.task)
    yield from _stopped(work, remaining)
    yield from _owner(work)
    yield from _armed(work, remaining)


def _work(here: Here, config: dict[str, Any]) -> _Work:
    texts = {name: value.strip() for name, value in config.items() if isinstance(value, str)}
    named = {name: variable(here, f"HOOKCTL_{name.upper()}").strip() for name in ("run_dir", "task_file")}
    folder = os.path.join(here.project, named["run_dir"] or texts.get("run_dir") or os.path.join(OWN, "run"))
    task = named["task_file"] or texts.get("task_file")
    task = os.path.join(here.project, task) if task else os.path.join(folder, "task.json")
    return _Work(here, here.project, folder, task, project.state_folder(here.folders.state, here.project), config)


def _odd_files(work: _Work) -> Iterator[Finding]:
    """Links, through which `hookctl run` does not write, and what is no file at all."""
    own = os.path.join(work.project, OWN)
    for path in dict.fromkeys((own, work.folder, work.task, *_marks(work), os.path.join(work.folder, "OWNER"))):
        try:
            about = os.lstat(path)
        except (OSError, ValueError):
            continue
        folder = path in (own, work.folder)
        fits = stat.S_ISDIR(about.st_mode) if folder else stat.S_ISREG(about.st_mode)
        if stat.S_ISLNK(about.st_mode):
            message = "this is a link, and `hookctl run` does not write through it"
        elif not fits and os.path.basename(path) not in _MARKS:
            message = f"this is no {'folder' if folder else 'regular file'}, so the guard cannot read it"
        elif not os.access(path, os.R_OK | (os.X_OK if folder else 0)):
            message = "this may not be read, so the guard does not see it"
        else:
            continue
        yield work.find("run_unusable", "warning", message, "Remove it, or put a plain one in its place.", path)


def _marks(work: _Work) -> list[str]:
    return [os.path.join(work.folder, name) for name in _MARKS]


def _remaining(path: str) -> tuple[int, str]:
    """How much work is left, to the hook, and what is wrong with the file that says so."""
    try:
        data = files.read(path).data
        if data is None:
            return 0, ""
        if len(data) > _LARGEST:
            return 0, "it is larger than 64 KiB"
        value = JsonDocument.parse(data, where=path, comments=False, trailing_commas=False).value
    except HookctlError as error:
        return 0, error.message
    left = value.get("remaining") if isinstance(value, dict) else value
    if left is None:
        return 0, ""
    text = str(left).strip() if isinstance(left, str) or type(left) is int else ""
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        return 0, "`remaining` is no whole number" if isinstance(value, dict) else "it holds no object"
    return max(0, int(text)), ""


def _stopped(work: _Work, remaining: int) -> Iterator[Finding]:
    for path in _marks(work):
        if remaining > 0 and os.path.lexists(path):
            name = os.path.basename(path)
            message = f"{name} is there although work remains ({remaining}), so the guard lets the agent go"
            yield work.find("run_stopped", "info", message, "`hookctl run start` removes it.", path)


def _owner(work: _Work) -> Iterator[Finding]:
    """An owner that never shows up, while other sessions are let go because of it."""
    path = os.path.join(work.folder, "OWNER")
    try:
        owner = (files.read(path).data or b"")[:256].decode("utf-8", "replace").strip()
        since = os.stat(path).st_mtime
    except (HookctlError, OSError):
        return
    name = os.path.basename(work.state)
    lines = [event for event in events.read(work.here.folders.state) if event["project"] == name]
    seen = {event.get("session") for event in lines}
    others = {str(event.get("session")) for event in lines if event["t"] > since and event.get("session")}
    if owner and others and project.session_hash(owner) not in seen:
        message = f"the work belongs to a session that never stopped here; {len(others)} other did, and are let go"
        fix = "`hookctl run start` names the session anew; after /clear, a resume or a fork it has another id."
        yield work.find("owner_unseen", "warning", message, fix, path)


def _armed(work: _Work, remaining: int) -> Iterator[Finding]:
    """ACTIVE, which arms the guard until a moment."""
    path = os.path.join(work.state, "ACTIVE")
    end = None
    try:
        data = files.read(path).data
        end = clock.timestamp((data or b"").decode("ascii").strip())
    except (HookctlError, UnicodeDecodeError):
        data = b""
    now = clock.now(work.here.folders.environ)
    if data is not None and end is None:
        message = "this does not say until when the run lasts, so the guard counts as not armed"
        yield work.find("active_unreadable", "warning", message, "`hookctl run start` writes it anew.", path)
    elif end is not None and now < end <= now + _SOON:
        level = "warning" if work.must_be_armed else "info"
        message = f"the run ends in {clock.age(end - now)}, at {clock.local(end)}"
        yield work.find("run_ends_soon", level, message, "`hookctl run start --for 12h` makes it longer.", path)
    elif work.must_be_armed and remaining > 0 and (end is None or end <= now):
        message = f"work remains ({remaining}), but the guard is not armed, so it lets the agent go"
        yield work.find("not_armed", "info", message, "`hookctl run start` arms it.", path)
