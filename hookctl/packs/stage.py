"""A temporary project in which the real hook is asked about events."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from hookctl import events, hosts
from hookctl.packs import guard
from hookctl.packs.choices import Settings
from hookctl.packs.guard import HOSTS
from hookctl.packs.programs import load_programs
from hookctl.system import files
from hookctl.system.packages import HOOK, LAUNCHERS
from hookctl.system.project import state_folder
from hookctl.values import NamedTuple

CONFIG = "config.json"
_BEGIN = 1_000_000_000  # seconds; the time of events that do not say theirs


class Event(NamedTuple):
    """A line of the file: a change in the project, and what the host then asks."""

    line: int
    event: str  # canonical; empty: nothing is asked
    host: str
    at: float | None  # seconds
    run: dict[str, Any]  # remaining, heartbeat, STOP, CONCLUDE, OWNER, ACTIVE
    env: dict[str, str]
    payload: dict[str, Any]


class Stage:
    """A temporary project with a copy of the hook, and the hook's state in a folder beside it."""

    def __init__(self, top: str, python: str, settings: Settings) -> None:
        self.top, self.python, self.settings = top, python, settings
        self.now = float(_BEGIN)
        self.hook = os.path.join(top, LAUNCHERS, "hook")
        self.project = os.path.join(top, "project")
        self.state = os.path.join(top, "state")
        self.run = os.path.join(self.project, ".hookctl", "run")
        for folder in (self.hook, self.run, self.state):
            os.makedirs(folder)
        # With the limit, which is in no env here.
        as_guard = Settings("guard", settings.options, settings.python, settings.preset)
        config = guard.configuration(as_guard, "", hosts.load("claude"))
        self.config = {**config, "mode": settings.mode}
        for name, data in load_programs(wrapper=False).all.items():
            self.write(os.path.normpath(os.path.join(self.hook, name)), data.decode())

    def write(self, path: str, text: str | None) -> None:
        """Write a file; with None, remove it."""
        if text is not None:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", errors="surrogatepass") as stream:
                stream.write(text)
        elif os.path.exists(path):
            os.unlink(path)

    @property
    def folder(self) -> str:
        return state_folder(self.state, self.project)

    def arrange(self, run: dict[str, Any]) -> None:
        """Change the run's files as `hookctl run` does; null removes a file."""
        task = {name: run[name] for name in ("remaining", "heartbeat") if name in run}
        if task:
            path = os.path.join(self.run, "task.json")
            old_task = json.loads(files.read(path).data or b"{}")
            self.write(path, json.dumps({**old_task, **task}))
        for name in ("STOP", "CONCLUDE", "OWNER"):
            if name in run:
                is_removed = run[name] in (None, False)
                text = None if is_removed else str(run[name])
                self.write(os.path.join(self.run, name), text)
        if "ACTIVE" in run:
            seconds = run["ACTIVE"]
            end = str(self.now + seconds) if type(seconds) in (int, float) else None
            self.write(os.path.join(self.folder, "ACTIVE"), end)

    def ask(self, event: Event) -> tuple[str, dict[str, Any]]:
        """What the hook prints, and its line in the log, if it writes one."""
        host = hosts.load(event.host)
        config = {**self.config, HOSTS: guard.host_table(host)}
        self.write(os.path.join(self.hook, CONFIG), json.dumps(config))
        payload = {"session_id": "simulated", **event.payload, "cwd": self.project}
        hook = os.path.join(self.hook, HOOK)
        process = subprocess.run(
            [self.python, "-I", "-S", hook, event.event, "--host", event.host],
            input=json.dumps(payload).encode(),
            capture_output=True,
            env=self.make_environ(event, host),
            cwd=self.project,
            check=False,
        )
        lines = events.read(self.state)
        for folder in (self.folder, os.path.join(self.state, "guard")):
            self.write(os.path.join(folder, "events.jsonl"), None)
        return process.stdout.decode(), lines[-1] if lines else {}

    def make_environ(self, event: Event, host: hosts.Host) -> dict[str, str]:
        environ = {
            **event.env,
            "HOME": self.top,
            "HOOKCTL_STATE_DIR": self.state,
            "HOOKCTL_NOW": repr(self.now),
        }
        cap = guard.wanted_cap(self.settings, host)
        if cap and host.cap_key:
            environ.setdefault(host.cap_key, cap)
        project_variable = host.environment.project
        if project_variable:
            environ[project_variable] = self.project
        return environ
