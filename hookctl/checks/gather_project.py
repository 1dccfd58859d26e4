"""Gathers what a project declares, from its own files: the user's files are not read.

A clone may come from a stranger and have any owner, so none of its files is ever run.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hookctl import engine, hosts
from hookctl.checks import self_test
from hookctl.checks.facts import Configuration, FileFacts, Trial, value_of
from hookctl.checks.gather_file import read_entries
from hookctl.checks.gather_guard import commands_of, configuration, explain_conflict, first_python
from hookctl.checks.programs import Read, find_fault
from hookctl.checks.project import ANY, InstalledPack, ProjectFacts
from hookctl.documents.rules import RulesDocument
from hookctl.errors import HookctlError
from hookctl.hosts import Host, loading, settings_path
from hookctl.ledger import committed
from hookctl.model import HEAD, Current, Entry, Hooks, PackRecord, Record, Wanted
from hookctl.packs.choices import settings_from
from hookctl.packs.guard import as_0_2_0, host_table
from hookctl.packs.guard_options import confine, schema
from hookctl.packs.model import CLAUDE, MANIFEST, PROTOCOL, Pack
from hookctl.packs.pack import committed_files, load_file, parse
from hookctl.packs.programs import load_programs
from hookctl.packs.released import find_former
from hookctl.packs.run_files import describe_outside
from hookctl.packs.runner import find_programs, needs_runner
from hookctl.packs.wants import wants
from hookctl.planner.own_files import list_programs
from hookctl.settings import effective, switches
from hookctl.settings.effective import Source
from hookctl.settings.targets import (
    GUARD,
    OWN,
    Target,
    all_files,
    read_inside,
    read_settings,
    rules_target,
    top,
    variant_of_record,
)
from hookctl.survey.model import Layer, Workplace
from hookctl.system import files, git
from hookctl.system import project as project_folder
from hookctl.system.folders import Folders
from hookctl.system.packages import CONFIGS, HOOK, PACKAGES, PACKS, TABLE

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
    read = functools.partial(read_inside, project)
    found = [_add_layers(file, sources, folders) for file in found]
    found = [_add_guard(file, folders, records, read) for file in found]
    packs = tuple(_gather_packs(found, manifests))
    shared = [file.path for file in found if file.is_file]
    shared += project_folder.shared_files(project)
    run = _list_run_files(project, found)
    rules = git.find_rules(project, [*shared, *run], environ, folders.state, personal=False)
    kept_out = rules or {}
    known_programs = set(_list_own_programs(project, read))
    with contextlib.suppress(HookctlError):
        for target in dict.fromkeys(file.target for file in found if file.record):
            known_programs |= list_programs(records, target, folders).keys()
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
        known_programs=frozenset(known_programs),
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
    users = settings_path(file.host, "user", folders.environ)
    found_switches = switches.find(folders, file.host, users, project, ("project", "local"))
    layers = []
    for source in found:
        env = effective.variables([source])
        layers.append(Layer(source, source.path, env))
    file = file._replace(layers=tuple(layers), switches=found_switches)
    return file._replace(
        path_python=first_python(value_of(file.reaching, {}, "PATH").text, project)
    )


def _names_us(path: str) -> bool:
    """Whether a file that cannot be parsed has the head of a hookctl command."""
    try:
        return HEAD.encode() in (files.read(path).data or b"")
    except HookctlError:
        return False


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
                found[name] = pack
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
        known, settings = packs[pack.name], dict[str, Any]()
        if needs_runner(pack, target.host):
            settings = {PROTOCOL: CLAUDE, "python": ""}
        files = tuple(committed_files(pack))
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
    top = os.path.join(target.project, OWN)
    programs = find_programs(target, packs[pack.name].folder, top, "")
    return wants(pack, target.host, programs)[0]


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
    if os.path.lexists(os.path.join(project, OWN, HOOK)):
        yield os.path.join(project, OWN, HOOK)
    for name in (CONFIGS, PACKS, PACKAGES):
        top = os.path.join(project, OWN, name)
        if os.path.islink(top) or os.path.islink(os.path.join(project, OWN)):
            yield top
            continue
        for folder, folder_names, file_names in os.walk(top):
            links = [link for link in folder_names if os.path.islink(os.path.join(folder, link))]
            for file_name in [*file_names, *links]:
                yield os.path.join(folder, file_name)


def _list_own_programs(project: str, read: Read) -> Iterator[str]:
    """The programs that a release has, and what those read; nothing need run them."""
    top = os.path.join(project, OWN)
    yield from find_former(top, read)
    for name, data in load_programs().all.items():
        path = os.path.join(top, name)
        with contextlib.suppress(HookctlError):
            if read(path).data == data:
                yield path
    for name in (TABLE, *(f"{CONFIGS}/{host}.json" for host in hosts.names())):
        yield os.path.join(top, name)


def _add_guard(
    file: FileFacts, folders: Folders, records: Mapping[str, Record], read: Read
) -> FileFacts:
    """The facts with the programs of hooks, the guard's configuration, and its self-test."""
    if file.packs:
        file = file._replace(
            fault=find_fault(folders, records, file.target, read, commands_of(file))
        )
    if file.guard is None or not file.guard.config:
        return file  # nothing runs it
    config = configuration(file.guard.config, read)
    explain_conflict(file.target, config.error)
    outside = tuple(describe_outside(config.value, file.target.project))
    file = file._replace(config=config._replace(outside=outside))
    return file._replace(trial=_ask_guard(file, config, folders.state))


def _ask_guard(file: FileFacts, config: Configuration, state: str) -> Trial | None:
    """The guard's self-test, if its configuration and programs can be trusted."""
    if file.fault or not config.is_there or config.error is not None:
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
                yield InstalledPack(GUARD, file, known, host_table=host_table(file.host))


def _read_source(project: str, known: PackRecord) -> Pack | HookctlError | None:
    """The pack as it is where it was installed from, if that is in the project."""
    if not known.source.startswith(top(project)):
        return None
    try:
        return load_file(known.source)
    except HookctlError as error:
        return error
