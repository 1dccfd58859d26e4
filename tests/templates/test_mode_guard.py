"""Mode guard: never blocks, and ends a chain that another tool's stop hook forces on without progress."""

import json
from typing import Any

import pytest

from .lab import Lab, letter
from .play import HIGH_CAP, Row, play, rows

GUARD: dict[str, Any] = {"mode": "guard"}
TWO: dict[str, Any] = {**GUARD, "max_stop_blocks": 2}

SCENARIOS: list[Row] = [
    ("F1 it never blocks by itself", GUARD, "work 9; 0=A[allowed]"),
    ("F2 the fifth attempt", GUARD, "01111=AAAAH[stop_loop]"),
    ("F2 work is nothing to it", GUARD, "work 9; 01111=AAAAH"),
    ("F2 it counts anew after the end", GUARD, "01111=AAAAH; 0111=AAAA; 1=H"),
    ("F2 counted in attempts, too", {**GUARD, "count": "attempts"}, "01111=AAAAH"),
    ("F2 its rule is not the breaker's knob", {**GUARD, "end_foreign_chains": False}, "01111=AAAAH"),
    ("F4 two", TWO, "01=AH"),
    ("F4 the environment's limit", GUARD, "env MAX_STOP_BLOCKS=3; 011=AAH"),
    ("F no limit", {**GUARD, "max_stop_blocks": 0}, f"{HIGH_CAP}; 0{'1' * 11}={'A' * 12}[allowed]"),
    ("F a heartbeat is progress", TWO, "work 0 a; 0=A; work 0 b; 1=A; 1=H"),
    ("F less work is progress", TWO, "work 3; 0=A; work 2; 1=A; 1=H"),
    ("F more work is none", TWO, "work 2; 0=A; work 3; 1=H"),
    ("F a call is progress", TWO, "calls z; 0=A; calls a; 1=A; 1=H"),
    ("F the same call is none", TWO, "calls a; 0=A; calls a; 1=H"),
    ("F any call", {**TWO, "action_novelty": False}, "calls a; 0=A; calls a; 1=A; 1=H"),
    ("F a call of the events", TWO, "tool z; 0=A; tool a; 1=A; 1=H"),
    (
        "F calls without a bound",
        {**TWO, "max_soft_resets": 1},
        "calls z; 0=A; " + "; ".join(f"calls c{i}; 1=A" for i in range(6)) + "; 1=H",
    ),
    ("F calls that do not count", {**TWO, "progress": ["heartbeat"]}, "calls z; 0=A; calls a; 1=H"),
    ("F plain answers are no loop", GUARD, "0000000=AAAAAAA"),
    ("F plain answers, one a turn", TWO, "turn p; 0=A; turn q; 0=A; turn r; 0=A; 1=H"),
    ("F another turn", TWO, "turn p; 0=A; turn q; 1=A; 1=H"),
    ("F a prompt event", TWO, "host openhands; -=A; prompt go on; -=A[allowed]; -=A[stop_loop]"),
    ("F STOP", TWO, "mark STOP; 01=AH"),
    ("F CONCLUDE", TWO, "mark CONCLUDE; 01=AH"),
    ("F the owner's session is another", TWO, "owner S9; 01=AH"),
    ("F must be armed", {**TWO, "require_arm": True}, "01=AH"),
    ("F off by a child", {**TWO, "child_env": ["C"]}, "env C=1; 0111=AAAA[child]"),
    ("F disabled", TWO, "env HOOKCTL_DISABLE=1; 0111=AAAA[off]"),
    ("F the host waits itself", TWO, "waits; 0111=AAAA[background]"),
    ("F sessions apart", TWO, "a:0=A; b:0=A; a:1=H; b:1=H"),
    ("F qwen would go on", TWO, "host qwen; 01=AA[stop_loop]"),
    ("F openhands would go on", TWO, "host openhands; --=AA[stop_loop]"),
    ("F copilot shows nothing", TWO, "host copilot; 01=AA[stop_loop]"),
]


@rows(SCENARIOS)
def test_guard_plays_the_scenario(lab: Lab, config: dict[str, Any], script: str) -> None:
    play(lab, config, script)


@pytest.mark.parametrize("host", ["claude", "codex", "gemini"])
def test_a_turn_is_ended_in_the_hosts_words(lab: Lab, host: str) -> None:
    lab.config(**TWO)
    lab.host = host
    assert lab.call("stop", stop_hook_active=False) == ""
    said = "hookctl guard: ended a turn that another stop hook forces on without progress. Send a prompt to go on."
    assert json.loads(lab.call("stop", stop_hook_active=True)) == {"continue": False, "stopReason": said}
    assert [(line["decision"], line["code"]) for line in lab.log()] == [("allow", "allowed"), ("end", "stop_loop")]


@pytest.mark.parametrize(
    "host", ["qwen", "copilot", "openhands", "cursor", "antigravity", "droid", "hermes", "opencode"]
)
def test_a_host_that_cannot_end_a_turn_hears_nothing_and_the_log_does(lab: Lab, host: str) -> None:
    lab.config(**TWO)
    lab.host = host
    assert [lab.call("stop", stop_hook_active=active) for active in (False, True)] == ["", ""]
    assert [(line["decision"], line["code"]) for line in lab.log()] == [("allow", "allowed"), ("counted", "stop_loop")]


def test_nothing_of_the_project_or_the_payload_is_said(lab: Lab) -> None:
    lab.config(**TWO).task(remaining=3, heartbeat="evil")
    lab.stop(last_assistant_message="evil")
    said = lab.call("stop", stop_hook_active=True, last_assistant_message="evil", reason="evil")
    assert letter(said) == "H" and "evil" not in said


def test_a_loop_is_ended_once_by_two_registrations(lab: Lab) -> None:
    lab.config(**TWO)
    other = lab.second()
    assert [(lab.stop(flag), lab.stop(flag, other)) for flag in (False, True)] == [("A", "A"), ("H", "H")]
    assert lab.codes() == ["allowed", "stop_loop"]
