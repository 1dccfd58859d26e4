"""Judges whether the hook works: programs, configuration, Python, self-test, log and client."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hookctl import clock
from hookctl.checks import own_hooks
from hookctl.checks.codes import Finding, describe_error
from hookctl.checks.facts import (
    Client,
    Configuration,
    FileFacts,
    GuardRegistration,
    HostFacts,
    PackSource,
    ProgramFile,
    Python,
    value_of,
)
from hookctl.checks.running_guards import at_work
from hookctl.checks.trial import Trial
from hookctl.events import WRAPPED
from hookctl.hosts import commands, loading
from hookctl.masking import masked_text
from hookctl.model import PackRecord
from hookctl.packs.choices import settings_from
from hookctl.packs.guard import HOSTS
from hookctl.packs.guard_options import find_faults
from hookctl.packs.model import MISSING, NEWER, RELEASED, UNKNOWN
from hookctl.packs.wrapping import PROGRAM as WRAPPER
from hookctl.settings.targets import GUARD
from hookctl.system import interpreter, project
from hookctl.system.packages import HOOK

LONGEST = 5.0  # seconds for an answer; the host gives the hook 10 unless somebody edited that
_ENOUGH = 3  # sessions without a line before anything is said
_NEWEST = 200  # sessions that are looked at
_AT_WORK = 300  # seconds since a session was written to in which it may not have stopped yet
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def judge(file: FileFacts) -> Iterator[Finding]:
    """The runtime files of one registration."""
    if file.guard is None:
        return
    yield from _judge_origin(file)
    yield from judge_mode(file)
    if settings_from(file.guard.settings).events:
        yield from _judge_programs(file)
        yield from judge_configuration(file)
        yield from judge_self_test(file)


def judge_mode(file: FileFacts) -> Iterator[Finding]:
    """Whether the guard was installed switched off."""
    if file.guard is not None and not settings_from(file.guard.settings).events:
        fix = f"`{file.install} --mode breaker` switches it on."
        yield file.find("guard_off", "the guard is off", fix)


def _judge_programs(file: FileFacts) -> Iterator[Finding]:
    """The interpreter and the guard's own programs."""
    if file.python:
        yield from _judge_interpreter(file, file.python)
    for id, path in file.lost_programs.items():
        message = f"{id} runs a program that is not there"
        yield file.find("hook_missing", message, "`hookctl doctor --fix` finds it again.", path)
    for program in file.programs:
        wrong = list(_judge_program(file, program)) if program.name != WRAPPER else []
        if wrong:
            yield from wrong
            return  # the first fault of a package says enough


def program_to_try(file: FileFacts) -> str:
    """The program that a self-test stands for, or '' if it or its interpreter has a fault.

    The test runs hookctl's own bytes, so it says nothing about an installed program that differs.
    """
    if file.guard is None or file.python is None:
        return ""
    if any([*_judge_origin(file), *_judge_programs(file)]):
        return ""
    return next(program.path for program in file.programs if program.name != WRAPPER)


def _judge_origin(file: FileFacts) -> Iterator[Finding]:
    """Whether the guard's programs are ones that hookctl released, whatever a record says."""
    origin = file.origin
    if origin is None:
        return
    if origin.kind == NEWER:
        message = (
            f"the hook is of hookctl {origin.version}, as its record says; "
            "this older hookctl cannot tell whether that is true"
        )
        fix = f"Upgrade hookctl to {origin.version} or later."
        yield file.find("hook_newer", message, fix)
    elif origin.kind == UNKNOWN:
        message = f"{own_hooks.describe_unknown(origin)}, so the hook was not tested"
        again = f"`{file.install} --force` puts ours there."
        fix = own_hooks.fix_unknown(origin, again, shared=file.target.shared)
        yield file.find("hook_unknown", message, fix, origin.path)


def _judge_interpreter(file: FileFacts, python: Python) -> Iterator[Finding]:
    if not python.is_executable:
        message, fix = (
            "the hook's Python is gone, so the hook does nothing",
            "`hookctl doctor --fix` chooses another.",
        )
        if file.target.shared:
            message, fix = (
                "there is no python3 on PATH, so the hook does nothing",
                "Install Python 3.8 or later.",
            )
        yield file.find("interpreter_missing", message, fix, python.path)
    elif python.fault:
        where = "" if python.fault.path == python.path else f"{python.fault.path} "
        message = f"somebody else could change the hook's Python: {where}{python.fault.reason}"
        fix = f"`{file.install}` chooses another; or `{python.fault.fix}`."
        if file.target.shared:
            fix = f"`{python.fault.fix}`"
        yield file.find("interpreter_unsafe", message, fix, python.path)
    elif python.version is None:
        message = "the hook's Python does not run, so the hook does nothing"
        yield file.find("interpreter_broken", message, "Reinstall this Python.", python.path)
    elif python.version < interpreter.MINIMUM:
        version, needed = (".".join(map(str, v)) for v in (python.version, interpreter.MINIMUM))
        message = f"the hook's Python is {version}; it needs {needed} or later"
        yield file.find(
            "interpreter_old", message, f"Upgrade it, then `{file.install}`.", python.path
        )


