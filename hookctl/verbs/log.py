"""hookctl log: what the guard decided, and why; and each run of a hook that left a receipt."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from hookctl import clock, events, report
from hookctl.errors import OK, usage_error
from hookctl.model import Line, Result
from hookctl.output.lines import amount
from hookctl.receipts import reading as receipts
from hookctl.system import project
from hookctl.system.folders import Folders

_SHORT = 8  # characters of a hash; --json has all of it
_PAUSE = 0.5  # seconds between two looks when following
# In "blocks" is what other hooks and goals force, too.
_COUNTED = {"blocks": ("kept going ", "time"), "attempts": ("", "stop")}


class Filter(NamedTuple):
    """Which lines to show, still as text; an empty field filters nothing."""

    session: str = ""  # its id, or its hash
    since: str = ""
    codes: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    project: str = ""
    has_runs: bool = False  # whether runs of hooks are shown beside the guard's decisions


def log(folders: Folders, wanted: Filter) -> Result:
    """The guard's decisions in every project and, if wanted, the runs of hooks; oldest first."""
    untold = events.read_untold(folders.state)
    lines = list(_select(folders, wanted, untold))
    if not lines:
        return Result({"events": []}, (_describe_nothing(folders, wanted),))
    columns = _choose_columns(lines)
    text = [_make_line(event, columns) for event in lines]
    return Result({"events": lines}, tuple(text))


def _describe_nothing(folders: Folders, wanted: Filter) -> str:
    """That there is no line, and how to see the runs where there are some."""
    what = "the guard has decided nothing"
    if wanted.has_runs:
        what = "no decision of the guard and no run of a hook"
    what += " yet" if wanted._replace(has_runs=False) == Filter() else " of that kind"
    runs = len(list(_select(folders, wanted._replace(has_runs=True))))
    if runs and not wanted.has_runs:
        what += f"; `hookctl log --runs` shows {amount(runs, 'run')} of hooks"
    return what


def follow(folders: Folders, wanted: Filter, *, as_json: bool) -> int:
    """Print the lines and every new one, until interrupted or the output is closed."""
    shown: Counter[str] = Counter()
    last_marks: object = None
    while True:
        marks = events.marks(folders.state)
        if wanted.has_runs:
            marks += receipts.marks(folders.state)
        current: Counter[str] = Counter()
        lines = list(_select(folders, wanted)) if marks != last_marks else []
        columns = _choose_columns(lines)
        for event in lines:
            key = json.dumps(event)
            current[key] += 1  # two stops in the same second may leave equal lines
            if current[key] <= shown[key]:
                continue
            is_read = report.emit(key if as_json else _make_line(event, columns))
            if not is_read:
                return OK
        shown |= current  # a rotation may hide a line for a moment; it is not shown again
        last_marks = marks
        if report.is_unread(_PAUSE):
            return OK


def _select(
    folders: Folders, wanted: Filter, untold: Sequence[dict[str, Any]] = ()
) -> Iterator[dict[str, Any]]:
    """The lines that the filter lets through, and those of `untold`, which no file has yet."""
    earliest = float("-inf")
    if wanted.since:
        earliest = clock.moment(wanted.since, clock.now(folders.environ))
    _require_known("code", wanted.codes, events.CODES)
    _require_known("decision", wanted.decisions, events.DECISIONS)
    accepted: dict[str, Collection[str]] = {"code": wanted.codes, "decision": wanted.decisions}
    if wanted.project:
        folder = project.state_folder(folders.state, project.named(wanted.project))
        accepted["project"] = (os.path.basename(folder),)
    lines = [*events.read(folders.state), *untold]
    if wanted.has_runs:
        lines += receipts.read_events(folders.state)
    paths = events.project_paths(folders.state)
    for event in sorted(lines, key=lambda event: event["t"]):
        if event["t"] < earliest or not _is_of_session(event, wanted.session):
            continue
        if all(not words or event.get(field) in words for field, words in accepted.items()):
            yield {**event, "project_path": paths.get(event["project"])}


def _is_of_session(event: dict[str, Any], named: str) -> bool:
    """Whether a line is of the named session: its id, its hash, or the hash's first digits."""
    if not named:
        return True
    session = str(event.get("session") or "")
    return session in (named, project.session_hash(named)) or session[:_SHORT] == named


def _require_known(field: str, words: Iterable[str], known: Collection[str]) -> None:
    for word in words:
        if word not in known:
            raise usage_error(f"unknown {field} {word!r}", f"Use one of: {', '.join(known)}.")


def _choose_columns(lines: list[dict[str, Any]]) -> dict[str, int]:
    """The width of each column that tells lines apart; others would say the same everywhere."""
    columns: dict[str, int] = {}
    for field in ("project", "host", "session", "event"):
        words = {_show_field(event, field) for event in lines}
        is_several = len({str(event.get(field, "")) for event in lines}) > 1
        if is_several or (field == "event" and words - {"stop"}):
            columns[field] = max(map(len, words))
    return columns


def _make_line(event: dict[str, Any], columns: dict[str, int]) -> Line:
    is_run = event.get("kind") == receipts.KIND
    cells = [_show_field(event, field).ljust(width) for field, width in columns.items()]
    word = event.get("outcome" if is_run else "decision", "")
    label = "  ".join([clock.local(event["t"]), *cells, f"{word:7}"])
    if is_run:
        return Line(f"{event.get('id', '')}: {', '.join(_describe_run(event))}", label=label)
    return Line(f"{event.get('code', '')}: {_explain(event)}", label=label)


def _describe_run(event: dict[str, Any]) -> Iterator[str]:
    """How long a run took, and whatever of it is out of the ordinary."""
    yield f"{event.get('ms', '?')} ms"
    if event.get("bytes"):
        yield f"{event['bytes']} bytes of context"
    if event.get("status"):
        yield f"exit status {event['status']}"
    dropped = event.get("dropped")
    if isinstance(dropped, list):
        yield f"dropped: {' '.join(map(str, dropped))}"
    if event.get("fired"):
        yield "started by `hookctl fire`"


def _show_field(event: dict[str, Any], field: str) -> str:
    if field == "project" and event["project_path"]:
        return os.path.basename(event["project_path"]) or "/"
    if field in ("project", "session"):
        return str(event.get(field) or "-")[:_SHORT]
    return str(event.get(field, ""))


def _explain(event: dict[str, Any]) -> str:
    """The reason of a decision, and its counts in brackets."""
    reason = events.reason_of(event)
    if event.get(events.IGNORED) is True:
        reason += "; the reminder before it was ignored"
    if isinstance(event.get("path"), str):
        reason += f": {event['path']}: {event.get('error', '')}"
    counts = ", ".join(_counts(event))
    return f"{reason} ({counts})".lstrip() if counts else reason


def _counts(event: dict[str, Any]) -> Iterator[str]:
    for field, (does, word) in _COUNTED.items():
        count = event.get(field)
        if count:
            yield f"{does}{amount(count, word)}"
    if event.get("refusals", 1) != 1:
        since = f" since {clock.local(event['since'])}" if event.get("since") else ""
        yield f"{event['refusals']} calls{since}"
    if event.get("progress"):
        yield f"{event['progress']} progress"
