"""Gathers what a project declares, from its own files: the user's files are not read.

A clone may come from a stranger and have any owner, so none of its files is ever run.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hookctl import engine, hosts
from hookctl.checks import self_test
from hookctl.checks.facts import Configuration, FileFacts, Layer, Trial, Workplace, value_of
from hookctl.checks.gather_file import read_entries
from hookctl.checks.gather_guard import configuration, explain_conflict, first_python
from hookctl.checks.machine import hooks_of
from hookctl.checks.project import ANY, InstalledPack, ProjectFacts
from hookctl.documents.rules import RulesDocument
from hookctl.errors import HookctlError
from hookctl.hosts import Host, loading
from hookctl.ledger import committed
from hookctl.model import HEAD, WRAP, Current, Entry, Hooks, PackRecord, Record, Wanted
from hookctl.packs.choices import settings_from
from hookctl.packs.guard import as_0_2_0, host_table
from hookctl.packs.guard_options import confine, schema
from hookctl.packs.model import MANIFEST, MISSING, RELEASED, Pack
from hookctl.packs.pack import committed_files, load_file, parse, read_files
from hookctl.packs.programs import load_runner
from hookctl.packs.released import find_origin, package_of
from hookctl.packs.run_files import describe_unseen
from hookctl.packs.runner import find_programs
from hookctl.packs.runner_faults import find_fault
from hookctl.packs.wants import wants
from hookctl.planner.hook_env import pack_env, recorded_settings
from hookctl.planner.runner_files import list_files
from hookctl.planner.runtime_files import is_in_conflict
from hookctl.settings import effective
from hookctl.settings.effective import Source
from hookctl.settings.targets import (
    GUARD,
    OWN,
    Target,
    active_file,
    all_files,
    read_inside,
    read_settings,
    rules_target,
    top,
    variant_of_record,
)
from hookctl.system import files, git
from hookctl.system import project as project_folder
from hookctl.system.folders import Folders
from hookctl.system.packages import (
    PACKAGES,
    WRAPPER,
    folder_beside,
    is_as_named,
    is_mixture,
    list_packages,
)

DEFAULT_RUN = os.path.join(OWN, "run")
Manifests = Mapping[str, Pack | HookctlError]  # by the pack's name
_NOTHING = Current({}, {}, Hooks())
_NOWHERE = os.devnull  # stands for HOME: below it nothing can be


def isolated(project: str) -> Folders:
    """Folders in which only the project can be found."""
    state = os.path.join(_NOWHERE, "state")
    return Folders(state, os.path.join(_NOWHERE, "data"), {"HOME": _NOWHERE}, project)


def gather(
    project: str, environ: Mapping[str, str], start: str = "", start_project: str = ""
) -> ProjectFacts:
    """The facts about a project, by its real path.

    `start` is the working folder, in `start_project`: the fixes are commands for that folder.
    """
    folders = isolated(project)
    workplace = Workplace(start, start_project, schema())
    recorded, error, has_record = _read_record(folders)
    manifests = _read_manifests(project, recorded)
    records = {key: _as_wanted(record, manifests) for key, record in recorded.items()}
    found = [_read_file(workplace, _target_of(record), record) for record in records.values()]
    sources = {host.name: _read_sources(folders, host) for host in _list_hosts()}
    known = {file.path for file in found}
    for file in _find_unrecorded(workplace, folders):
        is_named = file.error is None or error is not None or _names_us(file.path)
        if is_named and file.path not in known:
            found.append(file)
    found = [_add_guard(_add_layers(file, sources, folders), folders) for file in found]
    found = [_add_runner(file, records) for file in found]
    packs = tuple(_gather_packs(found, manifests))
    shared = [file.path for file in found if file.is_file]
    shared += project_folder.shared_files(project)
    run = _list_run_files(project, found)
    rules = git.find_rules(project, [*shared, *run], environ, folders.state, personal=False)
    kept_out = rules or {}
    packages = _list_packages(project)
    return ProjectFacts(
        project,
        workplace,
        tuple(found),
        packs,
        error,
        hosts=tuple(name for name, found_sources in sources.items() if found_sources),
        programs=tuple(sorted(_list_programs(project))),
        has_record=has_record,
        recorded={record.known_as: record for record in recorded.values()},
        lost=tuple(_gather_lost_guards(workplace, folders, [pack.record.folder for pack in packs])),
        has_repository=bool(git.find_top(project)),
        packages=tuple(f"{package}/" for package in packages if is_as_named(package)),
        mixtures=tuple(package for package in packages if is_mixture(package)),
        runner=tuple(_list_runner_files(project, found, records)),
        run_files=tuple(path for path in run if rules is not None and path not in rules),
        ignored=git.fold(project, {path: kept_out[path] for path in shared if path in kept_out}),
    )


def _read_record(folders: Folders) -> tuple[dict[str, Record], HookctlError | None, bool]:
    """The project's own records, why they cannot be read, and whether there are any."""
    data = None
    try:
        data = files.read(committed.ledger_path(folders.cwd)).data
        return committed.load(folders, folders.cwd, data, {}), None, data is not None
    except HookctlError as error:
        return {}, error, True


