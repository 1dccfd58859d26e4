"""A settings file as doctor and check see it, and every rule about one."""

import contextlib
import json
import os
import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Any

from hookctl import __version__, checks, clock
from hookctl.checks import Finding, describe_error, from_error, self_test
from hookctl.documents import CONFLICT
from hookctl.documents.rules import RulesDocument
from hookctl.errors import HookctlError
from hookctl.hosts import loading, read_cap
from hookctl.hosts.shapes import event_of
from hookctl.masking import masked
from hookctl.model import WRAP, Current, Entry, HookEntry, PackRecord, Record
from hookctl.ownership import committed, consent, engine, store
from hookctl.ownership.own_files import FORMER_CALL, list_programs, parse_config
from hookctl.ownership.sources import current_of
from hookctl.ownership.store import list_taken
from hookctl.packs import MANIFEST, choices, guard, run_packs
from hookctl.packs.listing import loads_code
from hookctl.packs.programs import find_former, version_of_launcher
from hookctl.settings import switches
from hookctl.settings.targets import GUARD, RULES, Target, own_top, require_inside
from hookctl.survey.machine import Machine, describe_from
from hookctl.system import files, interpreter, owners
from hookctl.system.packages import HOOK, list_former, version_of

# What may be wrong, by the code of the finding.
MISSING, OLD, NEWER, CHANGED = "hook_missing", "hook_old", "hook_newer", "hook_changed"


