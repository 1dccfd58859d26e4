"""Judges whether the hook works: its programs, configuration, Python, self-test and log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hookctl import clock
from hookctl.checks import limits
from hookctl.checks.codes import Finding, describe_error, from_error
from hookctl.checks.facts import (
    Configuration,
    FileFacts,
    GuardRegistration,
    HostFacts,
    Python,
    Trial,
    value_of,
)
from hookctl.checks.programs import CHANGED, MISSING, NEWER, UNREADABLE, ProgramFault
from hookctl.documents import CONFLICT
from hookctl.events import WRAPPED
from hookctl.hosts import loading
from hookctl.masking import masked, masked_text
from hookctl.packs.guard import HOSTS, WRAPS
from hookctl.packs.guard_options import is_valid
from hookctl.settings.effective import STOP
from hookctl.settings.targets import GUARD
from hookctl.system import interpreter, project

LONGEST = 5.0  # seconds for an answer; the host gives the hook 10 unless that was edited
_ENOUGH = 3  # sessions without a line before anything is said
_NEWEST = 200  # sessions that are looked at
_AT_WORK = 300  # seconds since a session was written to in which it may not have stopped yet
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def judge(file: FileFacts) -> Iterator[Finding]:
    """The runtime files of one registration."""
    if file.settings is None:
        return
    yield from judge_mode(file)
    if file.settings.events:
        yield from _judge_interpreter(file, file.python, GUARD)
        yield from judge_configuration(file)
        yield from judge_self_test(file)


def judge_mode(file: FileFacts) -> Iterator[Finding]:
    """Whether the guard was installed switched off."""
    if file.settings is not None and not file.settings.events:
        yield file.find("guard_off")


def judge_programs(file: FileFacts) -> Iterator[Finding]:
    """Whether the programs of a file's hooks are as this version writes them."""
    for id, path in file.lost_programs.items():
        yield file.find("hook_missing", path, whose=id, command=file.repair)
    if file.fault:
        yield _report_fault(file, file.fault, "hookctl", file.repair)


def judge_packs(file: FileFacts) -> Iterator[Finding]:
    """The files of every pack in one settings file, the guard's apart."""
    for name, fault in file.pack_faults.items():
        command = file.repair if fault.kind == MISSING else file.install_of(name)
        yield _report_fault(file, fault, name, command, "warning")


def _report_fault(
    file: FileFacts, fault: ProgramFault, whose: str, command: str, level: str = ""
) -> Finding:
    """The finding about a program; `level` is that of one that was changed."""
    if fault.kind == UNREADABLE and fault.error:
        return from_error(fault.error, file.host.name, fault.path)
    values = {"whose": whose, "command": command}
    if fault.kind == MISSING:
        return file.find("hook_missing", fault.path, **values)
    if fault.kind == CHANGED:
        return file.find("hook_changed", fault.path, level, **values)
    return file.find("hook_newer" if fault.kind == NEWER else "hook_old", fault.path, fault=fault)


def may_be_tried(file: FileFacts) -> bool:
    """Whether a self-test says something: neither the programs nor their Python have a fault.

    The test runs hookctl's own bytes, so it says nothing about an installed program that differs.
    """
    is_there = file.guard is not None and file.python is not None
    if STOP in file.disabled_ids or file.fault or file.lost_programs:
        return False
    return is_there and not any(_judge_interpreter(file, file.python, GUARD))


def judge_runner(file: FileFacts) -> Iterator[Finding]:
    """The Python that runs the commands of packs in Claude Code's protocol."""
    is_guards = file.python is not None and file.python == file.runner_python
    if file.run_packs and not is_guards:
        yield from _judge_interpreter(file, file.runner_python, file.run_packs[0])


def _judge_interpreter(file: FileFacts, python: Python | None, pack: str) -> Iterator[Finding]:
    """The interpreter that starts a launcher; none where nothing starts one."""
    if python is None:
        return
    if python.fault:
        where = "" if python.fault.path == python.path else f"{python.fault.path} "
        yield file.find("loose_mode", python.path, fault=python.fault, where=where)
        return
    version, needed = (".".join(map(str, v or ())) for v in (python.version, interpreter.MINIMUM))
    what = ""
    if not python.is_executable:
        what = "is not there"
    elif python.version is None:
        what = "does not run"
    elif python.version < interpreter.MINIMUM:
        what = f"is {version}; it needs {needed} or later"
    if what:
        fix = f"`{file.install_of(pack)}` chooses another."
        if file.target.shared:
            fix = f"Put a python3 of {needed} or later on PATH."
        yield file.find("interpreter_broken", python.path, what=what, fix=fix)


# The guard's config.json: can the hook read it, and does it mean what it says?


def judge_configuration(file: FileFacts) -> Iterator[Finding]:
    """Faults of the guard's config.json: the hook ignores them silently."""
    config = file.config
    if config is None:
        return
    if config.error or not config.is_there:
        error = describe_error(config.error) if config.error else "it is not there"
        fix = file.again(GUARD)
        if config.error and config.error.message == CONFLICT:
            fix = config.error.hint
        yield file.find("config_unreadable", config.path, error=error, fix=fix)
        return
    for wrong in config.outside:
        yield file.find("config_invalid", config.path, wrong=wrong)
    if not file.is_alone:  # else each value is compared with the record
        yield from _judge_schema(file, config)
    yield from _judge_values(file, config.value, config.path)