def _judge_program(file: FileFacts, program: ProgramFile) -> Iterator[Finding]:
    path = program.path
    if program.error:
        yield file.find("hook_unreadable", program.error.message, program.error.hint, path)
    elif not program.is_there:
        message = "the hook's file is missing, so the hook does nothing"
        if file.target.shared:
            message += ": is .hookctl/ committed with the settings?"
        yield file.find("hook_missing", message, "`hookctl doctor --fix` puts it back.", path)
    elif program.name == HOOK and file.origin is not None and file.origin.kind == MISSING:
        message = "what the hook starts is missing, so the hook does nothing"
        yield file.find(
            "hook_missing", message, "`hookctl doctor --fix` puts it back.", file.origin.path
        )
    elif not program.is_current and _is_released(file):
        message = "the hook is from another version of hookctl, so it was not tested"
        yield file.find("hook_old", message, f"`{file.install}` updates it.", path)


def _is_released(file: FileFacts) -> bool:
    return file.origin is not None and file.origin.kind == RELEASED


# The guard's config.json: can the hook read it, and does it mean what it says?


def judge_configuration(file: FileFacts) -> Iterator[Finding]:
    """The hook ignores what it cannot read, so a slip here would go unnoticed."""
    config = file.config
    if config is None:
        return
    if config.error:
        message = (
            "the hook's configuration cannot be read, so the hook allows every stop: "
            f"{describe_error(config.error)}"
        )
        fix = f"{config.error.hint} Or {file.again(GUARD)}".removeprefix(" Or ")
        yield file.find("config_unreadable", message, fix, config.path)
    elif not config.is_there:
        message = "the hook's configuration is missing, so your settings have no effect"
        yield file.find("config_missing", message, f"`{file.install}` puts it back.", config.path)
    else:
        for message in config.outside:
            yield file.find("config_invalid", message, "Remove it there.", config.path)
        if not file.is_alone:  # else each value is compared with the record
            yield from _judge_schema(file, config)
        yield from _judge_values(file, config.value, config.path)


def _judge_schema(file: FileFacts, config: Configuration) -> Iterator[Finding]:
    """Settings in config.json that are not as hookctl knows them."""
    settings = {name: value for name, value in config.value.items() if name != HOSTS}
    for name, wrong in find_invalid_settings(settings, file.settings_schema):
        outcome = _describe_outcome(settings.get(name), file.settings_schema.get(name, {}))
        message = f"{name}: {masked_text(wrong)}; the hook {outcome}"
        yield file.find("config_invalid", message, "Fix or remove it.", config.path)


def _describe_outcome(value: Any, rule: Mapping[str, Any]) -> str:
    """What the hook does with a value: a number out of bounds becomes the nearest bound."""
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
    chosen = settings_from(file.guard.settings).mode if file.guard else ""
    if value.get("mode") == "off" and chosen != "off":
        message = "mode is off in the hook's configuration, so the hook allows every stop"
        # A committed record says what the team wants; elsewhere it is the operator's choice.
        level = "error" if file.target.shared else ""
        fix = "Set mode to breaker there."
        if file.target.shared:
            fix += f" Or {file.again(GUARD)}"
        yield file.find("guard_off", message, fix, path, level)
    soft, progress = value.get("max_soft_resets"), value.get("progress")
    if (
        type(soft) is int
        and soft <= 0
        and not (isinstance(progress, list) and "action" not in progress)
    ):
        message = (
            f"max_soft_resets is {soft}, so a run of ever new tool calls ends only at the ceiling"
        )
        yield file.find("no_soft_limit", message, "Set it to 1 or more.", path)
    named, there = value.get("state_dir"), file.state
    if (
        isinstance(named, str)
        and named
        and named != there
        and not file.target.shared
        and not file.environ.get("HOOKCTL_STATE_DIR")
    ):
        message = (
            f"the hook keeps its state in {named}, but hookctl looks in {there}: log, run and "
            "doctor do not see it"
        )
        fix = "`hookctl doctor --fix` names it there."
        if file.has_other_state:
            fix = f"Start hookctl with HOOKCTL_STATE_DIR={named}."
        yield file.find("state_elsewhere", message, fix, path)


# The self-test: the guard's own copy is asked whether it keeps what mode and events promise.


