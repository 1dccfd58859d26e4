"""Keys that a settings file must have at its top: the operator's hooks must not lose them when ours go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put

MINE = {"command": "./format.sh"}
HOST = ("--host", "cursor")


@pytest.fixture
def file(isolated: Path) -> Path:
    return isolated / "home" / ".cursor" / "hooks.json"


def add_mine(file: Path) -> None:
    document = json.loads(file.read_text())
    document["hooks"]["afterFileEdit"] = [MINE]
    put(file, json.dumps(document))


@pytest.mark.parametrize("last", [("uninstall",), ("install", "--mode", "off")], ids=["uninstall", "off"])
def test_a_version_of_ours_stays_with_hooks_that_the_operator_has_added(
    last: tuple[str, ...], file: Path, hookctl: Hookctl
) -> None:
    assert hookctl("install", *HOST).code == 0
    add_mine(file)
    done = hookctl(*last, *HOST)
    assert done.code == 0 and "version kept: without it Cursor may load no hook" in done.out
    assert json.loads(file.read_text()) == {"version": 1, "hooks": {"afterFileEdit": [MINE]}}
    before = file.read_bytes()
    assert "nothing to do" in hookctl(*last, *HOST).out
    assert hookctl("uninstall", *HOST).code == 0
    assert file.read_bytes() == before


def test_it_goes_with_the_last_hook(file: Path, hookctl: Hookctl) -> None:
    assert hookctl("install", *HOST).code == 0
    put(file, json.dumps(json.loads(file.read_text()), indent=4))
    assert hookctl("uninstall", *HOST).code == 0
    assert not file.exists()


def test_it_stays_until_the_last_pack_has_gone(file: Path, isolated: Path, hookctl: Hookctl) -> None:
    pack = put(isolated / "p.toml", '[pack]\nname = "p"\nversion = "1"\n[[hooks]]\nevent = "stop"\ncommand = "p"\n')
    for what in ("guard", str(pack)):
        assert hookctl("install", what, *HOST).code == 0
    put(file, json.dumps(json.loads(file.read_text()), indent=4))
    assert hookctl("uninstall", "guard", *HOST).code == 0
    assert json.loads(file.read_text())["version"] == 1
    assert hookctl("uninstall", "p", *HOST).code == 0
    assert not file.exists()


@pytest.mark.parametrize("off", [True, False], ids=["switched-off-first", "at-once"])
def test_a_file_that_had_none_has_none_again(off: bool, file: Path, hookctl: Hookctl) -> None:
    before = json.dumps({"hooks": {"afterFileEdit": [MINE]}})
    put(file, before)
    assert hookctl("install", *HOST).code == 0
    if off:
        assert hookctl("install", "--mode", "off", *HOST).code == 0
    assert hookctl("uninstall", *HOST).code == 0
    assert file.read_text() == before
