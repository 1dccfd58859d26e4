"""What a project declares, gathered and judged from its own files: nothing of the user's is read.

A clone may belong to anybody and come from a stranger, so no file of it is ever run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from hookctl import engine, hosts
from hookctl.checks.codes import Finding, finding
from hookctl.documents import Document
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.hosts import Host, loading, reading
from hookctl.ledger import committed
from hookctl.ledger.digests import content_digest
from hookctl.model import Current, Entry, PackRecord, Record
from hookctl.packs import guard
from hookctl.packs.choices import settings_from
from hookctl.packs.model import MISSING, NEWER, UNKNOWN, Pack
from hookctl.packs.pack import read_files
from hookctl.packs.released import find_origin, package_of
from hookctl.packs.wants import wants
from hookctl.packs.wrapping import PROGRAM as WRAPPER
from hookctl.packs.wrapping import is_wrap_id
from hookctl.settings import effective
from hookctl.settings.precedence import Source
from hookctl.settings.sources import look
from hookctl.settings.targets import (
    GUARD,
    OWN,
    Target,
    all_files,
    in_sh,
    read_inside,
    read_settings,
    require_inside,
    variant_of_file,
)
from hookctl.system import files
from hookctl.system.folders import Folders

_NOWHERE = os.devnull  # stands for HOME: below it nothing can be
_OWN_FILES = (committed.CONFIG, "hook.py", WRAPPER)


class ProjectFile(NamedTuple):
    """A settings file in the project, and what the project's record has of it."""

    target: Target
    record: Record | None
    document: Document | None = None  # None where it cannot be read
    current: Current | None = None
    error: HookctlError | None = None


class ProjectFacts(NamedTuple):
    """Everything in a project that hookctl put there, or that decides whether it runs."""

    project: str
    files: tuple[ProjectFile, ...] = ()
    error: HookctlError | None = None  # why its record cannot be read
    sources: dict[str, tuple[Source, ...]] = {}  # noqa: RUF012 - by host, the winning ones first
    programs: tuple[str, ...] = ()  # every file in hookctl's folder of programs

    @property
    def packs(self) -> dict[str, list[tuple[ProjectFile, PackRecord]]]:
        """Where each pack of the record is installed."""
        found: dict[str, list[tuple[ProjectFile, PackRecord]]] = {}
        for file in self.files:
            for name, pack in (file.record.packs if file.record else {}).items():
                found.setdefault(name, []).append((file, pack))
        return found


def isolated(project: str) -> Folders:
    """Folders in which only the project can be found."""
    state = os.path.join(_NOWHERE, "state")
    return Folders(state, os.path.join(_NOWHERE, "data"), {"HOME": _NOWHERE}, project)


def gather(project: str) -> ProjectFacts:
    """The facts about a project, by its real path."""
    folders = isolated(project)
    records: dict[str, Record] = {}
    error = None
    try:
        data = files.read(committed.ledger_path(project)).data
        records = committed.load(folders, project, data, {})
    except HookctlError as problem:
        error = problem
    found = [_gather_file(project, record) for record in records.values()]
    known = {file.target.path for file in found}
    sources = {}
    for name in hosts.names():
        host = hosts.load(name)
        if "project" not in host.scopes:
            continue
        found += [file for file in _find_unrecorded(folders, host) if file.target.path not in known]
        sources[name] = tuple(_read_sources(folders, host))
    programs = tuple(sorted(_list_programs(project)))
    return ProjectFacts(project, tuple(found), error, sources, programs)


def _gather_file(project: str, record: Record) -> ProjectFile:
    host = variant_of_file(hosts.load(record.host), record.known_as)
    target = Target(host, record.scope, record.known_as, project)
    return _read_file(target, record)


