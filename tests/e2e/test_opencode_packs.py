"""A pack that answers as for Claude Code, with the real OpenCode: what it adds for the model."""

import json
import sys

import pytest

from . import mcp_server
from .clients import Client
from .dialects import Call
from .judge import install_judge, nested
from .opencode import Place, play, play_one_turn, shell

pytestmark = [pytest.mark.e2e, pytest.mark.full]
OWN_FOLDERS = True


def test_every_context_reaches_the_model(opencode: Client, place: Place) -> None:
    install_judge(
        place,
        "opencode",
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


def test_context_stands_behind_the_result_of_an_mcp_tool_too(opencode: Client, place: Place) -> None:
    install_judge(place, "opencode", post_tool=nested("PostToolUse", additionalContext="after the call"))
    command = {"type": "local", "command": [sys.executable, mcp_server.__file__]}
    place.config.write_text(json.dumps({"mcp": {"probe": command}}))
    run = play_one_turn(opencode, place, [Call("probe_ping", {}), "done"])
    assert (run.requests, run.told("tool")) == (2, ["pong\n\nafter the call"])
