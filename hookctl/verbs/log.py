"""hookctl log: what the guard decided, and why."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from hookctl import clock, events, report
from hookctl.errors import OK, USAGE, HookctlError
from hookctl.model import Result
from hookctl.system import project
from hookctl.system.folders import Folders

_PAUSE = 0.5  # seconds between two looks when following


class Filter(NamedTuple):
    """Which decisions are asked for, still as text; what is empty leaves out none."""

    session: str = ""  # its id, or its hash
    since: str = ""
    codes: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    project: str = ""


def log(folders: Folders, wanted: Filter) -> Result:
    """The guard's decisions in every project, the oldest first."""
    found = list(_wanted(folders, wanted))
    nothing = "the guard has decided nothing" + (" yet" if wanted == Filter() else " of that kind")
    width = _width(found)
    text = [_line(event, width) for event in found] or [nothing]
    return Result({"events": found}, tuple(text))


def follow(folders: Folders, wanted: Filter, *, as_json: bool) -> int:
    """Print the decisions and go on printing what comes, until interrupted or nobody reads it."""
    shown: Counter[str] = Counter()
    seen: object = None
    while True:
        marks = events.marks(folders.state)
        now: Counter[str] = Counter()
        found = list(_wanted(folders, wanted)) if marks != seen else []
        width = _width(found)
        for event in found:
            line = json.dumps(event)
            now[line] += 1  # two stops in the same second may leave equal lines
            if now[line] > shown[line] and not report.emit(
                line if as_json else _line(event, width)
            ):
                return OK  # nobody reads it any more
        shown |= now  # what a rotation took away for a moment is not shown again
        seen = marks
        if report.is_unread(_PAUSE):
            return OK


def _wanted(folders: Folders, wanted: Filter) -> Iterator[dict[str, Any]]:
    after = (
        clock.moment(wanted.since, clock.now(folders.environ)) if wanted.since else float("-inf")
    )
    sessions = (wanted.session, project.session_hash(wanted.session)) if wanted.session else ()
    _check("code", wanted.codes, events.CODES)
    _check("decision", wanted.decisions, events.DECISIONS)
    folder = (
        project.state_folder(folders.state, project.named(wanted.project)) if wanted.project else ""
    )
    places = (os.path.basename(folder),) if folder else ()
    asked = {
        "session": sessions,
        "code": wanted.codes,
        "decision": wanted.decisions,
        "project": places,
    }
    for event in events.read(folders.state):
        if event["t"] >= after and all(
            not words or event.get(name) in words for name, words in asked.items()
        ):
            yield event


def _check(what: str, words: tuple[str, ...], known: tuple[str, ...] | dict[str, str]) -> None:
    for word in words:
        if word not in known:
            hint = f"Known: {', '.join(known)}."
            raise HookctlError("usage", f"unknown {what} {word!r}", hint=hint, exit_code=USAGE)


_COUNTED = {"blocks": "block", "attempts": "stop"}


def _width(found: list[dict[str, Any]]) -> int:
    """Of the column with the host; 0 where all are of one, which then goes without saying."""
    hosts = {event.get("host", "") for event in found}
    return max(map(len, hosts)) if len(hosts) > 1 else 0


def _line(event: dict[str, Any], width: int) -> str:
    session = str(event.get("session") or "-")
    code = event.get("code", "")
    counts = ", ".join(_counts(event))
    reasons = events.OF_WRAPPED if event.get("event") == events.WRAPPED else events.CODES
    why = " ".join(filter(None, (reasons.get(code, ""), f"({counts})" if counts else "")))
    host = f"{event.get('host', ''):{width}}  " if width else ""
    return (
        f"{clock.local(event['t'])}  {host}{session:16}  {event.get('event', ''):8}  "
        f"{event.get('decision', ''):7}  {code:16}  {why}"
    ).rstrip()


def _counts(event: dict[str, Any]) -> Iterator[str]:
    for name, word in _COUNTED.items():
        count = event.get(name)
        if count is not None:
            yield f"{count} {word}{'' if count == 1 else 's'}"
    if event.get("progress"):
        yield f"{event['progress']} progress"
