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


def exported(hookctl: Hookctl, manifest: str, programs: dict[str, str], expected: int) -> tuple[Any, list[str]]:
    """The plugin's hooks by event, and what is said to be lost."""
    put(Path("own/pack.toml"), f'[pack]\nname = "own"\nversion = "1"\n\n{manifest}')
    for name, text in programs.items():
        put(Path("own", name), text)
    done = hookctl("pack", "export", "own", "--as", "claude-plugin", "-o", "plugin", "--json")
    assert done.code == expected, done
    return json.loads(Path("plugin/hooks/hooks.json").read_text())["hooks"], done.data["lost"]


HOOK = '[files]\ninclude = ["a.py"]\n\n[[hooks]]\nevent = "PreToolUse"\ncommand = "python3 {files}/a.py"\n'


def test_each_command_asks_for_its_own_files_and_keeps_its_time(hookctl: Hookctl) -> None:
    manifest = HOOK.replace('"a.py"]', '"a.py", "start.py"]')
    for event, command in (
        ("SessionStart", "python3 {files}/start.py"),
        ("Stop", "true"),
        ("PreCompact", "ls {files}"),
    ):
        manifest += f'[[hooks]]\nevent = "{event}"\ncommand = "{command}"\n'
    manifest += '[[host.claude.hooks]]\nevent = "TaskCompleted"\ncommand = "true"\n'
    hooks = exported(hookctl, manifest, {"a.py": "", "start.py": ""}, 0)[0]
    entries = {event: groups[0]["hooks"][0] for event, groups in hooks.items()}
    root = '"${CLAUDE_PLUGIN_ROOT}"'
    assert {event: entry["command"].partition(" || exit 0; ")[0] for event, entry in entries.items()} == {
        "PreToolUse": f"[ -r {root}/a.py ]",
        "SessionStart": f"[ -r {root}/start.py ]",
        "Stop": "true",
        "PreCompact": f"[ -r {root}/a.py ]",
        "TaskCompleted": "true",
    }
    assert [entry.get("timeout") for entry in entries.values()] == [10, 10, 10, 10, None]
