"""hookctl's promises, kept with the real OpenHands SDK, beyond the story that all clients share."""

import json

import pytest

from .clients import Client
from .hooks import group
from .openhands import Place, play, shell
from .probe import make_probe
from .product import codes, hookctl, leave_work

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


def test_a_file_in_claude_code_s_form_keeps_its_form(openhands: Client, place: Place) -> None:
    operators = make_probe(place.root, "operators")
    before = json.dumps({"hooks": {"Stop": [group(operators)]}})
    place.settings.write_text(before)
    hookctl(place, "install", *HOST)
    leave_work(place)
    assert play(openhands, place, ["done"]).requests == 6
    assert len(operators.heard()) == 6
    hookctl(place, "uninstall")
    assert place.settings.read_text() == before
