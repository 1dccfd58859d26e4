"""hookctl's records: what it wrote where, and what was there before.

They hold our own text, never a copy of a whole file. Those of user and local scope lie in the
ledger of the state folder. Those of project scope lie in the project (committed.py); the state
folder has a stub of each, with what holds on this machine only.
"""

import functools
import json
import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from hookctl import hosts
from hookctl.documents import MISSING, Document, formats
from hookctl.errors import HookctlError
from hookctl.hosts import Host, shapes
from hookctl.hosts.shapes import shorten
from hookctl.model import Path, Record
from hookctl.ownership.codec import (
    MOVE_AWAY,
    Change,
    dump_object,
    from_json,
    parse_object,
    refusals,
)
from hookctl.system import files
from hookctl.system import project as project_folder
from hookctl.system.folders import Folders

# What a step does to the text of its layer.
HOOK = "hook"  # takes a hook out
VALUE = "value"  # takes a value out, or puts back the text that was there before us
CONTAINER = "container"  # takes a container out if it is empty
SWITCH = "switch"  # sets the host's own switch of a hook to false
NAME = "name"  # adds a name to the host's own list of disabled hooks


class Step(NamedTuple):
    """One change that a disable made; the path is that in the text of its layer."""

    kind: str
    path: Path
    raw: str | None = None  # the text that was there before us, or the name in the list


class DisabledHook(NamedTuple):
    """A hook that is disabled; or the values of a pack, whose name it has."""

    host: str
    scope: str
    file: str  # the settings file that the hook belongs in, as people know it
    steps: tuple[Step, ...]
    event: str = ""  # empty for values, and where a hook names none
    matcher: str = ""
    fields: dict[str, Any] = {}  # noqa: RUF012 (never changed in place)
    id: str = ""  # as `hookctl hooks` shows it, without the number of a repeat; none for values
    name: str = ""  # PACK/ID of one of ours; PACK for its values
    since: float = 0.0  # in seconds since the epoch
    left: int = 0  # how many equal hooks the file had afterwards
    by: str = ""  # the pack that stands in its place, where no person disabled it

    @property
    def shown(self) -> str:
        """What `hookctl enable` takes for it."""
        return self.name or shorten(self.id)

    @property
    def because(self) -> str:
        """For which pack it is disabled, in words; empty where a person did it."""
        return f", replaced by {self.by}" if self.by else ""

    @property
    def is_values(self) -> bool:
        """Whether it is no hook, but the values of a pack."""
        return not self.id

    @property
    def pack(self) -> str:
        """The pack that it belongs to; empty for other tools' hooks."""
        return self.name.partition("/")[0]


class Layer(NamedTuple):
    """A text of a file, and what is disabled of it."""

    text: str
    hooks: tuple[DisabledHook, ...]
    after: str = ""  # 0.2.0 had the digest of what is left of the text


class DisabledFile(NamedTuple):
    """What is disabled by changes to one file; the last layer is the newest."""

    host: str
    scope: str
    format: str
    known_as: str  # the path as the host has it
    project: str = ""  # its real path
    layers: tuple[Layer, ...] = ()
    made: tuple[str, ...] = ()  # the file and the folders above it, where a disable made them

    @property
    def hooks(self) -> tuple[DisabledHook, ...]:
        """All that is disabled, the first one first."""
        return tuple(hook for layer in self.layers for hook in layer.hooks)

    def keep(self, is_kept: Callable[[DisabledHook], bool]) -> "DisabledFile":
        """The file with some of its hooks; a layer goes with its last one."""
        return self.change(lambda hook: hook if is_kept(hook) else None)

    def change(self, change: Callable[[DisabledHook], DisabledHook | None]) -> "DisabledFile":
        """The file with each hook as `change` has it; a layer goes with its last one."""
        layers = [
            layer._replace(hooks=tuple(filter(None, map(change, layer.hooks))))
            for layer in self.layers
        ]
        return self._replace(layers=tuple(layer for layer in layers if layer.hooks))


# Which hooks are equal.


def command_of(host: Host, fields: Mapping[str, Any]) -> Any:
    """What tells a hook from others of its event and matcher: its command, or else all fields."""
    for key in host.registration.commands:
        if isinstance(fields.get(key), str):
            return [fields[key], fields.get("args")]
    return plain_fields(fields)


def text_of(host: Host, fields: Mapping[str, Any]) -> str:
    """What a hook runs, its command with its arguments; empty where it has no command."""
    command = [
        fields[key] for key in host.registration.commands if isinstance(fields.get(key), str)
    ]
    args = fields.get("args") if command and isinstance(fields.get("args"), list) else []
    return " ".join([*command[:1], *(text for text in args if isinstance(text, str))])


