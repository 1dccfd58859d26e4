"""A pack's refusal, and the guard, inside a sub-agent, with every real client."""

import pytest

from . import codex
from .agent import Place
from .clients import Client
from .dialects import Call
from .everywhere import EVERY, Case, receipts
from .model_server import Script
from .product import codes, hookctl, leave_work
from .test_packs_everywhere import install

pytestmark = pytest.mark.e2e

# Some run it in the background, and end without it.
AWAIT = "timeout 30 sh -c 'until [ -e looked ]; do sleep 0.1; done'"
# Gemini CLI's sub-agents end with a tool of theirs.
ENDS = {"gemini": Call("complete_task", {"result": {"response": "looked"}})}
REASON = "removing by force is not allowed"
BEGINNINGS = ("UserPromptSubmit", "SessionStart")
GUARDED = ("droid", "grok", "hermes", "vibe")  # whose sub-agents are sessions of their own: they are not kept
UNASKED = "its sub-agents do not ask it"


@pytest.mark.parametrize("case", [case for case in EVERY if case.id != "pi"])  # it has no sub-agents
def test_a_refused_call_of_a_sub_agent_does_not_happen_and_it_reads_the_reason(
    case: Case, stage: tuple[Client, Place]
) -> None:
    client, place = stage
    said = install(case, place)
    forbidden = case.shell("touch gone; rm -rf gone2")
    inner = [forbidden, case.shell("touch looked"), ENDS.get(case.host, "looked")]
    outer = [case.starts_a_subagent(), case.shell(AWAIT), "done"]
    if case.host in GUARDED:
        hookctl(place, "install", "--set", "MAX_STOP_BLOCKS=2", "--host", case.host)
        leave_work(place)
        inner[1:1] = [case.writes(place, "inner.py", "1")]
        outer[2:2] = [case.writes(place, "outer.py", "1")]
    script = Script(outer, limit=12, sub_marker="MARKER", sub_replies=inner)
    options = [option for option in case.options if option not in codex.PATCHES]  # that model is offered no agents
    environment = {**dict(case.environment), "TASKS": "1"}
    run = case.driver.play(client, place, script, *options, timeout=300, environment=environment)
    assert (place.project / "looked").exists(), [entry.kind for entry in run.log]
    heard = [str(entry.request.body) for entry in run.log if entry.kind == "sub"]
    is_asked = case.host != "openhands"  # the sub-agents there have only hooks of their own
    assert (place.project / "gone").exists() is not is_asked
    assert any(REASON in text for text in heard) is is_asked
    assert (UNASKED in said) is not is_asked
    if case.host in GUARDED:
        own = [code for code in codes(place) if code != "subagent"]
        assert own[:3] == ["blocked", "blocked", "tripped"]
        assert {*own[3:]} <= {"open"}, "a sub-agent that ends later may wake it once more"
        # A sub-agent of Grok Build ends with another event than a stop.
        assert ("subagent" in codes(place)) is (case.host != "grok")
    begun = sorted(event for event, _ in receipts(place) if event in BEGINNINGS)
    asked = {"UserPromptSubmit": case.asks_prompts, "SessionStart": case.asks_starts}
    assert begun == sorted(event for event in BEGINNINGS if asked[event]), "those of the main agent"
