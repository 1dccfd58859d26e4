"""The guard's modes and presets with the real Claude Code, and what wake-ups, resumed sessions and subagents do."""

import json
import sys
from pathlib import Path

import pytest

from .claude import Place, bash, play
from .clients import Client
from .model_server import Script
from .product import KEPT, codes, data_folder, hookctl, leave_work, state_folder, until_logged

pytestmark = pytest.mark.e2e

SETTINGS = '{ "permissions": {"allow": ["Bash", "Task", "Agent"]},\n\n  "env" : {"PAGER":"less"} }'


def install(place: Place, *options: str) -> None:
    hookctl(place, "install", "--host", "claude", *options)


def run(place: Place, *arguments: str, now: int | None = None) -> None:
    """Call `hookctl run` from outside, at a made-up time if one is given."""
    environment = {} if now is None else {"HOOKCTL_NOW": str(now)}
    hookctl(place, "run", *arguments, "--project", str(place.project), environment=environment)


def env_of(place: Place) -> dict[str, str]:
    """The variables in the settings beside the operator's own."""
    env = json.loads(place.settings.read_bytes())["env"]
    assert env.pop("PAGER") == "less"
    return env


def breadcrumbs(place: Place) -> list[Path]:
    return list(state_folder(place).glob("guard/*/RESPAWN_REQUESTED"))


# keepalive


@pytest.mark.parametrize(
    ("option", "name", "kept"),
    [("--mode", "keepalive", 16), ("--preset", "nightly", 12)],
    ids=["mode keepalive", "preset nightly"],
)
def test_an_armed_run_goes_on_far_beyond_the_host_s_own_cap_until_it_is_concluded(
    claude: Client, place: Place, option: str, name: str, kept: int
) -> None:
    install(place, option, name)
    assert env_of(place) == {claude.pins["cap"]["key"]: "5000"}
    run(place, "start", "--for", "1h")

    def conclude(number: int) -> None:
        if number == kept + 1:
            assert len(breadcrumbs(place)) == 1
            run(place, "conclude")
            assert breadcrumbs(place) == []

    replies = [f"reply {number}" for number in range(1, kept + 5)]
    played = play(claude, place, Script(replies, limit=kept + 5, before=conclude))
    assert codes(place) == ["blocked"] * kept + ["conclude"]
    assert (played.requests, played.code, played.result) == (kept + 1, 0, f"reply {kept + 1}")
    assert not played.was_overridden
    assert breadcrumbs(place) == []
    told = [json.dumps(entry.request.body["messages"]) for entry in played.log]
    assert ["This run goes on" in text for text in told] == [False] + [True] * kept


def test_a_run_that_the_agent_begins_itself_keeps_this_session_and_no_other(claude: Client, place: Place) -> None:
    others = []

    def conclude(number: int) -> None:
        if number == 3:
            others.append(play(claude, place, ["done"]))
        if number == 4:
            run(place, "conclude")

    install(place, "--mode", "keepalive")
    folders = {"HOOKCTL_STATE_DIR": str(state_folder(place)), "HOOKCTL_DATA_DIR": str(data_folder(place))}
    folders["PYTHONPATH"] = str(Path(__file__).parents[2])
    begin = bash(f"{sys.executable} -m hookctl run start --for 1h")
    own = play(claude, place, Script([begin, "done"], before=conclude), environment=folders)
    assert codes(place) == ["blocked", "not_owner", "blocked", "conclude"]
    assert (own.requests, own.result) == (4, "done")
    assert (place.project / ".hookctl" / "run" / "OWNER").read_text().strip() == own.session
    assert others[0].requests == 1


# Wake-ups: the preset bmad and the guard's own way differ in them


@pytest.mark.parametrize(
    ("options", "after"),
    [(("--set", "yield_on_background=false"), ["open"]), (("--preset", "bmad"), KEPT)],
    ids=["breaker", "preset bmad"],
)
def test_a_wake_up_after_the_guard_has_let_go_buys_new_blocks_only_with_bmad(
    claude: Client, place: Place, options: tuple[str, ...], after: list[str]
) -> None:
    install(place, *options)
    leave_work(place)
    wait = bash(until_logged(place, "tripped"), run_in_background=True)
    played = play(claude, place, [wait, "on and on"])
    told = codes(place)
    assert told in (KEPT + after, ["blocked", *KEPT, *after])  # the transcript may tell of the call a stop later
    assert (played.requests, played.result) == (1 + len(told), "on and on")
