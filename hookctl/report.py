"""All printing: text for people, one JSON envelope for machines, secrets masked."""

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
_VERBATIM = ("render", "completion")  # their result is a file, which is of no use when masked
# Patterns are compiled where they are used: most calls use none, and compiling takes long.
_CONTROL = "[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"


def show(command: str, result: Result, *, as_json: bool) -> None:
    """Print a result: messages and errors on stderr, the text or the envelope on stdout."""
    for line in result.messages:
        say(line)
    if as_json:
        _write(sys.stdout, json.dumps(envelope(command, result), indent=1) + "\n")
        return
    shown = result.text if command in _VERBATIM else [by_look(line) for line in result.text]
    lines = [_paint(plain(line), sys.stdout) + "\n" for line in shown]
    if lines:
        _write(sys.stdout, "".join(lines))
    for error in result.errors:
        say(error_text(error))


def say(line: str) -> None:
    """One message for the person at the terminal, on stderr."""
    first, *others = by_look(line).split("\n")
    text = plain(first)
    for other in others:  # set in, so that no text from elsewhere looks like a message of its own
        text += "\n  " + plain(other.removeprefix("  "))
    _write(sys.stderr, f"hookctl: {text}\n")


def progress(line: str) -> None:
    """A progress message, only for a person at a terminal."""
    if sys.stderr and sys.stderr.isatty():
        say(line)


def emit(line: str) -> bool:
    """Print one line of an unfinished result; whether somebody still reads it."""
    return _write(sys.stdout, plain(by_look(line)) + "\n")


def is_unread(seconds: float) -> bool:
    """Wait this long; returns True at once when nobody reads stdout any more."""
    import select
    import time

    if sys.stdout is None:
        return True
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        events = poll.poll(seconds * 1000)
    except (OSError, ValueError):  # stdout is no file
        time.sleep(seconds)
        return False
    flags = events[0][1] if events else 0
    if flags & select.POLLNVAL:  # the file cannot be polled
        time.sleep(seconds)
        return False
    return bool(flags)


def envelope(command: str, result: Result) -> dict[str, Any]:
    """The versioned result for machines (schemas/result.schema.json)."""
    has_failed = bool(result.errors) or result.exit_code not in (0, 10)
    return {
        "hookctl_result": ENVELOPE,
        "command": by_look(command),
        "status": "error" if has_failed else "ok",
        "exit_code": result.exit_code,
        "data": result.data if command in _VERBATIM else veiled(result.data),
        "errors": veiled(result.errors),
    }


def error_text(error: dict[str, Any]) -> str:
    """An error in one or two lines: where, what, and what to do."""
    where = plain(error["path"])
    if error["line"]:
        where = f"{where}:{error['line']}:{error['column']}"
    message = plain(error["message"])
    text = f"error: {where}: {message}" if where else f"error: {message}"
    if error["hint"]:
        text += f"\n  {error['hint']}"
    return text


def _write(stream: TextIO | None, text: str) -> bool:
    """Write to a stream; False if it is closed. Characters it does not have are escaped."""
    if stream is None:
        return False
    try:
        stream.write(text)
        stream.flush()
    except UnicodeEncodeError:  # a path that is no UTF-8, or a terminal that knows ASCII only
        encoding = stream.encoding or "ascii"
        return _write(stream, text.encode(encoding, "backslashreplace").decode(encoding))
    except OSError as error:
        # Otherwise Python would try once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):  # that one is `hookctl log | head`
            say(f"error: the result cannot be printed ({error.strerror})")
            raise SystemExit(FAILED) from None
        return False
    return True


def plain(text: str) -> str:
    """A line with control characters escaped: no text from elsewhere controls the terminal."""
    if text.isprintable():
        return text
    return re.sub(_CONTROL, _escape, text)


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


_COLOURS = {"+": "32", "-": "31", "@": "36", "error": "31", "warning": "33", "ok": "32"}


def _paint(line: str, stream: TextIO | None) -> str:
    if not _has_colours(stream):
        return line
    for mark, colour in _COLOURS.items():
        if line.startswith(mark):
            return f"\033[{colour}m{line}\033[0m"
    return line


def _has_colours(stream: TextIO | None) -> bool:
    if stream is None or not stream.isatty():
        return False
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def table(rows: Sequence[Sequence[str]], *, indent: str = "") -> list[str]:
    """Rows as lines with aligned columns."""
    if not rows:
        return []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append((indent + "  ".join(cells)).rstrip())
    return lines


def program() -> str:
    """The command that calls hookctl again: its name if that is on PATH, else its path."""
    import shlex
    import shutil

    called = os.path.abspath(sys.argv[0])
    if os.path.basename(called) != "hookctl":
        return f"{shlex.quote(sys.executable)} -m hookctl"
    on_path = shutil.which("hookctl")
    if on_path and os.path.realpath(on_path) == os.path.realpath(called):
        return "hookctl"
    return shlex.quote(called)


def tilde(path: str) -> str:
    """A path with the home folder written as ~."""
    home = os.path.expanduser("~")
    if home == "/" or not path.startswith(home + "/"):
        return path
    return "~" + path[len(home) :]


# Plans.


def plan_data(plan: Plan, *, dry_run: bool) -> dict[str, Any]:
    """A plan as data for the result envelope."""
    actions: list[dict[str, Any]] = []
    kept: list[dict[str, Any]] = []
    for file in plan.files:
        actions += [_action_data(file, action) for action in _actions(file)]
        kept += [_action_data(file, action) for action in file.decision.kept]
    return {
        "actions": actions,
        "kept": kept,
        "files": [_file_data(file) for file in plan.files if file.old != file.after],
        "dry_run": dry_run,
    }


def plan_text(plan: Plan, *, dry_run: bool, done: str) -> list[str]:
    """A plan for people: a line for each action and kept value; on a dry run a unified diff."""
    if dry_run:
        return _dry_lines(plan)
    lines: list[str] = []
    for file in plan.files:
        details = [_action_line(action, done=True) for action in _actions(file)]
        details += [_kept_line(action) for action in file.decision.kept]
        if details:
            lines.append(tilde(file.path))
            lines += [f"  {line}" for line in details]
    if plan.empty:
        return [*lines, "nothing to do"]
    return [*lines, *done.split("\n")]


def _dry_lines(plan: Plan) -> list[str]:
    from hookctl.documents.diffs import unified

    lines = []
    for file in plan.files:
        # Not splitlines(): a line of JSON may hold other line separators.
        lines += unified(file).split("\n")[:-1]
        lines += [_action_line(action, done=False) for _, action in file.runtime_actions]
        lines += [_kept_line(action) for action in file.decision.kept]
    if plan.empty:
        return [*lines, "nothing to do"]
    return [*lines, "(nothing was written)"]


def _actions(file: FilePlan) -> list[Action]:
    """The actions in the order of the run: files are made before and removed after their hooks."""
    runtime = [action for _, action in file.runtime_actions]
    if any(action.action == "remove-file" for action in runtime):
        return [*file.decision.actions, *runtime]
    return [*runtime, *file.decision.actions]


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
        "diff": partial(own_lines, file),  # made only when it is printed
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
    return f"{words[action.action]} {_name(action)}{reason}"


def _kept_line(action: Action) -> str:
    return f"kept {_name(action)}: {action.reason.removeprefix('kept ')}"


def _name(action: Action) -> str:
    if action.kind == "file":
        return tilde(str(action.path[0]))
    path = ".".join(map(str, action.path))
    return f"{path} ({action.id})" if action.id else path
