"""The behaviour of the real Claude Code that hookctl relies on; expected values are in pins/claude.toml."""

import contextlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .claude import Place, bash, play, start, subagent, transcript
from .clients import Client
from .hooks import group
from .model_server import Script
from .probe import BLOCK, Probe, make_probe

pytestmark = pytest.mark.e2e


def write_settings(path: Path, probe: Probe | str | None = None, **more: Any) -> None:
    """Write settings with a Stop hook (a probe or a command) and further keys."""
    hooks = {}
    if probe is not None:
        hooks = {"hooks": {"Stop": [group(probe, timeout=10)]}}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**more, **hooks}))


def processes_of(place: Place) -> list[str]:
    """Return the command lines of all processes that have this place's home."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"HOME={place.home}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_text().replace("\0", " "))
    return found


def wait_for(condition: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_hook_that_always_blocks_is_overridden_and_the_reply_is_lost(claude: Client, place: Place) -> None:
    probe = make_probe(place.root, answers=(BLOCK,))
    write_settings(place.settings, probe)
    run = play(claude, place, ["done"])
    cap = claude.pins["cap"]["default"]
    assert (run.requests, probe.flags()) == (cap + 1, "F" + "T" * cap)
    assert (run.code, run.result) == (0, "")
    assert run.was_overridden
    assert run.system_lines("notification")[-1]["key"] == claude.pins["cap"]["notification"]


def test_the_cap_comes_from_the_settings_env(claude: Client, place: Place) -> None:
    write_settings(place.settings, make_probe(place.root, answers=(BLOCK,)), env={claude.pins["cap"]["key"]: "3"})
    run = play(claude, place, ["done"])
    assert (run.requests, run.result) == (4, "")


def test_a_cap_of_0_switches_the_cap_off(claude: Client, place: Place) -> None:
    write_settings(place.settings, make_probe(place.root, answers=(BLOCK,)), env={claude.pins["cap"]["key"]: "0"})
    run = play(claude, place, Script(["done"], limit=15))
    assert run.requests == 15
    assert run.count("refused") > 0, "the run ended before the server refused it"
    assert not run.was_overridden


def test_a_tool_call_starts_the_cap_s_count_again_but_not_the_flag(claude: Client, place: Place) -> None:
    probe = make_probe(place.root, answers=(BLOCK,))
    write_settings(place.settings, probe)
    run = play(claude, place, [*["text"] * 5, bash("true 1"), "text"])
    cap = claude.pins["cap"]["default"]
    assert (run.requests, probe.flags()) == (5 + 1 + cap + 1, "F" + "T" * (5 + cap))


def test_a_hook_that_lets_go_by_itself_keeps_the_reply(claude: Client, place: Place) -> None:
    probe = make_probe(place.root, answers=(BLOCK, BLOCK, '{"systemMessage": "let go"}'))
    write_settings(place.settings, probe)
    run = play(claude, place, ["one", "two", "three"])
    assert (run.requests, run.result) == (3, "three")
    shown = [line["content"] for line in run.system_lines("informational")]
    assert shown == [claude.pins["stop"]["message_prefix"] + "let go"]


def test_a_hook_that_ends_the_turn_beats_another_hook_s_block(claude: Client, place: Place) -> None:
    blocks = make_probe(place.root, "blocks", answers=(BLOCK,))
    ends = make_probe(place.root, "ends", answers=("", "", '{"continue": false, "stopReason": "enough"}'))
    write_settings(place.settings, blocks)
    write_settings(place.project / ".claude" / "settings.json", ends)
    run = play(claude, place, ["one", "two", "three", "four"])
    assert run.requests == 3
    assert run.ending["terminal_reason"] == claude.pins["stop"]["ended_by_hook"]
    # Alone it would keep the text; the feedback of the block that it beats takes the reply's place.
    assert run.result == ""
    assert run.texts[-1] == "three"


def test_identical_commands_in_two_scopes_run_once_a_stop(claude: Client, place: Place) -> None:
    probe = make_probe(place.root)
    write_settings(place.settings, probe)
    write_settings(place.project / ".claude" / "settings.json", probe)
    play(claude, place, ["done"])
    assert probe.flags() == "F"


def test_a_settings_file_with_a_comment_is_ignored_as_a_whole(claude: Client, place: Place) -> None:
    probe = make_probe(place.root, answers=(BLOCK,))
    write_settings(place.settings, probe)
    place.settings.write_text(place.settings.read_text().replace("{", "{ // mine\n", 1))
    run = play(claude, place, ["done"])
    assert (run.requests, run.code, run.errors, probe.flags()) == (1, 0, "", "")


def test_a_known_key_of_the_wrong_type_loses_the_whole_file(claude: Client, place: Place) -> None:
    probe = make_probe(place.root, answers=(BLOCK,))
    write_settings(place.settings, probe, cleanupPeriodDays="abc")
    run = play(claude, place, ["done"])
    assert (run.requests, run.code, run.errors, probe.flags()) == (1, 0, "", "")


def test_an_entry_that_does_not_fit_is_dropped_with_a_warning_in_a_headless_run(claude: Client, place: Place) -> None:
    probe = make_probe(place.root)
    own = group(probe)
    place.settings.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": 5}]}, own]}}))
    run = play(claude, place, ["done"], "--output-format", "text")
    assert (run.requests, probe.flags()) == (1, "F"), "the other hook still runs"
    assert "(hooks.Stop.0.hooks.0)" in run.errors and "entry ignored" in run.errors


def test_the_bash_tool_knows_the_session(claude: Client, place: Place) -> None:
    write_settings(place.settings, permissions={"allow": ["Bash(printenv:*)"]})
    run = play(claude, place, [bash(f"printenv {claude.pins['variables']['session']}"), "done"])
    (result,) = run.tool_results
    assert run.session in json.dumps(result["content"])


def test_a_stop_hook_gets_the_pinned_fields_and_variables(claude: Client, place: Place) -> None:
    probe = make_probe(place.root)
    write_settings(place.settings, probe, env={"MAX_STOP_BLOCKS": "5"})
    run = play(claude, place, ["done"])
    heard = probe.heard()[0]
    assert set(claude.pins["stop"]["payload"]) <= set(heard.payload)
    assert heard.payload["session_id"] == heard.environment[claude.pins["variables"]["session"]] == run.session
    assert heard.environment[claude.pins["variables"]["project"]] == str(place.project)
    assert heard.environment["MAX_STOP_BLOCKS"] == "5"


def test_the_transcript_holds_the_turn_s_tool_calls_before_the_stop_hook_runs(claude: Client, place: Place) -> None:
    seen = place.root / "seen.jsonl"
    write_settings(place.settings, f"cat {place.home}/.claude/projects/*/*.jsonl >{seen}")
    for _ in range(3):  # on a busy machine the hook is sometimes faster
        play(claude, place, [bash("true 1"), "done"])
        entries = [json.loads(line) for line in seen.read_text("utf-8").splitlines()]
        blocks = [block for entry in entries if entry["type"] == "assistant" for block in entry["message"]["content"]]
        # The reply's text follows some 50 ms later: a hook that is quick does not see it.
        commands = [block["input"]["command"] for block in blocks if block["type"] == "tool_use"]
        if commands:
            break
    assert set(commands) == {"true 1"}


def test_a_subagent_fires_its_own_event_and_not_stop(claude: Client, place: Place) -> None:
    stop, sub = make_probe(place.root, "stop"), make_probe(place.root, "sub")
    hooks = {"Stop": [group(stop)], "SubagentStop": [group(sub)]}
    write_settings(place.settings, permissions={"allow": ["Task", "Agent"]}, hooks=hooks)
    script = Script([subagent("MARKER"), "done"], sub_marker="MARKER")
    run = play(claude, place, script)
    assert (run.requests, run.count("sub")) == (2, 1)
    assert [len(stop.heard()), len(sub.heard())] == [1, 1]
    assert set(claude.pins["subagent_stop"]["payload"]) <= set(sub.heard()[0].payload)


def test_a_background_task_s_wake_up_brings_a_new_prompt_id_marked_as_a_notification(
    claude: Client, place: Place
) -> None:
    probe = make_probe(place.root)
    write_settings(place.settings, probe, permissions={"allow": ["Bash(sleep:*)"]})
    run = play(claude, place, [bash("sleep 1.5", run_in_background=True), "waiting", "woken"])
    first, second = (heard.payload for heard in probe.heard())
    assert (run.requests, run.result, probe.flags()) == (3, "woken", "FF")
    assert [len(first["background_tasks"]), len(second["background_tasks"])] == [1, 0]

    prompts = {
        entry["promptId"]: entry
        for entry in reversed(transcript(place, run.session))
        if entry["type"] == "user" and isinstance(entry["message"]["content"], str)
    }
    human, wake = prompts[first["prompt_id"]], prompts[second["prompt_id"]]
    pins = claude.pins["transcript"]
    assert human is not wake
    assert (human["promptSource"], human.get("origin")) == (pins["prompt_source"], None)
    assert (wake["promptSource"], wake["origin"]["kind"]) == (pins["wake_source"], pins["wake_origin"])
    assert wake["turnOrigin"] == pins["wake_turn"]
    assert wake["message"]["content"].startswith(pins["wake_text"])


def test_a_background_task_that_ends_in_the_middle_of_a_turn_brings_no_new_prompt(claude: Client, place: Place) -> None:
    probe = make_probe(place.root, answers=(BLOCK, ""))
    write_settings(place.settings, probe, permissions={"allow": ["Bash(sleep:*)"]})
    run = play(claude, place, [bash("sleep 0.2", run_in_background=True), bash("sleep 0.8"), "one", "two"])
    assert (run.requests, probe.flags()) == (4, "FT")
    assert len({heard.payload["prompt_id"] for heard in probe.heard()}) == 1


def test_context_at_a_stop_sends_the_agent_on_and_counts_for_the_cap(claude: Client, place: Place) -> None:
    more = json.dumps({"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "more"}})
    probe = make_probe(place.root, answers=(more,))
    write_settings(place.settings, probe)
    run = play(claude, place, ["done"])
    cap = claude.pins["cap"]["default"]
    assert (run.requests, probe.flags()) == (cap + 1, "F" + "T" * cap)
    assert (run.result, run.was_overridden) == ("done", True)


def test_the_shell_commands_of_a_skill_ask_an_event_of_their_own(claude: Client, place: Place) -> None:
    no = {"hookEventName": "PreSkillShellCommand", "permissionDecision": "deny", "permissionDecisionReason": "no"}
    asked = make_probe(place.root, "asked", answers=("", json.dumps({"hookSpecificOutput": no})))
    unasked = make_probe(place.root, "unasked")
    hooks = {"PreSkillShellCommand": [{"matcher": "Bash", **group(asked)}], "PreToolUse": [group(unasked)]}
    place.settings.write_text(json.dumps({"hooks": hooks}))
    command = place.project / ".claude" / "commands" / "make.md"
    command.parent.mkdir(parents=True)
    command.write_text("---\nallowed-tools: Bash(touch:*)\n---\n!`touch $ARGUMENTS`\n")
    for name in ("first", "second"):
        play(claude, place, ["done"], prompt=f"/make {name}")
    assert [heard.payload["tool_input"] for heard in asked.heard()] == [
        {"command": "touch first"},
        {"command": "touch second"},
    ]
    assert unasked.heard() == []
    assert {path.name for path in place.project.iterdir()} == {".claude", "first"}


def test_what_a_tool_gave_is_replaced_in_the_tool_s_own_form_alone(claude: Client, place: Place) -> None:
    def masked(output: object) -> str:
        return json.dumps({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": output}})

    forms = ("masked", {"stdout": "masked"}, {"stdout": "masked", "stderr": "", "interrupted": False})
    probe = make_probe(place.root, answers=tuple(map(masked, forms)))
    hooks = {"PostToolUse": [group(probe, timeout=10)]}
    place.settings.write_text(json.dumps({"permissions": {"allow": ["Bash"]}, "hooks": hooks}))
    run = play(claude, place, Script([*(bash(f"echo secret {number}") for number in range(3)), "done"], limit=6))
    assert [result["content"] for result in run.tool_results] == ["secret 0", "secret 1", "masked"]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_a_client_that_runs_too_long_is_ended_with_all_its_processes(claude: Client, place: Place) -> None:
    write_settings(place.settings, permissions={"allow": ["Bash(sleep:*)"]})
    replies = [bash("sleep 301", run_in_background=True), bash("sleep 302"), "done"]
    with pytest.raises(AssertionError, match="still running"), start(claude, place, replies) as running:
        wait_for(lambda: len(processes_of(place)) >= 3)
        running.finish(timeout=0.1)
    wait_for(lambda: processes_of(place) == [])
