"""The behaviour of the real Factory Droid that hookctl relies on; expected values are in pins/droid.toml."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .clients import Client
from .droid import Place, converse, play, shell
from .hooks import END, FLAT, GUARDED, NESTED, SPEAK, UNDECIDED, group, handler, in_turn, lost_fields, say, verdict
from .model_server import Script
from .probe import BLOCK, Probe, make_probe

pytestmark = [pytest.mark.e2e, pytest.mark.full]


def write_settings(path: Path, more: dict[str, Any] | None = None, **events: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**(more or {}), "hooks": events}))


def write_hooks(path: Path, **events: Any) -> None:
    """Write a hooks.json: the events stand at its root."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(events))


# Blocks


def test_nothing_caps_a_hook_s_blocks_and_a_tool_call_leaves_the_flag_set(droid: Client, place: Place) -> None:
    probe = make_probe(place.root, answers=(*[BLOCK] * 25, ""))
    write_settings(place.settings, Stop=[group(probe)])
    run = play(droid, place, Script(["one", shell("true 1"), "two"], limit=40))
    assert (run.requests, probe.flags(), run.code, run.out) == (27, "F" + "T" * 25, 0, "two\n")
    # No field of the payload names the turn: this one is the reply's.
    assert len({heard.payload["message_id"] for heard in probe.heard()}) == 26
    assert len({heard.payload["session_id"] for heard in probe.heard()}) == 1


def test_what_blocks(droid: Client, place: Place) -> None:
    both = verdict("block", **json.loads(SPEAK), **json.loads(END), more=1)
    blocking = [
        say(BLOCK),
        say(both),
        say(BLOCK, code=1),
        say(BLOCK, code=3),
        say(code=2),
        say(code=2, errors="on"),
        "python3 /nowhere/hook.py",
    ]
    write_settings(place.settings, Stop=[group(in_turn(place.root, *blocking))])
    run = play(droid, place, ["done"])
    assert (run.requests, run.code, run.out) == (len(blocking) + 1, 0, "done\n")


def test_what_passes(droid: Client, place: Place) -> None:
    passing = [
        *UNDECIDED,
        say(END),
        say("text"),
        say(BLOCK + "\nnoise"),
        say(verdict("deny")),
        say(verdict("block", "")),
        say(code=1, errors="on"),
        "/nowhere/hook",
    ]
    write_settings(place.settings, Stop=[group(*passing)])
    run = play(droid, place, ["done"])
    # Nobody gets to read a message that a hook has for a person.
    assert (run.requests, run.code, run.out, run.errors) == (1, 0, "done\n", "")


def test_a_timeout_is_in_seconds(droid: Client, place: Place) -> None:
    slow = make_probe(place.root, "slow", answers=(BLOCK,) * 4 + ("",), seconds=4)
    quick = make_probe(place.root, "quick", answers=(BLOCK, ""), seconds=1)
    write_settings(place.settings, Stop=[group(slow, timeout=1), group(quick, timeout=30)])
    assert play(droid, place, ["done"]).requests == 2


def test_all_hooks_of_an_event_run_and_any_block_counts(droid: Client, place: Place) -> None:
    first, second = make_probe(place.root, "first", answers=(BLOCK, "")), make_probe(place.root, "second")
    write_settings(place.settings, Stop=[group(first, second, second)])
    assert play(droid, place, ["done"]).requests == 2
    assert (first.flags(), second.flags()) == ("FT", "FFTT")


# Tool calls


def test_how_a_tool_call_is_refused(droid: Client, place: Place) -> None:
    refusing = [say(NESTED), say(NESTED, code=1), say(code=2, errors="no"), "python3 /nowhere/hook.py"]
    passing = [
        say(FLAT),
        say(verdict("block")),
        say(verdict("deny")),
        say("noise\n" + NESTED),
        say(code=1, errors="no"),
        "/nowhere/hook",
        GUARDED.format("/nowhere/hook.py"),
    ]
    write_settings(place.settings, PreToolUse=[group(in_turn(place.root, *refusing, *passing))])
    steps = range(len(refusing) + len(passing))
    run = play(droid, place, [*(shell(f"echo > {step}") for step in steps), "done"])
    assert sorted(int(path.name) for path in place.project.iterdir()) == list(steps[len(refusing) :])
    assert run.told("tool")[:3] == ["Error: no"] * 3


# What a hook is told