def plain_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as JSON keeps them: a date of TOML is its text, and so is what is no number."""
    return json.loads(json.dumps(dict(fields), default=str), parse_constant=str)


def count_equal(host: Host, document: Document, hook: DisabledHook) -> int:
    """How many hooks of a file are equal to one that is or was in it."""
    if hook.name:
        ours = shapes.elements(host.shape, document.value)
        named = [element.path for element in ours if element.id == hook.name]
        return sum(shapes.event_of(host.shape, path) == hook.event for path in named)
    wanted, number = (hook.event, hook.matcher, command_of(host, hook.fields)), 0
    for path, handler, group in shapes.handlers(host.shape, document.value):
        matcher = group.get("matcher") if isinstance(group.get("matcher"), str) else ""
        event = shapes.event_of(host.shape, path)
        number += (event, matcher, command_of(host, handler)) == wanted
    return number


def is_back(host: Host, document: Document, hook: DisabledHook) -> bool:
    """Whether somebody has put a hook, or all values of a pack, back into the file.

    So it is too where the host's own switch was taken back.
    """
    if hook.is_values:
        values = [step for step in hook.steps if step.kind == VALUE and step.raw is None]
        return bool(values) and all(document.get(each.path) is not MISSING for each in values)
    step = hook.steps[0]
    if step.kind == SWITCH:
        return document.get(step.path) is not False
    if step.kind == NAME:
        names = document.get(step.path)
        return not (isinstance(names, list) and step.raw in names)
    return count_equal(host, document, hook) > hook.left


# What our own record has of it.


def list_taken(away: Sequence[DisabledHook]) -> set[str | Path]:
    """The ids of our hooks and the paths of our values that are out of their file for now."""
    names = {hook.name for hook in away if hook.name and hook.steps[0].kind == HOOK}
    return names | {step.path for hook in away for step in hook.steps if step.kind == VALUE}


_VERSION_KEY = "ledger_version"
_MOVE_AWAY = "Move it away; then what it keeps is only in the backups of the settings files."


class Ledger(NamedTuple):
    """The ledger of the state folder; on disk its paths are those of Folders.shorten."""

    files: dict[str, Record]  # by the real path of the settings file
    # What `hookctl disable` keeps, by the real path of the changed file.
    disabled: dict[str, DisabledFile] = {}  # noqa: RUF012 (never changed in place)


def load(folders: Folders) -> Ledger:
    """The records, stubs too, and what is disabled, with whole paths; nothing without a ledger.

    Where a program has put a file in a link's place, that and the link's old target may both have
    our entries: the record follows the host's file, and the other keeps one, to be uninstalled too.
    """
    ledger = parse(files.read(folders.ledger).data, folders.ledger, folders.resolve)
    path = folders.former_disabled
    if os.path.lexists(path):  # 0.2.0 had it in a file of its own
        with refusals("the record of disabled hooks", path, _MOVE_AWAY):
            stored = parse_object(files.read(path).data or b"", "disabled_version", path)["files"]
            former = from_json(dict[str, DisabledFile], stored, "files", folders.resolve)
        ledger = ledger._replace(disabled=former | ledger.disabled)
    records, split = ledger.files, dict[str, Record]()
    for key, record in records.items():
        path = real_path(record.known_as)
        is_elsewhere = bool(record.known_as) and record.scope != "project" and path != key
        has_both = is_elsewhere and path not in records and os.path.isfile(key)
        has_both = has_both and real_path(key) == key
        if has_both and has_our_command(path, record) and has_our_command(key, record):
            split[path] = record
            record = record._replace(known_as=key)
        split[key] = record
    return ledger._replace(files=split)


def list_made(records: Mapping[str, Record]) -> set[str]:
    """The settings files of these records and the folders made for them."""
    return {folder for record in records.values() for folder in record.created_dirs}.union(records)


@functools.lru_cache(maxsize=4)  # a command asks for them several times
def parse(data: bytes | None, path: str, change: Change = str) -> Ledger:
    """What the bytes of a ledger say, with whole paths; empty without bytes."""
    if data is None:
        return Ledger({})
    hint = MOVE_AWAY
    if b'"disabled": {' in data:
        hint += " Hooks that you disabled are then only in the backups of their files."
    with refusals("hookctl's record", path, hint):
        json_object = parse_object(data, _VERSION_KEY, path)
        return from_json(Ledger, json_object, "hookctl's record", change)


class Records(dict[str, Record]):
    """The records by the real path of their settings file."""

    projects: dict[str, str]  # of each file that lies in one
    ledgers: dict[str, bytes | None]  # of each project: a plan holds as long as they are unchanged
    disabled: dict[str, DisabledFile]  # what `hookctl disable` keeps, by the changed file


def read(
    folders: Folders,
    projects: Iterable[str] = (),
    unread: list[HookctlError] | None = None,
    *,
    known: bool = False,
) -> Records:
    """The records of the state folder's ledger, and of the ledgers of these projects.

    With `known`, also of those that the state folder has a stub of. The error of a ledger that
    cannot be read is added to `unread`, if that is given.
    """
    records, stubs = Records(), dict[str, Record]()
    ledger = load(folders)
    for key, record in ledger.files.items():
        if record.format in formats.PROGRAMS:
            formats.remember(record.sha256_after)  # so that it is parsed as ours
        if record.scope == "project":
            stubs[real_path(key)] = record  # the project may lie behind a link by now
        else:
            records[key] = record
    records.disabled, records.ledgers = ledger.disabled, {}
    records.projects = {key: stub.project for key, stub in stubs.items()}
    if known:
        projects = [*projects, *map(real_path, filter(None, records.projects.values()))]
    for project in filter(None, dict.fromkeys(projects)):
        from hookctl.ownership import committed  # late: most calls are about no project

        try:
            project_folder.require_own(project)
            records.ledgers[project] = data = files.read(committed.ledger_path(project)).data
            records.update(committed.load(folders, project, data, stubs))
        except HookctlError as error:
            if unread is None:
                raise
            unread.append(error)
    return records


def read_known(folders: Folders) -> tuple[dict[str, Record], list[HookctlError]]:
    """Every known record, and the errors of the projects whose ledgers cannot be read.

    Known are the current project and those that the state folder has a stub of.
    """
    root = project_folder.search(folders.cwd, folders.environ)
    problems: list[HookctlError] = []
    projects = [] if project_folder.is_foreign(root) else [root]
    return read(folders, projects, problems, known=True), problems


def away(folders: Folders, records: Mapping[str, Record]) -> dict[str, str]:
    """The keys of records whose project or folder outside of HOME is missing, with that folder.

    They stay as they are: a disk, or another HOME, may come back.
    """
    found = {}
    for key, record in records.items():
        folder = record.project or missing_folder(folders, key, record)
        if folder and project_folder.is_away(folder):
            found[key] = folder
    return found


def missing_folder(folders: Folders, key: str, record: Record) -> str:
    """The topmost missing folder of a file outside of HOME, without those made for it; or ''."""
    if key.startswith(f"{folders.home}/"):
        return ""
    made = [folder for folder in record.created_dirs if key.startswith(f"{folder}/")]
    missing = files.missing_folders(os.path.dirname(min(made, default=key)))
    return missing[-1] if missing else ""


def find_record(records: Mapping[str, Record], path: str) -> tuple[str, Record | None]:
    """A settings file's key and record, also where links have moved the file since."""
    target = real_path(path)
    if target in records:
        return target, records[target]
    for key, record in records.items():
        if real_path(key) == target:
            return key, record
        if record.known_as == path and (not os.path.lexists(key) or has_our_command(path, record)):
            return key, record
    return target, None


