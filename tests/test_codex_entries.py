"""What Codex does not load of a hook's fields, and takes the whole file for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Hookctl, put

pytestmark = pytest.mark.usefixtures("fixed_python")

COMMAND = {"type": "command", "command": "x"}
TOOL = {"type": "mcp_tool", "server": "s", "tool": "t"}
BAD: list[dict[str, Any]] = [
    {**COMMAND, "async": "true"},
    {**COMMAND, "async": 1},
    {**COMMAND, "async": None},
    {**COMMAND, "statusMessage": 5},
    {**COMMAND, "commandWindows": 5},
    {**COMMAND, "command_windows": 5},
    {"type": "mcp_tool", "tool": "t"},
    {"type": "mcp_tool", "server": "s"},
    {**TOOL, "server": 5},
    {**TOOL, "input": "x"},
]
GOOD: list[dict[str, Any]] = [
    {**COMMAND, "statusMessage": None, "async": False},
    {**COMMAND, "shell": 5, "args": "x", "once": "x", "if": 5, "env": 5},
    TOOL,
    {"type": "prompt"},
]


def errors(hookctl: Hookctl, isolated: Path, hook: Any) -> list[str]:
    put(isolated / "home/.codex/hooks.json", json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    told = json.loads(hookctl("doctor", "--host", "codex", "--json").out)["data"]["findings"]
    return [finding["message"] for finding in told if finding["code"] == "invalid_hook"]


@pytest.mark.parametrize("hook", BAD, ids=str)
def test_one_such_field_costs_the_file(isolated: Path, hookctl: Hookctl, hook: dict[str, Any]) -> None:
    (message,) = errors(hookctl, isolated, hook)
    assert "hooks.Stop.0.hooks.0 has " in message and "loads no hook of this file" in message
    assert "does not run in Codex CLI" in hookctl("install", "--host", "codex").out


@pytest.mark.parametrize("hook", GOOD, ids=str)
def test_what_it_takes_or_ignores(isolated: Path, hookctl: Hookctl, hook: dict[str, Any]) -> None:
    assert errors(hookctl, isolated, hook) == []
