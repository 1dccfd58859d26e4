"""hookctl's promises, kept with the real OpenHands SDK, beyond the story that all clients share."""

import json
from pathlib import Path

import pytest

from .clients import Client
from .hooks import group
from .openhands import Place, play, shell
from .probe import make_probe
from .product import LIMIT, codes, decisions, hookctl, leave_work

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


# An on_stop.sh that always denies, wrapped: a real OpenHands agent ends at the limit instead of at its last step.


STEPS = {"STEPS": "40"}
OFF = ("install", "--host", "openhands", "--mode", "off")


def always_deny(folder: Path, words: str = "tests are missing") -> str:
    """The published example: a script that writes down each call and denies it; its command."""
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "on_stop.sh"
    answer = json.dumps({"decision": "deny", "reason": words})
    script.write_text(f"#!/bin/sh\ncat >> {folder}/called; echo >> {folder}/called\necho '{answer}'\n")
    script.chmod(0o755)
    return str(script)


def count_calls(folder: Path) -> int:
    return (folder / "called").read_text().count("\n")


def write_hook(file: Path, command: str) -> bytes:
    """The operator's file, with spaces of their own."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'{{"stop":   {json.dumps([group(command, timeout=20)])}}}\n')
    return file.read_bytes()


def test_it_ends_at_the_limit_and_uninstall_gives_the_bytes_back(openhands: Client, place: Place) -> None:
    before = write_hook(place.settings, always_deny(place.root / "theirs"))
    hookctl(place, *OFF, "--wrap", "on_stop.sh")
    run = play(openhands, place, ["done"], environment=STEPS)
    assert (run.requests, count_calls(place.root / "theirs"), run.status) == (LIMIT, LIMIT, "finished")
    said = [(line["event"], line["decision"], line["code"]) for line in decisions(place)]
    assert said == [("wrap", "block", "blocked")] * (LIMIT - 1) + [("wrap", "release", "tripped")]
    hookctl(place, "uninstall")
    assert place.settings.read_bytes() == before
    assert play(openhands, place, ["done"], environment={"STEPS": "9"}).requests == 9


def test_a_person_s_next_prompt_starts_the_count_again(openhands: Client, place: Place) -> None:
    write_hook(place.settings, always_deny(place.root / "theirs"))
    hookctl(place, *OFF, "--wrap", "on_stop.sh")
    run = play(openhands, place, ["done"], "the same", "the same", environment=STEPS)
    assert (run.requests, run.status) == (3 * LIMIT, "finished")
