"""The settings file moves, or links to it come and go: what the ledger knows of it goes along."""

from __future__ import annotations

import json
import os
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


MOVES: list[Callable[[Path], None]] = [folder_becomes_a_link, file_becomes_a_link]


@pytest.fixture(params=MOVES, ids=lambda move: move.__name__)
def moved(request: pytest.FixtureRequest, settings: Path, hookctl: Hookctl) -> Path:
    """Settings with the guard installed, which have been moved since."""
    put(settings, BEFORE)
    assert hookctl("install", "--host", "claude").code == 0
    request.param(settings)
    return settings


def test_uninstall_gives_the_bytes_back(isolated: Path, moved: Path, hookctl: Hookctl) -> None:
    assert hookctl("uninstall").code == 0
    assert moved.read_text() == BEFORE
    assert not (isolated / "data").exists()
    assert json.loads((isolated / "state" / "ledger.json").read_text())["files"] == {}


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


def install(hookctl: Hookctl, *options: str) -> None:
    outcome = hookctl("install", "--host", "claude", *options)
    assert outcome.code == 0, outcome


def uninstall(hookctl: Hookctl, *options: str) -> None:
    outcome = hookctl("uninstall", *options)
    assert outcome.code == 0, outcome


def test_a_link_that_leads_elsewhere_since_leaves_the_page_with_the_file(settings: Path, hookctl: Hookctl) -> None:
    first, second = (put(settings.parents[1] / name, f'{{"{name}": 1}}') for name in ("first", "second"))
    put(settings, "")
    settings.unlink()
    settings.symlink_to(first)
    install(hookctl)
    settings.unlink()
    settings.symlink_to(second)
    assert "nothing to do" in hookctl("uninstall").out
    install(hookctl)
    uninstall(hookctl, "--all", "--json")
    assert (first.read_text(), second.read_text()) == ('{"first": 1}', '{"second": 1}')


def test_a_lost_ledger_takes_no_other_registrations_files(
    isolated: Path, settings: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(hookctl)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(isolated / "other"))
    install(hookctl)
    (isolated / "state" / "ledger.json").unlink()
    uninstall(hookctl)
    (left,) = (isolated / "data" / "guard").iterdir()
    assert str(left / "hook.py") in settings.read_text()


def test_backups_stay_as_long_as_a_page_needs_them(isolated: Path, settings: Path, hookctl: Hookctl) -> None:
    put(settings, "\n")
    install(hookctl)
    for path in (isolated / "state" / "backups").rglob("*"):
        os.utime(path, (0, 0))
    file_becomes_a_link(settings)
    install(hookctl)
    for path in (isolated / "state" / "backups").rglob("*"):
        os.utime(path, (0, 0))
    install(hookctl, "--set", "latch=no")
    uninstall(hookctl)
    assert settings.read_text() == "\n"


def test_backups_stay_for_a_month_after_the_uninstall(
    isolated: Path, settings: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(settings, BEFORE)
    install(hookctl)
    backups = isolated / "state" / "backups"
    for path in backups.rglob("*"):
        os.utime(path, (0, 0))
    settings.unlink()
    uninstall(hookctl)
    assert [path for path in backups.rglob("first-*") if path.read_text() == BEFORE]
    for path in backups.rglob("*"):
        os.utime(path, (0, 0))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(isolated / "other"))
    install(hookctl)
    assert list(backups.rglob("first-*")) == []


def test_a_settings_file_of_odd_shapes_does_not_upset_a_guard_that_is_off(settings: Path, hookctl: Hookctl) -> None:
    put(settings, '{"env": "x", "hooks": 3}')
    install(hookctl, "--mode", "off")
    assert hookctl("status").code == 0
    uninstall(hookctl)
    assert settings.read_text() == '{"env": "x", "hooks": 3}'


