"""Judges whether hooks of ours work: their programs and Python, the guard, and packs' receipts."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator

from hookctl.checks import limits, self_test
from hookctl.checks.codes import Finding, describe_error, from_error
from hookctl.checks.file import CHANGED, MISSING, File, ProgramFault, find_pack_fault
from hookctl.documents import CONFLICT
from hookctl.errors import HookctlError
from hookctl.masking import masked
from hookctl.model import PathFault
from hookctl.ownership.own_files import list_programs
from hookctl.packs.choices import PRESETS, is_valid, list_outside, schema
from hookctl.packs.guard import HOSTS, WRAPS
from hookctl.packs.model import run_packs
from hookctl.packs.runner import find_event
from hookctl.receipts.reading import HookName
from hookctl.settings import effective
from hookctl.settings.effective import STOP
from hookctl.settings.targets import GUARD
from hookctl.system import interpreter, owners, project


def judge_programs(file: File) -> Iterator[Finding]:
    """Whether the programs of a file's hooks are as this version writes them."""
    if file.fault:
        yield _report_fault(file, file.fault, "hookctl", file.repair)


def judge_packs(file: File) -> Iterator[Finding]:
    """The files of every pack but the guard, and the Python that runs their commands."""
    for name in sorted(file.packs.keys() - {GUARD}):
        fault = find_pack_fault(file.packs[name], file.machine.reader.snapshot)
        if fault:
            command = file.repair if fault.code == MISSING else file.install_of(name)
            yield _report_fault(file, fault, name, command, "warning")
    names = run_packs(file.record) if file.record else []
    python = str(file.packs[names[0]].settings.get("python", "")) if names else ""
    settings = file.settings if file.settings and file.settings.events else None
    is_guards = settings and (file.target.shared or settings.python == python)
    if names and not is_guards:
        yield from _judge_interpreter(file, python, names[0])


def _report_fault(
    file: File, fault: ProgramFault, whose: str, command: str, level: str = ""
) -> Finding:
    """The finding about a program; `level` is that of one that was changed."""
    if fault.error:
        return from_error(fault.error, file.host.name, fault.path)
    values = {"whose": whose, "command": command, "fault": fault}
    return file.find(fault.code, fault.path, level if fault.code == CHANGED else "", **values)


def _find_python(file: File, recorded: str) -> str:
    if not file.target.shared:
        return recorded
    return interpreter.python3(file.machine.environ, file.target.project) or "python3"


def _judge_interpreter(file: File, recorded: str, pack: str) -> Iterator[Finding]:
    """The interpreter that starts a launcher, asked for its version if it can be started."""
    path = _find_python(file, recorded)
    if os.path.isfile(path) and (fault := owners.find_fault(path)):
        yield _report_loose(file, path, fault)
    elif what := interpreter.find_problem(path):
        fix = f"`{file.install_of(pack)}` chooses another."
        if file.target.shared:
            needed = ".".join(map(str, interpreter.MINIMUM))
            fix = f"Put a python3 of {needed} or later on PATH."
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
    python, broken = sys.executable, []
    if not file.is_alone:
        python = _find_python(file, file.settings.python)
        broken = [*_judge_interpreter(file, file.settings.python, GUARD)]
    yield from broken
    yield from judge_configuration(file)
    # The test runs hookctl's own bytes, so it says nothing about an installed program that differs.
    is_whole = not (broken or file.fault or STOP in file.disabled_ids)
    if is_whole and not file.config.error:
        yield from _judge_self_test(file, python)


