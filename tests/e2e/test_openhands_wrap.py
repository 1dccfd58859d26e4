"""An on_stop.sh that always denies, wrapped: a real OpenHands agent ends at the limit instead of at its last step."""

import json
from pathlib import Path
from typing import Any

import pytest

from . import agent
from .agent import Driver, Start
from .clients import Client
from .dialects import chat
from .hooks import group
from .openhands import QUIET, Place, play
from .product import LIMIT, decisions, hookctl

pytestmark = [pytest.mark.e2e, pytest.mark.full]
OWN_FOLDERS = True

STEPS = {"STEPS": "40"}
OFF = ("install", "--host", "openhands", "--mode", "off")
TOLD = f"hookctl guard: let the agent stop. Stop hook denied {LIMIT} times without progress (limit {LIMIT}). "
_FORK = Path(__file__).with_name("openhands_fork.py")


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


def start_fork(client: Client, place: Place, url: str, prompt: str) -> Start:
    return Start([*client.command, "-I", str(_FORK), url], QUIET)


FORKED: Driver[Place, agent.Run] = Driver(chat, start_fork)


def play_fork(client: Client, place: Place, hooks: str) -> list[dict[str, Any]]:
    run = FORKED.play(client, place, ["done"], hooks)
    assert run.code == 0, run.errors
    return json.loads(run.out.splitlines()[-1])


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


def test_a_fork_has_a_count_of_its_own_where_it_is_given_the_hooks(openhands: Client, place: Place) -> None:
    write_hook(place.settings, always_deny(place.root / "theirs"))
    hookctl(place, *OFF, "--wrap", "on_stop.sh")
    once = [[True, "tests are missing"]] * (LIMIT - 1) + [[False, f"{TOLD}Last feedback: tests are missing"]]
    assert play_fork(openhands, place, "with") == [{"status": "finished", "stops": once}] * 2


def test_a_fork_that_the_sdk_gives_no_hooks_just_ends(openhands: Client, place: Place) -> None:
    write_hook(place.settings, always_deny(place.root / "theirs"))
    hookctl(place, *OFF, "--wrap", "on_stop.sh")
    assert play_fork(openhands, place, "without")[1] == {"status": "finished", "stops": []}
