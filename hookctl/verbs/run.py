"""hookctl run: report progress to the guard: remaining work, whose it is, a heartbeat, a stop."""

import contextlib
import json
import math
import os
import time
from collections.abc import Iterator
from typing import Any

from hookctl import clock, errors, receipts
from hookctl import work as work_files
from hookctl.errors import HookctlError, require_known, usage_error
from hookctl.model import Line, Message, Result
from hookctl.output.lines import amount, cut, labelled, progress, say
from hookctl.packs.guard import cost_of_run
from hookctl.settings.switches import STOP
from hookctl.system import files, guard_module
from hookctl.system.folders import Folders
from hookctl.system.project import session_hash
from hookctl.work import BREADCRUMB, NOBODY, RunFiles, Work

ACTIONS = ("start", "heartbeat", "remaining", "conclude", "stop", "release", "status", "wait")
_PAUSE = 1.0  # seconds between two looks at a small file
_TELL_AFTER = 5.0  # seconds until progress is shown
_LONGEST_SHOWN = 120  # characters of a value that hookctl did not write
_ARMED = "counts in mode keepalive, or with require_arm"
_MEANINGS = {
    "STOP": "the guard lets the agent stop at once",
    "CONCLUDE": "the guard no longer asks the agent to go on",
}
_IGNORED = (
    "an agent stopped although the guard had reminded it of a tool; "
    "a prompt to it or `hookctl run start` clears this"
)


