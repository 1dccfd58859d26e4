"""The behaviour of the real Factory Droid that hookctl relies on; expected values are in pins/droid.toml."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from . import facts
from .clients import Client, pins_of
from .droid import Place, converse, play, shell
from .facts import Fact, probe
from .hooks import END, FLAT, GUARDED, NESTED, SPEAK, UNDECIDED, group, handler, say, verdict
from .model_server import Script
from .probe import BLOCK, Probe, make_probe

pytestmark = [pytest.mark.e2e, pytest.mark.full]

OFF = pins_of("droid")["switches"]["off"]
HOME = pins_of("droid")["variables"]["home"]
STOP, GONE = {"Stop": [probe()]}, "python3 /nowhere/hook.py"
BOTH = verdict("block", **json.loads(SPEAK), **json.loads(END), more=1)
_write = facts.claude_like()


def write(path: Path, events: facts.Entries, more: Mapping[str, Any]) -> None:
    """Write settings, or a hooks.json: there the events stand at the root."""
    _write(path, events, more)
    if path.name == "hooks.json":
        path.write_text(json.dumps(json.loads(path.read_text())["hooks"]))


def with_event(event: str, value: Any) -> Any:
    """The settings' text with one more key among the events."""
    return lambda text: text.replace('"hooks": {', f'"hooks": {{"{event}": {json.dumps(value)}, ', 1)


def with_entry(entry: Any) -> Any:
    return with_event("SessionStart", [entry])


FACTS = [
    Fact("nothing caps blocks and a tool call leaves the flag set", {"Stop": [probe("it", *[BLOCK] * 25, "")]},
         replies=Script(["one", shell("true 1"), "two"], limit=40), requests=27, flags="F" + "T" * 25, out="two\n",
         distinct={"message_id": 26, "session_id": 1}),  # no field names the turn: this one is the reply's
    facts.blocks("Stop", say(BLOCK), say(BOTH), say(BLOCK, code=1), say(BLOCK, code=3), say(code=2),
                 say(code=2, errors="on"), GONE, out="done\n"),
    # Nobody gets to read a message that a hook has for a person.
    facts.passes("Stop", [*UNDECIDED, say(END), say("text"), say(BLOCK + "\nnoise"), say(verdict("deny")),
                          say(verdict("block", "")), say(code=1, errors="on"), "/nowhere/hook"],
                 out="done\n", check=lambda came: came.silent()),
    facts.times_out("Stop", [{"timeout": 1}], {"timeout": 30}),
    Fact("all hooks of an event run and any block counts",
         {"Stop": [probe("first", BLOCK, ""), probe("second"), probe("second")]},
         requests=2, flags={"first": "FT", "second": "FFTT"}),
    facts.refuses("PreToolUse", shell, [say(NESTED), say(NESTED, code=1), say(code=2, errors="no"), GONE],
                  [say(FLAT), say(verdict("block")), say(verdict("deny")), say("noise\n" + NESTED),
                   say(code=1, errors="no"), "/nowhere/hook", GUARDED.format("/nowhere/hook.py")],
                  lambda run: run.told("tool")[:3], "Error: no"),
    # Files
    Fact("user and project settings are read and no others", {"Stop": [probe("user")]},
         files={"project/.factory/settings.json": {"Stop": [probe("project")]},
                "project/.factory/settings.local.json": {"Stop": [probe("local")]},
                "project/.claude/settings.json": {"Stop": [probe("claude")]}},
         heard={"user": 1, "project": 1, "local": 0, "claude": 0}),
    Fact("hooks.json hides nothing of the other scope", {"Stop": [probe("user")]},
         files={"project/.factory/settings.json": {"Stop": [probe("hidden")]},
                "project/.factory/hooks.json": {"Stop": [probe("project")]}},
         heard={"user": 1, "project": 1, "hidden": 0}),
    Fact("the home variable replaces the home", STOP, flags="F",  # the model's address lies in the home, too
         environment={HOME: "{place.home}", "HOME": "{place.tmp}"}),
    Fact("a timeout as text loses all hooks", STOP, text=with_entry(group("true", timeout="10")), flags=""),
    Fact("an unknown type loses all hooks", STOP, flags="",
         text=with_entry({"hooks": [{"type": "http", "url": "http://127.0.0.1:9"}]})),
    Fact("an entry in no group loses all hooks", STOP, text=with_entry(handler("true")), flags=""),
    Fact("comments, unknown events and unknown keys are read", {"Stop": [probe("it", BLOCK, "", name="mine")]},
         more={"mine": 1}, requests=2, flags="FT", keeps=True,
         text=lambda text: f"// mine\n{with_event('importedClaudeHooks', ['a'])(with_event('U', [])(text))}/**/\n\n"),
    Fact("a trailing comma loses all hooks", STOP, text=lambda text: text[:-1] + ",}", requests=1, flags=""),
    Fact("a byte order mark loses all hooks", STOP, text=lambda text: "\ufeff" + text, requests=1, flags=""),
    Fact("a file that is cut off loses all hooks", STOP, text=lambda text: text[:-1], requests=1, flags=""),
    Fact("the switch beside the events turns all off", STOP, text=with_event(OFF, True), flags=""),
    Fact("the switch in general settings turns nothing off", STOP, more={"enableHooks": False}, flags="F"),
]  # fmt: skip
test_fact = facts.table("droid", FACTS, write)


def write_settings(path: Path, more: dict[str, Any] | None = None, **events: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**(more or {}), "hooks": events}))


def test_a_new_prompt_begins_with_a_flag_that_is_not_set_and_has_no_event(droid: Client, place: Place) -> None:
    stop, prompt = make_probe(place.root, "stop", answers=(BLOCK, "", BLOCK, "")), make_probe(place.root, "prompt")
    write_settings(place.settings, Stop=[group(stop)], UserPromptSubmit=[group(prompt)])
    run = converse(droid, place, ["done"], "one", "two")
    assert (run.requests, stop.flags(), prompt.heard()) == (4, "FTFT", [])
    assert len({heard.payload["session_id"] for heard in stop.heard()}) == 1


def where_hooks_run(droid: Client, place: Place, probes: dict[str, Probe], cwd: Path | None = None) -> list[str]:
    play(droid, place, ["done"], cwd=cwd)
    return [name for name, probe in probes.items() if probe.heard()]


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


def test_a_repository_s_root_is_the_project_and_the_variable_is_the_start_folder(droid: Client, place: Place) -> None:
    probe, sub = make_probe(place.root), place.project / "sub"
    write_settings(place.project / ".factory" / "settings.json", Stop=[group(probe)])
    sub.mkdir()
    assert where_hooks_run(droid, place, {"project": probe}, cwd=sub) == []
    subprocess.run(["git", "init", "-q", str(place.project)], env=place.environment(), check=True)
    assert where_hooks_run(droid, place, {"project": probe}, cwd=sub) == ["project"]
    assert probe.heard()[0].environment[droid.pins["variables"]["project"]] == str(sub)
