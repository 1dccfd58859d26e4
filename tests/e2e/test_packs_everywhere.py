"""One pack with one Python script, written for Claude Code's protocol, with every real client."""

import json

import pytest

from tests.manifest import hook, manifest

from . import claude, copilot
from .agent import Place
from .clients import Client
from .everywhere import CASES, EVERY, Case, play, receipts, told
from .model_server import Script
from .product import hookctl, hookctl_json

pytestmark = pytest.mark.e2e

MANIFEST = manifest(
    "judge",
    hook("PreToolUse", "python3 {files}/judge.py", matcher="Bash", on_failure="ON_FAILURE"),
    hook("PostToolUse", "python3 {files}/judge.py", matcher="Write|Edit"),
    hook("SessionStart", "python3 {files}/judge.py"),
    hook("UserPromptSubmit", "python3 {files}/judge.py"),
    files=["judge.py"],
)
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

MASK = manifest("mask", hook("PostToolUse", "python3 {files}/mask.py", matcher="Bash"), files=["mask.py"])
# Another output in the form in which it came: an object with what a shell gave.
MASKS = """\
import json, sys

output = json.load(sys.stdin)["tool_response"]
nested = {"hookEventName": "PostToolUse", "updatedToolOutput": {**output, "stdout": "MASKED-open"}}
print(json.dumps({"hookSpecificOutput": nested}))
"""
REPLACES = ("claude", "codex", "gemini", "copilot", "opencode", "pi")


def install(case: Case, place: Place, on_failure: str = "allow", *more: str) -> str:
    """Install the pack for the case's host, and with these options; what is said on stderr."""
    folder = place.root / "judge"
    folder.mkdir()
    (folder / "judge.py").write_text(JUDGE)
    (folder / "pack.toml").write_text(MANIFEST.replace("ON_FAILURE", on_failure))
    if case.driver is claude:
        place.settings.write_text(json.dumps({"permissions": {"allow": ["Bash", "Write"]}}))
    return hookctl(place, "install", str(folder), "--host", case.host, *more).stderr


@pytest.mark.parametrize("on_failure", ["allow", "deny"])
@pytest.mark.parametrize("case", EVERY)
def test_a_crash_does_what_the_pack_says(case: Case, stage: tuple[Client, Place], on_failure: str) -> None:
    client, place = stage
    install(case, place, on_failure)
    run = play(case, client, place, case.shell("touch marker # crash"))
    assert (place.project / "marker").exists() is (on_failure == "allow")
    assert ("a failing one refuses" in told(run)) is (on_failure == "deny")
    assert ("PreToolUse", "failed") in receipts(place)
    (counted,) = [hook for hook in hookctl_json(place, "stats")["hooks"] if hook["event"] == "PreToolUse"]
    assert (counted["host"], counted["runs"], counted["failures"]) == (case.host, 1, 1)


@pytest.mark.parametrize("case", [case for case in EVERY if case.id in REPLACES])
def test_what_a_tool_gave_is_replaced_before_the_model_reads_it(case: Case, stage: tuple[Client, Place]) -> None:
    client, place = stage
    folder = place.root / "mask"
    folder.mkdir()
    (folder / "mask.py").write_text(MASKS)
    (folder / "pack.toml").write_text(MASK)
    if case.driver is claude:
        place.settings.write_text(json.dumps({"permissions": {"allow": ["Bash"]}}))
    hookctl(place, "install", str(folder), "--host", case.host)
    said = told(play(case, client, place, case.shell("echo open-$((40 + 2))")))
    assert ("MASKED-open" in said, "open-42" in said) == (True, False)
    assert receipts(place) == [("PostToolUse", "change")]


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
