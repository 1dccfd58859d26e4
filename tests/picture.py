"""Draws docs/demo.svg, the picture of the README, from a real `hookctl demo`: `python -m tests.picture`."""

from __future__ import annotations

import tempfile
from html import escape
from pathlib import Path

from tests.screens import at_a_terminal, home_in

PICTURE = Path(__file__).parents[1] / "docs" / "demo.svg"
COLUMNS = 80
_LINE, _TOP, _LEFT, _CHARACTER = 19, 44, 20, 8.4  # pixels
_PLAIN = "#c9d1d9"
_COLOURS = {"you": "#7ee787", "agent": "#79c0ff", "guard": "#ffa657"}


def shown() -> list[str]:
    """The lines of a real run, without colours."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="picture-") as folder:
        environ, project = home_in(Path(folder), {"NO_COLOR": "1"})
        text = at_a_terminal("hookctl demo --fast", COLUMNS, environ, project)
    return text.rstrip("\n").split("\n")


def picture() -> str:
    """The run as a drawing of a terminal."""
    lines = ["$ hookctl demo", *shown()]
    width, height = int(COLUMNS * _CHARACTER + 2 * _LEFT), _TOP + _LINE * len(lines)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" aria-label="hookctl demo at a terminal">',
        f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
    ]
    for at, colour in enumerate(("#ff5f56", "#ffbd2e", "#27c93f")):
        parts.append(f'<circle cx="{20 + 20 * at}" cy="18" r="6" fill="{colour}"/>')
    parts.append('<g font-family="ui-monospace,Menlo,Consolas,monospace" font-size="14">')
    colour = _PLAIN
    for at, line in enumerate(lines):
        if not line.startswith("       "):  # else it goes on with what somebody says
            colour = _COLOURS.get(line.partition(" ")[0], _PLAIN)
        if line:
            text = escape(line).replace(" ", "\u00a0")  # browsers make one of several plain blanks
            parts.append(f'<text x="{_LEFT}" y="{_TOP + _LINE * at}" fill="{colour}">{text}</text>')
    return "\n".join([*parts, "</g>", "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(picture())
