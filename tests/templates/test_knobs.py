"""Every knob of every policy: environment over configuration over default, and what cannot be read is ignored."""

import re
from pathlib import Path
from typing import Any

import pytest

from .lab import Lab
from .modules import module
from .play import HIGH_CAP, play

ARMED = "armed"
TASK = {"dispatch_tools": ["Task"]}

# knob: what else is configured; a value and a script that shows it; another value and its script; what is no value
KNOBS: dict[str, tuple[dict[str, Any], tuple[Any, str], tuple[Any, str], list[Any]]] = {
    "mode": ({}, ("off", "work 1; 0=A[off]"), ("guard", "work 1; 0=A[allowed]"), ["on", 5, ["off"], "Guard"]),
    "max_stop_blocks": (
        {},
        (1, "work 1; 01=BR"),
        (2, "work 1; 011=BBR"),
        ["x", 1.5, True, [1], "1e1", "1_0", "²", "9" * 30, 10**30, None],
    ),
    "count": ({"max_stop_blocks": 3}, ("attempts", "work 1; 011=BBR"), ("blocks", "work 1; 0111=BBBR"), ["stops", 5]),
    "keepalive_cap": (
        {"mode": "keepalive"},
        (1, f"{ARMED}; 01=BR"),
        (2, f"{ARMED}; 011=BBR"),
        ["x", 1.5, True, None],
    ),
    "ceiling": (
        {},
        (1, "work 1; 0=B; calls a; 1=R[ceiling]; calls b; 0=A[ceiling]"),
        (2, "work 1; 0=B; calls a; 1=B; calls b; 1=R[ceiling]"),
        ["x", 1.5, True, None],
    ),
    "chain_reset": (
        {"max_stop_blocks": 1, "latch": False},
        ("fresh", "work 1; 000=BBB"),
        ("progress", "work 1; 00=BR"),
        ["active", 0],
    ),
    "latch": ({"max_stop_blocks": 1}, (False, "work 1; 010=BRB"), (True, "work 1; 010=BRA"), ["maybe", 0, [False]]),
    "honor_stop_hook_active": ({}, (True, "work 1; 1=A"), (False, "work 1; 1=B"), ["maybe", 1]),
    "progress": (
        {"max_stop_blocks": 1},
        (["remaining"], "work 2 a; 0=B; work 2 b; 1=R"),
        (["heartbeat"], "work 2 a; 0=B; work 1 a; 1=R"),
        ["speed", 5, ["x"], [], ["heartbeat", 5], " heartbeat , "],
    ),
    "action_novelty": (
        {"max_stop_blocks": 1},
        (False, "work 1; calls a; 0=B; calls a; 1=B"),
        (True, "work 1; calls a; 0=B; calls a; 1=R"),
        ["maybe", 0],
    ),
    "max_soft_resets": (
        {"max_stop_blocks": 1},
        (1, "work 1; calls a; 0=B; calls b; 1=B; calls c; 1=R"),
        (2, "work 1; calls a; 0=B; calls b; 1=B; calls c; 1=B; calls d; 1=R"),
        ["x", 1.5],
    ),
    "end_foreign_chains": ({}, (False, "011111=AAAAAA"), (True, "01111=AAAAH"), ["maybe", 0]),
    "owner": ({}, ("S1", "work 1; S2:0=A; S1:0=B"), ("S2", "work 1; S1:0=A; S2:0=B"), [5, ["S9"]]),
    "claim": ({}, (False, "work 1; a:0=B; b:0=B"), (True, "work 1; a:0=B; b:0=A[not_owner]"), ["maybe", 0]),
    "work_hours": (
        {},
        (1, "work 1; old 2; 0=A[stale]; old 0.9; 0=B"),
        (3, "work 1; old 2; 0=B; S2:0=A[not_owner]; old 100; 0=B"),
        ["x", 1.5, True],
    ),
    "limit_env": (
        {},
        ("MOST", "work 1; env MOST=1; 01=BR"),
        ("LEAST", "work 1; env MOST=1; env LEAST=2; 011=BBR"),
        [5, ["MOST"]],
    ),
    "task_file": ({}, ("a.json", "text {}; 0=A"), (".hookctl/run/task.json", "work 1; 0=B"), [5]),
    "task_env": ({}, ("FILE", "work 1; env FILE=gone; 0=A"), ("OTHER", "work 1; env FILE=gone; 0=B"), [5]),
    "task_fields": (
        {"task_file": ".hookctl/run/task.json"},
        (["remaining=left"], 'text {"left": 2}; 0=B; text {"remaining": 2}; 0=A'),
        (["remaining=rest"], 'text {"rest": 2}; 0=B; text {"left": 2}; 0=A'),
        [5],
    ),
    "require_arm": ({}, (True, "work 1; 0=A[inactive]"), (False, "work 1; 0=B"), ["maybe", 1]),
    "child_env": (
        {},
        (["C1", "C2"], "work 1; env C2=1; 0=A[child]"),
        (["C3"], "work 1; env C2=1; 0=B; env C3=on; 0=A[child]"),
        [5],
    ),
    "yield_on_background": ({}, (False, "work 1; waits; 0=B"), (True, "work 1; waits; 0=A[background]"), ["maybe", 0]),
    "required_tools": ({}, (["a", "b"], "uses b; 0=A"), (["c"], "uses b; 0=B[nudged]"), [5]),
    "required_scope_env": (
        {"required_tools": ["a"]},
        ("SCOPE", "0=A; env SCOPE=1; 0=B[nudged]"),
        ("OTHER", "env SCOPE=1; 0=A; env OTHER=1; 0=B[nudged]"),
        [5, ["SCOPE"]],
    ),
    "max_nudges": ({"required_tools": ["a"]}, (2, "011=BBA"), (3, "0111=BBBA"), ["x", 1.5, True]),
    "dispatch_tools": ({"dispatch_max": 1}, (["Task"], "try a=AD"), (["*"], "try a=AD"), [5]),
    "dispatch_max": (TASK, (1, "try a=AD"), (2, "try a=AAD"), ["x", 1.5, True]),
    "dispatch_window_s": (
        {**TASK, "dispatch_max": 1},
        (10, "at 0; try a=A; at 10; try a=A"),
        (20, "at 0; try a=A; at 10; try a=D; at 20; try a=A"),
        ["x", 1.5, True],
    ),
    "dispatch_scope": (
        {**TASK, "dispatch_max": 1},
        ("session", "try x:a=A; try y:a=A"),
        ("project", "try x:a=A; try y:a=D"),
        ["user", 5],
    ),
    "dispatch_end": ({**TASK, "dispatch_max": 1}, (2, "try a=ADE"), (3, "try a=ADDE"), ["x", 1.5, True]),
    "dispatch_max_keys": (
        {**TASK, "dispatch_max": 1},
        (1, "try a=A; try b=A; try a=A"),
        (2, "try a=A; try b=A; try a=D"),
        ["x", 1.5, True],
    ),
}


