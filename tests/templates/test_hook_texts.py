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
TOLD = sorted(name for name in hosts.names() if hosts.load(name).dialect.context)


def start(lab: Lab, **fields: Any) -> str:
    """What the hook tells a session at its start; empty if not a word."""
    answer = lab.call("session-start", **{"source": "startup", **fields})
    if not answer:
        return ""
    value = json.loads(answer)
    inner = value.get("hookSpecificOutput", value)
    assert inner.get("hookEventName", "SessionStart") == "SessionStart"
    return str(inner["additionalContext"])


def test_the_hosts_that_take_context() -> None:
    assert TOLD == ["claude", "codex", "copilot", "droid", "gemini", "openhands", "pi", "qwen", "vscode"]


@pytest.mark.parametrize("host", TOLD)
def test_a_session_is_told_what_waits(lab: Lab, host: str) -> None:
    lab.host = host
    lab.config(**ON).task(remaining=3)
    text = start(lab)
    assert "(3)" in text
    assert "do not poll" in text
    assert len(text) <= 1200


@pytest.mark.parametrize("host", sorted(set(hosts.names()) - set(TOLD)))
def test_a_host_that_takes_none_gets_none(lab: Lab, host: str) -> None:
    lab.host = host
    lab.config(**ON).task(remaining=3)
    assert lab.call("session-start") == ""


@pytest.mark.parametrize(
    ("config", "work", "marks"),
    [
        ({}, 3, []),
        ({"guidance": False}, 3, []),
        (ON, 0, []),
        (ON, None, []),
        (ON, 3, ["STOP"]),
        (ON, 3, ["CONCLUDE"]),
        ({**ON, "mode": "guard"}, 3, []),
        ({**ON, "mode": "off"}, 3, []),
        ({**ON, "mode": "keepalive"}, 3, []),  # no run is active
        ({**ON, "require_arm": True}, 3, []),
        ({**ON, "owner": "S2"}, 3, []),
    ],
)
def test_otherwise_not_a_word(lab: Lab, config: dict[str, Any], work: int | None, marks: list[str]) -> None:
    lab.config(**config)
    if work is not None:
        lab.task(remaining=work)
    for mark in marks:
        lab.mark(mark)
    assert start(lab) == ""


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


# The hook's own words, for agents and for people, in each mode.


def test_the_reminder_is_the_default_words_or_the_operators(lab: Lab) -> None:
    lab.config(required_tools=["a", "b"])
    assert json.loads(lab.call("stop"))["reason"] == "Before you finish, call a or b. Then stop."
    lab.config(required_tools=["a", "b"], nudge_reason="{tools}! {remaining} {x}", reason="of a block")
    lab.task(remaining=0)
    assert json.loads(lab.call("stop", session_id="S2"))["reason"] == "a or b! 0 {x}"


# Mode guard


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


@pytest.mark.parametrize(
    "host", ["qwen", "copilot", "openhands", "cursor", "antigravity", "droid", "hermes", "opencode"]
)
def test_a_host_that_cannot_end_a_turn_hears_nothing_and_the_log_does(lab: Lab, host: str) -> None:
    lab.config(mode="guard", max_stop_blocks=2)
    lab.host = host
    assert [lab.call("stop", stop_hook_active=active) for active in (False, True)] == ["", ""]
    assert [(line["decision"], line["code"]) for line in lab.log()] == [("allow", "allowed"), ("counted", "stop_loop")]


def test_nothing_of_the_project_or_the_payload_is_said(lab: Lab) -> None:
    lab.config(mode="guard", max_stop_blocks=2).task(remaining=3, heartbeat="evil")
    lab.stop(last_assistant_message="evil")
    said = lab.call("stop", stop_hook_active=True, last_assistant_message="evil", reason="evil")
    assert letter(said) == "H" and "evil" not in said


def test_the_release_may_be_in_the_operators_words(lab: Lab) -> None:
    lab.config(max_stop_blocks=1, release_reason="{why}: {remaining}").task(remaining=2)
    assert lab.stops("0") == "B"
    assert json.loads(lab.call("stop", stop_hook_active=True))["systemMessage"] == "after 1 block without progress: 2"


def test_the_refusal_of_a_call_may_be_in_the_operators_words(lab: Lab) -> None:
    lab.config(dispatch_tools=["Task"], dispatch_max=1, dispatch_reason="Enough {remaining}.")
    call = {"tool_name": "Task", "tool_input": {"prompt": "a"}}
    assert lab.call("pre-tool", **call) == ""
    answer = json.loads(lab.call("pre-tool", **call))["hookSpecificOutput"]
    assert answer["permissionDecisionReason"] == "Enough {remaining}."