def _list_hosts() -> list[Host]:
    """The hosts that have settings of a project."""
    every = [hosts.load(name) for name in hosts.names()]
    return [host for host in every if "project" in host.scopes]


def _add_layers(
    file: FileFacts, sources: Mapping[str, Sequence[Source]], folders: Folders
) -> FileFacts:
    """The facts with the project's settings that the host reads together with this file."""
    project, found = file.target.project, sources.get(file.host.name, ())
    switches = []
    for source in effective.with_switches(folders, file.host, found, project):
        if source.path.startswith(f"{project}/"):
            switches.append(source)
    layers = []
    for source in found:
        env = effective.variables([source])
        layers.append(Layer(source, source.path, hooks_of(source), env, frozenset()))
    file = file._replace(layers=tuple(layers), switch_layers=tuple(switches))
    return file._replace(
        path_python=first_python(value_of(file.reaching, {}, "PATH").text, project)
    )


def _names_us(path: str) -> bool:
    """Whether a file that cannot be parsed has the head of a hookctl command."""
    try:
        return HEAD.encode() in (files.read(path).data or b"")
    except HookctlError:
        return False


def _gather_lost_guards(
    workplace: Workplace, folders: Folders, known: list[str]
) -> Iterator[InstalledPack]:
    """The guards in the project that have programs, but no record."""
    for host in _list_hosts():
        folder = os.path.join(folders.cwd, OWN, GUARD, host.name)
        above = os.path.dirname(folder)
        links = [path for path in (folder, above, os.path.dirname(above)) if os.path.islink(path)]
        if folder in known or links or not os.path.isdir(folder):
            continue
        variant, path = active_file(host, "project", folders.environ, folders.cwd)
        file = _describe_file(workplace, Target(variant, "project", path, folders.cwd), None)
        pack = PackRecord("", {}, folder)
        origin = find_origin(pack, wraps=os.path.lexists(os.path.join(folder, WRAPPER)))
        if origin.kind != MISSING:
            file = file._replace(origin=origin)
            yield InstalledPack(GUARD, file, pack, package=_find_package(folder))


def _find_package(folder: str) -> str:
    """The folder of the package that the guard's launcher starts, or ''."""
    package = package_of(folder)
    return os.path.join(folder_beside(folder), package) if package else ""


def _read_manifests(project: str, records: Mapping[str, Record]) -> Manifests:
    """Each pack of the records as its committed files have it, or why these cannot be read."""
    folders: dict[str, str] = {}
    for record in records.values():
        folders.update((name, known.folder) for name, known in record.packs.items())
    found: dict[str, Pack | HookctlError] = {}
    for name in folders.keys() - {GUARD}:
        path = os.path.join(folders[name], MANIFEST)
        try:
            data = read_inside(project, path).data
            if data is not None:
                pack = parse(data, path)
                if pack.name != name:
                    message = f"this is the manifest of {pack.name}"
                    raise HookctlError("pack_changed", message, path=path)
                found[name] = pack._replace(contents=read_files(pack))
        except HookctlError as error:
            found[name] = error
    return found


