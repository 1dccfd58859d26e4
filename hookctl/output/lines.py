"""Lines of a result, how a stream shows them, and the JSON envelope; secrets are masked."""

import contextlib
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from hookctl.errors import FAILED, USAGE, HookctlError
from hookctl.masking import by_look, plain, shown, veiled
from hookctl.model import INTERRUPTED, Line, Message, Result

_SYMBOLS = {"ok": "✓", "warn": "!", "error": "✗", "skip": "-"}
_COLOURS = {  # of marks and signs
    **{"ok": "32", "warn": "33", "error": "31", "skip": "2"},
    **{"+": "32", "-": "31", "~": "33", "=": "2"},
}
_DIFF_COLOURS = {"+": "32", "-": "31", "@": "36"}
_HARD_BLANK = "\x1f"  # stands for a blank that no line may break at
# Where hookctl begins a command to copy, in texts of ours; and what it is called there.
CALLED = re.compile(r"(?m)(?:(?<=^  )|(?<=`)|(?<=Next: )|(?<=undo: )|(?<=-H ))hookctl(?= )")
program = "hookctl"


def name_program() -> None:
    """Name this program in commands to copy as it was started, unless `hookctl` is right."""
    global program
    path, name = sys.argv[0], os.path.basename(sys.argv[0])
    # On the PATH; by uvx, in a folder that goes; or `python3 -m hookctl`; or no text for a line.
    is_usual = os.path.isabs(path) and name in ("hookctl", "__main__.py")
    if is_usual or not os.path.isfile(path) or re.search(r"[\0-\x1f\\]", path + sys.orig_argv[0]):
        return
    import shlex  # late: seldom needed

    found = shutil.which(name)
    if found and os.path.samefile(found, path):
        program = name
    elif os.access(path, os.X_OK):
        program = shlex.quote(path if "/" in path else f"./{path}")
    else:  # python3 hookctl.pyz
        python = os.path.basename(sys.orig_argv[0])
        python = python if shutil.which(python) else sys.orig_argv[0]
        program = shlex.join([python, path])


def width(stream: TextIO | None) -> int:
    """The columns of a terminal, at most 120; 0 where lines go to a file and stay as they are."""
    is_terminal = stream is not None and stream.isatty()
    is_told = is_terminal or os.environ.get("COLUMNS", "").isdecimal()
    return min(shutil.get_terminal_size().columns, 120) if is_told else 0  # wider is hard to read


def render(line: str | Line, stream: TextIO | None) -> str:
    """A line with its mark, its indentation and its path, in as many lines as it takes, masked.

    Text that is no Line is a line of a diff or of another file, and keeps its width.
    """
    is_wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    coloured = is_wanted and stream is not None and stream.isatty()
    if isinstance(line, str):
        text, colour = shown(line), _DIFF_COLOURS.get(line[:1])
        return f"\033[{colour}m{text}\033[0m" if colour and coloured else text
    columns = width(stream)
    start = line.mark and f"{line.mark:5} "
    if line.mark and coloured and stream:  # a symbol instead of the word, where it can be shown
        with contextlib.suppress(UnicodeEncodeError, LookupError):
            "".join(_SYMBOLS.values()).encode(stream.encoding or "ascii")
            start = f"{_SYMBOLS[line.mark]} "
    start += " " * line.indent
    start += line.sign and f"{line.sign} "
    start += line.label and f"{shown(line.label)}  "
    text = CALLED.sub(program, shown(line.text))
    text = wrap(text, columns, len(start), start=start)
    path = line.path and f"  {plain(line.path)}"
    if columns and len(text.rsplit("\n", 1)[-1]) + len(path) > columns:
        path = f"\n{' ' * (len(start) + 2)}{path.strip()}"
    colour = _COLOURS.get(line.mark or line.sign)
    if coloured and colour:
        text = f"\033[{colour}m{text[: len(start)]}\033[0m{text[len(start) :]}"
    return text + (f"\033[2m{path}\033[0m" if coloured and path else path)


def wrap(text: str, columns: int, hang: int, *, start: str = "") -> str:
    """A text in lines of at most so many columns, set in behind the first.

    What stands in backticks is a command to copy: it is never broken, and no word is.
    """
    if columns < 40 or len(start + text) <= columns:  # in narrower ones nothing is wrapped
        return start + text
    parts = text.split("`")
    for number in range(1, len(parts) - 1, 2):
        parts[number] = parts[number].replace(" ", _HARD_BLANK)
    lines = textwrap.wrap(
        start.replace(" ", _HARD_BLANK) + "`".join(parts),
        columns,
        subsequent_indent=" " * hang,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines).replace(_HARD_BLANK, " ")


# The words of a line.


def fix(text: str, indent: int = 4) -> Line:
    """The one thing to do about the line above."""
    return Line(f"fix: {text}", indent=indent)


def amount(count: int, singular: str) -> str:
    """A number with its noun: 1 file, 2 files."""
    return f"{count} {singular}" if count == 1 else f"{count} {singular}s"


def labelled(rows: Iterable[tuple[str, str]], indent: int = 2) -> list[Line]:
    """A line for each label and text, with the texts below each other."""
    pairs = list(rows)
    columns = max((len(label) for label, _ in pairs), default=0)
    return [Line(text, indent=indent, label=label.ljust(columns)) for label, text in pairs]


