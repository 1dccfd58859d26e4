"""Gathers the facts about one host: its settings files, hooks and work in the working folder."""

from __future__ import annotations

import glob
import os
import sys
import tomllib
from collections.abc import Iterator

from hookctl import hosts
from hookctl.checks import probes, run_folder, scripts
from hookctl.checks.facts import (
    FileFacts,
    FoundHook,
    GuardRegistration,
    HostFacts,
    KnownTool,
    Layer,
    ManagedFile,
    Run,
    RunPath,
    UnreadFile,
    WaitingWork,
)
from hookctl.checks.gather_file import bare_facts, file_facts, parse_settings
from hookctl.checks.machine import Machine, hooks_of
from hookctl.checks.running_guards import at_work, find_guards, find_running
from hookctl.checks.scripts import Script
from hookctl.documents import formats
from hookctl.errors import HookctlError
from hookctl.hosts import Host, loading
from hookctl.ledger import store
from hookctl.model import PackRecord, Path
from hookctl.packs import guard
from hookctl.packs.run_files import RunFiles, confine_variables, locate
from hookctl.packs.whose_work import describe_owner, find_work
from hookctl.packs.wrapping import original_of
from hookctl.settings import effective
from hookctl.settings.effective import Source
from hookctl.settings.targets import GUARD, OWN, Target, variant_of_file
from hookctl.system import project
from hookctl.system.package_data import read_data

_SUBFOLDERS = 100  # that are looked at for settings which the host does not read here
_FOLDER = "\0folder"  # stands for any folder in the path of a settings file


def host_facts(machine: Machine, host: Host) -> HostFacts:
    """The facts about a host as it starts in the working folder; no files if it is not in use."""
    targets = machine.targets(host)
    config, cwd = hosts.config_folder(host, machine.environ), machine.folders.cwd
    facts = HostFacts(host, machine.environ, config, machine.now, ())
    if not targets:
        return facts
    program = hosts.client(host, machine.environ)
    client = probes.client(host, program, machine.cwd_project, machine.folders.home)
    # First: they are read again while somebody is writing them.
    files_of_ours = tuple(file_facts(machine, target)._replace(client=client) for target in targets)
    user_path = machine.active_file(host, "user")[1]
    layers = machine.layers(host, user_path, cwd)
    variables = dict(machine.environ)
    for layer in reversed(layers):
        variables |= layer.env
    disabling = effective.disabling(machine.switches(host, user_path, cwd))
    facts = facts._replace(
        files=files_of_ours, layers=layers, variables=variables, disabling=disabling
    )
    facts = _add_other_files(machine, facts)
    facts = _add_other_hooks(machine, facts)
    facts = _add_registrations(machine, facts)
    guards = at_work(facts)
    if not guards:
        return facts
    return facts._replace(run=_read_run(machine, _locate_run(machine, facts, guards[0])))


def _add_other_files(machine: Machine, facts: HostFacts) -> HostFacts:
    """The facts with every settings file in which hookctl has no entries."""
    host, files_of_ours = facts.host, facts.files
    return facts._replace(
        guests=tuple(_find_guests(machine, host, files_of_ours)),
        managed=tuple(_find_managed(machine, host)),
        switch_files=tuple(_find_broken_switch_files(machine, host, files_of_ours)),
        unread=tuple(_find_unread(machine, host, facts.layers, files_of_ours)),
    )


def _add_other_hooks(machine: Machine, facts: HostFacts) -> HostFacts:
    """The facts with all that is needed to judge the hooks of other tools."""
    foreign: list[FoundHook] = []
    for layer in facts.layers:
        foreign += [hook for hook in layer.hooks if not hook.id]
    facts = facts._replace(missing_scripts=_find_missing_scripts(machine, facts.layers))
    if foreign:
        facts = facts._replace(agents=_list_agents(machine), systems=_load_systems())
    return facts


