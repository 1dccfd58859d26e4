"""restore shows and asks before it undoes later edits; the list of backups is in order of time."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put

THEIRS = '{"model": "m"}\n'
LATER = '"model": "later"'
GUARD = ("install", "--host", "claude")


@pytest.fixture
def edited(hookctl: Hookctl, settings: Path, fixed_python: None) -> str:
    """A settings file that somebody edited after hookctl's last write."""
    put(settings, THEIRS)
    assert hookctl(*GUARD).code == 0
    put(settings, settings.read_text().replace('"model": "m"', LATER))
    return str(settings)


def answer(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(text))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_where_nobody_is_asked_later_edits_stay(edited: str, hookctl: Hookctl, options: tuple[str, ...]) -> None:
    outcome = hookctl("restore", edited, *options, agrees=False)
    assert outcome.code == 2
    assert "undo edits that hookctl did not make" in outcome.out + outcome.err
    assert "--yes" in outcome.out + outcome.err
    assert LATER in Path(edited).read_text()


def test_a_person_sees_the_diff_and_says_no(edited: str, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch, "n\n")
    outcome = hookctl("restore", edited, agrees=False)
    assert f"\n-{{{LATER}" in outcome.err, "each line of the diff is a line"
    assert "\nGo on? [y/N] " in outcome.err
    assert LATER in Path(edited).read_text()


@pytest.mark.parametrize("options", [(), ("--yes",)])
def test_or_yes(edited: str, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]) -> None:
    answer(monkeypatch, "y\n")
    assert hookctl("restore", edited, *options, agrees=False).code == 0
    assert Path(edited).read_text() == THEIRS


@pytest.mark.parametrize("change", ["MAX_STOP_BLOCKS=9", "MAX_STOP_BLOCKS=5"])
def test_an_edit_between_two_writes_of_hookctl_is_asked_for_too(edited: str, hookctl: Hookctl, change: str) -> None:
    # The second install wrote nothing, or something, and knows the text either way.
    assert hookctl(*GUARD, "--set", change).code == 0
    assert hookctl("restore", edited, agrees=False).code == 2
    assert LATER in Path(edited).read_text()


def test_the_way_back_is_named(edited: str, hookctl: Hookctl) -> None:
    before = Path(edited).read_text()
    outcome = hookctl("restore", edited, "--yes", agrees=False)
    undo, then = outcome.out.splitlines()[-1].removeprefix("To undo: hookctl ").split("; hookctl ")
    assert hookctl(*undo.split(), "--yes", agrees=False).code == 0
    assert hookctl(*then.split()).code == 0
    assert hookctl("doctor").code == 0
    assert Path(edited).read_text() == before


def test_what_hookctl_wrote_itself_is_put_back_without_a_question(
    hookctl: Hookctl, settings: Path, fixed_python: None
) -> None:
    put(settings, THEIRS)
    assert hookctl(*GUARD).code == 0
    assert hookctl("restore", str(settings), agrees=False).code == 0
    assert settings.read_text() == THEIRS
    settings.unlink()
    assert hookctl("restore", str(settings), agrees=False).code == 0


def test_the_list_is_in_order_of_time_after_a_second_install(
    hookctl: Hookctl, settings: Path, fixed_python: None
) -> None:
    texts = [f'{{"model": "{name}"}}\n' for name in "dacbe"]  # their digests are in no order
    for text in texts:
        put(settings, text)
        assert hookctl(*GUARD).code == 0
        assert hookctl("uninstall").code == 0
    backups = hookctl("restore", str(settings), "--list", "--json").data["backups"]
    times = [backup["t"] for backup in backups]
    assert times == sorted(times)
    shown = hookctl("restore", str(settings), "--list").out.splitlines()[2:]
    assert [int(line.split()[0]) for line in shown] == [backup["n"] for backup in backups]
    assert [backup["n"] for backup in backups if backup["first"]] == [1], "a number stays what it is"
