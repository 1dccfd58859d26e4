"""The ledger of project scope: `.hookctl/ledger.json`, committed with the settings that it explains.

It comes with the repository, so it is a stranger's word: its pages may name no other file than a known host's
project settings, its paths may not leave the project, and what it gives as text goes into the key that it names.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from hookctl import hosts
from hookctl.documents.scan import scan
from hookctl.errors import HookctlError
from hookctl.hosts import Host
from hookctl.hosts.shapes import head, is_event_path
from hookctl.ledger import store, version1
from hookctl.ledger.codec import from_json, to_json
from hookctl.ledger.digests import content_digest
from hookctl.model import Entry, PackRecord, Path, Record
from hookctl.settings.targets import (
    GUARD,
    OWN,
    Target,
    pack_folder,
    read_inside,
    require_inside,
    top,
    variant_of_file,
)
from hookctl.system import files
from hookctl.system import project as project_folder
from hookctl.system.folders import Folders

CONFIG = "config.json"  # of the guard; what stands in it is among its settings
_PACK_NAME = r"[a-z0-9-]+"
_FILE_NAME = r"[A-Za-z0-9._/-]+"
_DIGEST = r"([0-9a-f]{64})?"
_BEGINNING = 16  # digits of a digest that 0.1.0 committed
_END = "end"  # the last line of every list of lines: with it, one line more changes no other line


class CommittedPack(NamedTuple):
    """A pack as everybody's ledger has it."""

    version: str
    settings: dict[str, Any]
    files: tuple[str, ...]
    digest: str  # of the files, config.json apart; what else a pack brings is in the entries
    source: str = ""  # relative to the project


class CommittedPage(NamedTuple):
    """A settings file as everybody's ledger has it; all paths are relative to the project."""

    created_dirs: tuple[str, ...]
    created_file: bool
    entries: tuple[Entry, ...]
    packs: dict[str, CommittedPack]
    format: str
    gaps: tuple[Path, ...] = ()


def path(project: str) -> str:
    """Where the ledger of a project lies; refuses one that a link leads out of it."""
    target = os.path.join(project, OWN, "ledger.json")
    require_inside(project, target)
    return target


def readable(folders: Folders) -> tuple[list[str], list[HookctlError]]:
    """The projects whose ledgers are known and can be read, and why others cannot.

    Known are the one that we are in, and those that the state folder has a stub of.
    """
    found, problems, stubs = [], [], _state(folders)[1]
    for project in _known(folders, stubs):
        try:
            load(folders, project, files.read(path(project)).data, stubs)
            found.append(project)
        except HookctlError as error:
            problems.append(error)
    return found, problems


class Records(dict[str, Record]):
    """The records by the real path of their settings file; `projects` has the project of each that lies in one."""

    def __init__(self, records: Mapping[str, Record], projects: Mapping[str, str]) -> None:
        super().__init__(records)
        self.projects = projects


def read(folders: Folders, projects: Iterable[str] = ()) -> Records:
    """Every page of the state folder's ledger, and of the ledgers of these projects."""
    found, stubs = _state(folders)
    for project in dict.fromkeys(filter(None, projects)):
        found |= load(folders, project, files.read(path(project)).data, stubs)
    return Records(found, {key: stub.project for key, stub in stubs.items()})


def read_known(folders: Folders) -> tuple[dict[str, Record], list[HookctlError]]:
    """Every page that is known, and why a project's ledger cannot be read, which harms no other page."""
    problems: list[HookctlError] = []
    found, stubs = _state(folders)
    for project in _known(folders, stubs):
        try:
            found |= load(folders, project, files.read(path(project)).data, stubs)
        except HookctlError as error:
            problems.append(error)
    return found, problems


def _state(folders: Folders) -> tuple[dict[str, Record], dict[str, Record]]:
    """The pages of the state folder's ledger, and the stubs among them."""
    pages = store.load(folders.ledger)
    # A project may lie behind a link since.
    stubs = {store.real_path(key): page for key, page in pages.items() if page.scope == "project"}
    return {key: page for key, page in pages.items() if page.scope != "project"}, stubs


def _known(folders: Folders, stubs: Mapping[str, Record]) -> list[str]:
    here = project_folder.find(folders.cwd, folders.environ)
    return list(
        dict.fromkeys(
            [here, *(store.real_path(page.project) for page in stubs.values() if page.project)]
        )
    )


def load(
    folders: Folders, project: str, data: bytes | None, stubs: Mapping[str, Record]
) -> dict[str, Record]:
    """The pages in the bytes of a project's ledger, each with what its stub says of this machine."""
    file = path(project)
    _require_merged(data or b"", file)
    if data is None:
        return {}
    with store.refusals("the ledger", file, store.MOVE_AWAY):
        version, page = store.open_page(data, "ledger_version", file)
        if page.keys() != {"files"}:
            raise TypeError("the ledger has other keys than it should")
        pages = _without_end(page["files"])
        return dict(
            _load_page(folders, project, stubs, name, found, version)
            for name, found in pages.items()
        )


