"""Judges whether the hook works: its programs, configuration, Python, self-test and log."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from hookctl import clock
from hookctl.checks import limits
from hookctl.checks.codes import Finding, describe_error
from hookctl.checks.facts import (
    Configuration,
    FileFacts,
    GuardRegistration,
    HostFacts,
    PackSource,
    Python,
    Trial,
    value_of,
)
from hookctl.checks.programs import CHANGED, MISSING, NEWER, OLD, UNREADABLE, ProgramFault
from hookctl.documents import CONFLICT
from hookctl.events import WRAPPED
from hookctl.hosts import loading
from hookctl.masking import masked, masked_text
from hookctl.model import PackRecord
from hookctl.packs import guard
from hookctl.packs.choices import Settings
from hookctl.packs.guard import HOSTS, WRAPS
from hookctl.packs.guard_options import find_faults, in_effect
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
        yield from _judge_interpreter(file, file.python)
        yield from judge_configuration(file)
        yield from judge_self_test(file)


def judge_mode(file: FileFacts) -> Iterator[Finding]:
    """Whether the guard was installed switched off."""
    if file.settings is not None and not file.settings.events:
        yield file.find("guard_off")


def judge_programs(file: FileFacts) -> Iterator[Finding]:
    """Whether the programs of a file's hooks are as this version writes them."""
    fault, shared = file.fault, file.target.shared
    for id, path in file.lost_programs.items():
        yield file.find("hook_missing.moved", path, id=id)
    if fault is None:
        return
    if fault.kind == UNREADABLE:
        yield file.find("hook_unreadable", fault.path, error=fault.error, pack="")
    elif fault.kind == MISSING:
        yield file.find("hook_missing.shared" if shared else "hook_missing", fault.path)
    else:
        entry = {OLD: "hook_old", NEWER: "hook_newer", CHANGED: "hook_unknown"}[fault.kind]
        yield file.find(entry, fault.path, fault=fault)


def may_be_tried(file: FileFacts) -> bool:
    """Whether a self-test says something: neither the programs nor their Python have a fault.

    The test runs hookctl's own bytes, so it says nothing about an installed program that differs.
    """
    is_there = file.guard is not None and file.python is not None
    if f"{GUARD}/stop" in file.disabled_ids or file.fault:
        return False
    return is_there and not any([*judge_programs(file), *_judge_interpreter(file, file.python)])


def _judge_interpreter(file: FileFacts, python: Python | None) -> Iterator[Finding]:
    """The interpreter that starts a launcher; none where nothing starts one."""
    if python is None:
        return
    shared = file.target.shared
    if not python.is_executable:
        entry = "interpreter_missing.shared" if shared else "interpreter_missing"
        yield file.find(entry, python.path)
    elif python.fault:
        where = "" if python.fault.path == python.path else f"{python.fault.path} "
        entry = "interpreter_unsafe.shared" if shared else "interpreter_unsafe"
        yield file.find(entry, python.path, python=python, where=where)
    elif python.version is None:
        yield file.find("interpreter_broken", python.path)
    elif python.version < interpreter.MINIMUM:
        version, needed = (".".join(map(str, v)) for v in (python.version, interpreter.MINIMUM))
        yield file.find("interpreter_old", python.path, version=version, needed=needed)


# The guard's config.json: can the hook read it, and does it mean what it says?


def judge_configuration(file: FileFacts) -> Iterator[Finding]:
    """Faults of the guard's config.json: the hook ignores them silently."""
    config = file.config
    if config is None:
        return
    if config.error:
        error = config.error
        fix = f"{error.hint} Or {file.again(GUARD)}".removeprefix(" Or ")
        if error.message == CONFLICT:
            fix = error.hint
        yield file.find("config_unreadable", config.path, error=describe_error(error), fix=fix)
    elif not config.is_there:
        yield file.find("config_missing", config.path)
    else:
        for wrong in config.outside:
            yield file.find("config_invalid.outside", config.path, wrong=wrong)
        if not file.is_alone:  # else each value is compared with the record
            yield from _judge_schema(file, config)
        yield from _judge_values(file, config.value, config.path)
        yield from _judge_events(file, config)


# The settings that need an event: what they are called, and the option that registers its hook.
_NEEDS = {
    "stop": ("mode", "--mode {mode}"),
    "pre-tool": ("dispatch_tools", "--dispatch {tools}"),
    "session-start": ("guidance", "--guidance"),
}