class File:
    """A settings file with something of ours, or the user's of a host in use."""

    def __init__(self, machine: Machine, target: Target, record: Record | None) -> None:
        self.machine, self.target, self.host, self.path = machine, target, target.host, target.path
        self.level = "error" if target.shared else "warning"  # of a fault that everybody would get
        self.exact: Collection[str] = ()  # packs of which nothing may be edited
        self.document = self.current = self.error = self.settings = None
        self.record = record
        self.packs: dict[str, PackRecord] = record.packs if record else {}
        self.guard = self.packs.get(GUARD)
        try:
            if self.guard:
                self.settings = choices.settings_from(self.guard.settings)
            if target.project:
                require_inside(target.project, target.path)
            self.document = machine.read(target.path, target.host.format)[1]
            self.current = current_of(
                target.host, self.document, (), record.entries if record else ()
            )
        except HookctlError as error:
            explain_conflict(target, error)
            self.error = error
        self.entries = record.entries if record else ()
        # What `hookctl disable` switched off or took out, and the ids of hooks of packs among it.
        self.disabled = [hook for hook in machine.disabled if hook.file == self.path]
        self.disabled_ids = {hook.name for hook in self.disabled} - {""}
        if self.disabled:
            taken = list_taken(self.disabled)
            self.entries = tuple(one for one in self.entries if (one.id or one.path) not in taken)
        self.hooks = self.current.hooks if self.current else {}
        self.elements = [hook for copies in self.hooks.values() for hook in copies]
        self.config: dict[str, Any] = {}  # the guard's; empty where it cannot be read
        self.config_error: HookctlError | None = None
        self.config_path = self.guard.config if self.guard else ""
        try:
            snapshot = machine.reader.snapshot(self.config_path) if self.config_path else None
            if snapshot is None or snapshot.data is None:
                raise HookctlError("config_missing", "it is not there")
            self.config = parse_config(snapshot)
        except HookctlError as error:
            explain_conflict(target, error)
            self.config_error = error
        mode = self.config.get("mode")
        # Whether the configuration has another mode than the record.
        is_mode = self.settings is not None and mode in choices.MODES
        self.has_other_mode = is_mode and mode != self.settings.mode

    @cached_property
    def sources(self) -> list[switches.Source]:
        """The files that the host reads together with this one, the winning ones first."""
        machine, host, users = self.machine, self.host, self.path
        if self.target.scope != "user":
            users = machine.active_file(host, "user")[1]
        return machine.sources(host, users, self.target.project or machine.start_of(host))

    @cached_property
    def reaching(self) -> Sequence[switches.Source]:
        """Those whose variables reach the guard's hook: all, or this one if it has an env."""
        own = [source for source in self.sources if source.path == self.path]
        return own if own and self.host.env_field else self.sources

    @cached_property
    def fault(self) -> Finding | None:
        """The first program of the hooks in the file that is not as this version writes it."""
        if not self.elements and not self.packs:
            return None

        def find(code: str, path: str, version: str = "") -> Finding:
            return self.find(code, path, whose="hookctl", command=self.repair, version=version)

        folders, target, read = self.machine.folders, self.target, self.machine.reader.snapshot
        hook = os.path.join(own_top(folders, target), HOOK)
        try:
            expected = list_programs(self.machine.records, target, folders)
            launcher = read(hook).data
            if expected and launcher not in (None, expected[hook]):
                version = version_of(launcher)
                if guard.is_newer(version):
                    return find(NEWER, hook, version)
                version = version_of_launcher(launcher)
                return find(OLD if version else CHANGED, hook, version)
            for path, data in expected.items():
                found = read(path).data
                if found != data:
                    return find(MISSING if found is None else CHANGED, path)
        except HookctlError as error:
            return from_error(error, self.host.name, error.path or hook)
        known = {*expected, *find_former(os.path.dirname(hook), read)}  # 0.2.0's, for open sessions
        for folder in {os.path.dirname(path) for path in expected if not target.shared}:
            for name in sorted(os.listdir(folder)):  # a launcher would load it in place of ours
                if name.endswith(".py") and os.path.join(folder, name) not in known:
                    return find(CHANGED, os.path.join(folder, name))
        if not any(FORMER_CALL.search(str(one.fields.get("command"))) for one in self.elements):
            return None
        is_there = any(path.endswith(".py") for path in list_former(os.path.dirname(hook)))
        # The version that had launchers of each registration.
        return find(OLD if is_there else MISSING, hook, "0.2.0")

    @property
    def install(self) -> str:
        """The command that installs the guard in this settings file."""
        return self.install_of(GUARD)

    def install_of(self, pack: str) -> str:
        """The command that installs a pack in this settings file, from where it came."""
        target, machine, known = self.target, self.machine, self.packs.get(pack)
        for record in machine.records.values() if self.host.format == RULES else ():
            if (record.host, record.project) == (self.host.name, target.project):
                known = record.packs.get(pack, known)
        source = known.source if known else ""
        if os.path.isabs(source) and target.shared:
            source = os.path.relpath(source, machine.folders.cwd)
            source = source if source.startswith("../") else f"./{source}"
        elif not source and pack != GUARD and (target.shared or known is None):
            source = "PATH"  # of the pack's file, which lies outside of the project
        return consent.install_command(target, pack, source, machine.cwd_project)

    def again(self, pack: str) -> str:
        """The fix that restores what an install of a pack wrote, as a sentence."""
        return f"`{self.install_of(pack)} --force` restores it."

    @property
    def repair(self) -> str:
        """The command that repairs hookctl's files and entries."""
        here = self.machine.cwd_project
        return f"hookctl doctor --fix{consent.project_option(self.target.project or here, here)}"

    def find(self, code: str, /, path: str = "", level: str = "", **values: Any) -> Finding:
        """A finding of the list about this file, unless it names another path."""
        values |= {"file": self, "host": self.host}
        return checks.finding(code, self.host.name, path or self.path, level, **values)


def explain_conflict(target: Target, error: HookctlError) -> None:
    """Let the error of a merge conflict in a project say how to resolve it."""
    if error.message == CONFLICT and target.shared:
        with contextlib.suppress(HookctlError):  # of the ledger, which has its own finding
            error.hint = committed.conflict_fix(target.project, error.path) or error.hint


# Does the host read all of the file, and can hookctl?


def check_reading(file: File) -> Iterator[Finding]:
    """Whether hookctl can read the file and change it, and whether the host reads all of it."""
    error, document, is_text = file.error, file.document, file.host.format == RULES
    if error:
        costs_it = f"; {loading.cost(file.host)}" if error.code == "unparsable" else ""
        message, fix = f"{describe_error(error)}{costs_it}", error.hint
        # A backup is of neither branch of a merge.
        backups = files.backup_folder(file.machine.folders, store.real_path(file.path))
        if error.message != CONFLICT and os.path.isdir(backups):
            command = f"hookctl restore {shlex.quote(file.path)} --list"
            fix += f" Or `{command}` shows the texts from before hookctl's writes."
        level = "warning" if is_text and not file.machine.alone else "error"
        yield Finding(error.code, level, message, file.host.name, file.path, fix)
    if document is None or is_text or not os.path.isfile(file.path):
        return
    is_object = isinstance(document.value, dict) and not file.machine.alone
    if is_object and files.is_read_only(file.path):
        yield file.find("read_only")
    contents = file.machine.contents(file.host, document)
    if lost := loading.find_fault(file.host, file.target.scope, file.path, document, contents):
        yield checks.from_lost(lost, "error", file.host.name)


