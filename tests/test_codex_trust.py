"""The hash that Codex trusts a hook by: as `codex app-server` gave them (tests/e2e/test_codex.py asks it again)."""

from typing import Any

import pytest

from hookctl.hosts.codex import state_path, trusted_hash

SAY = 'say "é"'


@pytest.mark.parametrize(
    ("event", "group", "handler", "expected"),
    [
        ("Stop", {"matcher": "x"}, {"timeout": 10}, "242d76517213cc7894ac39e67c387ebfa86020b2bd4ba7d7f63c78e79c27746a"),
        ("Stop", {}, {}, "3105d7b2cea4a1911ea26f2813774e76446ab7035e514019f9550370baee074d"),
        (
            "PreToolUse",
            {"matcher": "Bash"},
            {"timeout": 0},
            "dcbfe662f5f145dc13912929ab06fc2b6f57267c0ec5df6936ef95a4ce2e7570",
        ),
        (
            "PreToolUse",
            {"matcher": ""},
            {"timeout": 601, "statusMessage": "hi"},
            "0d8bf2d264183d5b5a134370aab13eb50a3b0fb4a1e5550aa0170704d8129bdb",
        ),
        ("SessionEnd", {"matcher": "x"}, {}, "099c66250098d17ce32ae902fb55bb83eeb9c4b7c2843298172528dffc88ed21"),
        (
            "SessionEnd",
            {},
            {"timeout": 10, "async": True},
            "76490c59d4ea201e70c20d4b57cd135294e2ec2e6e6a791d7b695e2b76e2e46d",
        ),
        (
            "PreModelRequest",
            {"matcher": "x"},
            {"timeout": 5},
            "d1e7fdd883b39f584d6e9b892f67fcb249f799677270270e12bc386ea100bfce",
        ),
    ],
    ids=[
        "stop",
        "no timeout",
        "a matcher, a timeout of 0",
        "an empty matcher, a message",
        "an end",
        "an end that takes longer",
        "a request",
    ],
)
def test_the_hash_is_the_client_s_own(
    event: str, group: dict[str, Any], handler: dict[str, Any], expected: str
) -> None:
    assert trusted_hash(event, group, {"type": "command", "command": SAY, **handler}) == f"sha256:{expected}"


@pytest.mark.parametrize("event", ["Stop", "UserPromptSubmit", "Interrupt", "PreModelRequest", "PostModelRequest"])
def test_some_events_have_no_matcher(event: str) -> None:
    handler = {"command": "true"}
    assert trusted_hash(event, {"matcher": "x"}, handler) == trusted_hash(event, {}, handler)
    assert trusted_hash("PreToolUse", {"matcher": "x"}, handler) != trusted_hash("PreToolUse", {}, handler)


def test_a_field_that_says_nothing_is_as_good_as_none() -> None:
    bare, null = {"command": "true"}, {"command": "true", "timeout": None, "statusMessage": None, "name": "mine"}
    assert trusted_hash("Stop", {}, bare) == trusted_hash("Stop", {"matcher": None}, null)


def test_the_key_has_the_event_s_name_in_small_words() -> None:
    path = ("hooks", "UserPromptSubmit", 2, "hooks", 1)
    assert state_path("/h/hooks.json", path) == ("hooks", "state", "/h/hooks.json:user_prompt_submit:2:1")
