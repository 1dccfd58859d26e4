"""A line as a stream shows it: marks and colours at a terminal, and no line that is too wide."""

from __future__ import annotations

import os
import textwrap
from typing import TextIO

from hookctl.model import Line

WIDEST = 120  # columns; wider lines are hard to read
_NARROWEST = 40  # columns; below that nothing is wrapped any more
_SYMBOLS = {"ok": "✓", "warn": "!", "error": "✗", "skip": "-"}
_COLOURS = {"ok": "32", "warn": "33", "error": "31", "skip": "2"}
_SIGN_COLOURS = {"+": "32", "-": "31", "~": "33", "=": "2"}
_DIFF_COLOURS = {"+": "32", "-": "31", "@": "36"}
_DIM, _BOLD = "2", "1"
_HARD_BLANK = "\x1f"  # stands for a blank that no line may break at


def width(stream: TextIO | None) -> int:
    """The columns of a terminal, at most 120; 0 where lines go to a file and stay as they are."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return min(int(columns), WIDEST)
    if stream is None or not stream.isatty():
        return 0
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return 80
    return min(columns, WIDEST)


def has_colours(stream: TextIO | None) -> bool:
    """Whether the stream is a terminal whose owner does not mind colours."""
    if stream is None or not stream.isatty():
        return False
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def has_symbols(stream: TextIO | None) -> bool:
    """Whether a mark is one symbol; else it is a word."""
    if stream is None or not has_colours(stream):
        return False
    try:
        "".join(_SYMBOLS.values()).encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def render(line: Line, stream: TextIO | None) -> str:
    """A line with its mark, its indentation and its path, in as many lines as it takes."""
    columns, coloured = width(stream), has_colours(stream)
    start = _mark(line, stream) + " " * line.indent
    start += line.sign and f"{line.sign} "
    start += line.label and f"{line.label}  "
    path = _fit_path(line, len(start), columns)
    text = wrap(line.text, columns, len(start), start=start)
    if path and _overflows(text, path, columns):
        path = f"\n{' ' * (len(start) + 2)}{path}"
    elif path:
        path = f"  {path}"
    if not coloured:
        return text + path
    return _paint_start(line, text, len(start)) + (path and f"\033[{_DIM}m{path}\033[0m")


def _mark(line: Line, stream: TextIO | None) -> str:
    if not line.mark:
        return ""
    if has_symbols(stream):
        return f"{_SYMBOLS[line.mark]} "
    return f"{line.mark:5} "


def _paint_start(line: Line, text: str, start: int) -> str:
    """The text with its mark in colour, and bold behind it; or with its sign in colour."""
    if line.mark:
        head, rest = text[:start], text[start:]
        bold = f"\033[{_BOLD}m{rest}\033[0m" if line.path else rest
        return f"\033[{_COLOURS[line.mark]}m{head}\033[0m{bold}"
    if line.sign:
        sign = line.indent
        colour = _SIGN_COLOURS[line.sign]
        return f"{text[:sign]}\033[{colour}m{line.sign}\033[0m{text[sign + 1 :]}"
    return text


def _fit_path(line: Line, start: int, columns: int) -> str:
    """The path, without its middle where it does not fit even on a line of its own."""
    if not columns:
        return line.path
    return shorten(line.path, max(columns - start - 2, _NARROWEST))


def _overflows(text: str, path: str, columns: int) -> bool:
    last = text.rsplit("\n", 1)[-1]
    return bool(columns) and len(last) + 2 + len(path) > columns


def shorten(path: str, columns: int) -> str:
    """A path without folders in its middle, if it has more characters than columns.

    Its first folder and its last name always stay.
    """
    if len(path) <= columns or "/" not in path:
        return path
    first, *middle, last = path.split("/")
    kept = [last]
    while middle and len("/".join([first, "…", middle[-1], *kept])) <= columns:
        kept.insert(0, middle.pop())
    return "/".join([first, "…", *kept])


def wrap(text: str, columns: int, hang: int, *, start: str = "") -> str:
    """A text in lines of at most so many columns, set in behind the first.

    What stands in backticks is a command to copy: it is never broken, and no word is.
    """
    whole = start + text
    if columns < _NARROWEST or len(whole) <= columns:
        return whole
    lines = textwrap.wrap(
        start.replace(" ", _HARD_BLANK) + _keep_commands(text),
        columns,
        subsequent_indent=" " * hang,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines).replace(_HARD_BLANK, " ")


def _keep_commands(text: str) -> str:
    """The text with hard blanks in its commands."""
    parts = text.split("`")
    for number in range(1, len(parts) - 1, 2):
        parts[number] = parts[number].replace(" ", _HARD_BLANK)
    return "`".join(parts)


def paint_diff(line: str, stream: TextIO | None) -> str:
    """A line of a diff in its colour, at a terminal."""
    colour = _DIFF_COLOURS.get(line[:1])
    if colour is None or not has_colours(stream):
        return line
    return f"\033[{colour}m{line}\033[0m"
