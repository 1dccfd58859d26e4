"""hookctl simulate: what the guard would decide on events from a file, by the real hook in a throw-away project."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from hookctl import events, hosts, report
from hookctl.errors import UNREADABLE, HookctlError
from hookctl.model import Result
from hookctl.packs import guard
from hookctl.packs.choices import Request, Settings, choose, remarks
from hookctl.packs.guard import HOSTS
from hookctl.packs.programs import HOOK, load_programs
from hookctl.planner.runtime_files import CONFIG
from hookctl.system import files, interpreter
from hookctl.system.folders import Folders

EVENTS = ("stop", "subagent-stop", "prompt", "pre-tool", "post-tool")
_BEGIN = 1_000_000_000  # seconds; where the events do not say when they are
_TELL_AFTER = 1.0  # seconds
_HINT = 'A line is as {"event": "stop", "stop_hook_active": true, "run": {"remaining": 2}}; see docs/guard.md.'
_RUN = ("remaining", "heartbeat", "STOP", "CONCLUDE", "OWNER", "ACTIVE")
_NOT_OURS = ("LD_", "DYLD_", "PYTHON")  # what could change which program runs
_WORDS = ("event", "host", "at", "run", "env")  # of a line, besides the host's own fields


class Event(NamedTuple):
    """A line of the file: what happens in the project, and what the host then asks."""

    line: int
    event: str  # canonical; empty: nothing is asked
    host: str
    at: float | None  # seconds
    run: dict[str, Any]  # remaining, heartbeat, STOP, CONCLUDE, OWNER, ACTIVE
    env: dict[str, str]
    payload: dict[str, Any]


def simulate(folders: Folders, source: str, request: Request, host: str) -> Result:
    """The decision on every event, in order, with its reason; nothing outside a throw-away folder is written."""
    settings = choose(Settings(), request)
    script = list(_parse(_read(source), host, source))
    with tempfile.TemporaryDirectory(prefix="hookctl-simulate-") as top:
        stage = _Stage(top, interpreter.choose(folders.environ)[0], settings)
        decisions = list(_played(stage, script))
    counts = Counter(one["decision"] for one in decisions)
    summary = (
        ", ".join(f"{number} {word}" for word, number in sorted(counts.items()))
        or "no event asks for a decision"
    )
    data = {
        "settings": {"mode": settings.mode, **settings.effective},
        "decisions": decisions,
        "counts": dict(counts),
    }
    return Result(data, (*map(_line, decisions), summary), remarks(settings, request))


def _read(source: str) -> str:
    try:
        data = sys.stdin.buffer.read() if source == "-" else files.read(source).data
    except OSError as error:
        raise HookctlError(
            "unreadable", f"stdin cannot be read: {error.strerror}", exit_code=UNREADABLE
        ) from None
    if data is None:
        hint = "Give a file with one JSON object a line, or - for stdin."
        raise HookctlError(
            "unreadable", "there is no such file", path=source, hint=hint, exit_code=UNREADABLE
        )
    return data.decode("utf-8", "replace")


def _parse(text: str, host: str, source: str) -> Iterator[Event]:
    """The events of a file; empty lines count for nothing."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield _event(number, json.loads(line), host)
            except (ValueError, TypeError, RecursionError) as error:
                message = (
                    str(error) if isinstance(error, _Wrong) else "this line is not a JSON object"
                )
                where = {"path": source, "line": number, "column": getattr(error, "colno", 1)}
                raise HookctlError(
                    "bad_event", message, **where, hint=_HINT, exit_code=UNREADABLE
                ) from None


class _Wrong(ValueError):
    """What is wrong with a line, in words."""


def _event(number: int, line: dict[str, Any], host: str) -> Event:
    if not isinstance(line, dict):
        raise TypeError
    name = line.get("host", host)
    if name not in hosts.names():
        raise _Wrong(f"unknown host {name!r}")
    run, env, at = line.get("run", {}), line.get("env", {}), line.get("at")
    unknown = run.keys() - _RUN if isinstance(run, dict) else ()
    if unknown:
        raise _Wrong(f"`run` knows no {', '.join(sorted(unknown))}; it knows {', '.join(_RUN)}")
    kinds = isinstance(run, dict), isinstance(env, dict), at is None or type(at) in (int, float)
    for word, fits in zip(("run", "env", "at"), kinds, strict=True):
        if not fits:
            raise _Wrong(f"`{word}` is of a wrong kind")
    for key, value in env.items():
        if (
            not key
            or re.search(r"[=\0]", key)
            or "\0" in str(value)
            or not _encodes(f"{key}{value}")
        ):
            raise _Wrong("`env` has a name or a value that no environment can hold")
        if key.startswith(_NOT_OURS):
            raise _Wrong(f"`env` may not set {key}")
    payload = {key: value for key, value in line.items() if key not in _WORDS}
    native = {theirs: ours for ours, theirs in hosts.load(name).events.items()}
    event = line.get(
        "event", native.get(str(payload.get("hook_event_name")), "stop" if payload else "")
    )
    if event not in ("", *EVENTS):
        raise _Wrong(f"the guard has nothing to say on {event!r}; it knows {', '.join(EVENTS)}")
    return Event(
        number, event, name, at, run, {str(key): str(value) for key, value in env.items()}, payload
    )


