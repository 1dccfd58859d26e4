"""What stands in an exported plugin; tests/e2e/test_exported_plugin.py loads one."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Hookctl, put

PACK = """\
[pack]
name = "judge"
version = "1"
FILES
[[hooks]]
event = "PreToolUse"
matcher = "MATCHER"
command = "COMMAND"
"""
FILES = '[files]\ninclude = ["judge.sh"]\n'


@pytest.fixture
def export(isolated: Path, hookctl: Hookctl) -> Any:
    """Writes a pack, exports it and gives the plugin's only group of hooks, and its folder."""

    def run(files: str = FILES, matcher: str = "Bash", command: str = "sh {files}/judge.sh") -> Any:
        text = PACK.replace("FILES", files).replace("MATCHER", matcher).replace("COMMAND", command)
        pack = put(isolated / "judge" / "pack.toml", text).parent
        put(pack / "judge.sh", "echo no >&2; exit 2\n")
        folder = isolated / "a plugin"
        assert hookctl("pack", "export", str(pack), "--as", "claude-plugin", "-o", str(folder)).code == 0
        shutil.rmtree(pack)
        (group,) = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]["PreToolUse"]
        return group, folder

    return run


def run(command: str, root: str) -> tuple[int, str]:
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        env={"CLAUDE_PLUGIN_ROOT": root, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stderr


def test_the_command_runs_from_the_plugins_folder_and_does_nothing_without_it(export: Any) -> None:
    group, folder = export()
    (entry,) = group["hooks"]
    assert run(entry["command"], str(folder)) == (2, "no\n")
    assert run(entry["command"], "") == (0, "")
    shutil.rmtree(folder)
    assert run(entry["command"], str(folder)) == (0, "")


@pytest.mark.parametrize(("matcher", "written"), [("Bash|Write", "Bash|Write"), ("*", None), ("", None)])
def test_a_matcher_for_all_tools_is_left_out(export: Any, matcher: str, written: str | None) -> None:
    assert export(matcher=matcher)[0].get("matcher") == written


def test_a_command_without_files_stays_as_it_is(export: Any) -> None:
    group, _ = export(files="", command="true")
    assert group["hooks"][0]["command"] == "true"
