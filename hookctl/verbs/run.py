"""hookctl run: report progress to the guard: remaining work, whose it is, a heartbeat, a stop."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from hookctl import clock, errors, events, report
from hookctl.errors import HookctlError, nearest, usage_error
from hookctl.model import Line, Result
from hookctl.output.lines import amount
from hookctl.packs import run_files as work_files
from hookctl.packs import supervised, whose_work
from hookctl.packs.guard import cost_of_run
from hookctl.packs.run_files import RunFiles
from hookctl.packs.supervised import BREADCRUMB
from hookctl.packs.whose_work import NOBODY, Caller, Work
from hookctl.settings.effective import STOP
from hookctl.system import files
from hookctl.system.folders import Folders
from hookctl.system.package_data import guard_module
from hookctl.system.project import session_hash
from hookctl.verbs.options import ACTIONS

DEFAULT_TIMEOUT = "100s"  # agents end a command of their own after two minutes
_PAUSE = 1.0  # seconds between two looks at a small file
_TELL_AFTER = 5.0  # seconds until progress is shown
_EXIT_CODES = {
    "done": errors.OK,
    "stopped": errors.OK,
    "stalled": errors.FAILED,
    "timeout": errors.TIMED_OUT,
}
_LONGEST_SHOWN = 120  # characters of a value that hookctl did not write
_ARMED = "counts in mode keepalive, or with require_arm"
_MEANINGS = {
    "STOP": "the guard lets the agent stop at once",
    "CONCLUDE": "the guard no longer asks the agent to go on",
}
_MARKED = {
    "conclude": "concluded: the guard no longer asks the agent to go on",
    "stop": "stopped: the guard lets the agent stop at once; `hookctl run start` ends that",
}
_CUT_OFF = "the run before was cut off, so first look at what is done and what is half done"
_CRUMB = "the guard kept the agent going then; if no agent runs now, it was cut off"


HELP = """
action ACTION <action>  One of: start, heartbeat, remaining, conclude, stop, release, status, wait.
count [N]  For remaining: how much work is left.
--remaining N  For start: how much work is left.
--owner ID  For start and remaining: the session that owns the work; `none`: no session.
duration --for TIME  For start: how long it lasts, such as 30m, at most 7d; default: 12h.
--check  For status: exit code 1 where work is left alone, or a reminder was ignored.
--timeout TIME  For wait: exit code 124 after this time (wait again); default: 100s.
--stall TIME  For wait: exit code 1 if nothing moves for this long, over all its calls.

Examples:
  hookctl run start --for 8h   start a run; removes an earlier STOP and CONCLUDE
  hookctl run remaining 3      three pieces of work are left
  hookctl run heartbeat        there was progress
  hookctl run conclude         let agents stop
  hookctl run stop             let every agent stop at once
  hookctl run status           show the run
  hookctl run wait --stall 10m  wait until nothing is left, instead of polling
