"""What each host is told for an answer of Claude Code's protocol, rows/answers.txt: none is weakened silently."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.documents.table import document_of, read_table

from .runner_bench import HOSTS, SHELLS, Bench, decide, nested

HERE = Path(__file__).parent
PRE, PROMPT, START, FAILURE = "PreToolUse", "UserPromptSubmit", "SessionStart", "PostToolUseFailure"
MESSAGE = {"systemMessage": "M"}


@pytest.mark.parametrize("host", HOSTS[1:])
def test_an_answer_in_the_words_of_the_host(bench: Bench, host: str) -> None:
    wrong = []
    for names, event, options, ended, answer, told, outcome in read_table("answers", HERE / "rows"):
        if host in names.split():
            status, _, stderr = ended.partition(" ")
            how = {"status": int(status), **({"stderr": stderr} if stderr else {})} if ended else {}
            ran = bench.say(host, event, document_of(answer), *options.split(), **how)
            seen = (ran.answer, " ".join([ran.outcome, *ran.receipts[0].get("dropped", ())]))
            numbers = (ran.receipts[0]["bytes"], ran.receipts[0]["status"])
            expected = (int(outcome == "context"), int(status or 0))
            if (seen, numbers) != ((json.loads(told), outcome), expected):
                wrong.append((event, options, ended, answer, seen, numbers))
    assert wrong == []


# Of the hosts that say which calls failed: such a call, and what they are told of a reason behind it.
TOLD: dict[str, Any] = {
    "gemini": nested("AfterTool", additionalContext="C"), "copilot": {"additionalContext": "C"},
    **dict.fromkeys(("qwen", "opencode", "pi"), nested(FAILURE, additionalContext="C")),
}  # fmt: skip
FAILED: dict[str, dict[str, Any]] = {
    "gemini": {"tool_response": {"llmContent": "boom", "error": {"message": "boom"}}},
    "qwen": {"error": "boom"},
    "copilot": {"error": "boom"},
    "opencode": {"tool_response": {"output": "boom", "metadata": {"exit": 1}}},
    "pi": {"tool_response": {"output": "boom", "is_error": True}},
    "openhands": {"tool_response": {"content": [{"text": "boom"}], "exit_code": 1, "is_error": False}},
    "hermes": {"extra": {"result": '{"output": "boom", "exit_code": 1}'}},
    "vibe": {"tool_status": "failure", "tool_output": None, "tool_error": "boom"},
}


@pytest.mark.parametrize("host", FAILED)
def test_a_reason_after_a_failed_call_is_context(bench: Bench, host: str) -> None:
    payload = bench.tool_call(host, SHELLS[host], {"command": "ls"}, FAILURE, **FAILED[host])
    for command in ("echo C >&2; exit 2", say(json.dumps(nested(FAILURE, additionalContext="C")))):
        ran = bench.run(host, FAILURE, payload, command)
        said = (ran.answer, ran.outcome, ran.receipts[0].get("dropped", []))
        assert said == ((TOLD[host], "context", []) if host in TOLD else (None, "none", ["context"]))


CLAUDES = [
    (PRE, b' {"b":1, "hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}\n', "deny"),
    (PRE, b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"n":1.50}}}', "change"),
    (PRE, b"plain text", "none"),
    (PRE, b'{"decision":"deny"}', "failed"),
    (PRE, b"noise {", "failed"),
    (START, b"noise {", "context"),
    (PRE, b'{"continue":false}', "end"),
    (PROMPT, b'{"suppressOutput":true}', "none"),
    ("Stop", b'{"decision":"block","reason":"R"}', "block"),
]


@pytest.mark.parametrize(("event", "answer", "outcome"), CLAUDES)
def test_claude_code_gets_the_commands_bytes(bench: Bench, event: str, answer: bytes, outcome: str) -> None:
    ran = bench.say("claude", event, answer)
    assert (ran.stdout, ran.outcome) == (answer, outcome)


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (decide("allow"), nested(permissionDecisionReason="R")),
        (nested(permissionDecision="allow"), None),
        (
            decide("allow", updatedInput={"command": "ls"}),
            nested(permissionDecisionReason="R", updatedInput={"command": "ls"}),
        ),
        ({"decision": "approve", "reason": "R", **MESSAGE}, {"reason": "R", **MESSAGE}),
    ],
)
def test_only_the_permission_is_taken_out_on_claude_code(bench: Bench, answer: Any, left: Any) -> None:
    ran = bench.say("claude", PRE, answer)
    assert ran.answer == left
    assert "allow" in ran.receipts[0]["dropped"]
    kept = bench.say("claude", PRE, answer, "--may-allow")
    assert kept.answer == answer


@pytest.mark.parametrize(
    "text",
    [
        '{"decision":"block","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}',
        '\ufeff{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}',
        '\u00a0{"decision":"approve"}',
        '{"decision":"perhaps","hookSpecificOutput":{"permissionDecision":"allow"}}',
        '{"a":' + "[" * 5000 + "]" * 5000 + ',"decision":"approve"}',
    ],
)
def test_no_spelling_of_allow_reaches_claude_code(bench: Bench, text: str) -> None:
    ran = bench.say("claude", PRE, text)
    assert b"allow" not in ran.stdout
    assert b"approve" not in ran.stdout


ADD = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n@@\n-x\n+y\n*** End Patch\n"
BY_FILE = """case "$(cat)" in *'"file_path":"'*'/a"'*) {a};; *) {b};; esac"""


def say(answer: str) -> str:
    return f"echo '{answer}'"


@pytest.mark.parametrize(("first", "second", "options", "outcome"), read_table("patches", HERE / "rows"))
def test_one_refusal_refuses_a_whole_patch(bench: Bench, first: str, second: str, options: str, outcome: str) -> None:
    payload = bench.tool_call("codex", "apply_patch", {"command": ADD})
    ran = bench.run("codex", PRE, payload, BY_FILE.replace("{a}", first).replace("{b}", second), *options.split())
    assert ran.outcome == outcome
    permission = (ran.answer or {}).get("hookSpecificOutput", {}).get("permissionDecision")
    failed = "deny" if "--on-failure" in options else None
    assert permission == {"none": None, "failed": failed}.get(outcome, outcome)


CLIENT_SKIPS = " \t\r\n\v\f\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\ufeff"  # as trim() of JavaScript does


ODD = st.text(alphabet=CLIENT_SKIPS + "\x1c\x85\u200b\ufffe{x", max_size=4)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=ODD, behind=ODD, more=st.sampled_from([{}, {"suppressOutput": True}]))
@example(before="\ufeff \ufeff", behind="", more={})
@example(before="\ufeff", behind="\u2003\ufeff", more={"suppressOutput": True})
def test_a_client_finds_no_more_in_an_answer_than_we_did(bench: Bench, before: str, behind: str, more: Any) -> None:
    ran = bench.say("claude", PRE, f"{before}{json.dumps({**ALLOWS, **more})}{behind}")
    try:
        found = json.loads(ran.stdout.decode().strip(CLIENT_SKIPS))
    except ValueError:
        return
    assert found == more


def test_blanks_and_marks_around_an_answer_hide_no_refusal(bench: Bench) -> None:
    for around in ("\ufeff", "\u00a0\n", " \ufeff "):
        ran = bench.say("droid", PRE, around + json.dumps(decide("deny")) + around)
        assert (ran.answer, ran.outcome) == (decide("deny"), "deny")


ALLOWS = nested(permissionDecision="allow")
