"""The nudge: one reminder before the agent leaves without having called a required tool."""

from collections.abc import Iterable
from typing import Any

import pytest

from .lab import WAKE_TEXT, Lab
from .play import Row, play, rows

N: dict[str, Any] = {
    "required_tools": ["kanban_complete", "kanban_block"],
    "required_scope_env": "HERMES_KANBAN_TASK",
}
SCOPE = "env HERMES_KANBAN_TASK=T7"
UNSCOPED: dict[str, Any] = {"required_tools": ["kanban_complete"]}

SCENARIOS: list[Row] = [
    ("G1 no scope", N, "0=A[no_work]"),
    ("G1 a blank scope", N, "env HERMES_KANBAN_TASK= ; 0=A[no_work]"),
    ("G1 no scope is asked for", UNSCOPED, "0=B[nudged]"),
    ("G1 any scope, also a false one", N, "env HERMES_KANBAN_TASK=0; 0=B[nudged]"),
    ("G1 no tools", {"required_scope_env": "HERMES_KANBAN_TASK"}, f"{SCOPE}; 0=A[no_work]"),
    ("G2 once", N, f"{SCOPE}; 0=B[nudged]; 1=A[no_work]"),
    ("G2 once, both fresh", N, f"{SCOPE}; 00=BA"),
    ("G2 once a session", N, f"{SCOPE}; a:0=B; b:0=B; a:1=A; b:1=A"),
    ("G2 the state says so", N, f"{SCOPE}; 0=B; state nudges 1; 1=A; state nudges 1"),
    ("G3 the transcript has the call", N, f"{SCOPE}; uses kanban_complete; 0=A[no_work]"),
    ("G3 the other tool", N, f"{SCOPE}; uses kanban_block; 0=A[no_work]"),
    ("G3 after the nudge", {**N, "max_nudges": 5}, f"{SCOPE}; 0=B; uses kanban_complete; 1=A; 0=A"),
    ("G3 among others", N, f"{SCOPE}; calls ls; uses kanban_complete; calls ls; says; 0=A"),
    ("G3 remembered", N, f"{SCOPE}; uses kanban_complete; 0=A; says; 00=AA"),
    ("G4 other tools", N, f"{SCOPE}; uses kanban_show; uses kanban_heartbeat; 0=B[nudged]"),
    ("G4 text about it", N, f'{SCOPE}; says kanban_complete; says {{"type":"tool_use","name":"kanban_complete"}}; 0=B'),
    ("G4 as an argument", N, f"{SCOPE}; calls kanban_complete; 0=B"),
    ("G6 an event", N, f"{SCOPE}; done mcp__board__kanban_block; 0=A[no_work]"),
    ("G6 an event after the nudge", {**N, "max_nudges": 5}, f"{SCOPE}; 0=B; done kanban_block; 1=A"),
    ("G6 an event of another tool", N, f"{SCOPE}; done mcp__board__kanban_show; 0=B"),
    ("G6 the transcript tells it although events come", N, f"{SCOPE}; done Bash; uses kanban_block; 0=A"),
    ("G7 a prompt event", N, f"{SCOPE}; 01=BA; prompt go on; 0=B"),
    ("G7 a new prompt", N, f"{SCOPE}; turn p; 01=BA; turn q; 01=BA"),
    ("G7 the call before the prompt", N, f"{SCOPE}; done kanban_complete; 0=A; prompt go on; 0=A[no_work]"),
    ("G7 the same without a stop", N, f"{SCOPE}; done kanban_complete; prompt go on; 0=A[no_work]; prompt on; 0=A"),
    ("G7 another task", N, f"{SCOPE}; done kanban_complete; 0=A; env HERMES_KANBAN_TASK=T8; prompt go on; 0=B"),
    ("G7 no task, another prompt", UNSCOPED, "done kanban_complete; 0=A; prompt go on; 0=B"),
    ("G7 the transcript has it", N, f"{SCOPE}; asks one; uses kanban_block; asks two; turn q; 0=A; turn r; 0=A"),
    (
        "G7 a call a turn",
        {**N, "max_nudges": 2},
        f"{SCOPE}; turn p; done kanban_block; 0=A; turn q; 0=A; env HERMES_KANBAN_TASK=T8; 0=B; done kanban_block; 1=A",
    ),
    ("G7 an event of the new turn before its first stop", N, f"{SCOPE}; turn p; 0=B; turn q; done kanban_block; 0=A"),
    ("G7 a wake-up event", N, f"{SCOPE}; 01=BA; prompt {WAKE_TEXT}; 0=A"),
    ("G7 a wake-up", N, f"{SCOPE}; asks go; turn p; 01=BA; woken; turn w; 0=A"),
    ("G7 a wake-up after the call", N, f"{SCOPE}; asks go; turn p; done kanban_block; 0=A; woken; turn w; 0=A"),
    ("G9 STOP", N, f"{SCOPE}; mark STOP; 0=A[stop]"),
    ("G9 CONCLUDE", N, f"{SCOPE}; mark CONCLUDE; 0=B[nudged]; 1=A[conclude]"),
    ("G9 CONCLUDE with work", N, f"{SCOPE}; work 2; 0=B[blocked]; mark CONCLUDE; 1=B[nudged]; 1=A[conclude]"),
    ("G9 STOP and CONCLUDE", N, f"{SCOPE}; mark STOP; mark CONCLUDE; 0=A[stop]"),
    ("G10 none", {**N, "max_nudges": 0}, f"{SCOPE}; 01=AA"),
    ("G10 below none", {**N, "max_nudges": -1}, f"{SCOPE}; 01=AA"),
    ("G mode off", {**N, "mode": "off"}, f"{SCOPE}; 0=A[off]"),
    ("G mode guard", {**N, "mode": "guard"}, f"{SCOPE}; work 3; 0=B[nudged]; 1=A[allowed]"),
    ("G mode guard, STOP", {**N, "mode": "guard"}, f"{SCOPE}; mark STOP; 0=A"),
    ("G keepalive, not armed", {**N, "mode": "keepalive"}, f"{SCOPE}; 0=A[inactive]"),
    ("G keepalive, armed", {**N, "mode": "keepalive"}, f"{SCOPE}; armed 9000000000; 01=BB[blocked]"),
    (
        "G keepalive, concluded",
        {**N, "mode": "keepalive"},
        f"{SCOPE}; armed 9000000000; 0=B[blocked]; mark CONCLUDE; 1=B[nudged]; 1=A[conclude]",
    ),
    ("G disabled", N, f"{SCOPE}; env HOOKCTL_DISABLE=1; 0=A[off]"),
    ("G a child that inherits the scope", N, f"{SCOPE}; env HOOKCTL_CHILD=1; 0=A[child]"),
    ("G a bystander", N, f"{SCOPE}; owner S1; S2:0=A[not_owner]; S1:0=B[nudged]"),
    ("G must be armed", {**N, "require_arm": True}, f"{SCOPE}; 0=A[inactive]; armed 9000000000; 0=B[nudged]"),
    ("G the host waits itself", N, f"{SCOPE}; waits; 0=A[background]; no waits; 1=B[nudged]"),
    ("G while work remains", N, f"{SCOPE}; work 1; 01=BB[blocked]; work 0; 1=B[nudged]; 1=A[no_work]"),
    ("G not on the release", {**N, "max_stop_blocks": 2}, f"{SCOPE}; work 2; 011=BBR[tripped]; 1=A[open]; 0=A[open]"),
    (
        "G not on the host's release",
        N,
        f"{SCOPE}; env CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=2; work 2; 01=BB; 1=R; 0=A[open]",
    ),
    (
        "G not where the flag is honoured",
        {**N, "honor_stop_hook_active": True},
        f"{SCOPE}; work 2; 01=BA[honor_active]",
    ),
    ("G it is none of the mode's blocks", {**N, "max_stop_blocks": 2}, f"{SCOPE}; 0=B; work 2; 11=BB; 1=R[tripped]"),
    (
        "G not under the latch",
        {**N, "max_stop_blocks": 1, "end_foreign_chains": False},
        f"{SCOPE}; work 2; 01=BR; mark CONCLUDE; 10=AA[conclude]",
    ),
    (
        "G not again where the flag is honoured",
        {**N, "honor_stop_hook_active": True, "max_nudges": 2},
        f"{SCOPE}; 01=BA[no_work]; 0=B[nudged]",
    ),
    (
        "G up to the host's cap",
        {**N, "max_nudges": 9, "end_foreign_chains": False},
        f"{SCOPE}; env CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=2; 0111=BBAA[no_work]",
    ),
    (
        "G a chain that it forced itself is no foreign one",
        {**N, "mode": "guard", "max_stop_blocks": 2, "max_nudges": 3},
        f"{SCOPE}; 0111=BBBA[allowed]; 1=H[stop_loop]",
    ),
    ("G it is a block of the host", UNSCOPED, "env CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=2; 0=B; work 3; 11=BR[host_cap]"),
    (
        "G7 a call of an earlier turn",
        UNSCOPED,
        "asks one; uses kanban_complete; turn p; 0=A; asks two; says; turn q; 0=B; asks three; uses kanban_complete; "
        "turn r; 0=A",
    ),
    (
        "G7 a call before the last prompt, and one before a wake-up",
        UNSCOPED,
        "asks one; uses kanban_complete; asks two; turn q; a:0=B; uses kanban_complete; woken; turn w; b:0=A",
    ),
    (
        "G6 a dot in a required name is a dot",
        {"required_tools": ["board.done"], "max_nudges": 2},
        "uses boardXdone; 0=B; uses board.done; 1=A",
    ),
]


