"""How lines are shown: wrapped at the width of a terminal, with marks and colours only there."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookctl.model import Line
from hookctl.output import lines

PROSE = st.text(alphabet="abc `\u00e9", max_size=200)


class Terminal(io.StringIO):
    encoding = "utf-8"  # type: ignore[assignment]

    def isatty(self) -> bool:
        return True


@pytest.fixture
def coloured(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal of 80 columns whose owner minds no colours."""
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return Terminal()


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("+ new", "\033[32m+ new\033[0m"), ("- old", "\033[31m- old\033[0m"), ("@@ -1", "\033[36m@@ -1\033[0m"),
        (" same", " same"),
    ],
)  # fmt: skip
def test_a_diff_has_colours_at_a_terminal(coloured: Terminal, line: str, shown: str) -> None:
    assert lines.render(line, coloured) == shown
    assert lines.render(line, io.StringIO()) == line


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_who_minds_colours_gets_words(
    coloured: Terminal, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert lines.render(Line("done", "ok"), coloured) == "ok    done"
    assert lines.render("+ new", coloured) == "+ new"


@pytest.mark.parametrize(
    ("mark", "symbol", "word"),
    [("ok", "\u2713", "ok    "), ("warn", "!", "warn  "), ("error", "\u2717", "error "), ("skip", "-", "skip  ")],
)  # fmt: skip
def test_a_mark_is_a_symbol_at_a_terminal_and_a_word_elsewhere(
    coloured: Terminal, mark: str, symbol: str, word: str
) -> None:
    shown = lines.render(Line("text", mark), coloured)
    assert re.sub(r"\033\[\d+m", "", shown) == f"{symbol} text"
    assert shown != f"{symbol} text"
    assert lines.render(Line("text", mark), io.StringIO()) == f"{word}text"


def test_a_terminal_without_the_symbols_gets_words(coloured: Terminal) -> None:
    coloured.encoding = "latin-1"  # type: ignore[misc]
    assert re.sub(r"\033\[\d+m", "", lines.render(Line("text", "ok"), coloured)) == "ok    text"


@given(PROSE, st.integers(40, 120), st.integers(0, 8))
def test_no_line_is_wider_than_asked_unless_a_word_or_command_is(text: str, columns: int, hang: int) -> None:
    shown = lines.wrap(text, columns, hang)
    whole = re.findall(r"`[^`]*`|[^ `]+", text)
    longest = hang + max((len(part) for part in re.findall(r"(?:`[^`]*`|[^ ])+", text)), default=0)
    assert all(len(line) <= max(columns, longest) for line in shown.split("\n")), whole
    assert "".join(shown.split()) == "".join(text.split())


def test_a_command_stays_on_one_line() -> None:
    text = "x" * 30 + " and then run `hookctl run remaining 3` here"
    assert lines.wrap(text, 50, 2) == "x" * 30 + " and then run\n  `hookctl run remaining 3` here"


def test_a_line_that_nobody_sees_at_a_terminal_keeps_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    text = "word " * 60
    assert lines.render(Line(text), io.StringIO()) == text


@pytest.mark.parametrize(
    ("path", "columns", "shown"),
    [
        ("~/a/b", 10, "~/a/b"), ("~/one/two/three/four", 16, "~/\u2026/three/four"), ("/x/one/two", 6, "/\u2026/two"),
        ("averylongname", 5, "averylongname"),
    ],
)  # fmt: skip
def test_a_path_loses_its_middle(path: str, columns: int, shown: str) -> None:
    assert lines.shorten(path, columns).replace("//", "/") == shown


def test_a_path_that_does_not_fit_gets_a_line_of_its_own(coloured: Terminal) -> None:
    shown = lines.render(Line("a " * 30, "ok", path="~/" + "b" * 40), coloured)
    assert [len(line) <= 80 for line in re.sub(r"\033\[\d+m", "", shown).split("\n")] == [True, True]
