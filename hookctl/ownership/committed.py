"""The ledger of project scope, `.hookctl/ledger.json`, which is committed with the settings.

It comes with the repository, so it cannot be trusted. Its records may name no other file than a
known host's project settings, its paths may not leave the project, and every text that an uninstall
may put back must be a single value.
"""

import json
import os
import re
import shlex
import tomllib
from collections.abc import Mapping
from typing import Any

from hookctl import hosts
from hookctl.documents import syntax
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.hosts import Host
from hookctl.hosts.shapes import head, is_event_path
from hookctl.model import GIT, OURS, Entry, PackRecord, Record
from hookctl.ownership.codec import (
    ESCAPED,
    MOVE_AWAY,
    NEEDS,
    VERSION,
    from_json,
    parse_object,
    refusals,
    to_json,
    unreadable,
)
from hookctl.settings.targets import (
    GUARD,
    OWN,
    RULES,
    Target,
    pack_folder,
    require_inside,
    require_own_file,
    rules_target,
    top,
    variant_of_file,
)
from hookctl.system import files
from hookctl.system.folders import Folders
from hookctl.system.packages import CONFIGS, HOOK

_PACK_NAME = r"[a-z0-9-]+"
_GUARDS_FILE = r"[a-z0-9-]+\.json|(hook|wrap)\.py"  # the programs are 0.2.0's
_FILE_NAME = r"[A-Za-z0-9._/-]+"
_DIGEST = r"([0-9a-f]{64})?"
_MOST_ENTRIES = 500  # of one settings file; a project has a handful
_END = "end"  # the last line of every list of lines, so that a new line changes no other line
# What is committed of a record and of a pack; all paths are relative to the project.
_RECORD = {"created_dirs", "created_file", "entries", "packs", "format", "gaps"}
_PACK = {"version", "settings", "files", "digest", "source", "commit"}
_CONFLICT_MARK = re.compile(rb"(?m)^<{7} ")


def ledger_path(project: str) -> str:
    """Where the ledger of a project lies; refuses one that a link leads out of it."""
    target = os.path.join(project, OWN, "ledger.json")
    require_inside(project, target)
    return target


def load(
    folders: Folders, project: str, data: bytes | None, stubs: Mapping[str, Record]
) -> dict[str, Record]:
    """The records in the bytes of a project's ledger, with the hashes that this machine knows."""
    path = ledger_path(project)
    if data is None:
        return {}
    mark = _CONFLICT_MARK.search(data)
    if mark is not None:
        line, hint = data.count(b"\n", 0, mark.start()) + 1, conflict_fix(project, path)
        message = "hookctl's record has merge-conflict marks"
        raise HookctlError("ledger_unreadable", message, path=path, line=line, column=1, hint=hint)
    records = {}
    with refusals("hookctl's record", path, MOVE_AWAY):
        json_object = parse_object(data, "ledger_version", path)
        if json_object.keys() != {"files"}:
            raise TypeError("hookctl's record has unexpected keys")
        for name, record_data in _without_end(json_object["files"]).items():
            target = _find_target(folders, project, name)
            key = os.path.realpath(target.path)
            try:
                require_own_file(target, folders.environ)
            except HookctlError as error:
                if error.path != target.path:  # else the project is somebody's home
                    fault = ValueError(error.message)
                    raise unreadable("hookctl's record", fault, error.path, error.hint) from None
            records[key] = _load_record(folders, target, record_data, stubs.get(key))
    return records