def check_packs(file: File) -> Iterator[Finding]:
    """The files of every pack but the guard."""
    for pack in sorted(file.packs.keys() - {GUARD}):
        known, contents = file.packs[pack], dict[str, bytes | None]()
        try:
            for name in sorted(known.files):
                path = os.path.join(known.folder, name)
                contents[name] = file.machine.reader.snapshot(path).data
        except HookctlError as error:
            yield from_error(error, file.host.name, path)
            continue
        lost = [os.path.join(known.folder, name) for name in contents if contents[name] is None]
        if lost:
            yield file.find(MISSING, lost[0], whose=pack, command=file.repair)
        # 0.2.0 had no manifest there, and another digest.
        elif MANIFEST in contents and files.content_digest(b"", contents) != known.digest:
            install = file.install_of(pack)
            yield file.find(CHANGED, known.folder, "warning", whose=pack, command=install)


# The entries: are they there once, unchanged, and do they still work?


def check_entries(file: File) -> Iterator[Finding]:
    """The entries of one settings file against the ledger."""
    current = file.current
    if current is None:
        return
    yield from _check_commands(file)
    others = {id: current.hooks[id] for id in current.hooks if not id.startswith(WRAP)}
    for id, copies in sorted(others.items()):
        if len(copies) > 1 and file.document:
            paths = ", ".join(file.document.name_of(hook.path) for hook in copies)
            yield file.find("entry_doubled", id=id, count=len(copies), paths=paths)
    for hook in [hook for copies in others.values() for hook in copies]:
        if why := _find_defect(file, hook):
            again = file.again(hook.pack)
            yield file.find("entry_disarmed", level=file.level, id=hook.id, why=why, again=again)
    if file.target.shared and file.guard and file.settings:
        recorded = {entry.id for entry in file.entries} | file.disabled_ids
        wraps = any(id.startswith(WRAP) for id in recorded)
        for event in guard.events(file.settings, file.host, wraps=wraps):
            id = f"{GUARD}/{event}"
            # Another version may need other events than this one, but always the stop.
            if id not in recorded and (id == switches.STOP or file.guard.version == __version__):
                yield file.find("entry_missing", name=id, fix=file.again(GUARD))
    ours = []
    for entry in file.entries:
        if entry.id.startswith(WRAP):
            if entry.id not in file.hooks:
                level = "error" if file.target.shared else "info"
                fix = f"`{file.install}` forgets it."
                yield file.find("entry_missing", level=level, name=entry.id, fix=fix)
        elif entry.kind != "container" and entry.mode == "owned":
            ours.append(entry)
    if engine.is_wiped(ours, current):
        command = file.repair
        if file.target.shared:
            command = consent.upgrade_command(file.target, file.machine.cwd_project)
        yield file.find("entries_wiped", count=len(ours), command=command)
        return
    for entry in ours:
        yield from _check_entry(file, current, entry)


def check_blocks(file: File) -> Iterator[Finding]:
    """The blocks of rules in a file with instructions: each there once, as it was written."""
    document, current = file.document, file.current
    if not isinstance(document, RulesDocument) or current is None:
        return
    known = {str(entry.path[0]): entry for entry in file.entries}
    for pack in dict.fromkeys([*known, *(document.value or ())]):
        name, install = f"the block of rules of {pack}", file.install_of(pack)
        state = engine.state(known.get(pack), current, (pack,))
        if pack not in known:
            fix = "`hookctl install` with its pack takes it back; else remove it."
            yield file.find("ledger_missing", level=file.level, id=name, fix=fix)
        elif not document.is_clear(pack):
            yield file.find("rules_doubled", pack=pack, line=document.position((pack,))[0])
        elif state == "missing":
            fix = f"`{install} --force` writes it again."
            yield file.find("entry_missing", level=file.level, name=name, fix=fix)
        elif state == "overridden":
            how, edited = "it has another text", "error" if pack in file.exact else "info"
            yield file.find("entry_edited", level=edited, name=name, how=how, install=install)