def _encodes(text: str) -> bool:
    try:
        return bool(os.fsencode(text))
    except UnicodeError:
        return False


class _Stage:
    """An empty project with a copy of the hook, whose state is a folder beside it."""

    def __init__(self, top: str, python: str, settings: Settings) -> None:
        self.top, self.python, self.settings, self.now = top, python, settings, float(_BEGIN)
        self.hook, self.project, self.state = (
            os.path.join(top, name) for name in ("hook", "project", "state")
        )
        self.run = os.path.join(self.project, ".hookctl", "run")
        for folder in (self.hook, self.run, self.state):
            os.makedirs(folder)
        # With the limit, which is in no env here.
        as_guard = Settings("guard", settings.options, settings.python, settings.preset)
        config = guard.configuration(as_guard, "", hosts.load("claude"))
        self.config = {**config, "mode": settings.mode}
        for name, data in load_programs(wrapper=False).all.items():
            self.write(os.path.join(self.hook, name), data.decode())

    def write(self, path: str, text: str | None) -> None:
        if text is not None:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", errors="surrogatepass") as stream:
                stream.write(text)
        elif os.path.exists(path):
            os.unlink(path)

    @property
    def folder(self) -> str:
        from hookctl.system.project import state_folder

        return state_folder(self.state, self.project)

    def arrange(self, run: dict[str, Any]) -> None:
        """What `hookctl run` would have done; null takes a thing away."""
        task = {name: run[name] for name in ("remaining", "heartbeat") if name in run}
        if task:
            path = os.path.join(self.run, "task.json")
            before = json.loads(files.read(path).data or b"{}")
            self.write(path, json.dumps({**before, **task}))
        for name in ("STOP", "CONCLUDE", "OWNER"):
            if name in run:
                self.write(
                    os.path.join(self.run, name),
                    str(run[name]) if run[name] not in (None, False) else None,
                )
        if "ACTIVE" in run:
            seconds = run["ACTIVE"]
            end = str(self.now + seconds) if type(seconds) in (int, float) else None
            self.write(os.path.join(self.folder, "ACTIVE"), end)

    def ask(self, event: Event) -> tuple[str, dict[str, Any]]:
        """What the hook prints, and its line in the log, if it writes one."""
        host = hosts.load(event.host)
        config = {**self.config, HOSTS: guard.host_table(host)}
        self.write(os.path.join(self.hook, CONFIG), json.dumps(config))
        environ = {**guard.cap_variables(self.settings, host), **event.env}
        environ |= {
            "HOME": self.top,
            "HOOKCTL_STATE_DIR": self.state,
            "HOOKCTL_NOW": repr(self.now),
        }
        environ |= {name: self.project for name in [host.environment.project] if name}
        payload = {"session_id": "simulated", **event.payload, "cwd": self.project}
        call = [
            self.python,
            "-I",
            "-S",
            os.path.join(self.hook, HOOK),
            event.event,
            "--host",
            event.host,
        ]
        done = subprocess.run(
            call,
            input=json.dumps(payload).encode(),
            capture_output=True,
            env=environ,
            cwd=self.project,
            check=False,
        )
        lines = events.read(self.state)
        for folder in (self.folder, os.path.join(self.state, "guard")):
            self.write(os.path.join(folder, "events.jsonl"), None)
        return done.stdout.decode(), lines[-1] if lines else {}


def _played(stage: _Stage, script: Iterable[Event]) -> Iterator[dict[str, Any]]:
    begin, script = time.monotonic(), list(script)
    for number, event in enumerate(script, 1):
        stage.now = float(event.at) if event.at is not None else stage.now + 1
        stage.arrange(event.run)
        if event.event:
            yield _decision(event, *stage.ask(event))
        if time.monotonic() - begin > _TELL_AFTER and number % 50 == 0:
            report.progress(f"{number} of {len(script)} events")


def _decision(event: Event, answer: str, line: dict[str, Any]) -> dict[str, Any]:
    code = line.get("code", "allowed")
    return {
        "line": event.line,
        "event": event.event,
        "session": event.payload.get("session_id", "simulated"),
        "decision": line.get("decision", "allow"),
        "code": code,
        "reason": events.CODES[code],
        "blocks": line.get("blocks"),
        "attempts": line.get("attempts"),
        "progress": line.get("progress"),
        "answer": json.loads(answer) if answer else None,
    }


def _line(one: dict[str, Any]) -> str:
    return (
        f"{one['line']:>5}  {one['event']:13} {one['decision']:8} {one['code']:17} {one['reason']}"
    )