def _judge_events(file: FileFacts, config: Configuration) -> Iterator[Finding]:
    """Settings in config.json that need an event for which no hook of the guard is registered.

    An event that the recorded settings need too has a finding of its own.
    """
    if file.settings is None or file.current is None:
        return
    options = in_effect(config.value, {})
    mode = str(options.get("mode", file.settings.mode))
    needed = guard.events(Settings(mode, options), file.host)
    known = {*guard.events(file.settings, file.host), *_registered_events(file)}
    for event, (name, option) in _NEEDS.items():
        if event in needed and event not in known:
            tools = " --dispatch ".join(map(shlex.quote, options.get("dispatch_tools", ())))
            install = f"{file.install} {option.format(mode=mode, tools=tools)}"
            values = {"name": name, "event": file.host.events[event], "install": install}
            yield file.find("setting_idle", config.path, **values)


def _registered_events(file: FileFacts) -> list[str]:
    return [hook.id.partition("/")[2] for hook in file.elements if hook.pack == GUARD]


def _judge_schema(file: FileFacts, config: Configuration) -> Iterator[Finding]:
    """Settings in config.json that are not as hookctl knows them."""
    schema = file.workplace.schema
    settings = {name: value for name, value in config.value.items() if name not in (HOSTS, WRAPS)}
    for name, fault in find_invalid_settings(settings, schema):
        wrong = masked_text(fault)
        outcome = _describe_outcome(settings.get(name), schema.get(name, {}))
        yield file.find("config_invalid", config.path, name=name, wrong=wrong, outcome=outcome)


def _describe_outcome(value: Any, rule: Mapping[str, Any]) -> str:
    """What the hook does with an invalid value: it uses the nearest bound, or the default."""
    if type(value) is int:
        nearest = max(value, rule.get("minimum", value))
        nearest = min(nearest, rule.get("maximum", nearest))
        if nearest != value:
            return f"takes {nearest}"
    return "ignores it"


