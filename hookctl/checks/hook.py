"""Does the hook really work: its files, its configuration, its interpreter, a self-test; and does the host call it?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hookctl import clock
from hookctl.checks import handlers
from hookctl.checks.codes import Finding
from hookctl.checks.facts import (
    Answer,
    Client,
    FileFacts,
    HostFacts,
    PackSource,
    ProgramFile,
    Python,
    Registration,
)
from hookctl.checks.registered import at_work
from hookctl.events import WRAPPED
from hookctl.hosts import Host, commands
from hookctl.hosts.model import Client as ClientProgram
from hookctl.masking import masked_text
from hookctl.model import PackRecord
from hookctl.packs.choices import settings_from
from hookctl.packs.guard import HOSTS
from hookctl.packs.wrapping import PROGRAM as WRAPPER
from hookctl.system import interpreter, project

LONGEST = 5.0  # seconds for an answer; the host gives the hook 10 unless somebody edited that
_ENOUGH = 3  # sessions without a line before anything is said
_NEWEST = 200  # sessions that are looked at
_AT_WORK = 300  # seconds since a session was written to in which it may not have stopped yet
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def judge(file: FileFacts) -> Iterator[Finding]:
    """The runtime files of one registration."""
    if file.guard is None:
        return
    if not settings_from(file.guard.settings).events:
        message, fix = "the guard is off", f"`{file.install} --mode breaker` switches it on."
        yield file.find("guard_off", message, fix)
        return
    yield from _programs(file)
    yield from _configuration(file)
    yield from _self_test(file)


def _programs(file: FileFacts) -> Iterator[Finding]:
    """The interpreter and the guard's own programs."""
    if file.python:
        yield from _interpreter(file, file.python)
    for program in file.programs:
        wrong = list(_program(file, program)) if program.name != WRAPPER else []
        if wrong:
            yield from wrong
            return  # the first fault of a package says enough


def program_to_try(file: FileFacts) -> str:
    """The program that a self-test may start; empty where something is wrong with it or with its interpreter.

    A committed ledger vouches for nothing: at project scope only this version's own program is started.
    """
    if file.guard is None or file.python is None:
        return ""
    stopping = ("error", "warning", "info") if file.target.shared else ("error", "warning")
    if any(finding.level in stopping for finding in _programs(file)):
        return ""
    return next(program.path for program in file.programs if program.name != WRAPPER)


def _interpreter(file: FileFacts, python: Python) -> Iterator[Finding]:
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
    elif python.version is None:
        message = "the hook's Python does not run, so the hook does nothing"
        yield file.find("interpreter_broken", message, "Mend it.", python.path)
    elif python.version < interpreter.MINIMUM:
        version, needed = (".".join(map(str, v)) for v in (python.version, interpreter.MINIMUM))
        message = f"the hook's Python is {version}; it needs {needed} or later"
        yield file.find(
            "interpreter_old", message, f"Upgrade it, then `{file.install}`.", python.path
        )


def _program(file: FileFacts, program: ProgramFile) -> Iterator[Finding]:
    path = program.path
    if program.error:
        yield file.find("hook_unreadable", program.error.message, program.error.hint, path)
    elif not program.is_there:
        message = "the hook's file is missing, so the hook does nothing"
        if file.target.shared:
            message += ": is .hookctl/ committed with the settings?"
        yield file.find("hook_missing", message, "`hookctl doctor --fix` puts it back.", path)
    elif not program.is_recorded:
        message = "the hook's file is not as hookctl installed it; it was not tried"
        yield file.find("hook_changed", message, f"`{file.install} --force` puts ours back.", path)
    elif not program.is_current:
        message = "the hook is of another version of hookctl" + (
            "; it was not tried" if file.target.shared else ""
        )
        yield file.find("hook_old", message, f"`{file.install}` brings this version's.", path)


# The guard's config.json: can the hook read it, and does it mean what it says?