def check_disabled(file: File) -> Iterator[Finding]:
    """What `hookctl disable` switched off."""
    kept = {hook.name for hook in file.disabled}
    for hook in file.disabled:
        is_part = bool(hook.name) and hook.pack in kept
        if (hook.name not in file.packs) if hook.is_values else is_part:
            continue
        name = f"{hook.name or 'a hook'} ({hook.event})" if hook.event else hook.name or "a value"
        when = clock.local(hook.since) + hook.because
        yield file.find("disabled", name=name, id=hook.shown, when=when)


def _check_entry(file: File, current: Current, entry: Entry) -> Iterator[Finding]:
    state = engine.state(entry, current, entry.path, entry.id)
    name = entry.id or str(entry.path[-1])
    pack = next(iter(entry.owners), GUARD)
    if state == "missing":
        effect = "restores it, and puts hookctl's values in place of yours."
        fix = f"`{file.install_of(pack)} --force` {effect}"
        yield file.find("entry_missing", level=file.level, name=name, fix=fix)
    # An entry that does not work has another finding.
    defects = (_find_defect(file, hook) for hook in current.hooks.get(entry.id, ()))
    if state != "overridden" or any(defects):
        return
    fields = current.hooks[entry.id][0].fields if entry.id else {}
    every = {**entry.written, **fields} if entry.id else ()
    names = [name for name in every if fields.get(name) != entry.written.get(name)]
    how = f"it has another {' and another '.join(names)}"
    if not entry.id:
        values = (current.values[entry.path], entry.written)
        how = " instead of ".join(json.dumps(masked(value, name)) for value in values)
    # A changed value or limit is fine; a changed command may do anything, and for a whole team.
    level = "warning" if "command" in names else "info"
    # Anybody may set these fields by hand.
    is_choice = {*names} <= {"matcher", file.host.registration.timeout}
    is_exact = bool(names) and not entry.owners.keys().isdisjoint(file.exact)
    if file.target.shared and (is_exact or not is_choice):
        level = "error"
    install = file.install_of(pack)
    yield file.find("entry_edited", level=level, name=name, how=how, install=install)


def _find_defect(file: File, hook: HookEntry) -> str:
    """Why the host does not run a hook of hookctl, or runs it in the wrong way; or ''."""
    event = event_of(file.host.shape, hook.path)
    pack, _, name = hook.id.partition("/")
    if pack == GUARD:
        wanted = file.host.events.get(name, "")
    else:
        paths = [entry.path for entry in file.entries if entry.id == hook.id]
        wanted = event_of(file.host.shape, paths[0]) if paths else ""
    if wanted and event != wanted:
        return f"it is registered on {event}, and not on {wanted}"
    for entry in file.machine.contents(file.host, file.document).entries:
        if entry.faults and entry.path == hook.path:
            return describe_from(file.document, entry, entry.faults[0])
    return loading.why_disarmed(file.host, hook.fields, blocks=pack == GUARD)


def _check_commands(file: File) -> Iterator[Finding]:
    """Hooks that are not on record, and the guard's in a project that no hookctl writes.

    The committed record proves nothing: it comes with the same commit.
    """
    known = {entry.id: entry.written.get("command") for entry in file.entries if entry.id}
    for hook in file.elements:
        id, is_guards, command = hook.id, hook.pack == GUARD, hook.fields.get("command")
        if id not in known:
            event, target = id.partition("/")[2], file.target
            is_genuine = is_guards and guard.config_path(str(command), id, event, target)
            level, install = "error" if is_genuine else file.level, file.install_of(hook.pack)
            fix = f"Look at it; `{install}` records it, `--force` replaces it if it was edited."
            yield file.find("ledger_missing", level=level, id=id, fix=fix)
        elif command != known[id] and not id.startswith(WRAP):
            continue  # of what an install wrote, all fields are compared
        elif command != known[id]:
            values = {"name": id, "how": "it has another command", "install": file.install}
            yield file.find("entry_edited", level=file.level, **values)
        elif file.target.shared and is_guards:
            is_ours = guard.is_shared_command(str(command), id, file.target)
            if id.startswith(WRAP):
                is_ours = guard.is_shared_wrap(str(command), file.target)
            keys = {key for key in file.host.registration.commands if key in hook.fields}
            if keys - {"command"} or not is_ours:
                how, install = "no version of hookctl writes its command", file.install
                yield file.find("entry_edited", level="error", name=id, how=how, install=install)


