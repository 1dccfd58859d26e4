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
        (("--mode", "loud"), "unknown mode 'loud'"),
        (("--mode", "off"), "--mode off registers nothing"),
        (("--set", "colour=red"), "unknown setting 'colour=red'"),
        (("--set", "latch=maybe"), "latch cannot be 'maybe'"),
        (("--scope", "project", "--set", "run_dir=/run"), "run_dir=/run leaves the project"),
    ],
)
def test_wrong_use_is_said(arguments: tuple[str, ...], said: str, hookctl: Hookctl) -> None:
    done = hookctl("render", "--host", "claude", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


@pytest.mark.parametrize(("host", "scope"), [("hermes", "project"), ("codex", "local")])
def test_a_scope_that_a_host_has_not_is_refused_as_install_does(hookctl: Hookctl, host: str, scope: str) -> None:
    done = hookctl("render", "--host", host, "--scope", scope, "--hook-dir", "/opt/h", "--json")
    installed = hookctl("install", "--host", host, "--scope", scope, "--json")
    assert (done.code, done.result["errors"]) == (2, installed.result["errors"])


def test_where_no_managed_settings_are_known_that_is_said(hookctl: Hookctl) -> None:
    assert "no managed settings of Codex CLI" in hookctl("render", "--host", "codex", "--scope", "managed").err
    assert "no managed settings" not in hookctl("render", "--host", "claude", "--scope", "managed").err


MANAGED = {
    "claude": "Claude Code reads it from /etc/claude-code/managed-settings.json",
    "gemini": "Gemini CLI reads it from /etc/gemini-cli/settings.json",
    "hermes": "Hermes reads it from /etc/hermes/config.yaml",
    "qwen": "Qwen Code reads it from /etc/qwen-code/settings.json",
}


@pytest.mark.parametrize("names", [("all",), ("codex", "gemini"), ("claude", "all"), ()], ids=str)
def test_it_takes_one_host_and_names_those_that_have_such_settings(hookctl: Hookctl, names: tuple[str, ...]) -> None:
    done = hookctl("render", *(word for name in names for word in ("--host", name)))
    assert (done.code, done.out) == (2, "")
    assert "which host? render prints the text of one\n" in done.err
    assert f"those that have managed settings are: {', '.join(MANAGED)}.\n" in done.err
    local = hookctl("render", "--host", "all", "--scope", "local")
    assert "those that have local settings are: claude.\n" in local.err
    assert "unknown scope 'team'" in hookctl("render", "--scope", "team").err


@pytest.mark.parametrize(("host", "said"), MANAGED.items(), ids=str)
def test_it_says_where_managed_settings_are_read(
    hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, host: str, said: str
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert f"hookctl: {said}\n" in hookctl("render", "--host", host).err


def test_it_says_where_other_settings_are_read(hookctl: Hookctl, isolated: Path) -> None:
    err = hookctl("render", "--host", "codex", "--scope", "user").err
    assert f"hookctl: Codex CLI reads it from {isolated}/home/.codex/hooks.json\n" in err
    err = hookctl("render", "--host", "codex", "--scope", "project").err
    assert "hookctl: Codex CLI reads it from <project>/.codex/hooks.json\n" in err
