"""Packs by path or from git: one TOML file, read and checked; a mistake is `bad_pack`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hookctl import hosts
from hookctl.documents import MISSING, decode
from hookctl.documents.rules import marks_in
from hookctl.documents.toml import TomlDocument
from hookctl.errors import HookctlError, nearest, usage_error
from hookctl.masking import find_unseen, number_of, plain
from hookctl.model import LIMIT, Claim, Path
from hookctl.packs import CLAUDE, DEFAULT_TIMEOUT, MANIFEST, Pack, PackHook, Part
from hookctl.packs.runner import (
    FAILURE_EVENT,
    MATCHED_EVENTS,
    PLACEHOLDERS,
    REFUSING_EVENTS,
    SHORT,
    TOOL_EVENTS,
    Unreadable,
    list_named_files,
    slots,
)
from hookctl.system import files, read_data
from hookctl.system.fetch import Address, Commit, Tell, TreeEntry, fetched, parse_address
from hookctl.system.folders import Folders

MANIFEST_LIMIT = 64 * 1024  # bytes; so that no file keeps a parser busy for long
TOTAL_LIMIT = 4 * LIMIT  # bytes of all files of a pack
_JOINERS = "\u200c\u200d\ufe0f"  # unseen, but emoji and several scripts need them

# Gives the bytes of a file that a pack names, and whether it is executable; or raises Unfit.
ReadFile = Callable[[str], tuple[bytes, bool]]


class Unfit(Exception):
    """Why a name under [files] cannot be a file of the pack."""


def load_file(path: str) -> Pack:
    """The pack of a file, or of a folder's only pack file; `usage` if there is none."""
    target = os.path.abspath(path)
    try:
        target = os.path.join(target, choose_manifest(target, os.listdir(path)))
    except NotADirectoryError:
        pass  # it is the pack's file
    except (FileNotFoundError, ValueError):
        hint = "Give a pack file, or a folder that has one."
        raise usage_error("there is no such pack", hint, path) from None
    except OSError as error:
        message = f"the pack cannot be read ({error.strerror})"
        hint = "Give yourself read access to it."
        raise HookctlError("unreadable", message, path=path, hint=hint) from None
    return parse(files.read(target).data or b"", target)


def parse(data: bytes, path: str, read_file: ReadFile | None = None) -> Pack:
    """The pack of a text that is, or is to become, the file of this path."""
    if len(data) > MANIFEST_LIMIT:
        message = "the pack file is larger than 64 KiB"
        hint = "Put long texts into files of the pack."
        raise HookctlError("bad_pack", message, path=path, line=1, column=1, hint=hint)
    document, values = read_toml(data, path, "bad_pack")
    header, parts = {"protocol": CLAUDE, **values["pack"]}, {}
    for name, table in {"": values, **values.get("host", {})}.items():
        env = {}
        for key, claim in table.get("env", {}).items():
            env[key] = Claim(claim) if isinstance(claim, str) else Claim(**claim)
        protocol = "" if name else header["protocol"]
        parts[name] = Part(env, tuple(_hook(hook, protocol) for hook in table.get("hooks", ())))
    pack = Pack(
        **{**header, "replaces": tuple(header.get("replaces", ()))},
        source=path,
        files=tuple(values.get("files", {}).get("include", ())),
        parts=parts,
        rules=values.get("rules", {}).get("text", "").strip("\n"),
        manifest=data,
    )
    _refuse_first(document, _find_mistakes(pack))
    return pack._replace(contents=_read_contents(document, pack, read_file))


def read_toml(
    data: bytes, path: str, code: str, part: str = ""
) -> tuple[TomlDocument, dict[str, Any]]:
    """A document and its values, which keep to the schema of packs or to this part of it."""
    try:
        document = TomlDocument(decode(data, path), path)
    except HookctlError as error:
        error.code = code
        raise
    values = {} if document.value is MISSING else document.value
    if not part:
        _check_text(document, values)
    _refuse_first(document, _find_problems(values, part), code)
    return document, values


