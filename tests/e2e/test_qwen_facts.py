"""The behaviour of the real Qwen Code that hookctl relies on; expected values are in pins/qwen.toml."""

import json
from pathlib import Path
from typing import Any

import pytest

from .clients import Client
from .dialects import Call
from .hooks import END, FLAT, GUARDED, NESTED, SPEAK, UNDECIDED, group, in_turn, lost_fields, say, verdict
from .model_server import Script
from .probe import BLOCK, make_probe
from .qwen import BASE, YOLO, Place, play, shell

pytestmark = [pytest.mark.e2e, pytest.mark.full]


def write_settings(path: Path, more: dict[str, Any] | None = None, **events: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**BASE, **(more or {}), "hooks": events}))


# Blocks and their cap


def test_of_8_blocks_in_a_row_the_last_one_is_overridden_and_the_reply_kept(qwen: Client, place: Place) -> None:
    probe = make_probe(place.root, answers=(BLOCK,))
    write_settings(place.settings, Stop=[group(probe)])
    run = play(qwen, place, ["done"])
    cap = qwen.pins["cap"]["default"]
    assert (run.requests, probe.flags(), run.code) == (cap, "F" + "T" * (cap - 1), 0)
    assert len({heard.payload["prompt_id"] for heard in probe.heard()}) == 1
    assert qwen.pins["cap"]["said"].format(cap) in run.errors
    assert run.out == "done" * cap + "\n"


@pytest.mark.parametrize(
    ("variable", "setting", "blocks"), [(None, 3, 3), ("3", 5, 3), ("0", None, "default"), ("abc", None, "default")]
)
def test_the_variable_beats_the_setting_and_the_hook_sees_the_variable_alone(
    qwen: Client, place: Place, variable: str | None, setting: int | None, blocks: int | str
) -> None:
    cap = qwen.pins["cap"]
    probe = make_probe(place.root, answers=(BLOCK,))
    more: dict[str, Any] = {"env": {cap["key"]: variable}} if variable else {}
    write_settings(place.settings, {**more, **({cap["setting"]: setting} if setting else {})}, Stop=[group(probe)])
    assert play(qwen, place, ["done"]).requests == (cap[blocks] if isinstance(blocks, str) else blocks)
    assert probe.heard()[0].environment.get(cap["key"]) == variable


def test_no_cap_is_above_100(qwen: Client, place: Place) -> None:
    cap = qwen.pins["cap"]
    write_settings(place.settings, {"env": {cap["key"]: "5000"}}, Stop=[group(say(BLOCK))])
    assert play(qwen, place, Script(["done"], limit=cap["most"] + 5), timeout=180).requests == cap["most"]


def test_a_tool_call_leaves_the_cap_s_count_the_flag_and_the_prompt_as_they_were(qwen: Client, place: Place) -> None:
    probe = make_probe(place.root, answers=(BLOCK,))
    write_settings(place.settings, {"stopHookBlockingCap": 3}, Stop=[group(probe)])
    run = play(qwen, place, ["one", shell("true 1"), "two", shell("true 2"), "three", "four"], YOLO)
    assert (run.requests, probe.flags(), run.code) == (5, "FTT", 0)
    assert len({heard.payload["prompt_id"] for heard in probe.heard()}) == 1


def test_what_blocks(qwen: Client, place: Place) -> None:
    blocking = [
        say(verdict("block", more=1)),
        say(verdict("deny")),
        say(verdict("block", "")),
        say(END),
        say(BLOCK, code=1),
        say(code=2, errors="on"),
        "python3 /nowhere/hook.py",
    ]
    write_settings(place.settings, Stop=[group(in_turn(place.root, *blocking))])
    run = play(qwen, place, ["done"])
    assert (run.requests, run.code) == (len(blocking) + 1, 0)


def test_what_passes(qwen: Client, place: Place) -> None:
    passing = [
        *UNDECIDED,
        say("text"),
        say(code=2),
        say(code=1, errors="on"),
        say(code=3, errors="on"),
        "/nowhere/hook",
    ]
    write_settings(place.settings, Stop=[group(*passing)])
    run = play(qwen, place, ["done"])
    assert (run.requests, run.code, run.out) == (1, 0, "done\n")


