"""The guard's policies on tools with the real Claude Code: nudge, dispatch, and both beside the breaker."""

import json

import pytest

from .claude import Place, Run, bash, play, subagent
from .clients import Client
from .dialects import Call
from .model_server import Script
from .product import LIMIT, codes, data_folder, decisions, hookctl, hookctl_json, leave_work, state_folder

pytestmark = pytest.mark.e2e
OWN_FOLDERS = True  # so every scope keeps its state in the same folder

SETTINGS = '{ "permissions": {"allow": ["Bash", "Read", "Task", "Agent"]},\n\n  "env" : {"PAGER":"less"} }'
REFUSAL = "This exact call was already made too many times in a short period. It was not run."
NOTE = bash("echo once >> notes")
OTHER = bash("echo other >> notes")
LOOK = Call("Read", {"file_path": "/etc/hostname"})


def install(place: Place, *options: str) -> None:
    hookctl(place, "install", "--host", "claude", *options)


def told(run: Run) -> list[str]:
    """What stood in each request of the main agent."""
    return [json.dumps(entry.request.body["messages"]) for entry in run.log if entry.kind == "main"]


def results(run: Run) -> list[tuple[bool, str]]:
    """What the model was told about each tool call: whether it failed, and the text."""
    return [(block.get("is_error", False), block["content"]) for block in run.tool_results]


def notes(place: Place) -> list[str]:
    """What the agent's tool calls wrote down: those that ran."""
    path = place.project / "notes"
    return path.read_text().split() if path.exists() else []


def windows(place: Place) -> list[dict[str, list[float]]]:
    """What dispatch has counted, a state file each."""
    paths = [*state_folder(place).glob("guard/*/dispatch.json"), *state_folder(place).glob("guard/*/*.calls")]
    return [json.loads(path.read_bytes())["w"] for path in paths]


# nudge


def test_a_call_of_an_earlier_prompt_does_not_count(claude: Client, place: Place) -> None:
    install(place, "--nudge", "Bash")
    first = play(claude, place, [NOTE, "one"])
    for _ in range(3):  # on a busy machine the hook is sometimes faster than the transcript
        before = len(codes(place))
        second = play(claude, place, ["two"], "--resume", first.session, prompt="go on")
        if second.requests == 2:
            break
    assert (first.requests, second.requests, codes(place)[before:]) == (2, 2, ["nudged", "no_work"])


def test_a_subagent_s_call_is_not_the_agent_s_own(claude: Client, place: Place) -> None:
    install(place, "--nudge", "Bash")
    script = Script([subagent("MARKER"), "done"], sub_marker="MARKER", sub_replies=[NOTE, "looked"])
    run = play(claude, place, script)
    assert (run.count("sub"), notes(place)) == (2, ["once"])
    assert (run.requests, codes(place)) == (3, ["nudged", "no_work"])


# dispatch


def test_the_31st_identical_call_in_five_minutes_is_refused(claude: Client, place: Place) -> None:
    install(place, "--mode", "off", "--dispatch", "Bash:30/300")
    run = play(claude, place, Script([*[NOTE] * 33, OTHER, LOOK, "done"], limit=40))
    assert (run.requests, run.result) == (36, "done")
    found = results(run)
    assert [failed for failed, _ in found] == [False] * 30 + [True] * 3 + [False] * 2
    assert {text for failed, text in found if failed} == {
        f"PreToolUse:Bash hook error: {REFUSAL} Change the request or finish."
    }
    assert notes(place) == ["once"] * 30 + ["other"]
    assert [(entry["decision"], entry["refusals"]) for entry in decisions(place)] == [("refuse", 1)]
    assert hookctl_json(place, "stats")["trips"] == 3
    # The client starts the hook for this tool only, and it never says more than it has to.
    assert {hook["hook_name"] for hook in run.hooks("PreToolUse")} == {"PreToolUse:Bash"}
    assert [bool(hook["stdout"]) for hook in run.hooks("PreToolUse")] == [False] * 30 + [True] * 3 + [False]
    assert [sorted(count for _, count in window.values()) for window in windows(place)] == [[1, 33]]


def test_calls_that_come_at_once_are_counted_one_by_one(claude: Client, place: Place) -> None:
    """The client starts the hooks of one reply's calls side by side."""
    install(place, "--mode", "off", "--dispatch", "Read:3/300", "--set", "lock_ms=8000")
    run = play(claude, place, [(LOOK,) * 8, "done"])
    assert run.requests == 2
    assert sorted(failed for failed, _ in results(run)) == [False] * 3 + [True] * 5
    assert [list(count for _, count in window.values()) for window in windows(place)] == [[8]]


# Several at once


def test_breaker_nudge_and_dispatch_in_one_installation(claude: Client, place: Place) -> None:
    def finish(number: int) -> None:
        if number == 6:
            leave_work(place, 0)

    install(place, "--nudge", "Read", "--dispatch", "Bash:2/300")
    assert list(json.loads(place.settings.read_bytes())["hooks"]) == ["Stop", "PreToolUse"]
    leave_work(place)
    run = play(claude, place, Script([NOTE, NOTE, NOTE, "one", "two", "three", LOOK, "four"], before=finish))
    assert codes(place) == ["dispatch_refused", "blocked", "blocked", "nudged", "no_work"]
    assert (run.requests, run.result, notes(place)) == (8, "four", ["once"] * 2)

    # It is reminded once more before it is let go without progress.
    leave_work(place)
    run = play(claude, place, ["on and on"])
    assert codes(place)[5:] == ["blocked"] * LIMIT + ["nudged", "tripped"]
    assert (run.requests, run.result) == (LIMIT + 2, "on and on")

    hookctl(place, "uninstall")
    assert place.settings.read_text() == SETTINGS
    assert list(data_folder(place).rglob("hook.py")) == []
    run = play(claude, place, [NOTE, NOTE, NOTE, "done"])
    assert (run.requests, run.result, len(notes(place))) == (4, "done", 5)
    assert run.hooks("PreToolUse") == run.hooks("Stop") == []
    assert len(codes(place)) == 5 + LIMIT + 2
