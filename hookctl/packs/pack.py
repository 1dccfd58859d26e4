"""Packs by path: one TOML file, read and checked. A mistake in it is `bad_pack`, with its line."""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from hookctl import hosts
from hookctl.documents.rules import marks_in
from hookctl.errors import USAGE, HookctlError, nearest
from hookctl.masking import find_unseen, number_of, plain
from hookctl.model import LIMIT, Path
from hookctl.packs.mistakes import find_mistakes
from hookctl.packs.model import CLAUDE, MANIFEST, EnvClaim, Pack, PackHook, Part
from hookctl.packs.protocol import FAILURE_EVENT, MATCHED_EVENTS, REFUSING_EVENTS, SHORT
from hookctl.packs.protocol import TOOL_EVENTS as CLAUDE_TOOL_EVENTS
from hookctl.packs.slots import Unreadable, slots
from hookctl.system import files
from hookctl.system.package_data import read_data

if TYPE_CHECKING:  # late: only an error has a position
    from hookctl.documents.toml import TomlDocument

RESERVED = ("guard",)  # built in
MANIFEST_LIMIT = 64 * 1024  # bytes; so that no file keeps a parser busy for long
TOTAL_LIMIT = 4 * LIMIT  # bytes of all files of a pack
DEEPEST = 8  # more levels than any key of a pack has
TOOL_EVENTS = ("pre-tool", "post-tool")
_RULES = ("rules", "text")  # the only text with several lines
_JOINERS = "\u200c\u200d\ufe0f"  # unseen, but emoji and several scripts need them


class _Source(NamedTuple):
    """A pack file's text, with the positions of its values."""

    path: str
    text: str
    data: bytes = b""  # as they were read

    def error(self, place: Path, message: str, hint: str) -> HookctlError:
        return self.error_at(_offset(self.text, place), message, hint)

    def error_at(self, offset: int, message: str, hint: str) -> HookctlError:
        line, column = (
            self.text.count("\n", 0, offset) + 1,
            offset - self.text.rfind("\n", 0, offset),
        )
        return HookctlError(
            "bad_pack", message, path=self.path, line=line, column=column, hint=hint
        )


def _offset(text: str, place: Path) -> int:
    """The offset of a value or header in a valid text, or of the nearest one around it."""
    return _document(text).offset(place)


@lru_cache(maxsize=2)
def _document(text: str) -> TomlDocument:
    from hookctl.documents.toml import TomlDocument  # late: only an error has a position

    try:
        return TomlDocument.parse(text.encode())
    except HookctlError:  # nested deeper than any settings file
        return TomlDocument.parse(b"")


def load_file(path: str) -> Pack:
    """The pack of a file, or of a folder's only pack file; `usage` if there is none."""
    target = find_pack_file(path)
    return _load(target, _text(target))


def parse(data: bytes, path: str) -> Pack:
    """The pack of a text that is to become the file of this path."""
    return _load(path, _decode(path, data))


def read_files(pack: Pack) -> dict[str, tuple[bytes, bool]]:
    """The pack's files by name: their bytes, and whether they are executable."""
    if not pack.source:
        return {}
    if pack.contents is not None:
        return dict(pack.contents)
    source = _text(pack.source)
    contents = {}
    for number, name in enumerate(pack.files):
        target, status = _require_file(source, number, name)
        snapshot = files.read(target)
        if snapshot.data is None or snapshot.path != target:
            message = f"the file {name!r} changed while it was read"
            raise source.error(("files", "include", number), message, "Run the command again.")
        contents[name] = snapshot.data, bool(status.st_mode & stat.S_IXUSR)
    return contents


def committed_files(pack: Pack) -> dict[str, bytes]:
    """What a project has of a pack, by name: its files, and its manifest."""
    contents = {name: data for name, (data, _) in read_files(pack).items()}
    return {**contents, MANIFEST: pack.manifest}


# Finding and reading


