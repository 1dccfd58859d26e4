"""A plan: a line for each thing done and each thing left alone, as data, or as a unified diff.

A diff compares outlines of a settings file: its value as lines of JSON. Only hookctl's own lines
show a value, with secrets masked; all others show the key alone.
"""

import json
import os
from collections.abc import Container, Iterator, Sequence
from functools import partial
from typing import Any

from hookctl.documents import MISSING, Document, formats
from hookctl.errors import FAILED, OK, HookctlError
from hookctl.hosts import shapes
from hookctl.masking import MASK, OwnText, flag_of, is_secret, masked, masked_text
from hookctl.model import WRAP, Action, Line, Path, Result
from hookctl.output.lines import amount, tilde
from hookctl.ownership.draft import Draft
from hookctl.ownership.plan import Plan
from hookctl.settings.targets import GUARD, RULES
from hookctl.system.files import digest
from hookctl.system.packages import HOOK, PACKAGES, PACKS

_SIGNS = {
    "write": "+",
    "replace": "~",
    "remove": "-",
    "adopt": "=",
    "share": "=",
    "take-back": "+",
    "drop": "=",
    "keep": "=",
    "create-file": "+",
    "replace-file": "~",
    "remove-file": "-",
}
_WORDS = {
    "adopt": "already there, left alone",
    "share": "shared with another pack",
    "take-back": "hookctl's again",
    "drop": "left alone",
}
_LONGEST = 60  # characters of a value


def plan_result(
    plan: Plan,
    done: Sequence[str | Line] = (),
    *,
    dry_run: bool,
    warned: Container[str] = (),
) -> Result:
    """A plan and its outcome, with what is to be said of its files.

    `warned` are files in which not all that was asked for is done.
    """
    data: dict[str, Any] = {"actions": [], "kept": [], "files": []}
    text: list[str | Line] = []
    for file in plan.files:
        text += _describe_file(file, warned, dry_run=dry_run)
        for action in sorted(file.actions, key=lambda one: one.kind != "file"):
            is_file = action.kind == "file"
            row = {
                "host": file.target.host.name,
                "scope": file.target.scope,
                "file": str(action.path[0]) if is_file else file.path,
                "path": [] if is_file else list(action.path),
                "kind": action.kind,
                "id": action.id,
                "action": action.action,
                "from": action.from_state,
                "to": action.to_state,
                "reason": action.reason,
                "owners": list(action.owners),
            }
            data["kept" if action.action == "keep" else "actions"].append(row)
        if file.old != file.after:
            changed = {
                "file": file.path,
                "sha256_before": digest(file.old),
                "sha256_after": digest(file.after),
                "created": file.old is None,
                "diff": partial(_make_diff, file),  # made only when it is printed
            }
            data["files"].append(changed)
    if plan.empty:
        text.append("nothing to do")
    else:
        text += ["(nothing was written)"] if dry_run else done
    data |= {"dry_run": dry_run, "changed": not plan.empty}
    messages = tuple(message for file in plan.files for message in file.messages)
    errors = tuple(error.as_dict() for error in plan.unread)
    return Result(data, tuple(text), messages, errors, FAILED if errors else OK)


def _make_diff(file: Draft) -> OwnText:
    return OwnText("".join(f"{line}\n" for line in unified(file)))


def _describe_file(file: Draft, warned: Container[str], *, dry_run: bool) -> list[str | Line]:
    """The file with a line for each entry, or its diff; then what becomes of files, and is kept."""
    entries: list[Line] = []
    kept: list[Line] = []
    names: dict[tuple[str, str, str], list[str]] = {}  # of files, by what is said of their folder
    for action in file.actions:
        sign, reason = _SIGNS[action.action], action.reason or _WORDS.get(action.action, "")
        if action.action == "keep":
            text = f"{_name_entry(file, action)} kept: {reason.removeprefix('kept ')}"
            kept.append(Line(text, indent=4, sign=sign))
        elif action.kind == "file":
            folder, name = os.path.split(str(action.path[0]))
            names.setdefault((sign, folder, reason), []).append(name)
        else:
            text = _name_entry(file, action) + (reason and f": {reason}")
            entries.append(Line(text, indent=4, sign=sign))
    diff = unified(file) if dry_run else []  # it names the file itself
    details: list[str | Line] = [*diff] if dry_run else [*entries]
    for (sign, folder, reason), contents in names.items():
        text = contents[0] if len(contents) == 1 else amount(len(contents), "file")
        is_launcher = HOOK in contents and f"/{PACKS}/" not in folder
        if is_launcher or os.path.basename(folder) == PACKAGES:  # packages come with it
            text = "program files"
        text += reason and f": {reason}"
        details.append(Line(text, indent=4, path=tilde(folder), sign=sign))
    details += kept
    if diff or not details:
        return details
    target = file.target
    title = "Instructions" if target.host.format == RULES else target.host.title
    if target.scope != "user":
        title += f" ({target.scope})"
    has_warning = any(message.level == "warning" for message in file.messages)
    mark = "warn" if has_warning or file.path in warned else "ok"
    return [Line(title, mark, path=tilde(file.path)), *details]


