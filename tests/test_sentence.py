"""status's sentence says what the guard will do, with the knobs, the limit and the cap in effect."""

from __future__ import annotations

from typing import Any

import pytest

from hookctl.packs.sentence import sentence

BLOCKS = "without progress while work remains, then lets the agent stop"


@pytest.mark.parametrize(
    ("mode", "knobs", "limit", "cap", "said"),
    [
        ("breaker", {}, 5, 8, f"blocks at most 5 stops {BLOCKS}"),
        ("breaker", {}, 1, 8, f"blocks at most 1 stop {BLOCKS}"),
        ("breaker", {}, 12, 8, f"blocks at most 8 stops {BLOCKS}"),
        ("breaker", {}, 0, 0, f"blocks at most 200 stops {BLOCKS}"),
        ("breaker", {}, 0, 5000, f"blocks at most 200 stops {BLOCKS}"),
        ("breaker", {"count": "attempts"}, 5, 8, f"blocks at most 4 stops {BLOCKS}"),
        ("breaker", {"count": "attempts"}, 1, 8, f"blocks at most 0 stops {BLOCKS}"),
        ("breaker", {"require_arm": True}, 5, 8, "remains in a run that `hookctl run start` began, then lets the"),
        ("keepalive", {}, 5, 5000, "until it ends or 5000 stops were blocked without progress; outside a run it lets"),
        ("keepalive", {"keepalive_cap": 9}, 5, 5000, "or 9 stops were blocked"),
        ("keepalive", {}, 5, 8, "or 8 stops were blocked"),
        ("keepalive", {"keepalive_cap": 0}, 5, 0, "or 5000 stops were blocked"),
        ("guard", {}, 5, 8, "never blocks by itself, and ends a chain of stops that other hooks force after 5 stops"),
        ("guard", {}, 0, 8, "that other hooks force where Claude Code would cut it off"),
        ("off", {}, 5, 8, "lets every stop pass"),
        ("off", {"required_tools": ["a"]}, 5, 8, "lets every stop pass"),
        ("guard", {"required_tools": ["a", "b"]}, 5, 8, "; reminds the agent once to call a or b before it leaves"),
        ("guard", {"required_tools": ["a"], "max_nudges": 3}, 5, 8, "; reminds the agent at most 3 times to call a"),
        ("guard", {"required_tools": ["a"], "required_scope_env": "T"}, 5, 8, "before it leaves (where T is set)"),
        ("off", {"dispatch_tools": ["Task"]}, 5, 8,
         "lets every stop pass; refuses a call of Task that was made 30 times in 300 s in the same project"),
        ("off", {"dispatch_tools": ["*"], "dispatch_max": 1, "dispatch_scope": "session"}, 5, 8,
         "; refuses a call of any tool that was made 1 time in 300 s in the same session"),
    ],
)  # fmt: skip
def test_it_says_what_the_guard_does(mode: str, knobs: dict[str, Any], limit: int, cap: float, said: str) -> None:
    assert said in sentence(mode, knobs, limit, cap, "Claude Code")


@pytest.mark.parametrize(("can_wrap", "end"), [(True, "; `--wrap` limits such a hook"), (False, "")])
def test_where_no_hook_can_end_a_turn_it_does_not_say_that_one_is_ended(can_wrap: bool, end: str) -> None:
    said = sentence("guard", {}, 5, 8, "Droid", can_end=False, can_wrap=can_wrap)
    told = "never blocks by itself, and only counts the stops that other hooks force: no hook can end a turn of Droid"
    assert said == told + end


@pytest.mark.parametrize("name", ["dispatch_max", "dispatch_window_s"])
def test_what_counts_nothing_is_not_said(name: str) -> None:
    knobs = {"dispatch_tools": ["Task"], name: 0}
    assert sentence("off", knobs, 5, 8, "Claude Code") == "lets every stop pass"


@pytest.mark.parametrize("can_end", [True, False])
def test_an_end_by_refusals_is_promised_where_the_host_can_end_a_turn(can_end: bool) -> None:
    knobs = {"dispatch_tools": ["Task"], "dispatch_end": 3}
    said = sentence("off", knobs, 5, 8, "Codex CLI", can_end_refused=can_end)
    assert ("asks the client to end the turn after 3 refusals" in said) == can_end
