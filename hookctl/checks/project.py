"""What a project declares, by its own files alone: is it there, complete and unchanged?

A clone may come from a stranger and have any owner: none of its files is ever run, and nothing
outside it is read.
"""

import contextlib
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any

from hookctl import hosts
from hookctl.checks import UNRECORDED, Finding, describe_error, finding, from_error
from hookctl.checks.file import File, check_reading
from hookctl.checks.survey import ask_rules
from hookctl.documents.rules import RulesDocument
from hookctl.errors import HookctlError
from hookctl.model import Current, PackRecord, Path, Record, Wanted
from hookctl.ownership import committed, consent, engine
from hookctl.ownership.own_files import list_programs
from hookctl.packs import CLAUDE, MANIFEST, PROTOCOL, Pack
from hookctl.packs.choices import confine
from hookctl.packs.pack import committed_files, load_file, parse
from hookctl.packs.programs import find_former, load_programs
from hookctl.packs.runner import find_programs, needs_runner, wants
from hookctl.settings import targets
from hookctl.settings.targets import GUARD, OWN, Target, rules_target
from hookctl.survey.machine import Machine
from hookctl.system import files
from hookctl.system import project as project_folder
from hookctl.system.folders import Folders
from hookctl.system.packages import CONFIGS, HOOK, PACKAGES, PACKS, TABLE

LEDGER = "ledger.json"
_RUN = os.path.join(OWN, "run")
_IGNORED = {b"run/", b"run", b"/run/", b"/run"}  # lines of an ignore file that keep it out
_NOTHING = Current({}, {}, {})
_NOWHERE = os.devnull  # stands for HOME: below it nothing can be


class Project:
    """A project by its real path; the fixes are commands for the folder `start`."""

    def __init__(self, folder: str, start: str, start_project: str) -> None:
        self.folder = folder
        nothing = os.path.join(_NOWHERE, "hookctl")
        folders = Folders(nothing, nothing, {"HOME": _NOWHERE}, start)
        self.machine = Machine(folders, {}, alone=folder, cwd_project=start_project)
        self.read = self.machine.reader.snapshot
        self.error: HookctlError | None = None  # why its record cannot be read
        self.has_record = True
        self.recorded: dict[str, Record] = {}  # what that says, by the path of the settings file
        try:
            data = files.read(committed.ledger_path(folder)).data
            self.has_record = data is not None
            for record in committed.load(folders, folder, data, {}).values():
                self.recorded[record.known_as] = record
        except HookctlError as error:
            self.error = error
        # Each pack as its committed files have it, or why these cannot be read.
        self.manifests = dict(self._read_manifests())
        self.machine.records = {
            path: self._as_wanted(record) for path, record in self.recorded.items()
        }
        files_here = {file.path: file for file in self._find_files()}  # several hosts may share one
        self.files = list(files_here.values())

    @property
    def packs(self) -> list[tuple[File, str, PackRecord]]:
        """Every pack on record at each settings file."""
        return [(file, name, file.packs[name]) for file in self.files for name in file.packs]

    def _read_manifests(self) -> Iterator[tuple[str, Pack | HookctlError]]:
        known = [pack for record in self.recorded.values() for pack in record.packs.items()]
        for name, record in dict(known).items():
            path = os.path.join(record.folder, MANIFEST)
            try:
                data = self.read(path).data if name != GUARD else None
                if data is None:
                    continue
                pack = parse(data, path)
                if pack.name != name:
                    message = f"this is the manifest of {pack.name}"
                    raise HookctlError("pack_changed", message, path=path)
                yield name, pack
            except HookctlError as error:
                yield name, error

    def _as_wanted(self, record: Record) -> Record:
        """The record as an install of its packs makes it, by the manifests in the project.

        It comes with the repository, so it has no say in what a pack's hooks are to be.
        """
        target, packs, wanted = _target_of(record), dict(record.packs), record.entries
        if not packs:  # a file with instructions: of packs that are installed beside it
            installed = {name for other in self.recorded.values() for name in other.packs}
            wanted = tuple(entry for entry in wanted if installed & entry.owners.keys())
        owners = {*packs, *(name for entry in wanted for name in entry.owners)}
        # Into an empty file: nothing that stands there has a say.
        install = partial(engine.install, force=True, others=False)
        for pack in self.manifests.values():
            if not isinstance(pack, Pack) or pack.name not in owners:
                continue
            wishes = [Wanted((pack.name,), "leaf", pack.rules)] if pack.rules else []
            if packs:  # each of the owners is one: `committed` has refused the record otherwise
                own = {PROTOCOL: CLAUDE, "python": ""} if needs_runner(pack, target.host) else {}
                known, names = packs[pack.name], tuple(committed_files(pack))
                packs[pack.name] = known._replace(version=pack.version, settings=own, files=names)
                above = os.path.join(target.project, OWN)
                programs = find_programs(target, known.folder, above, "")
                wishes = wants(pack, target.host, programs)[0]
            wanted = install(wanted, _NOTHING, pack.name, wishes).entries
        return record._replace(packs=packs, entries=wanted)

    def _find_files(self) -> Iterator[File]:
        machine = self.machine
        for record in machine.records.values():
            yield File(machine, _target_of(record), record)
        for host in map(hosts.load, hosts.names()):
            if "project" not in host.scopes:
                continue
            found = targets.all_files(host, "project", machine.environ, self.folder, machine.read)
            places = [Target(variant, "project", path, self.folder) for variant, path in found]
            places.append(rules_target(Target(host, "project", "", self.folder)))
            for target in filter(None, places):
                if target.path in self.recorded or not os.path.lexists(target.path):
                    continue
                file = File(machine, target, None)
                has_rules = isinstance(file.document, RulesDocument) and file.document.value
                is_named = file.error and (self.error or machine.reader.names_us(target.path))
                if file.elements or has_rules or is_named:
                    yield file


