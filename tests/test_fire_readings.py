"""What each host makes of a hook's answer: the table of runs with the real clients, row by row."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts
from hookctl.errors import HookctlError
from hookctl.firing.calls import (
    Asked,
    Call,
    Place,
    Ran,
    Reading,
    find_event,
    is_meant,
    lacks_tool,
    make_call,
    make_calls,
    parse_input,
    require_question,
)
from hookctl.firing.reading import judge, read_answer
from hookctl.system.package_data import guard_module
from tests.templates.hosts import NAMES, PAYLOADS

HOSTS = ("claude", "codex", "gemini", "qwen", "copilot", "opencode", "pi", "openhands", "droid", "hermes")
HOSTS += ("grok", "kimi", "vibe")
EVERY = set(HOSTS)


def call(name: str, event: str = "pre-tool") -> Call:
    host = hosts.load(name)
    return Call(host, *find_event(host, event), payload={}, data=b"{}", tool="")


def nested(decision: str, **more: Any) -> dict[str, Any]:
    named = {"hookEventName": "PreToolUse", "permissionDecision": decision}
    return {"hookSpecificOutput": {**named, "permissionDecisionReason": "R", **more}}


def read(name: str, answer: object = "", status: int = 0, err: str = "", event: str = "pre-tool") -> Reading:
    out = answer if isinstance(answer, str) else json.dumps(answer)
    return read_answer(call(name, event), Ran(status, 1, out, err))


def refusing(*answer: Any, event: str = "pre-tool") -> set[str]:
    return {
        name for name in HOSTS if find_event(hosts.load(name), event)[0] if read(name, *answer, event=event).refuses
    }


DENY, BLOCK = {"decision": "deny", "reason": "R"}, {"decision": "block", "reason": "R"}
TOP = {"permissionDecision": "deny", "permissionDecisionReason": "R"}
BOTH = {**nested("deny"), **BLOCK}
# An answer before a tool call, with status and stderr: who stops the call.
BEFORE = [
    ((nested("deny"),), {"claude", "codex", "qwen", "opencode", "pi", "droid", "grok", "kimi"}),
    ((DENY,), {"gemini", "qwen", "opencode", "pi", "openhands", "grok", "vibe"}),
    ((BLOCK,), {"claude", "codex", "gemini", "qwen", "opencode", "pi", "hermes", "grok"}),
    ((TOP,), {"copilot"}),
    (("", 2, "R"), EVERY - {"hermes", "vibe"}),
    (("", 2), {"claude", "copilot", "openhands", "droid", "opencode", "pi", "grok", "kimi"}),
    (({**nested("deny"), **DENY},), EVERY - {"claude", "codex", "copilot", "hermes"}),
    ((BOTH,), EVERY - {"copilot", "openhands", "vibe"}),
    ((BOTH, 2, "R"), EVERY - {"vibe"}),
    ((nested("deny", hookEventName="Other"),), {"qwen", "droid", "opencode", "pi", "grok", "kimi"}),
    ((nested("deny", permissionDecisionReason=""),), {"claude", "qwen", "droid", "opencode", "pi", "grok", "kimi"}),
    ((nested("deny", other=1),), {"claude", "qwen", "droid", "opencode", "pi", "grok", "kimi"}),
    (({"continue": False, "stopReason": "R"},), {"qwen", "openhands"}),
    ((nested("deny"), 1), {"claude", "qwen", "copilot", "droid", "opencode", "pi", "grok"}),
    (("text", 127), {"gemini", "copilot"}),
    (("text", 3), {"gemini", "copilot", "droid"}),
    (("", 3), {"copilot"}),
    (("", 1), {"copilot"}),
    (("{broken",), set()),
    (("[]",), set()),
    (("noise\n" + json.dumps(BOTH),), set()),
    (("",), set()),
    ((nested("allow"),), set()),
    ((nested("ask"),), {"opencode", "pi"}),
]


@pytest.mark.parametrize(
    ("answer", "stops"), BEFORE, ids=lambda value: json.dumps(value)[:60] if type(value) is tuple else ""
)
def test_who_stops_a_tool_call(answer: tuple[Any, ...], stops: set[str]) -> None:
    assert refusing(*answer) == stops


# The same on Copilot CLI, in the dialect that it speaks under Claude Code's names of the events.
CLAUDES_ON_COPILOT = [
    ((nested("deny"),), "deny"),
    ((DENY,), "none"),
    ((BLOCK,), "none"),
    ((TOP,), "deny"),
    (("", 2, "R"), "deny"),
    (("", 2), "deny"),
    (("", 1), "deny"),
    (("text", 127), "deny"),
    (({**nested("deny"), **DENY},), "deny"),
    ((BOTH,), "deny"),
    ((nested("deny", hookEventName="Other"),), "deny"),
    ((nested("deny", permissionDecisionReason="", other=1),), "deny"),
    ((nested("ask"),), "ask"),
    (({"permissionDecision": "ask"},), "ask"),
    ((nested("x", updatedInput={"command": "b"}),), "change"),
    (({"modifiedArgs": {"command": "b"}},), "change"),
    ((nested("x", additionalContext="C"),), "context"),
    (({"additionalContext": "C"},), "context"),
    (({"continue": False},), "none"),
    (("",), "none"),
]


@pytest.mark.parametrize(("answer", "outcome"), CLAUDES_ON_COPILOT)
def test_copilot_cli_reads_another_dialect_under_claude_codes_names(answer: tuple[Any, ...], outcome: str) -> None:
    host = hosts.load("copilot").as_claude
    assert host
    text, status, err = (*answer, *(0, "")[len(answer) - 1 :])
    asked = Call(host, *find_event(host, "pre-tool"), payload={}, data=b"{}")
    found = read_answer(asked, Ran(status, 1, text if isinstance(text, str) else json.dumps(text), err))
    assert found.outcome == outcome
    assert not err or found.reason == "hook exited with code 2"


@pytest.mark.parametrize(("answer", "outcome"), [("", "deny"), ("{broken", "deny"), ({"decision": "allow"}, "none")])
def test_antigravity_takes_an_answer_without_a_decision_for_a_refusal(answer: object, outcome: str) -> None:
    assert read("antigravity", answer).outcome == outcome
    assert read("antigravity", answer, event="stop").outcome in ("none", "failed")


AT_THE_PROMPT = [
    ((BLOCK,), {"claude", "codex", "gemini", "qwen", "copilot", "pi", "grok"}),
    ((DENY,), {"gemini", "qwen", "openhands", "pi"}),
    (("", 2, "R"), {"claude", "codex", "gemini", "qwen", "openhands", "pi", "grok", "kimi"}),
]


@pytest.mark.parametrize(("answer", "stops"), AT_THE_PROMPT)
def test_who_refuses_a_prompt(answer: tuple[Any, ...], stops: set[str]) -> None:
    assert refusing(*answer, event="prompt") == stops


AT_A_STOP = [
    ((BLOCK,), EVERY - {"openhands", "kimi", "vibe"}),
    ((DENY,), {"gemini", "qwen", "openhands", "vibe"}),
    (("", 2, "R"), {"claude", "codex", "gemini", "qwen", "openhands", "droid", "grok", "kimi"}),
    (("", 2), {"claude", "openhands", "droid", "grok", "kimi"}),
    (("", 3, "R"), {"gemini"}),
    ((BLOCK, 1), {"claude", "opencode", "pi", "grok"}),
    ((DENY | {"decision": "block", "reason": ""},), EVERY - {"openhands", "codex", "opencode", "pi", "kimi", "vibe"}),
]


@pytest.mark.parametrize(("answer", "blocks"), AT_A_STOP)
def test_who_goes_on_for_a_stop_hook(answer: tuple[Any, ...], blocks: set[str]) -> None:
    assert refusing(*answer, event="stop") == blocks


def test_the_end_of_a_turn_beats_a_block() -> None:
    both = {**BLOCK, "continue": False, "stopReason": "enough"}
    outcomes = {name: read(name, both, event="stop").outcome for name in ("claude", "codex", "gemini")}
    assert set(outcomes.values()) == {"end"}
    # The opposite of what it means elsewhere.
    assert read("qwen", {"continue": False, "stopReason": "R"}, event="stop").outcome == "block"


def test_a_stop_hook_whose_script_is_gone_does_not_block_claude_code() -> None:
    gone = "python3: can't open file 'gone.py': [Errno 2] No such file or directory"
    assert read("claude", "", 2, gone, event="stop").outcome == "failed"
    assert read("claude", "", 2, gone).outcome == "deny"
    assert read("codex", "", 2, gone, event="stop").outcome == "block"


CONTEXT = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "C"}}


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (CONTEXT, {"claude", "codex", "gemini", "qwen", "opencode", "pi", "droid"}),
        ({"additionalContext": "C"}, {"copilot", "openhands"}),
        ("C", {"claude", "codex", "qwen", "droid"}),
    ],
)
def test_who_takes_context_at_the_start(answer: object, told: set[str]) -> None:
    found = {name for name in HOSTS if "C" in read(name, answer, event="session-start").context}
    assert found == told


CHANGED = {"command": "other"}


@pytest.mark.parametrize(
    ("answer", "changes"),
    [
        (nested("allow", updatedInput=CHANGED), {"claude", "codex", "opencode", "pi", "droid", "grok"}),
        (
            {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": CHANGED}},
            {"claude", "opencode", "pi", "droid", "grok"},
        ),
        ({"modifiedArgs": CHANGED}, {"copilot"}),
        ({"hook_specific_output": {"tool_input": CHANGED}}, {"vibe"}),
        ({"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": CHANGED}}, {"gemini"}),
    ],
)
def test_who_takes_a_changed_input(answer: object, changes: set[str]) -> None:
    assert {name for name in HOSTS if read(name, answer).change == CHANGED} == changes


def test_a_question_to_the_person_and_an_end() -> None:
    assert {name for name in HOSTS if read(name, nested("ask")).outcome == "ask"} == {"claude", "qwen", "grok"}
    assert read("copilot", {"permissionDecision": "ask"}).outcome == "ask"
    end = {"continue": False, "stopReason": "enough"}
    assert {name for name in HOSTS if read(name, end).outcome == "end"} == {"claude", "gemini", "droid"}
    # The call is made, and then the session ends; with a refusal it is not made.
    assert not read("claude", end).refuses
    assert read("claude", {**nested("deny"), **end}).outcome == "end"
    assert read("claude", {**nested("deny"), **end}).refuses


# Several hooks.


def outcome(name: str, *answers: Reading) -> tuple[str, str]:
    verdict = judge(call(name), answers)
    return verdict.outcome, verdict.reason


def test_which_of_two_new_inputs_counts_and_all_reasons_are_said() -> None:
    for name, form, wins in (("claude", "updatedInput", 0), ("gemini", "tool_input", 1), ("droid", "updatedInput", 0)):
        event = hosts.load(name).events["pre-tool"]
        changes = [read(name, {"hookSpecificOutput": {"hookEventName": event, form: {"command": c}}}) for c in "ab"]
        assert outcome(name, *changes) == ("change", json.dumps({"command": "ab"[wins]}))
    deny = [read("claude", nested("deny", permissionDecisionReason=word)) for word in "ab"]
    assert outcome("claude", *deny) == ("deny", "a\nb")
    assert outcome("claude", read("claude"), read("claude")) == ("none", "")
    assert outcome("claude", Reading("not_run", "why"), deny[0]) == ("deny", "a")


# Matchers.

MATCHERS = [
    (None, EVERY),
    ("*", EVERY - {"copilot", "hermes", "kimi"}),
    ("", EVERY - {"copilot", "vibe"}),
    (".*", EVERY - {"vibe"}),
    ("OWN|other", EVERY - {"vibe"}),
    ("OWN,other", {"claude"}),
    ("PART", {"gemini", "qwen", "droid", "kimi"}),
    ("CASE", {"opencode", "pi", "vibe"}),
    ("^(OWN|other)$", EVERY - {"vibe"}),
    ("(", set()),
    ("Bash", {"claude", "codex", "qwen", "opencode", "pi", "grok", "kimi", "vibe"}),
]


@pytest.mark.parametrize(("matcher", "names"), MATCHERS, ids=lambda value: str(value) if type(value) is not set else "")
def test_whose_matcher_fits_a_shell_command(matcher: str | None, names: set[str]) -> None:
    found = set()
    for name in HOSTS:
        tool = hosts.load(name).tools["shell"][0]
        words = {"OWN": tool, "PART": tool[:-1], "CASE": tool.swapcase()}
        own = matcher
        for word, text in words.items():
            own = own.replace(word, text) if own else own
        if is_meant(call(name)._replace(tool=tool), own):
            found.add(name)
    assert found == names


# The payload that fire makes: the fields that the real client sends, and no others.


PLACE = Place("/home/u/project", "/home/u", "/tmp/transcript.jsonl", {"HOOKCTL_NOW": "1795334400"})
EVENTS = [(name, event) for name in NAMES for event in PAYLOADS[name]]


def payload(name: str, event: str, tool: str = "", input: dict[str, Any] | None = None) -> dict[str, Any]:
    return dict(make_call(hosts.load(name), Asked(event, tool, input), PLACE).payload)


TOOLS_OWN = ("tool_input", "toolInput", "toolArgs", "args", "tool_response", "toolResult", "tool_output")


def shape(value: Any, name: str = "") -> Any:
    """The keys of a payload with the kinds of their values; a tool's input and output are its own."""
    if isinstance(value, dict) and name not in TOOLS_OWN:
        return {key: shape(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return "list"
    return type(value).__name__


@pytest.mark.parametrize(("name", "event"), EVENTS)
def test_it_has_the_fields_of_the_real_clients(name: str, event: str) -> None:
    made, sent = payload(name, event, "Bash", {"command": "make check"}), PAYLOADS[name][event]
    assert shape(made) == shape(sent)
    for field in ("hook_event_name", "event_type", "tool_name", "toolName", "cwd", "working_dir"):
        assert made.get(field) == sent.get(field)


PINS = tomllib.loads((Path(__file__).parent / "e2e" / "pins" / "copilot.toml").read_text())["payload"]


@pytest.mark.parametrize("event", [name for name in PINS if name[0].isupper()])
def test_copilot_cli_spells_its_fields_as_its_events(event: str) -> None:
    _, made = make_calls(hosts.load("copilot"), Asked(event, "create", {"file_path": "/a"}), PLACE)
    assert sorted(made.payload) == PINS[event]
    assert (made.event, made.payload["hook_event_name"]) == (event, event)
    assert made.tool == ("Write" if "tool_name" in PINS[event] else "")
    assert made.payload.get("tool_input", {"path": "/a"}) == {"path": "/a"}
    assert len(make_calls(hosts.load("claude"), Asked(event, "Write"), PLACE)) == 1


def test_a_tool_by_claude_codes_name_or_the_hosts_is_the_hosts() -> None:
    input = {"file_path": "/a", "content": "b"}
    for tool in ("Write", "write_file"):
        assert payload("gemini", "pre-tool", tool, input)["tool_name"] == "write_file"
    assert payload("openhands", "pre-tool", "Write", input)["tool_input"] == {
        "command": "create", "path": "/a", "file_text": "b",
    }  # fmt: skip
    assert "*** Add File: /a" in payload("codex", "pre-tool", "Write", input)["tool_input"]["command"]
    assert payload("claude", "pre-tool", "mcp__a__b", {"x": 1})["tool_input"] == {"x": 1}


ONE_EVENT = ["gemini", "hermes", "opencode", "openhands", "pi", "vibe"]  # for calls that went well and others


@pytest.mark.parametrize("name", ONE_EVENT)
def test_a_failed_call_is_told_as_one_where_there_is_one_event_for_both(name: str) -> None:
    host = hosts.load(name)
    table = {**host.runner, "tools": host.tools}
    usual = make_call(host, Asked("post-tool", tool="Bash"), PLACE)
    failed = make_call(host, Asked("post-tool-failure", tool="Bash"), PLACE)
    assert (failed.event, failed.protocol) == (usual.event, usual.protocol)
    for call, is_failed in ((usual, False), (failed, True)):
        (question,) = guard_module("payload").questions(table, "PostToolUse", call.payload, name)
        assert (question.portable["ok"] is False) == is_failed


@pytest.mark.parametrize(
    ("name", "tool", "lacks"),
    [
        ("windsurf", "WebFetch", True),
        ("windsurf", "Write", False),
        ("windsurf", "Bash", False),
        ("pi", "WebFetch", True),
        ("pi", "Glob", False),
        ("kimi", "WebSearch", False),  # not known
        ("openhands", "Edit", False),  # one of several that a tool there does
        ("claude", "mcp__a__b", False),
        ("windsurf", "pre_run_command", False),
        ("windsurf", "", False),
    ],
)
def test_a_tool_that_a_host_does_not_have(name: str, tool: str, lacks: bool) -> None:
    assert lacks_tool(hosts.load(name), tool) == lacks


def test_what_cannot_be_asked_is_refused() -> None:
    host = hosts.load("claude")
    for text in ("[]", "{", "1"):
        with pytest.raises(HookctlError):
            parse_input(text)
        with pytest.raises(HookctlError):
            make_call(host, Asked("stop", payload=text.encode()), PLACE)
    with pytest.raises(HookctlError) as error:
        require_question([host], Asked("pre-tool"))
    assert error.value.exit_code == 2 and "--tool Bash" in error.value.hint
    with pytest.raises(HookctlError):
        require_question([host], Asked("stopp"))