def _add_registrations(machine: Machine, facts: HostFacts) -> HostFacts:
    """The facts with the guard's registrations, its log and the sessions that it saw."""
    registrations = tuple(_find_registrations(machine, facts.layers, facts.files))
    env_paths = _list_env_files(machine, facts.host) if registrations else []
    facts = facts._replace(
        registrations=registrations,
        env_files=tuple(probes.env_files(machine.reader, env_paths)),
        log=machine.log() if registrations else (),
        sessions=_list_sessions(machine, facts.host, facts.config_folder, registrations),
    )
    facts = facts._replace(running=tuple(find_running(facts)))
    return facts._replace(guards=tuple(find_guards(facts)))


def _list_env_files(machine: Machine, host: Host) -> list[str]:
    """The files of the project, from the working folder upwards, that give its hooks variables."""
    paths: list[str] = []
    folder = machine.folders.cwd
    while True:
        paths += [os.path.join(folder, name) for name in host.environment.files]
        if folder in (machine.cwd_project, os.path.dirname(folder)):
            return paths
        folder = os.path.dirname(folder)


def _find_guests(machine: Machine, host: Host, known: tuple[FileFacts, ...]) -> Iterator[FileFacts]:
    """Settings of the working folder that have nothing of ours."""
    real_paths = {facts.real_path for facts in known}
    for scope in host.scopes[1:]:
        variant, path = machine.active_file(host, scope, machine.folders.cwd)
        if os.path.lexists(path) and store.real_path(path) not in real_paths:
            target = Target(variant, scope, path, machine.folders.cwd)
            yield bare_facts(machine, target, None, *parse_settings(machine, target))


def _find_managed(machine: Machine, host: Host) -> Iterator[ManagedFile]:
    """The settings of whoever manages this machine."""
    for pattern in host.managed_files.get(sys.platform, []):
        for path in sorted(glob.glob(pattern)):
            yield _read_managed(machine, hosts.managed_layout(host, path), path)


def _read_managed(machine: Machine, host: Host, path: str) -> ManagedFile:
    try:
        snapshot, document = machine.read(path, host.format)
        if not snapshot.data and host.format == "json":
            document = formats.parse(host.format, b"{}", where=path)
        loading.require(host, document)
    except HookctlError as error:
        return ManagedFile(path, None, error)
    return ManagedFile(path, document, None)


def _find_broken_switch_files(
    machine: Machine, host: Host, known: tuple[FileFacts, ...]
) -> Iterator[tuple[Host, str, HookctlError]]:
    """Files without hooks that the client reads at its start all the same, and cannot."""
    paths = {facts.path for facts in known}
    for _, path in effective.switch_files(machine.folders, host, machine.folders.cwd):
        if path in paths or not os.path.lexists(path):
            continue
        variant = variant_of_file(machine.load(host.name), path, machine.read)
        if variant.faults.stops_client:
            try:
                machine.reader.patient_document(path, variant.format)
            except HookctlError as error:
                yield variant, path, error


def _find_registrations(
    machine: Machine, layers: tuple[Layer, ...], known: tuple[FileFacts, ...]
) -> Iterator[GuardRegistration]:
    """Every hook of the guard's on a stop, and what it runs."""
    by_real_path = {facts.real_path: facts for facts in reversed(known)}
    for layer in layers:
        for hook in layer.hooks:
            if hook.id == effective.STOP:
                yield _describe_registration(machine, hook, by_real_path.get(layer.real_path))


def _describe_registration(
    machine: Machine, hook: FoundHook, facts: FileFacts | None
) -> GuardRegistration:
    pack_record, source = facts.guard if facts else None, hook.source
    folder = pack_record.folder if pack_record else ""
    if pack_record is None:
        target = facts.target if facts else Target(source.host, source.scope, source.path)
        program = guard.hook_path(str(hook.fields["command"]), hook.id, "stop", target)
        folder = os.path.dirname(program)
    if not folder:
        return GuardRegistration(hook, pack_record, "", {}, None, "")
    config = probes.configuration(machine.reader, folder).value
    programs = facts.programs if facts and pack_record else ()
    if pack_record is None:
        programs = probes.guard_files(machine.reader, PackRecord("", {}, folder), wraps=False)
    path = os.path.join(folder, probes.HOOK)
    since = probes.written_at(path) if os.path.isfile(path) else None
    return GuardRegistration(
        hook, pack_record, folder, config, since, probes.programs_digest(programs)
    )