# The programs of hooks, and who could change them.


def check_interpreters(file: File) -> Iterator[Finding]:
    """The interpreters that start a launcher, each asked for its version if it can be started."""
    packs = {}
    for name in run_packs(file.record) if file.record else ():
        packs.setdefault(str(file.packs[name].settings.get("python", "")), name)
    if file.settings and file.settings.events:
        packs[file.settings.python] = GUARD
    needed = ".".join(map(str, interpreter.MINIMUM))
    if file.target.shared and packs:
        packs = {interpreter.python3(file.machine.environ, file.target.project) or "python3": ""}
    for path, pack in packs.items():
        if os.path.isfile(path) and (fault := owners.find_fault(path)):
            yield file.find("loose_mode", path, fault=fault)
        elif what := interpreter.find_problem(path):
            fix = f"Put a python3 of {needed} or later on PATH."
            fix = f"`{file.install_of(pack)}` chooses another." if pack else fix
            yield file.find("interpreter_broken", path, what=what, fix=fix)


def check_rights(file: File) -> Iterator[Finding]:
    """Could another user change the settings, the programs of hooks, or hookctl's state?"""
    machine, paths = file.machine, [file.path] if file.document is not None else []
    for pack in file.packs.values():
        paths += [os.path.join(pack.folder, name) for name in pack.files]
    if file.guard:
        paths.append(machine.folders.state)
    with contextlib.suppress(HookctlError):  # the rule about programs tells why
        paths += list_programs(machine.records, file.target, machine.folders)
    for fault, path in owners.find_faults(filter(os.path.exists, paths)).items():
        yield file.find("loose_mode", path, fault=fault)


# The guard: can its hook read config.json, does that mean what it says, and does it work? Its own
# copy is asked whether it keeps what mode and events promise.

_PROMISES = {  # what it does not do where it breaks them
    "block": "does not block a stop while work remains",
    "end": "does not end a chain of stops that another hook forces",
    "refuse": "does not refuse a tool call that is repeated",
}


def check_guard(file: File) -> Iterator[Finding]:
    """The programs of a file's hooks, the guard's config.json, and whether the guard works."""
    if file.fault:
        yield file.fault
    if file.settings is None:
        return
    if not file.settings.events:
        yield file.find("guard_off")
        return
    yield from _check_configuration(file)
    # The test runs hookctl's own bytes, so it says nothing about an installed program that differs.
    if file.fault or switches.STOP in file.disabled_ids or file.config_error:
        return
    own = [source for source in file.reaching if file.machine.alone or source.scope == "project"]
    variables, of_project = switches.variables(file.reaching), switches.variables(own)
    is_shared, state = file.target.shared, file.machine.folders.state
    broken = self_test.run(file.host, file.config, variables, of_project, is_shared, state)
    if broken is None:
        return
    promised, answer, causes = broken
    path, fails = file.config_path, _PROMISES[promised]
    if not causes:
        why = f"in a self-test it answered {' '.join(answer.split()) or 'nothing'}"
        yield file.find("self_test_failed", path, fails=fails, why=why, fix=file.again(GUARD))
    level = "warning" if is_shared else "error"  # perhaps the team wants just that
    for name, is_variable in causes:
        if not is_variable:
            why = f"{name} is {json.dumps(masked(file.config[name], name))}"
            fix = f"Remove it, or `{file.install} --reset`."
            yield file.find("self_test_failed", path, level, fails=fails, why=why, fix=fix)
            continue
        given = switches.variable(file.reaching, {}, name)
        scope = given.source.scope if given.source else ""
        # One that switches the guard off has a rule.
        if scope and find_effect(file, name, given.text, scope) in ("", OVERRIDES):
            values = {"place": f"{scope} scope", "effect": f"is set, so the guard {fails}"}
            yield file.find("hook_environment", given.path, setting=name, **values)


