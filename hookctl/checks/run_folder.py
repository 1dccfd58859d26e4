"""Judges the run folder: can the guard read .hookctl/run, and does it mean what it seems to?"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator

from hookctl import clock
from hookctl.checks.codes import Finding
from hookctl.checks.facts import GuardRegistration, HostFacts, Run
from hookctl.checks.running_guards import at_work
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.packs.guard_options import value_in_effect
from hookctl.packs.reports import how_to_renew, name_report
from hookctl.system import project

OWNER = "OWNER"
_SOON = 30 * 60  # seconds
_LARGEST = 64 * 1024  # bytes of task.json, to the hook


def judge(facts: HostFacts) -> Iterator[Finding]:
    """The run folder of the project that the working folder is in, if a guard reads it."""
    guards = at_work(facts)
    if not guards or facts.run is None:
        return
    run = facts.run
    remaining, fault = _read_remaining(run)
    yield from _judge_files(facts, run)
    if fault:
        message = f"the guard cannot read this, so it sees no work: {fault}"
        fix = f"Fix or remove it; {name_report(run.task_path, run.task_names)} says what is left."
        yield facts.find("task_unreadable", message, fix, run.task_path)
    if remaining > 0:
        stopped = list(_judge_stopped(facts, run, remaining))
        yield from stopped or _judge_work(facts, guards[0], run, remaining)
    yield from _judge_owner(facts, run)
    yield from _judge_run_end(facts, run, remaining, must=_requires_run(facts, guards[0]))


def _requires_run(facts: HostFacts, registration: GuardRegistration) -> bool:
    config = registration.config
    if value_in_effect("mode", config, facts.variables) == "keepalive":
        return True
    return value_in_effect("require_arm", config, facts.variables) is True


def _judge_files(facts: HostFacts, run: Run) -> Iterator[Finding]:
    """Links, through which `hookctl run` does not write, and what is no file at all."""
    for entry in run.paths:
        is_folder = entry.path in (run.own, run.folder)
        fits = stat.S_ISDIR(entry.mode) if is_folder else stat.S_ISREG(entry.mode)
        if stat.S_ISLNK(entry.mode):
            message = "this is a link, and `hookctl run` does not write through it"
        elif not fits and os.path.basename(entry.path) not in project.MARKS:
            message = (
                f"this is not a {'folder' if is_folder else 'regular file'}, so the guard "
                "cannot read it"
            )
        elif not entry.may_read or (is_folder and not entry.may_enter):
            message = "this is not readable, so the guard does not see it"
        else:
            continue
        yield facts.find(
            "run_unusable", message, "Replace it with a plain file or folder.", entry.path
        )


def _read_remaining(run: Run) -> tuple[int, str]:
    """How much work is left, to the hook, and what is wrong with the file that says so."""
    if run.task_error:
        return 0, run.task_error.message
    if run.task is None:
        return 0, ""
    if len(run.task) > _LARGEST:
        return 0, "it is larger than 64 KiB"
    try:
        document = JsonDocument.parse(
            run.task, where=run.task_path, comments=False, trailing_commas=False
        )
    except HookctlError as error:
        return 0, error.message
    value = document.value
    name = run.task_names.get("remaining", "remaining")
    number = value.get(name) if isinstance(value, dict) else value
    if number is None:
        return 0, ""
    text = str(number).strip() if isinstance(number, str) or type(number) is int else ""
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        return 0, "`remaining` is not a whole number" if isinstance(
            value, dict
        ) else "it is not a JSON object"
    return max(0, int(text)), ""


def _judge_stopped(facts: HostFacts, run: Run, remaining: int) -> Iterator[Finding]:
    for entry in run.paths:
        name = os.path.basename(entry.path)
        if name in project.MARKS and entry.path == os.path.join(run.folder, name):
            message = (
                f"{name} exists although work remains ({remaining}), so the guard lets the "
                "agent stop"
            )
            yield facts.find("run_stopped", message, "`hookctl run start` removes it.", entry.path)


def _judge_work(
    facts: HostFacts, registration: GuardRegistration, run: Run, remaining: int
) -> Iterator[Finding]:
    """Work that waits, where the guard may keep an agent at it."""
    mode = facts.variables.get("HOOKCTL_MODE", "") or registration.config.get("mode")
    if mode == "guard":
        return
    age = clock.age(run.work.age)
    if run.work.is_stale:
        message = f"work waits ({remaining}), but nobody touched it for {age}: it is ignored"
        fix = f"{how_to_renew(run.task_path, run.task_names)}."
        yield facts.find("work_stale", message, fix, run.task_path)
        return
    message = f"work waits ({remaining}) for {run.work.owner}; touched {age} ago"
    yield facts.find("work_waiting", message, "", run.task_path)


def _judge_owner(facts: HostFacts, run: Run) -> Iterator[Finding]:
    """An owner that never shows up, while other sessions are let go because of it."""
    lines = [line for line in facts.log if line["project"] == run.log_folder]
    seen = {line.get("session") for line in lines}
    others = {
        str(line.get("session"))
        for line in lines
        if line["t"] > run.owner_since and line.get("session")
    }
    is_unseen = bool(others) and project.session_hash(run.owner) not in seen
    if run.owner and run.work.is_fixed and is_unseen:
        message = (
            "the work belongs to a session that never stopped here; the guard lets the "
            f"{len(others)} that did stop freely"
        )
        fix = "`hookctl run remaining N --owner none` leaves it to the next session."
        if run.task_names:
            fix = "`hookctl run release` leaves it to another session."
        yield facts.find("owner_unseen", message, fix, run.owner_path)


def _judge_run_end(facts: HostFacts, run: Run, remaining: int, *, must: bool) -> Iterator[Finding]:
    """ACTIVE, which arms the guard until a moment."""
    end, now, path = _read_end(run), facts.now, run.active_path
    if run.active is not None and end is None:
        message = "this does not say when the run ends, so the guard sees no run"
        yield facts.find("active_unreadable", message, "`hookctl run start` writes it again.", path)
    elif end is not None and now < end <= now + _SOON:
        level = "warning" if must else "info"
        message = f"the run ends in {clock.age(end - now)}, at {clock.local(end)}"
        fix = "`hookctl run start --for 12h` extends it."
        yield facts.find("run_ends_soon", message, fix, path, level)
    elif must and remaining > 0 and (end is None or end <= now):
        message = (
            f"work remains ({remaining}), but no run is active, so the guard lets the agent stop"
        )
        yield facts.find("not_armed", message, "`hookctl run start` starts one.", path)


def _read_end(run: Run) -> float | None:
    """When the run ends; None where nothing says so."""
    try:
        return clock.timestamp((run.active or b"").decode("ascii").strip())
    except UnicodeDecodeError:
        return None
