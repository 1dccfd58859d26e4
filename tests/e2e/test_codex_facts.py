"""The behaviour of the real Codex that hookctl relies on; expected values are in pins/codex.toml."""

import json
from pathlib import Path
from typing import Any

import pytest

from . import facts
from .clients import Client
from .codex import BYPASS, YOLO, Place, list_hooks, play, shell, trust_project
from .facts import Fact, probe
from .hooks import END, FLAT, GUARDED, NESTED, group, say, verdict
from .model_server import Script
from .probe import BLOCK, make_probe

pytestmark = [pytest.mark.e2e, pytest.mark.full]

TOLD = "Command blocked by PreToolUse hook: no."
STOP = {"Stop": [probe()]}
ENDS = {  # how a hook that lets the turn end has ended itself
    say(): "Completed", say("{}"): "Completed", GUARDED.format("/nowhere/hook.py"): "Completed",
    say('{"systemMessage": "let go"}'): "Completed", say(verdict("block", more=1)): "Failed",
    say(verdict("block", "")): "Failed", say(verdict("deny")): "Failed", say("noise\n" + BLOCK): "Failed",
    say("text"): "Failed", say(BLOCK, code=1): "Failed", say(BLOCK, code=3): "Failed", say(code=2): "Failed",
    say(code=1, errors="on"): "Failed", say(code=127, errors="on"): "Failed",
}  # fmt: skip
LOST = {
    "a comment": lambda text: "// mine\n" + text,
    "a byte order mark": lambda text: "\ufeff" + text,
    "a trailing comma": lambda text: text[:-1] + ",}",
    "a timeout that is a string": lambda text: text.replace('"command":', '"timeout": "10", "command":'),
    "nothing": lambda text: "",
    "a root key": lambda text: text.replace("{", '{"$schema": "x", ', 1),
}


def refused(run: Any) -> list[str]:
    """What the model was told of the first three calls, as far as it is ours."""
    outputs = [item["output"] for item in run.log[-1].request.body["input"] if "output" in item]
    return [output[: len(TOLD)] for output in outputs[:3]]


FACTS = [
    Fact("nothing caps a hook's blocks", {"Stop": [probe("it", *[BLOCK] * 30, "")]}, options=(BYPASS,),
         replies=Script(["done"], limit=40), requests=31, flags="F" + "T" * 30, distinct={"turn_id": 1}),
    Fact("a tool call leaves the flag and the turn as they were", {"Stop": [probe("it", BLOCK, BLOCK, "")]},
         replies=["one", shell("true 1"), "two", "three"], options=(BYPASS, YOLO), requests=4, flags="FTT",
         distinct={"turn_id": 1}),
    # In `codex exec` nobody gets to read a hook's message.
    facts.passes("Stop", [*ENDS], options=(BYPASS,), out="done\n", unsaid=["let go"],
                 check=lambda came: came.run.hooks("Stop") == list(ENDS.values())),
    facts.blocks_for_ever("Stop", "exit code 2 with a reason on stderr blocks", say(code=2, errors="go on"), BYPASS),
    facts.blocks_for_ever("Stop", "a program that is gone blocks", "python3 /nowhere/hook.py", BYPASS),
    Fact("a hook that ends the turn beats another hook's block", {"Stop": [say(BLOCK), say(END)]}, options=(BYPASS,),
         requests=1, out="done\n", check=lambda came: came.run.hooks("Stop") == ["Blocked", "Stopped"]),
    facts.times_out("Stop", [{"timeout": 1}], {"timeout": 30}, options=(BYPASS,)),
    Fact("the same command twice runs twice", {"Stop": [probe(), probe()]}, options=(BYPASS,), flags="FF"),
    facts.refuses("PreToolUse", shell, [say(NESTED), say(verdict("block", "no")), say(code=2, errors="no")],
                  [say(NESTED.replace("{", '{"more": 1, ', 1)), say(FLAT), say(verdict("deny", "no"))],
                  refused, TOLD, options=(BYPASS, YOLO)),
    *(Fact(f"{name} loses all hooks of the file", STOP, text=text, options=(BYPASS,), requests=1, flags="")
      for name, text in LOST.items()),
]  # fmt: skip
test_fact = facts.table("codex", FACTS, facts.claude_like())


def write_hooks(path: Path, **events: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"hooks": events}))


def test_a_config_toml_that_cannot_be_read_keeps_codex_from_starting(codex: Client, place: Place) -> None:
    place.config.write_text("[hooks\n")
    run = play(codex, place, ["done"])
    assert (run.code, run.requests) == (1, 0)


def test_hooks_of_both_files_of_a_folder_are_merged_with_a_warning(codex: Client, place: Place) -> None:
    here, there = make_probe(place.root, "here"), make_probe(place.root, "there")
    write_hooks(place.settings, Stop=[group(here)])
    place.config.write_text(f'[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "{there.command}"\n')
    run = play(codex, place, ["done"], BYPASS)
    assert (here.flags(), there.flags()) == ("F", "F")
    assert "prefer a single representation" in run.errors
    assert [Path(hook.key.partition(":")[0]).name for hook in list_hooks(codex, place)] == ["hooks.json", "config.toml"]


def test_project_hooks_are_those_of_all_folders_from_the_repository_s_root_down(codex: Client, place: Place) -> None:
    folders = {name: place.project / name for name in (".", "sub", "sub/deep")}
    probes = {name: make_probe(place.root, name.replace("/", "-").replace(".", "root")) for name in folders}
    for name, folder in folders.items():
        write_hooks(folder / ".codex" / "hooks.json", Stop=[group(probes[name])])
    trust_project(place, place.project)
    play(codex, place, ["done"], BYPASS, cwd=folders["sub"])
    assert [probes[name].flags() for name in folders] == ["F", "F", ""]
    # A hook starts in the folder that the session began in, whichever folder's file has it.
    heard = [probes[name].heard()[0] for name in (".", "sub")]
    assert {call.environment["PWD"] for call in heard} == {call.payload["cwd"] for call in heard}
    assert {call.payload["cwd"] for call in heard} == {str(folders["sub"])}


def test_outside_a_repository_only_the_start_folder_s_hooks_count(codex: Client, place: Place) -> None:
    (place.project / ".git" / "HEAD").unlink()
    write_hooks(place.project / ".codex" / "hooks.json", Stop=[group("true")])
    (place.project / "sub").mkdir()
    trust_project(place, place.project)
    assert len(list_hooks(codex, place)) == 1
    assert list_hooks(codex, place, place.project / "sub") == []


def test_project_hooks_need_a_trusted_project(codex: Client, place: Place) -> None:
    probe = make_probe(place.root)
    write_hooks(place.project / ".codex" / "hooks.json", Stop=[group(probe)])
    run = play(codex, place, ["done"], BYPASS)
    assert (run.requests, probe.flags()) == (1, "")
    assert "Untrusted project-local configuration is disabled" in run.errors
    play(codex, place, ["done"], BYPASS, "--trust")
    assert probe.flags() == "F"
    assert place.config.read_text() == f'[projects."{place.project}"]\ntrust_level = "trusted"\n'