"""


def run(
    folders: Folders,
    action: str,
    count: str = "",
    remaining: str = "",
    owner: str = "",
    duration: str = "",
    check: bool = False,
    timeout: str = "",
    stall: str = "",
    project: str = "",
) -> Result:
    """Do one action on the run of a project: the named one, the host's, or the working folder's."""
    if action == "wait":
        return wait(folders, timeout, stall, project)
    if action not in ACTIONS:
        hint = f"{nearest(action, ACTIONS)}Actions: {', '.join(ACTIONS)}."
        raise usage_error(f"unknown action {action!r}", hint)
    if count and action != "remaining":
        raise usage_error(f"{action} takes no number", "Did you mean `hookctl run remaining N`?")
    for option, actions, rule in (
        (timeout or stall, (), "--timeout and --stall go with `run wait`"),
        (remaining or duration, ("start",), "--remaining and --for go with `run start`"),
        (owner, ("start", "remaining"), "--owner goes with `run start` and `run remaining`"),
        (check, ("status",), "--check goes with `run status`"),
    ):
        if option and action not in actions:
            raise usage_error(rule, "See `hookctl run --help`.")
    if action != "status":
        _finish_pending(folders)
    run_files = work_files.find(folders, work_files.find_project(folders, project))
    warnings = tuple(_warnings(folders, run_files, is_meant=bool(project) or action == "status"))
    if action == "start":
        text = _start(folders, run_files, owner.strip(), remaining, duration)
    elif action == "remaining":
        text = _remaining(folders, run_files, owner.strip(), count)
    elif action == "release":
        text = _release(folders, run_files)
    elif action == "heartbeat":
        value, before = clock.stamp(run_files.now), work_files.read_task(run_files)
        while value == before.get("heartbeat"):  # only a change counts as progress
            value += "+"
        work_files.set_task(run_files, "heartbeat", value)
        text = [f"heartbeat {value}", *_describe_work(run_files)]
    elif action == "status":
        text = _status(run_files)
    else:
        work_files.write_mark(run_files, action.upper(), "")
        work_files.clear(os.path.join(run_files.state, BREADCRUMB))
        text = [_MARKED[action]]
    exit_code = errors.FAILED if check and _needs_a_look(run_files) else errors.OK
    lines = tuple(_as_line(one) for one in text)
    return Result(_data(run_files), lines, warnings, exit_code=exit_code)


def _as_line(text: str) -> str | Line:
    """A line that fits a terminal, with its column; one that ends with a path stays whole."""
    if os.path.isabs(text.rpartition(" ")[2]):
        return text
    name, gap, value = text[:9], text[9:11], text[11:]
    return Line(value, label=name) if gap == "  " and value else Line(text)


def _finish_pending(folders: Folders) -> None:
    """Finish an interrupted install; a failure does not prevent stopping an agent."""
    if not folders.has_unfinished_run():
        return
    from hookctl.planner.run import finish_pending  # late: in most calls no run was interrupted

    try:
        finish_pending(folders, report.say)
    except HookctlError as error:
        report.say(f"an interrupted run could not be completed: {error}")


def _warnings(folders: Folders, run_files: RunFiles, *, is_meant: bool) -> Iterator[str]:
    """Warnings about this project that a person may not expect."""
    root = run_files.project
    is_marked = any(os.path.lexists(os.path.join(root, name)) for name in (".git", ".hookctl"))
    if not (is_meant or is_marked):
        yield f"{root} has neither .git nor .hookctl; {_describe_reach(folders, root)}"
    guards = work_files.installed_guards(folders, root)
    if not guards:
        yield "the guard is not installed here: `hookctl install --host NAME`"
    elif all(any(one.id == STOP for one in record.disabled) for record, _ in guards):
        yield "the guard is disabled here: `hookctl enable guard`"


def _describe_reach(folders: Folders, root: str) -> str:
    """Which folders a new .hookctl covers; HOME and those above cover only themselves."""
    if f"{folders.home}/".startswith(f"{root.rstrip('/')}/"):
        return "it counts for agents that are started in this very folder, not below it"
    own = shlex.quote(os.path.join(root, ".hookctl"))
    return f"from now on it counts as a project, with all below it; `rm -r {own}` undoes that"


def _start(
    folders: Folders, run_files: RunFiles, owner: str, remaining: str, duration: str
) -> list[str]:
    work_files.require_short_owner(owner)
    end = work_files.end_of_run(run_files, duration or work_files.DEFAULT_SPAN)
    if remaining:
        work_files.set_task(run_files, "remaining", _parse_count(remaining))
    was_cut_off = guard_module("work").was_cut_off(work_files.as_call(run_files))
    work_files.begin(run_files, end)
    with whose_work.locked(run_files):
        owner = _start_owner(run_files, owner, whose_work.find_caller(folders))
    span = clock.age(end - run_files.now) + ("" if duration else ", the default")
    cost = _ARMED
    if run_files.settings.mode == "keepalive":
        cost = cost_of_run(run_files.settings.keepalive_cap)
    return [
        f"a run of {run_files.project} begins, for {owner}; STOP and CONCLUDE are cleared",
        f"running until {clock.local(end)} (in {span}); {cost}",
        *[_CUT_OFF] * was_cut_off,
        *_describe_work(run_files),
    ]


def _start_owner(run_files: RunFiles, owner: str, caller: Caller) -> str:
    """Decide who owns a run's work; the owner in words."""
    if owner not in ("", NOBODY):
        whose_work.name_owner(run_files, owner)
        return f"session {owner}"
    if caller.session and not owner:
        holder = whose_work.find_work(run_files).holder
        is_taken = bool(holder.session) and not holder.is_gone
        whose_work.take(run_files, caller)
        text = f"session {caller.session}"
        if is_taken and not whose_work.is_holder(caller, holder):
            text += f" (before, {whose_work.name_holder(holder)})"
        return text
    whose_work.free(run_files)
    return whose_work.describe_next(run_files)


