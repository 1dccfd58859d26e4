"""A pack's own files may have the names of hookctl's programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.manifest import hook, manifest

from .conftest import Hookctl, put

PACK = manifest("own", hook("PreToolUse", "python3 {files}/hook.py"), files=["hook.py", "config.json"])


@pytest.fixture
def pack(isolated: Path) -> Path:
    put(isolated / "own" / "hook.py", "pass\n")
    put(isolated / "own" / "config.json", "{}\n")
    put(isolated / "own" / "pack.toml", PACK)
    return isolated / "own"


def test_a_pack_with_a_hook_py_is_installed_by_its_files_and_removed_with_them(
    isolated: Path, hookctl: Hookctl, pack: Path
) -> None:
    done = hookctl("install", str(pack), "--host", "claude", "--yes")
    assert done.code == 0
    assert "3 files" in done.out
    folder = isolated / "data" / "packs" / "own"
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "hook.py", "pack.toml"]
    assert hookctl("doctor").code == 0
    assert hookctl("uninstall", "own").code == 0
    assert not folder.exists()


def test_doctor_puts_back_a_hook_py_that_is_a_packs(isolated: Path, hookctl: Hookctl, pack: Path) -> None:
    assert hookctl("install", str(pack), "--host", "claude", "--yes").code == 0
    program = isolated / "data" / "packs" / "own" / "hook.py"
    program.unlink()
    hookctl("doctor", "--fix")
    assert program.read_text() == "pass\n"