def judge_self_test(file: FileFacts) -> Iterator[Finding]:
    """Whether the guard does in a self-test what its configuration promises."""
    trial = file.trial
    if not trial:
        return
    allowed, hook = _find_time_limit(file), program_to_try(file)
    slowest = trial.answer.seconds
    if slowest > allowed and not file.is_alone:  # else the host has another machine
        message = f"the hook is too slow: it took {slowest:.1f} s of the {allowed:g} s allowed"
        fix = "Find out what slows this machine down, or raise the timeout of the hook."
        yield file.find("hook_slow", message, fix, hook)
    elif trial.is_kept:
        message = f"the hook works: in a self-test {own_hooks.describe_promise(trial)}"
        yield file.find("self_test_passed", message, "", hook)
    elif not trial.settings and not trial.variables:
        answer = " ".join(trial.answer.text.split()) or "nothing"
        message = f"the hook does not work: in a self-test it answered {answer}"
        yield file.find("self_test_failed", message, file.again(GUARD), hook)
    for name in trial.settings:
        yield _report_setting(file, trial, name)
    for name in trial.variables:
        yield from _report_variable(file, trial, name)


def _report_setting(file: FileFacts, trial: Trial, name: str) -> Finding:
    assert file.config is not None
    message = own_hooks.describe_cause(trial, name, file.config.value[name])
    level = "warning" if file.target.shared else "error"  # perhaps the team wants just that
    fix = f"Remove it there, or `{file.install} --reset`."
    return file.find("self_test_failed", message, fix, file.config.path, level)


def _report_variable(file: FileFacts, trial: Trial, name: str) -> Iterator[Finding]:
    value = value_of(file.reaching, {}, name)
    if own_hooks.off_by_variable(name, value.text, file.config.value if file.config else None):
        return  # every variable that says so has a finding of its own
    message = own_hooks.describe_cause(trial, name)
    yield file.find("hook_environment", message, "Remove it.", value.path, "error")


def _find_time_limit(file: FileFacts) -> float:
    """How long an answer may take: less than the host waits for it."""
    allowed = LONGEST
    for hook_entry in file.current.elements if file.current else ():
        if hook_entry.id == "guard/stop":
            given = loading.timeout_seconds(file.host, hook_entry.fields)
            allowed = min(allowed, given) if given and given > 0 else allowed
    return allowed


# Packs: are their files unchanged, and is the pack's own file still there?


def judge_packs(file: FileFacts) -> Iterator[Finding]:
    """The files of every pack in one settings file, the guard's apart."""
    for name, programs in file.pack_files.items():
        for program in programs:
            yield from _judge_pack_file(file, name, program)
        if file.record and name in file.pack_sources:
            yield from _judge_pack_source(
                file, name, file.record.packs[name], file.pack_sources[name]
            )


def judge_fine_packs(file: FileFacts, findings: list[Finding]) -> Iterator[Finding]:
    """A line for each pack of a file about which the host's other findings say nothing bad."""
    if any(finding.level in ("error", "warning") for finding in findings):
        return
    elements = file.current.elements if file.current else ()
    for name, pack_record in (file.record.packs if file.record else {}).items():
        if name == GUARD:
            continue
        hooks = sum(hook_entry.pack == name for hook_entry in elements)
        message = f"{name} {pack_record.version} is as installed: {hooks} "
        message += "hook" if hooks == 1 else "hooks"
        if pack_record.files:
            message += f", {len(pack_record.files)} "
            message += "file" if len(pack_record.files) == 1 else "files"
        yield file.find("pack_fine", message)


def _judge_pack_file(file: FileFacts, pack: str, program: ProgramFile) -> Iterator[Finding]:
    path = program.path
    if program.error:
        yield file.find(
            "hook_unreadable", f"{pack}: {program.error.message}", program.error.hint, path
        )
    elif not program.is_there:
        message = f"a file of {pack} is missing, so its hooks may do nothing"
        fix = "`hookctl doctor --fix` puts it back if the pack's own file is still there."
        yield file.find("hook_missing", message, fix, path)
    elif not program.is_recorded:
        message = f"a file of {pack} was changed since hookctl installed it"
        yield file.find("hook_changed", message, file.again(pack), path)


def _judge_pack_source(
    file: FileFacts, name: str, pack_record: PackRecord, source: PackSource
) -> Iterator[Finding]:
    fix = f"`hookctl install PATH --host {file.host.name}` with the current path of the pack."
    if source.error:
        message = (
            f"the pack file of {name} cannot be read, so {name} can be neither upgraded nor "
            "repaired"
        )
        message += f": {source.error.message}"
        yield file.find("pack_gone", message, fix, source.path)
    elif source.name != name:
        message = f"this was the pack file of {name}; now it holds {source.name}"
        yield file.find("pack_gone", message, fix, source.path)
    elif source.version != pack_record.version:
        message = (
            f"this file has version {source.version} of {name}; version {pack_record.version} "
            "is installed"
        )
        yield file.find("pack_old", message, f"`{file.install_of(name)}` updates it.", source.path)


