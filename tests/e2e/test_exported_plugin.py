"""A pack exported as a plugin, in clients that load plugins: it refuses there, also when its own source is gone."""

import json
import shutil
from pathlib import Path

import pytest

from tests.manifest import hook, manifest

from . import codex, droid, qwen
from .agent import Place, Run
from .clients import Client
from .everywhere import EVERY, Case, told
from .model_server import Script
from .plugins import Install, as_an_extension, from_a_marketplace, write_marketplace
from .product import hookctl

pytestmark = pytest.mark.e2e

PACK = manifest("judge", hook("PreToolUse", "python3 {files}/judge.py", matcher="MATCHER"), files=["judge.py"])
JUDGE = """\
import json, sys

if "rm -rf" in json.load(sys.stdin)["tool_input"].get("command", ""):
    print("removing by force is not allowed", file=sys.stderr)
    sys.exit(2)
"""
JUDGE_IN_JSON = """\
import json, sys

answer = {"permissionDecision": "deny", "permissionDecisionReason": "removing by force is not allowed"}
if "rm -rf" in json.load(sys.stdin)["tool_input"].get("command", ""):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", **answer}}))
"""


def _beside_the_command(client: Client, place: Place, plugin: Path) -> list[str]:
    place.settings.write_text(json.dumps({"permissions": {"allow": ["Bash"]}}))  # Copilot reads it and does not mind
    return ["--plugin-dir", str(plugin)]


def _in_the_home(client: Client, place: Place, plugin: Path) -> list[str]:
    shutil.copytree(plugin, place.home / ".agents" / "plugins" / "judge")
    return []


# How a plugin comes to a client; what it needs then is returned.
INSTALLS: dict[str, Install] = {
    "claude": _beside_the_command,
    "codex": from_a_marketplace(codex, "add"),
    "copilot": _beside_the_command,
    "qwen": as_an_extension(qwen),
    "droid": from_a_marketplace(droid, "install"),
    "openhands": _in_the_home,
}
# Droid holds a matcher against names of its own, and of a status 2 Copilot's model learns no reason.
MATCHERS, JUDGES = {"droid": "*", "openhands": "*"}, {"copilot": JUDGE_IN_JSON}


def play(case: Case, client: Client, place: Place) -> Run:
    """Export the pack, remove it, load the plugin, and let the agent make a harmless call and one that is refused."""
    pack, market = place.root / "judge", place.root / "market"
    pack.mkdir()
    (pack / "judge.py").write_text(JUDGES.get(case.host, JUDGE))
    (pack / "pack.toml").write_text(PACK.replace("MATCHER", MATCHERS.get(case.host, "Bash")))
    (market / "plugins").mkdir(parents=True)
    plugin = market / "plugins" / "judge"
    hookctl(place, "pack", "export", str(pack), "--as", "claude-plugin", "-o", str(plugin))
    shutil.rmtree(pack)
    write_marketplace(market)
    options = [*case.options, *INSTALLS[case.host](client, place, plugin)]
    calls = [case.shell("touch kept"), case.shell("touch gone; rm -rf gone2"), "done"]
    return case.driver.play(client, place, Script(calls, limit=8), *options, timeout=300)


@pytest.mark.parametrize("case", [case for case in EVERY if case.id in INSTALLS])
def test_an_exported_plugin_refuses_a_call_where_its_files_can_be_found(
    case: Case, stage: tuple[Client, Place]
) -> None:
    """OpenHands tells no hook where its plugin is."""
    client, place = stage
    run, refuses = play(case, client, place), case.host != "openhands"
    assert (place.project / "kept").exists()
    assert (place.project / "gone").exists() is not refuses
    assert ("removing by force is not allowed" in told(run)) is refuses
