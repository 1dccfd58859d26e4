"""What Claude Code drops of its settings, as its own doctor says, and what it takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Hookctl, put

pytestmark = pytest.mark.usefixtures("fixed_python")

COMMAND = {"type": "command", "command": "say done"}
HTTP = {"type": "http", "url": "https://a.example/x"}
TOOL = {"type": "mcp_tool", "server": "s", "tool": "t"}

BAD: list[tuple[dict[str, Any], str]] = [
    ({**COMMAND, "shell": "fish"}, "has shell, which must be one of bash, powershell"),
    ({**COMMAND, "async": "true"}, "has async, which must be of type boolean"),
    ({**COMMAND, "asyncRewake": "true"}, "has asyncRewake, which must be of type boolean"),
    ({**COMMAND, "once": "yes"}, "has once, which must be of type boolean"),
    ({**COMMAND, "statusMessage": 5}, "has statusMessage, which must be of type string"),
    ({**COMMAND, "if": 5}, "has if, which must be of type string"),
    ({**COMMAND, "args": "-v"}, "has args, which must be of type array"),
    ({**COMMAND, "args": ["-v", 1]}, "has args, which must be of type array, with every item of type string"),
    ({**COMMAND, "onFailure": "x"}, "has onFailure, which must be one of continue, block"),
    ({**COMMAND, "rewakeMessage": ""}, "has rewakeMessage, which must be more than an empty text"),
    ({"type": "http"}, "has no url"),
    ({**HTTP, "url": "a.example/x"}, "has url, which must be a URL"),
    ({**HTTP, "url": "http://"}, "has url, which must be a URL"),
    ({**HTTP, "headers": {"a": 1}}, "has headers, which must be of type object, with every item of type string"),
    ({"type": "mcp_tool", "tool": "t"}, "has no server"),
    ({"type": "mcp_tool", "server": "s"}, "has no tool"),
    ({**TOOL, "input": "x"}, "has input, which must be of type object"),
    ({"type": "prompt"}, "has no prompt"),
    ({"type": "agent"}, "has no prompt"),
    ({"type": "agent", "prompt": "x", "model": 1}, "has model, which must be of type string"),
]
GOOD = [
    {**COMMAND, "shell": "bash", "async": True, "once": False, "statusMessage": "", "if": "x", "args": []},
    {**COMMAND, "onFailure": "block", "url": 5, "server": 5, "unknown": None},
    {**HTTP, "url": "http:a"},
    {**HTTP, "url": " http://a/b c", "headers": {"a": "b"}, "shell": "fish"},
    {**HTTP, "url": "mailto:x"},
    {**TOOL, "server": "", "input": {"a": 1}, "async": "x"},
    {**TOOL, "onFailure": "x"},  # any other word than "continue" is "block"
    {"type": "prompt", "prompt": "", "continueOnBlock": True},
]


def findings(hookctl: Hookctl, settings: Path, value: Any) -> list[dict[str, Any]]:
    put(settings, json.dumps(value))
    told = json.loads(hookctl("doctor", "--host", "claude", "--json").out)["data"]["findings"]
    return [finding for finding in told if finding["code"] in ("invalid_hook", "wrong_type")]


def under(event: str, *handlers: object) -> dict[str, Any]:
    return {"hooks": {event: [{"hooks": [handler]} for handler in handlers]}}


@pytest.mark.parametrize("event", ["PreToolUse", "PreSkillShellCommand"])
@pytest.mark.parametrize(("handler", "reason"), BAD, ids=[reason for _, reason in BAD])
def test_fields_that_claude_code_does_not_take(
    hookctl: Hookctl, settings: Path, event: str, handler: dict[str, Any], reason: str
) -> None:
    (finding,) = findings(hookctl, settings, under(event, COMMAND, handler))
    assert (finding["code"], finding["level"]) == ("invalid_hook", "error")
    assert f"hooks.{event}.1.hooks.0 {reason}; Claude Code" in finding["message"]


def test_elsewhere_such_a_hook_costs_itself(hookctl: Hookctl, settings: Path) -> None:
    assert findings(hookctl, settings, under("PostToolUse", *(handler for handler, _ in BAD))) == []
    hooks = hookctl("hooks", "--host", "claude", "--json").data["hooks"]
    assert [hook["state"] for hook in hooks] == ["ignored"] * len(BAD)
    for hook, (_, reason) in zip(hooks, BAD, strict=True):
        assert hook["reason"].startswith(f"it {reason}; Claude Code drops it")


@pytest.mark.parametrize("event", ["PreToolUse", "Notification"])
def test_fields_that_it_takes(hookctl: Hookctl, settings: Path, event: str) -> None:
    assert findings(hookctl, settings, under(event, *GOOD)) == []


@pytest.mark.parametrize(
    "value",
    [{"permissions": {"defaultMode": "manual"}}, {"allowManagedHooksOnly": None}, {"allowManagedHooksOnly": True}],
)
def test_settings_that_it_takes(hookctl: Hookctl, settings: Path, value: object) -> None:
    assert findings(hookctl, settings, value) == []
    assert "not loaded" not in hookctl("install", "--host", "claude").out


@pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest", "PreSkillShellCommand", "Stop"])
def test_an_event_that_is_null_costs_itself(hookctl: Hookctl, settings: Path, event: str) -> None:
    assert findings(hookctl, settings, {"hooks": {event: None}}) == []


@pytest.mark.parametrize("groups", [[None], [{"hooks": [None]}], [{"hooks": None}], 5])
def test_a_null_inside_its_list_costs_the_file(hookctl: Hookctl, settings: Path, groups: object) -> None:
    (finding,) = findings(hookctl, settings, {"hooks": {"PreToolUse": groups}})
    assert (finding["code"], finding["level"]) == ("invalid_hook", "error")
