"""hookctl log: what the guard decided, and why; and each run of a hook that left a receipt."""

import os
import time
from collections.abc import Callable
from json import dumps
from typing import Any

from hookctl import clock, receipts
from hookctl.model import Line, Result
from hookctl.output.lines import emit
from hookctl.system.folders import Folders
from hookctl.system.project import named, session_hash, state_folder

_SHORT = 8  # characters of a hash; --json has all of it
_PAUSE = 0.5  # seconds between two looks when following
# What a line shows of its other fields, under their names in --json.
_DETAILS = (
    *("ms", "bytes", "status", "dropped", "fired"),  # of a run
    *("blocks", "attempts", "refusals", "progress", "ignored", "path", "error"),
)

HELP = """
--session ID  Only this session: its id, or its hash.
--runs  Show the runs of packs' hooks too; --json always has them.
--follow  Keep printing new lines; with --json one object per line.

Examples:
  hookctl log --runs --since 10m    with the runs of packs' hooks
  hookctl log --since 2026-11-21 | grep release
"""


def log(
    folders: Folders,
    session: str = "",
    since: str = "",
    runs: bool = False,
    follow: bool = False,
    of_project: str = "",
    json: bool = False,
) -> Result | None:
    """The guard's decisions in every project and, if wanted, the runs of hooks; oldest first."""
    earliest = clock.moment(since, clock.now(folders.environ)) if since else float("-inf")
    only = os.path.basename(state_folder(folders.state, named(of_project))) if of_project else ""

    def is_wanted(event: dict[str, Any]) -> bool:
        hash = str(event.get("session") or "")  # its first digits name it too
        if session and hash != session_hash(session) and session not in (hash, hash[:_SHORT]):
            return False
        return only in ("", event["project"]) and event["t"] >= earliest

    runs = runs or json
    if not follow:
        lines = _select(folders, is_wanted, runs, has_untold=True)
        nothing = "nothing to show; `hookctl log --runs` has the runs of hooks too"
        return Result({"events": lines}, tuple(_make_lines(lines) or [nothing]))
    shown: set[str] = set()
    last_marks: object = None
    while True:  # until interrupted or the output is closed
        marks = receipts.marks(folders.state)
        lines = _select(folders, is_wanted, runs) if marks != last_marks else []
        for event, line in zip(lines, _make_lines(lines), strict=True):
            key = dumps(event)
            if key not in shown and not emit(key if json else line):
                return None
            shown.add(key)
        last_marks = marks
        time.sleep(_PAUSE)


def _select(
    folders: Folders,
    is_wanted: Callable[[dict[str, Any]], bool],
    has_runs: bool,
    *,
    has_untold: bool = False,
) -> list[dict[str, Any]]:
    lines = receipts.read(folders.state, has_runs=has_runs, has_untold=has_untold)
    paths, wanted = receipts.project_paths(folders.state), filter(is_wanted, lines)
    return [{**event, "project_path": paths.get(event["project"])} for event in wanted]


def _make_lines(events_shown: list[dict[str, Any]]) -> list[Line]:
    columns: dict[str, int] = {}  # those that tell lines apart, with their width
    for field in ("project", "host", "session", "event"):
        words = {_show_field(event, field) for event in events_shown}
        if len(words) > 1 or (field == "event" and words - {"stop"}):
            columns[field] = max(map(len, words))
    lines = []
    for event in events_shown:
        word, name = event.get("decision", ""), event.get("code", "")
        reasons = receipts.OF_WRAPPED if event.get("event") == receipts.WRAPPED else receipts.CODES
        reason = reasons.get(name, "")
        if event.get("kind") == receipts.RUN:
            word, name, reason = event.get("outcome", ""), event.get("id", ""), ""
        more = []
        for field in _DETAILS:
            value = event.get(field)
            value = " ".join(map(str, value)) if isinstance(value, list) else value
            if value:
                more.append(field if value is True else f"{field} {value}")
        text = f"{reason} ({', '.join(more)})" if more else reason
        cells = [_show_field(event, field).ljust(width) for field, width in columns.items()]
        label = "  ".join([clock.local(event["t"]), *cells, f"{word:7}"])
        lines.append(Line(f"{name}: {text.strip()}", label=label))
    return lines


def _show_field(event: dict[str, Any], field: str) -> str:
    if field == "project" and event["project_path"]:
        return os.path.basename(event["project_path"]) or "/"
    if field in ("project", "session"):
        return str(event.get(field) or "-")[:_SHORT]
    return str(event.get(field, ""))
