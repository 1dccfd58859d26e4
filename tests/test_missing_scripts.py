"""doctor finds a missing script however its path is spelled, and says nothing where only a shell knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookctl.checks.scripts import Script, find_scripts
from tests.conftest import Hookctl, put

KNOWN = {"HOME": "/home/me", "CLAUDE_PROJECT_DIR": "/work"}


@pytest.mark.parametrize(
    ("command", "path", "status"),
    [
        ("python3 /gone/x.py", "/gone/x.py", 2),
        ("python3 -I -W ignore /gone/x.py --all", "/gone/x.py", 2),
        ("python3 ~/hooks/x.py", "/home/me/hooks/x.py", 2),
        ("python3 $HOME/x.py", "/home/me/x.py", 2),
        ('python3 "${HOME}/x y.py"', "/home/me/x y.py", 2),
        ('"$CLAUDE_PROJECT_DIR"/.claude/hooks/x.sh', "/work/.claude/hooks/x.sh", 127),
        ("${CLAUDE_PROJECT_DIR:-$PWD}/x.sh", "/work/x.sh", 127),
        ("/gone/program --all", "/gone/program", 127),
        ("uv run --quiet --with rich /gone/x.py", "/gone/x.py", 2),
        ("uv run python ~/x.py", "/home/me/x.py", 2),
        ("bash -eu '/gone/x y.sh'", "/gone/x y.sh", 127),
        ("sh -c 'exec python3 ~/x.py'", "/home/me/x.py", 2),
        ("node --no-warnings /gone/x.mjs", "/gone/x.mjs", 1),
        ("/usr/bin/env A=1 python3 /gone/x.py", "/gone/x.py", 2),
        ("A=1 nohup timeout 5 sh /gone/x.sh", "/gone/x.sh", 2),
        (": hookctl=bell/stop; [ -f '/a b/r.sh' ] && [ -r '/a b/r.sh' ] || exit 0; sh '/a b/x.sh'", "/a b/x.sh", 2),
        ('cd "$CLAUDE_PROJECT_DIR" && python3 tools/x.py', "/work/tools/x.py", 2),
        ("python3 /gone/x.py 2>/dev/null </dev/null # why", "/gone/x.py", 2),
        ("python3 /gone/x.py; exit 0", "/gone/x.py", 0),
        ("python3 /gone/x.py | tee log", "/gone/x.py", 0),
        ("set -e; . /gone/x.sh", "/gone/x.sh", 1),
    ],
)
def test_the_script_of_a_command(command: str, path: str, status: int) -> None:
    assert find_scripts(command, KNOWN)[-1]._replace(is_started=False) == Script(path, status)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "say done",
        "python3 check.py",
        "python3 -c 'import x' /gone/x.py",
        "python3 -m pytest /gone/x.py",
        "python3 - /gone/x.py",
        "node -e 1 /gone/x.js",
        "perl -ne 1 /gone/x",
        "bash -c \"$X /gone/x.sh\"",
        "test -f /gone.py && python3 /gone.py",
        "[ -x /gone/x ] && /gone/x",
        "if true; then /gone/x; fi",
        "/gone/x || /bin/true",
        "python3 /gone/x.py || true",
        "$(which x) /gone/x.py",
        "$(cd /a && pwd)/x.sh",
        "`which x`/gone.sh",
        'python3 "$(dirname "$0")/x.py"',
        "python3 $SOMEWHERE/x.py",
        "'$HOME/x.sh'",
        "~other/x.sh",
        "/gone/*.sh",
        "cd $SOMEWHERE && python3 x.py",
        "uv run --unknown x /gone/x.py",
        "uv run mytool",
        "(python3 /gone/x.py)",
        "{ /gone/x; }",
        "echo /gone/x.py",
        "python3 'unclosed",
        "cat <<EOF\n/gone/x\nEOF",
    ],
)  # fmt: skip
def test_what_only_a_shell_knows(command: str) -> None:
    assert find_scripts(command, KNOWN) == []


def found(hookctl: Hookctl) -> list[dict[str, Any]]:
    outcome = hookctl("doctor", "--host", "claude", "--json")
    return [finding for finding in outcome.data["findings"] if finding["code"] == "script_missing"]


def stop_hook(command: str, event: str = "Stop") -> str:
    return json.dumps({"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}]}})


@pytest.mark.parametrize(
    "command",
    [
        "python3 {there}/x.py",
        "python3 ~/x.py",
        "$HOME/x.sh",
        '"${{HOME}}/x.sh"',
        '"$CLAUDE_PROJECT_DIR"/x.sh',
        "{there}/x.sh --all",
        "uv run {there}/x.py",
        "bash {there}/x.sh",
        "node {there}/x.js",
        "sh -c 'python3 {there}/x.py'",
    ],
)
def test_doctor_finds_it_and_is_silent_once_it_is_there(
    isolated: Path, hookctl: Hookctl, settings: Path, command: str
) -> None:
    put(settings, "{}")
    here = isolated / "work"
    put(here / ".claude" / "settings.json", stop_hook(command.format(there=here)))
    (finding,) = found(hookctl)
    assert finding["level"] == "warning"
    for folder in (here, isolated / "home"):
        for name in ("x.py", "x.sh", "x.js"):
            put(folder / name, f"touch {isolated}/ran\n").chmod(0o755)
    assert found(hookctl) == []
    assert not (isolated / "ran").exists()


def test_a_project_variable_in_the_users_settings_is_of_every_project(hookctl: Hookctl, settings: Path) -> None:
    put(settings, stop_hook('"$CLAUDE_PROJECT_DIR"/x.sh'))
    assert found(hookctl) == []


@pytest.mark.parametrize(
    ("command", "level"), [("python3 ~/x.py", "warning"), ("~/x.sh", "info"), ("python3 ~/x.py; exit 0", "info")]
)
def test_it_is_a_warning_where_the_host_would_refuse(
    hookctl: Hookctl, settings: Path, command: str, level: str
) -> None:
    put(settings, stop_hook(command, "PreToolUse"))
    assert [finding["level"] for finding in found(hookctl)] == [level]


def test_the_script_of_a_pack(isolated: Path, hookctl: Hookctl) -> None:
    pack = '[pack]\nname = "bell"\nversion = "1"\n[[hooks]]\nevent = "stop"\ncommand = "sh ~/ring.sh"\n'
    path = put(isolated / "work" / "bell.toml", pack)
    assert hookctl("install", str(path), "--host", "claude").code == 0
    (finding,) = found(hookctl)
    assert (finding["level"], finding["message"]) == (
        "warning", f"bell/stop runs {isolated}/home/ring.sh, which is not there"
    )  # fmt: skip
    put(isolated / "home" / "ring.sh", "echo\n")
    assert found(hookctl) == []


@pytest.mark.parametrize("files", ["", '[files]\ninclude = ["n.sh"]\n'], ids=["alone", "with files"])
@pytest.mark.parametrize("event", ["pre-tool", "stop"])
@pytest.mark.parametrize("host", ["claude", "copilot", "gemini", "droid"])
def test_the_script_of_a_pack_on_hosts_that_take_a_failure_for_a_refusal(
    isolated: Path, hookctl: Hookctl, host: str, event: str, files: str
) -> None:
    head = f'[pack]\nname = "bell"\nversion = "1"\n{files}[[hooks]]\nevent = "{event}"\n'
    put(isolated / "work" / "n.sh", "echo\n")
    path = put(isolated / "work" / "bell.toml", head + 'command = "python3 /nowhere/gone.py"\n')
    assert hookctl("install", str(path), "--host", host).code == 0
    findings = hookctl("doctor", "--host", host, "--json").data["findings"]
    told = [finding["message"] for finding in findings if finding["code"] == "script_missing"]
    assert told == [f"bell/{event} runs /nowhere/gone.py, which is not there"]