def find_pack_file(path: str) -> str:
    """The absolute path of the pack file that a path names."""
    try:
        if not stat.S_ISDIR(os.stat(path).st_mode):
            return os.path.abspath(path)
        names = sorted(name for name in os.listdir(path) if name.endswith(".toml"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        hint = "Give a pack file, or a folder that has one."
        raise HookctlError(
            "usage", "there is no such pack", path=path, hint=hint, exit_code=USAGE
        ) from None
    except OSError as error:
        message, hint = (
            f"the pack cannot be read ({error.strerror})",
            "Give yourself read access to it.",
        )
        raise HookctlError("unreadable", message, path=path, hint=hint) from None
    folder = os.path.abspath(path)
    if MANIFEST in names:
        return os.path.join(folder, MANIFEST)
    return _only_pack(folder, names)


def _only_pack(folder: str, names: list[str]) -> str:
    """The only file with a [pack] table; the folder may hold other tools' files too."""
    paths = [os.path.join(folder, name) for name in names]
    found = [path for path in paths if _has_pack_table(path)]
    if len(found) == 1:
        return found[0]
    message, hint = "the folder has no pack", "A pack is a .toml file with a [pack] table."
    if found:
        message = (
            f"the folder has several packs: {', '.join(os.path.basename(path) for path in found)}"
        )
        hint = f"Give the path of one of them, or name one {MANIFEST}."
    raise HookctlError("usage", message, path=folder, hint=hint, exit_code=USAGE)


def _has_pack_table(path: str) -> bool:
    try:
        data = files.read(path).data or b""
    except HookctlError:
        return False
    return bool(re.search(rb"^(?:\xef\xbb\xbf)?[ \t]*\[[ \t]*pack[ \t]*\]", data, re.MULTILINE))


def _text(path: str) -> _Source:
    """The text of a pack file; invisible characters are refused."""
    if os.path.isfile(path) and os.path.getsize(path) > MANIFEST_LIMIT:
        hint = "Is it a pack file? Put long texts into files of the pack."
        raise HookctlError(
            "bad_pack",
            "the pack file is larger than 64 KiB",
            path=path,
            line=1,
            column=1,
            hint=hint,
        )
    data = files.read(path).data
    if data is None:
        raise HookctlError(
            "unreadable", "the pack's file is not there", path=path, hint="Put it back."
        )
    return _decode(path, data)


def _decode(path: str, data: bytes) -> _Source:
    try:
        source = _Source(path, data.decode("utf-8-sig").replace("\r\n", "\n"), data)
    except UnicodeDecodeError as error:
        before = _Source(path, data[: error.start].decode("utf-8-sig"))
        raise before.error_at(
            len(before.text), "this is not UTF-8", "Save the file as UTF-8."
        ) from None
    for offset in _find_refused(source.text):
        character = source.text[offset]
        if character >= "\x7f":  # the parser refuses those of ASCII
            message = f"invisible character {number_of(character)}"
            raise source.error_at(offset, message, "Remove it.")
    return source


def _find_refused(text: str) -> Iterator[int]:
    """Where a text has a character that a pack may not have: a plan must show what will run."""
    return (offset for offset in find_unseen(text) if text[offset] not in _JOINERS)


_WORD = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"^[ \t\[]*(?:{_WORD}[ \t]*\.[ \t]*){{{DEEPEST}}}", re.MULTILINE)


def _parse(source: _Source) -> dict[str, Any]:
    """The values of a pack file; syntax errors with the parser's own position."""
    # The parser's time and memory grow with the square of a key's length.
    if match := _LONG_KEY.search(source.text):
        raise source.error_at(
            match.start(), "a key has too many parts", "A pack needs four at most."
        )
    try:
        return tomllib.loads(source.text)
    except ValueError as error:
        raise _syntax_error(source, str(error)) from None


def _syntax_error(source: _Source, text: str) -> HookctlError:
    """The parser's error and position; for a number with thousands of digits it has none."""
    reason, _, where = text.rpartition(" (at ")
    message, hint = f"not valid TOML: {reason}", "Fix the line."
    digits = re.search("[0-9_]{1000,}", source.text)
    if digits and not reason:
        return source.error_at(digits.start(), "a number has too many digits", hint)
    numbers = [int(number) for number in re.findall("[0-9]+", where)]
    if len(numbers) != 2:
        return source.error_at(len(source.text.rstrip()), message, hint)  # at the end
    line, column = numbers
    return HookctlError("bad_pack", message, path=source.path, line=line, column=column, hint=hint)


# Checking


def _load(path: str, source: _Source) -> Pack:
    try:
        data = _parse(source)
        _check_text(source, data)
        _check_structure(source, data)
        pack = _pack(path, data)._replace(manifest=source.data)
        _check_meaning(source, pack)
        _check_files(source, pack)
    except RecursionError:
        hint = "A pack needs no array inside an array."
        raise source.error_at(0, "the values are nested too deeply", hint) from None
    return pack


def _pack(path: str, data: dict[str, Any]) -> Pack:
    header = data["pack"]
    parts = {}
    for name, table in data.get("host", {}).items():
        hooks = tuple(_hook(hook, native=True) for hook in table.get("hooks", ()))
        parts[name] = Part(_env(table), hooks)
    return Pack(
        header["name"],
        header["version"],
        header.get("description", ""),
        path,
        tuple(data.get("files", {}).get("include", ())),
        _env(data),
        tuple(_hook(table) for table in data.get("hooks", ())),
        parts,
        rules=data.get("rules", {}).get("text", "").strip("\n"),
        protocol=header.get("protocol", CLAUDE),
    )


def _env(table: dict[str, Any]) -> dict[str, EnvClaim]:
    claims = {}
    for key, claim in table.get("env", {}).items():
        claims[key] = EnvClaim(claim) if isinstance(claim, str) else EnvClaim(**claim)
    return claims


def _hook(table: dict[str, Any], *, native: bool = False) -> PackHook:
    fields = {**table, "hosts": tuple(table.get("hosts", ()))}
    if not native:
        fields["event"] = SHORT.get(table["event"], table["event"])
    return PackHook(**{"id": fields["event"], **fields}, native=native)


def _check_text(source: _Source, data: dict[str, Any]) -> None:
    """Refuse invisible characters and line breaks in keys and strings, escaped ones too."""
    pending: list[tuple[Path, Any]] = [((), data)]
    while pending:
        place, value = pending.pop()
        if isinstance(value, dict | list) and len(place) < DEEPEST:
            items = value.items() if isinstance(value, dict) else enumerate(value)
            pending += [((*place, key), inner) for key, inner in items]
        for text in (value, place[-1] if place else ""):
            if place == _RULES and isinstance(text, str):
                text = text.replace("\n", "").replace("\t", "")  # it has several lines
            for offset in _find_refused(text) if isinstance(text, str) else ():
                character = f"the control character {number_of(text[offset])}"
                if text[offset] == "\n":
                    character = "a line break"
                message = f"{_dotted(place)} has {character}"
                raise source.error(place, message, "Keep it on one line, of plain text.")


def _dotted(place: Path) -> str:
    """A path for people: its names without numbers, which the line shows."""
    return plain(".".join(name for name in place if isinstance(name, str)))


def _table(place: Path) -> str:
    name = _dotted(place)
    if place and isinstance(place[-1], int):
        return f"[[{name}]]"
    return f"[{name}]" if name else "the pack file"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


_TYPES = {
    "string": "a string",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "a table",
    "array": "an array",
}


def _check_structure(source: _Source, data: dict[str, Any]) -> None:
    """Check a pack against the schema; raises the error that stands first in its file."""
    import jsonschema  # late: a program file alone is read without it

    schema = json.loads(read_data("schemas", "pack.schema.json"))
    base = jsonschema.Draft202012Validator
    integer = base.TYPE_CHECKER.redefine(
        "integer", lambda checker, value: type(value) is int
    )  # 10.0 is none
    validator = jsonschema.validators.extend(base, type_checker=integer)(schema)
    found = [problem for error in validator.iter_errors(data) for problem in _problems(error)]
    if found:
        place, message, hint = min(found, key=lambda problem: _offset(source.text, problem[0]))
        raise source.error(place, message, hint)


def _problems(error: Any) -> Iterator[tuple[Path, str, str]]:
    """The path, message and hint of each problem in a schema error."""
    place, value, rule = tuple(error.absolute_path), error.instance, error.validator_value
    hint = error.schema.get("description", "")
    if "propertyNames" in error.absolute_schema_path:
        yield (*place, value), f"{_table(place)} cannot have the key {_shown(value)}", hint
    elif error.validator == "additionalProperties":
        known = list(error.schema["properties"])
        for key in (key for key in value if key not in known):
            yield (
                (*place, key),
                f"{_table(place)} has an unknown key {_shown(key)}",
                f"{nearest(key, known)}Known keys: {', '.join(known)}.",
            )
    elif error.validator == "required":
        for key in (key for key in rule if key not in value):
            yield place, f"{_table(place)} has no {key if place else '[pack] table'}", "Add it."
    elif error.validator == "type":
        kinds = " or ".join(_TYPES[kind] for kind in ([rule] if isinstance(rule, str) else rule))
        yield (
            place,
            f"{_dotted(place)} is {_shown(value)}, not {kinds}",
            hint or f"Make it {kinds}.",
        )
    elif error.validator == "uniqueItems":
        number = next(n for n, item in enumerate(value) if item in value[:n])
        yield (
            (*place, number),
            f"{_dotted(place)} names {_shown(value[number])} twice",
            "Name it once.",
        )
    else:
        if error.validator == "enum":
            hint = f"{nearest(str(value), rule)}Use one of: {', '.join(rule)}."
        yield place, f"{_dotted(place)} cannot be {_shown(value)}", hint


def _check_meaning(source: _Source, pack: Pack) -> None:
    """Check what a schema cannot express."""
    if pack.name in RESERVED:
        raise source.error(
            ("pack", "name"),
            f"the name {pack.name!r} is taken by a built-in pack",
            "Choose another.",
        )
    if marks_in(pack.rules):
        message = "rules.text has a marker line of a block of rules"
        raise source.error(_RULES, message, "Leave it out: hookctl writes those lines.")
    _check_part(source, (), "", Part(pack.env, pack.hooks), pack)
    for host, part in pack.hosts.items():
        _check_part(source, ("host", host), host, part, pack)
    for mistake_place, message, hint in find_mistakes(pack):
        raise source.error(mistake_place, message, hint)


def _check_part(source: _Source, place: Path, host: str, part: Part, pack: Pack) -> None:
    """Check the variables and hooks for one host, or the common ones."""
    for key, claim in part.env.items():
        if not claim.is_valid:
            message = f"{key} cannot be {_shown(claim.value)} with merge = {claim.merge!r}"
            at = (*place, "env", key, "value")
            raise source.error(at, message, "The rule compares decimal integers.")
    known: set[str] = set()
    for number, hook in enumerate(part.hooks):
        at = (*place, "hooks", number)
        if hook.id in known:
            message = f"there are two hooks with the id {hook.id!r}"
            hint = "Give each an id of its own; without one it is the event."
            raise source.error((*at, "event" if hook.id == hook.event else "id"), message, hint)
        known.add(hook.id)
        _check_command(source, (*at, "command"), hook, pack)
        if host:
            _check_event(source, at, hook, host)
        else:
            _check_common_event(source, at, hook, pack)


def _check_command(source: _Source, place: Path, hook: PackHook, pack: Pack) -> None:
    try:
        found = slots(hook.command)
    except Unreadable as error:
        hint = "Fix the quotes, or put it into a file of the pack."
        raise source.error(place, f"the command of {hook.id}: {error}", hint) from None
    for slot in found:
        if slot.inside:
            message = f"the command of {hook.id} has {{{slot.name}}} inside {slot.inside}"
            raise source.error(
                place, message, "Take it out of there; it is quoted when it is replaced."
            )
        if slot.name == "files" and not pack.files:
            message = f"the command of {hook.id} has {{files}}, but the pack has no files"
            raise source.error(place, message, "Name them: [files] include = [...].")


def _check_common_event(source: _Source, place: Path, hook: PackHook, pack: Pack) -> None:
    """Check what depends on the event of a hook for every host."""
    speaks_claude = pack.protocol == CLAUDE
    if hook.event == FAILURE_EVENT and not speaks_claude:
        message = f"{hook.event} is an event of the protocol {CLAUDE!r} only"
        raise source.error((*place, "event"), message, f'Set [pack] protocol = "{CLAUDE}".')
    matched = MATCHED_EVENTS if speaks_claude else TOOL_EVENTS
    if hook.matcher is not None and hook.event not in matched:
        message = f"the hook {hook.id} has a matcher, but {hook.event} has nothing to match"
        raise source.error((*place, "matcher"), message, "Leave it out.")
    for field, given, events in (
        ("on_failure", hook.on_failure != "allow", REFUSING_EVENTS),
        ("may_allow", hook.may_allow, CLAUDE_TOOL_EVENTS[:1]),
    ):
        if given and not speaks_claude:
            message = f"{field} needs the protocol {CLAUDE!r}"
            raise source.error((*place, field), message, f'Set [pack] protocol = "{CLAUDE}".')
        if given and hook.event not in events:
            message = f"the hook {hook.id} has {field}, which {hook.event} does not know"
            raise source.error((*place, field), message, f"It is for {' and '.join(events)}.")


def _check_event(source: _Source, place: Path, hook: PackHook, host: str) -> None:
    """Check a host's own hook: its event by the host's name, and its matcher."""
    events = hosts.load(host).events if host in hosts.names() else {}
    if hook.event in events and hook.event not in events.values():
        message = f"{hook.event!r} is not {host}'s own name of an event"
        raise source.error((*place, "event"), message, f"Write {events[hook.event]!r}.")
    is_tool_event = hook.event in [events.get(event, event) for event in TOOL_EVENTS]
    is_tool_event = is_tool_event or (host and re.search("(?i)tool|permission", hook.event))
    if hook.matcher is not None and not is_tool_event:
        message = f"the hook {hook.id} has a matcher, but {hook.event} is no tool event"
        hint = f"Leave it out, or use {' or '.join(TOOL_EVENTS)}."
        raise source.error((*place, "matcher"), message, hint)


# The pack's files


def _check_files(source: _Source, pack: Pack) -> None:
    total = 0
    for number, name in enumerate(pack.files):
        total += _require_file(source, number, name)[1].st_size
        if total > TOTAL_LIMIT:
            message = f"the files up to {name!r} are larger than 64 MiB together"
            raise source.error(
                ("files", "include", number), message, "Leave out what no hook needs."
            )


def list_files(path: str) -> list[str]:
    """The names under [files] in a pack file, of which nothing is checked yet."""
    try:
        table = _parse(_text(path)).get("files")
    except RecursionError:
        return []
    names = table.get("include") if isinstance(table, dict) else None
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def file_error(path: str, number: int, problem: str, hint: str) -> HookctlError:
    """The error of one of the names under [files]."""
    source = _text(path)
    name = list_files(path)[number]
    return source.error(("files", "include", number), f"the file {name!r} {problem}", hint)


def _require_file(source: _Source, number: int, name: str) -> tuple[str, os.stat_result]:
    """Path and status of a pack's file, which must be a regular file in the pack's folder."""
    folder = os.path.dirname(
        os.path.realpath(source.path)
    )  # the pack file may be linked to from elsewhere
    target = os.path.realpath(os.path.join(folder, name))
    problem, hint, about = "", "Name the files that lie in the pack's folder.", None
    try:
        about = os.lstat(target)
    except OSError as error:
        problem = (
            "does not exist"
            if isinstance(error, FileNotFoundError)
            else f"cannot be read ({error.strerror})"
        )
    if os.path.commonpath([folder, target]) != folder:
        problem, hint = "is a link that leads out of the pack's folder", "Put a copy there."
    elif about and stat.S_ISDIR(about.st_mode):
        problem, hint = "is a folder", "Name each file in it."
    elif about and not stat.S_ISREG(about.st_mode):
        problem, hint = "is not a regular file", "Put a copy of what it gives there."
    elif name.partition("/")[0].lower() == MANIFEST and target != os.path.realpath(source.path):
        problem, hint = "has the name that the pack's own file gets", "Give it another name."
    elif about and about.st_size > LIMIT:
        problem, hint = "is larger than 16 MiB", "Let the hook fetch it, or leave it out."
    if problem or about is None:
        raise source.error(("files", "include", number), f"the file {name!r} {problem}", hint)
    return target, about