def _remaining(folders: Folders, run_files: RunFiles, owner: str, count: str) -> list[str]:
    if not count:
        raise usage_error("how much is left?", "Give a number: `hookctl run remaining 3`.")
    number = _parse_count(count)
    work_files.require_short_owner(owner)
    with whose_work.locked(run_files):
        before = whose_work.find_work(run_files)
        work_files.set_task(run_files, "remaining", number)
        work_files.forget_stillness(run_files)
        said = _hand_over(run_files, owner, whose_work.find_caller(folders), before, number)
    return [*_describe_work(run_files), *said]


def _hand_over(
    run_files: RunFiles, owner: str, caller: Caller, before: Work, count: int
) -> list[str]:
    """Decide whose the work is after `run remaining`; the lines that say what changed."""
    holder = before.holder
    is_own = whose_work.is_holder(caller, holder)
    is_waiting = before.remaining > 0 and not before.is_stale
    if owner not in ("", NOBODY):
        whose_work.name_owner(run_files, owner)
        return [f"it belongs to session {owner}, and never passes to another"]
    if owner:
        whose_work.free(run_files)
        return [f"it belongs to {whose_work.describe_next(run_files)}"]
    if caller.session and holder.is_named and not is_own:
        return [f"it stays with {whose_work.name_holder(holder)}, which --owner named"]
    if count == 0:
        whose_work.free(run_files)
        return []
    if caller.session:
        return _take_over(run_files, caller, before, is_own=is_own)
    if is_waiting or holder.is_named:
        return []
    whose_work.free(run_files)
    return []


def _take_over(run_files: RunFiles, caller: Caller, before: Work, *, is_own: bool) -> list[str]:
    """Give the work to the session that reports on it, unless --owner gave it to this one."""
    holder = before.holder
    if is_own and holder.is_named:
        return []
    whose_work.take(run_files, caller)
    if is_own:
        return []
    line = f"it belongs to this session ({caller.session}) now"
    if holder.session and not holder.is_gone:
        line += f", and no longer to {whose_work.name_holder(holder)}"
    return [line]


def _release(folders: Folders, run_files: RunFiles) -> list[str]:
    caller = whose_work.find_caller(folders)
    with whose_work.locked(run_files):
        work = whose_work.find_work(run_files)
        holder = work.holder
        if not holder.session:
            return ["no session holds this work, so nothing changes"]
        if caller.session and not whose_work.is_holder(caller, holder):
            return [f"this work belongs to {whose_work.name_holder(holder)}"]
        if session_hash(whose_work.find_kept_owner(run_files)) == holder.session:
            name = whose_work.name_holder(holder)
            return [f"it stays with {name}, which another system's file or the setting owner names"]
        whose_work.give_back(run_files, holder, caller)
    return [
        f"given back: {whose_work.name_holder(holder)} is not asked about this work again",
        f"it belongs to {whose_work.describe_next(run_files)}; any session may take new work",
    ]


