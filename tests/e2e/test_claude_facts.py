"""The behaviour of the real Claude Code that hookctl relies on; expected values are in pins/claude.toml."""

import json
from pathlib import Path
from typing import Any

import pytest

from . import facts
from .claude import Place, bash, play, subagent
from .clients import Client, pins_of
from .facts import Came, Fact, probe
from .hooks import END, SPEAK, group
from .model_server import Script
from .probe import BLOCK, Probe, make_probe

pytestmark = pytest.mark.e2e

PINS = pins_of("claude")
KEY, CAP, NAMES = PINS["cap"]["key"], PINS["cap"]["default"], PINS["variables"]
STOP, BLOCKED = {"Stop": [probe()]}, {"Stop": [probe("it", BLOCK)]}
MORE = json.dumps({"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "more"}})


def overridden(came: Came) -> bool:
    notice = came.run.system_lines("notification")[-1]["key"]
    return bool(came.run.result == "" and came.run.was_overridden and notice == PINS["cap"]["notification"])


def ended(came: Came) -> bool:
    """Alone it would keep the text; the feedback of the block that it beats takes the reply's place."""
    reason = came.run.ending["terminal_reason"]
    return bool(reason == PINS["stop"]["ended_by_hook"] and came.run.result == "" and came.run.texts[-1] == "three")


def told_the_session(came: Came) -> bool:
    (heard,) = came.probes["it"].heard()
    fits = set(PINS["stop"]["payload"]) <= set(heard.payload)
    return fits and heard.payload["session_id"] == heard.environment[NAMES["session"]] == came.run.session


FACTS = [
    Fact("a hook that always blocks is overridden and the reply is lost", BLOCKED, requests=CAP + 1,
         flags="F" + "T" * CAP, check=overridden),
    Fact("the cap comes from the settings' env", BLOCKED, more={"env": {KEY: "3"}}, requests=4,
         check=lambda came: came.run.result == ""),
    Fact("a cap of 0 switches the cap off", BLOCKED, more={"env": {KEY: "0"}}, replies=Script(["done"], limit=15),
         requests=15, code=None, check=lambda came: came.refused() and not came.run.was_overridden),
    Fact("a tool call starts the cap's count again but not the flag", BLOCKED, requests=5 + 1 + CAP + 1,
         replies=[*["text"] * 5, bash("true 1"), "text"], flags="F" + "T" * (5 + CAP)),
    Fact("a hook that lets go by itself keeps the reply", {"Stop": [probe("it", BLOCK, BLOCK, SPEAK)]},
         replies=["one", "two", "three"], requests=3, check=lambda came: came.run.result == "three"
         and [line["content"] for line in came.run.system_lines("informational")]
         == [PINS["stop"]["message_prefix"] + "let go"]),
    Fact("a hook that ends the turn beats another hook's block", {"Stop": [probe("blocks", BLOCK)]},
         files={"project/.claude/settings.json": {"Stop": [probe("ends", "", "", END)]}},
         replies=["one", "two", "three", "four"], requests=3, check=ended),
    Fact("a settings file with a comment is ignored as a whole", BLOCKED, requests=1, flags="", check=Came.silent,
         text=lambda text: text.replace("{", "{ // mine\n", 1)),
    Fact("a known key of the wrong type loses the whole file", BLOCKED, more={"cleanupPeriodDays": "abc"}, requests=1,
         flags="", check=Came.silent),
    Fact("an entry that does not fit is dropped with a warning in a headless run, and the other hook still runs", STOP,
         text=lambda text: text.replace('"Stop": [', '"Stop": [{"hooks": [{"type": "command", "command": 5}]}, '),
         options=("--output-format", "text"), requests=1, flags="F",
         said=["(hooks.Stop.0.hooks.0)", "entry ignored"]),
    Fact("a stop hook gets the pinned fields and variables", STOP, more={"env": {"MAX_STOP_BLOCKS": "5"}},
         variables={NAMES["project"]: "{place.project}", "MAX_STOP_BLOCKS": "5"}, check=told_the_session),
    Fact("context at a stop sends the agent on and counts for the cap", {"Stop": [probe("it", MORE)]},
         requests=CAP + 1, flags="F" + "T" * CAP,
         check=lambda came: (came.run.result, came.run.was_overridden) == ("done", True)),
]  # fmt: skip
test_fact = facts.table("claude", FACTS, facts.claude_like())


def write_settings(path: Path, probe: Probe | str | None = None, **more: Any) -> None:
    """Write settings with a Stop hook (a probe or a command) and further keys."""
    hooks = {}
    if probe is not None:
        hooks = {"hooks": {"Stop": [group(probe, timeout=10)]}}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**more, **hooks}))


def test_a_subagent_fires_its_own_event_and_not_stop(claude: Client, place: Place) -> None:
    stop, sub = make_probe(place.root, "stop"), make_probe(place.root, "sub")
    hooks = {"Stop": [group(stop)], "SubagentStop": [group(sub)]}
    write_settings(place.settings, permissions={"allow": ["Task", "Agent"]}, hooks=hooks)
    script = Script([subagent("MARKER"), "done"], sub_marker="MARKER")
    run = play(claude, place, script)
    assert (run.requests, run.count("sub")) == (2, 1)
    assert [len(stop.heard()), len(sub.heard())] == [1, 1]
    assert set(claude.pins["subagent_stop"]["payload"]) <= set(sub.heard()[0].payload)


def test_the_shell_commands_of_a_skill_ask_an_event_of_their_own(claude: Client, place: Place) -> None:
    no = {"hookEventName": "PreSkillShellCommand", "permissionDecision": "deny", "permissionDecisionReason": "no"}
    asked = make_probe(place.root, "asked", answers=("", json.dumps({"hookSpecificOutput": no})))
    unasked = make_probe(place.root, "unasked")
    hooks = {"PreSkillShellCommand": [{"matcher": "Bash", **group(asked)}], "PreToolUse": [group(unasked)]}
    place.settings.write_text(json.dumps({"hooks": hooks}))
    command = place.project / ".claude" / "commands" / "make.md"
    command.parent.mkdir(parents=True)
    command.write_text("---\nallowed-tools: Bash(touch:*)\n---\n!`touch $ARGUMENTS`\n")
    for name in ("first", "second"):
        play(claude, place, ["done"], prompt=f"/make {name}")
    assert [heard.payload["tool_input"] for heard in asked.heard()] == [
        {"command": "touch first"},
        {"command": "touch second"},
    ]
    assert unasked.heard() == []
    assert {path.name for path in place.project.iterdir()} == {".claude", "first"}