def _check_configuration(file: File) -> Iterator[Finding]:
    """Faults of the guard's config.json: the hook ignores them silently."""
    config, path = file.config, file.config_path
    if file.config_error:
        fix = file.config_error.hint if file.config_error.message == CONFLICT else file.again(GUARD)
        yield file.find("config_unreadable", path, error=describe_error(file.config_error), fix=fix)
        return
    if file.target.shared:
        environ, named = file.machine.environ, str(config.get("task_env"))
        if file.machine.alone:  # where a variable leads is not known; one of a preset is no suspect
            is_known = named in [preset.get("task_env") for preset in choices.PRESETS.values()]
            environ = {} if is_known else {named: "/"}
        for name in choices.list_outside(config, file.target.project, environ):
            what = "names what is not the project's, so hookctl and the hook ignore it"
            yield file.find("config_invalid", path, wrong=f"{name} {what}")
    rules, changed, level = choices.schema(), [], "info"
    written = file.guard.settings.get("config") if file.guard else None
    written = written or guard.configuration(file.settings or choices.Settings(), "", file.host)
    for name in sorted({*config, *written} - {guard.HOSTS, "$schema", "state_dir"}):
        text = json.dumps(masked(config.get(name), name))
        is_known = name in rules and choices.is_valid(name, config.get(name), rules[name])
        if name in config and name != guard.WRAPS and not is_known:
            wrong = f"{name} is {text}, which the hook does not take; it ignores that"
            yield file.find("config_invalid", path, wrong=wrong)
        elif not engine.same(config.get(name), written.get(name)):
            changed.append(f"{name} is {text}")
    if file.has_other_mode:
        # A committed record says what the team wants; elsewhere it is the operator's choice.
        level = "error" if config["mode"] == "off" and file.target.shared else "warning"
    if file.fault is None and not engine.same(config.get(guard.HOSTS), guard.host_table(file.host)):
        changed, level = [*changed, "its table of hosts"], "error"
    if changed:
        again = file.again(GUARD)
        yield file.find("config_changed", path, level, changed=", ".join(changed), again=again)
    named, state = config.get("state_dir"), file.machine.folders.state
    is_ours = file.target.shared or file.machine.environ.get("HOOKCTL_STATE_DIR")
    if isinstance(named, str) and named not in ("", state) and not is_ours:
        yield file.find("state_elsewhere", path, named=named, state=state)


def check_limit(file: File) -> Iterator[Finding]:
    """The limit and the cap that are in effect in the project, or in the working folder."""
    if not file.settings or file.settings.mode == "off" or switches.STOP in file.disabled_ids:
        return
    host, environ = file.host, file.machine.environ
    given = switches.variable(file.reaching, environ, choices.LIMIT_KEY)
    if given.is_set and choices.whole_number(given.text) is None:
        said = show_setting(choices.LIMIT_KEY, given.text)
        wrong = f"{said} is not a whole number; the hook ignores it"
        yield file.find("config_invalid", given.path, wrong=wrong)
    mode = choices.read_settings(file.config, {}).mode
    # Another mode than on record has a finding of its own; the cap is that of the one on record.
    if mode not in ("breaker", "keepalive") or file.has_other_mode:
        return
    options = choices.read_settings(file.config, {**environ, **switches.variables(file.reaching)})
    limit, wanted = options.max_stop_blocks, guard.cap_for(host, mode, options.max_stop_blocks)
    blocks = options.keepalive_cap if options.keepalive_cap > 0 else guard.ARMED_CEILING
    if mode == "breaker":
        blocks = limit - (options.count == "attempts")
    value = switches.cap(host, file.reaching, environ)
    cap, key = read_cap(host, value.text), host.cap_key or host.cap.get("field", "")
    best = read_cap(host, wanted) if key else cap  # the blocks that the host takes then
    setting = "" if key else ".".join(host.cap.get("setting", ()))  # which is left to the person
    is_asked = bool(setting) if mode == "keepalive" else limit != choices.DEFAULT_LIMIT
    if not 0 < cap < blocks or not (cap < best or is_asked):
        return  # else the host allows no more, and nobody asked for it
    fix = f"Set {key or setting} to {wanted}."
    if best < blocks and mode == "breaker" and not setting:
        option = f"--set {choices.LIMIT_KEY}={best:g}"
        fix = f"`{file.install} {option}` asks for what {host.title} allows."
    yield file.find("cap_below_limit", value.path or file.path, cap=cap, blocks=blocks, fix=fix)