def _read_file(target: Target, record: Record | None) -> ProjectFile:
    file = ProjectFile(target, record)
    try:
        require_inside(target.project, target.path)
        _, document = read_settings(target.path, target.host.format)
        refusal = reading.refusal(target.host, document)
        if refusal is not None:
            return file._replace(error=refusal)
        current = look(target.host, document, (), record.entries if record else ())
    except HookctlError as error:
        return file._replace(error=error)
    return file._replace(document=document, current=current)


def _find_unrecorded(folders: Folders, host: Host) -> Iterator[ProjectFile]:
    """The project's settings files of a host that have a hook with hookctl's head."""
    for variant, path in all_files(host, "project", folders.environ, folders.cwd):
        if not os.path.lexists(path):
            continue
        file = _read_file(Target(variant, "project", path, folders.cwd), None)
        if file.current is not None and file.current.elements:
            yield file


def _read_sources(folders: Folders, host: Host) -> Iterator[Source]:
    """What the host reads in the project, the winning files first, with the files of switches."""
    found = []
    for scope in host.scope_rules.precedence:
        if scope not in ("project", "local") or scope not in host.scopes:
            continue
        for variant, path in all_files(host, scope, folders.environ, folders.cwd):
            file = _read_file(Target(variant, scope, path, folders.cwd), None)
            if file.document is not None and os.path.lexists(path):
                found.append(Source(scope, path, file.document, variant))
    for source in effective.with_switches(folders, host, found, folders.cwd):
        if source.path.startswith(f"{folders.cwd}/"):
            yield source


def _list_programs(project: str) -> Iterator[str]:
    """Every file below the folders of hookctl's programs."""
    for name in ("guard", "packs"):
        top = os.path.join(project, OWN, name)
        if os.path.islink(top) or os.path.islink(os.path.join(project, OWN)):
            yield top
            continue
        for folder, folder_names, file_names in os.walk(top):
            links = [link for link in folder_names if os.path.islink(os.path.join(folder, link))]
            for file_name in [*file_names, *links]:
                yield os.path.join(folder, file_name)


# Judging


def judge(facts: ProjectFacts) -> Iterator[Finding]:
    """Every finding about a project, whatever is required of it."""
    if facts.error is not None:
        yield _from_error("ledger_unreadable", facts.error, "")
        return
    for file in facts.files:
        yield from _judge_file(file)
    yield from _judge_programs(facts)
    for name in sorted({file.target.host.name for file in facts.files if file.record}):
        yield from _judge_switches(facts, name)


def _from_error(code: str, error: HookctlError, host: str) -> Finding:
    where = f"line {error.line}, column {error.column}: " if error.line else ""
    return finding(code, where + error.message, host, error.path, error.hint, "error")


def _judge_file(file: ProjectFile) -> Iterator[Finding]:
    """Whether the entries of a settings file are those of the record."""
    host, path = file.target.host.name, file.target.path
    if file.error is not None:
        yield _from_error("unparsable", file.error, host)._replace(path=path)
        return
    assert file.current is not None
    yield from _judge_loading(file)
    entries = file.record.entries if file.record else ()
    recorded = {entry.id for entry in entries if entry.kind == "element"}
    for hook in file.current.elements:
        if hook.id not in recorded and hook.id.partition("/")[0]:
            message = f"{hook.id} is registered here, but the project's record does not know it"
            fix = "Look at its command, then remove it, or `hookctl install` its pack."
            yield finding("ledger_missing", message, host, path, fix)
    for entry in entries:
        if entry.kind != "container":
            yield from _judge_entry(file, entry, file.current)


def _judge_loading(file: ProjectFile) -> Iterator[Finding]:
    """What makes the host load nothing of the file, so no hook of it runs."""
    host = file.target.host
    for fault in loading.faults(host, file.document) if file.document else ():
        if fault.is_whole:
            message = f"{fault.message}; {host.title} {reading.cost(host)}"
            fix = fault.fix or f"Fix {fault.subject}, or remove it."
            yield finding(fault.code, message, host.name, file.target.path, fix, "error")