def _load_page(
    folders: Folders, project: str, stubs: Mapping[str, Record], name: str, page: Any, version: int
) -> tuple[str, Record]:
    target = _place(folders, project, name)
    key = store.real_path(target.path)
    for scope in (scope for scope in target.host.scopes if scope != "project"):
        other = hosts.settings_path(target.host, scope, folders.environ, project)
        if other != target.path and key == store.real_path(other):
            raise ValueError(f"{name} leads to the {scope} settings")
    beginnings: dict[str, dict[str, str]] = {}
    if version == 1:
        page, beginnings = version1.committed_page(page)
    else:
        page = {
            **page,
            "packs": _without_end(page["packs"]),
            "entries": _entries_without_end(page["entries"]),
        }
    record = _whole(folders, target, from_json(CommittedPage, page, name))
    store.check(record)
    _check_entries(target, record)
    stub = stubs.get(key)
    hashes = (stub.sha256_before, stub.sha256_after) if stub else ("", "")
    record = record._replace(sha256_before=hashes[0], sha256_after=hashes[1])
    if version == 1:
        return key, _with_beginnings(record, beginnings)
    return key, _with_hashes(record, stub)


def _without_end(lines: dict[str, Any]) -> dict[str, Any]:
    return {name: line for name, line in lines.items() if (name, line) != ("", _END)}


def _entries_without_end(lines: list[Any]) -> list[Any]:
    return lines[:-1] if lines[-1:] == [_END] else lines


def _with_hashes(record: Record, stub: Record | None) -> Record:
    """The page with the hashes of its packs' files, as far as this machine knows them.

    It does if it wrote these very files itself, or if all that lie there together give the digest of the pack.
    """
    packs = {}
    for name, pack in record.packs.items():
        written = stub.packs.get(name) if stub else None
        if written and written.digest == pack.digest and written.files.keys() == pack.files.keys():
            packs[name] = pack._replace(files={file: written.files[file] for file in pack.files})
            continue
        there = _programs(record.project, name, pack)
        if content_digest(b"", there) == pack.digest:
            packs[name] = pack._replace(files={**pack.files, **_hashes(there)})
        else:
            packs[name] = pack
    return record._replace(packs=packs)


def _with_beginnings(record: Record, beginnings: Mapping[str, Mapping[str, str]]) -> Record:
    """The page that 0.1.0 wrote, with the hashes of files that begin as it says; with a digest, if all of them do."""
    packs = dict(record.packs)
    for name, pack in packs.items():
        if pack.digest:
            continue
        there = _programs(record.project, name, pack)
        known = {
            file: sha
            for file, sha in _hashes(there).items()
            if len(beginnings[name][file]) >= _BEGINNING and sha.startswith(beginnings[name][file])
        }
        all_known = known.keys() == _program_names(name, pack)
        digest = content_digest(b"", there) if all_known else ""
        packs[name] = pack._replace(files={**pack.files, **known}, digest=digest)
    return record._replace(packs=packs)


def with_digests(record: Record) -> Record:
    """A page of project scope from the journal of a run of 0.1.0, as the ledger of the project has it today."""
    return _with_beginnings(record, {name: pack.files for name, pack in record.packs.items()})


def _program_names(name: str, pack: PackRecord) -> set[str]:
    """A pack's files that its digest is of: the guard's configuration is judged by what it says."""
    return pack.files.keys() - ({CONFIG} if name == GUARD else set())


def _programs(project: str, name: str, pack: PackRecord) -> dict[str, bytes]:
    """The bytes of those that lie in the project."""
    found = {}
    for file in sorted(_program_names(name, pack)):
        with contextlib.suppress(HookctlError):
            data = read_inside(project, os.path.join(pack.folder, file)).data
            if data is not None:
                found[file] = data
    return found


def _hashes(contents: Mapping[str, bytes]) -> dict[str, str]:
    return {name: files.digest(data) for name, data in contents.items()}


def _require_merged(data: bytes, file: str) -> None:
    marks = re.search(rb"(?m)^<{7} ", data)
    if marks:
        line = data.count(b"\n", 0, marks.start()) + 1
        message, hint = (
            "the ledger has merge-conflict marks",
            "Resolve the conflict, then run the command again.",
        )
        raise HookctlError("ledger_unreadable", message, path=file, line=line, column=1, hint=hint)


