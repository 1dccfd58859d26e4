"""hookctl restore: an earlier text of a settings file, with the ledger and the packs' files brought in line."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from hookctl.system import backups, files, folders
from tests.conftest import Hookctl, put

THEIRS = b'{\n    "model": "m",  "env": {"A": "1"}\n}'


def stages(settings: Path, hookctl: Hookctl) -> tuple[bytes, bytes]:
    """The operator's file with the guard installed, then with another limit."""
    put(settings, THEIRS)
    assert hookctl("install", "--host", "claude").code == 0
    first = settings.read_bytes()
    assert hookctl("install", "--host", "claude", "--set", "max_stop_blocks=9").code == 0
    return first, settings.read_bytes()


def own_files(isolated: Path) -> list[str]:
    files = [path for path in (isolated / "data").rglob("*") if path.is_file()]
    return [path.name for path in files if not path.parent.name.startswith("guard_")]


def states(hookctl: Hookctl) -> dict[tuple[str, ...], str]:
    """The state of each entry in the only settings file."""
    return {tuple(e["path"]): e["state"] for e in hookctl("status", "--json").data["files"][0]["entries"]}


def pages(settings: Path) -> list[Path]:
    """What lies beside the backups of a settings file: the ledger's pages of then."""
    return sorted(Path(backups.backup_folder(folders.here(), str(settings))).glob("*.page"))


LIMIT = ("env", "MAX_STOP_BLOCKS")


@pytest.mark.parametrize("then", ["uninstall", "install"])
def test_a_later_backup_comes_with_what_the_ledger_knew_of_it(
    settings: Path, isolated: Path, hookctl: Hookctl, then: str
) -> None:
    first, _ = stages(settings, hookctl)
    assert hookctl("restore", str(settings), "--to", "2").code == 0
    assert settings.read_bytes() == first
    assert set(states(hookctl).values()) == {"owned"}
    assert sorted(own_files(isolated)) == ["config.json", "hook.py"]
    if then == "install":
        assert hookctl("install", "--host", "claude").code == 0
        assert json.loads(settings.read_bytes())["env"]["MAX_STOP_BLOCKS"] == "9"  # as it was chosen last
    assert hookctl("uninstall").code == 0
    assert settings.read_bytes() == THEIRS
    assert own_files(isolated) == []