def _as_wanted(record: Record, manifests: Manifests) -> Record:
    """The record as an install of its packs makes it, by the manifests in the project.

    It comes with the repository, so it has no say in what a pack's hooks are to be.
    """
    target, packs, entries = _target_of(record), dict(record.packs), record.entries
    owners = {*packs, *(name for entry in entries for name in entry.owners)}
    held = [pack for pack in manifests.values() if isinstance(pack, Pack) and pack.name in owners]
    for pack in held if packs else ():
        known, settings = packs[pack.name], recorded_settings(pack, target.host)
        files = dict.fromkeys(committed_files(pack), "")
        packs[pack.name] = known._replace(version=pack.version, settings=settings, files=files)
    for pack in held:
        name, wanted = pack.name, _list_wanted(target, pack, packs)
        decision = engine.install(
            entries, _NOTHING, name, pack.version, wanted, force=True, others=False
        )
        entries = decision.entries
    was = {entry.id: entry.written for entry in record.entries if entry.id}
    entries = tuple(_as_0_2_0(target.host, entry, was.get(entry.id)) for entry in entries)
    return record._replace(packs=packs, entries=entries)


def _as_0_2_0(host: Host, entry: Entry, was: Any) -> Entry:
    """The entry with 0.2.0's command, where `enable` put that back after an upgrade."""
    if not was or was.get("command") != as_0_2_0(host, entry.written["command"]):
        return entry
    return entry._replace(written={**entry.written, "command": was["command"]})


def _list_wanted(target: Target, pack: Pack, packs: Mapping[str, PackRecord]) -> list[Wanted]:
    """What a pack wants in a settings file with these packs, or in one with instructions."""
    if not packs:
        return [Wanted((pack.name,), "leaf", pack.rules)] if pack.rules else []
    runtime = os.path.join(target.project, OWN, PACKAGES)
    programs = find_programs(target, packs[pack.name].folder, runtime, "")
    return wants(pack, target.host, programs, pack_env(pack, target, packs))[0]


def _target_of(record: Record) -> Target:
    host = variant_of_record(hosts.load(record.host), record, record.known_as)
    return Target(host, record.scope, record.known_as, record.project)


def _read_file(workplace: Workplace, target: Target, record: Record | None) -> FileFacts:
    document, current, error = read_entries(target, record, read_settings)
    file = _describe_file(workplace, target, record)
    return file._replace(document=document, current=current, error=error)


def _describe_file(workplace: Workplace, target: Target, record: Record | None) -> FileFacts:
    """The facts that need neither the file's text nor the other files of the project."""
    guard = record.packs.get(GUARD) if record else None
    return FileFacts(
        target=target,
        host=target.host,
        path=target.path,
        record=record,
        guard=guard,
        settings=settings_from(guard.settings) if guard else None,
        is_file=os.path.isfile(target.path),
        workplace=workplace,
        is_alone=True,
    )


def _find_unrecorded(workplace: Workplace, folders: Folders) -> Iterator[FileFacts]:
    """The project's settings files that cannot be read, or have a hook of hookctl."""
    project = folders.cwd
    for host in _list_hosts():
        for variant, path in all_files(host, "project", folders.environ, project):
            if not os.path.lexists(path):
                continue
            file = _read_file(workplace, Target(variant, "project", path, project), None)
            if file.error is not None or file.elements:
                yield file
        target = rules_target(Target(host, "project", "", project))
        if target is not None:
            file = _read_file(workplace, target, None)
            if isinstance(file.document, RulesDocument) and file.document.packs:
                yield file


def _read_sources(folders: Folders, host: Host) -> list[Source]:
    """What the host reads in the project, the winning files first."""
    found = []
    for scope in host.scope_rules.precedence:
        if scope not in ("project", "local") or scope not in host.scopes:
            continue
        for variant, path in all_files(host, scope, folders.environ, folders.cwd):
            document = read_entries(Target(variant, scope, path, folders.cwd), None, read_settings)[
                0
            ]
            if document is None or loading.refusal(variant, document) or not os.path.lexists(path):
                continue
            found.append(Source(scope, path, document, variant))
    return found


def _list_programs(project: str) -> Iterator[str]:
    """Every file below the folders of hookctl's programs."""
    for name in (GUARD, "packs", PACKAGES):
        top = os.path.join(project, OWN, name)
        if os.path.islink(top) or os.path.islink(os.path.join(project, OWN)):
            yield top
            continue
        for folder, folder_names, file_names in os.walk(top):
            links = [link for link in folder_names if os.path.islink(os.path.join(folder, link))]
            for file_name in [*file_names, *links]:
                yield os.path.join(folder, file_name)