def dump(project: str, records: Mapping[str, Record]) -> bytes | None:
    """The bytes of a project's ledger with these pages, an entry a line; None where there are none."""
    if not records:
        return None
    lines = [
        "{",
        f' "ledger_version": {store.VERSION},',
        f' "needs": "{store.NEEDS}",',
        ' "files": {',
    ]
    pages = {
        os.path.relpath(record.known_as, project): _page_of(project, record)
        for record in records.values()
    }
    for name in sorted(pages):
        lines += [f"  {_in_line(name)}: {{", *_page_lines(pages[name]), "  },"]
    lines += [f'  "": {_in_line(_END)}', " }", "}", ""]
    return store.in_utf8("\n".join(lines))


def _page_lines(page: CommittedPage) -> list[str]:
    """A page's lines; its last one is the same in every version of it."""
    found = to_json(CommittedPage, page)
    lines = []
    for name in sorted(found.keys() - {"entries", "packs", "format"}):
        lines.append(f'   "{name}": {_in_line(found[name])},')
    entries = [f"    {_in_line(entry)}," for entry in found["entries"]]
    lines += ['   "entries": [', *entries, f"    {_in_line(_END)}", "   ],", '   "packs": {']
    for name in sorted(found["packs"]):
        # The name has a line of its own: a pack that changes and one that is new before it merge.
        lines += [f"    {_in_line(name)}:", f"     {_in_line(found['packs'][name])},"]
    lines += [f'    "": {_in_line(_END)}', "   },"]
    return [*lines, f'   "format": {_in_line(page.format)}']


def _in_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _page_of(project: str, record: Record) -> CommittedPage:
    """What of a page is everybody's, in an order that does not depend on the history."""
    packs = {}
    for name, pack in record.packs.items():
        source = os.path.relpath(pack.source, project) if pack.source else ""
        packs[name] = CommittedPack(
            pack.version, pack.settings, tuple(sorted(pack.files)), pack.digest, source
        )
    dirs = tuple(os.path.relpath(folder, project) for folder in record.created_dirs)
    entries = tuple(sorted(record.entries, key=_order))
    return CommittedPage(dirs, record.created_file, entries, packs, record.format, record.gaps)


def _order(entry: Entry) -> tuple[bool, str, Path, str]:
    """Containers last, as the engine has them."""
    return entry.kind == "container", entry.kind, entry.path, entry.id


def merged(base: Record | None, ours: Record | None, theirs: Record | None) -> Record | None:
    """Another version of a page with what a run changed in it, pack by pack and entry by entry; None if none is left.

    `base` is the page before the run and `ours` the one after it; None stands for no page.
    """
    page = ours or theirs
    if page is None or theirs is None:
        return ours
    packs = _changed(*(one.packs if one else {} for one in (base, ours, theirs)))
    entries = _changed(
        *(
            {(e.kind == "container", e.id or e.path): e for e in one.entries} if one else {}
            for one in (base, ours, theirs)
        )
    )
    dirs = dict.fromkeys((*theirs.created_dirs, *(ours.created_dirs if ours else ())))
    return (
        page._replace(packs=packs, entries=tuple(entries.values()), created_dirs=tuple(dirs))
        if packs
        else None
    )


def _changed(base: dict[Any, Any], ours: dict[Any, Any], theirs: dict[Any, Any]) -> dict[Any, Any]:
    """Theirs, with the keys that differ between base and ours as ours has them."""
    found = {
        key: ours.get(key) if ours.get(key) != base.get(key) else value
        for key, value in theirs.items()
    }
    found |= {
        key: value for key, value in ours.items() if key not in theirs and value != base.get(key)
    }
    return {key: value for key, value in found.items() if value is not None}


def _place(folders: Folders, project: str, name: str) -> Target:
    """The host whose project settings a page names."""
    known = [host for host in map(hosts.load, hosts.names()) if "project" in host.scopes]
    for usual in known:
        host = variant_of_file(usual, os.path.join(project, name))
        settings = hosts.settings_path(host, "project", folders.environ, project)
        if name == os.path.relpath(settings, project):
            require_inside(project, settings)
            return Target(host, "project", settings, project)
    raise ValueError(f"{name} is no host's project settings")


def _whole(folders: Folders, target: Target, page: CommittedPage) -> Record:
    """A committed page with what is left out of it, all paths absolute; whose files have which hashes is not known."""
    if page.format != target.host.format:
        raise ValueError(f"{target.host.name} has no settings in {page.format}")
    packs = {name: _whole_pack(folders, target, name, pack) for name, pack in page.packs.items()}
    dirs = tuple(_whole_folder(target, folder) for folder in page.created_dirs)
    return Record(
        target.host.name,
        "project",
        page.format,
        page.created_file,
        dirs,
        packs,
        "",
        "",
        page.entries,
        target.path,
        target.project,
        page.gaps,
    )


