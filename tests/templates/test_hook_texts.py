"""The hook's own words, for agents and for people, in each mode."""

import json

import pytest

from .lab import Lab, letter


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