def _find_unread(
    machine: Machine, host: Host, layers: tuple[Layer, ...], known: tuple[FileFacts, ...]
) -> Iterator[UnreadFile]:
    """Settings files with hooks that are there although the host does not read them here."""
    read = {layer.real_path for layer in layers}
    for path, scope, reason, owner in _list_unread_paths(machine, host, known):
        if not os.path.isfile(path):
            continue
        real_path = store.real_path(path)
        if real_path in read:
            continue
        try:
            variant = variant_of_file(host, path, machine.read)
            document = machine.reader.patient_document(path, variant.format)[1]
        except HookctlError:
            continue
        if loading.refusal(variant, document):
            continue  # the host reads no such text anywhere, which is the reason that counts
        hooks = hooks_of(Source(scope, path, document, variant))
        yield UnreadFile(path, real_path, scope, reason, hooks, owner)


def _list_unread_paths(
    machine: Machine, host: Host, known: tuple[FileFacts, ...]
) -> Iterator[tuple[str, str, str, str]]:
    """Settings that the host does not read here: path, scope, reason and owner."""
    environ, config = machine.environ, hosts.config_folder(host, machine.environ)
    if "local" in host.scopes:
        name = os.path.basename(host.files["local"])
        yield os.path.join(config, name), "local", "local", ""
    variable = host.config.variable
    if environ.get(variable):
        plain = {name: value for name, value in environ.items() if name != variable}
        yield hosts.settings_path(host, "user", plain), "user", "variable", ""
    for facts in known:
        if facts.target.scope == "user":
            yield facts.path, "user", "folder", facts.path
    if host.scope_rules.start_folder_only:
        folders = [(folder, "above") for folder in _list_folders_above(machine)]
        folders += [(folder, "below") for folder in _list_folders_below(machine)]
        patterns = {
            scope: hosts.settings_path(host, scope, environ, _FOLDER) for scope in host.scopes[1:]
        }
        for folder, reason in folders:
            for scope, pattern in patterns.items():
                yield pattern.replace(_FOLDER, folder.rstrip("/")), scope, reason, ""


def _list_folders_above(machine: Machine) -> Iterator[str]:
    """The folders above the working folder, up to HOME."""
    home = store.real_path(machine.environ["HOME"])
    folder = os.path.dirname(machine.folders.cwd)
    while folder != os.path.dirname(folder) and not f"{home}/".startswith(f"{folder}/"):
        yield folder
        folder = os.path.dirname(folder)


def _list_folders_below(machine: Machine) -> Iterator[str]:
    """The folders in the working folder, hidden ones apart."""
    try:
        names = sorted(os.listdir(machine.folders.cwd))[:_SUBFOLDERS]
    except OSError:
        return
    for name in names:
        if not name.startswith("."):
            yield os.path.join(machine.folders.cwd, name)


def _list_sessions(
    machine: Machine, host: Host, config: str, registrations: tuple[GuardRegistration, ...]
) -> tuple[tuple[str, float], ...]:
    """The host's own sessions, if a guard should see all of them; by name and date only."""
    pattern = host.transcripts
    registered = {registration.hook.source.scope for registration in registrations}
    if not pattern or "user" not in registered:
        return ()
    sessions = []
    for path in glob.iglob(pattern.format(config=glob.escape(config))):
        written_at = probes.written_at(path)
        if written_at is not None:
            sessions.append((os.path.splitext(os.path.basename(path))[0], written_at))
    return tuple(sessions)


# The work in hand.


def _locate_run(machine: Machine, facts: HostFacts, registration: GuardRegistration) -> RunFiles:
    """The work in hand of the current project, as this guard reads it."""
    root = machine.cwd_project
    named = machine.environ.get(facts.host.environment.project, "")
    if os.path.isdir(named):
        root = project.find(named, machine.environ)
    variables = _variables_for_run(facts, root)
    state = project.state_folder(machine.folders.state, root)
    is_brought = registration.hook.source.scope == "project"
    return locate(root, registration.config, variables, state, facts.now, is_brought=is_brought)


