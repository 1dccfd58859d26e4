"""An uninstall removes the folders that hookctl made, and none that was there before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put
from tests.trees import tree

pytestmark = pytest.mark.usefixtures("fixed_python")

PACK = '[pack]\nname = "bell"\nversion = "1"\nprotocol = "host"\n[files]\ninclude = ["ring.sh"]\n[env]\nBELL = "1"\n'
IGNORED = "run/\n"


def empty_folder(isolated: Path) -> None:
    (isolated / "work" / ".hookctl").mkdir()


def ignore_file(isolated: Path) -> None:
    put(isolated / "work" / ".hookctl" / ".gitignore", IGNORED)


def empty_data_folder(isolated: Path) -> None:
    (isolated / "data").mkdir()


def settings_too(isolated: Path) -> None:
    put(isolated / "work" / ".claude" / "settings.json", "{ }")
    put(isolated / "work" / ".claude" / "settings.local.json", "{ }")
    ignore_file(isolated)
    empty_data_folder(isolated)


THERE = [empty_folder, ignore_file, empty_data_folder, settings_too]


def below(isolated: Path) -> dict[str, object]:
    """Every file and folder but hookctl's state, with its mode and bytes."""
    places = {name: (mode, data) for name, (mode, _, data) in tree(isolated).items()}
    return {name: about for name, about in places.items() if not name.startswith(("state", "bell"))}


@pytest.mark.parametrize("scope", ["user", "project", "local"])
@pytest.mark.parametrize("there", THERE, ids=lambda there: there.__name__)
def test_what_was_there_before_stays(
    isolated: Path, hookctl: Hookctl, there: Callable[[Path], None], scope: str
) -> None:
    there(isolated)
    before = below(isolated)
    pack = put(isolated / "bell" / "pack.toml", PACK)
    put(isolated / "bell" / "ring.sh", "")
    where = ("--host", "claude", "--scope", scope)
    for what in ((), (str(pack),), ("--set", "latch=no")):
        assert hookctl("install", *what, *where).code == 0
    assert hookctl("uninstall", "--all", "--json").code == 0
    assert below(isolated) == before


@pytest.mark.parametrize("first", ["user", "local"])
@pytest.mark.parametrize("named", [(), ("bell",)], ids=["guard", "pack"])
def test_the_last_to_leave_removes_what_the_first_to_come_has_made(
    isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, first: str, named: tuple[str, ...]
) -> None:
    monkeypatch.setenv("HOOKCTL_DATA_DIR", str(isolated / "home" / "share" / "deep" / "hookctl"))
    put(isolated / "bell" / "pack.toml", PACK)
    put(isolated / "bell" / "ring.sh", "")
    before = below(isolated)
    for scope in ("user", "local"):
        paths = [str(isolated / name / "pack.toml") for name in named]
        assert hookctl("install", *paths, "--host", "claude", "--scope", scope).code == 0
    for scope in ("user", "local") if first == "user" else ("local", "user"):
        assert hookctl("uninstall", *named, "--scope", scope).code == 0
    assert below(isolated) == before
