"""Installing the guard again with other choices: what is registered, what stands in env and in config.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Hookctl, put

CAP, LIMIT = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "MAX_STOP_BLOCKS"
INSTALL = ("install", "--host", "claude")
OWN = b'{"env": {"A": "1"}, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}\n'


def there(settings: Path) -> tuple[list[str], dict[str, str]]:
    """The events of our hooks with their matchers, and the env values that are not the operator's."""
    value = json.loads(settings.read_text())
    groups = [(event, group) for event, groups in value.get("hooks", {}).items() for group in groups]
    ours = [
        event + (f"({group['matcher']})" if "matcher" in group else "")
        for event, group in groups
        if group["hooks"][0]["command"].startswith(": hookctl=guard/")
    ]
    return ours, {key: text for key, text in value.get("env", {}).items() if key != "A"}


def config(isolated: Path) -> dict[str, Any]:
    value = json.loads((isolated / "data" / "guard" / "claude.json").read_text())
    return {name: value[name] for name in value if name not in ("state_dir", "hosts")}


CHOICES = [
    ([], ["Stop"], {LIMIT: "5", CAP: "8"}, {"mode": "breaker"}),
    (["--set", f"{LIMIT}=12"], ["Stop"], {LIMIT: "12", CAP: "15"}, {"mode": "breaker"}),
    (["--set", f"{LIMIT}=0"], ["Stop"], {LIMIT: "0", CAP: "5000"}, {"mode": "breaker"}),
    (["--set", f"{LIMIT}=-1"], ["Stop"], {LIMIT: "-1", CAP: "5000"}, {"mode": "breaker"}),
    (["--set", f"{LIMIT}=1"], ["Stop"], {LIMIT: "1", CAP: "8"}, {"mode": "breaker"}),
    (["--set", f"{LIMIT}=6"], ["Stop"], {LIMIT: "6", CAP: "9"}, {"mode": "breaker"}),
    (["--mode", "keepalive"], ["Stop"], {CAP: "5000"}, {"mode": "keepalive"}),
    (["--mode", "keepalive", "--set", "keepalive_cap=9"], ["Stop"], {CAP: "5000"},
     {"mode": "keepalive", "keepalive_cap": 9}),
    (["--mode", "guard", "--set", f"{LIMIT}=3"], ["Stop"], {}, {"mode": "guard", "max_stop_blocks": 3}),
    (["--nudge", "done"], ["Stop"], {LIMIT: "5", CAP: "8"}, {"mode": "breaker", "required_tools": ["done"]}),
    (["--mode", "off", "--dispatch", "Task:3/9"], ["PreToolUse(Task)"], {},
     {"mode": "off", "dispatch_tools": ["Agent", "Task"], "dispatch_max": 3, "dispatch_window_s": 9,
      "dispatch_end": 10}),
    (["--mode", "guard", "--dispatch", "Task", "--dispatch", "a.b"], ["Stop", "PreToolUse(Task|a\\.b)"], {},
     {"mode": "guard", "dispatch_tools": ["Agent", "Task", "a.b"], "dispatch_end": 10}),
    (["--mode", "guard", "--dispatch", "*"], ["Stop", "PreToolUse"], {},
     {"mode": "guard", "dispatch_tools": ["*"], "dispatch_end": 10}),
    (["--preset", "rockbot", "--dispatch", "Task"], ["PreToolUse(Task)"], {},
     {"mode": "off", "dispatch_tools": ["Agent", "Task"], "dispatch_max": 30, "dispatch_window_s": 300,
      "dispatch_scope": "project", "dispatch_end": 0, "claim": False, "work_hours": 0}),
    (["--preset", "openhands"], ["Stop"], {},
     {"mode": "guard", "count": "attempts", "max_stop_blocks": 5, "action_novelty": False, "claim": False,
      "work_hours": 0}),
    (["--preset", "nightly", "--mode", "guard"], ["Stop"], {},
     {"mode": "guard", "chain_reset": "fresh", "latch": False, "keepalive_cap": 5000, "yield_on_background": False,
      "end_foreign_chains": False, "claim": False, "work_hours": 0, "guidance": True}),
]  # fmt: skip


NAMES = [" ".join(choice[0]) or "none" for choice in CHOICES]


@pytest.mark.parametrize(("options", "events", "env", "knobs"), CHOICES, ids=NAMES)
def test_a_choice_writes_what_it_needs_and_goes_without_a_trace(
    hookctl: Hookctl, settings: Path, isolated: Path,
    options: list[str], events: list[str], env: dict[str, str], knobs: dict[str, Any],
) -> None:  # fmt: skip
    put(settings, OWN)
    assert hookctl(*INSTALL, *options).code == 0
    assert (there(settings), config(isolated)) == ((events, env), knobs)
    before = settings.read_bytes()
    again = hookctl(*INSTALL)
    assert "nothing to do" in again.out and settings.read_bytes() == before
    assert hookctl("uninstall").code == 0
    assert settings.read_bytes() == OWN and not (isolated / "data").exists()


@pytest.mark.parametrize(("first", "second"), list(zip(CHOICES, CHOICES[5:] + CHOICES[:5], strict=True)))
def test_another_choice_leaves_nothing_of_the_first(
    hookctl: Hookctl, settings: Path, isolated: Path, first: tuple[Any, ...], second: tuple[Any, ...]
) -> None:
    put(settings, OWN)
    hookctl(*INSTALL, *first[0])
    assert hookctl(*INSTALL, "--reset", *second[0]).code == 0
    assert (there(settings), config(isolated)) == ((second[1], second[2]), second[3])
    hookctl("uninstall")
    assert json.loads(settings.read_bytes()) == json.loads(OWN)
