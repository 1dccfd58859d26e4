"""The hook's own words: guidance at a session's start, texts for agents and people, and what they may show."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest

from hookctl import hosts

from .lab import Lab, letter

ON = {"guidance": True}
TOLD = ("claude", "codex", "copilot", "droid", "gemini", "openhands", "pi", "qwen", "vscode")


def start(lab: Lab, **fields: Any) -> str:
    """What the hook tells a session at its start; empty if not a word."""
    answer = lab.call("session-start", **{"source": "startup", **fields})
    if not answer:
        return ""
    value = json.loads(answer)
    inner = value.get("hookSpecificOutput", value)
    assert inner.get("hookEventName", "SessionStart") == "SessionStart"
    return str(inner["additionalContext"])


@pytest.mark.parametrize("host", hosts.names())
def test_a_session_is_told_what_waits_where_the_host_takes_context(lab: Lab, host: str) -> None:
    lab.host = host
    lab.config(**ON).task(remaining=3)
    text = start(lab)
    assert bool(text) == (host in TOLD)
    assert not text or ("(3)" in text and "do not poll" in text and len(text) <= 1200)


def test_a_wait_is_advised_where_there_is_something_to_wait_for(lab: Lab) -> None:
    lab.config(**ON, mode="keepalive")
    lab.arm()
    command = lab.root / "bin" / "hookctl"
    command.parent.mkdir()
    command.touch(0o755)
    lab.environment["PATH"] += f":{command.parent}"
    assert "run conclude" not in start(lab) and "run wait" not in start(lab), "it would end at once"
    lab.task(remaining=2)
    assert "`hookctl run wait --stall 15m`" in start(lab)


def test_the_text_can_be_set_and_is_cut(lab: Lab) -> None:
    lab.config(**ON, guidance_text="left {remaining}, limit {limit}, {task} " + "x" * 2000).task(remaining=3)
    text = start(lab)
    assert text.startswith("left 3, limit 5, {task} x")
    assert len(text) == 1200


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{blocks} of {limit}, {remaining} left", "1 of 5, 3 left"),
        ("{env:TASK} and {env:OTHER}", "t_42 and {env:OTHER}"),
        ("{env:NASTY}", "a{remaining}b"),  # no line break, and not expanded again
        ("{env:GONE}|", "|"),
        ("{tools} {what} {", " {what} {"),
    ],
)
def test_what_a_text_shows(lab: Lab, text: str, shown: str) -> None:
    lab.config(reason=text, show_env=["TASK", "NASTY", "GONE"]).task(remaining=3)
    lab.environment |= {"TASK": "t_42", "OTHER": "secret", "NASTY": "a\n\x1b{remaining}b"}
    assert json.loads(lab.call("stop", stop_hook_active=False))["reason"] == shown


@pytest.mark.parametrize(
    ("mode", "crumb", "fields", "is_said"),
    [
        ("keepalive", True, {"source": "resume"}, True),
        ("keepalive", True, {}, True),
        ("keepalive", True, {"source": "compact"}, False),
        ("keepalive", True, {"source": "clear"}, False),
        ("keepalive", False, {"source": "resume"}, False),
        ("breaker", True, {"source": "resume"}, False),
    ],
)
def test_a_run_that_was_cut_off_is_told_so(
    lab: Lab, mode: str, crumb: bool, fields: dict[str, str], is_said: bool
) -> None:
    lab.config(**ON, mode=mode, claim=False).task(remaining=3)
    lab.arm()
    assert lab.stops("01") == "BB"  # and then the agent is killed
    if not crumb:
        (lab.folder / "RESPAWN_REQUESTED").unlink(missing_ok=True)
    elif mode == "breaker":
        (lab.folder / "RESPAWN_REQUESTED").touch()
    assert ("was cut off" in start(lab, **fields)) == is_said


def is_told(lab: Lab) -> bool:
    """Whether another session is told that the run was cut off."""
    return "was cut off" in start(lab, source="startup", session_id="S2")


def test_another_session_is_told_so_once_the_agents_process_is_gone(lab: Lab) -> None:
    lab.config(**ON, mode="keepalive", claim=False).arm()
    with subprocess.Popen(["sleep", "60"]) as agent:
        lab.environment["CLAUDE_PID"] = str(agent.pid)
        assert lab.stops("01") == "BB"
        lab.environment["CLAUDE_PID"] = str(os.getpid())
        assert not is_told(lab), "it goes on"
        agent.kill()
    assert is_told(lab)


@pytest.mark.parametrize("host", ["claude", "codex", "gemini"])
def test_a_turn_is_ended_in_the_hosts_words(lab: Lab, host: str) -> None:
    lab.config(mode="guard", max_stop_blocks=2)
    lab.host = host
    assert lab.call("stop", stop_hook_active=False) == ""
    said = "hookctl guard: ended a turn that another hook or a goal forces on without progress. Send a prompt to go on."
    expected = {"continue": False, "stopReason": said}
    if host == "claude":
        said += " A goal is not cleared: your next prompt goes on with it, and `/goal clear` ends it."
        expected = {"continue": False, "stopReason": said, "systemMessage": said}
    assert json.loads(lab.call("stop", stop_hook_active=True)) == expected
    assert [(line["decision"], line["code"]) for line in lab.log()] == [("allow", "allowed"), ("end", "stop_loop")]


def test_nothing_of_the_project_or_the_payload_is_said(lab: Lab) -> None:
    lab.config(mode="guard", max_stop_blocks=2).task(remaining=3, heartbeat="evil")
    lab.stop(last_assistant_message="evil")
    said = lab.call("stop", stop_hook_active=True, last_assistant_message="evil", reason="evil")
    assert letter(said) == "H" and "evil" not in said
