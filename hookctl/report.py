"""The only place that prints: text for people, one JSON envelope for machines, secrets masked."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from hookctl.errors import FAILED
from hookctl.masking import by_look, veiled
from hookctl.model import Action, Result

if TYPE_CHECKING:
    from hookctl.planner.plan import FilePlan, Plan

ENVELOPE = 1
_VERBATIM = (
    "render",
    "completion",
)  # their result is a file for somebody else, who could not use it masked
# Patterns are compiled where they are used: most calls use none, and compiling costs more than such a call.
_CONTROL = "[\x00-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"


def show(command: str, result: Result, *, as_json: bool) -> None:
    """Print a result: its messages on stderr, and the envelope, or its text on stdout and its errors on stderr."""
    for line in result.messages:
        say(line)
    if as_json:
        _write(sys.stdout, json.dumps(envelope(command, result), indent=1) + "\n")
        return
    shown = result.text if command in _VERBATIM else [by_look(line) for line in result.text]
    lines = [_paint(_plain(line), sys.stdout) + "\n" for line in shown]
    if lines:
        _write(sys.stdout, "".join(lines))
    for error in result.errors:
        say(error_text(error))


def say(line: str) -> None:
    """One message for the person at the terminal, on stderr."""
    _write(sys.stderr, "hookctl: " + "\n".join(map(_plain, by_look(line).split("\n"))) + "\n")


def progress(line: str) -> None:
    """What goes on, for a person who waits at a terminal; nobody else needs it."""
    if sys.stderr and sys.stderr.isatty():
        say(line)


def emit(line: str) -> bool:
    """One line of a result that goes on; whether somebody still reads it."""
    return _write(sys.stdout, _plain(by_look(line)) + "\n")


def is_unread(seconds: float) -> bool:
    """Let so much time pass; at once, and true, where nobody reads stdout any more."""
    import select
    import time

    if sys.stdout is None:
        return True
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
    except (OSError, ValueError):  # it is no file
        poll = None
    ends = sum(how for _, how in poll.poll(seconds * 1000)) if poll else select.POLLNVAL
    if ends & select.POLLNVAL:  # or one that cannot be asked
        time.sleep(seconds)
        return False
    return bool(ends)


def envelope(command: str, result: Result) -> dict[str, Any]:
    """The versioned result for machines (schemas/result.schema.json)."""
    return {
        "hookctl_result": ENVELOPE,
        "command": by_look(command),
        "status": "error" if result.errors or result.exit_code not in (0, 10) else "ok",
        "exit_code": result.exit_code,
        "data": result.data if command in _VERBATIM else veiled(result.data),
        "errors": veiled(result.errors),
    }


def error_text(error: dict[str, Any]) -> str:
    """An error in one or two lines: where, what, and what to do."""
    where = f"{error['path']}:{error['line']}:{error['column']}" if error["line"] else error["path"]
    first = f"{where}: {error['message']}" if where else str(error["message"])
    return f"error: {first}" + (f"\n  {error['hint']}" if error["hint"] else "")


def _write(stream: TextIO | None, text: str) -> bool:
    """Whether it could be written; a stream may be closed, and may not have every character."""
    if stream is None:
        return False
    try:
        stream.write(text)
        stream.flush()
    except UnicodeEncodeError:  # a path that is no UTF-8, or a terminal that knows ASCII only
        encoding = stream.encoding or "ascii"
        return _write(stream, text.encode(encoding, "backslashreplace").decode(encoding))
    except OSError as error:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), stream.fileno()
        )  # or Python tries once more at its end
        if not isinstance(error, BrokenPipeError):  # that one is `hookctl log | head`
            say(f"error: the result cannot be printed ({error.strerror})")
            raise SystemExit(FAILED) from None
        return False
    return True


def _plain(text: str) -> str:
    """One line without control characters: a settings file must not be able to drive the terminal."""
    if text.isprintable():
        return text
    return re.sub(_CONTROL, "�", text)


_COLOURS = {"+": "32", "-": "31", "@": "36", "error": "31", "warning": "33", "ok": "32"}


def _paint(line: str, stream: TextIO | None) -> str:
    if (
        stream is None
        or not stream.isatty()
        or os.environ.get("NO_COLOR")
        or os.environ.get("TERM") == "dumb"
    ):
        return line
    for mark, colour in _COLOURS.items():
        if line.startswith(mark):
            return f"\033[{colour}m{line}\033[0m"
    return line


def table(rows: Sequence[Sequence[str]], *, indent: str = "") -> list[str]:
    """Rows as lines with aligned columns."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    return [
        (
            indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def program() -> str:
    """How the person can call hookctl again: by its name where that is on PATH, else by a whole path."""
    import shlex
    import shutil

    called = os.path.abspath(sys.argv[0])
    if os.path.basename(called) != "hookctl":
        return f"{shlex.quote(sys.executable)} -m hookctl"
    found = shutil.which("hookctl")
    if found and os.path.realpath(found) == os.path.realpath(called):
        return "hookctl"
    return shlex.quote(called)


def tilde(path: str) -> str:
    """A path as people write it: their home folder as ~."""
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if home != "/" and path.startswith(home + "/") else path


# What a plan says.


def plan_data(plan: Plan, *, dry_run: bool) -> dict[str, Any]:
    """A plan as the result envelope has it."""
    return {
        "actions": [_action_data(file, action) for file in plan.files for action in _actions(file)],
        "kept": [
            _action_data(file, action) for file in plan.files for action in file.decision.kept
        ],
        "files": [_file_data(file) for file in plan.files if file.old != file.after],
        "dry_run": dry_run,
    }


def plan_text(plan: Plan, *, dry_run: bool, done: str) -> list[str]:
    """A plan for people: one line an action and what was kept, or a unified diff on a dry run."""
    if dry_run:
        return _dry_lines(plan)
    lines: list[str] = []
    for file in plan.files:
        actions = [_action_line(action, done=True) for action in _actions(file)]
        kept = [_kept_line(action) for action in file.decision.kept]
        lines += (
            [tilde(file.path), *(f"  {line}" for line in [*actions, *kept])]
            if actions or kept
            else []
        )
    return [*lines, *(["nothing to do"] if plan.empty else done.split("\n"))]


def _dry_lines(plan: Plan) -> list[str]:
    from hookctl.documents.diffs import unified

    lines = []
    for file in plan.files:
        lines += unified(file).split("\n")[
            :-1
        ]  # a line of JSON may hold what splitlines() splits at
        lines += [_action_line(action, done=False) for _, action in file.runtime_actions]
        lines += [_kept_line(action) for action in file.decision.kept]
    if plan.empty:
        return [*lines, "nothing to do"]
    return [*lines, "(nothing was written)"]


def _actions(file: FilePlan) -> list[Action]:
    """In the order of the run: files come before their registrations, and go after them."""
    runtime = [action for _, action in file.runtime_actions]
    going = any(action.action == "remove-file" for action in runtime)
    return [*file.decision.actions, *runtime] if going else [*runtime, *file.decision.actions]


def _action_data(file: FilePlan, action: Action) -> dict[str, Any]:
    is_file = action.kind == "file"
    return {
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


def _file_data(file: FilePlan) -> dict[str, Any]:
    from hookctl.documents.diffs import own_lines
    from hookctl.system.files import digest

    return {
        "file": file.path,
        "sha256_before": digest(file.old),
        "sha256_after": digest(file.after),
        "created": file.old is None,
        "diff": partial(own_lines, file),  # made when it is printed: most results are not
    }


_DONE = {
    "write": "wrote",
    "replace": "changed",
    "remove": "removed",
    "adopt": "adopted",
    "share": "shared",
    "take-back": "took back",
    "drop": "let go",
    "create-file": "created",
    "replace-file": "replaced",
    "remove-file": "removed",
}
_TO_DO = {
    "create-file": "would create",
    "replace-file": "would replace",
    "remove-file": "would remove",
}


def _action_line(action: Action, *, done: bool) -> str:
    words = _DONE if done else _TO_DO
    reason = f" ({action.reason})" if action.reason else ""
    return f"{words[action.action]} {_place(action)}{reason}"


def _kept_line(action: Action) -> str:
    return f"kept {_place(action)}: {action.reason.removeprefix('kept ')}"


def _place(action: Action) -> str:
    if action.kind == "file":
        return tilde(str(action.path[0]))
    return ".".join(map(str, action.path)) + (f" ({action.id})" if action.id else "")
