"""Gathers what a project declares, from its own files: nothing of the user's is read.

A clone may belong to anybody and come from a stranger, so no file of it is ever run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence

from hookctl import hosts
from hookctl.checks import self_test
from hookctl.checks.facts import Configuration, FileFacts, Layer, value_of
from hookctl.checks.gather_file import read_entries
from hookctl.checks.machine import hooks_of
from hookctl.checks.probes import first_python
from hookctl.checks.project import ANY, CONFIG, InstalledPack, ProjectFacts, RequiredPack
from hookctl.documents.jsonc import JsonDocument
from hookctl.documents.rules import RulesDocument
from hookctl.errors import HookctlError
from hookctl.hosts import Host, loading
from hookctl.ledger import committed
from hookctl.model import HEAD, PackRecord, Record, Wanted
from hookctl.packs.guard import host_table
from hookctl.packs.guard_options import schema
from hookctl.packs.model import MISSING, RELEASED, Pack
from hookctl.packs.pack import read_files
from hookctl.packs.released import find_origin, package_of
from hookctl.packs.run_files import confine, describe_unseen
from hookctl.packs.wants import wants
from hookctl.packs.wrapping import PROGRAM as WRAPPER
from hookctl.packs.wrapping import is_wrap_id
from hookctl.settings import effective
from hookctl.settings.effective import Source
from hookctl.settings.targets import (
    GUARD,
    OWN,
    Target,
    active_file,
    all_files,
    in_sh,
    read_inside,
    read_settings,
    rules_target,
    variant_of_record,
)
from hookctl.system import files, git
from hookctl.system import project as project_folder
from hookctl.system.files import content_digest
from hookctl.system.folders import Folders
from hookctl.system.packages import PACKAGES, folder_beside, is_as_named, list_packages

DEFAULT_RUN = os.path.join(OWN, "run")
_NOWHERE = os.devnull  # stands for HOME: below it nothing can be


def isolated(project: str) -> Folders:
    """Folders in which only the project can be found."""
    state = os.path.join(_NOWHERE, "state")
    return Folders(state, os.path.join(_NOWHERE, "data"), {"HOME": _NOWHERE}, project)


def gather(
    project: str, environ: Mapping[str, str], start: str = "", start_project: str = ""
) -> ProjectFacts:
    """The facts about a project, by its real path.

    `start` is the folder that somebody works in, in `start_project`: what is to do is said for it.
    """
    folders = isolated(project)
    records: dict[str, Record] = {}
    error, data = None, None
    try:
        data = files.read(committed.ledger_path(project)).data
        records = committed.load(folders, project, data, {})
    except HookctlError as problem:
        error = problem
    found = [_gather_file(project, record) for record in records.values()]
    known = {file.path for file in found}
    sources = {}
    for name in hosts.names():
        host = hosts.load(name)
        if "project" not in host.scopes:
            continue
        for file in _find_unrecorded(folders, host):
            is_named = file.error is None or error is not None or _names_us(file.path)
            if is_named and file.path not in known:
                found.append(file)
        sources[name] = _read_sources(folders, host)
    found = [file._replace(cwd=start, cwd_project=start_project) for file in found]
    found = [_add_layers(file, sources, folders) for file in found]
    installed = [_ask_guard(pack, folders.state) for pack in _gather_packs(found)]
    asked = {pack.file.path: pack.file for pack in installed if pack.name == GUARD}
    lost = []
    for guard in _gather_lost_guards(folders, [pack.record.folder for pack in installed]):
        file = guard.file._replace(cwd=start, cwd_project=start_project)
        lost.append(guard._replace(file=file))
    shared = [file.target.path for file in found if file.is_file]
    shared += project_folder.shared_files(project)
    run = _list_run_files(project, installed)
    rules = git.find_rules(project, [*shared, *run], environ, folders.state, personal=False)
    kept_out = rules or {}
    return ProjectFacts(
        project,
        tuple(asked.get(file.path, file) for file in found),
        tuple(installed),
        error,
        hosts=tuple(name for name, found_sources in sources.items() if found_sources),
        programs=tuple(sorted(_list_programs(project))),
        has_record=data is not None or error is not None,
        lost=tuple(lost),
        start_project=start_project,
        has_repository=bool(git.find_top(project)),
        packages=tuple(_list_whole_packages(project)),
        run_files=tuple(path for path in run if rules is not None and path not in rules),
        ignored=git.fold(project, {path: kept_out[path] for path in shared if path in kept_out}),
    )


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
    """Whether a file that cannot be parsed has the head of a command of hookctl's."""
    try:
        return HEAD.encode() in (files.read(path).data or b"")
    except HookctlError:
        return False


