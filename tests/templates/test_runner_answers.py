"""What each host is told for an answer of Claude Code's protocol: an answer is never weakened without a word."""

import json
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from .runner_bench import HOSTS, SHELLS, Bench, decide, nested


class Told(NamedTuple):
    """The object that a host gets, how the receipt names it, and what is left out."""

    answer: Any
    outcome: str
    dropped: tuple[str, ...] = ()


PRE, POST, PROMPT, START = "PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart"
FAILURE = "PostToolUseFailure"
NEW = {"command": "ls"}
WHOLE = {"command": "ls", "timeout": 9}  # the changed key on top of what the host sent
WOULD_PASS = 'R Not with this input; this one would pass: {"command":"ls"}'
BLOCK = {"decision": "block", "reason": "R"}
END = {"continue": False, "stopReason": "R"}
CONTEXT = {"additionalContext": "C"}
MESSAGE = {"systemMessage": "M"}


# From reference tables of the real clients (the tests of tests/e2e pin them), not from the hosts' data files.
def refusal(host: str, event: str, reason: str = "R") -> Any:
    """A host's own refusal; None where it has none."""
    if event == PRE:
        if host in ("codex", "qwen", "droid", "claude"):
            return decide("deny", reason)
        if host == "copilot":
            return {"permissionDecision": "deny", "permissionDecisionReason": reason}
        return {"decision": "block" if host == "hermes" else "deny", "reason": reason}
    if event == PROMPT:
        if host in ("opencode", "droid", "hermes", "vibe"):
            return None
        return {"decision": "deny" if host == "openhands" else "block", "reason": reason}
    if event == POST:
        if host in ("openhands", "hermes"):
            return None
        if host == "vibe":
            return {"hook_specific_output": {"additional_context": reason}}
        if host in ("qwen", "droid"):
            return nested(POST, additionalContext=reason)
        return {"decision": "block", "reason": reason}
    return {"decision": "deny" if host in ("gemini", "openhands", "vibe") else "block", "reason": reason}


CAN_ASK = {"qwen": decide("ask"), "copilot": {"permissionDecision": "ask", "permissionDecisionReason": "R"}}
CAN_CHANGE = {
    "gemini": {"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": WHOLE}},
    "copilot": {"modifiedArgs": WHOLE},
    "opencode": nested(updatedInput=WHOLE),
    "pi": nested(updatedInput=WHOLE),
    "droid": nested(updatedInput=WHOLE),
    "vibe": {"hook_specific_output": {"tool_input": WHOLE}},
}
TAKES_CONTEXT = {
    PRE: ("codex", "copilot", "opencode", "pi"),
    POST: ("codex", "gemini", "qwen", "copilot", "opencode", "pi", "droid", "vibe"),
    FAILURE: ("gemini", "qwen", "copilot", "opencode", "pi"),
    PROMPT: ("codex", "gemini", "qwen", "copilot", "opencode", "pi", "openhands", "hermes"),
    START: ("codex", "gemini", "qwen", "copilot", "opencode", "pi", "openhands", "droid"),
}
GEMINIS = {POST: "AfterTool", FAILURE: "AfterTool", PROMPT: "BeforeAgent"}
DENIES_AND_ENDS = {"decision": "deny", "reason": "R", "continue": False}
ENDS = {
    PRE: {"gemini": END, "droid": END, "opencode": DENIES_AND_ENDS, "pi": DENIES_AND_ENDS},
    POST: {"gemini": END, "droid": END},
    PROMPT: {"codex": END, "gemini": END, "qwen": END},
    "Stop": {"codex": END, "gemini": END},
}
SHOWS_MESSAGES = ("codex", "gemini", "qwen", "opencode", "pi", "vibe")
OTHERS = HOSTS[1:]


def told_refusal(host: str, event: str, reason: str = "R", dropped: tuple[str, ...] = ()) -> Told:
    answer = refusal(host, event, reason)
    if answer is None:
        return Told(None, "none", (*dropped, "refuse"))
    return Told(answer, "deny" if event == PRE else "block", dropped)


def told_change(host: str, *dropped: str) -> Told:
    if host in CAN_CHANGE:
        return Told(CAN_CHANGE[host], "change", dropped)
    return told_refusal(host, PRE, WOULD_PASS.removeprefix("R "))


def told_end(host: str, event: str) -> Told:
    if host in ENDS[event]:
        return Told(ENDS[event][host], "end")
    if event == "Stop" or refusal(host, event) is None:
        return Told(None, "none", ("end",))  # the agent stops; or nothing holds it
    return told_refusal(host, event)


def told_context(host: str, event: str) -> Told:
    if host not in TAKES_CONTEXT[event]:
        return Told(None, "none", ("context",))
    own = GEMINIS.get(event, event) if host == "gemini" else event
    context: dict[str, dict[str, Any]] = {
        **dict.fromkeys(("copilot", "openhands"), CONTEXT),
        "hermes": {"context": "C"},
        "vibe": {"hook_specific_output": {"additional_context": "C"}},
    }
    return Told(context.get(host, nested(own, **CONTEXT)), "context")


