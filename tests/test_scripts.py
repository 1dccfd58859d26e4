"""doctor finds a script that cannot run, however its path is spelled, and is silent where only a shell knows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookctl.hosts import load
from hookctl.survey.scripts import find_scripts, name_program
from tests.conftest import Hookctl, put

KNOWN = {"HOME": "/home/me", "CLAUDE_PROJECT_DIR": "/project"}


@pytest.mark.parametrize(
    ("command", "path", "status"),
    [
        ("python3 /gone/x.py", "/gone/x.py", 2),
        ("python3 -I -W ignore /gone/x.py --all", "/gone/x.py", 2),
        ("python3 ~/hooks/x.py", "/home/me/hooks/x.py", 2),
        ("python3 $HOME/x.py", "/home/me/x.py", 2),
        ('python3 "${HOME}/x y.py"', "/home/me/x y.py", 2),
        ('"$CLAUDE_PROJECT_DIR"/.claude/hooks/x.sh', "/project/.claude/hooks/x.sh", 127),
        ("${CLAUDE_PROJECT_DIR:-$PWD}/x.sh", "/project/x.sh", 127),
        ("/gone/program --all", "/gone/program", 127),
        ("uv run --quiet --with rich /gone/x.py", "/gone/x.py", 2),
        ("uv run python ~/x.py", "/home/me/x.py", 2),
        ("bash -eu '/gone/x y.sh'", "/gone/x y.sh", 127),
        ("sh -c 'exec python3 ~/x.py'", "/home/me/x.py", 2),
        ("node --no-warnings /gone/x.mjs", "/gone/x.mjs", 1),
        ("/usr/bin/env A=1 python3 /gone/x.py", "/gone/x.py", 2),
        ("A=1 nohup timeout 5 sh /gone/x.sh", "/gone/x.sh", 2),
        (": hookctl=bell/stop; [ -f '/a b/r.sh' ] && [ -r '/a b/r.sh' ] || exit 0; sh '/a b/x.sh'", "/a b/x.sh", 2),
        ('cd "$CLAUDE_PROJECT_DIR" && python3 tools/x.py', "/project/tools/x.py", 2),
        ("python3 /gone/x.py 2>/dev/null </dev/null # why", "/gone/x.py", 2),
        ("python3 /gone/x.py; exit 0", "/gone/x.py", 0),
        ("python3 /gone/x.py | tee log", "/gone/x.py", 0),
        ("set -e; . /gone/x.sh", "/gone/x.sh", 1),
    ],
)
def test_the_script_of_a_command(command: str, path: str, status: int) -> None:
    script = find_scripts(command, KNOWN)[-1]
    assert (script.path, script.status) == (path, status)


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


def found(hookctl: Hookctl, host: str = "claude") -> list[dict[str, Any]]:
    """The hooks whose script is missing or cannot be run."""
    hooks = hookctl("hooks", "--host", host, "--json").data["hooks"]
    return [hook for hook in hooks if hook["state"] in ("missing", "not_executable")]


def told(hookctl: Hookctl, host: str = "claude") -> list[dict[str, Any]]:
    """What doctor says of scripts."""
    findings = hookctl("doctor", "--json", "--host", host).data["findings"]
    return [one for one in findings if one["code"] == "script_missing"]


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
def test_it_is_found_until_it_is_there(isolated: Path, hookctl: Hookctl, settings: Path, command: str) -> None:
    put(settings, "{}")
    here = isolated / "work"
    put(here / ".claude" / "settings.json", stop_hook(command.format(there=here)))
    assert len(found(hookctl)) == 1
    for folder in (here, isolated / "home"):
        for name in ("x.py", "x.sh", "x.js"):
            put(folder / name, f"touch {isolated}/ran\n").chmod(0o755)
    assert found(hookctl) == []
    assert not (isolated / "ran").exists()


@pytest.mark.parametrize(
    ("command", "levels"), [("python3 ~/x.py", ["error"]), ("~/x.sh", []), ("python3 ~/x.py; exit 0", [])]
)
def test_it_is_an_error_where_the_host_would_refuse(
    hookctl: Hookctl, settings: Path, command: str, levels: list[str]
) -> None:
    put(settings, stop_hook(command, "PreToolUse"))
    assert [finding["level"] for finding in told(hookctl)] == levels


def test_the_script_of_a_pack(isolated: Path, hookctl: Hookctl) -> None:
    pack = '[pack]\nname = "bell"\nversion = "1"\nprotocol = "host"\n'
    pack += '[[hooks]]\nevent = "stop"\ncommand = "sh ~/ring.sh"\n'
    path = put(isolated / "work" / "bell.toml", pack)
    assert hookctl("install", str(path), "--host", "claude").code == 0
    (finding,) = told(hookctl)
    assert (finding["level"], finding["message"]) == (
        "warning", f"bell/stop cannot run: {isolated}/home/ring.sh is not there"
    )  # fmt: skip
    put(isolated / "home" / "ring.sh", "echo\n")
    assert told(hookctl) == []


# A project's own hooks, where the user has none.

ON_STOP = '"$OPENHANDS_PROJECT_DIR"/.openhands/hooks/on_stop.sh'


@pytest.fixture
def script(isolated: Path) -> Path:
    """A project whose OpenHands runs a script at each stop; nothing of the user's says that it is in use."""
    (isolated / "work" / ".git").mkdir()
    hooks = {"stop": [{"hooks": [{"type": "command", "command": ON_STOP}]}]}
    put(isolated / "work" / ".openhands" / "hooks.json", json.dumps(hooks))
    return put(isolated / "work" / ".openhands" / "hooks" / "on_stop.sh", "#!/bin/sh\nexit 0\n")