def _name_entry(file: Draft, action: Action) -> str:
    """A file, a hook as people know it, `Stop hook (guard)`, or a key with our value."""
    if file.target.host.format == RULES:
        return f"rules ({action.path[0]})"
    if action.kind == "file":
        return tilde(str(action.path[0]))
    if action.id:
        pack, _, name = action.id.partition("/")
        event = event_of(action.path)
        is_plain = pack == GUARD and not action.id.startswith(WRAP)
        owner = pack if is_plain or name == event.lower() else action.id
        return f"{event} hook ({owner})".lstrip()  # a hook may name no event
    path = action.path
    if path[0] == "env":
        path = path[1:]
    if path[:-1] and path[:-1] == file.target.host.shape.texts:
        return f"{'.'.join(path[:-1])}: {path[-1]}"
    key = ".".join(map(str, path))
    record = file.known if action.action == "remove" else file.record
    entries = record.entries if record and action.action != "keep" else ()
    for entry in entries:
        if entry.path == action.path and entry.kind == "leaf":
            value = masked(entry.written, str(entry.path[-1]))
            text = value if isinstance(value, str) else _as_json(value)
            if len(text) <= _LONGEST and "\n" not in text:  # else it is in the diff
                return f"{key}={text}"
    return key


def event_of(path: Path) -> str:
    """The host's name of the event whose hooks are at a path."""
    names = [str(part) for part in path if isinstance(part, str) and part != "hooks"]
    return names[-1] if names else ".".join(map(str, path))


# The diff of a settings file.

_HIDDEN = "…"
_BETWEEN = "\0"  # stands between what is compared of a line


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
    diff = difflib.unified_diff(*outlines, *names, lineterm="")
    return [OwnText(line.partition(_BETWEEN)[0]) for line in diff]


def _line(text: str, value: str = "") -> str:
    """A line of an outline, as it is compared; `value` tells lines apart that look alike."""
    return _BETWEEN.join(part.replace(_BETWEEN, "<U+0000>") for part in (text, value))


def _outline(file: Draft, document: Document) -> list[str]:
    """The outline of a settings file; of instructions the lines of packs' blocks.

    Ours are the leaves and the fields of hooks that are on record. No mask
    touches a command that is as hookctl writes it. Paths are those of the file, which `document`
    may show in another form.
    """
    root = document.real.value
    if root is MISSING:
        return []
    entries = [one for record in (file.known, file.record) if record for one in record.entries]
    own = {entry.path for entry in entries if entry.kind == "leaf"}
    if file.target.host.format == RULES:
        blocks = [masked_text(text) for pack, text in root.items() if (pack,) in own]
        return [_line(line) for text in blocks for line in text.split("\n")]
    names: dict[str, set[str]] = {}  # the fields that are ours, by the hook's id
    for entry in entries:
        if entry.kind == "element":
            names.setdefault(entry.id, {"command", document.event_field}).update(entry.written)
    written = [entry.written["command"] for entry in entries if entry.kind == "element"]
    plain, shape = set[Path](), file.target.host.shape
    for hook in shapes.elements(shape, document.value):
        fields = names.get(hook.id, set[str]())  # none of a hook that only looks like ours
        own |= {(*hook.path, name) for name in fields}
        is_flat = shape.is_flat(shapes.event_of(shape, hook.path))
        if "matcher" in fields & hook.fields.keys() and not is_flat:
            own.add((*hook.path[:-2], "matcher"))
        if not hook.id.startswith(WRAP) and hook.fields["command"] in written:
            plain.add((*hook.path, "command"))
    paths, commands = set(map(document.translate, own)), set(map(document.translate, plain))
    return list(_lines_of(root, paths, commands))


def _lines_of(
    value: Any,
    paths: set[Path],
    commands: set[Path],
    path: Path = (),
    label: str = "",
    *,
    is_own: bool = False,
    is_masked: bool = False,
) -> Iterator[str]:
    """The value at a path as JSON without commas; `is_masked`: a key above says it is secret."""
    # A record has an entry in a list of texts for its own index.
    is_entry = isinstance(value, str) and bool(path) and isinstance(path[-1], int)
    is_own = is_own or path in paths or (is_entry and (*path[:-1], value) in paths)
    start = "  " * len(path) + label
    if not isinstance(value, dict | list):
        shown = value
        if path not in commands:
            shown = MASK if is_masked else masked(value)
        own = _as_json(shown) if is_own else _HIDDEN
        exact = hex(value) if isinstance(value, int) else repr(value)
        yield _line(start + own, f"{type(value)} {exact} {is_own}")
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    if not value:
        closing, opening = "", opening + closing
    yield _line(start + opening)
    inner_label, flag = "", ""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        name = flag  # which says whether the value is secret
        if isinstance(value, dict):
            name = str(key)
            inner_label = f"{_as_json(masked_text(name))}: "
        place, secret = (*path, key), is_masked or is_secret(name)
        yield from _lines_of(
            inner, paths, commands, place, inner_label, is_own=is_own, is_masked=secret
        )
        flag = flag_of(inner)
    if closing:
        yield _line("  " * len(path) + closing)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
