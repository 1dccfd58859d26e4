"""OpenCode's plugin in node, with a client that only writes down what it is asked: what the host must never notice."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from . import plugin_stage

pytestmark = plugin_stage.NEEDS_NODE

STOP, PROMPT, BEFORE, AFTER = "session.idle", "chat.message", "tool.execute.before", "tool.execute.after"

# Loads each plugin, plays the steps one after another, and prints how each ended and what the client was asked.
_HOST = """
import { existsSync, readFileSync, writeFileSync } from "node:fs"
const { files, directory, steps, children, client: mood, result } = JSON.parse(readFileSync(0, "utf8"))
setInterval(() => {}, 1000) // a host has always something to do
const asked = []
const ask = (name) => (options) => {
  asked.push([name, options])
  if (mood === "throws") throw new Error(name)
  if (mood === "rejects") return Promise.reject(new Error(name))
  if (mood === "hangs") return new Promise(() => {})
  return Promise.resolve({ data: name === "get" ? { id: options.path.id, parentID: children[options.path.id] } : true })
}
const client = {
  session: { get: ask("get"), promptAsync: ask("promptAsync") },
  tui: { showToast: ask("showToast") },
  app: { log: ask("log") },
}
const plugins = []
for (const file of files) {
  const all = Object.values(await import(file))
  plugins.push(await all[0]({ client, directory, worktree: "/" }))
}
const ended = []
const pending = []
for (const [name, ...given] of steps) {
  try {
    if (name === "exists") ended.push(existsSync(given[0]))
    else if (name === "later") pending.push(...plugins.map((plugin) => plugin[given[0]](...given.slice(1))))
    else ended.push((await Promise.all(plugins.map((plugin) => plugin[name](...given))), ""))
  } catch (error) {
    ended.push(error.message)
  }
}
await Promise.all(pending)
writeFileSync(result, JSON.stringify({ ended, asked, given: steps.map((step) => step.at(-1)) }))
process.exit(0)
"""


class Stage(plugin_stage.Stage):
    host, project_variable = "opencode", "OPENCODE_PROJECT_DIR"
    program = _HOST

    def __init__(self, root: Path) -> None:
        super().__init__(root, "config/opencode/plugin", ".opencode/plugin")
        self.directory = self.project
        self.children: dict[str, str] = {}
        self.client = ""

    def given(self) -> dict[str, Any]:
        return {"directory": str(self.directory), "children": self.children, "client": self.client}

    def projects(self) -> list[str]:
        return [line.partition("\t")[0] for line in self.lines()]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


BLOCK = json.dumps({"decision": "block", "reason": "go on"})
IDLE = ["event", {"event": {"type": STOP, "properties": {"sessionID": "S"}}}]
CALL = {"tool": "bash", "sessionID": "S", "callID": "C", "args": {"command": "ls"}}
DONE = {"agent": "plan", "variant": "high", "providerID": "P", "modelID": "M", "finish": "stop"}


def event(kind: str, **info: Any) -> list[Any]:
    return ["event", {"event": {"type": kind, "properties": {"sessionID": info.get("sessionID", "S"), "info": info}}}]


def reply(id: str = "R", **more: Any) -> list[Any]:
    """The host's word about a reply of the model."""
    return event(
        "message.updated", **{"id": id, "role": "assistant", "sessionID": "S", "parentID": "U", **DONE, **more}
    )


def prompt(id: str = "U1", text: str = "begin", *, session: str = "S", ours: bool = False) -> list[Any]:
    part = {"type": "text", "text": text, **({"metadata": {"hookctl": True}} if ours else {})}
    return [PROMPT, {"sessionID": session}, {"message": {"id": id}, "parts": [part]}]


def before(tool: str = "bash", session: str = "S") -> list[Any]:
    return [BEFORE, {**CALL, "tool": tool, "sessionID": session}, {"args": {"command": "ls"}}]


def after() -> list[Any]:
    return [AFTER, CALL, {"title": "ls", "output": "a\n", "metadata": {"exit": 0}}]


def prompts(result: dict[str, Any]) -> list[Any]:
    return [options for name, options in result["asked"] if name == "promptAsync"]


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


@pytest.mark.parametrize(
    "answer", ["", "{}", '{"decision":"block"}', '{"decision":"block","reason":""}', '{"reason":"x"}']
)
def test_no_block_or_one_without_a_reason_prompts_nobody(stage: Stage, answer: str) -> None:
    assert prompts(stage.hook(STOP, answer).play(prompt(), reply(), IDLE)) == []