def _error(
    document: TomlDocument, place: Path, message: str, hint: str, code: str = "bad_pack"
) -> HookctlError:
    return document.error_at(code, document.offset(place), message, hint)


def committed_files(pack: Pack) -> dict[str, bytes]:
    """What a project has of a pack, by name: its files, and its manifest."""
    contents = {name: data for name, (data, _) in pack.contents.items()}
    return {**contents, MANIFEST: pack.manifest}


def choose_manifest(folder: str, names: Iterable[str]) -> str:
    """The pack file among the names in a folder: pack.toml, or the only TOML file."""
    found = sorted({name for name in names if name.endswith(".toml")} - {"pyproject.toml"})
    if MANIFEST in found:
        return MANIFEST
    if len(found) == 1:
        return found[0]
    message, hint = "the folder has no pack", "A pack is a .toml file with a [pack] table."
    if found:
        message = f"the folder has several TOML files: {', '.join(found)}"
        hint = f"Give the path of the pack's, or name it {MANIFEST}."
    raise usage_error(message, hint, folder)


def _refuse_first(
    document: TomlDocument, mistakes: Iterable[Mistake], code: str = "bad_pack"
) -> None:
    found = list(mistakes)
    if found:
        first = min(found, key=lambda mistake: document.offset(mistake[0]))
        raise _error(document, *first, code)


def _hook(table: dict[str, Any], protocol: str) -> PackHook:
    """A hook of every host, which speaks this protocol; without one a host's own."""
    is_run, fields = protocol == CLAUDE, {**table, "hosts": tuple(table.get("hosts", ()))}
    if protocol:
        fields["event"] = SHORT.get(table["event"], table["event"])
    if is_run or "timeout" in fields:  # for the schema 10.0 is an integer too
        fields["timeout"] = int(fields.get("timeout", DEFAULT_TIMEOUT))
    return PackHook(**{"id": fields["event"], **fields}, native=not protocol, is_run=is_run)