def _target_of(record: Record) -> Target:
    host = targets.variant_of_record(hosts.load(record.host), record, record.known_as)
    return Target(host, record.scope, record.known_as, record.project)


def check(project: Project, required: Mapping[str, Pack | None]) -> Iterator[Finding]:
    """Every finding about a project in which these packs are required, some as a file has them."""
    if project.error is not None:
        yield from_error(project.error)
    elif not project.has_record and (project.files or any(_list_programs(project.folder))):
        # The only finding about a missing record: all others follow from it.
        is_here = project.folder == project.machine.cwd_project
        where = "" if is_here else f" -C {shlex.quote(project.folder)}"
        install = _install_command(project, project.files, "")
        path = os.path.join(project.folder, OWN, LEDGER)
        fix = f"`git{where} checkout -- {OWN}` brings it back; "
        fix += f"else {install} records the guard again."
        yield finding("ledger_missing", path=path, id="what hookctl wrote", fix=fix)
    # The findings of doctor's rules that matter in every clone.
    levels = {**_LEVELS, **(_OF_REQUIRED_GUARD if GUARD in required else {})}
    by_host: dict[str, list[File]] = {}
    for file in project.files:
        file.exact = {name for name, pack in required.items() if pack}
        by_host.setdefault(file.host.name, []).append(file)
    for name, of_host in by_host.items() if project.error is None else ():
        for found in ask_rules(project.machine, hosts.load(name), of_host):
            is_as_in_doctor = found.level == "error" or found.code == "config_changed"
            level = found.level if is_as_in_doctor else levels.get(found.code)
            if level and (project.has_record or found.code != UNRECORDED):
                yield found._replace(level=level)
    if project.error is not None:
        for file in project.files:
            yield from check_reading(file)
    else:
        for file, name, record in project.packs:
            if name != GUARD:
                yield from _check_pack(project, file, name, record)
        yield from _check_strays(project)
    yield from _check_run_files(project)


# Findings that are no errors in doctor, and their level in a shared project.
_LEVELS = {
    "config_invalid": "warning",
    "entry_edited": "info",
    "hook_environment": "info",
    "hook_newer": "error",
    "hook_old": "error",
    "rules_doubled": "warning",
    "self_test_failed": "warning",  # perhaps the team wants just that
}
_OF_REQUIRED_GUARD = {"guard_off": "error", "self_test_failed": "error"}


# What git should not bring to a clone.


