"""Backups end: a month after the uninstall, with any command that writes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put

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
