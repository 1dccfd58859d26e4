"""A deny always stops the tool: random answers, and a judge of what each real client does with the bytes it gets.

The judge knows the clients' behaviour as it was measured, and nothing of the hosts' data files.
"""

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hookctl import hosts
from hookctl.system import guard_module
from tests.texts import all_of

from .runner_bench import HOSTS

answer_module, child = guard_module("answer"), guard_module("child")
PRE = "PreToolUse"
SENT = {"command": "rm x", "timeout": 9}


def inner(said: Any) -> dict[str, Any]:
    value = said.get("hookSpecificOutput")
    return value if isinstance(value, dict) and value.get("hookEventName") == PRE else {}


def nested_word(said: Any) -> Any:
    return inner(said).get("permissionDecision")


def stops_claude(said: Any) -> bool:
    if said.get("decision") not in (None, "approve", "block"):
        return False  # the whole object is void
    return said.get("decision") == "block" or nested_word(said) == "deny"


def stops_codex(said: Any) -> bool:
    refusal = {"hookEventName", "permissionDecision", "permissionDecisionReason"}
    if nested_word(said) == "deny":
        reason = str(inner(said).get("permissionDecisionReason", "")).strip()
        return bool(reason) and set(said) == {"hookSpecificOutput"} and set(inner(said)) == refusal
    return set(said) == {"decision", "reason"} and said["decision"] == "block"


STOPS: dict[str, Callable[[Any], bool]] = {
    "claude": stops_claude,
    "codex": stops_codex,
    "gemini": lambda said: said.get("decision") in ("deny", "block") or said.get("continue") is False,
    "qwen": lambda said: (
        nested_word(said) == "deny" or said.get("decision") in ("deny", "block") or said.get("continue") is False
    ),
    "copilot": lambda said: said.get("permissionDecision") == "deny",
    "opencode": lambda said: said.get("decision") in ("deny", "block"),
    "pi": lambda said: said.get("decision") in ("deny", "block"),
    "openhands": lambda said: said.get("decision") == "deny" or said.get("continue") is False,
    "droid": lambda said: nested_word(said) == "deny" or said.get("continue") is False,
    "hermes": lambda said: said.get("decision") == "block",
    "vibe": lambda said: said.get("decision") == "deny",
}
# The person is asked, or the call is refused where nobody is there.
ASKS: dict[str, Callable[[Any], bool]] = {
    "claude": lambda said: nested_word(said) == "ask",
    "qwen": lambda said: nested_word(said) == "ask",
    "copilot": lambda said: said.get("permissionDecision") == "ask",
}


def input_on(host: str, said: Any) -> Any:
    """The input with which the tool runs, in the client's understanding."""
    specific = said.get("hookSpecificOutput") or {}
    if host == "gemini":
        return specific.get("tool_input", SENT)
    if host == "copilot":
        return said.get("modifiedArgs", SENT)
    if host == "vibe":
        return said.get("hook_specific_output", {}).get("tool_input", SENT)
    if host in ("claude", "droid", "opencode", "pi"):
        return {**SENT, **inner(said).get("updatedInput", {})}
    if host == "codex" and nested_word(said) == "allow":
        return {**SENT, **inner(said).get("updatedInput", {})}
    return SENT


def is_allowed(said: Any) -> bool:
    return nested_word(said) == "allow" or "allow" in (said.get("permissionDecision"), said.get("decision"))


def is_valid(answer: Any) -> bool:
    """Does the protocol take this object?"""
    if answer.get("decision") not in (None, "approve", "block"):
        return False
    own = answer.get("hookSpecificOutput")
    if own is None:
        return True
    return own.get("hookEventName") == PRE and own.get("permissionDecision") in (None, "allow", "ask", "deny")


TEXTS = st.sampled_from(["", " ", "no", "é\n\"'%s{x}", "\ud800"])
SPECIFIC = st.fixed_dictionaries(
    {"hookEventName": st.sampled_from([PRE, PRE, PRE, PRE, "Stop"])},
    optional={
        "permissionDecision": st.sampled_from(["deny", "deny", "ask", "allow", "perhaps"]),
        "permissionDecisionReason": TEXTS,
        "updatedInput": st.sampled_from([{"command": "ls"}, {"command": "ls", "x": 1}, {}]),
        "additionalContext": TEXTS,
    },
)
ANSWERS = st.fixed_dictionaries(
    {},
    optional={
        "hookSpecificOutput": SPECIFIC,
        "decision": st.sampled_from(["block", "approve", "deny"]),
        "reason": TEXTS,
        "continue": st.booleans(),
        "stopReason": TEXTS,
        "systemMessage": TEXTS,
        "unknown": st.just(1),
    },
)


def told(host: str, answer: Any, status: int, error: str, *, may_allow: bool) -> Any:
    """What the host gets, as an object; a failure of the command is an empty one."""
    data = json.dumps(answer).encode()
    forms = hosts.load(host).runner["answers"][PRE]
    try:
        said = answer_module.read_answer(PRE, child.Result(status, data, error.encode(), timed_out=False))
    except answer_module.Failure:
        return {}
    joined = answer_module.join([said])
    rendered = answer_module.render(forms, PRE, joined, may_allow, lambda updated: {**SENT, **updated})
    return json.loads(rendered.data or b"{}")


@settings(max_examples=400, deadline=None)
@given(answer=ANSWERS, status=st.sampled_from([0, 0, 0, 1, 2, 3]), may_allow=st.booleans())
@all_of("host", HOSTS)
def test_no_answer_is_weakened(host: str, answer: Any, status: int, may_allow: bool) -> None:
    said = told(host, answer, status, "why", may_allow=may_allow)
    stopped = STOPS[host](said)
    own = answer.get("hookSpecificOutput") or {}
    valid = is_valid(answer)
    denies = valid and (answer.get("decision") == "block" or own.get("permissionDecision") == "deny")
    if denies or status == 2:
        assert stopped, (answer, said)
        return
    assert may_allow or not is_allowed(said), (answer, said)
    if not valid or status:
        assert not stopped
        return
    if own.get("permissionDecision") == "ask":
        assert stopped or ASKS.get(host, lambda _: False)(said), (answer, said)
    if "updatedInput" in own:
        assert stopped or input_on(host, said) == {**SENT, **own["updatedInput"]}, (answer, said)
    if answer.get("continue") is False and host != "claude":
        assert stopped, (answer, said)
    if not any((own.get("permissionDecision") == "ask", "updatedInput" in own, answer.get("continue") is False)):
        assert not stopped, "nobody wanted that"
