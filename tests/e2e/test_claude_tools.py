"""The guard's policies on tools with the real Claude Code: nudge, dispatch, and both beside the breaker."""

import json

import pytest

from .claude import Place, Run, bash, play, subagent
from .clients import Client
from .dialects import Call
from .model_server import Script
from .product import LIMIT, codes, data_folder, decisions, hookctl, hookctl_json, leave_work, state_folder, until_logged

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


def test_an_agent_that_did_not_call_the_tool_is_reminded_once(claude: Client, place: Place) -> None:
    install(place, "--nudge", "Bash,Read")
    run = play(claude, place, ["one", "two", "three"])
    assert (run.requests, run.result, codes(place)) == (2, "two", ["nudged", "no_work"])
    assert ["Before you finish, call Bash or Read. Then stop." in text for text in told(run)] == [False, True]
    # A prompt of a person starts again; without one the reminder would have been the only one.
    assert play(claude, place, ["four", "five", "six"], "--continue", prompt="go on").requests == 2


def test_an_agent_that_called_the_tool_is_not_reminded(claude: Client, place: Place) -> None:
    install(place, "--nudge", "Read,Bash")
    run = play(claude, place, [NOTE, "done"])
    assert (run.requests, run.result, codes(place), notes(place)) == (2, "done", ["no_work"], ["once"])


def test_an_agent_that_calls_the_tool_when_reminded_is_done(claude: Client, place: Place) -> None:
    install(place, "--nudge", "Bash")
    run = play(claude, place, [LOOK, "one", NOTE, "two"])
    assert (run.requests, run.result, codes(place)) == (4, "two", ["nudged", "no_work"])


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


def test_the_preset_hermes_reminds_a_worker_of_its_task_s_end(claude: Client, place: Place) -> None:
    install(place, "--preset", "hermes")
    run = play(claude, place, ["done"], environment={"HERMES_KANBAN_TASK": "t_42"})
    assert run.requests == 2
    assert "call kanban_complete or kanban_block. Then stop." in told(run)[-1]
    assert play(claude, place, ["done"]).requests == 1


def test_a_wake_up_neither_forgets_the_call_nor_brings_a_second_reminder(claude: Client, place: Place) -> None:
    install(place, "--nudge", "Bash")
    wait = bash(until_logged(place, "background"), run_in_background=True)
    assert play(claude, place, [wait, "waiting", "woken"]).result == "woken"
    assert codes(place) == ["background", "no_work"]

    hookctl(place, "install", "--host", "claude", "--nudge", "Read", "--set", "yield_on_background=false")
    for _ in range(3):  # on a busy machine the hook is sometimes faster than the transcript
        before = codes(place)
        wait = bash(until_logged(place, "no_work", before.count("no_work") + 1), run_in_background=True)
        run = play(claude, place, [wait, "one", "two", "woken"])
        if run.requests == 4:
            break
    assert (run.requests, codes(place)[len(before) :]) == (4, ["nudged", "no_work", "no_work"])


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


def test_a_subagent_s_calls_are_counted_with_the_agent_s_own(claude: Client, place: Place) -> None:
    install(place, "--dispatch", "Bash:2/300")
    replies = [NOTE, subagent("MARKER"), NOTE, "done"]
    play(claude, place, Script(replies, sub_marker="MARKER", sub_replies=[NOTE, NOTE, "looked"]))
    assert len(notes(place)) == 2
    assert codes(place) == ["dispatch_refused", "no_work"]
    assert hookctl_json(place, "stats")["trips"] == 2


@pytest.mark.parametrize(
    ("tools", "called"),
    [(["Bash"], ["Bash"]), (["Read", "Write"], ["Read"]), (["Re"], []), (["*"], ["Bash", "Read"])],
    ids=["one", "two", "the beginning of a name", "all"],
)
def test_the_client_starts_the_hook_for_the_named_tools_only(
    claude: Client, place: Place, tools: list[str], called: list[str]
) -> None:
    install(place, "--mode", "off", *[word for tool in tools for word in ("--dispatch", f"{tool}:1/300")])
    run = play(claude, place, [NOTE, LOOK, NOTE, LOOK, "done"])
    assert run.requests == 5
    assert sorted({hook["hook_name"].partition(":")[2] for hook in run.hooks("PreToolUse")}) == called
    assert [failed for failed, _ in results(run)] == [False, False, "Bash" in called, "Read" in called]
    assert [len(window) for window in windows(place)] == [len(called)] * bool(called)


def test_subagents_are_counted_under_their_former_name(claude: Client, place: Place) -> None:
    install(place, "--mode", "off", "--dispatch", "Task:1/300")
    script = Script([subagent("MARKER"), subagent("MARKER"), "done"], sub_marker="MARKER", sub_replies=["looked"])
    run = play(claude, place, script)
    assert [failed for failed, _ in results(run)] == [False, True]


def test_a_call_is_counted_once_where_two_scopes_ask_about_it(claude: Client, place: Place) -> None:
    for scope in ("user", "project"):
        install(place, "--scope", scope, "--dispatch", "Bash:2/300")
    run = play(claude, place, [NOTE, NOTE, NOTE, "done"])
    assert len(run.hooks("PreToolUse")) == 2 * 3
    assert ([failed for failed, _ in results(run)], notes(place)) == ([False, False, True], ["once"] * 2)


def test_a_hook_file_that_was_deleted_by_hand_refuses_no_tool(claude: Client, place: Place) -> None:
    install(place, "--mode", "off", "--dispatch", "*:1/300")
    next(data_folder(place).rglob("hook.py")).unlink()
    run = play(claude, place, [NOTE, NOTE, "done"])
    assert (run.requests, run.result, notes(place)) == (3, "done", ["once"] * 2)


def test_an_admitted_call_still_needs_the_host_s_own_permission(claude: Client, place: Place) -> None:
    place.settings.write_text("{}")
    install(place, "--mode", "off", "--dispatch", "Bash")
    run = play(claude, place, [NOTE, "done"])
    ((failed, text),) = results(run)
    assert failed and REFUSAL not in text
    assert (notes(place), codes(place)) == ([], [])


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


def test_what_a_reinstall_leaves_out_is_kept_and_an_empty_text_takes_it_out(claude: Client, place: Place) -> None:
    install(place, "--nudge", "Read", "--dispatch", "Bash:1/300")
    install(place, "--mode", "off")
    run = play(claude, place, [NOTE, NOTE, "done"])
    assert (run.requests, codes(place)) == (3, ["dispatch_refused"])
    install(place, "--mode", "guard", "--dispatch", "")
    run = play(claude, place, [NOTE, NOTE, "done"])
    assert (run.requests, codes(place)[1:]) == (4, ["nudged", "allowed"])
    hookctl(place, "uninstall")
    assert place.settings.read_text() == SETTINGS