def _judge_schema(file: FileFacts, config: Configuration) -> Iterator[Finding]:
    """Settings in config.json that are not as hookctl knows them."""
    schema = file.workplace.schema
    for name, value in config.value.items():
        rule = schema.get(name)
        if name in (HOSTS, WRAPS) or (rule and is_valid(value, rule)):
            continue
        wrong = masked_text(f"{name} cannot be {value!r}" if rule else f"{name} is no setting")
        outcome = _describe_outcome(value, rule or {})
        yield file.find("config_invalid", config.path, wrong=f"{wrong}; the hook {outcome}")


def _describe_outcome(value: Any, rule: Mapping[str, Any]) -> str:
    """What the hook does with an invalid value: it uses the nearest bound, or the default."""
    if type(value) is int:
        nearest = max(value, rule.get("minimum", value))
        nearest = min(nearest, rule.get("maximum", nearest))
        if nearest != value:
            return f"takes {nearest}"
    return "ignores it"


def _judge_values(file: FileFacts, value: dict[str, Any], path: str) -> Iterator[Finding]:
    if file.has_other_mode:
        # A committed record says what the team wants; elsewhere it is the operator's choice.
        level = "error" if value["mode"] == "off" and file.target.shared else "warning"
        changed, again = f"mode is {value['mode']}", file.again(GUARD)
        yield file.find("config_changed", path, level, changed=changed, again=again)
    named = value.get("state_dir")
    is_elsewhere = isinstance(named, str) and named and named != file.workplace.state
    is_ours = file.target.shared or file.workplace.environ.get("HOOKCTL_STATE_DIR")
    if is_elsewhere and not is_ours:
        yield file.find("state_elsewhere", path, named=named)


# The self-test: the guard's own copy is asked whether it keeps what mode and events promise.

_PROMISES = {  # what it does not do where it breaks them
    "block": "does not block a stop while work remains",
    "end": "does not end a chain of stops that another hook forces",
    "refuse": "does not refuse a tool call that is repeated",
}


def judge_self_test(file: FileFacts) -> Iterator[Finding]:
    """Whether the guard does in a self-test what its configuration promises."""
    trial, config = file.trial, file.config
    if not trial or config is None:
        return
    fails, allowed = _PROMISES[trial.promised], _find_time_limit(file)
    why = ""
    # The agent of a project runs on another machine.
    if trial.answer.seconds > allowed and not file.is_alone:
        why = f"it took {trial.answer.seconds:.1f} s of the {allowed:g} s allowed"
    elif not trial.is_kept and not trial.settings and not trial.variables:
        why = f"it answered {' '.join(trial.answer.text.split()) or 'nothing'}"
    if why:
        values = {"fails": fails, "why": f"in a self-test {why}", "fix": file.again(GUARD)}
        yield file.find("self_test_failed", config.path, **values)
    if trial.is_kept:
        return
    level = "warning" if file.target.shared else "error"  # perhaps the team wants just that
    for name in trial.settings:
        why = f"{name} is {json.dumps(masked(config.value[name], name))}"
        values = {"fails": fails, "why": why, "fix": f"Remove it, or `{file.install} --reset`."}
        yield file.find("self_test_failed", config.path, level, **values)
    yield from _judge_variables(file, trial, fails)


def _judge_variables(file: FileFacts, trial: Trial, fails: str) -> Iterator[Finding]:
    """Each variable that keeps the guard from what its configuration promises."""
    for name in trial.variables:
        given = value_of(file.reaching, {}, name)
        # Every variable that switches the guard off has a finding of its own.
        if not limits.off_by_variable(name, given.text, file.config and file.config.value):
            place = f"{given.source.scope} scope" if given.source else "this shell"
            effect = f"is set, so the guard {fails}"
            yield limits.report_variable(file, given.path, name, effect, place)


def _find_time_limit(file: FileFacts) -> float:
    """How long an answer may take: less than the host waits for it."""
    allowed = LONGEST
    for hook_entry in file.elements:
        if hook_entry.id == STOP:
            given = loading.timeout_seconds(file.host, hook_entry.fields)
            allowed = min(allowed, given) if given and given > 0 else allowed
    return allowed


# Does the host really call the hook? Judged by the guard's log, and sessions without a line in it.


def judge_silence(facts: HostFacts) -> Iterator[Finding]:
    """Sessions of the host that should have left a line in the guard's log, but did not."""
    everywhere = []
    for registration in facts.guards:
        if registration.hook.scope == "user":
            everywhere.append(registration)
    # A guard of one project says nothing about sessions elsewhere.
    if not everywhere or not facts.sessions:
        return
    logged = set()
    for line in facts.log:
        if line.get("host") == facts.host.name and line.get("event") != WRAPPED:
            logged.add(str(line.get("session")))
    silent: list[float] = []
    for name, at in _list_recent_sessions(facts, everywhere):
        if project.session_hash(name) in logged:
            break
        silent.append(at)
    if len(silent) >= _ENOUGH:
        path, fire = everywhere[0].hook.file, "hookctl fire stop --hook guard/stop"
        seen = f"{len(silent)} sessions ended, the last at {clock.local(silent[0])}"
        yield facts.find("hook_silent", path, id=STOP, seen=seen, fire=fire)


def _list_recent_sessions(
    facts: HostFacts, registrations: list[GuardRegistration]
) -> list[tuple[str, float]]:
    """The host's newest finished sessions since the guard was registered, newest first."""
    since = max(registration.since or 0.0 for registration in registrations)
    end = facts.workplace.now - _AT_WORK
    sessions = []
    for name, at in facts.sessions:
        if since < at < end and _SESSION.fullmatch(name):
            sessions.append((name, at))
    return sorted(sessions, key=lambda session: session[1], reverse=True)[:_NEWEST]
