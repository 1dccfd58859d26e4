"""Every command at a real terminal, in tests/screens/: nothing is wider than it, and the files are fresh."""

from __future__ import annotations

import pytest

from . import screens

# What people look at whole, or copy: commands, diffs, and text for another file.
_WHOLE = ("$ ", "+", "-", "@", "  in hooks.")


@pytest.mark.parametrize("kind", screens.KINDS)
def test_the_first_hour_looks_as_in_its_file(kind: str) -> None:
    """`python -m tests.screens --write` takes it anew; look at the difference."""
    assert screens.play(kind) == (screens.FOLDER / f"{kind}.txt").read_text()


@pytest.mark.parametrize("kind", screens.KINDS)
def test_every_line_fits(kind: str) -> None:
    columns = int(kind.partition("-")[0])
    lines = (screens.FOLDER / f"{kind}.txt").read_text().splitlines()
    shown = [screens.visible(line) for line in lines]
    assert [line for line in shown if len(line) > columns and not line.startswith(_WHOLE)] == []


def test_colours_say_nothing_that_words_do_not() -> None:
    coloured, plain = ((screens.FOLDER / f"{kind}.txt").read_text() for kind in ("80", "80-plain"))
    assert "<green>" in coloured and "<" not in plain.replace("<project>", "").replace("<(", "")
    symbols = {"✓ ": "ok    ", "! ": "warn  ", "✗ ": "error ", "- ": "skip  "}
    marks = [line[:2] for line in map(screens.visible, coloured.splitlines()) if line[:2] in symbols]
    words = [line[:6] for line in plain.splitlines() if line[:6] in symbols.values()]
    assert [symbols[mark] for mark in marks] == words and len(words) > 10