def find_invalid_settings(
    value: Mapping[str, Any], schema: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """The settings that break their schema: the name of each, and what is wrong with it."""
    unknown = [repr(name) for name in sorted(value) if name not in schema]
    if unknown:
        were = "was" if len(unknown) == 1 else "were"
        wrong = f"Additional properties are not allowed ({', '.join(unknown)} {were} unexpected)"
        yield "the configuration", wrong
    for name, rule in schema.items():
        if name in value:
            yield from find_faults(name, value[name], rule)


def _judge_values(file: FileFacts, value: dict[str, Any], path: str) -> Iterator[Finding]:
    shared = file.target.shared
    chosen = file.settings.mode if file.settings else ""
    if value.get("mode") == "off" and chosen != "off":
        # A committed record says what the team wants; elsewhere it is the operator's choice.
        entry = "guard_off.shared" if shared else "guard_off.configured"
        yield file.find(entry, path, again=file.again(GUARD))
    elif file.has_other_mode:
        mode = str(value["mode"])
        yield file.find("config_changed.mode", path, mode=mode, recorded=chosen)
    soft, progress = value.get("max_soft_resets"), value.get("progress")
    is_by_action = not isinstance(progress, list) or "action" in progress
    if type(soft) is int and soft <= 0 and is_by_action:
        yield file.find("no_soft_limit", path, soft=soft)
    named = value.get("state_dir")
    is_elsewhere = isinstance(named, str) and named and named != file.workplace.state
    if is_elsewhere and not shared and not file.workplace.environ.get("HOOKCTL_STATE_DIR"):
        entry = "state_elsewhere.kept" if file.has_other_state else "state_elsewhere"
        yield file.find(entry, path, named=named)


# The self-test: the guard's own copy is asked whether it keeps what mode and events promise.

_PROMISES = {  # each in words: when it is done, and when it is not
    "block": ("it blocked a stop while work remained", "does not block a stop while work remains"),
    "end": ("it ended a chain of stops", "does not end a chain of stops that another hook forces"),
    "refuse": ("it refused a repeated tool call", "does not refuse a tool call that is repeated"),
}


def judge_self_test(file: FileFacts) -> Iterator[Finding]:
    """Whether the guard does in a self-test what its configuration promises."""
    trial = file.trial
    if not trial:
        return
    allowed, answer = _find_time_limit(file), trial.answer
    hook = file.config.path if file.config else ""
    did, fails = _PROMISES[trial.promised]
    if answer.seconds > allowed and not file.is_alone:  # else the agent runs on another machine
        yield file.find("hook_slow", hook, seconds=answer.seconds, allowed=allowed)
    elif trial.is_kept:
        yield file.find("self_test_passed", hook, did=did)
    elif not trial.settings and not trial.variables:
        text = " ".join(answer.text.split()) or "nothing"
        yield file.find("self_test_failed", hook, answer=text, again=file.again(GUARD))
    if file.config is not None and not trial.is_kept:
        yield from _judge_causes(file, file.config, trial, fails)


def _judge_causes(
    file: FileFacts, config: Configuration, trial: Trial, fails: str
) -> Iterator[Finding]:
    """Each setting and variable that keeps the guard from what its configuration promises."""
    level = "warning" if file.target.shared else "error"  # perhaps the team wants just that
    for name in trial.settings:
        value = json.dumps(masked(config.value[name], name))
        entry = "self_test_failed.setting"
        yield file.find(entry, config.path, level, name=name, value=value, fails=fails)
    for name in trial.variables:
        given = value_of(file.reaching, {}, name)
        # Every variable that switches the guard off has a finding of its own.
        if not limits.off_by_variable(name, given.text, config.value):
            place = f"{given.source.scope} scope" if given.source else "this shell"
            yield limits.report_variable(
                file, given.path, name, f"is set, so the guard {fails}", place
            )


def _find_time_limit(file: FileFacts) -> float:
    """How long an answer may take: less than the host waits for it."""
    allowed = LONGEST
    for hook_entry in file.elements:
        if hook_entry.id == "guard/stop":
            given = loading.timeout_seconds(file.host, hook_entry.fields)
            allowed = min(allowed, given) if given and given > 0 else allowed
    return allowed


# Packs: are their files unchanged, and is the pack's own file still there?


def judge_packs(file: FileFacts) -> Iterator[Finding]:
    """The files of every pack in one settings file, the guard's apart."""
    for name, fault in file.pack_faults.items():
        yield from _judge_pack_files(file, name, fault)
    for name, source in file.pack_sources.items():
        yield from _judge_pack_source(file, name, file.packs[name], source)


def judge_runner(file: FileFacts) -> Iterator[Finding]:
    """The Python that runs the commands of packs in Claude Code's protocol."""
    is_guards = file.python is not None and file.python == file.runner_python
    if not is_guards:
        for found in _judge_interpreter(file, file.runner_python):
            again = f"`{file.install_of(file.run_packs[0])}`"
            yield found._replace(fix=found.fix.replace(f"`{file.install}`", again))


def judge_fine_packs(file: FileFacts, findings: list[Finding]) -> Iterator[Finding]:
    """A line for each pack of a file without a bad finding."""
    if any(finding.level in ("error", "warning") for finding in findings):
        return
    for name, pack_record in file.packs.items():
        if name == GUARD or any(id.startswith(f"{name}/") for id in file.disabled_ids):
            continue
        hooks = sum(hook_entry.pack == name for hook_entry in file.elements)
        what = f"{hooks} hook" if hooks == 1 else f"{hooks} hooks"
        if pack_record.files:
            count = len(pack_record.files)
            what += f", {count} file" if count == 1 else f", {count} files"
        yield file.find("pack_fine", pack=name, version=pack_record.version, what=what)


def _judge_pack_files(file: FileFacts, pack: str, fault: ProgramFault) -> Iterator[Finding]:
    if fault.kind == UNREADABLE:
        yield file.find("hook_unreadable", fault.path, error=fault.error, pack=f"{pack}: ")
    elif fault.kind == MISSING:
        yield file.find("hook_missing.pack", fault.path, pack=pack)
    else:
        yield file.find("hook_changed", fault.path, pack=pack, install=file.install_of(pack))


def _judge_pack_source(
    file: FileFacts, name: str, pack_record: PackRecord, source: PackSource
) -> Iterator[Finding]:
    """The file that a pack was installed from."""
    if source.error:
        yield file.find("pack_gone.unreadable", source.path, pack=name, source=source)
    elif source.name != name:
        yield file.find("pack_gone", source.path, pack=name, source=source)
    elif source.version != pack_record.version:
        version, install = pack_record.version, file.install_of(name)
        values = {"source": source, "pack": name, "version": version, "install": install}
        yield file.find("pack_old", source.path, **values)


# Does the host really call the hook? Judged by the guard's log, and sessions without a line in it.


def judge_last_run(file: FileFacts) -> Iterator[Finding]:
    """When the hook last ran, by its log."""
    if file.guard is None or file.guard.settings.get("mode") == "off":
        return
    if f"{GUARD}/stop" in file.disabled_ids:
        return
    since = float("inf") if file.program_since is None else file.program_since
    lines = [line for line in file.log if line["t"] > since - 1]  # not before it was there
    if file.log_folder:
        lines = [line for line in lines if line["project"] == file.log_folder]
    if not lines:
        yield file.find("never_ran")
        return
    last = lines[-1]
    age, at = clock.age(file.workplace.now - last["t"]), clock.local(last["t"])
    decision, reason = last.get("decision"), last.get("code")
    yield file.find("last_ran", age=age, at=at, decision=decision, reason=reason)


def judge_silence(facts: HostFacts) -> Iterator[Finding]:
    """Sessions of the host that should have left a line in the guard's log, but did not."""
    everywhere = []
    for registration in facts.at_work:
        if registration.hook.source.scope == "user":
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
        entry = "hook_silent.debug" if facts.host.client.debug else "hook_silent"
        path, last = everywhere[0].hook.source.path, clock.local(silent[0])
        yield facts.find(entry, path, count=len(silent), at=last)


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
