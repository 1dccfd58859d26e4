"""Does the host really call the hook? What its log says, and which sessions left no line there."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from hookctl import clock, events, project
from hookctl.checks import Finding, Here, Scene
from hookctl.checks.registered import Guard, at_work
from hookctl.folders import Folders
from hookctl.hosts import Host, config_folder

_NEWEST = 200  # sessions that are looked at
_ENOUGH = 3  # sessions without a line before anything is said
_AT_WORK = 300  # seconds since a session was written to in which it may not have stopped yet
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class _Session(NamedTuple):
    name: str
    at: float  # when the host last wrote to it


def check(scene: Scene) -> Iterator[Finding]:
    """When the hook last ran, as its log has it."""
    if scene.guard is None or scene.guard.settings.get("mode") == "off":
        return
    decisions = [event for event in _decisions(scene.folders, scene.host) if _may_be_its(scene, event)]
    if not decisions:
        message = f"the hook has not run yet; it does when {scene.host.title} ends its first turn"
        yield scene.find("never_ran", "info", message)
        return
    last = decisions[-1]
    ago = clock.age(clock.now(scene.folders.environ) - last["t"])
    message = f"the hook last ran {ago} ago, at {clock.local(last['t'])}: {last.get('decision')} ({last.get('code')})"
    yield scene.find("last_ran", "info", message, "`hookctl log` shows more.")


def _may_be_its(scene: Scene, event: dict[str, Any]) -> bool:
    """Whether this registration can have written a line: not before it was there, nor in another project."""
    try:
        since = os.stat(os.path.join(scene.guard.folder if scene.guard else "", "hook.py")).st_mtime
    except OSError:
        since = float("inf")
    root = scene.place.project
    there = not root or event["project"] == os.path.basename(project.state_folder(scene.folders.state, root))
    return event["t"] > since - 1 and there


def check_here(here: Here) -> Iterator[Finding]:
    """Sessions of the host that should have left a line in the guard's log, and did not."""
    everywhere = [one for one in at_work(here) if one.hook.source.scope == "user"]
    if not everywhere:  # a guard of one project says nothing about sessions elsewhere
        return
    since = max(map(_installed, everywhere))
    logged = {event.get("session") for event in _logged(here)}
    silent: list[_Session] = []
    for session in _sessions(here, since):
        if project.session_hash(session.name) in logged:
            break
        silent.append(session)
    if len(silent) >= _ENOUGH:
        last = clock.local(silent[0].at)
        message = f"the last {len(silent)} sessions of {here.host.title}, up to {last}, left no line in the guard's log"
        more = f" and `{debug}` tell" if (debug := here.host.data["client"].get("debug")) else " tells"
        fix = f"Start the agent anew and end a turn. If nothing comes, `hookctl log`{more} more."
        yield here.find("hook_silent", "warning", message, fix, everywhere[0].hook.source.path)


def _installed(one: Guard) -> float:
    """When this registration's hook was put there; never, if it is not."""
    try:
        return os.stat(os.path.join(one.folder, "hook.py")).st_mtime
    except OSError:
        return float("inf")


def _logged(here: Here) -> list[dict[str, Any]]:
    return _decisions(here.folders, here.host)


def _decisions(folders: Folders, host: Host) -> list[dict[str, Any]]:
    """What the guard's own hook decided; what became of wrapped hooks' denials says nothing of it."""
    logged = events.read(folders.state)
    return [event for event in logged if event.get("host") == host.name and event.get("event") != events.WRAPPED]


def _sessions(here: Here, since: float) -> list[_Session]:
    """The host's newest sessions since then that are not at work, the newest first; by name and date only."""
    pattern = here.host.data.get("transcripts", {}).get("pattern", "")
    config = glob.escape(config_folder(here.host, here.folders.environ))
    found, end = [], clock.now(here.folders.environ) - _AT_WORK
    for path in glob.iglob(pattern.format(config=config)) if pattern else ():
        name = os.path.splitext(os.path.basename(path))[0]
        try:
            at = os.stat(path).st_mtime
        except OSError:
            continue
        if _SESSION.fullmatch(name) and since < at < end:
            found.append(_Session(name, at))
    return sorted(found, key=lambda session: session.at, reverse=True)[:_NEWEST]
