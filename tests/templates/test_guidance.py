"""Guidance at a session's start, and what texts may show: numbers, and the variables that the configuration names."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest

from hookctl import hosts

from .lab import Lab

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


def test_a_session_that_does_not_own_the_work_is_told_nothing(lab: Lab) -> None:
    lab.config(**ON).task(remaining=3)
    assert start(lab, session_id="S1"), "nobody holds it yet"
    assert lab.stop(session_id="S1") == "B"
    assert start(lab, session_id="S1", source="resume")
    assert start(lab, session_id="S2") == ""


def test_a_run_that_goes_on_is_told_too(lab: Lab) -> None:
    lab.config(**ON, mode="keepalive")
    lab.arm()
    assert "A run is going on" in start(lab)


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
