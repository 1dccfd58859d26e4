"""status and doctor speak of the user's own files and of this project; of others only with --all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Hookctl, put

pytestmark = pytest.mark.usefixtures("fixed_python")


def tear_record(project: Path) -> None:
    put(project / ".hookctl" / "ledger.json", "<<<<<<< mine\n")


def link_settings(project: Path) -> None:
    (project / ".claude" / "settings.local.json").symlink_to("settings.json")


def wipe_settings(project: Path) -> None:
    put(project / ".claude" / "settings.json", "{}")


def lose_program(project: Path) -> None:
    (project / ".hookctl" / "guard" / "claude" / "hook.py").unlink()


BREAKS = [tear_record, link_settings, wipe_settings, lose_program]


@pytest.fixture
def projects(isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two projects with the guard, and the first is the working folder."""
    found = isolated / "here", isolated / "there"
    for project in found:
        (project / ".git").mkdir(parents=True)
        assert hookctl("install", "--host", "claude", "--scope", "project", "--project", str(project)).code == 0
    monkeypatch.chdir(found[0])
    assert hookctl("install", "--host", "claude").code == 0
    return found


@pytest.mark.parametrize("broken", BREAKS)
@pytest.mark.parametrize("verb", ["status", "doctor"])
def test_what_is_wrong_in_another_project_is_said_only_if_asked_for(
    verb: str, broken: Callable[[Path], None], projects: tuple[Path, Path], hookctl: Hookctl
) -> None:
    broken(projects[1])
    done = hookctl(verb)
    assert (done.code, str(projects[1]) in done.out + done.err) == (0, False), done
    assert f"1 other project: `hookctl {verb} --all` shows it" in done.out
    assert hookctl(verb, "--json").data["other_projects"] == 1
    every = hookctl(verb, "--all")
    assert str(projects[1]) in every.out + every.err and "other project:" not in every.out
    assert every.code != 0 or verb == "status"


@pytest.mark.parametrize("broken", BREAKS)
def test_what_is_wrong_here_is_said(
    broken: Callable[[Path], None], projects: tuple[Path, Path], hookctl: Hookctl
) -> None:
    broken(projects[0])
    assert hookctl("doctor").code == 1
    there = hookctl("doctor", "--project", str(projects[1]))
    assert (there.code, str(projects[0]) in there.out) == (0, False), there


@pytest.mark.parametrize("broken", [tear_record, link_settings])
def test_no_command_for_the_user_s_own_files_fails_for_another_project(
    broken: Callable[[Path], None], projects: tuple[Path, Path], isolated: Path, hookctl: Hookctl,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    broken(projects[1])
    (isolated / "elsewhere").mkdir()
    monkeypatch.chdir(isolated / "elsewhere")
    for command in ("install --host claude", "upgrade", "status", "doctor", "uninstall --host claude"):
        assert hookctl(*command.split()).code == 0, command
    assert str(projects[1]) in hookctl("upgrade").err
    assert hookctl("upgrade", "--project", str(projects[1])).code == 4


def test_fix_mends_what_is_here_and_everything_with_all(projects: tuple[Path, Path], hookctl: Hookctl) -> None:
    lose_program(projects[1])
    lost = projects[1] / ".hookctl" / "guard" / "claude" / "hook.py"
    assert hookctl("doctor", "--fix").code == 0 and not lost.exists()
    assert hookctl("doctor", "--fix", "--all").code == 0 and lost.exists()


def test_status_lists_no_file_of_another_project(projects: tuple[Path, Path], hookctl: Hookctl) -> None:
    files = {file["project"] for file in hookctl("status", "--json").data["files"]}
    assert files == {None, str(projects[0])}
    every = {file["project"] for file in hookctl("status", "--all", "--json").data["files"]}
    assert every == {None, *map(str, projects)}
    assert json.loads(hookctl("status", "--all", "--json").out)["data"]["other_projects"] == 0
