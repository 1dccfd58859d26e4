"""hookctl log: what the guard decided, and why."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from hookctl import clock, report
from hookctl.errors import OK
from hookctl.events import read
from hookctl.folders import Folders
from hookctl.model import Result
from hookctl.project import session_hash

_PAUSE = 0.5  # seconds between two looks when following


def log(folders: Folders, session: str, since: str) -> Result:
    """The guard's decisions in every project, the oldest first."""
    events = list(_wanted(read(folders.state), folders, session, since))
    text = [_line(event) for event in events] or ["the guard has decided nothing yet"]
    return Result({"events": events}, tuple(text))


def follow(folders: Folders, session: str, since: str, *, as_json: bool) -> int:
    """Print the decisions and go on printing what comes, until interrupted or nobody reads it."""
    shown: Counter[str] = Counter()
    while True:
        now: Counter[str] = Counter()
        for event in _wanted(read(folders.state), folders, session, since):
            line = json.dumps(event)
            now[line] += 1  # two stops in the same second may leave equal lines
            if now[line] > shown[line] and not report.emit(line if as_json else _line(event)):
                return OK  # nobody reads it any more
        shown |= now
        time.sleep(_PAUSE)


def _wanted(
    events: list[dict[str, Any]], folders: Folders, session: str, since: str
) -> Iterator[dict[str, Any]]:
    after = clock.moment(since, clock.now(folders.environ)) if since else float("-inf")
    names = {session, session_hash(session)} if session else set()
    for event in events:
        if event["t"] >= after and (not names or event.get("session") in names):
            yield event


_COUNTED = {"blocks": "block", "attempts": "stop"}


def _count(event: dict[str, Any], name: str) -> str:
    count = event.get(name) or 0
    return f"{count} {_COUNTED[name]}{'' if count == 1 else 's'}"


def _line(event: dict[str, Any]) -> str:
    progress = f", {event['progress']} progress" if event.get("progress") else ""
    counts = f"{_count(event, 'blocks')}, {_count(event, 'attempts')}{progress}"
    session = str(event.get("session") or "-")
    return (
        f"{clock.local(event['t'])}  {session:16}  {event.get('event', ''):5}  "
        f"{event.get('decision', ''):7}  {event.get('code', ''):12}  {counts}"
    )
