"""One call of the runtime hook in this process: its modules as they lie in the templates, its answer collected."""

from __future__ import annotations

import json
import os
import posix
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.world import World, no_new_handles
from tests.templates.lab import TABLE
from tests.templates.modules import module

HOSTS = sorted(TABLE)
DEFAULTS = json.dumps({"hosts": TABLE}).encode()
CONFIG = "guard/default.json"  # of every host
HANDLERS = {
    "stop": ("stop", "on_stop"),
    "subagent-stop": ("stop", "on_stop"),
    "pre-tool": ("dispatch", "on_dispatch"),
    "prompt": ("events", "on_prompt"),
    "post-tool": ("events", "on_tool"),
}


class Hook:
    """The hook of a project with work that remains."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.top = world.top / "hook"
        self.run = world.work / ".hookctl" / "run"
        for folder in (self.top / "guard", self.run):
            folder.mkdir(parents=True)
        self.folder = world.state / "guard" / module("files").digest(os.path.realpath(world.work))

    def task(self, data: bytes) -> None:
        (self.run / "task.json").write_bytes(data)

    def config(self, data: bytes) -> None:
        (self.top / CONFIG).write_bytes(data)

    def transcript(self, data: bytes) -> Path:
        path = self.world.top / "transcript.jsonl"
        path.write_bytes(data)
        return path

    def call(self, event: str, host: str, stdin: bytes) -> bytes:
        """What the hook prints; an exception that it lets through is the caller's to see."""
        said: list[bytes] = []
        name, function = HANDLERS[event]
        handler, call, answers = module(name), module("call"), module("hosts")

        def say(form: str, text: str) -> None:
            said.append(form.replace("%s", module("files").dump(text)).encode())

        def read_input() -> tuple[bytes, Any]:
            try:
                return stdin, module("files").parse(bytes(stdin), "replace")
            except ValueError:
                return stdin, None

        alarm, environ = signal.getsignal(signal.SIGALRM), dict(posix.environ)
        with pytest.MonkeyPatch.context() as patch:
            for holder in (answers, *([handler] if name == "dispatch" else [])):
                patch.setattr(holder, "say", say)
            patch.setattr(call, "read_input", read_input)
            patch.setattr(call, "launchers_folder", lambda _: str(self.top))
            for name in posix.environ.keys() - {b"HOME", b"HOOKCTL_STATE_DIR"}:
                del posix.environ[name]
            try:
                with no_new_handles():
                    getattr(handler, function)(call.Call(event, host, CONFIG))
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, alarm)
                posix.environ.clear()
                posix.environ.update(environ)
                os.chdir(self.world.work)
        return b"".join(said)