# Variables that reach the hook: from the env of every scope, and from the shell.

_STATE = ("HOME", "XDG_STATE_HOME", "HOOKCTL_STATE_DIR")  # they move the guard's state
_NO_SETTINGS = ("max_stop_blocks", "state_dir")  # of the guard, which have no such variable
# A PATH with the one before it, or that begins with a folder of the system.
_KEEPS_PATH = r".*[$~]|(?:/[^:]*:)*(?:/usr|/usr/local|/opt/homebrew|/opt/local)?/bin/?(?::|$)"
OVERRIDES = "overrides the hook's configuration"


def check_environment(file: File) -> Iterator[Finding]:
    """The variables that change what the guard does, or what a project's hooks are run with."""
    ours = {entry.path[-1] for entry in file.entries if not entry.id}
    for source in file.sources:
        for name, value in sorted(switches.variables([source]).items()):
            effect = "" if name in ours else find_effect(file, name, value, source.scope)
            if effect:
                level = "warning" if effect == OVERRIDES else "error"
                values = {"setting": show_setting(name, value), "place": f"{source.scope} scope"}
                yield file.find("hook_environment", source.path, level, effect=effect, **values)
    environ, place = file.machine.environ, "this shell"
    names = {"HOOKCTL_DISABLE", "HOOKCTL_MODE", *choices.read_settings(file.config, {}).child_env}
    for name in sorted(names & environ.keys()) if file.guard else ():
        effect = find_effect(file, name, environ[name], "")
        is_set = switches.variable(file.reaching, environ, name).source
        if effect not in ("", OVERRIDES) and not is_set:
            setting = show_setting(name, environ[name])
            values = {"setting": setting, "place": place, "effect": effect}
            found = file.find("hook_environment", place, **values)
            yield found._replace(path="")  # no file is at fault


def find_effect(file: File, name: str, value: str, scope: str) -> str:
    """What a variable of a scope, or of this shell (''), does to the hooks; '' if nothing."""
    is_child = name in choices.read_settings(file.config, {}).child_env
    if (is_child or name == "HOOKCTL_DISABLE") and choices.is_true(value):
        return "switches the guard off"
    if name == "HOOKCTL_MODE" and value.strip() == "off":
        return "sets the guard's mode to off, so it never blocks a stop"
    if scope == "project" and name in _STATE and value.strip():
        return "moves the guard's state, perhaps to where it cannot be kept"
    if scope == "project" and name == "HOOKCTL_NOW" and value.strip():
        return "stops the guard's clock"
    if file.target.shared and scope and name == "PATH" and not re.match(_KEEPS_PATH, value):
        return "decides which python3 runs the guard, or that there is none"
    if file.target.shared and scope and loads_code(name):
        return "lets every program that the agent starts, hooks too, load other code"
    setting = name.removeprefix("HOOKCTL_")
    is_setting = setting != name and not is_child and setting.lower() not in _NO_SETTINGS
    is_known = is_setting and setting.lower() in {"now", *choices.schema()}
    return OVERRIDES if is_known else ""


def show_setting(name: str, value: str) -> str:
    """A variable as it is set, masked."""
    return f"{name}={json.dumps(masked(value, name), ensure_ascii=False)}"


# For each settings file that has our entries, or is the user's file of a host in use.
FILE_RULES = (
    check_reading,
    check_entries,
    check_disabled,
    check_guard,
    check_interpreters,
    check_packs,
    check_limit,
    check_environment,
    check_rights,
)
# For a text with instructions; and for a settings file of a project that is looked at alone.
RULES_OF_TEXTS = (check_reading, check_blocks)
RULES_OF_PROJECT = (
    check_reading,
    check_entries,
    check_environment,
    check_guard,
)
