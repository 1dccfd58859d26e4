"""What an operator can choose for the guard, and what becomes of an earlier choice."""

from __future__ import annotations

from typing import Any

import pytest

from hookctl.packs.choices import PRESETS, Request, Settings, choose, remarks

TOOLS = {"dispatch_tools": ["Task"]}


@pytest.mark.parametrize(
    ("before", "request_", "mode", "knobs"),
    [
        (Settings(), Request(), "breaker", {}),
        (Settings("off"), Request(), "off", {}),
        (Settings("guard"), Request(mode="keepalive"), "keepalive", {}),
        (Settings(options={"latch": False}), Request(assignments=("MAX_STOP_BLOCKS=8",)), "breaker",
         {"latch": False, "max_stop_blocks": 8}),
        (Settings(), Request(nudge="a, b,"), "breaker", {"required_tools": ["a", "b"]}),
        (Settings(options={"required_tools": ["a"]}), Request(nudge=""), "breaker", {"required_tools": []}),
        (Settings(), Request(nudge_env=" TASK "), "breaker", {"required_scope_env": "TASK"}),
        (Settings(), Request(dispatch=("Task", "Web:9/60")), "breaker",
         {"dispatch_tools": ["Task", "Web"], "dispatch_max": 9, "dispatch_window_s": 60}),
        (Settings(), Request(dispatch=("Task", "Task")), "breaker", TOOLS),
        (Settings(), Request(dispatch=("mcp__a.b:1/2",)), "breaker",
         {"dispatch_tools": ["mcp__a.b"], "dispatch_max": 1, "dispatch_window_s": 2}),
        (Settings(options={**TOOLS, "dispatch_max": 3}), Request(dispatch=("",)), "breaker",
         {"dispatch_tools": [], "dispatch_max": 3}),
        # A preset brings its mode, unless one is named; and it goes with the preset.
        (Settings(), Request(preset="nightly"), "keepalive", {}),
        (Settings(), Request(preset="nightly", mode="guard"), "guard", {}),
        (Settings("keepalive", preset="nightly"), Request(preset="rockbot"), "off", {}),
        (Settings("off", preset="rockbot"), Request(preset="hermes"), "breaker", {}),
        (Settings(), Request(preset="rockbot", mode="breaker"), "breaker", {}),
        (Settings("guard"), Request(preset="hermes"), "guard", {}),
        (Settings("keepalive", preset="nightly"), Request(), "keepalive", {}),
        (Settings("keepalive", preset="nightly"), Request(mode="breaker"), "breaker", {}),
    ],
)  # fmt: skip
def test_a_choice_goes_on_top_of_the_earlier_ones(
    before: Settings, request_: Request, mode: str, knobs: dict[str, Any]
) -> None:
    after = choose(before, request_)
    assert (after.mode, after.options) == (mode, knobs)
    assert after.preset == (request_.preset or before.preset)


@pytest.mark.parametrize(
    ("request_", "refusals"),
    [
        (Request(), None),
        (Request(dispatch=("Task",)), 10),
        (Request(dispatch=("Task",), assignments=("dispatch_end=0",)), 0),
        (Request(dispatch=("Task",), assignments=("dispatch_end=3",)), 3),
        (Request(dispatch=("Task",), preset="bmad"), 10),
        (Request(dispatch=("Task",), preset="rockbot"), 0),
        (Request(dispatch=("",)), None),
    ],
)
def test_where_calls_are_counted_ten_refusals_end_the_turn(request_: Request, refusals: int | None) -> None:
    settings = choose(Settings(), request_)
    assert settings.effective.get("dispatch_end") == refusals
    assert choose(settings, Request()).effective.get("dispatch_end") == refusals, "a reinstall changes nothing"


def test_knobs_that_were_named_stay_over_those_of_a_preset() -> None:
    settings = choose(choose(Settings(), Request(assignments=("latch=true",))), Request(preset="bmad"))
    assert settings.effective == {**{k: v for k, v in PRESETS["bmad"].items() if k != "mode"}, "latch": True}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (Settings(), ""),
        (Settings(preset="rockbot"), "name the tools with --dispatch"),
        (Settings(preset="rockbot", options=TOOLS), ""),
        (Settings("off", {"required_tools": ["a"]}), "gives no reminder"),
        (Settings(options={"required_scope_env": "A"}), ""),
        (Settings(preset="hermes"), ""),
    ],
)
def test_what_has_no_effect_is_told(settings: Settings, told: str) -> None:
    assert told in " ".join(remarks(settings, Request())) if told else remarks(settings, Request()) == ()


@pytest.mark.parametrize(
    ("settings", "events"),
    [
        (Settings(), ("stop",)),
        (Settings("keepalive"), ("stop",)),
        (Settings("guard", TOOLS), ("stop", "pre-tool")),
        (Settings("off", TOOLS), ("pre-tool",)),
        (Settings("off"), ()),
        (Settings("off", {"required_tools": ["a"]}), ()),
        (choose(Settings(), Request(preset="rockbot")), ()),
        (choose(Settings(), Request(preset="rockbot", dispatch=("Task",))), ("pre-tool",)),
    ],
)
def test_only_the_events_that_a_policy_needs(settings: Settings, events: tuple[str, ...]) -> None:
    assert settings.events == events
