"""The changes of a settings file, for people and for machines, with secrets masked.

A person sees a unified diff, whose context lines help to find the place. A machine gets only the
values of hookctl: its output ends up in logs, where the operator's other settings do not belong.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from hookctl.documents import MISSING, Document, Path, formats
from hookctl.errors import HookctlError
from hookctl.masking import OwnText, beside, by_look, is_secret, masked
from hookctl.model import HEAD, WRAP, Change, Entry
from hookctl.output.lines import amount
from hookctl.planner.plan import FilePlan, Plan
from hookctl.system.files import digest
from hookctl.system.packages import PACKS, TABLE

_UNREADABLE = "({} cannot be read as settings, so it is not shown)\n"
_CONTEXT = 3  # lines around a change

_Change = tuple[str, Path, Any]  # "+" or "-", the path, and the value at it


def unified(file: FilePlan) -> str:
    """The change of a settings file as a unified diff."""
    if file.old == file.after:
        return ""
    new = _parse_new(file)
    if new is None:
        return _UNREADABLE.format(file.path)
    shown = own_commands(file)
    old_lines = _diff_lines(_masked_text(file.before, shown).removeprefix("\ufeff"))
    new_lines = _diff_lines(_masked_text(new, shown).removeprefix("\ufeff"))
    if old_lines == new_lines:
        return ""
    return "".join([*_heading(file.path, file.old, file.after), *_hunks(old_lines, new_lines)])


def _masked_text(document: Document, shown: frozenset[str]) -> str:
    """The text of a settings file, or of instructions, with every secret masked."""
    from hookctl.documents.redaction import redacted, redacted_text  # late: a diff is rare
    from hookctl.documents.rules import RulesDocument

    if isinstance(document, RulesDocument):
        return redacted_text(document.data.decode("utf-8"))
    return redacted(document, shown)


def file_lines(path: str, old: bytes | None, new: bytes | None) -> list[str]:
    """The unified diff of one of hookctl's or a pack's files, with secrets masked."""
    try:
        old_lines = _diff_lines(_own_text(path, old))
        new_lines = _diff_lines(_own_text(path, new))
    except UnicodeDecodeError:
        return [f"({path} is no text, so it is not shown)"]
    text = "".join([*_heading(path, old, new), *_hunks(old_lines, new_lines)])
    return [by_look(line) for line in text.split("\n")[:-1]]


def _own_text(path: str, data: bytes | None) -> str:
    """The text of a file that is no settings file, masked; JSON by its keys."""
    from hookctl.documents.redaction import redacted, redacted_text  # late: a diff is rare

    if path.endswith(".json") and data:
        with contextlib.suppress(HookctlError):
            return redacted(formats.parse("json", data))
    return redacted_text((data or b"").decode("utf-8"))


def _heading(path: str, old: bytes | None, new: bytes | None) -> list[str]:
    """The two lines at the top of a unified diff."""
    old_name = "/dev/null" if old is None else path
    new_name = "/dev/null" if new is None else path
    return [f"--- {old_name}\n", f"+++ {new_name}\n"]


def shown_lines(file: FilePlan) -> list[str]:
    """The lines of the unified diff, with hookctl's own commands in full."""
    texts = []
    for command in own_commands(file):
        quoted = [json.dumps(command, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False)]
        texts += [*quoted, command, command.replace("'", "''")]
    texts = list(dict.fromkeys(texts))
    # Not splitlines(): a line of JSON may hold other line separators.
    return [beside(line, texts) for line in unified(file).split("\n")[:-1]]


def own_lines(file: FilePlan) -> OwnText:
    """The values that hookctl adds to or removes from a settings file, one a line."""
    if file.old == file.after or not file.decision.actions:
        return OwnText("")
    new = _parse_new(file)
    if new is None:
        return OwnText(_UNREADABLE.format(file.path))
    old_root, new_root = _root(file.before), _root(new)
    leaves = {entry.path for entry in _entries(file) if entry.kind == "leaf"}
    commands = own_commands(file)
    lines = []
    for mark, path, value in _changes(old_root, new_root, ()):
        parts = _own_parts(leaves, path, value)
        if _leads_into_hook(old_root if mark == "-" else new_root, path):
            parts = iter([(path, value)])
        for own_path, own_value in parts:
            shown = _masked_json(own_path, _unmasked(own_value, commands))
            lines.append(f"{mark}{by_look('.'.join(map(str, own_path)))}: {shown}\n")
    return OwnText("".join(lines))


