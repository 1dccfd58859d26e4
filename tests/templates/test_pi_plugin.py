"""Pi's extension in node, with a host that only writes down what it is asked. What all plugins do: OpenCode's test."""

import json
from pathlib import Path
from typing import Any

import pytest

from . import plugin_stage

pytestmark = plugin_stage.NEEDS_NODE

START, PROMPT, BEFORE, AFTER = "session_start", "input", "tool_call", "tool_result"
STOP, COMPACT, END = "agent_before_settle", "session_before_compact", "session_shutdown"

# Loads each extension, gives the steps to their handlers one after another, and prints what each answered, and what
# the host was asked. `entries` are those of the session, the last one is its leaf.
_HOST = """
import { readFileSync, writeFileSync } from "node:fs"
const { files, steps, entries, context: about, result } = JSON.parse(readFileSync(0, "utf8"))
const asked = []
const ask = (name) => (...given) => void asked.push([name, ...given])
const linked = entries.map((entry, number) => ({ parentId: entries[number - 1]?.id ?? null, ...entry }))
const byId = new Map(linked.map((entry) => [entry.id, entry]))
const context = {
  cwd: about.cwd,
  hasUI: about.hasUI,
  ui: { notify: about.mute ? () => { throw new Error("gone") } : ask("notify") },
  abort: ask("abort"),
  hasPendingMessages: () => about.pending,
  sessionManager: {
    getSessionId: () => about.session,
    getSessionFile: () => about.file,
    getLeafId: () => entries.at(-1)?.id ?? null,
    getEntry: (id) => byId.get(id),
  },
}
const handlers = []
for (const file of files) {
  const own = {}
  ;(await import(file)).default({ on: (name, handle) => (own[name] = handle), sendMessage: ask("sendMessage") })
  handlers.push(own)
}
const answers = []
for (const [name, event] of steps) {
  let told = { type: name, ...event }
  for (const own of handlers) {
    const answer = await own[name](told, context)
    answers.push(answer ?? null)
    if (name === "agent_before_settle") told = { ...told, ...answer }
  }
}
writeFileSync(result, JSON.stringify({ answers, asked, given: steps.map((step) => step.at(-1)) }))
"""


class Stage(plugin_stage.Stage):
    host, program, writes_errors = "pi", _HOST, True

    def __init__(self, root: Path) -> None:
        super().__init__(root, "agent/extensions", ".pi/extensions")
        self.entries: list[dict[str, Any]] = [SYSTEM, USER, REPLY]
        self.context: dict[str, Any] = {
            "cwd": str(self.project), "session": "S", "file": "/s.jsonl", "hasUI": True, "pending": False,
        }  # fmt: skip

    def given(self) -> dict[str, Any]:
        return {"entries": self.entries, "context": self.context}


def message(id: str, role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "id": id, "message": {"role": role, "content": [{"type": "text", "text": text}]}}


def custom(id: str, kind: str) -> dict[str, Any]:
    return {"type": "custom_message", "id": id, "customType": kind, "content": "go on"}


SYSTEM, USER, REPLY = message("E", "system", "s"), message("U", "user", "begin"), message("R", "assistant", "done")
BLOCK = json.dumps({"decision": "block", "reason": "go on"})
DENY = json.dumps({"decision": "deny", "reason": "not this one"})
PROMPT_OF_OURS = {"type": "custom_message", "customType": "hookctl", "content": "go on", "display": True}


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def settle(outcome: str = "completed", *entries: Any) -> list[Any]:
    return [STOP, {"outcome": outcome, "entries": list(entries), "continue": False}]


def before(tool: str = "bash", **input: Any) -> list[Any]:
    return [BEFORE, {"toolName": tool, "toolCallId": "C", "input": input or {"command": "ls"}}]


def after(call: str = "C", text: str = "a\n", failed: bool = False) -> list[Any]:
    content = [{"type": "text", "text": text}]
    about = {"toolName": "bash", "toolCallId": call, "input": {"command": "ls"}, "details": {"x": 1}}
    return [AFTER, {**about, "content": content, "isError": failed}]


def typed(text: str = "begin", **more: Any) -> list[Any]:
    return [PROMPT, {"text": text, "source": "interactive", **more}]


def nested(event: str, **answer: Any) -> str:
    """What a hook for Claude Code answers."""
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **answer}})


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


@pytest.mark.parametrize("answer", ["", "{}", '{"decision":"block"}', '{"decision":"block","reason":""}', DENY])
def test_no_block_or_one_without_a_reason_changes_nothing(stage: Stage, answer: str) -> None:
    assert stage.hook(STOP, answer).play(settle())["answers"] == [None]


def test_an_error_of_the_model_is_no_stop(stage: Stage) -> None:
    assert stage.hook(STOP, BLOCK).play(settle("error"), settle("aborted"))["answers"] == [None, None]
    assert stage.heard() == []


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


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (f"echo '{DENY}'", "not this one"),
        ("echo not this one >&2; exit 2", "not this one"),
        ("exit 2", "A hook refused this call."),
    ],
)
def test_a_refused_call_is_blocked_with_its_reason(stage: Stage, command: str, reason: str) -> None:
    result = stage.hook(BEFORE, command=command, matcher="Bash").play(before(), before("read"))
    assert result["answers"] == [{"block": True, "reason": reason}, None]
    assert result["asked"] == []


