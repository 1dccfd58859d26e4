"""The changes of files, for people and for machines.

A settings file is compared as an outline: its parsed value as lines of JSON. Only hookctl's own
lines show a value, with secrets masked; all others show the key alone.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

from hookctl.documents import MISSING, Document, Path, formats
from hookctl.documents.rules import RulesDocument
from hookctl.errors import HookctlError
from hookctl.hosts import shapes
from hookctl.masking import MASK, OwnText, flag_of, is_secret, masked, masked_text
from hookctl.model import WRAP
from hookctl.ownership.draft import Draft

_HIDDEN = "…"
_BETWEEN = "\0"  # stands between what is compared of a line


class _Own(NamedTuple):
    """What hookctl wrote or writes in a settings file."""

    paths: set[Path]
    commands: set[str]  # but not those of wrapped hooks; no mask touches them


def unified(file: Draft) -> list[str]:
    """The lines of the unified diff of a settings file."""
    if file.old == file.after:
        return []
    import difflib  # late: a diff is rare

    unreadable = f"({file.path} cannot be read as settings, so it is not shown)"
    if file.old is not None and file.old != file.before.data:
        return [unreadable]  # nobody can say which values of such a text are ours
    try:
        after = formats.parse(file.target.host.format, file.after or b"", where=file.path)
    except HookctlError:
        return [unreadable]
    outlines = _outline(file, file.before), _outline(file, after)
    names = ["/dev/null" if data is None else file.path for data in (file.old, file.after)]
    lines = []
    for line in difflib.unified_diff(*outlines, *names, lineterm=""):
        lines.append(OwnText(line.partition(_BETWEEN)[0]))
    return lines


def _line(text: str, value: str = "") -> str:
    """A line of an outline, as it is compared; `value` tells lines apart that look alike."""
    return _BETWEEN.join(part.replace(_BETWEEN, "<U+0000>") for part in (text, value))


def _outline(file: Draft, document: Document) -> list[str]:
    """The outline of a settings file; of instructions the lines of packs' blocks."""
    root = document.real.value
    if root is MISSING:
        return []
    own = _find_own(file, document)
    if not isinstance(document, RulesDocument):
        return list(_lines_of(root, own))
    blocks = [masked_text(text) for pack, text in root.items() if (pack,) in own.paths]
    return [_line(line) for text in blocks for line in text.split("\n")]


def _lines_of(
    value: Any,
    ours: _Own,
    path: Path = (),
    label: str = "",
    *,
    is_own: bool = False,
    is_masked: bool = False,
) -> Iterator[str]:
    """The value at a path as JSON without commas; `is_masked`: a key above says it is secret."""
    # A record has an entry in a list of texts for its own index.
    is_entry = isinstance(value, str) and bool(path) and isinstance(path[-1], int)
    is_own = is_own or path in ours.paths or (is_entry and (*path[:-1], value) in ours.paths)
    start = "  " * len(path) + label
    if not isinstance(value, dict | list):
        shown = value
        if value not in ours.commands:
            shown = MASK if is_masked else masked(value)
        own = _as_json(shown) if is_own else ""
        exact = hex(value) if isinstance(value, int) else repr(value)
        told = f"{type(value)} {exact} {is_own}"
        yield _line(start + (own or _HIDDEN), told)
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    if not value:
        closing, opening = "", opening + closing
    yield _line(start + opening)
    for key, name, inner in _items(value):
        inner_label = f"{_as_json(masked_text(name))}: " if isinstance(value, dict) else ""
        secret = is_masked or is_secret(name)
        yield from _lines_of(
            inner, ours, (*path, key), inner_label, is_own=is_own, is_masked=secret
        )
    if closing:
        yield _line("  " * len(path) + closing)


def _items(value: dict[Any, Any] | list[Any]) -> Iterator[tuple[Any, str, Any]]:
    """Each key, the name that says whether the value is secret, and the value."""
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


def _find_own(file: Draft, document: Document) -> _Own:
    """The values that hookctl wrote or writes: leaves, and fields of its hooks."""
    records = [record for record in (file.known, file.record) if record is not None]
    entries = [entry for record in records for entry in record.entries]
    paths = {entry.path for entry in entries if entry.kind == "leaf"}
    fields: dict[str, set[str]] = {}
    commands = set()
    for entry in entries:
        if entry.kind == "element":
            versions = [entry.written, *(claim.value for claim in entry.owners.values())]
            fields.setdefault(entry.id, set()).update(*versions)
            if not entry.id.startswith(WRAP):
                commands.update(version["command"] for version in versions)
    shape = file.target.host.shape
    if not shape.shell:  # such a host gets the command inside one of a shell
        commands |= {f"sh -c {shlex.quote(command)}" for command in commands}
    for hook in shapes.elements(shape, document.value):
        names = fields.get(hook.id, set()) | {"command", document.event_field}
        paths |= {(*hook.path, name) for name in names}
        if "matcher" in names & hook.fields.keys() and not shape.is_flat(
            shapes.event_of(shape, hook.path)
        ):
            paths.add((*hook.path[:-2], "matcher"))
    return _Own(set(map(document.translate, paths)), commands)