def _whole_pack(folders: Folders, target: Target, name: str, pack: CommittedPack) -> PackRecord:
    if not re.fullmatch(_PACK_NAME, name):
        raise ValueError("a pack's name is not one")
    if not re.fullmatch(_DIGEST, pack.digest):
        raise ValueError("a pack's digest is not one")
    folder = pack_folder(folders, target, name, {}, "")
    for file in pack.files:
        if (
            not re.fullmatch(_FILE_NAME, file)
            or file.startswith("/")
            or {"", ".", ".."} & set(file.split("/"))
        ):
            raise ValueError("a pack's file is not in its folder")
        require_inside(target.project, os.path.join(folder, file))
    return PackRecord(
        pack.version,
        pack.settings,
        folder,
        dict.fromkeys(pack.files, ""),
        _source(target, pack),
        pack.digest,
    )


def _source(target: Target, pack: CommittedPack) -> str:
    if not pack.source:
        return ""
    if pack.source != os.path.normpath(pack.source) or pack.source.startswith(("/", "..")):
        raise ValueError("a pack's source is not in the project")
    source = os.path.join(target.project, pack.source)
    require_inside(target.project, source)
    return source


def _whole_folder(target: Target, name: str) -> str:
    """A folder that an install made: hookctl's own, or one above the settings."""
    folder = os.path.normpath(os.path.join(target.project, name))
    above = any(
        file.startswith(f"{folder}/") for file in (target.path, store.real_path(target.path))
    )
    own = folder == os.path.join(target.project, OWN)
    if not own and (not above or not folder.startswith(top(target.project))):
        raise ValueError(
            "a folder to remove is neither hookctl's own nor one above the settings, in the project"
        )
    return folder


def _check_entries(target: Target, record: Record) -> None:
    """A stranger's entries may only be such as a pack makes: env values, and hooks under a pack's own name."""
    host = target.host
    if not all(is_event_path(host.shape, path) for path in record.gaps):
        raise ValueError("a gap is not where a pack has a hook")
    for entry in record.entries:
        if not all(isinstance(key, str) for key in entry.path):
            raise TypeError("an entry's path is not one of keys")
        if entry.kind == "container":
            fits = entry.path == host.env_path[: len(entry.path)] or _is_above_hooks(
                host, entry.path
            )
        elif entry.kind == "leaf":
            in_env = bool(host.env_path) and entry.path[:-1] == host.env_path
            fits = (in_env or _is_at_the_top(host, entry)) and not entry.id
        else:
            fits = entry.kind == "element" and is_event_path(host.shape, entry.path)
        if not fits:
            raise ValueError("an entry is not where a pack has one")
        if entry.kind != "container":
            _check_content(target, record, entry)


def _is_above_hooks(host: Host, path: Path) -> bool:
    """Whether a pack may have hooks in the list at a path, or below."""
    whole = (*path, *(*host.shape.root, "")[len(path) :])
    return is_event_path(host.shape, whole)


def _is_at_the_top(host: Host, entry: Entry) -> bool:
    """Whether an entry is a key that the host's file must have, as it must have it."""
    return entry.path in {(key,) for key in host.data["registration"].get("top", {})}


def _check_content(target: Target, record: Record, entry: Entry) -> None:
    """What install may write back is a pack's, and what uninstall may put back is one value."""
    if entry.mode not in ("owned", "adopted") or not entry.owners.keys() <= record.packs.keys():
        raise ValueError("an entry is nobody's")
    for value in (entry.written, *(claim.value for claim in entry.owners.values())):
        json.dumps(value, allow_nan=False)
        if (
            entry.kind == "leaf"
            and not isinstance(value, str)
            and not _is_at_the_top(target.host, entry)
        ):
            raise TypeError("an env value is not of type str")
        if entry.kind == "element" and not value["command"].startswith(head(entry.id)):
            raise ValueError("a command has not the name of its entry")
    if entry.kind == "element" and list(entry.owners) != [entry.id.partition("/")[0]]:
        raise ValueError("a hook has another owner than its name says")
    if entry.before is not None:
        _check_text(target, entry.before)


def _check_text(target: Target, text: str) -> None:
    host = target.host
    if host.format == "toml":
        _check_toml(text)
        return
    try:
        given = scan(text, "", comments=host.comments, trailing_commas=host.trailing_commas)
    except HookctlError:
        raise ValueError("a text to put back cannot be read") from None
    if (given.start, given.end) != (0, len(text)):
        raise ValueError("a text to put back is not just a value")


def _check_toml(text: str) -> None:
    import tomllib

    key = "x"  # whatever the text is put behind
    if tomllib.loads(f"{key} = {text}").keys() != {key} or text.strip() != text:
        raise ValueError("a text to put back is not just a value")
