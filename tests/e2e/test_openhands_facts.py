"""The behaviour of the real OpenHands SDK that hookctl relies on; expected values are in pins/openhands.toml."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .clients import Client
from .hooks import GUARDED, group, in_turn, lost_fields, say, verdict
from .model_server import Script
from .openhands import QUIET, Place, play, shell
from .probe import Probe, make_probe

pytestmark = [pytest.mark.e2e, pytest.mark.full]


def write_hooks(path: Path, hooks: dict[str, Probe | str], **more: Any) -> None:
    """Write a hooks.json with one hook an event."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({event: [group(hook, **more)] for event, hook in hooks.items()}))


def test_the_client_is_the_pinned_version(openhands: Client, place: Place) -> None:
    code = "from importlib.metadata import version; print(version('openhands-sdk'), version('openhands-tools'))"
    done = subprocess.run([*openhands.command, "-I", "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == [openhands.version] * 2


def test_every_event_brings_the_pinned_fields_and_variables(openhands: Client, place: Place) -> None:
    pins, names = openhands.pins, dict(openhands.pins["payload"]["names"])
    probes = {event: make_probe(place.root, event) for event in names}
    hooks: dict[str, Probe | str] = dict(probes)
    (place.project / "run").write_text(probes["stop"].command)
    hooks["stop"] = f'sh "${pins["variables"]["project"]}"/run'
    (place.project / "start").write_text(probes["session_start"].command)
    hooks["session_start"] = "sh start"  # a hook starts where the agent does
    write_hooks(place.settings, hooks)
    run = play(openhands, place, [shell("true 1"), "done"])
    assert (run.requests, len(run.log), run.code, run.status) == (2, 2, 0, "finished")
    assert lost_fields(dict.fromkeys(names, pins["payload"]["fields"]), probes) == {}
    heard = {event: probe.heard()[0] for event, probe in probes.items()}
    assert {event: one.payload["event_type"] for event, one in heard.items()} == names
    assert len({one.payload["session_id"] for one in heard.values()}) == 1
    for event, one in heard.items():
        values = {name: one.environment[pins["variables"][name]] for name in ("project", "session", "event")}
        assert values == {
            "project": str(place.project),
            "session": one.payload["session_id"],
            "event": one.payload["event_type"],
        }, event
        assert one.payload["working_dir"] == str(place.project)
    assert heard["user_prompt_submit"].payload["message"] == "begin"
    call = heard["post_tool_use"].payload
    assert (call["tool_name"], call["tool_input"]["command"]) == ("terminal", "true 1")


def test_a_hook_that_always_denies_is_honoured_up_to_the_last_step(openhands: Client, place: Place) -> None:
    stop, prompt = make_probe(place.root, "stop", (verdict("deny", "go on"),)), make_probe(place.root, "prompt")
    write_hooks(place.settings, {"stop": stop, "user_prompt_submit": prompt})
    run = play(openhands, place, Script(["done"], limit=25), environment={"STEPS": "20"})
    assert (run.requests, len(stop.heard()), run.status) == (20, 19, "finished")
    assert run.told("user") == ["begin"] + [openhands.pins["stop"]["feedback"] + "go on"] * 19
    assert len(prompt.heard()) == 1, "the feedback is no prompt"


def test_what_denies_a_stop_and_what_does_not(openhands: Client, place: Place) -> None:
    denied = [say("", 2, "no"), say('{"continue": false}'), say(verdict("deny"), 1), say(verdict("deny"), 3)]
    allowed = [
        say(verdict("block")),
        say("note: " + verdict("deny")),
        say("", 1, "no"),
        "sleep 5",
        GUARDED.format("/no"),
    ]
    hook = in_turn(place.root / "turns", *denied, *allowed)
    write_hooks(place.settings, {"stop": hook}, timeout=2)
    prompts = [f"prompt {number}" for number in range(2, len(allowed) + 1)]
    run = play(openhands, place, ["done"], *prompts)
    assert run.requests == len(denied) + len(allowed)
    assert [text for text in run.told("user") if text.startswith("prompt")] == prompts


def test_a_project_s_file_hides_the_user_s_and_counts_only_where_the_agent_works(
    openhands: Client, place: Place
) -> None:
    usual, elsewhere, project = (make_probe(place.root, name) for name in ("usual", "elsewhere", "project"))
    write_hooks(place.settings, {"stop": usual})
    write_hooks(place.root / "elsewhere" / "hooks.json", {"stop": elsewhere})
    file = place.project / ".openhands" / "hooks.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"hooks": {"Stop": [group(project)]}}))  # the other form
    below = place.project / "below"
    below.mkdir()
    variable = {openhands.pins["variables"]["config_folder"]: str(place.root / "elsewhere")}

    def heard(**where: Any) -> list[int]:
        before = [len(probe.heard()) for probe in (usual, elsewhere, project)]
        assert play(openhands, place, ["done"], **where).requests == 1
        return [len(probe.heard()) - count for probe, count in zip((usual, elsewhere, project), before, strict=True)]

    assert heard(cwd=below) == [1, 0, 0]
    assert heard(cwd=below, environment=variable) == [0, 1, 0]
    assert heard(environment=variable) == [0, 0, 1]


_LOAD = """\
import json, sys
from openhands.sdk.hooks import HookConfig
said = {}
for path in sys.argv[1:]:
    try:
        said[path] = len(HookConfig.load(path).stop)
    except Exception as error:
        said[path] = type(error).__name__
print(json.dumps(said))
"""


def test_how_strict_it_is_with_its_file(openhands: Client, place: Place) -> None:
    one = json.dumps([group("true")])
    files = {
        "as hookctl writes it": (f'{{"stop": {one}}}', 1),
        "wrapped": (f'{{"hooks": {{"Stop": {one}}}}}', 1),
        "a key in an entry": (f'{{"stop": {json.dumps([{**group("true", mine=1), "mine": 1}])}}}', 1),
        "a key beside the wrapper": (f'{{"hooks": {{"stop": {one}}}, "mine": 1}}', 1),
        "timeout as text": (f'{{"stop": {json.dumps([group("true", timeout="10")])}}}', 1),
        "timeout with a fraction": (f'{{"stop": {json.dumps([group("true", timeout=1.5)])}}}', "ValidationError"),
        "an unknown event": (f'{{"stop": {one}, "subagent_stop": []}}', "ValidationError"),
        "an unknown event, wrapped": (f'{{"hooks": {{"Stop": {one}, "SubagentStop": []}}}}', "ValidationError"),
        "an unknown key": (f'{{"stop": {one}, "description": "mine"}}', "ValidationError"),
        "an event twice": (f'{{"stop": {one}, "Stop": {one}}}', "ValidationError"),
        "a comment": (f'{{"stop": {one} // mine\n}}', "JSONDecodeError"),
        "a trailing comma": (f'{{"stop": {one},}}', "JSONDecodeError"),
        "a byte order mark": (f'\ufeff{{"stop": {one}}}', "JSONDecodeError"),
        "empty": ("", "JSONDecodeError"),
    }
    paths = {}
    for number, (name, (text, _)) in enumerate(files.items()):
        paths[name] = place.root / f"{number}.json"
        paths[name].write_text(text)
    words = [*openhands.command, "-I", "-c", _LOAD, *map(str, paths.values())]
    environment = {**place.environment(), **QUIET}
    done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert {name: said[str(path)] for name, path in paths.items()} == {name: want for name, (_, want) in files.items()}
