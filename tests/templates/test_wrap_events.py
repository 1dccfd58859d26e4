"""A wrapped hook where prompts and tool calls come as events only, and what a person is told when it is let go."""

import json

import pytest

from .lab import Lab
from .wraps import Wrapped

DENIAL = """echo '{"decision":"deny","reason":"go on"}'"""
TOLD = "hookctl guard: let the agent stop. Stop hook denied 3 times without progress (limit 3). Last feedback: "


@pytest.fixture
def wrapped(lab: Lab) -> Wrapped:
    lab.host = "openhands"
    lab.config(mode="off", max_stop_blocks=3, wraps=True)
    return Wrapped(lab, DENIAL)


def denials(wrapped: Wrapped, times: int) -> str:
    letters = []
    for _ in range(times):
        answer = json.loads(wrapped.run().stdout or b"{}")
        letters.append({"deny": "B", "allow": "R"}.get(answer.get("decision", ""), "A"))
    return "".join(letters)


def test_a_tool_call_starts_the_count_anew_in_mode_off_too(lab: Lab, wrapped: Wrapped) -> None:
    assert denials(wrapped, 2) == "BB"
    lab.call("post-tool", tool_name="terminal", tool_input={"command": "true 1"})
    assert denials(wrapped, 4) == "BBRA"
    lab.call("post-tool", tool_name="terminal", tool_input={"command": "true 1"})  # the same again is no progress
    assert denials(wrapped, 1) == "A"


@pytest.mark.parametrize(
    ("command", "feedback"),
    [
        (DENIAL, "go on"),
        ("echo 'two\nlines' >&2; exit 2", "two lines"),
        (r"""printf '{"decision":"deny","reason":"\\u001b[31mred\\u0007 {limit} %%s"}'""", "[31mred {limit} %s"),
        ("""echo '{"decision":"deny","reason":"one","additionalContext":"two"}'""", "two"),
        (f"""echo '{{"decision":"deny","reason":"{"x" * 600}"}}'""", "x" * 497 + "..."),
        ("exit 2", "none"),
    ],
    ids=["reason", "stderr", "control characters", "context first", "long", "nothing"],
)
def test_a_person_hears_count_limit_and_last_feedback(lab: Lab, wrapped: Wrapped, command: str, feedback: str) -> None:
    wrapped = Wrapped(lab, command)
    *_, last = [wrapped.run().stdout for _ in range(3)]
    assert json.loads(last) == {"decision": "allow", "reason": TOLD + feedback}
    assert feedback == "none" or feedback not in json.dumps(lab.log())