def _gather_lost_guards(folders: Folders, known: list[str]) -> Iterator[InstalledPack]:
    """The guards in the project that have programs, and no record."""
    for name in hosts.names():
        host = hosts.load(name)
        folder = os.path.join(folders.cwd, OWN, GUARD, name)
        links = [path for path in (folder, *_parents(folder, 2)) if os.path.islink(path)]
        if folder in known or links or not os.path.isdir(folder) or "project" not in host.scopes:
            continue
        variant, path = active_file(host, "project", folders.environ, folders.cwd)
        file = _describe_file(Target(variant, "project", path, folders.cwd), None)
        pack = PackRecord("", {}, folder)
        origin = find_origin(pack, wraps=os.path.lexists(os.path.join(folder, WRAPPER)))
        if origin.kind != MISSING:
            name = package_of(folder)
            package = os.path.join(folder_beside(folder), name) if name else ""
            yield InstalledPack(GUARD, file, pack, origin=origin, package=package)


def _parents(path: str, count: int) -> Iterator[str]:
    for _ in range(count):
        path = os.path.dirname(path)
        yield path


def _gather_file(project: str, record: Record) -> FileFacts:
    host = variant_of_record(hosts.load(record.host), record, record.known_as)
    return _read_file(Target(host, record.scope, record.known_as, project), record)


def _read_file(target: Target, record: Record | None) -> FileFacts:
    document, current, error = read_entries(target, record, read_settings)
    file = _describe_file(target, record)
    return file._replace(document=document, current=current, error=error)


def _describe_file(target: Target, record: Record | None) -> FileFacts:
    """The facts that need neither the file's text nor the other files of the project."""
    return FileFacts(
        target=target,
        host=target.host,
        path=target.path,
        record=record,
        guard=record.packs.get(GUARD) if record else None,
        is_file=os.path.isfile(target.path),
        is_alone=True,
        settings_schema=schema(),
    )


def _find_unrecorded(folders: Folders, host: Host) -> Iterator[FileFacts]:
    """The project's settings files of a host that cannot be read, or have a hook of hookctl's."""
    for variant, path in all_files(host, "project", folders.environ, folders.cwd):
        if not os.path.lexists(path):
            continue
        file = _read_file(Target(variant, "project", path, folders.cwd), None)
        if file.error is not None or (file.current and file.current.elements):
            yield file
    target = rules_target(Target(host, "project", "", folders.cwd))
    if target is not None:
        file = _read_file(target, None)
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


def _list_whole_packages(project: str) -> Iterator[str]:
    """The packages with the content that their names say: one that nothing starts does no harm."""
    folder = os.path.join(project, OWN, PACKAGES)
    for name in () if os.path.islink(folder) else list_packages(folder):
        path = os.path.join(folder, name, "")
        if is_as_named(os.path.dirname(path)):
            yield path


def _gather_packs(found: list[FileFacts]) -> Iterator[InstalledPack]:
    """Every pack of the record at each settings file, with its files."""
    for file in found:
        for name, pack in (file.record.packs if file.record else {}).items():
            if name == GUARD:
                yield _gather_guard(file, pack)
            else:
                yield _gather_pack(file, name, pack)


