"""What the museum's tests begin with."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Hookctl, put
from tests.templates.lab import Lab

FOREIGN = {"type": "command", "command": "notify-send done && true"}
EVENTS = ("Stop", "SessionStart", "PreToolUse", "PostToolUse", "UserPromptSubmit", "SubagentStop", "Notification")


@pytest.fixture(autouse=True)
def usual_python(fixed_python: None) -> None:
    """The same interpreter in every command."""


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "lab")


@pytest.fixture
def theirs(settings: Path) -> bytes:
    """The settings of somebody with 49 hooks; the bytes in the file."""
    hooks = {event: [{"hooks": [{**FOREIGN, "command": f"tool-{event}-{n}"}]} for n in range(7)] for event in EVENTS}
    value = {"model": "m", "env": {"EDITOR": "vim"}, "permissions": {"allow": ["Bash(git:*)"]}, "hooks": hooks}
    put(settings, json.dumps(value, indent=4) + "\n").chmod(0o640)
    return settings.read_bytes()


def run(hookctl: Hookctl, *arguments: str) -> Any:
    """A command that has to succeed; its data."""
    done = hookctl(*arguments, "--json")
    assert done.code == 0, done
    return done.data


def findings(hookctl: Hookctl, host: str = "claude") -> set[str]:
    """The codes of what doctor finds."""
    return {one["code"] for one in hookctl("doctor", "--host", host, "--json").data["findings"]}


def value_of(path: Path) -> Any:
    return json.loads(path.read_bytes().decode("utf-8-sig"))


def ours(path: Path) -> list[dict[str, Any]]:
    """Our hooks in a file of Claude Code, event by event."""
    groups = [group for event in value_of(path).get("hooks", {}).values() for group in event]
    return [one for group in groups for one in group["hooks"] if one["command"].startswith(": hookctl=")]


def as_the_host(command: str, payload: dict[str, Any], **environ: str) -> subprocess.CompletedProcess[bytes]:
    """Run a registered command under sh, as Claude Code does."""
    return subprocess.run(
        ["/bin/sh", "-c", command], input=json.dumps(payload).encode(), capture_output=True, timeout=30, check=False,
        env={**os.environ, **environ},
    )  # fmt: skip
