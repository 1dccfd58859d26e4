"""The settings file moves, or links to it come and go: what the ledger knows of it goes along."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put

BEFORE = '{\n    "model": "opus",\n    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "bell"}]}]}\n}'


def folder_becomes_a_link(settings: Path) -> None:
    dotfiles = settings.parents[1] / "dotfiles"
    settings.parent.rename(dotfiles)
    settings.parent.symlink_to(dotfiles)


def file_becomes_a_link(settings: Path) -> None:
    target = settings.parents[1] / "dotfiles" / "claude.json"
    target.parent.mkdir()
    settings.rename(target)
    settings.symlink_to(target)


def link_becomes_a_file(settings: Path) -> None:
    data = settings.read_bytes()
    settings.unlink()
    settings.write_bytes(data)


MOVES: list[tuple[bool, Callable[[Path], None]]] = [
    (False, folder_becomes_a_link),
    (False, file_becomes_a_link),
    (True, link_becomes_a_file),
]


@pytest.fixture(params=MOVES, ids=lambda case: case[1].__name__)
def moved(request: pytest.FixtureRequest, settings: Path, hookctl: Hookctl) -> Path:
    """Settings with the guard installed, which have been moved since."""
    linked, move = request.param
    put(settings, BEFORE)
    if linked:
        target = put(settings.parents[1] / "old" / "claude.json", BEFORE)
        settings.unlink()
        settings.symlink_to(target)
    assert hookctl("install", "--host", "claude").code == 0
    move(settings)
    return settings


def test_uninstall_gives_the_bytes_back(isolated: Path, moved: Path, hookctl: Hookctl) -> None:
    assert hookctl("uninstall").code == 0
    assert moved.read_text() == BEFORE
    assert not (isolated / "data").exists()
    assert json.loads((isolated / "state" / "ledger.json").read_text())["files"] == {}


def test_install_finds_its_own_and_the_ledger_follows(isolated: Path, moved: Path, hookctl: Hookctl) -> None:
    installed = moved.read_bytes()
    assert hookctl("install", "--host", "claude").code == 0
    assert moved.read_bytes() == installed
    assert list(json.loads((isolated / "state" / "ledger.json").read_text())["files"]) == [str(moved.resolve())]
    assert [path.name for path in (isolated / "data" / "guard").iterdir()] == ["claude-user"]
    assert hookctl("install", "--host", "claude").out.endswith("nothing to do\n")
    assert hookctl("uninstall", "--all", "--json").code == 0
    assert moved.read_text() == BEFORE


def test_status_and_doctor_see_one_file(moved: Path, hookctl: Hookctl) -> None:
    (page,) = hookctl("status", "--json").data["files"]
    assert page["file"] == str(moved) and {entry["state"] for entry in page["entries"]} == {"owned"}
    findings = hookctl("doctor", "--json").data["findings"]
    assert [finding for finding in findings if finding["level"] != "info"] == []


def test_folders_that_were_made_go_again(
    isolated: Path, settings: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOKCTL_DATA_DIR", str(isolated / "home" / "share" / "deep" / "hookctl"))
    hookctl("install", "--host", "claude")
    hookctl("install", "--host", "claude", "--set", "latch=no")
    assert hookctl("uninstall").code == 0
    assert list((isolated / "home").iterdir()) == []


def test_a_comment_in_a_file_that_we_made_is_not_removed_with_it(settings: Path, hookctl: Hookctl) -> None:
    hookctl("install", "--host", "claude")
    settings.write_text("// my note\n" + settings.read_text())
    assert hookctl("uninstall").code == 0
    assert settings.read_text() == "// my note\n{}\n"


def test_a_file_that_was_made_anew_is_the_operators(settings: Path, hookctl: Hookctl) -> None:
    hookctl("install", "--host", "claude")
    settings.unlink()
    put(settings, "{}")
    assert hookctl("uninstall").code == 0
    assert settings.read_text() == "{}"


def test_what_a_lost_ledger_leaves_is_removed_where_it_is_surely_ours(
    isolated: Path, settings: Path, hookctl: Hookctl
) -> None:
    hookctl("install", "--host", "claude")
    (isolated / "state" / "ledger.json").unlink()
    assert hookctl("uninstall").code == 0
    assert not (isolated / "data").exists()
    assert "hookctl" not in settings.read_text().replace("HOOKCTL", "")
