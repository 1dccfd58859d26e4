"""The behaviour of the real Gemini CLI that hookctl relies on; expected values are in pins/gemini.toml."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookctl.hosts.shapes import FAILS_OPEN

from . import facts
from .clients import Client, pins_of
from .dialects import Call
from .facts import Came, Fact, probe
from .gemini import BASE, SKIP, TRUST, YOLO, Place, play, shell
from .hooks import END, FLAT, UNDECIDED, group, say, verdict
from .model_server import Script
from .probe import BLOCK, make_probe

pytestmark = [pytest.mark.e2e, pytest.mark.full]

NAMES = pins_of("gemini")["variables"]
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


def tools_are_told_neither(came: Came) -> None:
    (heard,) = came.probes["it"].heard()
    assert heard.environment[NAMES["session"]] == heard.payload["session_id"]
    tools = {line.partition("=")[0] for line in (came.place.project / "environment").read_text().splitlines()}
    assert tools.isdisjoint({NAMES["session"], NAMES["project"]}) and "GEMINI_CLI" in tools


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
    Fact("hooks get their own environment, session and project, and tools neither",
         {"AfterAgent": [probe("it", env={"MAX_STOP_BLOCKS": "7"})]}, environment={"MAX_STOP_BLOCKS": "3"},
         replies=[shell("env > environment"), "done"], options=(YOLO,),
         variables={"MAX_STOP_BLOCKS": "7", NAMES["project"]: "{place.project}"}, check=tools_are_told_neither),
    Fact("a user hook needs no more than skip-trust", STOP, options=(SKIP,), environment=UNTRUSTED, requests=1,
         flags="F"),
]  # fmt: skip
test_fact = facts.table("gemini", FACTS, facts.claude_like(BASE))


def write_settings(path: Path, more: dict[str, Any] | None = None, **events: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**BASE, **(more or {}), "hooks": events}))


@pytest.mark.parametrize("event", ["AfterAgent", "BeforeAgent"])
@pytest.mark.parametrize(("trap", "passes"), [("", False), (FAILS_OPEN, True)], ids=["bare", "trap"])
def test_a_gone_program_lets_a_turn_pass_behind_the_trap_alone(
    gemini: Client, place: Place, event: str, trap: str, passes: bool
) -> None:
    write_settings(place.settings, **{event: [group(trap + "/nowhere/hook")]})
    run = play(gemini, place, Script(["done"], limit=4))
    assert ((run.requests, run.code, run.out) == (1, 0, "done\n")) == passes


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
