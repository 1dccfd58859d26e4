"""OpenCode's plugin in node, with a client that only writes down what it is asked: what the host must never notice."""

import json
from pathlib import Path
from typing import Any

import pytest

from .opencode_stage import AFTER, BEFORE, CALL, IDLE, PROMPT, STOP, Stage, after, before, event, prompt, prompts, reply
from .plugin_stage import BLOCK, NEEDS_NODE, nested

pytestmark = NEEDS_NODE


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_every_hook_gets_the_canonical_payload(stage: Stage) -> None:
    for name in ("session.created", PROMPT, BEFORE, AFTER, STOP, "experimental.session.compacting"):
        stage.hook(name)
    stage.play(
        event("session.created", id="S"),
        prompt("U1", "begin"),
        before(),
        after(),
        ["experimental.session.compacting", {"sessionID": "S"}, {}],
        reply(),
        IDLE,
    )
    about = {"session_id": "S", "cwd": str(stage.project)}
    call = {"tool_name": "bash", "tool_input": {"command": "ls"}}
    response = {"title": "ls", "output": "a\n", "metadata": {"exit": 0}}
    assert stage.heard() == [
        {**about, "hook_event_name": "session.created"},
        {**about, "hook_event_name": PROMPT, "prompt": "begin", "prompt_id": "U1"},
        {**about, "hook_event_name": BEFORE, **call, "prompt_id": "U1"},
        {**about, "hook_event_name": AFTER, **call, "tool_response": response},
        {**about, "hook_event_name": "experimental.session.compacting"},
        {**about, "hook_event_name": STOP, "stop_hook_active": False, "prompt_id": "U1", "message_id": "R"},
    ]


def test_a_block_prompts_the_session_with_the_same_agent_and_model(stage: Stage) -> None:
    result = stage.hook(STOP, BLOCK).play(prompt(), reply(), IDLE)
    part = {"type": "text", "text": "go on", "metadata": {"hookctl": True}}
    model = {"providerID": "P", "modelID": "M"}
    body = {"agent": "plan", "variant": "high", "model": model, "parts": [part]}
    assert prompts(result) == [{"path": {"id": "S"}, "body": body}]


def test_a_prompt_of_ours_is_no_humans_and_makes_the_next_stop_a_forced_one(stage: Stage) -> None:
    stage.hook(STOP).hook(PROMPT)
    ours = prompt("U2", "go on", ours=True)
    stage.play(prompt("U1"), reply("R1"), IDLE, ours, reply("R2"), IDLE, prompt("U3"), reply("R3"), IDLE)
    assert [heard["prompt_id"] for heard in stage.heard() if heard["hook_event_name"] == PROMPT] == ["U1", "U3"]
    stops = [heard for heard in stage.heard() if heard["hook_event_name"] == STOP]
    assert [(stop["prompt_id"], stop["stop_hook_active"]) for stop in stops] == [
        ("U1", False), ("U1", True), ("U3", False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "more",
    [{"finish": None}, {"finish": "tool-calls"}, {"error": {"name": "MessageAbortedError"}}, {"summary": True}],
    ids=["a shell command", "a refused permission", "an abort", "a compaction"],
)
def test_an_idle_session_that_did_not_end_its_turn_is_no_stop(stage: Stage, more: dict[str, Any]) -> None:
    result = stage.hook(STOP, BLOCK).play(prompt(), reply(**more), IDLE)
    assert (stage.heard(), prompts(result)) == ([], [])


@pytest.mark.parametrize("told", [True, False], ids=["created", "looked up"])
def test_a_subagent_does_not_stop_and_calls_tools_in_the_main_session(stage: Stage, told: bool) -> None:
    stage.children = {} if told else {"K": "S"}
    stage.hook(STOP, BLOCK).hook(PROMPT).hook(BEFORE).hook("session.created")
    born = [event("session.created", id="K", parentID="S")] if told else []
    idle = ["event", {"event": {"type": STOP, "properties": {"sessionID": "K"}}}]
    result = stage.play(*born, prompt("U2", session="K"), before(session="K"), reply(sessionID="K"), idle)
    assert [(heard["session_id"], heard["agent_id"]) for heard in stage.heard()] == [("S", "K")]
    assert prompts(result) == []


ADDED = nested("PostToolUse", additionalContext="look")
FEEDBACK = {
    "context": f"echo '{ADDED}'",
    "a block": """echo '{"decision":"block","reason":"look"}'""",
    "status 2": "echo look >&2; exit 2",
}


@pytest.mark.parametrize("name", FEEDBACK)
def test_what_a_hook_says_of_a_result_stands_behind_it(stage: Stage, name: str) -> None:
    mcp = [AFTER, CALL, {"content": [{"type": "text", "text": "pong"}]}]
    text, contents = stage.hook(AFTER, command=FEEDBACK[name]).play(after(), mcp)["given"]
    assert text["output"] == "a\n\n\nlook"
    assert contents["content"] == [{"type": "text", "text": "pong"}, {"type": "text", "text": "look"}]


def test_a_hook_replaces_what_a_tool_gave(stage: Stage) -> None:
    mcp = [AFTER, CALL, {"content": [{"type": "text", "text": "key"}]}]
    answer = nested("PostToolUse", updatedToolOutput="***", additionalContext="look")
    text, contents = stage.hook(AFTER, answer).play(after(), mcp)["given"]
    assert text["output"] == "***\n\nlook"
    assert [part["text"] for part in contents["content"]] == ["***", "look"]


@pytest.mark.parametrize("mood", ["throws", "rejects"])
def test_a_host_that_answers_with_errors_is_left_alone(stage: Stage, mood: str) -> None:
    stage.client = mood
    stage.hook(STOP, '{"decision":"block","reason":"go on","systemMessage":"look"}').hook(BEFORE, '{"decision":"deny"}')
    result = stage.play(prompt(), before(), reply(), IDLE)
    assert result["ended"] == ["", "A hook refused this call.", "", ""]
    assert len(prompts(result)) == 1


def test_the_end_waits_for_a_hook_and_prompts_nobody_any_more(stage: Stage) -> None:
    mark = stage.root / "ran"
    answer = json.dumps({"decision": "block", "reason": "go on", "systemMessage": "look"})
    stage.hook(STOP, command=f"sleep 0.3; touch {mark}; echo '{answer}'")
    result = stage.play(prompt(), reply(), ["later", *IDLE], ["dispose"], ["exists", str(mark)])
    assert result["ended"][-1] is True
    assert [name for name, _ in result["asked"]] == ["get"]


def test_two_files_that_see_the_same_stop_prompt_once(stage: Stage) -> None:
    stage.files.append(stage.project_file)
    result = stage.hook(STOP, BLOCK).play(prompt(), reply(), IDLE)
    assert (len(stage.heard()), len(prompts(result))) == (2, 1)


def test_the_project_is_that_of_the_file_and_else_where_the_agent_works(stage: Stage) -> None:
    stage.hook(BEFORE).play(before())
    stage.files = [stage.root / "repository" / ".opencode" / "plugin" / "hookctl.js"]
    (stage.root / "repository").mkdir()
    (stage.root / "repository" / "package.json").write_text('{"type": "module"}')
    stage.play(before())
    assert stage.projects() == [str(stage.project), str(stage.root / "repository")]
