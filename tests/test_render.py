"""hookctl render: the text that an install would write, for those who ship it by other means."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from hookctl import hosts
from hookctl.packs.guard import host_table
from tests.conftest import Hookctl, put
from tests.trees import tree

CHOSEN = ("--mode", "breaker", "--set", "MAX_STOP_BLOCKS=9", "--set", "latch=no", "--set", "child_env=A,B")


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("options", [(), CHOSEN], ids=["the defaults", "chosen settings"])
def test_it_is_what_an_install_into_an_empty_place_writes(
    scope: str, options: tuple[str, ...], settings: Path, isolated: Path, hookctl: Hookctl
) -> None:
    printed = hookctl("render", "--host", "claude", "--scope", scope, *options).out
    assert hookctl("install", "--host", "claude", "--scope", scope, *options).code == 0
    place = settings if scope == "user" else isolated / "work" / ".claude" / "settings.json"
    assert place.read_text() == printed


def test_what_stands_in_no_settings_file_is_given_as_the_hooks_configuration(isolated: Path, hookctl: Hookctl) -> None:
    render = ("render", "--host", "claude", "--scope", "project", *CHOSEN)
    config = hookctl(*render, "--json").data["files"][-1]
    assert hookctl("install", "--host", "claude", "--scope", "project", *CHOSEN).code == 0
    assert (isolated / "work" / config["to"]).read_text() == config["text"]
    settings = json.loads(config["text"])
    assert settings.pop("hosts") == host_table(hosts.load("claude"))
    assert settings == {"mode": "breaker", "latch": False, "child_env": ["A", "B"]}
    said = hookctl(*render).err
    text = '{"mode": "breaker", "latch": false, "child_env": ["A", "B"], "hosts": {'
    assert f"hookctl: put this at .hookctl/guard/claude/config.json: {text}" in said


def test_what_is_to_be_put_there_is_told_and_works(isolated: Path, hookctl: Hookctl) -> None:
    folder = isolated / "hooks"
    render = ("render", "--host", "claude", "--hook-dir", str(folder))
    said = hookctl(*render).err.splitlines()
    told = [line.split(" at ")[1] for line in said if " put /" in line]
    assert told == [f"{folder}/hook.py", f"{folder}/guard"]
    done = hookctl(*render, "--json")
    for file in done.data["files"]:
        put(Path(file["to"]), file["text"] if "text" in file else Path(file["from"]).read_bytes())
    command = done.data["settings"]["hooks"]["Stop"][0]["hooks"][0]["command"]
    put(isolated / "work" / ".hookctl" / "run" / "task.json", '{"remaining": 1}')
    stop = json.dumps({"session_id": "s", "cwd": str(isolated / "work")})
    run = subprocess.run(["sh", "-c", command], capture_output=True, text=True, input=stop)
    assert json.loads(run.stdout)["decision"] == "block"


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


MANAGED = {
    "claude": "Claude Code reads it from /etc/claude-code/managed-settings.json",
    "gemini": "Gemini CLI reads it from /etc/gemini-cli/settings.json",
    "hermes": "Hermes reads it from /etc/hermes/config.yaml",
    "qwen": "Qwen Code reads it from /etc/qwen-code/settings.json",
}


@pytest.mark.parametrize(("host", "said"), MANAGED.items(), ids=str)
def test_it_says_where_managed_settings_are_read(
    hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, host: str, said: str
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert f"hookctl: {said}\n" in hookctl("render", "--host", host).err
