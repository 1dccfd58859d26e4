"""The behaviour of the real Gemini CLI that hookctl relies on; expected values are in pins/gemini.toml."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookctl.hosts.shapes import FAILS_OPEN

from .clients import Client
from .dialects import Call
from .gemini import BASE, SKIP, TRUST, YOLO, Place, play, shell
from .hooks import UNDECIDED, group, lost_fields, say
from .model_server import Script
from .probe import BLOCK, make_probe

pytestmark = [pytest.mark.e2e, pytest.mark.full]

UNTRUSTED = dict.fromkeys(TRUST, "")


def write_settings(path: Path, more: dict[str, Any] | None = None, **events: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**BASE, **(more or {}), "hooks": events}))


# Blocks


def test_nothing_caps_a_hook_s_blocks(gemini: Client, place: Place) -> None:
    probe = make_probe(place.root, answers=(*[BLOCK] * 30, ""))
    write_settings(place.settings, AfterAgent=[group(probe)])
    run = play(gemini, place, Script([f"reply {number}" for number in range(32)], limit=40))
    assert (run.requests, probe.flags(), run.code) == (31, "F" + "T" * 30, 0)
    # From some turn on a model is asked whether the agent goes in circles; the server knows these requests.
    assert {entry.kind for entry in run.log} <= {"main", "side"}


def test_a_forced_continuation_is_a_prompt_of_its_own_to_hooks_but_not_to_the_stop(
    gemini: Client, place: Place
) -> None:
    stop, prompt = make_probe(place.root, "stop", answers=(BLOCK, BLOCK, "")), make_probe(place.root, "prompt")
    write_settings(place.settings, AfterAgent=[group(stop)], BeforeAgent=[group(prompt)])
    run = play(gemini, place, ["one", shell("true 1"), "two", "three"], YOLO)
    assert run.requests == 4
    reason = json.loads(BLOCK)["reason"]
    assert [heard.payload["prompt"] for heard in prompt.heard()] == ["begin", reason, reason]
    assert [heard.payload["prompt"] for heard in stop.heard()] == ["begin"] * 3
    # A continuation with a tool call in it looks like a first stop.
    assert stop.flags() == "FFT"
    assert [heard.payload["prompt_response"] for heard in stop.heard()] == ["one", "one\ntwo", "one\ntwo\nthree"]


def test_what_passes(gemini: Client, place: Place) -> None:
    passing = [
        *UNDECIDED,
        say(errors="words"),
        say(code=2),
        say(code=1, errors="on"),
        say(code=3),
    ]
    write_settings(place.settings, AfterAgent=[group(*passing)])
    run = play(gemini, place, ["done"])
    assert (run.requests, run.code, run.out) == (1, 0, "done\n")
    assert "Hook system message: " in run.errors
    assert "let go" in run.errors


BLOCKING = {
    "deny and an unknown key": say('{"decision": "deny", "reason": "on", "more": 1}'),
    "a block without a reason": say('{"decision": "block", "reason": ""}'),
    "a block at exit 1": say(BLOCK, code=1),
    "a block at exit 3": say(BLOCK, code=3),
    "exit 2 with words": say(code=2, errors="on"),
    "exit 3 with words": say(code=3, errors="on"),
    "exit 127 with words": say(code=127, errors="on"),
    "a block on stderr": say(errors=BLOCK),
    "a script that is gone": "python3 /nowhere/hook.py",
    "a program that is gone": "/nowhere/hook",
}


@pytest.mark.parametrize("hook", BLOCKING.values(), ids=BLOCKING)
def test_these_block_and_nothing_ever_ends_them(gemini: Client, place: Place, hook: str) -> None:
    write_settings(place.settings, AfterAgent=[group(hook)])
    run = play(gemini, place, Script(["done"], limit=4))
    assert (run.requests, run.count("refused") > 0) == (4, True)


@pytest.mark.parametrize("event", ["AfterAgent", "BeforeAgent"])
@pytest.mark.parametrize(("trap", "passes"), [("", False), (FAILS_OPEN, True)], ids=["bare", "trap"])
def test_a_gone_program_lets_a_turn_pass_behind_the_trap_alone(
    gemini: Client, place: Place, event: str, trap: str, passes: bool
) -> None:
    write_settings(place.settings, **{event: [group(trap + "/nowhere/hook")]})
    run = play(gemini, place, Script(["done"], limit=4))
    assert ((run.requests, run.code, run.out) == (1, 0, "done\n")) == passes


def test_a_hook_that_ends_the_turn_beats_another_hook_s_block(gemini: Client, place: Place) -> None:
    write_settings(place.settings, AfterAgent=[group(say(BLOCK), say('{"continue": false, "stopReason": "enough"}'))])
    run = play(gemini, place, ["done"])
    assert (run.requests, run.code, run.out) == (1, 0, "done\n")
    assert "Agent execution stopped: enough" in run.errors


def test_a_timeout_is_in_milliseconds(gemini: Client, place: Place) -> None:
    slow = make_probe(place.root, "slow", answers=(BLOCK,), seconds=2)
    quick = make_probe(place.root, "quick", answers=(BLOCK, ""), seconds=0.1)
    write_settings(place.settings, AfterAgent=[group(slow, timeout=1000), group(quick, timeout=30_000)])
    run = play(gemini, place, ["done"])
    assert run.requests == 2
    assert "Hook timed out after 1000ms" in run.errors


def test_the_same_command_under_the_same_name_runs_once(gemini: Client, place: Place) -> None:
    probe = make_probe(place.root)
    groups = [group(probe, name="one"), group(probe, name="one"), group(probe, name="two")]
    write_settings(place.settings, AfterAgent=groups)
    play(gemini, place, ["done"])
    assert probe.flags() == "FF"


# Tool calls


@pytest.mark.parametrize(
    ("hook", "refused"),
    [
        (say('{"decision": "deny", "reason": "no"}'), True),
        (say('{"decision": "block", "reason": "no", "more": 1}'), True),
        (say(code=2, errors="no"), True),
        (say('{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}'), False),
    ],
    ids=["deny", "block and an unknown key", "exit 2", "nested"],
)
def test_a_tool_call_is_refused_in_these_forms(gemini: Client, place: Place, hook: str, refused: bool) -> None:
    write_settings(place.settings, BeforeTool=[group(hook)])
    run = play(gemini, place, [shell("echo ran > ran"), "done"], YOLO)
    told = run.log[-1].request.body["contents"][-1]["parts"][0]["functionResponse"]["response"]
    assert (run.requests, (place.project / "ran").exists()) == (2, not refused)
    assert (told.get("error") == "Tool execution blocked: no") == refused


# What a hook is told


def test_hooks_get_the_pinned_fields_and_their_own_environment(gemini: Client, place: Place) -> None:
    pinned, variables = gemini.pins["payload"], gemini.pins["variables"]
    probes = {event: make_probe(place.root, event) for event in pinned}
    events = {event: [group(probe, env={"MAX_STOP_BLOCKS": "7"})] for event, probe in probes.items()}
    write_settings(place.settings, **events)
    run = play(gemini, place, [shell("env > environment"), "done"], YOLO, environment={"MAX_STOP_BLOCKS": "3"})
    assert run.requests == 2
    heard = {event: probe.heard() for event, probe in probes.items()}
    assert {event: len(calls) for event, calls in heard.items()} == dict.fromkeys(pinned, 1)
    payloads = {event: calls[0].payload for event, calls in heard.items()}
    assert lost_fields(pinned, probes) == {}
    assert payloads["BeforeTool"]["tool_name"] == "run_shell_command"
    assert payloads["BeforeTool"]["tool_input"] == {"command": "env > environment"}
    for calls in heard.values():
        assert calls[0].environment["MAX_STOP_BLOCKS"] == "7"
        assert calls[0].environment[variables["session"]] == calls[0].payload["session_id"]
        assert calls[0].environment[variables["project"]] == str(place.project) == calls[0].payload["cwd"]
    # The agent's own tools are told neither.
    names = {line.partition("=")[0] for line in (place.project / "environment").read_text().splitlines()}
    assert names.isdisjoint({variables["session"], variables["project"]})
    assert "GEMINI_CLI" in names


# Files


@pytest.mark.parametrize(
    ("change", "starts"),
    [
        (lambda text: "// mine\n" + text, True),
        (lambda text: text.replace("{", '{"$schema": "x", ', 1), True),
        (lambda text: text[:-1] + ",}", False),
        (lambda text: "\ufeff" + text, False),
        (lambda text: "", False),
    ],
    ids=["a comment", "an unknown key", "a trailing comma", "a byte order mark", "nothing"],
)
def test_settings_that_cannot_be_read_keep_the_client_from_starting(
    gemini: Client, place: Place, change: Any, starts: bool
) -> None:
    place.settings.write_text(change(place.settings.read_text().rstrip()))
    run = play(gemini, place, ["done"])
    expected = (0, 1) if starts else (gemini.pins["exit"]["settings_broken"], 0)
    assert (run.code, run.requests) == expected


# Projects


@pytest.mark.parametrize(
    ("command", "name", "runs"),
    [
        ("[ -f $GEMINI_PROJECT_DIR/note.sh ] && sh $GEMINI_PROJECT_DIR/note.sh; exit 0", "it's my $HOME", True),
        ('[ -f "$GEMINI_PROJECT_DIR"/note.sh ] && sh "$GEMINI_PROJECT_DIR"/note.sh; exit 0', "my project", False),
    ],
    ids=["bare", "in quotes"],
)
def test_the_client_itself_puts_the_project_into_a_command_quoted_for_the_shell(
    gemini: Client, place: Place, command: str, name: str, runs: bool
) -> None:
    project = place.root / name
    write_settings(project / ".gemini" / "settings.json", AfterAgent=[group(command)])
    (project / "note.sh").write_text(f"cat > /dev/null; pwd > '{place.root}/note'\n")
    run = play(gemini, place, ["done"], cwd=project)
    assert run.requests == 1
    note = place.root / "note"
    assert (note.read_text() if note.exists() else "") == (f"{project}\n" if runs else "")


def test_project_hooks_run_in_a_trusted_folder_only_and_are_named_the_first_time(gemini: Client, place: Place) -> None:
    probe = make_probe(place.root)
    write_settings(place.project / ".gemini" / "settings.json", AfterAgent=[group(probe)])
    refused = play(gemini, place, ["done"], environment=UNTRUSTED)
    assert (refused.code, refused.requests) == (gemini.pins["exit"]["not_trusted"], 0)
    assert play(gemini, place, ["done"], SKIP, environment=UNTRUSTED).requests == 1
    assert probe.flags() == ""

    (place.home / ".gemini" / "trustedFolders.json").write_text(json.dumps({str(place.project): "TRUST_FOLDER"}))
    first = play(gemini, place, ["done"], environment=UNTRUSTED)
    second = play(gemini, place, ["done"], environment=UNTRUSTED)
    assert probe.flags() == "FF"
    named = "project-level hooks have been detected"
    assert (named in first.errors, named in second.errors) == (True, False)


def test_a_user_hook_needs_no_more_than_skip_trust(gemini: Client, place: Place) -> None:
    probe = make_probe(place.root)
    write_settings(place.settings, AfterAgent=[group(probe)])
    assert play(gemini, place, ["done"], SKIP, environment=UNTRUSTED).requests == 1
    assert probe.flags() == "F"


def test_a_failed_tool_tells_its_error_but_a_failed_shell_command_does_not(gemini: Client, place: Place) -> None:
    probe = make_probe(place.root)
    write_settings(place.settings, AfterTool=[group(probe)])
    gone = Call("read_file", {"file_path": str(place.project / "gone.txt")})
    play(gemini, place, [gone, shell("exit 3"), "done"], YOLO)
    errors = [heard.payload["tool_response"].get("error") for heard in probe.heard()]
    assert type(errors[0]["message"]) is str
    assert errors[1:] == [None]
