"""A host's file with a slip in it, as whoever adds a host makes one: every command names the file and the slip."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hookctl import hosts
from hookctl.hosts.check import faults

from .conftest import Hookctl


@pytest.fixture
def spoil(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Replace a text in a copy of a host's file; its path."""
    folder = isolated / "hosts"
    shutil.copytree(Path(hosts.__file__).parent, folder)
    monkeypatch.setattr(hosts, "_FOLDER", str(folder))

    def change(old: str, new: str) -> Path:
        path = folder / "copilot.toml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        return path

    return change


def test_the_files_that_come_with_hookctl_have_no_fault() -> None:
    assert list(faults()) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('seen = "1.0.102"\n', "", "client: 'seen' is a required property: PATH\n"),
        ('title = "Copilot CLI"\n', "", "'title' is a required property: PATH\n"),
        ('format = "json"', "format = json", "not valid TOML: Invalid value: PATH:4:10\n"),
    ],
    ids=["a key is missing below", "a key is missing", "no TOML"],
)
def test_a_slip_in_a_host_s_file_is_named_with_its_file(
    hookctl: Hookctl, spoil: Callable[[str, str], Path], old: str, new: str, said: str
) -> None:
    path = spoil(old, new)
    outcome = hookctl("hosts")
    assert (outcome.code, outcome.out) == (4, "")
    assert "hookctl: error: " + said.replace("PATH", str(path)) in outcome.err
    assert "unexpected" not in outcome.err
    (error,) = hookctl("hosts", "--json").result["errors"]
    assert (error["path"], error["code"]) == (str(path), "unparsable" if ":4:" in said else "invalid_host")


def test_what_is_no_host_s_fault_is_unexpected(hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("seen")

    monkeypatch.setattr("hookctl.verbs.hosts.hosts", fail)
    assert hookctl("hosts").code == 3
    monkeypatch.setattr("hookctl.hosts.check.faults", fail)
    assert hookctl("hosts").code == 3