def _status(run_files: RunFiles) -> list[str]:
    data = _data(run_files)
    ages = {name: clock.age(seconds) for name, seconds in data["ages"].items()}
    heartbeat = "none"
    if data["heartbeat"] is not None:
        heartbeat = _shorten(json.dumps(data["heartbeat"]))
    if "heartbeat" in ages:
        heartbeat += f" ({ages['heartbeat']} ago)"
    armed, left = [], data["active_seconds"]
    if left is not None and left <= 0:
        armed = [f"running    no longer: the run ended {clock.age(-left)} ago"]
    elif left is not None:
        end = clock.local(run_files.now + left)
        armed = [f"running    until {end} (in {clock.age(left)}); {_ARMED}"]
    work = whose_work.find_work(run_files)
    lines = [
        f"project    {run_files.project}",
        f"run folder {run_files.folder}",
        f"remaining  {_describe_remaining(run_files, data['remaining'])}",
        f"heartbeat  {heartbeat}",
        f"owner      {whose_work.describe_owner(run_files, work)}",
        *_describe_age(run_files, work),
        *armed,
        *_describe_chain(data),
    ]
    if data["ignored"]:
        lines.append(
            "ignored    an agent stopped although the guard had reminded it of a tool; "
            "a prompt to it or `hookctl run start` clears this"
        )
    for name, meaning in _MEANINGS.items():
        if name in ages:
            lines.append(f"{name:10} since {ages[name]}: {meaning}")
    if BREADCRUMB in ages:
        lines.append(f"breadcrumb {ages[BREADCRUMB]} old: {_CRUMB}")
    if "task.json" in ages:
        name = os.path.basename(run_files.task)  # of another system's, under a preset
        lines.append(f"{name:10} written {ages['task.json']} ago")
    return lines


def _describe_age(run_files: RunFiles, work: Work) -> list[str]:
    """How old the work is, if some waits."""
    if not work.remaining:
        return []
    age = clock.age(run_files.now - work.touched)
    if not work.is_stale:
        return [f"touched    {age} ago"]
    return [
        f"stale      untouched for {age}, so the guard ignores this work; "
        f"{run_files.reported_by} renews it"
    ]


def _needs_a_look(run_files: RunFiles) -> bool:
    """Whether work that a person may count on is left alone, or a reminder was ignored."""
    if _has_ignored_reminder(run_files):
        return True
    try:
        work_files.parse(files.read(run_files.task).data or b"{}", run_files.task)
    except HookctlError:
        return True
    work = whose_work.find_work(run_files)
    return work.is_stale or (work.remaining > 0 and work_files.has_let_go(run_files))


def _has_ignored_reminder(run_files: RunFiles) -> bool:
    """Whether a session stopped in spite of a reminder, and that is not settled.

    A prompt or the tool's call settles it; the next `run start`, or 12 hours, settle all.
    """
    since = work_files.begin_of_run(run_files, clock.seconds(work_files.DEFAULT_SPAN))
    sessions = set()
    for line in events.read_folder(run_files.state):
        if line.get("event") == "stop" and line.get(events.IGNORED) is True and line["t"] >= since:
            sessions.add(str(line.get("session")))
    return not all(work_files.is_reminder_settled(run_files, session) for session in sessions)


def _describe_chain(data: dict[str, Any]) -> list[str]:
    """How often the newest session was blocked, and the agent started again."""
    parts = []
    if data["blocks"]:
        blocks = amount(data["blocks"], "time")
        in_a_row = f", {data['depth']} in a row" if data["depth"] else ""
        parts.append(f"{blocks} since the last prompt{in_a_row}")
    if data["respawns"]:
        parts.append(f"started again {amount(data['respawns'], 'time')} by supervise")
    return [f"kept on    {'; '.join(parts)}"] if parts else []