def _judge_entry(file: ProjectFile, entry: Entry, current: Current) -> Iterator[Finding]:
    host, path = file.target.host.name, file.target.path
    name = entry.id or ".".join(map(str, entry.path))
    state = engine.state(entry, current, entry.path, entry.id)
    if state == "missing":
        message = f"{name} is on record, and is not in the settings"
        yield finding("entry_missing", message, host, path, _upgrade(entry), "error")
        return
    if state != "overridden":
        return
    commands = {hook.fields.get("command") for hook in current.elements if hook.id == entry.id}
    if entry.kind == "element" and entry.written.get("command") not in commands:
        message = f"the command of {name} is not the one on record"
        yield finding("entry_edited", message, host, path, _upgrade(entry, "install"), "error")
        return
    message = f"{name} was changed since hookctl wrote it; the change stays"
    yield finding("entry_edited", message, host, path, "", "info")


def _upgrade(entry: Entry, verb: str = "upgrade") -> str:
    owner = next(iter(entry.owners), GUARD)
    if verb == "upgrade":
        return f"`hookctl upgrade` puts back all of {owner}; a single entry comes with --force."
    return f"Look at it; `hookctl install {owner} --scope project --force` puts ours back."


def _judge_programs(facts: ProjectFacts) -> Iterator[Finding]:
    """Whether every program is one that hookctl released, or that the record has."""
    own: set[str] = set()
    for name, places in facts.packs.items():
        for file, pack in places:
            own |= _files_of(name, pack, facts)
            if name == GUARD:
                yield from _judge_guard(file, pack)
            else:
                yield from _judge_pack(file, name, pack)
    for path in facts.programs:
        if path not in own:
            message = "hookctl did not write this file into its folder of programs"
            fix = "Look at it, then remove it."
            yield finding("stray_file", message, "", path, fix)


def _files_of(name: str, pack: PackRecord, facts: ProjectFacts) -> set[str]:
    """The paths of a pack's files; those of the guard's package are judged by their digest."""
    paths = {os.path.join(pack.folder, file) for file in pack.files}
    if name == GUARD:
        paths |= {os.path.join(pack.folder, file) for file in _OWN_FILES}
        package = package_of(pack.folder)
        if package:
            top = os.path.join(pack.folder, package, "")
            paths |= {path for path in facts.programs if _is_module(path, top)}
    return paths


def _is_module(path: str, top: str) -> bool:
    rest = path.removeprefix(top)
    return path.startswith(top) and "/" not in rest and rest.endswith(".py")


def _judge_guard(file: ProjectFile, pack: PackRecord) -> Iterator[Finding]:
    host = file.target.host.name
    hooks = file.record.entries if file.record else ()
    wraps = any(is_wrap_id(entry.id) for entry in hooks)
    if not wraps and not any(entry.id.startswith(f"{GUARD}/") for entry in hooks):
        return
    origin = find_origin(pack, wraps=wraps)
    hook = os.path.join(pack.folder, "hook.py")
    fix = "Look at it; `hookctl install --scope project --force` puts ours there."
    if origin.kind == MISSING:
        message = "the guard's program is not there: is .hookctl committed with the settings?"
        yield finding("hook_missing", message, host, hook, "`hookctl doctor --fix` puts it back.")
    elif origin.kind == UNKNOWN:
        message = "this is not a program that hookctl released"
        yield finding("hook_unknown", message, host, origin.path, fix)
    elif origin.kind == NEWER:
        message = f"the hook is of hookctl {origin.version}, which this one cannot check"
        fix = f"Upgrade hookctl to {origin.version} or later."
        yield finding("hook_newer", message, host, hook, fix, "error")
    yield from _judge_configuration(file, pack)