HELP = """
action ACTION  One of: start, heartbeat, remaining, conclude, stop, release, status, wait.
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
  hookctl run conclude         let agents stop
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
    require_known("action", action, ACTIONS)
    for option, given, actions in (
        ("a number", count, "remaining"),
        ("--remaining", remaining, "start"),
        ("--for", duration, "start"),
        ("--owner", owner, "start and remaining"),
        ("--check", check, "status"),
        ("--timeout", timeout, "wait"),
        ("--stall", stall, "wait"),
    ):
        if given and action not in actions.split():
            text = f"{option} goes with {actions}, not {action}"
            raise usage_error(text, "See `hookctl run --help`.")
    longest = guard_module("files").LINE_LIMIT  # the hook could not read more of it
    if len(os.fsencode(owner.strip())) > longest:
        raise usage_error("the owner's id is too long", f"The guard reads {longest} bytes of it.")
    if action not in ("status", "wait") and folders.has_unfinished_run():
        from hookctl.ownership.run import finish_pending  # late: most calls have none

        try:
            finish_pending(folders, say)
        except HookctlError as error:  # this does not prevent stopping an agent
            say(f"an interrupted run could not be completed: {error}")
    run_files = work_files.find(folders, work_files.find_project(folders, project))
    if action == "wait":
        # Agents end a command of their own after two minutes.
        return _wait(run_files, timeout or "100s", stall)
    warnings = tuple(_warnings(folders, run_files.project))
    work_files.find_caller(run_files, folders)
    lines: list[str] = []
    if action == "start":
        lines = _start(run_files, owner.strip(), remaining, duration)
    elif action == "remaining":
        lines = _remaining(run_files, owner.strip(), count)
    elif action == "release":
        lines = _release(run_files)
    elif action == "heartbeat":
        value, before = clock.stamp(run_files.now), work_files.read_task(run_files)[0]
        while value == before.get("heartbeat"):  # only a change counts as progress
            value += "+"
        work_files.set_task(run_files, "heartbeat", value)
        lines = [f"heartbeat {value}", *_describe_work(run_files)]
    elif action != "status":
        work_files.write_mark(run_files, action.upper(), "")
        work_files.clear(os.path.join(run_files.folder, BREADCRUMB))
        lines = [_describe_mark(action.upper())]
    work, (task, fault) = work_files.find_work(run_files), work_files.read_task(run_files)
    sessions = work_files.read_sessions(run_files)
    last = max(sessions, key=lambda one: one.t, default=guard_module("state").Session())
    data, let_go = _data(run_files, work, task, last), any(one.open for one in sessions)
    text = [Line(one) for one in lines]
    if action == "status":
        text = labelled(_status(run_files, work, data, fault, sessions), indent=0)
    is_left = work.is_stale or (work.remaining > 0 and let_go)
    needs_a_look = check and (data["ignored"] or is_left or fault)
    exit_code = errors.FAILED if needs_a_look else errors.OK
    return Result(data, tuple(text), warnings, exit_code=exit_code)


def _warnings(folders: Folders, project: str) -> Iterator[Message]:
    guards = work_files.installed_guards(folders, project)
    if not guards:
        yield Message("the guard is not installed here: `hookctl install --host NAME`", "note")
    else:
        from hookctl.survey.machine import read_disabled  # late: few have anything disabled

        off = {hook.file for hook in read_disabled(folders) if hook.name == STOP}
        if all(record.known_as in off for record, _ in guards):
            yield Message("the guard is disabled here: `hookctl enable guard`", "note")


def _start(run_files: RunFiles, owner: str, remaining: str, duration: str) -> list[str]:
    end = work_files.end_of_run(run_files, duration or work_files.DEFAULT_SPAN)
    if remaining:
        work_files.set_task(run_files, "remaining", _parse_count(remaining))
    work_files.begin(run_files, end)
    with work_files.locked(run_files):
        if owner or not run_files.session:
            owner = work_files.give_to(run_files, owner or NOBODY)
        else:
            work_files.take(run_files)
            owner = f"session {run_files.session}"
    span = clock.age(end - run_files.now) + ("" if duration else ", the default")
    settings = run_files.settings
    cost = cost_of_run(settings.keepalive_cap) if settings.mode == "keepalive" else _ARMED
    return [
        f"a run of {run_files.project} begins, for {owner}; STOP and CONCLUDE are cleared",
        f"running until {clock.local(end)} (in {span}); {cost}",
        *_describe_work(run_files),
    ]


def _remaining(run_files: RunFiles, owner: str, count: str) -> list[str]:
    if not count:
        raise usage_error("how much is left?", "Give a number: `hookctl run remaining 3`.")
    number = _parse_count(count)
    with work_files.locked(run_files):
        before, session = work_files.find_work(run_files), run_files.session
        is_own = before.holder.is_self(run_files)
        is_waiting = before.remaining > 0 and not before.is_stale
        work_files.set_task(run_files, "remaining", number)
        work_files.forget_stillness(run_files)
        said = [*_describe_work(run_files)]
        if owner:
            said.append(f"it belongs to {work_files.give_to(run_files, owner)}")
        elif session and before.is_named and not is_own:
            said.append(f"it stays with {before.owner}, which --owner named")
        elif number == 0 or not (session or is_waiting or before.is_named):
            work_files.free(run_files)
        elif session and not before.is_named:
            work_files.take(run_files)
            if not is_own:
                text = f"it belongs to this session ({session}) now"
                if not before.is_free:
                    text += f", and no longer to {before.owner}"
                said.append(text)
    return said


def _release(run_files: RunFiles) -> list[str]:
    with work_files.locked(run_files):
        work = work_files.find_work(run_files)
        name, session = work.owner, work.holder.session
        if not session:
            return ["no session holds this work, so nothing changes"]
        # A person, who has no session, may give back anybody's.
        if run_files.session and not work.holder.is_self(run_files):
            return [f"this work belongs to {name}"]
        if session_hash(work_files.find_kept_owner(run_files)) == session:
            return [f"it stays with {name}, which another system's file or the setting owner names"]
        work_files.give_back(run_files, session)
    return [
        f"given back: {name} is not asked about this work again",
        f"it belongs to {work_files.describe_next(run_files)}; any session may take new work",
    ]


def _status(
    run_files: RunFiles, work: Work, data: dict[str, Any], fault: str, sessions: list[Any]
) -> Iterator[tuple[str, str]]:
    ages = {name: clock.age(seconds) for name, seconds in data["ages"].items()}
    yield "project", run_files.project
    yield "run folder", run_files.settings.run_dir
    yield "remaining", _describe_remaining(run_files, data["remaining"], fault)
    heartbeat = data["heartbeat"]
    yield "heartbeat", "none" if heartbeat is None else cut(json.dumps(heartbeat), _LONGEST_SHOWN)
    yield "owner", work_files.describe_owner(run_files, work)
    age = clock.age(run_files.now - work.touched)
    if work.is_stale:
        renews = f"{run_files.reported_by} renews it"
        yield "stale", f"untouched for {age}, so the guard ignores this work; {renews}"
    elif work.remaining:
        yield "touched", f"{age} ago"
    left = data["active_seconds"]
    if left is not None and left <= 0:
        yield "running", f"no longer: the run ended {clock.age(-left)} ago"
    elif left is not None:
        end = clock.local(run_files.now + left)
        yield "running", f"until {end} (in {clock.age(left)}); {_ARMED}"
    if data["blocks"]:
        in_a_row = f", {data['depth']} in a row" if data["depth"] else ""
        yield "kept on", f"{amount(data['blocks'], 'time')} since the last prompt{in_a_row}"
    if count := sum(session.open for session in sessions):
        yield "let go", f"{amount(count, 'session')}, until a new prompt there"
    if data["ignored"]:
        yield "ignored", _IGNORED
    for name, meaning in _MEANINGS.items():
        if name in ages:
            yield name, f"since {ages[name]}: {meaning}"


def _has_ignored_reminder(run_files: RunFiles) -> bool:
    since = run_files.now - clock.seconds(work_files.DEFAULT_SPAN)
    begun = files.written_at(os.path.join(run_files.folder, "ACTIVE")) or 0.0
    since = begun if since < begun <= run_files.now else since
    read_session = guard_module("state").read_session
    for line in receipts.read_folder(run_files.folder):
        is_of_stop = line.get("event") == "stop" and line["t"] >= since
        if is_of_stop and line.get(receipts.IGNORED) is True:
            session = read_session(run_files.folder, str(line.get("session")))
            is_open = session.ignored and session.nudges and not session.terminal
            if is_open or not session.t:  # whose file is gone
                return True
    return False


def _data(run_files: RunFiles, work: Work, task: dict[str, Any], last: Any) -> dict[str, Any]:
    end, shown = work_files.read_end(run_files), work_files.as_data(run_files, work)
    seconds_left = None if end is None else end - run_files.now
    paths = {name: run_files.path_of(name) for name in (*_MEANINGS, "OWNER")}
    paths["task.json"] = run_files.task_path
    paths[BREADCRUMB] = os.path.join(run_files.folder, BREADCRUMB)
    ages = {}  # of each file, in seconds
    for name, path in paths.items():
        with contextlib.suppress(OSError):
            ages[name] = max(0.0, run_files.now - os.lstat(path).st_mtime)
    return {
        "project": run_files.project,
        "run_dir": run_files.settings.run_dir,
        "remaining": task.get("remaining"),
        "heartbeat": task.get("heartbeat"),
        **{name: value for name, value in shown.items() if name.startswith("owner")},
        "work_age_seconds": shown["age_seconds"] if work.remaining else None,
        "stale": work.is_stale,
        "ignored": _has_ignored_reminder(run_files),
        "stop": "STOP" in ages,
        "conclude": "CONCLUDE" in ages,
        "active_until": end if (seconds_left or 0) > 0 else None,
        "active_seconds": seconds_left,
        "blocks": last.total,  # since the last prompt
        "depth": last.host,  # those in a row
        "respawns": work_files.read_respawns(run_files.folder),
        "ages": ages,
    }


def _describe_work(run_files: RunFiles) -> Iterator[str]:
    task, fault = work_files.read_task(run_files)
    remaining = task.get("remaining")
    if remaining is None and run_files.settings.mode != "keepalive":
        yield f"no work is named in {run_files.project}: {run_files.reported_by} does"
        return
    if remaining is not None:
        yield f"{_describe_remaining(run_files, remaining, fault)} remaining in {run_files.project}"
    if run_files.mark:
        yield f"but {_describe_mark(run_files.mark)}"


def _describe_mark(name: str) -> str:
    return f"{name} is set: {_MEANINGS[name]}; `hookctl run start` removes it"


def _describe_remaining(run_files: RunFiles, remaining: Any, fault: str) -> str:
    if fault:
        return f"unknown, which counts as no work: {fault}"
    if remaining is not None:
        return cut(str(remaining), _LONGEST_SHOWN)
    goes_on = run_files.settings.mode == "keepalive"
    return "nothing reported" + ("" if goes_on else ", which counts as no work")


def _parse_count(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise usage_error(f"{text!r} is not a count", "Give a whole number, 0 or more.")
    return int(text)


def _wait(run_files: RunFiles, timeout: str, stall: str) -> Result:
    patience, most = clock.seconds(timeout), clock.seconds(stall) if stall else math.inf
    begin = time.monotonic()
    seen, moved_at, outcome = "", begin, ""
    while not outcome:
        heartbeat, remaining = guard_module("work").read_task(run_files)
        remaining, mark = max(0, remaining), run_files.mark
        now, task = time.monotonic(), json.dumps([remaining, heartbeat])
        if task != seen:
            seen, moved_at = task, now
            if stall:
                since = run_files.now + now - begin
                moved_at -= work_files.measure_stillness(run_files, task, since)
        left = min(begin + patience, moved_at + most) - now
        ends = (
            (mark, "stopped"),
            (remaining == 0, "done"),
            (now - moved_at >= most, "stalled"),
            (left <= 0, "timeout"),
        )
        outcome = next((name for applies, name in ends if applies), "")
        if not outcome:
            if now - begin > _TELL_AFTER:
                progress(f"{remaining} remaining")
            time.sleep(min(_PAUSE, left))
    data = {"outcome": outcome, "remaining": remaining, "seconds": round(now - begin, 1)}
    if stall:
        data["unmoved_seconds"] = round(now - moved_at, 1)
    count, unmoved = f"{remaining} remaining", f"nothing moved for {clock.age(now - moved_at)}"
    again = f"do not wait again: see what hangs; {run_files.reported_by} starts again"
    text = {
        "done": ("no work is left",),
        "stopped": (f"{mark} is set, {count}",),
        "stalled": (f"{count}, and {unmoved}", again),
        "timeout": (f"{count}; {unmoved}", "wait again, or do something else"),
    }
    codes = {"stalled": errors.FAILED, "timeout": errors.TIMED_OUT}
    return Result(data, text[outcome], exit_code=codes.get(outcome, errors.OK))
