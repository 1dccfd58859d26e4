"""The behaviour of the real OpenCode that hookctl relies on; expected values are in pins/opencode.toml."""

import json
from pathlib import Path
from typing import Any

import pytest

from .clients import Client
from .opencode import Place, play, play_one_turn, shell

pytestmark = [pytest.mark.e2e, pytest.mark.full]

# Writes down whatever it is told under the name NAME, and does what ACTION says of it.
PROBE = """
import { appendFileSync } from "node:fs"
const put = (event, ...told) => appendFileSync(LOG, JSON.stringify({ name: NAME, event, told }) + "\\n")
export const Probe = async (input) => {
  const { client } = input
  put("loaded", { directory: input.directory, worktree: input.worktree })
  let calls = 0
  const told = (event) => async (...given) => {
    put(event, ...given)
    const [input, output] = given
    ACTION
  }
  const names = ["chat.message", "tool.execute.before", "tool.execute.after", "shell.env", "dispose"]
  const hooks = Object.fromEntries(names.map((name) => [name, told(name)]))
  return { ...hooks, event: ({ event }) => told(event.type)(event.properties) }
}
"""


def log_of(place: Place) -> Path:
    return place.root / "told.jsonl"


def write_probe(place: Place, action: str = "", *, name: str = "probe", file: Path | None = None) -> None:
    """Write a plugin that listens; the operator's own file unless told otherwise."""
    file = file or place.settings
    file.parent.mkdir(parents=True, exist_ok=True)
    text = PROBE.replace("ACTION", action).replace("LOG", json.dumps(str(log_of(place))))
    file.write_text(text.replace("NAME", json.dumps(name)))


def told(place: Place, event: str) -> list[list[Any]]:
    """What the plugins were told of an event, call by call."""
    lines = map(json.loads, log_of(place).read_text().splitlines())
    return [line["told"] for line in lines if line["event"] == event]


def loaded(place: Place) -> list[str]:
    """The names of the plugins that were loaded."""
    lines = map(json.loads, log_of(place).read_text().splitlines())
    return sorted(line["name"] for line in lines if line["event"] == "loaded")


def replies(place: Place) -> list[dict[str, Any]]:
    """The last word about each reply of the model, in their order."""
    infos = [given[0]["info"] for given in told(place, "message.updated")]
    return list({info["id"]: info for info in infos if info["role"] == "assistant"}.values())


def test_a_turn_tells_plugins_the_pinned_fields(opencode: Client, place: Place) -> None:
    write_probe(place)
    run = play(opencode, place, [shell("true 1"), "done"])
    assert (run.requests, run.count("side"), len(run.log)) == (2, 1, 3)
    pins = opencode.pins["told"]
    for event, place_of in pins.items():
        for number, fields in enumerate(place_of):
            assert set(fields) <= set(told(place, event)[0][number]), event
    session = told(place, "session.created")[0][0]["info"]["id"]
    prompt, parts = (told(place, "chat.message")[0][1][name] for name in ("message", "parts"))
    assert [(part["type"], part["text"]) for part in parts] == [("text", "begin")]
    assert told(place, "session.idle") == [[{"sessionID": session}]]
    assert told(place, "tool.execute.before")[0][1]["args"]["command"] == "true 1"
    first, last = replies(place)
    assert set(opencode.pins["reply"]["fields"]) <= set(last)
    assert [reply["finish"] for reply in (first, last)] == [opencode.pins["reply"]["calls"], "stop"]
    assert first["parentID"] == last["parentID"] == prompt["id"]


def test_every_folder_of_plugins_is_read_also_above_the_start_folder(opencode: Client, place: Place) -> None:
    below = place.project / "below"
    below.mkdir()
    (place.project / ".git").mkdir()
    config = place.settings.parents[1]
    files = {
        "user": config / "plugin" / "a.js",
        "user, plugins": config / "plugins" / "a.js",
        "home": place.home / ".opencode" / "plugin" / "a.js",
        "project": place.project / ".opencode" / "plugin" / "a.js",
        "project, plugins": place.project / ".opencode" / "plugins" / "a.js",
        "below": below / ".opencode" / "plugin" / "a.js",
    }
    for name, file in files.items():
        write_probe(place, name=name, file=file)
    assert play_one_turn(opencode, place, ["done"], cwd=below).code == 0
    assert loaded(place) == sorted(files)


def test_the_operator_s_own_variable_replaces_the_folder_of_settings(opencode: Client, place: Place) -> None:
    elsewhere = place.root / "elsewhere"
    write_probe(place, name="usual")
    write_probe(place, name="elsewhere", file=elsewhere / "opencode" / "plugin" / "a.js")
    play_one_turn(opencode, place, ["done"], environment={"XDG_CONFIG_HOME": str(elsewhere)})
    assert loaded(place) == ["elsewhere"]


def test_a_plugin_that_breaks_takes_no_other_with_it(opencode: Client, place: Place) -> None:
    write_probe(place)
    broken = {
        "a-syntax.js": "export const A = async () => {",
        "b-throws.js": "export const B = async () => { throw new Error('no') }",
        "c-number.js": "export const C = 42",
        "d-empty.js": "",
    }
    for name, text in broken.items():
        (place.settings.parent / name).write_text(text)
    run = play_one_turn(opencode, place, ["done"])
    assert (run.requests, run.code, loaded(place)) == (1, 0, ["probe"])
