"""The behaviour of the real Kimi Code that hookctl relies on; expected values are in pins/kimi.toml."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.matching import OF_SHELL

from . import kimi as driver
from .clients import Client
from .dialects import Call
from .hooks import FLAT, GUARDED, UNDECIDED, in_turn, say, verdict
from .kimi import Place, play, refusal, shell
from .model_server import Script
from .plugins import by_own_means
from .probe import BLOCK, Probe, make_probe

pytestmark = [pytest.mark.e2e, pytest.mark.full]

BLOCKS = say(code=2, errors="on")


def entry(event: str, hook: Probe | str, **more: Any) -> str:
    """One hook as the file has it."""
    command = hook if isinstance(hook, str) else hook.command
    fields = {"event": event, "command": command, **more}
    return "[[hooks]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items())


def write_settings(place: Place, *entries: str) -> None:
    place.settings.write_text("".join(entries))


# The end of a turn


def test_one_block_in_a_turn_is_honoured_then_no_hook_is_asked(kimi: Client, place: Place) -> None:
    probe = make_probe(place.root, answers=(refusal("Stop", "on"),))
    write_settings(place, entry("Stop", probe))
    before = place.settings.read_bytes()
    cap = kimi.pins["cap"]["default"]
    run = play(kimi, place, ["one", shell("true 1"), "two", shell("true 2"), "three"])
    assert (run.requests, probe.flags(), run.code) == (2 + cap, "F" * cap, 0)
    assert "on" in run.told("user")
    assert "• one\n" in run.out and "• two\n" in run.out
    session = probe.heard()[0].payload["session_id"]
    assert play(kimi, place, ["four"], "--session", session).requests == 1 + cap
    assert probe.flags() == "F" * 2 * cap, "a new turn has a block of its own, and its stop is no forced one"
    assert place.settings.read_bytes() == before


@pytest.mark.parametrize(
    "blocking",
    [
        say(refusal("Stop", "on")),
        say(refusal("PreToolUse", "on", more=1)),
        say(refusal("Stop", "")),
        BLOCKS,
        say(refusal("Stop", "on"), code=2),
    ],
)
def test_what_blocks(kimi: Client, place: Place, blocking: str) -> None:
    write_settings(place, entry("Stop", blocking), entry("Stop", say(refusal("Stop", "second"))))
    run = play(kimi, place, Script(["done"], limit=4))
    assert run.requests == 2
    assert run.told("user")[-1] in ("on", kimi.pins["said"]["refused"].format("Stop")), "the first of several counts"


def test_what_passes_and_nobody_is_told(kimi: Client, place: Place) -> None:
    passing = [
        *UNDECIDED,
        say(BLOCK),
        say(FLAT),
        say("text"),
        say(json.dumps({"message": "said"})),
        say(refusal("Stop", "on"), code=1),
        say(code=1, errors="on"),
        "/nowhere/hook",
    ]
    write_settings(place, *(entry("Stop", hook) for hook in passing), entry("Stop", BLOCKS, matcher="*"))
    run = play(kimi, place, ["done"])
    assert (run.requests, run.out.strip()) == (1, "• done")


def test_the_same_command_runs_once_and_a_slow_one_is_cut_off(kimi: Client, place: Place) -> None:
    twice = make_probe(place.root, "twice")
    slow = make_probe(place.root, "slow", answers=(refusal("Stop", "on"),), seconds=4)
    write_settings(place, entry("Stop", twice), entry("Stop", twice, timeout=9), entry("Stop", slow, timeout=1))
    assert (play(kimi, place, ["done"]).requests, twice.flags(), slow.flags()) == (1, "F", "F")


def test_a_subagent_s_stop_looks_like_the_agent_s_own(kimi: Client, place: Place) -> None:
    probes = {event: make_probe(place.root, event) for event in ("Stop", "PreToolUse", "SubagentStop")}
    write_settings(place, *(entry(event, probe) for event, probe in probes.items()))
    begin = Call("Agent", {"prompt": "MARKER", "description": "a part", "subagent_type": "coder"})
    inner = [shell("true"), "looked"]
    run = play(kimi, place, Script([begin, "done"], sub_marker="MARKER", sub_replies=inner))
    assert (run.requests, run.count("sub"), probes["Stop"].flags()) == (2, 2, "FF")
    first, second = (heard.payload for heard in probes["Stop"].heard())
    assert first == second
    assert [heard.payload["tool_name"] for heard in probes["PreToolUse"].heard()] == ["Agent", "Bash"]
    (ended,) = probes["SubagentStop"].heard()
    assert {*kimi.pins["payload"]["all"], *kimi.pins["payload"]["SubagentStop"]} <= set(ended.payload)


# Tool calls


def test_how_a_tool_call_is_refused(kimi: Client, place: Place) -> None:
    refusing = [say(refusal("PreToolUse", "no")), say(code=2, errors="no"), say(refusal("Other", "no"))]
    allow = json.dumps({"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"command": "false"}}})
    passing = [
        say(FLAT),
        say(verdict("block", "no")),
        say(refusal("PreToolUse", "no").replace("deny", "ask")),
        say(allow),
        say(code=1, errors="no"),
        GUARDED.format("/nowhere/hook.py"),
    ]
    write_settings(place, entry("PreToolUse", in_turn(place.root, *refusing, *passing), matcher="ash"))
    steps = range(len(refusing) + len(passing))
    run = play(kimi, place, [*(shell(f"echo > {step}") for step in steps), "done"])
    assert sorted(int(path.name) for path in place.project.iterdir()) == list(steps[len(refusing) :])
    assert [told.splitlines()[-1] for told in run.told("tool")[:3]] == ["no"] * 3


@pytest.mark.parametrize(("matcher", "fits"), OF_SHELL["kimi"].items())
def test_a_matcher_is_an_expression_and_one_that_is_none_fits_nothing(
    kimi: Client, place: Place, matcher: str, fits: bool
) -> None:
    write_settings(place, entry("PreToolUse", BLOCKS, matcher=matcher))
    play(kimi, place, [shell("touch ran"), "done"])
    assert (place.project / "ran").exists() is not fits


def test_nobody_waits_for_a_hook_on_a_call_that_has_run_and_a_turn_s_end_cuts_it_off(
    kimi: Client, place: Place
) -> None:
    slow, refused, failed = (make_probe(place.root, name) for name in ("slow", "refused", "failed"))
    write_settings(
        place,
        entry("PreToolUse", say(code=2, errors="no"), matcher="Write"),
        entry("PostToolUse", f"sleep 2; {slow.command}"),
        entry("PostToolUse", refused, matcher="Write"),
        entry("PostToolUseFailure", failed),
    )
    write = Call("Write", {"path": str(place.project / "file"), "content": ""})
    run = driver.DRIVER.play(kimi, place, [write, shell("false"), shell("true"), "done"])
    assert (run.requests, slow.heard(), refused.heard()) == (4, [], [])
    assert [heard.payload["tool_name"] for heard in failed.heard()] == ["Write", "Bash"], (
        "a refused call is a failed one"
    )
    assert failed.heard()[0].payload["error"]["message"] == "no"


# Prompts


@pytest.mark.parametrize("said", ["CONTEXT", json.dumps({"message": "CONTEXT"})])
def test_whatever_a_hook_prints_on_a_prompt_goes_to_the_model(kimi: Client, place: Place, said: str) -> None:
    write_settings(place, entry("UserPromptSubmit", say(said)), entry("UserPromptSubmit", say("{}")))
    run = play(kimi, place, ["done"])
    (told,) = [text for text in run.told("user") if "CONTEXT" in text]
    part = '<hook_result hook_event="UserPromptSubmit">\n{}\n</hook_result>'
    assert told == part.replace("{}", "CONTEXT") + "\n" + part


@pytest.mark.parametrize("refusing", [say(refusal("UserPromptSubmit", "no")), say(code=2, errors="no")])
def test_a_prompt_can_be_refused(kimi: Client, place: Place, refusing: str) -> None:
    write_settings(place, entry("UserPromptSubmit", refusing))
    run = play(kimi, place, ["done"])
    assert (run.requests, run.code) == (0, 1)
    assert kimi.pins["said"]["prompt_refused"] in run.errors


def test_a_session_s_start_takes_nothing_from_a_hook(kimi: Client, place: Place) -> None:
    context = json.dumps({"message": "CONTEXT", "hookSpecificOutput": {"additionalContext": "CONTEXT"}})
    write_settings(place, entry("SessionStart", say(context)), entry("SessionStart", BLOCKS))
    run = play(kimi, place, ["done"])
    assert run.requests == 1
    assert "CONTEXT" not in json.dumps(run.last_messages)


# What a hook is told


def test_hooks_get_the_pinned_fields_and_no_variable(kimi: Client, place: Place) -> None:
    pinned = {event: fields for event, fields in kimi.pins["payload"].items() if event not in ("all", "SubagentStop")}
    probes = {event: make_probe(place.root, event) for event in pinned}
    write_settings(place, *(entry(event, probe) for event, probe in probes.items()))
    play(kimi, place, [shell("true"), shell("false"), "done"])
    for event, fields in pinned.items():
        heard = probes[event].heard()[0]
        assert {*kimi.pins["payload"]["all"], *fields} <= set(heard.payload), event
        assert heard.payload["cwd"] == heard.environment["PWD"] == str(place.project)
    assert probes["UserPromptSubmit"].heard()[0].payload["prompt"] == [{"type": "text", "text": "begin"}]
    stop = probes["Stop"].heard()[0]
    assert stop.payload["session_id"] not in stop.environment.values()
    assert probes["PostToolUse"].heard()[0].payload["tool_output"] == "Command executed successfully."


# The file


@pytest.mark.parametrize(
    "more",
    [
        'name = "mine"\n',
        entry("Nonsense", "true"),
        entry("SessionEnd", "true", timeout=0),
        entry("SessionEnd", "true", timeout=601),
        entry("SessionEnd", "true", timeout=1.5),
        entry("SessionEnd", "true", matcher=1),
        entry("SessionEnd", ""),
        '[[hooks]]\nevent = "Stop"\n',
    ],
)
def test_one_hook_that_it_cannot_take_costs_all_of_them(kimi: Client, place: Place, more: str) -> None:
    write_settings(place, entry("Stop", BLOCKS), more)
    run = play(kimi, place, ["done"])
    assert (run.requests, run.code, kimi.pins["said"]["entry"] in run.errors) == (1, 0, True)


@pytest.mark.parametrize("text", ["x = \n", "[a]\nx = 1\nx = 2\n", "# \x00\n"])
def test_a_broken_file_costs_all_hooks_without_a_word(kimi: Client, place: Place, text: str) -> None:
    write_settings(place, entry("Stop", BLOCKS), text)
    run = play(kimi, place, ["done"])
    assert (run.requests, run.code) == (1, 0)
    assert "config" not in run.errors


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff# mine\n" + entry("Stop", BLOCKS) + "# end\n",
        entry("Stop", BLOCKS, timeout=5.0).replace("\n", "\r\n"),
        f'hooks = [{{event = "Stop",\n command = {json.dumps(BLOCKS)},}}]\n',
        "strange = 1\n" + entry("Stop", BLOCKS) + "[loop_control]\nmax_steps_per_turn = 'many'\n",
    ],
)
def test_what_is_read(kimi: Client, place: Place, text: str) -> None:
    place.settings.write_bytes(text.encode())
    run = play(kimi, place, ["done"])
    assert run.requests == 2
    assert place.settings.read_bytes() == text.encode()


OPERATORS = """\
# mine
default_model = "m"   # the model

