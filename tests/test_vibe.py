"""Mistral Vibe, which drops a hook for a field that it cannot take: what is dropped, and what is listed so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookctl.documents.toml import inline
from hookctl.hosts import load
from tests.conftest import Hookctl, put

HOST = ("--host", "vibe")
# Fields beside event, name and command, as hooks have them in the client's file; seen on the real client.
TAKEN: list[dict[str, Any]] = [
    {"type": "pre_tool"},
    {"type": "pre_tool", "match": "*"},
    {"type": "pre_tool", "match": "re:.*", "strict": True},
    {"type": "post_tool", "strict": "yes"},
    {"type": "post_tool", "strict": 1},
    {"type": "post_agent", "match": "*"},
    {"type": "post_agent", "match": "main"},
    {"type": "post_agent", "strict": False},
    {"type": "post_agent", "timeout": " 9.5 "},
    {"type": "post_agent", "timeout": 9, "description": "", "matcher": 5, "more": {"a": 1}},
    {"type": "post_agent", "name": ""},
]
DROPPED: list[tuple[dict[str, Any], str]] = [
    ({"type": "pre_tool", "match": {"tool": "*"}}, "has match, which must be of type string"),
    ({"type": "pre_tool", "match": ["*"]}, "has match, which must be of type string"),
    ({"type": "pre_tool", "match": " "}, "has match, which must be more than blanks"),
    ({"type": "post_tool", "match": ""}, "has match, which must be more than blanks"),
    ({"type": "post_agent", "strict": True}, "has strict, which no hook may have on post_agent"),
    ({"type": "post_tool", "strict": 2}, "has strict, which must be of type boolean"),
    ({"type": "post_tool", "strict": "sometimes"}, "has strict, which must be of type boolean"),
    ({"type": "post_agent", "timeout": "long"}, "has a timeout that is not a number"),
    ({"type": "post_agent", "timeout": [9]}, "has a timeout that is not a number"),
    ({"type": "post_agent", "command": " \t"}, "has command, which must be more than blanks"),
    ({"type": "post_agent", "name": 5}, "has name, which must be of type string"),
    ({"type": "post_agent", "description": 5}, "has description, which must be of type string"),
    ({"type": "post_agent", "hooks": [{"command": "true"}], "command": None}, "has no command"),
]


def text_of(fields: dict[str, Any], number: int, command: str) -> str:
    """A hook of the file, with a name of its own unless the fields have one; None: it has no such field."""
    whole = {"name": f"hook {number}", "command": command} | fields
    return "[[hooks]]\n" + "".join(f"{key} = {inline(value)}\n" for key, value in whole.items() if value is not None)


@pytest.mark.parametrize("fields", TAKEN, ids=str)
def test_what_the_client_takes_is_listed_as_running(fields: dict[str, Any], hookctl: Hookctl, isolated: Path) -> None:
    put(isolated / "home" / ".vibe" / "hooks.toml", text_of(fields, 1, "true"))
    (hook,) = hookctl("hooks", *HOST, "--json").data["hooks"]
    assert (hook["state"], hook["reason"]) == ("runs", "")
    assert [found["code"] for found in hookctl("doctor", *HOST, "--json").data["findings"]] == ["not_installed"]


@pytest.mark.parametrize(("fields", "reason"), DROPPED, ids=lambda value: json.dumps(value))
def test_what_the_client_drops_is_listed_so(
    fields: dict[str, Any], reason: str, hookctl: Hookctl, isolated: Path
) -> None:
    put(isolated / "home" / ".vibe" / "hooks.toml", text_of(fields, 1, "true"))
    (hook,) = hookctl("hooks", *HOST, "--json").data["hooks"]
    drops = load("vibe").loading.entry
    assert (hook["state"], hook["reason"]) == ("ignored", f"it {reason}; Mistral Vibe {drops}")
    tool = () if fields["type"] == "post_agent" else ("--tool", "Bash")
    (fired,) = hookctl("fire", fields["type"], *tool, *HOST, "--json").data["hosts"]
    assert {hook["outcome"] for hook in fired["hooks"]} <= {"not_run"}