def _load_record(folders: Folders, target: Target, data: Any, stub: Record | None) -> Record:
    entries, packs = data["entries"], _without_end(data["packs"])
    if len(entries) > _MOST_ENTRIES:
        raise ValueError(f"more than {_MOST_ENTRIES} entries for one settings file")
    if entries[-1:] == [_END]:
        entries = entries[:-1]
    unknown = sorted((data.keys() - _RECORD).union(*(packs[name].keys() - _PACK for name in packs)))
    if unknown:
        raise TypeError(f"unknown: {', '.join(unknown)}")
    place = {"host": target.host.name, "scope": "project", "known_as": target.path}
    data = {**data, **place, "project": target.project, "packs": packs, "entries": entries}
    record = from_json(Record, data, os.path.relpath(target.path, target.project))
    if syntax(record.format) != target.host.syntax:
        raise ValueError(f"{target.host.name} has no settings in {record.format}")
    _check_entries(target, record)
    known = stub.packs if stub else {}
    whole = {
        name: _whole_pack(folders, target, name, pack, known.get(name))
        for name, pack in record.packs.items()
    }
    created_dirs = tuple(_resolve_folder(target, name) for name in record.created_dirs)
    record = record._replace(format=target.host.format, packs=whole, created_dirs=created_dirs)
    if stub is None:
        return record
    return record._replace(sha256_before=stub.sha256_before, sha256_after=stub.sha256_after)


def _without_end(lines: dict[str, Any]) -> dict[str, Any]:
    return {name: line for name, line in lines.items() if (name, line) != ("", _END)}


def conflict_fix(project: str, path: str) -> str:
    """How to resolve a merge conflict in a project's ledger, or in a file that goes with it.

    '' for a file that does not go with the ledger, which may be in conflict too.
    """
    ledger = ledger_path(project)
    text = (files.read(ledger).data or b"").decode(errors="replace")
    names = {os.path.relpath(ledger, project)}
    for host in map(hosts.load, hosts.names()):
        for layout in host.layouts() if "project" in host.scopes else ():
            name = layout.files["project"].removeprefix("{project}/")
            if f'"{name}": {{' in text:  # on either side
                config = os.path.join(OWN, CONFIGS, f"{host.name}.json")
                names.add(name)
                if os.path.lexists(os.path.join(project, config)):
                    names.add(config)
    if os.path.relpath(path, project) not in names:
        return ""
    where = "" if os.path.realpath(os.curdir) == project else f" -C {shlex.quote(project)}"
    checkout = f"checkout --no-overlay HEAD -- {' '.join(sorted(names))}"
    return (
        f"`git{where} {checkout}` takes one side of all "
        "(in a merge yours, in a rebase that of the branch you rebase onto). Then run again what "
        "the other side had run; there `hookctl status --verbose` prints it."
    )


def dump(project: str, records: Mapping[str, Record]) -> bytes | None:
    """The bytes of a project's ledger, an entry a line; None where there are no records."""
    if not records:
        return None
    lines = [
        "{",
        f' "ledger_version": {VERSION},',
        f' "needs": "{NEEDS}",',
        ' "files": {',
    ]
    by_name = {os.path.relpath(record.known_as, project): record for record in records.values()}
    for name in sorted(by_name):
        lines += [f"  {_dump_line(name)}: {{", *_record_lines(project, by_name[name]), "  },"]
    lines += [f'  "": {_dump_line(_END)}', " }", "}", ""]
    return "\n".join(lines).encode("utf-8", ESCAPED)


def _record_lines(project: str, record: Record) -> list[str]:
    """A record's lines, in an order that does not depend on the history.

    The last one is the same in every version of it.
    """
    created_dirs = [os.path.relpath(folder, project) for folder in record.created_dirs]
    lines = [
        f'   "created_dirs": {_dump_line(created_dirs)},',
        f'   "created_file": {_dump_line(record.created_file)},',
    ]
    if record.gaps:
        lines.append(f'   "gaps": {_dump_line(record.gaps)},')
    lines.append('   "entries": [')
    entries = sorted(record.entries, key=lambda entry: (entry.kind, entry.path, entry.id))
    # Containers last, as the engine has them.
    for entry in sorted(entries, key=lambda entry: entry.kind == "container"):
        lines.append(f"    {_dump_line(to_json(entry))},")
    lines += [f"    {_dump_line(_END)}", "   ],", '   "packs": {']
    for name, pack in sorted(record.packs.items()):
        data = {
            "version": pack.version,
            "settings": pack.settings,
            "files": sorted(pack.files),
            "digest": pack.digest,  # of its files, and '' for the guard
        }
        if pack.source.startswith(top(project)):  # else it is a path of this machine
            data["source"] = os.path.relpath(pack.source, project)
        elif pack.commit and not pack.source.startswith(f"{GIT}file:"):
            data |= {"source": pack.source, "commit": pack.commit}
        elif pack.source.startswith(OURS):
            data["source"] = pack.source
        # The name has a line of its own, so that git merges a changed pack and a new one before it.
        lines += [f"    {_dump_line(name)}:", f"     {_dump_line(data)},"]
    lines += [f'    "": {_dump_line(_END)}', "   },"]
    lines.append(f'   "format": {_dump_line(record.format)}')
    return lines


