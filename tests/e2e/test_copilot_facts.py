"""The behaviour of the real Copilot CLI that hookctl relies on; expected values are in pins/copilot.toml."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from . import facts
from .clients import Client, pins_of
from .copilot import TRUST, Place, play, shell
from .dialects import Call
from .facts import Fact, probe
from .hooks import END, FLAT, GUARDED, NESTED, SPEAK, UNDECIDED, group, handler, lost_fields, say, verdict
from .model_server import Script
from .probe import BLOCK, Probe, make_probe

pytestmark = [pytest.mark.e2e, pytest.mark.full]

EVERYTHING = {"COPILOT_ALLOW_ALL": "true"}
CAP, NAMES = pins_of("copilot")["cap"]["default"], pins_of("copilot")["variables"]
GONE = "python3 /nowhere/hook.py"
BLOCKED = {"agentStop": [probe("it", BLOCK)]}
BOTH = verdict("block", **json.loads(SPEAK), **json.loads(END), more=1)
NESTED_STOP = json.dumps({"hookSpecificOutput": {"hookEventName": "Stop", "decision": "block", "reason": "on"}})


def write(path: Path, events: facts.Entries, more: Mapping[str, Any]) -> None:
    entries = {event: [entry(hook, **fields) for hook, fields in hooks] for event, hooks in events.items()}
    path.write_text(json.dumps({"version": 1, "hooks": entries}))


FACTS = [
    Fact("8 blocks in a row are honoured and the 9th is overridden", BLOCKED,
         environment=dict.fromkeys(("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "COPILOT_STOP_HOOK_BLOCK_CAP"), "20"),
         requests=CAP + 1, flags="F" + "T" * CAP),
    Fact("a tool call leaves the cap's count and the flag as they were", BLOCKED,
         replies=Script([reply for n in range(CAP + 1) for reply in (f"text {n}", shell(f"true {n}"))], limit=30),
         requests=2 * CAP + 1, flags="F" + "T" * CAP),
    facts.blocks("agentStop", say(BLOCK), say(BOTH), say(BLOCK, code=2), unsaid=["let go"]),
    # Nobody gets to read a message that a hook has for a person.
    facts.passes("agentStop", [*UNDECIDED, say(END), say("text"), say(BLOCK + "\nnoise"), say(verdict("deny")),
                               say(verdict("block", "")), say(NESTED_STOP), say(BLOCK, code=1), say(BLOCK, code=3),
                               say(code=2, errors="on"), GONE, "/nowhere/hook"],
                 out="done\n\n", unsaid=["let go", "enough"]),
    # It has two names.
    facts.times_out("agentStop", [{"timeoutSec": 1}, {"timeoutSec": None, "timeout": 1}], {"timeoutSec": 30}),
    facts.refuses("preToolUse", shell, [say(FLAT), say(code=2, errors="no"), say(code=1), GONE, "/nowhere/hook"],
                  [say(NESTED), say(verdict("block")), say(verdict("deny")), say("noise\n" + FLAT),
                   GUARDED.format("/nowhere/hook.py")],
                  lambda run: run.told("tool")[:1], "Denied by preToolUse hook: no"),
    Fact("a key with a capital letter takes both forms of a refusal", {"PreToolUse": [(say(NESTED), say(FLAT))]},
         replies=[*(shell(f"echo > {number}") for number in range(3)), "done"],
         check=lambda came: came.made() == ["2"]),
    Fact("an event of another spelling is none",
         {"AgentStop": [probe()], "stop": [probe()], "UserPromptSubmitted": [probe()]}, requests=1, heard={"it": 0}),
    # Its keys are kept from hooks, and the session is told in the payload alone.
    Fact("hooks get the entry's own environment as it stands and tools the session",
         {"agentStop": [probe("it", env={"MAX_STOP_BLOCKS": "5", "LITERAL": "in $HOME"})]},
         replies=[shell(f"printenv {NAMES['session']} > session"), "done"],
         environment={"OF_THE_CLIENT": "1", "GITHUB_TOKEN": "made-up"},
         variables={"MAX_STOP_BLOCKS": "5", "LITERAL": "in $HOME", "OF_THE_CLIENT": "1", NAMES["itself"]: "1",
                    NAMES["project"]: "{place.project}", "GITHUB_TOKEN": None, "COPILOT_PROVIDER_API_KEY": None,
                    NAMES["session"]: None},
         check=lambda came: (came.place.project / "session").read_text().strip()
         == came.probes["it"].heard()[0].payload["sessionId"]),
]  # fmt: skip
test_fact = facts.table("copilot", FACTS, write)


def entry(hook: Probe | str, **more: Any) -> dict[str, Any]:
    fields = {"timeoutSec": 10, **more}
    return handler(hook, **{name: value for name, value in fields.items() if value is not None})


def write_hooks(path: Path, **events: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"version": 1, "hooks": events}))


def repository_hooks(folder: Path) -> Path:
    return folder / ".github" / "hooks" / "hookctl.json"


@pytest.mark.parametrize("capital", [False, True], ids=["small", "capital"])
def test_the_spelling_of_an_event_s_key_decides_how_its_payload_is_spelled(
    copilot: Client, place: Place, capital: bool
) -> None:
    pinned = {event: fields for event, fields in copilot.pins["payload"].items() if event[0].isupper() == capital}
    probes = {event: make_probe(place.root, event) for event in pinned}
    write_hooks(place.settings, **{event: [entry(probe)] for event, probe in probes.items()})
    play(copilot, place, [shell("true 1"), "done"])
    assert {event: len(probe.heard()) for event, probe in probes.items()} == dict.fromkeys(pinned, 1)
    assert lost_fields(pinned, probes) == {}
    tool = copilot.pins["shell_tool"]
    if capital:
        assert probes["PreToolUse"].heard()[0].payload["tool_name"] == tool["hook_name"]
    else:
        payload = probes["preToolUse"].heard()[0].payload
        assert (payload["toolName"], payload["toolArgs"]["command"]) == (tool["tool"], "true 1")


def test_the_same_command_in_two_files_runs_twice(copilot: Client, place: Place) -> None:
    probe = make_probe(place.root, answers=(BLOCK, BLOCK, BLOCK, BLOCK, ""))
    write_hooks(repository_hooks(place.project), Stop=[entry(probe)])
    write_hooks(place.project / ".claude" / "settings.json", Stop=[group(probe)])
    run = play(copilot, place, ["done"], TRUST)
    assert (run.requests, probe.flags()) == (3, "FFTTTT")
    payloads = [heard.payload for heard in probe.heard()]
    assert payloads[::2] == payloads[1::2]


def test_the_way_of_trusting_decides_which_folder_s_hooks_run_below_a_repository_s_root(
    copilot: Client, place: Place
) -> None:
    variable = copilot.pins["variables"]["project"]
    folders = {"root": place.project, "sub": place.project / "sub"}
    probes = {name: make_probe(place.root, name) for name in folders}
    for name, folder in folders.items():
        write_hooks(repository_hooks(folder), agentStop=[entry(probes[name])])
    play(copilot, place, ["done"], TRUST, cwd=folders["sub"])
    assert [name for name, probe in probes.items() if probe.heard()] == ["sub"]
    play(copilot, place, ["done"], cwd=folders["sub"], environment=EVERYTHING)
    assert {name: len(probe.heard()) for name, probe in probes.items()} == {"root": 1, "sub": 1}
    assert {name: probe.heard()[0].environment[variable] for name, probe in probes.items()} == {
        name: str(folder) for name, folder in folders.items()
    }


def test_these_lose_the_hooks_of_their_own_file_alone(copilot: Client, place: Place) -> None:
    changes: dict[str, Callable[[str], str]] = {
        "a-comment": lambda text: "// mine\n" + text,
        "a-byte-order-mark": lambda text: "\ufeff" + text,
        "a-trailing-comma": lambda text: text[:-1] + ",}",
        "nothing": lambda text: "",
        "version-2": lambda text: text.replace('"version": 1', '"version": 2'),
        "a-timeout-as-text": lambda text: text.replace('"timeoutSec": 10', '"timeoutSec": "10"'),
        "a-switch": lambda text: text[:-1] + ', "disableAllHooks": true}',
        "no-change": lambda text: text,
    }
    probes = {name: make_probe(place.root, name) for name in changes}
    files = {name: place.settings.with_name(f"{name}.json") for name in changes}
    for name, change in changes.items():
        write_hooks(files[name], agentStop=[entry(probes[name])])
        files[name].write_text(change(files[name].read_text()))
    before = {name: path.read_bytes() for name, path in files.items()}
    run = play(copilot, place, ["done"])
    assert (run.requests, run.code) == (1, 0)
    assert [name for name, probe in probes.items() if probe.heard()] == ["no-change"]
    assert {name: path.read_bytes() for name, path in files.items()} == before


def test_unknown_keys_and_a_missing_version_or_type_do_no_harm(copilot: Client, place: Place) -> None:
    probe = make_probe(place.root)
    hook = {name: value for name, value in entry(probe, name="mine").items() if name != "type"}
    place.settings.write_text(json.dumps({"mine": 1, "hooks": {"agentStop": [hook]}}))
    play(copilot, place, ["done"])
    assert probe.flags() == "F"


def test_a_failed_tool_has_an_event_of_its_own_but_a_failed_shell_command_has_not(
    copilot: Client, place: Place
) -> None:
    failed = make_probe(place.root, "failed", answers=(json.dumps({"additionalContext": "AFTER-FAILURE"}),))
    ended = make_probe(place.root, "ended")
    write_hooks(place.settings, postToolUseFailure=[entry(failed)], postToolUse=[entry(ended)])
    gone = Call("view", {"path": str(place.project / "gone.txt")})
    run = play(copilot, place, [gone, shell("exit 3"), "done"], environment=EVERYTHING)
    (heard,) = failed.heard()
    assert (heard.payload["toolName"], type(heard.payload["error"])) == ("view", str)
    (heard,) = ended.heard()
    assert (heard.payload["toolName"], heard.payload["toolResult"]["resultType"]) == ("bash", "success")
    assert "AFTER-FAILURE" in json.dumps([asked.request.body for asked in run.log])
