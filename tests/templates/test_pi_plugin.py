"""Pi's extension in node, with a host that only writes down what it is asked: what only this host has."""

import json
from pathlib import Path

import pytest

from .pi_stage import (
    AFTER,
    BEFORE,
    COMPACT,
    END,
    PROMPT,
    PROMPT_OF_OURS,
    REPLY,
    START,
    STOP,
    USER,
    Stage,
    after,
    before,
    custom,
    message,
    settle,
    typed,
)
from .plugin_stage import BLOCK, DENY, NEEDS_NODE, nested

pytestmark = NEEDS_NODE


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def added(text: str) -> str:
    return nested("E", additionalContext=text)


def test_every_hook_gets_the_canonical_payload(stage: Stage) -> None:
    for name in (START, PROMPT, BEFORE, AFTER, STOP, COMPACT, END):
        stage.hook(name)
    stage.play(
        [START, {"reason": "startup"}],
        typed(),
        before(),
        after(),
        settle(),
        [COMPACT, {"reason": "manual", "customInstructions": "short"}],
        [END, {"reason": "quit"}],
    )
    about = {"session_id": "S", "transcript_path": "/s.jsonl", "cwd": str(stage.project)}
    call = {"tool_name": "bash", "tool_input": {"command": "ls"}, "tool_use_id": "C", "prompt_id": "U"}
    response = {"output": "a\n", "details": {"x": 1}, "is_error": False}
    stop = {"stop_hook_active": False, "prompt_id": "U", "message_id": "R", "last_assistant_message": "done"}
    assert stage.heard() == [
        {**about, "hook_event_name": START, "source": "startup"},
        {**about, "hook_event_name": PROMPT, "prompt": "begin"},
        {**about, "hook_event_name": BEFORE, **call},
        {**about, "hook_event_name": AFTER, **call, "tool_response": response},
        {**about, "hook_event_name": STOP, **stop},
        {**about, "hook_event_name": COMPACT, "trigger": "manual", "custom_instructions": "short"},
        {**about, "hook_event_name": END, "reason": "quit"},
    ]


def test_a_block_is_a_prompt_of_its_own_behind_the_entries_of_others(stage: Stage) -> None:
    theirs = custom("X", "theirs")
    assert stage.hook(STOP, BLOCK).play(settle("completed", theirs))["answers"] == [
        {"entries": [theirs, PROMPT_OF_OURS], "continue": True}
    ]


def test_a_message_of_a_person_that_waits_comes_first(stage: Stage) -> None:
    stage.context["pending"] = True
    assert stage.hook(STOP, BLOCK).play(settle())["answers"] == [None]
    assert len(stage.heard()) == 1


def test_two_files_that_see_the_same_stop_hear_the_same_and_prompt_once(stage: Stage) -> None:
    stage.files.append(stage.project_file)
    first, second = stage.hook(STOP, BLOCK).play(settle())["answers"]
    assert (first["entries"], second) == ([PROMPT_OF_OURS], None)
    assert len(stage.lines()) == 2 and len(set(stage.lines())) == 1


TURNS = {
    "a prompt": ([USER, REPLY], False, "U", "R"),
    "behind ours": ([USER, REPLY, custom("O", "hookctl"), message("R2", "assistant", "more")], True, "U", "R2"),
    "behind what hooks add": ([USER, custom("O", "hookctl-context"), REPLY], False, "U", "R"),
    "a new prompt": ([USER, REPLY, custom("O", "hookctl"), message("V", "user", "x"), REPLY], False, "V", "R"),
    "none at all": ([], False, None, None),
}


@pytest.mark.parametrize("name", TURNS)
def test_a_stop_behind_a_prompt_of_ours_is_a_forced_one_until_a_person_says_something(stage: Stage, name: str) -> None:
    stage.entries, forced, prompt, reply = TURNS[name]
    stage.hook(STOP).play(settle())
    (heard,) = stage.heard()
    assert (heard["stop_hook_active"], heard.get("prompt_id"), heard.get("message_id")) == (forced, prompt, reply)


def test_the_end_of_the_turn_is_an_abort_with_words_for_the_person(stage: Stage) -> None:
    answer = json.dumps({"decision": "deny", "reason": "enough", "continue": False})
    result = stage.hook(BEFORE, answer).hook(BEFORE, DENY).play(before())
    assert result["answers"] == [{"block": True, "reason": "enough"}]
    assert result["asked"] == [["notify", "enough", "warning"], ["abort"]]


def test_what_hooks_say_of_a_call_stands_behind_its_own_result_once(stage: Stage) -> None:
    stage.hook(BEFORE, added("before")).hook(AFTER, added("after"), matcher="bash")
    answers = stage.play(before(), after("D", "b\n"), after(), after())["answers"]
    told = [[part["text"] for part in answer["content"]] for answer in answers[1:]]
    assert told == [["b\n", "after"], ["a\n", "before\n\nafter"], ["a\n", "after"]]


def test_a_hook_replaces_what_a_tool_gave(stage: Stage) -> None:
    answer = nested("PostToolUse", updatedToolOutput="***", additionalContext="look")
    kind, told = after()
    (answer,) = stage.hook(AFTER, answer).play([kind, {**told, "structuredContent": {"key": 1}}])["answers"]
    assert ([part["text"] for part in answer["content"]], answer.get("structuredContent")) == (["***", "look"], None)


def test_a_refused_prompt_is_handled_and_the_person_reads_why(stage: Stage) -> None:
    result = stage.hook(PROMPT, command="echo not now >&2; exit 2").play(typed())
    assert result["answers"] == [{"action": "handled"}]
    assert result["asked"] == [["notify", "not now", "warning"]]


def test_context_of_the_start_and_of_a_prompt_goes_with_the_next_prompt(stage: Stage) -> None:
    result = stage.hook(START, added("begun")).hook(PROMPT, added("look")).play([START, {"reason": "new"}], typed())
    told = {"customType": "hookctl-context", "display": False}
    next_turn = {"deliverAs": "nextTurn"}
    assert result["asked"] == [
        ["sendMessage", {**told, "content": "begun"}, next_turn],
        ["sendMessage", {**told, "content": "look"}, next_turn],
    ]
    assert result["answers"] == [None, None]


def test_a_session_begins_once_and_a_reload_is_neither_its_begin_nor_its_end(stage: Stage) -> None:
    stage.hook(START).hook(END)
    again = [START, {"reason": "new"}]
    stage.play([START, {"reason": "reload"}], again, again, [END, {"reason": "reload"}], [END, {"reason": "new"}])
    start, end = stage.heard()
    assert (start["hook_event_name"], start["source"]) == (START, "new")
    assert (end["hook_event_name"], end["reason"]) == (END, "new")
