"""The behaviour of the real Pi that hookctl relies on; expected values are in pins/pi.toml."""

import json
from pathlib import Path
from typing import Any

import pytest

from .clients import Client
from .model_server import Script
from .pi import TRUST, Place, play, shell

pytestmark = [pytest.mark.e2e, pytest.mark.full]

# Writes down whatever its handlers are told under the name NAME, and does what ACTION says.
PROBE = """
import { appendFileSync } from "node:fs"
const put = (event, told) => appendFileSync(LOG, JSON.stringify({ name: NAME, event, told }) + "\\n")
export default (pi) => {
  put("loaded", { environment: process.env })
  let calls = 0
  for (const name of EVENTS) {
    pi.on(name, async (event, context) => {
      const { context: preview, ...told } = event
      const { hasUI, cwd, sessionManager } = context
      const session = { id: sessionManager.getSessionId(), hasUI, cwd }
      put(name, { ...told, session, leaf: sessionManager.getEntry(sessionManager.getLeafId()) })
      ACTION
    })
  }
}
"""
EVENTS = ["session_start", "input", "tool_call", "tool_result", "agent_before_settle", "session_shutdown"]
GO_ON = """
const message = { type: "custom_message", customType: "probe", content: `go on ${calls}`, display: true }
if (name === "agent_before_settle" && calls++ < LIMIT) return { entries: [...event.entries, message], continue: true }
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.make(tmp_path / "place")


def write_probe(place: Place, action: str = "", *, name: str = "probe", file: Path | None = None) -> None:
    words = {"LOG": json.dumps(str(place.root / "log")), "NAME": json.dumps(name), "EVENTS": json.dumps(EVENTS)}
    text = PROBE.replace("ACTION", action)
    for word, value in words.items():
        text = text.replace(word, value)
    path = file or place.settings
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def log(place: Place) -> list[dict[str, Any]]:
    path = place.root / "log"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def told(place: Place, event: str) -> list[dict[str, Any]]:
    """What the handlers of an event were given, call by call."""
    return [entry["told"] for entry in log(place) if entry["event"] == event]


def loaded(place: Place) -> list[str]:
    return sorted(entry["name"] for entry in log(place) if entry["event"] == "loaded")


def test_every_event_tells_what_is_pinned(pi: Client, place: Place) -> None:
    write_probe(place)
    play(pi, place, [shell("true"), "done"])
    assert [entry["event"] for entry in log(place)] == ["loaded", *EVENTS]
    for event, fields in pi.pins["told"].items():
        (given,) = told(place, event)
        assert set(fields) <= set(given), event
    (start,) = told(place, "session_start")
    assert (start["session"]["hasUI"], start["session"]["cwd"]) == (False, str(place.project))
    environment = told(place, "loaded")[0]["environment"]
    assert {name: environment[name] for name in pi.pins["variables"]["marks"]} == pi.pins["variables"]["marks"]


def test_a_run_goes_on_as_often_as_it_is_told_to(pi: Client, place: Place) -> None:
    limit = 12
    write_probe(place, GO_ON.replace("LIMIT", str(limit)))
    run = play(pi, place, Script(["done"], limit=30))
    assert (run.code, run.requests) == (0, limit + 1)
    texts = [part[0]["text"] for part in run.told("user")]
    assert texts == ["begin", *(f"go on {number}" for number in range(limit))]
    assert len(told(place, "input")) == 1


def test_without_anything_new_for_the_model_it_does_not_go_on(pi: Client, place: Place) -> None:
    write_probe(place, "if (name === 'agent_before_settle') return { continue: true }")
    run = play(pi, place, ["done"])
    assert run.requests == 1
    assert "requested continuation without runnable model context" in run.errors


def test_which_extensions_are_loaded(pi: Client, place: Place) -> None:
    below, folder = place.project / "below", place.settings.parent
    below.mkdir()
    files = {
        "user": folder / "a.js",
        "typescript": folder / "b.ts",
        "folder": folder / "c" / "index.js",
        "project": below / ".pi" / "extensions" / "a.js",
    }
    others = {
        "too deep": folder / "d" / "e" / "index.js",
        "another suffix": folder / "f.mjs",
        "above": place.project / ".pi" / "extensions" / "a.js",
    }
    for name, file in {**files, **others}.items():
        write_probe(place, name=name, file=file)
    assert play(pi, place, ["done"], TRUST, cwd=below).code == 0
    assert loaded(place) == sorted(files)


def test_the_operator_s_own_variable_replaces_the_folder_of_settings(pi: Client, place: Place) -> None:
    elsewhere = place.root / "elsewhere"
    write_probe(place, name="usual")
    write_probe(place, name="elsewhere", file=elsewhere / "extensions" / "a.js")
    # The model of the tests is not there: only what is loaded counts.
    play(pi, place, ["done"], environment={pi.pins["variables"]["config_folder"]: str(elsewhere)})
    assert set(loaded(place)) == {"elsewhere"}


BROKEN = ["export default (pi) => {", "export default 5", "export default () => { throw new Error('no') }", ""]


@pytest.mark.parametrize("text", BROKEN, ids=["syntax", "a number", "an error", "empty"])
def test_it_does_not_start_with_an_extension_that_it_cannot_load(pi: Client, place: Place, text: str) -> None:
    (place.settings.parent / "broken.js").write_text(text)
    run = play(pi, place, ["done"])
    assert (run.requests, run.code) == (0, pi.pins["exit"]["broken_extension"])
    assert "Failed to load extension" in run.errors