def count_commands(data: bytes | None, record: Record) -> int:
    """How many of a record's commands a file has, word for word."""
    text, count = (data or b"").decode("utf-8", "replace"), 0
    for entry in record.entries:
        if entry.kind == "element":
            command = entry.written["command"]
            forms = (command, f"sh -c {shlex.quote(command)}")  # the latter for no shell
            texts = [json.dumps(form, ensure_ascii=way) for form in forms for way in (True, False)]
            count += any(each[1:-1] in text for each in texts)
    return count


def has_our_command(path: str, record: Record) -> bool:
    """Whether a file has a command of the record."""
    return count_commands(files.read_or_none(path), record) > 0


def current_path(records: Mapping[str, Record], key: str) -> str:
    """The current path of a record's file: the host's own, if that still leads to this record."""
    known = records[key].known_as
    return known if known and find_record(records, known)[0] == key else key


def rules_path(records: Mapping[str, Record], key: str) -> str:
    """The path of the file with instructions for the agent that a record's host reads, or ''."""
    record = records[key]
    if record.host not in hosts.names():
        return ""
    settings = current_path(records, key)
    return hosts.rules_beside(hosts.load(record.host), record.scope, settings, record.project)


def real_path(path: str) -> str:
    """The real path; in a symbolic link loop the path itself, and reading it reports the loop."""
    try:
        return files.real(path)
    except HookctlError:
        return path


def dump(
    records: Mapping[str, Record],
    change: Change = str,
    disabled: Mapping[str, DisabledFile] = {},
) -> bytes:
    """The bytes of a ledger with these records, in an order that does not depend on the history.

    `change` makes paths those on disk.
    """
    ordered = dict(sorted(records.items(), key=lambda item: change(item[0])))
    kept = {path: file for path, file in sorted(disabled.items()) if file.hooks}
    return dump_object(_VERSION_KEY, Ledger(ordered, kept), change)
