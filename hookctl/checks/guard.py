"""Judges whether hooks of ours work: their programs and Python, the guard, and packs' receipts."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator

from hookctl.checks import self_test
from hookctl.checks.codes import Finding, describe_error
from hookctl.checks.file import File, find_pack_fault
from hookctl.documents import CONFLICT
from hookctl.errors import HookctlError
from hookctl.hosts import read_cap
from hookctl.masking import masked
from hookctl.model import PathFault
from hookctl.ownership import engine
from hookctl.ownership.own_files import list_programs
from hookctl.packs import choices, guard
from hookctl.packs.choices import LIMIT_KEY
from hookctl.packs.guard import HOSTS, WRAPS, configuration, host_table
from hookctl.packs.listing import loads_code
from hookctl.packs.model import run_packs
from hookctl.settings import effective
from hookctl.settings.effective import STOP
from hookctl.settings.targets import GUARD
from hookctl.system import interpreter, owners


def judge_programs(file: File) -> Iterator[Finding]:
    """Whether the programs of a file's hooks are as this version writes them."""
    if file.fault:
        yield file.fault


def judge_packs(file: File) -> Iterator[Finding]:
    """The files of every pack but the guard."""
    for name in sorted(file.packs.keys() - {GUARD}):
        if fault := find_pack_fault(file, name):
            yield fault


def judge_interpreters(file: File) -> Iterator[Finding]:
    """The interpreters that start a launcher, each asked for its version if it can be started."""
    packs = {}
    for name in run_packs(file.record) if file.record else ():
        packs.setdefault(str(file.packs[name].settings.get("python", "")), name)
    if file.settings and file.settings.events:
        packs[file.settings.python] = GUARD
    needed = ".".join(map(str, interpreter.MINIMUM))
    if file.target.shared and packs:
        python = interpreter.python3(file.machine.environ, file.target.project) or "python3"
        packs = {python: ""}
    for path, pack in packs.items():
        if os.path.isfile(path) and (fault := owners.find_fault(path)):
            yield _report_loose(file, path, fault)
        elif what := interpreter.find_problem(path):
            fix = f"Put a python3 of {needed} or later on PATH."
            fix = f"`{file.install_of(pack)}` chooses another." if pack else fix
            yield file.find("interpreter_broken", path, what=what, fix=fix)


def judge_rights(file: File) -> Iterator[Finding]:
    """Could another user change the settings, the programs of hooks, or hookctl's state?"""
    machine, paths = file.machine, [file.path] if file.document is not None else []
    for pack in file.packs.values():
        paths += [os.path.join(pack.folder, name) for name in pack.files]
    if file.guard:
        paths.append(machine.folders.state)
    with contextlib.suppress(HookctlError):  # the rule about programs tells why
        paths += list_programs(machine.records, file.target, machine.folders)
    found = owners.find_faults([path for path in paths if os.path.exists(path)])
    for fault, path in {fault: path for path, fault in reversed(found.items())}.items():
        yield _report_loose(file, path, fault)


def _report_loose(file: File, path: str, fault: PathFault) -> Finding:
    where = "" if fault.path == path else f"{fault.path} "
    return file.find("loose_mode", path, fault=fault, where=where)


# The guard: can its hook read config.json, does that mean what it says, and does it work?


def judge(file: File) -> Iterator[Finding]:
    """The guard of one settings file."""
    if file.settings is None:
        return
    if not file.settings.events:
        yield file.find("guard_off")
        return
    yield from judge_configuration(file)
    # The test runs hookctl's own bytes, so it says nothing about an installed program that differs.
    if not (file.fault or STOP in file.disabled_ids or file.config_error):
        yield from _judge_self_test(file)