def _check_run_files(project: Project) -> Iterator[Finding]:
    folder = project.folder
    top = project_folder.find_repository(folder) or folder
    mark = files.read_or_none(os.path.join(top, ".git")) or b""  # of a linked work tree: a file
    git = os.path.join(top, os.fsdecode(mark.removeprefix(b"gitdir: ").strip()) or ".git")
    index = files.read_or_none(os.path.join(git, "index")) or b""
    guards = [file for file in project.files if file.config_path]
    runs = {_RUN} if guards else set()
    runs |= {str(confine(file.config, folder, {}).get("run_dir", _RUN)).strip() for file in guards}
    names = ("", "task.json", "OWNER", *project_folder.MARKS)  # the folder itself may be a link
    for run, name in product(sorted(runs), names):
        path = os.path.normpath(os.path.join(folder, run, name))
        shown = os.path.relpath(path, folder)
        fix = f"`git rm -f --ignore-unmatch {shlex.quote(shown)}`, then commit."
        entry = os.fsencode(os.path.relpath(path, top))  # in the index behind its length
        if os.path.lexists(path) and len(entry).to_bytes(2, "big") + entry + b"\0" in index:
            yield finding("run_committed", path=path, name=shown, fix=fix)
    path, fix = os.path.join(folder, OWN, ".gitignore"), "Add the line `run/` to it."
    if guards and _IGNORED.isdisjoint((files.read_or_none(path) or b"").split()):
        yield finding("run_committed", path=path, name=os.path.join(_RUN, "*"), fix=fix)


# The programs, and the packs.


def _list_programs(folder: str) -> Iterator[str]:
    own = os.path.join(folder, OWN)
    if os.path.lexists(os.path.join(own, HOOK)):
        yield os.path.join(own, HOOK)
    for name in sorted((CONFIGS, PACKS, PACKAGES)):
        above = os.path.join(own, name)
        if os.path.islink(above) or os.path.islink(own):
            yield above
            continue
        for parent, folder_names, file_names in os.walk(above):
            links = [link for link in folder_names if os.path.islink(os.path.join(parent, link))]
            yield from sorted(os.path.join(parent, name) for name in [*file_names, *links])
            if not (file_names or folder_names or parent == above):  # git makes it of a submodule
                yield parent


def _check_strays(project: Project) -> Iterator[Finding]:
    """The files that no record has, each folder once; not those of packs that have hooks here."""
    above, machine = os.path.join(project.folder, OWN), project.machine
    # What a release or a record has, and what those read; nothing need run them.
    known = {*find_former(above, project.read), os.path.join(above, TABLE)}
    known |= {os.path.join(above, CONFIGS, f"{host}.json") for host in hosts.names()}
    for name, data in load_programs().all.items():
        with contextlib.suppress(HookctlError):
            path = os.path.join(above, name)
            known |= {path} if project.read(path).data == data else set()
    for _, _, record in project.packs:
        known |= {os.path.join(record.folder, name) for name in record.files}
    with contextlib.suppress(HookctlError):
        for file in project.files:
            known |= {*list_programs(machine.records, file.target, machine.folders)}
    installed = {GUARD, *(name for _, name, _ in project.packs)}
    lost = {hook.pack for file in project.files for hook in file.elements} - installed
    folders, strays = tuple(os.path.join(above, PACKS, pack, "") for pack in lost), {}
    for path in _list_programs(project.folder):
        if path not in known and not path.startswith(folders):
            strays.setdefault(os.path.dirname(path), []).append(path)
    for folder, found in strays.items():
        names = ", ".join(map(os.path.basename, found[:5]))
        path = folder if len(found) > 1 else found[0]
        yield finding("stray_file", path=path, count=len(found), names=names)


