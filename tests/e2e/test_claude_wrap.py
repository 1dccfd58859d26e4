"""Another tool's Stop hook that always blocks, wrapped: real Claude Code stops at the denial that the limit names."""

import json

import pytest

from .claude import Place, bash, play
from .clients import Client
from .probe import BLOCK, make_probe
from .product import LIMIT, decisions, hookctl

pytestmark = pytest.mark.e2e


def test_a_wrapped_hook_that_always_blocks_lets_go_with_the_text_kept(claude: Client, place: Place) -> None:
    foreign = make_probe(place.root, "foreign", answers=(BLOCK,))
    settings = place.settings
    handler = f'{{"type": "command",   "command": {json.dumps(foreign.command)}, "timeout": 20}}'
    settings.write_text(f'{{"hooks": {{"Stop": [{{"hooks": [ {handler} ]}}]}}}}\n')
    before = settings.read_bytes()

    hookctl(place, "install", "--host", "claude", "--mode", "off", "--wrap", "foreign")
    played = play(claude, place, [f"reply {number}" for number in range(1, 12)])
    assert (played.requests, len(foreign.heard()), played.code) == (LIMIT, LIMIT, 0)
    assert played.result == f"reply {LIMIT}"
    assert not played.was_overridden
    assert [line["event"] for line in decisions(place)] == ["wrap"] * LIMIT
    assert [line["decision"] for line in decisions(place)] == ["block"] * (LIMIT - 1) + ["release"]

    again = play(claude, place, ["one", "two", bash("true 1"), "three", *["on"] * 9])
    assert again.requests > LIMIT  # a tool call that is new starts the count anew
    assert not again.was_overridden

    hookctl(place, "uninstall")
    assert settings.read_bytes() == before
