"""hookctl restore at a terminal, and its backups; what it puts back: tests/stories/restore-*.txt."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from hookctl.system import files, folders
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


def test_what_changes_after_the_answer_is_not_undone(
    edited: str, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    def agree(question: str) -> bool:
        put(Path(edited), Path(edited).read_text().replace(LATER, '"model": "still later"'))
        return bool(question)

    monkeypatch.setattr("hookctl.verbs.restore.confirm", agree)
    outcome = hookctl("restore", edited, agrees=False)
    assert (outcome.code, "what you agreed to has changed meanwhile" in outcome.err) == (1, True)
    assert "still later" in Path(edited).read_text()


def test_a_command_of_ours_with_an_earlier_python_is_no_edit(
    hookctl: Hookctl, settings: Path, fixed_python: None
) -> None:
    put(settings, THEIRS)
    assert hookctl(*GUARD).code == 0
    earlier = re.sub(r"\[ -x (\S+) \] && \1 ", "[ -x /earlier/python3 ] && /earlier/python3 ", settings.read_text())
    put(settings, earlier)
    assert hookctl(*GUARD, "--set", "max_stop_blocks=9").code == 0
    assert hookctl("restore", str(settings), "--to", "2").code == 0
    assert settings.read_text() == earlier
    assert "kept" not in hookctl("uninstall").out
    assert settings.read_text() == THEIRS


def pages(settings: Path) -> list[Path]:
    """What lies beside the backups of a settings file: the ledger's pages of then."""
    return sorted(Path(files.backup_folder(folders.here(), str(settings))).glob("*.page"))


def test_pages_lie_beside_their_backups_for_nobody_else(settings: Path, hookctl: Hookctl) -> None:
    put(settings, THEIRS)
    for limit in range(5, 5 + files.KEEP + 3):
        assert hookctl("install", "--host", "claude", "--set", f"max_stop_blocks={limit}").code == 0
    assert len(pages(settings)) == files.KEEP
    assert {page.stat().st_mode & 0o777 for page in pages(settings)} == {0o600}
    assert all(page.with_suffix("").exists() for page in pages(settings))


# Backups end: a month after the uninstall, with any command that writes.


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