def _data(run_files: RunFiles) -> dict[str, Any]:
    """The run as `--json` shows it."""
    task = work_files.read_task(run_files)
    end = work_files.read_end(run_files)
    work = whose_work.find_work(run_files)
    shown = whose_work.as_data(run_files, work)
    seconds_left = None if end is None else end - run_files.now
    is_active = seconds_left is not None and seconds_left > 0
    blocks, depth = work_files.read_chain(run_files)
    return {
        "project": run_files.project,
        "run_dir": run_files.folder,
        "remaining": task.get("remaining"),
        "heartbeat": task.get("heartbeat"),
        **{name: value for name, value in shown.items() if name.startswith("owner")},
        "work_age_seconds": shown["age_seconds"] if work.remaining else None,
        "stale": work.is_stale,
        "ignored": _has_ignored_reminder(run_files),
        "stop": os.path.lexists(os.path.join(run_files.folder, "STOP")),
        "conclude": os.path.lexists(os.path.join(run_files.folder, "CONCLUDE")),
        "active_until": end if is_active else None,
        "active_seconds": seconds_left,
        "blocks": blocks,
        "depth": depth,
        "respawns": supervised.read_respawns(run_files.state),
        "ages": _measure_ages(run_files, task.get("heartbeat")),
    }


def _measure_ages(run_files: RunFiles, heartbeat: Any) -> dict[str, float]:
    """The age of each file in seconds; the heartbeat's own time counts if it is one."""
    paths = {name: os.path.join(run_files.folder, name) for name in ("STOP", "CONCLUDE", "OWNER")}
    paths["task.json"] = run_files.task
    paths[BREADCRUMB] = os.path.join(run_files.state, BREADCRUMB)
    times = {}
    for name, path in paths.items():
        with contextlib.suppress(OSError):
            times[name] = os.lstat(path).st_mtime
    with contextlib.suppress(TypeError, ValueError, OverflowError, AttributeError):
        times["heartbeat"] = datetime.fromisoformat(heartbeat.rstrip("+")).timestamp()
    return {name: max(0.0, run_files.now - moment) for name, moment in times.items()}


def _describe_work(run_files: RunFiles) -> list[str]:
    remaining = work_files.read_task(run_files).get("remaining")
    if remaining is None and run_files.needs_work:
        return [f"no work is named in {run_files.project}: {run_files.reported_by} does"]
    lines = []
    if remaining is not None:
        count = _describe_remaining(run_files, remaining)
        lines.append(f"{count} remaining in {run_files.project}")
    for name in ("STOP", "CONCLUDE"):
        if os.path.lexists(os.path.join(run_files.folder, name)):
            lines.append(
                f"but {name} is there, so the guard lets the agent stop; "
                "`hookctl run start` removes it"
            )
    return lines


def _describe_remaining(run_files: RunFiles, remaining: Any) -> str:
    """The remaining work as the hook understands it."""
    try:
        work_files.parse(files.read(run_files.task).data or b"", run_files.task)
    except HookctlError as error:
        position = f"line {error.line}, column {error.column}"
        return f"unknown, which counts as no work: {error.message} ({position})"
    if remaining is None:
        return "nothing reported" + (", which counts as no work" if run_files.needs_work else "")
    if isinstance(remaining, str) or type(remaining) is int:
        text = str(remaining)
        if re.fullmatch(r"[0-9]{1,18}", text.strip()):
            return text
    return f"{_shorten(json.dumps(remaining))}, not a count, so no work"


def _shorten(text: str) -> str:
    """A text that a person or an agent can read at a glance."""
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