@pytest.mark.parametrize("text", [None, b"{", b'{"ledger_version": 2, "needs": "0.2.0", "files": {"": {}}}'])
def test_in_a_backup_without_a_page_our_own_older_values_are_the_operators(
    settings: Path, isolated: Path, hookctl: Hookctl, text: bytes | None
) -> None:
    first, _ = stages(settings, hookctl)
    for page in pages(settings):
        page.unlink() if text is None else page.write_bytes(text)
    assert hookctl("restore", str(settings), "--to", "2").code == 0
    assert settings.read_bytes() == first
    assert (states(hookctl)[("hooks", "Stop")], states(hookctl)[LIMIT]) == ("owned", "overridden")
    assert sorted(own_files(isolated)) == ["config.json", "hook.py"]
    assert hookctl("install", "--host", "claude").code == 0
    assert json.loads(settings.read_bytes())["env"]["MAX_STOP_BLOCKS"] == "5"
    assert hookctl("uninstall").code == 0
    assert json.loads(settings.read_bytes()) == {"model": "m", "env": {"A": "1", "MAX_STOP_BLOCKS": "5",
                                                 "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "8"}}  # fmt: skip


def test_a_value_that_was_taken_over_comes_back_after_a_restore_too(settings: Path, hookctl: Hookctl) -> None:
    theirs = b'{"env": {"MAX_STOP_BLOCKS": "\\u0034"}}'
    put(settings, theirs)
    assert hookctl("install", "--host", "claude", "--force").code == 0
    assert hookctl("install", "--host", "claude", "--set", "max_stop_blocks=9").code == 0
    put(settings, settings.read_bytes().replace(b'"9"', b'"7"'))
    assert hookctl("restore", str(settings), "--to", "2").code == 0
    assert hookctl("uninstall").code == 0
    assert settings.read_bytes() == theirs


@pytest.mark.parametrize("there", ["nothing", "folder", "file"])
def test_a_file_of_ours_that_comes_back_goes_with_the_uninstall_but_not_what_was_made_since(
    settings: Path, hookctl: Hookctl, there: str
) -> None:
    assert hookctl("install", "--host", "claude").code == 0
    assert hookctl("uninstall").code == 0
    assert not settings.parent.exists()
    if there == "folder":
        settings.parent.mkdir()
    if there == "file":
        put(settings, "")
    assert hookctl("restore", str(settings), "--to", "2").code == 0
    assert hookctl("uninstall").code == 0
    assert (settings.parent.exists(), settings.exists()) == (there != "nothing", there == "file")


def test_a_restored_text_that_only_we_wrote_goes_back_to_the_bytes_from_before(
    settings: Path, hookctl: Hookctl
) -> None:
    before = b'{"env": { }}'  # taking our keys out again would leave no blank
    put(settings, before)
    for limit in ("5", "9"):
        assert hookctl("install", "--host", "claude", "--set", f"max_stop_blocks={limit}").code == 0
    put(settings, settings.read_bytes() + b"\n")
    assert hookctl("restore", str(settings), "--to", "2").code == 0
    assert hookctl("uninstall").code == 0
    assert settings.read_bytes() == before


def test_pages_lie_beside_their_backups_for_nobody_else_and_go_with_them(settings: Path, hookctl: Hookctl) -> None:
    put(settings, THEIRS)
    for limit in range(5, 5 + backups.KEEP + 3):
        assert hookctl("install", "--host", "claude", "--set", f"max_stop_blocks={limit}").code == 0
    assert len(pages(settings)) == backups.KEEP
    assert {page.stat().st_mode & 0o777 for page in pages(settings)} == {0o600}
    assert all(page.with_suffix("").exists() for page in pages(settings))
    assert hookctl("restore", "--prune", "--yes").code == 0
    assert pages(settings) == []


def test_a_file_that_hookctl_made_has_nothing_from_before(settings: Path, hookctl: Hookctl) -> None:
    assert hookctl("install", "--host", "claude").code == 0
    made = settings.read_bytes()
    assert hookctl("install", "--host", "claude", "--set", "max_stop_blocks=9").code == 0
    now = settings.read_bytes()
    done = hookctl("restore", str(settings))
    assert (done.code, settings.read_bytes()) == (1, now)
    assert "there was no such file before hookctl's first write" in done.err
    assert [page["n"] for page in hookctl("restore", str(settings), "--list", "--json").data["backups"]] == [2]
    assert hookctl("restore", str(settings), "--to", "2").code == 0
    assert settings.read_bytes() == made


def test_the_list_says_what_is_there_and_changes_nothing(settings: Path, isolated: Path, hookctl: Hookctl) -> None:
    first, second = stages(settings, hookctl)
    listed = hookctl("restore", str(settings), "--list", "--json").data
    about = [(page["n"], page["first"], page["current"]) for page in listed["backups"]]
    assert about == [(1, True, False), (2, False, False)]
    assert [page["sha256"] for page in listed["backups"]] == [files.digest(THEIRS), files.digest(first)]
    put(settings, first)
    lines = hookctl("restore", str(settings), "--list").out.splitlines()
    assert "before hookctl's first write" in lines[2]
    assert lines[3].endswith("what is there now")
    assert settings.read_bytes() == first != second


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("{settings}", "--to", "7"), 2, "there is no backup 7"),
        (("{settings}", "--to", "0"), 2, "there is no backup 0"),
        (("{settings}", "--to", "x"), 2, "is not a valid"),
        (("{home}/other.json",), 1, "there is no backup of this file"),
        ((), 2, "which file?"),
    ],
)
def test_what_cannot_be_restored_is_said_and_nothing_happens(
    arguments: tuple[str, ...], code: int, said: str, settings: Path, isolated: Path, hookctl: Hookctl
) -> None:
    _, second = stages(settings, hookctl)
    done = hookctl("restore", *[text.format(settings=settings, home=isolated / "home") for text in arguments])
    assert (done.code, settings.read_bytes()) == (code, second)
    assert said in done.err
    assert str(settings).replace(str(isolated / "home"), "~") in done.err or code == 2


