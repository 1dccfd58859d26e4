"""The guard's modes and presets with the real Claude Code, and what wake-ups, resumed sessions and subagents do."""

import json
import sys
from pathlib import Path

import pytest

from .claude import Place, bash, play, subagent, transcript
from .clients import Client
from .hooks import group
from .model_server import Script
from .probe import BLOCK, Probe, make_probe
from .product import (
    KEPT,
    LIMIT,
    codes,
    count_stops,
    data_folder,
    decisions,
    hookctl,
    leave_work,
    state_folder,
    until_logged,
)

pytestmark = pytest.mark.e2e

SETTINGS = '{ "permissions": {"allow": ["Bash", "Task", "Agent"]},\n\n  "env" : {"PAGER":"less"} }'
NOON = 1_000_000  # a made-up time, in seconds; the hook takes it from a variable


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


def register_foreign_hook(place: Place) -> Probe:
    """Let a Stop hook that always blocks stand in the project, where another tool has put it."""
    foreign = make_probe(place.root, "foreign", answers=(BLOCK,))
    hooks = {"Stop": [group(foreign)]}
    (place.project / ".claude").mkdir()
    (place.project / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    return foreign


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


def test_a_run_that_ends_in_the_middle_of_a_turn_lets_the_agent_go(claude: Client, place: Place) -> None:
    def end(number: int) -> None:
        if number == 3:
            run(place, "start", "--for", "1s", now=NOON)

    install(place, "--mode", "keepalive")
    run(place, "start")
    played = play(claude, place, Script(["done"], before=end))
    assert (played.requests, played.result) == (3, "done")
    assert codes(place) == ["blocked", "blocked", "inactive"]


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


def test_an_armed_agent_that_waits_for_a_background_task_is_left_alone_until_it_wakes(
    claude: Client, place: Place
) -> None:
    def conclude(number: int) -> None:
        if number == 5:
            run(place, "conclude")

    install(place, "--mode", "keepalive")
    run(place, "start")
    wait = bash(until_logged(place, "background"), run_in_background=True)
    played = play(claude, place, Script([wait, "waiting", "woken", "two", "three"], before=conclude))
    assert codes(place) == ["background", "blocked", "blocked", "conclude"]
    assert (played.requests, played.result) == (5, "three")


# mode guard, and OpenHands


def test_mode_guard_ends_what_another_hook_forces_and_the_reply_is_kept(claude: Client, place: Place) -> None:
    foreign = register_foreign_hook(place)
    install(place, "--mode", "guard")
    assert env_of(place) == {}
    leave_work(place)
    played = play(claude, place, [f"reply {number}" for number in range(1, 12)])
    assert codes(place) == ["allowed"] * (LIMIT - 1) + ["stop_loop"]
    assert (played.requests, len(foreign.heard()), played.code) == (LIMIT, LIMIT, 0)
    assert played.ending["terminal_reason"] == claude.pins["stop"]["ended_by_hook"]
    assert not played.was_overridden
    replies = [f"reply {number}" for number in range(1, LIMIT + 1)]
    assert played.texts == replies
    said = [entry["message"]["content"] for entry in transcript(place, played.session) if entry["type"] == "assistant"]
    assert [block["text"] for blocks in said for block in blocks] == replies


@pytest.mark.parametrize(
    ("option", "name", "stops"),
    [("--mode", "guard", LIMIT), ("--preset", "openhands", 6 + LIMIT - 1)],
    ids=["mode guard", "preset openhands"],
)
def test_the_same_tool_call_again_and_again_counts_for_openhands_only(
    claude: Client, place: Place, option: str, name: str, stops: int
) -> None:
    register_foreign_hook(place)
    install(place, option, name)
    played = play(claude, place, [*[bash("true 1"), "polled"] * 6, "on and on"])
    found = count_stops(place, "stop_loop", "allowed", stops)
    assert played.requests == found + min(found, 6)
    assert played.ending["terminal_reason"] == claude.pins["stop"]["ended_by_hook"]


# bmad


def test_the_preset_bmad_takes_a_heartbeat_for_progress_and_a_tool_call_for_none(claude: Client, place: Place) -> None:
    def beat(number: int) -> None:
        if number == 4:
            run(place, "heartbeat")

    install(place, "--preset", "bmad")
    assert env_of(place) == {"MAX_STOP_BLOCKS": "5", claude.pins["cap"]["key"]: "8"}
    leave_work(place)
    played = play(claude, place, Script(["one", bash("true 1"), "two", "three", bash("true 2"), "four"], before=beat))
    # Two blocks, then the heartbeat, then five more; without it the tool calls would have let go after five in all.
    assert codes(place) == ["blocked"] * (2 + LIMIT) + ["tripped"]
    assert (played.requests, played.result) == (2 + 2 + LIMIT + 1, "four")


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


# Resumed sessions


def test_a_new_prompt_in_a_resumed_session_starts_anew_with_the_tool_calls_remembered(
    claude: Client, place: Place
) -> None:
    install(place)
    leave_work(place)
    first = play(claude, place, Script([bash("true 1"), "one"], limit=4))
    assert codes(place) == ["blocked"] * 3
    second = play(claude, place, ["one", bash("true 1"), "two"], "--resume", first.session, prompt="go on")
    assert (second.session, second.result) == (first.session, "two")
    assert codes(place)[3:] == KEPT
    assert second.requests == 1 + LIMIT + 1
    assert len({entry["session"] for entry in decisions(place)}) == 1


def test_the_work_of_a_session_stays_its_own_when_it_is_resumed(claude: Client, place: Place) -> None:
    install(place)
    first = play(claude, place, ["done"])
    run(place, "start", "--remaining", "2", "--owner", first.session)
    assert play(claude, place, ["done"], "--resume", first.session, prompt="go on").requests == LIMIT + 1
    assert play(claude, place, ["done"]).requests == 1
    assert codes(place) == ["no_work", *KEPT, "not_owner"]


# Subagents


def test_a_subagent_is_not_kept_even_where_the_hook_is_registered_for_its_stop(claude: Client, place: Place) -> None:
    install(place, "--mode", "keepalive")
    settings = json.loads(place.settings.read_bytes())
    settings["hooks"]["SubagentStop"] = settings["hooks"]["Stop"]
    place.settings.write_text(json.dumps(settings))
    run(place, "start")

    def conclude(number: int) -> None:
        if number == 5:
            run(place, "conclude")

    script = Script([subagent("MARKER"), "one", "two", "three", "four"], before=conclude, sub_marker="MARKER")
    played = play(claude, place, script)
    assert (played.count("sub"), played.requests, played.result) == (1, 5, "four")
    assert [(hook["stdout"], hook["exit_code"]) for hook in played.hooks("SubagentStop")] == [("", 0)]
    assert codes(place).count("blocked") == 3
    assert [code for code in codes(place) if code != "subagent"] == ["blocked"] * 3 + ["conclude"]
