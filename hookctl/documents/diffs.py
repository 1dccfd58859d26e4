"""What changes in a settings file, for people and for machines, with secrets masked.

A person sees a unified diff, in which the lines around help to find the place. A machine gets only what is ours: its
output ends up in logs, where nothing else of the operator's settings belongs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hookctl.documents import MISSING, Document, Path, formats
from hookctl.errors import HookctlError
from hookctl.masking import is_secret, masked

if TYPE_CHECKING:
    from hookctl.planner.plan import FilePlan

_CONTEXT = 3  # lines around a change

_Change = tuple[str, Path, Any]  # "+" or "-", where, and the value there


def unified(file: FilePlan) -> str:
    """The change of a settings file as a unified diff."""
    from hookctl.documents.redaction import redacted

    if not file.settings:
        return ""
    if not _is_shown(file):
        return _unread(file.path)
    before = "" if file.old is None else file.old.decode("utf-8")
    after = (file.after or b"").decode("utf-8")
    old, new = (_lines(redacted(text).removeprefix("\ufeff")) for text in (before, after))
    hunks = list(_hunks(old, new))
    if not hunks:
        return ""
    names = (
        "/dev/null" if file.old is None else file.path,
        "/dev/null" if file.after is None else file.path,
    )
    return "".join([f"--- {names[0]}\n", f"+++ {names[1]}\n", *hunks])


def own_lines(file: FilePlan) -> str:
    """What hookctl puts into a settings file and takes out of it, a line for each value; none around it."""
    if not file.settings or not file.decision.actions:
        return ""
    after = _after(file)
    if after is None or not _is_read(file):
        return _unread(file.path)
    before = {} if file.before.value is MISSING else file.before.value
    changes = _changes(before, {} if after.value is MISSING else after.value, ())
    return "".join(f"{mark}{_named(path)}: {_text(path, value)}\n" for mark, path, value in changes)


def _is_shown(file: FilePlan) -> bool:
    """Whether both texts can be read; what of another one is secret nobody knows."""
    return _is_read(file) and _after(file) is not None


def _is_read(file: FilePlan) -> bool:
    return file.old is None or file.old == file.before.data


def _after(file: FilePlan) -> Document | None:
    try:
        return formats.parse(file.target.host.format, file.after or b"", where=file.path)
    except HookctlError:
        return None


def _unread(path: str) -> str:
    return f"({path} cannot be read as settings, so it is not shown)\n"


# Values


def _changes(before: Any, after: Any, path: Path) -> Iterator[_Change]:
    """The smallest values that are different, in the order of the file."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from _changes(before.get(key, MISSING), after.get(key, MISSING), (*path, key))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _changed_elements(before, after, path)
    elif type(before) is not type(after) or before != after:
        if before is not MISSING:
            yield "-", path, before
        if after is not MISSING:
            yield "+", path, after


def _changed_elements(before: list[Any], after: list[Any], path: Path) -> Iterator[_Change]:
    start = _same(before, after)
    end = _same(before[start:][::-1], after[start:][::-1])
    gone, new = before[start : len(before) - end], after[start : len(after) - end]
    left, come = [value not in new for value in gone], [value not in gone for value in new]
    if all(left) and all(come) and len(gone) == len(new):
        for at, (old, other) in enumerate(zip(gone, new, strict=True), start):
            yield from _changes(old, other, (*path, at))
        return
    for mark, values, are_changed in (("-", gone, left), ("+", new, come)):
        for at, value in enumerate(values):
            if are_changed[at]:
                yield mark, (*path, start + at), value


def _same(one: list[Any], other: list[Any]) -> int:
    """How many elements are equal from the beginning on."""
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return count


def _named(path: Path) -> str:
    return ".".join(map(str, path))


def _text(path: Path, value: Any) -> str:
    key = next((str(name) for name in path if is_secret(str(name))), "")
    return json.dumps(masked(value, key), ensure_ascii=False, default=str)


# Lines


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    """The hunks of a unified diff. Only what lies between the first and the last change is compared."""
    import difflib

    start = max(_same(old, new) - _CONTEXT, 0)
    end = max(_same(old[start:][::-1], new[start:][::-1]) - _CONTEXT, 0)
    matcher = difflib.SequenceMatcher(
        None, old[start : len(old) - end], new[start : len(new) - end]
    )
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        moved = [(tag, *(number + start for number in numbers)) for tag, *numbers in group]
        yield f"@@ -{_range(moved[0][1], moved[-1][2])} +{_range(moved[0][3], moved[-1][4])} @@\n"
        for tag, old_from, old_to, new_from, new_to in moved:
            if tag == "equal":
                yield from (f" {line}" for line in old[old_from:old_to])
            else:
                yield from (f"-{line}" for line in old[old_from:old_to])
                yield from (f"+{line}" for line in new[new_from:new_to])


def _range(start: int, stop: int) -> str:
    """Lines as a diff names them: the first and how many; of none the line before."""
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _lines(text: str) -> list[str]:
    """Lines without their line ends' kind, so that CRLF does not fill the diff; a missing last one is said."""
    lines = re.split(r"\r\n|\r|\n", text)
    last = [f"{lines[-1]}\n\\ No newline at end of file\n"] if lines[-1] else []
    return [line + "\n" for line in lines[:-1]] + last