@rows(SCENARIOS)
def test_the_nudge_plays_the_scenario(lab: Lab, config: dict[str, Any], script: str) -> None:
    play(lab, config, script)


REQUIRED_NAMES = ("kanban_complete", "mcp__board__kanban_complete", "mcp__a__b__kanban_complete", "a.b.kanban_complete")
OTHER_NAMES = (
    *("my_kanban_complete", "mykanban_complete", "board-kanban_complete", "board/kanban_complete"),
    *("kanban_complete2", "kanban_complete.board", "mcp__kanban_complete__x", "Kanban_Complete", "complete", ""),
)


@pytest.mark.parametrize("how", ["event", "transcript"])
def test_a_required_tool_is_known_by_its_whole_name_or_its_end(lab: Lab, how: str) -> None:
    """All other names at once, then each required one in a session of its own."""
    lab.config(**UNSCOPED)
    call_tools(lab, how, "S1", OTHER_NAMES)
    assert lab.stop() == "B"
    for name in REQUIRED_NAMES:
        lab.transcript.unlink(missing_ok=True)
        call_tools(lab, how, name, [name])
        assert lab.stop(session_id=name) == "A", name


def call_tools(lab: Lab, how: str, session: str, names: Iterable[str]) -> None:
    """Let a session call these tools; the hook learns it by an event or from the transcript."""
    for name in names:
        if how == "event":
            lab.call("post-tool", session_id=session, tool_name=name, tool_input={"id": 1})
        else:
            lab.calls("x", name=name)


