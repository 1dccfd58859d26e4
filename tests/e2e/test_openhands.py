"""hookctl's promises, kept with the real OpenHands SDK, beyond the story that all clients share."""

import json

import pytest

from .clients import Client
from .hooks import group, verdict
from .openhands import Place, play, shell
from .probe import make_probe
from .product import LIMIT, codes, hookctl, leave_work

pytestmark = [pytest.mark.e2e, pytest.mark.full]
OWN_FOLDERS = True

HOST = ("--host", "openhands")


def test_a_second_prompt_is_kept_again_and_a_new_tool_call_starts_the_count_again(
    openhands: Client, place: Place
) -> None:
    hookctl(place, "install", *HOST, "--set", "max_stop_blocks=2")
    leave_work(place)
    replies = ["one", "two", "three", "four", shell("true 1"), "on and on"]
    run = play(openhands, place, replies, "second")
    assert codes(place) == ["blocked", "blocked", "tripped", *["blocked"] * 3, "tripped"]
    assert (run.requests, run.status) == (8, "finished")
    assert [text for text in run.told("user") if text in ("begin", "second")] == ["begin", "second"]


def test_a_person_s_next_prompt_starts_the_count_of_a_wrapped_hook_again(openhands: Client, place: Place) -> None:
    foreign = make_probe(place.root, "foreign", answers=(verdict("deny"),))
    place.settings.write_text(json.dumps({"stop": [group(foreign)]}))
    hookctl(place, "install", *HOST, "--mode", "off", "--wrap", "foreign")
    run = play(openhands, place, ["done"], "the same", "the same")
    assert (run.requests, run.status) == (3 * LIMIT, "finished")