def judge_configuration(file: File) -> Iterator[Finding]:
    """Faults of the guard's config.json: the hook ignores them silently."""
    config, path = file.config, file.guard.config if file.guard else ""
    if file.config_error:
        fix = file.config_error.hint if file.config_error.message == CONFLICT else file.again(GUARD)
        error = describe_error(file.config_error)
        yield file.find("config_unreadable", path, error=error, fix=fix)
        return
    if file.target.shared:
        environ, named = file.machine.environ, str(config.get("task_env"))
        if file.is_alone:  # where a variable leads is not known; one of a preset is no suspect
            is_known = named in [preset.get("task_env") for preset in choices.PRESETS.values()]
            environ = {} if is_known else {named: "/"}
        for name in choices.list_outside(config, file.target.project, environ):
            what = "names what is not the project's, so hookctl and the hook ignore it"
            yield file.find("config_invalid", path, wrong=f"{name} {what}")
    rules, changed, level = choices.schema(), [], "info"
    written = file.guard.settings.get("config") if file.guard else None
    written = written or configuration(file.settings or choices.Settings(), "", file.host)
    for name in sorted({*config, *written} - {HOSTS, "$schema", "state_dir"}):
        text = json.dumps(masked(config.get(name), name))
        is_known = name in rules and choices.is_valid(name, config.get(name), rules[name])
        if name in config and name != WRAPS and not is_known:
            wrong = f"{name} is {text}, which the hook does not take; it ignores that"
            yield file.find("config_invalid", path, wrong=wrong)
        elif not engine.same(config.get(name), written.get(name)):
            changed.append(f"{name} is {text}")
    if file.has_other_mode:
        # A committed record says what the team wants; elsewhere it is the operator's choice.
        level = "error" if config["mode"] == "off" and file.target.shared else "warning"
    if file.fault is None and not engine.same(config.get(HOSTS), host_table(file.host)):
        changed, level = [*changed, "its table of hosts"], "error"
    if changed:
        values = {"changed": ", ".join(changed), "again": file.again(GUARD)}
        yield file.find("config_changed", path, level, **values)
    named, state = config.get("state_dir"), file.machine.folders.state
    is_ours = file.target.shared or file.machine.environ.get("HOOKCTL_STATE_DIR")
    if isinstance(named, str) and named not in ("", state) and not is_ours:
        yield file.find("state_elsewhere", path, named=named, state=state)


# The self-test: the guard's own copy is asked whether it keeps what mode and events promise.

_PROMISES = {  # what it does not do where it breaks them
    "block": "does not block a stop while work remains",
    "end": "does not end a chain of stops that another hook forces",
    "refuse": "does not refuse a tool call that is repeated",
}


def _judge_self_test(file: File) -> Iterator[Finding]:
    own = [source for source in file.reaching if file.is_alone or source.scope == "project"]
    variables, of_project = effective.variables(file.reaching), effective.variables(own)
    is_shared, state = file.target.shared, file.machine.folders.state
    trial = self_test.run(file.host, file.config, variables, of_project, is_shared, state)
    if trial is None or trial.is_kept:
        return
    path, fails = file.guard.config if file.guard else "", _PROMISES[trial.promised]
    if not trial.causes:
        why = f"in a self-test it answered {' '.join(trial.answer.split()) or 'nothing'}"
        values = {"fails": fails, "why": why, "fix": file.again(GUARD)}
        yield file.find("self_test_failed", path, **values)
    level = "warning" if file.target.shared else "error"  # perhaps the team wants just that
    for name, is_variable in trial.causes:
        if is_variable:
            yield from _judge_variable(file, name, f"is set, so the guard {fails}")
            continue
        why = f"{name} is {json.dumps(masked(file.config[name], name))}"
        values = {"fails": fails, "why": why, "fix": f"Remove it, or `{file.install} --reset`."}
        yield file.find("self_test_failed", path, level, **values)


def _judge_variable(file: File, name: str, effect: str) -> Iterator[Finding]:
    """A variable that keeps the guard from its promise; one that switches it off has a rule."""
    given = effective.variable(file.reaching, {}, name)
    scope = given.source.scope if given.source else ""
    if scope and _find_effect(file, name, given.text, scope) in ("", OVERRIDES):
        values = {"setting": name, "place": f"{scope} scope", "effect": effect}
        yield file.find("hook_environment", given.path, **values)


def judge_limit(file: File) -> Iterator[Finding]:
    """The limit and the cap that are in effect in the project, or in the working folder."""
    if not file.settings or file.settings.mode == "off" or effective.STOP in file.disabled_ids:
        return
    limit = effective.variable(file.reaching, file.machine.environ, LIMIT_KEY)
    if limit.is_set and choices.whole_number(limit.text) is None:
        wrong = f"{_show(LIMIT_KEY, limit.text)} is not a whole number; the hook ignores it"
        yield file.find("config_invalid", limit.path, wrong=wrong)
    mode = choices.read_settings(file.config, {}).mode
    # Another mode than on record has a finding of its own; the cap is that of the one on record.
    if mode in ("breaker", "keepalive") and not file.has_other_mode:
        yield from _judge_cap(file, mode)