def other_projects(others: Sequence[str], command: str) -> list[Line]:
    """The line about the projects on record that a command left out; none where there is none."""
    text = f"{amount(len(others), 'other project')}: `hookctl {command} --all` shows more"
    return [Line(text, "skip")] if others else []


def tilde(path: str) -> str:
    """A path with the home folder written as ~."""
    home = os.path.expanduser("~")
    if home == "/" or not path.startswith(home + "/"):
        return path
    return "~" + path[len(home) :]


def place(path: str, line: int) -> str:
    """A line of a file as people write it; the file alone where the line is 0."""
    return f"{tilde(path)}:{line}" if line else tilde(path)


def tildes(text: str) -> str:
    """A text with the home folder written as ~ in its paths."""
    return " ".join(map(tilde, text.split(" ")))


def cut(text: str, longest: int) -> str:
    """A text on one line, without its end if it has more characters."""
    text = " ".join(text.split("\n"))
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def table(rows: Sequence[Sequence[str]], *, indent: str = "") -> list[str]:
    """Rows as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    form = indent + "  ".join(f"{{:{width}}}" for width in widths)
    return [form.format(*row).rstrip() for row in rows]


def show_ms(ms: float | None) -> str:
    """A time as people read it."""
    if ms is None:
        return "-"
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


# Printing.

# What was said while the command ran; the envelope has it too.
_said: list[Message] = []


def show(command: str, result: Result, *, as_json: bool) -> None:
    """Print a result: messages and errors on stderr, the text or the envelope on stdout."""
    # What holds for several hosts is said once.
    for text in dict.fromkeys(message.text for message in result.messages):
        _print(text)
    result = result._replace(messages=(*_said, *result.messages))
    _said.clear()
    if as_json:
        _write(sys.stdout, json.dumps(_envelope(command, result), indent=1) + "\n")
        return
    lines = [line if result.verbatim else render(line, sys.stdout) for line in result.text]
    _write(sys.stdout, "".join([f"{line}\n" for line in lines]))
    for error in result.errors:  # in two lines: what is wrong and where, and what to do
        text = plain(error["message"])
        if error["code"] != "declined":  # a person's answer is no error
            where = error["path"] and f": {plain(error['path'])}"
            where += f":{error['line']}:{error['column']}" if error["line"] else ""
            advice = error["hint"] and f"\n  fix: {error['hint']}"
            text = f"error: {text}{where}{advice}"
        _print(text)


def say(message: str | Message) -> None:
    """One message for the person at the terminal, on stderr, before the result is there."""
    if isinstance(message, Message):
        _said.append(message)
        message = message.text
    _print(message)


def _print(text: str) -> None:
    columns = width(sys.stderr)
    first, *others = by_look(text).split("\n")
    lines = [wrap(CALLED.sub(program, plain(first)), columns, 2, start="hookctl: ")]
    for other in others:  # set in, so that no text from elsewhere looks like a message of its own
        line = plain(other.removeprefix("  "))
        is_prose = line.startswith("fix: ")  # the rest is what people look at whole, or copy
        line = CALLED.sub(program, line) if is_prose else line
        lines.append(wrap(line, columns if is_prose else 0, 4, start="  "))
    _write(sys.stderr, "\n".join(lines) + "\n")


def progress(line: str) -> None:
    """A progress message, only for a person at a terminal."""
    if sys.stderr and sys.stderr.isatty():
        say(line)


def emit(line: str | Line) -> bool:
    """Print one line of an unfinished result; whether stdout is still read."""
    return _write(sys.stdout, f"{render(line, sys.stdout)}\n")


def _envelope(command: str, result: Result) -> dict[str, Any]:
    """The versioned result for machines (schemas/result.schema.json)."""
    data, messages = dict(result.data if result.verbatim else veiled(result.data)), []
    for message in result.messages:
        fields = message._asdict()
        fields["message"] = CALLED.sub(program, by_look(fields.pop("text")))
        messages.append(fields)
    if messages or "actions" in data:
        data["messages"] = messages
    says_changed = "changed" in data or not result.data
    if says_changed and any(message["code"] == INTERRUPTED for message in messages):
        data["changed"] = True  # completing that run changes files, too
    errors = [
        {**error, "hint": CALLED.sub(program, error["hint"] or "")} for error in result.errors
    ]
    has_failed = bool(errors) or result.exit_code not in (0, 10)
    return {
        "hookctl_result": 1,
        "command": by_look(command),
        "status": "error" if has_failed else "ok",
        "exit_code": result.exit_code,
        "data": data,
        "errors": veiled(errors),
    }


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
        if not isinstance(error, BrokenPipeError):  # that one is `hookctl log | head`
            if stream is sys.stdout:
                say(f"error: the result cannot be printed ({error.strerror})")
            raise SystemExit(FAILED) from None
        return False
    return True


def can_ask() -> bool:
    """Whether a person at a terminal can be asked."""
    return all(stream and stream.isatty() for stream in (sys.stdin, sys.stderr))


def confirm(question: str) -> bool:
    """Whether a person says yes, or there is no question; False without a terminal."""
    if not can_ask():
        return False
    if not question:
        return True
    # typer's own question writes a blank to stdout, which is for results.
    *above, last = map(plain, question.split("\n"))
    _write(sys.stderr, "".join(f"{line}\n" for line in above) + f"{last} [y/N] ")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise HookctlError("declined", "nothing was changed", exit_code=USAGE)
    return True
