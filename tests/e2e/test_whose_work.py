"""Whose work it is, with the real Claude Code and two other clients: terminals, /clear, resume, nesting, yesterday."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from .agent import Place as AnyPlace
from .claude import Place, play, shell
from .clients import Client
from .dialects import Reply
from .everywhere import EVERY, Case
from .model_server import Script
from .product import codes, data_folder, decisions, hookctl, hookctl_json, leave_work, state_folder

pytestmark = pytest.mark.e2e

SETTINGS = '{ "permissions": {"allow": ["Bash", "Task", "Agent"]} }'
LIMIT = 2
INSTALL = ("install", "--set", f"MAX_STOP_BLOCKS={LIMIT}")
KEPT = ["blocked"] * LIMIT + ["tripped"]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def installed(place: Place) -> Place:
    """The guard is there, and a person has left work for whoever comes."""
    hookctl(place, *INSTALL, "--host", "claude")
    leave_work(place)
    return place


def folders(place: AnyPlace) -> dict[str, str]:
    """What hookctl needs in an agent's own tool: the test's folders, and this package."""
    return {
        "HOOKCTL_STATE_DIR": str(state_folder(place)),
        "HOOKCTL_DATA_DIR": str(data_folder(place)),
        "PYTHONPATH": str(ROOT),
    }


def in_tool(words: str) -> str:
    return f"{sys.executable} -m hookctl run {words}"


def status(place: AnyPlace) -> dict:
    return hookctl_json(place, "run", "status", "--project", str(place.project))


def test_two_terminals_in_one_project(claude: Client, installed: Place) -> None:
    """The second asks a quick question while the first works; it stops at once, and again once the first is gone."""
    second = []

    def ask(number: int) -> None:
        if number == 2:
            assert status(installed)["owner_host"] == "claude"
            second.append(play(claude, installed, ["quick"]))

    first = play(claude, installed, Script(["one"], before=ask))
    assert (first.requests, second[0].requests, second[0].result) == (LIMIT + 1, 1, "quick")
    assert codes(installed) == ["blocked", "not_owner", "blocked", "tripped"]
    assert status(installed)["owner"] is None  # that process has ended
    assert play(claude, installed, ["three"]).requests == LIMIT + 1


@pytest.mark.full
def test_clear_keeps_the_work_in_its_process(claude: Client, installed: Place) -> None:
    """Three prompts to one process; /clear gives the third a new session."""
    typed = [{"type": "user", "message": {"role": "user", "content": text}} for text in ("begin", "/clear", "go on")]
    lines = "".join(json.dumps(line) + "\n" for line in typed)
    second = []

    def ask(number: int) -> None:
        if number == LIMIT + 3:  # after /clear
            second.append(play(claude, installed, ["quick"]))

    script = Script(["done"], before=ask)
    play(claude, installed, script, "--input-format", "stream-json", prompt="", typed=lines)
    sessions = [entry["session"] for entry in decisions(installed) if entry["code"] != "not_owner"]
    assert len(set(sessions)) == 2
    assert codes(installed) == [*KEPT, "blocked", "not_owner", "blocked", "tripped"]
    assert second[0].requests == 1


@pytest.mark.full
def test_a_resumed_session_keeps_its_work(claude: Client, installed: Place) -> None:
    first = play(claude, installed, Script(["one"], limit=2))  # the model fails, and the client ends amid the work
    session = first.session
    second = []

    def ask(number: int) -> None:
        if number == 2:
            second.append(play(claude, installed, ["quick"]))

    resumed = play(claude, installed, Script(["two"], before=ask), "--resume", session, prompt="go on")
    assert (resumed.session, resumed.requests, second[0].requests) == (session, LIMIT + 1, 1)
    assert codes(installed)[-4:] == ["blocked", "not_owner", "blocked", "tripped"]


@pytest.mark.full
def test_a_nested_call_is_not_held_by_the_work_of_the_outer_one(claude: Client, installed: Place) -> None:
    inner = f"{shlex.quote(str(claude.program))} -p inner"
    begin = shell(f"{in_tool('remaining 2')} && {inner}")
    outer = play(claude, installed, [begin, "done"], environment=folders(installed))
    assert codes(installed) == ["not_owner", *KEPT]
    assert len({entry["session"] for entry in decisions(installed)}) == 2
    assert outer.requests == 1 + LIMIT + 1 + 1  # and one of the inner's
    assert (installed.project / ".hookctl" / "run" / "OWNER").read_text().strip() == outer.session


# Two other clients: one with a variable of its session, one process a session; and one whose processes are shared.
@pytest.mark.parametrize("case", [case for case in EVERY if case.id in ("qwen", "codex")])
def test_the_same_with_another_client(case: Case, stage: tuple[Client, AnyPlace]) -> None:
    client, place = stage

    def play_other(*replies: Reply, **more: Any) -> list[str]:
        before = len(codes(place))
        run = case.driver.play(client, place, Script(replies, **more), *case.options, environment=folders(place))
        assert run.code == 0, run.errors
        return codes(place)[before:]

    hookctl(place, *INSTALL, "--host", case.host)
    leave_work(place)
    second = []

    def ask(number: int) -> None:
        if number == 2:
            second.append(play_other("quick"))

    # The first is held, the second goes; a person's start passes the work on.
    play_other("one", before=ask)
    assert second == [["not_owner"]]
    assert codes(place) == ["blocked", "not_owner", "blocked", "tripped"]
    hookctl(place, "run", "start", "--project", str(place.project))
    assert play_other("two") == KEPT
    # And by a tool of its own: the work is that session's while it lives.
    second.clear()
    assert play_other(case.shell(in_tool("remaining 1")), "three", before=ask)[-1] == "tripped"
    assert second == [["not_owner"]]
