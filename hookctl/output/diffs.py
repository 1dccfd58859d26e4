"""The changes of files, for people and for machines.

A settings file is compared as an outline: its parsed value as lines of JSON. Only lines of
hookctl's own that come or go show a value, with secrets masked; all others show the key alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any, NamedTuple

from hookctl.documents import BREAK, MISSING, Document, Path, formats
from hookctl.documents.rules import RulesDocument
from hookctl.errors import HookctlError
from hookctl.hosts import shapes
from hookctl.masking import MASK, OwnText, flag_of, is_secret, masked, masked_text
from hookctl.model import WRAP, Change, Entry
from hookctl.output.lines import amount
from hookctl.planner.draft import Draft
from hookctl.planner.records import Plan
from hookctl.system.files import digest
from hookctl.system.packages import PACKS, TABLE

_UNREADABLE = "({} cannot be read as settings, so it is not shown)"
_CONTEXT = 3  # lines around a change
_HIDDEN = "…"


class _Line(NamedTuple):
    """A line of a file, or of an outline."""

    text: str
    around: str  # how it is shown where it does not change
    value: Any = None  # tells lines apart that look alike
    path: Path | None = None  # of what begins in it
    own: str = ""  # our value in it, as JSON


_Hunk = tuple[int, int, list[tuple[str, _Line]]]  # the first lines of both files; lines with marks


def unified(file: Draft) -> list[str]:
    """The lines of the unified diff of a settings file."""
    if file.old == file.after:
        return []
    new = _parse_new(file)
    if new is None:
        return [_UNREADABLE.format(file.path)]
    old_lines, new_lines = _outline(file, file.before), _outline(file, new)
    lines = _heading(file.path, file.old, file.after)
    for old_at, new_at, marked in _hunks(old_lines, new_lines):
        places = _number(file.before, old_lines, old_at), _number(new, new_lines, new_at)
        paths = [line.path for mark, line in marked if mark != " " and line.path is not None]
        lines += _hunk_lines(marked, *places, paths[0][:-1] if paths else ())
    return lines


def own_lines(file: Draft) -> OwnText:
    """The values that hookctl adds to or removes from a settings file, one a line."""
    if file.old == file.after:
        return OwnText("")
    new = _parse_new(file)
    if new is None:
        return OwnText(_UNREADABLE.format(file.path) + "\n")
    text = ""
    for _, _, marked in _hunks(_outline(file, file.before), _outline(file, new)):
        for mark, line in marked:
            if mark != " " and line.path and line.own:
                text += f"{mark}{_name(line.path)}: {line.own}\n"
    return OwnText(text)


def _file_lines(change: Change) -> list[str]:
    """The lines of the unified diff of one of hookctl's or a pack's files."""
    path, old, new = change.path, change.before, change.after
    try:
        hunks = list(_hunks(_text_lines(path, old), _text_lines(path, new)))
    except UnicodeDecodeError:
        return [f"({path} is no text, so it is not shown)"]
    lines = _heading(path, old, new)
    for old_at, new_at, marked in hunks:
        lines += _hunk_lines(marked, old_at + 1, new_at + 1, ())
    return lines


def _text_lines(path: str, data: bytes | None) -> list[_Line]:
    """The lines of a file of ours, with secrets masked; in JSON by their keys."""
    text = (data or b"").decode("utf-8")
    shown = masked_text(text)
    if path.endswith(".json") and text:
        with contextlib.suppress(HookctlError):
            value = masked(formats.parse("json", text.encode()).value)
            if isinstance(value, dict) and "hosts" in value:  # the table in a configuration is ours
                value = {**value, "hosts": f"sha256 {digest(json.dumps(value['hosts']).encode())}"}
            shown = json.dumps(value, indent=2, ensure_ascii=False)
    return [_Line(line, line) for line in BREAK.split(shown.removesuffix("\n"))] if text else []


def _parse_new(file: Draft) -> Document | None:
    """The file after the change; None if it cannot be parsed before or after.

    Nobody can say which values of such a text are ours.
    """
    if file.old is not None and file.old != file.before.data:
        return None
    try:
        return formats.parse(file.target.host.format, file.after or b"", where=file.path)
    except HookctlError:
        return None


# Outlines


def _outline(file: Draft, document: Document) -> list[_Line]:
    """The outline of a settings file; of instructions the lines of packs' blocks."""
    root = document.real.value
    if root is MISSING:
        return []
    own = _own_paths(file, document)
    if isinstance(document, RulesDocument):
        blocks = [(pack, masked_text(text).split("\n")) for pack, text in root.items()]
        return [
            _Line(line, _HIDDEN, path=(pack, number), own=_as_json(line))
            for pack, lines in blocks
            for number, line in enumerate(lines)
            if (pack,) in own
        ]
    return list(_lines_of(root, _Own(own, own_commands(file))))