def shown(host: str, text: str) -> dict[str, str]:
    return {"system_message" if host == "vibe" else "systemMessage": text}


def told_message(host: str) -> Told:
    return Told(shown(host, "M"), "none") if host in SHOWS_MESSAGES else Told(None, "none", ("message",))


def told_ask(host: str) -> Told:
    if host in CAN_ASK:
        return Told(CAN_ASK[host], "ask")
    return told_refusal(host, PRE, "R A person has to allow this; ask for it.")


def check(bench: Bench, host: str, event: str, answer: Any, told: Told, *options: str, **how: Any) -> None:
    ran = bench.say(host, event, answer, *options, **how)
    (receipt,) = ran.receipts
    seen = Told(ran.answer, receipt["outcome"], tuple(receipt.get("dropped", ())))
    assert seen == told, (host, event, answer)
    context = "C" in str(told.answer or "") and told.outcome == "context"
    assert (receipt["bytes"], receipt["status"]) == (int(context), how.get("status", 0))


@pytest.mark.parametrize("host", OTHERS)
def test_answers_before_a_tool_call(bench: Bench, host: str) -> None:
    refused = told_refusal(host, PRE)
    check(bench, host, PRE, decide("deny"), refused)
    check(bench, host, PRE, BLOCK, refused)
    check(bench, host, PRE, "", refused, status=2, stderr="R")
    check(bench, host, PRE, decide("deny"), refused, status=1)
    check(bench, host, PRE, decide("deny"), refused, status=2, stderr="unheard")
    check(bench, host, PRE, {**decide("allow"), **BLOCK}, refused)
    check(bench, host, PRE, decide("deny", ""), told_refusal(host, PRE, "refused by a hook"))
    check(bench, host, PRE, decide("deny", " "), told_refusal(host, PRE, "refused by a hook"))
    check(bench, host, PRE, "", told_refusal(host, PRE, "refused by a hook"), status=2)
    check(bench, host, PRE, decide("ask"), told_ask(host))
    check(bench, host, PRE, END, told_end(host, PRE))
    check(bench, host, PRE, "", Told(None, "none"))
    check(bench, host, PRE, "plain text", Told(None, "none"))
    check(bench, host, PRE, MESSAGE, told_message(host))


@pytest.mark.parametrize("host", OTHERS)
def test_allow_is_passed_on_only_where_it_may(bench: Bench, host: str) -> None:
    for answer in (decide("allow"), {"decision": "approve", "reason": "R"}):
        check(bench, host, PRE, answer, Told(None, "none", ("allow",)))
    lifted = {
        "codex": decide("allow"),
        "qwen": decide("allow"),
        "droid": decide("allow"),
        "copilot": {"permissionDecision": "allow", "permissionDecisionReason": "R"},
    }
    told = Told(lifted[host], "allow") if host in lifted else Told(None, "none", ("allow",))
    check(bench, host, PRE, decide("allow"), told, "--may-allow")


@pytest.mark.parametrize("host", OTHERS)
def test_changed_inputs(bench: Bench, host: str) -> None:
    check(bench, host, PRE, nested(updatedInput=NEW), told_change(host))
    allowed = told_change(host, "allow") if host in CAN_CHANGE else told_refusal(host, PRE, WOULD_PASS)
    check(bench, host, PRE, decide("allow", updatedInput=NEW), allowed)
    both = bench.say(host, PRE, decide("allow", updatedInput=NEW), "--may-allow")
    if host == "codex":
        assert both.answer == decide("allow", updatedInput=WHOLE)
    elif host in CAN_CHANGE:
        assert both.outcome == "change"
        assert '"timeout":9' in both.stdout.decode()
    else:
        assert both.answer == refusal(host, PRE, WOULD_PASS)


@pytest.mark.parametrize("event", [PRE, POST, PROMPT, START])
@pytest.mark.parametrize("host", OTHERS)
def test_context_reaches_the_model_or_stands_in_the_receipt(bench: Bench, host: str, event: str) -> None:
    told = told_context(host, event)
    check(bench, host, event, nested(event, **CONTEXT), told)
    if event in (PROMPT, START):
        check(bench, host, event, "C\n", told)
    refused = told_refusal(host, PRE, dropped=("context",))
    if event == PRE:
        check(bench, host, event, decide("deny", **CONTEXT), refused)


@pytest.mark.parametrize("event", [POST, PROMPT, "Stop"])
@pytest.mark.parametrize("host", OTHERS)
def test_answers_elsewhere(bench: Bench, host: str, event: str) -> None:
    refused = told_refusal(host, event)
    check(bench, host, event, BLOCK, refused)
    check(bench, host, event, "", refused, status=2, stderr="R")
    check(bench, host, event, END, told_end(host, event))


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
    """On the hosts that say which calls failed."""
    told = told_context(host, FAILURE)
    payload = bench.tool_call(host, SHELLS[host], {"command": "ls"}, FAILURE, **FAILED[host])
    for command in ("echo C >&2; exit 2", say(json.dumps(nested(FAILURE, **CONTEXT)))):
        ran = bench.run(host, FAILURE, payload, command)
        (receipt,) = ran.receipts
        assert Told(ran.answer, receipt["outcome"], tuple(receipt.get("dropped", ()))) == told


