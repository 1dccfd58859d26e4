"""The payload that fire makes: the fields that the real client sends, and no others."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts
from hookctl.errors import HookctlError
from hookctl.firing.calls import (
    Asked,
    Place,
    lacks_tool,
    make_call,
    make_calls,
    parse,
    require_question,
)
from hookctl.system.package_data import guard_module

from .templates.hosts import NAMES, PAYLOADS

PLACE = Place("/home/u/project", "/home/u", "/tmp/transcript.jsonl", {"HOOKCTL_NOW": "1795334400"})
EVENTS = [(name, event) for name in NAMES for event in PAYLOADS[name]]


def payload(name: str, event: str, tool: str = "", input: dict[str, Any] | None = None) -> dict[str, Any]:
    return dict(make_call(hosts.load(name), Asked(event, tool, input), PLACE).payload)


TOOLS_OWN = ("tool_input", "toolInput", "toolArgs", "args", "tool_response", "toolResult", "tool_output")


def shape(value: Any, name: str = "") -> Any:
    """The keys of a payload with the kinds of their values; a tool's input and output are its own."""
    if isinstance(value, dict) and name not in TOOLS_OWN:
        return {key: shape(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return "list"
    return type(value).__name__


@pytest.mark.parametrize(("name", "event"), EVENTS)
def test_it_has_the_fields_of_the_real_clients(name: str, event: str) -> None:
    made, sent = payload(name, event, "Bash", {"command": "make check"}), PAYLOADS[name][event]
    assert shape(made) == shape(sent)
    for field in ("hook_event_name", "event_type", "tool_name", "toolName", "cwd", "working_dir"):
        assert made.get(field) == sent.get(field)


PINS = tomllib.loads((Path(__file__).parent / "e2e" / "pins" / "copilot.toml").read_text())["payload"]


@pytest.mark.parametrize("event", [name for name in PINS if name[0].isupper()])
def test_copilot_cli_spells_its_fields_as_its_events(event: str) -> None:
    _, made = make_calls(hosts.load("copilot"), Asked(event, "create", {"file_path": "/a"}), PLACE)
    assert sorted(made.payload) == PINS[event]
    assert (made.event, made.payload["hook_event_name"]) == (event, event)
    assert made.tool == ("Write" if "tool_name" in PINS[event] else "")
    assert made.payload.get("tool_input", {"path": "/a"}) == {"path": "/a"}
    assert len(make_calls(hosts.load("claude"), Asked(event, "Write"), PLACE)) == 1


def test_a_tool_by_claude_codes_name_or_the_hosts_is_the_hosts() -> None:
    input = {"file_path": "/a", "content": "b"}
    for tool in ("Write", "write_file"):
        assert payload("gemini", "pre-tool", tool, input)["tool_name"] == "write_file"
    assert payload("openhands", "pre-tool", "Write", input)["tool_input"] == {
        "command": "create", "path": "/a", "file_text": "b",
    }  # fmt: skip
    assert "*** Add File: /a" in payload("codex", "pre-tool", "Write", input)["tool_input"]["command"]
    assert payload("claude", "pre-tool", "mcp__a__b", {"x": 1})["tool_input"] == {"x": 1}


ONE_EVENT = ["gemini", "hermes", "opencode", "openhands", "pi", "vibe"]  # for calls that went well and others


@pytest.mark.parametrize("name", ONE_EVENT)
def test_a_failed_call_is_told_as_one_where_there_is_one_event_for_both(name: str) -> None:
    host = hosts.load(name)
    table = {**host.runner, "tools": host.tools}
    usual = make_call(host, Asked("post-tool", tool="Bash"), PLACE)
    failed = make_call(host, Asked("post-tool-failure", tool="Bash"), PLACE)
    assert (failed.event, failed.protocol) == (usual.event, usual.protocol)
    for call, is_failed in ((usual, False), (failed, True)):
        (question,) = guard_module("payload").questions(table, "PostToolUse", call.payload, name)
        assert (question.portable["ok"] is False) == is_failed


@pytest.mark.parametrize(
    ("name", "tool", "lacks"),
    [
        ("windsurf", "WebFetch", True),
        ("windsurf", "Write", False),
        ("windsurf", "Bash", False),
        ("pi", "WebFetch", True),
        ("pi", "Glob", False),
        ("kimi", "WebSearch", False),  # not known
        ("openhands", "Edit", False),  # one of several that a tool there does
        ("claude", "mcp__a__b", False),
        ("windsurf", "pre_run_command", False),
        ("windsurf", "", False),
    ],
)
def test_a_tool_that_a_host_does_not_have(name: str, tool: str, lacks: bool) -> None:
    assert lacks_tool(hosts.load(name), tool) == lacks


def test_what_cannot_be_asked_is_refused() -> None:
    host = hosts.load("claude")
    for text in ("[]", "{", "1"):
        with pytest.raises(HookctlError):
            parse(text, "--input")
        with pytest.raises(HookctlError):
            make_call(host, Asked("stop", payload=text.encode()), PLACE)
    with pytest.raises(HookctlError) as error:
        require_question([host], Asked("pre-tool"))
    assert error.value.exit_code == 2 and "--tool Bash" in error.value.hint
    with pytest.raises(HookctlError):
        require_question([host], Asked("stopp"))