def _parse_new(file: FilePlan) -> Document | None:
    """The file after the change; None if it cannot be parsed before or after.

    Secrets in an unparsed text cannot be recognised.
    """
    if file.old is not None and file.old != file.before.data:
        return None
    try:
        return formats.parse(file.target.host.format, file.after or b"", where=file.path)
    except HookctlError:
        return None


def _root(document: Document) -> Any:
    return {} if document.value is MISSING else document.value


# What is ours


def own_commands(file: FilePlan) -> frozenset[str]:
    """The commands that hookctl wrote or writes in a file, but not those of wrapped hooks."""
    commands = set()
    for entry in _entries(file):
        if entry.kind == "element" and not entry.id.startswith(WRAP):
            commands.add(entry.written["command"])
            commands.update(claim.value["command"] for claim in entry.owners.values())
    if not file.target.host.shape.shell:  # such a host gets the command inside one of a shell
        commands |= {f"sh -c {shlex.quote(command)}" for command in commands}
    return frozenset(commands)


def _entries(file: FilePlan) -> list[Entry]:
    """The entries on record before and after the run."""
    records = [record for record in (file.known, file.record) if record is not None]
    return [entry for record in records for entry in record.entries]


def _own_parts(leaves: set[Path], path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    """The largest parts of a changed value that are ours."""
    if _is_ours(leaves, path, value):
        yield path, value
    else:
        for key, inner in _items(value):
            yield from _own_parts(leaves, (*path, key), inner)


def _is_ours(leaves: set[Path], path: Path, value: Any) -> bool:
    """Whether a value is on record, or consists only of hooks with our head and their groups."""
    if path in leaves or _is_hook(value):
        return True
    items = _items(value)
    if isinstance(value, dict) and path and isinstance(path[-1], int):
        # The other fields of a group of hooks go with them.
        items = [(key, inner) for key, inner in items if isinstance(inner, list)]
    return bool(items) and all(_is_ours(leaves, (*path, key), inner) for key, inner in items)


def _items(value: Any) -> list[tuple[Any, Any]]:
    """The keys and values of an object, the indexes and elements of an array, or nothing."""
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def _unmasked(value: Any, commands: frozenset[str]) -> Any:
    """A value with our own commands in it marked, so that no mask touches them."""
    if isinstance(value, dict):
        return {key: _unmasked(inner, commands) for key, inner in value.items()}
    if isinstance(value, list):
        return [_unmasked(inner, commands) for inner in value]
    if isinstance(value, str) and value in commands:
        return OwnText(value)
    return value


def _leads_into_hook(root: Any, path: Path) -> bool:
    """Whether a path leads into one of our hooks."""
    value = root
    for key in path:
        if _is_hook(value):
            return True
        value = value[key]
    return False


def _is_hook(value: Any) -> bool:
    """Whether a value is a hook with our head, in the form that any host has."""
    if not isinstance(value, dict):
        return False
    return any(isinstance(inner, str) and HEAD in inner for inner in value.values())


# Values


def _changes(old: Any, new: Any, path: Path) -> Iterator[_Change]:
    """The smallest values that differ, in the order of the file."""
    if isinstance(old, dict) and isinstance(new, dict):
        added_keys = [key for key in new if key not in old]
        for key in [*old, *added_keys]:
            yield from _changes(old.get(key, MISSING), new.get(key, MISSING), (*path, key))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _changed_elements(old, new, path)
    elif type(old) is not type(new) or old != new:
        if old is not MISSING:
            yield "-", path, old
        if new is not MISSING:
            yield "+", path, new


def _changed_elements(old: list[Any], new: list[Any], path: Path) -> Iterator[_Change]:
    """The changes between two arrays, without the elements that both begin and end with."""
    start = _count_equal(old, new)
    end = _count_equal(old[start:][::-1], new[start:][::-1])
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    has_shared = any(value in new for value in old)
    if len(old) == len(new) and not has_shared:
        for index, (old_value, new_value) in enumerate(zip(old, new, strict=True), start):
            yield from _changes(old_value, new_value, (*path, index))
        return
    yield from _unshared("-", old, new, path, start)
    yield from _unshared("+", new, old, path, start)


def _unshared(
    mark: str, values: list[Any], others: list[Any], path: Path, start: int
) -> Iterator[_Change]:
    """The elements that are only in `values`; the index of its first one is `start`."""
    for index, value in enumerate(values, start):
        if value not in others:
            yield mark, (*path, index), value


def _count_equal(old: list[Any], new: list[Any]) -> int:
    """How many elements are equal from the beginning on."""
    count = 0
    while count < min(len(old), len(new)) and old[count] == new[count]:
        count += 1
    return count


def _masked_json(path: Path, value: Any) -> str:
    """A value as JSON; the first secret key on its path masks all of it."""
    secret_key = ""
    for key in map(str, path):
        if is_secret(key):
            secret_key = key
            break
    return json.dumps(masked(value, secret_key), ensure_ascii=False, default=str)


# Lines


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    """The hunks of a unified diff; compares only from the first to the last change."""
    import difflib  # late: a diff is rare

    start = max(_count_equal(old, new) - _CONTEXT, 0)
    end = max(_count_equal(old[start:][::-1], new[start:][::-1]) - _CONTEXT, 0)
    old_part = old[start : len(old) - end]
    new_part = new[start : len(new) - end]
    matcher = difflib.SequenceMatcher(None, old_part, new_part)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        _, old_first, _, new_first, _ = group[0]
        _, _, old_stop, _, new_stop = group[-1]
        old_range = _range(old_first + start, old_stop + start)
        new_range = _range(new_first + start, new_stop + start)
        yield f"@@ -{old_range} +{new_range} @@\n"
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                yield from (f" {line}" for line in old_part[old_from:old_to])
            else:
                yield from (f"-{line}" for line in old_part[old_from:old_to])
                yield from (f"+{line}" for line in new_part[new_from:new_to])


def _range(start: int, stop: int) -> str:
    """A range of lines as a diff names it: first line and count; of none, the line before and 0."""
    length = stop - start
    if length == 1:
        return str(start + 1)
    if length == 0:
        return f"{start},0"
    return f"{start + 1},{length}"


def _diff_lines(text: str) -> list[str]:
    """Lines with \\n at the end, so that CRLF does not fill the diff; marks a missing last one."""
    *lines, last = re.split(r"\r\n|\r|\n", text)
    ended = [line + "\n" for line in lines]
    if last:
        ended.append(f"{last}\n\\ No newline at end of file\n")
    return ended


# A whole plan


def patch(plan: Plan) -> OwnText:
    """The unified diff of everything that a plan changes, as one text."""
    return OwnText("".join(f"{line}\n" for line in patch_lines(plan)))


def patch_lines(plan: Plan) -> list[str]:
    """The lines of the unified diff of everything that a plan changes, with secrets masked.

    The guard's programs, which come with hookctl, are named with their digest instead.
    """
    lines = [line for file in plan.files for line in shown_lines(file)]
    programs: dict[str, list[Change]] = {}
    for change in plan.changes:
        if change.settings:
            continue
        is_program = change.path.endswith(".py") and f"/{PACKS}/" not in change.path
        if is_program or change.path.endswith(f"/{TABLE}"):
            programs.setdefault(os.path.dirname(change.path), []).append(change)
        else:
            lines += file_lines(change.path, change.before, change.after)
    return [*lines, *_program_lines(programs), *_package_lines(plan)]


def _program_lines(programs: dict[str, list[Change]]) -> Iterator[str]:
    """A line for each folder with programs: how many, and a digest over those that come."""
    for folder, changes in programs.items():
        files = {}
        for change in changes:
            if change.after is not None:
                files[os.path.basename(change.path)] = change.after
        removed = len(changes) - len(files)
        if files:
            yield _describe_written(folder, files)
        if removed:
            yield f"{folder}: {amount(removed, 'program file')} of hookctl removed"


def _package_lines(plan: Plan) -> Iterator[str]:
    """A line for each package that comes."""
    for packages in plan.packages:
        for name, modules in packages.new.items():
            yield _describe_written(os.path.join(packages.path, name), modules)


def _describe_written(folder: str, files: Mapping[str, bytes]) -> str:
    count = amount(len(files), "program file")
    sha = digest(b"".join(data for _, data in sorted(files.items())))
    return f"{folder}: {count} of hookctl written (sha256 {sha})"