def test_hooks_get_the_pinned_fields_and_variables(droid: Client, place: Place) -> None:
    pinned = droid.pins["payload"]
    probes = {event: make_probe(place.root, event) for event in pinned}
    write_settings(place.settings, **{event: [group(probe)] for event, probe in probes.items()})
    play(droid, place, [shell("printenv > environment"), "done"])
    assert {event: len(probe.heard()) for event, probe in probes.items()} == dict.fromkeys(pinned, 1)
    assert lost_fields(pinned, probes) == {}
    payload = probes["PreToolUse"].heard()[0].payload
    assert (payload["tool_name"], payload["tool_input"]["command"]) == ("Execute", "printenv > environment")
    heard = probes["Stop"].heard()[0]
    assert heard.environment[droid.pins["variables"]["project"]] == str(place.project)
    # The agent's own tools are told neither the session nor the project.
    tools = (place.project / "environment").read_text()
    assert heard.payload["session_id"] not in tools
    assert droid.pins["variables"]["project"] not in tools


def test_a_new_prompt_begins_with_a_flag_that_is_not_set_and_has_no_event(droid: Client, place: Place) -> None:
    stop, prompt = make_probe(place.root, "stop", answers=(BLOCK, "", BLOCK, "")), make_probe(place.root, "prompt")
    write_settings(place.settings, Stop=[group(stop)], UserPromptSubmit=[group(prompt)])
    run = converse(droid, place, ["done"], "one", "two")
    assert (run.requests, stop.flags(), prompt.heard()) == (4, "FTFT", [])
    assert len({heard.payload["session_id"] for heard in stop.heard()}) == 1


def test_the_transcript_holds_the_turn_s_tool_calls_before_the_stop_hook_runs(droid: Client, place: Place) -> None:
    seen = place.root / "seen.jsonl"
    write_settings(place.settings, Stop=[group(f"cp {place.home}/.factory/sessions/*/*.jsonl {seen}")])
    play(droid, place, [shell("true 1"), "done"])
    entries = [json.loads(line) for line in seen.read_text("utf-8").splitlines()]
    messages = [entry["message"] for entry in entries if entry["type"] == "message"]
    blocks = [block for message in messages if message["role"] == "assistant" for block in message["content"]]
    calls = [block for block in blocks if block["type"] == "tool_use"]
    assert [(call["name"], call["input"]["command"]) for call in calls] == [("Execute", "true 1")]


# Files


def where_hooks_run(droid: Client, place: Place, probes: dict[str, Probe], cwd: Path | None = None) -> list[str]:
    play(droid, place, ["done"], cwd=cwd)
    return [name for name, probe in probes.items() if probe.heard()]


def test_user_and_project_settings_are_read_and_no_others(droid: Client, place: Place) -> None:
    files = {
        "user": place.settings,
        "project": place.project / ".factory" / "settings.json",
        "local": place.project / ".factory" / "settings.local.json",
        "claude": place.project / ".claude" / "settings.json",
    }
    probes = {name: make_probe(place.root, name) for name in files}
    for name, path in files.items():
        write_settings(path, Stop=[group(probes[name])])
    assert where_hooks_run(droid, place, probes) == ["user", "project"]


@pytest.mark.parametrize(
    ("hooks_json", "seen"),
    [
        ({"Stop": "PROBE"}, ["hooks"]),
        ({"Stop": []}, []),
        ({"SessionStart": "PROBE"}, ["settings", "hooks"]),
        ({"hooks": {"Stop": "PROBE"}}, ["settings"]),
        ({"hooks": {"Stop": []}, "Stop": "PROBE"}, ["hooks"]),
        ({}, ["settings"]),
        ({"Stop": "PROBE", "SessionEnd": [{"type": "command", "command": "true"}]}, ["settings"]),
    ],
    ids=["the event", "no hook of the event", "another event", "wrapped", "wrapped, too", "nothing", "one bad entry"],
)
def test_an_event_in_hooks_json_hides_the_same_event_of_the_settings_beside_it(
    droid: Client, place: Place, hooks_json: dict[str, Any], seen: list[str]
) -> None:
    probes = {name: make_probe(place.root, name) for name in ("settings", "hooks")}
    write_settings(place.settings, Stop=[group(probes["settings"])])
    text = json.dumps(hooks_json).replace('"PROBE"', json.dumps([group(probes["hooks"])]))
    place.settings.with_name("hooks.json").write_text(text)
    assert where_hooks_run(droid, place, probes) == seen