def test_of_several_messages_a_person_gets_to_read_the_last(qwen: Client, place: Place) -> None:
    write_settings(place.settings, Stop=[group(say("text"), say(SPEAK), say())])
    run = play(qwen, place, ["done"])
    assert (run.requests, run.errors.endswith("\nlet go\n")) == (1, True)
    assert "\ntext\n" not in run.errors


def test_a_timeout_below_1000_is_in_seconds_and_any_other_in_milliseconds(qwen: Client, place: Place) -> None:
    seconds = make_probe(place.root, "seconds", answers=(BLOCK,), seconds=4)
    milliseconds = make_probe(place.root, "milliseconds", answers=(BLOCK,), seconds=4)
    long = make_probe(place.root, "long", answers=(BLOCK, ""), seconds=1.2)
    groups = [group(seconds, timeout=1), group(milliseconds, timeout=1000), group(long, timeout=999)]
    write_settings(place.settings, Stop=groups)
    assert play(qwen, place, ["done"]).requests == 2


# Tool calls


def test_how_a_tool_call_is_refused(qwen: Client, place: Place) -> None:
    refusing = [
        say(NESTED),
        say(verdict("block", "no")),
        say(verdict("deny", "no")),
        say(code=2, errors="no"),
        "python3 /nowhere/hook.py",
    ]
    passing = [say(FLAT), say(code=2), say(code=1, errors="no"), GUARDED.format("/nowhere/hook.py")]
    write_settings(place.settings, PreToolUse=[group(in_turn(place.root, *refusing, *passing))])
    steps = range(len(refusing) + len(passing))
    run = play(qwen, place, [*(shell(f"echo > {step}") for step in steps), "done"], YOLO)
    assert sorted(int(path.name) for path in place.project.iterdir()) == list(steps[len(refusing) :])
    assert [content[0]["text"] for content in run.told("tool")[:4]] == ["no"] * 4


# What a hook is told


def test_hooks_get_the_pinned_fields_and_variables_and_tools_the_session(qwen: Client, place: Place) -> None:
    pinned, variables = qwen.pins["payload"], qwen.pins["variables"]
    probes = {event: make_probe(place.root, event) for event in pinned}
    groups = {event: [group(probe)] for event, probe in probes.items()}
    write_settings(place.settings, {"env": {"MAX_STOP_BLOCKS": "5"}}, **groups)
    command = f"printenv {variables['session']} > session"
    play(qwen, place, [shell(command), "done"], YOLO)
    assert lost_fields(pinned, probes) == {}
    heard = probes["Stop"].heard()[0]
    session = heard.payload["session_id"]
    assert heard.environment[variables["session"]] == session == (place.project / "session").read_text().strip()
    assert heard.environment[variables["project"]] == heard.environment["CLAUDE_PROJECT_DIR"] == str(place.project)
    assert heard.environment["MAX_STOP_BLOCKS"] == "5"
    assert probes["PreToolUse"].heard()[0].payload["tool_input"]["command"] == command


def test_whatever_the_model_is_sent_is_a_prompt_to_hooks_and_a_person_s_is_a_submitted_one(
    qwen: Client, place: Place
) -> None:
    stop, prompt = make_probe(place.root, "stop", answers=(BLOCK, "")), make_probe(place.root, "prompt")
    write_settings(place.settings, Stop=[group(stop)], UserPromptSubmit=[group(prompt)])
    play(qwen, place, [shell("true 1"), "one", "two"], YOLO)
    heard = [call.payload for call in prompt.heard()]
    assert [(call["prompt"], call.get("submitted_prompt")) for call in heard] == [
        ("begin", "begin"),
        ("", None),
        (json.loads(BLOCK)["reason"], None),
    ]
    assert len({call["prompt_id"] for call in heard}) == 1


def test_the_transcript_holds_the_turn_s_tool_calls_as_parts_of_the_model_s_messages(
    qwen: Client, place: Place
) -> None:
    seen = place.root / "seen.jsonl"
    chats = f"{place.home}/.qwen/projects/*/chats/*.jsonl"
    # It is written beside the hook, and not before.
    wait = f"for n in $(seq 40); do grep -q functionCall {chats} && break; sleep 0.1; done"
    write_settings(place.settings, Stop=[group(f"{wait}; cp {chats} {seen}")])
    play(qwen, place, [shell("true 1"), "done"], YOLO)
    entries = [json.loads(line) for line in seen.read_text("utf-8").splitlines()]
    parts = [part for entry in entries if entry["type"] == "assistant" for part in entry["message"]["parts"]]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    assert [(call["name"], call["args"]["command"]) for call in calls] == [("run_shell_command", "true 1")]
    assert [entry["provenance"] for entry in entries if entry["type"] == "user"] == ["real_user"]