def _read_run(machine: Machine, run_files: RunFiles) -> Run:
    """What is in the run folder, and whose the work is."""
    folder, task_path = run_files.folder, run_files.task
    own = os.path.join(run_files.project, OWN)
    owner_path = os.path.join(folder, run_folder.OWNER)
    active_path = os.path.join(run_files.state, "ACTIVE")
    marks = [os.path.join(folder, name) for name in project.MARKS]
    task, task_error = _read_bytes(machine, task_path)
    owner = _read_bytes(machine, owner_path)[0] or b""
    active, active_error = _read_bytes(machine, active_path)
    work = find_work(run_files)
    return Run(
        own=own,
        folder=folder,
        task_path=task_path,
        task_names=run_files.fields,
        task=task,
        task_error=task_error,
        paths=tuple(_describe_run_paths([own, folder, task_path, *marks, owner_path])),
        owner_path=owner_path,
        owner=owner[:256].decode("utf-8", "replace").strip(),
        owner_since=probes.written_at(owner_path) or 0.0,
        log_folder=os.path.basename(run_files.state),
        active_path=active_path,
        active=b"" if active_error else active,
        work=WaitingWork(
            owner=describe_owner(run_files, work),
            is_fixed=work.holder.fixed,
            age=run_files.now - work.touched,
            is_stale=work.is_stale,
        ),
    )


def _variables_for_run(facts: HostFacts, root: str) -> dict[str, str]:
    """The variables that the guard has, but none of a project's that leads out of it."""
    whole = dict(facts.environ)
    for layer in reversed(facts.layers):
        whole |= layer.env
    variables = dict(facts.environ)
    for layer in reversed(facts.layers):
        shared = layer.source.scope == "project"
        variables |= confine_variables(layer.env, root, whole) if shared else layer.env
    return variables


def _read_bytes(machine: Machine, path: str) -> tuple[bytes | None, HookctlError | None]:
    try:
        return machine.reader.snapshot(path).data, None
    except HookctlError as error:
        return None, error


def _describe_run_paths(paths: list[str]) -> Iterator[RunPath]:
    """Those of these paths that are there."""
    for path in dict.fromkeys(paths):
        try:
            mode = os.lstat(path).st_mode
        except (OSError, ValueError):
            continue
        yield RunPath(path, mode, os.access(path, os.R_OK), os.access(path, os.X_OK))


def _find_missing_scripts(
    machine: Machine, layers: tuple[Layer, ...]
) -> dict[tuple[str, Path], Script]:
    """What hooks of others, and of packs, are to run, and what is not there or cannot be run."""
    missing = {}
    for layer in layers:
        variables = {"HOME": machine.environ["HOME"]}
        environment, start = layer.source.host.environment, ""
        if layer.source.scope in ("project", "local"):
            if environment.project:  # the folder whose settings these are
                variables[environment.project] = machine.folders.cwd
            if environment.starts_there:
                start = machine.folders.cwd
        for hook in layer.hooks:
            command: str | None = hook.command
            if hook.id.startswith(f"{GUARD}/"):
                command = original_of(hook.command)  # of another tool's hook that it wraps
            for script in scripts.find_scripts(command or "", variables, start):
                broken = probes.broken_script(script, machine.environ)
                if broken:
                    missing[hook.source.path, hook.path] = broken
                    break
    return missing


def _list_agents(machine: Machine) -> frozenset[str]:
    """The programs of all hosts."""
    return frozenset(machine.load(name).client.command for name in hosts.names())


def _load_systems() -> tuple[KnownTool, ...]:
    """The tools that keep an agent going, and how their hooks are told."""
    rows = tomllib.loads(read_data("checks", "continuations.toml").decode())["systems"]
    return tuple(KnownTool(**row) for row in rows)
