"""hookctl fire beside the real clients: what it says that they would do is what they do."""

import json
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts

from . import agent
from .claude import Place, play, shell
from .clients import Client
from .everywhere import EVERY, Case
from .everywhere import play as play_case
from .hooks import group, in_turn
from .model_server import Script
from .product import hookctl, hookctl_json

pytestmark = pytest.mark.e2e

CONTEXT = '{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"go on"}}'
# Commands of one hook, or of two: the plainest refusals, what is none, and several at once.
HOOKS = json.loads(Path(__file__).with_name("plain_hooks.json").read_text())


def fire(place: Place, host: str, event: str, **call: Any) -> dict[str, Any]:
    """What hookctl says about a call of a host."""
    words = ("--tool", call["tool"], "--input", json.dumps(call["input"])) if call else ()
    (volley,) = hookctl_json(place, "fire", event, "--host", host, *words)["hosts"]
    return volley


def write_hooks(place: Place, event: str, commands: list[str]) -> None:
    hooks = {event: [group(command, timeout=20) for command in commands]}
    place.settings.write_text(json.dumps({"permissions": {"allow": ["Bash"]}, "hooks": hooks}))


def test_plain_hooks_before_a_tool_call(claude: Client, place: Place) -> None:
    """All in one session, a call for each."""
    expected = []
    for commands in HOOKS.values():
        write_hooks(place, "PreToolUse", commands)
        expected.append(fire(place, "claude", "pre-tool", tool="Bash", input={"command": "touch made"})["outcome"])
    assert {*expected} == {"deny", "change", "none"}
    both = zip_longest(*HOOKS.values(), fillvalue="true")
    write_hooks(place, "PreToolUse", [in_turn(place.root / str(n), *hooks) for n, hooks in enumerate(both)])
    made: list[set[str]] = []

    def look(_: int) -> None:
        made.append({path.name for path in place.project.iterdir()} & {"made", "other"})
        for name in made[-1]:
            (place.project / name).unlink()

    run = play(claude, place, Script([*[shell("touch made")] * len(HOOKS), "done"], limit=20, before=look))
    by_outcome = {"deny": set(), "change": {"other"}, "none": {"made"}}
    assert dict(zip(HOOKS, made[1:], strict=True)) == {
        name: by_outcome[outcome] for name, outcome in zip(HOOKS, expected, strict=True)
    }
    told = ["not here" in json.dumps(result) for result in run.tool_results]
    assert told == [outcome == "deny" for outcome in expected]


BLOCKED = """echo '{"decision":"block","reason":"go on"%s}'"""


@pytest.mark.parametrize(
    "hooks",
    [
        {BLOCKED % "": "block", "echo 'go on' >&2; exit 2": "block", f"echo '{CONTEXT}'": "context",
         "python3 /gone.py": "none"},
        {BLOCKED % ',"continue":false': "end"},
    ],
    ids=["they go on until one does not block", "end"],
)  # fmt: skip
def test_plain_stop_hooks(claude: Client, place: Place, hooks: dict[str, str]) -> None:
    for command, ended in hooks.items():
        write_hooks(place, "Stop", [command])
        assert fire(place, "claude", "stop")["outcome"] == ended
    write_hooks(place, "Stop", [in_turn(place.root / "turn", *hooks)])
    assert play(claude, place, Script(["done"], limit=9)).requests == len(hooks)


# What a hook is told. Qwen Code tells of a prompt after each tool call too, which nobody has submitted.
SOMETIMES = {"submitted_prompt"}
PROBED = ("session-start", "prompt", "pre-tool", "post-tool", "stop", "session-end")


@pytest.mark.parametrize("case", EVERY)
def test_a_hook_is_told_what_the_client_tells_it(case: Case, stage: tuple[Client, agent.Place]) -> None:
    client, place = stage
    seen, pack = place.root / "seen", place.root / "probe.toml"
    seen.mkdir()
    text = '[pack]\nname = "probe"\nversion = "1"\nprotocol = "host"\n'
    for event in PROBED:
        text += f'\n[[hooks]]\nevent = "{event}"\ncommand = "[ -e {seen}/{event} ] || cat > {seen}/{event}"\n'
    pack.write_text(text)
    allowed = {"permissions": {"allow": ["Bash", "Write"]}}
    if case.host == "claude":
        place.settings.write_text(json.dumps(allowed))
    hookctl(place, "install", str(pack), "--host", case.host)
    call = ("--tool", "Bash", "--input", '{"command": "touch made"}')
    fired = {}
    for event in hosts.load(case.host).events:
        if event in PROBED:
            words = call if event.endswith("-tool") else ()
            hookctl(place, "fire", event, *words, "--host", case.host, "--hook", "probe")
            fired[event] = json.loads((seen / event).read_text())
            (seen / event).unlink()
    play_case(case, client, place, case.shell("touch made"))
    told = {path.name: json.loads(path.read_text()) for path in seen.iterdir()}
    assert {event: fired[event].keys() - SOMETIMES for event in told} == {
        event: payload.keys() - SOMETIMES for event, payload in told.items()
    }
    assert "pre-tool" in told


# Entries of Copilot CLI, which has a dialect for each spelling of an event's name, and programs that are gone.
ENTRIES = json.loads((Path(__file__).parent / "copilots_entries.json").read_text())


@pytest.mark.parametrize("case", [param for param in EVERY if param.id == "copilot"])
@pytest.mark.parametrize("event", ["preToolUse", "PreToolUse"])
@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_an_entry_is_started_as_there(
    case: Case, stage: tuple[Client, agent.Place], event: str, entry: dict[str, Any]
) -> None:
    client, place = stage
    hooks = place.home / ".copilot" / "hooks"
    hooks.mkdir(parents=True, exist_ok=True)
    (hooks / "mine.json").write_text(json.dumps({"version": 1, "hooks": {event: [entry]}}))
    check_shell_call(case, client, place)


@pytest.mark.parametrize("case", [param for param in EVERY if param.id == "gemini"])
@pytest.mark.parametrize("command", ["/gone/check --all", "python3 /gone.py", "/gone/check; exit 0"])
def test_a_program_that_is_gone(case: Case, stage: tuple[Client, agent.Place], command: str) -> None:
    client, place = stage
    page = json.loads(place.settings.read_text()) if place.settings.exists() else {}
    page["security"] = {**page.get("security", {}), "folderTrust": {"enabled": False}}
    page["hooks"] = {"BeforeTool": [{"hooks": [{"type": "command", "command": command}]}]}
    place.settings.write_text(json.dumps(page))
    check_shell_call(case, client, place)


def check_shell_call(case: Case, client: Client, place: agent.Place) -> None:
    """What becomes of a call is what hookctl says of it."""
    volley = fire(place, case.host, "pre-tool", tool="Bash", input={"command": "touch made"})
    play_case(case, client, place, case.shell("touch made"))
    made = {path.name for path in place.project.iterdir()} & {"made", "other"}
    assert made == {"deny": set(), "change": {"other"}, "none": {"made"}}[volley["outcome"]]