def _judge_cap(file: File, mode: str) -> Iterator[Finding]:
    host, environ = file.host, file.machine.environ
    options = choices.read_settings(file.config, {**environ, **effective.variables(file.reaching)})
    limit, wanted = options.max_stop_blocks, guard.cap_for(host, mode, options.max_stop_blocks)
    blocks = options.keepalive_cap if options.keepalive_cap > 0 else guard.ARMED_CEILING
    if mode == "breaker":
        blocks = limit - (options.count == "attempts")
    value = effective.cap(host, file.reaching, environ)
    cap, key = read_cap(host, value.text), host.cap_key or host.cap.get("field", "")
    best = read_cap(host, wanted) if key else cap  # the blocks that the host takes then
    setting = "" if key else ".".join(host.cap.get("setting", ()))  # which is left to the person
    is_asked = bool(setting) if mode == "keepalive" else limit != choices.DEFAULT_LIMIT
    if not 0 < cap < blocks or not (cap < best or is_asked):
        return  # else the host allows no more, and nobody asked for it
    fix = f"Set {key or setting} to {wanted}."
    if best < blocks and mode == "breaker" and not setting:
        fix = f"`{file.install} --set {LIMIT_KEY}={best:g}` asks for what {host.title} allows."
    yield file.find("cap_below_limit", value.path or file.path, cap=cap, blocks=blocks, fix=fix)


# Variables that reach the hook: from the env of every scope, and from the shell.

_STATE = ("HOME", "XDG_STATE_HOME", "HOOKCTL_STATE_DIR")  # they move the guard's state
_NO_SETTINGS = ("max_stop_blocks", "state_dir")  # of the guard, which have no such variable
_SYSTEM_FOLDERS = ("/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/local/bin")
OVERRIDES = "overrides the hook's configuration"


def judge_environment(file: File) -> Iterator[Finding]:
    """The variables that change what the guard does, or what a project's hooks are run with."""
    ours = {entry.path[-1] for entry in file.entries if not entry.id}
    for source in file.sources:
        for name, value in sorted(effective.variables([source]).items()):
            effect = "" if name in ours else _find_effect(file, name, value, source.scope)
            if effect:
                level = "warning" if effect == OVERRIDES else "error"
                values = {"setting": _show(name, value), "place": f"{source.scope} scope"}
                yield file.find("hook_environment", source.path, level, effect=effect, **values)
    environ, place = file.machine.environ, "this shell"
    names = {"HOOKCTL_DISABLE", "HOOKCTL_MODE", *_list_child_variables(file)}
    for name in sorted(names & environ.keys()) if file.guard else ():
        effect = _find_effect(file, name, environ[name], "")
        is_set = effective.variable(file.reaching, environ, name).source
        if effect not in ("", OVERRIDES) and not is_set:
            values = {"setting": _show(name, environ[name]), "place": place, "effect": effect}
            found = file.find("hook_environment", place, **values)
            yield found._replace(path="")  # no file is at fault


def _find_effect(file: File, name: str, value: str, scope: str) -> str:
    """What a variable of a scope, or of this shell (''), does to the hooks; '' if nothing."""
    is_child = name in _list_child_variables(file)
    if (is_child or name == "HOOKCTL_DISABLE") and choices.is_true(value):
        return "switches the guard off"
    if name == "HOOKCTL_MODE" and value.strip() == "off":
        return "sets the guard's mode to off, so it never blocks a stop"
    if scope == "project" and name in _STATE and value.strip():
        return "moves the guard's state, perhaps to where it cannot be kept"
    if scope == "project" and name == "HOOKCTL_NOW" and value.strip():
        return "stops the guard's clock"
    if file.target.shared and scope and name == "PATH":
        return _find_fault_of_path(value, file.target.project)
    if file.target.shared and scope and loads_code(name):
        return "lets every program that the agent starts, hooks too, load other code"
    setting = name.removeprefix("HOOKCTL_")
    is_setting = setting != name and not is_child and setting.lower() not in _NO_SETTINGS
    is_known = is_setting and setting.lower() in {"now", *choices.schema()}
    return OVERRIDES if is_known else ""


def _list_child_variables(file: File) -> list[str]:
    names: list[str] = choices.read_settings(file.config, {}).child_env
    return names


def _show(name: str, value: str) -> str:
    return f"{name}={json.dumps(masked(value, name), ensure_ascii=False)}"


def _find_fault_of_path(value: str, project: str) -> str:
    """Why a project's hook finds no python3, or the project's own, on this PATH; or ''."""
    if "$" in value or "~" in value:  # some hosts put variables in
        return ""
    for folder in value.split(":"):
        python = os.path.normpath(os.path.join(project, folder, "python3"))
        if folder.rstrip("/") in _SYSTEM_FOLDERS:
            return ""
        if os.path.lexists(python):
            is_own = python.startswith(f"{project}/")
            return f"lets the guard run {python}, a program of the project itself" * is_own
    return "has no python3, so the guard does nothing"
