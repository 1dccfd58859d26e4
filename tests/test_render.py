"""hookctl render: the text that an install would write, for those who ship it by other means."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put
from tests.trees import tree


@pytest.mark.parametrize("scope", ["user", "project"])
def test_it_is_what_an_install_into_an_empty_place_writes(
    scope: str, settings: Path, isolated: Path, hookctl: Hookctl
) -> None:
    printed = hookctl("render", "--host", "claude", "--scope", scope).out
    assert hookctl("install", "--host", "claude", "--scope", scope).code == 0
    place = settings if scope == "user" else isolated / "work" / ".claude" / "settings.json"
    assert place.read_text() == printed


def test_it_writes_nothing(isolated: Path, hookctl: Hookctl) -> None:
    before = tree(isolated)
    for scope in ("user", "project", "managed"):
        assert hookctl("render", "--host", "claude", "--scope", scope).code == 0
    assert tree(isolated) == before


def test_managed_settings_point_at_no_users_folder(isolated: Path, hookctl: Hookctl) -> None:
    done = hookctl("render", "--host", "claude", "--scope", "managed")
    command = json.loads(done.out)["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert str(isolated) not in done.out
    assert command.startswith(": hookctl=guard/stop; [ -f /usr/local/lib/hookctl/guard/claude/hook.py ]")
    assert "hook.py at /usr/local/lib/hookctl/guard/claude/hook.py" in done.err


def test_the_named_folder_and_python_stand_in_a_command_that_works(isolated: Path, hookctl: Hookctl) -> None:
    folder = isolated / "it's a $folder"
    done = hookctl("render", "--host", "claude", "--hook-dir", str(folder), "--python", "/usr/bin/env", "--json")
    command = done.data["settings"]["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert done.data["files"][0]["to"] == str(folder / "hook.py")
    assert os.path.isfile(done.data["files"][0]["from"])
    put(folder / "hook.py", "")
    run = subprocess.run(["sh", "-c", command.replace(" && /usr/bin/env", " && echo")], capture_output=True, text=True)
    assert run.stdout == f"-I -S {folder}/hook.py stop --host claude\n"


def test_a_pack_by_path_is_rendered_too(isolated: Path, hookctl: Hookctl) -> None:
    pack = '[pack]\nname = "n"\nversion = "1"\n[files]\ninclude = ["n.sh"]\n[[hooks]]\nevent = "stop"\n'
    put(isolated / "n" / "n.toml", pack + 'command = "sh {files}/n.sh"\n')
    put(isolated / "n" / "n.sh", "")
    done = hookctl("render", str(isolated / "n"), "--host", "claude", "--scope", "managed")
    command = json.loads(done.out)["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert command.endswith("|| exit 0; sh /usr/local/lib/hookctl/packs/n/claude/n.sh")
    project = hookctl("render", str(isolated / "n"), "--host", "claude", "--scope", "project")
    assert '\\"$CLAUDE_PROJECT_DIR\\"/.hookctl/packs/n/n.sh' in project.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--scope", "global"), "unknown scope 'global'"),
        (("--hook-dir", "hooks"), "is relative"),
        (("--scope", "local"), "--hook-dir is missing"),
        (("--host", "claude"), "which host?"),
    ],
)
def test_wrong_use_is_said(arguments: tuple[str, ...], said: str, hookctl: Hookctl) -> None:
    done = hookctl("render", "--host", "claude", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_install_at_managed_scope_names_render(hookctl: Hookctl) -> None:
    done = hookctl("install", "--host", "claude", "--scope", "managed")
    assert done.code == 2
    assert "hookctl render --scope managed" in done.err
