"""The guard and sub-agents that are sessions of their own, with the real clients that have such."""

import pytest

from .agent import Place
from .clients import Client
from .everywhere import CASES, Case
from .model_server import Script
from .product import codes, hookctl, leave_work
from .test_packs_in_subagents import AWAIT, STARTS

pytestmark = [pytest.mark.e2e, pytest.mark.full]

LIMIT = 2
_THESE = [pytest.param(case, id=case.host) for case in CASES if case.host in ("droid", "grok", "hermes", "vibe")]


@pytest.mark.parametrize("case", _THESE)
def test_a_sub_agent_is_not_kept_and_the_main_agent_is(case: Case, stage: tuple[Client, Place]) -> None:
    client, place = stage
    hookctl(place, "install", "--set", f"MAX_STOP_BLOCKS={LIMIT}", "--host", case.host)
    leave_work(place)
    inner = [case.writes(place, "inner.py", "1"), case.shell("touch looked"), "looked"]
    outer = [STARTS[case.host], case.shell(AWAIT), case.writes(place, "outer.py", "1"), "done"]
    script = Script(outer, limit=12, sub_marker="MARKER", sub_replies=inner)
    run = case.driver.play(client, place, script, *case.options, timeout=300)
    assert run.count("sub") == len(inner)
    assert [code for code in codes(place) if code != "subagent"] == ["blocked"] * LIMIT + ["tripped"]
    # A sub-agent of Grok Build ends with another event than a stop.
    assert ("subagent" in codes(place)) is (case.host != "grok")