def _dump_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _find_target(folders: Folders, project: str, name: str) -> Target:
    """The host whose project settings have this name in the project."""
    for host_name in hosts.names():
        known = hosts.load(host_name)
        if "project" not in known.scopes:
            continue
        host = variant_of_file(known, os.path.join(project, name))
        settings = hosts.settings_path(host, "project", folders.environ, project)
        usual = Target(host, "project", settings, project)
        for target in (usual, rules_target(usual)):
            if target is not None and name == os.path.relpath(target.path, project):
                require_inside(project, target.path)
                return target
    raise ValueError(f"{name} is not a host's project settings")


def _whole_pack(
    folders: Folders, target: Target, name: str, pack: PackRecord, known: PackRecord | None
) -> PackRecord:
    """A checked pack with its paths, and with what this machine knows of it."""
    if not re.fullmatch(_PACK_NAME, name):
        raise ValueError("a pack's name is not valid")
    if not re.fullmatch(_DIGEST, pack.digest):
        raise ValueError("a pack's digest is not valid")
    if not re.fullmatch("[A-Za-z0-9._+!-]{0,64}", pack.version):  # a person reads it, to consent
        raise ValueError("a pack's version is not valid")
    folder = pack_folder(folders, target, name)
    if name == GUARD and HOOK in pack.files:  # 0.2.0 had a folder for each host
        folder = os.path.join(folder, target.host.name)
    for file in pack.files:
        is_path = re.fullmatch(_FILE_NAME, file) and not file.startswith("/")
        if not is_path or not {"", ".", ".."}.isdisjoint(file.split("/")):
            raise ValueError("a pack's file is not in its folder")
        if name == GUARD and not re.fullmatch(_GUARDS_FILE, file):
            raise ValueError(f"{file} is no file of the guard")
        require_inside(target.project, os.path.join(folder, file))
    pack = pack._replace(folder=folder, source=_resolve_source(target, pack))
    if known is None:
        return pack
    pack = pack._replace(consent=known.consent)
    return pack if pack.source else pack._replace(source=known.source, commit=known.commit)


def _resolve_source(target: Target, pack: PackRecord) -> str:
    source = pack.source
    if source.startswith(GIT):  # an address that anybody can reach
        from hookctl.system import fetch  # late: few packs come from git

        try:
            fetch.parse_address(source)
        except HookctlError:
            raise ValueError("a pack's source is no git address") from None
        if source.startswith(fetch.OF_THIS_MACHINE):
            raise ValueError("a pack's source is a repository of one machine")
        if not fetch.is_commit(pack.commit):
            raise ValueError("a pack's commit is not valid")
        return source
    if pack.commit:
        raise ValueError("only a pack from git has a commit")
    if not source or re.fullmatch(OURS + _PACK_NAME, source):
        return source
    if source != os.path.normpath(source) or source.startswith(("/", "..")):
        raise ValueError("a pack's source is not in the project")
    source = os.path.join(target.project, source)
    require_inside(target.project, source)
    return source


def _resolve_folder(target: Target, name: str) -> str:
    """The path of a folder that an install made: hookctl's own, or one above the settings."""
    folder = os.path.normpath(os.path.join(target.project, name))
    if folder == os.path.join(target.project, OWN):
        return folder
    settings = (target.path, os.path.realpath(target.path))
    is_above = any(path.startswith(f"{folder}/") for path in settings)
    if not is_above or not folder.startswith(top(target.project)):
        raise ValueError(
            "a folder to remove is neither hookctl's own nor one above the settings, in the project"
        )
    return folder


