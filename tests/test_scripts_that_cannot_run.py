"""doctor looks at a project's own hooks where the user has none, and says which cannot run and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookctl.hosts import load
from tests.conftest import Hookctl, put

ON_STOP = '"$OPENHANDS_PROJECT_DIR"/.openhands/hooks/on_stop.sh'


RELATIVE = {
    "openhands": ".openhands/hooks.json",
    "codex": ".codex/hooks.json",
    "claude": ".claude/settings.json",
    "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json",
}


@pytest.fixture
def script(isolated: Path) -> Path:
    """A project whose OpenHands runs a script at each stop; nothing of the user's says that it is in use."""
    (isolated / "work" / ".git").mkdir()
    hooks = {"stop": [{"hooks": [{"type": "command", "command": ON_STOP}]}]}
    put(isolated / "work" / ".openhands" / "hooks.json", json.dumps(hooks))
    return put(isolated / "work" / ".openhands" / "hooks" / "on_stop.sh", "#!/bin/sh\nexit 0\n")


def findings(hookctl: Hookctl, *options: str) -> list[dict[str, Any]]:
    found = hookctl("doctor", "--json", *options).data["findings"]
    return [finding for finding in found if finding["host"] == "openhands"]


def broken(hookctl: Hookctl) -> list[tuple[str, str]]:
    found = [finding for finding in findings(hookctl) if finding["code"] == "script_missing"]
    return [(finding["level"], finding["message"].partition("on_stop.sh, which ")[2]) for finding in found]


def test_a_script_that_can_run_is_fine(script: Path, hookctl: Hookctl) -> None:
    script.chmod(0o755)
    assert broken(hookctl) == []
    assert findings(hookctl) != []


def test_a_script_that_is_gone(script: Path, hookctl: Hookctl) -> None:
    script.unlink()
    assert broken(hookctl) == [("warning", "is not there")]


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
        ("gone", ""),
    ],
)
@pytest.mark.parametrize(("name", "file"), RELATIVE.items())
def test_a_relative_script_is_looked_for_where_the_host_starts_its_hooks(
    script: Path, isolated: Path, hookctl: Hookctl, name: str, file: str, command: str, gone: str
) -> None:
    event = load(name).events["stop"]
    handler = {"type": "command", "command": command}
    put(isolated / "work" / file, json.dumps({"hooks": {event: [{"hooks": [handler]}]}}))
    found = hookctl("doctor", "--json", "--host", name).data["findings"]
    named = [one["message"] for one in found if one["code"] == "script_missing" and one["host"] == name]
    assert [f"{isolated / 'work' / gone}," in message for message in named] == ([True] if gone else [])


def test_a_script_that_is_not_executable(script: Path, hookctl: Hookctl) -> None:
    script.chmod(0o644)
    assert broken(hookctl) == [("warning", "is not executable")]
    (found,) = [finding for finding in findings(hookctl) if finding["code"] == "script_missing"]
    assert found["fix"].startswith(f"`chmod +x {script}`")


@pytest.mark.parametrize("interpreter", ["/gone/python9", "/usr/bin/env python9", "/usr/bin/env -S A=1 python9 -I"])
def test_a_script_without_its_interpreter(script: Path, hookctl: Hookctl, interpreter: str) -> None:
    script.write_text(f"#!{interpreter}\n")
    script.chmod(0o755)
    name = "/gone/python9" if "gone" in interpreter else "python9"
    assert broken(hookctl) == [("warning", f"needs {name}, which is not there")]


def test_a_wrapped_script_that_is_gone(script: Path, hookctl: Hookctl) -> None:
    options = ("--host", "openhands", "--scope", "project", "--mode", "off", "--wrap", "on_stop.sh")
    assert hookctl("install", *options).code == 0
    script.unlink()
    assert broken(hookctl) == [("warning", "is not there")]


def test_the_user_s_own_host_is_looked_at_as_ever(script: Path, hookctl: Hookctl, isolated: Path) -> None:
    put(isolated / ".openhands" / "hooks.json", "{}")
    paths = {finding["path"] for finding in findings(hookctl)}
    assert str(script.parent.parent / "hooks.json") in paths  # it hides the user's
