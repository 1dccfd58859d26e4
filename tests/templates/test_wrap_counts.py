"""Which denials of a wrapped hook are counted, when the agent is let go, and when the count starts again."""

import json

import pytest

from .lab import Lab
from .wraps import DENIAL, Wrapped

FORMS = [
    ("claude", "exit 2"),
    ("claude", DENIAL),
    ("claude", f"{DENIAL}; exit 1"),  # Claude Code heeds it all the same
    ("claude", """echo '{"decision":"deny","reason":"go on"}'"""),
    ("claude", """printf '\\357\\273\\277 {"decision":"block","reason":"\\351"}\\n\\n'"""),
    ("codex", "echo no >&2; exit 2"),
    ("gemini", DENIAL),
    ("gemini", f"{{ {DENIAL}; }} >&2"),  # read as the answer where stdout is empty
    ("gemini", "echo no; exit 7"),
    ("qwen", """echo '{"continue":false,"stopReason":"go on"}'"""),
    ("openhands", """echo '{"continue":false}'"""),
    ("openhands", "python3 /gone/hook.py"),
    ("cursor", """echo '{"followup_message":"go on"}'"""),
    ("hermes", """echo '{"action":"continue","message":"go on"}'"""),
    ("antigravity", """echo '{"decision":"continue","reason":"go on"}'"""),
]
WITH_WORDS = ("claude", "codex", "gemini", "qwen", "opencode")
HARMLESS = [
    ("claude", "echo done"),
    ("claude", "echo no; exit 7"),
    ("claude", """echo '{"continue":false,"stopReason":"enough"}'"""),  # it ends the turn
    ("claude", """echo '{"decision":"approve"}'"""),
    ("claude", """echo '{"decision":"continue","reason":"go on"}'"""),
    ("claude", """echo '[{"decision":"block"}]'"""),
    ("claude", """echo 'note: {"decision":"block"}'"""),
    ("claude", "exit 1"),
    ("gemini", "echo no; exit 1"),
    ("cursor", """echo '{"followup_message":""}'"""),
]


def passed_on(wrapped: Wrapped, times: int) -> list[bool]:
    """Which of these stops got what the other hook says, in full."""
    own = wrapped.lab.environment
    wrapped.lab.environment = {**own, "HOOKCTL_DISABLE": "1"}
    plain = wrapped.run()
    wrapped.lab.environment = own
    passed = []
    for _ in range(times):
        done = wrapped.run()
        passed.append((done.returncode, done.stdout, done.stderr) == (plain.returncode, plain.stdout, plain.stderr))
    return passed


@pytest.mark.parametrize(("host", "command"), FORMS)
def test_the_fifth_denial_lets_go_whatever_its_form(lab: Lab, host: str, command: str) -> None:
    lab.host = host
    wrapped = Wrapped(lab, command)
    assert passed_on(wrapped, 4) == [True] * 4
    done = wrapped.run()
    assert (done.returncode, done.stderr) == (0, b"")
    if host in WITH_WORDS:
        words = json.loads(done.stdout)["systemMessage"]
        assert words.startswith("hookctl guard: let the agent stop. Stop hook denied 5 times without progress")
    elif host == "openhands":
        assert json.loads(done.stdout)["decision"] == "allow"
    else:
        assert done.stdout == b""
    assert lab.codes() == ["blocked"] * 4 + ["tripped"]
    assert passed_on(wrapped, 2) == [False] * 2
    assert lab.codes()[5:] == ["open", "open"]


@pytest.mark.parametrize(("host", "command"), HARMLESS)
def test_what_denies_nothing_is_passed_on_for_ever(lab: Lab, host: str, command: str) -> None:
    lab.host = host
    wrapped = Wrapped(lab, command)
    assert passed_on(wrapped, 5) == [True] * 5
    assert lab.log() == []


@pytest.mark.parametrize("host", ["copilot", "droid", "opencode"])  # all others: FORMS
def test_every_host_has_an_end(lab: Lab, host: str) -> None:
    lab.host = host
    assert Wrapped(lab, "exit 2").stops(7).rstrip("A").rstrip("R") == "BBBB"


def test_the_end_of_a_session_is_no_stop(lab: Lab) -> None:
    """Grok Build tells of it by the same event, and takes no denial there."""
    lab.host = "grok"
    wrapped = Wrapped(lab)
    assert wrapped.stops(6, reason="shutdown") == "AAAAAA"
    assert lab.log() == []
    assert wrapped.stops(6, reason="end_turn") == "BBBBAA"


def test_it_lets_go_in_the_words_of_the_host_that_runs_it(lab: Lab) -> None:
    lab.environment["COPILOT_CLI"] = "1"
    lab.payload["timestamp"] = "2026-11-22T08:00:00.000Z"
    assert Wrapped(lab, "exit 2").stops(6) == "BBBBAA"
    assert {line["host"] for line in lab.log()} == {"copilot"}


def test_each_session_and_each_wrapped_hook_has_a_count_of_its_own(lab: Lab) -> None:
    assert Wrapped(lab).stops(4) == "BBBB"
    assert Wrapped(lab, "exit 2").stops(5) == "BBBBR"
    assert Wrapped(lab).stop(session_id="S2") == "B"
    assert Wrapped(lab).stop() == "R"


def test_two_copies_for_one_stop_count_once(lab: Lab) -> None:
    wrapped, other = Wrapped(lab), lab.second()
    answers = ""
    for number in range(6):
        lab.payload["number"] = number
        answers += wrapped.stop(active=True) + wrapped.stop(config=other, active=True)
    assert answers == "BBBBBBBBRRAA"
    assert len(lab.log()) == 6


# What cannot be counted


@pytest.mark.parametrize("stdin", [b"", b"[]", b"{", b'{"cwd":"/"}', b'{"a":"' + b"x" * (17 << 20) + b'"}'], ids=len)
def test_a_denial_of_an_unknown_session_is_not_passed_on(lab: Lab, stdin: bytes) -> None:
    done = Wrapped(lab).run(stdin)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "the session is not known" in json.loads(done.stdout)["systemMessage"]
    assert lab.codes() == ["no_input"]


# A wrapped hook where prompts and tool calls come as events only, and what a person is told when it is let go.


DENY = """echo '{"decision":"deny","reason":"go on"}'"""
TOLD = "hookctl guard: let the agent stop. Stop hook denied 3 times without progress (limit 3). Last feedback: "


@pytest.fixture
def wrapped(lab: Lab) -> Wrapped:
    lab.host = "openhands"
    lab.config(mode="off", max_stop_blocks=3, wraps=True)
    return Wrapped(lab, DENY)


def test_a_tool_call_starts_the_count_anew_in_mode_off_too(lab: Lab, wrapped: Wrapped) -> None:
    assert wrapped.stops(2) == "BB"
    lab.call("post-tool", tool_name="terminal", tool_input={"command": "true 1"})
    assert wrapped.stops(4) == "BBRA"
    lab.call("post-tool", tool_name="terminal", tool_input={"command": "true 1"})  # the same again is no progress
    assert wrapped.stop() == "A"


@pytest.mark.parametrize(
    ("command", "feedback"),
    [
        (DENY, "go on"),
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