def _check_text(document: TomlDocument, value: Any, place: Path = ()) -> None:
    """Refuse invisible characters and line breaks in keys and strings, escaped ones too."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            _check_text(document, key, (*place, key))
            _check_text(document, inner, (*place, key))
    if not isinstance(value, str):
        return
    # The rules are the only text with several lines.
    text = value.replace("\n", "").replace("\t", "") if place == ("rules", "text") else value
    for offset in find_unseen(text):
        if text[offset] in _JOINERS:
            continue
        character = f"the invisible character {number_of(text[offset])}"
        if text[offset] == "\n":
            character = "a line break"
        message = f"{_dotted(place)} has {character}"
        raise _error(document, place, message, "Keep it on one line, of plain text.")


def _dotted(place: Path) -> str:
    """A path for people: its names without numbers, which the line shows."""
    return plain(".".join(name for name in place if isinstance(name, str)))


def _table(place: Path) -> str:
    name = _dotted(place)
    if place and isinstance(place[-1], int):
        return f"[[{name}]]"
    return f"[{name}]" if name else "the pack file"


def _find_problems(data: dict[str, Any], part: str) -> Iterator[Mistake]:
    import jsonschema  # late: a program file alone is read without it

    schema = json.loads(read_data("schemas", "pack.schema.json"))
    schema["$defs"]["host"] = {"enum": hosts.names()}
    schema = {**schema["$defs"].get(part, schema), "$defs": schema["$defs"]}
    for error in jsonschema.Draft202012Validator(schema).iter_errors(data):
        place, value, rule = tuple(error.absolute_path), error.instance, error.validator_value
        hint = error.schema.get("description", "") or "docs/packs.md has what it can be."
        if error.validator == "enum":
            hint = f"{nearest(str(value), rule)}Use one of: {', '.join(rule)}."
        if "propertyNames" in error.absolute_schema_path:
            yield (*place, value), f"{_table(place)} cannot have the key {_shown(value)}", hint
        elif error.validator == "additionalProperties":
            known = list(error.schema["properties"])
            for key in value.keys() - known:
                hint = f"{nearest(key, known)}Known keys: {', '.join(known)}."
                yield (*place, key), f"{_table(place)} has an unknown key {_shown(key)}", hint
        elif error.validator == "required":
            for key in [key for key in rule if key not in value]:
                missing = key if place else "[pack] table"
                yield place, f"{_table(place)} has no {missing}", "Add it."
        else:
            yield place, f"{_dotted(place)} cannot be {_shown(value)}", hint


def _read_contents(
    document: TomlDocument, pack: Pack, read_file: ReadFile | None
) -> dict[str, tuple[bytes, bool]]:
    # The pack file may be linked to from elsewhere.
    folder = os.path.dirname(os.path.realpath(pack.source))
    contents: dict[str, tuple[bytes, bool]] = {}
    without_case: dict[str, str] = {}
    total = 0
    for number, name in enumerate(pack.files):
        try:
            data, is_executable = read_file(name) if read_file else _read_file(folder, name)
            total += len(data)
            if total > TOTAL_LIMIT:
                raise Unfit("is too large: all together have 64 MiB at most")
            if without_case.setdefault(name.casefold(), name) != name:
                raise Unfit("differs from another one only in case")
            is_manifest = (name, data) == (MANIFEST, pack.manifest)
            if name.partition("/")[0].casefold() == MANIFEST and not is_manifest:
                raise Unfit("has the name that the pack's own file gets")
        except Unfit as problem:
            place, message = ("files", "include", number), f"the file {name!r} {problem}"
            hint = "Name regular files of the pack's folder."
            raise _error(document, place, message, hint) from None
        contents[name] = data, is_executable
    return contents


def _read_file(folder: str, name: str) -> tuple[bytes, bool]:
    path = os.path.realpath(os.path.join(folder, name))
    if os.path.commonpath([folder, path]) != folder:
        raise Unfit("is a link that leads out of the pack's folder")
    try:
        snapshot = files.read(path)
    except HookctlError as error:
        raise Unfit(f"cannot be used: {error.message}") from None
    if snapshot.data is None or snapshot.path != path:
        raise Unfit("does not exist")
    return snapshot.data, os.access(path, os.X_OK)


Mistake = tuple[Path, str, str]  # where it stands, what is wrong, and a hint


def _find_mistakes(pack: Pack) -> Iterator[Mistake]:
    if marks_in(pack.rules):
        message = "rules.text has a marker line of a block of rules"
        yield ("rules", "text"), message, "Leave it out: hookctl writes those lines."
    for host, part in pack.parts.items():
        place: Path = ("host", host) if host else ()
        ids: set[str] = set()
        for number, hook in enumerate(part.hooks):
            at = (*place, "hooks", number)
            if hook.id in ids:
                message = f"there are two hooks with the id {hook.id!r}"
                hint = "Give each an id of its own; without one it is the event."
                yield (*at, "event" if hook.id == hook.event else "id"), message, hint
            ids.add(hook.id)
            for message, hint in _find_in_command(hook, pack):
                yield (*at, "command"), f"the command of {hook.id} {message}", hint
            if not host:
                yield from _find_misplaced(at, hook, is_claude=pack.protocol == CLAUDE)
            else:
                own = hosts.load(host)
                is_ours, listed = hook.event in own.events, own.handlers.events
                events = [*listed, *own.events.values()]
                if hook.event not in events and (listed or is_ours):
                    meant = own.events[hook.event] if is_ours else hook.event
                    hint = f"{nearest(meant, events)}`hookctl hosts {host}` lists its events."
                    yield (*at, "event"), f"{own.title} has no event {hook.event!r}", hint


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _find_in_command(hook: PackHook, pack: Pack) -> Iterator[tuple[str, str]]:
    try:
        found = list(slots(hook.command))
    except Unreadable as error:
        yield f"cannot be read: {error}", "Fix the quotes, or put it into a file of the pack."
        return
    for slot in found:
        if slot.inside:
            hint = "Take it out of there; it is quoted when it is replaced."
            yield f"has {{{slot.name}}} inside {slot.inside}", hint
        elif slot.name not in PLACEHOLDERS:
            known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            hint = f"Placeholders are {known}. To use it literally, put it in quotes."
            yield f"has an unknown placeholder {{{slot.name}}}", hint
        elif slot.name == "files" and not pack.files:
            hint = "Name them: [files] include = [...]."
            yield "has {files}, but the pack has no files", hint
    for name in list_named_files(hook.command) if pack.files else ():
        is_folder = any(file.startswith(f"{name}/") for file in pack.files)
        if name not in ("", ".", *pack.files) and not is_folder:
            hint = f"{nearest(name, pack.files)}Name the file in [files] include."
            yield f"names {{files}}/{name}, which is not in the pack", hint


def _find_misplaced(place: Path, hook: PackHook, *, is_claude: bool) -> Iterator[Mistake]:
    """What a hook for every host has, and its event or protocol does not know."""
    if hook.event == FAILURE_EVENT and not is_claude:
        message = f"{hook.event} is an event of the protocol {CLAUDE!r} only"
        yield (*place, "event"), message, f'Set [pack] protocol = "{CLAUDE}".'
    rows: tuple[tuple[str, bool, tuple[str, ...]], ...] = (
        ("matcher", hook.matcher is not None, MATCHED_EVENTS if is_claude else TOOL_EVENTS),
        ("on_failure", hook.on_failure != "allow", REFUSING_EVENTS if is_claude else ()),
        ("may_allow", hook.may_allow, TOOL_EVENTS[:1] if is_claude else ()),
    )
    for field, is_given, events in rows:
        if is_given and hook.event not in events:
            message = f"the hook {hook.id} has {field}, which {hook.event} does not know here"
            hint = f"It is for {' and '.join(events)}."
            yield (*place, field), message, hint if events else f"It needs the protocol {CLAUDE!r}."


# Packs from git: one commit is fetched, the pack in it is read and checked.


def load_from_git(text: str, folders: Folders, tell: Tell) -> Pack:
    """The pack at a git address as it is there now, with the bytes of its files."""
    address = parse_address(text)
    with fetched(address, folders, tell) as commit:
        path, entry = _find_manifest(address, commit)
        folder, where = os.path.dirname(path), f"{address.text}:{path}"

        def read_file(name: str) -> tuple[bytes, bool]:
            file = commit.find(os.path.join(folder, name))
            if file is None:
                raise Unfit("does not exist")
            return _read_entry(commit, file), file.mode == "100755"

        try:
            data = _read_entry(commit, entry)
        except Unfit as problem:
            hint = "Put a file there."
            raise HookctlError("bad_pack", f"this {problem}", path=where, hint=hint) from None
        return parse(data, where, read_file)._replace(
            source=address.text, commit=commit.id, release=commit.release
        )


def _find_manifest(address: Address, commit: Commit) -> tuple[str, TreeEntry]:
    folder = address.folder.removesuffix("/")
    if folder:
        entry = commit.find(folder)
        if entry is None or not (entry.is_folder or entry.is_file):
            message = f"{folder} is no folder or file of the repository"
            hint = "Give the path of a folder or a pack file in it, no link on the way."
            raise usage_error(message, hint, address.text)
        if entry.is_file:
            return folder, entry
    entries = {entry.name: entry for entry in commit.list_folder(folder)}
    name = choose_manifest(address.text, entries)
    return os.path.join(folder, name), entries[name]


def _read_entry(commit: Commit, entry: TreeEntry) -> bytes:
    if not entry.is_file:
        raise Unfit("is a folder" if entry.is_folder else "is a link or a submodule")
    if entry.size > LIMIT:
        raise Unfit("is larger than 16 MiB")
    return commit.read(entry)