def broken(hookctl: Hookctl) -> list[str]:
    return [one["reason"].partition("on_stop.sh ")[2] for one in found(hookctl, "openhands")]


def starts_with(line: str) -> Callable[[Path], None]:
    def change(script: Path) -> None:
        script.write_text(f"{line}\n")
        script.chmod(0o755)

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda script: script.chmod(0o755), ""),
        (lambda script: script.unlink(), "is not there"),
        (lambda script: script.chmod(0o644), "is not executable"),
        (starts_with("#!/gone/python9"), "needs /gone/python9, which is not there"),
        (starts_with("#!/usr/bin/env python9"), "needs python9, which is not there"),
        (starts_with("#!/usr/bin/env -S A=1 python9 -I"), "needs python9, which is not there"),
    ],
)
def test_why_a_script_cannot_run(script: Path, hookctl: Hookctl, change: Callable[[Path], None], said: str) -> None:
    change(script)
    assert broken(hookctl) == ([said] if said else [])


RELATIVE = {
    "openhands": ".openhands/hooks.json",
    "claude": ".claude/settings.json",
    "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json",
}


@pytest.mark.parametrize(
    ("command", "gone"),
    [
        ("python3 .openhands/hooks/gone.py", ".openhands/hooks/gone.py"),
        ("./.openhands/hooks/gone", ".openhands/hooks/gone"),
        ("cd .openhands && sh hooks/gone.sh", ".openhands/hooks/gone.sh"),
        ("cd $SOMEWHERE && cd hooks && sh gone.sh", ""),
        ("sh -c 'sh gone.sh'", "gone.sh"),
        ("sh .openhands/hooks/on_stop.sh", ""),
        ("python3 -m gone", ""),
        ("true", ""),
    ],
)
@pytest.mark.parametrize(("name", "file"), RELATIVE.items())
def test_a_relative_script_is_looked_for_where_the_host_starts_its_hooks(
    script: Path, isolated: Path, hookctl: Hookctl, name: str, file: str, command: str, gone: str
) -> None:
    event = load(name).events["stop"]
    handler = {"type": "command", "command": command}
    put(isolated / "work" / file, json.dumps({"hooks": {event: [{"hooks": [handler]}]}}))
    named = [one["reason"] for one in found(hookctl, name)]
    assert [f"{isolated / 'work' / gone} " in reason for reason in named] == ([True] if gone else [])


SECRET = "sk-abcdef0123456789"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (f"API_KEY={SECRET} curl -H 'x: {SECRET}' https://h/{SECRET}", "curl"),
        (f"python3 -u /opt/hooks/stop.py --token {SECRET}", "python3 stop.py"),
        (f"bash -c 'curl {SECRET}'", "curl"),
        (f"cd /srv/x && env -u {SECRET} uv run python hooks/stop.py {SECRET}", "python stop.py"),
        (f"if [ -f x ]; then sudo -u me nice -n 5 timeout 9 ./run.sh {SECRET}; fi", "run.sh"),
        ('"$CLAUDE_PROJECT_DIR"/.claude/hooks/stop.sh', "stop.sh"),
        (f"bash -lc 'cd x; INPUT=$(cat); echo {SECRET} | jq -r .x'", "jq"),
        (f"python3 -c 'open(\"{SECRET}\")'", "python3"),
        (f"TOKEN={SECRET} exec env -i A=b nohup go-on", "go-on"),
        ("env python3 stop.py", "python3 stop.py"),
        ("env", "env"),
        (f"'{SECRET} {SECRET}'", ""),
        (f"'unclosed {SECRET}", ""),
    ],
)
def test_a_hook_is_named_without_the_secrets_of_its_command(command: str, name: str) -> None:
    assert name_program(command) == name
