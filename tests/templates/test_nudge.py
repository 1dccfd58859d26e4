"""The nudge: one reminder before the agent leaves without having called a required tool."""

from collections.abc import Iterable
from typing import Any

import pytest

from .lab import Lab

UNSCOPED: dict[str, Any] = {"required_tools": ["kanban_complete"]}

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
