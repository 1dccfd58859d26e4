"""Guidance at a session's start, as the model of the real client gets it: what waits, and how to wait."""

import json

import pytest

from .agent import Place as AnyPlace
from .agent import Run
from .claude import Place, play
from .clients import Client
from .everywhere import EVERY, Case
from .model_server import Script
from .product import hookctl, leave_work

pytestmark = pytest.mark.e2e

TOLD = "Work remains in this project (2)"
TELLS = ("codex", "gemini", "qwen", "pi", "copilot", "droid", "openhands")
INSTALL = ("install", "--guidance", "--set", "MAX_STOP_BLOCKS=1")


def requests_that_tell(run: Run) -> list[bool]:
    """For each request of the main agent, whether it has the guidance."""
    return [TOLD in json.dumps(entry.request.body) for entry in run.log if entry.kind == "main"]


@pytest.fixture
def installed(place: Place) -> Place:
    hookctl(place, *INSTALL, "--host", "claude")
    leave_work(place)
    return place


def test_a_new_session_and_a_resumed_one_are_told(claude: Client, installed: Place) -> None:
    first = play(claude, installed, ["one"])
    assert requests_that_tell(first)[0]
    hookctl(installed, "run", "remaining", "1", "--project", str(installed.project))
    resumed = play(claude, installed, ["two"], "--resume", first.session, prompt="go on")
    assert TOLD.replace("2", "1") in json.dumps(resumed.log[-1].request.body)


@pytest.mark.full
def test_a_session_is_told_again_after_compaction(claude: Client, installed: Place) -> None:
    first = play(claude, installed, ["one"])
    typed = [{"type": "user", "message": {"role": "user", "content": text}} for text in ("/compact", "go on")]
    lines = "".join(json.dumps(line) + "\n" for line in typed)
    options = ("--resume", first.session, "--input-format", "stream-json")
    run = play(claude, installed, Script(["a summary", "two"]), *options, prompt="", typed=lines)
    sources = [hook for hook in run.hooks("SessionStart") if TOLD in json.dumps(hook)]
    assert len(sources) >= 2, "at the resume, and after the compaction"


@pytest.mark.full
def test_nobody_is_told_where_nothing_waits(claude: Client, place: Place) -> None:
    hookctl(place, *INSTALL, "--host", "claude")
    assert requests_that_tell(play(claude, place, ["one"])) == [False]


@pytest.mark.parametrize("case", [case for case in EVERY if case.id in TELLS])
def test_the_same_with_another_client(case: Case, stage: tuple[Client, AnyPlace]) -> None:
    client, place = stage
    hookctl(place, *INSTALL, "--host", case.host)
    leave_work(place)
    run = case.driver.play(client, place, Script(["done"]), *case.options)
    assert requests_that_tell(run)[0], run.errors