# Settings that change no decision, or that no variable sets, and the file here that tests them.
ELSEWHERE = {
    "reason": "test_hook_texts.py",
    "release_reason": "test_hook_texts.py",
    "nudge_reason": "test_hook_texts.py",
    "dispatch_reason": "test_hook_texts.py",
    "guidance": "test_hook_texts.py",
    "guidance_text": "test_hook_texts.py",
    "show_env": "test_hook_texts.py",
    "run_dir": "test_hook_rules.py",
    "state_dir": "test_whose_project.py",
    "lock_ms": "test_hook_rules.py",
    "locked": "test_whose_project.py",
}


def test_every_setting_has_a_row_or_a_test_elsewhere() -> None:
    defaults = set(module("settings").DEFAULTS)
    assert not set(KNOBS) & set(ELSEWHERE)
    assert set(KNOBS) | set(ELSEWHERE) == defaults, "a row in KNOBS for a decision; a text in test_hook_texts.py"
    for setting, file in ELSEWHERE.items():
        assert re.search(rf"\b{setting}\b", (Path(__file__).parent / file).read_text()), (setting, file)


def variable(knob: str) -> str:
    return "MAX_STOP_BLOCKS" if knob == "max_stop_blocks" else "HOOKCTL_" + knob.upper()


def text(value: object) -> str:
    if isinstance(value, list):
        return ",".join(value)
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


@pytest.mark.parametrize("knob", KNOBS)
def test_the_environment_comes_before_the_file(lab: Lab, knob: str) -> None:
    others, (value, _), (other, script), _ = KNOBS[knob]
    lab.environment[variable(knob)] = text(other)
    play(lab, {**others, knob: value}, f"{HIGH_CAP}; {script}")


@pytest.mark.parametrize("knob", KNOBS)
def test_the_file_sets_a_knob_and_an_empty_variable_changes_nothing(lab: Lab, knob: str) -> None:
    others, (value, script), _, _ = KNOBS[knob]
    lab.environment[variable(knob)] = "  "
    play(lab, {**others, knob: value}, f"{HIGH_CAP}; {script}")


@pytest.mark.parametrize("ceiling", [0, -1])
def test_the_ceiling_is_never_off(lab: Lab, ceiling: int) -> None:
    play(lab, {"ceiling": ceiling}, f"{HIGH_CAP}; work 1; 0=B; 1=R[ceiling]")


def test_nor_is_it_above_5000(lab: Lab) -> None:
    lab.config(ceiling=10**6, max_stop_blocks=0).task(remaining=1)
    lab.stop()
    lab.edit(total=4999)
    assert (lab.stops("11"), lab.codes()[-1]) == ("BR", "ceiling")
