"""One pack with one Python script, written for Claude Code's protocol, with every real client."""

import json
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from . import claude, codex, copilot, droid, gemini, hermes, opencode, openhands, qwen
from .agent import Place, Run
from .clients import Client
from .dialects import Call
from .model_server import Script
from .product import hookctl, state_folder

pytestmark = pytest.mark.e2e

MANIFEST = """\
[pack]
name = "judge"
version = "1"

[files]
include = ["judge.py"]

[[hooks]]
event = "PreToolUse"
matcher = "Bash"
command = "python3 {files}/judge.py"
on_failure = "ON_FAILURE"

[[hooks]]
event = "PostToolUse"
matcher = "Write|Edit"
command = "python3 {files}/judge.py"

[[hooks]]
event = "SessionStart"
command = "python3 {files}/judge.py"

[[hooks]]
event = "UserPromptSubmit"
command = "python3 {files}/judge.py"
"""
JUDGE = """\
import json, os, sys

asked = json.load(sys.stdin)
event, input = asked["hook_event_name"], asked.get("tool_input") or {}
command = input.get("command") or ""
nested = {"hookEventName": event}
if event == "PreToolUse" and "rm -rf" in command:
    print("removing by force is not allowed", file=sys.stderr)
    sys.exit(2)
if event == "PreToolUse" and "crash" in command:
    raise SystemError
if event == "PreToolUse" and "first" in command:
    nested["updatedInput"] = {"command": command.replace("first", "second")}
if event == "PostToolUse":
    with open("written", "a") as file:
        file.write(os.path.basename(asked["portable"]["paths"][0]) + "\\n")
if event in ("SessionStart", "UserPromptSubmit"):
    nested["additionalContext"] = "CONTEXT-" + event
print(json.dumps({"hookSpecificOutput": nested}))
"""


@dataclass(frozen=True)
class Case:
    """One client: how its agent writes a file, what lets its tools run, and what it cannot do."""

    driver: ModuleType
    write: tuple[str, dict[str, Any]]
    options: tuple[str, ...] = ()
    changes: bool = True  # a changed input is used
    contexts: tuple[str, ...] = ("SessionStart", "UserPromptSubmit")
    notes: bool = True  # it tells of a file that was written
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def host(self) -> str:
        return self.driver.__name__.rpartition(".")[2]

    def shell(self, command: str) -> Call:
        return self.driver.bash(command) if self.driver is claude else self.driver.shell(command)

    def writes(self, place: Place) -> Call:
        """A call that writes `made.txt` in the project."""
        name, input = self.write
        path = str(place.project / "made.txt")
        return Call(name, {key: value.replace("PATH", path) for key, value in input.items()})


SUMMARY = {"security_risk": "LOW", "summary": "a step"}
CASES = [
    Case(claude, ("Write", {"file_path": "PATH", "content": "text"})),
    # Its patch tool is not offered to the model of these tests.
    Case(
        codex, ("exec_command", {"cmd": "echo text > made.txt"}), (codex.YOLO, codex.BYPASS), changes=False, notes=False
    ),
    Case(gemini, ("write_file", {"file_path": "PATH", "content": "text"}), (gemini.YOLO,)),
    Case(qwen, ("write_file", {"file_path": "PATH", "content": "text"}), (qwen.YOLO,), changes=False),
    Case(copilot, ("create", {"path": "PATH", "file_text": "text"})),
    Case(opencode, ("write", {"filePath": "PATH", "content": "text"})),
    Case(
        openhands,
        ("file_editor", {"command": "create", "path": "PATH", "file_text": "text", **SUMMARY}),
        changes=False,
        environment=(("EDITOR", "1"),),
    ),
    # A changed call has to be allowed anew.
    Case(droid, ("Create", {"file_path": "PATH", "content": "text"}), ("--auto", "high"), contexts=("SessionStart",)),
    Case(
        hermes,
        ("write_file", {"path": "PATH", "content": "text"}),
        (hermes.YOLO, hermes.ACCEPT),
        changes=False,
        contexts=("UserPromptSubmit",),
    ),
]
QUICK = (claude, codex)
_EVERY = [pytest.param(case, id=case.host, marks=[] if case.driver in QUICK else pytest.mark.full) for case in CASES]