def test_the_nudge_is_a_block_in_the_log(lab: Lab) -> None:
    lab.config(**UNSCOPED)
    assert lab.stops("01") == "BA"
    assert [(line["decision"], line["code"]) for line in lab.log()] == [("block", "nudged"), ("allow", "no_work")]


def test_a_subagent_is_not_reminded(lab: Lab) -> None:
    lab.config(**UNSCOPED)
    assert lab.stop(agent_id="a1") + lab.stop(hook_event_name="SubagentStop") == "AA"
    assert lab.codes() == ["subagent"] * 2
    assert lab.stop() == "B"


def test_tool_results_and_feedback_between_call_and_stop_are_no_prompts(lab: Lab) -> None:
    lab.config(**UNSCOPED)
    lab.asks("one")
    lab.calls("x", name="kanban_complete")
    lab.append({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]}})
    lab.asks("Stop hook feedback:\ngo on", isMeta=True)
    assert lab.stop(prompt_id="p") == "A"


def test_a_call_far_back_is_not_seen_without_events_and_remembered_with_them(lab: Lab) -> None:
    lab.config(**UNSCOPED)
    lab.calls("x", name="kanban_complete")
    lab.says("x" * 300 * 1024)
    assert lab.stops("01") == "BA"
    lab.call("post-tool", session_id="S2", tool_name="kanban_complete", tool_input={})
    lab.says("x" * 300 * 1024)
    assert lab.stop(session_id="S2") == "A"


