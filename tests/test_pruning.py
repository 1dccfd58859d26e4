"""Backups end: a month after the uninstall with any command that writes, or with `restore --prune`, which asks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hookctl.commands import files
from tests.conftest import Hookctl, put
from tests.disk import tree

THEIRS = '{"model": "m"}\n'

pytestmark = pytest.mark.usefixtures("fixed_python")


@pytest.fixture
def backups(isolated: Path, settings: Path, hookctl: Hookctl) -> Path:
    """The folder of backups, with those of a file in which nothing is installed any more."""
    put(settings, THEIRS)
    assert hookctl("install", "--host", "claude").code == 0
    assert hookctl("uninstall").code == 0
    return isolated / "state" / "backups"


def age(folder: Path, days: float) -> None:
    for path in folder.rglob("*"):
        moment = path.stat().st_mtime - days * 24 * 3600
        os.utime(path, (moment, moment))


def kept(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("verb", [("install", "--host", "qwen"), ("uninstall", "--host", "qwen")])
@pytest.mark.parametrize(("days", "stays"), [(29, True), (31, False)])
def test_a_writing_command_removes_them_after_a_month(
    days: float, stays: bool, verb: tuple[str, ...], backups: Path, settings: Path, hookctl: Hookctl
) -> None:
    if verb[0] == "uninstall":
        assert hookctl("install", "--host", "qwen").code == 0
    age(backups, days)
    assert hookctl(*verb).code == 0
    assert any(path.read_text() == THEIRS for path in kept(backups)) == stays


def test_prune_lists_and_asks(backups: Path, settings: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(files, "confirm", lambda question: asked.append(question) or True)
    assert hookctl("restore", "--prune").code == 0
    assert "~/.claude/settings.json: would remove" in asked[0]
    assert kept(backups) == []


def test_without_a_terminal_it_needs_yes(backups: Path, isolated: Path, hookctl: Hookctl) -> None:
    before = tree(isolated)
    for arguments in (("--prune",), ("--prune", "--json")):
        outcome = hookctl("restore", *arguments)
        assert (outcome.code, "--yes" in outcome.out + outcome.err) == (2, True), outcome
    assert hookctl("restore", "--prune", "--dry-run").code == 0
    assert tree(isolated) == before
    assert hookctl("restore", "--prune", "--yes").code == 0
    assert kept(backups) == []


def test_where_there_is_nothing_it_does_not_ask(hookctl: Hookctl) -> None:
    assert hookctl("restore", "--prune").out == "nothing to do\n"