@pytest.fixture
def stage(case: Case, request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Client, Place]:
    """The client of the case, in a place of its own."""
    return request.getfixturevalue(case.host), case.driver.Place.make(tmp_path / "place", own_folders=True)


def install(case: Case, place: Place, on_failure: str = "allow", *more: str) -> None:
    """Install the pack for the case's host, and with these options."""
    folder = place.root / "judge"
    folder.mkdir()
    (folder / "judge.py").write_text(JUDGE)
    (folder / "pack.toml").write_text(MANIFEST.replace("ON_FAILURE", on_failure))
    if case.driver is claude:
        place.settings.write_text(json.dumps({"permissions": {"allow": ["Bash", "Write"]}}))
    hookctl(place, "install", str(folder), "--host", case.host, *more)


def play(case: Case, client: Client, place: Place, *calls: Call) -> Run:
    """Let the agent make these calls, and end."""
    return case.driver.play(
        client,
        place,
        Script([*calls, "done"], limit=12),
        *case.options,
        timeout=300,
        environment=dict(case.environment),
    )


def told(run: Run) -> str:
    """Everything that the model was told."""
    return json.dumps([entry.request.body for entry in run.log], ensure_ascii=False)


def receipts(place: Place) -> list[tuple[str, str]]:
    """Event and outcome of each run of a hook."""
    paths = sorted(state_folder(place).glob("guard/*/runs.jsonl"))
    lines = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    return [(line["event"], line["outcome"]) for line in lines]


@pytest.mark.parametrize("case", _EVERY)
def test_one_script_does_there_what_it_does_on_claude_code(case: Case, stage: tuple[Client, Place]) -> None:
    client, place = stage
    install(case, place)
    calls = [case.shell("touch gone; rm -rf gone2"), case.shell("touch first"), case.writes(place)]
    run = play(case, client, place, *calls)
    said, outcomes = told(run), receipts(place)
    made = sorted(path.name for path in place.project.iterdir() if path.suffix != ".md")
    assert "gone" not in made, outcomes
    assert "removing by force is not allowed" in said
    assert ("PreToolUse", "deny") in outcomes
    assert "first" not in made
    assert ("second" in made) is case.changes
    if not case.changes:
        assert "this one would pass" in said
    assert [context for context in ("SessionStart", "UserPromptSubmit") if f"CONTEXT-{context}" in said] == [
        *case.contexts
    ]
    if case.notes:
        assert (place.project / "written").read_text() == "made.txt\n"


@pytest.mark.parametrize("on_failure", ["allow", "deny"])
@pytest.mark.parametrize("case", _EVERY)
def test_a_crash_does_what_the_pack_says(case: Case, stage: tuple[Client, Place], on_failure: str) -> None:
    client, place = stage
    install(case, place, on_failure)
    run = play(case, client, place, case.shell("touch marker # crash"))
    assert (place.project / "marker").exists() is (on_failure == "allow")
    assert ("a failing one refuses" in told(run)) is (on_failure == "deny")
    assert ("PreToolUse", "failed") in receipts(place)


@pytest.mark.full
@pytest.mark.parametrize("case", [case for case in CASES if case.driver is copilot], ids=["copilot"])
@pytest.mark.parametrize("both", [True, False], ids=["both", "claude alone"])
def test_a_pack_of_a_project_runs_once_where_copilot_reads_claude_codes_file(
    case: Case, stage: tuple[Client, Place], both: bool
) -> None:
    client, place = stage
    hosts = ("--scope", "project", "--host", "claude") if both else ("--scope", "project")
    install(case if both else CASES[0], place, "allow", *hosts)
    calls = [case.shell("touch gone; rm -rf gone2"), case.writes(place), "done"]
    run = copilot.play(client, place, Script(calls, limit=12), copilot.TRUST, timeout=300)
    assert not (place.project / "gone").exists()
    assert "removing by force is not allowed" in told(run)
    assert (place.project / "written").read_text() == "made.txt\n"
    assert receipts(place).count(("PreToolUse", "deny")) == 1
