"""A pack exported as a plugin, in clients that load plugins: it refuses there, also when its own source is gone."""

import json
import shlex
import shutil
from collections.abc import Callable

import pytest

from tests.manifest import hook, manifest

from .agent import Place, Run
from .clients import Client
from .everywhere import CASES, Case, told
from .model_server import Script
from .plugins import by_own_means
from .product import hookctl

pytestmark = pytest.mark.e2e

Install = Callable[[Case, Client, Place, str], list[str]]

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


def _as_printed(case: Case, client: Client, place: Place, said: str) -> list[str]:
    """Run the commands that the export gives the client's users, as they are."""
    (line,) = [line.strip() for line in said.splitlines() if line.startswith(f"  {case.host} ")]
    for command in line.split(" && "):
        answer = ["--consent"] if case.host == "qwen" else []  # else it asks
        by_own_means(case.driver, client, place, *shlex.split(command)[1:], *answer)
    return []


def _beside_the_command(case: Case, client: Client, place: Place, said: str) -> list[str]:
    (line,) = [line for line in said.splitlines() if line.startswith("Next: claude ")]
    return shlex.split(line)[2:]


def _in_the_home(case: Case, client: Client, place: Place, said: str) -> list[str]:
    shutil.copytree(place.root / "plugin", place.home / ".agents" / "plugins" / "judge")
    return []


# How the plugin comes to a client; what it needs then is returned.
INSTALLS = {
    "claude": (_as_printed, _beside_the_command),
    "codex": (_as_printed,),
    "copilot": (_as_printed, _beside_the_command),
    "qwen": (_as_printed,),
    "droid": (_as_printed,),
    "openhands": (_in_the_home,),
}
# Droid holds a matcher against names of its own, and of a status 2 Copilot's model learns no reason.
MATCHERS, JUDGES = {"droid": "*", "openhands": "*"}, {"copilot": JUDGE_IN_JSON}


def play(case: Case, client: Client, place: Place, install: Install) -> Run:
    """Export the pack, remove it, load the plugin, and let the agent make a harmless call and one that is refused."""
    pack, plugin = place.root / "judge", place.root / "plugin"
    pack.mkdir()
    (pack / "judge.py").write_text(JUDGES.get(case.host, JUDGE))
    (pack / "pack.toml").write_text(PACK.replace("MATCHER", MATCHERS.get(case.host, "Bash")))
    said = hookctl(place, "pack", "export", str(pack), "--as", "claude-plugin", "-o", str(plugin)).stdout
    shutil.rmtree(pack)
    if case.host in ("claude", "copilot"):
        place.settings.write_text(json.dumps({"permissions": {"allow": ["Bash"]}}))  # Copilot does not mind
    options = [*case.options, *install(case, client, place, said)]
    calls = [case.shell("touch kept"), case.shell("touch gone; rm -rf gone2"), "done"]
    return case.driver.play(client, place, Script(calls, limit=8), *options, timeout=300)


WAYS = [
    pytest.param(case, install, id=f"{case.host}{install.__name__}")
    for case in CASES
    for install in INSTALLS.get(case.host, ())
]


@pytest.mark.parametrize(("case", "install"), WAYS)
def test_an_exported_plugin_refuses_a_call_where_its_files_can_be_found(
    case: Case, install: Install, stage: tuple[Client, Place]
) -> None:
    """OpenHands tells no hook where its plugin is."""
    client, place = stage
    run, refuses = play(case, client, place, install), case.host != "openhands"
    assert (place.project / "kept").exists()
    assert (place.project / "gone").exists() is not refuses
    assert ("removing by force is not allowed" in told(run)) is refuses
