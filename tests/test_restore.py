"""hookctl restore at a terminal, and its backups; what it puts back: tests/stories/restore-*.txt."""

from __future__ import annotations

import io
import json
import re
import sys
import time
from pathlib import Path

import pytest

from hookctl.system import backups, folders
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


def test_a_person_sees_the_diff_and_says_no(edited: str, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch, "n\n")
    outcome = hookctl("restore", edited, agrees=False)
    assert '\n-  "model": …\n' in outcome.err, "each line of the diff is a line"
    assert "\nGo on? [y/N] " in outcome.err
    assert LATER in Path(edited).read_text()


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


@pytest.mark.parametrize("options", [(), ("--yes",)])
def test_or_yes(edited: str, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]) -> None:
    answer(monkeypatch, "y\n")
    assert hookctl("restore", edited, *options, agrees=False).code == 0
    assert Path(edited).read_text() == THEIRS


def test_the_list_is_in_order_of_time_after_a_second_install(
    hookctl: Hookctl, settings: Path, fixed_python: None
) -> None:
    texts = [f'{{"model": "{name}"}}\n' for name in "dacbe"]  # their digests are in no order
    for text in texts:
        put(settings, text)
        assert hookctl(*GUARD).code == 0
        assert hookctl("uninstall").code == 0
    listed = hookctl("restore", str(settings), "--list", "--json").data["backups"]
    times = [backup["t"] for backup in listed]
    assert times == sorted(times)
    shown = hookctl("restore", str(settings), "--list").out.splitlines()[2:]
    assert [int(line.split()[0]) for line in shown] == [backup["n"] for backup in listed]
    assert [backup["n"] for backup in listed if backup["first"]] == [1], "a number stays what it is"


def pages(settings: Path) -> list[Path]:
    """What lies beside the backups of a settings file: the ledger's pages of then."""
    return sorted(Path(backups.backup_folder(folders.here(), str(settings))).glob("*.page"))


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


def test_pages_lie_beside_their_backups_for_nobody_else(settings: Path, hookctl: Hookctl) -> None:
    put(settings, THEIRS)
    for limit in range(5, 5 + backups.KEEP + 3):
        assert hookctl("install", "--host", "claude", "--set", f"max_stop_blocks={limit}").code == 0
    assert len(pages(settings)) == backups.KEEP
    assert {page.stat().st_mode & 0o777 for page in pages(settings)} == {0o600}
    assert all(page.with_suffix("").exists() for page in pages(settings))


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


def test_doctor_names_the_text_from_before_the_last_write_after_a_new_install_too(
    settings: Path, hookctl: Hookctl
) -> None:
    put(settings, '{"model": "old"}\n')
    hookctl("install", "--host", "claude")
    hookctl("uninstall")
    put(settings, '{"model": "new"}\n')
    hookctl("install", "--host", "claude")
    settings.write_bytes(settings.read_bytes()[:150])
    (finding,) = [one for one in hookctl("doctor", "--json").data["findings"] if one["code"] == "unparsable"]
    number = finding["fix"].partition("--to ")[2].split("`")[0]
    assert hookctl("restore", str(settings), "--to", number, "--yes").code == 0
    assert json.loads(settings.read_text()) == {"model": "new"}