def _configuration(file: FileFacts) -> Iterator[Finding]:
    """The hook ignores what it cannot read, so a slip here would go unnoticed."""
    config = file.config
    if config is None:
        return
    if config.error:
        message = f"the hook's configuration cannot be read, so it lets every stop pass: {config.error.message}"
        fix = config.error.hint or f"`{file.install} --force` puts it back."
        yield file.find("config_unreadable", message, fix, config.path)
    elif not config.is_there:
        message = "the hook's configuration is missing, so your settings do not hold"
        yield file.find("config_missing", message, f"`{file.install}` puts it back.", config.path)
    else:
        settings = {name: value for name, value in config.value.items() if name != HOSTS}
        for name, wrong in wrong_knobs(settings, file.knobs):
            message = f"{name}: {masked_text(wrong)}; the hook ignores it"
            yield file.find("config_invalid", message, "Mend it.", config.path)
        yield from _meaning(file, config.value, config.path)


def wrong_knobs(value: Mapping[str, Any], knobs: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What of a configuration is not as the schema of its knobs wants it: each with its place."""
    unknown = [repr(name) for name in sorted(value) if name not in knobs]
    if unknown:
        were = "was" if len(unknown) == 1 else "were"
        wrong = f"Additional properties are not allowed ({', '.join(unknown)} {were} unexpected)"
        yield "the configuration", wrong
    for name, about in knobs.items():
        if name in value:
            yield from _wrong(name, value[name], about)


def _wrong(target: str, value: Any, about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What of one value is not as its schema wants it."""
    kind, is_number = (
        about.get("type", ""),
        isinstance(value, int | float) and not isinstance(value, bool),
    )
    if kind and not _is_of(kind, value):
        yield target, f"{value!r} is not of type {kind!r}"
    if "enum" in about and value not in about["enum"]:
        yield target, f"{value!r} is not one of {about['enum']!r}"
    if is_number and value < about.get("minimum", value):
        yield target, f"{value!r} is less than the minimum of {about['minimum']!r}"
    if is_number and value > about.get("maximum", value):
        yield target, f"{value!r} is greater than the maximum of {about['maximum']!r}"
    if isinstance(value, str) and not re.search(about.get("pattern", ""), value):
        yield target, f"{value!r} does not match {about['pattern']!r}"
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _wrong(f"{target}.{number}", item, about.get("items", {}))
        if len(value) < about.get("minItems", 0):
            yield target, f"{value!r} should be non-empty"


def _is_of(kind: str, value: Any) -> bool:
    """Whether a value is of a type of JSON Schema, as far as knobs have them."""
    if kind == "integer":
        whole = isinstance(value, float) and value.is_integer()
        return whole or (isinstance(value, int) and not isinstance(value, bool))
    return isinstance(value, {"boolean": bool, "string": str, "array": list}[kind])


def _meaning(file: FileFacts, value: dict[str, Any], path: str) -> Iterator[Finding]:
    if value.get("mode") == "off":
        message = "the hook's configuration says mode off, so it lets every stop pass"
        yield file.find("guard_off", message, "Change the mode there.", path)
    soft, progress = value.get("max_soft_resets"), value.get("progress")
    if (
        type(soft) is int
        and soft <= 0
        and not (isinstance(progress, list) and "action" not in progress)
    ):
        message = f"max_soft_resets is {soft}, so the limit never ends a run of ever new tool calls; the ceiling does"
        yield file.find("no_soft_limit", message, "Set it to 1 or more.", path)
    named, there = value.get("state_dir"), file.state
    if (
        isinstance(named, str)
        and named
        and named != there
        and not file.environ.get("HOOKCTL_STATE_DIR")
    ):
        message = f"the hook keeps its state in {named}, and hookctl looks in {there}: log, run and doctor miss it"
        fix = f"Start hookctl with HOOKCTL_STATE_DIR={named}, or change state_dir there."
        yield file.find("state_elsewhere", message, fix, path)


# The self-test: two stops of a made-up session, of which the first is blocked and the second let go.


def _self_test(file: FileFacts) -> Iterator[Finding]:
    if len(file.answers) != 2:
        return
    allowed, hook = _allowed(file), program_to_try(file)
    first, second = file.answers
    slowest = max(first.seconds, second.seconds)
    if slowest > allowed:
        message = f"the hook does not answer in time: it took {slowest:.1f} s of {allowed:g} s"
        fix = "Is the machine busy, or the disk slow? Raise the entry's timeout, or look what slows Python down."
        yield file.find("hook_slow", message, fix, hook)
    elif says(first, file.host, "block") and says(second, file.host, "release"):
        message = "the hook works: in a self-test it blocked a stop and then let go"
        yield file.find("self_test_passed", message, "", hook)
    else:
        said = " and then ".join(
            " ".join(answer.text.split()) or "nothing" for answer in file.answers
        )
        message = f"the hook does not work: in a self-test it said {said}"
        yield file.find(
            "self_test_failed", message, f"`{file.install} --force` puts it back.", hook
        )


def says(answer: Answer, host: Host, what: str) -> bool:
    """Whether an answer has the form of the host's dialect, whatever its text; nothing where it has no such form."""
    form = getattr(host.dialect, what)
    if not form:
        return not answer.text
    try:
        value = json.loads(answer.text)
    except ValueError:
        value = {}
    return _fits(value if isinstance(value, dict) else {}, json.loads(form.replace("%s", "null")))


def _fits(value: object, wanted: object) -> bool:
    """Whether a value is as wanted, where null stands for any text."""
    if isinstance(wanted, dict):
        same = isinstance(value, dict) and value.keys() == wanted.keys()
        return same and all(_fits(value[name], part) for name, part in wanted.items())
    return wanted is None or value == wanted


def _allowed(file: FileFacts) -> float:
    """How long an answer may take: less than the host waits for it."""
    allowed = LONGEST
    for element in file.current.elements if file.current else ():
        if element.id == "guard/stop":
            given = handlers.patience(file.host, element.fields)
            allowed = min(allowed, given) if given and given > 0 else allowed
    return allowed


# Packs by path: are their files still as they were installed, and is the pack's own file still where it was?


def judge_packs(file: FileFacts) -> Iterator[Finding]:
    """The files of every pack in one settings file, the guard's apart."""
    for name, programs in file.pack_files.items():
        for program in programs:
            yield from _pack_file(file, name, program)
        if file.record and name in file.pack_sources:
            yield from _pack_source(file, name, file.record.packs[name], file.pack_sources[name])


def _pack_file(file: FileFacts, pack: str, program: ProgramFile) -> Iterator[Finding]:
    install, path = file.install_of(pack), program.path
    if program.error:
        yield file.find(
            "hook_unreadable", f"{pack}: {program.error.message}", program.error.hint, path
        )
    elif not program.is_there:
        message = f"a file of {pack} is missing, so its hooks may do nothing"
        fix = f"`hookctl doctor --fix` or `{install}` puts it back, if the pack is still at hand."
        yield file.find("hook_missing", message, fix, path)
    elif not program.is_recorded:
        message = f"a file of {pack} is not as hookctl installed it"
        yield file.find("hook_changed", message, f"`{install} --force` puts the pack's back.", path)


def _pack_source(
    file: FileFacts, name: str, page: PackRecord, source: PackSource
) -> Iterator[Finding]:
    from_now = "Install the pack from where it is now."
    if source.error:
        message = (
            f"the file of {name} cannot be read any more, so it can be neither upgraded nor mended"
        )
        message += f": {source.error.message}"
        fix = "Put it back, or install the pack from where it is now."
        yield file.find("pack_gone", message, fix, source.path)
    elif source.name != name:
        message = f"this was the file of {name}; now {source.name} is there"
        yield file.find("pack_gone", message, from_now, source.path)
    elif source.version != page.version:
        message = f"{name} is there in version {source.version}; installed is {page.version}"
        yield file.find("pack_old", message, f"`{file.install_of(name)}` brings it.", source.path)


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
        message = f"the hook has not run yet; it does when {file.host.title} ends its first turn"
        yield file.find("never_ran", message)
        return
    last = lines[-1]
    ago, at = clock.age(file.now - last["t"]), clock.local(last["t"])
    message = f"the hook last ran {ago} ago, at {at}: {last.get('decision')} ({last.get('code')})"
    yield file.find("last_ran", message, "`hookctl log` shows more.")


def judge_silence(facts: HostFacts) -> Iterator[Finding]:
    """Sessions of the host that should have left a line in the guard's log, and did not."""
    everywhere = [one for one in at_work(facts) if one.hook.source.scope == "user"]
    if not everywhere:  # a guard of one project says nothing about sessions elsewhere
        return
    lines = [
        line
        for line in facts.log
        if line.get("host") == facts.host.name and line.get("event") != WRAPPED
    ]
    logged = {line.get("session") for line in lines}
    silent: list[float] = []
    for name, at in _sessions(facts, everywhere):
        if project.session_hash(name) in logged:
            break
        silent.append(at)
    if len(silent) >= _ENOUGH:
        last = clock.local(silent[0])
        sessions = f"the last {len(silent)} sessions of {facts.host.title}, up to {last}"
        message = f"{sessions}, left no line in the guard's log"
        debug = facts.host.client.debug
        more = f" and `{debug}` tell" if debug else " tells"
        fix = f"Start the agent anew and end a turn. If nothing comes, `hookctl log`{more} more."
        yield facts.find("hook_silent", message, fix, everywhere[0].hook.source.path)


def _sessions(facts: HostFacts, registrations: list[Registration]) -> list[tuple[str, float]]:
    """The host's newest sessions since they were registered that are not at work, the newest first."""
    since = max(registration.since or 0.0 for registration in registrations)
    end = facts.now - _AT_WORK
    sessions = [(name, at) for name, at in facts.sessions if since < at < end]
    sessions = [(name, at) for name, at in sessions if _SESSION.fullmatch(name)]
    return sorted(sessions, key=lambda session: session[1], reverse=True)[:_NEWEST]


# Is the client there, and is its version one that the facts about it hold for?


def judge_client(file: FileFacts) -> Iterator[Finding]:
    """The version that the client itself prints."""
    client = file.client
    if client is None:
        return
    about, title = file.host.client, file.host.title
    if not client.path:
        names = commands(file.host)
        message = f"{' or '.join(names)} is not on PATH, so its version is not known"
        yield file.find("client_missing", message, path=names[0])
    elif not about.asks_version:
        message = f"the version of {about.package} is not known: {about.command} has one of its own"
        yield file.find("client_unknown", message, path=client.path)
    elif not client.version:
        yield file.find("client_unknown", "the client did not say its version", path=client.path)
    elif about.minimum and _numbers(client.version) < _numbers(about.minimum):
        message = f"version {client.version} is below {about.minimum}: {about.minimum_reason}"
        yield file.find("client_old", message, f"Upgrade {title}.", client.path)
    else:
        yield from _other_version(file, client, about)


def _other_version(file: FileFacts, client: Client, about: ClientProgram) -> Iterator[Finding]:
    """A version that is not the one that hookctl knows."""
    version, seen = _numbers(client.version), _numbers(about.seen)
    proven = file.host.sure == "proven"
    known = (
        "the one that hookctl was proven on"
        if proven
        else "the one that hookctl knows from documents"
    )
    if version > seen:
        message = f"version {client.version} is newer than {about.seen}, {known}"
        yield file.find("client_newer", message, path=client.path)
    elif not about.minimum and version < seen:
        message = f"version {client.version} is older than {about.seen}, {known}"
        yield file.find("client_older", message, path=client.path)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]
