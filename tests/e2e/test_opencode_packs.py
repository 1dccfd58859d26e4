"""A pack that answers as for Claude Code, with the real OpenCode: refusals, a changed input, and context."""

import json
import sys
from typing import Any

import pytest

from .clients import Client
from .dialects import Call
from .opencode import Place, play, play_one_turn, shell
from .product import hookctl

pytestmark = [pytest.mark.e2e, pytest.mark.full]
OWN_FOLDERS = True

PACK = """\
[pack]
name = "judge"
version = "1"
protocol = "host"
description = "Answers as a hook for Claude Code"

[files]
include = ["judge.sh"]
"""
HOOK = """
[[hooks]]
event = "EVENT"
command = "sh {files}/judge.sh {event}"
timeout = 10
"""


def nested(event: str, **answer: Any) -> str:
    """The command of a hook that answers in Claude Code's nested form."""
    return f"echo '{json.dumps({'hookSpecificOutput': {'hookEventName': event, **answer}})}'"


def install_judge(place: Place, **commands: str) -> None:
    """Install a pack that runs a command on each event."""
    folder = place.root / "judge"
    folder.mkdir()
    cases = "".join(f"{event.replace('_', '-')}) {command} ;;\n" for event, command in commands.items())
    (folder / "judge.sh").write_text(f"case $1 in\n{cases}esac\n")
    hooks = "".join(HOOK.replace("EVENT", event.replace("_", "-")) for event in commands)
    (folder / "pack.toml").write_text(PACK + hooks)
    hookctl(place, "install", str(folder), "--host", "opencode")


@pytest.mark.parametrize(
    "command",
    [
        nested("PreToolUse", permissionDecision="deny", permissionDecisionReason="not this one"),
        nested("PreToolUse", permissionDecision="ask", permissionDecisionReason="not this one"),
        "echo not this one >&2; exit 2",
    ],
    ids=["nested", "ask", "status 2"],
)
def test_a_refusal_keeps_the_tool_from_running_and_its_reason_reaches_the_model(
    opencode: Client, place: Place, command: str
) -> None:
    install_judge(place, pre_tool=command)
    run = play_one_turn(opencode, place, [shell("touch marker"), "done"])
    assert (run.requests, run.code, run.told("tool")) == (2, 0, ["not this one"])
    assert not (place.project / "marker").exists()


def test_the_tool_runs_with_a_changed_input(opencode: Client, place: Place) -> None:
    install_judge(place, pre_tool=nested("PreToolUse", updatedInput={"command": "touch other; echo changed"}))
    run = play_one_turn(opencode, place, [shell("touch marker"), "done"])
    assert (run.requests, run.told("tool")) == (2, ["changed\n"])
    assert [(place.project / name).exists() for name in ("marker", "other")] == [False, True]


def test_every_context_reaches_the_model(opencode: Client, place: Place) -> None:
    install_judge(
        place,
        session_start=nested("SessionStart", additionalContext="at the start"),
        prompt=nested("UserPromptSubmit", additionalContext="with the prompt"),
        pre_tool=nested("PreToolUse", additionalContext="before the call"),
        post_tool=nested("PostToolUse", additionalContext="after the call"),
    )
    run = play(opencode, place, [shell("echo ran"), "done"])
    assert run.requests == 2
    assert run.told("tool") == ["ran\n\n\nbefore the call\n\nafter the call"]
    (told,) = run.told("user")
    assert [part["text"] for part in told] == ["begin", "at the start\n\nwith the prompt"]
    # A person sees their own words alone.
    assert [prompt["text"] for prompt in run.prompts] == ["begin"]


MCP_SERVER = """\
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    told = {
        "initialize": {"capabilities": {"tools": {}}, "serverInfo": {"name": "probe", "version": "1"}},
        "tools/list": {"tools": [{"name": "ping", "description": "x", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": "pong"}]},
    }.get(asked["method"], {})
    if asked["method"] == "initialize":
        told["protocolVersion"] = asked["params"]["protocolVersion"]
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": told}), flush=True)
"""


def test_context_stands_behind_the_result_of_an_mcp_tool_too(opencode: Client, place: Place) -> None:
    install_judge(place, post_tool=nested("PostToolUse", additionalContext="after the call"))
    server = place.root / "server.py"
    server.write_text(MCP_SERVER)
    command = {"type": "local", "command": [sys.executable, str(server)]}
    place.config.write_text(json.dumps({"mcp": {"probe": command}}))
    run = play_one_turn(opencode, place, [Call("probe_ping", {}), "done"])
    assert (run.requests, run.told("tool")) == (2, ["pong\n\nafter the call"])


def test_a_status_of_2_after_a_call_is_said_beside_its_result(opencode: Client, place: Place) -> None:
    install_judge(place, post_tool="echo wrong >&2; exit 2")
    run = play_one_turn(opencode, place, [shell("echo ran"), "done"])
    assert (run.requests, run.told("tool")) == (2, ["ran\n\n\nwrong"])