def test_it_goes_through_links_and_by_either_name(settings: Path, isolated: Path, hookctl: Hookctl) -> None:
    target = put(isolated / "dotfiles" / "claude.json", THEIRS)
    settings.parent.mkdir()
    settings.symlink_to(target)
    for name in (settings, target):
        assert hookctl("install", "--host", "claude").code == 0
        assert hookctl("restore", str(name)).code == 0
        assert target.read_bytes() == THEIRS
        assert settings.is_symlink()


def test_a_page_is_not_written_over_a_strangers_ledger_that_is_none(isolated: Path, hookctl: Hookctl) -> None:
    settings, scope = put(isolated / "work" / ".claude" / "settings.json", THEIRS), ("--scope", "project")
    committed = isolated / "work" / ".hookctl" / "ledger.json"
    assert hookctl("install", "--host", "claude", *scope).code == 0
    first = settings.read_bytes()
    assert hookctl("install", "--host", "claude", *scope, "--set", "max_stop_blocks=9").code == 0
    committed.write_text("<<<<<<< ours")
    assert hookctl("restore", ".claude/settings.json", "--to", "2").code == 0
    assert (settings.read_bytes(), committed.read_text()) == (first, "<<<<<<< ours")


def test_prune_leaves_what_an_uninstall_needs(settings: Path, hookctl: Hookctl) -> None:
    stages(settings, hookctl)
    assert hookctl("restore", "--prune", "--yes").out.endswith(
        "removed 2 backups; the first one stays, since uninstall puts it back\n"
    )
    assert hookctl("restore", "--prune", "--yes").out == "nothing to do\n"
    assert hookctl("uninstall").code == 0
    assert settings.read_bytes() == THEIRS
    assert hookctl("restore", str(settings), "--prune", "--yes", "--json").data["pruned"] == [
        {"file": str(settings), "removed": 2, "kept_first": False}
    ]
    assert os.listdir(os.path.join(folders.here().state, "backups")) == []
    assert hookctl("restore", str(settings)).code == 1


def test_a_backup_that_was_tampered_with_is_not_put_back(settings: Path, hookctl: Hookctl) -> None:
    stages(settings, hookctl)
    folder = Path(backups.backup_folder(folders.here(), str(settings)))
    for path in folder.glob(f"*-{files.digest(THEIRS)}"):
        path.write_bytes(b"{}")
    now = settings.read_bytes()
    assert hookctl("restore", str(settings)).code == 1
    assert settings.read_bytes() == now


def test_an_empty_backup_folder_that_a_kill_left_keeps_nobody_from_installing(
    isolated: Path, settings: Path, hookctl: Hookctl
) -> None:
    put(settings, "{}")
    left = isolated / "state" / "backups" / "0123456789abcdef"
    left.mkdir(parents=True)
    assert hookctl("install", "--host", "claude").code == 0
    assert not left.exists()


def test_a_backup_from_the_future_does_not_cost_the_one_of_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, path = folders.Folders(str(tmp_path), "/data", {"HOME": "/home/u"}, "/"), "/settings.json"
    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now + 2 * 3600 * 10**9)
    for number in range(backups.KEEP + 1):
        backups.back_up(here, path, f"{number}".encode(), first=number == 0)
    monkeypatch.setattr(time, "time_ns", lambda: now)
    backups.back_up(here, path, b"precious", first=False)
    kept = backups.read_backups(here, path)
    assert kept[-1].data == b"precious"
    assert len(kept) == backups.KEEP + 1