def judge_configuration(file: File) -> Iterator[Finding]:
    """Faults of the guard's config.json: the hook ignores them silently."""
    config, path = file.config, file.guard.config if file.guard else ""
    if config.error:
        fix = config.error.hint if config.error.message == CONFLICT else file.again(GUARD)
        error = describe_error(config.error)
        yield file.find("config_unreadable", path, error=error, fix=fix)
        return
    if file.target.shared:
        environ, named = file.machine.environ, str(config.value.get("task_env"))
        if file.is_alone:  # where a variable leads is not known; one of a preset is no suspect
            is_known = named in [preset.get("task_env") for preset in PRESETS.values()]
            environ = {} if is_known else {named: "/"}
        for name in list_outside(config.value, file.target.project, environ):
            what = "names what is not the project's, so hookctl and the hook ignore it"
            yield file.find("config_invalid", path, wrong=f"{name} {what}")
    if not file.is_alone:  # else each value is compared with the record
        rules = schema()
        for name, value in sorted(config.value.items()):
            is_known = name in (HOSTS, WRAPS, "$schema")
            if not is_known and not (name in rules and is_valid(name, value, rules[name])):
                text = json.dumps(masked(value, name))
                wrong = f"{name} is {text}, which the hook does not take; it ignores that"
                yield file.find("config_invalid", path, wrong=wrong)
    yield from _judge_values(file, path)


def _judge_values(file: File, path: str) -> Iterator[Finding]:
    """Values that keep the guard from what the record, and this hookctl, have it do."""
    mode, named = file.config.value.get("mode"), file.config.value.get("state_dir")
    if file.has_other_mode:
        # A committed record says what the team wants; elsewhere it is the operator's choice.
        level = "error" if mode == "off" and file.target.shared else "warning"
        again = file.again(GUARD)
        yield file.find("config_changed", path, level, changed=f"mode is {mode}", again=again)
    state, environ = file.machine.folders.state, file.machine.environ
    is_ours = file.target.shared or environ.get("HOOKCTL_STATE_DIR")
    if isinstance(named, str) and named not in ("", state) and not is_ours:
        yield file.find("state_elsewhere", path, named=named, state=state)


# The self-test: the guard's own copy is asked whether it keeps what mode and events promise.

_PROMISES = {  # what it does not do where it breaks them
    "block": "does not block a stop while work remains",
    "end": "does not end a chain of stops that another hook forces",
    "refuse": "does not refuse a tool call that is repeated",
}


def _judge_self_test(file: File, python: str) -> Iterator[Finding]:
    own = [source for source in file.reaching if file.is_alone or source.scope == "project"]
    variables, of_project = effective.variables(file.reaching), frozenset(effective.variables(own))
    question = self_test.Question(
        file.host, file.config.value, variables, of_project, file.target.shared
    )
    trial = self_test.run(python, question, file.machine.folders.state)
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
        why = f"{name} is {json.dumps(masked(file.config.value[name], name))}"
        values = {"fails": fails, "why": why, "fix": f"Remove it, or `{file.install} --reset`."}
        yield file.find("self_test_failed", path, level, **values)


def _judge_variable(file: File, name: str, effect: str) -> Iterator[Finding]:
    """A variable that keeps the guard from its promise; one that switches it off has a rule."""
    given = effective.variable(file.reaching, {}, name)
    scope = given.source.scope if given.source else ""
    if scope and limits.find_effect(file, name, given.text, scope) in ("", limits.OVERRIDES):
        values = {"setting": name, "place": f"{scope} scope", "effect": effect}
        yield file.find("hook_environment", given.path, **values)


# Packs' hooks, by what the runner noted of them.

_ENOUGH = 3  # runs before anything is said


def judge_receipts(file: File) -> Iterator[Finding]:
    """The hooks of packs in one settings file that failed each time, as the runner noted."""
    names = run_packs(file.record) if file.record else []
    if not names:
        return
    folder = ""  # a project's file: what ran in the project alone
    if file.target.project:
        state = project.state_folder(file.machine.folders.state, file.target.project)
        folder = os.path.basename(state)
    runs = file.machine.runs(folder)
    for hook in file.elements:
        event = find_event(str(hook.fields.get("command")))
        name = HookName(file.host.name, event, hook.id)
        failed = runs[name].failed if hook.pack in names and name in runs else ()
        if len(failed) >= _ENOUGH and all(failed):
            yield file.find("hook_fails", id=hook.id, event=event, count=len(failed))