def test_the_end_of_the_turn_is_an_abort_with_words_for_the_person(stage: Stage) -> None:
    answer = json.dumps({"decision": "deny", "reason": "enough", "continue": False})
    result = stage.hook(BEFORE, answer).hook(BEFORE, DENY).play(before())
    assert result["answers"] == [{"block": True, "reason": "enough"}]
    assert result["asked"] == [["notify", "enough", "warning"], ["abort"]]


def test_a_refusal_holds_where_nobody_can_be_told_of_it(stage: Stage) -> None:
    stage.context["mute"] = True
    answer = json.dumps({"decision": "deny", "reason": "enough", "continue": False, "systemMessage": "look"})
    result = stage.hook(BEFORE, answer).play(before())
    assert result["answers"] == [{"block": True, "reason": "enough"}]
    assert result["asked"] == [["abort"]]


def test_a_changed_input_replaces_the_keys_that_it_names(stage: Stage) -> None:
    stage.hook(BEFORE, nested("PreToolUse", updatedInput={"command": "ls -a"}))
    (given,) = stage.play(before(command="ls", timeout=5))["given"]
    assert given["input"] == {"command": "ls -a", "timeout": 5}


def test_what_hooks_say_of_a_call_stands_behind_its_own_result_once(stage: Stage) -> None:
    stage.hook(BEFORE, added("before")).hook(AFTER, added("after"), matcher="bash")
    answers = stage.play(before(), after("D", "b\n"), after(), after())["answers"]
    told = [[part["text"] for part in answer["content"]] for answer in answers[1:]]
    assert told == [["b\n", "after"], ["a\n", "before\n\nafter"], ["a\n", "after"]]


@pytest.mark.parametrize("command", ["""echo '{"decision":"block","reason":"wrong"}'""", "echo wrong >&2; exit 2"])
def test_why_a_call_was_wrong_stands_behind_its_result(stage: Stage, command: str) -> None:
    (answer,) = stage.hook(AFTER, command=command).play(after())["answers"]
    assert [part["text"] for part in answer["content"]] == ["a\n", "wrong"]


def test_structured_content_stays_beside_what_a_hook_adds(stage: Stage) -> None:
    kind, told = after()
    (answer,) = stage.hook(AFTER, added("look")).play([kind, {**told, "structuredContent": {"a": 1}}])["answers"]
    assert answer["structuredContent"] == {"a": 1}


def test_hooks_that_add_nothing_say_nothing_to_the_model(stage: Stage) -> None:
    result = stage.hook(START).hook(PROMPT).play([START, {"reason": "new"}], typed(), typed(streamingBehavior="steer"))
    assert (result["asked"], result["answers"]) == ([], [None] * 3)


def test_a_result_without_words_of_hooks_stays_as_it_is(stage: Stage) -> None:
    assert stage.hook(AFTER).play(after(failed=True))["answers"] == [None]
    assert stage.heard()[0]["tool_response"]["is_error"] is True


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


def test_context_of_a_prompt_that_is_typed_while_the_agent_works_is_a_part_of_it(stage: Stage) -> None:
    result = stage.hook(PROMPT, added("look")).play(typed("stop that", streamingBehavior="steer"))
    assert result["answers"] == [{"action": "transform", "text": "stop that\n\nlook"}]
    assert result["asked"] == []


def test_a_session_begins_once_and_a_reload_is_neither_its_begin_nor_its_end(stage: Stage) -> None:
    stage.hook(START).hook(END)
    again = [START, {"reason": "new"}]
    stage.play([START, {"reason": "reload"}], again, again, [END, {"reason": "reload"}], [END, {"reason": "new"}])
    start, end = stage.heard()
    assert (start["hook_event_name"], start["source"]) == (START, "new")
    assert (end["hook_event_name"], end["reason"]) == (END, "new")


def test_a_message_is_shown_or_written_to_stderr_where_nobody_looks(stage: Stage) -> None:
    stage.hook(STOP, '{"systemMessage":"let go"}')
    assert stage.play(settle())["asked"] == [["notify", "let go", "warning"]]
    stage.context["hasUI"] = False
    result = stage.play(settle())
    assert (result["asked"], result["errors"]) == ([], "let go\n")


@pytest.mark.parametrize("hooks", [None, 5, {STOP: 5, BEFORE: {}}, {BEFORE: [None, {"command": 5}]}])
def test_settings_that_somebody_broke_do_nothing(stage: Stage, hooks: Any) -> None:
    stage.document = stage.document.set(("hooks",), hooks)
    assert stage.play(before(), after(), typed(), settle())["answers"] == [None] * 4


def test_a_host_that_answers_otherwise_than_expected_is_left_alone(stage: Stage) -> None:
    stage.hook(BEFORE, DENY).hook(STOP, BLOCK)
    assert stage.play([BEFORE, {}], [STOP, {"outcome": "completed"}], [AFTER, {}])["answers"][1:] == [None, None]
