"""What hookctl says of the runs of a pack's hooks, beside what the hooks themselves noted, with every real client."""

import json
from collections import Counter

import pytest

from tests.manifest import hook as pack_hook
from tests.manifest import manifest

from .agent import Place
from .clients import Client
from .everywhere import EVERY, Case, play
from .product import hookctl, hookctl_json

pytestmark = pytest.mark.e2e

SLOW = 0.3  # seconds
MANIFEST = manifest(
    "witness",
    pack_hook("PreToolUse", "python3 {files}/witness.py", matcher="Bash"),
    pack_hook("PostToolUse", "python3 {files}/witness.py", matcher="Bash"),
    pack_hook("SessionStart", "python3 {files}/witness.py"),
    files=["witness.py"],
)
WITNESS = f"""\
import json, os, sys, time

asked = json.load(sys.stdin)
event = asked["hook_event_name"]
with open(os.path.join(os.environ["CLAUDE_PROJECT_DIR"], "seen"), "a") as file:
    file.write(event + "\\n")
if event == "PostToolUse":
    sys.exit(7)
if event == "PreToolUse":
    time.sleep({SLOW})
    print(json.dumps({{"hookSpecificOutput": {{"hookEventName": event, "permissionDecision": "deny"}}}}) if
          "forbidden" in asked["tool_input"]["command"] else "{{}}")
if event == "SessionStart":
    print("CONTEXT" * 10)
"""


@pytest.mark.parametrize("case", EVERY)
def test_the_numbers_are_those_that_the_hooks_saw(case: Case, stage: tuple[Client, Place]) -> None:
    client, place = stage
    folder = place.root / "witness"
    folder.mkdir()
    (folder / "witness.py").write_text(WITNESS)
    (folder / "pack.toml").write_text(MANIFEST)
    if case.host == "claude":
        place.settings.write_text(json.dumps({"permissions": {"allow": ["Bash"]}}))
    hookctl(place, "install", str(folder), "--host", case.host)
    calls = [case.shell("touch forbidden"), *(case.shell(f"touch call{number}") for number in range(3))]
    play(case, client, place, *calls)
    seen = Counter((place.project / "seen").read_text().split())
    found = {hook["event"]: hook for hook in hookctl_json(place, "stats")["hooks"]}
    assert {event: hook["runs"] for event, hook in found.items()} == seen
    assert {hook["id"].partition("/")[0] for hook in found.values()} == {"witness"}
    assert {hook["host"] for hook in found.values()} == {case.host}
    before, after = found["PreToolUse"], found["PostToolUse"]
    assert before["failures"] == 0 and before["median_ms"] >= SLOW * 1000
    assert after["failures"] == after["runs"] >= 3
    start = found.get("SessionStart")
    if start and "SessionStart" in case.contexts:
        assert start["bytes"] == start["runs"] * len("CONTEXT" * 10)
    events = [line for line in hookctl_json(place, "log")["events"] if line.get("kind") == "run"]
    assert Counter(line["event"] for line in events) == seen
    assert [line["outcome"] for line in events if line["event"] == "PreToolUse"].count("deny") == 1
    findings = hookctl_json(place, "doctor", "--host", case.host)["findings"]
    assert "hook_fails" in {finding["code"] for finding in findings}