def _check_entries(target: Target, record: Record) -> None:
    """Refuse entries that no pack makes: only env values, and hooks under a pack's own name."""
    if not all(is_event_path(target.host.shape, path) for path in record.gaps):
        raise ValueError("a gap is not where a pack has a hook")
    for entry in record.entries:
        if not all(isinstance(key, str) for key in entry.path):
            raise TypeError("an entry's path is not one of keys")
        if record.format == RULES:
            _check_rules(record, entry)
            continue
        if not _has_pack_path(target.host, entry):
            raise ValueError("an entry is not where a pack has one")
        if entry.kind != "container":
            _check_content(target, record, entry)
        elif entry.before is not None:  # no host with project settings takes a null for none
            raise ValueError("a container has a text to put back")


def _has_pack_path(host: Host, entry: Entry) -> bool:
    """Whether a pack may have an entry of this kind at this path of the host's settings."""
    path, texts = entry.path, host.shape.texts
    if entry.kind == "container":
        event_path = (*host.shape.root, "")
        is_above_hooks = is_event_path(host.shape, (*path, *event_path[len(path) :]))
        return path in (host.env_path[: len(path)], texts[: len(path)]) or is_above_hooks
    if entry.kind == "leaf":
        in_env = bool(host.env_path) and path[:-1] == host.env_path
        # A text in the list of what the agent may do; none replaces another.
        is_text = entry.written == path[-1] in host.permission.texts and entry.before is None
        is_permission = bool(texts) and path[:-1] == texts and is_text
        return not entry.id and (in_env or is_permission or _is_required_key(host, entry))
    return entry.kind == "element" and is_event_path(host.shape, path)


def _is_required_key(host: Host, entry: Entry) -> bool:
    return len(entry.path) == 1 and entry.path[0] in host.registration.top


def _check_content(target: Target, record: Record, entry: Entry) -> None:
    """Refuse content that no pack has: install may write it back, uninstall may restore it."""
    if entry.mode not in ("owned", "adopted") or not entry.owners.keys() <= record.packs.keys():
        raise ValueError("an entry belongs to no pack of the record")
    for value in (entry.written, *(claim.value for claim in entry.owners.values())):
        json.dumps(value, allow_nan=False)
        if entry.kind == "element":
            if not value["command"].startswith(head(entry.id)):
                raise ValueError("a command does not start with the name of its entry")
        elif not isinstance(value, str) and not _is_required_key(target.host, entry):
            raise TypeError("an env value is not of type str")
    if entry.kind == "element" and list(entry.owners) != [entry.id.partition("/")[0]]:
        raise ValueError("a hook's owner does not match its name")
    if entry.before is not None:
        _check_text(target.host, entry.before)


def _check_rules(record: Record, entry: Entry) -> None:
    """Refuse a text that is not a pack's block of rules: install or uninstall may write it back."""
    from hookctl.documents.rules import marks_in  # late: most projects have no rules

    if entry.kind != "leaf" or list(entry.owners) != list(entry.path) or record.packs:
        raise ValueError("an entry is not where a pack has its rules")
    if not re.fullmatch(_PACK_NAME, entry.path[0]):
        raise ValueError("a pack's name is not valid")
    values = [entry.written, entry.before or "", *(claim.value for claim in entry.owners.values())]
    if not all(isinstance(text, str) and not marks_in(text) for text in values):
        raise ValueError("a text to put back is not just a pack's rules")


def _check_text(host: Host, text: str) -> None:
    """Refuse a text to restore that is more than one value."""
    if host.syntax == "toml":
        key = "x"  # any key will do
        is_value = tomllib.loads(f"{key} = {text}").keys() == {key} and text.strip() == text
    else:
        try:
            document = JsonDocument.parse(text.encode())
            document.require_strict(comments=host.comments, trailing_commas=host.trailing_commas)
            is_value = document.raw(()) == text
        except (HookctlError, KeyError):
            raise ValueError("a text to put back cannot be read") from None
    if not is_value:
        raise ValueError("a text to put back is not just a value")
