"""hookctl render: the text that an install would write, for those who ship it by other means."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from hashlib import sha256
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


DROP_IN = "managed-settings.d/50-hookctl.json"
APPLICATIONS = "/Library/Application Support"
MANAGED = [
    ("claude", "linux", f"/etc/claude-code/{DROP_IN}", True),
    ("claude", "macos", f"{APPLICATIONS}/ClaudeCode/{DROP_IN}", True),
    ("codex", "linux", "/etc/codex/requirements.toml", False),
    ("codex", "macos", "/etc/codex/requirements.toml", False),
    ("gemini", "linux", "/etc/gemini-cli/settings.json", False),
    ("gemini", "macos", f"{APPLICATIONS}/GeminiCli/settings.json", False),
    ("hermes", "linux", "/etc/hermes/config.yaml", False),
    ("qwen", "linux", "/etc/qwen-code/settings.json", False),
    ("qwen", "macos", f"{APPLICATIONS}/QwenCode/settings.json", False),
]


@pytest.mark.parametrize(("host", "platform", "path", "drop_in"), MANAGED, ids=str)
def test_managed_settings_have_a_path_mode_and_owner(
    host: str, platform: str, path: str, drop_in: bool, hookctl: Hookctl
) -> None:
    done = hookctl("render", "--host", host, "--platform", platform, "--json")
    assert (done.data["path"], done.data["drop_in"]) == (path, drop_in)
    assert (done.data["owner"], done.data["mode"]) == ("root", "0644")
    assert done.data["sha256"] == sha256(done.data["text"].encode()).hexdigest()
    said = hookctl("render", "--host", host, "--platform", platform).err
    assert f"put the settings at {path} (owner root, mode 0644)" in said
    assert ("merge the two" in said) is not drop_in


def test_another_pack_has_a_drop_in_of_its_own(hookctl: Hookctl) -> None:
    pack = str(Path(__file__).parent / "golden" / "pack")
    page = hookctl("render", pack, "--host", "claude", "--platform", "linux", "--json").data
    assert page["path"].startswith("/etc/claude-code/managed-settings.d/50-hookctl-")


def test_codex_gets_the_layout_of_requirements_toml(hookctl: Hookctl) -> None:
    text = hookctl("render", "--host", "codex", "--platform", "linux").out
    [group] = tomllib.loads(text)["hooks"]["Stop"]
    assert "[ -f /usr/local/lib/hookctl/guard/codex/hook.py ]" in group["hooks"][0]["command"]


@pytest.mark.parametrize("host", ["claude", "codex", "gemini", "qwen"])
def test_every_machine_renders_the_same(
    host: str, hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    render = ("render", "--host", host, "--platform", "linux", "--json")
    here = hookctl(*render).data
    monkeypatch.setenv("PATH", str(isolated))
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr("sys.executable", str(isolated / "python3"))
    assert hookctl(*render).data == here
    assert "/usr/bin/python3 -I -S" in here["text"]


def test_managed_files_are_given_with_text_and_digest(hookctl: Hookctl) -> None:
    files = hookctl("render", "--host", "claude", "--json").data["files"]
    assert files[-1]["to"].endswith("/config.json")
    for file in files:
        assert sha256(file["text"].encode()).hexdigest() == file["sha256"]
        assert file["mode"] == "0644"
        if "from" in file:
            assert Path(file["from"]).read_text() == file["text"]


def test_managed_settings_are_locked_unless_told_otherwise(hookctl: Hookctl) -> None:
    def config(*options: str) -> dict[str, object]:
        return json.loads(hookctl("render", "--host", "claude", *options, "--json").data["files"][-1]["text"])

    assert config()["locked"] is True
    assert config("--set", "MAX_STOP_BLOCKS=9")["max_stop_blocks"] == 9
    assert config("--set", "locked=false")["locked"] is False
    locked = json.loads(hookctl("render", "--host", "claude", "--set", "MAX_STOP_BLOCKS=9").out)["env"]
    assert locked == {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "12"}, "a locked guard reads no variable"
    open_ = json.loads(hookctl("render", "--host", "claude", "--set", "locked=false").out)["env"]
    assert open_["MAX_STOP_BLOCKS"] == "5"


REFUSED = [
    (("--host", "cursor"), 1, "no managed settings of Cursor on linux", "Hosts with managed settings: claude, codex,"),
    (("--host", "hermes", "--platform", "macos"), 1, "no managed settings of Hermes on macos", "claude"),
    (("--host", "claude", "--platform", "windows"), 2, "Windows is not supported yet", "linux, macos"),
    (("--host", "claude", "--platform", "macs"), 2, "unknown platform 'macs'", "Did you mean macos?"),
    (("--host", "claude", "--scope", "user", "--platform", "linux"), 2, "--platform is for managed", "Leave it out"),
]


@pytest.mark.parametrize(("options", "code", "message", "hint"), REFUSED, ids=str)
def test_what_cannot_be_rendered_is_an_error(
    options: tuple[str, ...], code: int, message: str, hint: str, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    done = hookctl("render", *options)
    assert done.code == code and done.out == ""
    assert message in done.err and hint in done.err
