"""The behaviour of the real Gemini CLI that hookctl relies on; expected values are in pins/gemini.toml."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookctl.hosts.shapes import FAILS_OPEN

from . import facts
from .clients import Client, pins_of
from .dialects import Call
from .facts import Fact, probe
from .gemini import BASE, SKIP, TRUST, YOLO, Place, play, shell
from .hooks import END, FLAT, UNDECIDED, group, lost_fields, say, verdict
from .model_server import Script
from .probe import BLOCK, make_probe

pytestmark = [pytest.mark.e2e, pytest.mark.full]

UNTRUSTED = dict.fromkeys(TRUST, "")
STOP, TOLD = {"AfterAgent": [probe()]}, "Tool execution blocked: no"
BLOCKING = {
    "deny and an unknown key": say(verdict("deny", more=1)), "a block without a reason": say(verdict("block", "")),
    "a block at exit 1": say(BLOCK, code=1), "a block at exit 3": say(BLOCK, code=3),
    "exit 2 with words": say(code=2, errors="on"), "exit 3 with words": say(code=3, errors="on"),
    "exit 127 with words": say(code=127, errors="on"), "a block on stderr": say(errors=BLOCK),
    "a script that is gone": "python3 /nowhere/hook.py", "a program that is gone": "/nowhere/hook",
}  # fmt: skip
READS = {
    "a comment": (lambda text: "// mine\n" + text, True),
    "an unknown key": (lambda text: text.replace("{", '{"$schema": "x", ', 1), True),
    "a trailing comma": (lambda text: text[:-1] + ",}", False),
    "a byte order mark": (lambda text: "\ufeff" + text, False),
    "nothing": (lambda text: "", False),
}


def refused(run: Any) -> list[str]:
    """The errors of the first three calls, as the model was told them."""
    parts = [part for content in run.log[-1].request.body["contents"] for part in content["parts"]]
    answers = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
    return [answer.get("error") for answer in answers[:3]]


FACTS = [
    # From some turn on a model is asked whether the agent goes in circles; the server knows these requests.
    Fact("nothing caps a hook's blocks", {"AfterAgent": [probe("it", *[BLOCK] * 30, "")]},
         replies=Script([f"reply {number}" for number in range(32)], limit=40), requests=31, flags="F" + "T" * 30,
         check=lambda came: {entry.kind for entry in came.run.log} <= {"main", "side"}),
    facts.passes("AfterAgent", [*UNDECIDED, say(errors="words"), say(code=2), say(code=1, errors="on"), say(code=3)],
                 out="done\n", said=["Hook system message: ", "let go"]),
    *(facts.blocks_for_ever("AfterAgent", f"{name} blocks", hook) for name, hook in BLOCKING.items()),
    Fact("a hook that ends the turn beats another hook's block", {"AfterAgent": [say(BLOCK), say(END)]}, requests=1,
         out="done\n", said=["Agent execution stopped: enough"]),
    # It is in milliseconds.
    facts.times_out("AfterAgent", [{"timeout": 1000}], {"timeout": 30_000}, said=["Hook timed out after 1000ms"]),
    Fact("the same command under the same name runs once", flags="FF",
         hooks={"AfterAgent": [probe("it", name="one"), probe("it", name="one"), probe("it", name="two")]}),
    facts.refuses("BeforeTool", shell,
                  [say(verdict("deny", "no")), say(verdict("block", "no", more=1)), say(code=2, errors="no")],
                  [say(json.dumps({"hookSpecificOutput": json.loads(FLAT)}))], refused, TOLD, options=(YOLO,)),
    *(Fact(f"{name} in the settings {'is read' if reads else 'keeps it from starting'}", STOP, text=text,
           requests=int(reads), code=0 if reads else pins_of("gemini")["exit"]["settings_broken"])
      for name, (text, reads) in READS.items()),
    Fact("a user hook needs no more than skip-trust", STOP, options=(SKIP,), environment=UNTRUSTED, requests=1,
         flags="F"),
]  # fmt: skip
test_fact = facts.table("gemini", FACTS, facts.claude_like(BASE))


def write_settings(path: Path, more: dict[str, Any] | None = None, **events: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**BASE, **(more or {}), "hooks": events}))


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


@pytest.mark.parametrize("event", ["AfterAgent", "BeforeAgent"])
@pytest.mark.parametrize(("trap", "passes"), [("", False), (FAILS_OPEN, True)], ids=["bare", "trap"])
def test_a_gone_program_lets_a_turn_pass_behind_the_trap_alone(
    gemini: Client, place: Place, event: str, trap: str, passes: bool
) -> None:
    write_settings(place.settings, **{event: [group(trap + "/nowhere/hook")]})
    run = play(gemini, place, Script(["done"], limit=4))
    assert ((run.requests, run.code, run.out) == (1, 0, "done\n")) == passes


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


def test_a_failed_tool_tells_its_error_but_a_failed_shell_command_does_not(gemini: Client, place: Place) -> None:
    probe = make_probe(place.root)
    write_settings(place.settings, AfterTool=[group(probe)])
    gone = Call("read_file", {"file_path": str(place.project / "gone.txt")})
    play(gemini, place, [gone, shell("exit 3"), "done"], YOLO)
    errors = [heard.payload["tool_response"].get("error") for heard in probe.heard()]
    assert type(errors[0]["message"]) is str
    assert errors[1:] == [None]
