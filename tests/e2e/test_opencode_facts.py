"""The behaviour of the real OpenCode that hookctl relies on; expected values are in pins/opencode.toml."""

import json
from pathlib import Path
from typing import Any

import pytest

from .clients import Client
from .model_server import Script
from .opencode import Place, play, play_one_turn, shell, step, subagent

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


GO_ON = """if (event === "session.idle" && calls++ < COUNT) {
  const parts = [{ type: "text", text: "go on", metadata: { hookctl: true } }]
  await client.session.promptAsync({ path: { id: input.sessionID }, body: { parts } })
}"""


def test_a_prompt_of_a_plugin_goes_on_with_the_default_agent_when_the_session_is_served(
    opencode: Client, place: Place
) -> None:
    write_probe(place, GO_ON.replace("COUNT", "20"))
    run = play(opencode, place, Script(["done"], limit=25), prompt=step("prompt", text="begin", agent="plan"))
    assert (run.requests, run.count("side")) == (21, 1)
    assert [prompt["agent"] for prompt in run.prompts] == ["plan"] + ["build"] * 20
    assert len(told(place, "session.idle")) == 21
    ours = [part for given in told(place, "chat.message") for part in given[1]["parts"] if "metadata" in part]
    assert [part["metadata"] for part in ours] == [{"hookctl": True}] * 20


def test_one_turn_ends_at_idle_and_waits_for_its_plugins(opencode: Client, place: Place) -> None:
    write_probe(place, """if (event === "dispose") { await new Promise((r) => setTimeout(r, 1000)); put("left") }""")
    run = play_one_turn(opencode, place, ["done"])
    assert (run.requests, run.code, run.out.strip()) == (1, 0, "done")
    # While they are waited for, it may load them a second time.
    assert told(place, "loaded")[0] == [{"directory": str(place.project), "worktree": "/"}]
    assert len(told(place, "session.idle")) == len(told(place, "left")) == 1


def test_an_error_before_a_tool_call_is_its_result_and_the_agent_goes_on(opencode: Client, place: Place) -> None:
    write_probe(place, """if (event === "tool.execute.before") throw new Error("not this one")""")
    run = play(opencode, place, [shell("touch marker"), "done"])
    assert (run.requests, run.told("tool")) == (2, ["not this one"])
    assert not (place.project / "marker").exists()
    assert told(place, "tool.execute.after") == []


def test_an_abort_a_shell_command_and_a_compaction_end_in_idle_too(opencode: Client, place: Place) -> None:
    write_probe(place)
    abort = step("abort", text="second")
    play(opencode, place, ["one", shell("sleep 30"), "three"], abort, step("shell", text="true"), step("compact"))
    turn, aborted, command, compacted = replies(place)
    assert len(told(place, "session.idle")) > 4, "an abort ends in two"
    assert (turn["finish"], turn.get("error"), turn.get("summary")) == ("stop", None, None)
    assert aborted["error"]["name"] == opencode.pins["reply"]["aborted"]
    assert "finish" not in command
    assert (compacted["finish"], compacted["summary"]) == ("stop", True)


def test_a_subagent_is_a_session_with_a_parent_and_goes_idle_by_itself(opencode: Client, place: Place) -> None:
    write_probe(place)
    run = play(opencode, place, Script([subagent("MARKER"), "done"], sub_marker="MARKER"))
    assert (run.requests, run.count("sub")) == (2, 1)
    main, sub = (given[0]["info"] for given in told(place, "session.created"))
    assert ("parentID" in main, sub["parentID"]) == (False, main["id"])
    assert [given[0]["sessionID"] for given in told(place, "session.idle")] == [sub["id"], main["id"]]


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
