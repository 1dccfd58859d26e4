"""The hook's own words, for agents and for people, in each mode."""

import json
from typing import Any

import pytest

from hookctl.packs.choices import PRESETS

from .lab import Lab, letter

NEXT = "Continue with the next step. To wait for something, run one command that blocks until it is there; do not poll."
GOES_ON = f"This run goes on until the person who started it ends it. {NEXT} If this work is not yours, %s."


def test_keepalives_block_says_who_ends_the_run(lab: Lab) -> None:
    lab.config(mode="keepalive").arm()
    declines = f"make the file {lab.run}/STOP: then no session here is held"
    assert json.loads(lab.call("stop"))["reason"] == GOES_ON % declines


def test_keepalives_release_says_that_the_run_is_still_armed(lab: Lab) -> None:
    lab.config(mode="keepalive", keepalive_cap=2).arm()
    assert lab.stops("01") == "BB"
    assert json.loads(lab.call("stop", stop_hook_active=True))["systemMessage"] == (
        "hookctl guard: stopped blocking after 2 blocks without progress; the run has not ended. "
        f"Send a prompt to go on; the file {lab.run}/STOP ends it."
    )


def test_the_reminder_is_the_default_words_or_the_operators(lab: Lab) -> None:
    lab.config(required_tools=["a", "b"])
    assert json.loads(lab.call("stop"))["reason"] == "Before you finish, call a or b. Then stop."
    lab.config(required_tools=["a", "b"], nudge_reason="{tools}! {remaining} {x}", reason="of a block")
    lab.task(remaining=0)
    assert json.loads(lab.call("stop", session_id="S2"))["reason"] == "a or b! 0 {x}"


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


def test_a_number_that_nobody_knows_is_called_unknown(lab: Lab) -> None:
    lab.config(mode="keepalive", reason="{remaining}").arm()
    assert json.loads(lab.call("stop"))["reason"] == "unknown"
    lab.task(remaining=0)
    assert json.loads(lab.call("stop", stop_hook_active=True))["reason"] == "0"


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


@pytest.mark.parametrize(("host", "active", "prompt", "codes"), [
    ("claude", True, "p1", ["went_on", "allowed"]),
    ("claude", False, "p1", ["allowed"]),
    ("claude", True, "p2", ["allowed"]),
    ("qwen", True, "p1", ["allowed"]),
])  # fmt: skip
def test_the_log_says_that_a_host_went_on_after_the_end_of_its_turn(
    lab: Lab, host: str, active: bool, prompt: str, codes: list[str]
) -> None:
    lab.config(mode="guard", max_stop_blocks=2)
    lab.host = host
    lab.stops("01", prompt_id="p1")
    lab.stop(active, prompt_id=prompt)
    assert lab.codes() == ["allowed", "stop_loop", *codes]
    assert [line["decision"] for line in lab.log() if line["code"] == "went_on"] == ["counted"] * codes.count("went_on")


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


# Who says how much is left: with a file of another system, its field in its file, and no command that is refused.
THEIRS = {"task_file": "a.json:b.json", "task_fields": ["remaining=left"]}
SAID = [
    ({}, ".hookctl/run/task.json", "set `remaining` in {path}"),
    ({"run_dir": "work"}, "work/task.json", "set `remaining` in {path}"),
    ({"task_file": "todo.json"}, "todo.json", "set `remaining` in {path}"),
    (THEIRS, "b.json", "`left` in {path} has to say so, which its own system writes"),
    ({**THEIRS, "task_env": "TASK"}, "c.json", "`left` in {path} has to say so, which its own system writes"),
    (THEIRS, ".hookctl/run/task.json", "set `remaining` in {path}"),  # it has none yet
    (PRESETS["bmad"], ".claude/.story-automator-active", "`storiesRemaining` in {path} has to say so, which its own"),
]


@pytest.mark.parametrize("has_command", [True, False])
@pytest.mark.parametrize(("config", "file", "words"), SAID)
def test_the_texts_name_the_file_and_the_field_in_force(
    lab: Lab, config: dict[str, Any], file: str, words: str, has_command: bool
) -> None:
    lab.config(**{**config, "guidance": True})
    lab.environment["TASK"] = "c.json"
    if has_command:
        program = lab.root / "bin" / "hookctl"
        program.parent.mkdir()
        program.touch(0o755)
        lab.environment["PATH"] = str(program.parent)
    path = lab.project / file
    path.parent.mkdir(exist_ok=True)
    path.write_text('{"remaining": 3, "left": 3, "storiesRemaining": 3}')
    for said in (lab.call("stop"), lab.call("session-start", source="resume", session_id="S1")):
        text = said.replace("\\", "")
        assert words.format(path=path) in text
        assert ("run remaining N" in text) == (has_command and "which its own" not in words)