def _list_packages(project: str) -> list[str]:
    """The packages; one that is as its name says is harmless, even if nothing runs it."""
    folder = os.path.join(project, OWN, PACKAGES)
    names = [] if os.path.islink(folder) else list_packages(folder)
    return [os.path.join(folder, name) for name in names]


def _list_runner_files(
    project: str, found: Sequence[FileFacts], records: Mapping[str, Record]
) -> Iterator[str]:
    """The files of the runner: what is wrong with them has a finding of its own."""
    runtime = os.path.join(project, OWN, PACKAGES)
    for name in list_files(records, project, ""):
        yield os.path.join(runtime, name)
    runner = load_runner()
    for file in found:
        if file.run_packs:
            for name in runner.modules:
                yield os.path.join(runtime, runner.package, name)
        if file.runner is not None:
            yield file.runner.path


def _add_runner(file: FileFacts, records: Mapping[str, Record]) -> FileFacts:
    """The facts with what is wrong with the runner of the file's packs."""
    if not file.run_packs:
        return file
    target, project = file.target, file.target.project
    folder, read = os.path.join(project, OWN, PACKAGES), functools.partial(read_inside, project)
    expected = list_files(records, project, "")
    is_merged = functools.partial(is_in_conflict, target)
    fault = find_fault(folder, expected, file.host.name, read, is_merged)
    return file._replace(runner=fault)


def _add_guard(file: FileFacts, folders: Folders) -> FileFacts:
    """The facts with the guard's programs, its configuration, and its self-test."""
    guard, project = file.guard, file.target.project
    if guard is None:
        return file
    ids = [entry.id for entry in file.entries]
    wraps = any(id.startswith(WRAP) for id in ids)
    wraps = wraps or os.path.lexists(os.path.join(guard.folder, WRAPPER))
    if not wraps and not any(id.startswith(f"{GUARD}/") for id in ids):
        return file  # nothing runs them
    config = configuration(guard.folder, functools.partial(read_inside, project))
    explain_conflict(file.target, config.error)
    outside = tuple(describe_unseen(config.value, project))
    file = file._replace(
        origin=find_origin(guard, wraps=wraps), config=config._replace(outside=outside)
    )
    return file._replace(trial=_ask_guard(file, config, folders.state))


def _ask_guard(file: FileFacts, config: Configuration, state: str) -> Trial | None:
    """The guard's self-test, if its configuration and programs can be trusted."""
    is_released = file.origin is not None and file.origin.kind == RELEASED
    if not is_released or not config.is_there or config.error is not None:
        return None
    variables = effective.variables([layer.source for layer in file.layers])
    question = self_test.Question(file.host, config.value, variables, variables, is_shared=True)
    return self_test.run(sys.executable, question, state)


def _list_run_files(project: str, found: Sequence[FileFacts]) -> list[str]:
    """The files of the work in hand, which must not be committed; `*` stands for new ones."""
    paths: dict[str, None] = {}
    for file in found:
        if file.config is None:  # no program reads it
            continue
        config = confine(file.config.value, project, {})
        for folder in (DEFAULT_RUN, config.get("run_dir", DEFAULT_RUN)):
            for name in (ANY, "task.json", "OWNER", *project_folder.MARKS):
                path = os.path.normpath(os.path.join(project, str(folder).strip(), name))
                if name == ANY or os.path.lexists(path):
                    paths[path] = None
    return list(paths)


def _gather_packs(found: list[FileFacts], manifests: Manifests) -> Iterator[InstalledPack]:
    """Every pack of the record at each settings file, with its files and where they came from."""
    for file in found:
        for name, known in file.packs.items():
            if name != GUARD:
                source = _read_source(file.target.project, known)
                yield InstalledPack(name, file, known, manifests.get(name), source)
            elif file.config is None:
                yield InstalledPack(GUARD, file, known)
            else:
                table, package = host_table(file.host), _find_package(known.folder)
                yield InstalledPack(GUARD, file, known, package=package, host_table=table)


def _read_source(project: str, known: PackRecord) -> Pack | HookctlError | None:
    """The pack as it is where it was installed from, if that is in the project."""
    if not known.source.startswith(top(project)):
        return None
    try:
        pack = load_file(known.source)
        return pack._replace(contents=read_files(pack))
    except HookctlError as error:
        return error