@pytest.mark.parametrize(
    "line",
    [
        "null",
        '{"tool_calls": [null, "garbage", {"function": null}]}',
        '{"message": {"content": [null, "kanban_complete", {"type": "tool_use", "name": null, "input": {}}]}}',
        '{"message": {"content": [{"type": "tool_use", "name": ["kanban_complete"], "input": {}}]}}',
        '{"message": {"content": [{"type": "tool_use", "name": {"kanban_complete": 1}, "input": {}}]}}',
        '{"message": {"content": [{"type": "text", "name": "kanban_complete", "x": "tool_use"}]}}',
        '{"type": "function_call_output", "name": "kanban_complete", "x": "function_call"}',
        '{"message": {"content": [{"type": "tool_use", "name": "kanban_complete", "inp',
    ],
    ids=["null", "hermes", "no name", "a list", "an object", "text", "an output", "cut"],
)
def test_garbage_in_the_transcript_is_no_call_and_hides_none(lab: Lab, line: str) -> None:
    lab.config(**UNSCOPED, max_nudges=2)
    lab.append(line)
    assert lab.stop() == "B"
    lab.append(line)
    lab.calls("x", name="kanban_complete")
    lab.append(line)
    assert lab.stop(True) == "A"


@pytest.mark.parametrize("fields", [{}, {"tool_name": 5}, {"tool_name": None}, {"tool_name": ["kanban_complete"]}])
def test_an_event_without_a_readable_name_is_no_required_tool(lab: Lab, fields: dict[str, Any]) -> None:
    lab.config(**UNSCOPED)
    assert lab.call("post-tool", tool_input={}, **fields) == ""
    assert lab.stop() == "B"


def test_codexs_shell_is_found_under_the_name_that_its_hooks_are_told(lab: Lab) -> None:
    lab.config(**{**UNSCOPED, "required_tools": ["Bash"]}, max_nudges=2)
    lab.host = "codex"
    assert lab.stop() == "B"
    lab.append({"payload": {"type": "function_call", "name": "exec_command", "arguments": "{}"}})
    assert lab.stop(True) == "A"


def test_the_nudge_keeps_to_the_ceiling(lab: Lab) -> None:
    lab.config(**UNSCOPED, max_nudges=9)
    assert lab.stop() == "B"
    lab.edit(total=199)
    assert lab.stops("00") == "BA"
    assert lab.codes()[-1] == "no_work"


def test_a_nudge_that_cannot_be_counted_is_not_given(lab: Lab) -> None:
    lab.config(**UNSCOPED)
    lab.stop(session_id="S1")
    path = lab.session_file()
    path.unlink()
    path.mkdir()
    assert lab.stop() != "B"
    assert lab.codes()[-1] == "state_error"


def test_two_registrations_give_one_nudge_with_the_same_words(lab: Lab) -> None:
    lab.config(**UNSCOPED)
    other = lab.second()
    assert lab.call("stop") == lab.call("stop", other) != ""
    assert [lab.stop(True), lab.stop(True, other)] == ["A", "A"]
    assert lab.codes() == ["nudged", "no_work"]