class _Own(NamedTuple):
    """What is ours in a file."""

    paths: set[Path]
    commands: frozenset[str]

    def has(self, path: Path, value: Any) -> bool:
        """Whether a value is ours; a record has an entry in a list of texts for its own index."""
        is_entry = isinstance(value, str) and bool(path) and isinstance(path[-1], int)
        return path in self.paths or (is_entry and (*path[:-1], value) in self.paths)

    def shown(self, value: Any, is_masked: bool) -> str:
        """A value of ours as JSON, with secrets masked."""
        if is_masked and value not in self.commands:
            value = MASK
        is_text = isinstance(value, str) and value not in self.commands
        return _as_json(masked_text(value) if is_text else value)


def _lines_of(
    value: Any,
    ours: _Own,
    path: Path = (),
    label: str = "",
    *,
    is_own: bool = False,
    is_masked: bool = False,
) -> Iterator[_Line]:
    """The value at a path as JSON without commas; `is_masked`: a key above says it is secret."""
    is_own = is_own or ours.has(path, value)
    margin = "  " * len(path)
    start = margin + label
    if not isinstance(value, dict | list):
        own = ours.shown(value, is_masked) if is_own else ""
        told = type(value), hex(value) if isinstance(value, int) else repr(value), is_own
        yield _Line(start + (own or _HIDDEN), start + _HIDDEN, told, path, own)
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    if not value:
        closing, opening = "", opening + closing
    yield _Line(start + opening, start + opening, path=path)
    for key, name, inner in _items(value):
        inner_label = f"{_as_json(masked_text(name))}: " if isinstance(value, dict) else ""
        secret = is_masked or is_secret(name)
        yield from _lines_of(
            inner, ours, (*path, key), inner_label, is_own=is_own, is_masked=secret
        )
    if closing:
        yield _Line(margin + closing, margin + closing)


def _items(value: dict[Any, Any] | list[Any]) -> Iterator[tuple[Any, str, Any]]:
    """Each key, the name that says whether the value is secret, and the value.

    The name of an array's element is the flag before it: `["--token", "..."]`.
    """
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key, str(key), inner
        return
    flag = ""
    for index, inner in enumerate(value):
        yield index, flag, inner
        flag = flag_of(inner)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _name(path: Path) -> str:
    return masked_text(".".join(map(str, path)))


def _number(document: Document, lines: list[_Line], at: int) -> int:
    """The line of the file that a line of its outline is made of; 0 in an empty file.

    A line with a closing bracket is counted from the one before it.
    """
    if not lines:
        return 0
    known = at
    while (path := lines[known].path) is None:
        known -= 1
    last = document.data.count(b"\n") + 1
    return min(document.real.position(path)[0] + at - known, last)


# What is ours


def own_commands(file: Draft) -> frozenset[str]:
    """The commands that hookctl wrote or writes in a file, but not those of wrapped hooks."""
    commands = set()
    for entry in _entries(file):
        if entry.kind == "element" and not entry.id.startswith(WRAP):
            commands.add(entry.written["command"])
            commands.update(claim.value["command"] for claim in entry.owners.values())
    if not file.target.host.shape.shell:  # such a host gets the command inside one of a shell
        commands |= {f"sh -c {shlex.quote(command)}" for command in commands}
    return frozenset(commands)


def _own_paths(file: Draft, document: Document) -> set[Path]:
    """The paths of the values that hookctl wrote or writes: leaves, and fields of its hooks."""
    entries = _entries(file)
    paths = {entry.path for entry in entries if entry.kind == "leaf"}
    fields: dict[str, set[str]] = {}
    for entry in entries:
        if entry.kind == "element":
            names = fields.setdefault(entry.id, set())
            names.update(entry.written, *(claim.value for claim in entry.owners.values()))
    shape = file.target.host.shape
    for hook in shapes.elements(shape, document.value):
        names = fields.get(hook.id, set()) | {"command", document.event_field}
        paths |= {(*hook.path, name) for name in names}
        if "matcher" in names & hook.fields.keys() and not shape.is_flat(
            shapes.event_of(shape, hook.path)
        ):
            paths.add((*hook.path[:-2], "matcher"))
    return set(map(document.translate, paths))