# Files


def test_user_and_project_hooks_run_and_the_same_command_once(qwen: Client, place: Place) -> None:
    user, project, both = (make_probe(place.root, name) for name in ("user", "project", "both"))
    write_settings(place.settings, Stop=[group(user, both)])
    write_settings(place.project / ".qwen" / "settings.json", Stop=[group(project, both, timeout=9)])
    play(qwen, place, ["done"])
    assert (user.flags(), project.flags(), both.flags()) == ("F", "F", "F")


def test_variables_in_any_string_of_the_settings_are_replaced_when_they_are_loaded(qwen: Client, place: Place) -> None:
    probe = make_probe(place.root)
    more = {"env": {"KNOWN": "in $HOME", "UNKNOWN": "in $NOWHERE"}}
    write_settings(place.settings, more, Stop=[group(probe, env={"OWN": "in ${HOME}"})])
    play(qwen, place, ["done"])
    environment = probe.heard()[0].environment
    assert [environment[name] for name in ("KNOWN", "UNKNOWN", "OWN")] == [
        f"in {place.home}",
        "in $NOWHERE",
        f"in {place.home}",
    ]


def test_comments_and_a_byte_order_mark_are_read_and_the_file_left_as_it_was(qwen: Client, place: Place) -> None:
    probe = make_probe(place.root, answers=(BLOCK, ""))
    write_settings(place.settings, Stop=[group(probe)])
    before = b"\xef\xbb\xbf// mine\n" + place.settings.read_bytes() + b"/* too */\n\n"
    place.settings.write_bytes(before)
    assert (play(qwen, place, ["done"]).requests, probe.flags()) == (2, "FT")
    assert place.settings.read_bytes() == before


def test_a_trailing_comma_keeps_it_from_starting(qwen: Client, place: Place) -> None:
    place.settings.write_text(json.dumps(BASE)[:-1] + ",}")
    run = play(qwen, place, ["done"])
    assert (run.code, run.requests) == (qwen.pins["exit"]["settings_broken"], 0)
    assert place.settings.with_name("settings.json.corrupted").read_bytes() == place.settings.read_bytes()


def test_a_switch_turns_all_hooks_off(qwen: Client, place: Place) -> None:
    probe = make_probe(place.root)
    write_settings(place.settings, {"disableAllHooks": True}, Stop=[group(probe)])
    assert (play(qwen, place, ["done"]).requests, probe.flags()) == (1, "")


def test_where_folders_are_trusted_one_by_one_a_stranger_s_hooks_do_not_run(qwen: Client, place: Place) -> None:
    user, project = make_probe(place.root, "user"), make_probe(place.root, "project")
    security = {**BASE["security"], "folderTrust": {"enabled": True}}
    write_settings(place.settings, {"security": security}, Stop=[group(user)])
    write_settings(place.project / ".qwen" / "settings.json", Stop=[group(project)])
    play(qwen, place, ["done"])
    assert (user.flags(), project.flags()) == ("F", "")
    place.settings.with_name("trustedFolders.json").write_text(json.dumps({str(place.project): "TRUST_FOLDER"}))
    play(qwen, place, ["done"])
    assert (user.flags(), project.flags()) == ("FF", "F")


def test_context_after_a_failed_tool_reaches_the_model(qwen: Client, place: Place) -> None:
    nested = {"hookEventName": "PostToolUseFailure", "additionalContext": "AFTER-FAILURE"}
    failed = make_probe(place.root, "failed", answers=(json.dumps({"hookSpecificOutput": nested}),))
    ended = make_probe(place.root, "ended")
    write_settings(place.settings, PostToolUseFailure=[group(failed)], PostToolUse=[group(ended)])
    gone = Call("read_file", {"file_path": str(place.project / "gone.txt")})
    run = play(qwen, place, [gone, shell("true"), "done"], YOLO)
    assert [heard.payload["tool_name"] for heard in failed.heard()] == ["read_file"]
    assert len(ended.heard()) == 1
    assert "AFTER-FAILURE" in json.dumps([asked.request.body for asked in run.log])