def _gather_guard(file: FileFacts, pack: PackRecord) -> InstalledPack:
    entries = file.record.entries if file.record else ()
    wraps = any(is_wrap_id(entry.id) for entry in entries)
    wraps = wraps or os.path.lexists(os.path.join(pack.folder, WRAPPER))
    installed = InstalledPack(GUARD, file, pack)
    if not wraps and not any(entry.id.startswith(f"{GUARD}/") for entry in entries):
        return installed
    package = package_of(pack.folder)
    installed = installed._replace(
        origin=find_origin(pack, wraps=wraps),
        host_table=host_table(file.target.host),
        package=os.path.join(folder_beside(pack.folder), package) if package else "",
    )
    path = os.path.join(pack.folder, CONFIG)
    try:
        data = read_inside(file.target.project, path).data
        if data is None:
            return installed
        config = JsonDocument.parse(data, where=path, comments=False).value
    except HookctlError as error:
        return installed._replace(config_error=error)
    values = config if isinstance(config, dict) else {}
    outside = tuple(describe_unseen(values, file.target.project))
    return installed._replace(config=config, outside=outside)


def _list_run_files(project: str, packs: Sequence[InstalledPack]) -> list[str]:
    """The files of the work in hand, which no clone is to have; `*` stands for new ones."""
    paths: dict[str, None] = {}
    for installed in packs:
        if installed.origin is None:  # no program reads it
            continue
        config = installed.config if isinstance(installed.config, dict) else {}
        for folder in (DEFAULT_RUN, confine(config, project, {}).get("run_dir", DEFAULT_RUN)):
            for name in (ANY, "task.json", "OWNER", *project_folder.MARKS):
                path = os.path.normpath(os.path.join(project, str(folder).strip(), name))
                if name == ANY or os.path.lexists(path):
                    paths[path] = None
    return list(paths)


def _ask_guard(installed: InstalledPack, state: str) -> InstalledPack:
    """The guard, asked with its configuration, if that and its programs can be trusted."""
    origin, file = installed.origin, installed.file
    if origin is None:
        return installed
    config = _describe_configuration(installed)
    trial = None
    if origin.kind == RELEASED and config.is_there and config.error is None:
        variables = effective.variables([layer.source for layer in file.layers])
        question = self_test.Question(file.host, config.value, variables, variables, is_shared=True)
        trial = self_test.run(sys.executable, question, state)
    return installed._replace(file=file._replace(config=config, trial=trial))


def _describe_configuration(installed: InstalledPack) -> Configuration:
    """The guard's configuration as doctor has it."""
    path = os.path.join(installed.record.folder, CONFIG)
    value, error = installed.config, installed.config_error
    if value is None or error is not None:
        return Configuration(path, error is not None, {}, error)
    if not isinstance(value, dict):
        error = HookctlError("wrong_shape", "it is not a JSON object")
        return Configuration(path, True, {}, error)
    return Configuration(path, True, value, None, outside=installed.outside)


def _gather_pack(file: FileFacts, name: str, pack: PackRecord) -> InstalledPack:
    contents: dict[str, bytes | None] = {}
    try:
        for file_name in sorted(pack.files):
            path = os.path.join(pack.folder, file_name)
            contents[file_name] = read_inside(file.target.project, path).data
    except HookctlError as error:
        return InstalledPack(name, file, pack, error)
    return InstalledPack(name, file, pack, contents=contents)


def require(pack: Pack, source: str) -> RequiredPack:
    """A pack that is required with the content of its own file, which is named `source`."""
    contents = {name: data for name, (data, _) in read_files(pack).items()}
    return RequiredPack(pack.name, pack, content_digest(b"", contents), source)


def wanted_of(facts: ProjectFacts, required: RequiredPack) -> dict[str, list[Wanted]]:
    """What a required pack's own file wants in each settings file that has it, by path."""
    wanted = {}
    for installed in facts.packs:
        if required.pack is not None and installed.name == required.name:
            target = installed.file.target
            files_text = in_sh(target, installed.record.folder)
            wanted[target.path] = wants(required.pack, target.host, files_text)[0]
    return wanted