def _entries(file: Draft) -> list[Entry]:
    """The entries on record before and after the run."""
    records = [record for record in (file.known, file.record) if record is not None]
    return [entry for record in records for entry in record.entries]


# Lines


def _heading(path: str, old: bytes | None, new: bytes | None) -> list[str]:
    """The two lines at the top of a unified diff."""
    old_name = "/dev/null" if old is None else path
    new_name = "/dev/null" if new is None else path
    return [f"--- {old_name}", f"+++ {new_name}"]


def _hunks(old: list[_Line], new: list[_Line]) -> Iterator[_Hunk]:
    """The hunks of a unified diff; compares only from the first to the last change."""
    import difflib  # late: a diff is rare

    start = max(_count_equal(old, new) - _CONTEXT, 0)
    end = max(_count_equal(old[start:][::-1], new[start:][::-1]) - _CONTEXT, 0)
    old_part, new_part = old[start : len(old) - end], new[start : len(new) - end]
    matcher = difflib.SequenceMatcher(None, _told(old_part), _told(new_part))
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        lines = []
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                lines += [(" ", line) for line in old_part[old_from:old_to]]
            else:
                lines += [("-", line) for line in old_part[old_from:old_to]]
                lines += [("+", line) for line in new_part[new_from:new_to]]
        yield group[0][1] + start, group[0][3] + start, lines


def _told(lines: list[_Line]) -> list[tuple[str, Any]]:
    """What tells one line from another; an index in a path does not."""
    return [(line.text, line.value) for line in lines]


def _count_equal(old: list[_Line], new: list[_Line]) -> int:
    """How many lines are equal from the beginning on."""
    pairs = zip(_told(old), _told(new), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _hunk_lines(marked: list[tuple[str, _Line]], old: int, new: int, path: Path) -> list[str]:
    """The lines of a hunk, with its place: the numbers of its first lines, and a path."""
    old_count = sum(mark != "+" for mark, _ in marked)
    new_count = sum(mark != "-" for mark, _ in marked)
    place = f"@@ -{_range(old, old_count)} +{_range(new, new_count)} @@ {_name(path)}".rstrip()
    texts = [mark + (line.around if mark == " " else line.text) for mark, line in marked]
    return [OwnText(text) for text in (place, *texts)]


def _range(start: int, count: int) -> str:
    """A range of lines as a diff names it; none is in a file without lines."""
    if not count:
        return "0,0"
    return str(start) if count == 1 else f"{start},{count}"


# A whole plan


def patch(plan: Plan) -> OwnText:
    """The unified diff of everything that a plan changes, as one text."""
    return OwnText("".join(f"{line}\n" for line in patch_lines(plan)))


def patch_lines(plan: Plan) -> list[str]:
    """The lines of the unified diff of everything that a plan changes, with secrets masked.

    Programs and packages, which come with hookctl, are named with their digest instead.
    """
    lines = [line for file in plan.files for line in unified(file)]
    written: dict[str, dict[str, bytes]] = {}  # by folder
    removed: dict[str, int] = {}
    for change in plan.changes:
        is_program = change.path.endswith(".py") and f"/{PACKS}/" not in change.path
        if change.settings:
            continue
        if not is_program and not change.path.endswith(f"/{TABLE}"):
            lines += _file_lines(change)
            continue
        folder, name = os.path.split(change.path)
        if change.after is None:
            removed[folder] = removed.get(folder, 0) + 1
        else:
            written.setdefault(folder, {})[name] = change.after
    lines += [_describe_written(folder, files) for folder, files in written.items()]
    for folder, count in removed.items():
        lines.append(f"{folder}: {amount(count, 'program file')} of hookctl removed")
    for packages in plan.packages:
        for name, modules in packages.new.items():
            lines.append(_describe_written(os.path.join(packages.path, name), modules))
    return lines


def _describe_written(folder: str, files: Mapping[str, bytes]) -> str:
    count = amount(len(files), "program file")
    sha = digest(b"".join(data for _, data in sorted(files.items())))
    return f"{folder}: {count} of hookctl written (sha256 {sha})"
