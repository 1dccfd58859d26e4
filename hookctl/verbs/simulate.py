"""hookctl simulate: what the guard would decide on events from a file.

The real hook decides, in a temporary project.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from hookctl import clock, events, hosts, report
from hookctl.documents import is_too_deep
from hookctl.errors import UNREADABLE, HookctlError
from hookctl.model import Line, Result
from hookctl.packs.choices import Request, Settings, choose, remarks
from hookctl.packs.stage import Event, Stage
from hookctl.system import files, interpreter
from hookctl.system.folders import Folders
from hookctl.system.temporary import private_folder

EVENTS = ("stop", "subagent-stop", "prompt", "pre-tool", "post-tool")
_REFUSED = "dispatch_refused"
_TELL_AFTER = 1.0  # seconds until progress is shown
_HINT = (
    'A line is as {"event": "stop", "stop_hook_active": true, "run": {"remaining": 2}}; '
    "see docs/guard.md."
)
_RUN = ("remaining", "heartbeat", "STOP", "CONCLUDE", "OWNER", "ACTIVE")
_LONGEST_VALUE = 30_000  # characters; no system takes more than 128 KiB
_NOT_OURS = ("LD_", "DYLD_", "PYTHON")  # these could change which program runs
_WORDS = ("event", "host", "at", "run", "env")  # our fields of a line; all others are the host's


def simulate(folders: Folders, source: str, request: Request, host: str) -> Result:
    """The decision on each event, with its reason; it writes only into a temporary folder."""
    settings = choose(Settings(), request)
    script = list(_parse(_read(source), host, source))
    with private_folder("simulate", folders.state) as top:
        stage = Stage(top, interpreter.choose(folders.environ)[0], settings)
        decisions = list(_play(stage, script))
    counts = Counter(decision["decision"] for decision in decisions)
    summary = ", ".join(f"{number} {events.DONE[word]}" for word, number in sorted(counts.items()))
    lines: list[str | Line] = [_make_line(decision) for decision in decisions]
    lines.append(summary or "no event asks for a decision")
    data = {
        "settings": {"mode": settings.mode, **settings.effective},
        "decisions": decisions,
        "counts": dict(counts),
    }
    return Result(data, tuple(lines), remarks(settings, request))


def _read(source: str) -> str:
    try:
        data = sys.stdin.buffer.read() if source == "-" else files.read(source).data
    except OSError as error:
        message = f"stdin cannot be read: {error.strerror}"
        raise HookctlError("unreadable", message, exit_code=UNREADABLE) from None
    if data is None:
        message, hint = (
            "there is no such file",
            "Give a file with one JSON object a line, or - for stdin.",
        )
        raise HookctlError("unreadable", message, path=source, hint=hint, exit_code=UNREADABLE)
    return data.decode("utf-8", "replace")


def _parse(text: str, host: str, source: str) -> Iterator[Event]:
    """The events of a file; empty lines are skipped."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield _make_event(number, json.loads(line), host)
        except (ValueError, TypeError, RecursionError) as error:
            message = "this line is not a JSON object"
            if isinstance(error, _BadLine):
                message = str(error)
            raise HookctlError(
                "bad_event",
                message,
                path=source,
                line=number,
                column=getattr(error, "colno", 1),
                hint=_HINT,
                exit_code=UNREADABLE,
            ) from None


class _BadLine(ValueError):
    """What is wrong with a line, in words."""


def _make_event(number: int, line: dict[str, Any], default_host: str) -> Event:
    if not isinstance(line, dict):
        raise TypeError
    if is_too_deep(line):
        raise _BadLine("it is nested too deeply")
    host = line.get("host", default_host)
    if host not in hosts.names():
        raise _BadLine(f"unknown host {host!r}")
    run, env, at = line.get("run", {}), line.get("env", {}), line.get("at")
    _check_kinds(run, env, at)
    _check_env(env)
    payload = {key: value for key, value in line.items() if key not in _WORDS}
    event = line["event"] if "event" in line else _event_of_payload(payload, host)
    if event not in ("", *EVENTS):
        known = ", ".join(EVENTS)
        raise _BadLine(f"the guard does not decide on {event!r}; it knows {known}")
    texts = {str(key): str(value) for key, value in env.items()}
    return Event(number, event, host, at, run, texts, payload)


def _check_kinds(run: Any, env: Any, at: Any) -> None:
    """Refuse `run`, `env` and `at` of a wrong type, and unknown words in `run`."""
    if not isinstance(run, dict):
        raise _BadLine("`run` is not an object")
    unknown = run.keys() - _RUN
    if unknown:
        raise _BadLine(f"`run` knows no {', '.join(sorted(unknown))}; it knows {', '.join(_RUN)}")
    if not isinstance(env, dict):
        raise _BadLine("`env` is not an object")
    if at is not None and type(at) not in (int, float):
        raise _BadLine("`at` is not a number")
    if at is not None and not abs(at) < clock.END:
        raise _BadLine("`at` is not a possible time")


def _check_env(env: dict[str, Any]) -> None:
    for key, value in env.items():
        if not _is_possible_variable(key, str(value)):
            raise _BadLine("`env` has a name or a value that no environment can hold")
        if key.startswith(_NOT_OURS):
            raise _BadLine(f"`env` may not set {key}")


def _is_possible_variable(key: str, value: str) -> bool:
    if not key or re.search(r"[=\0]", key) or "\0" in value or len(value) > _LONGEST_VALUE:
        return False
    try:
        os.fsencode(f"{key}{value}")
    except UnicodeError:
        return False
    return True


def _event_of_payload(payload: dict[str, Any], host: str) -> str:
    """The event that the host's own fields name: a stop if they name none, '' without fields."""
    name = str(payload.get("hook_event_name"))
    events_by_name = {native: event for event, native in hosts.load(host).events.items()}
    return events_by_name.get(name, "stop" if payload else "")


def _play(stage: Stage, script: list[Event]) -> Iterator[dict[str, Any]]:
    """Let each event happen; the decisions of those that ask for one."""
    begin = time.monotonic()
    for number, event in enumerate(script, 1):
        stage.now = stage.now + 1 if event.at is None else float(event.at)
        stage.arrange(event.run)
        if event.event:
            answer, log_line = stage.ask(event)
            if event.event == "pre-tool" and log_line.get("decision") in (None, "refuse"):
                # Refused calls share lines of the log: only the answer says which they are.
                log_line = {"decision": "refuse", "code": _REFUSED} if answer else {}
            yield _describe_decision(event, answer, log_line)
        if time.monotonic() - begin > _TELL_AFTER and number % 50 == 0:
            report.progress(f"{number} of {len(script)} events")


def _describe_decision(event: Event, answer: str, log_line: dict[str, Any]) -> dict[str, Any]:
    """A decision as `--json` shows it."""
    code = log_line.get("code", "allowed")
    return {
        "line": event.line,
        "event": event.event,
        "session": event.payload.get("session_id", "simulated"),
        "decision": log_line.get("decision", "allow"),
        "code": code,
        "reason": events.reason_of({**log_line, "code": code}),
        "blocks": log_line.get("blocks"),
        "attempts": log_line.get("attempts"),
        "progress": log_line.get("progress"),
        "answer": json.loads(answer) if answer else None,
    }


def _make_line(decision: dict[str, Any]) -> Line:
    label = f"{decision['line']:>5}  {decision['event']:8}  {decision['decision']:7}"
    return Line(f"{decision['code']}: {decision['reason']}", label=label)