def test_a_status_of_2_is_no_block_of_a_stop(stage: Stage) -> None:
    assert prompts(stage.hook(STOP, command="echo go on >&2; exit 2").play(prompt(), reply(), IDLE)) == []


def test_a_prompt_of_ours_is_no_humans_and_makes_the_next_stop_a_forced_one(stage: Stage) -> None:
    stage.hook(STOP).hook(PROMPT)
    ours = prompt("U2", "go on", ours=True)
    stage.play(prompt("U1"), reply("R1"), IDLE, ours, reply("R2"), IDLE, prompt("U3"), reply("R3"), IDLE)
    assert [heard["prompt_id"] for heard in stage.heard() if heard["hook_event_name"] == PROMPT] == ["U1", "U3"]
    stops = [heard for heard in stage.heard() if heard["hook_event_name"] == STOP]
    assert [(stop["prompt_id"], stop["stop_hook_active"]) for stop in stops] == [
        ("U1", False), ("U1", True), ("U3", False),
    ]  # fmt: skip


def test_a_stop_in_a_session_that_was_prompted_before_the_plugin_came_names_the_prompt_too(stage: Stage) -> None:
    stage.hook(STOP).play(reply(), IDLE)
    assert [(stop["prompt_id"], stop["stop_hook_active"]) for stop in stage.heard()] == [("U", False)]


@pytest.mark.parametrize(
    "more",
    [{"finish": None}, {"finish": "tool-calls"}, {"error": {"name": "MessageAbortedError"}}, {"summary": True}],
    ids=["a shell command", "a refused permission", "an abort", "a compaction"],
)
def test_an_idle_session_that_did_not_end_its_turn_is_no_stop(stage: Stage, more: dict[str, Any]) -> None:
    result = stage.hook(STOP, BLOCK).play(prompt(), reply(**more), IDLE)
    assert (stage.heard(), prompts(result)) == ([], [])


def test_a_second_idle_without_a_new_reply_is_no_stop(stage: Stage) -> None:
    stage.hook(STOP).play(prompt(), reply(), IDLE, IDLE)
    assert len(stage.heard()) == 1


@pytest.mark.parametrize("told", [True, False], ids=["created", "looked up"])
def test_a_subagent_does_not_stop_and_calls_tools_in_the_main_session(stage: Stage, told: bool) -> None:
    stage.children = {} if told else {"K": "S"}
    stage.hook(STOP, BLOCK).hook(PROMPT).hook(BEFORE).hook("session.created")
    born = [event("session.created", id="K", parentID="S")] if told else []
    idle = ["event", {"event": {"type": STOP, "properties": {"sessionID": "K"}}}]
    result = stage.play(*born, prompt("U2", session="K"), before(session="K"), reply(sessionID="K"), idle)
    assert [(heard["session_id"], heard["agent_id"]) for heard in stage.heard()] == [("S", "K")]
    assert prompts(result) == []


def nested(event: str = "PreToolUse", **answer: Any) -> str:
    """What a hook for Claude Code answers."""
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **answer}})