@pytest.mark.parametrize("host", OTHERS)
def test_a_command_that_fails_changes_nothing_unless_it_is_to_refuse(bench: Bench, host: str) -> None:
    why = "exit status 3: boom"
    text = f"hookctl: the hook p/x failed: {why}"
    told = Told(shown(host, text) if host in SHOWS_MESSAGES else None, "failed")
    check(bench, host, PRE, "", told, status=3, stderr="boom")
    refused = f"The hook p/x failed ({why}), and a failing one refuses."
    told = Told(refusal(host, PRE, refused), "failed")
    check(bench, host, PRE, "", told, "--on-failure", "deny", status=3, stderr="boom")
    told = Told(refusal(host, PROMPT, refused), "failed", () if refusal(host, PROMPT) else ("refuse",))
    check(bench, host, PROMPT, "", told, "--on-failure", "deny", status=3, stderr="boom")
    check(bench, host, "Stop", "", Told(shown(host, text) if host in SHOWS_MESSAGES else None, "failed"),
          "--on-failure", "deny", status=3, stderr="boom")  # fmt: skip


# Claude Code itself


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


@pytest.mark.parametrize("host", ["opencode", "pi", "droid"])
@pytest.mark.parametrize("field", ["updatedToolOutput", "updatedMCPToolOutput"])
@pytest.mark.parametrize("output", ["***", {"stdout": "***", "stderr": ""}, {"filePath": "/x", "content": "***"}])
def test_what_a_tool_gave_is_replaced_where_the_host_can(bench: Bench, host: str, field: str, output: Any) -> None:
    told = Told(nested(POST, updatedToolOutput="***"), "change")
    told = Told(None, "none", ("replace",)) if host == "droid" else told
    check(bench, host, POST, nested(POST, **{field: output}), told)


@pytest.mark.parametrize(("event", "answer", "outcome"), CLAUDES)
def test_claude_code_gets_the_commands_bytes(bench: Bench, event: str, answer: bytes, outcome: str) -> None:
    ran = bench.say("claude", event, answer)
    assert (ran.stdout, ran.outcome) == (answer, outcome)


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (decide("allow"), nested(permissionDecisionReason="R")),
        (nested(permissionDecision="allow"), None),
        (decide("allow", updatedInput=NEW), nested(permissionDecisionReason="R", updatedInput=NEW)),
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


# A call of several parts


ADD = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n@@\n-x\n+y\n*** End Patch\n"
BY_FILE = """case "$(cat)" in *'"file_path":"'*'/a"'*) {a};; *) {b};; esac"""


def say(answer: str) -> str:
    return f"echo '{answer}'"


DENY, ALLOW = (say(json.dumps(nested(permissionDecision=word))) for word in ("deny", "allow"))
CHANGE = say('{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"content":"z"}}}')


@pytest.mark.parametrize(
    ("first", "second", "options", "outcome"),
    [
        (DENY, ":", (), "deny"),
        (":", DENY, (), "deny"),
        (DENY, "exit 1", (), "deny"),
        ("exit 1", DENY, (), "deny"),
        ("exit 1", ":", (), "failed"),
        ("exit 1", ":", ("--on-failure", "deny"), "failed"),
        (ALLOW, ":", ("--may-allow",), "none"),
        (ALLOW, ALLOW, ("--may-allow",), "allow"),
        (ALLOW, DENY, ("--may-allow",), "deny"),
        (ALLOW, "exit 1", ("--may-allow",), "failed"),
        (ALLOW, ":", ("--may-allow", "--matcher", "Write"), "none"),
        (CHANGE, ":", ("--may-allow",), "deny"),
        (CHANGE, ":", ("--may-allow", "--matcher", "Write"), "deny"),
    ],
)
def test_one_refusal_refuses_a_whole_patch(
    bench: Bench, first: str, second: str, options: tuple[str, ...], outcome: str
) -> None:
    payload = bench.tool_call("codex", "apply_patch", {"command": ADD})
    ran = bench.run("codex", PRE, payload, BY_FILE.replace("{a}", first).replace("{b}", second), *options)
    assert ran.outcome == outcome
    permission = (ran.answer or {}).get("hookSpecificOutput", {}).get("permissionDecision")
    failed = "deny" if "--on-failure" in options else None
    expected = {"none": None, "failed": failed}.get(outcome, outcome)
    assert permission == expected


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
        check(bench, "droid", PRE, around + json.dumps(decide("deny")) + around, told_refusal("droid", PRE))


ALLOWS = nested(permissionDecision="allow")