def test_two_pages_that_the_host_calls_the_same_are_both_taken_out(
    isolated: Path, settings: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = put(isolated / "other" / "settings.json", '{"b": 1}')
    put(settings, BEFORE)
    install(hookctl)
    with monkeypatch.context() as patch:
        patch.setenv("CLAUDE_CONFIG_DIR", str(other.parent))
        install(hookctl)
    settings.parent.rename(isolated / "away")
    settings.parent.symlink_to(other.parent)
    install(hookctl)
    uninstall(hookctl, "--all", "--json")
    assert other.read_text() == '{"b": 1}'
    assert json.loads((isolated / "state" / "ledger.json").read_text())["files"] == {}


def test_files_that_another_registration_runs_stay(isolated: Path, settings: Path, hookctl: Hookctl) -> None:
    """hookctl gives each its own folder; a ledger that was put together by hand may say otherwise."""
    install(hookctl)
    ledger = isolated / "state" / "ledger.json"
    pages = json.loads(ledger.read_text())
    elsewhere = "/elsewhere/settings.json"
    pages["files"][elsewhere] = {**pages["files"][str(settings)], "known_as": elsewhere}
    ledger.write_text(json.dumps(pages))
    uninstall(hookctl)
    assert (isolated / "data" / "guard" / "claude-user" / "hook.py").exists()


# A project at local scope, with a pack of somebody's


BELL = """\
[pack]
name = "bell"
version = "1"

[files]
include = ["ring.sh"]

[env]
BELL = "1"
"""
HOOK = '[[hooks]]\nevent = "stop"\ncommand = "{command}"\n'
COMMANDS = {"its own file": "{files}/ring.sh", "any": "true", "none": ""}


@pytest.fixture(params=COMMANDS)
def pack(request: pytest.FixtureRequest, isolated: Path) -> str:
    """A pack whose hook runs its file, any command, or that has no hook at all."""
    put(isolated / "bell" / "ring.sh", "")
    command = COMMANDS[request.param]
    return str(put(isolated / "bell" / "pack.toml", BELL + (HOOK.replace("{command}", command) if command else "")))


def local(project: Path) -> Path:
    return project / ".claude" / "settings.local.json"


def in_project(project: Path) -> tuple[str, ...]:
    return ("--scope", "local", "--project", str(project))


@pytest.mark.parametrize("first", ["install", "uninstall", "all"])
def test_a_pack_is_found_after_its_project_moved(isolated: Path, hookctl: Hookctl, pack: str, first: str) -> None:
    old, new = isolated / "old", isolated / "new"
    put(local(old), '{"env": { }}')
    install(hookctl, pack, *in_project(old))
    old.rename(new)
    if first != "uninstall":
        assert hookctl("install", pack, "--host", "claude", *in_project(new), "--json").data["actions"] == []
        assert list(json.loads((isolated / "state" / "ledger.json").read_text())["files"]) == [str(local(new))]
        assert len(list((isolated / "data").rglob("ring.sh"))) == 1
    uninstall(hookctl, *(("--all", "--json") if first == "all" else ("bell", *in_project(new))))
    assert local(new).read_text() == '{"env": { }}'
    assert not (isolated / "data").exists()
    assert json.loads((isolated / "state" / "ledger.json").read_text())["files"] == {}


def test_a_pack_in_a_file_that_was_edited_after_the_move_is_found_by_its_hook(
    isolated: Path, hookctl: Hookctl, pack: str
) -> None:
    old, new = isolated / "old", isolated / "new"
    put(local(old), '{"env": {"A": "1"}}')
    install(hookctl, pack, *in_project(old))
    old.rename(new)
    put(local(new), local(new).read_text().replace('"A": "1"', '"A": "2"'))
    uninstall(hookctl, pack, *in_project(new))
    hookless = "hooks" not in Path(pack).read_text()  # then nothing shows whose the value is
    assert json.loads(local(new).read_text()) == {"env": {"A": "2", **({"BELL": "1"} if hookless else {})}}


def test_a_copy_of_a_project_does_not_take_the_page_of_one_that_is_there(isolated: Path, hookctl: Hookctl) -> None:
    pack = str(put(isolated / "bell.toml", BELL.replace('[files]\ninclude = ["ring.sh"]\n', "")))
    old, new = isolated / "old", isolated / "new"
    put(local(old), '{"env": {"A": "1"}}')
    install(hookctl, pack, *in_project(old))
    put(local(new), local(old).read_bytes())
    local(old).unlink()  # the next install puts it back, and that is in the ledger
    install(hookctl, pack, *in_project(new))
    assert str(local(old)) in json.loads((isolated / "state" / "ledger.json").read_text())["files"]


def test_of_two_projects_that_are_gone_neither_is_taken_for_one_with_the_same_hook(
    isolated: Path, hookctl: Hookctl
) -> None:
    plain = BELL.replace('[files]\ninclude = ["ring.sh"]\n', "") + HOOK.replace("{command}", "true")
    pack = str(put(isolated / "bell.toml", plain))
    for name in ("one", "two"):
        put(local(isolated / name), f'{{"env": {{"NAME": "{name}"}}}}')
        install(hookctl, pack, *in_project(isolated / name))
    (isolated / "one").rename(isolated / "new")
    (isolated / "two").rename(isolated / "gone")
    put(local(isolated / "new"), local(isolated / "new").read_text().replace("one", "neither"))
    install(hookctl, pack, *in_project(isolated / "new"))
    assert len(json.loads((isolated / "state" / "ledger.json").read_text())["files"]) == 3


def test_a_page_of_another_scope_is_not_taken(isolated: Path, settings: Path, hookctl: Hookctl) -> None:
    pack = str(put(isolated / "bell.toml", BELL.replace('[files]\ninclude = ["ring.sh"]\n', "")))
    install(hookctl, pack)
    put(local(isolated / "new"), settings.read_bytes())
    settings.unlink()
    install(hookctl, pack, *in_project(isolated / "new"))
    pages = json.loads((isolated / "state" / "ledger.json").read_text())["files"]
    assert {path: page["scope"] for path, page in pages.items()} == {
        str(settings): "user", str(local(isolated / "new")): "local"
    }  # fmt: skip