[providers.x]
type = "openai"
api_key = "made-up"
# between

[models.m]
provider = "x"
model = "mock"
max_context_size = 1000

"""


@pytest.mark.parametrize(
    ("more", "comments"),
    [("", ["# mine", "# between", "# end"]), ('[tools]\n"x y" = 1\n\n', [])],
    ids=["plain", "quoted"],
)
def test_it_writes_its_file_anew_with_hooks_and_sometimes_without_comments(
    kimi: Client, place: Place, more: str, comments: list[str]
) -> None:
    probe = make_probe(place.root)
    real = place.root / "real.toml"
    real.write_text(OPERATORS + more + entry("Stop", probe, timeout=5) + "# end\n")
    place.settings.symlink_to(real)
    by_own_means(driver, kimi, place, "provider", "remove", "x")
    text = place.settings.read_text()
    assert [line for line in text.splitlines() if line.startswith("#")] == comments
    assert "providers" not in text and not place.settings.is_symlink(), "a link becomes a file"
    assert (play(kimi, place, ["done"]).requests, probe.flags()) == (1, "F")


def test_a_variable_moves_its_folder(kimi: Client, place: Place) -> None:
    folder = place.root / "elsewhere"
    folder.mkdir()
    (folder / "config.toml").write_text(entry("Stop", BLOCKS))
    assert play(kimi, place, ["done"], environment={kimi.pins["variables"]["config_folder"]: str(folder)}).requests == 2


def test_a_project_has_no_hooks(kimi: Client, place: Place) -> None:
    for name in (".kimi-code/config.toml", "kimi.toml", ".kimi/config.toml"):
        path: Path = place.project / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(entry("Stop", BLOCKS))
    assert play(kimi, place, ["done"]).requests == 1