def test_hooks_json_hides_nothing_of_the_other_scope(droid: Client, place: Place) -> None:
    probes = {name: make_probe(place.root, name) for name in ("user", "project", "hidden")}
    write_settings(place.settings, Stop=[group(probes["user"])])
    write_settings(place.project / ".factory" / "settings.json", Stop=[group(probes["hidden"])])
    write_hooks(place.project / ".factory" / "hooks.json", Stop=[group(probes["project"])])
    assert where_hooks_run(droid, place, probes) == ["user", "project"]


def test_a_repository_s_root_is_the_project_and_the_variable_is_the_start_folder(droid: Client, place: Place) -> None:
    probe, sub = make_probe(place.root), place.project / "sub"
    write_settings(place.project / ".factory" / "settings.json", Stop=[group(probe)])
    sub.mkdir()
    assert where_hooks_run(droid, place, {"project": probe}, cwd=sub) == []
    subprocess.run(["git", "init", "-q", str(place.project)], env=place.environment(), check=True)
    assert where_hooks_run(droid, place, {"project": probe}, cwd=sub) == ["project"]
    assert probe.heard()[0].environment[droid.pins["variables"]["project"]] == str(sub)


def test_the_home_variable_replaces_the_home(droid: Client, place: Place) -> None:
    probe = make_probe(place.root)
    write_settings(place.settings, Stop=[group(probe)])
    # The model's address lies in the home, too.
    environment = {droid.pins["variables"]["home"]: str(place.home), "HOME": str(place.tmp)}
    play(droid, place, ["done"], environment=environment)
    assert probe.flags() == "F"


@pytest.mark.parametrize(
    "entry",
    [group("true", timeout="10"), {"hooks": [{"type": "http", "url": "http://127.0.0.1:9"}]}, handler("true")],
    ids=["a timeout as text", "an unknown type", "no group"],
)
def test_one_bad_entry_loses_all_hooks_of_its_file(droid: Client, place: Place, entry: Any) -> None:
    probe = make_probe(place.root)
    write_settings(place.settings, SessionStart=[entry], Stop=[group(probe)])
    assert where_hooks_run(droid, place, {"it": probe}) == []


def test_comments_unknown_events_and_unknown_keys_are_read_and_the_file_left_as_it_was(
    droid: Client, place: Place
) -> None:
    probe = make_probe(place.root, answers=(BLOCK, ""))
    events = {"Unknown": [], "importedClaudeHooks": ["a"], "Stop": [group(probe, name="mine")]}
    write_settings(place.settings, {"mine": 1}, **events)
    before = b"// mine\n" + place.settings.read_bytes() + b"/* too */\n\n"
    place.settings.write_bytes(before)
    assert (play(droid, place, ["done"]).requests, probe.flags()) == (2, "FT")
    assert place.settings.read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [lambda text: text[:-1] + ",}", lambda text: "\ufeff" + text, lambda text: text[:-1]],
    ids=["a trailing comma", "a byte order mark", "cut off"],
)
def test_these_lose_all_hooks_of_the_file(droid: Client, place: Place, change: Any) -> None:
    probe = make_probe(place.root)
    write_settings(place.settings, Stop=[group(probe)])
    place.settings.write_text(change(place.settings.read_text()))
    run = play(droid, place, ["done"])
    assert (run.requests, run.code, probe.flags()) == (1, 0, "")


@pytest.mark.parametrize("where", ["settings.json", "hooks.json", "project"])
def test_a_switch_beside_the_events_of_any_file_turns_all_hooks_off(droid: Client, place: Place, where: str) -> None:
    probe, off = make_probe(place.root), {droid.pins["switches"]["off"]: True}
    write_settings(place.settings, Stop=[group(probe)], **(off if where == "settings.json" else {}))
    if where == "hooks.json":
        write_hooks(place.settings.with_name("hooks.json"), **off)
    if where == "project":
        write_settings(place.project / ".factory" / "settings.json", **off)
    assert where_hooks_run(droid, place, {"it": probe}) == []


def test_the_switch_in_general_settings_turns_nothing_off(droid: Client, place: Place) -> None:
    probe = make_probe(place.root)
    write_settings(place.settings, {"enableHooks": False}, Stop=[group(probe)])
    assert where_hooks_run(droid, place, {"it": probe}) == ["it"]
