"""Uninstall in a clone of a project that somebody else has committed: nothing of hookctl stays."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put

PROJECT = ("--host", "claude", "--scope", "project")

pytestmark = pytest.mark.usefixtures("fixed_python")


@pytest.fixture
def clone(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Path]:
    """Go over to a clone of the project, as another person with a state of their own."""

    def go() -> Path:
        clone = isolated / "clone"
        shutil.copytree(isolated / "work", clone)
        for folder in sorted(clone.rglob("*"), reverse=True):
            if folder.is_dir() and not any(folder.iterdir()) and folder.name != ".git":
                folder.rmdir()  # git keeps no empty folder
        for name in ("HOME", "HOOKCTL_STATE_DIR", "HOOKCTL_DATA_DIR"):
            monkeypatch.setenv(name, str(isolated / "other" / name))
        (isolated / "other" / "HOME").mkdir(parents=True)
        monkeypatch.chdir(clone)
        return clone

    (isolated / "work" / ".git").mkdir()
    return go


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("everywhere", [False, True])
def test_nothing_stays(everywhere: bool, clone: Callable[[], Path], hookctl: Hookctl) -> None:
    assert hookctl("install", *PROJECT).code == 0
    folder = clone()
    assert hookctl("uninstall", *(["--all", "--yes"] if everywhere else ["--scope", "project"])).code == 0
    assert names(folder) == [".git"]


def test_a_folder_that_a_run_had_made_before_the_install_goes_too(
    isolated: Path, clone: Callable[[], Path], hookctl: Hookctl
) -> None:
    assert hookctl("run", "remaining", "1").code == 0
    assert hookctl("install", *PROJECT).code == 0
    (isolated / "work" / ".hookctl" / "run" / "task.json").unlink()  # git does not know it
    folder = clone()
    assert hookctl("uninstall", "--scope", "project").code == 0
    assert names(folder) == [".git"]


def test_a_run_under_way_stays(clone: Callable[[], Path], hookctl: Hookctl) -> None:
    assert hookctl("install", *PROJECT).code == 0
    folder = clone()
    task = put(folder / ".hookctl" / "run" / "task.json", "{}")
    assert hookctl("uninstall", "--scope", "project").code == 0
    assert task.exists() and (folder / ".hookctl" / ".gitignore").exists()