DENIED = nested(permissionDecision="deny", permissionDecisionReason="not this one")
REFUSALS = {
    "deny": """echo '{"decision":"deny","reason":"not this one"}'""",
    "block": """echo '{"decision":"block","reason":"not this one"}'""",
    "nested": f"echo '{DENIED}'",
    "nested, ask": "echo '" + DENIED.replace('"deny"', '"ask"') + "'",
    "nested, with another status": f"echo '{DENIED}'; exit 3",
    "status 2": "echo not this one >&2; exit 2",
    "nested, beside what it leaves behind": f"sleep 9 >/dev/null & echo '{DENIED}'",
    "status 2, and what it leaves behind": "sleep 9 >/dev/null & echo not this one >&2; exit 2",
    "nested, beside what holds its streams": f"sleep 9 & echo '{DENIED}'",
    "status 2, beside what holds its streams": "sleep 9 & echo not this one >&2; exit 2",
    "status 2, and its reason on stdout": f"echo '{DENIED}'; echo another >&2; exit 2",
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_reaches_the_model_as_the_tools_error(stage: Stage, name: str) -> None:
    stage.hook(BEFORE, command=REFUSALS[name], matcher="bash", timeout=5)
    assert stage.play(before(), before("edit"))["ended"] == ["not this one", ""]


def test_a_timeout_that_no_timer_can_hold_is_a_very_long_one(stage: Stage) -> None:
    stage.hook(BEFORE, command=f"sleep 0.1; echo '{DENIED}'", timeout=2**31)
    assert stage.play(before())["ended"] == ["not this one"]


@pytest.mark.parametrize(
    "command", ["""echo '{"decision":"deny"}'""", "exit 2", f"echo '{nested(permissionDecision='deny')}'"]
)
def test_a_refusal_without_a_reason_refuses_too(stage: Stage, command: str) -> None:
    assert stage.hook(BEFORE, command=command).play(before())["ended"] == ["A hook refused this call."]


def test_a_changed_input_replaces_the_keys_that_it_names(stage: Stage) -> None:
    stage.hook(BEFORE, nested(permissionDecision="allow", updatedInput={"command": "ls -a"}))
    call = [BEFORE, CALL, {"args": {"command": "ls", "timeout": 5}}]
    assert stage.play(call)["given"] == [{"args": {"command": "ls -a", "timeout": 5}}]


@pytest.mark.parametrize("updated", ["ls -a", ["ls"], None, 5])
def test_an_input_of_another_kind_changes_nothing(stage: Stage, updated: Any) -> None:
    assert stage.hook(BEFORE, nested(updatedInput=updated)).play(before())["given"] == [{"args": {"command": "ls"}}]


def test_a_refused_call_keeps_its_input(stage: Stage) -> None:
    stage.hook(BEFORE, nested(updatedInput={"command": "ls -a"})).hook(BEFORE, DENIED)
    assert stage.play(before())["given"] == [{"args": {"command": "ls"}}]


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


def test_context_from_before_a_call_stands_behind_its_own_result_once(stage: Stage) -> None:
    stage.hook(BEFORE, nested(additionalContext="look"))
    other = [AFTER, {**CALL, "callID": "D"}, {"output": "b\n"}]
    given = stage.play(before(), other, after(), after())["given"]
    assert [result["output"] for result in given[1:]] == ["b\n", "a\n\n\nlook", "a\n"]


def test_context_of_a_prompt_and_of_the_start_is_a_part_of_the_prompt(stage: Stage) -> None:
    stage.hook("session.created", nested("SessionStart", additionalContext="begun"))
    stage.hook(PROMPT, nested("UserPromptSubmit", additionalContext="look"))
    first, second = stage.play(event("session.created", id="S"), prompt("U1"), prompt("U2"))["given"][1:]
    added = {"id": "prt_U10", "sessionID": "S", "messageID": "U1", "type": "text", "synthetic": True}
    assert first["parts"][1:] == [{**added, "text": "begun\n\nlook"}]
    assert [part["text"] for part in second["parts"]] == ["begin", "look"]
    assert [heard["prompt"] for heard in stage.heard() if "prompt" in heard] == ["begin", "begin"]


@pytest.mark.parametrize(
    ("matcher", "tools"),
    [
        (None, "bash edit webfetch"),
        ("", "bash edit webfetch"),
        ("*", "bash edit webfetch"),
        ("Bash|Edit", "bash edit"),
        ("b.*", "bash"),
        ("fetch", ""),
        ("(", ""),
    ],
)
def test_a_matcher_is_an_expression_for_the_whole_name_in_any_case(
    stage: Stage, matcher: str | None, tools: str
) -> None:
    stage.hook(BEFORE, **({} if matcher is None else {"matcher": matcher}))
    stage.play(before("bash"), before("edit"), before("webfetch"))
    assert [heard["tool_name"] for heard in stage.heard()] == tools.split()


def test_a_message_is_shown_and_logged(stage: Stage) -> None:
    result = stage.hook(STOP, '{"systemMessage":"let go"}').play(prompt(), reply(), IDLE)
    told = {name: options["body"] for name, options in result["asked"] if name in ("showToast", "log")}
    assert told["showToast"]["message"] == told["log"]["message"] == "let go"


FAILURES = {
    "a missing program": "/nowhere/program",
    "a crash": "echo '{}'; exit 3",
    "a signal": "kill -9 $$",
    "a list": "echo '[1]'",
    "null": "echo null",
    "noise": f"echo note; echo '{BLOCK}'",
    "a permission": "echo '" + DENIED.replace('"deny"', '"allow"') + "'",
    "two answers": f"echo '{BLOCK}'; echo '{BLOCK}'",
    "closed streams": "exec <&- >&-",
    "too much": """printf '{"decision":"block","reason":"'; head -c 3000000 /dev/zero | tr '\\0' x; printf '"}'""",
    "not UTF-8": "printf '\\377\\376'",
}


@pytest.mark.parametrize("name", FAILURES)
def test_whatever_a_command_does_the_agent_goes_on(stage: Stage, name: str) -> None:
    stage.hook(STOP, command=FAILURES[name]).hook(BEFORE, command=FAILURES[name])
    large = [BEFORE, CALL, {"args": {"text": "x" * 300_000}}]
    result = stage.play(prompt(), before(), large, reply(), IDLE)
    assert (set(result["ended"]), prompts(result)) == ({""}, [])


def test_a_project_folder_that_is_gone_starts_no_command_and_harms_nobody(stage: Stage) -> None:
    stage.directory = stage.root / "gone"
    result = stage.hook(STOP, BLOCK).hook(BEFORE, BLOCK).play(prompt(), before(), reply(), IDLE)
    assert (set(result["ended"]), prompts(result)) == ({""}, [])


def test_a_command_that_fails_takes_no_other_with_it(stage: Stage) -> None:
    stage.hook(STOP, command="exit 3").hook(STOP, BLOCK).hook(STOP, command="/nowhere/program")
    assert len(prompts(stage.play(prompt(), reply(), IDLE))) == 1


def test_a_command_that_takes_too_long_is_ended_with_all_its_processes(stage: Stage) -> None:
    mark = stage.root / "late"
    command = f"(sleep 2; touch {mark}) & echo '{BLOCK}'; wait"
    result = stage.hook(STOP, command=command, timeout=0.3).play(prompt(), reply(), IDLE)
    assert prompts(result) == []
    subprocess.run(["sleep", "2.2"], check=True)
    assert not mark.exists()


BROKEN = {
    "no command": [{}],
    "a number": [{"command": 5}],
    "a zero byte": [{"command": "true\0"}],
    "null": [None],
    "text": ["exit 0"],
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_entry_that_somebody_broke_takes_no_other_with_it(stage: Stage, name: str) -> None:
    stage.document = stage.document.set(("hooks", STOP), BROKEN[name])
    result = stage.hook(STOP, BLOCK).play(prompt(), reply(), IDLE)
    assert (set(result["ended"]), len(prompts(result))) == ({""}, 1)


@pytest.mark.parametrize("hooks", [None, 5, {STOP: 5}, {STOP: {}}, {}], ids=["null", "5", "stop 5", "stop {}", "{}"])
def test_settings_that_somebody_broke_do_nothing(stage: Stage, hooks: Any) -> None:
    stage.document = stage.document.set(("hooks",), hooks)
    assert set(stage.play(prompt(), before(), after(), reply(), IDLE)["ended"]) == {""}


@pytest.mark.parametrize("mood", ["throws", "rejects"])
def test_a_host_that_answers_with_errors_is_left_alone(stage: Stage, mood: str) -> None:
    stage.client = mood
    stage.hook(STOP, '{"decision":"block","reason":"go on","systemMessage":"look"}').hook(BEFORE, '{"decision":"deny"}')
    result = stage.play(prompt(), before(), reply(), IDLE)
    assert result["ended"] == ["", "A hook refused this call.", "", ""]
    assert len(prompts(result)) == 1


def test_a_host_that_never_answers_holds_nobody_up_for_ever(stage: Stage) -> None:
    stage.client = "hangs"
    assert stage.hook(BEFORE, '{"decision":"deny"}').play(before())["ended"] == ["A hook refused this call."]


def test_the_end_waits_for_a_hook_and_prompts_nobody_any_more(stage: Stage) -> None:
    mark = stage.root / "ran"
    answer = json.dumps({"decision": "block", "reason": "go on", "systemMessage": "look"})
    stage.hook(STOP, command=f"sleep 0.3; touch {mark}; echo '{answer}'")
    result = stage.play(prompt(), reply(), ["later", *IDLE], ["dispose"], ["exists", str(mark)])
    assert result["ended"][-1] is True
    assert [name for name, _ in result["asked"]] == ["get"]


def test_a_prompt_that_comes_while_the_hook_thinks_is_not_interrupted(stage: Stage) -> None:
    stage.hook(STOP, command=f"sleep 0.3; echo '{BLOCK}'")
    assert prompts(stage.play(prompt("U1"), reply(), ["later", *IDLE], prompt("U2"))) == []


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


def test_the_agents_own_commands_know_the_session_and_the_project(stage: Stage) -> None:
    stage.children = {"K": "S"}
    env = [["shell.env", {"cwd": "/", **who}, {"env": {}}] for who in ({"sessionID": "S"}, {"sessionID": "K"}, {})]
    project = {"OPENCODE_PROJECT_DIR": str(stage.project)}
    known = {**project, "OPENCODE_SESSION_ID": "S"}
    assert [given["env"] for given in stage.hook(STOP).play(*env)["given"]] == [known, known, project]
