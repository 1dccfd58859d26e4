"""A file in a project that has a second name is not written: it may be anybody's file outside of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put
from tests.trees import tree

PROJECT = ("--host", "claude", "--scope", "project")
LOCAL = ("--host", "claude", "--scope", "local")
THEIRS = '{"mine": 1}'


@pytest.mark.parametrize(
    ("name", "options"),
    [(".claude/settings.json", PROJECT), (".claude/settings.local.json", LOCAL)],
)
@pytest.mark.usefixtures("fixed_python")
def test_settings_with_a_second_name_are_refused(
    isolated: Path, hookctl: Hookctl, name: str, options: tuple[str, ...]
) -> None:
    outside = put(isolated / "home" / "other.json", THEIRS)
    inside = isolated / "work" / name
    inside.parent.mkdir(parents=True)
    os.link(outside, inside)
    before = tree(isolated)
    done = hookctl("install", *options)
    assert (done.code, outside.read_text()) == (4, THEIRS)
    assert "second name" in done.err and str(inside) in done.err and "cp FILE" in done.err
    assert tree(isolated) == before


@pytest.mark.usefixtures("fixed_python")
@pytest.mark.parametrize("name", ["ledger.json", "guard/claude/hook.py", "guard/claude/config.json"])
def test_so_is_a_file_of_hookctls_own_there(isolated: Path, hookctl: Hookctl, name: str) -> None:
    assert hookctl("install", *PROJECT).code == 0
    inside = isolated / "work" / ".hookctl" / name
    outside = isolated / "home" / "outside"
    os.link(inside, outside)
    inside_text = outside.read_bytes()
    outside.write_bytes(inside_text + b"\n")
    before = tree(isolated)
    done = hookctl("install", *PROJECT, "--force", "--set", "max_stop_blocks=9", "--nudge", "done")
    assert done.code == 4 and tree(isolated) == before, done


@pytest.mark.usefixtures("fixed_python")
def test_at_user_scope_a_second_name_is_kept(isolated: Path, hookctl: Hookctl, settings: Path) -> None:
    put(settings, THEIRS)
    other = isolated / "home" / "dotfiles.json"
    os.link(settings, other)
    assert hookctl("install", "--host", "claude").code == 0
    assert other.read_bytes() == settings.read_bytes() != THEIRS.encode()
    assert hookctl("uninstall").code == 0
    assert other.read_text() == THEIRS and os.path.samefile(settings, other)