def _check_pack(project: Project, file: File, name: str, record: PackRecord) -> Iterator[Finding]:
    """Whether a pack's manifest and files are those of the record, and of where they came from."""
    pack, fix = project.manifests.get(name), f"Look at it; {file.again(name)}"
    if isinstance(pack, HookctlError):
        yield from_error(pack, file.host.name)._replace(code="pack_changed", fix=fix)
        return
    if pack is None:
        upgrade = consent.upgrade_command(file.target, project.machine.cwd_project)
        path = os.path.join(record.folder, MANIFEST)
        yield file.find("hook_missing", path, whose=name, command=upgrade)
        return
    find = partial(file.find, "pack_changed", pack=name, fix=fix)
    place, what = record.folder, "its files"
    if _is_recorded(pack, record):
        place, what = os.path.join(project.folder, OWN, LEDGER), _find_other(project, file, pack)
    if what:
        yield find(place, where="its install wrote it", what=what)
    if record.source.startswith(targets.top(project.folder)):
        try:
            source = load_file(record.source)
            # In nothing where both were changed, and the record was not.
            what = "" if _is_recorded(source, record) else _find_difference(pack, source)
        except HookctlError as error:
            what = describe_error(error)
        if what:
            place = consent.project_option(project.folder, project.machine.cwd_project)
            command = f"hookctl upgrade {name}{place or ' --project .'} --accept-changed"
            fix = f"Undo the change, or `{command}` takes it over for every agent."
            yield find(record.source, where="in its own file", what=what, fix=fix)


def _find_other(project: Project, file: File, pack: Pack) -> str:
    name, recorded, of_file = pack.name, project.recorded, project.machine.records[file.path]
    said, wanted = _what_is_said(recorded[file.path], name), _what_is_said(of_file, name)
    for key in {**said, **wanted}:
        # A variable that the operator had before the pack is not on record.
        is_theirs = key not in said and not isinstance(key, str)
        if not engine.same(said.get(key), wanted.get(key)) and not is_theirs:
            return f"{key if isinstance(key, str) else key[-1]} in the record"
    target = rules_target(file.target)
    if target is None or not pack.rules:
        return ""
    rules = _what_is_said(recorded[target.path], name) if target.path in recorded else {}
    return "" if rules == {(name,): [(name,), pack.rules]} else "rules in the record"


def _what_is_said(record: Record, pack: str) -> dict[str | Path, Any]:
    """What a record says of a pack: all but what its content and its source are."""
    said: dict[str | Path, Any] = {}
    if pack in record.packs:
        known = record.packs[pack]
        said = {"version": known.version, "settings": known.settings, "files": sorted(known.files)}
    for entry in record.entries:
        if pack in entry.owners and entry.kind != "container":
            said[entry.id or entry.path] = [entry.path, entry.owners[pack].value]
    return said


def _is_recorded(pack: Pack, record: PackRecord) -> bool:
    return files.content_digest(b"", committed_files(pack)) == record.digest


def _find_difference(pack: Pack, other: Pack) -> str:
    one, two = committed_files(pack), committed_files(other)
    return " and ".join(name for name in sorted({**one, **two}) if one.get(name) != two.get(name))


# Packs that must be installed.


def check_required(
    project: Project, name: str, source: str, pack: Pack | None
) -> Iterator[Finding]:
    """Whether a pack is installed in the project; one given as a file, with the same content."""
    source = source or ("" if name == GUARD else "PATH")
    places = [file for file in project.files if name in file.packs]
    # A missing or unreadable record, which has its own finding, may have it.
    is_named = any(hook.pack == name for file in project.files for hook in file.elements)
    may_be = project.error is not None or (not project.has_record and is_named)
    if not places and not may_be:
        install = _install_command(project, project.files, source)
        yield finding("pack_required", path=project.folder, pack=name, differs="", install=install)
    known = project.manifests.get(name)
    difference = _find_difference(known, pack) if pack and isinstance(known, Pack) else ""
    if places and difference:
        install = _install_command(project, places, source, " --force --accept-changed")
        differs, path = f" as in the named file: {difference}", places[0].packs[name].folder
        named = {"pack": name, "differs": differs, "install": install}
        yield finding("pack_required", path=path, **named)


def _install_command(
    project: Project, files: Iterable[File], source: str, options: str = ""
) -> str:
    names = dict.fromkeys(file.host.name for file in files) or ["claude"]
    pack, hosts = f" {shlex.quote(source)}" if source else "", " --host ".join(names)
    where = consent.project_option(project.folder, project.machine.cwd_project)
    return f"`hookctl install{pack} --host {hosts} --scope project{where}{options}`"