# Does the host really call the hook? What its log says, and which sessions left no line there.


def judge_last_run(file: FileFacts) -> Iterator[Finding]:
    """When the hook last ran, as its log has it."""
    if file.guard is None or file.guard.settings.get("mode") == "off":
        return
    since = float("inf") if file.program_since is None else file.program_since
    lines = [line for line in file.log if line["t"] > since - 1]  # not before it was there
    if file.log_folder:
        lines = [line for line in lines if line["project"] == file.log_folder]
    if not lines:
        message = f"the hook has not run yet; it runs when {file.host.title} ends a turn"
        yield file.find("never_ran", message)
        return
    last = lines[-1]
    ago, at = clock.age(file.now - last["t"]), clock.local(last["t"])
    message = f"the hook last ran {ago} ago, at {at}: {last.get('decision')} ({last.get('code')})"
    yield file.find("last_ran", message, "`hookctl log` shows more.")


def judge_silence(facts: HostFacts) -> Iterator[Finding]:
    """Sessions of the host that should have left a line in the guard's log, and did not."""
    everywhere = [
        registration for registration in at_work(facts) if registration.hook.source.scope == "user"
    ]
    if not everywhere:  # a guard of one project says nothing about sessions elsewhere
        return
    lines = [
        line
        for line in facts.log
        if line.get("host") == facts.host.name and line.get("event") != WRAPPED
    ]
    logged = {line.get("session") for line in lines}
    silent: list[float] = []
    for name, at in _list_recent_sessions(facts, everywhere):
        if project.session_hash(name) in logged:
            break
        silent.append(at)
    if len(silent) >= _ENOUGH:
        last = clock.local(silent[0])
        sessions = f"the last {len(silent)} sessions of {facts.host.title}, up to {last}"
        message = f"{sessions}, left no line in the guard's log"
        debug = facts.host.client.debug
        fix = "Restart the agent and end a turn; `hookctl log` must then show a new line."
        if debug:
            fix += f" If it does not, `{debug}` says more."
        yield facts.find("hook_silent", message, fix, everywhere[0].hook.source.path)


def _list_recent_sessions(
    facts: HostFacts, registrations: list[GuardRegistration]
) -> list[tuple[str, float]]:
    """The host's newest finished sessions since the guard was registered, newest first."""
    since = max(registration.since or 0.0 for registration in registrations)
    end = facts.now - _AT_WORK
    sessions = [(name, at) for name, at in facts.sessions if since < at < end]
    sessions = [(name, at) for name, at in sessions if _SESSION.fullmatch(name)]
    return sorted(sessions, key=lambda session: session[1], reverse=True)[:_NEWEST]


# Is the client there, and is its version one that the facts hold for?


def judge_client(file: FileFacts) -> Iterator[Finding]:
    """The version that the client itself prints."""
    client = file.client
    if client is None or file.record is None:  # nobody asked hookctl about this client
        return
    known, title = file.host.client, file.host.title
    if not client.path:
        names = commands(file.host)
        message = f"{' or '.join(names)} is not on PATH, so its version is unknown"
        yield file.find("client_missing", message, path=names[0])
    elif not known.asks_version:
        message = (
            f"the version of {known.package} is unknown: {known.command} has a version of its own"
        )
        yield file.find("client_unknown", message, path=client.path)
    elif client.not_asked:
        message = f"the client was not asked for its version: {client.not_asked}"
        yield file.find("client_unknown", message, path=client.path)
    elif not client.version:
        yield file.find("client_unknown", "the client did not print its version", path=client.path)
    elif known.minimum and _parse_version(client.version) < _parse_version(known.minimum):
        message = f"version {client.version} is below {known.minimum}: {known.minimum_reason}"
        yield file.find("client_old", message, f"Upgrade {title}.", client.path)
    else:
        yield from _judge_version(file, client)


def _judge_version(file: FileFacts, client: Client) -> Iterator[Finding]:
    """A version that is not the one that hookctl knows."""
    last_seen = file.host.client.seen
    version, seen = _parse_version(client.version), _parse_version(last_seen)
    proven = file.host.sure == "proven"
    known = (
        "the version that hookctl was tested with"
        if proven
        else "the version that hookctl knows from documentation"
    )
    if version > seen:
        message = f"version {client.version} is newer than {last_seen}, {known}"
        yield file.find("client_newer", message, path=client.path)
    elif not file.host.client.minimum and version < seen:
        message = f"version {client.version} is older than {last_seen}, {known}"
        yield file.find("client_older", message, path=client.path)


def _parse_version(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]