def _parse_count(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise usage_error(f"{text!r} is not a count", "Give a whole number, 0 or more.")
    return int(text)


class Look(NamedTuple):
    """The state of a run's files: remaining work, signs of progress, and STOP or CONCLUDE."""

    remaining: int
    heartbeat: str = ""
    mark: str = ""

    @property
    def task(self) -> str:
        """The values whose change is progress, as one text."""
        return json.dumps([self.remaining, self.heartbeat])


class Ended(NamedTuple):
    """How a wait ended: done, stopped, stalled or timeout."""

    outcome: str
    last: Look
    unmoved: float  # seconds since the work moved, as measured


class Clock(NamedTuple):
    """The time in seconds, and a pause."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def wait(
    folders: Folders, timeout: str, stall: str, project: str, timer: Clock | None = None
) -> Result:
    """Wait until no work is left or it is stopped, it stands still, or the time is up.

    Exit codes: 0 done or stopped, 1 it has not moved for `stall`, 124 the time is up. How long it
    has not moved is kept from one call to the next, since an agent's calls are shorter than that.
    """
    most = clock.seconds(stall) if stall else None
    run_files = work_files.find(folders, work_files.find_project(folders, project))
    timer = timer or Clock()
    begin = timer.now()

    def look() -> Look:
        seen = Look(*work_files.read_progress(run_files), run_files.mark)
        if timer.now() - begin > _TELL_AFTER:
            report.progress(f"{seen.remaining} remaining")
        return seen

    def measure(seen: Look) -> float:
        now = run_files.now + timer.now() - begin
        return work_files.measure_stillness(run_files, seen.task, now) if stall else 0.0

    ended = watch(look, measure, clock.seconds(timeout or DEFAULT_TIMEOUT), most, timer)
    waited = timer.now() - begin
    data: dict[str, Any] = {
        "outcome": ended.outcome,
        "remaining": ended.last.remaining,
        "seconds": round(waited, 1),
    }
    if stall:
        data["unmoved_seconds"] = round(ended.unmoved, 1)
    text = _describe_wait(ended, stall, clock.age(waited), run_files)
    return Result(data, text, exit_code=_EXIT_CODES[ended.outcome])


def watch(
    look: Callable[[], Look],
    measure: Callable[[Look], float],
    timeout: float,
    stall: float | None,
    timer: Clock,
) -> Ended:
    """Look again and again until there is a reason to end the wait.

    `measure` says for how many seconds the work has been as it is seen now.
    """
    begin = timer.now()
    last = look()
    moved_at = begin - measure(last)
    while True:
        now = timer.now()
        left = begin + timeout - now
        if stall is not None:
            left = min(left, moved_at + stall - now)
        outcome = _find_outcome(
            last, left, has_stalled=stall is not None and now - moved_at >= stall
        )
        if outcome:
            return Ended(outcome, last, now - moved_at)
        timer.sleep(min(_PAUSE, left))
        seen = look()
        if seen != last:
            last, moved_at = seen, timer.now() - measure(seen)


def _find_outcome(last: Look, left: float, *, has_stalled: bool) -> str:
    """Why the wait ends now; empty if it goes on."""
    if last.mark:
        return "stopped"
    if last.remaining == 0:
        return "done"
    if has_stalled:
        return "stalled"
    return "" if left > 0 else "timeout"


def _describe_wait(ended: Ended, stall: str, waited: str, run_files: RunFiles) -> tuple[str, ...]:
    remaining = f"{ended.last.remaining} remaining"
    unmoved = f"nothing moved for {clock.age(ended.unmoved)}"
    if ended.outcome == "done":
        if not run_files.needs_work and work_files.is_armed(run_files):
            return ("no work is left to wait for, but the run goes on",)
        return ("no work is left",)
    if ended.outcome == "stopped":
        return (f"{ended.last.mark} is set, {remaining}",)
    if ended.outcome == "stalled":
        advice = f"do not wait again: see what hangs; {run_files.reported_by} starts again"
        return (f"{remaining}, and {unmoved}", advice)
    if stall:
        remaining += f", {unmoved} of {stall}"
    return (f"{remaining}; waited {waited}", "wait again, or do something else")