def _judge_configuration(file: ProjectFile, pack: PackRecord) -> Iterator[Finding]:
    """Whether the guard's config.json can be read, and leaves the guard on."""
    host, path = file.target.host.name, os.path.join(pack.folder, committed.CONFIG)
    try:
        data = read_inside(file.target.project, path).data
        config = JsonDocument.parse(data or b"{}", where=path, comments=False).value
    except HookctlError as error:
        yield _from_error("config_unreadable", error, host)._replace(path=path)
        return
    mode = config.get("mode") if isinstance(config, dict) else None
    if mode == "off" and settings_from(pack.settings).mode != "off":
        message = "the configuration switches the guard off, and the record does not"
        fix = "Take the mode out, or `hookctl install --scope project --mode off`."
        yield finding("guard_off", message, host, path, fix, "error")


def _judge_pack(file: ProjectFile, name: str, pack: PackRecord) -> Iterator[Finding]:
    """Whether a pack's files are there, and together those that the install wrote."""
    host = file.target.host.name
    contents: dict[str, bytes] = {}
    fix = f"`hookctl install PATH --scope project` of {name} puts its files back."
    for file_name in sorted(pack.files):
        path = os.path.join(pack.folder, file_name)
        try:
            data = read_inside(file.target.project, path).data
        except HookctlError as error:
            yield _from_error("pack_changed", error, host)._replace(path=path)
            return
        if data is None:
            yield finding("pack_changed", f"a file of {name} is not there", host, path, fix)
            return
        contents[file_name] = data
    if content_digest(b"", contents) != pack.digest:
        message = f"the files of {name} are not those that its install wrote"
        yield finding("pack_changed", message, host, pack.folder, fix)


def _judge_switches(facts: ProjectFacts, name: str) -> Iterator[Finding]:
    """Whether something in the project keeps a host from running the hooks."""
    sources = facts.sources.get(name, ())
    switch = effective.disabling(sources)
    if switch is not None:
        message = f"{switch.said}, so no hook runs"
        yield finding("hooks_disabled", message, name, switch.source.path, "Remove it.", "error")
    for source, hook in effective.disabling_ours(sources):
        message = f"{hook.id} is switched off by its name"
        yield finding("hook_disabled", message, name, source.path, "Remove it from the list.")
    for key, value in effective.variables(sources).items():
        if guard.switches_off(key, value):
            message = f"{key} switches the guard off"
            path = next(source.path for source in sources if key in effective.variables([source]))
            yield finding("hook_environment", message, name, path, "Remove it.", "error")


def judge_required(facts: ProjectFacts, name: str, pack: Pack | None) -> Iterator[Finding]:
    """Whether a pack is installed in the project; with `pack`, whether with this very content."""
    places = facts.packs.get(name, [])
    if not places:
        message = f"{name} is required, and is not installed in this project"
        fix = f"`hookctl install {name} --scope project`, then commit what it writes."
        yield finding("pack_required", message, "", facts.project, fix)
    for file, pack_record in places if pack is not None else ():
        assert pack is not None
        difference = _find_difference(file, pack_record, pack)
        if difference:
            message = f"{name} is not installed as in the named file: {difference}"
            fix = f"`hookctl install {pack.source} --scope project`, then commit what it writes."
            yield finding("pack_required", message, file.target.host.name, file.target.path, fix)


def _find_difference(file: ProjectFile, installed: PackRecord, pack: Pack) -> str:
    """What differs between a pack in the project and the pack's own file; '' if nothing does."""
    if installed.version != pack.version:
        return f"its version is {installed.version} instead of {pack.version}"
    contents = {name: data for name, (data, _) in read_files(pack).items()}
    if content_digest(b"", contents) != installed.digest:
        return "its files differ"
    files_text = in_sh(file.target, installed.folder)
    wanted, _ = wants(pack, file.target.host, files_text)
    claims = {}
    for entry in file.record.entries if file.record else ():
        if pack.name in entry.owners:
            claims[entry.path, entry.id] = entry.owners[pack.name].value
    for want in wanted:
        if claims.get((want.path, want.id)) != want.value:
            return f"{want.id or want.path[-1]} differs"
    return ""
